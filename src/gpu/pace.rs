//! How fast a device goes, measured while it works, so that submissions stay short on any of them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What a submission should take: long enough to hide what it costs to hand over, short enough for desktops, watchdogs and
/// people who want to stop.
const AIM: Duration = Duration::from_millis(75);
/// Work too small to tell anything.
const LEAST: u64 = 1 << 24;

/// Tests of one ray against one sphere that a device does in a second.
#[derive(Debug)]
pub(crate) struct Pace {
    rate: AtomicU64,
    range: (f64, f64),
}

impl Pace {
    /// Before anything is known: 3·10⁹ for adapters in software, 10¹¹ for the slowest GPUs.
    pub(crate) fn new(software: bool) -> Self {
        let rate: f64 = if software { 3e9 } else { 1e11 };
        Self { rate: AtomicU64::new(rate.to_bits()), range: (rate / 30.0, rate * 100.0) }
    }

    /// Tests that fit into one submission.
    pub(crate) fn budget(&self) -> u64 {
        (f64::from_bits(self.rate.load(Ordering::Relaxed)) * AIM.as_secs_f64()) as u64
    }

    /// Takes a measurement in: half of what was believed, half of what was seen.
    pub(crate) fn learn(&self, tests: u64, took: Duration) {
        if tests < LEAST || took.is_zero() {
            return;
        }
        let before = f64::from_bits(self.rate.load(Ordering::Relaxed));
        let seen = (tests as f64 / took.as_secs_f64()).max(self.range.0).min(self.range.1);
        self.rate.store((0.5 * before + 0.5 * seen).to_bits(), Ordering::Relaxed);
    }
}
