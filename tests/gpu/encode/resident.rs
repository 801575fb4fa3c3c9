//! Spheres and numbers of rays that stay on the device.

use super::caller::{CallerDevice, QUERY_KINDS, shared, words_of};
use super::{TREE, rays, spheres};
use umbracast::glam::Vec3;
use umbracast::wgpu::BufferUsages;
use umbracast::{Error, Precision, Query, QueryKind, ResidentScene, SceneOptions, Sphere};

/// All spheres of these tests lie in it, also when they have moved.
const BOUNDS: [Vec3; 2] = [Vec3::splat(-4.0), Vec3::splat(4.0)];

fn words(spheres: &[Sphere]) -> &[u32] {
    bytemuck::cast_slice(spheres)
}

fn moved(spheres: &[Sphere]) -> Vec<Sphere> {
    let turned = |s: &Sphere| Sphere { center: Vec3::new(-s.center.y, s.center.x, 0.5 - 0.7 * s.center.z), ..*s };
    spheres.iter().map(turned).collect()
}

/// Results and status of a query.
fn ask(own: &CallerDevice, scene: &ResidentScene, kind: QueryKind, precision: Precision) -> (Vec<u32>, Vec<u32>) {
    let rays = rays(500);
    let given = own.filled(0, bytemuck::cast_slice(&rays));
    let out = own.filled(0, &vec![0; words_of(kind, rays.len())]);
    let status = own.filled(0, &[0; 505]);
    let plan = scene.plan(kind, 500, &Query::at(precision)).unwrap();
    let pass = plan.bind(500, given.slice(..), None, out.slice(..), Some(status.slice(..))).unwrap();
    own.submit(|encoder| pass.encode(encoder));
    (own.read(&out), own.read(&status))
}

#[test]
fn a_resident_scene_answers_as_an_ordinary_one_after_each_refit() {
    for own in shared().iter() {
        for count in [1, 60, TREE] {
            let first = spheres(count);
            let second = moved(&first);
            let buffer = own.filled(8, words(&first));
            let scene = own
                .ours
                .resident_scene(buffer.slice(8..), count as u32, BOUNDS, &SceneOptions::default())
                .unwrap_or_else(|error| panic!("{error}"));
            let check = |scene: &ResidentScene, spheres: &[Sphere]| {
                for kind in QUERY_KINDS {
                    let ordinary =
                        own.encoded(&own.scene(spheres), kind, &rays(500), &Query::at(Precision::Standard), 0);
                    let (found, status) = ask(own, scene, kind, Precision::Standard);
                    let (found, status) = (&found[..ordinary.0.len()], &status[..4]);
                    assert!(
                        found == ordinary.0 && status == ordinary.1,
                        "{kind:?} {count}: {status:?} {:?}",
                        ordinary.1
                    );
                }
            };
            check(&scene, &first);
            // The spheres of a resident scene may need subnormal numbers.
            let at_exact = (scene.plan(QueryKind::Closest, 1, &Query::at(Precision::Exact)).is_ok())
                .then(|| ask(own, &scene, QueryKind::Closest, Precision::Exact));
            assert_eq!(at_exact.is_some(), own.ours.probe().unwrap().subnormals);
            if let Some((found, status)) = at_exact {
                let query = Query::at(Precision::Exact);
                let (answers, counts, open) =
                    own.encoded(&own.scene(&first), QueryKind::Closest, &rays(500), &query, 0);
                assert_eq!((&found[..1000], &status[..4], status[4] as usize), (&answers[..], &counts[..], open.len()));
            }
            own.queue.write_buffer(&buffer, 8, bytemuck::cast_slice(&second));
            // Nothing has taken the moved spheres yet.
            check(&scene, &first);
            let made = own.ours.buffers_made();
            own.submit(|encoder| scene.refit(encoder));
            assert_eq!(own.ours.buffers_made(), made, "a refit creates no buffers");
            assert_eq!(own.read(scene.bad_spheres())[0], 0);
            check(&scene, &second);
            for _ in 0..2 {
                own.queue.write_buffer(&buffer, 8, bytemuck::cast_slice(&first));
                own.submit(|encoder| scene.rebuild(encoder));
                check(&scene, &first);
                own.queue.write_buffer(&buffer, 8, bytemuck::cast_slice(&second));
                own.submit(|encoder| scene.refit(encoder));
                check(&scene, &second);
            }
        }
    }
}

#[test]
fn bad_spheres_are_counted_and_become_points() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    for own in shared().iter() {
        for count in [60, TREE] {
            let good = spheres(count);
            let buffer = own.filled(0, words(&good));
            let scene =
                own.ours.resident_scene(buffer.slice(..), count as u32, BOUNDS, &SceneOptions::default()).unwrap();
            let mut some_bad = good.clone();
            let mut expected = good.clone();
            let bad = [
                Sphere::new([nan, 0.0, 0.0], 0.1),
                Sphere::new([0.0, -inf, 0.0], 0.1),
                Sphere::new([0.0, 0.0, 0.0], -0.1),
                Sphere::new([0.0, 0.0, 0.0], inf),
                Sphere::new([0.0, 0.0, 0.0], nan),
                Sphere::new([3.95, 0.0, 0.0], 0.1),
                Sphere::new([0.0, -3.95, 0.0], 0.1),
            ];
            for (i, sphere) in bad.iter().enumerate() {
                some_bad[7 * i] = *sphere;
                expected[7 * i] = Sphere::new(BOUNDS[0].to_array(), 0.0);
            }
            // A radius of -0 is a point.
            (some_bad[1].radius, expected[1].radius) = (-0.0, -0.0);
            own.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&some_bad));
            own.submit(|encoder| scene.refit(encoder));
            assert_eq!(own.read(scene.bad_spheres())[0], bad.len() as u32);
            let ordinary =
                own.encoded(&own.scene(&expected), QueryKind::Closest, &rays(500), &Query::at(Precision::Standard), 0);
            let (found, status) = ask(own, &scene, QueryKind::Closest, Precision::Standard);
            assert!(found[..1000] == ordinary.0 && status[..4] == ordinary.1, "{count}");
            let again = own.ours.resident_scene(buffer.slice(..), count as u32, BOUNDS, &SceneOptions::default());
            let error = again.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.starts_with("7 of the spheres are not finite"), "{error}");
        }
    }
}

#[test]
fn wrong_arguments_of_resident_scenes_are_refused() {
    for own in shared().iter() {
        let buffer = own.filled(0, words(&spheres(10)));
        let refused = |slice, count, bounds| {
            let scene = own.ours.resident_scene(slice, count, bounds, &SceneOptions::default());
            scene.err().expect("the arguments are wrong")
        };
        let words = |error: Error| error.to_string();
        let empty = words(refused(buffer.slice(..), 0, BOUNDS));
        assert!(empty.contains("at least one sphere"), "{empty}");
        let order = words(refused(buffer.slice(..), 10, [BOUNDS[1], BOUNDS[0]]));
        assert!(order.contains("the first must be below the second on every axis"), "{order}");
        let flat = words(refused(buffer.slice(..), 10, [BOUNDS[0], BOUNDS[1].with_y(f32::NAN)]));
        assert!(flat.contains("bounds: the corners are"), "{flat}");
        assert!(matches!(refused(buffer.slice(..), 1000, BOUNDS), Error::TooLarge { what: "the spheres", .. }));
        assert!(words(refused(buffer.slice(2..), 5, BOUNDS)).contains("must be a multiple of 4"));
        let mapped = own.buffer(1024, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
        assert!(words(refused(mapped.slice(..), 10, BOUNDS)).contains("usage STORAGE"));
        let cpu = umbracast_testing::cpu().resident_scene(buffer.slice(..), 10, BOUNDS, &SceneOptions::default());
        assert!(words(cpu.err().unwrap()).contains("CPU engine"));
    }
}

#[test]
fn the_number_of_rays_can_be_on_the_device() {
    for own in shared().iter() {
        for spheres_count in [60, TREE] {
            let (scene, rays) = (own.scene(&spheres(spheres_count)), rays(500));
            let given = own.filled(0, bytemuck::cast_slice(&rays));
            let exact = [QueryKind::Closest, QueryKind::Occluded].map(|kind| (kind, Precision::Exact));
            for (kind, precision) in QUERY_KINDS.map(|kind| (kind, Precision::Standard)).into_iter().chain(exact) {
                let query = Query::at(precision);
                let plan = scene.plan(kind, 500, &query).unwrap();
                let counter = own.filled(12, &[0]);
                let out = own.filled(0, &vec![0xabcd_ef01; words_of(kind, 500)]);
                let status = own.filled(0, &[0; 505]);
                let pass = plan
                    .bind_counted(
                        500,
                        counter.slice(12..),
                        given.slice(..),
                        None,
                        out.slice(..),
                        Some(status.slice(..)),
                    )
                    .unwrap();
                for count in [0usize, 1, 64, 65, 333, 500, 501, u32::MAX as usize] {
                    own.queue.write_buffer(&counter, 12, &(count as u32).to_le_bytes());
                    own.queue.write_buffer(&out, 0, bytemuck::cast_slice(&vec![0xabcd_ef01u32; words_of(kind, 500)]));
                    own.queue.write_buffer(&status, 0, &[0; 20]);
                    own.submit(|encoder| pass.encode(encoder));
                    let all = own.read(&out);
                    let (expected, counts, open) = own.encoded(&scene, kind, &rays[..count.min(500)], &query, 0);
                    assert!(all[..expected.len()] == expected, "{kind:?} {count}");
                    assert!(
                        all[expected.len()..words_of(kind, 500)].iter().all(|word| *word == 0xabcd_ef01),
                        "{kind:?} {count}"
                    );
                    let status = own.read(&status);
                    assert_eq!((&status[..4], status[4] as usize), (&counts[..], open.len()), "{kind:?} {count}");
                }
            }
        }
    }
}
