//! How fast a scene's queries go on a device, measured while they run, so that submissions stay short on any of them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What a submission should take: long enough to hide what it costs to hand over, short enough for desktops, watchdogs and
/// people who want to stop.
const AIM: Duration = Duration::from_millis(75);

/// Tests of one ray against one sphere that are done in a second. Each scene has its own: where most spheres are met a test
/// takes a hundred times as long as where few are.
#[derive(Debug)]
pub(crate) struct Pace {
    rate: AtomicU64,
    range: (f64, f64),
}

/// Tests that adapters in software, and the slowest GPUs, do in a second when few spheres are met.
pub(crate) fn usual(software: bool) -> f64 {
    if software { 3e9 } else { 1e11 }
}

/// Tests that fit into one submission at a rate.
pub(crate) fn budget(rate: f64) -> u64 {
    (rate * AIM.as_secs_f64()) as u64
}

impl Pace {
    /// Begins at a tenth of what is usual, and finds its way.
    pub(crate) fn new(software: bool) -> Self {
        let usual = usual(software);
        Self { rate: AtomicU64::new((usual / 10.0).to_bits()), range: (usual / 300.0, usual * 100.0) }
    }

    /// For a scene much like this one.
    pub(crate) fn again(&self) -> Self {
        Self { rate: AtomicU64::new(self.rate.load(Ordering::Relaxed)), range: self.range }
    }

    /// Tests that fit into one submission.
    pub(crate) fn budget(&self) -> u64 {
        budget(f64::from_bits(self.rate.load(Ordering::Relaxed)))
    }

    /// Takes a measurement in. What is slower is believed at once, what is faster by half as much again: a submission must
    /// not become too long because the one before it was easy.
    fn learn(&self, tests: u64, took: Duration) {
        if took.is_zero() {
            return;
        }
        let before = f64::from_bits(self.rate.load(Ordering::Relaxed));
        let seen = (tests as f64 / took.as_secs_f64()).min(1.5 * before).max(self.range.0).min(self.range.1);
        self.rate.store(seen.to_bits(), Ordering::Relaxed);
    }
}

/// Submissions of one call that are not known to be done, with the tests in each.
pub(crate) struct Meter<'a> {
    pace: &'a Pace,
    sent: VecDeque<(u64, u64, Instant)>,
    count: u64,
    last: Instant,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(pace: &'a Pace) -> Self {
        Self { pace, sent: VecDeque::new(), count: 0, last: Instant::now() }
    }

    /// Notes a submission; says its number.
    pub(crate) fn sent(&mut self, tests: u64) -> u64 {
        self.count += 1;
        self.sent.push_back((self.count, tests, Instant::now()));
        self.count
    }

    /// Notes that it is done, and with it all before it.
    pub(crate) fn done(&mut self, number: u64) {
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
            self.pace.learn(tests, now - since.max(self.last));
        }
        self.last = now;
    }
}
