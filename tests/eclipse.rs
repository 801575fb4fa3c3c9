//! The total eclipse of 2024-04-08 at 18:17:20 UTC: where its axis meets the ground, and how wide the umbra is there.
#![cfg(feature = "cli")]

use std::path::Path;

use umbracast::blocking;
use umbracast::glam::DVec3;
use umbracast::shadow::{Ball, Picture, PictureOptions, System, visible_fraction};

mod common;
use common::devices;

fn system(name: &str) -> System {
    let system = System::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("systems").join(name)).unwrap();
    // Only the middles of the pixels count here.
    let picture = PictureOptions { samples: 1, ..system.picture().clone() };
    system.with_picture(picture).unwrap()
}

/// Where the line through the centres of light and moon meets the Earth.
fn axis_on_ground(system: &System) -> DVec3 {
    let (sun, earth, moon) = (system.light().ball, system.bodies()[0].balls[0], system.bodies()[1].balls[0]);
    let along = (moon.center - sun.center).normalize();
    let to_earth = earth.center - moon.center;
    let foot = to_earth.dot(along);
    let aside = (to_earth - foot * along).length();
    moon.center + (foot - (earth.radius.powi(2) - aside.powi(2)).sqrt()) * along
}

#[test]
fn the_axis_meets_the_ground_in_mexico() {
    let ground = axis_on_ground(&system("eclipse-2024-04-08.toml"));
    let latitude = (ground.z / ground.length()).asin().to_degrees();
    let longitude = ground.y.atan2(ground.x).to_degrees();
    println!("{latitude:.4} N {longitude:.4} E");
    assert!((latitude - 25.149).abs() < 0.001, "{latitude}");
    assert!((longitude + 104.155).abs() < 0.001, "{longitude}");
}

/// Along the axis the umbra is a circle, whatever the slope of the ground: its diameter is that of the cone there,
/// 189.3 km. (On the ground, 20° off square, it measures 189 by 201 km.)
fn check_umbra(picture: &Picture) {
    assert_eq!(picture.size, [601, 601]);
    let dark = |x: usize, y: usize| picture.fraction[y * 601 + x] == 0.0;
    assert!(dark(300, 300), "the middle is {}", picture.fraction[300 * 601 + 300]);
    let across = (0..601).filter(|&x| dark(x, 300)).count();
    let down = (0..601).filter(|&y| dark(300, y)).count();
    let area = (0..601 * 601).filter(|&i| picture.fraction[i] == 0.0).count();
    let diameter = (area as f64 * 4.0 / std::f64::consts::PI).sqrt();
    println!("umbra: {across} px across, {down} px down, {diameter:.1} px from its area");
    assert!(across.abs_diff(189) <= 2, "{across}");
    assert!(down.abs_diff(189) <= 2, "{down}");
    assert!((diameter - 189.3).abs() < 0.5, "{diameter}");
}

#[test]
fn the_umbra_is_189_km_across() {
    let system = system("umbra-2024-04-08.toml");
    let middle = system.camera().target;
    assert!((middle - axis_on_ground(&system)).length() < 1e-6);
    for device in devices() {
        println!("{}", device.name());
        check_umbra(&blocking::render(device, &system, None).unwrap());
    }
}

#[test]
fn a_picture_and_the_function_agree() {
    let system = system("umbra-2024-04-08.toml");
    let camera = system.camera();
    let forward = (camera.target - camera.position).normalize();
    let right = forward.cross(camera.up).normalize();
    let up = right.cross(forward);
    let moon: Ball = system.bodies()[1].balls[0];
    for device in devices() {
        let picture = blocking::render(device, &system, None).unwrap();
        // In f32 the disc's covered part is good to about 10⁻⁵.
        let allowed = if device.is_cpu() { 2e-6 } else { 2e-5 };
        for (x, y) in [(300, 300), (180, 300), (300, 420), (20, 30), (590, 300), (0, 600)] {
            let origin = camera.position + (x as f64 - 300.0) * right - (y as f64 - 300.0) * up;
            let i = y * 601 + x;
            let ground = origin + f64::from(picture.t[i]) * forward;
            let expected = visible_fraction(ground, system.light().ball, &[moon]).unwrap();
            // The point comes from an f32 distance here: 1 m, of a penumbra of 3,500 km.
            let error = (f64::from(picture.fraction[i]) - expected).abs();
            assert!(error < allowed, "{}: {x} {y}: off by {error:.1e} from {expected}", device.name());
            assert_eq!(picture.id[i], 0);
        }
    }
}
