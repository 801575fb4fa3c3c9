//! `contains`: every device, with and without a tree, compared with an exact test of every sphere.

use umbracast::{Containment, Error, NO_SPHERE, OnBad, Precision, Query, SceneOptions, Sphere};
use umbracast_testing::{Numbers, devices, hard_scenes, with_and_without_tree};

/// The expected result: tests every sphere with [`Sphere::contains`].
fn expected(spheres: &[Sphere], point: [f32; 3]) -> Containment {
    let containing = || (0..).zip(spheres).filter(|(_, sphere)| sphere.contains(point));
    Containment { count: containing().count() as u32, id: containing().next().map_or(NO_SPHERE, |(id, _)| id) }
}

/// Points inside spheres, on their surfaces to within f32 rounding, outside, and at random.
fn points(spheres: &[Sphere], count: usize) -> Vec<[f32; 3]> {
    let n = &mut Numbers(5);
    let mut points: Vec<[f32; 3]> = Vec::new();
    for i in 0..count {
        let sphere = spheres[i * 7919 % spheres.len()];
        let away = n.vector();
        let length = away.iter().map(|x| x * x).sum::<f32>().sqrt();
        let share = [0.0, 0.5, 1.0, 1.0, 1.5][i % 5] * sphere.radius / length;
        points.push(std::array::from_fn(|k| sphere.center[k] + away[k] * share));
        // Exactly on the surface if the sum is not rounded.
        points.push([sphere.center.x + sphere.radius, sphere.center.y, sphere.center.z]);
        points.push(n.vector());
    }
    points
}

#[test]
fn contains_agrees_with_a_test_of_every_sphere() {
    let mut contained = 0;
    for scene in &hard_scenes::SCENES {
        let spheres = hard_scenes::spheres(scene, 700);
        let points = points(&spheres, 200);
        let expected: Vec<Containment> = points.iter().map(|point| expected(&spheres, *point)).collect();
        contained += expected.iter().filter(|found| found.count > 0).count();
        for device in devices() {
            for scene_on in with_and_without_tree(device, &spheres) {
                let found = scene_on.contains(&points, &Query::at(Precision::Exact)).unwrap();
                for ((found, expected), point) in found.iter().zip(&expected).zip(&points) {
                    assert_eq!(found, expected, "{} on {}: {point:?}", scene.0, device.name());
                }
                assert_eq!(found.report.rays_hit, expected.iter().filter(|found| found.count > 0).count() as u64);
                let standard = scene_on.contains(&points, &Query::at(Precision::Standard)).unwrap();
                // For subnormal numbers only `exact` is guaranteed.
                if scene.0 != "subnormal" {
                    let off = standard.iter().zip(&expected).filter(|(a, b)| a != b).count();
                    assert!(off <= points.len() / 100, "{} on {}: {off}", scene.0, device.name());
                }
                assert!(standard.iter().all(|found| (found.count == 0) == (found.id == NO_SPHERE)));
            }
        }
    }
    assert!(contained > 2000, "{contained}");
}

#[test]
fn contains_handles_pairs_empty_scenes_and_invalid_points() {
    let spheres = [Sphere::new([0.0; 3], 1.0), Sphere::new([0.0; 3], 2.0), Sphere::new([9.0, 0.0, 0.0], 0.0)];
    let at = [[1.5, 0.0, 0.0], [1.5, 0.0, 0.0], [9.0, 0.0, 0.0]];
    let query = Query::default();
    for device in devices() {
        let pairs = device.pairwise(&spheres, &Default::default()).unwrap();
        let found = pairs.contains(&at, &query).unwrap();
        assert_eq!(*found, [Containment::NONE, Containment { count: 1, id: 1 }, Containment { count: 1, id: 2 }]);
        let part = umbracast::Points::from(&at[1..]).numbered_from(1);
        assert_eq!(*pairs.contains(part, &query).unwrap(), found[1..]);

        let scene = device.scene(&spheres, &SceneOptions::default()).unwrap();
        let found = scene.contains(&[[0.0; 3], [2.0, 0.0, 0.0], [2.1, 0.0, 0.0]], &query).unwrap();
        assert_eq!(*found, [Containment { count: 2, id: 0 }, Containment { count: 1, id: 1 }, Containment::NONE]);
        assert!(scene.contains(&[], &query).unwrap().is_empty());
        let nothing = device.scene(&[], &SceneOptions::default()).unwrap();
        assert_eq!(*nothing.contains(&at, &query).unwrap(), [Containment::NONE; 3]);

        let bad = [[0.0; 3], [0.0, f32::NAN, 0.0], [0.0; 3]];
        let error = scene.contains(&bad, &query).unwrap_err();
        assert!(matches!(error, Error::BadRecord { what: "point", index: 1, field: "y", .. }), "{error}");
        let skip = query.on_bad(OnBad::Skip);
        let found = scene.contains(&bad, &skip).unwrap();
        assert_eq!((found[1], found[2].count, found.report.skipped), (Containment::NONE, 2, 1));
    }
}
