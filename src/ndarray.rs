//! Views from and to `ndarray`'s (feature `ndarray`).

use crate::error::Error;
use crate::scalar::Element;
use crate::view::{View, ViewMut};
use ndarray::{
    ArrayView, ArrayViewD, ArrayViewMut, ArrayViewMutD, Axis, Dimension, IxDyn, ShapeBuilder,
    StrideShape,
};

fn byte_strides<T>(strides: &[isize]) -> Vec<isize> {
    // ndarray's own strides stay within the array, so in bytes they fit too.
    strides.iter().map(|s| s.wrapping_mul(size_of::<T>() as isize)).collect()
}

impl<'a, T: Element, D: Dimension> TryFrom<ArrayView<'a, T, D>> for View<'a, T> {
    type Error = Error;

    /// The same cells. The only error is a rank above [`MAX_NDIM`](crate::MAX_NDIM).
    fn try_from(a: ArrayView<'a, T, D>) -> Result<Self, Error> {
        // SAFETY: an ArrayView of lifetime 'a points to the cells that its shape and strides name.
        unsafe { View::from_raw_parts(a.as_ptr(), a.shape(), &byte_strides::<T>(a.strides())) }
    }
}

impl<'a, T: Element, D: Dimension> TryFrom<ArrayViewMut<'a, T, D>> for ViewMut<'a, T> {
    type Error = Error;

    /// The same cells. The only error is a rank above [`MAX_NDIM`](crate::MAX_NDIM).
    fn try_from(mut a: ArrayViewMut<'a, T, D>) -> Result<Self, Error> {
        let base = a.as_mut_ptr();
        // SAFETY: an ArrayViewMut of lifetime 'a is the only way to the cells that its shape and
        // strides name, and we consume it.
        unsafe { ViewMut::from_raw_parts(base, a.shape(), &byte_strides::<T>(a.strides())) }
    }
}

/// What ndarray wants of a view: no negative stride.
struct Parts {
    shape: StrideShape<IxDyn>,
    /// The axes to reverse afterwards.
    reversed: Vec<Axis>,
    /// From the first logical element to the one at the lowest address, in elements.
    offset: isize,
}

fn parts<T>(address: usize, shape: &[usize], strides: &[isize]) -> Result<Parts, Error> {
    let item = size_of::<T>() as isize;
    let empty = shape.contains(&0);
    let (mut reversed, mut offset, mut steps) = (Vec::new(), 0, Vec::new());
    let mut whole = address.is_multiple_of(align_of::<T>());
    for (d, (&n, &stride)) in shape.iter().zip(strides).enumerate() {
        // Other strides are never used.
        let stride = if n > 1 && !empty { stride } else { 0 };
        whole &= stride % item == 0;
        if stride < 0 {
            reversed.push(Axis(d));
            offset += (n as isize - 1) * (stride / item);
        }
        steps.push((stride / item).unsigned_abs());
    }
    if !whole {
        return Err(Error::Layout {
            arg: "view",
            shape: shape.iter().map(|&n| n as isize).collect(),
            strides: strides.into(),
            why: "ndarray's elements are aligned, and its strides whole elements",
        });
    }
    Ok(Parts { shape: IxDyn(shape).strides(IxDyn(&steps)), reversed, offset })
}

impl<'a, T: Element> TryFrom<View<'a, T>> for ArrayViewD<'a, T> {
    type Error = Error;

    /// The same cells; [`Error::Layout`] if elements are misaligned or strides no whole elements.
    fn try_from(v: View<'a, T>) -> Result<Self, Error> {
        let Parts { shape, reversed, offset } =
            parts::<T>(v.as_ptr().addr(), &v.shape(), &v.byte_strides())?;
        // SAFETY: the view's cells for its lifetime, from the lowest address on.
        let mut a = unsafe { ArrayView::from_shape_ptr(shape, v.as_ptr().wrapping_offset(offset)) };
        reversed.into_iter().for_each(|axis| a.invert_axis(axis));
        Ok(a)
    }
}

impl<'a, T: Element> TryFrom<ViewMut<'a, T>> for ArrayViewMutD<'a, T> {
    type Error = Error;

    /// The same cells; [`Error::Layout`] if elements are misaligned or strides no whole elements.
    fn try_from(mut v: ViewMut<'a, T>) -> Result<Self, Error> {
        let base = v.as_mut_ptr();
        let Parts { shape, reversed, offset } =
            parts::<T>(base.addr(), &v.shape(), &v.byte_strides())?;
        // SAFETY: the view's cells for its lifetime, from the lowest address on; no two indices
        // share a byte.
        let mut a = unsafe { ArrayViewMut::from_shape_ptr(shape, base.wrapping_offset(offset)) };
        reversed.into_iter().for_each(|axis| a.invert_axis(axis));
        Ok(a)
    }
}
