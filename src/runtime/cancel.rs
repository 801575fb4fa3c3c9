//! Following long work from elsewhere, and stopping it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Result};

/// How far the queries of a [watched scene](crate::Scene::watched) are, or what a [watched device](crate::Device::watched) builds and
/// draws, and a way to stop them. Clones share it, so that one can be read or stopped from another thread while the work goes on.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    shared: Arc<Shared>,
    silent: bool,
}

#[derive(Debug, Default)]
struct Shared {
    done: AtomicU64,
    cancelled: AtomicBool,
}

impl Watch {
    /// Nothing done, not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Rays and observers answered so far, by all queries together.
    pub fn done(&self) -> u64 {
        self.shared.done.load(Ordering::Relaxed)
    }

    /// Stops what runs and what comes: it ends with [`Error::Cancelled`] as soon as its present piece is done.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.shared.cancelled.load(Ordering::Relaxed)
    }

    /// The same for work on rays that are answered by other work later: nothing is added.
    pub(crate) fn silently(&self) -> Self {
        Self { silent: true, ..self.clone() }
    }

    pub(crate) fn add(&self, rays: u64) {
        if self.silent {
            return;
        }
        self.shared.done.fetch_add(rays, Ordering::Relaxed);
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Cancelled { done: self.done() }) } else { Ok(()) }
    }
}
