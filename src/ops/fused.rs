//! Fused multiply-add.

use crate::error::Error;
use crate::kernel::map::{Mapped, Mul, MulAdd, MulAddBeta};
use crate::kernel::update::OutputRunner;
use crate::nest::Walk;
use crate::scalar::Scalar;
use crate::view::{View, ViewMut};

/// `c <- beta*c + alpha*(a*b)`, element by element; a and b broadcast to the shape of c.
///
/// One pass, no temporary. With beta = 0, c is written and not read; with alpha = 0, a and b are
/// not read. The product a*b is rounded, then scaled and added: with alpha = beta = 1 the result
/// has the bits of `c + a*b`. a, b or both may be the very view c.
///
/// ```
/// use ndblas::{View, ViewMut, mul_add};
/// let (a, b) = ([1.0, 2.0, 3.0], [10.0]);
/// let mut c = [0.5; 3];
/// let (a, b) = (View::from_slice(&a, &[3])?, View::from_slice(&b, &[1])?);
/// mul_add(1.0, &a, &b, 1.0, &mut ViewMut::from_slice(&mut c, &[3])?)?;
/// assert_eq!(c, [10.5, 20.5, 30.5]);
/// # Ok::<(), ndblas::Error>(())
/// ```
///
/// # Errors
/// [`Error::Broadcast`] if a or b does not broadcast to c; [`Error::Overlap`] if c shares cells with
/// one of them without being the same view.
pub fn mul_add<T: Scalar>(
    alpha: T,
    a: &View<'_, T>,
    b: &View<'_, T>,
    beta: T,
    c: &mut ViewMut<'_, T>,
) -> Result<(), Error> {
    let mut walk = Walk::new();
    walk.plan([&c.operand("c"), &a.operand("a"), &b.operand("b")])?;
    if alpha == T::ZERO {
        walk.rescale(beta);
    } else if beta == T::ONE {
        walk.run(Mapped(MulAdd { alpha }));
    } else if beta == T::ZERO {
        walk.run(Mapped(Mul { alpha }));
    } else {
        walk.run(Mapped(MulAddBeta { alpha, beta }));
    }
    Ok(())
}
