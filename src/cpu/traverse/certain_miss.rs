//! Test in f64 for spheres and ellipsoids that a ray certainly misses, before the intersection test. Without a BVH, every sphere takes it.
//! With one, ellipsoids do: most of the ball around a slim ellipsoid is empty, and an intersection test with pairs of f32 takes several
//! times as long.
//!
//! In the space where the target is a ball of radius r, the distance of the line from the centre is |e × d| / |d|. Its error is 2⁻⁵⁰ |e|
//! plus the rounding of e and of the map. The error of an intersection test there is `FLAG_ERROR` · (|e| + r), plus the effect of a
//! displacement of the target by 2⁻⁴³ of its distance, times its slimness.

use glam::DVec3;

use crate::cpu::frame::FLAG_ERROR;
use crate::intersect::motion::{RelativeMotion, Target};
use crate::math::simd::level::{SimdLevel, multiversion};
use crate::records::{Ray, Sphere};

/// Maximum number of spheres at rest that are tested together.
pub(crate) const GROUP: usize = u64::BITS as usize;

multiversion! {
    /// Mask of the spheres at rest, at most [`GROUP`], that a ray does not certainly miss.
    possible_hits, (ray: &Ray, spheres: &[Sphere]) -> u64, |_lanes| {
        let mut possible = [false; GROUP];
        for (possible, sphere) in possible.iter_mut().zip(spheres) {
            *possible = !misses(ray, &Target::at_rest(sphere));
        }
        possible.iter().rev().fold(0, |mask, possible| mask << 1 | u64::from(*possible))
    }
}

/// Whether the ray certainly misses the sphere or ellipsoid: then no intersection test reports a hit.
#[inline(always)]
pub(crate) fn misses(ray: &Ray, target: &Target<'_>) -> bool {
    let (origin, center) = (ray.origin.as_dvec3(), target.sphere.center.as_dvec3());
    let (mut e, mut d, mut r) = (center - origin, ray.direction.as_dvec3(), f64::from(target.sphere.radius));
    let mut displacement = 0.0;
    if target.motion.is_some() || target.map.is_some() {
        let RelativeMotion { velocity, time, moves_with_ray: relative, direction_low: low, radius, .. } =
            target.motion.unwrap_or(RelativeMotion::NONE);
        let motion = velocity.as_dvec3() * f64::from(time);
        e += motion;
        d = (d - if relative { velocity.as_dvec3() } else { DVec3::ZERO }) + low.as_dvec3();
        r += f64::from(radius);
        displacement = 2.0_f64.powi(-40) * (origin.length() + center.length() + motion.length() + r);
    }
    if let Some(map) = target.map {
        (e, d) = (map.apply(e), map.apply(d));
        displacement /= f64::from(map.inscribed_radius);
    }
    // The sum of the components is at least the length.
    let off = 4.0 * FLAG_ERROR * (e.abs().element_sum() + r) + displacement;
    let reach = r + off;
    e.cross(d).length_squared() > reach * reach * d.length_squared() * (1.0 + 1e-9)
}

#[cfg(test)]
mod tests {
    use glam::{Quat, Vec3};

    use super::*;
    use crate::batch::ellipsoids::{Ellipsoid, Ellipsoids};
    use crate::batch::input::{Rays, Spheres};
    use crate::intensity::scaled;
    use crate::numbers::Numbers;
    use crate::query::policy::{Inside, Precision, Query};
    use crate::records::RayAttributes;
    use crate::scene::device::DeviceOptions;
    use crate::scene::scene::SceneOptions;

    /// Balls, needles and discs, grazed within a few roundings, from near and far, at rest and in motion.
    #[test]
    fn ellipsoid_hits_are_never_rejected() {
        let mut numbers = Numbers(1);
        let mut unit = || numbers.unit();
        let (mut leaf_hits, mut passed) = (0, 0);
        // In rounds, to limit the memory.
        for round in 0..scaled(1) {
            let (mut list, mut rays, mut drift, mut times) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for i in 0..40_000 {
                let mut vector = || Vec3::new(unit() - 0.5, unit() - 0.5, unit() - 0.5);
                let (center, normal, other, turn) = (vector() * 10.0, vector().normalize(), vector(), vector());
                let (velocity, time) = (if i % 2 == 0 { Vec3::ZERO } else { vector() }, unit());
                let radii = [0; 3].map(|_| 10.0_f32.powf(-6.0 * unit() * unit()));
                let ellipsoid =
                    Ellipsoid::new(center, radii).turned(Quat::from_xyzw(turn.x, turn.y, turn.z, unit() - 0.5));
                let gap = [1.0, 1.0 + 1e-6, 1.0 - 1e-6, 1.0 + 1e-3, 2.0, 0.5][i % 6];
                let along = normal.cross(other).normalize();
                let turned = |v: Vec3| ellipsoid.rotation.normalize() * (v * ellipsoid.radii);
                let motion = turned(along).normalize();
                let from = center + velocity * time + turned(normal * gap) - motion * 10.0_f32.powf(4.0 * unit() - 1.0);
                rays.push(Ray::new(from, motion * 10.0_f32.powf(4.0 * unit() - 2.0)).line());
                list.push(ellipsoid);
                drift.push(velocity);
                times.push(time);
            }
            let ellipsoids = Ellipsoids::new(list);
            let device = crate::Device::open(&DeviceOptions::new("cpu")).unwrap();
            let set = Spheres::from(&ellipsoids).velocities(&drift);
            let pairs = device.pairwise(set, &SceneOptions::default()).unwrap();
            let query = Query { inside: Inside::Exit, ..Query::at(Precision::Standard) };
            let found = pairs.closest(Rays::from(&rays).times(&times), &query).unwrap();
            for (i, hit) in found.iter().enumerate() {
                let attributes = RayAttributes { time: times[i], ..RayAttributes::NONE };
                let target = pairs.host.target(i as u32, &attributes).unwrap();
                let passes = misses(&rays[i], &target);
                assert!(!(passes && hit.is_hit()), "{round} {i}: {hit:?}");
                leaf_hits += usize::from(hit.is_hit());
                passed += usize::from(passes);
            }
        }
        assert!(leaf_hits > 15_000 && passed > 6_000, "{leaf_hits} met, {passed} passed by");
    }
}
