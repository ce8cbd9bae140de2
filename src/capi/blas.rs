//! The BLAS names: vectors with increments in elements.
//!
//! BLAS's argument lists, `ptrdiff_t` for n and the increments, a status for the result. For a
//! negative increment the pointer is to the lowest address, as in BLAS, and the vector runs from its
//! far end. n <= 0 does nothing.

use super::guard::guard;
use super::types::Slot;
use crate::error::Error;
use crate::layout::{Dims, Layout};
use crate::ops;
use crate::scalar::Element;
use crate::view::{View, ViewMut};
use core::ffi::c_void;
use num_complex::Complex;

/// The extents and byte strides of a vector, which its view borrows.
struct Dims1 {
    shape: [isize; 1],
    strides: [isize; 1],
}

impl Dims1 {
    fn new<T>(arg: &'static str, n: isize, inc: isize) -> Result<Self, Error> {
        let stride = inc.checked_mul(size_of::<T>() as isize);
        let stride = if n == 1 { Some(0) } else { stride };
        let stride = stride.ok_or(Error::Argument { arg, why: "its increment overflows" })?;
        Ok(Dims1 { shape: [n.max(0)], strides: [stride] })
    }

    fn layout<T>(&self, arg: &'static str) -> Result<Layout<'_>, Error> {
        let (shape, strides) = (Dims::Borrowed(&self.shape), Dims::Borrowed(&self.strides));
        Layout::new(arg, shape, Some(strides), size_of::<T>())
    }

    /// The first logical element.
    fn base<T>(&self, arg: &'static str, p: *const T) -> Result<*const u8, Error> {
        let ([n], [stride]) = (self.shape, self.strides);
        if n > 0 && p.is_null() {
            return Err(Error::Null { arg });
        }
        let to_far_end = if stride < 0 && n > 0 { (1 - n) * stride } else { 0 };
        Ok(p.cast::<u8>().wrapping_offset(to_far_end))
    }

    /// A vector to read.
    fn view<T: Element>(&self, arg: &'static str, p: *const T) -> Result<View<'_, T>, Error> {
        let layout = self.layout::<T>(arg)?;
        Ok(View::from_parts(self.base(arg, p)?, layout))
    }

    /// A vector to write.
    fn view_mut<T: Element>(&self, arg: &'static str, p: *mut T) -> Result<ViewMut<'_, T>, Error> {
        let layout = self.layout::<T>(arg)?;
        ViewMut::from_parts(arg, self.base(arg, p.cast_const())?.cast_mut(), layout)
    }
}

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
        let dx = Dims1::new::<f32>("x", n, incx)?;
        let dy = Dims1::new::<f32>("y", n, incy)?;
        ops::axpy(alpha, &dx.view("x", x)?, &mut dy.view_mut("y", y)?)
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
        let dx = Dims1::new::<f64>("x", n, incx)?;
        let dy = Dims1::new::<f64>("y", n, incy)?;
        ops::axpy(alpha, &dx.view("x", x)?, &mut dy.view_mut("y", y)?)
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
        // SAFETY: the caller's factor.
        let alpha = unsafe { factor::<Complex<f32>>("alpha", alpha) }?;
        let dx = Dims1::new::<Complex<f32>>("x", n, incx)?;
        let dy = Dims1::new::<Complex<f32>>("y", n, incy)?;
        ops::axpy(alpha, &dx.view("x", x.cast())?, &mut dy.view_mut("y", y.cast())?)
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
        // SAFETY: the caller's factor.
        let alpha = unsafe { factor::<Complex<f64>>("alpha", alpha) }?;
        let dx = Dims1::new::<Complex<f64>>("x", n, incx)?;
        let dy = Dims1::new::<Complex<f64>>("y", n, incy)?;
        ops::axpy(alpha, &dx.view("x", x.cast())?, &mut dy.view_mut("y", y.cast())?)
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
        let dx = Dims1::new::<f32>("x", n, incx)?;
        let dy = Dims1::new::<f32>("y", n, incy)?;
        ops::axpby(alpha, &dx.view("x", x)?, beta, &mut dy.view_mut("y", y)?)
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
        let dx = Dims1::new::<f64>("x", n, incx)?;
        let dy = Dims1::new::<f64>("y", n, incy)?;
        ops::axpby(alpha, &dx.view("x", x)?, beta, &mut dy.view_mut("y", y)?)
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
        // SAFETY: the caller's factor.
        let alpha = unsafe { factor::<Complex<f32>>("alpha", alpha) }?;
        // SAFETY: the caller's factor.
        let beta = unsafe { factor::<Complex<f32>>("beta", beta) }?;
        let dx = Dims1::new::<Complex<f32>>("x", n, incx)?;
        let dy = Dims1::new::<Complex<f32>>("y", n, incy)?;
        ops::axpby(alpha, &dx.view("x", x.cast())?, beta, &mut dy.view_mut("y", y.cast())?)
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
        // SAFETY: the caller's factor.
        let alpha = unsafe { factor::<Complex<f64>>("alpha", alpha) }?;
        // SAFETY: the caller's factor.
        let beta = unsafe { factor::<Complex<f64>>("beta", beta) }?;
        let dx = Dims1::new::<Complex<f64>>("x", n, incx)?;
        let dy = Dims1::new::<Complex<f64>>("y", n, incy)?;
        ops::axpby(alpha, &dx.view("x", x.cast())?, beta, &mut dy.view_mut("y", y.cast())?)
    })
}

/// x <- alpha*x
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_sscal(n: isize, alpha: f32, x: *mut f32, incx: isize) -> i32 {
    guard(|| {
        let dx = Dims1::new::<f32>("x", n, incx)?;
        ops::scal(alpha, &mut dx.view_mut("x", x)?)
    })
}

/// x <- alpha*x
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_dscal(n: isize, alpha: f64, x: *mut f64, incx: isize) -> i32 {
    guard(|| {
        let dx = Dims1::new::<f64>("x", n, incx)?;
        ops::scal(alpha, &mut dx.view_mut("x", x)?)
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
        // SAFETY: the caller's factor.
        let alpha = unsafe { factor::<Complex<f32>>("alpha", alpha) }?;
        let dx = Dims1::new::<Complex<f32>>("x", n, incx)?;
        ops::scal(alpha, &mut dx.view_mut("x", x.cast())?)
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
        // SAFETY: the caller's factor.
        let alpha = unsafe { factor::<Complex<f64>>("alpha", alpha) }?;
        let dx = Dims1::new::<Complex<f64>>("x", n, incx)?;
        ops::scal(alpha, &mut dx.view_mut("x", x.cast())?)
    })
}

/// x <- alpha*x with a real alpha
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_csscal(n: isize, alpha: f32, x: *mut c_void, incx: isize) -> i32 {
    guard(|| {
        let dx = Dims1::new::<Complex<f32>>("x", n, incx)?;
        ops::scal_real(alpha, &mut dx.view_mut("x", x.cast::<Complex<f32>>())?)
    })
}

/// x <- alpha*x with a real alpha
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_zdscal(n: isize, alpha: f64, x: *mut c_void, incx: isize) -> i32 {
    guard(|| {
        let dx = Dims1::new::<Complex<f64>>("x", n, incx)?;
        ops::scal_real(alpha, &mut dx.view_mut("x", x.cast::<Complex<f64>>())?)
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
        let dx = Dims1::new::<f32>("x", n, incx)?;
        let dy = Dims1::new::<f32>("y", n, incy)?;
        ops::copy(&dx.view("x", x)?, &mut dy.view_mut("y", y)?)
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
        let dx = Dims1::new::<f64>("x", n, incx)?;
        let dy = Dims1::new::<f64>("y", n, incy)?;
        ops::copy(&dx.view("x", x)?, &mut dy.view_mut("y", y)?)
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
        let dx = Dims1::new::<Complex<f32>>("x", n, incx)?;
        let dy = Dims1::new::<Complex<f32>>("y", n, incy)?;
        ops::copy(&dx.view("x", x.cast::<Complex<f32>>())?, &mut dy.view_mut("y", y.cast())?)
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
        let dx = Dims1::new::<Complex<f64>>("x", n, incx)?;
        let dy = Dims1::new::<Complex<f64>>("y", n, incy)?;
        ops::copy(&dx.view("x", x.cast::<Complex<f64>>())?, &mut dy.view_mut("y", y.cast())?)
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
        let dx = Dims1::new::<f32>("x", n, incx)?;
        let dy = Dims1::new::<f32>("y", n, incy)?;
        ops::swap(&mut dx.view_mut("x", x)?, &mut dy.view_mut("y", y)?)
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
        let dx = Dims1::new::<f64>("x", n, incx)?;
        let dy = Dims1::new::<f64>("y", n, incy)?;
        ops::swap(&mut dx.view_mut("x", x)?, &mut dy.view_mut("y", y)?)
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
        let dx = Dims1::new::<Complex<f32>>("x", n, incx)?;
        let dy = Dims1::new::<Complex<f32>>("y", n, incy)?;
        ops::swap(
            &mut dx.view_mut("x", x.cast::<Complex<f32>>())?,
            &mut dy.view_mut("y", y.cast())?,
        )
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
        let dx = Dims1::new::<Complex<f64>>("x", n, incx)?;
        let dy = Dims1::new::<Complex<f64>>("y", n, incy)?;
        ops::swap(
            &mut dx.view_mut("x", x.cast::<Complex<f64>>())?,
            &mut dy.view_mut("y", y.cast())?,
        )
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
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        let dx = Dims1::new::<f32>("x", n, incx)?;
        let dy = Dims1::new::<f32>("y", n, incy)?;
        out.set(ops::dotu(&dx.view("x", x)?, &dy.view("y", y)?)?.0 as f32);
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
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        let dx = Dims1::new::<f64>("x", n, incx)?;
        let dy = Dims1::new::<f64>("y", n, incy)?;
        out.set(ops::dotu(&dx.view("x", x)?, &dy.view("y", y)?)?.0);
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
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        let dx = Dims1::new::<f32>("x", n, incx)?;
        let dy = Dims1::new::<f32>("y", n, incy)?;
        out.set(ops::dsdot(&dx.view("x", x)?, &dy.view("y", y)?)?);
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
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        let dx = Dims1::new::<f32>("x", n, incx)?;
        let dy = Dims1::new::<f32>("y", n, incy)?;
        out.set((alpha as f64 + ops::dsdot(&dx.view("x", x)?, &dy.view("y", y)?)?) as f32);
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
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result.cast::<[f32; 2]>()) }?;
        let dx = Dims1::new::<Complex<f32>>("x", n, incx)?;
        let dy = Dims1::new::<Complex<f32>>("y", n, incy)?;
        let (re, im) =
            ops::dotu(&dx.view("x", x.cast::<Complex<f32>>())?, &dy.view("y", y.cast())?)?;
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
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result.cast::<[f32; 2]>()) }?;
        let dx = Dims1::new::<Complex<f32>>("x", n, incx)?;
        let dy = Dims1::new::<Complex<f32>>("y", n, incy)?;
        let (re, im) =
            ops::dotc(&dx.view("x", x.cast::<Complex<f32>>())?, &dy.view("y", y.cast())?)?;
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
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result.cast::<[f64; 2]>()) }?;
        let dx = Dims1::new::<Complex<f64>>("x", n, incx)?;
        let dy = Dims1::new::<Complex<f64>>("y", n, incy)?;
        let (re, im) =
            ops::dotu(&dx.view("x", x.cast::<Complex<f64>>())?, &dy.view("y", y.cast())?)?;
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
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result.cast::<[f64; 2]>()) }?;
        let dx = Dims1::new::<Complex<f64>>("x", n, incx)?;
        let dy = Dims1::new::<Complex<f64>>("y", n, incy)?;
        let (re, im) =
            ops::dotc(&dx.view("x", x.cast::<Complex<f64>>())?, &dy.view("y", y.cast())?)?;
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
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        let dx = Dims1::new::<f32>("x", n, incx)?;
        out.set(ops::nrm2(&dx.view("x", x)?)? as f32);
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
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        let dx = Dims1::new::<f64>("x", n, incx)?;
        out.set(ops::nrm2(&dx.view("x", x)?)?);
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
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        let dx = Dims1::new::<Complex<f32>>("x", n, incx)?;
        out.set(ops::nrm2(&dx.view("x", x.cast::<Complex<f32>>())?)? as f32);
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
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        let dx = Dims1::new::<Complex<f64>>("x", n, incx)?;
        out.set(ops::nrm2(&dx.view("x", x.cast::<Complex<f64>>())?)?);
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
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        let dx = Dims1::new::<f32>("x", n, incx)?;
        out.set(ops::asum(&dx.view("x", x)?)? as f32);
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
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        let dx = Dims1::new::<f64>("x", n, incx)?;
        out.set(ops::asum(&dx.view("x", x)?)?);
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
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        let dx = Dims1::new::<Complex<f32>>("x", n, incx)?;
        out.set(ops::asum(&dx.view("x", x.cast::<Complex<f32>>())?)? as f32);
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
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        let dx = Dims1::new::<Complex<f64>>("x", n, incx)?;
        out.set(ops::asum(&dx.view("x", x.cast::<Complex<f64>>())?)?);
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
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        let dx = Dims1::new::<f32>("x", n, incx)?;
        out.set(ops::iamax(&dx.view("x", x)?)?.map_or(-1, |i| i as isize));
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
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        let dx = Dims1::new::<f64>("x", n, incx)?;
        out.set(ops::iamax(&dx.view("x", x)?)?.map_or(-1, |i| i as isize));
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
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        let dx = Dims1::new::<Complex<f32>>("x", n, incx)?;
        out.set(ops::iamax(&dx.view("x", x.cast::<Complex<f32>>())?)?.map_or(-1, |i| i as isize));
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
        // SAFETY: the caller's result.
        let out = unsafe { Slot::new(result) }?;
        let dx = Dims1::new::<Complex<f64>>("x", n, incx)?;
        out.set(ops::iamax(&dx.view("x", x.cast::<Complex<f64>>())?)?.map_or(-1, |i| i as isize));
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
        let dx = Dims1::new::<f32>("x", n, incx)?;
        let dy = Dims1::new::<f32>("y", n, incy)?;
        ops::rot(&mut dx.view_mut("x", x)?, &mut dy.view_mut("y", y)?, c.into(), s.into())
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
        let dx = Dims1::new::<f64>("x", n, incx)?;
        let dy = Dims1::new::<f64>("y", n, incy)?;
        ops::rot(&mut dx.view_mut("x", x)?, &mut dy.view_mut("y", y)?, c, s)
    })
}
