//! Scalar intersection: one ray and one target at a given precision.

use super::ellipsoid::to_unit_ball;
use super::motion::{Target, scale_moving};
use super::sphere::{SphereRoots, intersect_compensated, intersect_fast, scale};
use super::surface::SurfaceRoots;
use crate::query::policy::Precision;
use crate::records::Ray;

/// The ray with its infinite ends replaced by the largest finite numbers, as the f32 intersection requires.
#[inline]
pub(crate) fn with_finite_ends(ray: &Ray) -> Ray {
    ray.between(ray.t_min.max(-f32::MAX), ray.t_max.min(f32::MAX))
}

pub(crate) fn intersect(ray: &Ray, target: Target<'_>, precision: Precision) -> SphereRoots {
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
    match (target.motion.is_some() || target.map.is_some(), precision) {
        (false, Precision::Fast) => intersect_fast::<false>(&scaled),
        (false, _) => intersect_compensated::<false>(&scaled),
        (true, Precision::Fast) => intersect_fast::<true>(&scaled),
        (true, _) => intersect_compensated::<true>(&scaled),
    }
}

/// Converts a saturated `t` to the infinity that it stands for.
#[inline]
pub(crate) fn saturated_to_infinity(t: f32) -> f32 {
    if t.abs() >= f32::MAX { f32::INFINITY.copysign(t) } else { t }
}
