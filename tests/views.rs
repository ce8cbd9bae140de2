//! Views of the safe Rust API: what they accept, what they show, and routines on them.

mod common;

use common::{Numbers, config, each_index, shapes};
use ndblas::{Error, Status, View, ViewMut};
use proptest::prelude::*;

fn numbered(n: usize) -> Vec<f64> {
    (0..n).map(|i| i as f64).collect()
}

fn status<T>(result: Result<T, Error>) -> Status {
    result.err().map_or(Status::Ok, |e| e.status())
}

/// The elements in row-major order.
fn elements(view: &View<f64>) -> Vec<f64> {
    let shape: Vec<_> = view.shape().iter().map(|&n| n as isize).collect();
    let mut values = Vec::new();
    each_index(&shape, |index| {
        let index: Vec<_> = index.iter().map(|&i| i as usize).collect();
        values.push(view.get(&index).expect("within the extents"));
    });
    values
}

#[test]
fn slices_bound_their_views() {
    let mut data = numbered(6);
    assert_eq!(status(View::from_slice(&data, &[2, 3])), Status::Ok);
    assert_eq!(status(View::from_slice(&data, &[5])), Status::Ok);
    assert_eq!(status(View::from_slice(&data, &[7])), Status::Layout);
    assert_eq!(status(View::from_slice(&data, &[usize::MAX])), Status::Shape);
    assert_eq!(status(View::from_slice(&data, &[1 << 40, 1 << 40])), Status::Shape);
    assert_eq!(status(View::from_slice(&data, &[1; 65])), Status::Shape);
    assert_eq!(status(ViewMut::from_slice(&mut data, &[7])), Status::Layout);

    let strided = |offset, shape: &[usize], strides: &[isize]| {
        status(View::from_slice_strided(&data, offset, shape, strides))
    };
    assert_eq!(strided(0, &[3], &[2]), Status::Ok);
    assert_eq!(strided(1, &[3], &[2]), Status::Ok);
    assert_eq!(strided(2, &[3], &[2]), Status::Layout);
    assert_eq!(strided(5, &[6], &[-1]), Status::Ok);
    assert_eq!(strided(4, &[6], &[-1]), Status::Layout);
    assert_eq!(strided(3, &[100, 2], &[0, 1]), Status::Ok);
    assert_eq!(strided(6, &[1], &[1]), Status::Layout);
    assert_eq!(strided(usize::MAX, &[1], &[1]), Status::Layout);
    assert_eq!(strided(usize::MAX, &[2], &[-1]), Status::Layout);
    assert_eq!(strided(0, &[2], &[isize::MAX / 16]), Status::Layout);
    assert_eq!(strided(0, &[2], &[isize::MAX]), Status::Argument);
    assert_eq!(strided(0, &[3], &[isize::MIN / 8]), Status::Shape);
    assert_eq!(strided(0, &[3], &[1, 2]), Status::Argument);
    // What is empty or unused reaches nowhere.
    assert_eq!(strided(99, &[0, 4], &[1, 1]), Status::Ok);
    assert_eq!(strided(5, &[1], &[isize::MAX]), Status::Ok);
}

#[test]
fn a_mutable_view_overlaps_nothing() {
    let mut data = numbered(13);
    let mut strided = |shape: &[usize], strides: &[isize]| {
        status(ViewMut::from_slice_strided(&mut data, 0, shape, strides))
    };
    assert_eq!(strided(&[2, 2], &[0, 1]), Status::Overlap);
    assert_eq!(strided(&[2, 2], &[1, 1]), Status::Overlap);
    assert_eq!(strided(&[3, 4], &[2, 1]), Status::Overlap);
    assert_eq!(strided(&[1, 4], &[0, 1]), Status::Ok);
    assert_eq!(strided(&[0, 4], &[0, 0]), Status::Ok);
    // 0 2 4 and 3 5 7: folded, but apart.
    assert_eq!(strided(&[2, 3], &[3, 2]), Status::Ok);
    // 0 2 4 6 and 3 5 7 9, then 6 again.
    assert_eq!(strided(&[3, 4], &[3, 2]), Status::Overlap);
}

/// Shape, strides and elements, of a view and of what is made of it.
#[test]
fn rearrangements() {
    let data = numbered(24);
    let view = View::from_slice(&data, &[2, 3, 4]).unwrap();
    assert_eq!((view.ndim(), view.len(), view.is_empty()), (3, 24, false));
    assert_eq!((view.shape(), view.byte_strides()), (vec![2, 3, 4], vec![96, 32, 8]));
    assert_eq!(
        (view.get(&[1, 2, 3]), view.get(&[1, 3, 0]), view.get(&[1])),
        (Some(23.0), None, None)
    );

    let permuted = view.clone().permuted(&[2, 0, 1]).unwrap();
    assert_eq!((permuted.shape(), permuted.byte_strides()), (vec![4, 2, 3], vec![8, 96, 32]));
    assert_eq!(permuted.get(&[3, 1, 0]), Some(15.0));
    let sliced = view.clone().sliced(-1, 1..3).unwrap();
    assert_eq!((sliced.shape(), sliced.get(&[0, 0, 0])), (vec![2, 3, 2], Some(1.0)));
    let reversed = view.clone().reversed(0).unwrap();
    assert_eq!((reversed.byte_strides(), reversed.get(&[0, 0, 0])), (vec![-96, 32, 8], Some(12.0)));

    assert_eq!(status(view.clone().permuted(&[0, 1])), Status::Axis);
    assert_eq!(status(view.clone().permuted(&[0, 1, 1])), Status::Axis);
    assert_eq!(status(view.clone().permuted(&[0, 1, usize::MAX])), Status::Axis);
    assert_eq!(status(view.clone().sliced(3, 0..1)), Status::Axis);
    assert_eq!(status(view.clone().sliced(-4, 0..1)), Status::Axis);
    assert_eq!(status(view.clone().sliced(isize::MIN, 0..1)), Status::Axis);
    assert_eq!(status(view.clone().sliced(0, 1..3)), Status::Argument);
    #[allow(clippy::reversed_empty_ranges)]
    let backwards = 2..1;
    assert_eq!(status(view.clone().sliced(0, backwards)), Status::Argument);
    assert_eq!(status(view.reversed(3)), Status::Axis);
}

#[test]
fn slices_to_nothing() {
    let data = numbered(6);
    let view = View::from_slice(&data, &[2, 3]).unwrap();
    for range in [0..0, 1..1, 3..3] {
        let empty = view.clone().sliced(1, range).unwrap();
        assert_eq!((empty.shape(), empty.is_empty()), (vec![2, 0], true));
        let empty = empty.reversed(0).unwrap().reversed(1).unwrap().permuted(&[1, 0]).unwrap();
        assert_eq!(ndblas::nrm2(&empty), Ok(0.0));
        assert_eq!(ndblas::iamax(&empty), Ok(None));
    }
}

#[test]
fn halves_can_be_written_apart() {
    let mut data = numbered(8);
    let view = ViewMut::from_slice(&mut data, &[2, 4]).unwrap();
    let (mut left, mut right) = view.split_at(1, 2).unwrap();
    assert_eq!((left.shape(), right.shape()), (vec![2, 2], vec![2, 2]));
    ndblas::swap(&mut left, &mut right).unwrap();
    ndblas::axpy(10.0, &left.as_view(), &mut right).unwrap();
    assert_eq!(data, [2.0, 3.0, 20.0, 31.0, 6.0, 7.0, 64.0, 75.0]);

    let split = |axis, index| {
        let mut data = numbered(8);
        status(ViewMut::from_slice(&mut data, &[2, 4]).unwrap().split_at(axis, index))
    };
    assert_eq!([split(-1, 0), split(-1, 4)], [Status::Ok; 2]);
    assert_eq!([split(1, 5), split(1, usize::MAX)], [Status::Argument; 2]);
    assert_eq!(split(2, 0), Status::Axis);
}

#[test]
fn single_elements_broadcast() {
    let (three, mut sum) = (3.0, 1.0);
    let mut y = numbered(3);
    ndblas::axpy(2.0, &View::from_ref(&three), &mut ViewMut::from_slice(&mut y, &[3]).unwrap())
        .unwrap();
    ndblas::axpy(1.0, &View::from_ref(&three), &mut ViewMut::from_mut(&mut sum)).unwrap();
    assert_eq!((y, sum), (vec![6.0, 7.0, 8.0], 4.0));
}

/// Raw parts may lie anywhere and step by any number of bytes.
#[test]
fn raw_parts_need_no_alignment() {
    let mut bytes = [0u8; 100];
    let p = bytes.as_mut_ptr().wrapping_add(1);
    // SAFETY: nine elements, 11 bytes apart, fit the bytes after the first.
    let mut y = unsafe { ViewMut::<f64>::from_raw_parts(p.cast(), &[3, 3], &[33, 11]) }.unwrap();
    ndblas::fill(1.5, &mut y).unwrap();
    ndblas::scal(2.0, &mut y.reborrow()).unwrap();
    assert_eq!(elements(&y.as_view()), [3.0; 9]);
    assert_eq!(bytes.iter().filter(|&&b| b != 0).count(), 18);
    // SAFETY: as above.
    let wrong = unsafe { View::<f64>::from_raw_parts(p.cast(), &[3, 3], &[33]) };
    assert_eq!(status(wrong), Status::Argument);
}

proptest! {
    #![proptest_config(config())]

    /// Any chain of rearrangements shows the elements that indexing says, and a copy stores them.
    #[test]
    fn chains_of_rearrangements(shape in shapes(), seed in any::<u64>()) {
        let mut numbers = Numbers { state: seed, exact: true };
        let dims: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
        let data = numbered(dims.iter().product());
        let mut view = View::from_slice(&data, &dims).unwrap();
        // What the view is to show: the flat position of each of its elements.
        let mut shown = data.clone();
        for _ in 0..4 {
            let ndim = view.ndim();
            if ndim == 0 {
                break;
            }
            let axis = numbers.bits() as usize % ndim;
            let old = view.shape();
            let mut perm: Vec<usize> = (0..ndim).collect();
            let mut start = 0;
            let mut flipped = false;
            match numbers.bits() % 3 {
                0 => {
                    perm.rotate_left(axis);
                    view = view.permuted(&perm).unwrap();
                }
                1 => {
                    (flipped, view) = (true, view.reversed(axis as isize - ndim as isize).unwrap());
                }
                _ => {
                    start = numbers.bits() as usize % (old[axis] + 1);
                    let end = start + numbers.bits() as usize % (old[axis] - start + 1);
                    view = view.sliced(axis as isize, start..end).unwrap();
                }
            }
            let new: Vec<_> = view.shape().iter().map(|&n| n as isize).collect();
            let mut next = Vec::new();
            each_index(&new, |index| {
                let mut source = vec![0; ndim];
                (0..ndim).for_each(|d| source[perm[d]] = index[d] as usize);
                source[axis] += start;
                if flipped {
                    source[axis] = old[axis] - 1 - source[axis];
                }
                let flat = source.iter().zip(&old).fold(0, |flat, (i, n)| flat * n + i);
                next.push(shown[flat]);
            });
            shown = next;
        }
        prop_assert_eq!(elements(&view), &shown[..]);
        let mut stored = vec![f64::NAN; shown.len()];
        ndblas::copy(&view, &mut ViewMut::from_slice(&mut stored, &view.shape()).unwrap()).unwrap();
        prop_assert_eq!(stored, shown);
    }
}
