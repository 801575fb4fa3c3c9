//! A picture of three balls on the ground with soft shadows: writes `picture.png`, or the file that is named.
//!
//! `cargo run --release -p umbracast --example picture`

use std::path::PathBuf;

use umbracast::glam::DVec3;
use umbracast::shadow::{Ball, Body, Camera, Color, LightSource, PictureOptions, System};
use umbracast::{Device, DeviceOptions};
use umbracast_files::{PngDepth, Result, write_png};

fn main() -> Result<()> {
    let ball = |name: &str, center: [f64; 3], radius, color| {
        Body::new(name, vec![Ball::new(center, radius)], vec![Color(color)])
    };
    let mut bodies = vec![
        ball("large", [0.0, 0.0, 1.0], 1.0, [0.75, 0.25, 0.15]),
        ball("middle", [1.3, -0.9, 0.5], 0.5, [0.2, 0.45, 0.7]),
        ball("small", [-0.9, -1.2, 0.3], 0.3, [0.85, 0.7, 0.25]),
    ];
    // The light has an angular diameter of 6 degrees; the Sun has 0.53.
    let light = LightSource::distant(&bodies, DVec3::new(-1.0, -0.6, 1.4), 6.0)?;
    let picture = PictureOptions { size: [640, 400], ambient: 0.12, ..PictureOptions::default() };
    let camera = Camera::framing(&bodies, &light, DVec3::Z, picture.size);
    bodies.push(Body::ground(&bodies, DVec3::Z, Color([0.7, 0.7, 0.68])));
    let system = System::new(light, bodies, camera, picture)?;

    let device = Device::open(&DeviceOptions::default())?;
    let picture = device.render(&system, None)?;
    let path = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("picture.png"), PathBuf::from);
    write_png(&picture, &path, PngDepth::Eight)?;
    println!(
        "{} shows {} pixels in penumbra",
        path.display(),
        picture.fraction.iter().filter(|f| **f > 0.0 && **f < 1.0).count()
    );
    Ok(())
}
