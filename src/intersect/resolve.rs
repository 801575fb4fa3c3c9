//! Intersection of one ray and one target: in f32, and exactly for pairs that f32 leaves undecided, in f64 if its error bounds suffice,
//! otherwise with integers.

use super::classify::{HitClass, Root, Roots, classify_exact};
use super::double::{DoubleRoots, double_approach};
use super::ellipsoid::to_unit_ball;
use super::exact::{self, ExactRoots};
use super::motion::{Target, scale_moving};
use super::sphere::{SphereRoots, intersect_compensated, scale};
use super::surface::SurfaceRoots;
use crate::query::policy::Query;
use crate::records::Ray;

/// The ray with its infinite ends replaced by the largest finite numbers, as the f32 intersection requires.
#[inline]
pub(crate) fn with_finite_ends(ray: &Ray) -> Ray {
    ray.between(ray.t_min.max(-f32::MAX), ray.t_max.min(f32::MAX))
}

pub(crate) fn intersect(ray: &Ray, target: Target<'_>) -> SphereRoots {
    let scaled = match &target.motion {
        None => scale(ray, target.sphere),
        Some(moves) => match SurfaceRoots::of_start(ray, target) {
            Some(roots) => return roots.as_sphere_roots(),
            None => scale_moving(ray, target.sphere, moves),
        },
    };
    let scaled = match target.map {
        None => scaled,
        Some(map) => to_unit_ball(&scaled, map),
    };
    match target.motion.is_some() || target.map.is_some() {
        false => intersect_compensated::<false>(&scaled),
        true => intersect_compensated::<true>(&scaled),
    }
}

/// Converts a saturated `t` to the infinity that it stands for.
#[inline]
pub(crate) fn saturated_to_infinity(t: f32) -> f32 {
    if t.abs() >= f32::MAX { f32::INFINITY.copysign(t) } else { t }
}

/// Classifies a pair exactly: whether the ray hits the sphere, and the correctly rounded `t`.
pub(crate) fn resolve_pair(ray: &Ray, target: Target<'_>, query: &Query) -> (HitClass, f32) {
    if let Some(roots) = SurfaceRoots::of_start(ray, target) {
        return classify_exact(&roots, ray, query).unwrap_or((HitClass::Miss, f32::INFINITY));
    }
    classify_exact(&DoubleRoots::new(ray, target), ray, query)
        .or_else(|| classify_exact(&ExactRoots::of(ray, target), ray, query))
        .unwrap_or((HitClass::Miss, f32::INFINITY))
}

/// Correctly rounded `t` of a pair that is known to be a hit.
pub(crate) fn round_hit(ray: &Ray, target: Target<'_>, query: &Query) -> f32 {
    resolve_pair(ray, target, query).1
}

/// Both roots, correctly rounded; infinities outside the f32 range. The pair must have roots.
pub(crate) fn round_roots(ray: &Ray, target: Target<'_>) -> (f32, f32) {
    if let Some(roots) = SurfaceRoots::of_start(ray, target) {
        let round = |root| roots.round(root).unwrap_or(f32::INFINITY);
        return (round(Root::Enter), round(Root::Exit));
    }
    let double = DoubleRoots::new(ray, target);
    if let (Some(_), Some(enter), Some(exit)) =
        (double.discriminant_sign(), double.round(Root::Enter), double.round(Root::Exit))
    {
        return (enter, exit);
    }
    let exact = ExactRoots::of(ray, target);
    let round = |root| exact.round(root).unwrap_or(f32::INFINITY);
    (round(Root::Enter), round(Root::Exit))
}

/// Closest approach: parameter and clearance, both correctly rounded.
pub(crate) fn resolve_approach(ray: &Ray, target: Target<'_>) -> (f32, f32) {
    let double = if target.motion.is_none() { double_approach(ray, target.sphere) } else { None };
    double.unwrap_or_else(|| exact::approach_of(ray, target))
}
