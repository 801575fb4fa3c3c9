//! One ray against many spheres: the queries. Twin of `shaders/cast.wgsl`.

use super::decide::{Met, Verdict, decide};
use super::filter::{BLOCK, Columns, may_meet, prepare};
use super::judge::{judge_approach, judge_pair, round_hit, round_roots};
use super::solve::{Solved, scale, solve_approach, solve_fast, solve_standard};
use crate::query::{Precision, Query};
use crate::records::{Approach, Hit, Interval, NO_SPHERE, Ray, Sphere};

/// What a ray is cast against.
#[derive(Clone, Copy)]
pub(crate) enum Against<'a> {
    /// Every sphere of a scene.
    Scene(&'a [Sphere], &'a Columns),
    /// One sphere and its id.
    One(u32, &'a Sphere),
}

impl Against<'_> {
    /// Calls `f` with every sphere the ray may meet, ids ascending, until it returns false.
    fn each(self, ray: &Ray, mut f: impl FnMut(u32, &Sphere) -> bool) {
        match self {
            Against::One(id, sphere) => {
                f(id, sphere);
            }
            Against::Scene(spheres, columns) => {
                let prepared = prepare(ray, columns.largest);
                for start in (0..spheres.len()).step_by(BLOCK) {
                    let mut mask = may_meet(&prepared, columns, start);
                    while mask != 0 {
                        let id = start + mask.trailing_zeros() as usize;
                        mask &= mask - 1;
                        if let Some(sphere) = spheres.get(id)
                            && !f(id as u32, sphere)
                        {
                            return;
                        }
                    }
                }
            }
        }
    }

    fn every(self, mut f: impl FnMut(u32, &Sphere)) {
        match self {
            Against::One(id, sphere) => f(id, sphere),
            Against::Scene(spheres, _) => (0..).zip(spheres).for_each(|(id, sphere)| f(id, sphere)),
        }
    }

    fn sphere(&self, id: u32) -> Option<&Sphere> {
        match self {
            Against::One(own, sphere) => (*own == id).then_some(sphere),
            Against::Scene(spheres, _) => spheres.get(id as usize),
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

    /// Takes a verdict in; ids come in ascending order.
    fn take(&mut self, id: u32, v: &Verdict) {
        match v.met {
            Met::No => {}
            Met::Beyond => self.beyond = true,
            Met::Maybe => self.rivaled_by(v.low),
            Met::Yes if self.id == NO_SPHERE || v.t < self.t => {
                if self.id != NO_SPHERE {
                    self.rivaled_by(self.low);
                }
                (self.t, self.id, self.low, self.high) = (v.t, id, v.low, v.high);
            }
            Met::Yes => {
                // Two that are met exactly at the start tie without doubt: the lower id stays.
                let both_certain = v.low == v.high && self.low == self.high && v.t == self.t;
                if !both_certain {
                    self.rivaled_by(v.low);
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
fn finite(ray: &Ray) -> Ray {
    ray.between(ray.t_min.max(-f32::MAX), ray.t_max.min(f32::MAX))
}

fn solve(ray: &Ray, sphere: &Sphere, precision: Precision) -> Solved {
    let scaled = scale(ray, sphere);
    if precision == Precision::Fast { solve_fast(&scaled) } else { solve_standard(&scaled) }
}

/// A solve's saturated number as the infinity it stands for.
fn reported(t: f32) -> f32 {
    if t.abs() >= f32::MAX { f32::INFINITY.copysign(t) } else { t }
}

/// The closest sphere, with an exact `t` at precision `exact`.
pub(crate) fn closest(ray: &Ray, against: Against<'_>, query: &Query) -> Found<Hit> {
    let exact = query.precision == Precision::Exact;
    let finite = finite(ray);
    let mut best = Best::NONE;
    against.each(ray, |id, sphere| {
        best.take(id, &decide(&solve(ray, sphere, query.precision), &finite, query, exact));
        true
    });
    if exact && best.in_doubt() {
        return closest_exact(ray, against, query);
    }
    let Some(sphere) = against.sphere(best.id) else {
        return Found { answer: Hit::MISS, judged: false, beyond: best.beyond };
    };
    let t = if exact { round_hit(ray, sphere, query) } else { best.t };
    Found { answer: Hit { t, id: best.id }, judged: false, beyond: false }
}

/// The closest sphere by exact arithmetic alone: the smallest correctly rounded `t`, then the lowest id.
pub(crate) fn closest_exact(ray: &Ray, against: Against<'_>, query: &Query) -> Found<Hit> {
    let (mut answer, mut beyond) = (Hit::MISS, false);
    against.each(ray, |id, sphere| {
        match judge_pair(ray, sphere, query) {
            (Met::Yes, t) if t < answer.t => answer = Hit { t, id },
            (Met::Beyond, _) => beyond = true,
            _ => {}
        }
        true
    });
    Found { answer, judged: true, beyond: beyond && !answer.is_hit() }
}

/// Both roots of the closest sphere.
pub(crate) fn interval(ray: &Ray, against: Against<'_>, query: &Query) -> Found<Interval> {
    let Found { answer: hit, judged, beyond } = closest(ray, against, query);
    Found { answer: interval_of(ray, against, query, hit), judged, beyond }
}

/// Both roots of the sphere that was hit.
pub(crate) fn interval_of(ray: &Ray, against: Against<'_>, query: &Query, hit: Hit) -> Interval {
    let Some(sphere) = against.sphere(hit.id) else { return Interval::MISS };
    let (t_enter, t_exit) = if query.precision == Precision::Exact {
        round_roots(ray, sphere)
    } else {
        let solved = solve(ray, sphere, query.precision);
        (reported(solved.t_enter), reported(solved.t_exit))
    };
    Interval { t_enter, t_exit, id: hit.id }
}

/// Whether any sphere is met.
pub(crate) fn occluded(ray: &Ray, against: Against<'_>, query: &Query) -> Found<bool> {
    let exact = query.precision == Precision::Exact;
    let finite = finite(ray);
    let (mut answer, mut doubt, mut beyond) = (false, false, false);
    against.each(ray, |_, sphere| {
        match decide(&solve(ray, sphere, query.precision), &finite, query, exact).met {
            Met::Yes => answer = true,
            Met::Maybe => doubt = true,
            Met::Beyond => beyond = true,
            Met::No => {}
        }
        !answer
    });
    if doubt && !answer {
        return occluded_exact(ray, against, query);
    }
    Found { answer, judged: false, beyond: beyond && !answer }
}

/// Whether any sphere is met, by exact arithmetic alone.
pub(crate) fn occluded_exact(ray: &Ray, against: Against<'_>, query: &Query) -> Found<bool> {
    let (mut answer, mut beyond) = (false, false);
    against.each(ray, |_, sphere| {
        match judge_pair(ray, sphere, query).0 {
            Met::Yes => answer = true,
            Met::Beyond => beyond = true,
            _ => {}
        }
        !answer
    });
    Found { answer, judged: true, beyond: beyond && !answer }
}

/// How far a solved clearance can be off: its own rounding, and the foot's.
fn clearance_bound(ray: &Ray, sphere: &Sphere, t: f32, clearance: f32) -> f32 {
    if t.abs() >= f32::MAX || clearance.abs() >= f32::MAX {
        // A saturated number stands for more than it shows.
        return f32::MAX;
    }
    let size = (ray.origin - sphere.center).abs().element_sum() + sphere.radius;
    let along = ray.direction.abs().element_sum() * t.abs();
    (clearance.abs() * 9.54e-7 + (size + along) * 1.5e-11).min(f32::MAX)
}

/// The nearest pass over all spheres: least clearance, then least `t`, then lowest id.
pub(crate) fn approach(ray: &Ray, against: Against<'_>, query: &Query) -> Found<Approach> {
    let exact = query.precision == Precision::Exact;
    let ends = finite(ray);
    let mut best = Approach { t: f32::MAX, clearance: f32::MAX, id: NO_SPHERE };
    let (mut high, mut low, mut rival) = (f32::MAX, f32::MAX, f32::MAX);
    against.every(|id, sphere| {
        let (t, clearance) = solve_approach(&scale(ray, sphere), ends.t_min, ends.t_max);
        let bound = if exact { clearance_bound(ray, sphere, t, clearance) } else { 0.0 };
        if best.id == NO_SPHERE || (clearance, t) < (best.clearance, best.t) {
            if best.id != NO_SPHERE {
                rival = rival.min(low);
            }
            best = Approach { t, clearance, id };
            (low, high) = (clearance - bound, clearance + bound);
        } else {
            rival = rival.min(clearance - bound);
        }
    });
    let Some(sphere) = against.sphere(best.id) else {
        return Found { answer: Approach::NONE, judged: false, beyond: false };
    };
    if !exact {
        let t = reported(best.t).max(ray.t_min).min(ray.t_max);
        let answer = Approach { t, clearance: reported(best.clearance), id: best.id };
        return Found { answer, judged: false, beyond: false };
    }
    if rival > high && high < f32::MAX {
        let (t, clearance) = judge_approach(ray, sphere);
        return Found { answer: Approach { t, clearance, id: best.id }, judged: false, beyond: false };
    }
    Found { answer: approach_exact(ray, against, high), judged: true, beyond: false }
}

/// The nearest pass by exact arithmetic among the spheres that may be as near as `high`; ties by the rounded clearance, the
/// rounded `t`, the id.
fn approach_exact(ray: &Ray, against: Against<'_>, high: f32) -> Approach {
    let ends = finite(ray);
    let mut answer = Approach::NONE;
    against.every(|id, sphere| {
        let (t, clearance) = solve_approach(&scale(ray, sphere), ends.t_min, ends.t_max);
        if clearance - clearance_bound(ray, sphere, t, clearance) > high {
            return;
        }
        let (t, clearance) = judge_approach(ray, sphere);
        if answer.id == NO_SPHERE || (clearance, t) < (answer.clearance, answer.t) {
            answer = Approach { t, clearance, id };
        }
    });
    answer
}
