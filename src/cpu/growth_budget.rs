//! Memory for lists of unknown length, shared by all that make them: they stop growing before the machine is out of it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::runtime::memory::available_bytes;

/// So much is never worth asking for.
const LITTLE: u64 = 1 << 20;

/// What lists may take together.
pub(crate) struct Pool {
    limit: u64,
    /// Found out when there is much to be had: the system takes a while to say.
    allowed: OnceLock<u64>,
    used: AtomicU64,
    empty: AtomicBool,
}

fn bytes_of<T>(list: &Vec<T>) -> u64 {
    (list.capacity() * size_of::<T>()) as u64
}

impl Pool {
    /// As much as the machine has to spare, and at most `limit`.
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, allowed: OnceLock::new(), used: AtomicU64::new(0), empty: AtomicBool::new(false) }
    }

    fn allowed(&self) -> u64 {
        *self.allowed.get_or_init(|| available_bytes().unwrap_or(u64::MAX).min(self.limit))
    }

    /// Makes room for one more; false when there is none.
    #[inline]
    pub(crate) fn grow<T>(&self, list: &mut Vec<T>) -> bool {
        list.len() < list.capacity() || self.reserve(list, list.len().max(8))
    }

    /// Makes room for so many more; false when there is none.
    #[cold]
    pub(crate) fn reserve<T>(&self, list: &mut Vec<T>, more: usize) -> bool {
        let before = bytes_of(list);
        let asked = (more.saturating_add(list.len()).saturating_mul(size_of::<T>()) as u64).saturating_sub(before);
        let used = self.used.fetch_add(asked, Ordering::Relaxed).saturating_add(asked);
        let fits =
            (used <= LITTLE || used <= self.allowed()) && !self.is_empty() && list.try_reserve_exact(more).is_ok();
        if !fits {
            // What was asked for stays counted: the error tells it.
            self.empty.store(true, Ordering::Relaxed);
        }
        fits
    }

    /// Takes back what a list had.
    pub(crate) fn give_back<T>(&self, list: &Vec<T>) {
        self.used.fetch_sub(bytes_of(list), Ordering::Relaxed);
    }

    /// Whether a list did not grow for want of memory: then all that is made of them is void.
    pub(crate) fn is_empty(&self) -> bool {
        self.empty.load(Ordering::Relaxed)
    }

    /// The error that follows.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_empty() {
            let (asked, allowed) = (self.used.load(Ordering::Relaxed), self.allowed());
            return Err(Error::TooLarge {
                what: "spheres met, at the least",
                asked,
                allowed,
                device: "this machine".into(),
            });
        }
        Ok(())
    }
}
