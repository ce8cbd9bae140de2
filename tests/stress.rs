//! Random calls, layouts and numbers of threads from eight threads at once, each call checked by the
//! oracle of the fuzz targets, while the pool comes and goes. The memory of the process stays as it is.
//!
//! Some seconds by default; `make stress` makes a million calls (NDBLAS_STRESS_CALLS).

mod common;
#[path = "../fuzz/harness/mod.rs"]
mod harness;

use common::Numbers;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const THREADS: u64 = 8;

/// Bytes of the heap that are in use.
static LIVE: AtomicI64 = AtomicI64::new(0);

struct Counting;

// SAFETY: all is done by the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: as the caller says.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: as the caller says.
        unsafe { System.dealloc(p, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// What more may be in use afterwards, when all threads have ended: less than one byte a call of a
/// million.
const GROWTH: i64 = 64 << 10;

/// The resident memory of this process in bytes, where the system tells. The allocator keeps what the
/// oracle's arrays took, so it says less than the count.
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
    let ((live, resident_before), resident_after) = std::thread::scope(|scope| {
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
            let before = (LIVE.load(Ordering::Relaxed), resident());
            calls(total / 10..total);
            (before, resident())
        });
        over.store(true, Ordering::Relaxed);
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    ndblas::set_num_threads(0);
    ndblas::shutdown();
    let time = start.elapsed().as_secs_f64();
    let growth = LIVE.load(Ordering::Relaxed) - live;
    println!(
        "{total} calls in {time:.1} s; {live} bytes of the heap in use after a tenth, and {growth} more at \
         the end; resident {resident_before:?}, then {resident_after:?}"
    );
    assert!(growth <= GROWTH, "{growth} more bytes in use");
}
