//! `c += a*b` by size and layout, against a plain loop and against the two passes that a temporary
//! costs.
//!
//! `cargo bench --bench fused`. Each figure is one thread's.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ndblas::{View, ViewMut};

fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|i| (i % 1013) as f64 * 1e-3 - 0.5).collect()
}

fn mul_add(c: &mut Criterion) {
    ndblas::set_num_threads(1);
    let mut group = c.benchmark_group("mul_add f64");
    for n in [1_000, 8_192, 100_000, 1_000_000, 10_000_000] {
        let (a, b, mut y) = (numbers(n), numbers(n), numbers(n));
        group.throughput(Throughput::Bytes(32 * n as u64));
        group.bench_function(BenchmarkId::new("ndblas", n), |bench| {
            bench.iter(|| {
                let view = |x| View::from_slice(x, &[n]).unwrap();
                let mut y = ViewMut::from_slice(&mut y, &[n]).unwrap();
                ndblas::mul_add(1.0, &view(&a), &view(&b), 1e-9, &mut y)
            })
        });
        group.bench_function(BenchmarkId::new("plain loop", n), |bench| {
            bench.iter(|| {
                let factors = a.iter().zip(&b);
                y.iter_mut().zip(factors).for_each(|(y, (a, b))| *y = 1e-9 * *y + a * b);
            })
        });
        group.bench_function(BenchmarkId::new("with a temporary", n), |bench| {
            bench.iter(|| {
                let product: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a * b).collect();
                y.iter_mut().zip(&product).for_each(|(y, p)| *y = 1e-9 * *y + p);
            })
        });
    }
    group.finish();
}

/// Factors that broadcast, and one that is transposed.
fn layouts(c: &mut Criterion) {
    ndblas::set_num_threads(1);
    let mut group = c.benchmark_group("mul_add f64 layouts");
    let n = 1024;
    let (a, b, mut y) = (numbers(n * n), numbers(n * n), numbers(n * n));
    group.throughput(Throughput::Bytes(32 * (n * n) as u64));
    let cases: [(&str, [isize; 2]); 4] = [
        ("dense", [n as isize, 1]),
        ("a row", [0, 1]),
        ("a column", [1, 0]),
        ("transposed", [1, n as isize]),
    ];
    for (name, strides) in cases {
        group.bench_function(BenchmarkId::new("ndblas", name), |bench| {
            bench.iter(|| {
                let a = View::from_slice(&a, &[n, n]).unwrap();
                let b = View::from_slice_strided(&b, 0, &[n, n], &strides).unwrap();
                let mut y = ViewMut::from_slice(&mut y, &[n, n]).unwrap();
                ndblas::mul_add(1.0, &a, &b, 1e-9, &mut y)
            })
        });
        group.bench_function(BenchmarkId::new("plain loop", name), |bench| {
            let [down, right] = strides.map(|s| s as usize);
            bench.iter(|| {
                for i in 0..n {
                    for j in 0..n {
                        let at = i * n + j;
                        y[at] = 1e-9 * y[at] + a[at] * b[i * down + j * right];
                    }
                }
            })
        });
    }
    group.finish();
}

criterion_group!(benches, mul_add, layouts);
criterion_main!(benches);
