//! Transposes of N-d arrays.

use super::level1::update;
use crate::MAX_NDIM;
use crate::error::Error;
use crate::layout::{self, DimsBuf, Order};
use crate::nest;
use crate::scalar::Element;
use crate::view::{View, ViewMut};
use arrayvec::ArrayVec;

/// `out <- beta*out + alpha*transpose(a, perm)`: axis d of out is axis `perm[d]` of a, as in NumPy;
/// without `perm` the axes are reversed.
///
/// For every element type with alpha = 1 and beta = 0; other factors need arithmetic. With beta = 0,
/// out is written and not read; with alpha = 0, a is not read. out may be the very cells that the
/// transpose of a is. The adjoint is the permute by the inverse permutation.
///
/// ```
/// use ndblas::{View, ViewMut, permute};
/// let a = [1, 2, 3, 4, 5, 6];
/// let mut out = [0; 6];
/// permute(1, &View::from_slice(&a, &[2, 3])?, Some(&[1, 0]), 0, &mut ViewMut::from_slice(&mut out, &[3, 2])?)?;
/// assert_eq!(out, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), ndblas::Error>(())
/// ```
///
/// # Errors
/// [`Error::Permutation`]; [`Error::Shape`] if out has not the permuted shape of a;
/// [`Error::Overlap`] if out shares cells with a; [`Error::NoArithmetic`] for factors that the
/// element type does not have.
pub fn permute<T: Element>(
    alpha: T,
    a: &View<'_, T>,
    perm: Option<&[usize]>,
    beta: T,
    out: &mut ViewMut<'_, T>,
) -> Result<(), Error> {
    let mut order = Order::new();
    layout::permutation("a", a.ndim(), perm, &mut order)?;
    let (mut shape, mut strides) = (DimsBuf::new(), DimsBuf::new());
    let a = a.operand("a");
    let permuted = a.layout.permuted(&order, &mut shape, &mut strides);
    let out = out.operand("out");
    // Extents are few: element by element, not by a call.
    if !out.layout.shape().iter().eq(permuted.shape()) {
        return Err(Error::Shape {
            arg: out.name,
            shape: out.layout.shape().into(),
            expected: permuted.shape().into(),
            why: "the permuted shape of a",
        });
    }
    update(alpha, &a.with_layout(&permuted), beta, &out)
}

/// `a <- transpose(a, perm)` in its own memory; without `perm` the axes are reversed.
///
/// A dense row-major a then holds the permuted array dense row-major: its cells have another shape,
/// which is the caller's to remember. Any other view must have the shape of its transpose, as a
/// square matrix has, and its cells are permuted.
///
/// Extra memory, from the heap and given back, for each thread that takes part: at most the longer
/// side of the largest matrix that the permutation is made of, or a band of its columns of 512 KiB,
/// or of one line in width.
///
/// ```
/// use ndblas::{ViewMut, permute_in_place};
/// let mut a = [1, 2, 3, 4, 5, 6];
/// permute_in_place(&mut ViewMut::from_slice(&mut a, &[2, 3])?, None)?;
/// assert_eq!(a, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), ndblas::Error>(())
/// ```
///
/// # Errors
/// [`Error::Permutation`]; [`Error::Layout`] if a is neither dense nor of its transpose's shape;
/// [`Error::Memory`].
pub fn permute_in_place<T: Element>(
    a: &mut ViewMut<'_, T>,
    perm: Option<&[usize]>,
) -> Result<(), Error> {
    let mut order = Order::new();
    layout::permutation("a", a.ndim(), perm, &mut order)?;
    let a = a.operand("a");
    let shape = a.layout.shape();
    if order.iter().enumerate().all(|(d, &p)| shape[d] == shape[p]) {
        // A cycle of n axes is n - 1 exchanges; those found first come last.
        let mut exchanges = ArrayVec::<_, MAX_NDIM>::new();
        for d in 0..order.len() {
            while order[d] != d {
                let e = order[d];
                exchanges.push((d, e));
                order.swap(d, e);
            }
        }
        for &(d, e) in exchanges.iter().rev() {
            nest::exchange_axes(&a, d, e);
        }
        return Ok(());
    }
    if !a.layout.is_dense() {
        return Err(Error::Layout {
            arg: a.name,
            shape: shape.into(),
            strides: a.layout.strides(),
            why: "in place, it must be dense and row-major, or its permuted shape the same",
        });
    }
    if a.layout.is_empty() {
        return Ok(());
    }
    nest::transpose_dense(&a, &rotations(shape, &order))
}

/// A permutation of the axes of a dense array as transposes of matrices: (batches, rows, columns,
/// elements in an item). Each puts the axes of the next run of the permuted array before those that
/// are to follow it.
fn rotations(shape: &[isize], perm: &[usize]) -> ArrayVec<[usize; 4], MAX_NDIM> {
    let mut steps = ArrayVec::new();
    let mut order: ArrayVec<usize, MAX_NDIM> = (0..shape.len()).collect();
    let extent = |axes: &[usize]| axes.iter().map(|&d| shape[d] as usize).product::<usize>();
    let mut done = 0;
    while done < perm.len() {
        let at = order.iter().position(|&d| d == perm[done]).unwrap_or(done);
        let run = perm[done..].iter().zip(&order[at..]).take_while(|(p, d)| p == d).count();
        let (rows, cols) = (extent(&order[done..at]), extent(&order[at..at + run]));
        if rows > 1 && cols > 1 {
            steps.push([extent(&order[..done]), rows, cols, extent(&order[at + run..])]);
        }
        order[done..at + run].rotate_right(run);
        done += run;
    }
    steps
}
