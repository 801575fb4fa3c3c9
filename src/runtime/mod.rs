//! Threads, memory, limits and cancellation.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

pub(crate) mod block_on;
pub(crate) mod cancel;
pub(crate) mod limits;
pub mod memory;
pub(crate) mod prefetch;

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use std::time::Instant;
/// The clock of a browser: that of the standard library panics there.
#[cfg(target_arch = "wasm32")]
pub(crate) use web_time::Instant;

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
    (0..count).into_par_iter().with_max_len(1).for_each(|_| task());
}
