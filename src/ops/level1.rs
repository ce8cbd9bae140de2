//! Level-1 BLAS on views.

use crate::error::Error;
use crate::kernel::map::{Mapped, Rot, Scal};
use crate::kernel::moves::{Copy, Fill, Swap, word};
use crate::kernel::reduce::{Asum, Dot, Nrm2, WideDot};
use crate::kernel::update;
use crate::nest::Walk;
use crate::scalar::{Element, Scalar, no_arithmetic};
use crate::view::{Operand, View, ViewMut};

/// The routines over a planned walk, be it of views or of the vectors of the BLAS.
impl<T: Scalar> Walk<'_, T, 2, 1> {
    /// `y <- beta*y + alpha*x`, operands (y, x).
    #[inline]
    pub(crate) fn axpby(&self, alpha: T, beta: T) {
        update::scalars(alpha, beta, self);
    }
}

impl<T: Element> Walk<'_, T, 2, 1> {
    /// `y <- x`, operands (y, x).
    #[inline]
    pub(crate) fn copy(&self) {
        self.run_words(Copy);
    }
}

impl<T: Element> Walk<'_, T, 2, 2> {
    /// `x <-> y`.
    #[inline]
    pub(crate) fn swap(&self) {
        self.run_words(Swap);
    }
}

impl<T: Scalar> Walk<'_, T, 1, 1> {
    /// `y <- alpha*y`.
    #[inline]
    pub(crate) fn scal(&self, alpha: T) {
        self.run(Mapped(Scal { alpha }));
    }

    /// `y <- alpha*y`, part by part.
    #[inline]
    pub(crate) fn scal_real(&self, alpha: T::Real) {
        self.run_on_parts(Mapped(Scal { alpha }));
    }
}

impl<T: Scalar> Walk<'_, T, 2, 2> {
    /// `(x, y) <- (c*x + s*y, c*y - s*x)`.
    #[inline]
    pub(crate) fn rot(&self, c: f64, s: f64) {
        let real = |v| T::Real::rounded(v, 0.0);
        self.run_on_parts(Mapped(Rot { c: real(c), s: real(s), minus_s: real(-s) }));
    }
}

impl<T: Scalar> Walk<'_, T, 2, 0> {
    /// `sum x*y`, or `sum conj(x)*y`, as (re, im).
    #[inline]
    pub(crate) fn dot(&self, conj: bool) -> (f64, f64) {
        self.reduce(Dot { conj }).unwrap_or_default()
    }
}

impl Walk<'_, f32, 2, 0> {
    /// `sum x*y` in f64.
    #[inline]
    pub(crate) fn wide_dot(&self) -> f64 {
        self.reduce(WideDot).unwrap_or(0.0)
    }
}

impl<T: Scalar> Walk<'_, T, 1, 0> {
    /// `sqrt(sum |x|^2)`.
    #[inline]
    pub(crate) fn nrm2(&self) -> f64 {
        self.reduce(Nrm2).map_or(0.0, |squares| squares.root())
    }

    /// `sum |re x| + |im x|`.
    #[inline]
    pub(crate) fn asum(&self) -> f64 {
        self.reduce(Asum).unwrap_or(0.0)
    }
}

/// `y <- alpha`.
///
/// ```
/// let mut y = [0; 6];
/// ndblas::fill(7, &mut ndblas::ViewMut::from_slice_strided(&mut y, 0, &[3], &[2])?)?;
/// assert_eq!(y, [7, 0, 7, 0, 7, 0]);
/// # Ok::<(), ndblas::Error>(())
/// ```
///
/// # Errors
/// None today.
pub fn fill<T: Element>(alpha: T, y: &mut ViewMut<'_, T>) -> Result<(), Error> {
    let mut walk = Walk::new();
    walk.plan([&y.operand("y")])?;
    walk.run_words(Fill(word(alpha)));
    Ok(())
}

/// `y <- x`, for every element type; x broadcasts to the shape of y.
///
/// ```
/// use ndblas::{View, ViewMut, copy};
/// let x = [1, 2, 3, 4, 5, 6];
/// let mut y = [0; 6];
/// // the transpose of x, stored densely
/// copy(&View::from_slice(&x, &[2, 3])?.permuted(&[1, 0])?, &mut ViewMut::from_slice(&mut y, &[3, 2])?)?;
/// assert_eq!(y, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), ndblas::Error>(())
/// ```
///
/// # Errors
/// [`Error::Broadcast`] if x does not broadcast to y; [`Error::Overlap`] if they share cells without
/// being the same view.
pub fn copy<T: Element>(x: &View<'_, T>, y: &mut ViewMut<'_, T>) -> Result<(), Error> {
    let mut walk = Walk::new();
    walk.plan([&y.operand("y"), &x.operand("x")])?;
    walk.copy();
    Ok(())
}

/// `x <-> y`, for every element type; both have the same shape.
///
/// ```
/// use ndblas::{ViewMut, swap};
/// let (mut x, mut y) = ([1, 2, 3], [4, 5, 6]);
/// let mut reversed = ViewMut::from_slice(&mut y, &[3])?.reversed(0)?;
/// swap(&mut ViewMut::from_slice(&mut x, &[3])?, &mut reversed)?;
/// assert_eq!((x, y), ([6, 5, 4], [3, 2, 1]));
/// # Ok::<(), ndblas::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] if the shapes differ; [`Error::Overlap`] if x and y share cells.
pub fn swap<T: Element>(x: &mut ViewMut<'_, T>, y: &mut ViewMut<'_, T>) -> Result<(), Error> {
    let mut walk = Walk::new();
    walk.plan([&x.operand("x"), &y.operand("y")])?;
    walk.swap();
    Ok(())
}

/// `y <- alpha*y`. It follows IEEE arithmetic for every alpha: 0*NaN is NaN. To clear, [`fill`].
///
/// ```
/// let mut y = [1.0, 2.0];
/// ndblas::scal(3.0, &mut ndblas::ViewMut::from_slice(&mut y, &[2])?)?;
/// assert_eq!(y, [3.0, 6.0]);
/// # Ok::<(), ndblas::Error>(())
/// ```
///
/// # Errors
/// None today.
pub fn scal<T: Scalar>(alpha: T, y: &mut ViewMut<'_, T>) -> Result<(), Error> {
    let mut walk = Walk::new();
    walk.plan([&y.operand("y")])?;
    walk.scal(alpha);
    Ok(())
}

/// `y <- alpha*y` with a real factor, part by part.
///
/// # Errors
/// None today.
pub fn scal_real<T: Scalar>(alpha: T::Real, y: &mut ViewMut<'_, T>) -> Result<(), Error> {
    let mut walk = Walk::new();
    walk.plan([&y.operand("y")])?;
    walk.scal_real(alpha);
    Ok(())
}

/// `y <- y + alpha*x`; x broadcasts to the shape of y. With alpha = 0, x is not read.
///
/// x may be the very view y; then each element is `y + alpha*y`.
///
/// ```
/// use ndblas::{View, ViewMut, axpy};
/// let row = [1.0, 2.0, 3.0];
/// let mut y = [0.0, 0.0, 0.0, 10.0, 10.0, 10.0];
/// axpy(2.0, &View::from_slice(&row, &[3])?, &mut ViewMut::from_slice(&mut y, &[2, 3])?)?;
/// assert_eq!(y, [2.0, 4.0, 6.0, 12.0, 14.0, 16.0]);
/// # Ok::<(), ndblas::Error>(())
/// ```
///
/// # Errors
/// As [`copy`].
#[inline(always)]
pub fn axpy<T: Scalar>(alpha: T, x: &View<'_, T>, y: &mut ViewMut<'_, T>) -> Result<(), Error> {
    axpby(alpha, x, T::ONE, y)
}

/// `y <- beta*y + alpha*x`; x broadcasts to the shape of y. With beta = 0, y is written and not
/// read; with alpha = 0, x is not read.
///
/// x may be the very view y.
///
/// ```
/// use ndblas::{View, ViewMut, axpby};
/// let mut y = [f64::NAN, 1.0];
/// axpby(3.0, &View::from_slice(&[1.0, 2.0], &[2])?, 0.0, &mut ViewMut::from_slice(&mut y, &[2])?)?;
/// assert_eq!(y, [3.0, 6.0]);
/// # Ok::<(), ndblas::Error>(())
/// ```
///
/// # Errors
/// As [`copy`].
#[inline(always)]
pub fn axpby<T: Scalar>(
    alpha: T,
    x: &View<'_, T>,
    beta: T,
    y: &mut ViewMut<'_, T>,
) -> Result<(), Error> {
    update(alpha, &x.operand("x"), beta, &y.operand("y"))
}

/// `y <- beta*y + alpha*x` under whatever names the operands have; for integers, a copy.
#[inline]
pub(super) fn update<T: Element>(
    alpha: T,
    x: &Operand<'_, T>,
    beta: T,
    y: &Operand<'_, T>,
) -> Result<(), Error> {
    let mut walk = Walk::new();
    walk.plan([y, x])?;
    T::update(alpha, beta, &walk).map_err(|_| no_arithmetic(y.name, T::DTYPE))
}

/// `(x, y) <- (c*x + s*y, c*y - s*x)`, a plane rotation; both have the same shape.
///
/// ```
/// use ndblas::{ViewMut, rot};
/// let (mut x, mut y) = ([1.0, 0.0], [0.0, 1.0]);
/// rot(&mut ViewMut::from_slice(&mut x, &[2])?, &mut ViewMut::from_slice(&mut y, &[2])?, 0.0, 1.0)?;
/// assert_eq!((x, y), ([0.0, 1.0], [-1.0, 0.0]));
/// # Ok::<(), ndblas::Error>(())
/// ```
///
/// # Errors
/// As [`swap`].
pub fn rot<T: Scalar>(
    x: &mut ViewMut<'_, T>,
    y: &mut ViewMut<'_, T>,
    c: f64,
    s: f64,
) -> Result<(), Error> {
    let mut walk = Walk::new();
    walk.plan([&x.operand("x"), &y.operand("y")])?;
    walk.rot(c, s);
    Ok(())
}

/// Plans a reduction of two operands that broadcast to one another: the one with the shape of both
/// leads. Returns whether that is y.
#[inline]
fn plan_two<'v, T: Scalar>(
    walk: &mut Walk<'v, T, 2, 0>,
    x: &'v View<'_, T>,
    y: &'v View<'_, T>,
) -> Result<bool, Error> {
    let (a, b) = (x.operand("x"), y.operand("y"));
    // By extents, not by sizes, which are both 0 where one extent is.
    let stretched =
        || a.layout.shape().iter().zip(b.layout.shape()).any(|(&n, &m)| n == 1 && m != 1);
    let exchanged = x.ndim() < y.ndim() || (x.ndim() == y.ndim() && stretched());
    walk.plan(if exchanged { [&b, &a] } else { [&a, &b] })?;
    Ok(exchanged)
}

fn dot<T: Scalar>(conj: bool, x: &View<'_, T>, y: &View<'_, T>) -> Result<(f64, f64), Error> {
    let mut walk = Walk::new();
    let exchanged = plan_two(&mut walk, x, y)?;
    let (re, im) = walk.dot(conj);
    // sum conj(y)*x is the conjugate of sum conj(x)*y.
    Ok(if conj && exchanged { (re, -im) } else { (re, im) })
}

/// `sum x*y`, as (re, im); x and y broadcast to one another's shape.
///
/// f32 sums are carried in f64 from block to block. The bits do not depend on the number of threads
/// or on where the data lie.
///
/// ```
/// let x = [1.0, 2.0, 3.0];
/// let x = ndblas::View::from_slice(&x, &[3])?;
/// assert_eq!(ndblas::dotu(&x, &x)?, (14.0, 0.0));
/// # Ok::<(), ndblas::Error>(())
/// ```
///
/// # Errors
/// [`Error::Broadcast`] if neither broadcasts to the other.
pub fn dotu<T: Scalar>(x: &View<'_, T>, y: &View<'_, T>) -> Result<(f64, f64), Error> {
    dot(false, x, y)
}

/// `sum conj(x)*y`, as (re, im). Otherwise as [`dotu`].
///
/// ```
/// use num_complex::c64;
/// let (x, y) = ([c64(0.0, 1.0)], [c64(0.0, 2.0)]);
/// let (x, y) = (ndblas::View::from_slice(&x, &[1])?, ndblas::View::from_slice(&y, &[1])?);
/// assert_eq!(ndblas::dotc(&x, &y)?, (2.0, 0.0));
/// # Ok::<(), ndblas::Error>(())
/// ```
///
/// # Errors
/// As [`dotu`].
pub fn dotc<T: Scalar>(x: &View<'_, T>, y: &View<'_, T>) -> Result<(f64, f64), Error> {
    dot(true, x, y)
}

/// `sum x*y` of f32, multiplied and summed in f64.
///
/// # Errors
/// As [`dotu`].
pub fn dsdot(x: &View<'_, f32>, y: &View<'_, f32>) -> Result<f64, Error> {
    let mut walk = Walk::new();
    plan_two(&mut walk, x, y)?;
    Ok(walk.wide_dot())
}

/// `sqrt(sum |x|^2)`, the Euclidean norm.
///
/// It neither overflows nor underflows where the result can be held; NaN where there is one, else
/// infinity where there is one. The bits do not depend on the number of threads or on where the
/// data lie.
///
/// ```
/// let x = [3e300, 4e300];
/// assert_eq!(ndblas::nrm2(&ndblas::View::from_slice(&x, &[2])?)?, 5e300);
/// # Ok::<(), ndblas::Error>(())
/// ```
///
/// # Errors
/// None today.
pub fn nrm2<T: Scalar>(x: &View<'_, T>) -> Result<f64, Error> {
    let mut walk = Walk::new();
    walk.plan([&x.operand("x")])?;
    Ok(walk.nrm2())
}

/// `sum |re x| + |im x|`.
///
/// ```
/// assert_eq!(ndblas::asum(&ndblas::View::from_slice(&[1.0, -2.0], &[2])?)?, 3.0);
/// # Ok::<(), ndblas::Error>(())
/// ```
///
/// # Errors
/// None today.
pub fn asum<T: Scalar>(x: &View<'_, T>) -> Result<f64, Error> {
    let mut walk = Walk::new();
    walk.plan([&x.operand("x")])?;
    Ok(walk.asum())
}

/// The flat row-major index of the first NaN, or else of the first element whose |re| + |im| is the
/// greatest; `None` for an empty view.
///
/// ```
/// assert_eq!(ndblas::iamax(&ndblas::View::from_slice(&[1.0, -5.0, 3.0], &[3])?)?, Some(1));
/// # Ok::<(), ndblas::Error>(())
/// ```
///
/// # Errors
/// None today.
pub fn iamax<T: Scalar>(x: &View<'_, T>) -> Result<Option<usize>, Error> {
    let mut walk = Walk::new();
    walk.plan_with_position(&x.operand("x"));
    Ok(walk.iamax())
}
