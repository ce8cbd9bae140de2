//! Element-wise arithmetic: `out <- f(out, inputs)`, a vector at a time.

use super::{LINE, Rows, blas};
use crate::isa::{Isa, Vector};
use crate::nest::step as advance;
use crate::scalar::Scalar;
use core::mem::MaybeUninit;

/// A function of N operands, element by element. The first `OUT` operands are its outputs.
pub(crate) trait Map<T: Scalar, const N: usize, const OUT: usize>: Copy + Sync {
    /// Whether the outputs' old values matter; if not, they are not read.
    const READS_OUT: bool;
    /// The first operand that is read.
    const FIRST_READ: usize = if Self::READS_OUT { 0 } else { OUT };
    /// The new values of the outputs. Written once for vectors and for the single elements of tails
    /// and strided rows, so that the bits do not depend on where an element lies.
    fn apply<V: Vector<Elem = T>>(self, isa: V::Isa, v: [V; N]) -> [V; OUT];
    /// See [`Rows::blas`].
    ///
    /// # Safety
    /// As [`Rows::row`].
    #[inline(always)]
    unsafe fn blas(self, _n: usize, _p: [*mut u8; N], _step: [isize; N]) -> bool {
        false
    }
}

/// The rows of a [`Map`].
#[derive(Clone, Copy)]
pub(crate) struct Mapped<M>(pub M);

/// Vectors whose loads all come before their stores, so that the CPU has enough in flight.
const TURN: usize = 4;

/// Room for a turn of any instruction set.
#[repr(align(64))]
struct Repeated {
    _bytes: MaybeUninit<[u8; TURN * 64]>,
}

// SAFETY: loads from all operands and stores to the first OUT, n elements each.
unsafe impl<T: Scalar, M: Map<T, N, OUT>, const N: usize, const OUT: usize> Rows<T, N, OUT>
    for Mapped<M>
{
    const WRITES_ONLY: bool = !M::READS_OUT;

    #[inline(always)]
    unsafe fn row<I: Isa>(self, isa: I, n: usize, p: [*mut u8; N], step: [isize; N]) {
        let item = size_of::<T>();
        let lanes = T::Vec::<I>::LANES;
        let dense = step.iter().all(|&s| s == item as isize);
        let by_vectors =
            dense || (0..N).all(|k| step[k] == item as isize || (step[k] == 0 && k >= OUT));
        if !by_vectors {
            // SAFETY: the caller's elements.
            return unsafe { elements(self.0, isa, n, p, step) };
        }
        // An input that does not move is a turn of its value, which does not move.
        let (mut p, mut by) = (p, [(TURN * lanes * item) as isize; N]);
        let mut repeated = [const { Repeated { _bytes: MaybeUninit::uninit() } }; N];
        if !dense && n > 0 {
            for k in OUT..N {
                if step[k] == 0 {
                    let turn = (&raw mut repeated[k]).cast::<u8>();
                    // SAFETY: p[k] is readable, as n > 0, and a turn fits.
                    unsafe {
                        let value = T::Vec::<I>::splat(isa, p[k].cast::<T>().read_unaligned());
                        for u in 0..TURN {
                            value.store(turn.wrapping_add(u * lanes * item));
                        }
                    }
                    (p[k], by[k]) = (turn, 0);
                }
            }
        }
        // A long row begins with what brings the output to whole cache lines: an access that crosses
        // two costs two.
        let off = p[0].addr().wrapping_neg() % LINE / item;
        let head = if dense && n >= LONG { off } else { 0 };
        let turns = (n - head) / (TURN * lanes);
        // SAFETY: our own elements in three parts, or what repeats one of them.
        unsafe {
            short(self.0, isa, head, p);
            p = advance(p, [(head * item) as isize; N]);
            p = run::<T, M, I, N, OUT>(self.0, isa, turns, p, by);
            short(self.0, isa, n - head - turns * TURN * lanes, p);
        }
    }

    #[inline(always)]
    unsafe fn blas(self, n: usize, p: [*mut u8; N], step: [isize; N]) -> bool {
        // SAFETY: the same promise.
        unsafe { self.0.blas(n, p, step) }
    }
}

/// Elements of a row that is worth a beginning of its own.
const LONG: usize = 256;

/// `turns` turns of vectors; operand k steps by `by[k]` bytes from one to the next. Returns where the
/// next would be.
///
/// # Safety
/// As [`Rows::row`], with turns for elements.
#[inline(always)]
unsafe fn run<T, M, I, const N: usize, const OUT: usize>(
    map: M,
    isa: I,
    turns: usize,
    mut p: [*mut u8; N],
    by: [isize; N],
) -> [*mut u8; N]
where
    T: Scalar,
    M: Map<T, N, OUT>,
    I: Isa,
{
    let bytes = T::Vec::<I>::LANES * size_of::<T>();
    let zero = T::Vec::<I>::splat(isa, T::ZERO);
    for _ in 0..turns {
        // All loads of a turn come before its stores: the compiler cannot know that an output is
        // either the very same view as an input or shares nothing with it.
        let mut v = [[zero; N]; TURN];
        for u in 0..TURN {
            for k in M::FIRST_READ..N {
                // SAFETY: the caller's vectors.
                v[u][k] = unsafe { T::Vec::<I>::load(isa, p[k].wrapping_add(u * bytes)) };
            }
        }
        for u in 0..TURN {
            let out = map.apply(isa, v[u]);
            for k in 0..OUT {
                // SAFETY: the caller's vectors.
                unsafe { out[k].store(p[k].wrapping_add(u * bytes)) };
            }
        }
        p = advance(p, by);
    }
    p
}

/// `n` dense elements, less than a turn, by whole and then by part of a vector.
///
/// # Safety
/// As [`Rows::row`].
#[inline(always)]
unsafe fn short<T, M, I, const N: usize, const OUT: usize>(
    map: M,
    isa: I,
    n: usize,
    mut p: [*mut u8; N],
) where
    T: Scalar,
    M: Map<T, N, OUT>,
    I: Isa,
{
    let lanes = T::Vec::<I>::LANES;
    let mut left = n;
    while left > 0 {
        let mut v = [T::Vec::<I>::splat(isa, T::ZERO); N];
        for k in M::FIRST_READ..N {
            // SAFETY: the caller's elements.
            v[k] = unsafe {
                if left >= lanes {
                    T::Vec::<I>::load(isa, p[k])
                } else {
                    T::Vec::<I>::load_part(isa, p[k], left)
                }
            };
        }
        let out = map.apply(isa, v);
        for k in 0..OUT {
            // SAFETY: the caller's elements.
            unsafe {
                if left >= lanes { out[k].store(p[k]) } else { out[k].store_part(p[k], left) }
            }
        }
        left = left.saturating_sub(lanes);
        p = advance(p, [(lanes * size_of::<T>()) as isize; N]);
    }
}

/// `n` elements, one by one.
///
/// # Safety
/// As [`Rows::row`].
#[inline(always)]
unsafe fn elements<T, M, I, const N: usize, const OUT: usize>(
    map: M,
    isa: I,
    n: usize,
    mut p: [*mut u8; N],
    step: [isize; N],
) where
    T: Scalar,
    M: Map<T, N, OUT>,
    I: Isa,
{
    for _ in 0..n {
        let mut v = [T::Lane::<I>::splat(isa, T::ZERO); N];
        for k in M::FIRST_READ..N {
            // SAFETY: the caller's element.
            v[k] = unsafe { T::Lane::<I>::load(isa, p[k]) };
        }
        let out = map.apply(isa, v);
        for k in 0..OUT {
            // SAFETY: the caller's element.
            unsafe { out[k].store(p[k]) };
        }
        p = advance(p, step);
    }
}

/// `y <- alpha*x`, operands (y, x); or in place, where both are one view.
#[derive(Clone, Copy)]
pub(crate) struct Scale<T> {
    pub alpha: T,
}

impl<T: Scalar> Map<T, 2, 1> for Scale<T> {
    const READS_OUT: bool = false;
    #[inline(always)]
    fn apply<V: Vector<Elem = T>>(self, isa: V::Isa, [_, x]: [V; 2]) -> [V; 1] {
        [V::splat(isa, self.alpha).mul(x)]
    }
}

/// `y <- alpha*y`.
#[derive(Clone, Copy)]
pub(crate) struct Scal<T> {
    pub alpha: T,
}

impl<T: Scalar> Map<T, 1, 1> for Scal<T> {
    const READS_OUT: bool = true;
    #[inline(always)]
    fn apply<V: Vector<Elem = T>>(self, isa: V::Isa, [y]: [V; 1]) -> [V; 1] {
        [V::splat(isa, self.alpha).mul(y)]
    }
    #[inline(always)]
    unsafe fn blas(self, n: usize, p: [*mut u8; 1], step: [isize; 1]) -> bool {
        // SAFETY: the caller's run.
        unsafe { blas::scal(n, self.alpha, p, step) }
    }
}

/// `y <- y + alpha*x`, operands (y, x).
#[derive(Clone, Copy)]
pub(crate) struct Axpy<T> {
    pub alpha: T,
}

impl<T: Scalar> Map<T, 2, 1> for Axpy<T> {
    const READS_OUT: bool = true;
    #[inline(always)]
    fn apply<V: Vector<Elem = T>>(self, isa: V::Isa, [y, x]: [V; 2]) -> [V; 1] {
        [V::splat(isa, self.alpha).mul_add(x, y)]
    }
    #[inline(always)]
    unsafe fn blas(self, n: usize, p: [*mut u8; 2], step: [isize; 2]) -> bool {
        // SAFETY: the caller's run.
        unsafe { blas::axpy(n, self.alpha, p, step) }
    }
}

/// `y <- y + x`, operands (y, x).
#[derive(Clone, Copy)]
pub(crate) struct Add;

impl<T: Scalar> Map<T, 2, 1> for Add {
    const READS_OUT: bool = true;
    #[inline(always)]
    fn apply<V: Vector<Elem = T>>(self, _: V::Isa, [y, x]: [V; 2]) -> [V; 1] {
        [y.add(x)]
    }
}

/// `y <- beta*y + alpha*x`, operands (y, x).
#[derive(Clone, Copy)]
pub(crate) struct Axpby<T> {
    pub alpha: T,
    pub beta: T,
}

impl<T: Scalar> Map<T, 2, 1> for Axpby<T> {
    const READS_OUT: bool = true;
    #[inline(always)]
    fn apply<V: Vector<Elem = T>>(self, isa: V::Isa, [y, x]: [V; 2]) -> [V; 1] {
        let scaled = V::splat(isa, self.beta).mul(y);
        [V::splat(isa, self.alpha).mul_add(x, scaled)]
    }
    #[inline(always)]
    unsafe fn blas(self, n: usize, p: [*mut u8; 2], step: [isize; 2]) -> bool {
        // SAFETY: the caller's run.
        unsafe { blas::axpby(n, self.alpha, self.beta, p, step) }
    }
}

/// `c <- alpha*(a*b)`, operands (c, a, b).
#[derive(Clone, Copy)]
pub(crate) struct Mul<T> {
    pub alpha: T,
}

impl<T: Scalar> Map<T, 3, 1> for Mul<T> {
    const READS_OUT: bool = false;
    #[inline(always)]
    fn apply<V: Vector<Elem = T>>(self, isa: V::Isa, [_, a, b]: [V; 3]) -> [V; 1] {
        [V::splat(isa, self.alpha).mul(a.mul(b))]
    }
}

/// `c <- c + alpha*(a*b)`, operands (c, a, b).
///
/// The product is rounded before it is added, so that with alpha = 1 the bits are those of
/// `c + a*b` written in two steps.
#[derive(Clone, Copy)]
pub(crate) struct MulAdd<T> {
    pub alpha: T,
}

impl<T: Scalar> Map<T, 3, 1> for MulAdd<T> {
    const READS_OUT: bool = true;
    #[inline(always)]
    fn apply<V: Vector<Elem = T>>(self, isa: V::Isa, [c, a, b]: [V; 3]) -> [V; 1] {
        [V::splat(isa, self.alpha).mul_add(a.mul(b), c)]
    }
}

/// `c <- beta*c + alpha*(a*b)`, operands (c, a, b).
#[derive(Clone, Copy)]
pub(crate) struct MulAddBeta<T> {
    pub alpha: T,
    pub beta: T,
}

impl<T: Scalar> Map<T, 3, 1> for MulAddBeta<T> {
    const READS_OUT: bool = true;
    #[inline(always)]
    fn apply<V: Vector<Elem = T>>(self, isa: V::Isa, [c, a, b]: [V; 3]) -> [V; 1] {
        let scaled = V::splat(isa, self.beta).mul(c);
        [V::splat(isa, self.alpha).mul_add(a.mul(b), scaled)]
    }
}

/// `(x, y) <- (c*x + s*y, c*y - s*x)`; `minus_s` is -s.
#[derive(Clone, Copy)]
pub(crate) struct Rot<T> {
    pub c: T,
    pub s: T,
    pub minus_s: T,
}

impl<T: Scalar> Map<T, 2, 2> for Rot<T> {
    const READS_OUT: bool = true;
    #[inline(always)]
    fn apply<V: Vector<Elem = T>>(self, isa: V::Isa, [x, y]: [V; 2]) -> [V; 2] {
        let (c, s) = (V::splat(isa, self.c), V::splat(isa, self.s));
        [s.mul_add(y, c.mul(x)), V::splat(isa, self.minus_s).mul_add(x, c.mul(y))]
    }
    #[inline(always)]
    unsafe fn blas(self, n: usize, p: [*mut u8; 2], step: [isize; 2]) -> bool {
        // SAFETY: the caller's run.
        unsafe { blas::rot(n, self.c, self.s, p, step) }
    }
}
