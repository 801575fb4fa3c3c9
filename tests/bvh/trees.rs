//! Trees of realistic scenes with 1 to 1,000,000 spheres: results are byte-identical to those of testing every sphere, and equal to
//! those of exact arithmetic.

use std::cmp::Ordering;

use crate::support::{cpu, devices, intensity, scaled, scenes, with_and_without_tree};
use rayon::prelude::*;
use umbracast::exact::{ExactRoots, Root, Roots};
use umbracast::{Hit, Precision, Query, Ray, Sphere};

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

/// Returns the closest hit in exact integer arithmetic. Only spheres that f64 cannot exclude are computed exactly.
fn closest_exactly(spheres: &[Sphere], ray: &Ray) -> Hit {
    let wide = |v: umbracast::glam::Vec3| v.as_dvec3();
    let (o, d) = (wide(ray.origin), wide(ray.direction));
    // Bounds in f64: a lower bound of the first root, an upper bound of the second one, and an upper bound of the first one if the hit is
    // certain, else infinity. `None` if the sphere is certainly missed.
    let look = |sphere: &Sphere| {
        let (e, r) = (wide(sphere.center) - o, f64::from(sphere.radius));
        let k = e.dot(d) / d.length_squared();
        let apart = (e - k * d).length();
        let slack = 1e-9 * (e.length() + r);
        (apart <= r + slack).then(|| {
            let half = |r: f64| (r * r - apart * apart).max(0.0).sqrt() / d.length();
            let slack = slack / d.length();
            let (low, exit) = (k - half(r + slack) - slack, k + half(r + slack) + slack);
            let certain = apart < r - slack && low > slack;
            (low, exit, if certain { k - half(r - slack) + slack } else { f64::INFINITY })
        })
    };
    let seen: Vec<_> = (0..).zip(spheres).filter_map(|(id, s)| look(s).map(|found| (id, s, found))).collect();
    let last = seen.iter().map(|(.., found)| found.2).fold(f64::INFINITY, f64::min);
    let mut best = Hit::MISS;
    for (id, sphere, (low, exit, _)) in seen {
        if low > last * (1.0 + 1e-6) || exit < 0.0 {
            continue;
        }
        let roots = ExactRoots::new(ray, sphere);
        if roots.crossing == Ordering::Less || roots.compare(Root::Exit, 0.0) == Some(Ordering::Less) {
            continue;
        }
        let t = roots.round(Root::Enter).unwrap().max(0.0);
        if (t, id) < (best.t, best.id) {
            best = Hit { t, id };
        }
    }
    best
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
