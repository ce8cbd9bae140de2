//! Kinds of faults that libraries of this field have had, each with the input that showed it: A of
//! level 1, B of views, C of permutes, D of gather and scatter-add, E of threads and the C ABI. Those
//! of D are in `tests/indexed.rs`, each by its number. Others are where their means are:
//!
//! | kind | where, or why it cannot arise |
//! |---|---|
//! | B07, B09, B24 a layout that misses the fast path | `cargo bench`, `make bench`; axes are dropped, ordered and fused before anything else (`tests/views.rs` has the plans' cells), and `tests/allocations.rs` counts the heap |
//! | B20 memoryviews of a Cython object | the Python package's tests |
//! | C10, C11, C12 cliffs of transposes | `make bench`; their values here (C09, C11) and in `tests/permute.rs` |
//! | C17 a second pass or a temporary | `tests/allocations.rs`: no call allocates; `make bench` beside memcpy |
//! | D03, D17, D18, D27 slow gathers | `make bench`; their values in `tests/indexed.rs` |
//! | E01 fork | `tests/c/threads.c` |
//! | E02 dlclose | `tests/c/dlopen.c` |
//! | E03 a thread count of each caller | `tests/runtime.rs` |
//! | E04, E05 small work sent to threads | `tests/threads.rs`: one rule by bytes, and no thread for small work |
//! | E07 a result that is zero now and then | here, and `tests/stress.rs` |
//! | E09 exports without a prototype | `tests/header.rs` |
//! | E10 linking | `tests/install.sh`, `tests/c.sh` |
//! | E11 memory that is refused | `tests/allocations.rs`: the one routine that needs any has a status for it; bad descriptors are in `tests/errors.rs` too |
//! | E13 building against the wheel | the Python package's tests |

mod common;

use common::*;
use ndblas::capi::blas::*;
use ndblas::capi::fused::ndblas_mul_add;
use ndblas::capi::indexed::{ndblas_gather, ndblas_scatter_add};
use ndblas::capi::level1::*;
use ndblas::capi::permute::{ndblas_permute, ndblas_permute_in_place};
use ndblas::capi::types::{ndblas_scalar, ndblas_view, ndblas_view_mut};
use ndblas::{Element, set_num_threads_local};
use num_complex::{Complex, c64};
use std::ptr::{null, null_mut};

const INDEX: i32 = 6;
const LAYOUT: i32 = 7;
const THREADS: [usize; 4] = [1, 2, 4, 7];

/// A view of the array's memory from its element number `first` on; strides in elements.
fn part<T: Element>(array: &Array<T>, first: isize, shape: &[isize], strides: &[isize]) -> Layout {
    let item = size_of::<T>() as isize;
    let strides: Vec<_> = strides.iter().map(|s| s * item).collect();
    Layout::new(array.layout.base + first * item, shape, &strides)
}

fn vector<T: Element>(values: &[T]) -> Array<T> {
    Array::from_values(&[values.len() as isize], values)
}

fn counting(n: usize) -> Vec<f64> {
    (0..n).map(|i| i as f64).collect()
}

/// What a reduction of one view gives.
fn value<R: Default>(
    routine: unsafe extern "C" fn(*const ndblas_view, *mut R) -> i32,
    x: &ndblas_view,
) -> R {
    let mut result = R::default();
    // SAFETY: the callers' views lie in the memory of their arrays.
    assert_eq!(unsafe { routine(x, &mut result) }, OK, "{}", last_error());
    result
}

fn dot(x: &ndblas_view, y: &ndblas_view) -> f64 {
    let mut result = ndblas_scalar { re: f64::NAN, im: f64::NAN };
    // SAFETY: the callers' views lie in the memory of their arrays.
    assert_eq!(unsafe { ndblas_dotu(x, y, &mut result) }, OK, "{}", last_error());
    result.re
}

fn transpose<T: Element>(a: &Array<T>, perm: &[i32], out: &mut Array<T>) -> i32 {
    let (one, zero) = (1.0.scalar(), 0.0.scalar());
    // SAFETY: the views lie in the memory of their arrays; perm has as many numbers as a has axes.
    unsafe { ndblas_permute(one, &a.view(), perm.as_ptr(), zero, &mut out.view_mut()) }
}

/// A01, A02, A03: zero increments. As an input they broadcast; as an output they are refused by
/// every routine, rather than give what depends on the kernel.
#[test]
fn zero_increments() {
    for n in [2, 3, 4, 70] {
        let (mut x, mut y) = (vector(&[1.0]), vector(&[2.0]));
        let (all_x, all_y) = (part(&x, 0, &[n], &[0]), part(&y, 0, &[n], &[0]));
        let input = x.view_of(&all_x);
        let (x_view, y_view) = (&mut x.view_mut_of(&all_x), &mut y.view_mut_of(&all_y));
        let (px, py) = (x_view.data.cast(), y_view.data.cast());
        // SAFETY: the views lie in their arrays.
        let statuses = unsafe {
            [
                ndblas_rot(x_view, y_view, 0.25, 0.5),
                ndblas_drot(n, px, 0, py, 0, 0.25, 0.5),
                ndblas_swap(x_view, y_view),
                ndblas_dswap(n, px, 0, py, 0),
                ndblas_axpy(0.25.scalar(), &input, y_view),
                ndblas_daxpy(n, 0.25, px, 0, py, 0),
                ndblas_dscal(n, 3.0, py, 0),
                ndblas_dcopy(n, px, 0, py, 0),
            ]
        };
        assert_eq!(statuses, [OVERLAP; 8]);
        assert_eq!((x.values(), y.values()), (vec![1.0], vec![2.0]));

        let mut y = vector(&vec![2.0; n as usize]);
        // SAFETY: as above.
        assert_eq!(unsafe { ndblas_axpy(0.25.scalar(), &input, &mut y.view_mut()) }, OK);
        assert_eq!(y.values(), vec![2.25; n as usize]);
    }
}

/// A05: the norm of a broadcast scalar.
#[test]
fn norm_of_a_broadcast_scalar() {
    let x = vector(&[1f32]);
    for (n, want) in [(1, 1.0), (4, 2.0), (9, 3.0), (4096, 64.0)] {
        assert_eq!(value(ndblas_nrm2, &x.view_of(&part(&x, 0, &[n], &[0]))), want);
        let mut result = 0f32;
        // SAFETY: one element, again and again.
        assert_eq!(unsafe { ndblas_snrm2(n, x.view().data.cast(), 0, &mut result) }, OK);
        assert_eq!(result as f64, want);
    }
}

/// A07: the sign of a stride counts for every routine.
#[test]
fn negative_increments_count_everywhere() {
    let mut x = vector(&[5.0, 1.0, 2.0]);
    let reversed = part(&x, 2, &[3], &[-1]);
    let view = x.view_of(&reversed);
    assert_eq!((value(ndblas_asum, &view), value(ndblas_iamax, &view)), (8.0, 2));
    let p = x.view_mut().data.cast();
    let (mut asum, mut iamax) = (0.0, 0);
    // SAFETY: the three elements of x.
    unsafe {
        assert_eq!(ndblas_dasum(3, p, -1, &mut asum), OK);
        assert_eq!(ndblas_idamax(3, p, -1, &mut iamax), OK);
        assert_eq!((asum, iamax), (8.0, 2));
        assert_eq!(ndblas_scal(3.0.scalar(), &mut x.view_mut_of(&reversed)), OK);
        assert_eq!(x.values(), [15.0, 3.0, 6.0]);
        assert_eq!(ndblas_dscal(3, 2.0, p, -1), OK);
    }
    assert_eq!(x.values(), [30.0, 6.0, 12.0]);
}

/// A08: alpha = 0 leaves y to be scaled, whatever its direction, and x unread.
#[test]
fn axpby_with_alpha_zero_scales() {
    for first_and_stride in [(0, 1), (2, -1)] {
        let x = vector(&[f64::NAN; 3]);
        let mut y = vector(&[1.0, 2.0, 3.0]);
        let layout = part(&y, first_and_stride.0, &[3], &[first_and_stride.1]);
        let y_view = &mut y.view_mut_of(&layout);
        // SAFETY: the views lie in their arrays.
        assert_eq!(unsafe { ndblas_axpby(0.0.scalar(), &x.view(), 2.0.scalar(), y_view) }, OK);
        assert_eq!(y.values(), [2.0, 4.0, 6.0]);
        let (px, py) = (x.view().data.cast(), y.view_mut().data.cast());
        // SAFETY: as above.
        assert_eq!(unsafe { ndblas_daxpby(3, 0.0, px, -1, 0.5, py, first_and_stride.1) }, OK);
        assert_eq!(y.values(), [1.0, 2.0, 3.0]);
    }
}

/// A09: the last element of a strided view whose memory ends with it.
#[test]
fn swap_reaches_the_last_element() {
    for half in 1..40 {
        let mut a = vector(&counting(2 * half - 1));
        let mut b = vector(&vec![0.0; half]);
        let even = part(&a, 0, &[half as isize], &[2]);
        // SAFETY: the views lie in their arrays.
        assert_eq!(unsafe { ndblas_swap(&mut a.view_mut_of(&even), &mut b.view_mut()) }, OK);
        assert!(b.values().iter().enumerate().all(|(i, &v)| v == 2.0 * i as f64));
        let left = |i: usize| if i.is_multiple_of(2) { 0.0 } else { i as f64 };
        assert!(a.values().iter().enumerate().all(|(i, &v)| v == left(i)));
    }
}

/// A11: of equal magnitudes the first.
#[test]
fn ties_go_to_the_first() {
    fn check<T: Number>() {
        let of = |values: &[f64]| {
            let values: Vec<T> = values.iter().map(|&v| T::rounded(v, 0.0)).collect();
            value(ndblas_iamax, &vector(&values).view())
        };
        assert_eq!(of(&[8.0, -7.0, 9.0, 5.0, 9.0, 8.0, 7.0, 7.0]), 2);
        // The last is shared among threads.
        for n in (1..70).chain([2047, 2048, 2049, 5000, 300_001]) {
            assert_eq!(of(&vec![42.0; n]), 0);
            let mut two = vec![1.0; n];
            (two[n / 2], two[n - 1]) = (-3.0, 3.0);
            assert_eq!(of(&two), n as isize / 2);
        }
    }
    for n in THREADS {
        set_num_threads_local(n);
        check::<f32>();
        check::<f64>();
        check::<Complex<f64>>();
    }
}

/// A12, A13: the first NaN wins, wherever registers, blocks and threads divide the vector.
#[test]
fn the_first_nan_is_the_greatest() {
    const NAN: f64 = f64::NAN;
    const INF: f64 = f64::INFINITY;
    let of = |values: &[f64]| {
        let single: Vec<f32> = values.iter().map(|&v| v as f32).collect();
        let result = value(ndblas_iamax, &vector(values).view());
        assert_eq!(result, value(ndblas_iamax, &vector(&single).view()));
        result
    };
    assert_eq!(of(&[0.0, NAN, 2.0]), 1);
    assert_eq!(of(&[NAN, 0.0, 2.0]), 0);
    assert_eq!(of(&[1.0, INF, NAN]), 2);
    assert_eq!(of(&[5.0, INF, NAN, 8.0, 9.0]), 2);
    assert_eq!(of(&[5.0, NAN, INF, 8.0, 9.0]), 1);
    assert_eq!(of(&[NAN; 8]), 0);
    assert_eq!(of(&[-INF, INF]), 0);
    // The last is shared among threads.
    for n in [10, 33, 2048, 4097, 20_000, 300_001] {
        for threads in THREADS {
            set_num_threads_local(threads);
            for at in [0, 1, n / 2, n - 2, n - 1] {
                let mut values = vec![1.0; n];
                values[n / 3] = 1e30;
                values[at..].iter_mut().step_by(2).for_each(|v| *v = NAN);
                assert_eq!(of(&values), at as isize, "n = {n}");
            }
        }
    }
}

/// A15: scal multiplies, also by 0 and also NaN and infinities.
#[test]
fn scal_follows_ieee_arithmetic() {
    const NAN: f64 = f64::NAN;
    const INF: f64 = f64::INFINITY;
    fn check<T: Number>(alpha: f64, y: f64, n: isize, stride: isize) {
        let alpha = T::rounded(alpha, 0.0);
        let mut memory = Array::from_values(&[2 * n], &vec![T::rounded(y, 0.0); 2 * n as usize]);
        let first = if stride < 0 { n - 1 } else { 0 };
        let layout = part(&memory, first, &[n], &[stride]);
        // SAFETY: the view lies in the array.
        let status = unsafe { ndblas_scal(alpha.scalar(), &mut memory.view_mut_of(&layout)) };
        assert_eq!(status, OK);
        let want = alpha.wide().re * y;
        for got in layout.offsets().into_iter().map(|o| memory.get_at(o).wide().re) {
            let same = got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan());
            assert!(same, "{alpha:?} * {y} gave {got}, n = {n}, stride {stride}");
        }
    }
    for (alpha, y) in [
        (3.0, NAN),
        (NAN, 3.0),
        (0.0, NAN),
        (NAN, 0.0),
        (0.0, INF),
        (INF, 0.0),
        (NAN, INF),
        (0.0, -5.0),
        (-0.0, 5.0),
        (1.0, NAN),
    ] {
        for n in [1, 7, 33, 400] {
            for stride in [1, 2, -1] {
                check::<f32>(alpha, y, n, stride);
                check::<f64>(alpha, y, n, stride);
            }
        }
    }
}

/// A15: a complex scal multiplies in full, though a part of the factor be 0.
#[test]
fn complex_scal_follows_ieee_arithmetic() {
    const NAN: f64 = f64::NAN;
    let factors = [c64(0.0, 0.0), c64(2.0, 0.0), c64(0.0, 2.0), c64(NAN, 0.0), c64(1.0, 0.0)];
    for alpha in factors {
        for v in [c64(NAN, 1.0), c64(1.0, NAN), c64(f64::INFINITY, 1.0), c64(1.0, -2.0)] {
            let want = c64(alpha.re * v.re - alpha.im * v.im, alpha.re * v.im + alpha.im * v.re);
            for n in [1, 7, 33, 400] {
                let mut y = vector(&vec![v; n]);
                // SAFETY: the view lies in the array.
                assert_eq!(unsafe { ndblas_scal(alpha.scalar(), &mut y.view_mut()) }, OK);
                for got in y.values() {
                    let same = |g: f64, w: f64| g == w || (g.is_nan() && w.is_nan());
                    let both = same(got.re, want.re) && same(got.im, want.im);
                    assert!(both, "{alpha} * {v} gave {got}, n = {n}");
                }
            }
        }
    }
}

/// A17: beta = 0 of either sign writes and never reads; dense, strided and in remainders.
#[test]
fn beta_zero_never_reads() {
    for n in 1..70 {
        for stride in [1, 2, -1] {
            for beta in [0.0, -0.0] {
                let x = vector(&counting(n));
                let mut memory = vector(&vec![f64::NAN; 2 * n]);
                let first = if stride < 0 { n as isize - 1 } else { 0 };
                let y = part(&memory, first, &[n as isize], &[stride]);
                let (view, y_view) = (x.view(), &mut memory.view_mut_of(&y));
                let want = |factor: f64| counting(n).iter().map(|v| factor * v).collect::<Vec<_>>();
                let got = |memory: &Array<f64>| {
                    y.offsets().iter().map(|&o| memory.get_at(o)).collect::<Vec<_>>()
                };
                // SAFETY: the views lie in their arrays.
                unsafe {
                    assert_eq!(ndblas_axpby(3.0.scalar(), &view, beta.scalar(), y_view), OK);
                    assert_eq!(got(&memory), want(3.0));
                    memory.fill_with(|| f64::NAN);
                    let one = 1.0.scalar();
                    assert_eq!(ndblas_permute(one, &view, null(), beta.scalar(), y_view), OK);
                    assert_eq!(got(&memory), want(1.0));
                    memory.fill_with(|| f64::INFINITY);
                    let ones = part(&x, (n as isize - 1).min(1), &[n as isize], &[0]);
                    let ones = x.view_of(&ones);
                    assert_eq!(ndblas_mul_add(one, &view, &ones, beta.scalar(), y_view), OK);
                    assert_eq!(got(&memory), want(if n > 1 { 1.0 } else { 0.0 }));
                    memory.fill_with(|| f64::NAN);
                    assert_eq!(ndblas_axpby(0.0.scalar(), &view, beta.scalar(), y_view), OK);
                    assert_eq!(got(&memory), vec![0.0; n]);
                }
            }
        }
    }
}

/// A19: norms of the smallest and the largest numbers.
#[test]
fn norms_that_squares_do_not_hold() {
    // Some ulps, for the rounding of a few hundred sums in a lane.
    let is = |got: f64, want: f64| got == want || (got - want).abs() <= 16.0 * f64::EPSILON * want;
    let norm = |values: &[f64]| {
        let complex: Vec<_> = values.iter().map(|&v| c64(0.0, v)).collect();
        let result = value(ndblas_nrm2, &vector(values).view());
        let of_complex = value(ndblas_nrm2, &vector(&complex).view());
        assert!(is(of_complex, result) || result.is_nan() && of_complex.is_nan());
        result
    };
    assert_eq!(norm(&[7.457008414e-310]), 7.457008414e-310);
    assert_eq!(norm(&[5e-324]), 5e-324);
    assert!(is(norm(&[3e-310, 4e-310]), 5e-310));
    assert!(is(norm(&[3e-160, 4e-160]), 5e-160));
    assert!(is(norm(&[3e300, 4e300]), 5e300));
    assert!(is(norm(&[1e300, 1e-300]), 1e300));
    assert!((norm(&[1e300; 10_000]) / 1e302 - 1.0).abs() < 1e-12);
    assert!(is(norm(&[2f64.powi(-1074); 4096]), 2f64.powi(-1068)));
    assert!(is(norm(&[f64::MAX]), f64::MAX));
    assert_eq!(norm(&[f64::MAX, f64::MAX]), f64::INFINITY);
    assert_eq!(norm(&[0.0, -0.0]), 0.0);
    // The large and the small in different blocks.
    let mut values = vec![1e-200; 3000];
    values[2999] = 3e200;
    values[0] = 4e200;
    assert!(is(norm(&values), 5e200));

    for at in [0, 2999] {
        let mut values = vec![1.0; 3000];
        values[at] = f64::NEG_INFINITY;
        assert_eq!(norm(&values), f64::INFINITY);
        values[2500] = 1e308;
        assert_eq!(norm(&values), f64::INFINITY);
        values[1500] = f64::NAN;
        assert!(norm(&values).is_nan());
        values[at] = 1e300;
        assert!(norm(&values).is_nan());
    }
    let tiny = vector(&[1e-45f32, 0.0]);
    assert_eq!(value(ndblas_nrm2, &tiny.view()), 1e-45f32 as f64);
    // In double, where the result of f32 elements is given, it is held.
    let large = vector(&[f32::MAX; 4]);
    assert!(is(value(ndblas_nrm2, &large.view()), 2.0 * f32::MAX as f64));
}

/// A21, A28: sums of more ones than f32 counts, and of more elements than i32 does.
#[test]
fn long_sums() {
    let (single, double) = (vector(&[1f32]), vector(&[1f64]));
    // More than 2^31 once, where sums are fast.
    let rerun = std::env::var_os("NDBLAS_TEST_RERUN").is_some();
    for n in [1 << 25, if rerun { (1 << 25) + 3 } else { (1 << 31) + 3 }] {
        let (s, d) = (part(&single, 0, &[n], &[0]), part(&double, 0, &[n], &[0]));
        let n = n as f64;
        assert_eq!(dot(&single.view_of(&s), &single.view_of(&s)), n);
        assert_eq!(dot(&double.view_of(&d), &double.view_of(&d)), n);
        assert_eq!(value(ndblas_asum, &single.view_of(&s)), n);
        assert_eq!(value(ndblas_asum, &double.view_of(&d)), n);
        assert_eq!(value(ndblas_nrm2, &single.view_of(&s)), n.sqrt());
        assert_eq!(value(ndblas_nrm2, &double.view_of(&d)), n.sqrt());
    }
    let rows = if rerun { 3 } else { 65_537 };
    let d = part(&double, 0, &[rows, 32_769], &[0, 0]);
    assert_eq!(value(ndblas_asum, &double.view_of(&d)), rows as f64 * 32_769.0);
}

/// A28: more than 2^31 elements for the other routines that read, by strides of 0.
#[test]
fn more_elements_than_i32_counts() {
    let rerun = std::env::var_os("NDBLAS_TEST_RERUN").is_some();
    let n = if rerun { (1 << 20) + 3 } else { (1 << 31) + 3 };
    let z = vector(&[Complex::new(1f32, 2.0)]);
    let layout = part(&z, 0, &[n], &[0]);
    let z = z.view_of(&layout);
    let mut sum = ndblas_scalar { re: 0.0, im: 0.0 };
    // SAFETY: one element, again and again.
    assert_eq!(unsafe { ndblas_dotc(&z, &z, &mut sum) }, OK);
    assert_eq!((sum.re, sum.im), (5.0 * n as f64, 0.0));
    assert_eq!(value(ndblas_iamax, &z), 0);

    // As many terms for one cell; an integer wraps.
    let (one, first) = (vector(&[1u8]), vector(&[0i32]));
    let (src, index) = (part(&one, 0, &[n], &[0]), part(&first, 0, &[n], &[0]));
    let mut cell = vector(&[7u8]);
    let (src, index, out) = (one.view_of(&src), first.view_of(&index), &mut cell.view_mut());
    // SAFETY: as above.
    assert_eq!(unsafe { ndblas_scatter_add(1.0.scalar(), &src, 0, &index, 0, out) }, OK);
    assert_eq!(cell.values(), [(n as u8).wrapping_add(7)]);

    // An axis of as many, and an index at its end.
    let table = part(&one, 0, &[n], &[0]);
    for (i, mode, status) in [(n as i64 - 1, 0, OK), (-n as i64, 0, OK), (i64::MAX, 2, OK)]
        .into_iter()
        .chain([(n as i64, 0, INDEX), (-n as i64 - 1, 0, INDEX)])
    {
        let (at, mut out) = (vector(&[i]), vector(&[9u8]));
        let (a, at, y) = (one.view_of(&table), at.view(), &mut out.view_mut());
        // SAFETY: as above.
        let got = unsafe { ndblas_gather(1.0.scalar(), &a, 0, &at, mode, 0.0.scalar(), y) };
        assert_eq!(got, status, "{}", last_error());
        assert_eq!(out.values(), [if status == OK { 1 } else { 9 }]);
    }
}

/// A22: a long f32 dot is as good as its f64 sum, with any number of threads.
#[test]
fn long_f32_dots_are_exact_enough() {
    let mut numbers = Numbers { state: 42, exact: false };
    // Sums of uniform numbers are near normal, and their mean is near 0.
    let values: Vec<f32> =
        (0..1_000_000).map(|_| (0..4).map(|_| numbers.real() as f32).sum()).collect();
    let want: f64 = values.iter().map(|&v| v as f64 * v as f64).sum();
    let x = vector(&values);
    let results = THREADS.map(|n| {
        set_num_threads_local(n);
        dot(&x.view(), &x.view())
    });
    assert!((results[0] - want).abs() <= 1e-6 * want, "{} not {want}", results[0]);
    assert_eq!(results.map(f64::to_bits), [results[0].to_bits(); 4]);
}

/// A24: the bits of a sum do not depend on the address.
#[test]
fn sums_at_every_address() {
    let mut numbers = Numbers { state: 7, exact: false };
    let values: Vec<f64> = (0..430).map(|_| numbers.real()).collect();
    let results = |shift| {
        let x = Array::shifted(shift, &values);
        let view = x.view();
        [value(ndblas_asum, &view), value(ndblas_nrm2, &view), dot(&view, &view)].map(f64::to_bits)
    };
    for shift in 1..64 {
        assert_eq!(results(shift), results(0));
    }
}

/// A26: complex results come through pointers.
#[test]
fn complex_dots() {
    let x = vector(&[c64(1.0, 2.0), c64(3.0, 4.0), c64(5.0, 6.0)]);
    let y = vector(&[c64(7.0, 8.0), c64(9.0, 10.0), c64(11.0, 12.0)]);
    let (x, y) = (x.view(), y.view());
    let mut result = ndblas_scalar { re: 0.0, im: 0.0 };
    let mut z = c64(0.0, 0.0);
    // SAFETY: the views and vectors lie in their arrays.
    unsafe {
        assert_eq!(ndblas_dotu(&x, &y, &mut result), OK);
        assert_eq!((result.re, result.im), (-39.0, 214.0));
        assert_eq!(ndblas_dotc(&x, &y, &mut result), OK);
        assert_eq!((result.re, result.im), (217.0, -18.0));
        assert_eq!(ndblas_zdotu(3, x.data, 1, y.data, 1, (&raw mut z).cast()), OK);
        assert_eq!(z, c64(-39.0, 214.0));
        assert_eq!(ndblas_zdotc(3, x.data, 1, y.data, 1, (&raw mut z).cast()), OK);
        assert_eq!(z, c64(217.0, -18.0));
    }
}

/// A30: what lies beside the operands never gets into a sum.
#[test]
fn nothing_leaks_into_a_sum() {
    fn check<T: Number>() {
        for n in 1..70 {
            for shift in [0, 4, 20] {
                let mut x = Array::shifted(shift, &vec![T::ZERO; n]);
                x.bytes_mut().fill(0xFF); // NaN
                x.assign((0..n).map(|i| if i == 0 { T::ONE } else { T::ZERO }));
                let view = x.view();
                assert_eq!(dot(&view, &view), 1.0);
                assert_eq!(value(ndblas_asum, &view), 1.0);
                assert_eq!(value(ndblas_nrm2, &view), 1.0);
                assert_eq!(value(ndblas_iamax, &view), 0);
            }
        }
    }
    check::<f32>();
    check::<f64>();
    check::<Complex<f32>>();
    check::<Complex<f64>>();
}

/// A31: the magnitude of a complex number is |re| + |im|, as in BLAS.
#[test]
fn complex_magnitudes() {
    let x = vector(&[c64(3.0, 4.0), c64(0.0, 6.0)]);
    assert_eq!((value(ndblas_iamax, &x.view()), value(ndblas_asum, &x.view())), (0, 13.0));
}

/// B01: a transpose of the output as the input reads what is already written, so it is refused, at
/// every size.
#[test]
fn a_transpose_added_to_itself() {
    for n in [2, 91, 100, 300] {
        for threads in THREADS {
            set_num_threads_local(threads);
            let mut m = vector(&counting((n * n) as usize));
            let before = m.clone();
            let (rows, columns) = (part(&m, 0, &[n, n], &[n, 1]), part(&m, 0, &[n, n], &[1, n]));
            let (x, y) = (m.view_of(&columns), &mut m.view_mut_of(&rows));
            // SAFETY: the views lie in the array.
            assert_eq!(unsafe { ndblas_axpy(1.0.scalar(), &x, y) }, OVERLAP);
            // SAFETY: as above.
            assert_eq!(unsafe { ndblas_copy(&x, y) }, OVERLAP);
            assert!(m.bytes() == before.bytes());
        }
    }
}

/// B03: a copy onto a shifted self is refused, small or large.
#[test]
fn shifts_by_copy() {
    for (shape, axis) in [(&[10][..], 0), (&[4, 10, 6], 1), (&[500, 700], 0), (&[500, 700], 1)] {
        let size = shape.iter().product::<isize>() as usize;
        let mut array = Array::from_values(shape, &counting(size));
        let before = array.clone();
        let mut from = array.layout.clone();
        from.shape[axis] -= 1;
        let to = Layout { base: from.base + from.strides[axis], ..from.clone() };
        for (from, to) in [(&from, &to), (&to, &from)] {
            let (x, y) = (array.view_of(from), &mut array.view_mut_of(to));
            // SAFETY: the views lie in the array.
            assert_eq!(unsafe { ndblas_copy(&x, y) }, OVERLAP);
            assert!(array.bytes() == before.bytes());
        }
    }
}

/// B04: several indices on one cell of an output.
#[test]
fn outputs_that_repeat_a_cell() {
    let x = vector(&counting(20));
    let mut y = vector(&[1.0, 2.0, 3.0]);
    let before = y.clone();
    for (shape, strides) in
        [([2, 2], [0, 1]), ([4, 5], [0, 0]), ([2, 2], [1, 1]), ([2, 2], [1, -1]), ([2, 3], [0, 1])]
    {
        let (first, input) = (if strides[1] < 0 { 1 } else { 0 }, part(&x, 0, &shape, &[2, 1]));
        let output = part(&y, first, &shape, &strides);
        let (x, y_view) = (x.view_of(&input), &mut y.view_mut_of(&output));
        // SAFETY: the views lie in their arrays.
        assert_eq!(unsafe { ndblas_axpy(1.0.scalar(), &x, y_view) }, OVERLAP);
        assert!(last_error().starts_with("y of shape"), "{}", last_error());
        assert!(y.bytes() == before.bytes());
    }
    // A length-1 axis repeats nothing.
    let output = part(&y, 0, &[1, 3], &[0, 1]);
    // SAFETY: as above.
    assert_eq!(unsafe { ndblas_scal(2.0.scalar(), &mut y.view_mut_of(&output)) }, OK);
    assert_eq!(y.values(), [2.0, 4.0, 6.0]);
}

/// B06: a negative outer stride and a gap within the rows, divided among threads.
#[test]
fn reversed_rows_among_threads() {
    let a = vector(&counting(600_000));
    let v = part(&a, 299 * 2000, &[300, 1000], &[-2000, 2]);
    let quarter = vector(&[0.25]);
    let mut out = Array::from_values(&[300, 1000], &vec![0.0; 300_000]);
    for threads in THREADS {
        set_num_threads_local(threads);
        out.fill_with(|| f64::NAN);
        let (v, quarter, y) = (a.view_of(&v), quarter.view(), &mut out.view_mut());
        // SAFETY: the views lie in their arrays.
        unsafe {
            assert_eq!(ndblas_copy(&v, y), OK);
            assert_eq!(ndblas_axpy((-1.0).scalar(), &quarter, y), OK);
        }
        let values = out.values();
        assert_eq!((values[0], values[299_999]), (597_999.75, 1997.75));
        assert_eq!(values.iter().sum::<f64>(), 89_999_625_000.0);
    }
}

/// B10: the strides of length-1 axes mean nothing.
#[test]
fn strides_of_length_one_axes() {
    let values = counting(1000);
    for stride in [0, 1, -7, 1_000_000_000_000, isize::MIN, isize::MAX] {
        for (shape, strides) in [
            (&[1000, 1][..], &[8, stride][..]),
            (&[1, 1000], &[stride, 8]),
            (&[1, 1000, 1], &[stride, 8, stride]),
        ] {
            let (x, mut y) = (vector(&values), vector(&values));
            let layout = |array: &Array<f64>| Layout::new(array.layout.base, shape, strides);
            let (lx, ly) = (layout(&x), layout(&y));
            let (view, out) = (x.view_of(&lx), &mut y.view_mut_of(&ly));
            // SAFETY: the views lie in their arrays.
            assert_eq!(unsafe { ndblas_axpy(2.0.scalar(), &view, out) }, OK, "{}", last_error());
            assert!(y.values().iter().enumerate().all(|(i, &v)| v == 3.0 * i as f64));
            assert_eq!(value(ndblas_iamax, &view), 999);
        }
    }
}

/// B11: strides of mixed signs, and a length-1 axis that steps backwards.
#[test]
fn mixed_signs() {
    let b = vector(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let (a, mut c) = (vector(&[2.0]), vector(&[0.0; 6]));
    let lb = part(&b, 0, &[3, 2], &[1, 3]);
    let lc = part(&c, 5, &[3, 2], &[-1, -3]);
    let la = part(&a, 0, &[1, 1], &[-1, -1]);
    let (va, vb, vc) = (a.view_of(&la), b.view_of(&lb), &mut c.view_mut_of(&lc));
    let one = 1.0.scalar();
    // SAFETY: the views lie in their arrays.
    assert_eq!(unsafe { ndblas_mul_add(one, &va, &vb, one, vc) }, OK, "{}", last_error());
    assert_eq!(c.values(), [12.0, 10.0, 8.0, 6.0, 4.0, 2.0]);
}

/// B12: fields of packed records, at strides that are no multiple of the element's size.
#[test]
fn packed_records() {
    for (step, shift) in [(9, 1), (12, 4), (-9, 1), (17, 3)] {
        for n in [6isize, 100] {
            let mut x = Array::<f64>::new(Layout::new(0, &[n], &[step]), shift);
            x.assign(counting(n as usize));
            let (view, before) = (x.view(), x.clone());
            let sum = |f: fn(f64) -> f64| counting(n as usize).into_iter().map(f).sum::<f64>();
            assert_eq!(value(ndblas_asum, &view), sum(|v| v));
            assert_eq!(value(ndblas_nrm2, &view), sum(|v| v * v).sqrt());
            assert_eq!(dot(&view, &view), sum(|v| v * v));
            assert_eq!(value(ndblas_iamax, &view), n - 1);
            // SAFETY: the view lies in the array.
            assert_eq!(unsafe { ndblas_scal(2.0.scalar(), &mut x.view_mut()) }, OK);
            assert!(x.values().iter().enumerate().all(|(i, &v)| v == 2.0 * i as f64));
            assert!(x.canaries() == before.canaries());
        }
    }
}

/// B13: an empty view overlaps nothing, whatever its strides are, and needs no memory.
#[test]
fn empty_views_of_stride_zero() {
    for shape in [[1, 0], [0, 1]] {
        let strides = [0isize; 2];
        let view = ndblas_view {
            data: null(),
            shape: shape.as_ptr(),
            strides: strides.as_ptr(),
            ndim: 2,
            dtype: 2,
        };
        let ndblas_view { shape, strides, ndim, dtype, .. } = view;
        let mut out = ndblas_view_mut { data: null_mut(), shape, strides, ndim, dtype };
        let mut other = out;
        let one = 1.0.scalar();
        // SAFETY: there is no element.
        let statuses = unsafe {
            [
                ndblas_fill(one, &mut out),
                ndblas_copy(&view, &mut out),
                ndblas_swap(&mut other, &mut out),
                ndblas_scal(one, &mut out),
                ndblas_axpy(one, &view, &mut out),
                ndblas_axpby(one, &view, one, &mut out),
                ndblas_mul_add(one, &view, &view, one, &mut out),
                ndblas_rot(&mut other, &mut out, 0.6, 0.8),
                ndblas_permute(one, &view, [0, 1].as_ptr(), one, &mut out),
                ndblas_permute_in_place(&mut out, null()),
            ]
        };
        assert_eq!(statuses, [OK; 10], "{}", last_error());
        assert_eq!(dot(&view, &view), 0.0);
        assert_eq!((value(ndblas_nrm2, &view), value(ndblas_asum, &view)), (0.0, 0.0));
        assert_eq!(value(ndblas_iamax, &view), -1);
    }
}

/// B15: a dot starts at the right end of a reversed vector.
#[test]
fn reversed_dots() {
    let (x, y) = (vector(&[1.0, 2.0, 3.0, 4.0]), vector(&[1.0, 10.0, 100.0, 1000.0]));
    let (back_x, back_y) = (part(&x, 3, &[4], &[-1]), part(&y, 3, &[4], &[-1]));
    assert_eq!(dot(&x.view_of(&back_x), &y.view()), 1234.0);
    assert_eq!(dot(&x.view(), &y.view_of(&back_y)), 1234.0);
    assert_eq!(dot(&x.view_of(&back_x), &y.view_of(&back_y)), 4321.0);
    let (px, py) = (x.view().data.cast(), y.view().data.cast());
    let mut result = 0.0;
    for (incx, incy, want) in [(-1, 1, 1234.0), (1, -1, 1234.0), (-1, -1, 4321.0)] {
        // SAFETY: the vectors lie in their arrays.
        assert_eq!(unsafe { ndblas_ddot(4, px, incx, py, incy, &mut result) }, OK);
        assert_eq!(result, want);
    }
}

/// B18: a slice is not read as if it were dense.
#[test]
fn slices_keep_their_strides() {
    let a = vector(&counting(100));
    assert_eq!(value(ndblas_asum, &a.view_of(&part(&a, 45, &[4, 4], &[10, 1]))), 984.0);
    let (w, ones) = (vector(&counting(9)), vector(&[1.0; 3]));
    assert_eq!(dot(&w.view_of(&part(&w, 0, &[3], &[3])), &ones.view()), 9.0);
}

/// B21: an input may lie in memory that cannot be written.
#[test]
fn read_only_inputs() {
    static CONSTANTS: [f64; 3] = [1.0, 2.0, 3.0];
    let view = ndblas_view {
        data: CONSTANTS.as_ptr().cast(),
        shape: [3].as_ptr(),
        strides: null(),
        ndim: 1,
        dtype: 2,
    };
    let mut y = vector(&[1.0; 3]);
    let one = 1.0.scalar();
    // SAFETY: the views are valid.
    unsafe {
        assert_eq!(ndblas_axpy(one, &view, &mut y.view_mut()), OK);
        assert_eq!(ndblas_mul_add(one, &view, &view, one, &mut y.view_mut()), OK);
        assert_eq!(ndblas_permute(one, &view, null(), one, &mut y.view_mut()), OK);
    }
    assert_eq!(y.values(), [4.0, 9.0, 16.0]);
}

/// B22: strided and column-major outputs are updated where they are; dtypes are never converted.
#[test]
fn updates_happen_in_place() {
    let (x, mut y) = (vector(&[1.0, 2.0, 3.0]), vector(&[10.0; 6]));
    let even = part(&y, 0, &[3], &[2]);
    // SAFETY: the views lie in their arrays.
    assert_eq!(unsafe { ndblas_axpy(1.0.scalar(), &x.view(), &mut y.view_mut_of(&even)) }, OK);
    assert_eq!(y.values(), [11.0, 10.0, 12.0, 10.0, 13.0, 10.0]);
    let columns = part(&y, 0, &[2, 3], &[1, 2]);
    // SAFETY: as above.
    assert_eq!(unsafe { ndblas_axpy(1.0.scalar(), &x.view(), &mut y.view_mut_of(&columns)) }, OK);
    assert_eq!(y.values(), [12.0, 11.0, 14.0, 12.0, 16.0, 13.0]);
    let single = vector(&[1f32, 2.0, 3.0]);
    // SAFETY: as above.
    let status = unsafe { ndblas_axpy(1.0.scalar(), &single.view(), &mut y.view_mut_of(&even)) };
    assert_eq!(status, DTYPE);
    assert!(last_error().contains("float32") && last_error().contains("float64"));
    assert_eq!(y.values(), [12.0, 11.0, 14.0, 12.0, 16.0, 13.0]);
}

/// B25: views of one array that interleave but never meet: columns, as the halves or the parts of
/// complex numbers are, and blocks of columns.
#[test]
fn columns_of_one_array() {
    let mut a = vector(&counting(8));
    let (x, y) = (part(&a, 1, &[4], &[2]), part(&a, 0, &[4], &[2]));
    let (x, y) = (a.view_of(&x), &mut a.view_mut_of(&y));
    // SAFETY: the views lie in the array.
    assert_eq!(unsafe { ndblas_axpy(10.0.scalar(), &x, y) }, OK, "{}", last_error());
    assert_eq!(a.values(), [10.0, 1.0, 32.0, 3.0, 54.0, 5.0, 76.0, 7.0]);

    let mut a = vector(&counting(24));
    let (x, y) = (part(&a, 4, &[3, 4], &[8, 1]), part(&a, 0, &[3, 4], &[8, 1]));
    let (x, y) = (a.view_of(&x), &mut a.view_mut_of(&y));
    // SAFETY: the views lie in the array.
    assert_eq!(unsafe { ndblas_copy(&x, y) }, OK, "{}", last_error());
    assert!(a.values().iter().enumerate().all(|(i, &v)| v == (i | 4) as f64));
    // One column more, and they meet.
    let (x, y) = (part(&a, 4, &[3, 4], &[8, 1]), part(&a, 0, &[3, 5], &[8, 1]));
    let mut wider = x.clone();
    wider.shape[1] = 1;
    let (x, y) = (a.view_of(&wider), &mut a.view_mut_of(&y));
    // SAFETY: as above.
    assert_eq!(unsafe { ndblas_copy(&x, y) }, OVERLAP);
}

/// C01, C03: a permute onto its own input: the same cells index by index, or refused.
#[test]
fn permutes_in_place() {
    for (rows, columns, row) in [(4, 2, 2), (2, 4, 4), (4, 2, 5), (3, 3, 3)] {
        let mut a = vector(&(0..20).map(|i| i as f32).collect::<Vec<_>>());
        let before = a.clone();
        let block = part(&a, 0, &[rows, columns], &[row, 1]);
        let transposed = part(&a, 0, &[columns, rows], &[rows, 1]);
        let (zero, x) = (0.0.scalar(), a.view_of(&block));
        let (same, other) = (&mut a.view_mut_of(&block), &mut a.view_mut_of(&transposed));
        // SAFETY: the views lie in the array.
        unsafe {
            assert_eq!(ndblas_permute(1.0.scalar(), &x, [0, 1].as_ptr(), zero, same), OK);
            assert!(a.bytes() == before.bytes());
            assert_eq!(ndblas_permute(1.0.scalar(), &x, [1, 0].as_ptr(), zero, other), OVERLAP);
            assert!(a.bytes() == before.bytes());
            assert_eq!(ndblas_permute(2.0.scalar(), &x, [0, 1].as_ptr(), zero, same), OK);
        }
        for (i, (new, old)) in a.values().into_iter().zip(before.values()).enumerate() {
            let i = i as isize;
            let inside = i / row < rows && i % row < columns;
            assert_eq!(new, if inside { 2.0 * old } else { old });
        }
    }
}

/// C04: beta and a block of a larger array: every permutation, and the other cells untouched.
#[test]
fn updates_of_a_block() {
    for perm in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        for numbered in [false, true] {
            let mut a = vector(&counting(125));
            let block = part(&a, 0, &[3, 3, 3], &[25, 5, 1]);
            let b: Vec<f64> = (0..27).map(|i| if numbered { i as f64 } else { 1.0 }).collect();
            let b = Array::from_values(&[3, 3, 3], &b);
            let (one, ten) = (1.0.scalar(), 10.0.scalar());
            let out = &mut a.view_mut_of(&block);
            // SAFETY: the views lie in their arrays.
            let status = unsafe { ndblas_permute(one, &b.view(), perm.as_ptr(), ten, out) };
            assert_eq!(status, OK, "{}", last_error());
            let mut want = counting(125);
            each_index(&[3, 3, 3], |i| {
                let mut source = [0; 3];
                (0..3).for_each(|d| source[perm[d] as usize] = i[d]);
                let cell = &mut want[(25 * i[0] + 5 * i[1] + i[2]) as usize];
                *cell = 10.0 * *cell + b.get(&source);
            });
            assert_eq!(a.values(), want);
            assert!(numbered || want.iter().sum::<f64>() == 15_310.0);
        }
    }
}

/// C06: outputs at addresses that wide stores do not like.
#[test]
fn permutes_to_any_address() {
    fn check<T: Element>(n: isize, shifts: &[usize], numbered: impl Fn(usize) -> T) {
        let size = (n * n * n) as usize;
        let a = Array::from_values(&[n; 3], &(0..size).map(numbered).collect::<Vec<_>>());
        for perm in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            for &shift in shifts {
                let mut out = Array::<T>::new(Layout::dense(&[n; 3], size_of::<T>()), shift);
                let before = out.clone();
                assert_eq!(transpose(&a, &perm, &mut out), OK);
                each_index(&[n; 3], |i| {
                    let mut source = [0; 3];
                    (0..3).for_each(|d| source[perm[d] as usize] = i[d]);
                    assert_eq!(out.get(i), a.get(&source));
                });
                assert!(out.canaries() == before.canaries());
            }
        }
    }
    check::<f64>(50, &[8, 16, 24], |i| i as f64);
    check::<f32>(50, &[4, 3], |i| i as f32);
    check::<u8>(50, &[1], |i| i as u8);
    check::<Complex<f64>>(17, &[8, 1], |i| c64(i as f64, 0.5));
}

/// C08: permutations that are none.
#[test]
fn permutations_that_are_none() {
    let a = Array::from_values(&[1, 2, 3], &counting(6));
    let mut out = Array::from_values(&[3, 2, 1], &[7.0; 6]);
    for perm in [[0, 0, 1], [0, 1, 3], [-1, 0, 1], [i32::MAX, 0, 1], [0, 1, i32::MIN]] {
        assert_eq!(transpose(&a, &perm, &mut out), AXIS);
        let text = format!("{perm:?}").replace(['[', ']'], "");
        assert!(last_error().contains(&format!("perm ({text})")), "{}", last_error());
        assert_eq!(out.values(), [7.0; 6]);
    }
    // Rust says how many numbers there are.
    let view = ndblas::View::from_slice(&[0.0; 6], &[1, 2, 3]).unwrap();
    let mut cells = [7.0; 6];
    let mut out = ndblas::ViewMut::from_slice(&mut cells, &[2, 1]).unwrap();
    let error = ndblas::permute(1.0, &view, Some(&[1, 0]), 0.0, &mut out).unwrap_err();
    assert_eq!(error.status() as i32, AXIS);
    assert!(error.to_string().contains("perm (1, 0)"), "{error}");
    assert_eq!(cells, [7.0; 6]);
}

/// C09: transposes around every size of tile, compared in full.
#[test]
fn transposes_of_every_size() {
    for n in 1..70isize {
        for (rows, columns) in [(n, n), (n, n + 1), (n + 1, n)] {
            let numbered: Vec<_> =
                (0..rows * columns).map(|i| (1000 * (i / columns) + i % columns) as f64).collect();
            let a = Array::from_values(&[rows, columns], &numbered);
            let mut out = vector(&vec![f64::NAN; numbered.len()]);
            out.layout = part(&out, 0, &[columns, rows], &[rows, 1]);
            assert_eq!(transpose(&a, &[1, 0], &mut out), OK);
            each_index(&[columns, rows], |i| {
                assert_eq!(out.get(i), (1000 * i[1] + i[0]) as f64);
            });
        }
    }
}

/// C11: images, whose last axis is three colours.
#[test]
fn layouts_of_images() {
    let (rows, columns) = (224, 224);
    let a = Array::from_values(&[rows, columns, 3], &counting(3 * (rows * columns) as usize));
    let mut planes = Array::from_values(&[3, rows, columns], &vec![0.0; 3 * 224 * 224]);
    assert_eq!(transpose(&a, &[2, 0, 1], &mut planes), OK);
    each_index(&[3, rows, columns], |i| assert_eq!(planes.get(i), a.get(&[i[1], i[2], i[0]])));
    let mut back = Array::from_values(&[rows, columns, 3], &vec![0.0; 3 * 224 * 224]);
    assert_eq!(transpose(&planes, &[1, 2, 0], &mut back), OK);
    assert!(back.values() == a.values());
}

/// C03, C13: transposes in place, of dense arrays of any shape and of a block that is square.
#[test]
fn transposes_in_place() {
    let in_place = |array: &mut Array<f64>, layout: &Layout, perm: *const i32| {
        // SAFETY: the view lies in its array; perm is NULL or has a number an axis.
        unsafe { ndblas_permute_in_place(&mut array.view_mut_of(layout), perm) }
    };
    let mut a = vector(&counting(6));
    let matrix = part(&a, 0, &[2, 3], &[3, 1]);
    assert_eq!(in_place(&mut a, &matrix, null()), OK);
    assert_eq!(a.values(), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    let mut a = vector(&counting(24));
    let cube = part(&a, 0, &[2, 3, 4], &[12, 4, 1]);
    assert_eq!(in_place(&mut a, &cube, null()), OK);
    let want =
        [0, 12, 4, 16, 8, 20, 1, 13, 5, 17, 9, 21, 2, 14, 6, 18, 10, 22, 3, 15, 7, 19, 11, 23];
    assert_eq!(a.values(), want.map(f64::from));

    let mut a = vector(&counting(24));
    let block = part(&a, 8, &[2, 2], &[6, 1]);
    assert_eq!(in_place(&mut a, &block, null()), OK);
    let mut want = counting(24);
    want.swap(9, 14);
    assert_eq!(a.values(), want);
    let block = part(&a, 8, &[2, 3], &[6, 1]);
    assert_eq!(in_place(&mut a, &block, null()), LAYOUT);
    assert_eq!(a.values(), want);
}

/// C14: the strides of the output are checked as they are, rows for rows.
#[test]
fn row_strides_of_the_output() {
    let a = Array::from_values(&[2, 3], &counting(6));
    for (row, status) in [(2, OK), (3, OK), (1, OVERLAP), (0, OVERLAP), (-1, OVERLAP), (-2, OK)] {
        let mut out = vector(&[7.0; 12]);
        let base = if row < 0 { 8 } else { 0 };
        out.layout = part(&out, base, &[3, 2], &[row, 1]);
        let before = out.clone();
        assert_eq!(transpose(&a, &[1, 0], &mut out), status, "row stride {row}");
        if status == OK {
            assert_eq!(out.values(), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
        } else {
            assert!(last_error().starts_with("out of shape (3, 2)"), "{}", last_error());
            assert!(out.bytes() == before.bytes());
        }
    }
}

/// E07: calls in a row that are shared among threads, each of them checked.
#[test]
fn shared_calls_in_a_row() {
    let rerun = std::env::var_os("NDBLAS_TEST_RERUN").is_some();
    let n = 70_000; // just enough for several parts
    let x: Vec<f64> = (0..n).map(|i| i as f64).collect();
    let mut y = vec![0.0; n];
    set_num_threads_local(7);
    for call in 1..=if rerun { 200 } else { 10_000 } {
        // SAFETY: the vectors have n elements.
        unsafe {
            assert_eq!(ndblas_daxpy(n as isize, 1.0, x.as_ptr(), 1, y.as_mut_ptr(), 1), OK);
        }
        let call = call as f64;
        assert!(x.iter().zip(&y).all(|(x, y)| *y == call * x), "call {call}");
    }
}

/// E14: no alignment is demanded, nor a size of int that a build could have otherwise.
#[test]
fn vectors_without_alignment() {
    for shift in [1, 3, 4, 7] {
        let (x, mut y) = (Array::shifted(shift, &counting(50)), Array::shifted(shift, &[1.0; 50]));
        let (px, py) = (x.view().data.cast::<f64>(), y.view_mut().data.cast::<f64>());
        let mut result = 0.0;
        // SAFETY: the vectors lie in their arrays.
        unsafe {
            assert_eq!(ndblas_daxpy(50, 2.0, px, 1, py, 1), OK);
            assert_eq!(ndblas_ddot(50, px, 1, px, 1, &mut result), OK);
        }
        assert_eq!(result, 40_425.0);
        assert!(y.values().iter().enumerate().all(|(i, &v)| v == 1.0 + 2.0 * i as f64));
    }
}

/// E11: what would be a panic or a crash is a status, and the next call works.
#[test]
fn bad_calls_are_survived() {
    let mut y = vector(&[1.0, 2.0]);
    let p = y.view_mut().data.cast::<f64>();
    // SAFETY: vectors that a call must not touch, and the two elements of y.
    unsafe {
        assert_eq!(ndblas_daxpy(3, 1.0, null(), 1, p, 1), NULL);
        assert_eq!(ndblas_daxpy(2, 1.0, p, isize::MAX, p, 1), ARGUMENT);
        assert_eq!(ndblas_dscal(isize::MAX, 2.0, p, 1), SHAPE);
        assert_eq!(ndblas_dscal(isize::MAX / 8, 2.0, p, isize::MAX / 8), SHAPE);
        assert_eq!(ndblas_dscal(isize::MIN, 2.0, p, 1), OK);
        assert_eq!(ndblas_dscal(2, 2.0, p, 1), OK);
    }
    assert_eq!(y.values(), [2.0, 4.0]);
}

#[test]
fn under_every_override() {
    rerun_under_overrides("under_every_override");
}
