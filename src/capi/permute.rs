//! Transposes of N-d arrays.

use super::guard::guard;
use super::types::{Input, Output, ndblas_scalar, ndblas_view, ndblas_view_mut};
use crate::layout::Order;
use crate::ops;
use crate::scalar::with_element;

/// The numbers of `perm`, ndim of them, in `axes`; `None` for NULL. A negative one becomes a huge one,
/// which is as wrong.
///
/// # Safety
/// `perm` is NULL or has ndim numbers.
#[inline]
unsafe fn read(perm: *const i32, ndim: usize, axes: &mut Order) -> Option<&[usize]> {
    // SAFETY: as the caller says.
    let number = |d| unsafe { perm.add(d).read() } as isize as usize;
    (!perm.is_null()).then(|| {
        axes.extend((0..ndim).map(number));
        &axes[..]
    })
}

/// out <- beta*out + alpha*transpose(a, perm): axis d of out is axis perm[d] of a, so that
/// out.shape[d] == a.shape[perm[d]]. perm has as many numbers as a has axes; NULL reverses the axes.
/// Every dtype with alpha = 1 and beta = 0. With beta = 0, out is written and not read; with
/// alpha = 0, a is not read. out shares nothing with a, or is the same cells index by index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_permute(
    alpha: ndblas_scalar,
    a: *const ndblas_view,
    perm: *const i32,
    beta: ndblas_scalar,
    out: *mut ndblas_view_mut,
) -> i32 {
    guard(|| {
        let (mut a0, mut out0) = (Input::EMPTY, Output::EMPTY);
        // SAFETY: the caller's descriptors and permutation.
        let a = unsafe { a0.read("a", a) }?;
        // SAFETY: as above.
        let out = unsafe { out0.read("out", out) }?;
        let mut axes = Order::new();
        // SAFETY: as above.
        let perm = unsafe { read(perm, a.ndim(), &mut axes) };
        a.same_dtype(out)?;
        with_element!(out.dtype(), T => {
            let (alpha, beta) = (alpha.to::<T>("alpha")?, beta.to::<T>("beta")?);
            let (a, mut out) = (a.view::<T>(), out.view_mut::<T>());
            ops::permute(alpha, &a, perm, beta, &mut out)
        })
    })
}

/// a <- transpose(a, perm) in its own memory. a is dense and row-major, and then holds the permuted
/// array, dense and row-major; or any view whose permuted shape is its shape, and then its cells are
/// permuted. perm as for ndblas_permute. Extra memory is bounded by a few rows or 512 KiB a thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_permute_in_place(a: *mut ndblas_view_mut, perm: *const i32) -> i32 {
    guard(|| {
        let mut a0 = Output::EMPTY;
        // SAFETY: the caller's descriptor and permutation.
        let a = unsafe { a0.read("a", a) }?;
        let mut axes = Order::new();
        // SAFETY: as above.
        let perm = unsafe { read(perm, a.ndim(), &mut axes) };
        with_element!(a.dtype(), T => ops::permute_in_place(&mut a.view_mut::<T>(), perm))
    })
}
