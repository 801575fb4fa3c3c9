//! Ray generators for points: all rays in one direction, or all towards one target. Twin: `shaders/raygen.wgsl`.

use glam::Vec3;

use crate::error::{Error, Result};
use crate::math::float::{exponent, power_of_two};
use crate::query::validate::{commas, not_finite, usage};
use crate::records::Ray;

/// One ray per point, all in one direction, with `t` in `[0, ∞)`. Examples: towards the sun, or straight down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parallel<'a> {
    /// Origins of the rays; finite.
    pub points: &'a [[f32; 3]],
    /// Direction of all rays: finite and not zero. Its length is the unit of `t`.
    pub direction: [f32; 3],
}

/// One segment per point, to a common target, with `t` in `[0, 1]`. Example: is the lamp visible from here?
///
/// The direction is `target − point`, rounded once. The target itself, at `t = 1`, belongs to the ray. With a radius, the target is a
/// sphere and the ray ends before it, so that the sphere may be in the scene without blocking the ray:
/// `t_max = 1 − radius / |direction| − 2⁻¹⁷`. The last term covers the error of `fast`, as a fraction of the distance. `t_max` is 0 for
/// a point inside the sphere, or outside it by no more than that. The quotient is computed as `radius · s · y`. Here s is the power
/// of two that scales the longest coordinate of the direction to [1, 2), and y is the inverse square root of the squared length after
/// scaling, by three Newton steps from the bits `0x5f3759df − (bits >> 1)`. These are only sums and products, which every device rounds
/// alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Toward<'a> {
    /// Origins of the rays; finite, and not equal to the target.
    pub points: &'a [[f32; 3]],
    /// Common target of the rays; finite.
    pub target: [f32; 3],
    /// Radius of a sphere around the target, before which the rays end: finite and not negative.
    pub radius: f32,
}

/// Ray origins and their common target or direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PointRays<'a> {
    pub(crate) points: &'a [[f32; 3]],
    pub(crate) target: PointTarget,
}

/// Common direction or common target of the rays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PointTarget {
    Along { direction: Vec3, t_max: f32 },
    At { target: Vec3, radius: f32 },
}

impl PointRays<'_> {
    #[inline]
    pub(crate) fn ray(&self, i: usize) -> Ray {
        let origin = Vec3::from(self.points[i]);
        match self.target {
            PointTarget::Along { direction, t_max } => Ray::new(origin, direction).between(0.0, t_max),
            PointTarget::At { target, radius } => {
                let direction = target - origin;
                Ray::new(origin, direction).between(0.0, end(direction, radius))
            }
        }
    }

    #[inline]
    pub(crate) fn check_one(&self, i: usize, index: u64) -> Result<()> {
        let point = &self.points[i];
        check_point(index, point)?;
        let PointTarget::At { target, .. } = self.target else { return Ok(()) };
        let direction = target - Vec3::from(*point);
        if direction == Vec3::ZERO {
            // Not the coordinates: the caller may have subtracted an origin.
            return bad(index, "x,y,z", "the target", "the direction of its ray must not be zero");
        }
        match direction.to_array().iter().position(|away| !away.is_finite()) {
            Some(k) => {
                let why = "the distance to the target exceeds the largest f32, 3.4e38";
                bad(index, ["x", "y", "z"][k], point[k], why)
            }
            None => Ok(()),
        }
    }
}

/// Checks that point `index` is finite.
///
/// # Errors
/// [`Error::BadRecord`] with the index, the field and the value.
pub fn check_point(index: u64, point: &[f32; 3]) -> Result<()> {
    match not_finite(["x", "y", "z"], *point) {
        Some((field, value)) => bad(index, field, value, "a point must be finite"),
        None => Ok(()),
    }
}

fn bad(index: u64, field: &'static str, value: impl ToString, why: &'static str) -> Result<()> {
    Err(Error::record("point", index, field, value, why))
}

impl PointTarget {
    pub(crate) fn check(&self) -> Result<()> {
        match *self {
            Self::Along { direction, .. } if !direction.is_finite() => {
                usage(format!("parallel: the direction is {}: it must be finite", commas(direction)))
            }
            Self::Along { direction: Vec3::ZERO, .. } => usage("parallel: the direction is 0,0,0: it must not be zero"),
            Self::At { target, .. } if !target.is_finite() => {
                usage(format!("toward: the target is {}: it must be finite", commas(target)))
            }
            Self::At { radius, .. } if !(radius.is_finite() && radius >= 0.0) => {
                usage(format!("toward: the radius is {radius}: it must be finite and not negative"))
            }
            _ => Ok(()),
        }
    }
}

/// Fraction of the distance by which a ray ends before a target sphere: 128 u, slightly more than the error of `fast` there.
const MARGIN: f32 = 1.0 / 131_072.0;

/// `t_max` of a ray towards the centre of a sphere; `direction` leads to the centre.
fn end(direction: Vec3, radius: f32) -> f32 {
    if radius == 0.0 {
        return 1.0;
    }
    let e = exponent(direction.abs().max_element()).clamp(-126, 126);
    // The radius exceeds the distance.
    if exponent(radius) > e + 3 {
        return 0.0;
    }
    let s = power_of_two(-e);
    let (x, y, z) = (direction.x * s, direction.y * s, direction.z * s);
    let square = (x * x + y * y) + z * z;
    let half = 0.5 * square;
    let mut y = f32::from_bits(0x5f37_59df - (square.to_bits() >> 1));
    for _ in 0..3 {
        y *= 1.5 - (half * y) * y;
    }
    let t = (1.0 - (radius * s) * y) - MARGIN;
    if t > 0.0 { t } else { 0.0 }
}
