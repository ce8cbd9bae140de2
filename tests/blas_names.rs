//! The BLAS names against BLAS's own rule for increments: element i of a vector of n is at `i*inc`,
//! or, for a negative increment, at `(i + 1 - n)*inc`, so that the vector begins at its far end.

mod common;

use common::{ARGUMENT, NULL, Number, Numbers, OK, OVERLAP, SHAPE, Sum, is_close, last_error};
use ndblas::capi::blas::*;
use num_complex::{Complex, c64};
use std::ffi::c_void;
use std::ptr::{null, null_mut};

type C32 = Complex<f32>;
type C64 = Complex<f64>;

const LENGTHS: [isize; 7] = [isize::MIN, -1, 0, 1, 2, 7, 300];
const INCREMENTS: [isize; 6] = [1, 2, 3, -1, -2, -3];

/// Where element `i` of `n` is.
fn at(i: isize, n: isize, inc: isize) -> usize {
    (if inc < 0 { (i + 1 - n) * inc } else { i * inc }) as usize
}

/// Memory for a vector of up to 300 elements at increments up to 3.
fn memory<T: Number>(seed: u64) -> Vec<T> {
    let mut numbers = Numbers { state: seed, exact: true };
    (0..1000).map(|_| numbers.number()).collect()
}

fn every_call(mut check: impl FnMut(isize, isize, isize)) {
    for n in LENGTHS {
        for incx in INCREMENTS.into_iter().chain([0]) {
            for incy in INCREMENTS {
                check(n, incx, incy);
            }
        }
    }
}

/// Runs an update of y by x, and compares all of y's memory with `want(x, y)` element by element.
fn updates<T: Number>(
    call: impl Fn(isize, *const T, isize, *mut T, isize) -> i32,
    want: impl Fn(T, T) -> Sum,
) {
    every_call(|n, incx, incy| {
        let (x, mut y) = (memory::<T>(1), memory::<T>(2));
        let mut wanted: Vec<_> = y.iter().map(|v| Sum::default().plus(&[v.wide()])).collect();
        for i in 0..n {
            let (from, to) = (at(i, n, incx), at(i, n, incy));
            wanted[to] = want(x[from], y[to]);
        }
        let status = call(n, x.as_ptr(), incx, y.as_mut_ptr(), incy);
        assert_eq!(status, OK, "{}", last_error());
        let good = y.iter().zip(wanted).all(|(&got, want)| is_close(got, want, true));
        assert!(good, "n = {n}, incx = {incx}, incy = {incy}");
    });
}

/// The same for an update of x alone.
fn scales<T: Number>(call: impl Fn(isize, *mut T, isize) -> i32, factor: C64) {
    updates(
        |n, _, _, y, incy| call(n, y, incy),
        |_, y: T| Sum::default().plus(&[factor, y.wide()]),
    );
}

/// Runs an exchange of x and y, and compares all memory with what `want` makes of two elements.
fn exchanges<T: Number>(
    call: impl Fn(isize, *mut T, isize, *mut T, isize) -> i32,
    want: impl Fn(T, T) -> (T, T),
) {
    every_call(|n, incx, incy| {
        if incx == 0 {
            return;
        }
        let (mut x, mut y) = (memory::<T>(1), memory::<T>(2));
        let mut wanted = (x.clone(), y.clone());
        for i in 0..n {
            let (a, b) = (at(i, n, incx), at(i, n, incy));
            (wanted.0[a], wanted.1[b]) = want(x[a], y[b]);
        }
        assert_eq!(call(n, x.as_mut_ptr(), incx, y.as_mut_ptr(), incy), OK, "{}", last_error());
        assert!((x, y) == wanted, "n = {n}, incx = {incx}, incy = {incy}");
    });
}

/// Runs a reduction of two vectors of whole numbers, whose sum is exact.
fn reduces<T: Number, R: PartialEq + std::fmt::Debug + Default>(
    call: impl Fn(isize, *const T, isize, *const T, isize, *mut R) -> i32,
    want: impl Fn(&[(C64, C64)]) -> R,
) {
    every_call(|n, incx, incy| {
        let (x, y) = (memory::<T>(1), memory::<T>(2));
        let pairs: Vec<_> =
            (0..n).map(|i| (x[at(i, n, incx)].wide(), y[at(i, n, incy)].wide())).collect();
        let mut result = R::default();
        let status = call(n, x.as_ptr(), incx, y.as_ptr(), incy, &mut result);
        assert_eq!(status, OK, "{}", last_error());
        assert_eq!(result, want(&pairs), "n = {n}, incx = {incx}, incy = {incy}");
    });
}

/// The same for one vector.
fn measures<T: Number, R: PartialEq + std::fmt::Debug + Default>(
    call: impl Fn(isize, *const T, isize, *mut R) -> i32,
    want: impl Fn(&[C64]) -> R,
) {
    reduces(
        |n, x, incx, _, _, result| call(n, x, incx, result),
        |pairs| want(&pairs.iter().map(|p| p.0).collect::<Vec<_>>()),
    );
}

/// A complex number as C passes it.
fn by_address<T>(value: &T) -> *const c_void {
    (&raw const *value).cast()
}

#[test]
fn axpy() {
    let want = |alpha: C64| move |x: C64, y: C64| Sum::default().plus(&[y]).plus(&[alpha, x]);
    let (real, complex) = (want(c64(2.0, 0.0)), want(c64(2.0, -1.0)));
    // SAFETY: of this and every call below, the memory holds the vectors.
    unsafe {
        updates(
            |n, x, incx, y, incy| ndblas_saxpy(n, 2.0, x, incx, y, incy),
            |x: f32, y| real(x.wide(), y.wide()),
        );
        updates(
            |n, x, incx, y, incy| ndblas_daxpy(n, 2.0, x, incx, y, incy),
            |x: f64, y| real(x.wide(), y.wide()),
        );
        let (c, z) = (C32::new(2.0, -1.0), C64::new(2.0, -1.0));
        updates::<C32>(
            |n, x, incx, y, incy| ndblas_caxpy(n, by_address(&c), x.cast(), incx, y.cast(), incy),
            |x: C32, y| complex(x.wide(), y.wide()),
        );
        updates::<C64>(
            |n, x, incx, y, incy| ndblas_zaxpy(n, by_address(&z), x.cast(), incx, y.cast(), incy),
            |x: C64, y| complex(x.wide(), y.wide()),
        );
    }
}

#[test]
fn axpby() {
    let want = |alpha: C64, beta: C64| {
        move |x: C64, y: C64| Sum::default().plus(&[beta, y]).plus(&[alpha, x])
    };
    let real = want(c64(2.0, 0.0), c64(-3.0, 0.0));
    let complex = want(c64(2.0, -1.0), c64(0.0, 3.0));
    // SAFETY: as above.
    unsafe {
        updates(
            |n, x, incx, y, incy| ndblas_saxpby(n, 2.0, x, incx, -3.0, y, incy),
            |x: f32, y| real(x.wide(), y.wide()),
        );
        updates(
            |n, x, incx, y, incy| ndblas_daxpby(n, 2.0, x, incx, -3.0, y, incy),
            |x: f64, y| real(x.wide(), y.wide()),
        );
        let (a, b) = (C32::new(2.0, -1.0), C32::new(0.0, 3.0));
        updates::<C32>(
            |n, x, incx, y, incy| {
                ndblas_caxpby(n, by_address(&a), x.cast(), incx, by_address(&b), y.cast(), incy)
            },
            |x: C32, y| complex(x.wide(), y.wide()),
        );
        let (a, b) = (C64::new(2.0, -1.0), C64::new(0.0, 3.0));
        updates::<C64>(
            |n, x, incx, y, incy| {
                ndblas_zaxpby(n, by_address(&a), x.cast(), incx, by_address(&b), y.cast(), incy)
            },
            |x: C64, y| complex(x.wide(), y.wide()),
        );
    }
}

#[test]
fn scal() {
    let (c, z) = (C32::new(2.0, -1.0), C64::new(2.0, -1.0));
    // SAFETY: as above.
    unsafe {
        scales(|n, x, inc| ndblas_sscal(n, 2.0, x, inc), c64(2.0, 0.0));
        scales(|n, x, inc| ndblas_dscal(n, 2.0, x, inc), c64(2.0, 0.0));
        scales::<C32>(|n, x, inc| ndblas_cscal(n, by_address(&c), x.cast(), inc), z);
        scales::<C64>(|n, x, inc| ndblas_zscal(n, by_address(&z), x.cast(), inc), z);
        scales::<C32>(|n, x, inc| ndblas_csscal(n, 2.0, x.cast(), inc), c64(2.0, 0.0));
        scales::<C64>(|n, x, inc| ndblas_zdscal(n, 2.0, x.cast(), inc), c64(2.0, 0.0));
    }
}

#[test]
fn copy() {
    fn x<T: Number>(x: T, _: T) -> Sum {
        Sum::default().plus(&[x.wide()])
    }
    // SAFETY: as above.
    unsafe {
        updates::<f32>(|n, x, incx, y, incy| ndblas_scopy(n, x, incx, y, incy), x);
        updates::<f64>(|n, x, incx, y, incy| ndblas_dcopy(n, x, incx, y, incy), x);
        updates::<C32>(|n, x, incx, y, incy| ndblas_ccopy(n, x.cast(), incx, y.cast(), incy), x);
        updates::<C64>(|n, x, incx, y, incy| ndblas_zcopy(n, x.cast(), incx, y.cast(), incy), x);
    }
}

#[test]
fn swap() {
    // SAFETY: as above.
    unsafe {
        exchanges::<f32>(|n, x, ix, y, iy| ndblas_sswap(n, x, ix, y, iy), |x, y| (y, x));
        exchanges::<f64>(|n, x, ix, y, iy| ndblas_dswap(n, x, ix, y, iy), |x, y| (y, x));
        exchanges::<C32>(
            |n, x, ix, y, iy| ndblas_cswap(n, x.cast(), ix, y.cast(), iy),
            |x, y| (y, x),
        );
        exchanges::<C64>(
            |n, x, ix, y, iy| ndblas_zswap(n, x.cast(), ix, y.cast(), iy),
            |x, y| (y, x),
        );
    }
}

#[test]
fn rot() {
    // SAFETY: as above.
    unsafe {
        exchanges::<f32>(
            |n, x, ix, y, iy| ndblas_srot(n, x, ix, y, iy, 2.0, 3.0),
            |x, y| (2.0 * x + 3.0 * y, 2.0 * y - 3.0 * x),
        );
        exchanges::<f64>(
            |n, x, ix, y, iy| ndblas_drot(n, x, ix, y, iy, 2.0, 3.0),
            |x, y| (2.0 * x + 3.0 * y, 2.0 * y - 3.0 * x),
        );
    }
}

#[test]
fn dot() {
    let real = |p: &[(C64, C64)]| p.iter().map(|(x, y)| x.re * y.re).sum::<f64>();
    // SAFETY: as above.
    unsafe {
        reduces::<f32, f32>(
            |n, x, ix, y, iy, r| ndblas_sdot(n, x, ix, y, iy, r),
            |p| real(p) as f32,
        );
        reduces::<f64, f64>(|n, x, ix, y, iy, r| ndblas_ddot(n, x, ix, y, iy, r), real);
        reduces::<f32, f64>(|n, x, ix, y, iy, r| ndblas_dsdot(n, x, ix, y, iy, r), real);
        // n <= 0 leaves alpha.
        reduces::<f32, f32>(
            |n, x, ix, y, iy, r| ndblas_sdsdot(n, 5.0, x, ix, y, iy, r),
            |p| real(p) as f32 + 5.0,
        );
    }
}

#[test]
fn complex_dots() {
    fn of<R: Number>(sum: C64) -> R {
        R::rounded(sum.re, sum.im)
    }
    let plain = |p: &[(C64, C64)]| p.iter().map(|(x, y)| x * y).sum::<C64>();
    let conjugate = |p: &[(C64, C64)]| p.iter().map(|(x, y)| x.conj() * y).sum::<C64>();
    // SAFETY: as above.
    unsafe {
        reduces::<C32, C32>(
            |n, x, ix, y, iy, r| ndblas_cdotu(n, x.cast(), ix, y.cast(), iy, r.cast()),
            |p| of(plain(p)),
        );
        reduces::<C64, C64>(
            |n, x, ix, y, iy, r| ndblas_zdotu(n, x.cast(), ix, y.cast(), iy, r.cast()),
            plain,
        );
        reduces::<C32, C32>(
            |n, x, ix, y, iy, r| ndblas_cdotc(n, x.cast(), ix, y.cast(), iy, r.cast()),
            |p| of(conjugate(p)),
        );
        reduces::<C64, C64>(
            |n, x, ix, y, iy, r| ndblas_zdotc(n, x.cast(), ix, y.cast(), iy, r.cast()),
            conjugate,
        );
    }
}

/// Long sums are carried on in double precision: 2^24 + 1 is no f32.
#[test]
fn dsdot_rounds_nothing() {
    let (x, y) = ([4096f32, 1.0], [4096f32, 1.0]);
    let (mut wide, mut narrow) = (0.0, 0.0);
    // SAFETY: two elements each.
    unsafe {
        assert_eq!(ndblas_dsdot(2, x.as_ptr(), 1, y.as_ptr(), 1, &mut wide), OK);
        let status = ndblas_sdsdot(2, -16_777_216.0, x.as_ptr(), 1, y.as_ptr(), 1, &mut narrow);
        assert_eq!(status, OK);
    }
    assert_eq!((wide, narrow), (16_777_217.0, 1.0));
}

#[test]
fn nrm2() {
    let root = |x: &[C64]| x.iter().map(|v| v.norm_sqr()).sum::<f64>().sqrt();
    // SAFETY: as above. The squares are whole numbers, so that their sum is exact.
    unsafe {
        measures::<f32, f32>(|n, x, inc, r| ndblas_snrm2(n, x, inc, r), |x| root(x) as f32);
        measures::<f64, f64>(|n, x, inc, r| ndblas_dnrm2(n, x, inc, r), root);
        measures::<C32, f32>(|n, x, inc, r| ndblas_scnrm2(n, x.cast(), inc, r), |x| root(x) as f32);
        measures::<C64, f64>(|n, x, inc, r| ndblas_dznrm2(n, x.cast(), inc, r), root);
    }
}

fn magnitude(v: &C64) -> f64 {
    v.re.abs() + v.im.abs()
}

#[test]
fn asum() {
    let sum = |x: &[C64]| x.iter().map(magnitude).sum::<f64>();
    // SAFETY: as above.
    unsafe {
        measures::<f32, f32>(|n, x, inc, r| ndblas_sasum(n, x, inc, r), |x| sum(x) as f32);
        measures::<f64, f64>(|n, x, inc, r| ndblas_dasum(n, x, inc, r), sum);
        measures::<C32, f32>(|n, x, inc, r| ndblas_scasum(n, x.cast(), inc, r), |x| sum(x) as f32);
        measures::<C64, f64>(|n, x, inc, r| ndblas_dzasum(n, x.cast(), inc, r), sum);
    }
}

/// From 0, along the vector and not along memory; -1 where there is nothing.
#[test]
fn iamax() {
    let first = |x: &[C64]| {
        let mut best = None;
        for (i, v) in x.iter().map(magnitude).enumerate() {
            if best.is_none_or(|(_, b)| v > b) {
                best = Some((i as isize, v));
            }
        }
        best.map_or(-1, |(i, _)| i)
    };
    // SAFETY: as above.
    unsafe {
        measures::<f32, isize>(|n, x, inc, r| ndblas_isamax(n, x, inc, r), first);
        measures::<f64, isize>(|n, x, inc, r| ndblas_idamax(n, x, inc, r), first);
        measures::<C32, isize>(|n, x, inc, r| ndblas_icamax(n, x.cast(), inc, r), first);
        measures::<C64, isize>(|n, x, inc, r| ndblas_izamax(n, x.cast(), inc, r), first);
    }
}

/// Nothing is read through a pointer of a vector without elements.
#[test]
fn nothing_to_do_needs_no_memory() {
    let mut result = 1.0;
    for n in [0, -1, isize::MIN] {
        for inc in [1, 0, -1, isize::MAX, isize::MIN] {
            // SAFETY: there are no elements.
            unsafe {
                assert_eq!(ndblas_daxpy(n, 2.0, null(), inc, null_mut(), inc), OK);
                assert_eq!(ndblas_dscal(n, 2.0, null_mut(), inc), OK);
                assert_eq!(ndblas_dswap(n, null_mut(), inc, null_mut(), inc), OK);
                assert_eq!(ndblas_zdscal(n, 2.0, null_mut(), inc), OK);
                assert_eq!(ndblas_ddot(n, null(), inc, null(), inc, &mut result), OK);
                assert_eq!(result, 0.0);
            }
        }
    }
}

#[test]
fn pointers_that_are_null() {
    let (mut x, mut y) = ([7.0; 4], [7.0; 4]);
    let (px, py) = (x.as_mut_ptr(), y.as_mut_ptr());
    let refused = |status: i32, name: &str| {
        assert_eq!(status, NULL, "{name}");
        assert!(last_error().starts_with(name), "{} for {name}", last_error());
    };
    let z = C64::new(1.0, 0.0);
    let mut result = 7.0;
    // SAFETY: what is not NULL has two elements.
    unsafe {
        refused(ndblas_daxpy(2, 1.0, null(), 1, py, 1), "x");
        refused(ndblas_daxpy(2, 1.0, px, 1, null_mut(), 1), "y");
        refused(ndblas_dcopy(2, null(), 1, py, 1), "x");
        refused(ndblas_dswap(2, px, 1, null_mut(), 1), "y");
        refused(ndblas_drot(2, null_mut(), 1, py, 1, 0.0, 1.0), "x");
        refused(ndblas_dscal(2, 3.0, null_mut(), 1), "x");
        refused(ndblas_zscal(2, null(), px.cast(), 1), "alpha");
        refused(ndblas_zaxpy(2, null(), px.cast(), 1, py.cast(), 1), "alpha");
        refused(ndblas_zaxpby(2, by_address(&z), px.cast(), 1, null(), py.cast(), 1), "beta");
        refused(ndblas_ddot(2, px, 1, null(), 1, &mut result), "y");
        refused(ndblas_ddot(2, px, 1, py, 1, null_mut()), "result");
        refused(ndblas_ddot(0, px, 1, py, 1, null_mut()), "result");
        refused(ndblas_dnrm2(2, null(), 1, &mut result), "x");
        refused(ndblas_zdotc(2, px.cast(), 1, py.cast(), 1, null_mut()), "result");
        refused(ndblas_idamax(2, px, 1, null_mut()), "result");
    }
    assert_eq!((x, y, result), ([7.0; 4], [7.0; 4], 7.0));
}

#[test]
fn vectors_that_cannot_be() {
    let (mut x, y) = ([7.0; 4], [7.0; 4]);
    let (px, py) = (x.as_mut_ptr(), y.as_ptr());
    // SAFETY: all of these are refused before any memory is used.
    unsafe {
        for n in [isize::MAX, isize::MAX / 8 + 1] {
            assert_eq!(ndblas_dscal(n, 2.0, px, 1), SHAPE, "{}", last_error());
        }
        for inc in [isize::MAX, isize::MIN, isize::MAX / 8 + 1] {
            assert_eq!(ndblas_daxpy(3, 2.0, py, inc, px, 1), ARGUMENT, "{}", last_error());
            assert!(last_error().starts_with("x"), "{}", last_error());
            assert_eq!(ndblas_daxpy(3, 2.0, py, 1, px, inc), ARGUMENT, "{}", last_error());
            assert!(last_error().starts_with("y"), "{}", last_error());
        }
        assert_eq!(ndblas_dscal(3, 2.0, px, isize::MAX / 8), SHAPE, "{}", last_error());
        assert_eq!(ndblas_dscal(2, 2.0, px, 0), OVERLAP);
        assert_eq!(ndblas_dcopy(3, px.wrapping_add(1), 1, px, 1), OVERLAP);
    }
    assert_eq!(x, [7.0; 4]);
    // The increment of one element is never used.
    for inc in [0, isize::MAX, isize::MIN] {
        // SAFETY: the first element.
        assert_eq!(unsafe { ndblas_dscal(1, 2.0, px, inc) }, OK, "{}", last_error());
    }
    assert_eq!(x, [56.0, 7.0, 7.0, 7.0]);
}

/// y may be x itself.
#[test]
fn in_place() {
    let mut x = [1.0, 2.0, 3.0];
    let p = x.as_mut_ptr();
    // SAFETY: three elements.
    unsafe {
        assert_eq!(ndblas_daxpy(3, 2.0, p, 1, p, 1), OK, "{}", last_error());
        assert_eq!(ndblas_dcopy(3, p, -1, p, -1), OK, "{}", last_error());
        assert_eq!(ndblas_dcopy(3, p, 1, p, -1), OVERLAP);
    }
    assert_eq!(x, [3.0, 6.0, 9.0]);
}
