//! Rendered pictures: the devices agree with the CPU engine, and shadows with `visible_fraction`.

use std::path::Path;
use umbracast_files::read_system;

use umbracast::glam::DVec3;
use umbracast::shadow::{Ball, Body, Camera, Color, Lens, LightSource, PictureOptions, System, visible_fraction};

use umbracast_testing::{Numbers, cpu, devices};

fn shipped(name: &str, size: [u32; 2]) -> System {
    let system = read_system(&Path::new(env!("CARGO_MANIFEST_DIR")).join("systems").join(name)).unwrap();
    let picture = PictureOptions { size, samples: 2, ..system.picture().clone() };
    system.with_picture(picture).unwrap()
}

/// A ground, 36 overlapping balls between it and a light of radius `light`, and a ball that neither casts nor receives shadows.
fn crowded(lens: Lens, light: f64) -> System {
    let ball = |x: f64, y: f64, z: f64, radius: f64| Ball::new([x, y, z], radius);
    let mut crowd = Vec::new();
    for i in 0..6 {
        for j in 0..6 {
            crowd.push(ball(i as f64 * 0.7 - 1.7, j as f64 * 0.7 - 1.7, 6.0 + 0.3 * ((i * 7 + j * 3) % 5) as f64, 0.5));
        }
    }
    let body =
        |name: &str, balls, casts, receives| Body { casts, receives, ..Body::new(name, balls, vec![Color::WHITE]) };
    System::new(
        LightSource::new("light", ball(0.0, 0.0, 60.0, light)),
        vec![
            body("ground", vec![ball(0.0, 0.0, -20.0, 20.0)], true, true),
            body("crowd", crowd, true, true),
            body("ghost", vec![ball(3.5, 0.0, 3.0, 0.5)], false, false),
        ],
        Camera { position: DVec3::new(9.0, -14.0, 6.0), target: DVec3::new(0.0, 0.0, 1.5), up: DVec3::Z, lens },
        PictureOptions { size: [120, 90], samples: 2, ambient: 0.01, stars: 1.0, ..PictureOptions::default() },
    )
    .unwrap()
}

/// The same scene with an oblate ground, and with every fifth ball as an oblate or prolate spheroid with another pole.
fn oblate(system: System) -> System {
    let [ground, crowd, ghost] = system.bodies() else { panic!() };
    let mut bodies = vec![
        Body { sphere_colors: Vec::new(), polar_radius: Some(15.0), pole: DVec3::new(0.3, 0.2, 1.0), ..ground.clone() },
        ghost.clone(),
    ];
    for (i, &ball) in (0..).zip(&crowd.balls).step_by(5) {
        let (turn, ratio) = (f64::from(i), 0.5 + 0.05 * f64::from(i));
        let pole = DVec3::new(turn.sin(), turn.cos(), 0.5);
        let polar_radius = Some(ball.radius * ratio);
        bodies.push(Body { sphere_colors: Vec::new(), balls: vec![ball], polar_radius, pole, ..crowd.clone() });
    }
    let round = Body {
        sphere_colors: Vec::new(),
        balls: crowd.balls.iter().copied().skip(2).step_by(5).collect(),
        ..crowd.clone()
    };
    bodies.push(round);
    System::new(system.light().clone(), bodies, *system.camera(), system.picture().clone()).unwrap()
}

/// An oblate moon whose shadow falls on the terminator of a planet.
fn moon_before_terminator() -> System {
    let body =
        |name: &str, center: [f64; 3], radius| Body::new(name, vec![Ball::new(center, radius)], vec![Color::WHITE]);
    let moon = body("moon", [1.5, -0.8, 0.6], 0.4);
    let moon = Body { polar_radius: Some(0.2), pole: DVec3::new(0.3, 0.2, 1.0), ..moon };
    let lens = Lens::Perspective { field_of_view_deg: 25.0 };
    System::new(
        LightSource::new("light", Ball::new([10.0, 0.0, 0.0], 2.0)),
        vec![body("planet", [0.0; 3], 1.0), moon],
        Camera { position: DVec3::new(2.0, -6.0, 3.0), target: DVec3::ZERO, up: DVec3::Z, lens },
        PictureOptions { size: [160, 160], samples: 1, ..PictureOptions::default() },
    )
    .unwrap()
}

#[test]
fn every_device_renders_the_same_picture() {
    let perspective = Lens::Perspective { field_of_view_deg: 40.0 };
    let systems = [
        ("planet", shipped("planet.toml", [320, 180])),
        ("eclipse", shipped("eclipse-2024-04-08.toml", [320, 180])),
        ("umbra", shipped("umbra-2024-04-08.toml", [101, 101])),
        ("annular eclipse", shipped("annular-2023-10-14.toml", [320, 180])),
        ("ring of the Sun", shipped("ring-2023-10-14.toml", [160, 160])),
        ("Ganymede", shipped("ganymede-2015-03-03.toml", [320, 180])),
        ("lunar eclipse", shipped("lunar-2025-03-14.toml", [320, 180])),
        ("occultation", shipped("occultation.toml", [320, 180])),
        ("ten thousand moonlets", shipped("ring.toml", [480, 270])),
        // More than sixteen occluders overlap on this light: such pixels are computed on the CPU.
        ("crowd", crowded(perspective, 20.0)),
        ("crowd under a small light", crowded(Lens::Orthographic { width: 12.0 }, 2.0)),
        ("crowd under a point", crowded(perspective, 0.0)),
        ("oblate crowd", oblate(crowded(perspective, 20.0))),
        ("oblate crowd under a small light", oblate(crowded(Lens::Orthographic { width: 12.0 }, 2.0))),
        ("oblate moon before a terminator", moon_before_terminator()),
        ("oblate crowd under a point", oblate(crowded(perspective, 0.0))),
    ];
    for (name, system) in &systems {
        let expected = cpu().render(system, None).unwrap();
        let shadows = expected.fraction.iter().filter(|f| (0.001..0.999).contains(*f)).count();
        for device in devices().iter().filter(|device| !device.is_cpu()) {
            let found = device.render(system, None).unwrap();
            let count = expected.id.len();
            let ids = (0..count).filter(|&i| found.id[i] != expected.id[i]).count();
            let off = |i: &usize| (found.fraction[*i] - expected.fraction[*i]).abs() > 1e-3;
            let fractions = (0..count).filter(off).count();
            let colors = found.srgb8().iter().zip(expected.srgb8()).filter(|(a, b)| a.abs_diff(*b) > 1).count();
            println!(
                "{name} on {}: {count} pixels, {shadows} in penumbra: {ids} ids, {fractions} fractions, {colors} of the \
                 colours differ",
                device.name()
            );
            // Differences are allowed at the hard shadow edges of a point light and at limbs.
            assert!(ids + fractions + colors <= count / 500, "{name} on {}", device.name());
        }
    }
}

/// The point where the ray through a pixel's centre enters a ball, in f64, computed independently of the renderer.
fn ground(system: &System, ball: Ball, x: u32, y: u32) -> Option<DVec3> {
    let camera = system.camera();
    let [width, height] = system.picture().size.map(f64::from);
    let forward = (camera.target - camera.position).normalize();
    let right = forward.cross(camera.up).normalize();
    let Lens::Perspective { field_of_view_deg } = camera.lens else { return None };
    let scale = (0.5 * field_of_view_deg).to_radians().tan() / (0.5 * height);
    let (across, down) = (f64::from(x) + 0.5 - 0.5 * width, f64::from(y) + 0.5 - 0.5 * height);
    let direction = forward + scale * (across * right - down * right.cross(forward));
    let (a, b) = (direction.length_squared(), (camera.position - ball.center).dot(direction));
    let c = (camera.position - ball.center).length_squared() - ball.radius * ball.radius;
    (b * b > a * c).then(|| camera.position - direction * ((b + (b * b - a * c).sqrt()) / a))
}

/// A camera near a large sphere: in camera space the centre is far away, and the distance to the surface is a small difference.
#[test]
fn distances_near_a_large_sphere_are_those_of_the_cpu() {
    let planet = Body::new("planet", vec![Ball::new([0.0, 0.0, -6371.0], 6371.0)], vec![Color::WHITE]);
    let light = LightSource::new("sun", Ball::new([0.0, 1e8, 3e7], 7e5));
    let picture = PictureOptions { size: [80, 45], samples: 1, ..PictureOptions::default() };
    for height in [0.0017, 1.3, 30.0] {
        for lens in [Lens::Perspective { field_of_view_deg: 60.0 }, Lens::Orthographic { width: 4.0 * height }] {
            let position = DVec3::new(0.0, 0.0, height);
            let camera = Camera { position, target: position + DVec3::new(0.0, 1.0, -0.5), up: DVec3::Z, lens };
            let system = System::new(light.clone(), vec![planet.clone()], camera, picture.clone()).unwrap();
            let expected = cpu().render(&system, None).unwrap();
            for device in devices() {
                let found = device.render(&system, None).unwrap();
                // At the horizon a ray may hit on one device only.
                let both = |(found, expected): &(&f32, &f32)| found.is_finite() && expected.is_finite();
                for (found, expected) in found.t.iter().zip(&expected.t).filter(both) {
                    let apart = (found - expected).abs() / expected;
                    assert!(apart < 1e-5, "{height} {lens:?} on {}: {apart:e}", device.name());
                }
            }
        }
    }
}

#[test]
fn casts_and_receives_control_shadows() {
    let system = crowded(Lens::Perspective { field_of_view_deg: 40.0 }, 6.0);
    let light = system.light().ball;
    let (earth, crowd) = (system.bodies()[0].balls[0], &system.bodies()[1].balls);
    for device in devices() {
        let picture = device.render(&system, None).unwrap();
        let [width, height] = picture.size;
        let (mut compared, mut shaded, mut ghosts, mut worst) = (0, 0, 0, 0.0_f64);
        for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
            let i = (y * width + x) as usize;
            let fraction = f64::from(picture.fraction[i]);
            let ball = match picture.id[i] {
                0 => earth,
                37 => system.bodies()[2].balls[0],
                _ => continue,
            };
            let Some(point) = ground(&system, ball, x, y) else { continue };
            let normal = (point - ball.center) / ball.radius;
            let toward = light.center - point;
            let height = (normal.dot(toward) / toward.length()).asin();
            if height < (light.radius / toward.length()).asin() {
                continue;
            }
            // The whole disc of the light is above the horizon. The ghost, in front of the crowd, neither casts nor receives shadows.
            let expected = if ball == earth { visible_fraction(point, light, crowd).unwrap() } else { 1.0 };
            worst = worst.max((fraction - expected).abs());
            compared += 1;
            shaded += u32::from(expected < 0.99);
            ghosts += u32::from(ball != earth);
        }
        println!("{}: {compared} pixels, {shaded} shaded, {ghosts} of the ghost, worst {worst:.1e}", device.name());
        assert!(shaded > 200 && ghosts > 20 && compared > shaded + ghosts, "{compared} {shaded} {ghosts}");
        assert!(worst < 1e-4, "{}: {worst}", device.name());
    }
}

/// Lavapipe silently stops a thread after 65,535 loop iterations. Pixels that need more are computed on the CPU.
#[test]
fn pixels_above_the_loop_limit_are_rendered_on_the_cpu() {
    let mut numbers = Numbers(7);
    let mut heap = |count: usize, y: f64, radius: f64| {
        let place = |_| Ball { center: 0.4 * random_point(&mut numbers, 0.5) + DVec3::new(0.0, y, 3.0), radius };
        (0..count).map(place).collect::<Vec<Ball>>()
    };
    let body =
        |name: &str, balls, casts, receives| Body { casts, receives, ..Body::new(name, balls, vec![Color::WHITE]) };
    // The visible balls have the highest ids.
    let (many, casting) = (heap(58_000, 0.0, 0.2), heap(6_000, -1.5, 0.03));
    let system = System::new(
        LightSource::new("light", Ball::new([3.0, 0.0, 60.0], 4.0)),
        vec![
            body("ground", vec![Ball::new([0.0, 0.0, -20.0], 20.0)], true, true),
            body("many", many, false, false),
            body("casting", casting, true, false),
        ],
        Camera {
            position: DVec3::new(0.0, -14.0, 6.0),
            target: DVec3::new(0.0, 0.0, 1.5),
            up: DVec3::Z,
            lens: Lens::Perspective { field_of_view_deg: 40.0 },
        },
        PictureOptions { size: [48, 36], samples: 1, ambient: 0.01, ..PictureOptions::default() },
    )
    .unwrap();
    let expected = cpu().render(&system, None).unwrap();
    let seen = expected.id.iter().filter(|id| (58_001..64_001).contains(*id)).count();
    let shaded = (0..expected.id.len()).filter(|&i| expected.id[i] == 0 && expected.fraction[i] < 0.9).count();
    println!("{seen} pixels of the heap, {shaded} in its shadow");
    assert!(seen > 10 && shaded > 5);
    for device in devices().iter().filter(|device| !device.is_cpu()) {
        let found = device.render(&system, None).unwrap();
        let ids = (0..expected.id.len()).filter(|&i| found.id[i] != expected.id[i]).count();
        let off = |i: &usize| (found.fraction[*i] - expected.fraction[*i]).abs() > 1e-3;
        let fractions = (0..expected.id.len()).filter(off).count();
        assert!(ids + fractions <= 2, "{}: {ids} ids, {fractions} fractions", device.name());
    }
}

#[test]
fn a_picture_without_bodies_shows_stars() {
    let system = crowded(Lens::Perspective { field_of_view_deg: 40.0 }, 0.5);
    let camera = Camera { target: DVec3::new(30.0, -60.0, 6.0), ..*system.camera() };
    let system = System::new(system.light().clone(), Vec::new(), camera, system.picture().clone()).unwrap();
    for device in devices() {
        let picture = device.render(&system, None).unwrap();
        assert!(picture.id.iter().all(|&id| id == umbracast::NO_SPHERE));
        assert!(picture.t.iter().all(|t| t.is_infinite()) && picture.fraction.iter().all(|&f| f == 1.0));
        let bright = picture.rgb.iter().filter(|rgb| rgb[1] > 0.01).count();
        assert!((100..5000).contains(&bright), "{}: {bright} pixels with stars", device.name());
    }
}

/// A random length, log-uniform over some decades around 1.
fn random_length(numbers: &mut Numbers, decades: f64) -> f64 {
    10f64.powf(decades * (numbers.unit_f64() - 0.5))
}

fn random_point(numbers: &mut Numbers, decades: f64) -> DVec3 {
    let direction = DVec3::from_array([(); 3].map(|()| numbers.unit_f64() - 0.5)).normalize_or(DVec3::X);
    direction * random_length(numbers, decades)
}

fn random_system(numbers: &mut Numbers, case: usize) -> umbracast::Result<System> {
    let scale = random_length(numbers, 50.0);
    let decades = [0.5, 3.0, 12.0][case % 3];
    let mut ball = |share: f64| Ball {
        center: random_point(numbers, decades) * scale,
        radius: share * random_length(numbers, decades) * scale,
    };
    let light = LightSource::new("light", ball([0.0, 0.01, 0.3][case / 3 % 3]));
    let bodies: Vec<Body> = (0..4)
        .map(|i| Body {
            pole: DVec3::new(1.0, 2.0, 3.0),
            swirl: f64::from(i) / 3.0,
            ..Body::new("body", vec![ball(0.2)], vec![Color::WHITE, Color::BLACK])
        })
        .collect();
    let target = bodies[0].balls[0];
    let lens = if case.is_multiple_of(2) {
        // Not 3, with which some pixels' rays would be exactly tangent.
        Lens::Orthographic { width: 3.1 * target.radius }
    } else {
        Lens::Perspective { field_of_view_deg: 17.0 * random_length(numbers, 2.0) }
    };
    let camera = Camera { position: random_point(numbers, decades) * scale, target: target.center, up: DVec3::Z, lens };
    let picture = PictureOptions { size: [9, 7], samples: 1, stars: 1.0, ..PictureOptions::default() };
    System::new(light, bodies, camera, picture)
}

/// Scenes of all scales, from atoms to light years: no panic, and all results are valid numbers.
#[test]
fn scenes_of_any_scale_give_valid_numbers() {
    let mut numbers = Numbers(11);
    let (mut drawn, mut refused, mut differ) = (0, 0, 0);
    for case in 0..900 {
        let Ok(system) = random_system(&mut numbers, case) else {
            refused += 1;
            continue;
        };
        drawn += 1;
        let expected = cpu().render(&system, None).unwrap();
        for device in devices() {
            let picture = device.render(&system, None).unwrap();
            for i in 0..picture.id.len() {
                let (t, fraction) = (picture.t[i], picture.fraction[i]);
                assert!((0.0..=1.0).contains(&fraction), "case {case} on {}: {fraction}", device.name());
                assert!(picture.rgb[i].iter().all(|c| (0.0..=1.0).contains(c)), "case {case}: {:?}", picture.rgb[i]);
                let hit = picture.id[i] != umbracast::NO_SPHERE;
                assert!(t >= 0.0 && t.is_finite() == hit, "case {case} on {}: {t}", device.name());
                let same = picture.id[i] == expected.id[i] && (fraction - expected.fraction[i]).abs() < 1e-3;
                differ += u32::from(!same);
            }
        }
    }
    println!("{drawn} drawn, {refused} refused; {differ} of {} pixels differ", drawn * 63);
    assert!(drawn > 200 && differ < drawn * 63 / 1000);
}

#[test]
fn colors_that_no_picture_shows_are_refused() {
    let system = shipped("planet.toml", [8, 6]);
    for channel in [f64::NAN, f64::INFINITY, -0.1] {
        let color = Color([0.2, channel, 0.2]);
        for place in ["light", "body[0]", "body[0] spheres", "background"] {
            let (mut light, mut bodies) = (system.light().clone(), system.bodies().to_vec());
            let mut picture = system.picture().clone();
            match place {
                "light" => light.color = color,
                "body[0]" => bodies[0].colors = vec![Color::WHITE, color],
                "background" => picture.background = color,
                _ => bodies[0].sphere_colors = vec![color; bodies[0].balls.len()],
            }
            let error = System::new(light, bodies, *system.camera(), picture).unwrap_err().to_string();
            let name = place.split(' ').next().unwrap_or_default();
            assert!(error.contains(name) && error.contains("channels must be between 0 and 1e6"), "{place}: {error}");
        }
    }
}
