//! The innermost loops. They know pointers, byte steps and lengths; no shapes and no policy.
//!
//! Kernels take raw pointers, never slices: two operands may be the same memory.

pub(crate) mod blas;
pub(crate) mod indexed;
pub(crate) mod map;
pub(crate) mod moves;
pub(crate) mod reduce;
pub(crate) mod update;

use crate::isa::Isa;

/// A kernel over rows of N operands with elements of T, of which the first OUT are written.
///
/// # Safety
/// An implementation touches the elements it is given and no others, and of them writes only those
/// of the outputs.
pub(crate) unsafe trait Rows<T, const N: usize, const OUT: usize>: Copy {
    /// Whether it moves bytes, so that there may be better ways for rows of some kind.
    const COPIES: bool = false;

    /// Processes `n` elements from `p` on; operand k steps by `step[k]` bytes. Inlined.
    ///
    /// # Safety
    /// Every element so reached is valid for reading, those of outputs for writing, and an output
    /// shares memory with an input only element by element, with another output none.
    unsafe fn row<I: Isa>(self, isa: I, n: usize, p: [*mut u8; N], step: [isize; N]);

    /// Offers the BLAS the same work, where it is all that a call has to do. Returns whether the
    /// BLAS has done it.
    ///
    /// # Safety
    /// As [`row`](Self::row).
    #[inline(always)]
    unsafe fn blas(self, _n: usize, _p: [*mut u8; N], _step: [isize; N]) -> bool {
        false
    }
}
