//! Motion: invalid velocities, times and radii are refused, and a device that computes motion wrongly is detected.

use super::motion::scenes;
use umbracast::glam::Vec3;
use umbracast::{
    Device, Error, Hit, Motion, OnBad, Points, Precision, Query, Ray, Rays, Scene, SceneOptions, Segments, Sphere,
    Spheres,
};
use umbracast_testing::{Numbers, cpu, devices};

#[test]
fn invalid_motion_times_and_radii_are_refused() {
    let spheres = [Sphere::new([5.0, 0.0, 0.0], 1.0), Sphere::new([0.0, 5.0, 0.0], 1.0)];
    let rays = [Ray::new([0.0; 3], [1.0, 0.0, 0.0]); 3];
    let bad = |error: Error, words: (&str, u64, &str)| match error {
        Error::BadRecord { what, index, field, .. } => assert_eq!((what, index, field), words),
        other => panic!("{other}"),
    };
    for device in devices() {
        let build = |velocities: &[Vec3], range| {
            let given = Spheres::from(&spheres).velocities(velocities);
            device.scene(given, &SceneOptions::default().time_range(range))
        };
        let none = Vec3::ZERO;
        let refused = |velocities: &[Vec3], range| build(velocities, range).err().unwrap();
        bad(refused(&[none, Vec3::new(0.0, f32::NAN, 0.0)], [0.0, 1.0]), ("sphere", 1, "vy"));
        bad(refused(&[Vec3::new(0.0, 0.0, f32::INFINITY), none], [0.0, 1.0]), ("sphere", 0, "vz"));
        bad(refused(&[Vec3::new(1e38, 0.0, 0.0), none], [0.0, 3.0]), ("sphere", 0, "vx"));
        assert!(matches!(refused(&[none], [0.0, 1.0]), Error::LengthsDiffer { right_name: "velocities", .. }));
        for range in [[1.0, 0.0], [f32::NAN, 1.0], [0.0, f32::INFINITY]] {
            assert!(matches!(refused(&[none; 2], range), Error::InvalidArgument(_)), "{range:?}");
        }
        let scene = build(&[none, Vec3::X], [0.0, 2.0]).unwrap();
        let query = Query::at(Precision::Standard);
        let at = |times: &[f32]| scene.closest(Rays::from(&rays).times(times), &query);
        bad(at(&[0.0, 2.5, 0.0]).unwrap_err(), ("ray", 1, "time"));
        bad(at(&[0.0, 2.0, f32::NAN]).unwrap_err(), ("ray", 2, "time"));
        assert!(matches!(at(&[0.0]).unwrap_err(), Error::LengthsDiffer { right_name: "times", .. }));
        let skip = query.on_bad(OnBad::Skip);
        let found = scene.closest(Rays::from(&rays).times(&[0.0, -1.0, 2.0]), &skip).unwrap();
        assert_eq!((found[1], found.report.rays_hit, found.report.skipped), (Hit::MISS, 2, 1), "{}", device.name());
        let with = query.motion(Motion::WithRay);
        bad(scene.closest(&rays, &with).unwrap_err(), ("ray", 0, "t_max"));
        let early = [rays[0].between(-0.5, 1.0)];
        bad(scene.all(&early, &with).unwrap_err(), ("ray", 0, "t_min"));
        let still = device.scene(&spheres, &SceneOptions::default()).unwrap();
        let ball = |radii: &[f32]| still.occluded(Rays::from(&rays).radii(radii), &query);
        bad(ball(&[0.0, 1.0, -1.0]).unwrap_err(), ("ray", 2, "radius"));
        bad(ball(&[f32::NAN, 1.0, 1.0]).unwrap_err(), ("ray", 0, "radius"));
        bad(ball(&[1.0, f32::INFINITY, 1.0]).unwrap_err(), ("ray", 1, "radius"));
        assert_eq!(ball(&[0.0, 1e30, 3e38]).unwrap().iter().collect::<Vec<_>>(), [true; 3], "{}", device.name());
        let same = Segments::new([[[1.0, 2.0, 3.0]; 2]]);
        bad(still.closest(&same, &query).unwrap_err(), ("segment", 0, "end"));
        let nan = Segments::new([[[0.0; 3], [f32::NAN, 0.0, 0.0]]]);
        bad(still.closest(&nan, &query).unwrap_err(), ("segment", 0, "end"));
        let nan = Segments::new([[[0.0, f32::INFINITY, 0.0], [1.0, 0.0, 0.0]]]);
        bad(still.closest(&nan, &query).unwrap_err(), ("segment", 0, "start"));
        let late = Points::from(&[[0.0; 3]; 2]).times(&[0.0, 2.5]);
        bad(scene.contains(late, &query).unwrap_err(), ("point", 1, "time"));
        let masks = scene.contains(Points::from(&[[0.0; 3]; 2]).masks(&[1]), &query).unwrap_err();
        assert!(matches!(masks, Error::LengthsDiffer { left_name: "points", .. }), "{masks}");
        // A scene of spheres at rest accepts any time.
        let late = still.closest(Rays::from(&rays).times(&[9.0; 3]), &with).unwrap();
        assert_eq!(late.report.rays_hit, 3);
    }
}

#[test]
fn broken_motion_shaders_are_detected() {
    let n = &mut Numbers(2);
    let spheres: Vec<Sphere> = (0..3000).map(|_| Sphere::new(n.vector(), 0.05)).collect();
    let velocities: Vec<Vec3> = spheres.iter().map(|_| Vec3::from(n.vector()) * 0.2).collect();
    let rays: Vec<Ray> = (0..400).map(|_| Ray::new(n.vector(), n.vector()).between(0.0, 1.0)).collect();
    let radii = vec![0.01; rays.len()];
    let given = Spheres::from(&spheres).velocities(&velocities);
    let [expected, _] = scenes(&cpu(), given, [0.0, 1.0]);
    let times: Vec<f32> = rays.iter().map(|_| n.unit()).collect();
    let rays = Rays::from(&rays).radii(&radii).times(&times);
    let run_all =
        |scene: &Scene, motion| scene.closest(rays, &Query::at(Precision::Standard).motion(motion)).unwrap().records;
    let (with, at) = (Motion::WithRay, Motion::AtTime);
    for info in Device::list().into_iter().filter(|info| info.probe.is_some()) {
        for (motion, edit) in [
            // The edits: the ball around the whole path instead of the sphere; the velocity of another sphere; a ray without its
            // radius; a rounded relative velocity.
            (
                with,
                (
                    "  if (has_sphere_attributes) {\n    sphere = Sphere(",
                    "  if (has_sphere_attributes && at > 9999999u) {\n    sphere = Sphere(",
                ),
            ),
            (with, ("velocity = numbers_at(at, 4u);", "velocity = numbers_at(at ^ 1u, 4u);")),
            (with, ("line.slack += more;\n    longer", "longer")),
            (
                with,
                (
                    "two_sum3(first_d.high, first_d.low + moves.direction_low * q)",
                    "HighLow(first_d.high, moves.direction_low * q)",
                ),
            ),
            // In the leaves: a wrong position at the ray's time, a wrong time of the closest approach, a wrong distance, and an inner
            // ball that is too large, so that misses count as certain hits.
            (with, ("ball.xyz + motion.center * prepared_ray.time", "ball.xyz - motion.center * prepared_ray.time")),
            (at, ("ball.xyz + motion.center * prepared_ray.time", "ball.xyz - motion.center * prepared_ray.time")),
            (with, ("time += pivot / step;", "time += 0.0;")),
            (with, ("e.y * w.z - e.z * w.y", "e.y * w.z + e.z * w.y")),
            (with, ("motion.radius - 2.0 * flag", "8.0 * motion.radius")),
            (at, ("motion.radius - 2.0 * flag", "8.0 * motion.radius")),
            (with, ("t_per_length = 1.0 / step;", "t_per_length = 0.0;")),
            // Child bounds that do not include the motion.
            (with, ("abs(motion.center) * build_params.half", "abs(motion.center) * 0.0")),
            (at, ("abs(motion.center) * build_params.half", "abs(motion.center) * 0.0")),
            // The motion of another sphere.
            (with, ("leaves[build_params.count + i] = motion;", "leaves[build_params.count + (i ^ 1u)] = motion;")),
            (at, ("leaves[build_params.count + i] = motion;", "leaves[build_params.count + (i ^ 1u)] = motion;")),
        ] {
            let broken = pollster::block_on(Device::open_edited(info.index, edit)).unwrap();
            let [scene, _] = scenes(&broken, given, [0.0, 1.0]);
            assert!(run_all(&scene, motion) != run_all(&expected, motion), "{}: {motion:?}, {edit:?}", info.name);
        }
    }
}
