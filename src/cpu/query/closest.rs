//! One ray against many spheres: the queries. `shaders/cast.wgsl` asks the same of the same solve.

use crate::cpu::view::{Known, Spheres, Visitor, Wanted};
use crate::intersect::classify::{Met, Verdict, decide};
use crate::intersect::ellipsoid::mapped;
use crate::intersect::motion::{Target, scale_moving};
use crate::intersect::resolve::{judge_pair, round_hit, round_roots};
use crate::intersect::sphere::{Solved, scale, solve_fast, solve_standard};
use crate::query::policy::{Precision, Query};
use crate::records::{Extra, Hit, Interval, NO_SPHERE, Ray};

/// What a ray is cast against.
#[derive(Clone, Copy)]
pub(crate) enum Against<'a> {
    /// Every sphere of a scene that is for the ray.
    Scene(Spheres<'a>, Extra),
    /// One sphere and its id.
    One(u32, Target<'a>),
}

impl Against<'_> {
    /// Shows the visitor of one ray what it wants.
    pub(crate) fn show<V: Visitor>(self, ray: &Ray, mut visitor: V, precision: Precision) -> V {
        self.show_to(ray, &mut visitor, precision);
        visitor
    }

    /// The same for one that stays where it is.
    pub(crate) fn show_to<V: Visitor>(self, ray: &Ray, visitor: &mut V, precision: Precision) {
        match self {
            Against::One(id, target) => visitor.see(ray, id, target),
            Against::Scene(scene, extra) => {
                let plain = scene.columns.masks.is_none() && !scene.columns.change() && extra == Extra::NONE;
                let picked = if plain { &[] } else { &[extra][..] };
                scene.sweep(std::slice::from_ref(ray), picked, std::slice::from_mut(visitor), precision);
            }
        }
    }

    pub(crate) fn target(&self, id: u32) -> Option<Target<'_>> {
        match self {
            Against::One(own, target) => (*own == id).then_some(*target),
            Against::Scene(scene, extra) => scene.target(id, Some(extra)),
        }
    }
}

/// An answer, and how it came about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Found<T> {
    pub(crate) answer: T,
    /// Decided by exact arithmetic.
    pub(crate) judged: bool,
    /// A miss only because the root exceeds f32.
    pub(crate) beyond: bool,
}

/// The best sphere so far, and what could still beat it.
struct Best {
    t: f32,
    id: u32,
    low: f32,
    high: f32,
    /// The least `t` that any other sphere, met or in doubt, may have.
    rival: f32,
    /// Whether there is any: a rival may itself lie at the largest f32.
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

    /// Takes a verdict in. The order does not matter.
    fn take(&mut self, id: u32, v: &Verdict) {
        match v.met {
            Met::No => {}
            Met::Beyond => self.beyond = true,
            Met::Maybe => self.rivaled_by(v.low),
            Met::Yes => {
                // Two that are met exactly at the start tie without doubt: the lower id wins.
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

/// A ray with its infinite ends replaced by the largest finite numbers, as the solve wants them.
pub(crate) fn finite(ray: &Ray) -> Ray {
    ray.between(ray.t_min.max(-f32::MAX), ray.t_max.min(f32::MAX))
}

pub(crate) fn solve(ray: &Ray, target: Target<'_>, precision: Precision) -> Solved {
    let scaled = match &target.moves {
        None => scale(ray, target.sphere),
        Some(moves) => scale_moving(ray, target.sphere, moves),
    };
    let scaled = match target.map {
        None => scaled,
        Some(map) => mapped(&scaled, map),
    };
    match (target.moves.is_some() || target.map.is_some(), precision) {
        (false, Precision::Fast) => solve_fast::<false>(&scaled),
        (false, _) => solve_standard::<false>(&scaled),
        (true, Precision::Fast) => solve_fast::<true>(&scaled),
        (true, _) => solve_standard::<true>(&scaled),
    }
}

/// A solve's saturated number as the infinity it stands for.
pub(crate) fn reported(t: f32) -> f32 {
    if t.abs() >= f32::MAX { f32::INFINITY.copysign(t) } else { t }
}

/// Looks for the closest sphere.
pub(crate) struct Closest<'a> {
    query: &'a Query,
    best: Best,
}

impl<'a> Closest<'a> {
    pub(crate) fn new(query: &'a Query) -> Self {
        Self { query, best: Best::NONE }
    }

    /// The closest sphere, with an exact `t` at precision `exact`.
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
        // Where spheres move, one that is only looked up costs a tenth of the walk.
        let target = if exact { against.target(best.id) } else { None };
        let t = target.map_or(best.t, |target| round_hit(ray, target, query));
        Found { answer: Hit { t, id: best.id }, judged: false, beyond: false }
    }

    /// Both roots of the closest sphere.
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

    /// A sphere that begins after `high` is no rival: neither of this best nor of one that replaces it, which has this one's
    /// `low` for a rival.
    fn counts(&self, _ray: &Ray) -> Option<f32> {
        Some(if self.query.precision == Precision::Exact { self.best.high } else { self.best.t })
    }
}

/// Looks for the closest sphere by exact arithmetic alone: the smallest correctly rounded `t`, then the lowest id.
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

/// Looks whether any sphere is met.
pub(crate) struct Occluded<'a> {
    query: &'a Query,
    /// Without regard for the solve's bounds: it is exact.
    judging: bool,
    answer: bool,
    doubt: bool,
    beyond: bool,
}

impl<'a> Occluded<'a> {
    pub(crate) fn new(query: &'a Query) -> Self {
        Self { query, judging: false, answer: false, doubt: false, beyond: false }
    }

    pub(crate) fn found(self, ray: &Ray, against: Against<'_>) -> Found<bool> {
        if self.doubt && !self.answer {
            let judge = Self { judging: true, ..Self::new(self.query) };
            let Self { answer, beyond, .. } = against.show(ray, judge, self.query.precision);
            return Found { answer, judged: true, beyond: beyond && !answer };
        }
        Found { answer: self.answer, judged: false, beyond: self.beyond && !self.answer }
    }
}

impl Occluded<'_> {
    fn hear(&mut self, met: Met) {
        match met {
            Met::Yes => self.answer = true,
            Met::Maybe => self.doubt = true,
            Met::Beyond => self.beyond = true,
            Met::No => {}
        }
    }
}

impl Visitor for Occluded<'_> {
    const WANTED: Wanted = Wanted::Met;

    fn see(&mut self, ray: &Ray, id: u32, target: Target<'_>) {
        if self.judging {
            self.hear(judge_pair(ray, target, self.query).0);
        } else {
            self.take(ray, id, target, &solve(ray, target, self.query.precision));
        }
    }

    fn solves(&self) -> bool {
        !self.judging
    }

    fn take(&mut self, ray: &Ray, _: u32, _: Target<'_>, solved: &Solved) {
        self.hear(decide(solved, &finite(ray), self.query, self.query.precision == Precision::Exact).met);
    }

    fn counts(&self, _ray: &Ray) -> Option<f32> {
        (!self.answer).then_some(f32::MAX)
    }

    fn certain(&mut self, _: u32) -> Known {
        self.answer = true;
        Known::Everything
    }
}
