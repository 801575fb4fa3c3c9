//! Scenes whose spheres move answer as new ones do, whoever builds their trees, and nobody else sees them move.

mod common;

use common::{Numbers, devices, nasty};
use umbracast::{
    Builder, Error, Precision, Query, Ray, Result, Scene, SceneOptions, Sphere, blocking, blocking::update,
};

fn bytes<T: bytemuck::NoUninit>(records: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(records).to_vec()
}

/// What all queries answer.
fn answers(scene: &Scene, rays: &[Ray], precision: Precision) -> [Vec<u8>; 4] {
    let query = Query::at(precision);
    [
        bytes(&blocking::closest(scene, rays, &query).unwrap().records),
        bytes(&blocking::interval(scene, rays, &query).unwrap().records),
        bytes(&blocking::occluded(scene, rays, &query).unwrap().words),
        bytes(&blocking::approach(scene, rays, &query).unwrap().records),
    ]
}

/// Each goes its own way, and grows or shrinks.
fn drift(spheres: &mut [Sphere], step: usize) {
    let n = &mut Numbers(step as u64);
    for sphere in spheres {
        let by = 0.05 + sphere.radius.min(1.0);
        sphere.center += umbracast::glam::Vec3::from(n.vector()) * by;
        sphere.radius *= 0.9 + 0.2 * n.unit();
    }
}

#[test]
fn spheres_that_drift_answer_as_new_ones_do() {
    for device in devices() {
        for kind in &nasty::SCENES {
            let mut spheres = nasty::spheres(kind, 1300);
            let mut scene = blocking::scene(device, &spheres, &SceneOptions::default()).unwrap();
            for step in 1..=3 {
                drift(&mut spheres, step);
                let report = update(&mut scene, &spheres).unwrap();
                assert!(report.quality_loss.is_finite(), "{} on {}", kind.0, device.name());
                if step == 3 {
                    blocking::rebuild(&mut scene).unwrap();
                }
                let fresh = blocking::scene(device, &spheres, &SceneOptions::default()).unwrap();
                for (precision, count) in [(Precision::Fast, 60), (Precision::Standard, 60), (Precision::Exact, 8)] {
                    let rays = nasty::rays(&spheres, kind.2, count);
                    let same = answers(&scene, &rays, precision) == answers(&fresh, &rays, precision);
                    assert!(same, "{}, step {step} on {} at {precision:?}", kind.0, device.name());
                }
            }
        }
    }
}

#[test]
fn both_builders_make_scenes_that_answer_alike() {
    for device in devices().iter().filter(|device| !device.is_cpu()) {
        for kind in &nasty::SCENES {
            let spheres = nasty::spheres(kind, 1300);
            let rays = nasty::rays(&spheres, kind.2, 60);
            let found = [Builder::Auto, Builder::Cpu, Builder::Gpu].map(|builder| {
                let options = SceneOptions::default().built_by(builder);
                answers(&blocking::scene(device, &spheres, &options).unwrap(), &rays, Precision::Standard)
            });
            assert!(found[0] == found[1] && found[1] == found[2], "{} on {}", kind.0, device.name());
        }
    }
    let spheres = [Sphere::new([0.0; 3], 1.0)];
    let refused = blocking::scene(&common::cpu(), &spheres, &SceneOptions::default().built_by(Builder::Gpu));
    assert!(refused.is_err_and(|error| error.exit_code() == 2 && error.to_string().contains("CPU engine")));
}

#[test]
fn clones_and_failed_updates_keep_their_spheres() {
    for device in devices() {
        let spheres = nasty::spheres(&nasty::SCENES[0], 700);
        let rays = nasty::rays(&spheres, 2.0, 60);
        let mut scene = blocking::scene(device, &spheres, &SceneOptions::default()).unwrap();
        let clone = scene.clone();
        let before = answers(&scene, &rays, Precision::Standard);
        let refused = |result: Result<_>, scene: &Scene| {
            let same = answers(scene, &rays, Precision::Standard) == before;
            assert!(same, "{}: changed by an update that failed", device.name());
            result.unwrap_err()
        };
        let short = update(&mut scene, &spheres[1..]);
        assert!(matches!(refused(short, &scene), Error::LengthsDiffer { left: 699, right: 700, .. }));
        let mut bad = spheres.clone();
        bad[123].radius = -1.0;
        let found = update(&mut scene, &bad);
        assert!(matches!(refused(found, &scene), Error::BadRecord { index: 123, .. }));
        let mut moved = spheres.clone();
        drift(&mut moved, 1);
        update(&mut scene, &moved).unwrap();
        assert!(answers(&scene, &rays, Precision::Standard) != before, "{}", device.name());
        assert!(answers(&clone, &rays, Precision::Standard) == before, "{}: a clone saw it", device.name());
    }
}

#[test]
fn what_an_update_says_of_the_tree() {
    for device in devices().iter().filter(|device| !device.is_cpu()) {
        let n = &mut Numbers(5);
        let mut spheres: Vec<Sphere> = (0..5000).map(|_| Sphere::new(n.vector(), 0.01)).collect();
        let mut scene = blocking::scene(device, &spheres, &SceneOptions::default()).unwrap();
        let still = update(&mut scene, &spheres).unwrap();
        assert_eq!((still.quality_loss, still.rebuild_suggested), (0.0, false));
        // Everybody elsewhere: the worst that can happen to a tree.
        spheres.iter_mut().for_each(|sphere| sphere.center = n.vector().into());
        let mixed = update(&mut scene, &spheres).unwrap();
        assert!(mixed.quality_loss > 5.0 && mixed.rebuild_suggested, "{mixed:?}");
        blocking::rebuild(&mut scene).unwrap();
        let again = update(&mut scene, &spheres).unwrap();
        assert_eq!((again.quality_loss, again.rebuild_suggested), (0.0, false));
    }
}
