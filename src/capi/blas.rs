//! The BLAS names: vectors with increments in elements.
//!
//! BLAS's argument lists, `ptrdiff_t` for n and the increments, a status for the result. For a
//! negative increment the pointer is to the lowest address, as in BLAS, and the vector runs from its
//! far end. n <= 0 does nothing.

use super::guard::guard;
use super::types::Slot;
use crate::error::Error;
use crate::nest::Walk;
use crate::nest::vectors::Vector;
use core::ffi::c_void;
use num_complex::Complex;

/// A complex factor; NULL is an error.
///
/// # Safety
/// `p` is NULL or points to a T of any alignment.
unsafe fn factor<T: Copy>(arg: &'static str, p: *const c_void) -> Result<T, Error> {
    if p.is_null() {
        return Err(Error::Null { arg });
    }
    // SAFETY: as the caller says.
    Ok(unsafe { p.cast::<T>().read_unaligned() })
}

/// y <- y + alpha*x
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_saxpy(
    n: isize,
    alpha: f32,
    x: *const f32,
    incx: isize,
    y: *mut f32,
    incy: isize,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<f32, 2, 1>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("y", y, incy), Vector::new("x", x, incx)]) }?;
        walk.axpby(alpha, 1.0);
        Ok(())
    })
}

/// y <- y + alpha*x
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_daxpy(
    n: isize,
    alpha: f64,
    x: *const f64,
    incx: isize,
    y: *mut f64,
    incy: isize,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<f64, 2, 1>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("y", y, incy), Vector::new("x", x, incx)]) }?;
        walk.axpby(alpha, 1.0);
        Ok(())
    })
}

/// y <- y + alpha*x
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_caxpy(
    n: isize,
    alpha: *const c_void,
    x: *const c_void,
    incx: isize,
    y: *mut c_void,
    incy: isize,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<Complex<f32>, 2, 1>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("y", y, incy), Vector::new("x", x, incx)]) }?;
        // SAFETY: the caller's factor.
        let alpha = unsafe { factor::<Complex<f32>>("alpha", alpha) }?;
        walk.axpby(alpha, Complex::new(1.0, 0.0));
        Ok(())
    })
}

/// y <- y + alpha*x
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_zaxpy(
    n: isize,
    alpha: *const c_void,
    x: *const c_void,
    incx: isize,
    y: *mut c_void,
    incy: isize,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<Complex<f64>, 2, 1>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("y", y, incy), Vector::new("x", x, incx)]) }?;
        // SAFETY: the caller's factor.
        let alpha = unsafe { factor::<Complex<f64>>("alpha", alpha) }?;
        walk.axpby(alpha, Complex::new(1.0, 0.0));
        Ok(())
    })
}

/// y <- beta*y + alpha*x
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_saxpby(
    n: isize,
    alpha: f32,
    x: *const f32,
    incx: isize,
    beta: f32,
    y: *mut f32,
    incy: isize,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<f32, 2, 1>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("y", y, incy), Vector::new("x", x, incx)]) }?;
        walk.axpby(alpha, beta);
        Ok(())
    })
}

/// y <- beta*y + alpha*x
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_daxpby(
    n: isize,
    alpha: f64,
    x: *const f64,
    incx: isize,
    beta: f64,
    y: *mut f64,
    incy: isize,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<f64, 2, 1>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("y", y, incy), Vector::new("x", x, incx)]) }?;
        walk.axpby(alpha, beta);
        Ok(())
    })
}

/// y <- beta*y + alpha*x
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_caxpby(
    n: isize,
    alpha: *const c_void,
    x: *const c_void,
    incx: isize,
    beta: *const c_void,
    y: *mut c_void,
    incy: isize,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<Complex<f32>, 2, 1>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("y", y, incy), Vector::new("x", x, incx)]) }?;
        // SAFETY: the caller's factor.
        let alpha = unsafe { factor::<Complex<f32>>("alpha", alpha) }?;
        // SAFETY: the caller's factor.
        let beta = unsafe { factor::<Complex<f32>>("beta", beta) }?;
        walk.axpby(alpha, beta);
        Ok(())
    })
}

/// y <- beta*y + alpha*x
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_zaxpby(
    n: isize,
    alpha: *const c_void,
    x: *const c_void,
    incx: isize,
    beta: *const c_void,
    y: *mut c_void,
    incy: isize,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<Complex<f64>, 2, 1>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("y", y, incy), Vector::new("x", x, incx)]) }?;
        // SAFETY: the caller's factor.
        let alpha = unsafe { factor::<Complex<f64>>("alpha", alpha) }?;
        // SAFETY: the caller's factor.
        let beta = unsafe { factor::<Complex<f64>>("beta", beta) }?;
        walk.axpby(alpha, beta);
        Ok(())
    })
}

/// x <- alpha*x
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_sscal(n: isize, alpha: f32, x: *mut f32, incx: isize) -> i32 {
    guard(|| {
        let mut walk = Walk::<f32, 1, 1>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx)]) }?;
        walk.scal(alpha);
        Ok(())
    })
}

/// x <- alpha*x
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_dscal(n: isize, alpha: f64, x: *mut f64, incx: isize) -> i32 {
    guard(|| {
        let mut walk = Walk::<f64, 1, 1>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx)]) }?;
        walk.scal(alpha);
        Ok(())
    })
}

/// x <- alpha*x
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_cscal(
    n: isize,
    alpha: *const c_void,
    x: *mut c_void,
    incx: isize,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<Complex<f32>, 1, 1>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx)]) }?;
        // SAFETY: the caller's factor.
        let alpha = unsafe { factor::<Complex<f32>>("alpha", alpha) }?;
        walk.scal(alpha);
        Ok(())
    })
}

/// x <- alpha*x
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_zscal(
    n: isize,
    alpha: *const c_void,
    x: *mut c_void,
    incx: isize,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<Complex<f64>, 1, 1>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx)]) }?;
        // SAFETY: the caller's factor.
        let alpha = unsafe { factor::<Complex<f64>>("alpha", alpha) }?;
        walk.scal(alpha);
        Ok(())
    })
}

/// x <- alpha*x with a real alpha
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_csscal(n: isize, alpha: f32, x: *mut c_void, incx: isize) -> i32 {
    guard(|| {
        let mut walk = Walk::<Complex<f32>, 1, 1>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx)]) }?;
        walk.scal_real(alpha);
        Ok(())
    })
}

/// x <- alpha*x with a real alpha
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_zdscal(n: isize, alpha: f64, x: *mut c_void, incx: isize) -> i32 {
    guard(|| {
        let mut walk = Walk::<Complex<f64>, 1, 1>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx)]) }?;
        walk.scal_real(alpha);
        Ok(())
    })
}

/// y <- x
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_scopy(
    n: isize,
    x: *const f32,
    incx: isize,
    y: *mut f32,
    incy: isize,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<f32, 2, 1>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("y", y, incy), Vector::new("x", x, incx)]) }?;
        walk.copy();
        Ok(())
    })
}

/// y <- x
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_dcopy(
    n: isize,
    x: *const f64,
    incx: isize,
    y: *mut f64,
    incy: isize,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<f64, 2, 1>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("y", y, incy), Vector::new("x", x, incx)]) }?;
        walk.copy();
        Ok(())
    })
}

/// y <- x
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_ccopy(
    n: isize,
    x: *const c_void,
    incx: isize,
    y: *mut c_void,
    incy: isize,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<Complex<f32>, 2, 1>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("y", y, incy), Vector::new("x", x, incx)]) }?;
        walk.copy();
        Ok(())
    })
}

/// y <- x
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_zcopy(
    n: isize,
    x: *const c_void,
    incx: isize,
    y: *mut c_void,
    incy: isize,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<Complex<f64>, 2, 1>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("y", y, incy), Vector::new("x", x, incx)]) }?;
        walk.copy();
        Ok(())
    })
}

/// x <-> y
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_sswap(
    n: isize,
    x: *mut f32,
    incx: isize,
    y: *mut f32,
    incy: isize,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<f32, 2, 2>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx), Vector::new("y", y, incy)]) }?;
        walk.swap();
        Ok(())
    })
}

/// x <-> y
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_dswap(
    n: isize,
    x: *mut f64,
    incx: isize,
    y: *mut f64,
    incy: isize,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<f64, 2, 2>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx), Vector::new("y", y, incy)]) }?;
        walk.swap();
        Ok(())
    })
}

/// x <-> y
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_cswap(
    n: isize,
    x: *mut c_void,
    incx: isize,
    y: *mut c_void,
    incy: isize,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<Complex<f32>, 2, 2>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx), Vector::new("y", y, incy)]) }?;
        walk.swap();
        Ok(())
    })
}

/// x <-> y
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_zswap(
    n: isize,
    x: *mut c_void,
    incx: isize,
    y: *mut c_void,
    incy: isize,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<Complex<f64>, 2, 2>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx), Vector::new("y", y, incy)]) }?;
        walk.swap();
        Ok(())
    })
}

/// *result <- sum x*y
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_sdot(
    n: isize,
    x: *const f32,
    incx: isize,
    y: *const f32,
    incy: isize,
    result: *mut f32,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<f32, 2, 0>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx), Vector::new("y", y, incy)]) }?;
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        out.set(walk.dot(false).0 as f32);
        Ok(())
    })
}

/// *result <- sum x*y
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_ddot(
    n: isize,
    x: *const f64,
    incx: isize,
    y: *const f64,
    incy: isize,
    result: *mut f64,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<f64, 2, 0>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx), Vector::new("y", y, incy)]) }?;
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        out.set(walk.dot(false).0);
        Ok(())
    })
}

/// *result <- sum x*y, multiplied and summed in double precision
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_dsdot(
    n: isize,
    x: *const f32,
    incx: isize,
    y: *const f32,
    incy: isize,
    result: *mut f64,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<f32, 2, 0>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx), Vector::new("y", y, incy)]) }?;
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        out.set(walk.wide_dot());
        Ok(())
    })
}

/// *result <- alpha + sum x*y, multiplied and summed in double precision, then rounded
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_sdsdot(
    n: isize,
    alpha: f32,
    x: *const f32,
    incx: isize,
    y: *const f32,
    incy: isize,
    result: *mut f32,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<f32, 2, 0>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx), Vector::new("y", y, incy)]) }?;
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        out.set((f64::from(alpha) + walk.wide_dot()) as f32);
        Ok(())
    })
}

/// *result <- sum x*y; result is a complex number
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_cdotu(
    n: isize,
    x: *const c_void,
    incx: isize,
    y: *const c_void,
    incy: isize,
    result: *mut c_void,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<Complex<f32>, 2, 0>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx), Vector::new("y", y, incy)]) }?;
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result.cast::<[f32; 2]>()) }?;
        let (re, im) = walk.dot(false);
        out.set([re as f32, im as f32]);
        Ok(())
    })
}

/// *result <- sum conj(x)*y; result is a complex number
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_cdotc(
    n: isize,
    x: *const c_void,
    incx: isize,
    y: *const c_void,
    incy: isize,
    result: *mut c_void,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<Complex<f32>, 2, 0>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx), Vector::new("y", y, incy)]) }?;
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result.cast::<[f32; 2]>()) }?;
        let (re, im) = walk.dot(true);
        out.set([re as f32, im as f32]);
        Ok(())
    })
}

/// *result <- sum x*y; result is a complex number
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_zdotu(
    n: isize,
    x: *const c_void,
    incx: isize,
    y: *const c_void,
    incy: isize,
    result: *mut c_void,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<Complex<f64>, 2, 0>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx), Vector::new("y", y, incy)]) }?;
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result.cast::<[f64; 2]>()) }?;
        let (re, im) = walk.dot(false);
        out.set([re, im]);
        Ok(())
    })
}

/// *result <- sum conj(x)*y; result is a complex number
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_zdotc(
    n: isize,
    x: *const c_void,
    incx: isize,
    y: *const c_void,
    incy: isize,
    result: *mut c_void,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<Complex<f64>, 2, 0>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx), Vector::new("y", y, incy)]) }?;
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result.cast::<[f64; 2]>()) }?;
        let (re, im) = walk.dot(true);
        out.set([re, im]);
        Ok(())
    })
}

/// *result <- sqrt(sum |x|^2)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_snrm2(
    n: isize,
    x: *const f32,
    incx: isize,
    result: *mut f32,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<f32, 1, 0>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx)]) }?;
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        out.set(walk.nrm2() as f32);
        Ok(())
    })
}

/// *result <- sqrt(sum |x|^2)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_dnrm2(
    n: isize,
    x: *const f64,
    incx: isize,
    result: *mut f64,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<f64, 1, 0>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx)]) }?;
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        out.set(walk.nrm2());
        Ok(())
    })
}

/// *result <- sqrt(sum |x|^2)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_scnrm2(
    n: isize,
    x: *const c_void,
    incx: isize,
    result: *mut f32,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<Complex<f32>, 1, 0>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx)]) }?;
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        out.set(walk.nrm2() as f32);
        Ok(())
    })
}

/// *result <- sqrt(sum |x|^2)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_dznrm2(
    n: isize,
    x: *const c_void,
    incx: isize,
    result: *mut f64,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<Complex<f64>, 1, 0>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx)]) }?;
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        out.set(walk.nrm2());
        Ok(())
    })
}

/// *result <- sum |re x| + |im x|
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_sasum(
    n: isize,
    x: *const f32,
    incx: isize,
    result: *mut f32,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<f32, 1, 0>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx)]) }?;
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        out.set(walk.asum() as f32);
        Ok(())
    })
}

/// *result <- sum |re x| + |im x|
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_dasum(
    n: isize,
    x: *const f64,
    incx: isize,
    result: *mut f64,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<f64, 1, 0>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx)]) }?;
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        out.set(walk.asum());
        Ok(())
    })
}

/// *result <- sum |re x| + |im x|
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_scasum(
    n: isize,
    x: *const c_void,
    incx: isize,
    result: *mut f32,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<Complex<f32>, 1, 0>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx)]) }?;
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        out.set(walk.asum() as f32);
        Ok(())
    })
}

/// *result <- sum |re x| + |im x|
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_dzasum(
    n: isize,
    x: *const c_void,
    incx: isize,
    result: *mut f64,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<Complex<f64>, 1, 0>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx)]) }?;
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        out.set(walk.asum());
        Ok(())
    })
}

/// *result <- the index of the first NaN or else of the first greatest |re| + |im|, from 0; -1 if n <= 0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_isamax(
    n: isize,
    x: *const f32,
    incx: isize,
    result: *mut isize,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<f32, 2, 0>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vector_with_position(n, Vector::new("x", x, incx)) }?;
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        out.set(walk.iamax().map_or(-1, |i| i as isize));
        Ok(())
    })
}

/// *result <- the index of the first NaN or else of the first greatest |re| + |im|, from 0; -1 if n <= 0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_idamax(
    n: isize,
    x: *const f64,
    incx: isize,
    result: *mut isize,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<f64, 2, 0>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vector_with_position(n, Vector::new("x", x, incx)) }?;
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        out.set(walk.iamax().map_or(-1, |i| i as isize));
        Ok(())
    })
}

/// *result <- the index of the first NaN or else of the first greatest |re| + |im|, from 0; -1 if n <= 0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_icamax(
    n: isize,
    x: *const c_void,
    incx: isize,
    result: *mut isize,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<Complex<f32>, 2, 0>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vector_with_position(n, Vector::new("x", x, incx)) }?;
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        out.set(walk.iamax().map_or(-1, |i| i as isize));
        Ok(())
    })
}

/// *result <- the index of the first NaN or else of the first greatest |re| + |im|, from 0; -1 if n <= 0
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_izamax(
    n: isize,
    x: *const c_void,
    incx: isize,
    result: *mut isize,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<Complex<f64>, 2, 0>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vector_with_position(n, Vector::new("x", x, incx)) }?;
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        out.set(walk.iamax().map_or(-1, |i| i as isize));
        Ok(())
    })
}

/// (x, y) <- (c*x + s*y, c*y - s*x)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_srot(
    n: isize,
    x: *mut f32,
    incx: isize,
    y: *mut f32,
    incy: isize,
    c: f32,
    s: f32,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<f32, 2, 2>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx), Vector::new("y", y, incy)]) }?;
        walk.rot(c.into(), s.into());
        Ok(())
    })
}

/// (x, y) <- (c*x + s*y, c*y - s*x)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_drot(
    n: isize,
    x: *mut f64,
    incx: isize,
    y: *mut f64,
    incy: isize,
    c: f64,
    s: f64,
) -> i32 {
    guard(|| {
        let mut walk = Walk::<f64, 2, 2>::new();
        // SAFETY: the caller's vectors.
        unsafe { walk.plan_vectors(n, [Vector::new("x", x, incx), Vector::new("y", y, incy)]) }?;
        walk.rot(c, s);
        Ok(())
    })
}
