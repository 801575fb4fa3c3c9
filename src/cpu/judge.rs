//! The last instance: pairs that f32 could not decide, in f64 where that proves enough and in integers where not.

use super::decide::{Met, Root, Roots, judge};
use super::double::{DoubleRoots, double_approach};
use crate::exact::{self, ExactRoots};
use crate::query::Query;
use crate::records::{Ray, Sphere};

/// Whether the ray meets the sphere, and at which correctly rounded `t`.
pub(crate) fn judge_pair(ray: &Ray, sphere: &Sphere, query: &Query) -> (Met, f32) {
    judge(&DoubleRoots::new(ray, sphere), ray, query)
        .or_else(|| judge(&ExactRoots::new(ray, sphere), ray, query))
        .unwrap_or((Met::No, f32::INFINITY))
}

/// The correctly rounded `t` of a pair that is known to meet.
pub(crate) fn round_hit(ray: &Ray, sphere: &Sphere, query: &Query) -> f32 {
    judge_pair(ray, sphere, query).1
}

/// Both roots, correctly rounded; infinities beyond f32. The pair has roots.
pub(crate) fn round_roots(ray: &Ray, sphere: &Sphere) -> (f32, f32) {
    let double = DoubleRoots::new(ray, sphere);
    if let (Some(_), Some(enter), Some(exit)) = (double.crossing(), double.round(Root::Enter), double.round(Root::Exit))
    {
        return (enter, exit);
    }
    let exact = ExactRoots::new(ray, sphere);
    let round = |root| exact.round(root).unwrap_or(f32::INFINITY);
    (round(Root::Enter), round(Root::Exit))
}

/// The nearest pass, both numbers correctly rounded.
pub(crate) fn judge_approach(ray: &Ray, sphere: &Sphere) -> (f32, f32) {
    double_approach(ray, sphere).unwrap_or_else(|| exact::approach(ray, sphere))
}
