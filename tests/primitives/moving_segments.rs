//! Segments among spheres that move almost as fast as the ray: the rounded direction and the velocity cancel, and the low part of the
//! direction decides. Integer coordinates make the relative motion exact, so a scene at rest is the reference.

use umbracast::glam::Vec3;
use umbracast::{Motion, Precision, Query, Ray, Rays, SceneOptions, Segments, Sphere, Spheres};

use umbracast_testing::{Numbers, both_searches, byte_precisions, devices};

/// An integer from 0 to `below − 1`.
fn integer(n: &mut Numbers, below: u32) -> f32 {
    (n.bits() % below) as f32
}

fn integers(n: &mut Numbers, below: u32) -> Vec3 {
    Vec3::new(integer(n, below), integer(n, below), integer(n, below))
}

#[test]
fn the_low_part_of_a_segment_direction_is_used() {
    let n = &mut Numbers(20);
    let (start, velocity) = (Vec3::splat(-16_777_216.0), Vec3::splat(33_554_400.0));
    let spheres: Vec<Sphere> =
        (0..120).map(|_| Sphere::new(start + integers(n, 25), 0.5 + 0.25 * integer(n, 12))).collect();
    // The relative velocity is `step`: zero, odd or even. Differences of the end points above 2²⁴ that are odd are no f32.
    let (mut ends, mut still) = (Vec::new(), Vec::new());
    while ends.len() < 3000 {
        let (from, step) = (integers(n, 25), integers(n, 9) - 4.0);
        if step != Vec3::ZERO {
            ends.push([(start + from).to_array(), (Vec3::splat(16_777_184.0) + (from + step)).to_array()]);
            still.push(Ray::new(start + from, step).between(0.0, 1.0));
        }
    }
    let segments = Segments::new(ends);
    let options = SceneOptions::default().time_range([0.0, 1.0]);
    let velocities = vec![velocity; spheres.len()];
    for device in devices() {
        for precision in [Precision::Standard, Precision::Exact] {
            if !byte_precisions(device).contains(&precision) {
                continue;
            }
            let query = Query::at(precision).motion(Motion::WithRay);
            let reference = device.scene(&spheres, &SceneOptions::default()).unwrap();
            let expected = reference.interval(&still, &Query::at(Precision::Exact)).unwrap();
            assert!((500..2900).contains(&expected.report.rays_hit), "{} rays hit", expected.report.rays_hit);
            for scene in both_searches(device, Spheres::from(&spheres).velocities(&velocities), &options) {
                let found = scene.interval(Rays::from(&segments), &query).unwrap();
                for (i, (found, expected)) in found.iter().zip(expected.iter()).enumerate() {
                    let name = format!("{}, {}, ray {i}: {:?}", device.name(), precision.word(), still[i]);
                    assert_eq!(found.id, expected.id, "{name}: {found:?}, expected {expected:?}");
                    if precision == Precision::Exact {
                        assert_eq!(found, expected, "{name}");
                    }
                }
            }
        }
    }
}

#[test]
fn segments_that_all_but_follow_a_sphere_are_exact() {
    let n = &mut Numbers(27);
    let velocity = Vec3::new(1000.0, 2000.0, -700.0);
    // Without a BVH, and with one: the other spheres are out of the way.
    let away = |n: &mut Numbers| Sphere::new(Vec3::new(-4000.0, -4000.0, 4000.0) + Vec3::from(n.vector()) * 100.0, 1.0);
    for size in [1e-3_f32, 1e-5, 1e-7, 1e-9, 1e-11, 1e-13] {
        let own = Sphere::new([0.0; 3], 0.01 * size);
        // The sphere ends at `velocity`, as the segment does: relative to it, the segment leads from `from` to 0.
        let from: Vec<Vec3> = (0..300).map(|_| Vec3::from(n.vector()) * size).collect();
        let segments = Segments::new(from.iter().map(|from| [from.to_array(), velocity.to_array()]));
        let still: Vec<Ray> = from.iter().map(|&from| Ray::new(from, -from).between(0.0, 1.0)).collect();
        for others in [0, 3000] {
            let spheres: Vec<Sphere> = std::iter::once(own).chain((0..others).map(|_| away(n))).collect();
            let mut velocities = vec![Vec3::ZERO; spheres.len()];
            velocities[0] = velocity;
            let given = Spheres::from(&spheres).velocities(&velocities);
            for device in devices() {
                let query = Query::at(Precision::Exact);
                let expected =
                    device.scene(&[own], &SceneOptions::default()).unwrap().interval(&still, &query).unwrap();
                let scene = device.scene(given, &SceneOptions::default().time_range([0.0, 1.0])).unwrap();
                let found = scene.interval(Rays::from(&segments), &query.motion(Motion::WithRay)).unwrap();
                assert_eq!(expected.report.rays_hit, 300);
                for (i, (found, expected)) in found.iter().zip(expected.iter()).enumerate() {
                    assert_eq!(found, expected, "{}, {size:e}, {others} others, segment {i}", device.name());
                }
            }
        }
    }
}
