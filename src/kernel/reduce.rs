//! Reductions of dense blocks, and the fixed tree that combines them.
//!
//! A view is reduced in blocks of [`block`] elements at fixed places of the walk, each summed in a
//! fixed number of lanes; block results meet in a binary tree over the block numbers. So the bits
//! depend neither on the number of threads nor on where the data lie.

use super::blas;
use crate::isa::{Isa, Real, RealVector, Vector};
use crate::scalar::Scalar;
use arrayvec::ArrayVec;

/// Bytes a block of one operand: two of them are the scratch that a thread may have, and the sum of
/// the lanes at the end of each costs little beside it.
pub(crate) const BLOCK_BYTES: usize = 32 << 10;

/// Elements a block.
pub(crate) const fn block<T>() -> usize {
    BLOCK_BYTES / size_of::<T>()
}

/// A reduction of N dense operands of T.
pub(crate) trait Reduce<T: Scalar, const N: usize>: Copy + Sync {
    type Output: Copy + Send + Sync;
    /// Reduces `n` dense elements of each operand, `n > 0`. Inlined.
    ///
    /// # Safety
    /// They are valid for reading.
    unsafe fn block<I: Isa>(self, isa: I, n: usize, p: [*const u8; N]) -> Self::Output;
    fn combine(self, left: Self::Output, right: Self::Output) -> Self::Output;

    /// The same as [`block`](Self::block), by the BLAS, if it may have it.
    ///
    /// # Safety
    /// As [`block`](Self::block), of aligned elements.
    #[inline(always)]
    unsafe fn blas(self, _n: usize, _p: [*const u8; N]) -> Option<Self::Output> {
        None
    }
}

/// Block results on their way up a binary tree over the block numbers.
///
/// The tree is fixed by the numbers, so the bits do not depend on who reduced which block.
pub(crate) struct Tree<A> {
    /// (level, value), from left to right and from the root down.
    nodes: ArrayVec<(u32, A), 64>,
}

impl<A> Default for Tree<A> {
    #[inline]
    fn default() -> Self {
        Tree { nodes: ArrayVec::new() }
    }
}

impl<A: Copy> Tree<A> {
    /// Adds the result of the next block.
    #[inline]
    pub fn push(&mut self, block: usize, value: A, combine: impl Fn(A, A) -> A) {
        self.push_node(0, block, value, combine);
    }

    /// Adds what another tree holds, whose blocks follow from `block` on.
    pub fn append(&mut self, block: usize, other: &Tree<A>, combine: impl Fn(A, A) -> A) {
        let mut block = block;
        for &(level, value) in &other.nodes {
            self.push_node(level, block >> level, value, &combine);
            block += 1 << level;
        }
    }

    /// Adds the next node, the `index`-th of its level: with its left neighbour, where that is there,
    /// it becomes one of the level above. What lies left of a tree that begins later stays open.
    #[inline]
    fn push_node(&mut self, level: u32, index: usize, value: A, combine: impl Fn(A, A) -> A) {
        let (mut level, mut index, mut value) = (level, index, value);
        while let Some(&(l, left)) = self.nodes.last() {
            if l != level || index % 2 == 0 {
                break;
            }
            self.nodes.pop();
            value = combine(left, value);
            (level, index) = (level + 1, index / 2);
        }
        self.nodes.push((level, value));
    }

    /// The result of the whole, `None` of nothing.
    pub fn result(&self, combine: impl Fn(A, A) -> A) -> Option<A> {
        self.nodes.iter().map(|n| n.1).rev().reduce(|right, left| combine(left, right))
    }
}

/// What is done to the lanes: A accumulators over N operands.
trait Lanes<R: Real, const N: usize, const A: usize>: Copy {
    fn fold<V: RealVector<Elem = R>>(self, acc: [V; A], x: [V; N]) -> [V; A];
    fn merge<V: RealVector<Elem = R>>(self, a: V, b: V) -> V {
        a.add(b)
    }
}

/// Registers of the largest instruction set hold 16 reals.
const MAX_LANES: usize = 16;

/// The lanes of each accumulator after `n` dense reals, of which `V::LANES` count. Zeros fill up
/// the last register.
///
/// # Safety
/// `n` reals are valid for reading at each pointer.
#[inline(always)]
unsafe fn fold<I, R, L, const N: usize, const A: usize, const U: usize>(
    isa: I,
    lanes: L,
    n: usize,
    mut p: [*const u8; N],
) -> [[R; MAX_LANES]; A]
where
    I: Isa,
    R: Real,
    L: Lanes<R, N, A>,
{
    let width = R::Reg::<I>::LANES;
    let bytes = width * size_of::<R>();
    let zero = R::Reg::<I>::splat(isa, R::ZERO);
    let mut acc = [[zero; A]; U];
    let mut x = [zero; N];
    let mut left = n;
    while left >= U * width {
        for acc in &mut acc {
            for k in 0..N {
                // SAFETY: U registers are left.
                x[k] = unsafe { R::Reg::<I>::load(isa, p[k]) };
                p[k] = p[k].wrapping_add(bytes);
            }
            *acc = lanes.fold(*acc, x);
        }
        left -= U * width;
    }
    // The registers that are left, less than a turn, do not wait for one another.
    for acc in &mut acc {
        if left < width {
            break;
        }
        for k in 0..N {
            // SAFETY: a register is left.
            x[k] = unsafe { R::Reg::<I>::load(isa, p[k]) };
            p[k] = p[k].wrapping_add(bytes);
        }
        *acc = lanes.fold(*acc, x);
        left -= width;
    }
    if left > 0 {
        for k in 0..N {
            // SAFETY: `left` reals are left.
            x[k] = unsafe { R::Reg::<I>::load_part(isa, p[k], left) };
        }
        acc[U - 1] = lanes.fold(acc[U - 1], x);
    }
    let mut u = U;
    while u > 1 {
        u /= 2;
        for i in 0..u {
            for a in 0..A {
                acc[i][a] = lanes.merge(acc[i][a], acc[i + u][a]);
            }
        }
    }
    let mut out = [[R::ZERO; MAX_LANES]; A];
    for a in 0..A {
        // SAFETY: a register fits.
        unsafe { acc[0][a].store((&raw mut out[a]).cast()) };
    }
    out
}

/// The sums of the even and of the odd lanes. The halves of a register are added as they are, which
/// takes few instructions, the last lanes in f64.
#[inline(always)]
fn even_odd<I: Isa, R: Real>(lanes: &[R; MAX_LANES]) -> (f64, f64) {
    let mut lanes = *lanes;
    let mut n = R::Reg::<I>::LANES;
    while n > 4 {
        n /= 2;
        for i in 0..n {
            lanes[i] = lanes[i] + lanes[i + n];
        }
    }
    let wide = |i: usize| lanes[i].to_f64();
    if n == 4 { (wide(0) + wide(2), wide(1) + wide(3)) } else { (wide(0), wide(1)) }
}

/// Reals an element: 1, or 2 for a complex one.
const fn reals<T: Scalar>() -> usize {
    size_of::<T>() / size_of::<T::Real>()
}

/// The i-th real at p.
///
/// # Safety
/// It is valid for reading.
#[inline(always)]
unsafe fn real_at<R: Real>(p: *const u8, i: usize) -> f64 {
    // SAFETY: as the caller says.
    unsafe { p.cast::<R>().wrapping_add(i).read_unaligned() }.to_f64()
}

/// `sum term(i)` of n terms in f64, in lanes as [`fold`] has them.
#[inline(always)]
fn wide_sum(n: usize, term: impl Fn(usize) -> f64) -> f64 {
    const LANES: usize = 32;
    let mut sums = [0.0; LANES];
    let whole = n / LANES * LANES;
    for i in (0..whole).step_by(LANES) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum += term(i + lane);
        }
    }
    for i in whole..n {
        sums[i % LANES] += term(i);
    }
    let mut n = LANES;
    while n > 1 {
        n /= 2;
        for i in 0..n {
            sums[i] += sums[i + n];
        }
    }
    sums[0]
}

/// `sum x*y`, or `sum conj(x)*y`, as (re, im).
#[derive(Clone, Copy)]
pub(crate) struct Dot {
    pub conj: bool,
}

#[derive(Clone, Copy)]
struct RealDot;
impl<R: Real> Lanes<R, 2, 1> for RealDot {
    #[inline(always)]
    fn fold<V: RealVector<Elem = R>>(self, [a]: [V; 1], [x, y]: [V; 2]) -> [V; 1] {
        [x.mul_add(y, a)]
    }
}

/// Lane by lane x*y, which holds re*re and im*im, and x*(y.im, y.re).
#[derive(Clone, Copy)]
struct ComplexDot;
impl<R: Real> Lanes<R, 2, 2> for ComplexDot {
    #[inline(always)]
    fn fold<V: RealVector<Elem = R>>(self, [same, cross]: [V; 2], [x, y]: [V; 2]) -> [V; 2] {
        [x.mul_add(y, same), x.mul_add(y.swap_pairs(), cross)]
    }
}

impl Dot {
    /// From the sums of re*re, im*im, re*im and im*re.
    #[inline(always)]
    fn parts(self, rr: f64, ii: f64, ri: f64, ir: f64) -> (f64, f64) {
        if self.conj { (rr + ii, ri - ir) } else { (rr - ii, ri + ir) }
    }
}

impl<T: Scalar> Reduce<T, 2> for Dot {
    type Output = (f64, f64);

    #[inline(always)]
    unsafe fn block<I: Isa>(self, isa: I, n: usize, p: [*const u8; 2]) -> (f64, f64) {
        let n = n * reals::<T>();
        let sum = if reals::<T>() == 1 {
            // SAFETY: the caller's elements.
            let [lanes] = unsafe { fold::<I, T::Real, _, 2, 1, 4>(isa, RealDot, n, p) };
            let (a, b) = even_odd::<I, _>(&lanes);
            (a + b, 0.0)
        } else {
            // SAFETY: the caller's elements.
            let [same, cross] = unsafe { fold::<I, T::Real, _, 2, 2, 4>(isa, ComplexDot, n, p) };
            let ((rr, ii), (ri, ir)) = (even_odd::<I, _>(&same), even_odd::<I, _>(&cross));
            self.parts(rr, ii, ri, ir)
        };
        if size_of::<T::Real>() == 4 && !(sum.0.is_finite() && sum.1.is_finite()) {
            // Perhaps only the lanes overflowed.
            // SAFETY: the caller's elements.
            let at = |k: usize, i: usize| unsafe { real_at::<T::Real>(p[k], i) };
            if reals::<T>() == 1 {
                return (wide_sum(n, |i| at(0, i) * at(1, i)), 0.0);
            }
            let [rr, ii, ri, ir] = [(0, 0), (1, 1), (0, 1), (1, 0)]
                .map(|(a, b)| wide_sum(n / 2, |i| at(0, 2 * i + a) * at(1, 2 * i + b)));
            return self.parts(rr, ii, ri, ir);
        }
        sum
    }

    fn combine(self, a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
        (a.0 + b.0, a.1 + b.1)
    }

    #[inline(always)]
    unsafe fn blas(self, n: usize, p: [*const u8; 2]) -> Option<(f64, f64)> {
        // What overflows is for `block` to look at.
        // SAFETY: the caller's elements.
        unsafe { blas::dot::<T>(n, self.conj, p) }.filter(|s| s.0.is_finite() && s.1.is_finite())
    }
}

/// `sum x*y` of f32 in f64.
#[derive(Clone, Copy)]
pub(crate) struct WideDot;

impl Reduce<f32, 2> for WideDot {
    type Output = f64;

    #[inline(always)]
    unsafe fn block<I: Isa>(self, _: I, n: usize, p: [*const u8; 2]) -> f64 {
        // SAFETY: the caller's elements.
        wide_sum(n, |i| unsafe { real_at::<f32>(p[0], i) * real_at::<f32>(p[1], i) })
    }

    fn combine(self, a: f64, b: f64) -> f64 {
        a + b
    }
}

/// `sum |re| + |im|`.
///
/// Not by the BLAS: OpenBLAS's kernels sum up to an aligned address first, so that the bits depend on
/// where the data lie.
#[derive(Clone, Copy)]
pub(crate) struct Asum;

impl<R: Real> Lanes<R, 1, 1> for Asum {
    #[inline(always)]
    fn fold<V: RealVector<Elem = R>>(self, [a]: [V; 1], [x]: [V; 1]) -> [V; 1] {
        [a.add(x.abs())]
    }
}

impl<T: Scalar> Reduce<T, 1> for Asum {
    type Output = f64;

    #[inline(always)]
    unsafe fn block<I: Isa>(self, isa: I, n: usize, p: [*const u8; 1]) -> f64 {
        let n = n * reals::<T>();
        // SAFETY: the caller's elements.
        let [lanes] = unsafe { fold::<I, T::Real, _, 1, 1, 8>(isa, Asum, n, p) };
        let (a, b) = even_odd::<I, _>(&lanes);
        if size_of::<T::Real>() == 4 && !(a + b).is_finite() {
            // SAFETY: the caller's elements. Perhaps only the lanes overflowed.
            return wide_sum(n, |i| unsafe { real_at::<T::Real>(p[0], i) }.abs());
        }
        a + b
    }

    fn combine(self, a: f64, b: f64) -> f64 {
        a + b
    }
}

/// The sum of squares, held so that it neither overflows nor underflows: `sum * 4^exp`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Squares {
    sum: f64,
    exp: i32,
}

impl Squares {
    /// The square root of the sum.
    pub fn root(self) -> f64 {
        self.sum.sqrt() * exp2(self.exp)
    }
}

/// `2^e`, `0` below and infinity above what f64 holds normally.
fn exp2(e: i32) -> f64 {
    match e {
        ..-1022 => 0.0,
        -1022..=1023 => f64::from_bits(((e + 1023) as u64) << 52),
        _ => f64::INFINITY,
    }
}

/// Sums of squares for `nrm2`: plain per block, and again with the block scaled by a power of two
/// where that over- or underflows. (The scaling by the largest is Blue's and LAPACK's; that it is
/// done only when needed, and per block, lets the common case run at the speed of a dot.)
#[derive(Clone, Copy)]
pub(crate) struct Nrm2;

#[derive(Clone, Copy)]
struct SumOfSquares;
impl<R: Real> Lanes<R, 1, 1> for SumOfSquares {
    #[inline(always)]
    fn fold<V: RealVector<Elem = R>>(self, [a]: [V; 1], [x]: [V; 1]) -> [V; 1] {
        [x.mul_add(x, a)]
    }
}

#[derive(Clone, Copy)]
struct Greatest;
impl<R: Real> Lanes<R, 1, 1> for Greatest {
    #[inline(always)]
    fn fold<V: RealVector<Elem = R>>(self, [a]: [V; 1], [x]: [V; 1]) -> [V; 1] {
        [a.max_nan(x.abs())]
    }
    #[inline(always)]
    fn merge<V: RealVector<Elem = R>>(self, a: V, b: V) -> V {
        a.max_nan(b)
    }
}

#[inline(always)]
fn greatest<R: Real>(lanes: &[R; MAX_LANES]) -> f64 {
    lanes.iter().map(|v| v.to_f64()).fold(0.0, |a, b| if b > a || b.is_nan() { b } else { a })
}

impl<T: Scalar> Reduce<T, 1> for Nrm2 {
    type Output = Squares;

    #[inline(always)]
    unsafe fn block<I: Isa>(self, isa: I, n: usize, p: [*const u8; 1]) -> Squares {
        let n = n * reals::<T>();
        // SAFETY: the caller's elements.
        let [lanes] = unsafe { fold::<I, T::Real, _, 1, 1, 8>(isa, SumOfSquares, n, p) };
        let (a, b) = even_odd::<I, _>(&lanes);
        let sum = a + b;
        // Below this, squares that were lost to underflow could show in the last bits: a block's
        // at most 8192 reals times the least normal number, over the precision, with room to spare.
        let least = if size_of::<T::Real>() == 4 { exp2(-80) } else { exp2(-900) };
        if sum >= least && sum.is_finite() {
            return Squares { sum, exp: 0 };
        }
        // SAFETY: the caller's elements.
        let [lanes] = unsafe { fold::<I, T::Real, _, 1, 1, 8>(isa, Greatest, n, p) };
        let max = greatest(&lanes);
        if max == 0.0 || !max.is_finite() {
            return Squares { sum: max, exp: 0 };
        }
        // The exponent of the largest, kept where both it and its negative are normal.
        let exp = (((max.to_bits() >> 52) & 0x7ff) as i32 - 1023).clamp(-1022, 1022);
        let scale = exp2(-exp);
        // SAFETY: the caller's elements.
        let sum = wide_sum(n, |i| unsafe { real_at::<T::Real>(p[0], i) * scale }.powi(2));
        Squares { sum, exp }
    }

    fn combine(self, a: Squares, b: Squares) -> Squares {
        let (big, small) = if a.exp >= b.exp { (a, b) } else { (b, a) };
        if small.sum == 0.0 {
            return big;
        }
        if big.sum == 0.0 {
            return small;
        }
        let shift = exp2(small.exp - big.exp);
        Squares { sum: big.sum + small.sum * shift * shift, exp: big.exp }
    }
}

/// The greatest |re| + |im| of a block, NaN where there is one.
#[derive(Clone, Copy)]
pub(crate) struct Amax;

#[derive(Clone, Copy)]
struct GreatestPair;
impl<R: Real> Lanes<R, 1, 1> for GreatestPair {
    #[inline(always)]
    fn fold<V: RealVector<Elem = R>>(self, [a]: [V; 1], [x]: [V; 1]) -> [V; 1] {
        let x = x.abs();
        [a.max_nan(x.add(x.swap_pairs()))]
    }
    #[inline(always)]
    fn merge<V: RealVector<Elem = R>>(self, a: V, b: V) -> V {
        a.max_nan(b)
    }
}

impl<T: Scalar> Reduce<T, 1> for Amax {
    type Output = f64;

    #[inline(always)]
    unsafe fn block<I: Isa>(self, isa: I, n: usize, p: [*const u8; 1]) -> f64 {
        let n = n * reals::<T>();
        // SAFETY: the caller's elements.
        let [lanes] = unsafe {
            match reals::<T>() {
                1 => fold::<I, T::Real, _, 1, 1, 8>(isa, Greatest, n, p),
                _ => fold::<I, T::Real, _, 1, 1, 8>(isa, GreatestPair, n, p),
            }
        };
        greatest(&lanes)
    }

    fn combine(self, a: f64, b: f64) -> f64 {
        if b > a || b.is_nan() { b } else { a }
    }
}

/// |re| + |im| in the precision of the parts, as [`Amax`] computes it.
///
/// # Safety
/// An element is valid for reading at p.
#[inline(always)]
pub(crate) unsafe fn abs1<T: Scalar>(p: *const u8) -> f64 {
    // SAFETY: as the caller says.
    let part = |i| unsafe { p.cast::<T::Real>().wrapping_add(i).read_unaligned() }.magnitude();
    if reals::<T>() == 1 { part(0).to_f64() } else { (part(0) + part(1)).to_f64() }
}
