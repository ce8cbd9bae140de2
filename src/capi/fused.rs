//! Fused multiply-add on views.

use super::guard::guard;
use super::types::{Input, Output, ndblas_scalar, ndblas_view, ndblas_view_mut};
use crate::ops;
use crate::scalar::with_scalar;

/// c <- beta*c + alpha*(a*b), element by element, in one pass without a temporary. a and b
/// broadcast to c. With beta = 0, c is written and not read; with alpha = 0, a and b are not read.
/// c may be a or b itself, or both, and shares nothing else with them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_mul_add(
    alpha: ndblas_scalar,
    a: *const ndblas_view,
    b: *const ndblas_view,
    beta: ndblas_scalar,
    c: *mut ndblas_view_mut,
) -> i32 {
    guard(|| {
        let (mut a0, mut b0, mut c0) = (Input::EMPTY, Input::EMPTY, Output::EMPTY);
        // SAFETY: the caller's descriptors.
        let (a, b, c) = unsafe { (a0.read("a", a)?, b0.read("b", b)?, c0.read("c", c)?) };
        a.same_dtype(c)?;
        b.same_dtype(c)?;
        with_scalar!(c.dtype(), "c", T => {
            let (alpha, beta) = (alpha.to::<T>("alpha")?, beta.to::<T>("beta")?);
            ops::mul_add(alpha, &a.view::<T>(), &b.view::<T>(), beta, &mut c.view_mut::<T>())
        })
    })
}
