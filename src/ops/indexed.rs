//! Gather and scatter-add along an axis.

use crate::error::Error;
use crate::nest::indexed::walk;
use crate::scalar::Element;
use crate::view::{Index, View, ViewMut};

/// What an index outside `0..n` means on an axis of extent n.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(i32)]
pub enum Mode {
    /// Negative counts from the end; out of range is an error, found before the first write.
    #[default]
    Raise = 0,
    /// Modulo n.
    Wrap = 1,
    /// The nearest of 0 and n-1.
    Clip = 2,
    /// Negative counts from the end; out of range reads as zero and is dropped by a scatter-add.
    Drop = 3,
}

impl Mode {
    /// The mode of a number from the C ABI.
    pub fn from_number(n: i32) -> Option<Mode> {
        [Mode::Raise, Mode::Wrap, Mode::Clip, Mode::Drop].into_iter().find(|&m| m as i32 == n)
    }
}

/// Gathers rows: `out <- beta*out + alpha*g`, where along `axis`
/// `g[.., l, ..] = a[.., index[.., l, ..], ..]`, as NumPy's `take_along_axis`.
///
/// a, index and out are left-padded with length-1 axes to one rank, of which `axis` is an axis
/// (negative counts from the end). Off the axis, a and index broadcast to out; on it, index
/// broadcasts to out, and a has any extent. So `out[i,l,k] = a[i, b[i,l], k]` is axis 1 with an
/// index of shape (I, L, 1), and rows are moved whole; no index tensor is made.
///
/// Every element type with alpha = 1 and beta = 0; other factors need arithmetic. With beta = 0,
/// out is written and not read. With alpha = 0, neither a nor index is read: out is only rescaled.
/// Out shares no cell with a or index. The adjoint is [`scatter_add`] with the same axis, index and
/// mode.
///
/// ```
/// use ndblas::{Index, Mode, View, ViewMut, gather};
/// let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let (a, rows) = (View::from_slice(&a, &[3, 2])?, [2u8, 0, -1i8 as u8]);
/// let rows = View::from_slice(&rows, &[3, 1])?;
/// let mut out = [0.0; 6];
/// let mut view = ViewMut::from_slice(&mut out, &[3, 2])?;
/// // 255 is out of range for u8; clipped it is the last row.
/// gather(1.0, &a, 0, &Index::from(&rows), Mode::Clip, 0.0, &mut view)?;
/// assert_eq!(out, [5.0, 6.0, 1.0, 2.0, 5.0, 6.0]);
/// # Ok::<(), ndblas::Error>(())
/// ```
///
/// # Errors
/// [`Error::Axis`]; [`Error::Broadcast`] if a or index does not broadcast to out as said;
/// [`Error::Overlap`]; [`Error::NoArithmetic`] for factors that the element type does not have;
/// [`Error::Index`] for an index out of range under [`Mode::Raise`], and for any index at all into
/// an axis of extent 0 but under [`Mode::Drop`]. Every element of index counts, even if out is empty.
pub fn gather<T: Element>(
    alpha: T,
    a: &View<'_, T>,
    axis: isize,
    index: &Index<'_>,
    mode: Mode,
    beta: T,
    out: &mut ViewMut<'_, T>,
) -> Result<(), Error> {
    gather_nd(alpha, a, &[(axis, index.clone())], mode, beta, out)
}

/// Gathers with an index on each of several axes: `out[x] <- beta*out[x] + alpha*a[y]`, where for
/// each pair (axis, index) of `indices` `y[axis] = index[x]`, and `y[d] = x[d]` on all other axes.
///
/// a, out and every index are left-padded with length-1 axes to one rank, of which the axes are
/// axes (negative counts from the end), each at most once. Off the indexed axes a broadcasts to
/// out; on them it has any extent. Every index broadcasts to out on all axes. So
/// `out[i,j,k] = a[i, b[i,j], c[i,j], k]` has out of shape (I, J, 1, K), pairs (1, b) and (2, c) with
/// b and c of shape (I, J, 1, 1); and `out[i,j] = a[b[i,j], c[i,j]]` pairs (0, b) and (1, c) with all
/// of shape (I, J). Without a pair it is a copy.
///
/// Everything else is as for [`gather`]: out of range under [`Mode::Drop`] is what one of the
/// indices is out of range for.
///
/// ```
/// use ndblas::{Index, Mode, View, ViewMut, gather_nd};
/// let a = [1, 2, 3, 4, 5, 6];
/// let (rows, columns) = ([1, 0, 1, -1], [2, 0, 0, -2]);
/// let (rows, columns) = (View::from_slice(&rows, &[4])?, View::from_slice(&columns, &[4])?);
/// let mut out = [0; 4];
/// gather_nd(
///     1,
///     &View::from_slice(&a, &[2, 3])?,
///     &[(0, Index::from(&rows)), (1, Index::from(&columns))],
///     Mode::Raise,
///     0,
///     // rank 2: out[0, j] = a[rows[j], columns[j]]
///     &mut ViewMut::from_slice(&mut out, &[1, 4])?,
/// )?;
/// assert_eq!(out, [6, 1, 4, 5]);
/// # Ok::<(), ndblas::Error>(())
/// ```
///
/// # Errors
/// As [`gather`]; [`Error::RepeatedAxis`].
pub fn gather_nd<T: Element>(
    alpha: T,
    a: &View<'_, T>,
    indices: &[(isize, Index<'_>)],
    mode: Mode,
    beta: T,
    out: &mut ViewMut<'_, T>,
) -> Result<(), Error> {
    walk::<T, false>(out.operand("out"), a.operand("a"), indices, mode, |run| {
        T::update(alpha, beta, run)
    })
}

/// Adds rows where indices say: along `axis` `out[.., index[.., l, ..], ..] += alpha*src[.., l, ..]`.
///
/// src, index and out are left-padded with length-1 axes to one rank, of which `axis` is an axis
/// (negative counts from the end). src and index broadcast to their common shape; out has exactly
/// its extents off the axis, and any extent on it. Where indices are equal, the terms are added one
/// after the other in row-major order: the bits are those of the serial loop.
///
/// Every element type with alpha = 1 (integers wrap), when terms are added as they are, without a
/// product; another alpha needs arithmetic. With alpha = 0, nothing is read or written. Out shares
/// no cell with src or index. It is the adjoint of [`gather`] with the same axis, index and mode.
///
/// ```
/// use ndblas::{Index, Mode, View, ViewMut, scatter_add};
/// let (src, cells) = ([1.0, 2.0, 4.0], [1i64, 1, -1]);
/// let cells = View::from_slice(&cells, &[3])?;
/// let mut out = [0.5; 3];
/// let mut view = ViewMut::from_slice(&mut out, &[3])?;
/// let src = View::from_slice(&src, &[3])?;
/// scatter_add(1.0, &src, 0, &Index::from(&cells), Mode::Raise, &mut view)?;
/// assert_eq!(out, [0.5, 3.5, 4.5]);
/// # Ok::<(), ndblas::Error>(())
/// ```
///
/// # Errors
/// [`Error::Axis`]; [`Error::Broadcast`] if index and src have no common shape; [`Error::Shape`] if
/// out has not its extents; [`Error::Overlap`]; [`Error::NoArithmetic`]; [`Error::Index`] as for
/// [`gather`].
pub fn scatter_add<T: Element>(
    alpha: T,
    src: &View<'_, T>,
    axis: isize,
    index: &Index<'_>,
    mode: Mode,
    out: &mut ViewMut<'_, T>,
) -> Result<(), Error> {
    scatter_add_nd(alpha, src, &[(axis, index.clone())], mode, out)
}

/// Adds with an index on each of several axes: `out[y] += alpha*src[x]`, where for each pair
/// (axis, index) of `indices` `y[axis] = index[x]`, and `y[d] = x[d]` on all other axes.
///
/// src, out and every index are left-padded with length-1 axes to one rank, of which the axes are
/// axes (negative counts from the end), each at most once. src and all indices broadcast to their
/// common shape; out has exactly its extents off the indexed axes, and any extents on them. Terms
/// of one sum are added in row-major order of x. Without a pair it is an [`axpy`](crate::axpy).
///
/// Everything else is as for [`scatter_add`]. It is the adjoint of [`gather_nd`] with the same
/// pairs and mode.
///
/// ```
/// use ndblas::{Index, Mode, View, ViewMut, scatter_add_nd};
/// // a histogram of points in the plane
/// let (x, y) = ([0u8, 1, 1], [2u8, 0, 0]);
/// let (x, y) = (View::from_slice(&x, &[3])?, View::from_slice(&y, &[3])?);
/// let mut counts = [0; 6];
/// scatter_add_nd(
///     1,
///     &View::from_ref(&1),
///     &[(0, Index::from(&x)), (1, Index::from(&y))],
///     Mode::Raise,
///     &mut ViewMut::from_slice(&mut counts, &[2, 3])?,
/// )?;
/// assert_eq!(counts, [0, 0, 1, 2, 0, 0]);
/// # Ok::<(), ndblas::Error>(())
/// ```
///
/// # Errors
/// As [`scatter_add`]; [`Error::RepeatedAxis`].
pub fn scatter_add_nd<T: Element>(
    alpha: T,
    src: &View<'_, T>,
    indices: &[(isize, Index<'_>)],
    mode: Mode,
    out: &mut ViewMut<'_, T>,
) -> Result<(), Error> {
    walk::<T, true>(out.operand("out"), src.operand("src"), indices, mode, |run| {
        T::accumulate_scaled(alpha, run)
    })
}
