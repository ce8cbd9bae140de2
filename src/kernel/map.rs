//! Element-wise arithmetic: `out <- f(out, inputs)`, a vector at a time.

use super::{Rows, blas};
use crate::isa::{Isa, Vector};
use crate::nest::step as advance;
use crate::scalar::Scalar;
use core::mem::MaybeUninit;

/// A function of N operands, element by element. The first `OUT` operands are its outputs.
pub(crate) trait Map<T: Scalar, const N: usize, const OUT: usize>: Copy {
    /// Whether the outputs' old values matter; if not, they are not read.
    const READS_OUT: bool;
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

/// Room for one register of any instruction set.
#[repr(align(64))]
struct Register {
    _bytes: MaybeUninit<[u8; 64]>,
}

// SAFETY: run() loads from all operands and stores to the first OUT, n elements each.
unsafe impl<T: Scalar, M: Map<T, N, OUT>, const N: usize, const OUT: usize> Rows<T, N, OUT>
    for Mapped<M>
{
    const WRITES_ONLY: bool = !M::READS_OUT;

    #[inline(always)]
    unsafe fn row<I: Isa>(self, isa: I, n: usize, p: [*mut u8; N], step: [isize; N]) {
        let item = size_of::<T>() as isize;
        let lanes = T::Vec::<I>::LANES;
        let dense = step.iter().all(|&s| s == item);
        let broadcast = !dense && (0..N).all(|k| step[k] == item || (step[k] == 0 && k >= OUT));
        let (mut rest, mut done) = (p, 0);
        if n >= lanes && (dense || broadcast) {
            done = n / lanes * lanes;
            for k in 0..N {
                rest[k] = p[k].wrapping_offset(step[k] * done as isize);
            }
            if dense {
                // SAFETY: `done` of our own elements, dense in all operands.
                unsafe {
                    run::<T, M, T::Vec<I>, N, OUT, 4, true>(self.0, isa, done / lanes, p, step)
                };
            } else {
                // An input that does not move is a register of its value, which does not move.
                let mut splat = [const { Register { _bytes: MaybeUninit::uninit() } }; N];
                let (mut q, mut by) = (p, [0; N]);
                for k in 0..N {
                    by[k] = step[k] * lanes as isize;
                    if step[k] == 0 {
                        q[k] = (&raw mut splat[k]).cast();
                        // SAFETY: p[k] is readable, and a register fits its buffer.
                        unsafe {
                            let value = p[k].cast::<T>().read_unaligned();
                            T::Vec::<I>::splat(isa, value).store(q[k]);
                        }
                    }
                }
                // SAFETY: `done` of our own elements, or one of the registers above for all.
                unsafe {
                    run::<T, M, T::Vec<I>, N, OUT, 2, false>(self.0, isa, done / lanes, q, by)
                };
            }
        }
        // SAFETY: the elements that are left.
        unsafe { run::<T, M, T::Lane<I>, N, OUT, 1, false>(self.0, isa, n - done, rest, step) };
    }

    #[inline(always)]
    unsafe fn blas(self, n: usize, p: [*mut u8; N], step: [isize; N]) -> bool {
        // SAFETY: the same promise.
        unsafe { self.0.blas(n, p, step) }
    }
}

/// `count` vectors of each operand, U a turn; each operand steps by its own bytes, or from one vector
/// to the next where all are DENSE.
///
/// # Safety
/// As [`Rows::row`], with vectors for elements.
#[inline(always)]
unsafe fn run<T, M, V, const N: usize, const OUT: usize, const U: usize, const DENSE: bool>(
    map: M,
    isa: V::Isa,
    count: usize,
    mut p: [*mut u8; N],
    step: [isize; N],
) where
    T: Scalar,
    M: Map<T, N, OUT>,
    V: Vector<Elem = T>,
{
    let step = if DENSE { [(V::LANES * size_of::<T>()) as isize; N] } else { step };
    let zero = V::splat(isa, T::ZERO);
    let first_read = if M::READS_OUT { 0 } else { OUT };
    let mut left = count;
    while left >= U {
        // All loads of a turn come before its stores: the compiler cannot know that an output is
        // either the very same view as an input or shares nothing with it.
        let mut v = [[zero; N]; U];
        let mut q = p;
        for v in &mut v {
            for k in first_read..N {
                // SAFETY: the caller's vectors.
                v[k] = unsafe { V::load(isa, q[k]) };
            }
            q = advance(q, step);
        }
        for v in v {
            let out = map.apply(isa, v);
            for k in 0..OUT {
                // SAFETY: the caller's vectors.
                unsafe { out[k].store(p[k]) };
            }
            p = advance(p, step);
        }
        left -= U;
    }
    if U > 1 {
        // SAFETY: the vectors that are left.
        unsafe { run::<T, M, V, N, OUT, 1, DENSE>(map, isa, left, p, step) };
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
