//! Throughput of a scene's queries on a device, measured while they run. It sizes submissions so that they stay short on any device.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::runtime::Instant;

/// Target duration of a submission: long enough to hide its overhead, short enough for responsive desktops, driver watchdogs and prompt
/// cancellation.
const TARGET_DURATION: Duration = Duration::from_millis(75);

/// Measured throughput, in tests of one ray against one sphere per second. Each scene has its own: a test takes a hundred times as long if
/// most spheres are hit as if few are.
#[derive(Debug)]
pub(crate) struct Throughput {
    rate: AtomicU64,
    range: (f64, f64),
}

/// Factor by which one measurement may raise the rate.
const MAX_RISE: f64 = 4.0;

/// Tests per second of software adapters, and of the slowest GPUs, if few spheres are hit.
pub(crate) fn usual(software: bool) -> f64 {
    if software { 3e9 } else { 1e11 }
}

/// Tests that fit into one submission at a rate of `rate` tests per second.
pub(crate) fn budget(rate: f64) -> u64 {
    (rate * TARGET_DURATION.as_secs_f64()) as u64
}

impl Throughput {
    /// Starts at a tenth of the usual rate of software, and at a thousandth of that of hardware, where drivers reset a device whose
    /// submission takes seconds. Measurements then correct it.
    pub(crate) fn new(software: bool) -> Self {
        let usual = usual(software);
        let start = usual / if software { 10.0 } else { 1000.0 };
        Self { rate: AtomicU64::new(start.to_bits()), range: (start / 30.0, usual * 100.0) }
    }

    /// A copy with the current rate, for a similar scene.
    pub(crate) fn for_similar_scene(&self) -> Self {
        Self { rate: AtomicU64::new(self.rate.load(Ordering::Relaxed)), range: self.range }
    }

    /// Tests that fit into one submission at the current rate.
    pub(crate) fn budget(&self) -> u64 {
        budget(f64::from_bits(self.rate.load(Ordering::Relaxed)))
    }

    /// Updates the rate with a measurement. A lower rate is adopted at once. A higher one raises the rate by at most a factor
    /// of `MAX_RISE`, so that a submission does not become too long because the one before it was easy.
    fn update(&self, tests: u64, took: Duration) {
        if took.is_zero() {
            return;
        }
        let before = f64::from_bits(self.rate.load(Ordering::Relaxed));
        let seen = (tests as f64 / took.as_secs_f64()).min(MAX_RISE * before).max(self.range.0).min(self.range.1);
        self.rate.store(seen.to_bits(), Ordering::Relaxed);
    }
}

/// Measures the submissions of one call: the ones that are not known to be done, with their tests and start times.
pub(crate) struct SubmissionMeter<'a> {
    throughput: &'a Throughput,
    sent: VecDeque<(u64, u64, Instant)>,
    count: u64,
    last: Instant,
}

impl<'a> SubmissionMeter<'a> {
    pub(crate) fn new(throughput: &'a Throughput) -> Self {
        Self { throughput, sent: VecDeque::new(), count: 0, last: Instant::now() }
    }

    /// Records a submission. Returns its number.
    pub(crate) fn submitted(&mut self, tests: u64) -> u64 {
        self.count += 1;
        self.sent.push_back((self.count, tests, Instant::now()));
        self.count
    }

    /// Records that a submission is done, and with it all earlier ones.
    pub(crate) fn completed(&mut self, number: u64) {
        let (mut tests, mut since) = (0, None);
        while let Some((n, more, at)) = self.sent.front().copied()
            && n <= number
        {
            self.sent.pop_front();
            tests += more;
            since.get_or_insert(at);
        }
        let now = Instant::now();
        if let Some(since) = since {
            self.throughput.update(tests, now - since.max(self.last));
        }
        self.last = now;
    }
}
