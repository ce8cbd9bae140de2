//! Transposes by shape, against a copy of as many bytes (`copy_from_slice`) and, with factors,
//! against `axpby` of operands in one order.
//!
//! `cargo bench --bench permute`. Each figure is one thread's. The large shapes are HPTT's, of 200 MiB
//! of f32 each: one of every kind.

use criterion::{
    BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use ndblas::{Element, Scalar, View, ViewMut};
use std::hint::black_box;

/// Memory that has been written once, which is what a caller's is.
fn numbers<T: Scalar>(n: usize) -> Vec<T> {
    (0..n).map(|i| T::rounded((i % 1013) as f64 * 1e-3 - 0.5, 0.0)).collect()
}

fn product(shape: &[usize]) -> usize {
    shape.iter().product()
}

fn transposed(shape: &[usize], perm: &[usize]) -> Vec<usize> {
    perm.iter().map(|&p| shape[p]).collect()
}

fn call<T: Element>(
    factors: [T; 2],
    a: &[T],
    shape: &[usize],
    perm: &[usize],
    out: &mut [T],
) -> Result<(), ndblas::Error> {
    let a = View::from_slice(a, shape)?;
    let mut out = ViewMut::from_slice(out, &transposed(shape, perm))?;
    ndblas::permute(factors[0], &a, Some(perm), factors[1], &mut out)
}

/// HPTT's ttc01, 10, 16, 22, 28, 31, 43 and 55 (row-major).
const HPTT: [(&[usize], &[usize]); 8] = [
    (&[7264, 7264], &[1, 0]),
    (&[384, 355, 384], &[2, 1, 0]),
    (&[75, 96, 75, 96], &[3, 0, 2, 1]),
    (&[75, 75, 96, 96], &[1, 0, 3, 2]),
    (&[48, 28, 28, 48, 32], &[1, 3, 2, 0, 4]),
    (&[28, 48, 28, 28, 48], &[4, 0, 3, 2, 1]),
    (&[15, 15, 32, 15, 32, 16], &[4, 1, 0, 3, 2, 5]),
    (&[32, 15, 15, 15, 15, 32], &[5, 4, 3, 2, 1, 0]),
];

fn large(c: &mut Criterion) {
    ndblas::set_num_threads(1);
    let mut group = c.benchmark_group("permute f32, 200 MiB");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    let most = HPTT.iter().map(|(shape, _)| product(shape)).max().unwrap_or(0);
    let (a, mut out) = (numbers::<f32>(most), numbers::<f32>(most));
    for (shape, perm) in HPTT {
        let n = product(shape);
        let (a, out) = (&a[..n], &mut out[..n]);
        let name = format!("{shape:?} by {perm:?}");
        group.throughput(Throughput::Bytes(8 * n as u64));
        group.bench_function(BenchmarkId::new("copy", &name), |bench| {
            bench.iter(|| black_box(&mut *out).copy_from_slice(black_box(a)));
        });
        group.bench_function(BenchmarkId::new("permute", &name), |bench| {
            bench.iter(|| call([1.0, 0.0], a, shape, perm, out));
        });
        group.bench_function(BenchmarkId::new("axpby", &name), |bench| {
            bench.iter(|| {
                let x = View::from_slice(a, &[n])?;
                ndblas::axpby(2.0, &x, 0.5, &mut ViewMut::from_slice(out, &[n])?)
            });
        });
        group.bench_function(BenchmarkId::new("permute with factors", &name), |bench| {
            bench.iter(|| call([2.0, 0.5], a, shape, perm, out));
        });
    }
    group.finish();
}

/// Square matrices from a few lines to what fits a cache.
fn small<T: Scalar>(c: &mut Criterion) {
    ndblas::set_num_threads(1);
    let mut group = c.benchmark_group(format!("transpose {}", T::DTYPE));
    for n in [8, 16, 64, 90, 256, 500, 1024] {
        let (a, mut out) = (numbers::<T>(n * n), numbers::<T>(n * n));
        group.throughput(Throughput::Bytes((2 * n * n * size_of::<T>()) as u64));
        group.bench_function(BenchmarkId::new("copy", n), |bench| {
            bench.iter(|| black_box(&mut out[..]).copy_from_slice(black_box(&a)));
        });
        group.bench_function(BenchmarkId::new("permute", n), |bench| {
            bench.iter(|| call([T::ONE, T::ZERO], &a, &[n, n], &[1, 0], &mut out));
        });
    }
    group.finish();
}

/// In place, square and not.
fn in_place(c: &mut Criterion) {
    let mut group = c.benchmark_group("permute_in_place f64");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    for shape in [[1024, 1024], [4096, 4096], [4097, 4097], [4000, 3000]] {
        let n = product(&shape);
        let mut a = numbers::<f64>(n);
        group.throughput(Throughput::Bytes(16 * n as u64));
        group.bench_function(format!("{shape:?}"), |bench| {
            bench.iter(|| {
                let mut a = ViewMut::from_slice(&mut a, &shape)?;
                ndblas::permute_in_place(&mut a, None)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, large, small::<f32>, small::<f64>, in_place);
criterion_main!(benches);
