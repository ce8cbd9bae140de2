//! Everything a caller can pass wrong gets its status and a message that names it, and nothing is
//! written.

mod common;

use common::*;
use ndblas::capi::fused::ndblas_mul_add;
use ndblas::capi::level1::*;
use ndblas::capi::permute::ndblas_permute;
use ndblas::capi::types::{ndblas_scalar, ndblas_view_mut};
use std::ptr::null_mut;

const ONE: ndblas_scalar = ndblas_scalar { re: 1.0, im: 0.0 };
const I: ndblas_scalar = ndblas_scalar { re: 0.0, im: 1.0 };

/// A descriptor as C passes it; the two kinds differ in constness only.
type Pointer = *mut ndblas_view_mut;

/// A routine with factors of 1, the names of its operands, and whether it is arithmetic.
struct Routine {
    name: &'static str,
    operands: &'static [&'static str],
    arithmetic: bool,
    call: fn(&[Pointer]) -> i32,
}

macro_rules! routines {
    ($($name:ident($($operand:ident),*) $arithmetic:literal => $call:expr;)*) => {
        &[$(Routine {
            name: stringify!($name),
            operands: &[$(stringify!($operand)),*],
            arithmetic: $arithmetic,
            call: |operands| {
                let [$($operand),*] = *operands else { panic!("as many as it has names") };
                // SAFETY: the descriptors of a test, good or bad in a way that must be noticed.
                unsafe { $call }
            },
        }),*]
    };
}

/// What reductions leave in their results when they fail.
const UNTOUCHED: f64 = 12.75;

/// A reduction into a result that must stay untouched if it fails.
fn reduce<R: PartialEq + Copy>(untouched: R, call: impl FnOnce(*mut R) -> i32) -> i32 {
    let mut result = untouched;
    let status = call(&mut result);
    assert!(status == OK || result == untouched, "a result was written");
    status
}

const ROUTINES: &[Routine] = routines! {
    fill(y) false => ndblas_fill(ONE, y);
    copy(x, y) false => ndblas_copy(x.cast(), y);
    swap(x, y) false => ndblas_swap(x, y);
    scal(y) true => ndblas_scal(ONE, y);
    axpy(x, y) true => ndblas_axpy(ONE, x.cast(), y);
    axpby(x, y) true => ndblas_axpby(ONE, x.cast(), ONE, y);
    mul_add(a, b, c) true => ndblas_mul_add(ONE, a.cast(), b.cast(), ONE, c);
    rot(x, y) true => ndblas_rot(x, y, 0.0, 1.0);
    dotu(x, y) true => reduce(I, |r| ndblas_dotu(x.cast(), y.cast(), r));
    dotc(x, y) true => reduce(I, |r| ndblas_dotc(x.cast(), y.cast(), r));
    nrm2(x) true => reduce(UNTOUCHED, |r| ndblas_nrm2(x.cast(), r));
    asum(x) true => reduce(UNTOUCHED, |r| ndblas_asum(x.cast(), r));
    iamax(x) true => reduce(77, |r| ndblas_iamax(x.cast(), r));
    permute(a, out) false => {
        ndblas_permute(ONE, a.cast(), [0, 1].as_ptr(), ndblas_scalar { re: 0.0, im: 0.0 }, out)
    };
};

const EXTENTS: [isize; 2] = [2, 3];

type Check<'a> = &'a dyn Fn(&Routine, &str, i32, String);

/// Calls every routine once for each of its operands, with that one spoilt, and the others good.
fn spoil_each_operand(
    spoil: impl Fn(&mut ndblas_view_mut),
    check: impl Fn(&Routine, &str, i32, String),
) {
    ROUTINES.iter().for_each(|routine| spoil_one_operand(routine, &spoil, &check));
}

fn spoil_one_operand(routine: &Routine, spoil: impl Fn(&mut ndblas_view_mut), check: Check) {
    for (spoilt, name) in routine.operands.iter().enumerate() {
        let mut arrays = vec![Array::from_values(&EXTENTS, &[7.0; 6]); routine.operands.len()];
        let before: Vec<_> = arrays.iter().map(|a| a.bytes().to_vec()).collect();
        let mut views: Vec<_> = arrays.iter_mut().map(|a| a.view_mut()).collect();
        spoil(&mut views[spoilt]);
        let pointers: Vec<Pointer> = views.iter_mut().map(|v| v as Pointer).collect();
        let status = (routine.call)(&pointers);
        check(routine, name, status, last_error());
        assert!(arrays.iter().zip(before).all(|(a, b)| a.bytes() == b), "{}", routine.name);
    }
}

/// The status is this one, and the message names the operand and says these words.
fn refused(want: i32, words: &str) -> impl Fn(&Routine, &str, i32, String) {
    move |routine, operand, status, message| {
        let call = format!("{}, {operand}: {message}", routine.name);
        assert_eq!(status, want, "{call}");
        let named = message.split(|c: char| !c.is_alphanumeric()).any(|word| word == operand);
        assert!(named && message.contains(words), "{call}");
    }
}

#[test]
fn a_null_descriptor() {
    for routine in ROUTINES {
        for (null, name) in routine.operands.iter().enumerate() {
            let mut arrays = vec![Array::from_values(&EXTENTS, &[7.0; 6]); routine.operands.len()];
            let mut views: Vec<_> = arrays.iter_mut().map(|a| a.view_mut()).collect();
            let mut pointers: Vec<Pointer> = views.iter_mut().map(|v| v as Pointer).collect();
            pointers[null] = null_mut();
            refused(NULL, "NULL")(routine, name, (routine.call)(&pointers), last_error());
            assert!(arrays.iter().all(|a| a.values() == [7.0; 6]));
        }
    }
}

#[test]
fn null_pointers_in_a_descriptor() {
    spoil_each_operand(|v| v.data = null_mut(), refused(NULL, "NULL"));
    spoil_each_operand(|v| v.shape = null_mut(), refused(NULL, "shape"));
}

#[test]
fn ranks_that_are_none() {
    for ndim in [-1, 65, 200, i32::MIN, i32::MAX] {
        spoil_each_operand(|v| v.ndim = ndim, refused(SHAPE, &ndim.to_string()));
    }
}

#[test]
fn negative_extents() {
    for (shape, text) in [([-1, 3], "(-1, 3)"), ([3, -7], "(3, -7)"), ([0, -1], "(0, -1)")] {
        spoil_each_operand(|v| v.shape = shape.as_ptr(), refused(SHAPE, text));
    }
}

/// The number of elements, and the bytes that they span.
#[test]
fn sizes_that_overflow() {
    const HUGE: isize = 1 << 40;
    let shapes = [[HUGE, HUGE], [isize::MAX, 2], [isize::MAX, isize::MAX]];
    for shape in &shapes {
        // Dense, or all on one element.
        for strides in [std::ptr::null(), [0, 0].as_ptr()] {
            let spoil = |v: &mut ndblas_view_mut| {
                (v.shape, v.strides) = (shape.as_ptr(), strides);
            };
            spoil_each_operand(spoil, refused(SHAPE, "overflow"));
        }
    }
    let strides = [[isize::MAX, 8], [8, isize::MIN], [isize::MAX / 2, isize::MAX / 2 + 100]];
    for strides in &strides {
        spoil_each_operand(|v| v.strides = strides.as_ptr(), refused(SHAPE, "overflow"));
    }
}

#[test]
fn dtypes_that_are_none() {
    for dtype in [0, 13, 99, -1, i32::MIN, i32::MAX] {
        spoil_each_operand(|v| v.dtype = dtype, refused(DTYPE, &dtype.to_string()));
    }
}

#[test]
fn dtypes_that_differ() {
    for routine in ROUTINES.iter().filter(|r| r.operands.len() > 1) {
        spoil_one_operand(routine, |v| v.dtype = 1, &|routine, operand, status, message| {
            assert!(message.contains("float64"), "{message}");
            refused(DTYPE, "float32")(routine, operand, status, message);
        });
    }
}

/// Integers can be moved, and nothing more.
#[test]
fn dtypes_without_arithmetic() {
    for routine in ROUTINES {
        for dtype in 5..=12 {
            let memory = Array::from_values(&[48], &[0u64; 48]);
            let mut arrays = vec![memory; routine.operands.len()];
            let mut views: Vec<_> = arrays.iter_mut().map(|a| a.view_mut()).collect();
            for view in &mut views {
                *view = ndblas_view_mut {
                    dtype,
                    shape: EXTENTS.as_ptr(),
                    strides: std::ptr::null(),
                    ndim: 2,
                    ..*view
                };
            }
            let pointers: Vec<Pointer> = views.iter_mut().map(|v| v as Pointer).collect();
            let want = if routine.arithmetic { DTYPE } else { OK };
            assert_eq!((routine.call)(&pointers), want, "{}, dtype {dtype}", routine.name);
            assert!(want == OK || last_error().contains("no arithmetic"), "{}", last_error());
        }
    }
}

/// Integers have no factors but 1 and 0 either.
#[test]
fn factors_for_integers() {
    let a = Array::from_values(&[2], &[1, 2]);
    let mut out = Array::from_values(&[2], &[7, 7]);
    let (zero, two) = (0.0.scalar(), 2.0.scalar());
    for (alpha, beta) in [(two, zero), (ONE, ONE), (zero, ONE)] {
        let (a, out) = (a.view(), &mut out.view_mut());
        // SAFETY: the views lie in their arrays.
        let status = unsafe { ndblas_permute(alpha, &a, std::ptr::null(), beta, out) };
        assert_eq!(status, DTYPE, "{}", last_error());
    }
    assert_eq!(out.values(), [7, 7]);
}

/// The message has both shapes.
#[test]
fn shapes_that_do_not_fit() {
    for shape in [&[2][..], &[2, 2], &[3, 2], &[2, 2, 3], &[2, 1, 4]] {
        let size = shape.iter().product::<isize>() as usize;
        let text = format!("{shape:?}").replace(['[', ']'], "");
        for routine in ROUTINES.iter().filter(|r| r.operands.len() > 1) {
            // A dot's operands broadcast to one another, and perm has as many numbers as a axes.
            if routine.name.starts_with("dot") && shape.ends_with(&EXTENTS)
                || routine.name == "permute" && shape.len() != 2
            {
                continue;
            }
            for odd in 0..routine.operands.len() - 1 {
                let mut arrays =
                    vec![Array::from_values(&EXTENTS, &[7.0; 6]); routine.operands.len()];
                arrays[odd] = Array::from_values(shape, &vec![7.0; size]);
                let mut views: Vec<_> = arrays.iter_mut().map(|a| a.view_mut()).collect();
                let pointers: Vec<Pointer> = views.iter_mut().map(|v| v as Pointer).collect();
                let (status, message) = ((routine.call)(&pointers), last_error());
                let call = format!("{} with {shape:?}: {message}", routine.name);
                assert_eq!(status, SHAPE, "{call}");
                assert!(message.contains(&text) && message.contains("(2, 3)"), "{call}");
                assert!(arrays.iter().all(|a| a.values().iter().all(|&v| v == 7.0)), "{call}");
            }
        }
    }
}

/// A missing axis, one of length 1 and no axes at all broadcast; an output does not.
#[test]
fn an_output_never_broadcasts() {
    let x = Array::from_values(&EXTENTS, &[1.0; 6]);
    for shape in [&[3][..], &[1, 3], &[2, 1], &[]] {
        let size = shape.iter().product::<isize>() as usize;
        let mut y = Array::from_values(shape, &vec![7.0; size]);
        let before = y.clone();
        let (x, y_view) = (x.view(), &mut y.view_mut());
        // SAFETY: the views lie in their arrays.
        let statuses = unsafe {
            [
                ndblas_copy(&x, y_view),
                ndblas_axpy(ONE, &x, y_view),
                ndblas_mul_add(ONE, &x, &x, ONE, y_view),
            ]
        };
        assert_eq!(statuses, [SHAPE; 3], "{shape:?}");
        assert!(y.bytes() == before.bytes());
    }
}

#[test]
fn factors_that_the_dtype_cannot_hold() {
    let mut y = Array::from_values(&[2], &[7.0; 2]);
    let x = Array::from_values(&[2], &[1.0; 2]);
    for alpha in [I, ndblas_scalar { re: 1.0, im: f64::NAN }] {
        let (x, y) = (x.view(), &mut y.view_mut());
        // SAFETY: the views lie in their arrays.
        unsafe {
            for (status, name) in [
                (ndblas_fill(alpha, y), "alpha"),
                (ndblas_scal(alpha, y), "alpha"),
                (ndblas_axpy(alpha, &x, y), "alpha"),
                (ndblas_axpby(alpha, &x, ONE, y), "alpha"),
                (ndblas_axpby(ONE, &x, alpha, y), "beta"),
                (ndblas_mul_add(alpha, &x, &x, ONE, y), "alpha"),
                (ndblas_mul_add(ONE, &x, &x, alpha, y), "beta"),
                (ndblas_permute(alpha, &x, std::ptr::null(), ONE, y), "alpha"),
                (ndblas_permute(ONE, &x, std::ptr::null(), alpha, y), "beta"),
            ] {
                assert_eq!(status, ARGUMENT, "{name}");
            }
        }
        assert!(last_error().contains("beta") && last_error().contains("imaginary"));
    }
    assert_eq!(y.values(), [7.0; 2]);
}

/// A fill takes what the dtype holds exactly, up to its ends; floating types round.
#[test]
fn fills_of_integers() {
    fn fill<T: ndblas::Element>(value: f64) -> Option<T> {
        let mut y = Array::from_values(&[1], &[T::ZERO]);
        let alpha = ndblas_scalar { re: value, im: 0.0 };
        // SAFETY: the view lies in the array.
        match unsafe { ndblas_fill(alpha, &mut y.view_mut()) } {
            OK => Some(y.values()[0]),
            status => {
                assert_eq!(status, ARGUMENT);
                assert!(last_error().contains("alpha"), "{}", last_error());
                assert_eq!(y.values(), [T::ZERO]);
                None
            }
        }
    }
    assert_eq!((fill::<u8>(255.0), fill::<u8>(256.0)), (Some(255), None));
    assert_eq!((fill::<u8>(-0.0), fill::<u8>(-1.0)), (Some(0), None));
    assert_eq!(
        (fill::<i8>(-128.0), fill::<i8>(-129.0), fill::<i8>(128.0)),
        (Some(-128), None, None)
    );
    assert_eq!(
        (fill::<i32>(0.5), fill::<i32>(f64::NAN), fill::<i32>(f64::INFINITY)),
        (None, None, None)
    );
    assert_eq!((fill::<i64>(-(2f64.powi(63))), fill::<i64>(2f64.powi(63))), (Some(i64::MIN), None));
    assert_eq!((fill::<u64>(2f64.powi(63)), fill::<u64>(2f64.powi(64))), (Some(1 << 63), None));
    assert_eq!((fill::<f32>(0.1), fill::<f32>(1e300)), (Some(0.1), Some(f32::INFINITY)));
    assert!(fill::<f64>(f64::NAN).is_some_and(f64::is_nan));
}

#[test]
fn results_that_are_null() {
    let x = Array::from_values(&[2], &[1.0; 2]);
    let x = x.view();
    // SAFETY: the view lies in the array.
    let statuses = unsafe {
        [
            ndblas_dotu(&x, &x, null_mut()),
            ndblas_dotc(&x, &x, null_mut()),
            ndblas_nrm2(&x, null_mut()),
            ndblas_asum(&x, null_mut()),
            ndblas_iamax(&x, null_mut()),
        ]
    };
    assert_eq!(statuses, [NULL; 5]);
    assert!(last_error().contains("result"));
}

/// An empty view covers nothing: its data may be NULL, its strides and other extents anything.
#[test]
fn empty_views_need_no_memory() {
    let shapes: [&[isize]; 5] =
        [&[0], &[1, 0], &[0, 1], &[3, 0, isize::MAX], &[isize::MAX, 2, 0, 9]];
    let far = [isize::MAX; 4];
    for shape in shapes {
        for strides in [std::ptr::null(), [0; 4].as_ptr(), far.as_ptr()] {
            for routine in ROUTINES.iter().filter(|r| r.name != "permute" || shape.len() == 2) {
                let (ndim, dtype) = (shape.len() as i32, 2);
                let (data, own) = (null_mut(), shape.as_ptr());
                let mut view = ndblas_view_mut { data, shape: own, strides, ndim, dtype };
                let pointers = vec![&raw mut view; routine.operands.len()];
                let status = (routine.call)(&pointers);
                assert_eq!(status, OK, "{} of {shape:?}: {}", routine.name, last_error());
            }
        }
    }
}

#[test]
fn reductions_of_nothing() {
    let x: Array<f64> = Array::from_values(&[3, 0], &[]);
    let x = x.view();
    let (mut dot, mut nrm2, mut asum, mut iamax) = (I, UNTOUCHED, UNTOUCHED, 77);
    // SAFETY: the view lies in the array.
    unsafe {
        assert_eq!(ndblas_dotu(&x, &x, &mut dot), OK);
        assert_eq!(ndblas_nrm2(&x, &mut nrm2), OK);
        assert_eq!(ndblas_asum(&x, &mut asum), OK);
        assert_eq!(ndblas_iamax(&x, &mut iamax), OK);
    }
    assert_eq!((dot, nrm2, asum, iamax), (0.0.scalar(), 0.0, 0.0, -1));
}

/// One element needs neither shape nor strides.
#[test]
fn rank_zero() {
    let mut y = Array::from_values(&[], &[7.0]);
    let mut view = y.view_mut();
    (view.shape, view.strides) = (null_mut(), null_mut());
    // SAFETY: the view lies in the array.
    assert_eq!(unsafe { ndblas_scal(2.0.scalar(), &mut view) }, OK, "{}", last_error());
    assert_eq!(y.values(), [14.0]);
}

/// A result may lie anywhere, without alignment, even in an operand.
#[test]
fn a_result_within_an_operand() {
    let mut x = Array::from_values(&[3], &[1.0, 2.0, 2.0]);
    let result = x.view_mut().data.cast::<f64>();
    // SAFETY: the view and the result lie in the array.
    assert_eq!(unsafe { ndblas_nrm2(&x.view(), result) }, OK);
    assert_eq!(x.values(), [3.0, 2.0, 2.0]);
    let mut bytes = [0u8; 9];
    // SAFETY: eight bytes from the second on.
    assert_eq!(unsafe { ndblas_asum(&x.view(), bytes.as_mut_ptr().wrapping_add(1).cast()) }, OK);
    assert_eq!(bytes[1..], 7f64.to_ne_bytes());
}
