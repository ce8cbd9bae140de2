//! Level-1 runs for the BLAS behind this crate.
//!
//! What goes to it: runs with one stride, of [`SHORTEST`] elements or more, of operands that lie
//! apart and are aligned, and blocks of reductions; where it keeps our rules (a scal by 0 is not
//! given to it); and where its kernels are of this CPU's class, which an OpenBLAS older than the CPU
//! may not know. `NDBLAS_BLAS=0` turns it off. Runs are handed over in pieces of [`PIECE`] elements,
//! for which OpenBLAS does not wake its threads.

#[cfg(not(feature = "blas"))]
pub(crate) use absent::*;
#[cfg(feature = "blas")]
pub(crate) use provided::*;

/// Below this, the call costs more than it gives.
#[cfg(feature = "blas")]
const SHORTEST: usize = 256;

/// OpenBLAS computes up to 10,000 elements on the calling thread.
#[cfg(feature = "blas")]
const PIECE: usize = 8192;

#[cfg(feature = "blas")]
mod provided {
    use super::{PIECE, SHORTEST};
    use crate::scalar::{Scalar, Word};
    use num_complex::Complex;
    use std::sync::OnceLock;

    // Links OpenBLAS; nothing of it is named.
    #[cfg(any(feature = "openblas", feature = "openblas-source"))]
    use openblas_src as _;

    /// Name, version and core of the BLAS.
    pub(crate) fn description() -> String {
        let off = if serves() { "" } else { " (not used)" };
        format!("{}{off}", provider::description())
    }

    /// Whether runs go to the BLAS at all.
    fn serves() -> bool {
        static SERVES: OnceLock<bool> = OnceLock::new();
        *SERVES.get_or_init(|| {
            std::env::var_os("NDBLAS_BLAS").is_none_or(|v| v != "0") && provider::fits_this_cpu()
        })
    }

    #[cfg(any(feature = "openblas", feature = "openblas-source"))]
    mod provider {
        use crate::isa::Level;
        use core::ffi::{CStr, c_char};

        unsafe extern "C" {
            safe fn openblas_get_config() -> *const c_char;
            safe fn openblas_get_corename() -> *const c_char;
        }

        fn text(p: *const c_char) -> String {
            if p.is_null() {
                return String::new();
            }
            // SAFETY: OpenBLAS returns static text.
            unsafe { CStr::from_ptr(p) }.to_string_lossy().into_owned()
        }

        /// "OpenBLAS 0.3.21 Zen"; the configuration starts with the first two.
        pub fn description() -> String {
            let config = text(openblas_get_config());
            let name: Vec<&str> = config.split_whitespace().take(2).collect();
            format!("{} {}", name.join(" "), text(openblas_get_corename()))
        }

        /// Whether the core that OpenBLAS took this CPU for has the instruction set we found.
        pub fn fits_this_cpu() -> bool {
            let core = text(openblas_get_corename()).to_ascii_lowercase();
            let class = match core.as_str() {
                "skylakex" | "cooperlake" | "sapphirerapids" => Level::Avx512,
                "haswell" | "zen" | "excavator" => Level::Avx2,
                _ if cfg!(target_arch = "aarch64") => Level::Neon,
                _ => Level::Portable,
            };
            class == Level::detect()
        }
    }

    /// A BLAS that the final program brings: taken at its word.
    #[cfg(not(any(feature = "openblas", feature = "openblas-source")))]
    mod provider {
        pub fn description() -> String {
            "CBLAS".into()
        }
        pub fn fits_this_cpu() -> bool {
            true
        }
    }

    /// One operand of a run: what `cblas` wants for it.
    struct Run<T> {
        /// The element at the lowest address.
        lowest: *mut T,
        inc: i32,
    }

    /// Hands a run of N operands over in pieces, if they are such as the BLAS may have. For a
    /// negative increment, the pointer is to the lowest address, as BLAS has it.
    ///
    /// # Safety
    /// `n` elements of T are valid at each pointer and step.
    #[inline]
    unsafe fn in_pieces<T, const N: usize>(
        n: usize,
        p: [*mut u8; N],
        step: [isize; N],
        call: impl Fn(i32, [Run<T>; N]),
    ) -> bool {
        let item = size_of::<T>() as isize;
        if n < SHORTEST || !serves() {
            return false;
        }
        // Slices may share nothing, and BLAS counts increments in elements.
        let reach = |k: usize| {
            let (a, b) = (p[k].addr(), p[k].addr().wrapping_add_signed((n as isize - 1) * step[k]));
            (a.min(b), a.max(b) + item as usize)
        };
        for k in 0..N {
            let whole =
                step[k] != 0 && step[k] % item == 0 && i32::try_from(step[k] / item).is_ok();
            let apart = (k + 1..N).all(|j| reach(k).1 <= reach(j).0 || reach(j).1 <= reach(k).0);
            if !whole || !apart || !p[k].addr().is_multiple_of(align_of::<T>()) {
                return false;
            }
        }
        let mut done = 0;
        while done < n {
            let piece = PIECE.min(n - done);
            let runs = core::array::from_fn(|k| {
                let first = if step[k] < 0 { done + piece - 1 } else { done };
                let lowest = p[k].wrapping_offset(first as isize * step[k]).cast::<T>();
                Run { lowest, inc: (step[k] / item) as i32 }
            });
            call(piece as i32, runs);
            done += piece;
        }
        true
    }

    impl<T> Run<T> {
        /// # Safety
        /// The run is of `n` elements that nobody else reads or writes meanwhile.
        unsafe fn output<'a>(&self, n: i32) -> &'a mut [T] {
            let len = (n as usize - 1) * self.inc.unsigned_abs() as usize + 1;
            // SAFETY: as the caller says, from the first to the last element; between them lies
            // memory of the same array.
            unsafe { core::slice::from_raw_parts_mut(self.lowest, len) }
        }

        /// # Safety
        /// The run is of `n` elements that nobody writes meanwhile.
        unsafe fn input<'a>(&self, n: i32) -> &'a [T] {
            let len = (n as usize - 1) * self.inc.unsigned_abs() as usize + 1;
            // SAFETY: as above.
            unsafe { core::slice::from_raw_parts(self.lowest, len) }
        }
    }

    /// What the rest of the crate sees of a routine: whether the BLAS has done the run.
    ///
    /// # Safety
    /// As [`Rows::row`](crate::kernel::Rows::row).
    pub(crate) unsafe fn scal<T: Scalar>(
        n: usize,
        alpha: T,
        p: [*mut u8; 1],
        step: [isize; 1],
    ) -> bool {
        // 0*NaN is not NaN in every BLAS, nor NaN*x, nor what a part of 0 leaves out.
        let (re, im) = alpha.parts();
        let plain = |part: f64| part != 0.0 && !part.is_nan();
        if !plain(re) || (size_of::<T>() > size_of::<T::Real>() && !plain(im)) {
            return false;
        }
        // SAFETY: the caller's run, of an output alone.
        unsafe { in_pieces(n, p, step, |n, [y]| T::scal(n, alpha, y.output(n), y.inc.abs())) }
    }

    /// # Safety
    /// As [`scal`].
    pub(crate) unsafe fn axpy<T: Scalar>(
        n: usize,
        alpha: T,
        p: [*mut u8; 2],
        step: [isize; 2],
    ) -> bool {
        // SAFETY: the caller's run, of operands found to lie apart.
        unsafe {
            in_pieces(n, p, step, |n, [y, x]| {
                T::axpy(n, alpha, x.input(n), x.inc, y.output(n), y.inc)
            })
        }
    }

    /// # Safety
    /// As [`scal`].
    pub(crate) unsafe fn axpby<T: Scalar>(
        n: usize,
        alpha: T,
        beta: T,
        p: [*mut u8; 2],
        step: [isize; 2],
    ) -> bool {
        // SAFETY: the caller's run, of operands found to lie apart.
        T::HAS_AXPBY
            && unsafe {
                in_pieces(n, p, step, |n, [y, x]| {
                    T::axpby(n, alpha, x.input(n), x.inc, beta, y.output(n), y.inc);
                })
            }
    }

    /// # Safety
    /// As [`scal`].
    pub(crate) unsafe fn rot<T: Scalar>(
        n: usize,
        c: T,
        s: T,
        p: [*mut u8; 2],
        step: [isize; 2],
    ) -> bool {
        // SAFETY: the caller's run, of operands found to lie apart.
        T::HAS_ROT
            && unsafe {
                in_pieces(n, p, step, |n, [x, y]| {
                    T::rot(n, x.output(n), x.inc, y.output(n), y.inc, c, s);
                })
            }
    }

    /// # Safety
    /// As [`scal`].
    pub(crate) unsafe fn copy<W: Word>(n: usize, p: [*mut u8; 2], step: [isize; 2]) -> bool {
        // SAFETY: the caller's run, of operands found to lie apart.
        W::HAS_MOVES
            && unsafe {
                in_pieces(n, p, step, |n, [y, x]| W::copy(n, x.input(n), x.inc, y.output(n), y.inc))
            }
    }

    /// # Safety
    /// As [`scal`].
    pub(crate) unsafe fn swap<W: Word>(n: usize, p: [*mut u8; 2], step: [isize; 2]) -> bool {
        // SAFETY: the caller's run, of operands found to lie apart.
        W::HAS_MOVES
            && unsafe {
                in_pieces(n, p, step, |n, [x, y]| {
                    W::swap(n, x.output(n), x.inc, y.output(n), y.inc)
                })
            }
    }

    /// `sum x*y` or `sum conj(x)*y` of a block, if the BLAS may have it.
    ///
    /// # Safety
    /// `n` dense aligned elements are valid at each pointer.
    #[inline]
    pub(crate) unsafe fn dot<T: Scalar>(
        n: usize,
        conj: bool,
        p: [*const u8; 2],
    ) -> Option<(f64, f64)> {
        if n < SHORTEST || !serves() {
            return None;
        }
        // SAFETY: as the caller says.
        unsafe {
            let [x, y] = p.map(|p| core::slice::from_raw_parts(p.cast::<T>(), n));
            Some(T::dot(n as i32, conj, x, y))
        }
    }

    /// The routines of an element type, by the `cblas` crate, and where it lacks one, declared here.
    ///
    /// # Safety
    /// Of each: the slices reach from the first element of a run to its last.
    pub trait Routines: Copy {
        const HAS_AXPBY: bool = cfg!(any(feature = "openblas", feature = "openblas-source"));
        const HAS_ROT: bool = false;
        unsafe fn scal(n: i32, alpha: Self, x: &mut [Self], incx: i32);
        unsafe fn axpy(n: i32, alpha: Self, x: &[Self], incx: i32, y: &mut [Self], incy: i32);
        unsafe fn axpby(
            n: i32,
            alpha: Self,
            x: &[Self],
            incx: i32,
            beta: Self,
            y: &mut [Self],
            incy: i32,
        );
        unsafe fn rot(
            _n: i32,
            _x: &mut [Self],
            _incx: i32,
            _y: &mut [Self],
            _incy: i32,
            _c: Self,
            _s: Self,
        ) {
            unreachable!("HAS_ROT")
        }
        unsafe fn dot(n: i32, conj: bool, x: &[Self], y: &[Self]) -> (f64, f64);
    }

    /// `cblas_?axpby`, an extension of OpenBLAS.
    #[cfg(any(feature = "openblas", feature = "openblas-source"))]
    mod extension {
        use core::ffi::c_void;
        unsafe extern "C" {
            pub fn cblas_saxpby(
                n: i32,
                a: f32,
                x: *const f32,
                ix: i32,
                b: f32,
                y: *mut f32,
                iy: i32,
            );
            pub fn cblas_daxpby(
                n: i32,
                a: f64,
                x: *const f64,
                ix: i32,
                b: f64,
                y: *mut f64,
                iy: i32,
            );
            pub fn cblas_caxpby(
                n: i32,
                a: *const c_void,
                x: *const c_void,
                ix: i32,
                b: *const c_void,
                y: *mut c_void,
                iy: i32,
            );
            pub fn cblas_zaxpby(
                n: i32,
                a: *const c_void,
                x: *const c_void,
                ix: i32,
                b: *const c_void,
                y: *mut c_void,
                iy: i32,
            );
        }
    }

    macro_rules! routines {
        ($t:ty: $scal:ident, $axpy:ident, $axpby:ident by $factor:expr;
         dot($n:ident, $conj:ident, $x:ident, $y:ident) $dot:expr; $($rot:item)*) => {
            impl Routines for $t {
                unsafe fn scal(n: i32, alpha: $t, x: &mut [$t], incx: i32) {
                    // SAFETY: as the trait says.
                    unsafe { cblas::$scal(n, alpha, x, incx) }
                }
                unsafe fn axpy(n: i32, alpha: $t, x: &[$t], incx: i32, y: &mut [$t], incy: i32) {
                    // SAFETY: as the trait says.
                    unsafe { cblas::$axpy(n, alpha, x, incx, y, incy) }
                }
                #[cfg(any(feature = "openblas", feature = "openblas-source"))]
                unsafe fn axpby(
                    n: i32, alpha: $t, x: &[$t], incx: i32, beta: $t, y: &mut [$t], incy: i32,
                ) {
                    // SAFETY: as the trait says.
                    unsafe {
                        extension::$axpby(
                            n, $factor(&alpha), x.as_ptr().cast(), incx, $factor(&beta),
                            y.as_mut_ptr().cast(), incy,
                        )
                    }
                }
                #[cfg(not(any(feature = "openblas", feature = "openblas-source")))]
                unsafe fn axpby(_: i32, _: $t, _: &[$t], _: i32, _: $t, _: &mut [$t], _: i32) {
                    unreachable!("HAS_AXPBY")
                }
                unsafe fn dot($n: i32, $conj: bool, $x: &[$t], $y: &[$t]) -> (f64, f64) {
                    // SAFETY: as the trait says.
                    unsafe { $dot }
                }
                $($rot)*
            }
        };
    }

    routines! { f32: sscal, saxpy, cblas_saxpby by |f: &f32| *f;
        dot(n, _conj, x, y) (cblas::sdot(n, x, 1, y, 1).into(), 0.0);
        const HAS_ROT: bool = true;
        unsafe fn rot(n: i32, x: &mut [f32], incx: i32, y: &mut [f32], incy: i32, c: f32, s: f32) {
            // SAFETY: as the trait says.
            unsafe { cblas::srot(n, x, incx, y, incy, c, s) }
        }
    }
    routines! { f64: dscal, daxpy, cblas_daxpby by |f: &f64| *f;
        dot(n, _conj, x, y) (cblas::ddot(n, x, 1, y, 1), 0.0);
        const HAS_ROT: bool = true;
        unsafe fn rot(n: i32, x: &mut [f64], incx: i32, y: &mut [f64], incy: i32, c: f64, s: f64) {
            // SAFETY: as the trait says.
            unsafe { cblas::drot(n, x, incx, y, incy, c, s) }
        }
    }
    routines! { Complex<f32>: cscal, caxpy, cblas_caxpby by |f: &Self| core::ptr::from_ref(f).cast();
        dot(n, conj, x, y) {
            let mut sum = [Complex::default()];
            if conj {
                cblas::cdotc_sub(n, x, 1, y, 1, &mut sum);
            } else {
                cblas::cdotu_sub(n, x, 1, y, 1, &mut sum);
            }
            (sum[0].re.into(), sum[0].im.into())
        };
    }
    routines! { Complex<f64>: zscal, zaxpy, cblas_zaxpby by |f: &Self| core::ptr::from_ref(f).cast();
        dot(n, conj, x, y) {
            let mut sum = [Complex::default()];
            if conj {
                cblas::zdotc_sub(n, x, 1, y, 1, &mut sum);
            } else {
                cblas::zdotu_sub(n, x, 1, y, 1, &mut sum);
            }
            (sum[0].re, sum[0].im)
        };
    }

    /// The routines that move words of 4, 8 and 16 bytes, for which BLAS has its four types.
    pub trait Moves: Copy {
        const HAS_MOVES: bool = false;
        unsafe fn copy(_n: i32, _x: &[Self], _incx: i32, _y: &mut [Self], _incy: i32) {
            unreachable!("HAS_MOVES")
        }
        unsafe fn swap(_n: i32, _x: &mut [Self], _incx: i32, _y: &mut [Self], _incy: i32) {
            unreachable!("HAS_MOVES")
        }
    }
    impl Moves for u8 {}
    impl Moves for u16 {}

    macro_rules! moves {
        ($($word:ty as $t:ty: $copy:ident, $swap:ident;)*) => {$(
            impl Moves for $word {
                const HAS_MOVES: bool = true;
                unsafe fn copy(n: i32, x: &[$word], incx: i32, y: &mut [$word], incy: i32) {
                    const { assert!(size_of::<$word>() == size_of::<$t>()) };
                    const { assert!(align_of::<$word>() == align_of::<$t>()) };
                    let (from, len) = (x.as_ptr().cast::<$t>(), x.len());
                    let (to, room) = (y.as_mut_ptr().cast::<$t>(), y.len());
                    // SAFETY: as the trait says; any bytes make either type, of the same size and
                    // alignment, and the BLAS moves them as they are.
                    unsafe {
                        let x = core::slice::from_raw_parts(from, len);
                        cblas::$copy(n, x, incx, core::slice::from_raw_parts_mut(to, room), incy)
                    }
                }
                unsafe fn swap(n: i32, x: &mut [$word], incx: i32, y: &mut [$word], incy: i32) {
                    let (a, len) = (x.as_mut_ptr().cast::<$t>(), x.len());
                    let (b, room) = (y.as_mut_ptr().cast::<$t>(), y.len());
                    // SAFETY: as above.
                    unsafe {
                        let x = core::slice::from_raw_parts_mut(a, len);
                        cblas::$swap(n, x, incx, core::slice::from_raw_parts_mut(b, room), incy)
                    }
                }
            }
        )*};
    }
    moves! {
        u32 as f32: scopy, sswap;
        u64 as f64: dcopy, dswap;
        [u32; 2] as Complex<f32>: ccopy, cswap;
        [u64; 2] as Complex<f64>: zcopy, zswap;
    }
}

/// The same names where there is no BLAS: nothing is ever done by it.
#[cfg(not(feature = "blas"))]
mod absent {
    use crate::scalar::{Scalar, Word};

    pub(crate) fn description() -> String {
        "none".into()
    }

    pub trait Routines {}
    impl<T> Routines for T {}
    pub trait Moves {}
    impl<T> Moves for T {}

    macro_rules! never {
        ($($name:ident<$T:ident: $bound:ident>($($arg:ty),*) -> $result:ty { $value:expr })*) => {$(
            /// # Safety
            /// None is needed.
            #[inline(always)]
            #[allow(clippy::extra_unused_type_parameters)] // as where there is a BLAS
            pub(crate) unsafe fn $name<$T: $bound>($(_: $arg),*) -> $result {
                $value
            }
        )*};
    }
    never! {
        scal<T: Scalar>(usize, T, [*mut u8; 1], [isize; 1]) -> bool { false }
        axpy<T: Scalar>(usize, T, [*mut u8; 2], [isize; 2]) -> bool { false }
        axpby<T: Scalar>(usize, T, T, [*mut u8; 2], [isize; 2]) -> bool { false }
        rot<T: Scalar>(usize, T, T, [*mut u8; 2], [isize; 2]) -> bool { false }
    }
    never! {
        copy<W: Word>(usize, [*mut u8; 2], [isize; 2]) -> bool { false }
        swap<W: Word>(usize, [*mut u8; 2], [isize; 2]) -> bool { false }
        dot<T: Scalar>(usize, bool, [*const u8; 2]) -> Option<(f64, f64)> { None }
    }
}
