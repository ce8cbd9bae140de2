//! The rules of overlap against a count of bytes: what shares none is accepted, what shares one is
//! refused and nothing is written.

mod common;

use common::*;
use ndblas::capi::fused::ndblas_mul_add;
use ndblas::capi::level1::*;
use proptest::prelude::*;
use std::collections::HashSet;

/// Views into one buffer, whose strides follow no order: gaps, folds, interleaving, zeros.
fn tangled() -> impl Strategy<Value = Layout> {
    let axis = (1isize..5, prop_oneof![-6isize..=6, (-6isize..=6).prop_map(|s| 4 * s)]);
    (prop::collection::vec(axis, 0..4), 400isize..440).prop_map(|(axes, base)| {
        let (shape, strides): (Vec<_>, Vec<_>) = axes.into_iter().unzip();
        Layout { base, shape, strides }
    })
}

fn buffer() -> Array<i32> {
    let mut numbers = Numbers { state: 1, exact: false };
    let mut array = Array::new(Layout::dense(&[200], 4), 0);
    array.fill_with(|| numbers.element());
    array
}

fn shares_within(layout: &Layout) -> bool {
    let cells = layout.cells(4);
    cells.iter().collect::<HashSet<_>>().len() < cells.len()
}

fn shares_between(a: &Layout, b: &Layout) -> bool {
    let cells: HashSet<_> = a.cells(4).into_iter().collect();
    b.cells(4).iter().any(|cell| cells.contains(cell))
}

/// Same first element, same shape, same steps where there is more than one.
fn is_same(a: &Layout, b: &Layout) -> bool {
    let steps = a.shape.iter().zip(a.strides.iter().zip(&b.strides));
    a.base == b.base && a.shape == b.shape && { steps }.all(|(&n, (s, t))| n == 1 || s == t)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4 * config().cases, ..config() })]

    #[test]
    fn of_an_output_with_itself(y in tangled()) {
        let mut memory = buffer();
        let before = memory.clone();
        // SAFETY: the view lies in the buffer.
        let status = unsafe { ndblas_fill(1.0.scalar(), &mut memory.view_mut_of(&y)) };
        if shares_within(&y) {
            prop_assert_eq!(status, OVERLAP);
            prop_assert!(last_error().starts_with("y of shape ("), "{}", last_error());
            prop_assert!(memory.bytes() == before.bytes(), "written all the same");
        } else {
            prop_assert_eq!(status, OK, "{}", last_error());
        }
    }

    /// An input of the output's shape.
    #[test]
    fn of_an_output_with_an_input(
        y in tangled(), strides in prop::collection::vec(-24isize..=24, 4), shift in -40isize..=40,
    ) {
        let x = Layout::new(y.base + shift, &y.shape, &strides[..y.shape.len()]);
        let mut memory = buffer();
        let before = memory.clone();
        let view = memory.view_of(&x);
        // SAFETY: the views lie in the buffer.
        let status = unsafe { ndblas_copy(&view, &mut memory.view_mut_of(&y)) };
        if shares_within(&y) || (shares_between(&x, &y) && !is_same(&x, &y)) {
            prop_assert_eq!(status, OVERLAP);
            prop_assert!(memory.bytes() == before.bytes(), "written all the same");
        } else {
            prop_assert_eq!(status, OK, "{}", last_error());
            let want: Vec<_> = x.offsets().iter().map(|&o| before.get_at(o)).collect();
            let got: Vec<_> = y.offsets().iter().map(|&o| memory.get_at(o)).collect();
            prop_assert_eq!(got, want);
        }
    }

    #[test]
    fn of_two_outputs(x in tangled(), shift in -40isize..=40) {
        let y = Layout { base: x.base + shift, ..x.clone() };
        let mut memory = buffer();
        let before = memory.clone();
        let (x_view, y_view) = (&mut memory.view_mut_of(&x), &mut memory.view_mut_of(&y));
        // SAFETY: the views lie in the buffer.
        let status = unsafe { ndblas_swap(x_view, y_view) };
        if shares_within(&x) || shares_between(&x, &y) {
            prop_assert_eq!(status, OVERLAP);
            prop_assert!(memory.bytes() == before.bytes(), "written all the same");
        } else {
            prop_assert_eq!(status, OK, "{}", last_error());
        }
    }
}

/// Columns, parts, halves and blocks of columns of one array are accepted at every size, and stay
/// exact.
#[test]
fn interleaved_views_are_apart() {
    for n in [4, 100, 10_000] {
        let mut array = Array::from_values(&[n, 2], &vec![1.0; 2 * n as usize]);
        let base = array.layout.base;
        let (even, odd) = (Layout::new(base, &[n], &[16]), Layout::new(base + 8, &[n], &[16]));
        let (x, y) = (array.view_of(&odd), &mut array.view_mut_of(&even));
        // SAFETY: the views lie in the array.
        assert_eq!(unsafe { ndblas_axpy(10.0.scalar(), &x, y) }, OK, "{}", last_error());
        assert!(array.values().iter().enumerate().all(|(i, &v)| v == [11.0, 1.0][i % 2]));

        let mut array = Array::from_values(&[n, 7], &vec![1.0; 7 * n as usize]);
        let base = array.layout.base;
        let left = Layout::new(base, &[n, 3], &[56, 8]);
        let right = Layout::new(base + 56 * (n - 1) + 24, &[n, 3], &[-56, 8]);
        let (x, y) = (array.view_of(&right), &mut array.view_mut_of(&left));
        // SAFETY: the views lie in the array.
        let status = unsafe { ndblas_mul_add(2.0.scalar(), &x, &x, 1.0.scalar(), y) };
        assert_eq!(status, OK, "{}", last_error());
        assert!(
            array
                .values()
                .iter()
                .enumerate()
                .all(|(i, &v)| v == [3.0, 1.0][(i % 7 / 3 % 2) | (i % 7 == 6) as usize])
        );
    }
}

/// Every routine that writes refuses a shifted alias, on short and on long vectors.
#[test]
fn every_routine_refuses_a_shifted_alias() {
    for n in [2, 100, 100_000] {
        let mut array = Array::from_values(&[n + 1], &vec![1.5; n as usize + 1]);
        let before = array.clone();
        let x_layout = Layout::new(array.layout.base, &[n], &[8]);
        let y_layout = Layout::new(array.layout.base + 8, &[n], &[8]);
        let x = array.view_of(&x_layout);
        let (x_mut, y) = (&mut array.view_mut_of(&x_layout), &mut array.view_mut_of(&y_layout));
        let apart = Array::from_values(&[n], &vec![1.0; n as usize]);
        let (other, one) = (apart.view(), 1.0.scalar());
        // SAFETY: the views lie in their arrays.
        let statuses = unsafe {
            [
                ndblas_copy(&x, y),
                ndblas_axpy(one, &x, y),
                ndblas_axpby(one, &x, one, y),
                ndblas_mul_add(one, &x, &other, one, y),
                ndblas_mul_add(one, &other, &x, one, y),
                ndblas_swap(x_mut, y),
                ndblas_rot(x_mut, y, 0.0, 1.0),
            ]
        };
        assert_eq!(statuses, [OVERLAP; 7]);
        assert!(array.bytes() == before.bytes());
    }
}

/// An alias that is refused is refused where nothing of it would be read, too.
#[test]
fn factors_of_zero_change_no_rule() {
    let mut array = Array::from_values(&[5], &[1.0; 5]);
    let x_layout = Layout::new(array.layout.base, &[4], &[8]);
    let y_layout = Layout::new(array.layout.base + 8, &[4], &[8]);
    let (x, y) = (array.view_of(&x_layout), &mut array.view_mut_of(&y_layout));
    // SAFETY: the views lie in the array.
    assert_eq!(unsafe { ndblas_axpby(0.0.scalar(), &x, 2.0.scalar(), y) }, OVERLAP);
    assert_eq!(array.values(), [1.0; 5]);
}

/// A view with the same cells in another order is another view.
#[test]
fn the_same_cells_reversed_are_refused() {
    let mut array = Array::from_values(&[4], &[1.0, 2.0, 3.0, 4.0]);
    let reversed = Layout::new(array.layout.base + 24, &[4], &[-8]);
    let (x, y) = (array.view_of(&reversed), &mut array.view_mut());
    // SAFETY: the views lie in the array.
    assert_eq!(unsafe { ndblas_copy(&x, y) }, OVERLAP);
    // SAFETY: as above.
    assert_eq!(unsafe { ndblas_mul_add(1.0.scalar(), &x, &x, 1.0.scalar(), y) }, OVERLAP);
    assert!(last_error().contains("c of shape (4,) overlaps a of shape (4,)"), "{}", last_error());
    assert_eq!(array.values(), [1.0, 2.0, 3.0, 4.0]);
}
