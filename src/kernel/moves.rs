//! Moving elements as words of their size: copy, fill, swap; and adding integers.

use super::{Rows, blas, tiles};
use crate::isa::{Isa, Vector};
use crate::scalar::{Element, Word};

/// The bytes of an element.
#[inline(always)]
pub(crate) fn word<T: Element>(value: T) -> T::Word {
    const { assert!(size_of::<T>() == size_of::<T::Word>()) };
    // SAFETY: the sizes are equal, and any bytes make a word.
    unsafe { core::mem::transmute_copy(&value) }
}

/// `y <- x`, operands (y, x).
#[derive(Clone, Copy)]
pub(crate) struct Copy;

// SAFETY: reads x, writes y, nothing else.
unsafe impl<W: Word> Rows<W, 2, 1> for Copy {
    const COPIES: bool = true;
    const STREAMS: bool = true;

    #[inline(always)]
    unsafe fn stream<I: Isa>(self, isa: I, n: usize, [y, x]: [*mut u8; 2], step: [isize; 2]) {
        let item = size_of::<W>();
        // SAFETY: the caller's elements.
        unsafe {
            if step == [item as isize; 2] {
                tiles::stream(isa, n * item, x, y);
            } else {
                Rows::<W, 2, 1>::row(self, isa, n, [y, x], step);
            }
        }
    }

    #[inline(always)]
    unsafe fn row<I: Isa>(self, _: I, n: usize, [y, x]: [*mut u8; 2], step: [isize; 2]) {
        let item = size_of::<W>();
        if step == [item as isize; 2] {
            // `copy`, not `copy_nonoverlapping`: y may be x itself.
            // SAFETY: the caller's n dense elements.
            unsafe { core::ptr::copy(x, y, n * item) };
            return;
        }
        let (mut y, mut x) = (y, x);
        for _ in 0..n {
            // SAFETY: the caller's element.
            unsafe { y.cast::<W>().write_unaligned(x.cast::<W>().read_unaligned()) };
            (y, x) = (y.wrapping_offset(step[0]), x.wrapping_offset(step[1]));
        }
    }

    #[inline(always)]
    unsafe fn blas(self, n: usize, p: [*mut u8; 2], step: [isize; 2]) -> bool {
        // What is dense in both is a memcpy.
        // SAFETY: the caller's run.
        step != [size_of::<W>() as isize; 2] && unsafe { blas::copy::<W>(n, p, step) }
    }
}

/// `y <- value`.
#[derive(Clone, Copy)]
pub(crate) struct Fill<W>(pub W);

// SAFETY: writes the n elements of y.
unsafe impl<W: Word> Rows<W, 1, 1> for Fill<W> {
    #[inline(always)]
    unsafe fn row<I: Isa>(self, _: I, n: usize, [y]: [*mut u8; 1], [step]: [isize; 1]) {
        if step == size_of::<W>() as isize {
            for i in 0..n {
                // SAFETY: the caller's element.
                unsafe { y.cast::<W>().wrapping_add(i).write_unaligned(self.0) };
            }
            return;
        }
        let mut y = y;
        for _ in 0..n {
            // SAFETY: the caller's element.
            unsafe { y.cast::<W>().write_unaligned(self.0) };
            y = y.wrapping_offset(step);
        }
    }
}

/// `x <-> y`.
#[derive(Clone, Copy)]
pub(crate) struct Swap;

// SAFETY: touches the n elements of both, which are outputs.
unsafe impl<W: Word> Rows<W, 2, 2> for Swap {
    #[inline(always)]
    unsafe fn row<I: Isa>(self, isa: I, n: usize, [x, y]: [*mut u8; 2], step: [isize; 2]) {
        let item = size_of::<W>();
        let (mut x, mut y, mut left) = (x, y, n);
        if step == [item as isize; 2] {
            // Registers of any type move any bytes as they are.
            const REGISTERS: usize = 4;
            let bytes = <I::F64 as Vector>::LANES * size_of::<f64>();
            let turn = REGISTERS * bytes / item;
            while left >= turn {
                for _ in 0..REGISTERS {
                    // SAFETY: the caller's dense elements; both are read before either is written.
                    unsafe {
                        let (a, b) = (I::F64::load(isa, x), I::F64::load(isa, y));
                        a.store(y);
                        b.store(x);
                    }
                    (x, y) = (x.wrapping_add(bytes), y.wrapping_add(bytes));
                }
                left -= turn;
            }
        }
        for _ in 0..left {
            // SAFETY: the caller's element.
            unsafe {
                let (a, b) = (x.cast::<W>().read_unaligned(), y.cast::<W>().read_unaligned());
                x.cast::<W>().write_unaligned(b);
                y.cast::<W>().write_unaligned(a);
            }
            (x, y) = (x.wrapping_offset(step[0]), y.wrapping_offset(step[1]));
        }
    }
    #[inline(always)]
    unsafe fn blas(self, n: usize, p: [*mut u8; 2], step: [isize; 2]) -> bool {
        // SAFETY: the caller's run.
        unsafe { blas::swap::<W>(n, p, step) }
    }
}

/// `y <- y + x`, operands (y, x), integers, which wrap: the signed ones too are the sums of words.
#[derive(Clone, Copy)]
pub(crate) struct Accumulate;

// SAFETY: reads both, writes y, nothing else.
unsafe impl<W: Word> Rows<W, 2, 1> for Accumulate {
    #[inline(always)]
    unsafe fn row<I: Isa>(self, _: I, n: usize, [y, x]: [*mut u8; 2], step: [isize; 2]) {
        let (mut y, mut x) = (y, x);
        for _ in 0..n {
            // SAFETY: the caller's element.
            unsafe {
                let sum = y.cast::<W>().read_unaligned().plus(x.cast::<W>().read_unaligned());
                y.cast::<W>().write_unaligned(sum);
            }
            (y, x) = (y.wrapping_offset(step[0]), x.wrapping_offset(step[1]));
        }
    }
}
