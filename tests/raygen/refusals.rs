//! Ray generators: invalid points, poses, sensors and cameras are refused with their index, or skipped.

use super::emit::{camera, explicit_rays, perspective, points, poses, sensor, spheres};
use umbracast::glam::{DQuat, DVec3};
use umbracast::raygen::{Image, Lidar, Parallel, Toward, linspace};
use umbracast::shadow::{Camera, Lens};
use umbracast::{Error, OnBad, Query, Rays, SceneOptions};
use umbracast_testing::devices;

fn error_text<T: std::fmt::Debug>(result: umbracast::Result<T>) -> String {
    result.map(|_| ()).expect_err("expected an error").to_string()
}

#[test]
fn bad_points_are_refused_or_skipped() {
    let mut points = points(300);
    points[70] = [1.0, f32::NAN, 0.0];
    points[200] = [0.0, 0.0, 9.0];
    points[299] = [0.0, -3e38, 0.0];
    let parallel = Parallel { points: &points, direction: [0.0, 0.0, 1.0] };
    let toward = Toward { points: &points, target: [0.0, 0.0, 9.0], radius: 1.0 };
    let far = Toward { points: &points, target: [0.0, 3e38, 9.0], radius: 1.0 };
    let skip = Query::default().on_bad(OnBad::Skip);
    for device in devices() {
        let scene = device.scene(&spheres(), &SceneOptions::default()).unwrap();
        for (source, bad, first) in [
            (Rays::from(&parallel), vec![70], "point 70: y is NaN: a point must be finite"),
            (Rays::from(&toward), vec![70, 200], "point 70: y is NaN: a point must be finite"),
            (
                Rays::from(&toward).slice(71..300),
                vec![129],
                "point 200: x,y,z is the target: the direction of its ray must not be zero",
            ),
            (
                Rays::from(&far).slice(201..300).numbered_from(1000),
                vec![98],
                "point 1098: y is -300000000000000000000000000000000000000: the distance to the target exceeds the largest f32, 3.4e38",
            ),
        ] {
            assert_eq!(error_text(scene.closest(source, &Query::default())), first, "{}", device.name());
            assert_eq!(
                error_text(pollster::block_on(scene.cast_async(
                    umbracast::queries::Occluded,
                    source,
                    &Query::default()
                ))),
                first
            );
            let hits = scene.closest(source, &skip).unwrap();
            assert_eq!(hits.report.skipped, bad.len() as u64, "{}", device.name());
            for at in &bad {
                assert!(!hits[*at].is_hit());
            }
            let sent = scene.closest(&explicit_rays(source), &skip).unwrap();
            assert_eq!(hits.records, sent.records, "{}", device.name());
            let occluded = scene.occluded(source, &skip).unwrap();
            assert_eq!((occluded.report.skipped, occluded.report.rays_hit), (bad.len() as u64, hits.report.rays_hit));
            let polled = pollster::block_on(scene.cast_async(umbracast::queries::Closest, source, &skip)).unwrap();
            assert_eq!((polled.report.skipped, &polled.records), (bad.len() as u64, &hits.records));
        }
    }
}

#[test]
fn invalid_targets_and_directions_are_refused() {
    let points = points(3);
    let at = |target, radius| Toward { points: &points, target, radius };
    for device in devices() {
        let scene = device.scene(&spheres(), &SceneOptions::default()).unwrap();
        let skip = Query::default().on_bad(OnBad::Skip);
        for (toward, words) in [
            (at([0.0, f32::INFINITY, 0.0], 0.0), "the target is 0,inf,0: it must be finite"),
            (at([0.0; 3], -1.0), "the radius is -1: it must be finite and not negative"),
            (at([0.0; 3], f32::NAN), "the radius is NaN"),
        ] {
            let found = error_text(scene.closest(&toward, &skip));
            assert!(found.contains(words), "{found}");
        }
        for (direction, words) in [([0.0; 3], "must not be zero"), ([0.0, f32::NAN, 1.0], "0,NaN,1: it must be finite")]
        {
            let found = error_text(scene.occluded(&Parallel { points: &points, direction }, &skip));
            assert!(found.contains(words), "{found}");
        }
    }
}

#[test]
fn bad_poses_are_refused_or_skipped() {
    let mut four = poses(4);
    four[1].position.y = f64::NAN;
    four[2].rotation = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.875);
    let sensor = Lidar::new(&four, &[-10.0, 0.0, 5.0], &linspace(0.0, 360.0, 50).collect::<Vec<_>>()).unwrap();
    let skip = Query::default().on_bad(OnBad::Skip);
    for device in devices() {
        let scene = device.scene(&spheres(), &SceneOptions::default()).unwrap();
        let refused = error_text(scene.closest(&sensor, &Query::default()));
        assert_eq!(refused, "pose 1: y is NaN: a position must be finite", "{}", device.name());
        let rest = Rays::from(&sensor).slice(300..600);
        let refused = error_text(scene.closest(rest, &Query::default()));
        assert_eq!(
            refused,
            "pose 2: |q| is 0.875: a rotation must be a quaternion of length 1 (0.9 to 1.1 is normalised)"
        );
        let hits = scene.closest(&sensor, &skip).unwrap();
        assert_eq!(hits.report.skipped, 300, "{}", device.name());
        assert!(hits[150..450].iter().all(|hit| !hit.is_hit()));
        assert!(hits.report.rays_hit > 50, "{}", hits.report.rays_hit);
        let polled = pollster::block_on(scene.cast_async(umbracast::queries::Closest, &sensor, &skip)).unwrap();
        assert_eq!((polled.report.skipped, &polled.records), (300, &hits.records));
    }
}

#[test]
fn invalid_sensors_and_cameras_are_refused() {
    let pose = poses(1);
    let new = |elevations: &[f64], azimuths: &[f64]| Lidar::new(&pose, elevations, azimuths);
    let cases = [
        (error_text(new(&[], &[0.0])), "the list of elevations is empty"),
        (error_text(new(&[0.0], &[])), "the list of azimuths is empty"),
        (error_text(new(&[0.0, 91.0], &[0.0])), "elevation 1: deg is 91"),
        (error_text(new(&[f64::NAN], &[0.0])), "elevation 0: deg is NaN"),
        (error_text(new(&[0.0], &[0.0, 1.0, f64::INFINITY])), "azimuth 2: deg is inf"),
        (error_text(new(&[0.0; 40_000], &[0.0; 40_000])), "are too many"),
        (error_text(new(&[0.0], &[0.0]).unwrap().within(2.0, 1.0)), "the range is 2 to 1"),
        (error_text(new(&[0.0], &[0.0]).unwrap().within(-1.0, 1.0)), "the range is -1 to 1"),
        (error_text(new(&[0.0], &[0.0]).unwrap().within(0.0, f32::NAN)), "the range is 0 to NaN"),
        (error_text(Image::new(&perspective(), [0, 3])), "size is 0x3"),
        (error_text(Image::new(&perspective(), [u32::MAX, 3])), "size is 4294967295x3"),
        (error_text(Image::new(&perspective(), [65_536, 65_536])), "are too many"),
        (error_text(Image::new(&Camera { up: DVec3::ZERO, ..perspective() }, [4, 3])), "up is [0, 0, 0]"),
        (
            error_text(Image::new(&Camera { target: perspective().position, ..perspective() }, [4, 3])),
            "the two points must differ",
        ),
        (
            error_text(Image::new(&camera(Lens::Perspective { field_of_view_deg: 171.0 }), [4, 3])),
            "field_of_view_deg is 171",
        ),
        (error_text(Image::new(&camera(Lens::Orthographic { width: f64::NAN }), [4, 3])), "width is NaN"),
    ];
    for (found, words) in cases {
        assert!(found.contains(words), "{found}: {words}");
    }
    let lengths = Rays::from(&sensor(2, 3, 4)).len();
    assert_eq!(lengths, 24);
    let error: Error = Lidar::new(&pose, &[100.0], &[0.0]).unwrap_err();
    assert!(matches!(error, Error::BadRecord { .. }), "{error}");
}
