//! Classification: turns the roots of one ray and one sphere into a result, according to the policies of the query.
//! [`classify`] is the twin of `shaders/intersect/classify.wgsl`. [`classify_exact`] applies the same rules to roots that can be compared
//! exactly.

use std::cmp::Ordering;

use super::sphere::SphereRoots;
use crate::query::policy::{Ends, Inside, Query, Touch};
use crate::records::Ray;

/// Result of the classification of one ray and one sphere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HitClass {
    Miss,
    Hit,
    /// Undecided within the error bounds. Returned only by [`classify`] with `use_bounds`.
    Undecided,
    /// Overflow: a miss only because `t` exceeds the largest f32.
    Overflow,
}

/// Classification of one sphere, with the parameter of the hit and the interval that contains the true parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Classification {
    pub(crate) class: HitClass,
    pub(crate) t: f32,
    pub(crate) t_lower: f32,
    pub(crate) t_upper: f32,
}

impl Classification {
    const MISS: Self = Self { class: HitClass::Miss, t: f32::MAX, t_lower: f32::MAX, t_upper: f32::MAX };

    fn undecided(low: f32) -> Self {
        Self { class: HitClass::Undecided, t: low, t_lower: low, t_upper: f32::MAX }
    }
}

/// The interval `t ± bound`, clamped to finite f32.
#[inline(always)]
fn widen(t: f32, bound: f32) -> (f32, f32) {
    // A bound that exceeds f32 says nothing about `t`.
    if bound >= f32::MAX {
        return (-f32::MAX, f32::MAX);
    }
    (t.max(bound - f32::MAX) - bound, t.min(f32::MAX - bound) + bound)
}

/// Classifies a pair by its computed roots. With `use_bounds` false, the roots are taken as exact. With `use_bounds` true, the result is `Hit`
/// or `Miss` only if the error bounds prove it. The ends of `ray` must be finite.
#[inline(always)]
pub(crate) fn classify(solved: &SphereRoots, ray: &Ray, query: &Query, use_bounds: bool) -> Classification {
    let mut enter = (solved.t_enter, solved.t_enter);
    let mut exit = (solved.t_exit, solved.t_exit);
    if use_bounds {
        if solved.disc < -solved.disc_bound {
            return Classification::MISS;
        }
        if solved.disc <= solved.disc_bound {
            // The roots, if any, lie within `foot ± foot_bound`.
            let (low, high) = widen(solved.foot, solved.foot_bound);
            let outside = high < ray.t_min || low > ray.t_max;
            return if outside { Classification::MISS } else { Classification::undecided(low.max(ray.t_min)) };
        }
        enter = widen(solved.t_enter, solved.enter_bound);
        exit = widen(solved.t_exit, solved.exit_bound);
    } else if solved.disc < 0.0 || (solved.disc == 0.0 && query.touch == Touch::Miss) {
        return Classification::MISS;
    }
    // `t` is one of the roots or the start of the ray. The interval from `t_lower` to `t_upper` contains the true parameter.
    let (mut t, mut low, mut high) = (solved.t_enter, enter.0, enter.1);
    match query.inside {
        Inside::Enter => {
            if exit.1 < ray.t_min {
                return Classification::MISS;
            }
            if exit.0 < ray.t_min {
                return Classification::undecided(ray.t_min);
            }
            (t, low, high) = (t.max(ray.t_min), low.max(ray.t_min), high.max(ray.t_min));
        }
        Inside::Exit | Inside::Ignore => {
            if enter.0 < ray.t_min {
                if enter.1 >= ray.t_min {
                    return Classification::undecided(ray.t_min);
                }
                if query.inside == Inside::Ignore || exit.1 < ray.t_min {
                    return Classification::MISS;
                }
                if exit.0 < ray.t_min {
                    return Classification::undecided(ray.t_min);
                }
                (t, low, high) = (solved.t_exit, exit.0, exit.1);
            }
        }
    }
    let half_open = query.ends == Ends::HalfOpen;
    if use_bounds && t <= -f32::MAX {
        // `t` lies below the f32 range. The ends were made finite, so it is unknown whether the ray starts that far back.
        return Classification::undecided(low);
    }
    if low > ray.t_max || (half_open && low >= ray.t_max) {
        // If the ray has no end, a root above the f32 range is an overflow, not a root behind the end.
        let beyond = ray.t_max >= f32::MAX && t >= f32::MAX;
        return if beyond && !use_bounds {
            Classification { class: HitClass::Overflow, ..Classification::MISS }
        } else {
            Classification::MISS
        };
    }
    if high > ray.t_max || (half_open && high >= ray.t_max) {
        return Classification::undecided(low);
    }
    // A saturated root lies outside the f32 range, or within its bound of the end of that range.
    if low <= -f32::MAX || high >= f32::MAX || t.abs() >= f32::MAX {
        return if use_bounds {
            Classification::undecided(low)
        } else {
            Classification { class: HitClass::Overflow, ..Classification::MISS }
        };
    }
    Classification { class: HitClass::Hit, t, t_lower: low, t_upper: high }
}

/// Selects one of the two roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// The smaller root.
    Enter,
    /// The larger root.
    Exit,
}

/// Roots whose comparisons are exact. A method returns `None` if the precision does not suffice.
pub trait Roots {
    /// Sign of the discriminant.
    fn discriminant_sign(&self) -> Option<Ordering>;
    /// Compares a root with a number.
    fn compare(&self, root: Root, t: f32) -> Option<Ordering>;
    /// The root rounded once to f32; an infinity if it lies outside the f32 range.
    fn round(&self, root: Root) -> Option<f32>;
}

/// Classifies exact roots: a miss, a hit at a correctly rounded `t`, or an overflow. Returns `None` if the precision of `roots` does not
/// suffice.
pub(crate) fn classify_exact(roots: &impl Roots, ray: &Ray, query: &Query) -> Option<(HitClass, f32)> {
    const NO: Option<(HitClass, f32)> = Some((HitClass::Miss, f32::INFINITY));
    if ray.t_min > ray.t_max {
        return NO;
    }
    let crossing = roots.discriminant_sign()?;
    if crossing == Ordering::Less || (crossing == Ordering::Equal && query.touch == Touch::Miss) {
        return NO;
    }
    // `None` stands for the start of the ray, which lies inside the sphere.
    let root = if roots.compare(Root::Enter, ray.t_min)? != Ordering::Less {
        Some(Root::Enter)
    } else if query.inside == Inside::Ignore || roots.compare(Root::Exit, ray.t_min)? == Ordering::Less {
        return NO;
    } else if query.inside == Inside::Exit {
        Some(Root::Exit)
    } else {
        None
    };
    let past_end = match (root, query.ends) {
        (Some(root), Ends::Closed) => roots.compare(root, ray.t_max)? == Ordering::Greater,
        (Some(root), Ends::HalfOpen) => roots.compare(root, ray.t_max)? != Ordering::Less,
        (None, Ends::Closed) => false,
        (None, Ends::HalfOpen) => ray.t_min >= ray.t_max,
    };
    if past_end {
        return NO;
    }
    let t = match root {
        Some(root) => roots.round(root)?,
        None => ray.t_min,
    };
    Some(if t.is_infinite() { (HitClass::Overflow, f32::INFINITY) } else { (HitClass::Hit, t) })
}
