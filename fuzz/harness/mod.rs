//! What the fuzz targets and `tests/fuzz.rs` share: any bytes make one call of an export, with
//! operands anywhere in guarded memory, and the naive oracle says what must come of it: the status,
//! the value of every cell of an output, and no other byte changed.
//!
//! Where the bytes end, zeros follow; a zero is always the plain choice.

#![allow(dead_code)] // each target uses its part

pub mod blas;
pub mod indexed;
pub mod level1;
pub mod permute;

use crate::common::{self, Layout, Numbers, Sum, each_index};
use ndblas::DType;
use ndblas::capi::types::{ndblas_scalar, ndblas_view, ndblas_view_mut};
use num_complex::Complex;
use std::ptr::{null, null_mut};

pub type C64 = Complex<f64>;

pub const INDEX: i32 = 6;
pub const LAYOUT: i32 = 7;

/// What libraries of one family run: arbitrary bytes in, a panic for a fault.
pub type Target = fn(&[u8]);

pub const TARGETS: [(&str, Target); 4] = [
    ("level1", level1::run),
    ("permute", permute::run),
    ("indexed", indexed::run),
    ("blas", blas::run),
];

/// The bytes, read as choices.
pub struct Source<'a>(&'a [u8]);

impl<'a> Source<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Source(bytes)
    }

    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.byte() as usize % n
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    pub fn rarely(&mut self, one_in: usize) -> bool {
        self.below(one_in) == one_in - 1
    }

    pub fn word(&mut self) -> u64 {
        (0..3).fold(0, |word, _| word << 8 | self.byte() as u64)
    }

    /// Rank 0 to 6, now and then to 64; few elements, now and then enough of them for threads.
    pub fn shape(&mut self) -> Vec<isize> {
        if self.rarely(200) {
            return self.pick(&[&[611, 509][..], &[70_000, 5], &[17, 130, 150], &[300_001]]).into();
        }
        let rank = if self.rarely(60) { self.below(65) } else { self.pick(&[2, 1, 3, 0, 4, 5, 6]) };
        let mut size = 1;
        (0..rank)
            .map(|_| {
                let n = self.pick(&[
                    3, 2, 4, 5, 1, 1, 1, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 127, 300, 2047, 0,
                ]);
                let n = if size > 1 && size * n > 2000 { 1 } else { n };
                size *= n.max(1);
                n
            })
            .collect()
    }

    /// Strides for a shape: dense; or in any order, backwards and with gaps; or anything near.
    fn strides(&mut self, shape: &[isize], item: isize) -> Vec<isize> {
        let mut strides = vec![0; shape.len()];
        let kind = self.below(8);
        let mut order: Vec<usize> = (0..shape.len()).rev().collect();
        if kind >= 3 && shape.len() > 1 {
            let (from, by) = (self.below(shape.len()), self.below(shape.len()));
            order.swap(from, by);
            order.rotate_left(by);
        }
        let mut step = item;
        for axis in order {
            let n = shape[axis].max(1);
            if kind >= 4 {
                step += self.pick(&[0, 0, 0, item, 3 * item, 64, 1, 5]);
            }
            strides[axis] = if kind >= 4 && self.rarely(3) { -step } else { step };
            if kind == 7 && n < 40 {
                // Folds, repeats, steps that are no multiples.
                strides[axis] = self.pick(&[item, 0, 2 * item, 3 * item, -item, 1, 7, -13, 24]);
            }
            if n == 1 {
                strides[axis] = self.pick(&[isize::MIN, 0, 1, -7, isize::MAX]);
            } else {
                step = step.saturating_mul(n);
            }
        }
        if shape.contains(&0) && self.rarely(4) {
            strides.fill(isize::MIN);
        }
        strides
    }

    /// 0, 1 and others; now and then what real types cannot hold.
    pub fn factor(&mut self, dtype: DType) -> C64 {
        let mut part = |rare| {
            let common = [1.0, 0.0, -1.0, 2.0, 0.3, -0.0, -1.7, 3.0];
            if rare { f64::NAN } else { self.pick(&common) }
        };
        let re = part(false);
        let complex = matches!(dtype, DType::Complex64 | DType::Complex128);
        let re = if self.rarely(60) { f64::NAN } else { re };
        let im =
            if complex || self.rarely(60) { self.pick(&[0.0, 0.0, 1.0, -1.7, -0.0]) } else { 0.0 };
        C64::new(re, im)
    }
}

/// What is wrong with a descriptor.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Spoilt {
    No,
    Null,
    NullData,
    NullShape,
    Rank(i32),
    DType(i32),
    /// An axis, and what its extent becomes.
    Extent(usize, isize),
    Stride(usize, isize),
}

/// One operand of a call, in one of its memories.
#[derive(Debug, Clone)]
pub struct Operand {
    pub name: &'static str,
    pub memory: usize,
    /// Its base is an offset in the memory.
    pub layout: Layout,
    pub dtype: DType,
    pub output: bool,
    null_strides: bool,
    spoilt: Spoilt,
}

impl Operand {
    pub fn item(&self) -> usize {
        self.dtype.size()
    }

    pub fn is_empty(&self) -> bool {
        self.layout.shape.contains(&0)
    }

    /// The status for the descriptor alone.
    fn own_fault(&self) -> Option<i32> {
        match self.spoilt {
            Spoilt::No => None,
            Spoilt::Null => Some(common::NULL),
            Spoilt::NullData => (!self.is_empty()).then_some(common::NULL),
            Spoilt::NullShape => (!self.layout.shape.is_empty()).then_some(common::NULL),
            Spoilt::Rank(_) | Spoilt::Extent(..) | Spoilt::Stride(..) => Some(common::SHAPE),
            Spoilt::DType(_) => Some(common::DTYPE),
        }
    }

    pub fn legible(&self) -> bool {
        self.own_fault().is_none()
    }

    /// The same view: same first cell, shape and strides where an axis has any.
    fn is(&self, other: &Operand) -> bool {
        let (a, b) = (&self.layout, &other.layout);
        let mut axes = a.shape.iter().zip(&a.strides).zip(&b.strides);
        self.memory == other.memory
            && self.item() == other.item()
            && a.base == b.base
            && a.shape == b.shape
            && axes.all(|((&n, s), t)| n == 1 || s == t)
    }

    /// Which bytes of its memory it covers, and whether it covers one of them twice.
    fn covers(&self, len: usize) -> (Vec<bool>, bool) {
        let (mut covered, mut twice) = (vec![false; len], false);
        each_index(&self.layout.shape, |index| {
            let at = self.layout.offset(index) as usize;
            for byte in &mut covered[at..at + self.item()] {
                twice |= *byte;
                *byte = true;
            }
        });
        (covered, twice)
    }

    /// The element at an index of a shape to which it broadcasts.
    pub fn get(&self, memories: &[Vec<u8>], index: &[isize]) -> C64 {
        number(self.dtype, &memories[self.memory][self.layout.offset(index) as usize..])
    }

    pub fn bits(&self, memories: &[Vec<u8>], index: &[isize]) -> Bits {
        bits(self.dtype, &memories[self.memory][self.layout.offset(index) as usize..])
    }
}

/// The bytes of one element.
pub type Bits = u128;

fn bits(dtype: DType, bytes: &[u8]) -> Bits {
    let mut all = [0; 16];
    all[..dtype.size()].copy_from_slice(&bytes[..dtype.size()]);
    Bits::from_le_bytes(all)
}

/// An element of a type with arithmetic.
fn number(dtype: DType, bytes: &[u8]) -> C64 {
    let single = |at: usize| f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as f64;
    let double = |at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    match dtype {
        DType::F32 => C64::new(single(0), 0.0),
        DType::F64 => C64::new(double(0), 0.0),
        DType::Complex64 => C64::new(single(0), single(4)),
        DType::Complex128 => C64::new(double(0), double(8)),
        _ => unreachable!("integers have bits only"),
    }
}

pub fn bits_of(dtype: DType, v: C64) -> Bits {
    let mut bytes = [0; 16];
    let (s, d) = ((v.re as f32).to_le_bytes(), v.re.to_le_bytes());
    match dtype {
        DType::F32 => bytes[..4].copy_from_slice(&s),
        DType::F64 => bytes[..8].copy_from_slice(&d),
        DType::Complex64 => {
            bytes[..4].copy_from_slice(&s);
            bytes[4..8].copy_from_slice(&(v.im as f32).to_le_bytes());
        }
        DType::Complex128 => {
            bytes[..8].copy_from_slice(&d);
            bytes[8..].copy_from_slice(&v.im.to_le_bytes());
        }
        _ => unreachable!("integers have bits only"),
    }
    Bits::from_le_bytes(bytes)
}

/// A factor as the element type holds it.
pub fn rounded(dtype: DType, v: C64) -> C64 {
    match dtype {
        DType::F32 | DType::Complex64 => C64::new(v.re as f32 as f64, v.im as f32 as f64),
        _ => v,
    }
}

pub const ARITHMETIC: [DType; 4] = [DType::F64, DType::F32, DType::Complex64, DType::Complex128];
pub const INTEGERS: [DType; 8] =
    [DType::I64, DType::I32, DType::I8, DType::I16, DType::U8, DType::U16, DType::U32, DType::U64];

pub fn epsilon(dtype: DType) -> f64 {
    match dtype {
        DType::F32 | DType::Complex64 => f32::EPSILON as f64,
        _ => f64::EPSILON,
    }
}

pub fn scalar(v: C64) -> ndblas_scalar {
    ndblas_scalar { re: v.re, im: v.im }
}

/// The statuses that a call may give: one of `must` if there is any, or else success or one of `may`.
#[derive(Debug, Default)]
pub struct Faults {
    must: Vec<i32>,
    may: Vec<i32>,
}

impl Faults {
    pub fn must(&mut self, fault: bool, status: i32) {
        if fault {
            self.must.push(status);
        }
    }

    /// What the contract leaves open.
    pub fn may(&mut self, fault: bool, status: i32) {
        if fault {
            self.may.push(status);
        }
    }

    pub fn none(&self) -> bool {
        self.must.is_empty()
    }

    fn admit(&self, status: i32) -> bool {
        let fault = self.must.contains(&status) || self.may.contains(&status);
        fault || (status == common::OK && self.must.is_empty())
    }
}

/// What an output's cell must hold after a call.
#[derive(Debug, Clone, Copy)]
pub enum Want {
    Bits(Bits),
    /// The sum of some products, within some units in the last place of what was added.
    Near(Sum, f64),
    /// Not a number, or infinite.
    Special(f64),
    /// Where the order of operations decides: overflow, and infinities in complex arithmetic.
    Any,
}

/// The sum of these products in arithmetic of `dtype`. Whole numbers come out exactly.
pub fn want(dtype: DType, products: &[&[C64]], exact: bool) -> Want {
    let complex = matches!(dtype, DType::Complex64 | DType::Complex128);
    let (mut special, mut large) = (false, false);
    for v in products.iter().flat_map(|p| p.iter()).flat_map(|v| [v.re, v.im]) {
        special |= !v.is_finite();
        // Or so small that a product is no normal number.
        large |= v != 0.0 && !(1e-9..1e9).contains(&v.abs());
    }
    if special && !complex {
        let value: f64 = products.iter().map(|p| p.iter().map(|v| v.re).product::<f64>()).sum();
        return if value.is_finite() || large { Want::Any } else { Want::Special(value) };
    }
    if special || large {
        return Want::Any;
    }
    let sum = products.iter().fold(Sum::default(), |sum, p| sum.plus(p));
    let ulps = if exact {
        0.0
    } else {
        2.0 * (1 + products.len()) as f64 * if complex { 2.0 } else { 1.0 }
    };
    Want::Near(sum, ulps)
}

impl Want {
    pub fn holds(&self, dtype: DType, got: Bits) -> bool {
        if let Want::Bits(want) = *self {
            return got == want;
        }
        self.holds_number(dtype, number(dtype, &got.to_le_bytes()))
    }

    pub fn holds_number(&self, dtype: DType, got: C64) -> bool {
        match *self {
            Want::Bits(_) | Want::Any => true,
            Want::Special(want) => got.re == want || (want.is_nan() && got.re.is_nan()),
            Want::Near(sum, ulps) => {
                let (error, bound) = (got - sum.value, ulps * epsilon(dtype) * sum.magnitude);
                error.re.abs() <= bound && error.im.abs() <= bound
            }
        }
    }
}

/// The memories and operands of a call in the making.
pub struct Setup<'s> {
    pub source: Source<'s>,
    pub memories: Vec<Vec<u8>>,
    pub operands: Vec<Operand>,
    numbers: Numbers,
    specials: bool,
    nonsense: bool,
}

impl<'s> Setup<'s> {
    pub fn new(bytes: &'s [u8]) -> Self {
        let mut source = Source::new(bytes);
        ndblas::set_num_threads_local(source.pick(&[1, 2, 7]));
        let (exact, specials) = source.pick(&[(true, false), (false, false), (false, true)]);
        let nonsense = source.rarely(4);
        let numbers = Numbers { state: source.word(), exact };
        Setup { source, memories: vec![], operands: vec![], numbers, specials, nonsense }
    }

    pub fn nonsense(&mut self, one_in: usize) -> bool {
        self.nonsense && self.source.rarely(one_in)
    }

    /// An array of this shape.
    pub fn output(&mut self, name: &'static str, shape: &[isize], dtype: DType) {
        self.add(name, shape, dtype, true);
    }

    /// An array which broadcasts to this shape, as a rule.
    pub fn input(&mut self, name: &'static str, shape: &[isize], dtype: DType) {
        let mut own = shape.to_vec();
        if self.source.rarely(3) {
            for n in own.iter_mut().filter(|n| **n != 0) {
                if self.source.rarely(3) {
                    *n = 1;
                }
            }
            let missing = self.source.below(own.len() + 1);
            own.drain(..missing);
        }
        self.add(name, &own, dtype, false);
    }

    fn add(&mut self, name: &'static str, shape: &[isize], dtype: DType, output: bool) {
        let mut shape = shape.to_vec();
        if self.nonsense(6) && !shape.is_empty() {
            let axis = self.source.below(shape.len());
            shape[axis] = self.source.pick(&[2, 1, 0, 5]);
        }
        let item = dtype.size() as isize;
        let mut strides = self.source.strides(&shape, item);
        if !output && self.source.rarely(4) {
            for s in strides.iter_mut() {
                if self.source.rarely(3) {
                    *s = 0;
                }
            }
        }
        let dense = Layout::dense(&shape, dtype.size());
        let like_dense =
            shape.iter().zip(&strides).zip(&dense.strides).all(|((&n, s), d)| n == 1 || s == d);
        let null_strides = like_dense && self.source.rarely(2);
        self.place(name, Layout::new(0, &shape, &strides), dtype, output, null_strides);
    }

    /// Finds memory: of its own, or among an operand that is there already.
    pub fn place(
        &mut self,
        name: &'static str,
        mut layout: Layout,
        dtype: DType,
        output: bool,
        mut null_strides: bool,
    ) {
        let empty = layout.shape.contains(&0);
        let (low, high) =
            if empty { (0, dtype.size() as isize) } else { layout.span(dtype.size()) };
        let mut memory = None;
        if !self.operands.is_empty() && self.source.rarely(4) {
            let other = self.operands[self.source.below(self.operands.len())].clone();
            let len = self.memories[other.memory].len() as isize;
            let item = dtype.size() as isize;
            match self.source.below(8) {
                0 | 1 if other.layout.shape == layout.shape && other.dtype == dtype => {
                    (layout, null_strides) = (other.layout.clone(), other.null_strides);
                    memory = Some(other.memory);
                }
                kind => {
                    let near = [0, item, -item, 2 * item, 1, -1, 8 * item, 3 * item];
                    let mut base = other.layout.base + near[kind];
                    let free = len - (high - low);
                    if base + low < 0 || base + high > len {
                        base = self.source.word() as isize % (free.max(0) + 1) - low;
                    }
                    if free >= 0 {
                        layout.base = base;
                        memory = Some(other.memory);
                    }
                }
            }
        }
        let memory = memory.unwrap_or_else(|| {
            let before = self.source.pick(&[64isize, 0, 16, 1, 8, 100, 4, 32]);
            let after = self.source.pick(&[64isize, 0, 200, 1]);
            layout.base = before - low;
            // NaN in every floating type, so that a read outside the elements shows.
            self.memories.push(vec![0xFF; (before + high - low + after) as usize]);
            self.memories.len() - 1
        });
        let spoilt = if self.nonsense(5) { self.spoil(&layout) } else { Spoilt::No };
        self.operands.push(Operand { name, memory, layout, dtype, output, null_strides, spoilt });
    }

    fn spoil(&mut self, layout: &Layout) -> Spoilt {
        let axis = self.source.below(layout.shape.len().max(1));
        let usable = !layout.shape.is_empty() && !layout.shape.contains(&0);
        match self.source.below(8) {
            0 => Spoilt::Null,
            1 => Spoilt::NullData,
            2 => Spoilt::NullShape,
            3 => Spoilt::Rank(self.source.pick(&[-1, 65, i32::MAX, i32::MIN])),
            4 => Spoilt::DType(self.source.pick(&[0, 13, -1, 99, i32::MIN, i32::MAX])),
            5 if usable => Spoilt::Extent(axis, self.source.pick(&[-1, isize::MIN])),
            6 if usable => Spoilt::Extent(axis, isize::MAX),
            7 if usable && layout.shape[axis] > 1 => {
                Spoilt::Stride(axis, self.source.pick(&[isize::MIN, isize::MAX]))
            }
            _ => Spoilt::No,
        }
    }

    /// Gives every element of an operand a value.
    pub fn fill(&mut self, k: usize, mut value: impl FnMut(&mut Self) -> Bits) {
        let Operand { memory, layout, dtype, .. } = self.operands[k].clone();
        each_index(&layout.shape, |index| {
            let (at, v) = (layout.offset(index) as usize, value(self));
            self.memories[memory][at..at + dtype.size()]
                .copy_from_slice(&v.to_le_bytes()[..dtype.size()]);
        });
    }

    /// Numbers, or NaN where they must not be read.
    pub fn fill_numbers(&mut self, k: usize, read: bool) {
        let dtype = self.operands[k].dtype;
        self.fill(k, |setup| {
            if dtype.is_integer() {
                return setup.numbers.bits() as Bits;
            }
            let (re, im) = (setup.numbers.real(), setup.numbers.real());
            let special = setup.specials && setup.numbers.bits() % 16 == 0;
            let re = if special { [f64::NAN, f64::INFINITY][(re > 0.0) as usize] } else { re };
            bits_of(dtype, if read { C64::new(re, im) } else { C64::new(f64::NAN, f64::NAN) })
        });
    }

    pub fn random(&mut self) -> u64 {
        self.numbers.bits()
    }

    /// Whether all elements of the operands are small whole numbers, of which sums are exact.
    pub fn exact(&self, factors: &[C64]) -> bool {
        let whole = |v: C64| [v.re, v.im].iter().all(|p| p.fract() == 0.0 && p.abs() <= 8.0);
        factors.iter().all(|&v| whole(v))
            && self.operands.iter().filter(|o| !o.dtype.is_integer()).all(|o| {
                let mut all = true;
                each_index(&o.layout.shape, |index| all &= whole(o.get(&self.memories, index)));
                all
            })
    }

    /// The faults of each descriptor, and of outputs that overlap; those in `in_place` may be an
    /// output all the same.
    pub fn faults(&self, in_place: &[&str]) -> Faults {
        let mut faults = Faults::default();
        for o in &self.operands {
            if let Some(status) = o.own_fault() {
                faults.must.push(status);
            }
        }
        let legible: Vec<&Operand> = self.operands.iter().filter(|o| o.legible()).collect();
        for (k, out) in legible.iter().enumerate().filter(|(_, o)| o.output) {
            let (covered, twice) = out.covers(self.memories[out.memory].len());
            faults.must(twice, common::OVERLAP);
            for (j, other) in legible.iter().enumerate() {
                let met = j != k && other.memory == out.memory && !(other.output && j < k);
                if !met || (in_place.contains(&other.name) && other.is(out)) {
                    continue;
                }
                let (others, _) = other.covers(covered.len());
                let meet = covered.iter().zip(&others).any(|(&a, &b)| a && b);
                faults.must(meet, common::OVERLAP);
            }
        }
        faults
    }

    /// All legible operands of these names have one dtype.
    pub fn same_dtypes(&self, faults: &mut Faults, but: &str) {
        let mut dtypes =
            self.operands.iter().filter(|o| o.name != but && o.legible()).map(|o| o.dtype);
        if let Some(first) = dtypes.next() {
            faults.must(dtypes.any(|d| d != first), common::DTYPE);
        }
    }

    /// Makes the call, and judges its status and every byte.
    pub fn call(
        mut self,
        what: &str,
        faults: Faults,
        call: impl FnOnce(&[*mut ndblas_view_mut]) -> i32,
        want: impl Fn(&[Vec<u8>], &Operand, &[isize]) -> Want,
    ) {
        let before = self.memories.clone();
        let data: Vec<*mut u8> = self.memories.iter_mut().map(|m| m.as_mut_ptr()).collect();
        let mut descriptors: Vec<_> =
            self.operands.iter().map(|o| Descriptor::new(o, &data)).collect();
        let pointers: Vec<_> = descriptors.iter_mut().map(Descriptor::pointer).collect();
        let status = call(&pointers);
        let operands = &self.operands;
        let about =
            || format!("{what} with {operands:#?}: status {status}, {}", common::last_error());
        assert!(faults.admit(status), "{}, not of {faults:?}", about());
        if status != common::OK {
            assert!(self.memories == before, "{}: something was written", about());
            assert!(!common::last_error().is_empty(), "{}: no message", about());
            return;
        }
        let mut rest = self.memories.clone();
        for out in operands.iter().filter(|o| o.output) {
            let mut wrong = None;
            each_index(&out.layout.shape, |index| {
                let at = out.layout.offset(index) as usize;
                let cell = at..at + out.item();
                let (got, want) = (out.bits(&self.memories, index), want(&before, out, index));
                if wrong.is_none() && !want.holds(out.dtype, got) {
                    wrong = Some(format!("{} at {index:?} is {got:#x}, not {want:?}", out.name));
                }
                rest[out.memory][cell.clone()].copy_from_slice(&before[out.memory][cell]);
            });
            assert!(wrong.is_none(), "{}: {}", about(), wrong.unwrap());
        }
        assert!(rest == before, "{}: a byte outside the outputs was written", about());
    }
}

/// A descriptor with what it points to.
struct Descriptor {
    shape: Vec<isize>,
    strides: Vec<isize>,
    view: ndblas_view_mut,
    null: bool,
}

impl Descriptor {
    fn new(o: &Operand, data: &[*mut u8]) -> Self {
        let (mut shape, mut strides) = (o.layout.shape.clone(), o.layout.strides.clone());
        match o.spoilt {
            Spoilt::Extent(axis, n) => {
                shape[axis] = n;
                strides[axis] = 32;
            }
            Spoilt::Stride(axis, s) => strides[axis] = s,
            _ => {}
        }
        let strided = matches!(o.spoilt, Spoilt::Extent(..) | Spoilt::Stride(..));
        let base = data[o.memory].wrapping_offset(o.layout.base);
        let view = ndblas_view_mut {
            data: if o.spoilt == Spoilt::NullData { null_mut() } else { base.cast() },
            shape: if o.spoilt == Spoilt::NullShape { null() } else { shape.as_ptr() },
            strides: if o.null_strides && !strided { null() } else { strides.as_ptr() },
            ndim: if let Spoilt::Rank(n) = o.spoilt { n } else { shape.len() as i32 },
            dtype: if let Spoilt::DType(tag) = o.spoilt { tag } else { o.dtype as i32 },
        };
        Descriptor { shape, strides, view, null: o.spoilt == Spoilt::Null }
    }

    fn pointer(&mut self) -> *mut ndblas_view_mut {
        if self.null { null_mut() } else { &mut self.view }
    }
}

/// Whether a shape broadcasts to another.
pub fn broadcasts(from: &[isize], to: &[isize]) -> bool {
    let mut pairs = from.iter().rev().zip(to.iter().rev());
    let longer = from.len().saturating_sub(to.len());
    pairs.all(|(&n, &m)| n == 1 || n == m) && from[..longer].iter().all(|&n| n == 1)
}
