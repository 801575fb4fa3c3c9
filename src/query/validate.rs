//! Validation of spheres, rays and points.

use glam::DVec3;

use crate::error::{Error, Result};
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{SimdLevel, multiversion};
use crate::records::{Ray, Sphere};

/// The first part of a vector that is not finite, with its name.
pub(crate) fn not_finite(names: [&'static str; 3], v: impl Into<[f32; 3]>) -> Option<(&'static str, f32)> {
    names.into_iter().zip(v.into()).find(|(_, part)| !part.is_finite())
}

/// A vector as errors show it.
pub(crate) fn commas(v: impl Into<[f32; 3]>) -> String {
    let [x, y, z] = v.into();
    format!("{x},{y},{z}")
}

/// Checks a sphere: finite, radius not negative.
#[inline]
pub(crate) fn check_sphere(index: u64, sphere: &Sphere) -> Result<()> {
    if is_usable_sphere(sphere) { Ok(()) } else { Err(bad_sphere(index, sphere)) }
}

/// Whether `check_sphere` finds no error.
#[inline]
pub(crate) fn is_usable_sphere(sphere: &Sphere) -> bool {
    let Sphere { center, radius } = *sphere;
    center.is_finite() & (0.0..f32::INFINITY).contains(&radius)
}

#[cold]
fn bad_sphere(index: u64, sphere: &Sphere) -> Error {
    let bad = |field, value: f32, why: &'static str| Error::record("sphere", index, field, value, why);
    match not_finite(["x", "y", "z"], sphere.center) {
        Some((field, value)) => bad(field, value, "a centre must be finite"),
        None if sphere.radius.is_finite() => bad("r", sphere.radius, "a radius must not be negative"),
        None => bad("r", sphere.radius, "a radius must be finite"),
    }
}

/// Checks a ray: finite origin, finite direction that is not zero, ends that are numbers and in order.
pub(crate) fn check_ray(index: u64, ray: &Ray) -> Result<()> {
    let bad = |field, value: String, why: &'static str| Err(Error::record("ray", index, field, value, why));
    if let Some((field, value)) = not_finite(["ox", "oy", "oz"], ray.origin) {
        return bad(field, value.to_string(), "an origin must be finite");
    }
    if let Some((field, value)) = not_finite(["dx", "dy", "dz"], ray.direction) {
        return bad(field, value.to_string(), "a direction must be finite");
    }
    if ray.direction.to_array() == [0.0; 3] {
        return bad("direction", "0,0,0".into(), "a direction must not be zero");
    }
    for (field, value) in [("t_min", ray.t_min), ("t_max", ray.t_max)] {
        if value.is_nan() {
            return bad(field, value.to_string(), "t_min and t_max must be numbers (infinities are allowed)");
        }
    }
    if ray.t_min > ray.t_max {
        return bad("t_min", format!("{} with t_max {}", ray.t_min, ray.t_max), "t_min must not exceed t_max");
    }
    if ray.t_min == f32::INFINITY {
        return bad("t_min", ray.t_min.to_string(), "t_min must be less than inf");
    }
    if ray.t_max == f32::NEG_INFINITY {
        return bad("t_max", ray.t_max.to_string(), "t_max must be greater than -inf");
    }
    Ok(())
}

/// Whether `check_ray` finds no error, in a tenth of its time: tests bits, without a branch.
#[inline]
pub(crate) fn is_usable(ray: &Ray) -> bool {
    let size = |x: f32| x.to_bits() & 0x7fff_ffff;
    let finite = |v: glam::Vec3| {
        let infinite = f32::INFINITY.to_bits();
        (size(v.x) < infinite) & (size(v.y) < infinite) & (size(v.z) < infinite)
    };
    let Ray { origin, t_min, direction: d, t_max } = *ray;
    // A NaN end fails every comparison.
    let ends = (t_min <= t_max) & (t_min < f32::INFINITY) & (t_max > f32::NEG_INFINITY);
    finite(origin) & finite(d) & (size(d.x) | size(d.y) | size(d.z) != 0) & ends
}

multiversion! {
    /// Whether all rays are [usable](is_usable): eight at a time.
    are_usable, (rays: &[Ray]) -> bool
}

#[inline(always)]
fn are_usable(lanes: impl Lanes, rays: &[Ray]) -> bool {
    let (eights, left) = rays.as_chunks::<8>();
    let mut usable = [true; 8];
    for eight in eights {
        let [x, y, z, t_min, dx, dy, dz, t_max] =
            lanes.narrow().transpose(bytemuck::cast_ref::<_, [[f32; 8]; 8]>(eight).each_ref());
        for i in 0..8 {
            let finite = |v: f32| v.abs() < f32::INFINITY;
            let bits = |v: f32| v.to_bits() & 0x7fff_ffff;
            usable[i] &= finite(x[i]) & finite(y[i]) & finite(z[i]) & finite(dx[i]) & finite(dy[i]) & finite(dz[i]);
            usable[i] &= bits(dx[i]) | bits(dy[i]) | bits(dz[i]) != 0;
            usable[i] &= (t_min[i] <= t_max[i]) & (t_min[i] < f32::INFINITY) & (t_max[i] > f32::NEG_INFINITY);
        }
    }
    usable == [true; 8] && left.iter().all(is_usable)
}

/// Largest coordinate of a point. Squares of ratios then stay finite in f32.
pub(crate) const MAX_LENGTH: f64 = 1e30;

pub(crate) fn check_point(place: &str, field: &str, v: DVec3) -> Result<()> {
    if v.to_array().iter().all(|x| x.abs() <= MAX_LENGTH) {
        return Ok(());
    }
    usage(format!("{place}: {field} is {}: coordinates must be between -1e30 and 1e30", text(v)))
}

pub(crate) fn text(v: DVec3) -> String {
    format!("[{}, {}, {}]", v.x, v.y, v.z)
}

pub(crate) fn usage<T>(message: impl Into<String>) -> Result<T> {
    Err(Error::InvalidArgument(message.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usable_rays_are_those_that_pass_every_check() {
        let values =
            [0.0, -0.0, 1.0, -2.5, f32::MIN_POSITIVE / 4.0, f32::MAX, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
        let mut both = [0; 2];
        let mut check = |ray: Ray| {
            assert_eq!(is_usable(&ray), check_ray(0, &ray).is_ok(), "{ray:?}");
            both[usize::from(is_usable(&ray))] += 1;
            // Among those that are checked eight at a time, and among the rest.
            let mut rays = [Ray::new([0.0; 3], [0.0, 1.0, 0.0]); 11];
            rays[(both[0] + both[1]) % 11] = ray;
            for level in SimdLevel::all() {
                assert_eq!(level.are_usable(&rays), is_usable(&ray), "{ray:?} at {}", level.name());
            }
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
