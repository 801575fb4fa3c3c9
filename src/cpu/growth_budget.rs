//! Memory budget of lists of unknown length, shared by all tasks that fill them: they stop growing before the machine is out of memory.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::runtime::memory::available_bytes;

/// Up to this number of bytes the system is not asked how much memory there is.
const ALWAYS_ALLOWED: u64 = 1 << 20;

/// The memory that all lists may take together, in bytes.
pub(crate) struct GrowthBudget {
    limit: u64,
    /// Determined when lists first exceed `ALWAYS_ALLOWED`: the system takes a while to answer.
    allowed: OnceLock<u64>,
    used: AtomicU64,
    /// What all lists would have taken with the first request that was refused; 0 if none was. `used` falls again when lists are freed.
    refused: AtomicU64,
}

fn bytes_of<T>(list: &Vec<T>) -> u64 {
    (list.capacity() * size_of::<T>()) as u64
}

impl GrowthBudget {
    /// A budget of the memory that the machine has available, and at most `limit`.
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, allowed: OnceLock::new(), used: AtomicU64::new(0), refused: AtomicU64::new(0) }
    }

    fn allowed(&self) -> u64 {
        *self.allowed.get_or_init(|| available_bytes().unwrap_or(u64::MAX).min(self.limit))
    }

    /// Makes room for one more element; false if the budget is used up.
    #[inline]
    pub(crate) fn grow<T>(&self, list: &mut Vec<T>) -> bool {
        list.len() < list.capacity() || self.reserve(list, list.len().max(8))
    }

    /// Makes room for `more` more elements; false if the budget is used up.
    #[cold]
    pub(crate) fn reserve<T>(&self, list: &mut Vec<T>, more: usize) -> bool {
        let before = bytes_of(list);
        let asked = (more.saturating_add(list.len()).saturating_mul(size_of::<T>()) as u64).saturating_sub(before);
        let used = self.used.fetch_add(asked, Ordering::Relaxed).saturating_add(asked);
        let fits = (used <= ALWAYS_ALLOWED || used <= self.allowed())
            && !self.is_empty()
            && list.try_reserve_exact(more).is_ok();
        if !fits {
            let _ = self.refused.compare_exchange(0, used, Ordering::Relaxed, Ordering::Relaxed);
        }
        fits
    }

    /// Returns the memory of a list to the budget.
    pub(crate) fn release<T>(&self, list: &Vec<T>) {
        self.used.fetch_sub(bytes_of(list), Ordering::Relaxed);
    }

    /// Whether a list could not grow: then all results made from the lists are invalid.
    pub(crate) fn is_empty(&self) -> bool {
        self.refused.load(Ordering::Relaxed) != 0
    }

    /// Returns an error if a list could not grow.
    pub(crate) fn check(&self) -> Result<()> {
        let (what, device) = ("hit lists so far", "this machine".into());
        match self.refused.load(Ordering::Relaxed) {
            0 => Ok(()),
            asked => Err(Error::TooLarge { what, asked, allowed: self.allowed(), device }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_reports_the_refused_request_after_lists_are_freed() {
        let budget = GrowthBudget::new(ALWAYS_ALLOWED);
        let mut list: Vec<u8> = Vec::new();
        assert!(budget.reserve(&mut list, 700 << 10));
        assert!(!budget.reserve(&mut Vec::<u8>::new(), 700 << 10));
        budget.release(&list);
        let Err(Error::TooLarge { asked, allowed, .. }) = budget.check() else { panic!("no error") };
        assert_eq!((asked, allowed), (1400 << 10, ALWAYS_ALLOWED));
    }
}
