//! Gather and scatter-add by length of row, order of the indices and index type, against a memcpy of
//! the output and plain loops.
//!
//! `cargo bench --bench indexed`. Each figure is one thread's. Bytes are those of the output of a
//! gather, or of the source of a scatter-add.

use criterion::measurement::WallTime;
use criterion::{
    BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main,
};
use ndblas::{Element, Index, Mode, View, ViewMut, gather, scatter_add};
use std::time::Duration;

#[cfg(feature = "openblas")]
use openblas_src as _;

/// (I, J, L, K) of `c[i,l,k] = a[i, b[i,l], k]`: rows of a cached table, of tables that stream by, and
/// of one far larger than the caches; single elements of a near and of a far table.
const CASES: [[usize; 4]; 7] = [
    [100, 100, 100, 100],
    [64, 4096, 2048, 64],
    [1000, 1000, 1000, 8],
    [16, 65_536, 65_536, 1],
    [16, 65_536, 65_536, 3],
    [1, 1_000_000, 200_000, 128],
    [1, 10_000_000, 1_000_000, 1],
];

/// One thread, and all groups in some minutes.
fn group<'c>(c: &'c mut Criterion, name: &str) -> BenchmarkGroup<'c, WallTime> {
    ndblas::set_num_threads(1);
    let mut group = c.benchmark_group(name);
    group.sample_size(20);
    group.warm_up_time(Duration::from_millis(300));
    group.measurement_time(Duration::from_secs(2));
    group
}

/// Numbers below n, the same for the same n.
fn random(len: usize, n: usize) -> Vec<i64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % n as u64) as i64
    };
    (0..len).map(|_| next()).collect()
}

fn call_gather<I: Element>(
    (a, a_shape): (&[f64], [usize; 3]),
    (at, at_shape): (&[I], [usize; 3]),
    (alpha, beta): (f64, f64),
    (out, out_shape): (&mut [f64], [usize; 3]),
) where
    for<'v> Index<'v>: From<&'v View<'v, I>>,
{
    let at = View::from_slice(at, &at_shape).unwrap();
    let mut out = ViewMut::from_slice(out, &out_shape).unwrap();
    let a = View::from_slice(a, &a_shape).unwrap();
    gather(alpha, &a, 1, &Index::from(&at), Mode::Raise, beta, &mut out).unwrap();
}

fn call_scatter_add(
    (src, src_shape): (&[f64], [usize; 3]),
    (at, at_shape): (&[i64], [usize; 3]),
    (out, out_shape): (&mut [f64], [usize; 3]),
) {
    let at = View::from_slice(at, &at_shape).unwrap();
    let mut out = ViewMut::from_slice(out, &out_shape).unwrap();
    let src = View::from_slice(src, &src_shape).unwrap();
    scatter_add(1.0, &src, 1, &Index::from(&at), Mode::Raise, &mut out).unwrap();
}

/// Calls `row` with the first elements of each row of the grid and of its row in the table.
fn rows([i, j, l, k]: [usize; 4], at: &[i64], mut row: impl FnMut(usize, usize)) {
    for batch in 0..i {
        for (n, &v) in (batch * l..).zip(&at[batch * l..][..l]) {
            let v = if v < 0 { v + j as i64 } else { v } as usize;
            row(n * k, (batch * j + v) * k);
        }
    }
}

fn plain_gather(case: [usize; 4], a: &[f64], at: &[i64], out: &mut [f64]) {
    match case[3] {
        // No call for a single element.
        1 => rows(case, at, |to, from| out[to] = a[from]),
        k => rows(case, at, |to, from| out[to..][..k].copy_from_slice(&a[from..][..k])),
    }
}

fn plain_scatter_add(case: [usize; 4], src: &[f64], at: &[i64], out: &mut [f64]) {
    match case[3] {
        1 => rows(case, at, |from, to| out[to] += src[from]),
        k => rows(case, at, |from, to| {
            out[to..][..k].iter_mut().zip(&src[from..][..k]).for_each(|(y, x)| *y += x);
        }),
    }
}

fn gathers(c: &mut Criterion) {
    let mut group = group(c, "gather f64");
    for [i, j, l, k] in CASES {
        let name = format!("{i},{j},{l},{k}");
        let a: Vec<f64> = (0..i * j * k).map(|v| v as f64).collect();
        let at = random(i * l, j);
        let mut out = vec![0.0; i * l * k];
        let copied = vec![1.0; i * l * k];
        group.throughput(Throughput::Bytes(8 * (i * l * k) as u64));
        let shapes = ([i, j, k], [i, l, 1], [i, l, k]);
        for (what, factors) in
            [("ndblas", (1.0, 0.0)), ("ndblas, alpha", (2.0, 0.0)), ("ndblas, beta", (2.0, 0.5))]
        {
            group.bench_function(BenchmarkId::new(what, &name), |b| {
                let (a, at) = ((&a[..], shapes.0), (&at[..], shapes.1));
                b.iter(|| call_gather(a, at, factors, (&mut out, shapes.2)))
            });
        }
        group.bench_function(BenchmarkId::new("plain loop", &name), |b| {
            b.iter(|| plain_gather([i, j, l, k], &a, &at, &mut out))
        });
        group.bench_function(BenchmarkId::new("memcpy of the output", &name), |b| {
            b.iter(|| out.copy_from_slice(&copied))
        });
    }
    group.finish();
}

fn scatter_adds(c: &mut Criterion) {
    let mut group = group(c, "scatter_add f64");
    for [i, j, l, k] in CASES {
        let name = format!("{i},{j},{l},{k}");
        let src: Vec<f64> = (0..i * l * k).map(|v| v as f64).collect();
        let at = random(i * l, j);
        let mut out = vec![0.0; i * j * k];
        group.throughput(Throughput::Bytes(8 * (i * l * k) as u64));
        let shapes = ([i, l, k], [i, l, 1], [i, j, k]);
        group.bench_function(BenchmarkId::new("ndblas", &name), |b| {
            let (src, at) = ((&src[..], shapes.0), (&at[..], shapes.1));
            b.iter(|| call_scatter_add(src, at, (&mut out, shapes.2)))
        });
        group.bench_function(BenchmarkId::new("plain loop", &name), |b| {
            b.iter(|| plain_scatter_add([i, j, l, k], &src, &at, &mut out))
        });
    }
    group.finish();
}

/// Sums into few cells and many, for single elements, for rows of a line and for longer ones.
fn orders(c: &mut Criterion) {
    let mut group = group(c, "scatter_add f64 by order of the indices");
    for (n, j, k) in [(1_000_000, 65_536, 1), (200_000, 10_000, 8), (50_000, 10_000, 64)] {
        let src = vec![1.0; n * k];
        let mut out = vec![0.0; j * k];
        let random = random(n, j);
        let mut sorted = random.clone();
        sorted.sort();
        let two = random.iter().map(|v| v % 2 * (j as i64 - 1)).collect();
        group.throughput(Throughput::Bytes(8 * (n * k) as u64));
        for (what, at) in
            [("sorted", sorted), ("all equal", vec![7; n]), ("two hot", two), ("random", random)]
        {
            group.bench_function(BenchmarkId::new(what, k), |b| {
                let (src, at) = ((&src[..], [1, n, k]), (&at[..], [1, n, 1]));
                b.iter(|| call_scatter_add(src, at, (&mut out, [1, j, k])))
            });
        }
    }
    group.finish();
}

/// The same indices at every width, in a table that they all reach over.
fn index_types(c: &mut Criterion) {
    let mut group = group(c, "gather f64 by index type");
    let (n, j) = (1_000_000, 128);
    let a: Vec<f64> = (0..j).map(|v| v as f64).collect();
    let at = random(n, j);
    let mut out = vec![0.0; n];
    group.throughput(Throughput::Bytes(8 * n as u64));
    macro_rules! each {
        ($($t:ident),*) => {$(
            let at: Vec<$t> = at.iter().map(|&v| v as $t).collect();
            group.bench_function(stringify!($t), |b| {
                let (a, at) = ((&a[..], [1, j, 1]), (&at[..], [1, n, 1]));
                b.iter(|| call_gather(a, at, (1.0, 0.0), (&mut out, [1, n, 1])))
            });
        )*};
    }
    each!(i8, i16, i32, i64, u8, u16, u32, u64);
    group.finish();
}

criterion_group!(benches, gathers, scatter_adds, orders, index_types);
criterion_main!(benches);
