//! Fuzz target for system files with arbitrary text and systems with arbitrary numbers. Every accepted system must render, with the same
//! result with and without culling lists.

use std::path::Path;

use glam::DVec3;

use crate::batch::raygen::camera::{Camera, Lens};
use crate::fuzz::bytes::Bytes;
use crate::fuzz::messages::check_message;
use crate::records::NO_SPHERE;
use crate::runtime::cancel::CancelToken;
use crate::shadow::ball::Ball;
use crate::shadow::lighting::Lighting;
use crate::shadow::picture::color::Color;
use crate::shadow::picture::exhaustive::{whole, with_bvh};
use crate::shadow::picture::image::Picture;
use crate::shadow::picture::prepared::PreparedPicture;
use crate::shadow::picture::render_cpu::picture;
use crate::shadow::system::{Body, LightSource, PictureOptions, System};

/// Maximum number of spheres that are rendered: without lists the cost grows with the square of their number.
const MOST: usize = 80;

/// Target `systems`: the text of a system file or, if the first byte is not ASCII, the numbers of a system.
pub fn systems(data: &[u8]) {
    let system = match data.split_first() {
        Some((first, rest)) if !first.is_ascii() => built(&mut Bytes(rest)),
        _ => {
            let text = String::from_utf8_lossy(data);
            // The folder does not exist, so no cloud file does.
            let path = Path::new("none/system.toml");
            if let Err(error) = Lighting::parse(&text, path) {
                check_message(&error);
            }
            System::parse(&text, path)
        }
    };
    match system {
        Err(error) => check_message(&error),
        Ok(system) => draw(system),
    }
}

fn draw(system: System) {
    if system.ball_count() > MOST {
        return;
    }
    let options = PictureOptions { size: [12, 8], samples: 1, ..system.picture().clone() };
    let system = system.with_picture(options).expect("it was a picture before");
    let prepared_picture = PreparedPicture::new(&system).expect("so few fit");
    let whole = whole(&prepared_picture);
    let [found, traversed, expected] = [&prepared_picture, &with_bvh(&prepared_picture), &whole]
        .map(|prepared_picture| picture(&system, prepared_picture, &CancelToken::new(), &|_| {}).expect("it is small"));
    let light = system.ball_count() as u32;
    for i in 0..found.id.len() {
        let bits = |p: &Picture| (p.rgb[i].map(f32::to_bits), p.t[i].to_bits(), p.id[i], p.fraction[i].to_bits());
        let pixel = (found.rgb[i], found.t[i], found.id[i], found.fraction[i]);
        assert_eq!(bits(&found), bits(&expected), "pixel {i}, {pixel:?} with lists: {system:?}");
        assert_eq!(bits(&traversed), bits(&expected), "pixel {i}, {pixel:?} with lists, not with a BVH: {system:?}");
        let (rgb, t, id, fraction) = pixel;
        assert!(rgb.iter().all(|x| (0.0..=1.0).contains(x)), "pixel {i} has the colour {rgb:?}: {system:?}");
        assert!((0.0..=1.0).contains(&fraction), "pixel {i} has the fraction {fraction}: {system:?}");
        assert!(t >= 0.0 && (id <= light || id == NO_SPHERE), "pixel {i} shows {id} at {t}: {system:?}");
    }
}

/// A system of a few bodies near the origin, with light and camera near or far.
fn built(bytes: &mut Bytes<'_>) -> crate::error::Result<System> {
    let distance = [4.0, 30.0, 1e4, 1e9][bytes.below(4)];
    let size = [0.0, 0.002, 0.05, 0.5][bytes.below(4)] * bytes.unit();
    let light = Ball { center: distance * bytes.point(), radius: size * distance };
    let light = LightSource::new("light", light);
    let lens = match bytes.below(3) {
        0 => Lens::Orthographic { width: 0.01 + 5.0 * bytes.unit() },
        _ => Lens::Perspective { field_of_view_deg: 0.001 + 169.9 * bytes.unit() },
    };
    let away = [2.0, 5.0, 40.0, 1e6][bytes.below(4)];
    let camera = Camera { position: away * bytes.point(), target: bytes.point(), up: bytes.point(), lens };
    let picture = PictureOptions {
        size: [12, 8],
        samples: 1,
        exposure: 10_f64.powf(3.0 * bytes.signed()),
        ambient: bytes.unit(),
        background: Color::BLACK,
        stars: bytes.unit(),
        ..PictureOptions::default()
    };
    let mut bodies = Vec::new();
    while !bytes.is_empty() && bodies.len() < 12 {
        let choice = bytes.byte();
        let spread = [0.0, 1.0, 3.0, 8.0][usize::from(choice & 3)];
        let radius = 1e-3 + 1.5 * bytes.unit().powi(3);
        let balls = match choice >> 2 & 3 {
            3 => (0..6).map(|_| Ball { center: spread * bytes.point(), radius: 0.2 * radius }).collect(),
            _ => vec![Ball { center: spread * bytes.point(), radius }],
        };
        let polar_radius = (choice >> 2 & 3 == 2).then(|| radius * (0.05 + 3.0 * bytes.unit()));
        bodies.push(Body {
            sphere_colors: Vec::new(),
            name: "body".into(),
            balls,
            colors: vec![Color::WHITE, Color([0.2, 0.5, 1.0])],
            pole: if choice & 16 == 0 { DVec3::Z } else { bytes.point() },
            polar_radius,
            swirl: bytes.unit(),
            casts: choice & 32 == 0,
            receives: choice & 64 == 0,
            ..Body::new("body", Vec::new(), Vec::new())
        });
    }
    System::new(light, bodies, camera, picture)
}
