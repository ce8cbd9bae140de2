//! How many threads a call may use, and the pool they come from.
//!
//! The pool is the library's own and is made at the first large call. One call has it at a time;
//! another that comes meanwhile, be it from another thread or from inside a parallel region of its
//! caller, runs on the thread it is on. Work is shared in parts that whoever is free takes next, the
//! caller among them, and the caller waits for nobody who has not begun: a thread that the system
//! does not let run costs nothing.

use core::any::Any;
use core::cell::Cell;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread::JoinHandle;

/// Work on fewer bytes stays on the caller: waking a thread would take as long.
const SHARED_FROM: usize = 1 << 20;

/// A part has so many bytes at least.
const PART: usize = 256 << 10;

/// Parts a thread, so that one which starts late or runs slower takes fewer.
const PARTS_A_THREAD: usize = 4;

/// The number for the process, 0 for the default.
static PROCESS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The number for calls from this thread, 0 for the process's.
    static LOCAL: Cell<usize> = const { Cell::new(0) };
}

/// Sets the number of threads that calls may use, for the whole process; 0 takes the default back:
/// `NDBLAS_NUM_THREADS`, else `OMP_NUM_THREADS`, else the CPUs that this process may use.
///
/// Results do not depend on it. With 1 no thread is started; nor is one for small work. No more
/// threads run than there are CPUs for this process, whatever the number.
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
        named("NDBLAS_NUM_THREADS").or_else(|| named("OMP_NUM_THREADS")).unwrap_or_else(cpus)
    })
}

/// The CPUs that this process may use, by its affinity and its control group.
fn cpus() -> usize {
    static CPUS: OnceLock<usize> = OnceLock::new();
    *CPUS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// In how many parts to share work that moves `bytes`; 1 for what stays on the caller.
#[inline]
pub(crate) fn parts(bytes: usize) -> usize {
    if bytes < SHARED_FROM { 1 } else { parts_of_large(bytes) }
}

#[cold]
fn parts_of_large(bytes: usize) -> usize {
    match num_threads() {
        0 | 1 => 1,
        threads => (bytes / PART).min(threads.saturating_mul(PARTS_A_THREAD)),
    }
}

/// How many threads may work on so many parts, the caller among them.
pub(crate) fn threads_of(parts: usize) -> usize {
    parts.min(num_threads()).min(cpus()).max(1)
}

/// Calls `work` with each of 0 .. `parts`, on this thread and on others. A panic in there comes out
/// here, when all have ended.
pub(crate) fn share(parts: usize, work: &(dyn Fn(usize) + Sync)) {
    share_among(threads_of(parts), parts, work);
}

/// [`share`] among as many threads as there are states, of which each part has one for itself.
pub(crate) fn share_with<S: Send>(
    parts: usize,
    states: &mut [S],
    work: &(dyn Fn(usize, &mut S) + Sync),
) {
    if let ([state], _) | ([state, ..], 0 | 1) = (&mut *states, parts) {
        return (0..parts).for_each(|part| work(part, state));
    }
    let threads = states.len().min(threads_of(parts));
    let free = Mutex::new(states.iter_mut().collect::<Vec<_>>());
    share_among(threads, parts, &|part| {
        let state = lock(&free).pop().expect("one state a thread");
        work(part, state);
        lock(&free).push(state);
    });
}

fn share_among(threads: usize, parts: usize, work: &(dyn Fn(usize) + Sync)) {
    let helpers = threads.saturating_sub(1);
    let pool = if helpers > 0 { Shared::of_this_process().enter(helpers) } else { None };
    let Some(pool) = pool.as_deref().and_then(Option::as_ref) else {
        return (0..parts).for_each(work);
    };
    // SAFETY: nobody calls it after `close` returns, which is before this function does, whether
    // or not a call of ours panics.
    let work = unsafe {
        core::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(work)
    };
    let region =
        Arc::new(Region { work, parts, next: AtomicUsize::new(0), state: Default::default() });
    pool.help(&region, helpers);
    let own = catch_unwind(AssertUnwindSafe(|| region.take_parts()));
    let other = region.close();
    if let Some(panic) = own.err().or(other) {
        resume_unwind(panic);
    }
}

/// Joins the library's threads; a later call starts them again. It waits for a call that uses them.
pub fn shutdown() {
    let threads = lock(&Shared::of_this_process().pool).take();
    drop(threads);
}

/// Never poisoned: no panic of ours leaves what a mutex holds half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Work in progress.
struct Region {
    work: &'static (dyn Fn(usize) + Sync),
    parts: usize,
    next: AtomicUsize,
    state: (Mutex<State>, Condvar),
}

#[derive(Default)]
struct State {
    /// Whoever comes now comes too late.
    closed: bool,
    helping: usize,
    panic: Option<Box<dyn Any + Send>>,
}

impl Region {
    fn take_parts(&self) {
        loop {
            let part = self.next.fetch_add(1, Ordering::Relaxed);
            if part >= self.parts {
                return;
            }
            (self.work)(part);
        }
    }

    fn help(&self) {
        let (state, ended) = &self.state;
        {
            let mut state = lock(state);
            if state.closed {
                return;
            }
            state.helping += 1;
        }
        let result = catch_unwind(AssertUnwindSafe(|| self.take_parts()));
        let mut state = lock(state);
        state.helping -= 1;
        if let Err(panic) = result {
            state.panic = Some(panic);
        }
        ended.notify_one();
    }

    /// Waits for those who help, and lets nobody begin. Returns the panic of one.
    fn close(&self) -> Option<Box<dyn Any + Send>> {
        // After a panic of our own, the rest need not be done.
        self.next.fetch_max(self.parts, Ordering::Relaxed);
        let (state, ended) = &self.state;
        let mut state = lock(state);
        state.closed = true;
        while state.helping > 0 {
            state = ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.panic.take()
    }
}

/// Threads, which are joined when it is dropped.
struct Pool {
    threads: Option<rayon_core::ThreadPool>,
    size: usize,
    handles: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Pool {
    /// `None` where the system gives no more threads.
    fn new(size: usize) -> Option<Pool> {
        let mut pool = Pool { threads: None, size, handles: Arc::default() };
        let started = Arc::clone(&pool.handles);
        let threads = rayon_core::ThreadPoolBuilder::new()
            .num_threads(size)
            .spawn_handler(move |thread| {
                let named = std::thread::Builder::new().name("ndblas".into());
                lock(&started).push(named.spawn(|| thread.run())?);
                Ok(())
            })
            .build();
        pool.threads = Some(threads.ok()?);
        Some(pool)
    }

    fn help(&self, region: &Arc<Region>, helpers: usize) {
        let Some(threads) = &self.threads else { return };
        for _ in 0..helpers {
            let region = Arc::clone(region);
            threads.spawn(move || region.help());
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        drop(self.threads.take());
        for handle in lock(&self.handles).drain(..) {
            // Its panic was handed to the call that it worked for.
            let _ = handle.join();
        }
    }
}

/// The pool of a process.
struct Shared {
    process: u32,
    pool: Mutex<Option<Pool>>,
}

impl Shared {
    /// A forked child has its own: the parent's threads are not there, and a mutex may have been
    /// locked by one of them. What it inherits stays untouched.
    fn of_this_process() -> &'static Shared {
        static SHARED: AtomicPtr<Shared> = AtomicPtr::new(core::ptr::null_mut());
        let process = std::process::id();
        loop {
            let current = SHARED.load(Ordering::Acquire);
            // SAFETY: it is null, or was published below and is never freed.
            if let Some(shared) = unsafe { current.as_ref() }.filter(|s| s.process == process) {
                return shared;
            }
            let new = Box::into_raw(Box::new(Shared { process, pool: Mutex::new(None) }));
            let swap = SHARED.compare_exchange(current, new, Ordering::AcqRel, Ordering::Acquire);
            if swap.is_err() {
                // SAFETY: it comes from the box above and was not published.
                drop(unsafe { Box::from_raw(new) });
            }
        }
    }

    /// The pool with so many threads or more, unless a call has it already or there are none to get.
    fn enter(&self, threads: usize) -> Option<MutexGuard<'_, Option<Pool>>> {
        let mut pool = match self.pool.try_lock() {
            Ok(pool) => pool,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        if pool.as_ref().is_none_or(|pool| pool.size < threads) {
            // The smaller one ends first.
            *pool = None;
            *pool = Pool::new(threads);
        }
        pool.is_some().then_some(pool)
    }
}
