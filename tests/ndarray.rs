//! Conversions from and to ndarray's views.

#![cfg(feature = "ndarray")]

use ndarray::{Array, ArrayViewD, Axis, s};
use ndblas::{Error, View, ViewMut, axpy};

#[test]
fn there_and_back() {
    let array = Array::from_iter(0..120i32).into_shape_with_order((4, 5, 6)).unwrap();
    let mut part = array.slice(s![..;2, 1..4, ..]);
    part.invert_axis(Axis(1));
    part.swap_axes(0, 2);
    let view = View::try_from(part).unwrap();
    assert_eq!(view.shape(), part.shape());
    for ((i, j, k), &value) in part.indexed_iter() {
        assert_eq!(view.get(&[i, j, k]), Some(value));
    }
    assert_eq!(ArrayViewD::try_from(view).unwrap(), part.into_dyn());
}

#[test]
fn an_axpy_on_arrays() {
    let x = Array::from_shape_fn((3, 2), |(i, j)| (10 * i + j) as f64);
    let mut y = Array::zeros((2, 3));
    let x_view = View::try_from(x.t()).unwrap();
    axpy(2.0, &x_view, &mut ViewMut::try_from(y.view_mut()).unwrap()).unwrap();
    assert_eq!(y, 2.0 * &x.t());
}

#[test]
fn misaligned_strides_do_not_convert() {
    let bytes = [0u8; 30];
    // SAFETY: three f64 at a distance of 9 bytes lie within 26 bytes.
    let view = unsafe { View::<f64>::from_raw_parts(bytes.as_ptr().cast(), &[3], &[9]) };
    assert!(matches!(ArrayViewD::try_from(view.unwrap()), Err(Error::Layout { .. })));
}
