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
