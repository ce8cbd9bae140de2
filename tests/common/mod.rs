//! What the test files share: arrays in memory of their own as a C caller holds them, random
//! layouts for them, and the naive way to visit their elements.

#![allow(dead_code)] // each test file uses its part

use ndblas::capi::runtime::ndblas_last_error;
use ndblas::capi::types::{ndblas_scalar, ndblas_view, ndblas_view_mut};
use ndblas::{DType, Element, Scalar};
use num_complex::Complex;
use proptest::prelude::*;
use std::marker::PhantomData;

/// Where the elements of a view lie: `base` is the byte offset of the first logical one.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    pub base: isize,
    pub shape: Vec<isize>,
    pub strides: Vec<isize>,
}

impl Layout {
    pub fn new(base: isize, shape: &[isize], strides: &[isize]) -> Layout {
        assert_eq!(shape.len(), strides.len());
        Layout { base, shape: shape.into(), strides: strides.into() }
    }

    /// Row-major and without gaps.
    pub fn dense(shape: &[isize], item: usize) -> Layout {
        let mut step = item as isize;
        let mut strides: Vec<_> = shape
            .iter()
            .rev()
            .map(|&n| {
                let s = step;
                step *= n.max(1);
                s
            })
            .collect();
        strides.reverse();
        Layout::new(0, shape, &strides)
    }

    /// The byte offset of the element that stands at `index` of a shape to which this broadcasts.
    pub fn offset(&self, index: &[isize]) -> isize {
        let missing = index.len() - self.shape.len();
        let axes = self.shape.iter().zip(&self.strides).zip(&index[missing..]);
        self.base + axes.map(|((&n, &s), &i)| if n == 1 { 0 } else { i * s }).sum::<isize>()
    }

    pub fn offsets(&self) -> Vec<isize> {
        let mut offsets = Vec::new();
        each_index(&self.shape, |index| offsets.push(self.offset(index)));
        offsets
    }

    /// The bytes that the elements cover.
    pub fn cells(&self, item: usize) -> Vec<isize> {
        self.offsets().iter().flat_map(|&o| o..o + item as isize).collect()
    }

    /// From the lowest byte covered to the end of the highest, relative to `base`.
    pub fn span(&self, item: usize) -> (isize, isize) {
        let reach = self.shape.iter().zip(&self.strides).filter(|&(&n, _)| n > 1);
        reach.fold((0, item as isize), |(low, high), (&n, &s)| {
            (low + ((n - 1) * s).min(0), high + ((n - 1) * s).max(0))
        })
    }
}

/// Visits every index of a shape, in row-major order.
pub fn each_index(shape: &[isize], mut visit: impl FnMut(&[isize])) {
    let mut index = vec![0; shape.len()];
    if shape.contains(&0) {
        return;
    }
    loop {
        visit(&index);
        let mut axis = shape.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
}

/// A view in memory of its own. Around and between its elements lie canary bytes.
#[derive(Clone)]
pub struct Array<T> {
    memory: Vec<Line>,
    pub layout: Layout,
    /// Whether the view says NULL for its (dense) strides.
    pub null_strides: bool,
    elements: PhantomData<T>,
}

/// Memory comes in cache lines, so that addresses modulo 64 are what a test says.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([u8; LINE]);
const LINE: usize = 64;

/// Canary bytes before and after the elements, at least.
const MARGIN: usize = 128;

impl<T: Element> Array<T> {
    /// Room for a layout, whose base is moved so that everything fits in and the first element's
    /// address is `shift` modulo 64.
    pub fn new(mut layout: Layout, shift: usize) -> Self {
        let (low, high) = layout.span(size_of::<T>());
        let before = (low.unsigned_abs() + MARGIN).next_multiple_of(LINE) + shift % LINE;
        let lines = (before + high as usize + MARGIN).div_ceil(LINE);
        layout.base = before as isize;
        let memory = vec![Line([0; LINE]); lines];
        let mut array = Array { memory, layout, null_strides: false, elements: PhantomData };
        for (i, byte) in array.bytes_mut().iter_mut().enumerate() {
            *byte = (i as u8).wrapping_mul(37) ^ 0xA5;
        }
        array
    }

    /// A dense array of these values.
    pub fn from_values(shape: &[isize], values: &[T]) -> Self {
        let mut array = Array::new(Layout::dense(shape, size_of::<T>()), 0);
        array.assign(values.iter().copied());
        array
    }

    /// The same with the first element's address `shift` modulo 64.
    pub fn shifted(shift: usize, values: &[T]) -> Self {
        let shape = [values.len() as isize];
        let mut array = Array::new(Layout::dense(&shape, size_of::<T>()), shift);
        array.assign(values.iter().copied());
        array
    }

    /// Sets the elements in row-major order.
    pub fn assign(&mut self, values: impl IntoIterator<Item = T>) {
        let mut values = values.into_iter();
        for offset in self.layout.offsets() {
            self.set_at(offset, values.next().expect("a value for each element"));
        }
    }

    /// Sets the elements to what `next` gives one after the other.
    pub fn fill_with(&mut self, next: impl FnMut() -> T) {
        self.assign(std::iter::repeat_with(next));
    }

    pub fn get_at(&self, offset: isize) -> T {
        let bytes = &self.bytes()[offset as usize..][..size_of::<T>()];
        // SAFETY: the slice has the size of T, which may have any bits.
        unsafe { bytes.as_ptr().cast::<T>().read_unaligned() }
    }

    pub fn set_at(&mut self, offset: isize, value: T) {
        let bytes = &mut self.bytes_mut()[offset as usize..][..size_of::<T>()];
        // SAFETY: the slice has the size of T.
        unsafe { bytes.as_mut_ptr().cast::<T>().write_unaligned(value) }
    }

    /// The element that stands at `index` of a shape to which this broadcasts.
    pub fn get(&self, index: &[isize]) -> T {
        self.get_at(self.layout.offset(index))
    }

    /// The elements in row-major order.
    pub fn values(&self) -> Vec<T> {
        self.layout.offsets().iter().map(|&o| self.get_at(o)).collect()
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: a line is its bytes.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast(), self.memory.len() * LINE) }
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let (data, len) = (self.memory.as_mut_ptr().cast(), self.memory.len() * LINE);
        // SAFETY: a line is its bytes.
        unsafe { std::slice::from_raw_parts_mut(data, len) }
    }

    /// What lies between and around the elements.
    pub fn canaries(&self) -> Vec<u8> {
        let mut rest = self.bytes().to_vec();
        self.layout.cells(size_of::<T>()).iter().for_each(|&cell| rest[cell as usize] = 0);
        rest
    }

    pub fn view(&self) -> ndblas_view {
        let strides = self.layout.strides.as_ptr();
        let strides = if self.null_strides { std::ptr::null() } else { strides };
        ndblas_view { strides, ..self.view_of(&self.layout) }
    }

    pub fn view_mut(&mut self) -> ndblas_view_mut {
        let data = self.bytes_mut().as_mut_ptr();
        writable(data.wrapping_offset(self.layout.base), self.view())
    }

    /// Another view of this memory; it borrows the numbers of `layout`.
    pub fn view_of(&self, layout: &Layout) -> ndblas_view {
        ndblas_view {
            data: self.bytes().as_ptr().wrapping_offset(layout.base).cast(),
            shape: layout.shape.as_ptr(),
            strides: layout.strides.as_ptr(),
            ndim: layout.shape.len() as i32,
            dtype: T::DTYPE as i32,
        }
    }

    pub fn view_mut_of(&mut self, layout: &Layout) -> ndblas_view_mut {
        let data = self.bytes_mut().as_mut_ptr();
        writable(data.wrapping_offset(layout.base), self.view_of(layout))
    }
}

fn writable(data: *mut u8, view: ndblas_view) -> ndblas_view_mut {
    let ndblas_view { shape, strides, ndim, dtype, .. } = view;
    ndblas_view_mut { data: data.cast(), shape, strides, ndim, dtype }
}

/// How an array of any shape lies in memory.
#[derive(Debug, Clone)]
pub struct Arrangement {
    /// Axes from the innermost to the outermost.
    pub order: Vec<usize>,
    pub flipped: Vec<bool>,
    /// Gaps in bytes after the elements or rows of an axis.
    pub gaps: Vec<isize>,
    /// The address of the first element modulo 64.
    pub shift: usize,
    pub null_strides: bool,
    /// What an input does on each axis, and how many of the leading axes it lacks.
    pub repeats: Vec<Repeat>,
    pub missing: usize,
}

/// How an input comes by an axis of the output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Repeat {
    /// It has it.
    No,
    /// It has length 1 there.
    LengthOne,
    /// It has stride 0 there.
    StrideZero,
}

/// The stride of a length-1 axis means nothing, so it is something that would do harm.
const UNUSED_STRIDE: isize = isize::MIN;

impl Arrangement {
    fn layout_of(&self, shape: &[isize], item: usize) -> Layout {
        let mut strides = vec![UNUSED_STRIDE; shape.len()];
        let mut step = item as isize;
        for &axis in self.order.iter().filter(|&&axis| axis < shape.len()) {
            let n = shape[axis].max(1);
            if n == 1 {
                continue;
            }
            step += self.gaps[axis];
            strides[axis] = if self.flipped[axis] { -step } else { step };
            step *= n;
        }
        Layout::new(0, shape, &strides)
    }

    fn place<T: Element>(&self, layout: Layout) -> Array<T> {
        let dense = layout.shape.iter().all(|&n| n > 0)
            && layout.offsets() == Layout::dense(&layout.shape, size_of::<T>()).offsets();
        let mut array = Array::new(layout, self.shift);
        array.null_strides = self.null_strides && dense;
        array
    }

    pub fn output<T: Element>(&self, shape: &[isize]) -> Array<T> {
        self.place(self.layout_of(shape, size_of::<T>()))
    }

    /// An array which broadcasts to `shape`.
    pub fn input<T: Element>(&self, shape: &[isize]) -> Array<T> {
        let missing = self.missing.min(shape.len());
        let repeat = |axis: usize| if shape[axis] == 0 { Repeat::No } else { self.repeats[axis] };
        let of = |axis: usize| if repeat(axis) == Repeat::No { shape[axis] } else { 1 };
        let own: Vec<_> = (0..shape.len()).map(of).collect();
        let mut layout = self.layout_of(&own, size_of::<T>());
        for (axis, &n) in shape.iter().enumerate() {
            if repeat(axis) == Repeat::StrideZero {
                (layout.shape[axis], layout.strides[axis]) = (n, 0);
            }
        }
        layout.shape.drain(..missing);
        layout.strides.drain(..missing);
        let mut array = self.place::<T>(layout);
        // NaN in every floating type, so that a read outside the elements shows.
        array.bytes_mut().fill(0xFF);
        array
    }
}

/// Rank 0 to 6; extents around the lengths of registers, unrolled loops, tiles and blocks.
pub fn shapes() -> impl Strategy<Value = Vec<isize>> {
    let extent = prop_oneof![
        1 => Just(0),
        4 => Just(1),
        8 => prop::sample::select(vec![2, 3, 4, 5]),
        8 => prop::sample::select(vec![7, 8, 9, 15, 16, 17, 31, 33, 64, 65]),
        1 => prop::sample::select(vec![127, 300, 2047, 2049, 4097]),
    ];
    prop::collection::vec(extent, 0..=6).prop_map(|mut shape: Vec<isize>| {
        let mut size = 1;
        for n in &mut shape {
            if size > 1 && size * *n > 2000 {
                *n = 1;
            }
            size *= (*n).max(1);
        }
        shape
    })
}

pub fn arrangements() -> impl Strategy<Value = Arrangement> {
    let rows = Just((0..6).rev().collect::<Vec<usize>>());
    let order = prop_oneof![rows.clone(), rows.prop_shuffle()];
    let flipped = prop_oneof![Just(vec![false; 6]), prop::collection::vec(any::<bool>(), 6)];
    let gap = prop::sample::select(vec![0, 0, 0, 0, 16, 32, 4, 1, 5]);
    let gaps = prop_oneof![Just(vec![0; 6]), prop::collection::vec(gap, 6)];
    let shift = prop_oneof![Just(0), (0usize..4).prop_map(|i| 16 * i), 0usize..64];
    let repeat = prop::sample::select(vec![
        Repeat::No,
        Repeat::No,
        Repeat::No,
        Repeat::LengthOne,
        Repeat::StrideZero,
    ]);
    let repeats = prop_oneof![Just(vec![Repeat::No; 6]), prop::collection::vec(repeat, 6)];
    let missing = prop_oneof![3 => Just(0), 1 => 0usize..=6];
    (order, flipped, gaps, shift, any::<bool>(), repeats, missing).prop_map(
        |(order, flipped, gaps, shift, null_strides, repeats, missing)| Arrangement {
            order,
            flipped,
            gaps,
            shift,
            null_strides,
            repeats,
            missing,
        },
    )
}

/// A call of an element-wise routine: an output's shape, three operands, two factors, some numbers.
#[derive(Debug, Clone)]
pub struct Case {
    pub shape: Vec<isize>,
    pub out: Arrangement,
    pub a: Arrangement,
    pub b: Arrangement,
    pub alpha: (f64, f64),
    pub beta: (f64, f64),
    pub seed: u64,
    /// Whether all numbers are such that no operation rounds.
    pub exact: bool,
}

impl Case {
    pub fn numbers(&self) -> Numbers {
        Numbers { state: self.seed, exact: self.exact }
    }

    pub fn alpha<T: Number>(&self) -> T {
        factor(self.alpha, self.exact)
    }

    pub fn beta<T: Number>(&self) -> T {
        factor(self.beta, self.exact)
    }
}

fn factor<T: Number>((re, im): (f64, f64), exact: bool) -> T {
    let part = |v: f64| if exact { v.round() } else { v };
    T::rounded(part(re), part(im))
}

pub fn cases() -> impl Strategy<Value = Case> {
    let part = prop::sample::select(vec![0.0, 0.0, -0.0, 1.0, 1.0, -1.0, 2.0, 0.3, -1.7]);
    let factor = || (part.clone(), prop_oneof![2 => Just(0.0), 1 => part.clone()]);
    (
        shapes(),
        (arrangements(), arrangements(), arrangements()),
        (factor(), factor()),
        any::<u64>(),
        any::<bool>(),
    )
        .prop_map(|(shape, (out, a, b), (alpha, beta), seed, exact)| Case {
            shape,
            out,
            a,
            b,
            alpha,
            beta,
            seed,
            exact,
        })
}

/// Seeded numbers (the generator is splitmix64).
pub struct Numbers {
    pub state: u64,
    pub exact: bool,
}

impl Numbers {
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A small whole number, or one between -4 and 4.
    pub fn real(&mut self) -> f64 {
        let bits = self.bits();
        if self.exact {
            (bits % 17) as f64 - 8.0
        } else {
            (bits >> 11) as f64 / (1u64 << 50) as f64 - 4.0
        }
    }

    pub fn number<T: Number>(&mut self) -> T {
        T::rounded(self.real(), self.real())
    }

    pub fn number_or_nan<T: Number>(&mut self, number: bool) -> T {
        if number { self.number() } else { T::nan() }
    }

    /// Any bits at all.
    pub fn element<T: Element>(&mut self) -> T {
        let bits = [self.bits(), self.bits()];
        // SAFETY: an element has at most 16 bytes, and any bits are one.
        unsafe { bits.as_ptr().cast::<T>().read() }
    }
}

/// A type with arithmetic, as the oracle sees it.
pub trait Number: Scalar {
    const COMPLEX: bool = matches!(Self::DTYPE, DType::Complex64 | DType::Complex128);
    /// The distance from 1 to the next number.
    const EPSILON: f64 = match Self::DTYPE {
        DType::F32 | DType::Complex64 => f32::EPSILON as f64,
        _ => f64::EPSILON,
    };

    fn wide(self) -> Complex<f64> {
        let (re, im) = self.parts();
        Complex::new(re, im)
    }

    fn nan() -> Self {
        Self::rounded(f64::NAN, f64::NAN)
    }

    fn scalar(self) -> ndblas_scalar {
        self.parts().into()
    }
}

impl Number for f32 {}
impl Number for f64 {}
impl Number for Complex<f32> {}
impl Number for Complex<f64> {}

/// A sum of products in double precision (compensated, after Kahan: the oracle's own error is to be
/// none), and the sum of their magnitudes, by which errors are measured.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sum {
    pub value: Complex<f64>,
    lost: Complex<f64>,
    pub magnitude: f64,
}

impl Sum {
    pub fn plus(self, product: &[Complex<f64>]) -> Sum {
        let term = product.iter().product::<Complex<f64>>() - self.lost;
        let value = self.value + term;
        let magnitude = product.iter().map(|v| v.norm()).product::<f64>();
        Sum { value, lost: value - self.value - term, magnitude: self.magnitude + magnitude }
    }
}

/// Each term may be rounded a few times on its way, always relative to its own size.
pub fn is_close<T: Number>(got: T, want: Sum, exact: bool) -> bool {
    let ulps = if exact {
        0.0
    } else if T::COMPLEX {
        8.0
    } else {
        4.0
    };
    let error = got.wide() - want.value;
    let bound = ulps * T::EPSILON * want.magnitude;
    error.re.abs() <= bound && error.im.abs() <= bound
}

/// Checks an output element by element, and everything around it byte by byte.
pub fn check_elements<T: Number>(
    before: &Array<T>,
    after: &Array<T>,
    exact: bool,
    want: impl Fn(&[isize]) -> Sum,
) -> Result<(), TestCaseError> {
    let mut wrong = None;
    each_index(&after.layout.shape, |index| {
        let (got, want) = (after.get(index), want(index));
        if wrong.is_none() && !is_close(got, want, exact) {
            wrong = Some(format!("at {index:?}: {got:?}, not {want:?}"));
        }
    });
    prop_assert_eq!(wrong, None);
    prop_assert!(before.canaries() == after.canaries(), "wrote outside the view");
    Ok(())
}

/// The bytes of the elements in row-major order.
pub fn bits<T: Element>(array: &Array<T>) -> Vec<u8> {
    let cells = array.layout.cells(size_of::<T>());
    cells.iter().map(|&cell| array.bytes()[cell as usize]).collect()
}

/// The same elements, broadcast to `shape`, in a dense array.
pub fn densely<T: Element>(array: &Array<T>, shape: &[isize]) -> Array<T> {
    let mut dense = Array::new(Layout::dense(shape, size_of::<T>()), 0);
    let mut values = Vec::new();
    each_index(shape, |index| values.push(array.get(index)));
    dense.assign(values);
    dense
}

/// Whether the built-in kernels serve every call, so that bits do not depend on layout.
pub fn without_blas() -> bool {
    !cfg!(feature = "blas") || std::env::var("NDBLAS_BLAS").is_ok_and(|v| v == "0")
}

/// The calling thread's last message.
pub fn last_error() -> String {
    let mut buffer = [0u8; 1000];
    // SAFETY: the buffer has room for as many bytes as it says.
    let n = unsafe { ndblas_last_error(buffer.as_mut_ptr().cast(), buffer.len()) };
    String::from_utf8_lossy(&buffer[..n.min(buffer.len() - 1)]).into_owned()
}

pub const OK: i32 = 0;
pub const NULL: i32 = 1;
pub const SHAPE: i32 = 2;
pub const DTYPE: i32 = 3;
pub const AXIS: i32 = 4;
pub const OVERLAP: i32 = 5;
pub const ARGUMENT: i32 = 8;

/// A property's configuration. A fault found becomes a test of its own, not a file of seeds; more
/// cases with the variable PROPTEST_CASES.
pub fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

fn has_avx512() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx512f");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// Runs the tests of the calling test binary again under each override that selects other code.
pub fn rerun_under_overrides(but: &str) {
    if std::env::var_os("NDBLAS_TEST_RERUN").is_some() {
        return;
    }
    let mut overrides = vec![("NDBLAS_ISA", "portable"), ("NDBLAS_ISA", "avx2")];
    if cfg!(feature = "blas") {
        // An OpenBLAS that does not know this CPU is not used until it is told what that is.
        let known = if has_avx512() { "SkylakeX" } else { "Haswell" };
        overrides.extend([("NDBLAS_BLAS", "0"), ("OPENBLAS_CORETYPE", known)]);
    }
    for (name, value) in overrides {
        let cases = std::env::var("PROPTEST_CASES").unwrap_or("64".into());
        let run = std::process::Command::new(std::env::current_exe().expect("its own path"))
            .args(["--skip", but])
            .env("NDBLAS_TEST_RERUN", "1")
            .env("PROPTEST_CASES", cases)
            .env(name, value)
            .output()
            .expect("it runs");
        let text = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success(), "with {name}={value}:\n{text}");
    }
}

/// One test for each type with arithmetic, over random cases.
#[macro_export]
macro_rules! for_numbers {
    ($($property:ident),* $(,)?) => {$(
        mod $property {
            use super::common::{cases, config};
            use num_complex::Complex;
            use proptest::prelude::*;
            proptest! {
                #![proptest_config(config())]
                #[test]
                fn f32(case in cases()) { super::$property::<f32>(&case)?; }
                #[test]
                fn f64(case in cases()) { super::$property::<f64>(&case)?; }
                #[test]
                fn complex64(case in cases()) { super::$property::<Complex<f32>>(&case)?; }
                #[test]
                fn complex128(case in cases()) { super::$property::<Complex<f64>>(&case)?; }
            }
        }
    )*};
}

/// One test for each type, over random cases.
#[macro_export]
macro_rules! for_elements {
    ($($property:ident),* $(,)?) => {$(
        mod $property {
            use super::common::{cases, config};
            use num_complex::Complex;
            use proptest::prelude::*;
            proptest! {
                #![proptest_config(config())]
                #[test]
                fn every_type(case in cases()) {
                    super::$property::<f32>(&case)?;
                    super::$property::<f64>(&case)?;
                    super::$property::<Complex<f32>>(&case)?;
                    super::$property::<Complex<f64>>(&case)?;
                    super::$property::<i8>(&case)?;
                    super::$property::<i16>(&case)?;
                    super::$property::<i32>(&case)?;
                    super::$property::<i64>(&case)?;
                    super::$property::<u8>(&case)?;
                    super::$property::<u16>(&case)?;
                    super::$property::<u32>(&case)?;
                    super::$property::<u64>(&case)?;
                }
            }
        }
    )*};
}
