//! Updated scenes return the same results as new ones, with either builder, and clones of them stay unchanged.

use umbracast::glam::Vec3;
use umbracast::{Error, Motion, Precision, Query, Ray, Rays, Result, Scene, SceneOptions, Sphere, Spheres};
use umbracast_testing::{Numbers, bytes, devices, hard_scenes, scaled};

/// Returns the results of four queries as bytes.
fn answers(scene: &Scene, rays: &[Ray], precision: Precision) -> [Vec<u8>; 4] {
    let query = Query::at(precision);
    [
        bytes(&scene.closest(rays, &query).unwrap().records),
        bytes(&scene.interval(rays, &query).unwrap().records),
        bytes(&scene.occluded(rays, &query).unwrap().words),
        bytes(&scene.approach(rays, &query).unwrap().records),
    ]
}

/// Moves each sphere in a random direction, and grows or shrinks it.
fn drift(spheres: &mut [Sphere], step: usize) {
    let n = &mut Numbers(step as u64);
    for sphere in spheres {
        let by = 0.05 + sphere.radius.min(1.0);
        sphere.center += Vec3::from(n.vector()) * by;
        sphere.radius *= 0.9 + 0.2 * n.unit();
    }
}

#[test]
fn updated_scenes_give_the_results_of_new_ones() {
    for device in devices() {
        for kind in &hard_scenes::SCENES {
            let mut spheres = hard_scenes::spheres(kind, 1300);
            let mut scene = device.scene(&spheres, &SceneOptions::default().tree_from(1)).unwrap();
            for step in 1..=3 {
                drift(&mut spheres, step);
                let report = scene.update(&spheres).unwrap();
                assert!(report.quality_loss.is_finite(), "{} on {}", kind.0, device.name());
                if step == 3 {
                    scene.rebuild().unwrap();
                }
                let fresh = device.scene(&spheres, &SceneOptions::default().tree_from(1)).unwrap();
                for (precision, count) in [(Precision::Fast, 30), (Precision::Standard, 30), (Precision::Exact, 6)] {
                    let rays = hard_scenes::rays(&spheres, kind.2, scaled(count));
                    let same = answers(&scene, &rays, precision) == answers(&fresh, &rays, precision);
                    assert!(same, "{}, step {step} on {} at {precision:?}", kind.0, device.name());
                }
            }
        }
    }
}

/// Trees include the motion of spheres. Checks a new tree, a refitted one and a rebuilt one.
#[test]
fn updates_include_the_motion_of_spheres() {
    let n = &mut Numbers(6);
    let mut spheres: Vec<Sphere> = (0..700).map(|_| Sphere::new(n.vector(), 0.08)).collect();
    let mut ways = || -> Vec<Vec3> { (0..700).map(|_| Vec3::from(n.vector()) * 0.3).collect() };
    let velocities = [ways(), ways()];
    let n = &mut Numbers(7);
    let rays: Vec<Ray> = (0..300).map(|_| Ray::new(n.vector(), n.vector()).between(0.0, 1.0)).collect();
    let times: Vec<f32> = rays.iter().map(|_| n.unit()).collect();
    let ask = |scene: &Scene| {
        [Motion::WithRay, Motion::AtTime].map(|motion| {
            let query = Query::default().motion(motion);
            let found = scene.closest(Rays::from(&rays).times(&times), &query).unwrap();
            assert!((50..300).contains(&found.report.rays_hit), "{motion:?}: {}", found.report.rays_hit);
            found.records
        })
    };
    for device in devices() {
        for on_gpu in [false, true] {
            let options = SceneOptions::default().tree_from(1).tree_on_gpu(on_gpu);
            let given = Spheres::from(&spheres).velocities(&velocities[0]);
            let mut scene = device.scene(given, &options).unwrap();
            let expected = |spheres: &[Sphere], velocities: &[Vec3]| {
                let given = Spheres::from(spheres).velocities(velocities);
                ask(&umbracast_testing::cpu().scene(given, &SceneOptions::default().tree_from(1)).unwrap())
            };
            let context = || format!("built on the GPU: {on_gpu}, {}", device.name());
            assert!(ask(&scene) == expected(&spheres, &velocities[0]), "{}", context());
            drift(&mut spheres, 1);
            scene.update(Spheres::from(&spheres).velocities(&velocities[1])).unwrap();
            assert!(ask(&scene) == expected(&spheres, &velocities[1]), "updated, {}", context());
            scene.rebuild().unwrap();
            assert!(ask(&scene) == expected(&spheres, &velocities[1]), "rebuilt, {}", context());
        }
    }
}

#[test]
fn both_bvh_builders_give_the_same_results() {
    for device in devices().iter().filter(|device| !device.is_cpu()) {
        for kind in &hard_scenes::SCENES {
            let spheres = hard_scenes::spheres(kind, 1300);
            let rays = hard_scenes::rays(&spheres, kind.2, scaled(60));
            let [on_cpu, on_gpu] = [false, true].map(|on_gpu| {
                let options = SceneOptions::default().tree_from(1).tree_on_gpu(on_gpu);
                answers(&device.scene(&spheres, &options).unwrap(), &rays, Precision::Standard)
            });
            assert!(on_cpu == on_gpu, "{} on {}", kind.0, device.name());
        }
    }
}

#[test]
fn clones_and_failed_updates_leave_scenes_unchanged() {
    for device in devices() {
        let spheres = hard_scenes::spheres(&hard_scenes::SCENES[0], 700);
        let rays = hard_scenes::rays(&spheres, 2.0, 60);
        let mut scene = device.scene(&spheres, &SceneOptions::default().tree_from(1)).unwrap();
        let clone = scene.clone();
        let before = answers(&scene, &rays, Precision::Standard);
        let refused = |result: Result<_>, scene: &Scene| {
            let same = answers(scene, &rays, Precision::Standard) == before;
            assert!(same, "{}: changed by an update that failed", device.name());
            result.unwrap_err()
        };
        let short = scene.update(&spheres[1..]);
        assert!(matches!(refused(short, &scene), Error::LengthsDiffer { left: 699, right: 700, .. }));
        let mut bad = spheres.clone();
        bad[123].radius = -1.0;
        let found = scene.update(&bad);
        assert!(matches!(refused(found, &scene), Error::BadRecord { index: 123, .. }));
        let mut moved = spheres.clone();
        drift(&mut moved, 1);
        scene.update(&moved).unwrap();
        assert!(answers(&scene, &rays, Precision::Standard) != before, "{}", device.name());
        assert!(answers(&clone, &rays, Precision::Standard) == before, "{}: the clone changed", device.name());
    }
}

#[test]
fn updates_report_the_quality_of_the_tree() {
    for device in devices() {
        let n = &mut Numbers(5);
        let mut spheres: Vec<Sphere> = (0..5000).map(|_| Sphere::new(n.vector(), 0.01)).collect();
        let mut scene = device.scene(&spheres, &SceneOptions::default().tree_from(1)).unwrap();
        let still = scene.update(&spheres).unwrap();
        assert_eq!((still.quality_loss, still.rebuild_suggested), (0.0, false));
        // Steps of a tenth of the distance between neighbours.
        let near: Vec<Sphere> =
            spheres.iter().map(|sphere| Sphere::new(sphere.center + 0.01 * Vec3::from(n.vector()), 0.01)).collect();
        let little = scene.update(&near).unwrap();
        assert!(little.quality_loss > 0.001 && little.quality_loss < 0.25, "{little:?}");
        // All spheres at new random positions: the worst case for a refitted tree.
        spheres.iter_mut().for_each(|sphere| sphere.center = n.vector().into());
        let mixed = scene.update(&spheres).unwrap();
        if device.is_cpu() {
            // It has built a new tree.
            assert_eq!((mixed.quality_loss, mixed.rebuild_suggested), (0.0, false));
        } else {
            assert!(mixed.quality_loss > 5.0 && mixed.rebuild_suggested, "{mixed:?}");
            scene.rebuild().unwrap();
        }
        let again = scene.update(&spheres).unwrap();
        assert_eq!((again.quality_loss, again.rebuild_suggested), (0.0, false));
    }
}
