//! The leaf test for spheres that move while rays travel, against roots in f64.

use glam::Vec3;

use super::*;
use crate::batch::input::Spheres;
use crate::batch::sphere_set::{SphereAttributes, SphereSet};
use crate::cpu::accel::CpuBvh;
use crate::cpu::traverse::leaf::tests::roots;
use crate::cpu::traverse::ray_setup::tests::prepared;
use crate::numbers::Numbers;
use crate::records::Sphere;
use crate::runtime::cancel::CancelToken;

/// Speed of the spheres relative to the rays, and whether the spheres move with the rays.
const SPEEDS: [(f32, bool); 6] = [(0.0, false), (0.05, false), (1.0, false), (30.0, false), (0.1, true), (0.45, true)];
const RANGES: [[f32; 2]; 3] = [[0.0, 1.0], [-2.0, 2.0], [100.0, 101.0]];

/// Counts of pairs: hits, certain hits, candidates that are clear misses, hits that begin between the ray's ends, and hits of spheres that
/// move with the ray.
#[derive(Default)]
struct Found {
    leaf_hits: usize,
    certain: usize,
    idle: usize,
    whole: usize,
    along: usize,
}

fn moving_bvh(spheres: &[Sphere], drift: &[Vec3], range: [f32; 2]) -> CpuBvh {
    let (moving, cancel) = (Spheres::from(spheres).velocities(drift), CancelToken::new());
    CpuBvh::of(&SphereSet::new(&moving, SphereAttributes::NONE, range, &cancel).unwrap(), SimdLevel::best()).unwrap()
}

fn check_random_leaf(n: &mut Numbers, range: [f32; 2], (speed, along): (f32, bool), found: &mut Found) {
    let heading = Vec3::from(n.vector()).normalize() * 2.0;
    let vector = |n: &mut Numbers| Vec3::from(n.vector());
    let size = 10.0_f32.powf(2.0 * n.signed());
    // Each sphere is near the middle at one of these times.
    let time = |n: &mut Numbers| range[0] + (range[1] - range[0]) * n.unit();
    let drift: Vec<Vec3> =
        (0..8).map(|_| size * (vector(n) * speed + if along { heading } else { Vec3::ZERO })).collect();
    let spheres: Vec<Sphere> =
        drift.iter().map(|v| Sphere::new(vector(n) * size - *v * time(n), 0.2 * size * n.unit())).collect();
    let bvh = moving_bvh(&spheres, &drift, range);
    for i in 0..32 {
        let (target, t) = (&spheres[i % 8], time(n));
        let direction = size * (heading + vector(n) * 0.3);
        let (relative, edge) = (direction - drift[i % 8], [0.0, 0.5, 0.999, 1.0, 1.000_01, 1.1][i % 6]);
        let aside = relative.cross(vector(n)).normalize_or_zero() * target.radius * edge;
        let ray = Ray::new(target.center + drift[i % 8] * t + aside - direction * t, direction);
        let mut ends = [time(n), time(n)];
        if i % 4 != 0 {
            ends = range;
        }
        let ray = ray.between(ends[0].min(ends[1]), ends[0].max(ends[1]));
        let attributes = RayAttributes { moves_with_ray: 1, ..RayAttributes::NONE };
        let mut prepared = prepared(bvh.level, &bvh.frame, &[ray]);
        prepare_moving(&mut prepared[0], &bvh.frame, &ray, &attributes, bvh.mid_time);
        let (o, d) = (bvh.frame.scaled_point(ray.origin.as_dvec3()), ray.direction.as_dvec3());
        let s_of = |t: f64| o.dot(d) / d.length() + t * d.length() * bvh.frame.scale;
        let mut leaf_hits = [LeafHits::NONE];
        for (moving_leaf, ids) in bvh.moving_leaves.iter().flatten().zip(&bvh.tree.ids) {
            let any = bvh.level.cull_passing_leaf(moving_leaf, &prepared, &[prepared[0].far], &[0], &mut leaf_hits);
            assert_eq!(any, usize::from(leaf_hits[0].candidates != 0));
            for (k, sphere) in ids.iter().enumerate().filter_map(|(k, &id)| Some((k, spheres.get(id as usize)?))) {
                let velocity = drift[ids[k] as usize];
                let roots = roots(&ray, sphere, velocity);
                let (candidate, certain) = (leaf_hits[0].candidates >> k & 1 == 1, leaf_hits[0].certain >> k & 1 == 1);
                let context = format!("{range:?} {speed} {along} {ray:?} {sphere:?} {velocity:?} {roots:?}");
                let inside = |t: f64| (f64::from(ray.t_min)..=f64::from(ray.t_max)).contains(&t);
                let reaches = |r: &[f64; 2]| r[0] <= ray.t_max.into() && r[1] >= ray.t_min.into();
                let within = roots.filter(reaches);
                let larger = Sphere::new(sphere.center, 1.02 * sphere.radius);
                // Hits between t = 0 and the ray's ends are not culled here: the intersection test excludes them.
                let from_start = |r: [f64; 2]| r[0] <= ray.t_max.max(0.0).into() && r[1] >= ray.t_min.min(0.0).into();
                let far = !self::roots(&ray, &larger, velocity).is_some_and(from_start);
                let low = f64::from(leaf_hits[0].low[k]);
                assert!(within.is_none_or(|r| candidate && low <= s_of(r[0])), "{context}: {low}");
                let high = f64::from(leaf_hits[0].high[k]);
                let begins = roots.filter(|r| inside(r[0]));
                assert!(!certain || begins.is_some_and(|r| s_of(r[0]) <= high), "{context}: {high}");
                // A sphere that moves with the ray is a candidate, and nothing else is known about it.
                if within.is_some() && (ray.direction - velocity).length() < 0.49 * ray.direction.length() {
                    assert!(!certain && low == f64::NEG_INFINITY, "{context}");
                    found.along += 1;
                } else if (ray.direction - velocity).length() > 0.51 * ray.direction.length() {
                    found.leaf_hits += usize::from(within.is_some());
                    found.idle += usize::from(candidate && far);
                    found.whole += usize::from(begins.is_some());
                    found.certain += usize::from(certain);
                }
            }
        }
        // Unused lanes are never candidates.
        let filled = bvh.tree.ids[0].iter().filter(|&&id| (id as usize) < spheres.len()).count();
        assert!(leaf_hits[0].candidates >> filled == 0 || bvh.tree.ids.len() > 1);
    }
}

#[test]
fn the_moving_leaf_test_agrees_with_f64_roots() {
    let n = &mut Numbers(3);
    for range in RANGES {
        for speed in SPEEDS {
            let mut found = Found::default();
            for _ in 0..200 {
                check_random_leaf(n, range, speed, &mut found);
            }
            let Found { leaf_hits, certain, idle, whole, along } = found;
            let context = format!("{range:?} {speed:?}: {certain} of {whole}, {idle} idle, {leaf_hits} met");
            assert!(certain * 3 >= whole && idle * 10 <= leaf_hits, "{context}");
            assert!(along > 1_000 || leaf_hits > 2_000, "{context}, {along} along");
        }
    }
}

#[test]
fn the_moving_leaf_test_includes_the_ray_radius() {
    let spheres = [Sphere::new([0.0, 1.5, 0.0], 1.0), Sphere::new([9.0, 1.5, 0.0], 1.0)];
    let drift = [Vec3::ZERO, Vec3::new(-1.0, 0.0, 0.0)];
    let bvh = moving_bvh(&spheres, &drift, [0.0, 9.0]);
    let ray = Ray::new([-2.0, 0.0, 0.0], [1.0, 0.0, 0.0]).between(0.0, 9.0);
    let attributes = RayAttributes { moves_with_ray: 1, radius: 0.6, ..RayAttributes::NONE };
    let mut prepared = prepared(bvh.level, &bvh.frame, &[ray]);
    let by = bvh.frame.inflation(&ray, &attributes);
    for (grown, expected) in [(false, 0), (true, 2)] {
        if grown {
            prepared[0].inflate(by.lateral as f32, by.axial as f32);
        }
        prepare_moving(&mut prepared[0], &bvh.frame, &ray, &attributes, bvh.mid_time);
        let mut leaf_hits = [LeafHits::NONE];
        let moving_leaf = &bvh.moving_leaves.as_ref().unwrap()[0];
        bvh.level.cull_passing_leaf(moving_leaf, &prepared, &[prepared[0].far], &[0], &mut leaf_hits);
        assert_eq!((leaf_hits[0].candidates.count_ones(), leaf_hits[0].certain), (expected, 0));
    }
}
