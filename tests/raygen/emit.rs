//! Ray generators: devices generate the same rays as the host, byte for byte, and queries return the same results as for explicit rays.

use umbracast::glam::{DQuat, DVec3, Vec3};
use umbracast::raygen::{Image, Lidar, Parallel, Pose, Toward, linspace};
use umbracast::shadow::{Ball, Body, Camera, Lens, LightSource, PictureOptions, System};
use umbracast::{Device, Limits, Near, Precision, Query, Ray, Rays, SceneOptions, Sphere};
use umbracast_testing::{Numbers, devices, limited, scaled};

pub(super) fn points(count: usize) -> Vec<[f32; 3]> {
    let mut numbers = Numbers(count as u64);
    (0..count).map(|_| numbers.vector().map(|x| 4.0 * x)).collect()
}

pub(super) fn spheres() -> Vec<Sphere> {
    let mut numbers = Numbers(7);
    (0..300).map(|_| Sphere::new(numbers.vector().map(|x| 4.0 * x), 0.05 + 0.4 * numbers.unit())).collect()
}

pub(super) fn camera(lens: Lens) -> Camera {
    Camera {
        position: DVec3::new(9.0, -4.0, 2.5),
        target: DVec3::new(0.1, 0.3, -0.2),
        up: DVec3::new(0.1, 0.0, 1.0),
        lens,
    }
}

pub(super) fn perspective() -> Camera {
    camera(Lens::Perspective { field_of_view_deg: 47.0 })
}

pub(super) fn poses(count: usize) -> Vec<Pose> {
    let pose = |i: usize| Pose {
        position: DVec3::new(0.3 * i as f64 - 2.0, 0.1 * i as f64, 0.7),
        rotation: DQuat::from_euler(umbracast::glam::EulerRot::ZYX, 0.37 * i as f64, 0.1, -0.05 * i as f64),
    };
    (0..count).map(pose).collect()
}

pub(super) fn sensor(count: usize, channels: usize, azimuths: usize) -> Lidar {
    let elevations: Vec<f64> = linspace(-25.0, 15.0, channels).collect();
    let azimuths: Vec<f64> = linspace(0.0, 360.0, azimuths).collect();
    Lidar::new(&poses(count), &elevations, &azimuths).unwrap().within(0.5, 120.0).unwrap()
}

/// The ray as a device stores it: infinite ends are the largest f32.
fn finite(ray: Ray) -> Ray {
    ray.between(ray.t_min.max(-f32::MAX), ray.t_max.min(f32::MAX))
}

pub(super) fn explicit_rays(rays: Rays<'_>) -> Vec<Ray> {
    (0..rays.len()).map(|i| rays.ray(i).unwrap()).collect()
}

/// Asserts that every device generates the same rays as the host, bit for bit, and that queries return the same results. Returns the
/// number of bytes uploaded.
#[track_caller]
fn check_generated_rays(what: &str, rays: Rays<'_>) -> u64 {
    let records = explicit_rays(rays);
    let (spheres, mut bytes) = (spheres(), 0);
    for device in devices() {
        let what = format!("{what}, {} rays on {}", rays.len(), device.name());
        if !rays.is_empty()
            && let Some((generated, uploaded)) = device.generated_rays(rays).unwrap()
        {
            let expected: Vec<Ray> = records.iter().copied().map(finite).collect();
            let different = generated.iter().zip(&expected).position(|(a, b)| bytes_of(a) != bytes_of(b));
            assert_eq!(different.map(|i| (i, generated[i], expected[i])), None, "{what}");
            assert_eq!(generated.len(), expected.len(), "{what}");
            bytes = uploaded;
        }
        check_results(&what, device, &spheres, rays, &records);
    }
    bytes
}

fn bytes_of(ray: &Ray) -> [u32; 8] {
    let [x, y, z] = ray.origin.to_array().map(f32::to_bits);
    let [dx, dy, dz] = ray.direction.to_array().map(f32::to_bits);
    [x, y, z, ray.t_min.to_bits(), dx, dy, dz, ray.t_max.to_bits()]
}

#[track_caller]
fn check_results(what: &str, device: &Device, spheres: &[Sphere], rays: Rays<'_>, records: &[Ray]) {
    let scene = device.scene(spheres, &SceneOptions::default()).unwrap();
    for precision in Precision::ALL {
        // Rays of a sensor are blocked before their range by default, and the records of the same rays are not.
        let query = Query::at(precision).near(Near::Pass);
        macro_rules! ask {
            ($($verb:ident),+) => {$(
                let (generated, sent) = (scene.$verb(rays, &query), scene.$verb(records, &query));
                let (generated, sent) = (generated.unwrap(), sent.unwrap());
                assert_eq!(generated.records, sent.records, "{} {what} {precision:?}", stringify!($verb));
                assert_eq!(generated.report.rays_hit, sent.report.rays_hit, "{} {what} {precision:?}", stringify!($verb));
            )+};
        }
        ask!(closest, interval, approach);
        let (generated, sent) = (scene.occluded(rays, &query), scene.occluded(records, &query));
        assert_eq!(generated.unwrap().words, sent.unwrap().words, "occluded {what} {precision:?}");
    }
}

const COUNTS: [usize; 6] = [0, 1, 63, 64, 65, 1537];

#[test]
fn rays_from_points_are_the_same_on_every_device() {
    for count in COUNTS {
        let points = points(count);
        let uploaded =
            check_generated_rays("parallel", (&Parallel { points: &points, direction: [0.3, -2.0, 0.7] }).into());
        assert_eq!(uploaded, if count > 0 { 64 + 12 * count as u64 } else { 0 });
        for (target, radius) in [([0.5, 0.25, 9.0], 0.0), ([0.5, 0.25, 9.0], 0.75), ([0.0; 3], 2.0)] {
            let uploaded = check_generated_rays("toward", (&Toward { points: &points, target, radius }).into());
            assert_eq!(uploaded, if count > 0 { 64 + 12 * count as u64 } else { 0 });
        }
    }
}

#[test]
fn rays_of_sensors_and_images_are_the_same_on_every_device() {
    for (poses, channels, azimuths) in
        [(0, 3, 5), (1, 1, 1), (1, 7, 9), (1, 1, 64), (1, 64, 1), (5, 1, 13), (3, 16, 33), (65, 1, 1), (1, 64, 90)]
    {
        check_generated_rays("sensor", (&sensor(poses, channels, azimuths)).into());
    }
    for lens in [Lens::Perspective { field_of_view_deg: 47.0 }, Lens::Orthographic { width: 9.0 }] {
        for size in [[1, 1], [63, 1], [1, 65], [40, 30]] {
            check_generated_rays("image", (&Image::new(&camera(lens), size).unwrap()).into());
        }
    }
}

#[test]
fn directions_of_all_lengths_are_the_same_on_every_device() {
    let mut numbers = Numbers(3);
    let point = |i: usize| numbers.vector().map(|x| x * ((i % 200) as f32 - 100.0).exp2());
    let points: Vec<[f32; 3]> = (0..scaled(4000)).map(point).collect();
    for (target, radius) in [([0.0; 3], 0.0), ([0.0; 3], 1e-20), ([0.0; 3], 1.0), ([1e30, 0.0, -1e25], 1e29)] {
        let toward = Toward { points: &points, target, radius };
        for device in devices() {
            let Some((generated, _)) = device.generated_rays(&toward).unwrap() else { continue };
            for (i, (generated, ray)) in generated.iter().zip(explicit_rays((&toward).into())).enumerate() {
                assert_eq!(
                    bytes_of(generated),
                    bytes_of(&finite(ray)),
                    "point {i} {:?} on {}",
                    points[i],
                    device.name()
                );
            }
        }
    }
}

#[test]
fn any_part_of_a_grid_is_the_same_on_every_device() {
    let sensor = sensor(5, 3, 70);
    let whole = Rays::from(&sensor);
    for device in devices() {
        for (start, end) in [(0, 300), (69, 500), (70, 700), (209, 900), (211, 212), (640, 1050), (100, 170)] {
            let part = whole.slice(start..end);
            let Some((generated, _)) = device.generated_rays(part).unwrap() else { continue };
            let expected: Vec<Ray> = explicit_rays(whole)[start..end].iter().copied().map(finite).collect();
            assert_eq!(generated, expected, "{start}..{end} on {}", device.name());
        }
    }
}

#[test]
fn chunk_boundaries_do_not_change_generated_rays() {
    let (spheres, points, sensor) = (spheres(), points(1000), sensor(3, 16, 33));
    let toward = Toward { points: &points, target: [0.5, 0.25, 9.0], radius: 0.5 };
    for (rays, end) in [(1, 110), (33, 400), (64, 400), (500, 1000)] {
        let mut limits = Limits::default();
        limits.rays = rays;
        for device in limited(limits) {
            for source in [Rays::from(&toward), Rays::from(&sensor)] {
                let source = source.slice(100..end);
                check_results(&format!("{rays} rays per chunk"), device, &spheres, source, &explicit_rays(source));
            }
        }
    }
}

#[test]
fn async_calls_give_the_same_results() {
    let (spheres, points) = (spheres(), points(700));
    let toward = Toward { points: &points, target: [0.5, 0.25, 9.0], radius: 0.5 };
    for device in devices() {
        let scene = device.scene(&spheres, &SceneOptions::default()).unwrap();
        let query = Query::default();
        let (polled, waited) =
            (scene.cast_async(umbracast::queries::Closest, &toward, &query), scene.closest(&toward, &query));
        assert_eq!(pollster::block_on(polled).unwrap().records, waited.unwrap().records);
        let polled = pollster::block_on(scene.cast_async(umbracast::queries::Occluded, &toward, &query)).unwrap();
        assert_eq!(polled.words, scene.occluded(&toward, &query).unwrap().words);
        let mut hits = vec![umbracast::Hit::MISS; 700];
        scene.closest_into(&toward, &mut hits, &query).unwrap();
        assert_eq!(hits, scene.closest(&toward, &query).unwrap().records);
    }
}

/// A device whose compiler ignores the optimisation barriers does not generate rays; the host's are uploaded.
#[test]
fn rays_are_uploaded_to_a_device_that_fails_the_probe() {
    let points = points(100);
    let parallel = Parallel { points: &points, direction: [0.0, 1.0, 0.0] };
    let edit = ("return bitcast<f32>(bitcast<u32>(x) ^ zero);", "return x * 1.0000002;");
    let device = pollster::block_on(Device::open_edited(0, edit)).unwrap();
    assert!(device.probe().unwrap().failure.is_some());
    let (generated, uploaded) = device.generated_rays(&parallel).unwrap().unwrap();
    assert_eq!((uploaded, generated), (3200, explicit_rays((&parallel).into()).into_iter().map(finite).collect()));
}

#[test]
fn camera_rays_go_through_pixel_centres() {
    let image = Image::new(&perspective(), [40, 30]).unwrap();
    let rays = Rays::from(&image);
    assert_eq!(rays.len(), 1200);
    let forward = (perspective().target - perspective().position).normalize();
    let half = (47.0_f64.to_radians() / 2.0).tan();
    for (i, ray) in explicit_rays(rays).into_iter().enumerate() {
        let (column, row) = ((i % 40) as f64, (i / 40) as f64);
        let direction = ray.direction.as_dvec3();
        // Directions have depth 1. Rows run from top to bottom, columns from left to right.
        assert!((direction.dot(forward) - 1.0).abs() < 1e-6, "{i}");
        let right = forward.cross(perspective().up).normalize();
        let (x, y) = (direction.dot(right), direction.dot(right.cross(forward)));
        assert!((y - half * (1.0 - (2.0 * row + 1.0) / 30.0)).abs() < 1e-6, "{i}");
        assert!((x - half * 40.0 / 30.0 * ((2.0 * column + 1.0) / 40.0 - 1.0)).abs() < 1e-6, "{i}");
        assert_eq!((ray.origin, ray.t_min, ray.t_max), (Vec3::new(9.0, -4.0, 2.5), 0.0, f32::INFINITY));
    }
    let plan = Image::new(&camera(Lens::Orthographic { width: 8.0 }), [4, 2]).unwrap();
    let rays = explicit_rays((&plan).into());
    assert!(rays.iter().all(|ray| ray.direction == rays[0].direction));
    assert!(((rays[3].origin - rays[0].origin).length() - 6.0).abs() < 1e-5);
    assert!(((rays[4].origin - rays[0].origin).length() - 2.0).abs() < 1e-5);
    assert!((rays[0].origin + rays[7].origin).distance(2.0 * Vec3::new(9.0, -4.0, 2.5)) < 1e-5);
}

#[test]
fn camera_rays_hit_the_spheres_that_render_shows() {
    // Renders a system with the same camera: its pixels show the spheres that the rays hit.
    let balls = spheres();
    let image = Image::new(&perspective(), [64, 48]).unwrap();
    let light = LightSource::new("sun", Ball::new([0.0, 0.0, 1000.0], 1.0));
    let body = Body {
        casts: false,
        receives: false,
        ..Body::new(
            "balls",
            balls.iter().map(|s| Ball::new(s.center.as_dvec3(), f64::from(s.radius))).collect(),
            vec![light.color],
        )
    };
    let options = PictureOptions { size: [64, 48], samples: 1, ambient: 0.1, ..PictureOptions::default() };
    let system = System::new(light, vec![body], perspective(), options).unwrap();
    for device in devices() {
        let scene = device.scene(&balls, &SceneOptions::default()).unwrap();
        let hits = scene.closest(&image, &Query::default()).unwrap();
        let picture = device.render(&system, None).unwrap();
        let different = hits.iter().zip(&picture.id).filter(|(hit, id)| hit.id != **id).count();
        assert!(hits.report.rays_hit > 300 && different <= 3, "{} hits, {different} differ", hits.report.rays_hit);
    }
}

#[test]
fn azimuth_turns_left_and_elevation_looks_up() {
    let sensor = Lidar::new(
        &[Pose { position: DVec3::new(1.0, 2.0, 3.0), rotation: DQuat::IDENTITY }],
        &[0.0, 30.0, 90.0],
        &[0.0, 90.0, 180.0, -90.0],
    );
    let rays = explicit_rays((&sensor.unwrap()).into());
    let directions: Vec<[f32; 3]> = rays.iter().map(|ray| ray.direction.to_array()).collect();
    assert_eq!(directions[..4], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]);
    let cos = 0.75_f32.sqrt();
    assert_eq!(directions[4..6], [[cos, 0.0, 0.5], [0.0, cos, 0.5]]);
    assert!(directions[8..].iter().all(|d| *d == [0.0, 0.0, 1.0]), "{directions:?}");
    // After a rotation by 90° to the left, azimuth 0 points along y.
    let turned = Pose { position: DVec3::ZERO, rotation: DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2) };
    let turned = Lidar::new(&[turned], &[0.0], &[0.0]).unwrap();
    assert_eq!(Rays::from(&turned).ray(0).unwrap().direction, Vec3::Y);
}

#[test]
fn sensor_directions_have_unit_length() {
    let sensor = sensor(20, 64, 100);
    let rays = Rays::from(&sensor);
    let off = |ray: Ray| (ray.direction.as_dvec3().length() - 1.0).abs() * f64::from(1 << 23);
    let worst = explicit_rays(rays).into_iter().map(off).fold(0.0, f64::max);
    assert!(worst < 8.0, "{worst} ulp");
    assert_eq!(rays.ray(rays.len()), None);
}

#[test]
fn rays_toward_a_lamp_end_before_it() {
    // Rays towards a lamp that is itself in the scene are not occluded by it, but by a small ball in front of it.
    let lamp = Sphere::new([0.3, 0.1, 6.0], 1.5);
    let scene_of = [lamp, Sphere::new([0.3, 0.1, 3.0], 0.01)];
    let points: Vec<[f32; 3]> = points(scaled(20_000)).into_iter().filter(|p| !lamp.contains(Vec3::from(*p))).collect();
    let light = |points| Toward { points, target: lamp.center.to_array(), radius: lamp.radius };
    for device in devices() {
        for precision in Precision::ALL {
            let query = Query::at(precision);
            let alone = device.scene(&[lamp], &SceneOptions::default()).unwrap();
            let occluded = alone.occluded(&light(&points), &query).unwrap();
            assert_eq!(occluded.report.rays_hit, 0, "{precision:?} on {}", device.name());
            let both = device.scene(&scene_of, &SceneOptions::default()).unwrap();
            let occluded = both.occluded(&light(&[[0.3, 0.1, 0.0], [2.0, 0.0, 0.0]]), &query).unwrap();
            assert_eq!(occluded.iter().collect::<Vec<_>>(), [true, false], "{precision:?} on {}", device.name());
        }
        // For a point inside the lamp, the ray has length 0.
        let inside = light(&[[0.3, 0.1, 5.5]]);
        assert_eq!(Rays::from(&inside).ray(0).unwrap().t_max, 0.0);
    }
}

#[test]
fn generated_rays_work_pairwise() {
    let balls = spheres();
    let points = points(balls.len());
    let toward = Toward { points: &points, target: [0.0; 3], radius: 0.0 };
    for device in devices() {
        let scene = device.pairwise(&balls, &Default::default()).unwrap();
        let generated = scene.approach(&toward, &Query::default()).unwrap();
        let sent = scene.approach(&explicit_rays((&toward).into()), &Query::default()).unwrap();
        assert_eq!(generated.records, sent.records, "{}", device.name());
        let half = Rays::from(&toward).slice(100..200);
        let half = scene.approach(half, &Query::default()).unwrap();
        assert_eq!(half.records, generated.records[100..200], "{}", device.name());
    }
}

/// `t_max` of the ray from the origin to a target with a radius.
fn end(target: Vec3, radius: f32) -> f32 {
    let toward = Toward { points: &[[0.0; 3]], target: target.into(), radius };
    Rays::from(&toward).ray(0).unwrap().t_max
}

/// The documented margin before a target with a radius.
const MARGIN: f32 = 1.0 / 131_072.0;

#[test]
fn a_segment_ends_a_margin_before_its_target() {
    let mut worst = 0.0_f64;
    for i in 0..20_000_u32 {
        // Lengths over the whole range of f32, radii up to the length.
        let angle = f64::from(i) * 2.399_963;
        let scale = (f64::from(i % 240) - 120.0).exp2();
        let unit = DVec3::new(angle.sin(), angle.cos(), (angle * 1.7).sin());
        let target = (unit * scale).as_vec3();
        let length = target.as_dvec3().length();
        let share = (f64::from(i % 1000) + 1.0) / 1001.0;
        let radius = (share * length) as f32;
        let expected = (1.0 - f64::from(radius) / length - f64::from(MARGIN)).max(0.0);
        worst = worst.max((f64::from(end(target, radius)) - expected).abs());
    }
    // A few roundings of numbers up to 1: far less than the margin.
    assert!(worst < 6.0 / 16_777_216.0, "{worst}");
}

#[test]
fn segment_ends_are_accurate_for_extreme_lengths() {
    for (target, radius, t) in [
        (Vec3::X, 0.0, 1.0),
        (Vec3::X, 1.0, 0.0),
        (Vec3::X, 2.0, 0.0),
        (Vec3::X, f32::MAX, 0.0),
        (Vec3::splat(1e-40), f32::MAX, 0.0),
        (Vec3::splat(f32::MAX), 1e-40, 1.0 - MARGIN),
        (Vec3::splat(1e-40), 1e-45, 1.0 - MARGIN),
        (Vec3::X, 1e-45, 1.0 - MARGIN),
    ] {
        assert!((end(target, radius) - t).abs() < 2e-5, "{target} {radius}: {}", end(target, radius));
    }
}
