//! Gather and scatter-add along an axis.

use super::guard::guard;
use super::types::{Input, Output, ndblas_scalar, ndblas_view, ndblas_view_mut};
use crate::MAX_NDIM;
use crate::error::Error;
use crate::ops::{self, Mode};
use crate::scalar::with_element;
use crate::view::Index;
use arrayvec::ArrayVec;

fn mode(number: i32) -> Result<Mode, Error> {
    Mode::from_number(number).ok_or(Error::Argument { arg: "mode", why: "there is no such mode" })
}

/// The pairs of an axis and an index view.
///
/// # Safety
/// `axes` and `indices` are NULL or have n elements, valid for 'a.
unsafe fn pairs<'a>(
    n: i32,
    axes: *const i32,
    indices: *const ndblas_view,
) -> Result<ArrayVec<(isize, Index<'a>), MAX_NDIM>, Error> {
    let n = usize::try_from(n).ok().filter(|&n| n <= MAX_NDIM).ok_or(Error::Argument {
        arg: "n",
        why: "the number of indices is not that of axes of any view",
    })?;
    if n > 0 && axes.is_null() {
        return Err(Error::Null { arg: "axes" });
    }
    if n > 0 && indices.is_null() {
        return Err(Error::Null { arg: "indices" });
    }
    let mut pairs = ArrayVec::new();
    for k in 0..n {
        // SAFETY: as the caller says.
        let axis = unsafe { axes.add(k).read() } as isize;
        let mut index = Input::EMPTY;
        // SAFETY: as the caller says.
        pairs.push((axis, unsafe { index.read("index", indices.add(k)) }?.index()?));
    }
    Ok(pairs)
}

/// out[.., l, ..] <- beta*out + alpha*a[.., index[.., l, ..], ..] along axis, as NumPy's
/// take_along_axis. a, index and out are left-padded with length-1 axes to one rank, of which axis is
/// an axis (negative counts from the end). Off the axis a and index broadcast to out; on it index
/// broadcasts to out and a has any extent: c[i,l,k] = a[i, b[i,l], k] is axis 1 with an index of
/// shape (I, L, 1). index is of any integer dtype; mode is NDBLAS_RAISE, NDBLAS_WRAP, NDBLAS_CLIP or
/// NDBLAS_DROP, and an axis of extent 0 has no index but under NDBLAS_DROP. Every dtype with
/// alpha = 1 and beta = 0. With beta = 0, out is written and not read; with alpha = 0, neither a nor
/// index is read. out shares nothing with a or index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_gather(
    alpha: ndblas_scalar,
    a: *const ndblas_view,
    axis: i32,
    index: *const ndblas_view,
    mode: i32,
    beta: ndblas_scalar,
    out: *mut ndblas_view_mut,
) -> i32 {
    guard(|| {
        let (mut a0, mut index0, mut out0) = (Input::EMPTY, Input::EMPTY, Output::EMPTY);
        // SAFETY: the caller's descriptors.
        let (a, index, out) =
            unsafe { (a0.read("a", a)?, index0.read("index", index)?, out0.read("out", out)?) };
        let (index, mode) = (index.index()?, self::mode(mode)?);
        a.same_dtype(out)?;
        with_element!(out.dtype(), T => {
            let (alpha, beta) = (alpha.to::<T>("alpha")?, beta.to::<T>("beta")?);
            let (a, mut out) = (a.view::<T>(), out.view_mut::<T>());
            ops::gather(alpha, &a, axis as isize, &index, mode, beta, &mut out)
        })
    })
}

/// out[.., index[.., l, ..], ..] += alpha*src[.., l, ..] along axis: the adjoint of ndblas_gather
/// with the same axis, index and mode. src, index and out are left-padded with length-1 axes to one
/// rank; src and index broadcast to their common shape, of which out has exactly the extents off the
/// axis, and any extent on it. Terms of one sum are added in row-major order: the bits are those of
/// the serial loop, for any number of threads. Every dtype with alpha = 1 (integers wrap). With
/// alpha = 0, nothing is read or written. out shares nothing with src or index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_scatter_add(
    alpha: ndblas_scalar,
    src: *const ndblas_view,
    axis: i32,
    index: *const ndblas_view,
    mode: i32,
    out: *mut ndblas_view_mut,
) -> i32 {
    guard(|| {
        let (mut src0, mut index0, mut out0) = (Input::EMPTY, Input::EMPTY, Output::EMPTY);
        // SAFETY: the caller's descriptors.
        let (src, index, out) = unsafe {
            (src0.read("src", src)?, index0.read("index", index)?, out0.read("out", out)?)
        };
        let (index, mode) = (index.index()?, self::mode(mode)?);
        src.same_dtype(out)?;
        with_element!(out.dtype(), T => {
            let alpha = alpha.to::<T>("alpha")?;
            let (src, mut out) = (src.view::<T>(), out.view_mut::<T>());
            ops::scatter_add(alpha, &src, axis as isize, &index, mode, &mut out)
        })
    })
}

/// out[x] <- beta*out[x] + alpha*a[y], where y[axes[k]] = indices[k][x] for the n pairs of an axis
/// and an index view, and y[d] = x[d] on all other axes. a, out and every index are left-padded with
/// length-1 axes to one rank, of which the axes are axes (negative counts from the end), each at most
/// once. Off the indexed axes a broadcasts to out; on them it has any extent. Every index broadcasts
/// to out on all axes. So c[i,j,k] = a[i, b[i,j], d[i,j], k] has out of shape (I, J, 1, K) and axes
/// {1, 2} with indices of shape (I, J, 1, 1). One mode for all; under NDBLAS_DROP an element reads as
/// zero if one of its indices is out of range. n may be 0, and axes and indices then NULL.
/// Everything else is as for ndblas_gather.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_gather_nd(
    alpha: ndblas_scalar,
    a: *const ndblas_view,
    n: i32,
    axes: *const i32,
    indices: *const ndblas_view,
    mode: i32,
    beta: ndblas_scalar,
    out: *mut ndblas_view_mut,
) -> i32 {
    guard(|| {
        let (mut a0, mut out0) = (Input::EMPTY, Output::EMPTY);
        // SAFETY: the caller's descriptors and axes.
        let (a, pairs, out) =
            unsafe { (a0.read("a", a)?, pairs(n, axes, indices)?, out0.read("out", out)?) };
        let mode = self::mode(mode)?;
        a.same_dtype(out)?;
        with_element!(out.dtype(), T => {
            let (alpha, beta) = (alpha.to::<T>("alpha")?, beta.to::<T>("beta")?);
            let (a, mut out) = (a.view::<T>(), out.view_mut::<T>());
            ops::gather_nd(alpha, &a, &pairs, mode, beta, &mut out)
        })
    })
}

/// out[y] += alpha*src[x], where y[axes[k]] = indices[k][x] for the n pairs of an axis and an index
/// view, and y[d] = x[d] on all other axes: the adjoint of ndblas_gather_nd with the same pairs and
/// mode. src, out and every index are left-padded with length-1 axes to one rank; src and all
/// indices broadcast to their common shape, of which out has exactly the extents off the indexed
/// axes, and any extents on them. Terms of one sum are added in row-major order of x. Under
/// NDBLAS_DROP a term is dropped if one of its indices is out of range. n may be 0, and axes and
/// indices then NULL. Everything else is as for ndblas_scatter_add.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_scatter_add_nd(
    alpha: ndblas_scalar,
    src: *const ndblas_view,
    n: i32,
    axes: *const i32,
    indices: *const ndblas_view,
    mode: i32,
    out: *mut ndblas_view_mut,
) -> i32 {
    guard(|| {
        let (mut src0, mut out0) = (Input::EMPTY, Output::EMPTY);
        // SAFETY: the caller's descriptors and axes.
        let (src, pairs, out) =
            unsafe { (src0.read("src", src)?, pairs(n, axes, indices)?, out0.read("out", out)?) };
        let mode = self::mode(mode)?;
        src.same_dtype(out)?;
        with_element!(out.dtype(), T => {
            let alpha = alpha.to::<T>("alpha")?;
            let (src, mut out) = (src.view::<T>(), out.view_mut::<T>());
            ops::scatter_add_nd(alpha, &src, &pairs, mode, &mut out)
        })
    })
}
