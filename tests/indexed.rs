//! Gather and scatter-add against a naive oracle, and the faults of others as tests.

mod common;

use ndblas::{
    Element, Error, Index, Mode, Status, View, ViewMut, gather, gather_nd, scatter_add,
    scatter_add_nd,
};
use num_complex::Complex;

/// SplitMix64.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    fn within(&mut self, low: i128, high: i128) -> i128 {
        low + (self.next() as i128).rem_euclid(high - low + 1)
    }
    fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }
    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

trait Number: Element {
    const ARITHMETIC: bool;
    fn real(v: i64) -> Self;
    /// Some element; where it is complex, with both parts.
    fn of(v: i64) -> Self;
    /// beta*y + alpha*x, of which a zero factor hides its operand.
    fn combine(alpha: Self, x: Self, beta: Self, y: Self) -> Self;
}

macro_rules! number {
    ($($t:ty: |$v:ident| $real:expr, $of:expr);*) => {$(
        impl Number for $t {
            const ARITHMETIC: bool = true;
            fn real($v: i64) -> Self { $real }
            fn of($v: i64) -> Self { $of }
            fn combine(alpha: Self, x: Self, beta: Self, y: Self) -> Self {
                let scaled = if beta == Self::ZERO { Self::ZERO } else { beta * y };
                if alpha == Self::ZERO { scaled } else { scaled + alpha * x }
            }
        }
    )*};
}
number! {
    f32: |v| v as f32, v as f32;
    f64: |v| v as f64, v as f64;
    Complex<f32>: |v| Complex::new(v as f32, 0.0), Complex::new(v as f32, 2.0 * v as f32);
    Complex<f64>: |v| Complex::new(v as f64, 0.0), Complex::new(v as f64, -v as f64)
}
macro_rules! integer {
    ($($t:ty),*) => {$(
        impl Number for $t {
            const ARITHMETIC: bool = false;
            fn real(v: i64) -> Self { v as $t }
            fn of(v: i64) -> Self { v as $t }
            fn combine(alpha: Self, x: Self, beta: Self, y: Self) -> Self {
                alpha.wrapping_mul(x).wrapping_add(beta.wrapping_mul(y))
            }
        }
    )*};
}
integer!(i8, i16, i32, i64, u8, u16, u32, u64);

/// An N-d array somewhere in a buffer of bytes.
#[derive(Clone)]
struct Array<T> {
    buffer: Vec<u8>,
    start: isize,
    shape: Vec<usize>,
    strides: Vec<isize>,
    of: std::marker::PhantomData<T>,
}

fn positions(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + '_ {
    let len: usize = shape.iter().product();
    (0..len).map(|mut flat| {
        let mut x = vec![0; shape.len()];
        for d in (0..shape.len()).rev() {
            x[d] = flat % shape[d];
            flat /= shape[d];
        }
        x
    })
}

impl<T: Element> Array<T> {
    /// Some layout without overlap; the buffer, and so the elements, filled with 0xff.
    fn random(rng: &mut Rng, shape: &[usize]) -> Self {
        let ndim = shape.len();
        let mut order: Vec<usize> = (0..ndim).collect();
        if rng.chance(3) {
            for i in (1..ndim).rev() {
                order.swap(i, rng.below(i + 1));
            }
        }
        let plain = rng.chance(2);
        let item = size_of::<T>() as isize;
        let mut strides = vec![0; ndim];
        let mut span = item;
        for &d in order.iter().rev() {
            if !plain {
                span += match rng.below(4) {
                    0 => item * rng.below(3) as isize,
                    1 if rng.chance(3) => 1 + rng.below(5) as isize,
                    _ => 0,
                };
            }
            strides[d] = if !plain && rng.chance(4) { -span } else { span };
            if shape[d] != 1 {
                span *= shape[d].max(1) as isize;
            } else {
                strides[d] = rng.pick(&[0, 1, 7, -3, 1 << 40]);
            }
        }
        let reach = |sign: isize| -> isize {
            let of = |d: usize| (shape[d] as isize - 1).max(0) * strides[d];
            (0..ndim).map(of).filter(|r| r * sign > 0).sum()
        };
        let margin = 64 + rng.below(9) as isize;
        let start = margin - reach(-1);
        let size = (start + reach(1) + item + 64) as usize;
        Array {
            buffer: vec![0xff; size],
            start,
            shape: shape.to_vec(),
            strides,
            of: std::marker::PhantomData,
        }
    }

    fn dense(shape: &[usize], values: impl IntoIterator<Item = T>) -> Self {
        let mut strides = vec![size_of::<T>() as isize; shape.len()];
        for d in (1..shape.len()).rev() {
            strides[d - 1] = strides[d] * shape[d] as isize;
        }
        let mut array = Array {
            buffer: vec![0; shape.iter().product::<usize>() * size_of::<T>()],
            start: 0,
            shape: shape.to_vec(),
            strides,
            of: std::marker::PhantomData,
        };
        let mut values = values.into_iter();
        for x in positions(shape) {
            array.set(&x, values.next().expect("a value for each element"));
        }
        array
    }

    fn offset(&self, x: &[usize]) -> usize {
        let of = |d: usize| x[d] as isize * self.strides[d];
        (self.start + (0..x.len()).filter(|&d| x[d] > 0).map(of).sum::<isize>()) as usize
    }
    fn get(&self, x: &[usize]) -> T {
        // SAFETY: every element lies in the buffer.
        unsafe { self.buffer[self.offset(x)..].as_ptr().cast::<T>().read_unaligned() }
    }
    fn set(&mut self, x: &[usize], v: T) {
        let at = self.offset(x);
        // SAFETY: every element lies in the buffer.
        unsafe { self.buffer[at..].as_mut_ptr().cast::<T>().write_unaligned(v) }
    }
    fn fill(mut self, mut value: impl FnMut() -> T) -> Self {
        for x in positions(&self.shape.clone()) {
            self.set(&x, value());
        }
        self
    }
    fn values(&self) -> Vec<T> {
        positions(&self.shape).map(|x| self.get(&x)).collect()
    }
    fn view(&self) -> View<'_, T> {
        let p = self.buffer.as_ptr().wrapping_offset(self.start).cast();
        // SAFETY: every element lies in the buffer.
        unsafe { View::from_raw_parts(p, &self.shape, &self.strides) }.unwrap()
    }
    fn view_mut(&mut self) -> ViewMut<'_, T> {
        let p = self.buffer.as_mut_ptr().wrapping_offset(self.start).cast();
        // SAFETY: every element lies in the buffer.
        unsafe { ViewMut::from_raw_parts(p, &self.shape, &self.strides) }.unwrap()
    }
    /// The element to which a position of higher rank, or outside length-1 axes, broadcasts.
    fn broadcast(&self, x: &[usize]) -> T {
        let mut own = vec![0; self.shape.len()];
        for d in 0..self.shape.len().min(x.len()) {
            let from_last = self.shape.len() - 1 - d;
            let n = self.shape[from_last];
            own[from_last] = if n == 1 { 0 } else { x[x.len() - 1 - d] };
        }
        self.get(&own)
    }
    /// Equal elements, and equal bytes between them.
    fn assert_same(&self, expected: &Self, what: &str) {
        let (mut a, mut b) = (self.clone(), expected.clone());
        for x in positions(&self.shape) {
            let (v, w) = (self.get(&x), expected.get(&x));
            #[allow(clippy::eq_op)]
            let nan = v != v && w != w;
            assert!(v == w || nan, "{what}: at {x:?} {v:?}, expected {w:?}");
            a.set(&x, T::ZERO);
            b.set(&x, T::ZERO);
        }
        assert!(a.buffer == b.buffer, "{what}: written outside the view");
    }
}

/// An index array of any integer type.
enum Indices {
    I8(Array<i8>),
    I16(Array<i16>),
    I32(Array<i32>),
    I64(Array<i64>),
    U8(Array<u8>),
    U16(Array<u16>),
    U32(Array<u32>),
    U64(Array<u64>),
}

macro_rules! each_index {
    ($index:expr, $a:ident => $body:expr) => {
        match $index {
            Indices::I8($a) => $body,
            Indices::I16($a) => $body,
            Indices::I32($a) => $body,
            Indices::I64($a) => $body,
            Indices::U8($a) => $body,
            Indices::U16($a) => $body,
            Indices::U32($a) => $body,
            Indices::U64($a) => $body,
        }
    };
}

impl Indices {
    /// Indices for an axis of extent n, in range where `good`.
    fn random(rng: &mut Rng, shape: &[usize], n: usize, good: bool) -> Self {
        fn array<I: Element + TryFrom<i128>>(
            rng: &mut Rng,
            shape: &[usize],
            n: usize,
            good: bool,
            range: (i128, i128),
        ) -> Array<I> {
            let n = n as i128;
            let hot = rng.chance(4);
            let array = Array::<I>::random(rng, shape);
            let mut array = array.fill(|| {
                let (low, high) = if good {
                    (-n, n - 1)
                } else if rng.chance(5) {
                    range
                } else {
                    (-2 * n - 1, 2 * n + 1)
                };
                let v = if hot && good && n > 0 && !rng.chance(5) {
                    0
                } else {
                    rng.within(low.max(range.0), high.min(range.1).max(low.max(range.0)))
                };
                I::try_from(v).ok().unwrap()
            });
            // Broadcast by stride 0 as well as by extent 1.
            if let Some(d) = (0..shape.len()).find(|_| rng.chance(6)) {
                array.strides[d] = 0;
            }
            array
        }
        macro_rules! make {
            ($kind:ident, $t:ty) => {
                Indices::$kind(array(rng, shape, n, good, (<$t>::MIN as i128, <$t>::MAX as i128)))
            };
        }
        match rng.below(8) {
            0 => make!(I8, i8),
            1 => make!(I16, i16),
            2 => make!(I32, i32),
            3 => make!(I64, i64),
            4 => make!(U8, u8),
            5 => make!(U16, u16),
            6 => make!(U32, u32),
            _ => make!(U64, u64),
        }
    }
    fn at(&self, x: &[usize]) -> i128 {
        each_index!(self, a => i128::from(a.broadcast(x)))
    }
}

/// Owns the views that indices borrow.
macro_rules! with_pairs {
    ($axes:expr, $indices:expr, $pairs:ident => $body:expr) => {{
        let mut views = Views::default();
        for index in $indices.iter() {
            views.push(index);
        }
        let $pairs: Vec<(isize, Index)> = $axes.iter().copied().zip(views.indices()).collect();
        $body
    }};
}

#[derive(Default)]
struct Views<'a>(Vec<AnyView<'a>>);
enum AnyView<'a> {
    I8(View<'a, i8>),
    I16(View<'a, i16>),
    I32(View<'a, i32>),
    I64(View<'a, i64>),
    U8(View<'a, u8>),
    U16(View<'a, u16>),
    U32(View<'a, u32>),
    U64(View<'a, u64>),
}
impl<'a> Views<'a> {
    fn push(&mut self, index: &'a Indices) {
        self.0.push(match index {
            Indices::I8(a) => AnyView::I8(a.view()),
            Indices::I16(a) => AnyView::I16(a.view()),
            Indices::I32(a) => AnyView::I32(a.view()),
            Indices::I64(a) => AnyView::I64(a.view()),
            Indices::U8(a) => AnyView::U8(a.view()),
            Indices::U16(a) => AnyView::U16(a.view()),
            Indices::U32(a) => AnyView::U32(a.view()),
            Indices::U64(a) => AnyView::U64(a.view()),
        });
    }
    fn indices(&self) -> impl Iterator<Item = Index<'_>> {
        self.0.iter().map(|view| match view {
            AnyView::I8(v) => v.into(),
            AnyView::I16(v) => v.into(),
            AnyView::I32(v) => v.into(),
            AnyView::I64(v) => v.into(),
            AnyView::U8(v) => v.into(),
            AnyView::U16(v) => v.into(),
            AnyView::U32(v) => v.into(),
            AnyView::U64(v) => v.into(),
        })
    }
}

/// The index by the rules of the contract; `None` out of range.
fn resolve(v: i128, n: usize, mode: Mode) -> Option<usize> {
    let n = n as i128;
    let v = match mode {
        Mode::Raise | Mode::Drop => {
            if v < 0 {
                v + n
            } else {
                v
            }
        }
        Mode::Wrap if n > 0 => v.rem_euclid(n),
        Mode::Clip if n > 0 => v.clamp(0, n - 1),
        _ => return None,
    };
    (v >= 0 && v < n).then_some(v as usize)
}

/// Left-padded with ones.
fn padded(shape: &[usize], ndim: usize) -> Vec<usize> {
    let mut p = vec![1; ndim - shape.len()];
    p.extend(shape);
    p
}

/// Without some of its leading ones.
fn trimmed(rng: &mut Rng, shape: &[usize]) -> Vec<usize> {
    let ones = shape.iter().take_while(|&&n| n == 1).count();
    shape[rng.below(ones + 1)..].to_vec()
}

/// A position in the table, `None` where an index is out of range.
fn table_position(
    x: &[usize],
    table: &[usize],
    axes: &[usize],
    indices: &[Indices],
    mode: Mode,
) -> Option<Vec<usize>> {
    let table = padded(table, x.len());
    let mut y = x.to_vec();
    for d in 0..x.len() {
        if table[d] == 1 {
            y[d] = 0;
        }
    }
    for (&d, index) in axes.iter().zip(indices) {
        y[d] = resolve(index.at(x), table[d], mode)?;
    }
    Some(y)
}

struct Case {
    /// Of the grid, of full rank.
    shape: Vec<usize>,
    axes: Vec<usize>,
    /// Extents of the table on the indexed axes.
    extents: Vec<usize>,
    index_shapes: Vec<Vec<usize>>,
    mode: Mode,
}

const MODES: [Mode; 4] = [Mode::Raise, Mode::Wrap, Mode::Clip, Mode::Drop];

fn random_case(rng: &mut Rng, pairs: usize) -> Case {
    let ndim = pairs.max(1 + rng.below(4));
    let mut shape: Vec<usize> =
        (0..ndim).map(|_| rng.pick(&[1, 2, 3, 4, 5, 7, 8, 9, 17])).collect();
    if rng.chance(3) {
        // Long enough for every regime and for several blocks of indices.
        let d = rng.below(ndim);
        shape[d] = rng.pick(&[33, 64, 100, 257, 700, 2500]);
    }
    // Small, because the oracle is slow.
    while shape.iter().product::<usize>() > 5000 {
        let d = rng.below(ndim);
        shape[d] = (shape[d] / 3).max(1);
    }
    if rng.chance(15) {
        let d = rng.below(ndim);
        shape[d] = 0;
    }
    let mut axes: Vec<usize> = (0..ndim).collect();
    for i in (1..ndim).rev() {
        axes.swap(i, rng.below(i + 1));
    }
    axes.truncate(pairs);
    let extents = axes.iter().map(|_| if rng.chance(12) { 1 } else { 1 + rng.below(12) }).collect();
    let index_shapes = axes
        .iter()
        .map(|_| {
            let all = rng.chance(3);
            let keep = |&n: &usize| if all || !rng.chance(2) { n } else { 1 };
            shape.iter().map(keep).collect()
        })
        .collect();
    Case { shape, axes, extents, index_shapes, mode: rng.pick(&MODES) }
}

fn signed_axes(rng: &mut Rng, axes: &[usize], ndim: usize) -> Vec<isize> {
    let sign = |&d: &usize| if rng.chance(2) { d as isize } else { d as isize - ndim as isize };
    axes.iter().map(sign).collect()
}

fn call_gather<T: Element>(
    alpha: T,
    a: &View<'_, T>,
    pairs: &[(isize, Index<'_>)],
    mode: Mode,
    beta: T,
    out: &mut ViewMut<'_, T>,
) -> Result<(), Error> {
    match pairs {
        [(axis, index)] => gather(alpha, a, *axis, index, mode, beta, out),
        _ => gather_nd(alpha, a, pairs, mode, beta, out),
    }
}

fn call_scatter<T: Element>(
    alpha: T,
    src: &View<'_, T>,
    pairs: &[(isize, Index<'_>)],
    mode: Mode,
    out: &mut ViewMut<'_, T>,
) -> Result<(), Error> {
    match pairs {
        [(axis, index)] => scatter_add(alpha, src, *axis, index, mode, out),
        _ => scatter_add_nd(alpha, src, pairs, mode, out),
    }
}

fn check_gather<T: Number>(rng: &mut Rng, pairs: usize) {
    let case = random_case(rng, pairs);
    let ndim = case.shape.len();
    let mut a_shape: Vec<usize> =
        case.shape.iter().map(|&n| if rng.chance(5) { 1 } else { n }).collect();
    for (&d, &n) in case.axes.iter().zip(&case.extents) {
        a_shape[d] = n;
    }
    // Something must have the full rank, or the axes are others.
    let out_shape = case.shape.clone();
    let a_shape = trimmed(rng, &a_shape);
    let good = case.mode == Mode::Raise;
    let indices: Vec<Indices> = case
        .index_shapes
        .iter()
        .zip(&case.extents)
        .map(|(shape, &n)| {
            let shape = trimmed(rng, shape);
            Indices::random(rng, &shape, n, good)
        })
        .collect();
    let mut v = 0;
    let a = Array::<T>::random(rng, &a_shape).fill(|| {
        v += 1;
        T::of(v % 100)
    });
    let (alpha, beta) = match (T::ARITHMETIC, rng.below(6)) {
        (false, _) | (_, 0 | 1) => (1, 0),
        (_, 2) => (1, 1),
        (_, 3) => (-2, 0),
        (_, 4) => (3, 2),
        _ => (0, rng.pick(&[0, 1, 3])),
    };
    let mut out = Array::<T>::random(rng, &out_shape);
    if beta != 0 {
        out = out.fill(|| T::of(rng.below(50) as i64));
    }
    let mut expected = out.clone();
    for x in positions(&out_shape) {
        let y = table_position(&x, &a_shape, &case.axes, &indices, case.mode);
        let value = y.map_or(T::ZERO, |y| a.broadcast(&y));
        let old = if beta == 0 { T::ZERO } else { out.get(&x) };
        let (alpha, beta) = (T::real(alpha), T::real(beta));
        expected.set(&x, T::combine(alpha, value, beta, old));
    }
    let axes = signed_axes(rng, &case.axes, ndim);
    let result = with_pairs!(axes, indices, pairs => call_gather(
        T::real(alpha), &a.view(), &pairs, case.mode, T::real(beta), &mut out.view_mut()));
    result.unwrap();
    let what = format!(
        "gather a {a_shape:?} {:?} out {out_shape:?} {:?} axes {axes:?} {:?} alpha {alpha} beta {beta}",
        a.strides, out.strides, case.mode
    );
    out.assert_same(&expected, &what);
}

fn check_scatter<T: Number>(rng: &mut Rng, pairs: usize) {
    let mut case = random_case(rng, pairs);
    let ndim = case.shape.len();
    let src_shape: Vec<usize> =
        case.shape.iter().map(|&n| if rng.chance(5) { 1 } else { n }).collect();
    // The common shape.
    for d in 0..ndim {
        let shapes = case.index_shapes.iter().chain([&src_shape]);
        case.shape[d] = shapes.map(|s| s[d]).find(|&n| n != 1).unwrap_or(1);
    }
    let mut out_shape = case.shape.clone();
    for (&d, &n) in case.axes.iter().zip(&case.extents) {
        out_shape[d] = n;
    }
    let good = case.mode == Mode::Raise;
    // out keeps the full rank.
    let src_shape = trimmed(rng, &src_shape);
    let indices: Vec<Indices> = case
        .index_shapes
        .iter()
        .zip(&case.extents)
        .map(|(shape, &n)| {
            let shape = trimmed(rng, shape);
            Indices::random(rng, &shape, n, good)
        })
        .collect();
    let src = Array::<T>::random(rng, &src_shape).fill(|| T::of(rng.below(20) as i64 - 5));
    let mut out = Array::<T>::random(rng, &out_shape).fill(|| T::of(rng.below(50) as i64));
    let alpha = if T::ARITHMETIC { rng.pick(&[1, 1, 1, 3, 0]) } else { 1 };
    let mut expected = out.clone();
    for x in positions(&case.shape) {
        if let Some(y) = table_position(&x, &out_shape, &case.axes, &indices, case.mode) {
            let sum = T::combine(T::real(alpha), src.broadcast(&x), T::ONE, expected.get(&y));
            expected.set(&y, sum);
        }
    }
    let axes = signed_axes(rng, &case.axes, ndim);
    let result = with_pairs!(axes, indices, pairs => call_scatter(
        T::real(alpha), &src.view(), &pairs, case.mode, &mut out.view_mut()));
    result.unwrap();
    let what = format!(
        "scatter src {src_shape:?} {:?} out {out_shape:?} {:?} axes {axes:?} {:?} alpha {alpha}",
        src.strides, out.strides, case.mode
    );
    out.assert_same(&expected, &what);
}

fn cases() -> usize {
    if cfg!(debug_assertions) { 70 } else { 700 }
}

macro_rules! against_oracle {
    ($($name:ident: $t:ty),*) => {$(
        #[test]
        fn $name() {
            let mut rng = Rng(1 + <$t as Element>::DTYPE as u64);
            for round in 0..cases() {
                let pairs = [1, 1, 1, 2, 3, 0, 5][round % 7];
                check_gather::<$t>(&mut rng, pairs);
                check_scatter::<$t>(&mut rng, pairs);
            }
        }
    )*};
}
against_oracle! {
    oracle_f32: f32, oracle_f64: f64, oracle_c64: Complex<f32>, oracle_c128: Complex<f64>,
    oracle_i8: i8, oracle_i16: i16, oracle_i32: i32, oracle_i64: i64,
    oracle_u8: u8, oracle_u16: u16, oracle_u32: u32, oracle_u64: u64
}

/// A row of the f64 gather of each length, with and without holes, dense and aligned alike.
#[test]
fn every_row_length() {
    fn of<T: Number>(rng: &mut Rng, k: usize, mode: Mode) {
        // More than a block of indices, where rows are short.
        let (n, l) = (37, if k < 20 { 1500 } else { 90 });
        let a = Array::<T>::dense(&[n, k], (0..n * k).map(|v| T::of(v as i64 % 99)));
        let high = if mode == Mode::Drop { n as i64 + 3 } else { n as i64 - 1 };
        let index =
            Array::<i64>::dense(&[l, 1], (0..l).map(|_| rng.within(0, high as i128) as i64));
        let index_view = index.view();
        let index_view = Index::from(&index_view);
        let mut out = Array::<T>::dense(&[l, k], (0..l * k).map(|_| T::of(1)));
        gather(T::ONE, &a.view(), 0, &index_view, mode, T::ZERO, &mut out.view_mut()).unwrap();
        for x in positions(&[l, k]) {
            let row = resolve(index.get(&[x[0], 0]) as i128, n, mode);
            assert_eq!(out.get(&x), row.map_or(T::ZERO, |r| a.get(&[r, x[1]])), "{k} {x:?}");
        }
        let mut sum = Array::<T>::dense(&[n, k], (0..n * k).map(|_| T::of(0)));
        let mut expected = sum.clone();
        scatter_add(T::ONE, &out.view(), 0, &index_view, mode, &mut sum.view_mut()).unwrap();
        for x in positions(&[l, k]) {
            if let Some(r) = resolve(index.get(&[x[0], 0]) as i128, n, mode) {
                let y = [r, x[1]];
                let v = T::combine(T::ONE, out.get(&x), T::ONE, expected.get(&y));
                expected.set(&y, v);
            }
        }
        sum.assert_same(&expected, &format!("rows of {k}"));
    }
    let mut rng = Rng(5);
    for k in (0..20).chain([31, 32, 33, 63, 64, 65, 129, 600]) {
        for mode in [Mode::Raise, Mode::Drop] {
            of::<f64>(&mut rng, k, mode);
            of::<f32>(&mut rng, k, mode);
            of::<u8>(&mut rng, k, mode);
            of::<Complex<f64>>(&mut rng, k, mode);
        }
    }
}

/// Outputs larger than the caches, which whole lines go to wherever rows begin, and nothing else.
#[test]
fn large_outputs() {
    const CANARY: u8 = 0xa5;
    let mut rng = Rng(41);
    for (k, gap) in [
        (1, 0),
        (2, 0),
        (3, 0),
        (7, 0),
        (8, 0),
        (16, 0),
        (24, 0),
        (33, 0),
        (64, 0),
        (65, 0),
        (100, 0),
        (129, 3),
        (513, 0),
        (520, 7),
        (4096, 0),
        (4097, 0),
        (9001, 0),
        (9001, 5),
    ] {
        for (mode, far) in [(Mode::Raise, false), (Mode::Drop, true), (Mode::Drop, false)] {
            let l = (6 << 20) / k + 1 + rng.below(99);
            let n = if far { (2 << 20) / k + 1 } else { 100 };
            let a: Vec<u8> = (0..n * k).map(|v| (v * 7 + v / 251) as u8).collect();
            let high = n as i128 - 1 + i128::from(mode == Mode::Drop) * 9;
            let at: Vec<i32> = (0..l).map(|_| rng.within(0, high) as i32).collect();
            // Words lie where words do as well as anywhere.
            let even = if mode == Mode::Drop && k <= 16 { k.next_power_of_two() } else { 1 };
            let start = rng.below(64) / even * even;
            let mut buffer = vec![CANARY; start + l * (k + gap) + 64];
            let strides = [(k + gap) as isize, 1];
            gather(
                1,
                &View::from_slice(&a, &[n, k]).unwrap(),
                0,
                &Index::from(&View::from_slice(&at, &[l, 1]).unwrap()),
                mode,
                0,
                &mut ViewMut::from_slice_strided(&mut buffer, start, &[l, k], &strides).unwrap(),
            )
            .unwrap();
            let (before, rest) = buffer.split_at(start);
            let (rows, after) = rest.split_at(l * (k + gap));
            assert!(before.iter().chain(after).all(|&v| v == CANARY), "rows of {k}: margins");
            let zeros = vec![0; k];
            for (i, (row, &v)) in rows.chunks_exact(k + gap).zip(&at).enumerate() {
                let expected = a.get(v as usize * k..(v as usize + 1) * k).unwrap_or(&zeros);
                assert!(row[..k] == *expected, "row {i} of {k} and {gap}, {mode:?}");
                assert!(row[k..].iter().all(|&v| v == CANARY), "after row {i} of {k}");
            }
        }
    }
}

/// The same with a factor: what is computed goes the same way as what is moved.
#[test]
fn large_scaled_outputs() {
    fn of<T: Number>(rng: &mut Rng, k: usize, mode: Mode) {
        let l = (6 << 20) / (k * size_of::<T>()) + 1 + rng.below(99);
        let n = 50;
        let a: Vec<T> = (0..n * k).map(|v| T::of(v as i64 % 91)).collect();
        let high = n as i128 - 1 + i128::from(mode == Mode::Drop) * 9;
        let at: Vec<u16> = (0..l).map(|_| rng.within(0, high) as u16).collect();
        let start = 1 + rng.below(9);
        let mut buffer = vec![T::ONE; start + l * k + 9];
        let strides = [k as isize, 1];
        gather(
            T::real(3),
            &View::from_slice(&a, &[n, k]).unwrap(),
            0,
            &Index::from(&View::from_slice(&at, &[l, 1]).unwrap()),
            mode,
            T::ZERO,
            &mut ViewMut::from_slice_strided(&mut buffer, start, &[l, k], &strides).unwrap(),
        )
        .unwrap();
        let (before, rest) = buffer.split_at(start);
        let (rows, after) = rest.split_at(l * k);
        assert!(before.iter().chain(after).all(|&v| v == T::ONE), "rows of {k}: margins");
        for (i, (row, &v)) in rows.chunks_exact(k).zip(&at).enumerate() {
            for (j, &got) in row.iter().enumerate() {
                let old = a.get(v as usize * k + j).copied().unwrap_or(T::ZERO);
                let expected = T::combine(T::real(3), old, T::ZERO, T::ZERO);
                assert_eq!(got, expected, "row {i} of {k}, {j}, {mode:?}");
            }
        }
    }
    let mut rng = Rng(43);
    for k in [1, 2, 3, 4, 5, 8, 40, 300, 700] {
        for mode in [Mode::Raise, Mode::Drop] {
            of::<f32>(&mut rng, k, mode);
            of::<Complex<f64>>(&mut rng, k, mode);
        }
    }
}

/// Shapes of models and of other libraries' benchmarks, the long ones cut: (I, N, L, K) of
/// `c[i,l,k] = a[i, b[i,l], k]` and its adjoint, for indices in every kind of order. Of them every
/// so-manieth, where PROPTEST_CASES says that few cases are wanted, as under a sanitizer.
#[test]
fn shapes_of_models() {
    let mut rng = Rng(61);
    let mut shapes = vec![
        [1, 1353, 4772, 256],   // message passing over a graph
        [1, 10_000, 10_000, 5], // numpy.take
        [6553, 64, 4, 1],       // take_along_axis with few indices
        [64, 512, 512, 1],      // by argsort
        [16, 64, 64, 64],       // a middle axis
        [1, 100, 130_530, 1],   // a histogram
        [1, 10, 10_000, 64],    // many edges, few nodes
        [1, 16_384, 16_384, 2], // windows
        [1, 4096, 4096, 8],
        [1, 256, 256, 128],
    ];
    for k in [1, 2, 3, 4, 8, 16, 32, 64, 128, 512] {
        shapes.extend([1024, 65_536].map(|n| [1, n, 65_536 / k, k]));
    }
    let one_in = (256 / common::config().cases.max(1)).max(1) as usize;
    for [i, n, l, k] in shapes.into_iter().step_by(one_in) {
        let a: Vec<f32> = (0..i * n * k).map(|v| (v % 1009) as f32 * 0.37).collect();
        let uniform: Vec<i32> = (0..i * l).map(|_| rng.below(n) as i32).collect();
        let mut sorted = uniform.clone();
        sorted.chunks_mut(l).for_each(|b| b.sort());
        let few = uniform.iter().map(|&v| (v as f64 / n as f64).powi(9) as i32 * v % 3).collect();
        let reversed = (0..i * l).map(|r| (n - 1 - r % l % n) as i32).collect();
        let strided = (0..i * l).map(|r| ((5 * r + 1) % n) as i32).collect();
        for at in [uniform, sorted, few, reversed, strided] {
            let rows = |r: usize| (r / l * n + at[r] as usize) * k;
            let (ok, c) =
                gathered((&a, &[i, n, k]), (&at, &[i, l, 1]), 1, Mode::Raise, &[i, l, k], -1.0);
            let same = c.chunks_exact(k).enumerate().all(|(r, row)| *row == a[rows(r)..][..k]);
            assert!(ok.is_ok() && same, "gather {i},{n},{l},{k}");
            let mut expected = a.clone();
            for (r, row) in c.chunks_exact(k).enumerate() {
                for (sum, &v) in expected[rows(r)..][..k].iter_mut().zip(row) {
                    *sum += v;
                }
            }
            let (ok, sums) =
                scattered((&c, &[i, l, k]), (&at, &[i, l, 1]), 1, Mode::Raise, (&a, &[i, n, k]));
            assert!(ok.is_ok() && sums == expected, "scatter_add {i},{n},{l},{k}");
        }
    }
    // torch.gather: an index of the output's shape, on the first axis and on the last
    let (m, n) = (256, 512);
    let a: Vec<f32> = (0..m * n).map(|v| v as f32).collect();
    for axis in [0, 1] {
        let at: Vec<i64> =
            (0..m * n).map(|_| rng.below(if axis == 0 { m } else { n }) as i64).collect();
        let (ok, c) = gathered((&a, &[m, n]), (&at, &[m, n]), axis, Mode::Raise, &[m, n], -1.0);
        let good = (0..m * n).all(|x| {
            let at = at[x] as usize;
            c[x] == if axis == 0 { a[at * n + x % n] } else { a[x / n * n + at] }
        });
        assert!(ok.is_ok() && good, "axis {axis}");
    }
}

#[test]
fn under_every_override() {
    common::rerun_under_overrides("under_every_override");
}

/// Gathers dense arrays along an axis.
fn gathered<T: Element, I: Element>(
    (a, a_shape): (&[T], &[usize]),
    (at, at_shape): (&[I], &[usize]),
    axis: isize,
    mode: Mode,
    out_shape: &[usize],
    prefill: T,
) -> (Result<(), Error>, Vec<T>)
where
    for<'v> Index<'v>: From<&'v View<'v, I>>,
{
    let mut out = vec![prefill; out_shape.iter().product()];
    let at = View::from_slice(at, at_shape).unwrap();
    let result = gather(
        T::ONE,
        &View::from_slice(a, a_shape).unwrap(),
        axis,
        &Index::from(&at),
        mode,
        T::ZERO,
        &mut ViewMut::from_slice(&mut out, out_shape).unwrap(),
    );
    (result, out)
}

/// Scatters dense arrays along an axis.
fn scattered<T: Element, I: Element>(
    (src, src_shape): (&[T], &[usize]),
    (at, at_shape): (&[I], &[usize]),
    axis: isize,
    mode: Mode,
    (out, out_shape): (&[T], &[usize]),
) -> (Result<(), Error>, Vec<T>)
where
    for<'v> Index<'v>: From<&'v View<'v, I>>,
{
    let mut out = out.to_vec();
    let at = View::from_slice(at, at_shape).unwrap();
    let result = scatter_add(
        T::ONE,
        &View::from_slice(src, src_shape).unwrap(),
        axis,
        &Index::from(&at),
        mode,
        &mut ViewMut::from_slice(&mut out, out_shape).unwrap(),
    );
    (result, out)
}

/// pytorch#129093: the stride of a length-1 index axis means nothing.
#[test]
fn d01_length_1_axis_of_any_stride() {
    let x: Vec<i64> = (0..4000).collect();
    let at: Vec<i64> = (0..400).map(|v| v * 7 % 10).collect();
    for s in [0, 1, 4, 400, -1] {
        let at = View::from_slice_strided(&at, 0, &[1, 100, 4], &[s, 4, 1]).unwrap();
        let mut out = vec![-1; 400];
        let a = View::from_slice(&x, &[10, 100, 4]).unwrap();
        let mut view = ViewMut::from_slice(&mut out, &[1, 100, 4]).unwrap();
        gather(1, &a, 0, &Index::from(&at), Mode::Raise, 0, &mut view).unwrap();
        assert_eq!(out[..8], [0, 2801, 1602, 403, 3204, 2005, 806, 3607]);
    }
}

/// pytorch PR#82703: an index of strides (1, 0) moves rows.
#[test]
fn d03_index_with_stride_0_along_the_row() {
    let (n, l, k) = (1353, 4772, 64);
    let at: Vec<i64> = (0..l as i64).map(|v| v * 31 % n as i64).collect();
    let src: Vec<f32> = (0..l * k).map(|v| (v % 7) as f32).collect();
    let mut expected = vec![0.0; n * k];
    for i in 0..l {
        for j in 0..k {
            expected[at[i] as usize * k + j] += src[i * k + j];
        }
    }
    let at = View::from_slice_strided(&at, 0, &[l, k], &[1, 0]).unwrap();
    let mut out = vec![0.0; n * k];
    let mut view = ViewMut::from_slice(&mut out, &[n, k]).unwrap();
    let src = View::from_slice(&src, &[l, k]).unwrap();
    scatter_add(1.0, &src, 0, &Index::from(&at), Mode::Raise, &mut view).unwrap();
    assert!(out == expected);
}

/// pytorch#99595: a length-1 index axis broadcasts to out, and out says to what.
#[test]
fn d04_length_1_index_axis_broadcasts() {
    let m: Vec<i32> = (0..25).map(|v| v / 5 * 10 + v % 5).collect();
    let at = [0i64, 1, 2, 3, 4];
    let (ok, out) = gathered((&m, &[5, 5]), (&at, &[5, 1]), 0, Mode::Raise, &[5, 5], -1);
    assert_eq!((ok, out), (Ok(()), m.clone()));
    let (error, out) = gathered((&m, &[5, 5]), (&at, &[5, 1]), 0, Mode::Raise, &[5, 1], -1);
    assert_eq!(error.unwrap_err().status(), Status::Shape); // a does not broadcast to (5, 1)
    assert_eq!(out, [-1; 5]);
}

/// pytorch#37996: indices are read at their own width.
#[test]
fn d05_index_of_every_width() {
    macro_rules! each {
        ($($t:ty),*) => {$(
            let got = gathered(
                (&[1.0, 2.0, 3.0, 4.0], &[2, 2]), (&[0 as $t, 1], &[2, 1]), 1, Mode::Raise, &[2, 1], 9.0);
            assert_eq!(got, (Ok(()), vec![1.0, 4.0]));
        )*};
    }
    each!(i8, i16, i32, i64, u8, u16, u32, u64);
}

/// numpy#14023: u64 indices, and none of them is -1.
#[test]
fn d07_u64() {
    let a = [10, 30, 20, 60, 40, 50];
    let at = [2u64, 1, 0, 2, 1, 0];
    let got = gathered((&a, &[2, 3]), (&at, &[2, 3]), 1, Mode::Raise, &[2, 3], 0);
    assert_eq!(got, (Ok(()), vec![20, 30, 10, 50, 40, 60]));
    for large in [1u64 << 63, u64::MAX] {
        let call = |mode| gathered((&a, &[6]), (&[0, large], &[2]), 0, mode, &[2], -7);
        let (error, out) = call(Mode::Raise);
        let Err(Error::Index { position, value, axis, extent, .. }) = error else {
            panic!("{error:?}");
        };
        assert_eq!((position.as_slice(), value), (&[1][..], large as i128));
        assert_eq!((axis, extent, out), (0, 6, vec![-7; 2]));
        assert_eq!(call(Mode::Drop), (Ok(()), vec![10, 0]));
        assert_eq!(call(Mode::Clip), (Ok(()), vec![10, 50]));
        assert_eq!(call(Mode::Wrap), (Ok(()), vec![10, a[(large % 6) as usize]]));
    }
    for least in [i64::MIN, i64::MIN + 1] {
        let call = |mode| gathered((&a, &[6]), (&[0, least], &[2]), 0, mode, &[2], -7);
        assert_eq!(call(Mode::Raise).0.unwrap_err().status(), Status::Index);
        assert_eq!(call(Mode::Drop), (Ok(()), vec![10, 0]));
        assert_eq!(call(Mode::Clip), (Ok(()), vec![10, 10]));
        assert_eq!(call(Mode::Wrap), (Ok(()), vec![10, a[least.rem_euclid(6) as usize]]));
    }
}

/// numpy#24147: negative indices count from the end on every path.
#[test]
fn d08_negative_indices() {
    let (ok, out) = scattered((&[1.0], &[1]), (&[-1i64], &[1]), 0, Mode::Raise, (&[1.0], &[1]));
    assert_eq!((ok, out), (Ok(()), vec![2.0]));
    let at = [-1i64, 0, 1, 0];
    let got = gathered((&[1, 2, 3, 4], &[2, 2]), (&at, &[2, 2]), 1, Mode::Raise, &[2, 2], 0);
    assert_eq!(got, (Ok(()), vec![2, 1, 4, 3]));
    let n = 5000;
    let a: Vec<i64> = (0..n).collect();
    let at: Vec<i64> = (0..n).map(|v| v - n).collect();
    let at = View::from_slice(&at, &[n as usize]).unwrap();
    let a_view = View::from_slice(&a, &[n as usize]).unwrap();
    let mut out = vec![0; n as usize * 3];
    let mut strided = ViewMut::from_slice_strided(&mut out, 0, &[n as usize], &[3]).unwrap();
    gather(1, &a_view, 0, &Index::from(&at), Mode::Raise, 0, &mut strided).unwrap();
    assert!(out.iter().step_by(3).eq(a.iter()));
}

/// numpy#28636: an index out of range is found before the first write.
#[test]
fn d09_out_of_range_writes_nothing() {
    let a = [0, 1, 2, 3, 4];
    for (at, position, value) in [(&[0i64, 1, 10][..], 2, 10), (&[0, -6], 1, -6)] {
        let (error, out) = gathered((&a, &[5]), (at, &[at.len()]), 0, Mode::Raise, &[at.len()], 7);
        let expected = Error::Index {
            arg: "index",
            position: [position][..].into(),
            value,
            axis: 0,
            of: "a",
            extent: 5,
        };
        assert_eq!((error, out), (Err(expected), vec![7; at.len()]));
    }
    // the last of many
    let mut at = vec![1i32; 5000];
    at[4999] = 5;
    let src = vec![1; 5000];
    let (error, out) = scattered((&src, &[5000]), (&at, &[5000]), 0, Mode::Raise, (&a, &[5]));
    assert_eq!(error.unwrap_err().status(), Status::Index);
    assert_eq!(out, a);
    // broadcast, strided and on one of two axes
    let at = [0, 0, 0, 9, 0, 0];
    let rows = View::from_slice_strided(&at, 1, &[2, 2], &[3, -1]).unwrap();
    let mut out = [7; 8];
    let error = gather_nd(
        1,
        &View::from_slice(&a, &[1, 1, 5]).unwrap(),
        &[(0, Index::from(&rows))],
        Mode::Raise,
        0,
        &mut ViewMut::from_slice(&mut out, &[2, 2, 2]).unwrap(),
    );
    assert_eq!(error.unwrap_err().status(), Status::Shape); // off the axis a is (1, 5), out (2, 2)
    let error = gather_nd(
        1,
        &View::from_slice(&a[..2], &[1, 1, 2]).unwrap(),
        &[(0, Index::from(&rows))],
        Mode::Raise,
        0,
        &mut ViewMut::from_slice(&mut out, &[2, 2, 2]).unwrap(),
    );
    let Err(Error::Index { position, value, axis, extent, .. }) = error else {
        panic!("{error:?}");
    };
    assert_eq!((position.as_slice(), value, axis, extent), (&[1, 1][..], 9, 0, 1));
    assert_eq!(out, [7; 8]);
}

/// jax PR#7595: the modes out of range, and a gradient that is the adjoint.
#[test]
fn d10_modes_and_their_adjoints() {
    let (a, at, g) = ([10, 20, 30], [-5i64, 1, 7], [1, 2, 4]);
    for (mode, gather, scatter) in [
        (Mode::Clip, [10, 20, 30], [1, 2, 4]),
        (Mode::Wrap, [20, 20, 20], [0, 7, 0]),
        (Mode::Drop, [0, 20, 0], [0, 2, 0]),
    ] {
        let got = gathered((&a, &[3]), (&at, &[3]), 0, mode, &[3], -1);
        assert_eq!(got, (Ok(()), gather.to_vec()));
        let got = scattered((&g, &[3]), (&at, &[3]), 0, mode, (&[0; 3], &[3]));
        assert_eq!(got, (Ok(()), scatter.to_vec()));
    }
}

/// <gather(a), g> = <a, scatter_add(g)> on integers in f64, for every mode and number of indices.
#[test]
fn adjoint_identity() {
    let mut rng = Rng(77);
    for round in 0..cases() {
        let mut case = random_case(&mut rng, 1 + round % 3);
        case.mode = MODES[round % 4];
        let mut a_shape = case.shape.clone();
        for (&d, &n) in case.axes.iter().zip(&case.extents) {
            a_shape[d] = n;
        }
        let indices: Vec<Indices> = case
            .index_shapes
            .iter()
            .zip(&case.extents)
            .map(|(shape, &n)| Indices::random(&mut rng, shape, n, case.mode == Mode::Raise))
            .collect();
        let value = |rng: &mut Rng| rng.within(-9, 9) as f64;
        let a = Array::<f64>::random(&mut rng, &a_shape).fill(|| 1.0);
        let a = a.fill(|| value(&mut rng));
        let g = Array::<f64>::random(&mut rng, &case.shape).fill(|| 1.0);
        let g = g.fill(|| value(&mut rng));
        let mut out = Array::<f64>::random(&mut rng, &case.shape);
        let mut back = Array::<f64>::random(&mut rng, &a_shape).fill(|| 0.0);
        let axes: Vec<isize> = case.axes.iter().map(|&d| d as isize).collect();
        with_pairs!(axes, indices, pairs => {
            call_gather(1.0, &a.view(), &pairs, case.mode, 0.0, &mut out.view_mut()).unwrap();
            call_scatter(1.0, &g.view(), &pairs, case.mode, &mut back.view_mut()).unwrap();
        });
        let dot = |x: &Array<f64>, y: &Array<f64>| -> f64 {
            x.values().iter().zip(y.values()).map(|(p, q)| p * q).sum()
        };
        assert_eq!(dot(&out, &g), dot(&a, &back));
    }
}

/// numpy#11677: an axis of extent 0.
#[test]
fn d11_empty_axes() {
    for mode in [Mode::Raise, Mode::Wrap, Mode::Clip] {
        let (error, _) = gathered((&[0.0; 0], &[0, 0]), (&[1i64], &[1, 1]), 0, mode, &[1, 0], 7.0);
        assert_eq!(error.unwrap_err().status(), Status::Index);
        let (error, out) = gathered((&[0.0; 0], &[0]), (&[0i64], &[1]), 0, mode, &[1], 7.0);
        assert_eq!((error.unwrap_err().status(), out), (Status::Index, vec![7.0]));
        let (error, _) = scattered((&[1.0], &[1]), (&[0i64], &[1]), 0, mode, (&[], &[0]));
        assert_eq!(error.unwrap_err().status(), Status::Index);
        let got = gathered((&[0.0; 0], &[0]), (&[0i64; 0], &[0]), 0, mode, &[0], 7.0);
        assert_eq!(got, (Ok(()), vec![]));
        let got = gathered((&[0.0; 0], &[3, 0]), (&[1i64, 1], &[2, 1]), 0, mode, &[2, 0], 7.0);
        assert_eq!(got, (Ok(()), vec![]));
    }
    let got = gathered((&[0.0; 0], &[0]), (&[0i64, 3], &[2]), 0, Mode::Drop, &[2], 7.0);
    assert_eq!(got, (Ok(()), vec![0.0; 2]));
    let got = scattered((&[1.0], &[1]), (&[0i64], &[1]), 0, Mode::Drop, (&[], &[0]));
    assert_eq!(got, (Ok(()), vec![]));
}

/// numpy PR#8043: the index is the output, in reverse.
#[test]
fn d13_index_overlaps_out() {
    let mut x = [0i64, 1, 2, 3];
    let p = x.as_mut_ptr();
    let ones = [1i64; 4];
    // SAFETY: both lie in x, and the call refuses them.
    let error = unsafe {
        let at = View::from_raw_parts(p, &[4], &[8]).unwrap();
        let mut out = ViewMut::from_raw_parts(p.add(3), &[4], &[-8]).unwrap();
        let src = View::from_slice(&ones, &[4]).unwrap();
        scatter_add(1, &src, 0, &Index::from(&at), Mode::Raise, &mut out)
    };
    assert_eq!(error.unwrap_err().status(), Status::Overlap);
    assert_eq!(x, [0, 1, 2, 3]);
}

/// An index that another thread changes between the check and the use never leaves the table.
#[test]
fn index_changed_meanwhile() {
    use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
    let (n, k) = (20_000usize, 2usize);
    let at: Vec<AtomicI64> = (0..n).map(|i| AtomicI64::new(i as i64 % 4)).collect();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut i = 0;
            while !stop.load(Ordering::Relaxed) {
                i = (i + 7919) % n;
                at[i].store(1 << 40, Ordering::Relaxed);
                std::hint::spin_loop();
                at[i].store(1, Ordering::Relaxed);
            }
        });
        let a = vec![5.0; 4 * k];
        for _ in 0..200 {
            let mut out = vec![7.0; n * k];
            // SAFETY: the atomics are read as plain integers, as a C caller's would be.
            let index =
                unsafe { View::from_raw_parts(at.as_ptr().cast::<i64>(), &[n, 1], &[8, 0]) };
            let index = index.unwrap();
            let result = gather(
                1.0,
                &View::from_slice(&a, &[4, k]).unwrap(),
                0,
                &Index::from(&index),
                Mode::Raise,
                0.0,
                &mut ViewMut::from_slice(&mut out, &[n, k]).unwrap(),
            );
            match result {
                Ok(()) => assert!(out.iter().all(|&v| v == 5.0 || v == 0.0)),
                Err(error) => {
                    assert_eq!(error.status(), Status::Index);
                    assert!(out.iter().all(|&v| v == 7.0));
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
}

/// numpy#19704: both sides broadcast.
#[test]
fn d14_both_sides_broadcast() {
    let a: Vec<i64> = (0..12).map(|v| v / 4 * 10 + v % 4).collect();
    let at: Vec<i64> = (0..10).map(|v| (v / 5 + v % 5) % 4).collect();
    let (ok, out) = gathered((&a, &[3, 4, 1]), (&at, &[1, 2, 5]), 1, Mode::Raise, &[3, 2, 5], -1);
    let first = [0, 1, 2, 3, 0, 1, 2, 3, 0, 1];
    let expected: Vec<i64> = [0, 10, 20].iter().flat_map(|t| first.map(|v| v + t)).collect();
    assert_eq!((ok, out), (Ok(()), expected));
}

/// numpy#26553: messages that hold both shapes, the true axis, position, value and extent.
#[test]
fn d16_messages() {
    let a = [0.0; 10];
    let (error, _) = gathered((&a, &[5, 2]), (&[0i64, 1, 1], &[3]), 0, Mode::Raise, &[3, 2], 0.0);
    let message = error.unwrap_err().to_string();
    assert!(message.contains("(3,)") && message.contains("(3, 2)"), "{message}");
    let (error, _) = gathered((&a, &[2, 5]), (&[0i64, 10], &[1, 2]), -1, Mode::Raise, &[2, 2], 0.0);
    let message = error.unwrap_err().to_string();
    assert_eq!(message, "index(0, 1) is 10, out of range for axis 1 of a, whose extent is 5");
    let (error, _) = gathered((&a, &[10]), (&[0i64], &[1]), 1, Mode::Raise, &[1], 0.0);
    assert_eq!(error.unwrap_err(), Error::Axis { axis: 1, ndim: 1 });
    let (error, _) =
        scattered((&a, &[5, 2]), (&[0i64; 5], &[5, 1]), 0, Mode::Raise, (&a[..9], &[3, 3]));
    let message = error.unwrap_err().to_string();
    assert!(message.contains("(3, 3)") && message.contains("(3, 2)"), "{message}");
    let at = View::from_slice(&[0i64], &[1]).unwrap();
    let pair = || (-1, Index::from(&at));
    let mut out = [0.0];
    let mut out = ViewMut::from_slice(&mut out, &[1]).unwrap();
    let a = View::from_slice(&a, &[10]).unwrap();
    let error = gather_nd(1.0, &a, &[pair(), pair()], Mode::Raise, 0.0, &mut out);
    assert_eq!(error.unwrap_err(), Error::RepeatedAxis { axis: 0, ndim: 1 });
    let many: Vec<_> = (0..65).map(|_| pair()).collect();
    let error = gather_nd(1.0, &a, &many, Mode::Raise, 0.0, &mut out);
    assert_eq!(error.unwrap_err().status(), Status::Argument);
}

/// numpy PR#12285: one element taken from a large array is one element's work.
#[test]
fn d17_one_element_of_many() {
    let a = vec![1.0; 10_000_000];
    let start = std::time::Instant::now();
    for _ in 0..1000 {
        let got = gathered((&a, &[10_000_000]), (&[9_999_999i64], &[1]), 0, Mode::Raise, &[1], 0.0);
        assert_eq!(got, (Ok(()), vec![1.0]));
    }
    assert!(start.elapsed().as_millis() < 1000);
}

/// numpy#5922: the values of the shapes that others were slow at; the times are in the benches.
#[test]
fn d18_scattered_indices() {
    let n = 262_144usize;
    let at: Vec<i64> = (0..n).map(|i| ((37 * i + 11) % n) as i64).collect();
    let a: Vec<f64> = (0..n).map(|i| i as f64).collect();
    let (ok, out) = gathered((&a, &[n]), (&at, &[n]), 0, Mode::Raise, &[n], 0.0);
    assert!(ok.is_ok() && out.iter().zip(&at).all(|(&v, &i)| v == i as f64));
    let (ok, out) = scattered((&out, &[n]), (&at, &[n]), 0, Mode::Raise, (&vec![0.0; n], &[n]));
    assert!(ok.is_ok() && out == a);
}

/// pytorch#51366: duplicates give the bits of the serial loop.
#[test]
fn d19_duplicates_in_order() {
    let (ok, out) = scattered(
        (&[1.0; 1000], &[1000]),
        (&[0i64; 1000], &[1000]),
        0,
        Mode::Raise,
        (&[0.0], &[1]),
    );
    assert_eq!((ok, out), (Ok(()), vec![1000.0]));
    fn of<T: Number + std::ops::Add<Output = T>>(rng: &mut Rng, random: impl Fn(&mut Rng) -> T) {
        for (cells, rows, k) in
            [(10, 5000, 1), (2, 5000, 3), (10, 3000, 64), (3, 40, 700), (1, 5000, 8)]
        {
            for kind in 0..3 {
                let mut at: Vec<i64> = (0..rows).map(|_| rng.below(cells) as i64).collect();
                if kind == 1 {
                    at.sort();
                }
                let src: Vec<T> = (0..rows * k).map(|_| random(rng)).collect();
                let start: Vec<T> = (0..cells * k).map(|_| random(rng)).collect();
                let mut expected = start.clone();
                for r in 0..rows {
                    for j in 0..k {
                        let cell = &mut expected[at[r] as usize * k + j];
                        *cell = *cell + src[r * k + j];
                    }
                }
                for threads in [1, 1, 2, 3, 4, 7] {
                    ndblas::set_num_threads_local(threads);
                    let (ok, out) = scattered(
                        (&src, &[rows, k]),
                        (&at, &[rows, 1]),
                        0,
                        Mode::Raise,
                        (&start, &[cells, k]),
                    );
                    assert!(ok.is_ok() && out == expected, "{cells} {rows} {k}");
                }
                // the same from the last to the first
                let src_back = View::from_slice(&src, &[rows, k]).unwrap().reversed(0).unwrap();
                let at_back = View::from_slice(&at, &[rows, 1]).unwrap().reversed(0).unwrap();
                let mut expected = start.clone();
                for r in (0..rows).rev() {
                    for j in 0..k {
                        let cell = &mut expected[at[r] as usize * k + j];
                        *cell = *cell + src[r * k + j];
                    }
                }
                let mut out = start.clone();
                let mut view = ViewMut::from_slice(&mut out, &[cells, k]).unwrap();
                scatter_add(T::ONE, &src_back, 0, &Index::from(&at_back), Mode::Raise, &mut view)
                    .unwrap();
                assert!(out == expected, "{cells} {rows} {k} reversed");
            }
        }
    }
    let mut rng = Rng(19);
    let unit = |rng: &mut Rng| rng.next() as f64 / u64::MAX as f64 - 0.5;
    of::<f32>(&mut rng, |rng| unit(rng) as f32);
    of::<f64>(&mut rng, unit);
    of::<Complex<f32>>(&mut rng, |rng| Complex::new(unit(rng) as f32, unit(rng) as f32));
}

/// The order of the terms of a sum is row-major over the indexed axes, whatever the strides are.
#[test]
fn nd_sums_in_row_major_order() {
    let mut rng = Rng(23);
    for _ in 0..100 {
        let shape = [1 + rng.below(6), 1 + rng.below(40), 1 + rng.below(5), 1 + rng.below(9)];
        let mut src = Array::<f32>::random(&mut rng, &shape);
        src = src.fill(|| rng.next() as f32 / u64::MAX as f32);
        let out_shape = [2, shape[1], 3, shape[3]];
        let mut out = Array::<f32>::random(&mut rng, &out_shape).fill(|| 0.25);
        let mut expected = out.clone();
        let axes = [2usize, 0];
        let indices = [
            Indices::random(&mut rng, &shape, 3, true),
            Indices::random(&mut rng, &shape, 2, true),
        ];
        for x in positions(&shape) {
            let y = table_position(&x, &out_shape, &axes, &indices, Mode::Raise).unwrap();
            expected.set(&y, expected.get(&y) + src.get(&x));
        }
        with_pairs!([2isize, 0], indices, pairs => scatter_add_nd(
            1.0, &src.view(), &pairs, Mode::Raise, &mut out.view_mut()).unwrap());
        out.assert_same(&expected, "order");
    }
}

/// numpy#8495: rows of weights, into what is there.
#[test]
fn d20_rows_into_out() {
    let (src, at) = ([1, 2, 3, 4, 5, 6], [0i64, 2, 0]);
    let (ok, once) = scattered((&src, &[3, 2]), (&at, &[3, 1]), 0, Mode::Raise, (&[0; 6], &[3, 2]));
    assert_eq!((ok, &once[..]), (Ok(()), &[6, 8, 0, 0, 3, 4][..]));
    let (ok, twice) = scattered((&src, &[3, 2]), (&at, &[3, 1]), 0, Mode::Raise, (&once, &[3, 2]));
    assert_eq!((ok, &twice[..]), (Ok(()), &[12, 16, 0, 0, 6, 8][..]));
}

/// pytorch#3176: the source is the target.
#[test]
fn d22_source_is_target() {
    let mut x = [1, 2, 3];
    let p = x.as_mut_ptr();
    let at = View::from_slice(&[0u8; 3], &[3]).unwrap();
    // SAFETY: both lie in x, and the calls refuse them.
    let (scatter, gathered) = unsafe {
        let src = View::from_raw_parts(p, &[3], &[4]).unwrap();
        let mut out = ViewMut::from_raw_parts(p, &[3], &[4]).unwrap();
        (
            scatter_add(1, &src, 0, &Index::from(&at), Mode::Raise, &mut out),
            gather(1, &src, 0, &Index::from(&at), Mode::Raise, 0, &mut out),
        )
    };
    assert_eq!(scatter.unwrap_err().status(), Status::Overlap);
    assert_eq!(gathered.unwrap_err().status(), Status::Overlap);
    assert_eq!(x, [1, 2, 3]);
}

/// pytorch PR#184488: the target is expanded.
#[test]
fn d23_expanded_target() {
    let mut x = [0.0; 8];
    let error = ViewMut::from_slice_strided(&mut x, 0, &[4, 8], &[0, 1]);
    assert_eq!(error.unwrap_err().status(), Status::Overlap);
}

/// numpy#18511: into an output that is there already.
#[test]
fn d27_more_rows_than_there_are() {
    let a: Vec<f64> = (0..200 * 64).map(f64::from).collect();
    let at: Vec<i32> = (0..4000).map(|v| v * 7 % 200).collect();
    let (ok, out) = gathered((&a, &[200, 64]), (&at, &[4000, 1]), 0, Mode::Raise, &[4000, 64], 0.0);
    assert!(ok.is_ok());
    for (row, &i) in out.chunks(64).zip(&at) {
        assert_eq!(row[0], f64::from(i) * 64.0);
    }
}

#[test]
fn rank_0() {
    let at = 1i16;
    let at = View::from_ref(&at);
    let a = [1.0, 2.0];
    let mut out = 0.0;
    let a = View::from_slice(&a, &[2]).unwrap();
    let mut view = ViewMut::from_mut(&mut out);
    gather(1.0, &a, 0, &Index::from(&at), Mode::Raise, 0.0, &mut view).unwrap();
    assert_eq!(out, 2.0);
    let one = View::from_ref(&1.0);
    let error =
        gather(1.0, &one, 0, &Index::from(&at), Mode::Raise, 0.0, &mut ViewMut::from_mut(&mut out));
    assert_eq!(error.unwrap_err(), Error::Axis { axis: 0, ndim: 0 });
    let mut cells = [0.5, 0.5];
    let mut view = ViewMut::from_slice(&mut cells, &[2]).unwrap();
    scatter_add(2.0, &one, -1, &Index::from(&at), Mode::Raise, &mut view).unwrap();
    assert_eq!(cells, [0.5, 2.5]);
}

/// With alpha = 0 nothing but out is looked at, not even a bad index.
#[test]
fn alpha_0_reads_nothing() {
    let (a, at) = ([f64::NAN], [9i64]);
    let (a, at) = (View::from_slice(&a, &[1]).unwrap(), View::from_slice(&at, &[1]).unwrap());
    let mut out = [4.0];
    let mut view = ViewMut::from_slice(&mut out, &[1]).unwrap();
    gather(0.0, &a, 0, &Index::from(&at), Mode::Raise, 0.5, &mut view).unwrap();
    scatter_add(0.0, &a, 0, &Index::from(&at), Mode::Raise, &mut view).unwrap();
    assert_eq!(out, [2.0]);
}

/// With alpha = 1 terms are added as they are: a product by 1 + 0i makes NaN of an infinite part.
#[test]
fn alpha_1_is_no_factor() {
    let (src, at) = ([Complex::new(f64::INFINITY, 1.0)], [0i8]);
    let (src, at) = (View::from_slice(&src, &[1]).unwrap(), View::from_slice(&at, &[1]).unwrap());
    let mut out = [Complex::new(1.0, 2.0)];
    let mut view = ViewMut::from_slice(&mut out, &[1]).unwrap();
    let one = Complex::new(1.0, 0.0);
    scatter_add(one, &src, 0, &Index::from(&at), Mode::Raise, &mut view).unwrap();
    assert_eq!(out, [Complex::new(f64::INFINITY, 3.0)]);
}

#[test]
fn integers_have_no_factors() {
    let (a, at) = ([1], [0i64]);
    let (a, at) = (View::from_slice(&a, &[1]).unwrap(), View::from_slice(&at, &[1]).unwrap());
    let mut out = [4];
    let mut view = ViewMut::from_slice(&mut out, &[1]).unwrap();
    let at = Index::from(&at);
    let results = [
        gather(2, &a, 0, &at, Mode::Raise, 0, &mut view),
        gather(1, &a, 0, &at, Mode::Raise, 1, &mut view),
        scatter_add(2, &a, 0, &at, Mode::Raise, &mut view),
    ];
    for result in results {
        assert_eq!(result.unwrap_err().status(), Status::DType);
    }
    assert_eq!(out, [4]);
}

/// What NumPy's advanced indexing means in pairs.
#[test]
fn nd_as_in_numpy() {
    // out[i,j,k] = a[i, b[i,j], c[i,j], k]
    let mut rng = Rng(3);
    let (ni, nj, nk, nb, nc) = (4, 6, 5, 7, 3);
    let a: Vec<i32> = (0..ni * nb * nc * nk).map(|v| v as i32).collect();
    let b: Vec<i32> = (0..ni * nj).map(|_| rng.within(-7, 6) as i32).collect();
    let c: Vec<u8> = (0..ni * nj).map(|_| rng.within(0, 2) as u8).collect();
    let mut out = vec![0; ni * nj * nk];
    let (b_view, c_view) = (
        View::from_slice(&b, &[ni, nj, 1, 1]).unwrap(),
        View::from_slice(&c, &[ni, nj, 1, 1]).unwrap(),
    );
    gather_nd(
        1,
        &View::from_slice(&a, &[ni, nb, nc, nk]).unwrap(),
        &[(1, Index::from(&b_view)), (2, Index::from(&c_view))],
        Mode::Raise,
        0,
        &mut ViewMut::from_slice(&mut out, &[ni, nj, 1, nk]).unwrap(),
    )
    .unwrap();
    for x in positions(&[ni, nj, nk]) {
        let [i, j, k] = x[..] else { unreachable!() };
        let (p, q) = (b[i * nj + j].rem_euclid(7) as usize, c[i * nj + j] as usize);
        let expected = a[((i * nb + p) * nc + q) * nk + k];
        assert_eq!(out[(i * nj + j) * nk + k], expected);
    }
}

/// The exports: what only C can get wrong.
mod exports {
    use ndblas::capi::indexed::*;
    use ndblas::capi::types::*;
    use std::ptr;

    fn view<T>(data: &[T], shape: &[isize], dtype: i32) -> ndblas_view {
        ndblas_view {
            data: data.as_ptr().cast(),
            shape: shape.as_ptr(),
            strides: ptr::null(),
            ndim: shape.len() as i32,
            dtype,
        }
    }
    fn view_mut<T>(data: &mut [T], shape: &[isize], dtype: i32) -> ndblas_view_mut {
        ndblas_view_mut {
            data: data.as_mut_ptr().cast(),
            shape: shape.as_ptr(),
            strides: ptr::null(),
            ndim: shape.len() as i32,
            dtype,
        }
    }
    const ONE: ndblas_scalar = ndblas_scalar { re: 1.0, im: 0.0 };
    const ZERO: ndblas_scalar = ndblas_scalar { re: 0.0, im: 0.0 };

    #[test]
    fn gather_and_scatter_add() {
        let (a, at) = ([1.0f64, 2.0, 3.0, 4.0], [1i32, -2, 0]);
        let mut out = [7.0f64; 6];
        let a = view(&a, &[2, 2], 2);
        let index = view(&at, &[3, 1], 7);
        let mut out_view = view_mut(&mut out, &[3, 2], 2);
        // SAFETY: the descriptors are good.
        let status = unsafe { ndblas_gather(ONE, &a, 0, &index, 0, ZERO, &mut out_view) };
        assert_eq!((status, out), (0, [3.0, 4.0, 1.0, 2.0, 1.0, 2.0]));
        let mut sums = [0.0f64; 4];
        let src = view(&out, &[3, 2], 2);
        let mut sums_view = view_mut(&mut sums, &[2, 2], 2);
        // SAFETY: the descriptors are good.
        let status = unsafe { ndblas_scatter_add(ONE, &src, 0, &index, 0, &mut sums_view) };
        assert_eq!((status, sums), (0, [2.0, 4.0, 3.0, 4.0]));
    }

    #[test]
    fn several_indices() {
        let (a, rows, columns) = ([1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [1i8, 0], [-1i8, 1]);
        let mut out = [0.0f32; 2];
        let a = view(&a, &[2, 3], 1);
        let indices = [view(&rows, &[2], 5), view(&columns, &[2], 5)];
        let (axes, shape) = ([0, 1], [1, 2]);
        let mut out_view = view_mut(&mut out, &shape, 1);
        // SAFETY: the descriptors are good.
        let status = unsafe {
            ndblas_gather_nd(ONE, &a, 2, axes.as_ptr(), indices.as_ptr(), 0, ZERO, &mut out_view)
        };
        assert_eq!((status, out), (0, [6.0, 2.0]));
        let mut sums = [0.0f32; 6];
        let src = view(&out, &shape, 1);
        let mut sums_view = view_mut(&mut sums, &[2, 3], 1);
        // SAFETY: the descriptors are good.
        let status = unsafe {
            ndblas_scatter_add_nd(ONE, &src, 2, axes.as_ptr(), indices.as_ptr(), 0, &mut sums_view)
        };
        assert_eq!((status, sums), (0, [0.0, 2.0, 0.0, 0.0, 0.0, 6.0]));
        for (n, axes, indices, expected) in [
            (-1, axes.as_ptr(), indices.as_ptr(), 8),
            (65, axes.as_ptr(), indices.as_ptr(), 8),
            (2, ptr::null(), indices.as_ptr(), 1),
            (2, axes.as_ptr(), ptr::null(), 1),
            (0, ptr::null(), ptr::null(), 2), // (2, 3) does not broadcast to (1, 2)
        ] {
            // SAFETY: refused before anything is read beyond what is there.
            let status =
                unsafe { ndblas_gather_nd(ONE, &a, n, axes, indices, 0, ZERO, &mut out_view) };
            assert_eq!(status, expected);
        }
    }

    /// pytorch#77231: an index of a type that is none.
    #[test]
    fn d25_index_dtype() {
        let (a, at) = ([1.0f64, 2.0], [0.0f64; 2]);
        let mut out = [7.0f64; 2];
        let a = view(&a, &[2], 2);
        let mut out_view = view_mut(&mut out, &[2], 2);
        for dtype in [1, 2, 3, 4] {
            let index = view(&at, &[2], dtype);
            // SAFETY: the descriptors are good.
            let status = unsafe { ndblas_gather(ONE, &a, 0, &index, 0, ZERO, &mut out_view) };
            assert_eq!(status, 3);
            // SAFETY: as above.
            let status = unsafe { ndblas_scatter_add(ONE, &a, 0, &index, 0, &mut out_view) };
            assert_eq!(status, 3);
        }
        let index = view(&[0u8, 1], &[2], 9);
        for mode in [-1, 4, i32::MAX] {
            // SAFETY: as above.
            let status = unsafe { ndblas_gather(ONE, &a, 0, &index, mode, ZERO, &mut out_view) };
            assert_eq!(status, 8);
        }
        // SAFETY: as above.
        unsafe {
            assert_eq!(ndblas_gather(ONE, ptr::null(), 0, &index, 0, ZERO, &mut out_view), 1);
            assert_eq!(ndblas_gather(ONE, &a, 0, ptr::null(), 0, ZERO, &mut out_view), 1);
            assert_eq!(ndblas_gather(ONE, &a, 0, &index, 0, ZERO, ptr::null_mut()), 1);
            let two = ndblas_scalar { re: 1.0, im: 2.0 };
            assert_eq!(ndblas_gather(two, &a, 0, &index, 0, ZERO, &mut out_view), 8);
            assert_eq!(ndblas_gather(ONE, &a, 2, &index, 0, ZERO, &mut out_view), 4);
        }
        assert_eq!(out, [7.0; 2]);
    }
}
