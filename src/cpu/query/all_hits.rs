//! Collector of all hits of a ray: both roots of each, in order.

use crate::cpu::collector::HitCollector;
use crate::cpu::growth_budget::GrowthBudget;
use crate::intersect::classify::{HitClass, classify};
use crate::intersect::motion::Target;
use crate::intersect::resolve::{resolve_pair, round_roots, saturated_to_infinity, with_finite_ends};
use crate::intersect::sphere::SphereRoots;
use crate::math::float::ordered_bits;
use crate::query::policy::{Precision, Query};
use crate::records::{Interval, Ray};

/// Largest `max_hits` for which certain hits end the traversal early, before they are intersected. Storing their ends takes up to 8 bytes
/// per hit, for each ray of a stream. With more hits, most of what lies before the last of them is a hit anyway.
const MAX_CUTOFF_HITS: usize = 64;

/// Classifies a pair with known roots, and leaves nothing undecided: at precision `exact`, a pair that the error bounds do not decide is
/// resolved by exact arithmetic. Returns the class, the `t` of the hit, and whether exact arithmetic was needed.
pub(crate) fn classify_fully(
    ray: &Ray,
    target: Target<'_>,
    solved: &SphereRoots,
    query: &Query,
) -> (HitClass, f32, bool) {
    let verdict = classify(solved, &with_finite_ends(ray), query, query.precision == Precision::Exact);
    if verdict.class == HitClass::Undecided {
        let (class, t) = resolve_pair(ray, target, query);
        return (class, t, true);
    }
    (verdict.class, verdict.t, false)
}

#[derive(Clone, Copy)]
pub(crate) struct HitEntry {
    /// Sorts by the `t` of the policies, then by id, which is the lower half.
    key: u64,
    t_enter: f32,
    t_exit: f32,
}

impl HitEntry {
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
    u64::from(ordered_bits(t + 0.0)) << 32 | u64::from(id)
}

/// Collects the hits of a ray: all of them, or the first `max_hits`.
pub(crate) struct AllHits<'a> {
    query: &'a Query,
    budget: &'a GrowthBudget,
    max_hits: usize,
    entries: Vec<HitEntry>,
    /// The `t` of the last of the first `max_hits` hits, once that many are known: no hit behind it is needed.
    last: f32,
    /// Positions along the ray before which certain hits begin, and the `max_hits`-th smallest of them.
    certain_ends: Vec<f32>,
    cutoff: f32,
    pub(crate) used_exact: bool,
    pub(crate) overflowed: bool,
}

impl<'a> AllHits<'a> {
    pub(crate) fn new(query: &'a Query, max_hits: u32, budget: &'a GrowthBudget) -> Self {
        Self {
            query,
            budget,
            max_hits: if max_hits == u32::MAX { usize::MAX } else { max_hits as usize },
            entries: Vec::new(),
            last: f32::MAX,
            certain_ends: Vec::new(),
            cutoff: f32::INFINITY,
            used_exact: false,
            overflowed: false,
        }
    }

    /// The hits in order.
    pub(crate) fn entries(&mut self) -> &[HitEntry] {
        self.entries.sort_unstable_by_key(|entry| entry.key);
        self.entries.truncate(self.max_hits);
        &self.entries
    }

    fn add(&mut self, entry: HitEntry) {
        if !self.budget.grow(&mut self.entries) {
            return;
        }
        self.entries.push(entry);
        let count = self.entries.len();
        if count == self.max_hits || count / 2 >= self.max_hits {
            // Keeps the first half of twice as many: this costs a few comparisons per hit on average.
            self.last = self.entries.select_nth_unstable_by_key(self.max_hits - 1, |entry| entry.key).1.t();
            self.entries.truncate(self.max_hits);
        }
    }
}

impl Drop for AllHits<'_> {
    fn drop(&mut self) {
        self.budget.release(&self.entries);
    }
}

impl HitCollector for AllHits<'_> {
    const ACCEPTS_ROOTS: bool = true;

    fn accept(&mut self, ray: &Ray, id: u32, target: Target<'_>, solved: &SphereRoots) {
        let (class, t, exact) = classify_fully(ray, target, solved, self.query);
        self.used_exact |= exact;
        self.overflowed |= class == HitClass::Overflow;
        if class != HitClass::Hit {
            return;
        }
        let from_surface = target.starts_on_surface();
        let entry = if self.query.precision == Precision::Exact || from_surface {
            let (t_enter, t_exit) = round_roots(ray, target);
            let roots = Interval { t_enter, t_exit, id };
            // Without exact resolution, `t` can be taken from the rounded roots: rounding moves neither across the start of the ray. The
            // `t` of a ray that starts on the surface is rounded already.
            let t = if exact || from_surface { t } else { roots.hit_t(ray, self.query.inside) };
            HitEntry::new(t, id, t_enter, t_exit)
        } else {
            HitEntry::new(t, id, saturated_to_infinity(solved.t_enter), saturated_to_infinity(solved.t_exit))
        };
        self.add(entry);
    }

    fn cutoff(&self, _: &Ray) -> Option<f32> {
        (!self.budget.is_empty()).then_some(self.last)
    }

    fn shorten(&mut self, far: f32, high: f32) -> f32 {
        if self.max_hits > MAX_CUTOFF_HITS {
            return far;
        }
        self.certain_ends.push(high);
        let count = self.certain_ends.len();
        if count == self.max_hits || count / 2 >= self.max_hits {
            self.cutoff = *self.certain_ends.select_nth_unstable_by(self.max_hits - 1, f32::total_cmp).1;
            self.certain_ends.truncate(self.max_hits);
        }
        far.min(self.cutoff)
    }
}
