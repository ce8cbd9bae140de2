//! Moving elements as words of their size: copy, fill, swap; and adding integers.

use super::{Rows, tiles};
use crate::isa::Isa;
use crate::scalar::Element;

/// `y <- x`, operands (y, x).
#[derive(Clone, Copy)]
pub(crate) struct Copy;

// SAFETY: reads x, writes y, nothing else.
unsafe impl<T: Element> Rows<T, 2, 1> for Copy {
    const COPIES: bool = true;
    const STREAMS: bool = true;

    #[inline(always)]
    unsafe fn stream<I: Isa>(self, isa: I, n: usize, [y, x]: [*mut u8; 2], step: [isize; 2]) {
        let item = size_of::<T>();
        // SAFETY: the caller's elements.
        unsafe {
            if step == [item as isize; 2] {
                tiles::stream(isa, n * item, x, y);
            } else {
                Rows::<T, 2, 1>::row(self, isa, n, [y, x], step);
            }
        }
    }

    #[inline(always)]
    unsafe fn row<I: Isa>(self, _: I, n: usize, [y, x]: [*mut u8; 2], step: [isize; 2]) {
        let item = size_of::<T>();
        if step == [item as isize; 2] {
            // `copy`, not `copy_nonoverlapping`: y may be x itself.
            // SAFETY: the caller's n dense elements.
            unsafe { core::ptr::copy(x, y, n * item) };
            return;
        }
        let (mut y, mut x) = (y, x);
        for _ in 0..n {
            // SAFETY: the caller's element.
            unsafe { y.cast::<T::Word>().write_unaligned(x.cast::<T::Word>().read_unaligned()) };
            (y, x) = (y.wrapping_offset(step[0]), x.wrapping_offset(step[1]));
        }
    }
}

/// `y <- value`.
#[derive(Clone, Copy)]
pub(crate) struct Fill<T>(pub T);

// SAFETY: writes the n elements of y.
unsafe impl<T: Element> Rows<T, 1, 1> for Fill<T> {
    #[inline(always)]
    unsafe fn row<I: Isa>(self, _: I, n: usize, [y]: [*mut u8; 1], [step]: [isize; 1]) {
        if step == size_of::<T>() as isize {
            for i in 0..n {
                // SAFETY: the caller's element.
                unsafe { y.cast::<T>().wrapping_add(i).write_unaligned(self.0) };
            }
            return;
        }
        let mut y = y;
        for _ in 0..n {
            // SAFETY: the caller's element.
            unsafe { y.cast::<T>().write_unaligned(self.0) };
            y = y.wrapping_offset(step);
        }
    }
}

/// `x <-> y`.
#[derive(Clone, Copy)]
pub(crate) struct Swap;

// SAFETY: touches the n elements of both, which are outputs.
unsafe impl<T: Element> Rows<T, 2, 2> for Swap {
    #[inline(always)]
    unsafe fn row<I: Isa>(self, _: I, n: usize, [x, y]: [*mut u8; 2], step: [isize; 2]) {
        let item = size_of::<T>();
        let (mut x, mut y, mut left) = (x, y, n);
        if step == [item as isize; 2] {
            /// Bytes exchanged at once; no less than a register of any instruction set, twice.
            type Chunk = [u64; 16];
            let per_chunk = size_of::<Chunk>() / item;
            while left >= per_chunk {
                // SAFETY: the caller's dense elements; both are read before either is written.
                unsafe {
                    let a = x.cast::<Chunk>().read_unaligned();
                    let b = y.cast::<Chunk>().read_unaligned();
                    x.cast::<Chunk>().write_unaligned(b);
                    y.cast::<Chunk>().write_unaligned(a);
                }
                (x, y) = (x.wrapping_add(size_of::<Chunk>()), y.wrapping_add(size_of::<Chunk>()));
                left -= per_chunk;
            }
        }
        for _ in 0..left {
            // SAFETY: the caller's element.
            unsafe {
                let (a, b) =
                    (x.cast::<T::Word>().read_unaligned(), y.cast::<T::Word>().read_unaligned());
                x.cast::<T::Word>().write_unaligned(b);
                y.cast::<T::Word>().write_unaligned(a);
            }
            (x, y) = (x.wrapping_offset(step[0]), y.wrapping_offset(step[1]));
        }
    }
}

/// `y <- y + x`, operands (y, x), integers, which wrap.
#[derive(Clone, Copy)]
pub(crate) struct Accumulate;

// SAFETY: reads both, writes y, nothing else.
unsafe impl<T: Element> Rows<T, 2, 1> for Accumulate {
    #[inline(always)]
    unsafe fn row<I: Isa>(self, _: I, n: usize, [y, x]: [*mut u8; 2], step: [isize; 2]) {
        let (mut y, mut x) = (y, x);
        for _ in 0..n {
            // SAFETY: the caller's element.
            unsafe {
                let sum = y.cast::<T>().read_unaligned().accumulate(x.cast::<T>().read_unaligned());
                y.cast::<T>().write_unaligned(sum);
            }
            (y, x) = (y.wrapping_offset(step[0]), x.wrapping_offset(step[1]));
        }
    }
}
