//! Registers of bytes, for every instruction set.

use crate::isa::Isa;
use crate::scalar::Word;

/// A register of bytes in lanes of 16.
pub trait Bytes<I: Isa>: Copy {
    /// The number of lanes; 0 where there are no registers worth the name.
    const LANES: usize;

    /// 16 bytes of each lane's own.
    ///
    /// # Safety
    /// `p(lane)` is valid for reading 16 bytes; no alignment is needed.
    unsafe fn load_lanes(isa: I, p: impl Fn(usize) -> *const u8) -> Self;
    /// # Safety
    /// `p` is valid for writing a register; no alignment is needed.
    unsafe fn store(self, p: *mut u8);
    /// Each lane to a place of its own.
    ///
    /// # Safety
    /// `p(lane)` is valid for writing 16 bytes; no alignment is needed.
    unsafe fn store_lanes(self, p: impl Fn(usize) -> *mut u8);
    /// Stores past the caches.
    ///
    /// # Safety
    /// `p` is valid for writing a register, and a multiple of its size.
    unsafe fn stream(self, p: *mut u8);
    /// In each lane, the words of the lower halves of both in turn.
    fn zip_low<W: Word>(self, other: Self) -> Self;
    /// In each lane, the words of the upper halves of both in turn.
    fn zip_high<W: Word>(self, other: Self) -> Self;
    /// In each lane, the bytes at the places that `mask` names; zero where it says 128.
    fn shuffle(self, mask: &[u8; 16]) -> Self;
    /// The bits of both.
    fn or(self, other: Self) -> Self;
    /// Copies one line past the caches.
    ///
    /// # Safety
    /// 64 bytes are valid for reading at `from` and for writing at `to`, which is a multiple of 64.
    unsafe fn stream_line(isa: I, from: *const u8, to: *mut u8);
    /// Writes a line of `n` bytes from `a` and the rest from `b` past the caches.
    ///
    /// # Safety
    /// `n` is at most 64. So many bytes are valid for reading at `a`, the others at `b`, and 64 for
    /// writing at `to`, which is a multiple of 64.
    #[inline(always)]
    unsafe fn stream_joined(isa: I, n: usize, a: *const u8, b: *const u8, to: *mut u8) {
        let mut line = [0u64; 8];
        let at = (&raw mut line).cast::<u8>();
        // SAFETY: the caller's bytes, and a line of our own.
        unsafe {
            core::ptr::copy_nonoverlapping(a, at, n);
            core::ptr::copy_nonoverlapping(b, at.wrapping_add(n), 64 - n);
            Self::stream_line(isa, at, to);
        }
    }
}

/// Non-temporal stores before it are seen before stores after it.
#[inline]
pub(crate) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 CPU has the instruction.
    unsafe {
        core::arch::x86_64::_mm_sfence();
    }
}

/// Asks for a line that will be read soon.
#[inline(always)]
pub(crate) fn prefetch(p: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(p.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = p;
}

/// Asks for a line that will be read somewhat later, when it should be in the second cache: far more
/// lines can be on their way there than to the first.
#[inline(always)]
pub(crate) fn prefetch_far(p: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T1 }>(p.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = p;
}

/// No registers.
#[derive(Clone, Copy)]
pub struct None(());

impl<I: Isa> Bytes<I> for None {
    const LANES: usize = 0;
    #[inline(always)]
    unsafe fn load_lanes(_: I, _: impl Fn(usize) -> *const u8) -> Self {
        None(())
    }
    #[inline(always)]
    unsafe fn store(self, _: *mut u8) {}
    #[inline(always)]
    unsafe fn store_lanes(self, _: impl Fn(usize) -> *mut u8) {}
    #[inline(always)]
    unsafe fn stream(self, _: *mut u8) {}
    #[inline(always)]
    fn zip_low<W: Word>(self, _: Self) -> Self {
        self
    }
    #[inline(always)]
    fn zip_high<W: Word>(self, _: Self) -> Self {
        self
    }
    #[inline(always)]
    fn shuffle(self, _: &[u8; 16]) -> Self {
        self
    }
    #[inline(always)]
    fn or(self, _: Self) -> Self {
        self
    }
    #[inline(always)]
    unsafe fn stream_line(_: I, from: *const u8, to: *mut u8) {
        // SAFETY: the caller's line.
        unsafe { to.cast::<[u64; 8]>().write_unaligned(from.cast::<[u64; 8]>().read_unaligned()) };
    }
}

#[cfg(target_arch = "x86_64")]
pub use x86::{Xmm, Ymm, Zmm};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Bytes;
    use crate::isa::{Avx2, Avx512, Isa};
    use crate::scalar::Word;
    use core::arch::x86_64::*;

    /// Zips by the size of a word; words of a lane's size do not zip.
    macro_rules! zip {
        ($W:ident, $a:expr, $b:expr, $z1:ident, $z2:ident, $z4:ident, $z8:ident) => {
            match size_of::<$W>() {
                1 => $z1($a, $b),
                2 => $z2($a, $b),
                4 => $z4($a, $b),
                _ => $z8($a, $b),
            }
        };
    }

    /// 16 bytes.
    #[derive(Clone, Copy)]
    pub struct Xmm(__m128i);

    /// What has AVX2, and so the shuffles of SSSE3.
    pub trait WithAvx2: Isa {}
    impl WithAvx2 for Avx2 {}
    impl WithAvx2 for Avx512 {}

    impl<I: WithAvx2> Bytes<I> for Xmm {
        const LANES: usize = 1;
        #[inline(always)]
        unsafe fn load_lanes(_: I, p: impl Fn(usize) -> *const u8) -> Self {
            // SAFETY: every x86-64 CPU has SSE2; the caller's bytes.
            Xmm(unsafe { _mm_loadu_si128(p(0).cast()) })
        }
        #[inline(always)]
        unsafe fn store(self, p: *mut u8) {
            // SAFETY: every x86-64 CPU has SSE2; the caller's bytes.
            unsafe { _mm_storeu_si128(p.cast(), self.0) }
        }
        #[inline(always)]
        unsafe fn store_lanes(self, p: impl Fn(usize) -> *mut u8) {
            // SAFETY: the value proves the instructions; the caller's bytes.
            unsafe { _mm_storeu_si128(p(0).cast(), self.0) }
        }
        #[inline(always)]
        unsafe fn stream(self, p: *mut u8) {
            // SAFETY: the value proves the instructions; the caller's bytes.
            unsafe { _mm_stream_si128(p.cast(), self.0) }
        }
        #[inline(always)]
        fn zip_low<W: Word>(self, o: Self) -> Self {
            // SAFETY: every x86-64 CPU has SSE2.
            #[allow(unused_unsafe)]
            Xmm(unsafe {
                zip!(
                    W,
                    self.0,
                    o.0,
                    _mm_unpacklo_epi8,
                    _mm_unpacklo_epi16,
                    _mm_unpacklo_epi32,
                    _mm_unpacklo_epi64
                )
            })
        }
        #[inline(always)]
        fn zip_high<W: Word>(self, o: Self) -> Self {
            // SAFETY: every x86-64 CPU has SSE2.
            #[allow(unused_unsafe)]
            Xmm(unsafe {
                zip!(
                    W,
                    self.0,
                    o.0,
                    _mm_unpackhi_epi8,
                    _mm_unpackhi_epi16,
                    _mm_unpackhi_epi32,
                    _mm_unpackhi_epi64
                )
            })
        }
        #[inline(always)]
        fn shuffle(self, mask: &[u8; 16]) -> Self {
            // SAFETY: the value proves the instructions.
            Xmm(unsafe { _mm_shuffle_epi8(self.0, _mm_loadu_si128(mask.as_ptr().cast())) })
        }
        #[inline(always)]
        fn or(self, o: Self) -> Self {
            // SAFETY: the value proves the instructions.
            #[allow(unused_unsafe)]
            Xmm(unsafe { _mm_or_si128(self.0, o.0) })
        }
        #[inline(always)]
        unsafe fn stream_line(_: I, from: *const u8, to: *mut u8) {
            let (from, to) = (from.cast::<__m128i>(), to.cast::<__m128i>());
            // SAFETY: every x86-64 CPU has SSE2; the caller's line.
            unsafe {
                let line: [__m128i; 4] =
                    core::array::from_fn(|i| _mm_loadu_si128(from.wrapping_add(i)));
                for (i, part) in line.into_iter().enumerate() {
                    _mm_stream_si128(to.wrapping_add(i), part);
                }
            }
        }
    }

    /// 32 bytes.
    #[derive(Clone, Copy)]
    pub struct Ymm(__m256i);

    impl Bytes<Avx2> for Ymm {
        const LANES: usize = 2;
        #[inline(always)]
        unsafe fn load_lanes(_: Avx2, p: impl Fn(usize) -> *const u8) -> Self {
            // SAFETY: the token proves the instructions; the caller's bytes.
            Ymm(unsafe {
                let low = _mm256_castsi128_si256(_mm_loadu_si128(p(0).cast()));
                _mm256_inserti128_si256::<1>(low, _mm_loadu_si128(p(1).cast()))
            })
        }
        #[inline(always)]
        unsafe fn store(self, p: *mut u8) {
            // SAFETY: the value proves the instructions; the caller's bytes.
            unsafe { _mm256_storeu_si256(p.cast(), self.0) }
        }
        #[inline(always)]
        unsafe fn store_lanes(self, p: impl Fn(usize) -> *mut u8) {
            // SAFETY: the value proves the instructions; the caller's bytes.
            unsafe {
                _mm_storeu_si128(p(0).cast(), _mm256_castsi256_si128(self.0));
                _mm_storeu_si128(p(1).cast(), _mm256_extracti128_si256::<1>(self.0));
            }
        }
        #[inline(always)]
        unsafe fn stream(self, p: *mut u8) {
            // SAFETY: the value proves the instructions; the caller's bytes.
            unsafe { _mm256_stream_si256(p.cast(), self.0) }
        }
        #[inline(always)]
        fn zip_low<W: Word>(self, o: Self) -> Self {
            // SAFETY: the value proves the instructions.
            #[allow(unused_unsafe)]
            Ymm(unsafe {
                zip!(
                    W,
                    self.0,
                    o.0,
                    _mm256_unpacklo_epi8,
                    _mm256_unpacklo_epi16,
                    _mm256_unpacklo_epi32,
                    _mm256_unpacklo_epi64
                )
            })
        }
        #[inline(always)]
        fn zip_high<W: Word>(self, o: Self) -> Self {
            // SAFETY: the value proves the instructions.
            #[allow(unused_unsafe)]
            Ymm(unsafe {
                zip!(
                    W,
                    self.0,
                    o.0,
                    _mm256_unpackhi_epi8,
                    _mm256_unpackhi_epi16,
                    _mm256_unpackhi_epi32,
                    _mm256_unpackhi_epi64
                )
            })
        }
        #[inline(always)]
        fn shuffle(self, mask: &[u8; 16]) -> Self {
            // SAFETY: the value proves the instructions.
            Ymm(unsafe {
                let mask = _mm256_broadcastsi128_si256(_mm_loadu_si128(mask.as_ptr().cast()));
                _mm256_shuffle_epi8(self.0, mask)
            })
        }
        #[inline(always)]
        fn or(self, o: Self) -> Self {
            // SAFETY: the value proves the instructions.
            #[allow(unused_unsafe)]
            Ymm(unsafe { _mm256_or_si256(self.0, o.0) })
        }
        #[inline(always)]
        unsafe fn stream_line(_: Avx2, from: *const u8, to: *mut u8) {
            let (from, to) = (from.cast::<__m256i>(), to.cast::<__m256i>());
            // SAFETY: the token proves the instructions; the caller's line.
            unsafe {
                let (a, b) = (_mm256_loadu_si256(from), _mm256_loadu_si256(from.wrapping_add(1)));
                _mm256_stream_si256(to, a);
                _mm256_stream_si256(to.wrapping_add(1), b);
            }
        }
    }

    /// 64 bytes.
    #[derive(Clone, Copy)]
    pub struct Zmm(__m512i);

    impl Bytes<Avx512> for Zmm {
        const LANES: usize = 4;
        #[inline(always)]
        unsafe fn load_lanes(_: Avx512, p: impl Fn(usize) -> *const u8) -> Self {
            // SAFETY: the token proves the instructions; the caller's bytes.
            Zmm(unsafe {
                let lane = |l: usize| _mm_loadu_si128(p(l).cast());
                // By halves, which more of the CPU's units put together than whole registers.
                let (low, high) =
                    (_mm256_castsi128_si256(lane(0)), _mm256_castsi128_si256(lane(2)));
                let low = _mm256_inserti128_si256::<1>(low, lane(1));
                let high = _mm256_inserti128_si256::<1>(high, lane(3));
                _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
            })
        }
        #[inline(always)]
        unsafe fn store(self, p: *mut u8) {
            // SAFETY: the value proves the instructions; the caller's bytes.
            unsafe { _mm512_storeu_si512(p.cast(), self.0) }
        }
        #[inline(always)]
        unsafe fn store_lanes(self, p: impl Fn(usize) -> *mut u8) {
            // SAFETY: the value proves the instructions; the caller's bytes.
            unsafe {
                _mm_storeu_si128(p(0).cast(), _mm512_castsi512_si128(self.0));
                _mm_storeu_si128(p(1).cast(), _mm512_extracti32x4_epi32::<1>(self.0));
                _mm_storeu_si128(p(2).cast(), _mm512_extracti32x4_epi32::<2>(self.0));
                _mm_storeu_si128(p(3).cast(), _mm512_extracti32x4_epi32::<3>(self.0));
            }
        }
        #[inline(always)]
        unsafe fn stream(self, p: *mut u8) {
            // SAFETY: the value proves the instructions; the caller's bytes.
            unsafe { _mm512_stream_si512(p.cast(), self.0) }
        }
        #[inline(always)]
        fn zip_low<W: Word>(self, o: Self) -> Self {
            // SAFETY: the value proves the instructions.
            #[allow(unused_unsafe)]
            Zmm(unsafe {
                zip!(
                    W,
                    self.0,
                    o.0,
                    _mm512_unpacklo_epi8,
                    _mm512_unpacklo_epi16,
                    _mm512_unpacklo_epi32,
                    _mm512_unpacklo_epi64
                )
            })
        }
        #[inline(always)]
        fn zip_high<W: Word>(self, o: Self) -> Self {
            // SAFETY: the value proves the instructions.
            #[allow(unused_unsafe)]
            Zmm(unsafe {
                zip!(
                    W,
                    self.0,
                    o.0,
                    _mm512_unpackhi_epi8,
                    _mm512_unpackhi_epi16,
                    _mm512_unpackhi_epi32,
                    _mm512_unpackhi_epi64
                )
            })
        }
        #[inline(always)]
        fn shuffle(self, mask: &[u8; 16]) -> Self {
            // SAFETY: the value proves the instructions.
            Zmm(unsafe {
                let mask = _mm512_broadcast_i32x4(_mm_loadu_si128(mask.as_ptr().cast()));
                _mm512_shuffle_epi8(self.0, mask)
            })
        }
        #[inline(always)]
        fn or(self, o: Self) -> Self {
            // SAFETY: the value proves the instructions.
            #[allow(unused_unsafe)]
            Zmm(unsafe { _mm512_or_si512(self.0, o.0) })
        }
        #[inline(always)]
        unsafe fn stream_line(_: Avx512, from: *const u8, to: *mut u8) {
            // SAFETY: the token proves the instructions; the caller's line.
            unsafe { _mm512_stream_si512(to.cast(), _mm512_loadu_si512(from.cast())) }
        }
        #[inline(always)]
        unsafe fn stream_joined(_: Avx512, n: usize, a: *const u8, b: *const u8, to: *mut u8) {
            let rest = u64::MAX.checked_shl(n as u32).unwrap_or(0);
            // SAFETY: the token proves the instructions; what a mask leaves out is not touched, and
            // the rest are the caller's bytes.
            unsafe {
                let start = _mm512_maskz_loadu_epi8(!rest, a.cast());
                let line = _mm512_mask_loadu_epi8(start, rest, b.wrapping_sub(n).cast());
                _mm512_stream_si512(to.cast(), line);
            }
        }
    }
}

#[cfg(target_arch = "aarch64")]
pub use neon::Neon16;

#[cfg(target_arch = "aarch64")]
mod neon {
    use super::Bytes;
    use crate::isa::Isa;
    use crate::scalar::Word;
    use core::arch::aarch64::*;

    /// 16 bytes.
    #[derive(Clone, Copy)]
    pub struct Neon16(uint8x16_t);

    impl<I: Isa> Bytes<I> for Neon16 {
        const LANES: usize = 1;
        #[inline(always)]
        unsafe fn load_lanes(_: I, p: impl Fn(usize) -> *const u8) -> Self {
            // SAFETY: every aarch64 CPU has NEON; the caller's bytes.
            Neon16(unsafe { vld1q_u8(p(0)) })
        }
        #[inline(always)]
        unsafe fn store(self, p: *mut u8) {
            // SAFETY: every aarch64 CPU has NEON; the caller's bytes.
            unsafe { vst1q_u8(p, self.0) }
        }
        #[inline(always)]
        unsafe fn store_lanes(self, p: impl Fn(usize) -> *mut u8) {
            // SAFETY: the value proves the instructions; the caller's bytes.
            unsafe { vst1q_u8(p(0), self.0) }
        }
        #[inline(always)]
        unsafe fn stream(self, p: *mut u8) {
            // SAFETY: the value proves the instructions; the caller's bytes.
            unsafe { vst1q_u8(p, self.0) }
        }
        #[inline(always)]
        fn zip_low<W: Word>(self, o: Self) -> Self {
            let (a, b) = (self.0, o.0);
            // SAFETY: every aarch64 CPU has NEON.
            #[allow(unused_unsafe)]
            Neon16(unsafe {
                match size_of::<W>() {
                    1 => vzip1q_u8(a, b),
                    2 => vreinterpretq_u8_u16(vzip1q_u16(
                        vreinterpretq_u16_u8(a),
                        vreinterpretq_u16_u8(b),
                    )),
                    4 => vreinterpretq_u8_u32(vzip1q_u32(
                        vreinterpretq_u32_u8(a),
                        vreinterpretq_u32_u8(b),
                    )),
                    _ => vreinterpretq_u8_u64(vzip1q_u64(
                        vreinterpretq_u64_u8(a),
                        vreinterpretq_u64_u8(b),
                    )),
                }
            })
        }
        #[inline(always)]
        fn zip_high<W: Word>(self, o: Self) -> Self {
            let (a, b) = (self.0, o.0);
            // SAFETY: every aarch64 CPU has NEON.
            #[allow(unused_unsafe)]
            Neon16(unsafe {
                match size_of::<W>() {
                    1 => vzip2q_u8(a, b),
                    2 => vreinterpretq_u8_u16(vzip2q_u16(
                        vreinterpretq_u16_u8(a),
                        vreinterpretq_u16_u8(b),
                    )),
                    4 => vreinterpretq_u8_u32(vzip2q_u32(
                        vreinterpretq_u32_u8(a),
                        vreinterpretq_u32_u8(b),
                    )),
                    _ => vreinterpretq_u8_u64(vzip2q_u64(
                        vreinterpretq_u64_u8(a),
                        vreinterpretq_u64_u8(b),
                    )),
                }
            })
        }
        #[inline(always)]
        fn shuffle(self, mask: &[u8; 16]) -> Self {
            // SAFETY: the value proves the instructions.
            Neon16(unsafe { vqtbl1q_u8(self.0, vld1q_u8(mask.as_ptr())) })
        }
        #[inline(always)]
        fn or(self, o: Self) -> Self {
            // SAFETY: the value proves the instructions.
            #[allow(unused_unsafe)]
            Neon16(unsafe { vorrq_u8(self.0, o.0) })
        }
        #[inline(always)]
        unsafe fn stream_line(_: I, from: *const u8, to: *mut u8) {
            // Whole lines, written at once, are not fetched first.
            // SAFETY: every aarch64 CPU has NEON; the caller's line.
            unsafe { vst1q_u8_x4(to, vld1q_u8_x4(from)) }
        }
    }
}
