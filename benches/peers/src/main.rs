//! Times one Rust peer on the cases of a file, a line each, and prints `case <tab> seconds`. Cases that
//! the peer has no routine for are left out. `report.py` writes the file and reads the lines.
//!
//! Each peer's first call is compared with loops over indices before anything is timed: a peer that is
//! wrong ends the program.
//! usage: ndblas-peers ndblas|ndarray|strided-perm|transpose FILE SECONDS_A_CASE

use ndarray::{ArrayViewD, ArrayViewMutD, IxDyn, Zip};
use ndblas::{Element, Index, Mode, View, ViewMut};
use std::hint::black_box;
use std::time::Instant;
use strided_view::{StridedView, StridedViewMut, col_major_strides};

/// What is done with a call.
#[derive(Clone, Copy)]
enum Run {
    /// Once, for its result.
    Once,
    /// For so many seconds, about.
    Timed(f64),
}

impl Run {
    /// The median of samples, each long enough for the clock.
    fn of(self, mut call: impl FnMut()) -> f64 {
        call();
        let Run::Timed(seconds) = self else { return 0.0 };
        let start = Instant::now();
        call();
        let once = start.elapsed().as_secs_f64();
        let calls = ((seconds / 9.0 / once.max(1e-9)) as usize).clamp(1, 1_000_000);
        let samples = if once > seconds / 3.0 { 3 } else { 7 };
        let mut times: Vec<f64> = (0..samples)
            .map(|_| {
                let start = Instant::now();
                (0..calls).for_each(|_| call());
                start.elapsed().as_secs_f64() / calls as f64
            })
            .collect();
        times.sort_by(f64::total_cmp);
        times[samples / 2]
    }
}

/// Numbers below 1, the same each time.
fn numbers(n: usize) -> Vec<f64> {
    let mut state = 1u64;
    (0..n)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        })
        .collect()
}

fn list(text: &str) -> Vec<usize> {
    text.split(',').map(|v| v.parse().expect("a number")).collect()
}

/// Both within rounding of a sum of this magnitude.
fn near(got: f64, want: f64, magnitude: f64) {
    assert!((got - want).abs() <= 1e-12 * magnitude, "{got} instead of {want}");
}

/// Small, so that y stays finite over a million calls.
const ALPHA: f64 = 1e-9;

fn level1(peer: &str, op: &str, n: usize, seconds: f64) -> Option<f64> {
    let before = numbers(3 * n);
    let (x, z) = (&before[..n], &before[n..2 * n]);
    let mut y = before[2 * n..].to_vec();
    let mut sum = f64::NAN;
    level1_run(peer, op, x, z, &mut y, &mut sum, Run::Once)?;
    let products = |f: fn(f64, f64) -> f64| x.iter().zip(z).map(|(&x, &z)| f(x, z)).sum::<f64>();
    match op {
        "dot" => near(sum, products(|x, z| x * z), n as f64),
        "nrm2" => near(sum * sum, products(|x, _| x * x), n as f64),
        _ => {
            for i in 0..n {
                let factor = if op == "axpy" { 1.0 } else { z[i] };
                // What is added is a billionth of y, and shows in a few digits.
                near(y[i], before[2 * n + i] + ALPHA * (x[i] * factor), 1e-3);
            }
        }
    }
    level1_run(peer, op, x, z, &mut y, &mut sum, Run::Timed(seconds))
}

fn level1_run(
    peer: &str,
    op: &str,
    x: &[f64],
    z: &[f64],
    y: &mut [f64],
    sum: &mut f64,
    run: Run,
) -> Option<f64> {
    match peer {
        "ndblas" => {
            let shape = [x.len()];
            let view = |v| View::from_slice(v, &shape).expect("a vector");
            let (x, z) = (view(x), view(z));
            let mut y = ViewMut::from_slice(y, &shape).expect("a vector");
            Some(match op {
                "axpy" => run.of(|| ndblas::axpy(ALPHA, &x, &mut y).expect("it fits")),
                "mul_add" => {
                    run.of(|| ndblas::mul_add(ALPHA, &x, &z, 1.0, &mut y).expect("it fits"))
                }
                "dot" => run.of(|| *sum = black_box(ndblas::dotu(&x, &z)).expect("it fits").0),
                "nrm2" => run.of(|| *sum = black_box(ndblas::nrm2(&x)).expect("it fits")),
                _ => return None,
            })
        }
        "ndarray" => {
            let (x, z) = (ndarray::ArrayView1::from(x), ndarray::ArrayView1::from(z));
            let mut y = ndarray::ArrayViewMut1::from(y);
            Some(match op {
                "axpy" => run.of(|| y.scaled_add(ALPHA, black_box(&x))),
                "mul_add" => run.of(|| {
                    Zip::from(&mut y)
                        .and(black_box(&x))
                        .and(black_box(&z))
                        .for_each(|y, &x, &z| *y += ALPHA * (x * z));
                }),
                "dot" => run.of(|| *sum = black_box(black_box(&x).dot(black_box(&z)))),
                "nrm2" => run.of(|| *sum = black_box(black_box(&x).dot(black_box(&x))).sqrt()),
                _ => return None,
            })
        }
        _ => None,
    }
}

fn permute<T: Element + Default>(
    peer: &str,
    shape: &[usize],
    perm: &[usize],
    seconds: f64,
    element: fn(f64) -> T,
) -> Option<f64> {
    let n = shape.iter().product();
    let a: Vec<T> = numbers(n).into_iter().map(element).collect();
    let mut out = vec![T::default(); n];
    let to: Vec<usize> = perm.iter().map(|&d| shape[d]).collect();
    permute_run(peer, &a, shape, perm, &mut out, &to, Run::Once)?;

    // Each element of the output, in its order, and the place that it comes from.
    let mut steps = vec![1; shape.len()];
    for d in (1..shape.len()).rev() {
        steps[d - 1] = steps[d] * shape[d];
    }
    let mut index = vec![0; to.len()];
    let mut from = 0;
    for (at, value) in out.iter().enumerate() {
        assert!(*value == a[from], "element {at} is {value:?} instead of {:?}", a[from]);
        for d in (0..to.len()).rev() {
            index[d] += 1;
            from += steps[perm[d]];
            if index[d] < to[d] {
                break;
            }
            from -= index[d] * steps[perm[d]];
            index[d] = 0;
        }
    }
    permute_run(peer, &a, shape, perm, &mut out, &to, Run::Timed(seconds))
}

fn permute_run<T: Element>(
    peer: &str,
    a: &[T],
    shape: &[usize],
    perm: &[usize],
    out: &mut [T],
    to: &[usize],
    run: Run,
) -> Option<f64> {
    Some(match peer {
        "ndblas" => {
            let a = View::from_slice(a, shape).expect("an array");
            let mut out = ViewMut::from_slice(out, to).expect("an array");
            run.of(|| {
                ndblas::permute(T::ONE, &a, Some(perm), T::ZERO, &mut out).expect("it fits");
                black_box(&mut out);
            })
        }
        "ndarray" => {
            let a = ArrayViewD::from_shape(IxDyn(shape), a).expect("an array");
            let a = a.permuted_axes(IxDyn(perm));
            let mut out = ArrayViewMutD::from_shape(IxDyn(to), out).expect("an array");
            run.of(|| {
                out.assign(black_box(&a));
                black_box(&mut out);
            })
        }
        "strided-perm" => {
            // It takes views of either order, and is made for column-major ones: the same memory, with
            // the axes in reverse.
            let last = shape.len().wrapping_sub(1);
            let dims: Vec<usize> = shape.iter().rev().copied().collect();
            let to: Vec<usize> = to.iter().rev().copied().collect();
            let perm: Vec<usize> = perm.iter().rev().map(|d| last - d).collect();
            let a = StridedView::new(a, &dims, &col_major_strides(&dims), 0).expect("an array");
            let a = a.permute(&perm).expect("a permutation");
            let mut out =
                StridedViewMut::new(out, &to, &col_major_strides(&to), 0).expect("an array");
            run.of(|| {
                strided_perm::copy_into(&mut out, black_box(&a), threadteam::Exec::serial())
                    .expect("it fits");
                black_box(&mut out);
            })
        }
        "transpose" if perm == [1, 0] => run.of(|| {
            transpose::transpose(black_box(a), out, shape[1], shape[0]);
            black_box(&mut *out);
        }),
        _ => return None,
    })
}

fn indexed(peer: &str, op: &str, dims: [usize; 4], seconds: f64) -> Option<f64> {
    let [i, n, l, k] = dims;
    let index: Vec<i64> = numbers(i * l).into_iter().map(|v| (v * n as f64) as i64).collect();
    let (mut table, mut rows) = (numbers(i * n * k), numbers(i * l * k));
    let mut want = if op == "gather" { rows.clone() } else { table.clone() };
    for (row, &at) in index.iter().enumerate() {
        let at = row / l * n + at as usize;
        for c in 0..k {
            if op == "gather" {
                want[row * k + c] = table[at * k + c];
            } else {
                want[at * k + c] += rows[row * k + c];
            }
        }
    }
    indexed_run(peer, op, dims, &index, &mut table, &mut rows, Run::Once)?;
    let got = if op == "gather" { &rows } else { &table };
    for (&got, &want) in got.iter().zip(&want) {
        near(got, want, want.abs());
    }
    drop(want);
    indexed_run(peer, op, dims, &index, &mut table, &mut rows, Run::Timed(seconds))
}

fn indexed_run(
    peer: &str,
    op: &str,
    [i, n, l, k]: [usize; 4],
    index: &[i64],
    table: &mut [f64],
    rows: &mut [f64],
    run: Run,
) -> Option<f64> {
    let (whole, part) = ([i, n, k], [i, l, k]);
    Some(match (peer, op) {
        ("ndblas", _) => {
            let index = View::from_slice(index, &[i, l, 1]).expect("an array");
            let index = Index::from(&index);
            if op == "gather" {
                let a = View::from_slice(table, &whole).expect("an array");
                let mut out = ViewMut::from_slice(rows, &part).expect("an array");
                run.of(|| {
                    ndblas::gather(1.0, &a, 1, &index, Mode::Raise, 0.0, &mut out)
                        .expect("it fits");
                })
            } else {
                let src = View::from_slice(rows, &part).expect("an array");
                let mut out = ViewMut::from_slice(table, &whole).expect("an array");
                run.of(|| {
                    ndblas::scatter_add(1.0, &src, 1, &index, Mode::Raise, &mut out)
                        .expect("it fits");
                })
            }
        }
        // Row by row, as a user of ndarray writes it.
        ("ndarray", _) => {
            let mut whole = ndarray::ArrayViewMut3::from_shape(whole, table).expect("an array");
            let mut part = ndarray::ArrayViewMut3::from_shape(part, rows).expect("an array");
            run.of(|| {
                for b in 0..i {
                    for r in 0..l {
                        let at = index[b * l + r] as usize;
                        if op == "gather" {
                            let row = whole.slice(ndarray::s![b, at, ..]);
                            part.slice_mut(ndarray::s![b, r, ..]).assign(&row);
                        } else {
                            let row = part.slice(ndarray::s![b, r, ..]);
                            let mut to = whole.slice_mut(ndarray::s![b, at, ..]);
                            to += &row;
                        }
                    }
                }
                black_box((&mut whole, &mut part));
            })
        }
        _ => return None,
    })
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, peer, file, seconds] = &args[..] else {
        panic!("usage: ndblas-peers PEER FILE SECONDS")
    };
    let seconds: f64 = seconds.parse().expect("seconds");
    ndblas::set_num_threads(1);
    for case in std::fs::read_to_string(file).expect("the cases").lines() {
        let words: Vec<&str> = case.split_whitespace().collect();
        let time = match words[..] {
            [op @ ("gather" | "scatter_add"), dims] => {
                indexed(peer, op, list(dims).try_into().expect("four extents"), seconds)
            }
            [op, n] => level1(peer, op, n.parse().expect("n"), seconds),
            ["permute", dtype, shape, perm] => {
                let (shape, perm) = (list(shape), list(perm));
                match dtype {
                    "u8" => permute(peer, &shape, &perm, seconds, |v| (v * 256.0) as u8),
                    "f32" => permute(peer, &shape, &perm, seconds, |v| v as f32),
                    "f64" => permute(peer, &shape, &perm, seconds, |v| v),
                    _ => panic!("no type {dtype}"),
                }
            }
            _ => panic!("no case {case}"),
        };
        if let Some(time) = time {
            println!("{case}\t{time:e}");
        }
    }
}
