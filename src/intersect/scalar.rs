//! Scalar intersection: one ray and one target at a given precision.

use super::ellipsoid::mapped;
use super::motion::{Target, scale_moving};
use super::sphere::{Solved, scale, solve_fast, solve_standard};
use crate::query::policy::Precision;
use crate::records::Ray;

/// The ray with its infinite ends replaced by the largest finite numbers, as the f32 intersection requires.
#[inline]
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

/// Converts a saturated `t` to the infinity that it stands for.
#[inline]
pub(crate) fn reported(t: f32) -> f32 {
    if t.abs() >= f32::MAX { f32::INFINITY.copysign(t) } else { t }
}
