//! The innermost loops. They know pointers, byte steps and lengths; no shapes and no policy.
//!
//! Kernels take raw pointers, never slices: two operands may be the same memory.

pub(crate) mod blas;
pub(crate) mod in_place;
pub(crate) mod indexed;
pub(crate) mod map;
pub(crate) mod moves;
pub(crate) mod reduce;
pub(crate) mod tiles;
pub(crate) mod update;

use crate::isa::Isa;

/// The bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// A kernel over rows of N operands with elements of T, of which the first OUT are written.
///
/// # Safety
/// An implementation touches the elements it is given and no others, and of them writes only those
/// of the outputs.
pub(crate) unsafe trait Rows<T, const N: usize, const OUT: usize>:
    Copy + Sync
{
    /// Processes `n` elements from `p` on; operand k steps by `step[k]` bytes. Inlined.
    ///
    /// # Safety
    /// Every element so reached is valid for reading, those of outputs for writing, and an output
    /// shares memory with an input only element by element, with another output none.
    unsafe fn row<I: Isa>(self, isa: I, n: usize, p: [*mut u8; N], step: [isize; N]);

    /// Whether the kernel only copies its second operand to its first.
    const COPIES: bool = false;

    /// Whether the outputs are written without being read.
    const WRITES_ONLY: bool = false;

    /// Whether [`stream`](Self::stream) is another thing than [`row`](Self::row).
    const STREAMS: bool = false;

    /// The same where the outputs are too large for the caches: stores that need not read them go
    /// past the caches. `tiles::bytes::fence` follows the last.
    ///
    /// # Safety
    /// As [`row`](Self::row).
    #[inline(always)]
    unsafe fn stream<I: Isa>(self, isa: I, n: usize, p: [*mut u8; N], step: [isize; N]) {
        // SAFETY: the same promise.
        unsafe { self.row(isa, n, p, step) }
    }

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
