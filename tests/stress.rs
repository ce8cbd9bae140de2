//! Random calls, layouts and numbers of threads from eight threads at once, each call checked by the
//! oracle of the fuzz targets, while the pool comes and goes. The memory of the process stays as it is.
//!
//! Some seconds by default; `make stress` makes a million calls (NDBLAS_STRESS_CALLS).

mod common;
#[path = "../fuzz/harness/mod.rs"]
mod harness;

use common::Numbers;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const THREADS: u64 = 8;

/// What more the process may hold afterwards, for the heap's own arenas. A leak of a few dozen bytes
/// a call shows in a million calls.
const GROWTH: u64 = 32 << 20;

/// The resident memory of this process in bytes, where the system tells.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? << 10)
}

/// The calls of these numbers, shared among the threads.
fn calls(numbers: std::ops::Range<u64>) {
    let next = AtomicU64::new(numbers.start);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= numbers.end {
                        return;
                    }
                    let mut random = Numbers { state: !number, exact: true };
                    let (name, target) = harness::TARGETS[random.bits() as usize % 4];
                    let len = 16 + random.bits() % 100;
                    let bytes: Vec<u8> = (0..len).map(|_| random.bits() as u8).collect();
                    if let Err(panic) = std::panic::catch_unwind(|| target(&bytes)) {
                        next.store(numbers.end, Ordering::Relaxed);
                        eprintln!("call {number} of {name}: {bytes:02x?}");
                        std::panic::resume_unwind(panic);
                    }
                }
            });
        }
    });
}

#[test]
fn a_long_day() {
    let asked = std::env::var("NDBLAS_STRESS_CALLS").ok().and_then(|v| v.parse().ok());
    let total: u64 = asked.unwrap_or(16_000);
    let start = Instant::now();
    let over = AtomicBool::new(false);
    let (before, after) = std::thread::scope(|scope| {
        // Threads change in number and end while calls use them.
        scope.spawn(|| {
            let mut n = 0;
            while !over.load(Ordering::Relaxed) {
                n += 1;
                ndblas::set_num_threads(n % 9);
                std::thread::sleep(Duration::from_millis(20));
                if n % 8 == 0 {
                    ndblas::shutdown();
                }
            }
        });
        let done = std::panic::catch_unwind(|| {
            // The first tenth fills caches and the heap.
            calls(0..total / 10);
            let before = resident();
            calls(total / 10..total);
            (before, resident())
        });
        over.store(true, Ordering::Relaxed);
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    ndblas::set_num_threads(0);
    ndblas::shutdown();
    let time = start.elapsed().as_secs_f64();
    println!("{total} calls in {time:.1} s; resident bytes {before:?}, then {after:?}");
    if let (Some(before), Some(after)) = (before, after) {
        assert!(after <= before + GROWTH, "resident bytes {before}, then {after}");
    }
}
