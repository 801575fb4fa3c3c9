//! Detects queries that need subnormal numbers: those for which a device that flushes them to 0 could give another result than exact
//! arithmetic.
//!
//! If f32 values are 0 or at least 2⁻¹⁰⁰, their sums and differences are 0 or at least 2⁻¹²³, and so are the rounding errors of these: none
//! of them is subnormal. The intersection test then scales lengths and directions to near 1, where 2⁻¹²⁶ is negligible compared with its
//! bounds. What can still be subnormal are roots, t = length / |direction|, and their bounds, some 2⁻⁴⁰ of a radius over |direction|: they
//! are normal if a radius is at least 2⁻⁷⁰ |direction|. Closest approaches have bounds of 2⁻⁴⁰ of the distance to the centre, which is at
//! least 2⁻²³ of the least coordinate. All tests here are conservative.

use glam::Vec3;
use rayon::prelude::*;

use crate::records::{Ray, RayAttributes, Sphere};

/// Least magnitude of numbers that need no subnormals, unless they are 0: 2⁻¹⁰⁰.
const MIN_SAFE: f32 = 1.0 / (1_u128 << 100) as f32;
/// The same limit for closest approaches: 2⁻³⁰.
const MIN_SAFE_APPROACH: f32 = 1.0 / (1 << 30) as f32;
/// Largest length of a direction, in units of the least radius: 2⁷⁰.
const MAX_DIRECTION: f32 = (1_u128 << 70) as f32;
/// Largest length of a direction for closest approaches: 2²⁷.
const MAX_DIRECTION_APPROACH: f32 = (1 << 27) as f32;
/// Least radius of moving spheres: 2⁻⁶⁰. A displacement, velocity times time, may be subnormal although neither factor is.
const MIN_MOVING_RADIUS: f32 = 1.0 / (1_u64 << 60) as f32;

/// Magnitudes of a scene's numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Magnitudes {
    /// Least magnitude of a coordinate, radius or velocity component that is not 0; infinite if there is none.
    min_nonzero: f32,
    /// The least radius that is not 0; infinite if there is none.
    radius: f32,
    /// Whether there are radii of 0.
    has_points: bool,
    /// Largest magnitude of a velocity component.
    speed: f32,
}

impl Magnitudes {
    const NONE: Self = Self { min_nonzero: f32::INFINITY, radius: f32::INFINITY, has_points: false, speed: 0.0 };

    fn of(sphere: &Sphere) -> Self {
        let Sphere { center, radius } = *sphere;
        Self {
            min_nonzero: min_nonzero([center.x, center.y, center.z, radius]),
            radius: min_nonzero([radius]),
            has_points: radius == 0.0,
            speed: 0.0,
        }
    }

    fn union(self, other: Self) -> Self {
        Self {
            min_nonzero: self.min_nonzero.min(other.min_nonzero),
            radius: self.radius.min(other.radius),
            has_points: self.has_points || other.has_points,
            speed: self.speed.max(other.speed),
        }
    }

    /// Magnitudes of all spheres of a scene.
    pub(crate) fn of_scene(spheres: &[Sphere], velocities: Option<&[Vec3]>) -> Self {
        let still = spheres.par_iter().map(Self::of).reduce(|| Self::NONE, Self::union);
        let moving = |sizes: Self, v: &Vec3| Self {
            min_nonzero: sizes.min_nonzero.min(min_nonzero(v.to_array())),
            speed: sizes.speed.max(v.abs().max_element()),
            ..sizes
        };
        velocities.into_iter().flatten().fold(still, moving)
    }

    /// Whether a device that flushes subnormal numbers to 0 could give another result than exact arithmetic for every ray. `moves`: the
    /// spheres have velocities; `is_approach`: the query is `approach`.
    pub(crate) fn need_subnormals(&self, moves: bool, is_approach: bool) -> bool {
        self.min_nonzero < if is_approach { MIN_SAFE_APPROACH } else { MIN_SAFE }
            || (moves && self.radius < MIN_MOVING_RADIUS)
    }

    /// The least magnitude of a ray's numbers that are not 0, and the largest component of its direction, for which the device gives the
    /// result of exact arithmetic. `radius` is that of the ray.
    #[inline]
    pub(crate) fn ray_limits(&self, radius: f32, is_approach: bool) -> [f32; 2] {
        if is_approach {
            return [MIN_SAFE_APPROACH, MAX_DIRECTION_APPROACH];
        }
        let least = if self.has_points { self.radius.min(min_nonzero([radius])) } else { self.radius };
        [MIN_SAFE, least * MAX_DIRECTION]
    }

    /// The same for one ray. Twin of `needs_subnormals` in `shaders/encode/write_results.wgsl`.
    #[inline]
    pub(crate) fn ray_needs_subnormals(&self, ray: &Ray, attributes: &RayAttributes, is_approach: bool) -> bool {
        let Ray { origin: o, direction: d, t_min, t_max } = *ray;
        let [smallest, longest] = self.ray_limits(attributes.radius, is_approach);
        let numbers = [o.x, o.y, o.z, d.x, d.y, d.z, t_min, t_max, attributes.time, attributes.radius];
        // Without branches: every ray of a batch is tested.
        let low = attributes.direction_low.into_iter().fold(false, |any, x| any | is_below(x, f32::MIN_POSITIVE));
        let long = d.x.abs().max(d.y.abs()).max(d.z.abs()) + self.speed > longest;
        numbers.into_iter().fold(low | long, |any, x| any | is_below(x, smallest))
    }
}

/// Whether a number is smaller than a limit in magnitude, but not 0.
#[inline]
fn is_below(x: f32, limit: f32) -> bool {
    // Without the sign bit, bits are ordered as magnitudes. Those of 0 wrap around.
    (x.to_bits() << 1).wrapping_sub(1) < (limit.to_bits() << 1) - 1
}

/// Least magnitude of the numbers that are not 0; infinite if there is none.
fn min_nonzero<const N: usize>(numbers: [f32; N]) -> f32 {
    numbers.into_iter().map(f32::abs).filter(|x| *x > 0.0).fold(f32::INFINITY, f32::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair_needs_subnormals(sphere: Sphere, ray: Ray, is_approach: bool) -> bool {
        Magnitudes::of(&sphere).ray_needs_subnormals(&ray, &RayAttributes::NONE, is_approach)
            || Magnitudes::of(&sphere).min_nonzero < MIN_SAFE
    }

    #[test]
    fn ordinary_numbers_need_no_subnormals() {
        let ray = Ray::new([0.0, -3.0, 1e6], [1.0, 6e-17, 0.0]);
        assert!(!pair_needs_subnormals(Sphere::new([5.0, 0.0, 1e-20], 1e-9), ray, false));
        assert!(!pair_needs_subnormals(Sphere::new([5.0, 0.0, 0.0], 0.0), ray.between(-1.0, f32::INFINITY), false));
        assert!(!pair_needs_subnormals(Sphere::new([5.0, 0.0, 0.0], 0.0), Ray::new([0.0; 3], [1e7, 1.0, 0.0]), true));
    }

    #[test]
    fn small_numbers_and_small_roots_need_subnormals() {
        let ray = Ray::new([0.0; 3], [1.0, 0.0, 0.0]);
        let unit = Sphere::new([5.0, 0.0, 0.0], 1.0);
        assert!(pair_needs_subnormals(Sphere::new([5.0, 1e-39, 0.0], 1.0), ray, false));
        assert!(pair_needs_subnormals(Sphere::new([5.0, 0.0, 0.0], 1e-38), ray, false));
        assert!(pair_needs_subnormals(unit, Ray::new([1e-40, 0.0, 0.0], [1.0, 0.0, 0.0]), false));
        assert!(pair_needs_subnormals(unit, Ray::new([0.0; 3], [1.0, 1e-39, 0.0]), false));
        assert!(pair_needs_subnormals(unit, ray.between(1e-40, 1.0), false));
        // The root is 3e-43.
        assert!(pair_needs_subnormals(
            Sphere::new([3e-29, 0.0, 0.0], 1e-27),
            Ray::new([0.0; 3], [1e14, 0.0, 0.0]),
            false
        ));
        assert!(pair_needs_subnormals(unit, Ray::new([0.0; 3], [1e9, 0.0, 0.0]), true));
    }
}
