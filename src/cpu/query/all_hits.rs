//! Collector of all hits of a ray: both roots of each, in order.

use crate::cpu::collector::{Visitor, Wanted};
use crate::cpu::growth_budget::Pool;
use crate::intersect::classify::{Met, decide};
use crate::intersect::motion::Target;
use crate::intersect::resolve::{judge_pair, round_roots};
use crate::intersect::scalar::{finite, reported, solve};
use crate::intersect::sphere::Solved;
use crate::query::policy::{Precision, Query};
use crate::records::{Interval, Ray};

/// Largest `most` for which certain hits end the traversal early, before they are intersected. Storing their ends takes up to 8 bytes per
/// hit, for each ray of a stream. With more hits, most of what lies before the last of them is a hit anyway.
const CUTTING: usize = 64;

/// Classifies a pair with known roots, and leaves nothing undecided: at precision `exact`, a pair that the error bounds do not decide is
/// resolved by exact arithmetic. Returns the class, the `t` of the hit, and whether exact arithmetic was needed.
pub(crate) fn settle(ray: &Ray, target: Target<'_>, solved: &Solved, query: &Query) -> (Met, f32, bool) {
    let verdict = decide(solved, &finite(ray), query, query.precision == Precision::Exact);
    if verdict.met == Met::Maybe {
        let (met, t) = judge_pair(ray, target, query);
        return (met, t, true);
    }
    (verdict.met, verdict.t, false)
}

/// A hit.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    /// Sorts by the `t` of the policies, then by id, which is the lower half.
    key: u64,
    t_enter: f32,
    t_exit: f32,
}

impl Entry {
    fn new(t: f32, id: u32, t_enter: f32, t_exit: f32) -> Self {
        Self { key: key_of(t, id), t_enter, t_exit }
    }

    fn t(&self) -> f32 {
        let bits = (self.key >> 32) as u32;
        f32::from_bits(if bits >> 31 == 1 { bits & 0x7fff_ffff } else { !bits })
    }

    pub(crate) fn interval(&self) -> Interval {
        Interval { t_enter: self.t_enter, t_exit: self.t_exit, id: self.key as u32 }
    }
}

/// A key that sorts by `t`, then by id; both zeros are the same `t`.
pub(crate) fn key_of(t: f32, id: u32) -> u64 {
    let bits = (t + 0.0).to_bits();
    let ordered = if bits >> 31 == 1 { !bits } else { bits | 0x8000_0000 };
    u64::from(ordered) << 32 | u64::from(id)
}

/// Collects the hits of a ray: all of them, or the first `most`.
pub(crate) struct Every<'a> {
    query: &'a Query,
    pool: &'a Pool,
    most: usize,
    entries: Vec<Entry>,
    /// Nothing later counts: the `t` of the last of the first `most` hits, once there are so many.
    last: f32,
    /// Positions along the ray before which certain hits begin, and the `most`-th smallest of them.
    highs: Vec<f32>,
    cut: f32,
    pub(crate) judged: bool,
    pub(crate) beyond: bool,
}

impl<'a> Every<'a> {
    pub(crate) fn new(query: &'a Query, most: u32, pool: &'a Pool) -> Self {
        Self {
            query,
            pool,
            most: if most == u32::MAX { usize::MAX } else { most as usize },
            entries: Vec::new(),
            last: f32::MAX,
            highs: Vec::new(),
            cut: f32::INFINITY,
            judged: false,
            beyond: false,
        }
    }

    /// The hits in order.
    pub(crate) fn entries(&mut self) -> &[Entry] {
        self.entries.sort_unstable_by_key(|entry| entry.key);
        self.entries.truncate(self.most);
        &self.entries
    }

    fn add(&mut self, entry: Entry) {
        if !self.pool.grow(&mut self.entries) {
            return;
        }
        self.entries.push(entry);
        let count = self.entries.len();
        if count == self.most || count / 2 >= self.most {
            // Keeps the first half of twice as many: this costs a few comparisons per hit on average.
            self.last = self.entries.select_nth_unstable_by_key(self.most - 1, |entry| entry.key).1.t();
            self.entries.truncate(self.most);
        }
    }
}

impl Drop for Every<'_> {
    fn drop(&mut self) {
        self.pool.give_back(&self.entries);
    }
}

impl Visitor for Every<'_> {
    const WANTED: Wanted = Wanted::Met;

    fn see(&mut self, ray: &Ray, id: u32, target: Target<'_>) {
        self.take(ray, id, target, &solve(ray, target, self.query.precision));
    }

    fn solves(&self) -> bool {
        true
    }

    fn take(&mut self, ray: &Ray, id: u32, target: Target<'_>, solved: &Solved) {
        let (met, t, judged) = settle(ray, target, solved, self.query);
        self.judged |= judged;
        self.beyond |= met == Met::Beyond;
        if met != Met::Yes {
            return;
        }
        let entry = if self.query.precision == Precision::Exact {
            let (t_enter, t_exit) = round_roots(ray, target);
            let roots = Interval { t_enter, t_exit, id };
            // Without exact resolution, `t` can be taken from the rounded roots: rounding moves neither across the start of the ray.
            Entry::new(if judged { t } else { roots.met_at(ray, self.query.inside) }, id, t_enter, t_exit)
        } else {
            Entry::new(t, id, reported(solved.t_enter), reported(solved.t_exit))
        };
        self.add(entry);
    }

    fn counts(&self, _: &Ray) -> Option<f32> {
        (!self.pool.is_empty()).then_some(self.last)
    }

    fn cut(&mut self, far: f32, high: f32) -> f32 {
        if self.most > CUTTING {
            return far;
        }
        self.highs.push(high);
        let count = self.highs.len();
        if count == self.most || count / 2 >= self.most {
            self.cut = *self.highs.select_nth_unstable_by(self.most - 1, f32::total_cmp).1;
            self.highs.truncate(self.most);
        }
        far.min(self.cut)
    }
}
