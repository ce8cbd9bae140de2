//! No routine allocates in a call that succeeds, on one thread; to share work takes a few bytes a thread.
//! Only a transpose in place of what is not square does, and says so where it gets nothing.
//!
//! One test in a binary of its own: the allocator counts for the whole process.

mod common;

use common::*;
use ndblas::capi::blas::*;
use ndblas::capi::fused::ndblas_mul_add;
use ndblas::capi::level1::*;
use ndblas::capi::permute::{ndblas_permute, ndblas_permute_in_place};
use ndblas::capi::types::{ndblas_scalar, ndblas_view, ndblas_view_mut};
use num_complex::Complex;
use std::alloc::{GlobalAlloc, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

/// The bytes of the largest.
static LARGEST: AtomicUsize = AtomicUsize::new(0);

/// So many bytes or more are refused.
static REFUSED_FROM: AtomicUsize = AtomicUsize::new(usize::MAX);

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: std::alloc::Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        if layout.size() >= REFUSED_FROM.load(Ordering::Relaxed) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's layout.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, p: *mut u8, layout: std::alloc::Layout) {
        // SAFETY: the caller's memory.
        unsafe { System.dealloc(p, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The statuses of all routines on operands of one shape.
fn call_everything<T: Number>(
    [a, b]: [&ndblas_view; 2],
    [x, y]: [&mut ndblas_view_mut; 2],
) -> [i32; 14] {
    let (zero, half) = (0.0.scalar(), 0.5.scalar());
    let identity: [i32; 64] = std::array::from_fn(|d| d as i32);
    let (mut sum, mut norm, mut position) = (zero, 0.0, 0);
    // SAFETY: the views lie in their arrays.
    unsafe {
        [
            ndblas_fill(half, y),
            ndblas_copy(a, y),
            ndblas_swap(x, y),
            ndblas_scal(half, y),
            ndblas_axpy(half, a, y),
            ndblas_axpby(half, a, half, y),
            ndblas_mul_add(half, a, b, half, y),
            ndblas_rot(x, y, 0.6, 0.8),
            ndblas_dotu(a, b, &mut sum),
            ndblas_dotc(a, b, &mut sum),
            ndblas_nrm2(a, &mut norm),
            ndblas_asum(a, &mut norm),
            ndblas_iamax(a, &mut position),
            ndblas_permute(half, a, identity.as_ptr(), half, y),
        ]
    }
}

fn check<T: Number>(what: &str, shape: &[isize], layout: &Layout, null_strides: bool) {
    let mut numbers = Numbers { state: 1, exact: true };
    let mut arrays: [Array<T>; 4] = std::array::from_fn(|_| {
        let mut array = Array::new(layout.clone(), 0);
        array.null_strides = null_strides;
        array.fill_with(|| numbers.number());
        array
    });
    let mut views = arrays.each_mut().map(|a| a.view_mut());
    let inputs = arrays.each_ref().map(|a| a.view());
    let [_, _, x, y] = &mut views;
    // The first call finds out about the CPU and the environment.
    assert_eq!(call_everything::<T>([&inputs[0], &inputs[1]], [x, y]), [OK; 14], "{what}");
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    call_everything::<T>([&inputs[0], &inputs[1]], [x, y]);
    let count = ALLOCATIONS.load(Ordering::Relaxed) - before;
    assert_eq!(count, 0, "{:?} {what} of shape {shape:?}", T::DTYPE);
}

fn check_layouts<T: Number>() {
    let item = size_of::<T>();
    let mut deep = vec![1; 64];
    (deep[0], deep[20], deep[40], deep[63]) = (2, 3, 2, 5);
    for shape in [&[5000][..], &[16, 9, 8, 7], &[3, 4, 5, 2, 3, 4], &[3, 4, 5, 2, 3, 2, 2], &deep] {
        let dense = Layout::dense(shape, item);
        check::<T>("dense", shape, &dense, false);
        check::<T>("dense, NULL strides", shape, &dense, true);
        let mut transposed = Layout::dense(&shape.iter().rev().copied().collect::<Vec<_>>(), item);
        transposed.shape.reverse();
        transposed.strides.reverse();
        check::<T>("column-major", shape, &transposed, false);
        let spread = |sign: isize| dense.strides.iter().map(|s| sign * 3 * s).collect::<Vec<_>>();
        check::<T>("strided", shape, &Layout::new(0, shape, &spread(1)), false);
        check::<T>("reversed", shape, &Layout::new(0, shape, &spread(-1)), false);
        let odd: Vec<_> = dense.strides.iter().map(|s| s + s / item as isize).collect();
        check::<T>("misaligned", shape, &Layout::new(0, shape, &odd), false);
    }
}

/// Interleaved operands, for which the overlap test searches.
fn check_interleaved() {
    let mut array = Array::from_values(&[2000], &[1.0; 2000]);
    let layout = |first: isize| Layout::new(array.layout.base + 8 * first, &[500], &[32]);
    let layouts: [Layout; 4] = std::array::from_fn(|i| layout(i as isize));
    let inputs = [array.view_of(&layouts[0]), array.view_of(&layouts[1])];
    let mut x = array.view_mut_of(&layouts[2]);
    let mut y = array.view_mut_of(&layouts[3]);
    let inputs = inputs.each_ref();
    assert_eq!(call_everything::<f64>(inputs, [&mut x, &mut y]), [OK; 14]);
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    call_everything::<f64>(inputs, [&mut x, &mut y]);
    assert_eq!(ALLOCATIONS.load(Ordering::Relaxed), before, "interleaved");
}

/// Broadcast inputs, of which reductions pack copies.
fn check_broadcast() {
    let (row, mut y) =
        (Array::from_values(&[70], &[1.0; 70]), Array::from_values(&[3500], &[1.0; 3500]));
    y.layout = Layout::new(y.layout.base, &[50, 70], &[560, 8]);
    let (row, out) = (row.view(), &mut y.view_mut());
    let mut call = || {
        let mut sum = ndblas_scalar { re: 0.0, im: 0.0 };
        let one = 1.0.scalar();
        // SAFETY: the views lie in their arrays.
        unsafe {
            assert_eq!(ndblas_mul_add(one, &row, &row, one, out), OK);
            let y = ndblas_view {
                data: out.data,
                shape: out.shape,
                strides: out.strides,
                ndim: out.ndim,
                dtype: out.dtype,
            };
            assert_eq!(ndblas_dotu(&row, &y, &mut sum), OK);
        }
    };
    call();
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    call();
    assert_eq!(ALLOCATIONS.load(Ordering::Relaxed), before, "broadcast");
}

fn check_blas_names() {
    let (x, mut y) = ([1.0; 1000], [2.0; 1000]);
    let mut result = 0.0;
    let mut call = || {
        // SAFETY: both have 1000 elements.
        unsafe {
            assert_eq!(ndblas_daxpy(1000, 2.0, x.as_ptr(), 1, y.as_mut_ptr(), -1), OK);
            assert_eq!(ndblas_dscal(500, 0.5, y.as_mut_ptr(), 2), OK);
            assert_eq!(ndblas_ddot(500, x.as_ptr(), -2, y.as_ptr(), 2, &mut result), OK);
            assert_eq!(ndblas_dnrm2(1000, y.as_ptr(), 1, &mut result), OK);
        }
    };
    call();
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    call();
    assert_eq!(ALLOCATIONS.load(Ordering::Relaxed), before, "BLAS names");
}

/// Rust's views hold up to six axes without the heap.
fn check_rust() {
    let (a, mut c) = ([1.0; 64], [0.0; 64]);
    let mut call = || {
        let shape = [2; 6];
        let a = ndblas::View::from_slice(&a, &shape).unwrap();
        let mut c = ndblas::ViewMut::from_slice(&mut c, &shape).unwrap();
        ndblas::mul_add(1.0, &a, &a, 1.0, &mut c).unwrap();
    };
    call();
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    call();
    assert_eq!(ALLOCATIONS.load(Ordering::Relaxed), before, "Rust");
}

/// Gathers and scatter-adds, by rows and by elements, into outputs near and larger than the caches.
fn check_indexed() {
    use ndblas::{Index, Mode, View, ViewMut, gather, gather_nd, scatter_add, scatter_add_nd};
    for (rows, k) in [(100, 3), (3000, 64), (900_000, 1), (20_000, 50)] {
        let (a, mut c, mut sums) = (vec![1.0; 10 * k], vec![0.0; rows * k], vec![0.0; 10 * k]);
        let at: Vec<i32> = (0..rows as i32).map(|v| v % 10).collect();
        let mut call = || {
            let at = View::from_slice(&at, &[rows, 1]).unwrap();
            let pairs = [(0, Index::from(&at))];
            let a = View::from_slice(&a, &[10, k]).unwrap();
            for (alpha, beta) in [(1.0, 0.0), (2.0, 0.0), (2.0, 0.5)] {
                let mut c = ViewMut::from_slice(&mut c, &[rows, k]).unwrap();
                gather(alpha, &a, 0, &pairs[0].1, Mode::Raise, beta, &mut c).unwrap();
                gather_nd(alpha, &a, &pairs, Mode::Drop, beta, &mut c).unwrap();
            }
            let c = View::from_slice(&c, &[rows, k]).unwrap();
            let mut sums = ViewMut::from_slice(&mut sums, &[10, k]).unwrap();
            scatter_add(0.5, &c, 0, &pairs[0].1, Mode::Raise, &mut sums).unwrap();
            scatter_add_nd(0.5, &c, &pairs, Mode::Wrap, &mut sums).unwrap();
        };
        call();
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        call();
        assert_eq!(ALLOCATIONS.load(Ordering::Relaxed), before, "indexed rows of {k}");
    }
}

/// A transpose in place takes no second copy, but some rows or columns at a time.
fn check_bounded() {
    let (rows, cols) = (1500, 1000);
    let n = (rows * cols) as u64;
    let values = (0..n).map(|i| i as f64).collect::<Vec<_>>();
    let mut a = Array::from_values(&[rows, cols], &values);
    let view = &mut a.view_mut();
    ndblas::set_num_threads(1);
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    LARGEST.store(0, Ordering::Relaxed);
    // SAFETY: the view lies in the array.
    assert_eq!(unsafe { ndblas_permute_in_place(view, std::ptr::null()) }, OK);
    let (count, largest) = (ALLOCATIONS.load(Ordering::Relaxed), LARGEST.load(Ordering::Relaxed));
    // The scratch, and some names and lists.
    assert!(count - before <= 16 && largest <= 512 << 10, "{count} - {before}, {largest} bytes");
    assert!(largest > 0 && a.values()[1] == cols as f64);
}

/// A transpose in place that gets no scratch is an error, and has moved nothing.
fn check_refused() {
    const MEMORY: i32 = 9;
    let mut a = Array::from_values(&[300, 200], &(0..60_000).map(f64::from).collect::<Vec<_>>());
    let before = a.clone();
    let mut statuses = [OK; 2];
    for (status, limit) in statuses.iter_mut().zip([512, usize::MAX]) {
        let view = &mut a.view_mut();
        REFUSED_FROM.store(limit, Ordering::Relaxed);
        // SAFETY: the view lies in the array.
        *status = unsafe { ndblas_permute_in_place(view, std::ptr::null()) };
        REFUSED_FROM.store(usize::MAX, Ordering::Relaxed);
        if *status == MEMORY {
            assert!(last_error().starts_with("out of memory: "), "{}", last_error());
            assert!(a.bytes() == before.bytes());
        }
    }
    assert_eq!(statuses, [MEMORY, OK]);
    let values = a.values();
    assert!((0..60_000).all(|i| values[i] == (i % 300 * 200 + i / 300) as f64));
}

#[test]
fn no_call_allocates() {
    ndblas::set_num_threads(1);
    check_layouts::<f32>();
    check_layouts::<f64>();
    check_layouts::<Complex<f32>>();
    check_layouts::<Complex<f64>>();
    check_interleaved();
    check_broadcast();
    check_blas_names();
    check_rust();
    check_indexed();
    check_bounded();
    check_refused();
}
