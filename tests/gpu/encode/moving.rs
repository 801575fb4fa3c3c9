//! Moving spheres and ellipsoids in a command encoder of the caller: the times of rays, and which rays are invalid.

use umbracast::glam::{Quat, Vec3};
use umbracast::wgpu;
use umbracast::{
    CastPlan, Ellipsoid, Ellipsoids, Ends, Inside, Motion, Precision, Query, QueryKind, Ray, Scene, SceneOptions,
    Spheres,
};

use super::caller::{CallerDevice, QUERY_KINDS, compare_at, shared};
use super::{TREE, assert_error, rays, spheres};
use umbracast_testing::Numbers;

fn velocities(count: usize) -> Vec<Vec3> {
    let mut n = Numbers(count as u64 + 5);
    // If spheres moved so far that the path of each overlaps most others, a software adapter would leave rays unfinished.
    let fastest = if count < 100 { 0.5 } else { 0.02 };
    (0..count).map(|_| Vec3::from(n.vector()) * fastest).collect()
}

fn scene_of<'a>(own: &CallerDevice, spheres: impl Into<Spheres<'a>>, range: [f32; 2]) -> Scene {
    own.ours.scene(spheres, &SceneOptions::default().time_range(range)).unwrap()
}

/// Whether the results at two times differ in more than 20 words. This shows that the test covers motion.
fn differ(own: &CallerDevice, scene: &Scene, rays: &[Ray], times: [f32; 2]) -> bool {
    let [a, b] = times.map(|time| {
        own.encoded_at(scene, QueryKind::Closest, rays, Some(&[time]), &Query::at(Precision::Standard), 0).0
    });
    a.iter().zip(&b).filter(|(a, b)| a != b).count() > 20
}

#[test]
fn moving_spheres_are_intersected_at_the_time_of_each_ray() {
    let all = rays(300);
    let mut n = Numbers(3);
    let times: Vec<f32> = all.iter().map(|_| 3.0 * n.unit() - 1.0).collect();
    for own in shared().iter() {
        for count in [60, TREE] {
            let (spheres, drift) = (spheres(count), velocities(count));
            let masks: Vec<u32> = (0..count as u32).map(|id| id % 3).collect();
            let moving = Spheres::from(&spheres).velocities(&drift);
            let scene = scene_of(own, moving, [-1.0, 2.0]);
            assert!(differ(own, &scene, &all, [0.0, 1.5]));
            // Moving spheres need subnormal numbers at `exact`.
            let subnormals = own.ours.probe().unwrap().subnormals;
            for precision in Precision::ALL.into_iter().filter(|kind| subnormals || *kind != Precision::Exact) {
                let query = Query::at(precision);
                compare_at(own, &scene, &QUERY_KINDS, &all, None, &query, 0);
                for times in [&times[..], &[1.25], &[-1.0]] {
                    compare_at(own, &scene, &QUERY_KINDS, &all, Some(times), &query, 12);
                }
            }
            let masked = scene_of(own, moving.masks(&masks), [-1.0, 2.0]);
            let policies = Query::at(Precision::Standard).inside(Inside::Exit).ends(Ends::HalfOpen);
            compare_at(own, &masked, &QUERY_KINDS, &all, Some(&times), &policies, 256);
            // One ray, and none.
            compare_at(own, &masked, &QUERY_KINDS, &all[..1], Some(&times[..1]), &policies, 0);
            compare_at(own, &masked, &QUERY_KINDS, &[], Some(&[0.5]), &policies, 0);
        }
    }
}

#[test]
fn rays_outside_the_time_range_are_invalid() {
    let all = rays(64);
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let wrong = [nan, -nan, inf, -inf, 2.0_f32.next_up(), (-1.0_f32).next_down(), f32::MAX, -f32::MAX];
    let right = [2.0, -1.0, 0.0, -0.0, 1e-45, -1e-45, f32::MIN_POSITIVE, 1.0];
    let times: Vec<f32> = wrong.into_iter().chain(right).cycle().take(all.len()).collect();
    for own in shared().iter() {
        for count in [3, TREE] {
            let (spheres, drift) = (spheres(count), velocities(count));
            let scene = scene_of(own, Spheres::from(&spheres).velocities(&drift), [-1.0, 2.0]);
            compare_at(own, &scene, &QUERY_KINDS, &all, Some(&times), &Query::at(Precision::Standard), 4);
            let query = Query::at(Precision::Standard);
            let (_, counts, _) = own.encoded_at(&scene, QueryKind::Closest, &all, Some(&times), &query, 0);
            assert_eq!(counts[0], 32);
            compare_at(own, &scene, &QUERY_KINDS, &all, Some(&[nan]), &query, 0);
            // Without times, rays have the time 0, which must be in the time range of the scene.
            let later = scene_of(own, Spheres::from(&spheres).velocities(&drift), [0.5, 1.0]);
            compare_at(own, &later, &QUERY_KINDS, &all, None, &query, 0);
            assert_eq!(own.encoded(&later, QueryKind::Occluded, &all, &query, 0).1, [64, 0, 0, 0]);
        }
    }
}

#[test]
fn motion_with_ray_works_in_encoded_queries() {
    let mut n = Numbers(21);
    let all: Vec<Ray> = (0..300)
        .map(|i| {
            let ray = Ray::new(n.vector().map(|x| 2.0 * x), n.vector());
            match i % 8 {
                0 => ray,
                1 => ray.line(),
                2 => ray.between(-1.0_f32.next_up(), 1.0),
                3 => ray.between(-1.0, 2.0_f32.next_up()),
                4 => ray.between(f32::NAN, 1.0),
                _ => ray.between(-1.0, 2.0),
            }
        })
        .collect();
    for own in shared().iter() {
        for count in [60, TREE] {
            let (spheres, drift) = (spheres(count), velocities(count));
            let scene = scene_of(own, Spheres::from(&spheres).velocities(&drift), [-1.0, 2.0]);
            for precision in [Precision::Fast, Precision::Standard] {
                let query = Query::at(precision).motion(Motion::WithRay);
                compare_at(own, &scene, &QUERY_KINDS, &all, None, &query, 0);
                let found = own.encoded(&scene, QueryKind::Closest, &all, &query, 0).0;
                let still = own.encoded(&scene, QueryKind::Closest, &all, &Query::at(precision), 0).0;
                assert!(found.iter().zip(&still).filter(|(a, b)| a != b).count() > 20, "nothing moved");
            }
        }
    }
}

#[test]
fn ellipsoids_give_the_bytes_of_ordinary_calls() {
    let all = rays(300);
    let questions = [QueryKind::Closest, QueryKind::Interval, QueryKind::Occluded];
    for own in shared().iter() {
        for count in [60, TREE] {
            let mut n = Numbers(count as u64);
            let list = spheres(count).into_iter().map(|sphere| {
                let radii = [0; 3].map(|_| sphere.radius.max(1e-3) * (0.02 + n.unit()));
                Ellipsoid::new(sphere.center, radii).turned(Quat::from_xyzw(n.signed(), n.signed(), n.signed(), 1.0))
            });
            let (ellipsoids, drift) = (Ellipsoids::new(list), velocities(count));
            let masks: Vec<u32> = (0..count as u32).map(|id| id % 3).collect();
            let given = Spheres::from(&ellipsoids);
            for precision in [Precision::Fast, Precision::Standard] {
                let query = Query::at(precision);
                for scene in [scene_of(own, given, [0.0, 1.0]), scene_of(own, given.masks(&masks), [0.0, 1.0])] {
                    compare_at(own, &scene, &questions, &all, None, &query, 0);
                    let (_, counts, _) = own.encoded(&scene, QueryKind::Occluded, &all, &query, 0);
                    assert!(counts[3] > 10, "{counts:?}");
                }
                let moving = scene_of(own, given.velocities(&drift), [0.0, 1.0]);
                compare_at(own, &moving, &questions, &all, Some(&[0.75]), &query, 0);
            }
        }
    }
}

#[test]
fn unsupported_queries_of_moving_scenes_are_refused() {
    let query = Query::at(Precision::Standard);
    let (spheres, drift) = (spheres(9), velocities(9));
    let ellipsoids = Ellipsoids::new(spheres.iter().map(|sphere| Ellipsoid::new(sphere.center, [1.0, 2.0, 3.0])));
    for own in shared().iter() {
        let (given, out) = (own.filled(0, &[0; 800]), own.filled(0, &[0; 200]));
        let times = own.filled(0, &[0; 100]);
        let plan = |scene: &Scene, query: &Query| scene.plan(QueryKind::Closest, 100, query);
        let bind = |plan: &CastPlan, times: wgpu::BufferSlice<'_>| {
            plan.bind(100, given.slice(..), Some(times), out.slice(..), None)
        };
        own.without_errors(|| {
            let still = plan(&own.scene(&spheres), &query).unwrap();
            assert_error(bind(&still, times.slice(..)), &["times need moving spheres"]);
            let scene = scene_of(own, Spheres::from(&spheres).velocities(&drift), [0.0, 1.0]);
            let shots = plan(&scene, &query.motion(Motion::WithRay)).unwrap();
            assert_error(bind(&shots, times.slice(..)), &["t is the time"]);
            let moving = plan(&scene, &query).unwrap();
            assert!(bind(&moving, times.slice(..400)).is_ok() && bind(&moving, times.slice(8..12)).is_ok());
            assert_error(bind(&moving, times.slice(..396)), &["the times", "400 bytes", "396 allowed"]);
            assert_error(bind(&moving, times.slice(2..)), &["the times", "is 2 bytes", "multiple of 4"]);
            assert_error(bind(&moving, out.slice(..400)), &["in different buffers"]);
            assert_error(bind(&moving, given.slice(..400)), &["in different buffers"]);
            let round = scene_of(own, &ellipsoids, [0.0, 1.0]);
            assert_error(round.plan(QueryKind::Approach, 1, &query), &["approach queries do not support ellipsoids"]);
            assert_error(plan(&round, &Query::at(Precision::Exact)), &["'exact'", "fast or standard"]);
        });
    }
}
