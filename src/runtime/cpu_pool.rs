//! CPU threads: rayon's workers, one per core, or only the calling thread if the system refuses threads.
//!
//! rayon panics if its workers cannot be started, and it tries only once. So this file starts the threads, and gives them to rayon when
//! their number is known. If there are none, each calling thread becomes the only worker of a pool of its own and does all of its rayon
//! work itself. A single pool of that kind would serve only the thread that made it and block all others.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{Builder, JoinHandle};

use rayon::prelude::*;
use rayon::{ThreadBuilder, ThreadPoolBuilder};

/// Threads left free for other purposes, so that not all become workers: one reads a file, and one shows progress.
const RESERVED_THREADS: usize = 2;

/// Ensures that this thread can use rayon. Call it before each use of rayon. It costs one read of thread-local memory.
pub(crate) fn ensure_pool() {
    static STARTED: OnceLock<bool> = OnceLock::new();
    if rayon::current_thread_index().is_none() && !STARTED.get_or_init(start) {
        run_single_threaded();
    }
}

/// Number of threads of the CPU engine, which rayon's pool holds. Starts them if they are not there yet, and so that a system that refuses
/// threads is no error: code that uses rayon for data of this library calls it first.
pub fn threads() -> usize {
    ensure_pool();
    rayon::current_num_threads()
}

/// Starts rayon's workers. Returns false if there are none.
fn start() -> bool {
    let wanted = default_threads();
    let mut waiting: Vec<_> = (0..wanted + RESERVED_THREADS).map_while(|_| spawn()).collect();
    let workers = waiting.len().saturating_sub(RESERVED_THREADS);
    for (work, thread) in waiting.drain(workers..) {
        drop(work);
        // The thread has ended before another one is requested. It cannot panic.
        let _ = thread.join();
    }
    let hand_over = |worker: ThreadBuilder| {
        let ended = || std::io::Error::other("a thread ended unexpectedly");
        waiting.pop().and_then(|(work, _)| work.send(worker).ok()).ok_or_else(ended)
    };
    // An error means that the caller has already built a global pool, which serves as well.
    let _ =
        (workers > 0).then(|| ThreadPoolBuilder::new().num_threads(workers).spawn_handler(hand_over).build_global());
    workers > 0
}

/// The number of workers that rayon starts by default.
fn default_threads() -> usize {
    let asked = std::env::var("RAYON_NUM_THREADS").ok().and_then(|count| count.parse().ok()).filter(|count| *count > 0);
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)).min(rayon::max_num_threads())
}

/// Spawns a thread that waits for its work from rayon.
fn spawn() -> Option<(Sender<ThreadBuilder>, JoinHandle<()>)> {
    let (work, waiting) = channel::<ThreadBuilder>();
    let run = move || waiting.recv().map_or((), ThreadBuilder::run);
    Some((work, Builder::new().name("umbracast-worker".into()).spawn(run).ok()?))
}

/// Makes this thread the only worker of a pool of its own, which lives as long as the process. No thread is started, so the system cannot
/// refuse it.
fn run_single_threaded() {
    std::mem::forget(ThreadPoolBuilder::new().num_threads(1).use_current_thread().build());
}

/// Runs `work` for each item on all cores, and returns the results in the order of the items. Idle workers take the next item, so the items
/// should be large: hundreds of rays. A single item is processed by the calling thread.
///
/// rayon compiles its iterators anew for each caller, which takes long for generic callers; of this function little is generic.
pub(crate) fn map_tasks<I, T: Send>(
    mut items: impl ExactSizeIterator<Item = I> + Send,
    work: impl Fn(I) -> T + Sync,
) -> Vec<T> {
    if items.len() == 1 {
        return items.next().map(work).into_iter().collect();
    }
    let mut results: Vec<Option<T>> = (0..items.len()).map(|_| None).collect();
    let count = results.len();
    let tasks = Mutex::new(items.zip(&mut results));
    run_tasks(count, &|| {
        let next = tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
        if let Some((item, result)) = next {
            *result = Some(work(item));
        }
    });
    results.into_iter().flatten().collect()
}

/// Calls `task` `count` times on all cores.
fn run_tasks(count: usize, task: &(dyn Fn() + Sync)) {
    ensure_pool();
    (0..count).into_par_iter().with_max_len(1).for_each(|_| task());
}
