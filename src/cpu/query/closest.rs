//! Collector of the closest hit of a ray, and both roots of its sphere. Twin of `shaders/query/closest_state.wgsl`.

use super::kind::CpuQuery;
use crate::cpu::candidates::Against;
use crate::cpu::collector::{Found, Visitor, Wanted};
use crate::intersect::classify::{Met, Verdict, decide};
use crate::intersect::motion::Target;
use crate::intersect::resolve::{judge_pair, round_hit, round_roots};
use crate::intersect::scalar::{finite, reported, solve};
use crate::intersect::sphere::Solved;
use crate::query::policy::{Precision, Query};
use crate::records::{Hit, Interval, NO_SPHERE, Ray};

/// The best hit so far, and the least `t` that could still beat it.
struct Best {
    t: f32,
    id: u32,
    low: f32,
    high: f32,
    /// The least `t` that any other sphere, certain or undecided, may have.
    rival: f32,
    /// Whether there is a rival: `rival` may itself be the largest f32.
    rivaled: bool,
    beyond: bool,
}

impl Best {
    const NONE: Self = Self {
        t: f32::MAX,
        id: NO_SPHERE,
        low: f32::MAX,
        high: f32::MAX,
        rival: f32::MAX,
        rivaled: false,
        beyond: false,
    };

    /// Updates the best with one verdict. The order does not matter.
    fn take(&mut self, id: u32, v: &Verdict) {
        match v.met {
            Met::No => {}
            Met::Beyond => self.beyond = true,
            Met::Maybe => self.rivaled_by(v.low),
            Met::Yes => {
                // Two hits exactly at the start are a certain tie: the lower id wins.
                let both_certain = v.low == v.high && self.low == self.high && v.t == self.t;
                let better = self.id == NO_SPHERE || (v.t, id) < (self.t, self.id);
                if self.id != NO_SPHERE && !both_certain {
                    self.rivaled_by(if better { self.low } else { v.low });
                }
                if better {
                    (self.t, self.id, self.low, self.high) = (v.t, id, v.low, v.high);
                }
            }
        }
    }

    fn rivaled_by(&mut self, low: f32) {
        self.rival = self.rival.min(low);
        self.rivaled = true;
    }

    fn in_doubt(&self) -> bool {
        self.rivaled && self.rival <= self.high
    }
}

/// Collects the closest hit.
pub(crate) struct Closest<'a> {
    query: &'a Query,
    best: Best,
}

impl<'a> Closest<'a> {
    #[inline]
    pub(crate) fn new(query: &'a Query) -> Self {
        Self { query, best: Best::NONE }
    }

    /// The closest hit, with a correctly rounded `t` at precision `exact`.
    #[inline]
    pub(crate) fn found(self, ray: &Ray, against: Against<'_>) -> Found<Hit> {
        let Self { query, best } = self;
        let exact = query.precision == Precision::Exact;
        if exact && best.in_doubt() {
            let judge = ClosestExact { query, answer: Hit::MISS, beyond: false };
            let ClosestExact { answer, beyond, .. } = against.show(ray, judge, query.precision);
            return Found { answer, judged: true, beyond: beyond && !answer.is_hit() };
        }
        if best.id == NO_SPHERE {
            return Found { answer: Hit::MISS, judged: false, beyond: best.beyond };
        }
        // The look-up happens only if it is needed: with moving spheres it costs a tenth of the traversal.
        let target = if exact { against.target(best.id) } else { None };
        let t = target.map_or(best.t, |target| round_hit(ray, target, query));
        Found { answer: Hit { t, id: best.id }, judged: false, beyond: false }
    }

    /// Both roots of the closest sphere.
    #[inline]
    pub(crate) fn found_interval(self, ray: &Ray, against: Against<'_>) -> Found<Interval> {
        let query = self.query;
        let Found { answer: hit, judged, beyond } = self.found(ray, against);
        Found { answer: interval_of(ray, against, query, hit), judged, beyond }
    }
}

impl Visitor for Closest<'_> {
    const WANTED: Wanted = Wanted::Met;

    fn see(&mut self, ray: &Ray, id: u32, target: Target<'_>) {
        self.take(ray, id, target, &solve(ray, target, self.query.precision));
    }

    fn solves(&self) -> bool {
        true
    }

    fn take(&mut self, ray: &Ray, id: u32, _: Target<'_>, solved: &Solved) {
        let exact = self.query.precision == Precision::Exact;
        self.best.take(id, &decide(solved, &finite(ray), self.query, exact));
    }

    /// A sphere that begins after `high` is no rival: neither of the current best, nor of one that replaces it, because that one has the
    /// current `low` as a rival.
    fn counts(&self, _ray: &Ray) -> Option<f32> {
        Some(if self.query.precision == Precision::Exact { self.best.high } else { self.best.t })
    }
}

/// Collects the closest hit by exact arithmetic alone: the smallest correctly rounded `t`, then the lowest id.
struct ClosestExact<'a> {
    query: &'a Query,
    answer: Hit,
    beyond: bool,
}

impl Visitor for ClosestExact<'_> {
    const WANTED: Wanted = Wanted::Met;

    fn see(&mut self, ray: &Ray, id: u32, target: Target<'_>) {
        match judge_pair(ray, target, self.query) {
            (Met::Yes, t) if (t, id) < (self.answer.t, self.answer.id) => self.answer = Hit { t, id },
            (Met::Beyond, _) => self.beyond = true,
            _ => {}
        }
    }

    fn counts(&self, _ray: &Ray) -> Option<f32> {
        Some(self.answer.t)
    }
}

/// Both roots of the sphere that was hit.
pub(crate) fn interval_of(ray: &Ray, against: Against<'_>, query: &Query, hit: Hit) -> Interval {
    let Some(target) = against.target(hit.id) else { return Interval::MISS };
    let (t_enter, t_exit) = if query.precision == Precision::Exact {
        round_roots(ray, target)
    } else {
        let solved = solve(ray, target, query.precision);
        (reported(solved.t_enter), reported(solved.t_exit))
    };
    Interval { t_enter, t_exit, id: hit.id }
}

impl CpuQuery for Hit {
    const MISS: Self = Hit::MISS;
    type Visitor<'a> = Closest<'a>;
    #[inline]
    fn is_hit(&self) -> bool {
        Hit::is_hit(self)
    }
    #[inline]
    fn visitor(query: &Query) -> Closest<'_> {
        Closest::new(query)
    }
    #[inline]
    fn found(visitor: Closest<'_>, ray: &Ray, against: Against<'_>) -> Found<Self> {
        visitor.found(ray, against)
    }
}

impl CpuQuery for Interval {
    const MISS: Self = Interval::MISS;
    type Visitor<'a> = Closest<'a>;
    #[inline]
    fn is_hit(&self) -> bool {
        Interval::is_hit(self)
    }
    #[inline]
    fn visitor(query: &Query) -> Closest<'_> {
        Closest::new(query)
    }
    #[inline]
    fn found(visitor: Closest<'_>, ray: &Ray, against: Against<'_>) -> Found<Self> {
        visitor.found_interval(ray, against)
    }
}
