//! Transposes of N-d arrays.

use super::level1::update;
use crate::error::Error;
use crate::layout::{self, DimsBuf};
use crate::scalar::Element;
use crate::view::{View, ViewMut};

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
    let perm = layout::permutation("a", a.ndim(), perm)?;
    let (mut shape, mut strides) = (DimsBuf::new(), DimsBuf::new());
    let a = a.operand("a");
    let permuted = a.layout.permuted(&perm, &mut shape, &mut strides);
    let out = out.operand("out");
    if out.layout.shape() != permuted.shape() {
        return Err(Error::Shape {
            arg: out.name,
            shape: out.layout.shape().into(),
            expected: permuted.shape().into(),
            why: "the permuted shape of a",
        });
    }
    update(alpha, &a.with_layout(&permuted), beta, &out)
}
