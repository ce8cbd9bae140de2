//! Level 1 by size and layout, against the BLAS called directly and against a plain loop.
//!
//! `cargo bench --bench level1`. Each figure is one thread's; bytes are those that the operation has
//! to move.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ndblas::{View, ViewMut};
use std::hint::black_box;

#[cfg(feature = "openblas")]
use openblas_src as _;

const SIZES: [usize; 5] = [1_000, 8_192, 100_000, 1_000_000, 10_000_000];

fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|i| (i % 1013) as f64 * 1e-3 - 0.5).collect()
}

fn axpy(c: &mut Criterion) {
    ndblas::set_num_threads(1);
    let mut group = c.benchmark_group("axpy f64");
    for n in SIZES {
        let (x, mut y) = (numbers(n), numbers(n));
        group.throughput(Throughput::Bytes(24 * n as u64));
        group.bench_function(BenchmarkId::new("ndblas", n), |b| {
            b.iter(|| {
                let x = View::from_slice(&x, &[n]).unwrap();
                ndblas::axpy(1e-9, &x, &mut ViewMut::from_slice(&mut y, &[n]).unwrap())
            })
        });
        #[cfg(feature = "blas")]
        group.bench_function(BenchmarkId::new("cblas", n), |b| {
            // SAFETY: two vectors of n elements.
            b.iter(|| unsafe { cblas::daxpy(n as i32, 1e-9, &x, 1, &mut y, 1) })
        });
        group.bench_function(BenchmarkId::new("plain loop", n), |b| {
            b.iter(|| {
                let alpha = black_box(1e-9);
                y.iter_mut().zip(&x).for_each(|(y, x)| *y += alpha * x);
            })
        });
    }
    group.finish();
}

/// The same elements in rows of 64 with a gap, in columns, and every other one.
fn layouts(c: &mut Criterion) {
    ndblas::set_num_threads(1);
    let mut group = c.benchmark_group("axpy f64 layouts");
    let n = 1 << 20;
    let (x, mut y) = (numbers(2 * n), numbers(2 * n));
    group.throughput(Throughput::Bytes(24 * n as u64));
    let cases: [(&str, &[usize], &[isize]); 4] = [
        ("dense", &[n], &[1]),
        ("rows of 64 in 128", &[n / 64, 64], &[128, 1]),
        ("every other", &[n], &[2]),
        ("columns of both", &[1024, 1024], &[1, 1024]),
    ];
    for (name, shape, strides) in cases {
        group.bench_function(BenchmarkId::new("ndblas", name), |b| {
            b.iter(|| {
                let x = View::from_slice_strided(&x, 0, shape, strides).unwrap();
                let mut y = ViewMut::from_slice_strided(&mut y, 0, shape, strides).unwrap();
                ndblas::axpy(1e-9, &x, &mut y)
            })
        });
        group.bench_function(BenchmarkId::new("plain loop", name), |b| {
            b.iter(|| {
                let alpha = black_box(1e-9);
                let [rows, columns] = if let [n] = *shape { [1, n] } else { [shape[0], shape[1]] };
                let [down, right] =
                    if let [s] = *strides { [0, s] } else { [strides[0], strides[1]] };
                for i in 0..rows {
                    for j in 0..columns {
                        let at = i * down as usize + j * right as usize;
                        y[at] += alpha * x[at];
                    }
                }
            })
        });
    }
    group.finish();
}

fn reductions(c: &mut Criterion) {
    ndblas::set_num_threads(1);
    type Ours = fn(&View<'_, f64>) -> f64;
    type Plain = fn(&[f64]) -> f64;
    let cases: [(&str, u64, Ours, Plain); 4] = [
        ("dot", 16, |x| ndblas::dotu(x, x).unwrap().0, |x| x.iter().map(|x| x * x).sum()),
        ("nrm2", 8, |x| ndblas::nrm2(x).unwrap(), |x| x.iter().map(|x| x * x).sum::<f64>().sqrt()),
        ("asum", 8, |x| ndblas::asum(x).unwrap(), |x| x.iter().map(|x| x.abs()).sum()),
        (
            "iamax",
            8,
            |x| ndblas::iamax(x).unwrap().unwrap() as f64,
            |x| {
                let mut best = 0;
                (0..x.len()).for_each(|i| best = if x[i].abs() > x[best].abs() { i } else { best });
                best as f64
            },
        ),
    ];
    for (name, bytes, ours, plain) in cases {
        let mut group = c.benchmark_group(format!("{name} f64"));
        for n in SIZES {
            let x = numbers(n);
            group.throughput(Throughput::Bytes(bytes * n as u64));
            group.bench_function(BenchmarkId::new("ndblas", n), |b| {
                b.iter(|| ours(&View::from_slice(&x, &[n]).unwrap()))
            });
            #[cfg(feature = "blas")]
            group.bench_function(BenchmarkId::new("cblas", n), |b| {
                // SAFETY: a vector of n elements.
                b.iter(|| unsafe {
                    match name {
                        "dot" => cblas::ddot(n as i32, &x, 1, &x, 1),
                        "nrm2" => cblas::dnrm2(n as i32, &x, 1),
                        "asum" => cblas::dasum(n as i32, &x, 1),
                        _ => cblas::idamax(n as i32, &x, 1) as f64,
                    }
                })
            });
            group.bench_function(BenchmarkId::new("plain loop", n), |b| {
                b.iter(|| plain(black_box(&x)))
            });
        }
        group.finish();
    }
}

criterion_group!(benches, axpy, layouts, reductions);
criterion_main!(benches);
