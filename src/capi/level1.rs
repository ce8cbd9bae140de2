//! Level 1 on views.

use super::guard::guard;
use super::types::{Input, Output, Slot, ndblas_scalar, ndblas_view, ndblas_view_mut};
use crate::ops;
use crate::scalar::{with_element, with_scalar};

/// y <- alpha, for every dtype; alpha must be a value that the dtype can hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_fill(alpha: ndblas_scalar, y: *mut ndblas_view_mut) -> i32 {
    guard(|| {
        let mut y0 = Output::EMPTY;
        // SAFETY: the caller's descriptor.
        let y = unsafe { y0.read("y", y) }?;
        with_element!(y.dtype(), T => ops::fill(alpha.to::<T>("alpha")?, &mut y.view_mut::<T>()))
    })
}

/// y <- x, for every dtype. x broadcasts to y. y may be x itself and shares nothing else with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_copy(x: *const ndblas_view, y: *mut ndblas_view_mut) -> i32 {
    guard(|| {
        let (mut x0, mut y0) = (Input::EMPTY, Output::EMPTY);
        // SAFETY: the caller's descriptors.
        let x = unsafe { x0.read("x", x) }?;
        // SAFETY: as above.
        let y = unsafe { y0.read("y", y) }?;
        x.same_dtype(y)?;
        with_element!(y.dtype(), T => ops::copy(&x.view::<T>(), &mut y.view_mut::<T>()))
    })
}

/// x <-> y, for every dtype. Both have one shape and share nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_swap(x: *mut ndblas_view_mut, y: *mut ndblas_view_mut) -> i32 {
    guard(|| {
        let (mut x0, mut y0) = (Output::EMPTY, Output::EMPTY);
        // SAFETY: the caller's descriptors.
        let x = unsafe { x0.read("x", x) }?;
        // SAFETY: as above.
        let y = unsafe { y0.read("y", y) }?;
        x.same_dtype(y)?;
        with_element!(y.dtype(), T => ops::swap(&mut x.view_mut::<T>(), &mut y.view_mut::<T>()))
    })
}

/// y <- alpha*y. It follows IEEE arithmetic: 0*NaN is NaN. To clear, ndblas_fill.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_scal(alpha: ndblas_scalar, y: *mut ndblas_view_mut) -> i32 {
    guard(|| {
        let mut y0 = Output::EMPTY;
        // SAFETY: the caller's descriptor.
        let y = unsafe { y0.read("y", y) }?;
        with_scalar!(y.dtype(), "y", T => ops::scal(alpha.to::<T>("alpha")?, &mut y.view_mut::<T>()))
    })
}

/// y <- y + alpha*x. x broadcasts to y; with alpha = 0 it is not read. y may be x itself and shares
/// nothing else with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_axpy(
    alpha: ndblas_scalar,
    x: *const ndblas_view,
    y: *mut ndblas_view_mut,
) -> i32 {
    guard(|| {
        let (mut x0, mut y0) = (Input::EMPTY, Output::EMPTY);
        // SAFETY: the caller's descriptors.
        let x = unsafe { x0.read("x", x) }?;
        // SAFETY: as above.
        let y = unsafe { y0.read("y", y) }?;
        x.same_dtype(y)?;
        with_scalar!(y.dtype(), "y", T => {
            ops::axpy(alpha.to::<T>("alpha")?, &x.view::<T>(), &mut y.view_mut::<T>())
        })
    })
}

/// y <- beta*y + alpha*x. x broadcasts to y; with alpha = 0 it is not read. With beta = 0, y is
/// written and not read. y may be x itself and shares nothing else with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_axpby(
    alpha: ndblas_scalar,
    x: *const ndblas_view,
    beta: ndblas_scalar,
    y: *mut ndblas_view_mut,
) -> i32 {
    guard(|| {
        let (mut x0, mut y0) = (Input::EMPTY, Output::EMPTY);
        // SAFETY: the caller's descriptors.
        let x = unsafe { x0.read("x", x) }?;
        // SAFETY: as above.
        let y = unsafe { y0.read("y", y) }?;
        x.same_dtype(y)?;
        with_scalar!(y.dtype(), "y", T => {
            let (alpha, beta) = (alpha.to::<T>("alpha")?, beta.to::<T>("beta")?);
            ops::axpby(alpha, &x.view::<T>(), beta, &mut y.view_mut::<T>())
        })
    })
}

/// (x, y) <- (c*x + s*y, c*y - s*x). Both have one shape and share nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_rot(
    x: *mut ndblas_view_mut,
    y: *mut ndblas_view_mut,
    c: f64,
    s: f64,
) -> i32 {
    guard(|| {
        let (mut x0, mut y0) = (Output::EMPTY, Output::EMPTY);
        // SAFETY: the caller's descriptors.
        let x = unsafe { x0.read("x", x) }?;
        // SAFETY: as above.
        let y = unsafe { y0.read("y", y) }?;
        x.same_dtype(y)?;
        with_scalar!(y.dtype(), "y", T => {
            ops::rot(&mut x.view_mut::<T>(), &mut y.view_mut::<T>(), c, s)
        })
    })
}

/// *result <- sum x*y. x and y broadcast to one another. The bits do not depend on the number of
/// threads.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_dotu(
    x: *const ndblas_view,
    y: *const ndblas_view,
    result: *mut ndblas_scalar,
) -> i32 {
    guard(|| {
        let (mut x0, mut y0) = (Input::EMPTY, Input::EMPTY);
        // SAFETY: the caller's descriptors and result.
        let (x, y, out) = unsafe { (x0.read("x", x)?, y0.read("y", y)?, Slot::new(result)?) };
        x.same_dtype(y)?;
        with_scalar!(y.dtype(), "y", T => {
            out.set(ops::dotu(&x.view::<T>(), &y.view::<T>())?.into());
            Ok(())
        })
    })
}

/// *result <- sum conj(x)*y. x and y broadcast to one another. The bits do not depend on the number of
/// threads.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_dotc(
    x: *const ndblas_view,
    y: *const ndblas_view,
    result: *mut ndblas_scalar,
) -> i32 {
    guard(|| {
        let (mut x0, mut y0) = (Input::EMPTY, Input::EMPTY);
        // SAFETY: the caller's descriptors and result.
        let (x, y, out) = unsafe { (x0.read("x", x)?, y0.read("y", y)?, Slot::new(result)?) };
        x.same_dtype(y)?;
        with_scalar!(y.dtype(), "y", T => {
            out.set(ops::dotc(&x.view::<T>(), &y.view::<T>())?.into());
            Ok(())
        })
    })
}

/// *result <- sqrt(sum |x|^2), without overflow or underflow on the way. NaN where there is one, else infinity
/// where there is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_nrm2(x: *const ndblas_view, result: *mut f64) -> i32 {
    guard(|| {
        let mut x0 = Input::EMPTY;
        // SAFETY: the caller's descriptor and result.
        let x = unsafe { x0.read("x", x) }?;
        // SAFETY: as above.
        let out = unsafe { Slot::new(result) }?;
        with_scalar!(x.dtype(), "x", T => {
            out.set(ops::nrm2(&x.view::<T>())?);
            Ok(())
        })
    })
}

/// *result <- sum |re x| + |im x|.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_asum(x: *const ndblas_view, result: *mut f64) -> i32 {
    guard(|| {
        let mut x0 = Input::EMPTY;
        // SAFETY: the caller's descriptor and result.
        let x = unsafe { x0.read("x", x) }?;
        // SAFETY: as above.
        let out = unsafe { Slot::new(result) }?;
        with_scalar!(x.dtype(), "x", T => {
            out.set(ops::asum(&x.view::<T>())?);
            Ok(())
        })
    })
}

/// *result <- the flat row-major index of the first NaN, or else of the first element whose
/// |re| + |im| is the greatest; -1 for an empty view.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_iamax(x: *const ndblas_view, result: *mut isize) -> i32 {
    guard(|| {
        let mut x0 = Input::EMPTY;
        // SAFETY: the caller's descriptor and result.
        let x = unsafe { x0.read("x", x) }?;
        // SAFETY: as above.
        let out = unsafe { Slot::new(result) }?;
        with_scalar!(x.dtype(), "x", T => {
            out.set(ops::iamax(&x.view::<T>())?.map_or(-1, |i| i as isize));
            Ok(())
        })
    })
}
