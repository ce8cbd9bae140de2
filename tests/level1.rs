//! Level 1 against the naive oracle, over random layouts.

mod common;

use common::*;
use ndblas::capi::level1::*;
use ndblas::capi::types::{ndblas_scalar, ndblas_view};
use ndblas::{DType, Element};
use num_complex::Complex;
use proptest::prelude::*;

type Property = Result<(), TestCaseError>;

/// Which element-wise routine with arithmetic; one property serves them.
#[derive(Debug, Clone, Copy)]
enum Update {
    Scal,
    Axpy,
    Axpby,
}

impl Update {
    /// `y <- own*y + alpha*x`
    fn own<T: Number>(self, case: &Case) -> T {
        match self {
            Update::Scal => case.alpha(),
            Update::Axpy => T::ONE,
            Update::Axpby => case.beta(),
        }
    }

    fn reads_x<T: Number>(self, case: &Case) -> bool {
        !matches!(self, Update::Scal) && case.alpha::<T>() != T::ZERO
    }

    /// scal follows IEEE arithmetic with any factor.
    fn reads_y<T: Number>(self, case: &Case) -> bool {
        matches!(self, Update::Scal) || self.own::<T>(case) != T::ZERO
    }

    fn call<T: Number>(self, case: &Case, x: &ndblas_view, y: &mut Array<T>) -> i32 {
        let (alpha, beta) = (case.alpha::<T>().scalar(), case.beta::<T>().scalar());
        let y = &mut y.view_mut();
        // SAFETY: the views lie in the memory of their arrays.
        unsafe {
            match self {
                Update::Scal => ndblas_scal(alpha, y),
                Update::Axpy => ndblas_axpy(alpha, x, y),
                Update::Axpby => ndblas_axpby(alpha, x, beta, y),
            }
        }
    }

    fn oracle<T: Number>(self, case: &Case, x: T, y: T) -> Sum {
        let mut sum = Sum::default();
        if self.reads_y::<T>(case) {
            sum = sum.plus(&[self.own::<T>(case).wide(), y.wide()]);
        }
        if self.reads_x::<T>(case) {
            sum = sum.plus(&[case.alpha::<T>().wide(), x.wide()]);
        }
        sum
    }

    fn of_two_arrays<T: Number>(self, case: &Case) -> Property {
        let mut numbers = case.numbers();
        let (mut x, mut y) = (case.a.input::<T>(&case.shape), case.out.output::<T>(&case.shape));
        // What is not to be read is NaN.
        x.fill_with(|| numbers.number_or_nan(self.reads_x::<T>(case)));
        y.fill_with(|| numbers.number_or_nan(self.reads_y::<T>(case)));
        let (before, input) = (y.clone(), x.bytes().to_vec());

        prop_assert_eq!(self.call(case, &x.view(), &mut y), OK, "{}", last_error());

        check_elements(&before, &y, case.exact, |i| self.oracle(case, x.get(i), before.get(i)))?;
        prop_assert!(input == x.bytes(), "wrote to an input");

        let (x, mut dense) = (densely(&x, &case.shape), densely(&before, &case.shape));
        prop_assert_eq!(self.call(case, &x.view(), &mut dense), OK);
        prop_assert!(!without_blas() || bits(&y) == bits(&dense), "the bits depend on the layout");
        Ok(())
    }

    fn in_place<T: Number>(self, case: &Case) -> Property {
        let mut numbers = case.numbers();
        let mut y = case.out.output::<T>(&case.shape);
        y.fill_with(|| numbers.number());
        let (before, x) = (y.clone(), y.view());
        prop_assert_eq!(self.call(case, &x, &mut y), OK, "{}", last_error());
        check_elements(&before, &y, case.exact, |i| self.oracle(case, before.get(i), before.get(i)))
    }
}

fn scal<T: Number>(case: &Case) -> Property {
    Update::Scal.of_two_arrays::<T>(case)
}

fn axpy<T: Number>(case: &Case) -> Property {
    Update::Axpy.of_two_arrays::<T>(case)
}

fn axpby<T: Number>(case: &Case) -> Property {
    Update::Axpby.of_two_arrays::<T>(case)
}

fn axpy_in_place<T: Number>(case: &Case) -> Property {
    Update::Axpy.in_place::<T>(case)
}

fn axpby_in_place<T: Number>(case: &Case) -> Property {
    Update::Axpby.in_place::<T>(case)
}

/// `(x, y) <- (c*x + s*y, c*y - s*x)`; c and s are the real parts of the case's factors.
fn rot<T: Number>(case: &Case) -> Property {
    let (c, s) = (case.alpha::<T>().wide().re, case.beta::<T>().wide().re);
    let mut numbers = case.numbers();
    let (mut x, mut y) = (case.out.output::<T>(&case.shape), case.a.output::<T>(&case.shape));
    x.fill_with(|| numbers.number());
    y.fill_with(|| numbers.number());
    let before = (x.clone(), y.clone());
    let call = |x: &mut Array<T>, y: &mut Array<T>| {
        // SAFETY: the views lie in the memory of their arrays.
        unsafe { ndblas_rot(&mut x.view_mut(), &mut y.view_mut(), c, s) }
    };

    prop_assert_eq!(call(&mut x, &mut y), OK, "{}", last_error());

    let sum = |c: f64, x: T, s: f64, y: T| {
        Sum::default().plus(&[c.into(), x.wide()]).plus(&[s.into(), y.wide()])
    };
    let olds = |i: &[isize]| (before.0.get(i), before.1.get(i));
    check_elements(&before.0, &x, case.exact, |i| sum(c, olds(i).0, s, olds(i).1))?;
    check_elements(&before.1, &y, case.exact, |i| sum(c, olds(i).1, -s, olds(i).0))?;

    let mut dense = (densely(&before.0, &case.shape), densely(&before.1, &case.shape));
    prop_assert_eq!(call(&mut dense.0, &mut dense.1), OK);
    let same = bits(&x) == bits(&dense.0) && bits(&y) == bits(&dense.1);
    prop_assert!(!without_blas() || same, "the bits depend on the layout");
    Ok(())
}

/// The larger of the operands may be either, and neither need be dense.
fn dots<T: Number>(case: &Case) -> Property {
    let mut numbers = case.numbers();
    let (mut x, mut y) = (case.out.output::<T>(&case.shape), case.a.input::<T>(&case.shape));
    x.fill_with(|| numbers.number());
    y.fill_with(|| numbers.number());
    for conjugate in [false, true] {
        let routine = if conjugate { ndblas_dotc } else { ndblas_dotu };
        let call = |x: &Array<T>, y: &Array<T>| {
            let mut result = ndblas_scalar { re: f64::NAN, im: f64::NAN };
            // SAFETY: the views lie in the memory of their arrays.
            let status = unsafe { routine(&x.view(), &y.view(), &mut result) };
            assert_eq!(status, OK, "{}", last_error());
            Complex::new(result.re, result.im)
        };
        let first = |v: T| if conjugate { v.wide().conj() } else { v.wide() };
        let (mut xy, mut yx) = (Sum::default(), Sum::default());
        each_index(&case.shape, |i| {
            let (x, y) = (x.get(i), y.get(i));
            (xy, yx) = (xy.plus(&[first(x), y.wide()]), yx.plus(&[first(y), x.wide()]));
        });
        check_sum::<T>(call(&x, &y), xy, case.exact)?;
        check_sum::<T>(call(&y, &x), yx, case.exact)?;
    }
    Ok(())
}

/// A block is summed in lanes, each a few dozen additions long; the blocks are added in double.
fn check_sum<T: Number>(got: Complex<f64>, want: Sum, exact: bool) -> Property {
    let bound = if exact { 0.0 } else { 64.0 * T::EPSILON * want.magnitude };
    let error = got - want.value;
    prop_assert!(error.re.abs() <= bound && error.im.abs() <= bound, "{got}, not {want:?}");
    Ok(())
}

fn norms<T: Number>(case: &Case) -> Property {
    let mut numbers = case.numbers();
    let mut x = case.a.input::<T>(&case.shape);
    x.fill_with(|| numbers.number());
    let x = x;
    let (mut squares, mut magnitudes) = (Sum::default(), Sum::default());
    each_index(&x.layout.shape, |i| {
        let v = x.get(i).wide();
        squares = squares.plus(&[v.norm_sqr().into()]);
        magnitudes = magnitudes.plus(&[(v.re.abs() + v.im.abs()).into()]);
    });
    check_sum::<T>(value(ndblas_asum, &x).into(), magnitudes, case.exact)?;
    let (got, want) = (value(ndblas_nrm2, &x), squares.value.re.sqrt());
    prop_assert!((got - want).abs() <= 64.0 * T::EPSILON * want, "{got}, not {want}");
    Ok(())
}

/// What a reduction of one view gives.
fn value<T: Element, R: Default>(
    routine: unsafe extern "C" fn(*const ndblas_view, *mut R) -> i32,
    x: &Array<T>,
) -> R {
    let mut result = R::default();
    // SAFETY: the view lies in the memory of its array.
    assert_eq!(unsafe { routine(&x.view(), &mut result) }, OK, "{}", last_error());
    result
}

/// Whole numbers, so that there are many ties; one case in four has some NaN.
fn iamax<T: Number>(case: &Case) -> Property {
    let mut numbers = Numbers { exact: true, ..case.numbers() };
    let mut x = case.a.input::<T>(&case.shape);
    x.fill_with(|| {
        let nan = case.seed.is_multiple_of(4) && numbers.bits().is_multiple_of(64);
        numbers.number_or_nan(!nan)
    });
    let magnitude = |v: T| v.wide().re.abs() + v.wide().im.abs();
    let mut best: Option<(isize, f64)> = None;
    for (i, v) in x.values().into_iter().map(magnitude).enumerate() {
        if best.is_none_or(|(_, b)| v > b || (v.is_nan() && !b.is_nan())) {
            best = Some((i as isize, v));
        }
    }
    prop_assert_eq!(value(ndblas_iamax, &x), best.map_or(-1, |(i, _)| i));
    Ok(())
}

/// A reduction has the same bits wherever its operands begin.
fn reductions_at_every_address<T: Number>(case: &Case) -> Property {
    let mut numbers = Numbers { exact: false, ..case.numbers() };
    let mut x = case.a.input::<T>(&case.shape);
    x.fill_with(|| numbers.number());
    let moved = |shift: usize| {
        let mut other = Array::new(x.layout.clone(), shift);
        other.assign(x.values());
        other
    };
    let results = |x: &Array<T>, y: &Array<T>| {
        let mut dot = ndblas_scalar { re: 0.0, im: 0.0 };
        // SAFETY: the views lie in the memory of their arrays.
        assert_eq!(unsafe { ndblas_dotu(&x.view(), &y.view(), &mut dot) }, OK);
        [dot.re, dot.im, value(ndblas_asum, x), value(ndblas_nrm2, x)].map(f64::to_bits)
    };
    let want = results(&x, &moved(0));
    for shift in [1, 4, 8, 16, 24, 33] {
        prop_assert_eq!(results(&moved(shift), &moved(2 * shift)), want, "at {}", shift);
    }
    Ok(())
}

for_numbers!(
    scal,
    axpy,
    axpby,
    axpy_in_place,
    axpby_in_place,
    rot,
    dots,
    norms,
    iamax,
    reductions_at_every_address,
);

/// The bits of the elements move, whatever they are; x broadcasts.
fn copy<T: Element>(case: &Case) -> Property {
    let mut numbers = case.numbers();
    let (mut x, mut y) = (case.a.input::<T>(&case.shape), case.out.output::<T>(&case.shape));
    x.fill_with(|| numbers.element());
    let before = (x.clone(), y.clone());
    // SAFETY: the views lie in the memory of their arrays.
    let status = unsafe { ndblas_copy(&x.view(), &mut y.view_mut()) };
    prop_assert_eq!(status, OK, "{}", last_error());
    prop_assert!(bits(&y) == bits(&densely(&x, &case.shape)));
    prop_assert!(before.1.canaries() == y.canaries(), "wrote outside the view");
    // SAFETY: as above.
    let status = unsafe { ndblas_copy(&y.view(), &mut y.view_mut()) };
    prop_assert_eq!(status, OK, "in place: {}", last_error());
    prop_assert!(bits(&y) == bits(&densely(&x, &case.shape)), "in place");
    prop_assert!(before.0.bytes() == x.bytes(), "wrote to an input");
    Ok(())
}

fn swap<T: Element>(case: &Case) -> Property {
    let mut numbers = case.numbers();
    let (mut x, mut y) = (case.a.output::<T>(&case.shape), case.out.output::<T>(&case.shape));
    x.fill_with(|| numbers.element());
    y.fill_with(|| numbers.element());
    let before = (x.clone(), y.clone());
    // SAFETY: the views lie in the memory of their arrays.
    let status = unsafe { ndblas_swap(&mut x.view_mut(), &mut y.view_mut()) };
    prop_assert_eq!(status, OK, "{}", last_error());
    prop_assert!(bits(&x) == bits(&before.1) && bits(&y) == bits(&before.0));
    prop_assert!(before.0.canaries() == x.canaries(), "wrote outside x");
    prop_assert!(before.1.canaries() == y.canaries(), "wrote outside y");
    Ok(())
}

/// A number that is in every type, by its bytes.
fn whole_number<T: Element>(v: u8) -> T {
    let mut bytes = [0; 16];
    match T::DTYPE {
        integer if integer.is_integer() => bytes[..8].copy_from_slice(&u64::from(v).to_le_bytes()),
        DType::F32 | DType::Complex64 => {
            bytes[..4].copy_from_slice(&f32::from(v).to_le_bytes());
        }
        _ => bytes[..8].copy_from_slice(&f64::from(v).to_le_bytes()),
    }
    let mut array = Array::<T>::from_values(&[1], &[T::ZERO]);
    let start = array.layout.base as usize;
    array.bytes_mut()[start..][..size_of::<T>()].copy_from_slice(&bytes[..size_of::<T>()]);
    array.get_at(start as isize)
}

/// Whole numbers up to 100 are in every type.
fn fill<T: Element>(case: &Case) -> Property {
    let mut y = case.out.output::<T>(&case.shape);
    let before = y.clone();
    let alpha = ndblas_scalar { re: (case.seed % 100) as f64, im: 0.0 };
    // SAFETY: the view lies in the memory of its array.
    prop_assert_eq!(unsafe { ndblas_fill(alpha, &mut y.view_mut()) }, OK, "{}", last_error());
    let want = whole_number::<T>((case.seed % 100) as u8);
    prop_assert!(y.values().iter().all(|&v| v == want));
    prop_assert!(before.canaries() == y.canaries(), "wrote outside the view");
    Ok(())
}

for_elements!(copy, swap, fill);

/// Numbered cells, copied from one arrangement of a shape to another, are each met once.
mod visits {
    use super::*;
    proptest! {
        #![proptest_config(config())]
        #[test]
        fn each_index_once(case in cases()) {
            let (mut x, mut y) =
                (case.b.output::<u32>(&case.shape), case.out.output::<u32>(&case.shape));
            let mut last = 0;
            x.fill_with(|| {
                last += 1;
                last
            });
            y.fill_with(|| 0);
            // SAFETY: the views lie in the memory of their arrays.
            prop_assert_eq!(unsafe { ndblas_copy(&x.view(), &mut y.view_mut()) }, OK);
            prop_assert!(y.values().into_iter().eq(1..=y.values().len() as u32));
        }
    }
}

/// Up to 64 axes, some of length 2, the others of length 1.
#[test]
fn every_rank() {
    for ndim in [7, 12, 30, 64] {
        let shape: Vec<isize> =
            (0..ndim).map(|d| if d % (ndim / 6) == 0 { 2 } else { 1 }).collect();
        let mut reversed = Layout::dense(&shape, 8);
        reversed.strides.iter_mut().for_each(|s| *s = -*s);
        let size = shape.iter().product::<isize>() as usize;
        let numbered: Vec<f64> = (0..size).map(|i| i as f64).collect();
        let x = Array::from_values(&shape, &numbered);
        let mut y = Array::<f64>::new(reversed, 0);
        y.fill_with(|| 1.0);
        // SAFETY: the views lie in their arrays.
        let status = unsafe { ndblas_axpy(2.0.scalar(), &x.view(), &mut y.view_mut()) };
        assert_eq!(status, OK, "{}", last_error());
        assert!(y.values().iter().enumerate().all(|(i, &v)| v == 1.0 + 2.0 * i as f64));
        assert_eq!(value(ndblas_iamax, &y), size as isize - 1);
    }
}

/// Work that is large enough to be divided has the same bits for any number of threads.
#[test]
fn any_number_of_threads() {
    let mut numbers = Numbers { state: 3, exact: false };
    let mut next = || numbers.number::<f32>();
    let (mut x, mut y) = (Array::from_values(&[], &[0f32]), Array::from_values(&[], &[0f32]));
    for array in [&mut x, &mut y] {
        *array = Array::new(Layout::dense(&[1100, 1000], 4), 0);
        array.fill_with(&mut next);
    }
    // One operand transposed, and both dense.
    for strides in [[4, 4400], [4000, 4]] {
        x.layout.strides = strides.to_vec();
        let results = [1, 2, 7].map(|threads| {
            ndblas::set_num_threads_local(threads);
            let (mut y, mut dot) = (y.clone(), ndblas_scalar { re: 0.0, im: 0.0 });
            let (x_view, third) = (x.view(), (1.0 / 3.0).scalar());
            // SAFETY: the views lie in their arrays.
            unsafe {
                assert_eq!(ndblas_axpby(third, &x_view, third, &mut y.view_mut()), OK);
                assert_eq!(ndblas_dotu(&x_view, &y.view(), &mut dot), OK);
            }
            let sums = [dot.re, value(ndblas_asum, &x), value(ndblas_nrm2, &x)].map(f64::to_bits);
            (bits(&y), sums, value(ndblas_iamax, &x))
        });
        assert!(results.iter().all(|r| *r == results[0]));
    }
}

#[test]
fn under_every_override() {
    rerun_under_overrides("under_every_override");
}
