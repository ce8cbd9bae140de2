//! Walks over the vectors of the BLAS, which are n elements at one distance.

use super::Walk;
use crate::error::Error;
use crate::layout::Layout;
use crate::plan::Plan;
use crate::scalar::Element;
use crate::view::Cells;
use arrayvec::ArrayVec;

/// A vector whose elements lie `inc` elements apart. Of a negative increment it runs from its far
/// end, and the pointer is to the lowest address all the same.
#[derive(Clone, Copy)]
pub(crate) struct Vector {
    name: &'static str,
    lowest: *mut u8,
    inc: isize,
}

impl Vector {
    #[inline]
    pub fn new<P>(name: &'static str, lowest: *const P, inc: isize) -> Self {
        Vector { name, lowest: lowest.cast_mut().cast(), inc }
    }

    /// The first logical element.
    #[inline]
    fn first(&self, n: isize, stride: isize) -> *mut u8 {
        let before = if stride < 0 { (1 - n) * stride } else { 0 };
        self.lowest.wrapping_offset(before)
    }

    /// Extent and byte stride; n <= 0 makes an empty vector.
    fn dims(&self, n: isize, item: usize) -> Result<[isize; 2], Error> {
        let stride = if n > 1 { self.inc.checked_mul(item as isize) } else { Some(0) };
        let why = "its increment overflows";
        Ok([n.max(0), stride.ok_or(Error::Argument { arg: self.name, why })?])
    }

    fn layout<'d>(&self, [n, stride]: &'d [isize; 2], item: usize) -> Result<Layout<'d>, Error> {
        if *n > 0 && self.lowest.is_null() {
            return Err(Error::Null { arg: self.name });
        }
        let (shape, strides) = (core::slice::from_ref(n), core::slice::from_ref(stride));
        Layout::new(self.name, shape, Some(strides), item)
    }

    fn cells<'d>(&self, layout: &'d Layout<'d>, writable: bool) -> Cells<'d> {
        let base = self.first(layout.len() as isize, layout.stride(0));
        Cells::new(self.name, base, layout, writable)
    }
}

impl<T: Element, const N: usize, const OUT: usize> Walk<'_, T, N, OUT> {
    /// Plans an element-wise walk over vectors of `n` elements, as [`Walk::plan`] does over views.
    ///
    /// # Safety
    /// For the time of the walk, the elements are as [`View::from_raw_parts`](crate::View) wants
    /// them, those of outputs as [`ViewMut`](crate::ViewMut).
    ///
    /// # Errors
    /// A vector is NULL, or overflows, or an output shares cells with itself or with another.
    #[inline]
    pub unsafe fn plan_vectors(&mut self, n: isize, vectors: [Vector; N]) -> Result<(), Error> {
        if self.plan_apart(n, &vectors) {
            return Ok(());
        }
        self.base = plan_any(&mut self.plan, OUT, size_of::<T>(), n, &vectors)?;
        Ok(())
    }

    /// The short way of a short call: vectors that lie apart, and in which nothing is to be refused.
    #[inline]
    fn plan_apart(&mut self, n: isize, vectors: &[Vector; N]) -> bool {
        let item = size_of::<T>() as isize;
        let mut stride = [0; N];
        let mut reach = [(0, 0); N];
        for k in 0..N {
            let v = vectors[k];
            let Some(s) = v.inc.checked_mul(item) else { return false };
            let span = (n.max(1) as usize - 1).checked_mul(s.unsigned_abs());
            let end = span
                .filter(|&span| span <= (isize::MAX - item) as usize)
                .and_then(|span| v.lowest.addr().checked_add(span + item as usize));
            let Some(end) = end else { return false };
            if n <= 0 || v.lowest.is_null() || (s == 0 && k < OUT) {
                return false;
            }
            stride[k] = s;
            reach[k] = (v.lowest.addr(), end);
            self.base[k] = v.first(n, s);
        }
        let apart = |i: usize, j: usize| reach[i].1 <= reach[j].0 || reach[j].1 <= reach[i].0;
        if !(0..OUT).all(|i| (i + 1..N).all(|j| apart(i, j))) {
            return false;
        }
        self.plan.reset();
        self.plan.push(n as usize, stride);
        true
    }
}

/// Plans a walk over any vectors, of elements of `item` bytes. Returns the first logical elements.
#[cold]
fn plan_any<const N: usize>(
    plan: &mut Plan<N>,
    outs: usize,
    item: usize,
    n: isize,
    vectors: &[Vector; N],
) -> Result<[*mut u8; N], Error> {
    let mut dims = [[0; 2]; N];
    for k in 0..N {
        dims[k] = vectors[k].dims(n, item)?;
    }
    let mut layouts = ArrayVec::<_, N>::new();
    for k in 0..N {
        let layout = vectors[k].layout(&dims[k], item)?;
        if k < outs {
            layout.refuse_self_overlap(vectors[k].name)?;
        }
        layouts.push(layout);
    }
    let cells: [Cells; N] = core::array::from_fn(|k| vectors[k].cells(&layouts[k], k < outs));
    super::prepare(plan, outs, &cells.each_ref())?;
    Ok(cells.map(|c| c.base))
}

impl<T: Element> Walk<'_, T, 2, 0> {
    /// As [`Walk::plan_with_position`], over a vector.
    ///
    /// # Safety
    /// As [`plan_vectors`](Self::plan_vectors).
    ///
    /// # Errors
    /// It is NULL, or overflows.
    pub unsafe fn plan_vector_with_position(&mut self, n: isize, x: Vector) -> Result<(), Error> {
        let dims = x.dims(n, size_of::<T>())?;
        let layout = x.layout(&dims, size_of::<T>())?;
        self.position(&x.cells(&layout, false));
        Ok(())
    }
}
