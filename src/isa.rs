//! Instruction sets: detection, the override, and vectors whose existence proves that the
//! instructions they stand for may be executed.
//!
//! A kernel is written once, generic over [`Isa`]. [`dispatch`] picks the instruction set and enters
//! a function compiled for it, into which the kernel is inlined. The tokens [`Portable`], `Avx2`,
//! `Avx512` and `Neon` can only be made here, and a vector can only be made with its token, so the
//! methods on vectors are safe.

use crate::kernel::tiles::bytes::{self, Bytes};
use crate::scalar::Scalar;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicU8, Ordering};
use num_complex::Complex;

/// An instruction set; a value of the type proves that this CPU has it.
pub trait Isa: Copy + Send + Sync + core::fmt::Debug + 'static {
    /// Whether `a*b + c` is rounded once.
    const FMA: bool;
    type F32: RealVector<Elem = f32, Isa = Self>;
    type F64: RealVector<Elem = f64, Isa = Self>;
    /// The widest register, for moving.
    type Bytes: Bytes<Self>;
    /// The register of 16 bytes.
    type Lane: Bytes<Self>;
}

/// A register's worth of elements.
pub trait Vector: Copy {
    type Elem: Copy;
    type Isa: Isa;
    const LANES: usize;

    /// # Safety
    /// `p` is valid for reading `LANES` elements; no alignment is needed.
    unsafe fn load(isa: Self::Isa, p: *const u8) -> Self;
    /// # Safety
    /// `p` is valid for writing `LANES` elements; no alignment is needed.
    unsafe fn store(self, p: *mut u8);
    /// The first `n` elements, then zeros.
    ///
    /// # Safety
    /// `p` is valid for reading `n` elements, `n <= LANES`; no alignment is needed.
    unsafe fn load_part(isa: Self::Isa, p: *const u8, n: usize) -> Self;
    /// Writes the first `n` elements.
    ///
    /// # Safety
    /// `p` is valid for writing `n` elements, `n <= LANES`; no alignment is needed.
    unsafe fn store_part(self, p: *mut u8, n: usize);
    fn splat(isa: Self::Isa, v: Self::Elem) -> Self;
    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// `self*b + c`, rounded once for real elements where [`Isa::FMA`] says so.
    fn mul_add(self, b: Self, c: Self) -> Self;
}

/// A register of real numbers. Lanes 2k and 2k+1 may be taken as the parts of a complex number.
pub trait RealVector: Vector {
    fn abs(self) -> Self;
    /// The greater of the two; NaN where either is NaN.
    fn max_nan(self, other: Self) -> Self;
    /// Lanes (even, odd, even, odd, ..).
    fn pairs(isa: Self::Isa, even: Self::Elem, odd: Self::Elem) -> Self;
    /// Lanes (0, 0, 2, 2, ..).
    fn dup_even(self) -> Self;
    /// Lanes (1, 1, 3, 3, ..).
    fn dup_odd(self) -> Self;
    /// Lanes (1, 0, 3, 2, ..).
    fn swap_pairs(self) -> Self;
    /// Lanes (-0, 1, -2, 3, ..).
    fn neg_even(self) -> Self;
}

/// `f32` and `f64`.
pub trait Real:
    Scalar<Real = Self>
    + PartialOrd
    + core::ops::Neg<Output = Self>
    + core::ops::Add<Output = Self>
    + core::ops::Sub<Output = Self>
{
    /// The register of this type.
    type Reg<I: Isa>: RealVector<Elem = Self, Isa = I>;
    fn fma(self, b: Self, c: Self) -> Self;
    fn magnitude(self) -> Self;
    fn to_f64(self) -> f64;
}

macro_rules! real {
    ($t:ty, $assoc:ident) => {
        impl Real for $t {
            type Reg<I: Isa> = I::$assoc;
            #[inline(always)]
            fn fma(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
            #[inline(always)]
            fn magnitude(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
        }
    };
}
real!(f32, F32);
real!(f64, F64);

/// Vectors in plain Rust: the registers of [`Portable`], and single elements of every set.
#[derive(Clone, Copy)]
pub struct Array<I, R, const W: usize>([R; W], PhantomData<I>);

impl<I: Isa, R: Real, const W: usize> Array<I, R, W> {
    #[inline(always)]
    fn map(f: impl Fn(usize) -> R) -> Self {
        let mut lanes = [R::ZERO; W];
        for (i, lane) in lanes.iter_mut().enumerate() {
            *lane = f(i);
        }
        Array(lanes, PhantomData)
    }
}

impl<I: Isa, R: Real, const W: usize> Vector for Array<I, R, W> {
    type Elem = R;
    type Isa = I;
    const LANES: usize = W;

    #[inline(always)]
    unsafe fn load(_: I, p: *const u8) -> Self {
        // SAFETY: the caller's p is valid for W elements.
        Array(unsafe { p.cast::<[R; W]>().read_unaligned() }, PhantomData)
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u8) {
        // SAFETY: the caller's p is valid for W elements.
        unsafe { p.cast::<[R; W]>().write_unaligned(self.0) }
    }
    #[inline(always)]
    unsafe fn load_part(_: I, p: *const u8, n: usize) -> Self {
        // SAFETY: the caller's p is valid for n elements.
        let at = |i| unsafe { p.cast::<R>().wrapping_add(i).read_unaligned() };
        Self::map(|i| if i < n { at(i) } else { R::ZERO })
    }
    #[inline(always)]
    unsafe fn store_part(self, p: *mut u8, n: usize) {
        for (i, v) in self.0.into_iter().enumerate().take(n) {
            // SAFETY: the caller's p is valid for n elements.
            unsafe { p.cast::<R>().wrapping_add(i).write_unaligned(v) };
        }
    }
    #[inline(always)]
    fn splat(_: I, v: R) -> Self {
        Array([v; W], PhantomData)
    }
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self::map(|i| self.0[i] + o.0[i])
    }
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        Self::map(|i| self.0[i] * o.0[i])
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Self::map(
            |i| {
                if I::FMA { self.0[i].fma(b.0[i], c.0[i]) } else { self.0[i] * b.0[i] + c.0[i] }
            },
        )
    }
}

impl<I: Isa, R: Real, const W: usize> RealVector for Array<I, R, W> {
    #[inline(always)]
    fn abs(self) -> Self {
        Self::map(|i| self.0[i].magnitude())
    }
    #[inline(always)]
    #[allow(clippy::eq_op)] // only NaN differs from itself
    fn max_nan(self, o: Self) -> Self {
        Self::map(|i| {
            let (a, b) = (self.0[i], o.0[i]);
            // A NaN in `a` fails the first test, one in `b` passes the second.
            if b > a || b != b { b } else { a }
        })
    }
    #[inline(always)]
    fn pairs(_: I, even: R, odd: R) -> Self {
        Self::map(|i| if i & 1 == 0 { even } else { odd })
    }
    #[inline(always)]
    fn dup_even(self) -> Self {
        Self::map(|i| self.0[i & !1])
    }
    #[inline(always)]
    fn dup_odd(self) -> Self {
        Self::map(|i| self.0[i | 1])
    }
    #[inline(always)]
    fn swap_pairs(self) -> Self {
        Self::map(|i| self.0[i ^ 1])
    }
    #[inline(always)]
    fn neg_even(self) -> Self {
        Self::map(|i| if i & 1 == 0 { -self.0[i] } else { self.0[i] })
    }
}

/// Complex numbers in the lanes of a real register, re and im in turn.
#[derive(Clone, Copy)]
pub struct Cplx<V>(V);

impl<R: Real, V: RealVector<Elem = R>> Cplx<V> {
    /// a*b + c as two real steps, each over all lanes; `mul` leaves c out.
    #[inline(always)]
    fn cross(self, b: Self, real_part: V) -> Self {
        // (-a.im, a.im) * (b.im, b.re) + real_part
        Cplx(self.0.dup_odd().neg_even().mul_add(b.0.swap_pairs(), real_part))
    }
}

impl<R: Real, V: RealVector<Elem = R>> Vector for Cplx<V> {
    type Elem = Complex<R>;
    type Isa = V::Isa;
    const LANES: usize = V::LANES / 2;

    #[inline(always)]
    unsafe fn load(isa: V::Isa, p: *const u8) -> Self {
        // SAFETY: as the caller promises; a complex number is two reals.
        Cplx(unsafe { V::load(isa, p) })
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u8) {
        // SAFETY: as the caller promises; a complex number is two reals.
        unsafe { self.0.store(p) }
    }
    #[inline(always)]
    unsafe fn load_part(isa: V::Isa, p: *const u8, n: usize) -> Self {
        // SAFETY: as the caller promises; a complex number is two reals.
        Cplx(unsafe { V::load_part(isa, p, 2 * n) })
    }
    #[inline(always)]
    unsafe fn store_part(self, p: *mut u8, n: usize) {
        // SAFETY: as the caller promises; a complex number is two reals.
        unsafe { self.0.store_part(p, 2 * n) }
    }
    #[inline(always)]
    fn splat(isa: V::Isa, v: Complex<R>) -> Self {
        Cplx(V::pairs(isa, v.re, v.im))
    }
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Cplx(self.0.add(o.0))
    }
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        self.cross(b, self.0.dup_even().mul(b.0))
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        self.cross(b, self.0.dup_even().mul_add(b.0, c.0))
    }
}

/// What every CPU of the target has.
#[derive(Clone, Copy, Debug)]
pub struct Portable(());

impl Isa for Portable {
    const FMA: bool = false;
    type F32 = Array<Portable, f32, 4>;
    type F64 = Array<Portable, f64, 2>;
    type Bytes = bytes::None;
    type Lane = bytes::None;
}

/// One kernel call. `run` must be `#[inline(always)]`, so that it is compiled for the instruction
/// set that [`dispatch`] enters.
pub trait Kernel {
    type Output;
    fn run<I: Isa>(self, isa: I) -> Self::Output;
}

/// The instruction sets of all targets; those that this target lacks are never detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    Portable = 1,
    Neon,
    Avx2,
    Avx512,
}

impl Level {
    /// The name it has in `NDBLAS_ISA` and in the configuration line.
    pub fn name(self) -> &'static str {
        match self {
            Level::Portable => "portable",
            Level::Neon => "neon",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        }
    }

    /// The best of this CPU, whatever the override says.
    pub fn detect() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("avx2") && has!("fma") {
                if has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
                    return Level::Avx512;
                }
                return Level::Avx2;
            }
        }
        if cfg!(target_arch = "aarch64") { Level::Neon } else { Level::Portable }
    }
}

/// The instruction set in use: the best of this CPU, or a lower one which `NDBLAS_ISA` names.
#[inline]
pub fn level() -> Level {
    match LEVEL.load(Ordering::Relaxed) {
        1 => Level::Portable,
        2 => Level::Neon,
        3 => Level::Avx2,
        4 => Level::Avx512,
        _ => choose_level(),
    }
}

static LEVEL: AtomicU8 = AtomicU8::new(0);

#[cold]
fn choose_level() -> Level {
    let best = Level::detect();
    let asked = std::env::var("NDBLAS_ISA").ok();
    let level = [Level::Portable, Level::Neon, Level::Avx2, Level::Avx512]
        .into_iter()
        // A set of the other architecture is not below the one detected, whatever its order.
        .filter(|&l| l <= best && (l == Level::Neon) <= (best == Level::Neon))
        .find(|l| asked.as_deref() == Some(l.name()))
        .unwrap_or(best);
    LEVEL.store(level as u8, Ordering::Relaxed);
    level
}

/// Runs a kernel compiled for the instruction set in use.
#[inline]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    match level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level was detected, or is lower than the one that was.
        Level::Avx512 => unsafe { x86::run_avx512(kernel) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Level::Avx2 => unsafe { x86::run_avx2(kernel) },
        #[cfg(target_arch = "aarch64")]
        Level::Neon => kernel.run(neon::Neon(())),
        _ => run_portable(kernel),
    }
}

#[inline(never)]
fn run_portable<K: Kernel>(kernel: K) -> K::Output {
    kernel.run(Portable(()))
}

/// Two f32 as the bits of one f64, the first at the lower address on a little-endian machine, as
/// those with registers here are.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn two(even: f32, odd: f32) -> f64 {
    f64::from_bits(u64::from(even.to_bits()) | u64::from(odd.to_bits()) << 32)
}

/// Implements the two traits for a register type from expressions over its intrinsics.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! register {
    (
        $name:ident($reg:ty): $lanes:literal x $elem:ty, $isa:ident;
        load($lp:ident) $load:expr;
        store($sp:ident, $sv:ident) $store:expr;
        load_part($lpp:ident, $lpn:ident) $load_part:expr;
        store_part($spp:ident, $spv:ident, $spn:ident) $store_part:expr;
        splat($e:ident) $splat:expr;
        pairs($even_lane:ident, $odd_lane:ident) $pairs:expr;
        ($a:ident, $b:ident, $c:ident)
        add $add:expr;
        mul $mul:expr;
        mul_add $fma:expr;
        abs $abs:expr;
        max_nan $max:expr;
        dup_even $even:expr;
        dup_odd $odd:expr;
        swap_pairs $swap:expr;
        neg_even $neg:expr;
    ) => {
        #[derive(Clone, Copy)]
        pub struct $name($reg);

        impl Vector for $name {
            type Elem = $elem;
            type Isa = $isa;
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn load(_: $isa, $lp: *const u8) -> Self {
                // SAFETY: the token proves the instructions, the caller the memory.
                $name(unsafe { $load })
            }
            #[inline(always)]
            unsafe fn store(self, $sp: *mut u8) {
                let $sv = self.0;
                // SAFETY: the value proves the instructions, the caller the memory.
                unsafe { $store }
            }
            #[inline(always)]
            unsafe fn load_part(_: $isa, $lpp: *const u8, $lpn: usize) -> Self {
                // SAFETY: the token proves the instructions, the caller the memory; what a mask
                // leaves out is not touched.
                $name(unsafe { $load_part })
            }
            #[inline(always)]
            unsafe fn store_part(self, $spp: *mut u8, $spn: usize) {
                let $spv = self.0;
                // SAFETY: the value proves the instructions, the caller the memory; what a mask
                // leaves out is not touched.
                unsafe { $store_part }
            }
            #[inline(always)]
            fn splat(_: $isa, $e: $elem) -> Self {
                // SAFETY: the token proves the instructions.
                #[allow(unused_unsafe)]
                $name(unsafe { $splat })
            }
            #[inline(always)]
            fn add(self, o: Self) -> Self {
                let ($a, $b) = (self.0, o.0);
                // SAFETY: the value proves the instructions.
                #[allow(unused_unsafe)]
                $name(unsafe { $add })
            }
            #[inline(always)]
            fn mul(self, o: Self) -> Self {
                let ($a, $b) = (self.0, o.0);
                // SAFETY: the value proves the instructions.
                #[allow(unused_unsafe)]
                $name(unsafe { $mul })
            }
            #[inline(always)]
            fn mul_add(self, b: Self, c: Self) -> Self {
                let ($a, $b, $c) = (self.0, b.0, c.0);
                // SAFETY: the value proves the instructions.
                #[allow(unused_unsafe)]
                $name(unsafe { $fma })
            }
        }

        impl RealVector for $name {
            #[inline(always)]
            fn abs(self) -> Self {
                let $a = self.0;
                // SAFETY: the value proves the instructions.
                #[allow(unused_unsafe)]
                $name(unsafe { $abs })
            }
            #[inline(always)]
            fn max_nan(self, o: Self) -> Self {
                let ($a, $b) = (self.0, o.0);
                // SAFETY: the value proves the instructions.
                #[allow(unused_unsafe)]
                $name(unsafe { $max })
            }
            #[inline(always)]
            fn pairs(_: $isa, $even_lane: $elem, $odd_lane: $elem) -> Self {
                // SAFETY: the token proves the instructions.
                #[allow(unused_unsafe)]
                $name(unsafe { $pairs })
            }
            #[inline(always)]
            fn dup_even(self) -> Self {
                let $a = self.0;
                // SAFETY: the value proves the instructions.
                #[allow(unused_unsafe)]
                $name(unsafe { $even })
            }
            #[inline(always)]
            fn dup_odd(self) -> Self {
                let $a = self.0;
                // SAFETY: the value proves the instructions.
                #[allow(unused_unsafe)]
                $name(unsafe { $odd })
            }
            #[inline(always)]
            fn swap_pairs(self) -> Self {
                let $a = self.0;
                // SAFETY: the value proves the instructions.
                #[allow(unused_unsafe)]
                $name(unsafe { $swap })
            }
            #[inline(always)]
            fn neg_even(self) -> Self {
                let $a = self.0;
                // SAFETY: the value proves the instructions.
                #[allow(unused_unsafe)]
                $name(unsafe { $neg })
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Isa, Kernel, RealVector, Vector, two};
    use crate::kernel::tiles::bytes::{Xmm, Ymm, Zmm};
    use core::arch::x86_64::*;

    /// AVX2 and FMA.
    #[derive(Clone, Copy, Debug)]
    pub struct Avx2(());

    impl Isa for Avx2 {
        const FMA: bool = true;
        type F32 = F32x8;
        type F64 = F64x4;
        type Bytes = Ymm;
        type Lane = Xmm;
    }

    /// AVX-512 F, BW, DQ and VL: Skylake-X, Zen 4 and later.
    #[derive(Clone, Copy, Debug)]
    pub struct Avx512(());

    impl Isa for Avx512 {
        const FMA: bool = true;
        type F32 = F32x16;
        type F64 = F64x8;
        type Bytes = Zmm;
        type Lane = Xmm;
    }

    /// # Safety
    /// The CPU has AVX2 and FMA.
    #[target_feature(enable = "avx2,fma")]
    pub unsafe fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
        kernel.run(Avx2(()))
    }

    /// # Safety
    /// The CPU has AVX2, FMA and AVX-512 F, BW, DQ, VL.
    #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
    pub unsafe fn run_avx512<K: Kernel>(kernel: K) -> K::Output {
        kernel.run(Avx512(()))
    }

    /// A mask of the first `n` of eight words, `n <= 8`.
    ///
    /// # Safety
    /// The CPU has AVX2.
    #[inline(always)]
    unsafe fn first(n: usize) -> __m256i {
        const WORDS: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
        // SAFETY: eight words from 8 - n on.
        unsafe { _mm256_loadu_si256(WORDS.as_ptr().add(8 - n).cast()) }
    }

    register! {
        F32x8(__m256): 8 x f32, Avx2;
        load(p) _mm256_loadu_ps(p.cast());
        store(p, v) _mm256_storeu_ps(p.cast(), v);
        load_part(p, n) _mm256_maskload_ps(p.cast(), first(n));
        store_part(p, v, n) _mm256_maskstore_ps(p.cast(), first(n), v);
        splat(e) _mm256_set1_ps(e);
        pairs(re, im) _mm256_castpd_ps(_mm256_set1_pd(two(re, im)));
        (a, b, c)
        add _mm256_add_ps(a, b);
        mul _mm256_mul_ps(a, b);
        mul_add _mm256_fmadd_ps(a, b, c);
        abs _mm256_andnot_ps(_mm256_set1_ps(-0.0), a);
        // max returns its second operand where either is NaN.
        max_nan _mm256_blendv_ps(_mm256_max_ps(b, a), b, _mm256_cmp_ps::<_CMP_UNORD_Q>(b, b));
        dup_even _mm256_moveldup_ps(a);
        dup_odd _mm256_movehdup_ps(a);
        swap_pairs _mm256_permute_ps::<0b10_11_00_01>(a);
        neg_even _mm256_xor_ps(a, _mm256_castsi256_ps(_mm256_set1_epi64x(1 << 31)));
    }

    register! {
        F64x4(__m256d): 4 x f64, Avx2;
        load(p) _mm256_loadu_pd(p.cast());
        store(p, v) _mm256_storeu_pd(p.cast(), v);
        load_part(p, n) _mm256_maskload_pd(p.cast(), first(2 * n));
        store_part(p, v, n) _mm256_maskstore_pd(p.cast(), first(2 * n), v);
        splat(e) _mm256_set1_pd(e);
        pairs(re, im) _mm256_setr_pd(re, im, re, im);
        (a, b, c)
        add _mm256_add_pd(a, b);
        mul _mm256_mul_pd(a, b);
        mul_add _mm256_fmadd_pd(a, b, c);
        abs _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
        max_nan _mm256_blendv_pd(_mm256_max_pd(b, a), b, _mm256_cmp_pd::<_CMP_UNORD_Q>(b, b));
        dup_even _mm256_movedup_pd(a);
        dup_odd _mm256_permute_pd::<0b1111>(a);
        swap_pairs _mm256_permute_pd::<0b0101>(a);
        neg_even _mm256_xor_pd(a, _mm256_setr_pd(-0.0, 0.0, -0.0, 0.0));
    }

    register! {
        F32x16(__m512): 16 x f32, Avx512;
        load(p) _mm512_loadu_ps(p.cast());
        store(p, v) _mm512_storeu_ps(p.cast(), v);
        load_part(p, n) _mm512_maskz_loadu_ps(((1u32 << n) - 1) as u16, p.cast());
        store_part(p, v, n) _mm512_mask_storeu_ps(p.cast(), ((1u32 << n) - 1) as u16, v);
        splat(e) _mm512_set1_ps(e);
        pairs(re, im) _mm512_castpd_ps(_mm512_set1_pd(two(re, im)));
        (a, b, c)
        add _mm512_add_ps(a, b);
        mul _mm512_mul_ps(a, b);
        mul_add _mm512_fmadd_ps(a, b, c);
        abs _mm512_abs_ps(a);
        max_nan _mm512_mask_blend_ps(
            _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(b, b), _mm512_max_ps(b, a), b);
        dup_even _mm512_moveldup_ps(a);
        dup_odd _mm512_movehdup_ps(a);
        swap_pairs _mm512_permute_ps::<0b10_11_00_01>(a);
        neg_even _mm512_xor_ps(a, _mm512_castsi512_ps(_mm512_set1_epi64(1 << 31)));
    }

    register! {
        F64x8(__m512d): 8 x f64, Avx512;
        load(p) _mm512_loadu_pd(p.cast());
        store(p, v) _mm512_storeu_pd(p.cast(), v);
        load_part(p, n) _mm512_maskz_loadu_pd(((1u32 << n) - 1) as u8, p.cast());
        store_part(p, v, n) _mm512_mask_storeu_pd(p.cast(), ((1u32 << n) - 1) as u8, v);
        splat(e) _mm512_set1_pd(e);
        pairs(re, im) _mm512_set4_pd(im, re, im, re);
        (a, b, c)
        add _mm512_add_pd(a, b);
        mul _mm512_mul_pd(a, b);
        mul_add _mm512_fmadd_pd(a, b, c);
        abs _mm512_abs_pd(a);
        max_nan _mm512_mask_blend_pd(
            _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(b, b), _mm512_max_pd(b, a), b);
        dup_even _mm512_movedup_pd(a);
        dup_odd _mm512_permute_pd::<0b1111_1111>(a);
        swap_pairs _mm512_permute_pd::<0b0101_0101>(a);
        neg_even _mm512_xor_pd(a, _mm512_castsi512_pd(_mm512_set4_epi64(0, i64::MIN, 0, i64::MIN)));
    }
}

#[cfg(target_arch = "aarch64")]
mod neon {
    use super::{Isa, RealVector, Vector, two};
    use crate::kernel::tiles::bytes::Neon16;
    use core::arch::aarch64::*;

    /// NEON, which every aarch64 CPU has.
    #[derive(Clone, Copy, Debug)]
    pub struct Neon(pub(super) ());

    impl Isa for Neon {
        const FMA: bool = true;
        type F32 = F32x4;
        type F64 = F64x2;
        type Bytes = Neon16;
        type Lane = Neon16;
    }

    /// A register of `n` elements and zeros, loaded from a buffer.
    ///
    /// # Safety
    /// `p` is valid for reading `n` elements, at most four; `load` reads 16 bytes.
    #[inline(always)]
    unsafe fn some<R: super::Real, V>(p: *const R, n: usize, load: impl Fn(*const R) -> V) -> V {
        let mut part = [R::ZERO; 4];
        for (i, v) in part.iter_mut().enumerate().take(n) {
            // SAFETY: the caller's element.
            *v = unsafe { p.wrapping_add(i).read_unaligned() };
        }
        load(part.as_ptr())
    }

    /// Writes the first `n` elements of what `store` puts into a buffer.
    ///
    /// # Safety
    /// `p` is valid for writing `n` elements, at most four; `store` writes 16 bytes.
    #[inline(always)]
    unsafe fn put<R: super::Real>(p: *mut R, n: usize, store: impl Fn(*mut R)) {
        let mut part = [R::ZERO; 4];
        store(part.as_mut_ptr());
        for (i, v) in part.into_iter().enumerate().take(n) {
            // SAFETY: the caller's element.
            unsafe { p.wrapping_add(i).write_unaligned(v) };
        }
    }

    register! {
        F32x4(float32x4_t): 4 x f32, Neon;
        // Byte loads, since a vld1q of floats may demand the alignment of a float.
        load(p) vreinterpretq_f32_u8(vld1q_u8(p));
        store(p, v) vst1q_u8(p, vreinterpretq_u8_f32(v));
        load_part(p, n) some(p.cast::<f32>(), n, |p| vld1q_f32(p));
        store_part(p, v, n) put(p.cast::<f32>(), n, |p| vst1q_f32(p, v));
        splat(e) vdupq_n_f32(e);
        pairs(re, im) vreinterpretq_f32_u64(vdupq_n_u64(two(re, im).to_bits()));
        (a, b, c)
        add vaddq_f32(a, b);
        mul vmulq_f32(a, b);
        mul_add vfmaq_f32(c, a, b);
        abs vabsq_f32(a);
        max_nan vmaxq_f32(a, b);
        dup_even vtrn1q_f32(a, a);
        dup_odd vtrn2q_f32(a, a);
        swap_pairs vrev64q_f32(a);
        neg_even vreinterpretq_f32_u64(veorq_u64(vreinterpretq_u64_f32(a), vdupq_n_u64(1 << 31)));
    }

    register! {
        F64x2(float64x2_t): 2 x f64, Neon;
        load(p) vreinterpretq_f64_u8(vld1q_u8(p));
        store(p, v) vst1q_u8(p, vreinterpretq_u8_f64(v));
        load_part(p, n) some(p.cast::<f64>(), n, |p| vld1q_f64(p));
        store_part(p, v, n) put(p.cast::<f64>(), n, |p| vst1q_f64(p, v));
        splat(e) vdupq_n_f64(e);
        pairs(re, im) vcombine_f64(vdup_n_f64(re), vdup_n_f64(im));
        (a, b, c)
        add vaddq_f64(a, b);
        mul vmulq_f64(a, b);
        mul_add vfmaq_f64(c, a, b);
        abs vabsq_f64(a);
        max_nan vmaxq_f64(a, b);
        dup_even vtrn1q_f64(a, a);
        dup_odd vtrn2q_f64(a, a);
        swap_pairs vextq_f64::<1>(a, a);
        neg_even vtrn1q_f64(vnegq_f64(a), vextq_f64::<1>(a, a));
    }
}
