//! Rejection test in f64 for ellipsoids that a ray certainly misses, before the intersection test. Most of the ball around a slim ellipsoid
//! is empty, and an intersection test with pairs of f32 takes several times as long.
//!
//! In the space where the ellipsoid is a ball of radius r, the distance of the line from the centre is |e × d| / |d|. Its error is 2⁻⁵⁰ |e|
//! plus the rounding of e and of the map. The error of an intersection test there is `flag_error` · (|e| + r), plus the effect of a
//! displacement of the ellipsoid by 2⁻⁴³ of its distance, times its slimness.

use glam::{DMat3, DVec3};

use crate::cpu::cull::flag_error;
use crate::intersect::motion::{RelativeMotion, Target};
use crate::query::policy::Precision;
use crate::records::Ray;

/// Whether the ray certainly misses the ellipsoid: then no intersection test of this precision reports a hit. False for spheres.
pub(crate) fn misses(ray: &Ray, target: &Target<'_>, precision: Precision) -> bool {
    let Some(map) = target.map else { return false };
    let RelativeMotion { velocity, time, moves_with_ray: relative, direction_low: low, .. } =
        target.motion.unwrap_or(RelativeMotion::NONE);
    let (origin, center) = (ray.origin.as_dvec3(), target.sphere.center.as_dvec3());
    let motion = velocity.as_dvec3() * f64::from(time);
    let along = ray.direction.as_dvec3() + low.as_dvec3() - if relative { velocity.as_dvec3() } else { DVec3::ZERO };
    let row = |i: usize| DVec3::from_array([0, 1, 2].map(|k| f64::from(map.high[i][k]) + f64::from(map.low[i][k])));
    let through = DMat3::from_cols(row(0), row(1), row(2)).transpose();
    let (e, d) = (through * ((center - origin) + motion), through * along);
    let r = f64::from(target.sphere.radius);
    let size = origin.length() + center.length() + motion.length() + r;
    let off =
        4.0 * flag_error(precision) * (e.length() + r) + 2.0_f64.powi(-40) * size / f64::from(map.inscribed_radius);
    let reach = (r + off) * d.length();
    e.cross(d).length_squared() > reach * reach * (1.0 + 1e-9)
}

#[cfg(test)]
mod tests {
    use glam::{Quat, Vec3};

    use super::*;
    use crate::batch::ellipsoids::{Ellipsoid, Ellipsoids};
    use crate::batch::input::Rays;
    use crate::batch::input::Spheres;
    use crate::intensity::scaled;
    use crate::numbers::Numbers;
    use crate::query::policy::{Inside, Query};
    use crate::records::RayAttributes;
    use crate::scene::device::DeviceOptions;
    use crate::scene::scene::SceneOptions;

    /// Balls, needles and discs, grazed within a few roundings, from near and far, at rest and in motion.
    #[test]
    fn ellipsoid_hits_are_never_rejected() {
        let mut numbers = Numbers(1);
        let mut unit = || numbers.unit();
        let mut counts = [Precision::Fast, Precision::Standard].map(|precision| (precision, 0, 0));
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
            for (precision, leaf_hits, passed) in &mut counts {
                let query = Query { inside: Inside::Exit, ..Query::at(*precision) };
                let found = pairs.closest(Rays::from(&rays).times(&times), &query).unwrap();
                for (i, hit) in found.iter().enumerate() {
                    let attributes = RayAttributes { time: times[i], ..RayAttributes::NONE };
                    let target = pairs.host.target(i as u32, &attributes).unwrap();
                    let passes = misses(&rays[i], &target, *precision);
                    assert!(!(passes && hit.is_hit()), "{precision:?} {round} {i}: {hit:?}");
                    *leaf_hits += usize::from(hit.is_hit());
                    *passed += usize::from(passes);
                }
            }
        }
        for (precision, leaf_hits, passed) in counts {
            assert!(leaf_hits > 15_000 && passed > 6_000, "{precision:?}: {leaf_hits} met, {passed} passed by");
        }
    }
}
