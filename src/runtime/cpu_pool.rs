//! The threads that do the work: rayon's workers, one a core, or the calling thread alone where the system refuses threads.
//!
//! rayon panics when its workers cannot be started, and it asks for them once. So they are started here, and handed to rayon when it
//! is known how many there are. Where there are none, each thread that comes with work becomes the only worker of a pool of its own:
//! whatever it hands to rayon it does itself. One such pool for all would serve the thread that made it and block all others.

use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle};

use rayon::{ThreadBuilder, ThreadPoolBuilder};

use crate::error::{Error, Result};

/// Threads that others need, which must not all become workers: one that reads a file, and one that shows progress.
const OTHERS: usize = 2;

/// Makes sure that this thread can hand work to rayon. Call it before each use of rayon; it costs one read of thread-local memory.
pub(crate) fn ready() {
    static STARTED: OnceLock<bool> = OnceLock::new();
    if rayon::current_thread_index().is_none() && !STARTED.get_or_init(start) {
        work_alone();
    }
}

/// How many work at the same time.
pub(crate) fn count() -> usize {
    ready();
    rayon::current_num_threads()
}

/// Starts rayon's workers; false when there are none.
fn start() -> bool {
    let wanted = wanted();
    let mut waiting: Vec<_> = (0..wanted + OTHERS).map_while(|_| spawn()).collect();
    let workers = waiting.len().saturating_sub(OTHERS);
    for (work, thread) in waiting.drain(workers..) {
        drop(work);
        // It has ended before another one is asked for. It cannot panic.
        let _ = thread.join();
    }
    let hand_over = |worker: ThreadBuilder| {
        let ended = || std::io::Error::other("a thread ended early");
        waiting.pop().and_then(|(work, _)| work.send(worker).ok()).ok_or_else(ended)
    };
    // An error says that the caller has made a global pool: that one is as good.
    let _ =
        (workers > 0).then(|| ThreadPoolBuilder::new().num_threads(workers).spawn_handler(hand_over).build_global());
    workers > 0
}

/// The number of workers that rayon starts by default.
fn wanted() -> usize {
    let asked = std::env::var("RAYON_NUM_THREADS").ok().and_then(|count| count.parse().ok()).filter(|count| *count > 0);
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)).min(rayon::max_num_threads())
}

/// A thread that waits for what rayon wants it to do.
fn spawn() -> Option<(Sender<ThreadBuilder>, JoinHandle<()>)> {
    let (work, waiting) = channel::<ThreadBuilder>();
    let run = move || waiting.recv().map_or((), ThreadBuilder::run);
    Some((work, Builder::new().name("umbracast-worker".into()).spawn(run).ok()?))
}

/// Makes this thread the only worker of a pool of its own, which lives as long as the process. It needs no thread, so that nothing
/// can be refused.
fn work_alone() {
    std::mem::forget(ThreadPoolBuilder::new().num_threads(1).use_current_thread().build());
}

/// Runs work on rayon's workers, never in whoever polls.
pub(crate) async fn on_cores<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    ready();
    if rayon::current_thread_index().is_some() {
        // Already on a worker: handing over and waiting could leave no worker to do it.
        return Ok(work());
    }
    let (done, answer) = futures_channel::oneshot::channel();
    // Nobody may be listening any more.
    rayon::spawn(move || drop(done.send(work())));
    answer.await.map_err(|_| Error::DeviceFailed { device: "cpu".into(), message: "a worker ended early".into() })
}
