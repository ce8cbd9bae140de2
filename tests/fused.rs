//! mul_add against the naive oracle, over random layouts.

mod common;

use common::*;
use ndblas::capi::fused::ndblas_mul_add;
use proptest::prelude::*;

fn call<T: Number>(alpha: T, a: &Array<T>, b: &Array<T>, beta: T, c: &mut Array<T>) -> i32 {
    // SAFETY: the views lie in the memory of their arrays.
    unsafe {
        ndblas_mul_add(alpha.scalar(), &a.view(), &b.view(), beta.scalar(), &mut c.view_mut())
    }
}

/// beta*c + alpha*(a*b), in which a factor of 0 takes away its term whatever that is.
fn oracle<T: Number>(alpha: T, a: T, b: T, beta: T, c: T) -> Sum {
    let mut sum = Sum::default();
    if alpha != T::ZERO {
        sum = sum.plus(&[alpha.wide(), a.wide(), b.wide()]);
    }
    if beta != T::ZERO {
        sum = sum.plus(&[beta.wide(), c.wide()]);
    }
    sum
}

fn multiplies_and_adds<T: Number>(case: &Case) -> Result<(), TestCaseError> {
    let (alpha, beta, mut numbers) = (case.alpha::<T>(), case.beta::<T>(), case.numbers());
    let (mut a, mut b) = (case.a.input::<T>(&case.shape), case.b.input::<T>(&case.shape));
    let mut c = case.out.output::<T>(&case.shape);
    // What is not to be read is NaN.
    a.fill_with(|| numbers.number_or_nan(alpha != T::ZERO));
    b.fill_with(|| numbers.number_or_nan(alpha != T::ZERO));
    c.fill_with(|| numbers.number_or_nan(beta != T::ZERO));
    let (before, inputs) = (c.clone(), [a.bytes().to_vec(), b.bytes().to_vec()]);

    prop_assert_eq!(call(alpha, &a, &b, beta, &mut c), OK, "{}", last_error());

    check_elements(&before, &c, case.exact, |i| {
        oracle(alpha, a.get(i), b.get(i), beta, before.get(i))
    })?;
    prop_assert!(inputs == [a.bytes(), b.bytes()], "wrote to an input");

    let mut dense = densely(&before, &case.shape);
    let inputs = (densely(&a, &case.shape), densely(&b, &case.shape));
    prop_assert_eq!(call(alpha, &inputs.0, &inputs.1, beta, &mut dense), OK);
    // With alpha = 0 it is a scal, which may be the BLAS's.
    let built_in = without_blas() || alpha != T::ZERO;
    prop_assert!(!built_in || bits(&c) == bits(&dense), "the bits depend on the layout");
    Ok(())
}

/// c may be a, b or both.
fn in_place<T: Number>(case: &Case) -> Result<(), TestCaseError> {
    let (alpha, beta, mut numbers) = (case.alpha::<T>(), case.beta::<T>(), case.numbers());
    let mut other = case.b.input::<T>(&case.shape);
    other.fill_with(|| numbers.number());
    let mut c = case.out.output::<T>(&case.shape);
    c.fill_with(|| numbers.number());
    let before = c.clone();
    for (a_is_c, b_is_c) in [(true, false), (false, true), (true, true)] {
        let mut c = before.clone();
        let (out, same) = (&mut c.view_mut(), c.view());
        let a = if a_is_c { same } else { other.view() };
        let b = if b_is_c { same } else { other.view() };
        // SAFETY: the views lie in the memory of their arrays.
        let status = unsafe { ndblas_mul_add(alpha.scalar(), &a, &b, beta.scalar(), out) };
        prop_assert_eq!(status, OK, "{}", last_error());
        check_elements(&before, &c, case.exact, |i| {
            let (own, other) = (before.get(i), other.get(i));
            let (a, b) = (if a_is_c { own } else { other }, if b_is_c { own } else { other });
            oracle(alpha, a, b, beta, own)
        })?;
    }
    Ok(())
}

for_numbers!(multiplies_and_adds, in_place);

/// With alpha = beta = 1 the bits are those of `c + a*b` in two steps: the product is rounded.
#[test]
fn rounds_the_product() {
    let tiny = f64::EPSILON;
    let a = Array::from_values(&[1], &[1.0 + tiny]);
    let b = Array::from_values(&[1], &[1.0 - tiny]);
    let mut c = Array::from_values(&[1], &[-1.0]);
    assert_eq!(call(1.0, &a, &b, 1.0, &mut c), OK);
    assert_eq!(c.values(), [(1.0 + tiny) * (1.0 - tiny) - 1.0]);
}

#[test]
fn real_and_imaginary_parts_interleave() {
    let mut z = Array::from_values(&[6], &[1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
    let re = Layout::new(z.layout.base, &[3], &[16]);
    let im = Layout::new(z.layout.base + 8, &[3], &[16]);
    let (x, y) = (z.view_of(&re), &mut z.view_mut_of(&im));
    let one = 1.0.scalar();
    // SAFETY: both views lie in z.
    assert_eq!(unsafe { ndblas_mul_add(one, &x, &x, one, y) }, OK, "{}", last_error());
    assert_eq!(z.values(), [1.0, 11.0, 2.0, 24.0, 3.0, 39.0]);
}

#[test]
fn names_the_input_that_does_not_fit() {
    let a = Array::from_values(&[2, 3], &[1.0; 6]);
    let b = Array::from_values(&[4], &[1.0; 4]);
    let mut c = Array::from_values(&[2, 3], &[7.0; 6]);
    assert_eq!(call(1.0, &a, &b, 1.0, &mut c), SHAPE);
    assert!(last_error().contains("b of shape (4,)") && last_error().contains("(2, 3) of c"));
    assert_eq!(c.values(), [7.0; 6]);
}

#[test]
fn under_every_override() {
    rerun_under_overrides("under_every_override");
}
