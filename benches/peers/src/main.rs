//! Times one Rust peer on the cases of a file, a line each, and prints `case <tab> seconds`. Cases that
//! the peer has no routine for are left out. `report.py` writes the file and reads the lines.
//! usage: ndblas-peers ndblas|ndarray|strided-perm|transpose|memcpy FILE SECONDS_A_CASE

use ndarray::{ArrayViewD, ArrayViewMutD, IxDyn, Zip};
use ndblas::{Index, Mode, Scalar, View, ViewMut};
use std::hint::black_box;
use std::time::Instant;
use strided_view::StridedArray;

/// The median of samples, each long enough for the clock.
fn time(seconds: f64, mut call: impl FnMut()) -> f64 {
    call();
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

/// The same numbers as the other peers have, roughly.
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

fn level1(peer: &str, op: &str, n: usize, seconds: f64) -> Option<f64> {
    let (x, z, mut y) = (numbers(n), numbers(n), numbers(n));
    let small = 1e-9;
    match peer {
        "ndblas" => {
            let shape = [n];
            let view = |v| View::from_slice(v, &shape).expect("a vector");
            let (x, z) = (view(&x), view(&z));
            let mut y = ViewMut::from_slice(&mut y, &shape).expect("a vector");
            Some(match op {
                "axpy" => time(seconds, || ndblas::axpy(small, &x, &mut y).expect("it fits")),
                "mul_add" => {
                    time(seconds, || ndblas::mul_add(small, &x, &z, 1.0, &mut y).expect("it fits"))
                }
                "dot" => time(seconds, || drop(black_box(ndblas::dotu(&x, &z)))),
                "nrm2" => time(seconds, || drop(black_box(ndblas::nrm2(&x)))),
                _ => return None,
            })
        }
        "ndarray" => {
            let view = |v| ndarray::ArrayView1::from(v);
            let (x, z) = (view(&x[..]), view(&z[..]));
            let mut y = ndarray::ArrayViewMut1::from(&mut y[..]);
            Some(match op {
                "axpy" => time(seconds, || y.scaled_add(small, black_box(&x))),
                "mul_add" => time(seconds, || {
                    Zip::from(&mut y)
                        .and(black_box(&x))
                        .and(black_box(&z))
                        .for_each(|y, &x, &z| *y += small * (x * z));
                }),
                "dot" => time(seconds, || {
                    black_box(black_box(&x).dot(black_box(&z)));
                }),
                "nrm2" => time(seconds, || {
                    black_box(black_box(&x).dot(black_box(&x)).sqrt());
                }),
                _ => return None,
            })
        }
        _ => None,
    }
}

fn permute<T: Scalar + Default>(
    peer: &str,
    shape: &[usize],
    perm: &[usize],
    seconds: f64,
) -> Option<f64> {
    let n = shape.iter().product();
    let a: Vec<T> = numbers(n).into_iter().map(|v| T::rounded(v, 0.0)).collect();
    let mut out = vec![T::default(); n];
    let to: Vec<usize> = perm.iter().map(|&d| shape[d]).collect();
    match peer {
        "ndblas" => {
            let a = View::from_slice(&a, shape).expect("an array");
            let mut out = ViewMut::from_slice(&mut out, &to).expect("an array");
            let (one, zero) = (T::rounded(1.0, 0.0), T::rounded(0.0, 0.0));
            Some(time(seconds, || {
                ndblas::permute(one, &a, Some(perm), zero, &mut out).expect("it fits");
            }))
        }
        "memcpy" => Some(time(seconds, || {
            out.copy_from_slice(&a);
            black_box(&mut out);
        })),
        "ndarray" => {
            let a = ArrayViewD::from_shape(IxDyn(shape), &a).ok()?;
            let a = a.permuted_axes(IxDyn(perm));
            let mut out = ArrayViewMutD::from_shape(IxDyn(&to), &mut out).ok()?;
            Some(time(seconds, || out.assign(&a)))
        }
        "strided-perm" => {
            // The same memory column-major, with the axes in reverse.
            let rank = shape.len();
            let dims: Vec<usize> = shape.iter().rev().copied().collect();
            let perm: Vec<usize> = (0..rank).map(|j| rank - 1 - perm[rank - 1 - j]).collect();
            let mut k = 0;
            let source = StridedArray::<T>::from_fn_col_major(&dims, |_| {
                k = (k + 1) % n;
                a[k]
            });
            let source = source.view().permute(&perm).ok()?;
            let mut out = StridedArray::<T>::col_major(source.dims());
            let mut out = out.view_mut();
            Some(time(seconds, || {
                strided_perm::copy_into(&mut out, &source, threadteam::Exec::serial())
                    .expect("it fits");
            }))
        }
        "transpose" if perm == [1, 0] => Some(time(seconds, || {
            transpose::transpose(&a, &mut out, shape[1], shape[0]);
        })),
        _ => None,
    }
}

fn indexed(peer: &str, op: &str, [i, n, l, k]: [usize; 4], seconds: f64) -> Option<f64> {
    let index: Vec<i64> =
        numbers(i * l).into_iter().map(|v| (v * n as f64) as i64 % n as i64).collect();
    let (mut table, mut rows) = (numbers(i * n * k), numbers(i * l * k));
    match (peer, op) {
        ("ndblas", _) => {
            let index = View::from_slice(&index, &[i, l, 1]).expect("an array");
            let index = Index::from(&index);
            let (whole, part) = ([i, n, k], [i, l, k]);
            Some(if op == "gather" {
                let a = View::from_slice(&table, &whole).expect("an array");
                let mut out = ViewMut::from_slice(&mut rows, &part).expect("an array");
                time(seconds, || {
                    ndblas::gather(1.0, &a, 1, &index, Mode::Raise, 0.0, &mut out)
                        .expect("it fits");
                })
            } else {
                let src = View::from_slice(&rows, &part).expect("an array");
                let mut out = ViewMut::from_slice(&mut table, &whole).expect("an array");
                time(seconds, || {
                    ndblas::scatter_add(1.0, &src, 1, &index, Mode::Raise, &mut out)
                        .expect("it fits");
                })
            })
        }
        // Row by row, as a user of ndarray writes it.
        ("ndarray", _) => {
            let whole = ndarray::Array3::from_shape_vec((i, n, k), table).ok()?;
            let part = ndarray::Array3::from_shape_vec((i, l, k), rows).ok()?;
            let (mut whole, mut part) = (whole, part);
            Some(time(seconds, || {
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
            }))
        }
        _ => None,
    }
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
            ["permute", "f32", shape, perm] => {
                permute::<f32>(peer, &list(shape), &list(perm), seconds)
            }
            ["permute", _, shape, perm] => permute::<f64>(peer, &list(shape), &list(perm), seconds),
            _ => None,
        };
        if let Some(time) = time {
            println!("{case}\t{time:e}");
        }
    }
}
