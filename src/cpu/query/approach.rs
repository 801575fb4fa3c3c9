//! Collector of the closest approach of a ray to any of several spheres. Twin of `shaders/query/approach_state.wgsl`.

use super::kind::RayQuery;
use crate::batch::sphere_set::SphereAttributes;
use crate::cpu::collector::{HitCollector, Resolved};
use crate::cpu::query::kinds as queries;
use crate::cpu::view::Candidates;
use crate::intersect::motion::{Target, scale_moving};
use crate::intersect::resolve::{resolve_approach, saturated_to_infinity, with_finite_ends};
use crate::intersect::sphere::{closest_approach, scale};
use crate::query::policy::{Precision, Query};
use crate::records::{Approach, NO_SPHERE, Ray};

/// Parameter of the closest approach to one sphere, and the clearance there.
fn nearest_pass(ray: &Ray, target: Target<'_>, t_min: f32, t_max: f32) -> (f32, f32) {
    match &target.motion {
        None => closest_approach::<false>(&scale(ray, target.sphere), t_min, t_max),
        Some(moves) => closest_approach::<true>(&scale_moving(ray, target.sphere, moves), t_min, t_max),
    }
}

/// Error bound of a computed clearance: its own rounding and that of the perpendicular foot.
fn clearance_bound(ray: &Ray, target: Target<'_>, t: f32, clearance: f32) -> f32 {
    if t.abs() >= f32::MAX || clearance.abs() >= f32::MAX {
        // A saturated number may stand for a larger one.
        return f32::MAX;
    }
    let sphere = target.sphere;
    let mut size = (ray.origin - sphere.center).abs().element_sum() + sphere.radius;
    let mut speed_sum = ray.direction.abs().element_sum();
    if let Some(moves) = &target.motion {
        let speed = moves.velocity.abs().element_sum();
        // Not the difference of the two: the position error grows with each of them.
        size = ray.origin.abs().element_sum() + sphere.center.abs().element_sum() + sphere.radius + moves.radius;
        size += speed * moves.time.abs();
        speed_sum += if moves.moves_with_ray { speed } else { 0.0 };
    }
    // The ray's ends are compared with all digits of the foot's t. Only a subnormal t is rounded before: `step` allows for a difference of
    // 2⁻¹⁴⁹ in t.
    let step = speed_sum * f32::from_bits(1);
    (clearance.abs() * 9.54e-7 + (size + speed_sum * t.abs()) * 1.5e-11 + step).min(f32::MAX)
}

/// Collects the closest approach to all spheres: least clearance, then least `t`, then lowest id.
pub(crate) struct ClosestApproach<'a> {
    query: &'a Query,
    best: Approach,
    low: f32,
    high: f32,
    /// The least clearance that any other sphere may have.
    rival: f32,
}

impl HitCollector for ClosestApproach<'_> {
    const IS_APPROACH: bool = true;

    fn test(&mut self, ray: &Ray, id: u32, target: Target<'_>) {
        let ends = with_finite_ends(ray);
        let (t, clearance) = nearest_pass(ray, target, ends.t_min, ends.t_max);
        let exact = self.query.precision == Precision::Exact;
        let bound = if exact { clearance_bound(ray, target, t, clearance) } else { 0.0 };
        if self.best.id == NO_SPHERE || (clearance, t, id) < (self.best.clearance, self.best.t, self.best.id) {
            if self.best.id != NO_SPHERE {
                self.rival = self.rival.min(self.low);
            }
            self.best = Approach { t, clearance, id };
            (self.low, self.high) = (clearance - bound, clearance + bound);
        } else {
            self.rival = self.rival.min(clearance - bound);
        }
    }

    fn cutoff(&self, _ray: &Ray) -> Option<f32> {
        Some(self.high)
    }
}

/// Collects the closest approach by exact arithmetic, among the spheres that may be as near as `high`: least rounded clearance, then least
/// rounded `t`, then lowest id.
struct ExactClosestApproach {
    high: f32,
    answer: Approach,
}

impl HitCollector for ExactClosestApproach {
    const IS_APPROACH: bool = true;

    fn test(&mut self, ray: &Ray, id: u32, target: Target<'_>) {
        let ends = with_finite_ends(ray);
        let (t, clearance) = nearest_pass(ray, target, ends.t_min, ends.t_max);
        if clearance - clearance_bound(ray, target, t, clearance) > self.high {
            return;
        }
        let (t, clearance) = resolve_approach(ray, target);
        let Approach { t: best_t, clearance: best, id: best_id } = self.answer;
        if best_id == NO_SPHERE || (clearance, t, id) < (best, best_t, best_id) {
            self.answer = Approach { t, clearance, id };
        }
    }

    fn cutoff(&self, _ray: &Ray) -> Option<f32> {
        Some(self.high)
    }
}

impl RayQuery for queries::Approach {
    type Record = Approach;
    const MISS: Approach = Approach::NONE;
    const CANNOT_BLOCK: Option<&'static str> = Some("approach");
    type Collector<'a> = ClosestApproach<'a>;
    #[inline]
    fn is_hit(record: &Approach) -> bool {
        record.clearance <= 0.0
    }
    #[inline]
    fn collector<'a>(query: &'a Query, _: &SphereAttributes) -> ClosestApproach<'a> {
        let best = Approach { t: f32::MAX, clearance: f32::MAX, id: NO_SPHERE };
        ClosestApproach { query, best, low: f32::MAX, high: f32::MAX, rival: f32::MAX }
    }
    #[inline]
    fn finish<'c>(
        collector: &ClosestApproach<'_>,
        ray: &Ray,
        candidates: impl Fn() -> Candidates<'c>,
    ) -> Resolved<Approach> {
        let &ClosestApproach { query, best, high, rival, .. } = collector;
        let resolved = |record, exact| Resolved { record, exact, overflowed: false };
        let Some(target) = candidates().target(best.id) else { return resolved(Approach::NONE, false) };
        if query.precision != Precision::Exact {
            let t = saturated_to_infinity(best.t).max(ray.t_min).min(ray.t_max);
            return resolved(Approach { t, clearance: saturated_to_infinity(best.clearance), id: best.id }, false);
        }
        if rival > high && high < f32::MAX {
            let (t, clearance) = resolve_approach(ray, target);
            return resolved(Approach { t, clearance, id: best.id }, false);
        }
        let exact = ExactClosestApproach { high, answer: Approach::NONE };
        resolved(candidates().collect(ray, exact, query).answer, true)
    }
}
