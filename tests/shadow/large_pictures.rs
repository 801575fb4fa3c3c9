//! Pictures that a GPU draws through a BVH: many spheres, large floors, and small spheres near a large one.

use umbracast::glam::DVec3;
use umbracast::shadow::{Ball, Body, Camera, Color, Lens, LightSource, Picture, PictureOptions, System};
use umbracast::{Device, Error, NO_SPHERE};

use umbracast_testing::{Numbers, cpu, devices};

/// Spheres at random in a box of side `side` on the plane z = 0; their radii are around `radius`.
fn cloud(count: usize, side: f64, radius: f64) -> Vec<Ball> {
    let mut n = Numbers(17);
    let ball = |_| {
        let place =
            0.5 * side * (DVec3::from_array(n.vector().map(f64::from)).clamp(-DVec3::ONE, DVec3::ONE) + DVec3::Z);
        Ball { center: place, radius: radius * (1.0 + 0.4 * f64::from(n.signed())) }
    };
    (0..count).map(ball).collect()
}

/// A floor that touches the plane z = −1.
fn floor(radius: f64) -> Body {
    let ball = Ball { center: DVec3::new(0.0, 0.0, -1.0 - radius), radius };
    Body::new("floor", vec![ball], vec![Color([0.6, 0.7, 0.8])])
}

/// A light in the direction (0.3, −0.4, 0.9) with this angular diameter in degrees.
fn system(bodies: Vec<Body>, side: f64, diameter_deg: f64, lens: Lens, size: [u32; 2]) -> System {
    let light = LightSource::distant(&bodies, DVec3::new(0.3, -0.4, 0.9), diameter_deg).unwrap();
    let position = side * DVec3::new(1.6, -1.8, 1.1);
    let camera = Camera { position, target: DVec3::new(0.0, 0.0, 0.3 * side), up: DVec3::Z, lens };
    let picture = PictureOptions { size, samples: 1, exposure: 1.0, ambient: 0.01, ..PictureOptions::default() };
    System::new(light, bodies, camera, picture).unwrap()
}

const WIDE: Lens = Lens::Perspective { field_of_view_deg: 42.0 };

fn white(name: &str, balls: Vec<Ball>) -> Body {
    Body::new(name, balls, vec![Color::WHITE])
}

/// Compares a picture with that of the CPU engine, and asserts that the GPU has drawn it: it rounds distances in another way.
fn assert_same(name: &str, device: &Device, found: &Picture, expected: &Picture) {
    let count = expected.id.len();
    let shown = expected.id.iter().filter(|id| **id != NO_SPHERE).count();
    let colors = [found.srgb8(), expected.srgb8()];
    let differs = |&i: &usize| {
        let t = [found.t[i], expected.t[i]];
        found.id[i] != expected.id[i]
            || (found.fraction[i] - expected.fraction[i]).abs() > 1e-3
            || (t[0].is_finite() && (t[0] - t[1]).abs() > 1e-5 * t[1])
            || (3 * i..3 * i + 3).any(|k| colors[0][k].abs_diff(colors[1][k]) > 1)
    };
    let different = (0..count).filter(differs).count();
    let rounded = (0..count).filter(|&i| found.t[i] != expected.t[i]).count();
    println!(
        "{name} on {}: {shown} of {count} pixels show a body, {different} differ, {rounded} distances in the last bits",
        device.name()
    );
    assert!(different <= count / 500, "{name} on {}", device.name());
    assert!(shown > count / 20 && rounded > shown / 20, "{name}: {} did not draw the picture", device.name());
}

#[test]
fn a_gpu_draws_large_scenes_as_the_cpu_does() {
    let flat = Lens::Orthographic { width: 150.0 };
    let ghost = Body { casts: false, receives: false, ..white("ghost", cloud(300, 90.0, 2.0)) };
    let hidden = Body { visible: false, ..white("hidden", vec![Ball::new([0.0, 0.0, 60.0], 9.0)]) };
    let flags = vec![floor(1e5), ghost, hidden, white("cloud", cloud(2000, 60.0, 1.0))];
    let on_floor = |count: usize, radius: f64| vec![floor(radius), white("cloud", cloud(count, 80.0, 1.5))];
    let systems = [
        ("5,000 spheres on a floor", system(on_floor(5000, 1e5), 80.0, 2.0, WIDE, [120, 90])),
        ("30,000 atoms on a floor", system(on_floor(30_000, 1e5), 80.0, 0.53, WIDE, [60, 45])),
        ("500 spheres on a floor of radius 500,000", system(on_floor(500, 5e5), 80.0, 2.0, WIDE, [80, 60])),
        ("66,000 spheres", system(vec![white("cloud", cloud(66_000, 120.0, 0.4))], 120.0, 2.0, flat, [80, 60])),
        ("a point light", system(on_floor(2000, 1e4), 80.0, 0.0, WIDE, [120, 90])),
        ("a wide light", system(on_floor(300, 1e4), 80.0, 30.0, WIDE, [60, 45])),
        ("bodies that cast no shadows, or are invisible", system(flags, 80.0, 2.0, WIDE, [120, 90])),
    ];
    for (name, system) in &systems {
        let expected = cpu().render(system, None).unwrap();
        let shaded = expected.fraction.iter().filter(|f| **f < 0.999).count();
        assert!(shaded > expected.id.len() / 100, "{name}: {shaded} pixels are shaded");
        for device in devices().iter().filter(|device| !device.is_cpu()) {
            let found = device.render(system, None).unwrap();
            assert_same(name, device, &found, &expected);
        }
    }
}

#[test]
fn a_distant_light_needs_a_direction_and_a_diameter() {
    for (toward, diameter_deg, message) in [
        (DVec3::ZERO, 1.0, "light: direction is [0, 0, 0]: a direction must not be zero"),
        (DVec3::NAN, 1.0, "light: direction is [NaN, NaN, NaN]: a direction must not be zero"),
        (DVec3::Z, 171.0, "light: diameter_deg is 171: it must be between 0 and 170"),
        (DVec3::Z, f64::NAN, "light: diameter_deg is NaN: it must be between 0 and 170"),
    ] {
        let error = LightSource::distant(&[], toward, diameter_deg).unwrap_err();
        assert_eq!(error, Error::InvalidArgument(message.into()));
    }
}

/// A floor under large spheres, and a wide light: straight edges of wide penumbras.
fn penumbras() -> System {
    let balls = (0..9).map(|i| Ball::new([f64::from(i % 3) * 9.0 - 9.0, f64::from(i / 3) * 9.0 - 9.0, 7.0], 3.5));
    let bodies = vec![floor(1e4), white("spheres", balls.collect())];
    let light = LightSource::distant(&bodies, DVec3::new(0.1, -0.2, 0.9), 20.0).unwrap();
    let camera = Camera {
        position: DVec3::new(0.5, 0.3, 3.0),
        target: DVec3::new(0.0, 0.0, -1.0),
        up: DVec3::Y,
        lens: Lens::Perspective { field_of_view_deg: 80.0 },
    };
    let picture = PictureOptions { size: [160, 120], samples: 1, ..PictureOptions::default() };
    System::new(light, bodies, camera, picture).unwrap()
}

/// A cone that is 1 % too narrow misses the outermost part of a penumbra, which darkens the ground by up to 6 · 10⁻⁴.
#[test]
fn a_gpu_misses_no_penumbra() {
    let system = penumbras();
    let expected = cpu().render(&system, None).unwrap();
    let at_edge = expected.fraction.iter().filter(|f| (0.9994..0.999_99).contains(*f)).count();
    assert!(at_edge > 30, "{at_edge} pixels at the edge of a penumbra");
    let missed = |device: &Device| {
        let found = device.render(&system, None).unwrap();
        let lighter = |(found, expected): &(&f32, &f32)| **found > **expected + 1e-4;
        found.fraction.iter().zip(&expected.fraction).filter(lighter).count()
    };
    for info in Device::list().iter().filter(|info| info.kind != "CPU engine") {
        let options = umbracast::DeviceOptions::new(info.index.to_string());
        assert_eq!(missed(&Device::open(&options).unwrap()), 0, "{}", info.name);
        let narrowed = ("let sine = light_ball.high.w / far;", "let sine = 0.99 * light_ball.high.w / far;");
        let broken = pollster::block_on(Device::open_edited(info.index, narrowed)).unwrap();
        let found = missed(&broken);
        println!(
            "{}: a cone narrowed by 1 % misses a penumbra at {found} pixels; {at_edge} lie at its edge",
            info.name
        );
        assert!(found > 5, "{}: {found} pixels", info.name);
    }
}
