//! Pictures, or pixels of them, that the CPU engine computes although the device is a GPU. Each reason is reported.

use std::sync::Arc;

use umbracast::glam::DVec3;
use umbracast::shadow::{
    Ball, Body, Camera, Color, CpuFallback, Lens, LightSource, LimbDarkening, Picture, PictureOptions, SurfaceMap,
    System, Texture,
};
use umbracast::{Device, Limits};

use umbracast_testing::{devices, limited};

fn body(balls: impl Into<Vec<Ball>>) -> Body {
    Body::new("body", balls.into(), vec![Color::WHITE])
}

/// The unit ball and other bodies, from above, under a light of some radius at some distance.
fn system(bodies: Vec<Body>, [distance, radius]: [f64; 2], size: [u32; 2], width: f64) -> System {
    let bodies = [vec![body([Ball::new([0.0; 3], 1.0)])], bodies].concat();
    let (position, lens) = (DVec3::new(0.0, 0.0, 9.0), Lens::Orthographic { width });
    let camera = Camera { position, target: DVec3::ZERO, up: DVec3::Y, lens };
    let light = LightSource::new("light", Ball::new([0.0, 0.0, distance], radius));
    System::new(light, bodies, camera, PictureOptions { size, samples: 1, ..PictureOptions::default() }).unwrap()
}

/// A small sphere near the surface of the unit ball, for which f32 is precise enough only with a BVH.
fn near_surface() -> Body {
    body([Ball::new([0.0, 0.0, 1.01], 0.01)])
}

/// A picture that a GPU renders through a BVH, under a light of some radius at some distance.
pub(crate) fn needs_bvh(light: [f64; 2]) -> System {
    system(vec![near_surface()], light, [4, 3], 1.2)
}

/// Replaces the first body, the unit ball.
fn with_body(system: &System, change: impl Fn(&mut Body)) -> System {
    let mut bodies = system.bodies().to_vec();
    change(&mut bodies[0]);
    System::new(system.light().clone(), bodies, *system.camera(), system.picture().clone()).unwrap()
}

fn on_gpus(system: &System, devices: &[Device], check: impl Fn(&Device, &Picture)) {
    for device in devices.iter().filter(|device| !device.is_cpu()) {
        check(device, &device.render(system, None).unwrap());
    }
}

#[test]
fn the_reason_for_a_picture_by_the_cpu_is_reported() {
    let simple = needs_bvh([100.0, 1.0]);
    let ambient = PictureOptions { ambient: 0.1, ambient_samples: 4, ..simple.picture().clone() };
    let texture = Arc::new(Texture::new([2, 1], vec![[255; 3]; 2]).unwrap());
    let flat = with_body(&system(vec![], [100.0, 1.0], [4, 3], 1.2), |body| body.polar_radius = Some(0.99));
    let low = Camera { position: DVec3::new(0.0, 0.0, 1.02), ..*flat.camera() };
    let low = System::new(flat.light().clone(), flat.bodies().to_vec(), low, flat.picture().clone()).unwrap();
    let cases = [
        ("a camera far from a spheroid", flat, None),
        ("a camera near a spheroid", low, Some(CpuFallback::Spheroid)),
        ("none", simple.clone(), None),
        ("a point light", needs_bvh([100.0, 0.0]), None),
        ("ambient occlusion", simple.clone().with_picture(ambient).unwrap(), Some(CpuFallback::AmbientOcclusion)),
        (
            "a texture",
            with_body(&simple, |body| body.map = Some(SurfaceMap::Texture(texture.clone()))),
            Some(CpuFallback::Surface),
        ),
        ("a graticule", with_body(&simple, |body| body.graticule = Some(15.0)), Some(CpuFallback::Surface)),
        ("a spheroid", with_body(&simple, |body| body.polar_radius = Some(0.9)), Some(CpuFallback::Spheroid)),
        ("a narrow light", needs_bvh([100.0, 1e-8]), Some(CpuFallback::NarrowLight)),
    ];
    for (name, system, reason) in &cases {
        on_gpus(system, devices(), |device, picture| {
            assert_eq!(picture.cpu_fallback, *reason, "{name} on {}", device.name());
            let pixels = if reason.is_some() { picture.id.len() } else { 0 };
            assert_eq!(picture.cpu_pixels, pixels, "{name} on {}", device.name());
        });
    }
    let mut limits = Limits::default();
    limits.binding = 1 << 20;
    for (count, reason) in [(32_765, None), (32_766, Some(CpuFallback::SphereCount))] {
        let far = Ball::new([0.0, 0.0, -3.0], 0.5);
        let many = system(vec![near_surface(), body(vec![far; count])], [100.0, 1.0], [4, 3], 1.2);
        on_gpus(&many, limited(limits), |device, picture| {
            assert_eq!(picture.cpu_fallback, reason, "{count} on {}", device.name());
        });
    }
}

/// Invisible bodies above the unit ball, within a distance from the axis.
fn casters(count: usize, within: f64, radius: f64, polar_radius: Option<f64>) -> Vec<Body> {
    let ball = |i: usize| {
        let (turn, away) = (2.4 * i as f64, within * (i as f64 / count as f64).sqrt());
        Ball::new([away * turn.cos(), away * turn.sin(), 4.0], radius)
    };
    let hidden = |balls: Vec<Ball>| Body { receives: false, visible: false, ..body(balls) };
    let mut bodies = vec![hidden((1..count).map(ball).collect())];
    bodies.push(Body { polar_radius, ..hidden(vec![ball(0)]) });
    bodies
}

#[test]
fn the_number_of_pixels_by_the_cpu_is_reported() {
    let many = |count: usize, side: u32, radius: f64| {
        // Not in the middle of the picture, where four tiles meet.
        let balls = vec![Ball::new([0.03, 0.03, 2.0], radius); count];
        system(vec![Body { casts: false, receives: false, ..body(balls) }], [100.0, 1.0], [side; 2], 1.2)
    };
    let lit = |count: usize, polar_radius: Option<f64>| {
        system(casters(count, 0.3, 0.02, polar_radius), [100.0, 10.0], [16, 12], 0.6)
    };
    // Hardly any of these shadows overlap, but thousands are in each of four cells.
    let sharp = |count: usize| system(casters(count, 0.005, 1e-6, None), [100.0, 0.0], [16, 12], 0.01);
    let darkened = |count: usize| {
        let (simple, limb) = (lit(count, None), LimbDarkening::new(0.4, 0.2).unwrap());
        let light = LightSource { limb_darkening: Some(limb), ..simple.light().clone() };
        System::new(light, simple.bodies().to_vec(), *simple.camera(), simple.picture().clone()).unwrap()
    };
    for (name, few, exceeding) in [
        ("spheres in a tile", many(1000, 160, 0.001), many(16_500, 160, 0.001)),
        ("steps through the BVH", many(1000, 8, 0.3), many(16_500, 8, 0.3)),
        ("shadows in a cell", sharp(4000), sharp(17_000)),
        ("spheres on the disc", lit(12, None), lit(24, None)),
        ("a spheroid on the disc", lit(2, Some(0.015)), lit(4, Some(0.015))),
        ("spheres on a disc with limb darkening", darkened(2), darkened(8)),
    ] {
        on_gpus(&few, devices(), |device, picture| {
            assert_eq!((picture.cpu_pixels, picture.cpu_fallback), (0, None), "few {name} on {}", device.name());
        });
        on_gpus(&exceeding, devices(), |device, picture| {
            println!("{name} on {}: {} of {} pixels", device.name(), picture.cpu_pixels, picture.id.len());
            assert!(picture.cpu_pixels > 0 && picture.cpu_fallback.is_none(), "{name} on {}", device.name());
        });
    }
}
