//! Progress and cancellation of long operations.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Result};

/// Progress of the queries of a scene, passed to [`Scene::with_cancel`](crate::Scene::with_cancel), or of the builds and pictures of a
/// device, passed to [`Device::with_cancel`](crate::Device::with_cancel), and a way to cancel them. Clones share their state, so another
/// thread can read the progress or cancel.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    shared: Arc<Shared>,
    silent: bool,
}

#[derive(Debug, Default)]
struct Shared {
    done: AtomicU64,
    cancelled: AtomicBool,
}

impl CancelToken {
    /// Creates a token: nothing done, not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Rays and observers processed so far, by all queries together.
    pub fn done(&self) -> u64 {
        self.shared.done.load(Ordering::Relaxed)
    }

    /// Cancels running and later operations. Each ends with [`Error::Cancelled`] as soon as its current chunk is done.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether [`cancel`](Self::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        self.shared.cancelled.load(Ordering::Relaxed)
    }

    /// A clone that adds no progress, for passes over rays that another pass counts.
    pub(crate) fn without_progress(&self) -> Self {
        Self { silent: true, ..self.clone() }
    }

    pub(crate) fn add(&self, rays: u64) {
        if !self.silent {
            self.shared.done.fetch_add(rays, Ordering::Relaxed);
        }
    }

    /// Returns an error if the token is cancelled.
    ///
    /// # Errors
    /// [`Error::Cancelled`] with the rays that are done.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Cancelled { done: self.done() }) } else { Ok(()) }
    }
}
