//! What can be asked: precisions, policies, and the checks at the door.

use crate::error::{Error, Result};
use crate::records::{Interval, Ray, Sphere};

/// How a ray is treated that starts inside a sphere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Inside {
    /// The ball is solid: it is met at `t_min`.
    #[default]
    Enter,
    /// Only the surface counts: it is met on the way out, at `t_exit`.
    Exit,
    /// A sphere around the start does not count.
    Ignore,
}

impl Interval {
    /// Where it was met, from its roots: what [`Hit::t`](crate::Hit::t) tells of a closest sphere, and what lists of spheres are
    /// ordered by. (With [`Precision::Exact`] lists are ordered by the true roots; a root that is not the ray's start but is rounded to
    /// it may be told otherwise here.)
    pub fn met_at(&self, ray: &Ray, inside: Inside) -> f32 {
        match inside {
            Inside::Enter => self.t_enter.max(ray.t_min),
            Inside::Exit if self.t_enter < ray.t_min => self.t_exit,
            Inside::Exit | Inside::Ignore => self.t_enter,
        }
    }
}

/// Whether an exactly tangent ray meets the sphere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Touch {
    /// It does.
    #[default]
    Hit,
    /// It does not.
    Miss,
}

/// Whether a ray's last point belongs to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ends {
    /// `[t_min, t_max]`.
    #[default]
    Closed,
    /// `[t_min, t_max)`, for stepping frame by frame: empty when the two are equal.
    HalfOpen,
}

/// How exact the answer is; `docs` of [`crate`] state the bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Precision {
    /// One plain f32 solve, its bounds valid on every device.
    Fast,
    /// Error-free corrections: wrong only within 2⁻⁴⁰ of tangency; needs a device that rounds as it should.
    #[default]
    Standard,
    /// The true answer rounded once, identical on every device: doubtful rays are decided by exact arithmetic.
    Exact,
}

/// How spheres with velocities move; those without stay where they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Motion {
    /// Each ray sees them where they are at its own time: a picture at an instant.
    #[default]
    AtTime,
    /// They move while a ray travels, so that t is time: a projectile. Its ends must be finite.
    WithRay,
}

/// What to do with a ray that cannot be used (spheres are always refused).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnBad {
    /// Refuse the whole batch and name the ray.
    #[default]
    Refuse,
    /// Let it miss, and count it in the report.
    Skip,
}

/// The policies of a query; `Query::default()` is what most people mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Query {
    /// Rays that start inside a sphere.
    pub inside: Inside,
    /// Tangent rays.
    pub touch: Touch,
    /// The last point of a ray.
    pub ends: Ends,
    /// How exact.
    pub precision: Precision,
    /// Rays that cannot be used.
    pub on_bad: OnBad,
    /// Spheres that move.
    pub motion: Motion,
}

impl Query {
    /// The default policies at another precision.
    pub fn at(precision: Precision) -> Self {
        Self { precision, ..Self::default() }
    }
}

impl Precision {
    /// All of them, from the quickest to the most exact.
    pub const ALL: [Self; 3] = [Self::Fast, Self::Standard, Self::Exact];

    /// The word used on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Standard => "standard",
            Self::Exact => "exact",
        }
    }
}

/// Checks a sphere: finite, radius not negative.
///
/// # Errors
/// [`Error::BadRecord`] with the index, the field and the value.
pub fn check_sphere(index: u64, sphere: &Sphere) -> Result<()> {
    let bad = |field, value: f32, why: &'static str| Err(Error::record("sphere", index, field, value, why));
    for (field, value) in ["x", "y", "z"].into_iter().zip(sphere.center.to_array()) {
        if !value.is_finite() {
            return bad(field, value, "a centre must be finite");
        }
    }
    if !sphere.radius.is_finite() {
        return bad("r", sphere.radius, "a radius must be finite");
    }
    if sphere.radius < 0.0 {
        return bad("r", sphere.radius, "a radius must not be negative");
    }
    Ok(())
}

/// Checks a ray: finite origin, finite direction that is not zero, ends that are numbers and in order.
///
/// # Errors
/// [`Error::BadRecord`] with the index, the field and the value.
pub fn check_ray(index: u64, ray: &Ray) -> Result<()> {
    let bad = |field, value: String, why: &'static str| Err(Error::record("ray", index, field, value, why));
    for (field, value) in ["ox", "oy", "oz"].into_iter().zip(ray.origin.to_array()) {
        if !value.is_finite() {
            return bad(field, value.to_string(), "an origin must be finite");
        }
    }
    for (field, value) in ["dx", "dy", "dz"].into_iter().zip(ray.direction.to_array()) {
        if !value.is_finite() {
            return bad(field, value.to_string(), "a direction must be finite");
        }
    }
    if ray.direction.to_array() == [0.0; 3] {
        return bad("direction", "0,0,0".into(), "a direction must not be zero");
    }
    for (field, value) in [("t_min", ray.t_min), ("t_max", ray.t_max)] {
        if value.is_nan() {
            return bad(field, value.to_string(), "an end must be a number (infinities are allowed)");
        }
    }
    if ray.t_min > ray.t_max {
        return bad("t_min", format!("{} with t_max {}", ray.t_min, ray.t_max), "t_min must not exceed t_max");
    }
    if ray.t_min == f32::INFINITY {
        return bad("t_min", ray.t_min.to_string(), "a ray must start before +inf");
    }
    if ray.t_max == f32::NEG_INFINITY {
        return bad("t_max", ray.t_max.to_string(), "a ray must end after -inf");
    }
    Ok(())
}

/// Refuses two arrays that belong together and differ in length.
pub(crate) fn same_length(left_name: &'static str, left: usize, right_name: &'static str, right: usize) -> Result<()> {
    if left == right {
        return Ok(());
    }
    Err(Error::LengthsDiffer { left_name, left: left as u64, right_name, right: right as u64 })
}

/// Whether [`check_ray`] has nothing to say, in a tenth of its time: by bits, without a branch.
#[inline]
pub(crate) fn is_usable(ray: &Ray) -> bool {
    let size = |x: f32| x.to_bits() & 0x7fff_ffff;
    let finite = |v: glam::Vec3| {
        let infinite = f32::INFINITY.to_bits();
        (size(v.x) < infinite) & (size(v.y) < infinite) & (size(v.z) < infinite)
    };
    let Ray { origin, t_min, direction: d, t_max } = *ray;
    // An end that is no number is in no order.
    let ends = (t_min <= t_max) & (t_min < f32::INFINITY) & (t_max > f32::NEG_INFINITY);
    finite(origin) & finite(d) & (size(d.x) | size(d.y) | size(d.z) != 0) & ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ray_is_usable_when_nothing_is_wrong_with_it() {
        let values =
            [0.0, -0.0, 1.0, -2.5, f32::MIN_POSITIVE / 4.0, f32::MAX, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
        let mut both = [0; 2];
        let mut check = |ray: Ray| {
            assert_eq!(is_usable(&ray), check_ray(0, &ray).is_ok(), "{ray:?}");
            both[usize::from(is_usable(&ray))] += 1;
        };
        for a in values {
            for b in values {
                for k in 0..3 {
                    let mut vectors = [[1.0, 0.0, 0.0], [0.0; 3]];
                    (vectors[0][k], vectors[1][k]) = (a, b);
                    check(Ray::new(vectors[1], vectors[0]));
                    check(Ray::new(vectors[0], vectors[1]));
                }
                check(Ray::new([0.0; 3], [0.0, 1.0, 0.0]).between(a, b));
            }
        }
        assert!(both[0] > 100 && both[1] > 100, "{both:?}");
    }
}
