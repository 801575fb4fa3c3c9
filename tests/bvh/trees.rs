//! Trees of realistic scenes with 1 to 1,000,000 spheres: results are byte-identical to those of testing every sphere, and equal to
//! those of exact arithmetic.

use rayon::prelude::*;
use umbracast::{Hit, Precision, Query, Ray, Sphere};
use umbracast_testing::{cpu, devices, intensity, oracle, scaled, scenes, with_and_without_tree};

/// Returns the number of rays that limits a case to about `1e8 * intensity()` pairs of rays and spheres; at least 64.
fn rays_for(spheres: usize) -> usize {
    let pairs = 1e8 * intensity();
    ((pairs / spheres as f64) as usize).clamp(64, scaled(20_000).max(64))
}

#[test]
fn trees_give_the_results_of_testing_every_sphere() {
    for device in devices() {
        for family in scenes::FAMILIES {
            for count in [1, 10, 1000, 30_000, 1_000_000] {
                let spheres = scenes::spheres(family, count);
                let pair = with_and_without_tree(device, &spheres);
                let mut hits = 0;
                for kind in scenes::KINDS {
                    let rays = scenes::rays(kind, &spheres, rays_for(count));
                    let query = Query::default();
                    let [tree, all] = pair.each_ref().map(|scene| scene.closest(&rays, &query).unwrap());
                    assert!(tree.records == all.records, "{family} {count} {kind} on {}: closest", device.name());
                    let [any, each] = pair.each_ref().map(|scene| scene.occluded(&rays, &query).unwrap());
                    assert!(any.words == each.words, "{family} {count} {kind} on {}: occluded", device.name());
                    assert_eq!(
                        any.report.rays_hit,
                        tree.report.rays_hit,
                        "{family} {count} {kind} on {}",
                        device.name()
                    );
                    hits += tree.report.rays_hit;
                }
                assert!(hits > 0, "{family} {count}: nothing is hit");
            }
        }
    }
}

/// The closest hit by integers. The spheres that f64 surely excludes are left out.
fn closest_exactly(spheres: &[Sphere], ray: &Ray) -> Hit {
    let (o, d) = (ray.origin.as_dvec3(), ray.direction.as_dvec3());
    let may_hit = |sphere: &Sphere| {
        let (e, r) = (sphere.center.as_dvec3() - o, f64::from(sphere.radius));
        (e - e.dot(d) / d.length_squared() * d).length() <= r + 1e-9 * (e.length() + r)
    };
    let (ids, near): (Vec<u32>, Vec<Sphere>) = (0..).zip(spheres).filter(|(_, sphere)| may_hit(sphere)).unzip();
    let hit = oracle::closest(ray, &near, &Query::at(Precision::Exact));
    if hit.is_hit() { Hit { id: ids[hit.id as usize], ..hit } } else { hit }
}

#[test]
fn ten_thousand_rays_agree_with_exact_arithmetic() {
    let query = Query::at(Precision::Exact);
    let mut hits = 0;
    for family in scenes::FAMILIES {
        let spheres = scenes::spheres(family, 10_000);
        let rays: Vec<Ray> = scenes::KINDS.iter().flat_map(|kind| scenes::rays(kind, &spheres, scaled(667))).collect();
        let wanted: Vec<Hit> = rays.par_iter().map(|ray| closest_exactly(&spheres, ray)).collect();
        hits += wanted.iter().filter(|hit| hit.is_hit()).count();
        for device in devices().iter().chain([&cpu()]) {
            let [scene, _] = with_and_without_tree(device, &spheres);
            let found = scene.closest(&rays, &query).unwrap();
            for (i, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
                assert_eq!(found, wanted, "{family}, ray {i} on {}", device.name());
            }
        }
    }
    assert!(hits > 3000, "{hits} hits");
}
