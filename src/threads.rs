//! How many threads a call may use.

use core::cell::Cell;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::OnceLock;

/// The number for the process, 0 for the default.
static PROCESS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The number for calls from this thread, 0 for the process's.
    static LOCAL: Cell<usize> = const { Cell::new(0) };
}

/// Sets the number of threads that calls may use, for the whole process; 0 takes the default back:
/// `NDBLAS_NUM_THREADS`, else `OMP_NUM_THREADS`, else the CPUs that this process may use.
///
/// Results do not depend on it. So far every routine runs on the calling thread, within any number.
pub fn set_num_threads(n: usize) {
    PROCESS.store(n, Ordering::Relaxed);
}

/// Sets the number for calls from the calling thread only; 0 takes it back.
pub fn set_num_threads_local(n: usize) {
    LOCAL.set(n);
}

/// The number of threads that a call from the calling thread may use.
pub fn num_threads() -> usize {
    match (LOCAL.get(), PROCESS.load(Ordering::Relaxed)) {
        (0, 0) => default(),
        (0, n) | (n, _) => n,
    }
}

fn default() -> usize {
    static DEFAULT: OnceLock<usize> = OnceLock::new();
    *DEFAULT.get_or_init(|| {
        let named = |name| {
            // OMP_NUM_THREADS may be a list, one number a nesting level.
            let value = std::env::var(name).ok()?;
            value.split(',').next()?.trim().parse().ok().filter(|&n| n > 0)
        };
        named("NDBLAS_NUM_THREADS")
            .or_else(|| named("OMP_NUM_THREADS"))
            .or_else(|| std::thread::available_parallelism().ok().map(usize::from))
            .unwrap_or(1)
    })
}

/// Joins the library's threads; a later call starts them again. So far there are none to join.
pub fn shutdown() {}
