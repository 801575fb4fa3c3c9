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

use crate::batch::ray_batch::Batch;
use crate::records::{Extra, Ray, Sphere};
use crate::runtime::cpu_pool;

/// Least magnitude of numbers that need no subnormals, unless they are 0: 2⁻¹⁰⁰.
const SMALL: f32 = 1.0 / (1_u128 << 100) as f32;
/// The same limit for closest approaches: 2⁻³⁰.
const SMALL_NEAR: f32 = 1.0 / (1 << 30) as f32;
/// Largest length of a direction, in units of the least radius: 2⁷⁰.
const LONGEST: f32 = (1_u128 << 70) as f32;
/// Largest length of a direction for closest approaches: 2²⁷.
const LONGEST_NEAR: f32 = (1 << 27) as f32;
/// Least radius of moving spheres: 2⁻⁶⁰. A displacement, velocity times time, may be subnormal although neither factor is.
const LEAST_MOVING: f32 = 1.0 / (1_u64 << 60) as f32;

/// Magnitudes of a scene's numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sizes {
    /// Least magnitude of a coordinate, radius or velocity component that is not 0; infinite if there is none.
    least: f32,
    /// The least radius that is not 0; infinite if there is none.
    radius: f32,
    /// Whether there are radii of 0.
    points: bool,
    /// Largest magnitude of a velocity component.
    speed: f32,
}

impl Sizes {
    const NONE: Self = Self { least: f32::INFINITY, radius: f32::INFINITY, points: false, speed: 0.0 };

    fn of(sphere: &Sphere) -> Self {
        let Sphere { center, radius } = *sphere;
        Self {
            least: least([center.x, center.y, center.z, radius]),
            radius: least([radius]),
            points: radius == 0.0,
            speed: 0.0,
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            radius: self.radius.min(other.radius),
            points: self.points || other.points,
            speed: self.speed.max(other.speed),
        }
    }

    /// Magnitudes of all spheres of a scene.
    pub(crate) fn of_scene(spheres: &[Sphere], velocities: Option<&[Vec3]>) -> Self {
        cpu_pool::ready();
        let still = spheres.par_iter().map(Self::of).reduce(|| Self::NONE, Self::and);
        let moving = |sizes: Self, v: &Vec3| Self {
            least: sizes.least.min(least(v.to_array())),
            speed: sizes.speed.max(v.abs().max_element()),
            ..sizes
        };
        velocities.into_iter().flatten().fold(still, moving)
    }

    /// Whether a device that flushes subnormal numbers to 0 could give another result for any of these rays than exact arithmetic. `moves`:
    /// the spheres have velocities; `nears`: the query is about closest approaches.
    pub(crate) fn need_subnormals(&self, batch: &Batch<'_>, moves: bool, nears: bool) -> bool {
        if self.least < if nears { SMALL_NEAR } else { SMALL } || (moves && self.radius < LEAST_MOVING) {
            return true;
        }
        cpu_pool::ready();
        let needs = |i: usize| needs(self, &batch.rays.ray(i), &batch.extras.of(i), nears);
        (0..batch.rays.len()).into_par_iter().any(needs)
    }
}

/// Least magnitude of the numbers that are not 0; infinite if there is none.
fn least<const N: usize>(numbers: [f32; N]) -> f32 {
    numbers.into_iter().map(f32::abs).filter(|x| *x > 0.0).fold(f32::INFINITY, f32::min)
}

/// Whether one ray needs subnormal numbers.
fn needs(sizes: &Sizes, ray: &Ray, extra: &Extra, nears: bool) -> bool {
    let Ray { origin: o, direction: d, t_min, t_max } = *ray;
    let small = least([o.x, o.y, o.z, d.x, d.y, d.z, t_min, t_max, extra.time, extra.radius]);
    let low = least(extra.low);
    let (smallest, longest) = match nears {
        true => (SMALL_NEAR, LONGEST_NEAR),
        false => {
            let radius = if sizes.points { sizes.radius.min(least([extra.radius])) } else { sizes.radius };
            (SMALL, radius * LONGEST)
        }
    };
    small < smallest || low < f32::MIN_POSITIVE || d.abs().max_element() + sizes.speed > longest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(sphere: Sphere, ray: Ray, nears: bool) -> bool {
        needs(&Sizes::of(&sphere), &ray, &Extra::NONE, nears) || Sizes::of(&sphere).least < SMALL
    }

    #[test]
    fn everyday_numbers_need_none() {
        let ray = Ray::new([0.0, -3.0, 1e6], [1.0, 6e-17, 0.0]);
        assert!(!asks(Sphere::new([5.0, 0.0, 1e-20], 1e-9), ray, false));
        assert!(!asks(Sphere::new([5.0, 0.0, 0.0], 0.0), ray.between(-1.0, f32::INFINITY), false));
        assert!(!asks(Sphere::new([5.0, 0.0, 0.0], 0.0), Ray::new([0.0; 3], [1e7, 1.0, 0.0]), true));
    }

    #[test]
    fn small_numbers_and_small_roots_do() {
        let ray = Ray::new([0.0; 3], [1.0, 0.0, 0.0]);
        let unit = Sphere::new([5.0, 0.0, 0.0], 1.0);
        assert!(asks(Sphere::new([5.0, 1e-39, 0.0], 1.0), ray, false));
        assert!(asks(Sphere::new([5.0, 0.0, 0.0], 1e-38), ray, false));
        assert!(asks(unit, Ray::new([1e-40, 0.0, 0.0], [1.0, 0.0, 0.0]), false));
        assert!(asks(unit, Ray::new([0.0; 3], [1.0, 1e-39, 0.0]), false));
        assert!(asks(unit, ray.between(1e-40, 1.0), false));
        // The root is 3e-43.
        assert!(asks(Sphere::new([3e-29, 0.0, 0.0], 1e-27), Ray::new([0.0; 3], [1e14, 0.0, 0.0]), false));
        assert!(asks(unit, Ray::new([0.0; 3], [1e9, 0.0, 0.0]), true));
    }
}
