//! Threads, memory, limits and cancellation.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rayon::prelude::*;

pub(crate) mod block_on;
pub(crate) mod cancel;
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

/// Limits below those of the device. Start from [`Limits::default`] and lower some of them. Work that exceeds a limit is done in chunks, or
/// refused with an error that states the figures. Results stay the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum number of rays sent to a GPU at once.
    pub rays: u64,
    /// Maximum size of one GPU buffer in bytes.
    pub binding: u64,
    /// Maximum number of bytes for a scene and a query, on the host and on the device together, in addition to the caller's own memory.
    pub memory: u64,
    /// Time limit for one submission of a query to a GPU. After it the query fails with [`TimedOut`](crate::Error::TimedOut). `None` means
    /// five minutes for hardware, which may hang, and no limit for software adapters, which are only slow. A submission is sized to take a
    /// tenth of a second; on a busy machine, and at the first use of a kernel, it takes longer. Opening a device and uploading spheres
    /// always use the limit of `None`.
    pub patience: Option<Duration>,
}

impl Default for Limits {
    /// No limits except the device's own.
    fn default() -> Self {
        Self { rays: u64::MAX, binding: u64::MAX, memory: u64::MAX, patience: None }
    }
}
