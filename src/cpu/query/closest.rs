//! Collector of the closest hit of a ray, and both roots of its sphere. Twin of `shaders/query/closest_state.wgsl`.

use super::kind::RayQuery;
use crate::batch::sphere_set::SphereAttributes;
use crate::cpu::collector::{HitCollector, Resolved};
use crate::cpu::query::kinds as queries;
use crate::cpu::view::Candidates;
use crate::intersect::classify::{Classification, HitClass, classify, classify_exact};
use crate::intersect::double::RoundedRoots;
use crate::intersect::motion::Target;
use crate::intersect::resolve::{
    intersect, resolve_pair, round_hit, round_roots, saturated_to_infinity, with_finite_ends,
};
use crate::intersect::sphere::SphereRoots;
use crate::query::policy::{Precision, Query};
use crate::records::{Hit, Interval, NO_SPHERE, Ray};

/// The best hit so far, and the least `t` that could still beat it.
struct BestHit {
    t: f32,
    id: u32,
    low: f32,
    high: f32,
    /// Both roots of the sphere rounded once; NaN if unknown.
    rounded: [f32; 2],
    /// The least `t` that any other sphere, certain or undecided, may have.
    rival: f32,
    /// Whether there is a rival: `rival` may itself be the largest f32.
    has_rival: bool,
    overflowed: bool,
}

impl BestHit {
    const NONE: Self = Self {
        t: f32::MAX,
        id: NO_SPHERE,
        low: f32::MAX,
        high: f32::MAX,
        rounded: [f32::NAN; 2],
        rival: f32::MAX,
        has_rival: false,
        overflowed: false,
    };

    /// Updates the best with one verdict. The order does not matter.
    fn update(&mut self, id: u32, v: &Classification, rounded: [f32; 2]) {
        match v.class {
            HitClass::Miss => {}
            HitClass::Overflow => self.overflowed = true,
            HitClass::Undecided => self.add_rival(v.t_lower),
            HitClass::Hit => {
                // Two hits exactly at the start are a certain tie: the lower id wins.
                let both_certain = v.t_lower == v.t_upper && self.low == self.high && v.t == self.t;
                let better = self.id == NO_SPHERE || (v.t, id) < (self.t, self.id);
                if self.id != NO_SPHERE && !both_certain {
                    self.add_rival(if better { self.low } else { v.t_lower });
                }
                if better {
                    (self.t, self.id, self.low, self.high, self.rounded) = (v.t, id, v.t_lower, v.t_upper, rounded);
                }
            }
        }
    }

    fn add_rival(&mut self, low: f32) {
        self.rival = self.rival.min(low);
        self.has_rival = true;
    }
}

/// Collects the closest hit.
pub(crate) struct Closest<'a> {
    query: &'a Query,
    best: BestHit,
}

impl Closest<'_> {
    /// The closest hit, with a correctly rounded `t` at precision `exact`.
    #[inline]
    pub(crate) fn resolve<'c>(&self, ray: &Ray, candidates: impl Fn() -> Candidates<'c>) -> Resolved<Hit> {
        let Self { query, best } = self;
        let exact = query.precision == Precision::Exact;
        if exact && best.has_rival && best.rival <= best.high {
            let collector = ExactClosest::new(query);
            let ExactClosest { answer, overflowed, .. } = candidates().collect(ray, collector, query);
            return Resolved { record: answer, exact: true, overflowed: overflowed && !answer.is_hit() };
        }
        if best.id == NO_SPHERE {
            return Resolved { record: Hit::MISS, exact: false, overflowed: best.overflowed };
        }
        let hit = |t| Resolved { record: Hit { t, id: best.id }, exact: false, overflowed: false };
        if !exact {
            return hit(best.t);
        }
        if let Some((_, t)) = classify_exact(&RoundedRoots(best.rounded), ray, query) {
            return hit(t);
        }
        // The look-up happens only if it is needed: with moving spheres it costs a tenth of the traversal.
        hit(candidates().target(best.id).map_or(best.t, |target| round_hit(ray, target, query)))
    }
}

impl HitCollector for Closest<'_> {
    const ACCEPTS_ROOTS: bool = true;

    fn accept(&mut self, ray: &Ray, id: u32, _: Target<'_>, solved: &SphereRoots) {
        let exact = self.query.precision == Precision::Exact;
        self.best.update(id, &classify(solved, &with_finite_ends(ray), self.query, exact), solved.rounded);
    }

    /// A sphere that begins after `t_upper` is no rival: neither of the current best, nor of one that replaces it, because that one has the
    /// current `t_lower` as a rival.
    fn cutoff(&self, _ray: &Ray) -> Option<f32> {
        Some(if self.query.precision == Precision::Exact { self.best.high } else { self.best.t })
    }

    fn shorten(&mut self, far: f32, high: f32) -> f32 {
        far.min(high)
    }
}

/// Collects the closest hit by exact arithmetic alone: the smallest correctly rounded `t`, then the lowest id.
pub(crate) struct ExactClosest<'a> {
    query: &'a Query,
    pub(crate) answer: Hit,
    overflowed: bool,
}

impl<'a> ExactClosest<'a> {
    pub(crate) fn new(query: &'a Query) -> Self {
        Self { query, answer: Hit::MISS, overflowed: false }
    }
}

impl HitCollector for ExactClosest<'_> {
    fn test(&mut self, ray: &Ray, id: u32, target: Target<'_>) {
        match resolve_pair(ray, target, self.query) {
            (HitClass::Hit, t) if (t, id) < (self.answer.t, self.answer.id) => self.answer = Hit { t, id },
            (HitClass::Overflow, _) => self.overflowed = true,
            _ => {}
        }
    }

    fn cutoff(&self, _ray: &Ray) -> Option<f32> {
        Some(self.answer.t)
    }

    fn shorten(&mut self, far: f32, high: f32) -> f32 {
        far.min(high)
    }
}

impl RayQuery for queries::Closest {
    type Record = Hit;
    const MISS: Hit = Hit::MISS;
    const CANNOT_BLOCK: Option<&'static str> = None;
    type Collector<'a> = Closest<'a>;
    #[inline]
    fn collector<'a>(query: &'a Query, _: &SphereAttributes) -> Closest<'a> {
        Closest { query, best: BestHit::NONE }
    }
    #[inline]
    fn finish<'c>(collector: &Closest<'_>, ray: &Ray, candidates: impl Fn() -> Candidates<'c>) -> Resolved<Hit> {
        collector.resolve(ray, candidates)
    }
}

impl RayQuery for queries::Interval {
    type Record = Interval;
    const MISS: Interval = Interval::MISS;
    const CANNOT_BLOCK: Option<&'static str> = None;
    type Collector<'a> = Closest<'a>;
    #[inline]
    fn collector<'a>(query: &'a Query, _: &SphereAttributes) -> Closest<'a> {
        Closest { query, best: BestHit::NONE }
    }
    #[inline]
    fn finish<'c>(collector: &Closest<'_>, ray: &Ray, candidates: impl Fn() -> Candidates<'c>) -> Resolved<Interval> {
        let query = collector.query;
        let Resolved { record: hit, exact, overflowed } = collector.resolve(ray, &candidates);
        let record = candidates().target(hit.id).map_or(Interval::MISS, |target| {
            let (t_enter, t_exit) = if query.precision == Precision::Exact || target.starts_on_surface() {
                round_roots(ray, target)
            } else {
                let solved = intersect(ray, target);
                (saturated_to_infinity(solved.t_enter), saturated_to_infinity(solved.t_exit))
            };
            Interval { t_enter, t_exit, id: hit.id }
        });
        Resolved { record, exact, overflowed }
    }
}
