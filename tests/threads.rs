//! Results with any number of threads, and the life of the pool.

mod common;

use common::{Array, Layout, OK};
use ndblas::Element;
use ndblas::capi::blas::*;
use ndblas::capi::fused::ndblas_mul_add;
use ndblas::capi::indexed::*;
use ndblas::capi::level1::*;
use ndblas::capi::permute::*;
use ndblas::capi::runtime::*;
use ndblas::capi::types::ndblas_scalar;
use num_complex::Complex;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The number of threads belongs to the process, and so do its threads.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Values that rounding tells apart, some of them large.
fn values<T: Element>(n: usize, seed: u64) -> Vec<T> {
    let mut state = seed;
    (0..n)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let v = (state >> 40) as f64 / 8192.0 - 1024.0;
            let v = if T::DTYPE.is_integer() { v.trunc().abs() % 100.0 } else { v };
            T::from_parts(v, 0.0).expect("a small value")
        })
        .collect()
}

/// Large enough to be shared in several parts, and nothing about it even.
const ROWS: isize = 521;
const COLS: isize = 509;

/// A matrix dense, transposed, of every second element, backwards.
fn layouts(item: usize) -> [Layout; 4] {
    let s = item as isize;
    [
        Layout::dense(&[ROWS, COLS], item),
        Layout::new(0, &[ROWS, COLS], &[s, s * ROWS]),
        Layout::new(0, &[ROWS, COLS], &[2 * s * COLS, 2 * s]),
        Layout::new(0, &[ROWS, COLS], &[-s * COLS, -s]),
    ]
}

fn array<T: Element>(layout: &Layout, seed: u64) -> Array<T> {
    let mut array = Array::new(layout.clone(), 16);
    let n = layout.shape.iter().product::<isize>() as usize;
    array.assign(values::<T>(n, seed));
    array
}

fn scalar(re: f64) -> ndblas_scalar {
    ndblas_scalar { re, im: 0.0 }
}

/// Asserts that a call leaves the same bytes in its outputs, and the same result, with any number of
/// threads.
fn same<T: Element, const OUT: usize, R: PartialEq + std::fmt::Debug>(
    what: &str,
    outs: [&Array<T>; OUT],
    call: impl Fn(&mut [Array<T>; OUT]) -> R,
) {
    let run = |threads| {
        ndblas_set_num_threads(threads);
        let mut outs = outs.map(Array::clone);
        let result = call(&mut outs);
        (outs, result)
    };
    let (expected, result) = run(1);
    for threads in [2, 3, 7, 200] {
        let (got, r) = run(threads);
        assert_eq!(r, result, "{what}: the result with {threads} threads");
        for (got, expected) in got.iter().zip(&expected) {
            assert!(got.bytes() == expected.bytes(), "{what}: the bytes with {threads} threads");
        }
    }
    ndblas_set_num_threads(0);
}

fn ok(status: i32) {
    assert_eq!(status, OK, "{}", common::last_error());
}

fn element_wise<T: Element>(arithmetic: bool) {
    let layouts = layouts(size_of::<T>());
    for (i, j) in [(0, 0), (0, 1), (1, 0), (2, 0), (3, 3)] {
        let what = |name: &str| format!("{name} of {:?}, layouts {i} and {j}", T::DTYPE);
        let (a, b) = (array::<T>(&layouts[i], 1), array::<T>(&layouts[i], 2));
        let (a, b) = (&a, &b);
        let y = array::<T>(&layouts[j], 3);
        let (alpha, beta) = (scalar(1.75), scalar(-0.3));
        // SAFETY: the views lie in their arrays.
        unsafe {
            same(&what("copy"), [&y], |[y]| ok(ndblas_copy(&a.view(), &mut y.view_mut())));
            same(&what("swap"), [a, &y], |[x, y]| {
                ok(ndblas_swap(&mut x.view_mut(), &mut y.view_mut()))
            });
            same(&what("fill"), [&y], |[y]| ok(ndblas_fill(scalar(7.0), &mut y.view_mut())));
            if !arithmetic {
                continue;
            }
            same(&what("scal"), [&y], |[y]| ok(ndblas_scal(alpha, &mut y.view_mut())));
            same(&what("axpy"), [&y], |[y]| ok(ndblas_axpy(alpha, &a.view(), &mut y.view_mut())));
            same(&what("axpby"), [&y], |[y]| {
                ok(ndblas_axpby(alpha, &a.view(), beta, &mut y.view_mut()))
            });
            same(&what("mul_add"), [&y], |[y]| {
                ok(ndblas_mul_add(alpha, &a.view(), &b.view(), beta, &mut y.view_mut()))
            });
            same(&what("rot"), [a, &y], |[x, y]| {
                ok(ndblas_rot(&mut x.view_mut(), &mut y.view_mut(), 0.6, 0.8))
            });
        }
    }
}

#[test]
fn element_wise_routines() {
    let _alone = alone();
    element_wise::<f64>(true);
    element_wise::<f32>(true);
    element_wise::<Complex<f32>>(true);
    element_wise::<u16>(false);
}

fn reductions<T: Element>() {
    let layouts = layouts(size_of::<T>());
    for (i, j) in [(0, 0), (0, 1), (1, 1), (2, 3), (3, 3)] {
        let what = |name: &str| format!("{name} of {:?}, layouts {i} and {j}", T::DTYPE);
        let (x, y) = (array::<T>(&layouts[i], 1), array::<T>(&layouts[j], 2));
        let none: [&Array<T>; 0] = [];
        let bits = |r: ndblas_scalar| (r.re.to_bits(), r.im.to_bits());
        // SAFETY: the views lie in their arrays, and the results are local.
        unsafe {
            for routine in [ndblas_dotu, ndblas_dotc] {
                same(&what("dot"), none, |_| {
                    let mut r = scalar(0.0);
                    ok(routine(&x.view(), &y.view(), &mut r));
                    bits(r)
                });
            }
            for routine in [ndblas_nrm2, ndblas_asum] {
                same(&what("nrm2 or asum"), none, |_| {
                    let mut r = 0.0;
                    ok(routine(&x.view(), &mut r));
                    r.to_bits()
                });
            }
            // The greatest element stands in several places.
            let mut x = x.clone();
            for at in [[400, 17], [77, 300], [520, 508], [77, 299]] {
                x.set_at(x.layout.offset(&at), T::from_parts(2000.0, 0.0).expect("it fits"));
            }
            same(&what("iamax"), none, |_| {
                let mut r = -1;
                ok(ndblas_iamax(&x.view(), &mut r));
                assert_eq!(r, 77 * COLS + 299);
                r
            });
        }
    }
}

#[test]
fn reductions_have_the_same_bits() {
    let _alone = alone();
    reductions::<f64>();
    reductions::<f32>();
    reductions::<Complex<f32>>();
}

#[test]
fn permutes() {
    let _alone = alone();
    let shape = [41, 23, 37, 19];
    let perm = [2, 0, 3, 1];
    let to = perm.map(|d| shape[d as usize]);
    fn run<T: Element>(shape: &[isize], perm: &[i32], to: &[isize], beta: f64) {
        let a = array::<T>(&Layout::dense(shape, size_of::<T>()), 1);
        let out = array::<T>(&Layout::dense(to, size_of::<T>()), 2);
        // SAFETY: the views lie in their arrays, and perm has a number an axis.
        same(&format!("permute of {:?}", T::DTYPE), [&out], |[out]| unsafe {
            let out = &mut out.view_mut();
            ok(ndblas_permute(scalar(1.0), &a.view(), perm.as_ptr(), scalar(beta), out));
        });
    }
    run::<f64>(&shape, &perm, &to, 0.0);
    run::<f64>(&shape, &perm, &to, 0.5);
    run::<f32>(&shape, &perm, &to, 0.0);
    run::<u16>(&shape, &perm, &to, 0.0);
    run::<Complex<f64>>(&shape, &perm, &to, 0.0);
    // Squares; the axes of a square; one matrix, more columns or more rows, with a common divisor and
    // without; many matrices.
    for (shape, perm) in [
        ([600, 600, 2], [1, 0, 2]),
        ([301, 7, 301], [2, 1, 0]),
        ([64, 90, 70], [1, 0, 2]),
        ([400, 610, 1], [1, 0, 2]),
        ([611, 400, 1], [1, 0, 2]),
        ([70, 96, 50], [0, 2, 1]),
        ([40, 96, 64], [2, 1, 0]),
    ] {
        let dense = array::<f64>(&Layout::dense(&shape, 8), 3);
        same("permute_in_place", [&dense], |[a]| {
            let view = &mut a.view_mut();
            // SAFETY: the view lies in its array, and perm has a number an axis.
            ok(unsafe { ndblas_permute_in_place(view, perm.as_ptr()) });
        });
    }
}

/// Rows of every kind of length; batches, and one batch only; indices that repeat much.
#[test]
fn gathers_and_scatters() {
    let _alone = alone();
    fn run<T: Element>(batch: isize, cells: isize, picks: isize, row: isize) {
        let item = size_of::<T>();
        let whole = array::<T>(&Layout::dense(&[batch, cells, row], item), 1);
        let part = array::<T>(&Layout::dense(&[batch, picks, row], item), 2);
        let mut index = Array::<i64>::new(Layout::dense(&[batch, picks, 1], 8), 0);
        let mut state = 1u64;
        index.fill_with(|| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let i = (state >> 33) as isize % cells;
            (if i % 3 == 0 { i } else { i % 5 % cells }) as i64
        });
        let what = |name| format!("{name} of {:?}, {batch} {cells} {picks} {row}", T::DTYPE);
        for alpha in [1.0, 0.75] {
            let (one, zero) = (scalar(alpha), scalar(0.0));
            // SAFETY: the views lie in their arrays.
            same(&what("gather"), [&part], |[out]| unsafe {
                let out = &mut out.view_mut();
                ok(ndblas_gather(one, &whole.view(), 1, &index.view(), 0, zero, out));
            });
            // SAFETY: as above.
            same(&what("scatter_add"), [&whole], |[out]| unsafe {
                let out = &mut out.view_mut();
                ok(ndblas_scatter_add(one, &part.view(), 1, &index.view(), 0, out));
            });
        }
    }
    for (batch, cells, picks, row) in [
        (40, 100, 200, 37),
        (1, 50, 3000, 100),
        (1, 3, 200_000, 2),
        (3, 100_000, 100_000, 1),
        (1, 4000, 60_000, 9),
        (1, 7, 9, 40_000),
    ] {
        run::<f64>(batch, cells, picks, row);
        run::<f32>(batch, cells, picks, row);
    }
}

/// How many threads of the library there are, where the system tells; this file's own pool has the
/// same name, and no thread when it is not in use.
fn threads_here() -> Option<usize> {
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    let names = tasks.flatten().map(|t| std::fs::read_to_string(t.path().join("comm")));
    Some(names.flatten().filter(|name| name.trim() == "ndblas").count())
}

/// Waits for so many: a thread gets its name when it runs, and its task goes a little after it is joined.
fn expect_threads(n: usize, when: &str) {
    let start = std::time::Instant::now();
    while threads_here() != Some(n) {
        let last = start.elapsed().as_secs() < 5;
        assert!(last, "{:?} threads, not {n}, {when}", threads_here());
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

fn large_call() {
    let n = 300_000;
    let (x, mut y) = (vec![1.0; n], vec![2.0; n]);
    // SAFETY: the vectors have n elements.
    ok(unsafe { ndblas_daxpy(n as isize, 3.0, x.as_ptr(), 1, y.as_mut_ptr(), 1) });
    assert!(y.iter().all(|&v| v == 5.0));
}

/// One thread is the caller; a small call starts none; shutdown joins them.
#[test]
fn threads_come_and_go() {
    let _alone = alone();
    ndblas_shutdown();
    if threads_here().is_none() {
        return;
    }
    ndblas_set_num_threads(1);
    large_call();
    expect_threads(0, "a thread for a call with one");
    ndblas_set_num_threads(8);
    let (x, mut y) = ([1.0; 20], [2.0; 20]);
    // SAFETY: the arrays have 20 elements.
    ok(unsafe { ndblas_daxpy(20, 3.0, x.as_ptr(), 1, y.as_mut_ptr(), 1) });
    expect_threads(0, "a thread for a small call");
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    for _ in 0..3 {
        large_call();
        expect_threads(cpus.min(8) - 1, "while the pool is there");
        ndblas_shutdown();
        expect_threads(0, "after shutdown");
    }
    ndblas_set_num_threads(0);
}

/// Host threads that call at once, the first call ever included, from inside a parallel region too.
#[test]
fn calls_at_once() {
    let _alone = alone();
    ndblas_shutdown();
    ndblas_set_num_threads(4);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..20).for_each(|_| large_call()));
        }
    });
    let pool = rayon_core::ThreadPoolBuilder::new().num_threads(4).build().expect("a pool");
    pool.scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|_| large_call());
        }
    });
    std::thread::scope(|scope| {
        scope.spawn(|| (0..50).for_each(|_| large_call()));
        scope.spawn(|| (0..50).for_each(|_| ndblas_shutdown()));
    });
    ndblas_set_num_threads(0);
}

/// The pool itself, in a module of its own beside the library's.
#[path = "../src/threads.rs"]
#[allow(dead_code, missing_docs)]
mod pool;

#[test]
fn every_part_once() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let _alone = alone();
    pool::set_num_threads(4);
    for parts in [0, 1, 2, 5, 100] {
        let counts: Vec<AtomicUsize> = (0..parts).map(|_| AtomicUsize::new(0)).collect();
        pool::share(parts, &|i| {
            counts[i].fetch_add(1, Ordering::Relaxed);
        });
        assert!(counts.iter().all(|n| n.load(Ordering::Relaxed) == 1));
    }
    pool::shutdown();
}

/// A panic in a part comes out of the call, whoever ran it, and the pool goes on.
#[test]
fn panics_come_out_and_the_pool_survives() {
    let _alone = alone();
    pool::set_num_threads(4);
    for bad in [0, 3, 15] {
        let call = || {
            pool::share(16, &|i| {
                std::thread::sleep(std::time::Duration::from_millis(1));
                assert_ne!(i, bad, "part {bad}");
            });
        };
        let panic = std::panic::catch_unwind(call).expect_err("it panics");
        assert!(panic.downcast_ref::<String>().is_some_and(|s| s.contains(&format!("part {bad}"))));
        let sum = std::sync::atomic::AtomicUsize::new(0);
        pool::share(10, &|i| {
            sum.fetch_add(i, std::sync::atomic::Ordering::Relaxed);
        });
        assert_eq!(sum.into_inner(), 45);
    }
    pool::shutdown();
}

#[test]
fn small_work_stays_on_the_caller() {
    pool::set_num_threads_local(8);
    assert_eq!(pool::parts(0), 1);
    assert_eq!(pool::parts(1000), 1);
    assert!(pool::parts(1 << 26) > 8);
    pool::set_num_threads_local(1);
    assert_eq!(pool::parts(1 << 30), 1);
    pool::set_num_threads_local(0);
}
