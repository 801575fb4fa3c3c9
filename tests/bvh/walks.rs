//! Traversing a tree and testing every sphere give byte-identical results, on the CPU and on every GPU.

use umbracast::{Device, Ends, Inside, Precision, Query, Ray, Scene, Sphere, Touch};
use umbracast_testing::{bytes, devices, hard_scenes, scaled, with_and_without_tree};

/// Returns the results of three queries as bytes, and their hit and overflow counts.
fn answers(scene: &Scene, rays: &[Ray], query: &Query) -> (Vec<u8>, Vec<u8>, Vec<u8>, [u64; 4]) {
    let hits = scene.closest(rays, query).unwrap();
    let intervals = scene.interval(rays, query).unwrap();
    let bits = scene.occluded(rays, query).unwrap();
    let counts = [hits.report.rays_hit, hits.report.overflowed, bits.report.rays_hit, bits.report.overflowed];
    (bytes(&hits.records), bytes(&intervals.records), bytes(&bits.words), counts)
}

fn compare(device: &Device, name: &str, spheres: &[Sphere], rays: &[Ray], precisions: &[Precision]) {
    let scenes = with_and_without_tree(device, spheres);
    for &precision in precisions {
        for (inside, touch, ends) in [
            (Inside::Enter, Touch::Hit, Ends::Closed),
            (Inside::Exit, Touch::Miss, Ends::HalfOpen),
            (Inside::Ignore, Touch::Hit, Ends::Closed),
        ] {
            let query = Query::at(precision).inside(inside).touch(touch).ends(ends);
            let [tree, brute] = scenes.each_ref().map(|scene| answers(scene, rays, &query));
            assert_eq!(tree.3, brute.3, "{name} on {}, {query:?}", device.name());
            assert!(tree == brute, "{name} on {}, {query:?}: bytes differ", device.name());
        }
        let query = Query::at(precision);
        let [tree, brute] = scenes.each_ref().map(|scene| scene.approach(rays, &query).unwrap());
        for ((tree, brute), ray) in tree.iter().zip(brute.iter()).zip(rays) {
            assert_eq!(bytes(&[*tree]), bytes(&[*brute]), "{name} on {}: {tree:?}, {brute:?}, {ray:?}", device.name());
        }
    }
}

#[test]
fn traversal_gives_the_results_of_testing_every_sphere() {
    for device in devices() {
        for scene in &hard_scenes::SCENES {
            let spheres = hard_scenes::spheres(scene, 1500);
            let rays = hard_scenes::rays(&spheres, scene.2, scaled(60));
            compare(device, scene.0, &spheres, &rays, &[Precision::Fast, Precision::Standard]);
            // Exact integer arithmetic is slow, and many of these scenes have ties: fewer spheres and rays.
            let spheres = hard_scenes::spheres(scene, 600);
            let rays = hard_scenes::rays(&spheres, scene.2, scaled(10));
            compare(device, scene.0, &spheres, &rays, &[Precision::Exact]);
        }
    }
}
