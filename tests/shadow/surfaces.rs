//! Surfaces of bodies: textures, the built-in Earth, graticules, and bodies that only cast shadows.

use umbracast::glam::DVec3;
use umbracast::shadow::{Picture, System};

use crate::support::folder::Folder;
use crate::support::{cpu, devices};

/// A system of one lit ball at the origin, seen from `eye` with an orthographic camera. `body` has the keys of its appearance. Ambient
/// light alone shows the colours of the surface unchanged.
fn system(folder: &Folder, body: &str, eye: [f64; 3], more: &str) -> System {
    let [x, y, z] = eye.map(|k| 10.0 * k);
    let up = if x == 0.0 && y == 0.0 { "[0, 1, 0]" } else { "[0, 0, 1]" };
    folder.write(
        "s.toml",
        format!(
            "unit = \"km\"\n[light]\ncenter = [0, 0, 1000]\nradius = 1\n[[body]]\ncenter = [0, 0, 0]\nradius = 1\n{body}\n{more}\n\
             [camera]\nkind = \"orthographic\"\nposition = [{x}, {y}, {z}]\ntarget = [0, 0, 0]\nup = {up}\nwidth = 2.2\n\
             [picture]\nsize = [201, 201]\nsamples = 1\nexposure = 0.000001\nambient = 1.0\n"
        ),
    );
    System::read(&folder.path("s.toml")).unwrap()
}

/// The visible points of the unit ball at the centres of pixels, with their colours.
fn points(system: &System, picture: &Picture) -> Vec<(DVec3, [f64; 3])> {
    let normals = picture.normals(system).unwrap();
    let found = normals.iter().zip(&picture.rgb).filter(|(normal, _)| **normal != [0.0; 3]);
    found.map(|(normal, rgb)| (DVec3::from_array(normal.map(f64::from)), rgb.map(f64::from))).collect()
}

/// A map whose red grows with the longitude and whose green grows with the latitude.
fn gradient(folder: &Folder) {
    let (width, height) = (256, 128);
    let pixel = |x: u32, y: u32| image::Rgb([x as u8, 255 - 2 * y as u8, 90]);
    image::RgbImage::from_fn(width, height, pixel).save(folder.path("map.png")).unwrap();
}

/// The sRGB value, 0…255, of linear light.
fn srgb(linear: f64) -> f64 {
    255.0 * if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
}

#[test]
fn a_texture_is_where_pole_and_meridian_put_it() {
    let folder = Folder::new();
    gradient(&folder);
    for (keys, pole, meridian) in [
        ("", DVec3::Z, DVec3::X),
        ("meridian = [0, 2, 0]", DVec3::Z, DVec3::Y),
        ("pole = [1, 0, 0]", DVec3::X, DVec3::Y),
        ("pole = [0.3, -0.2, 0.5]\nmeridian = [1, 1, 1]", DVec3::new(0.3, -0.2, 0.5), DVec3::ONE),
        ("pole = [0, 0, 1]\npolar_radius = 0.7", DVec3::Z, DVec3::X),
    ] {
        let z = pole.normalize();
        let x = (meridian - meridian.dot(z) * z).normalize();
        let y = z.cross(x);
        for eye in [[1.0, 0.0, 0.0], [-0.5, 0.6, 0.3], [0.0, -0.7, -0.7]] {
            let system = system(&folder, &format!("texture = \"map.png\"\n{keys}"), eye, "");
            let mut seen = 0;
            for (normal, rgb) in points(&system, &cpu().render(&system, None).unwrap()) {
                let longitude = normal.dot(y).atan2(normal.dot(x)).to_degrees();
                let latitude = normal.dot(z).clamp(-1.0, 1.0).asin().to_degrees();
                // Red repeats at 180°, and the map has no centres of pixels beyond the outer rows.
                if longitude.abs() > 178.0 || latitude.abs() > 88.0 {
                    continue;
                }
                let expected = [
                    (longitude + 180.0) / 360.0 * 256.0 - 0.5,
                    255.0 - 2.0 * ((90.0 - latitude) / 180.0 * 128.0 - 0.5),
                ];
                for channel in 0..2 {
                    let found = srgb(rgb[channel]);
                    assert!(
                        (found - expected[channel]).abs() < 2.0,
                        "{keys} {longitude} {latitude}: {found} {expected:?}"
                    );
                }
                seen += 1;
            }
            assert!(seen > 15_000, "{seen}");
        }
    }
}

#[test]
fn a_jpeg_shows_what_the_same_png_shows() {
    let folder = Folder::new();
    gradient(&folder);
    let map = image::open(folder.path("map.png")).unwrap().to_rgb8();
    let gray = image::DynamicImage::from(map.clone()).to_luma8();
    gray.save(folder.path("gray.png")).unwrap();
    let mut bytes = Vec::new();
    image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, 100).encode_image(&map).unwrap();
    // The content decides, not the extension.
    folder.write("map.texture", &bytes);
    bytes.clear();
    image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, 100).encode_image(&gray).unwrap();
    folder.write("gray.jpg", &bytes);
    for (png, jpeg) in [("map.png", "map.texture"), ("gray.png", "gray.jpg")] {
        let [expected, found] = [png, jpeg].map(|file| {
            let system = system(&folder, &format!("texture = \"{file}\""), [1.0, 0.2, 0.3], "");
            cpu().render(&system, None).unwrap().srgb8()
        });
        let apart = expected.iter().zip(&found).map(|(a, b)| a.abs_diff(*b)).collect::<Vec<_>>();
        let mean = apart.iter().map(|x| f64::from(*x)).sum::<f64>() / apart.len() as f64;
        println!("{jpeg}: largest difference {}, mean {mean}", apart.iter().max().unwrap());
        assert!(mean < 0.6 && expected.iter().any(|x| *x > 200), "{jpeg}: {mean}");
        // No channel is darker or brighter.
        for channel in 0..3 {
            let sum = |all: &[u8]| all.iter().skip(channel).step_by(3).map(|x| f64::from(*x)).sum::<f64>();
            let shift = (sum(&found) - sum(&expected)) / (found.len() / 3) as f64;
            assert!(shift.abs() < 0.2, "{jpeg}: channel {channel} differs by {shift} on average");
        }
    }
    // A picture that ends early is refused, also behind a preview, which has an end of its own.
    let preview = [&bytes[..2], &[0xff, 0xe1, 0, 6, 0xff, 0xd9, 0xff, 0xd9], &bytes[2..]].concat();
    let read = |jpeg: &[u8]| {
        folder.write("some.jpg", jpeg);
        let text = "unit = \"km\"\n[light]\ndirection = [0, 0, 1]\n[[body]]\ncenter = [0, 0, 0]\nradius = 1\ntexture = \"some.jpg\"\n";
        System::parse(text, &folder.path("s.toml")).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(read(&preview), Ok(()));
    for part in [&bytes[..bytes.len() / 2], &preview[..preview.len() / 2], &bytes[..bytes.len() - 2], &bytes[..3]] {
        let error = read(part).unwrap_err();
        assert!(error.contains("texture of body[0]") && error.contains("truncated"), "{} bytes: {error}", part.len());
    }
}

#[test]
fn every_device_renders_the_same_map() {
    let folder = Folder::new();
    gradient(&folder);
    let system = system(&folder, "texture = \"map.png\"\ngraticule = 30", [1.0, 0.2, 0.3], "");
    let expected = cpu().render(&system, None).unwrap();
    for device in devices() {
        let mut found = device.render(&system, None).unwrap();
        assert_eq!(found.cpu_fallback.is_some(), !device.is_cpu(), "{}", device.name());
        (found.cpu_fallback, found.cpu_pixels) = (None, 0);
        assert!(found == expected, "{}", device.name());
    }
}

#[test]
fn the_earth_has_its_continents() {
    let folder = Folder::new();
    for (longitude, latitude, land) in [
        (-102.0_f64, 24.0_f64, true),
        (-95.0, 25.0, false),
        (2.0, 48.0, true),
        (-8.0, 46.0, false),
        (175.5, -38.5, true),
        (170.0, -35.0, false),
        (172.0, 67.5, true),
        (-179.0, 67.5, true),
        (-40.0, 72.0, true),
        (10.0, -75.0, true),
        (115.0, -25.0, true),
        (112.0, -25.0, false),
    ] {
        let (x, z) = (latitude.to_radians().cos(), latitude.to_radians().sin());
        let eye = [x * longitude.to_radians().cos(), x * longitude.to_radians().sin(), z];
        let system = system(&folder, "surface = \"earth\"", eye, "");
        let picture = cpu().render(&system, None).unwrap();
        let [red, _, blue] = picture.rgb[100 * 201 + 100];
        // Sea is blue, ice is white, other land is brown or green.
        assert_eq!(red > 0.6 * blue, land, "{longitude} {latitude}: {:?}", picture.rgb[100 * 201 + 100]);
    }
}

#[test]
fn a_graticule_has_lines_at_its_spacing() {
    let folder = Folder::new();
    let render = |keys: &str| {
        let system = system(&folder, &format!("color = \"#204060\"\n{keys}"), [1.0, 0.0, 0.0], "");
        let picture = cpu().render(&system, None).unwrap();
        points(&system, &picture)
    };
    let (plain, lined) = (render(""), render("graticule = 20"));
    let mut changed = 0;
    for ((normal, before), (_, after)) in plain.iter().zip(&lined) {
        let (longitude, latitude) = (normal.y.atan2(normal.x).to_degrees(), normal.z.asin().to_degrees());
        let apart = |angle: f64| (angle / 20.0 - (angle / 20.0).round()).abs() * 20.0;
        // A pixel is 0.63° wide in the middle of the picture.
        let nearest = apart(latitude).min(apart(longitude) * latitude.to_radians().cos());
        if latitude.abs() < 75.0 && nearest > 1.0 {
            assert_eq!(before, after, "{longitude} {latitude}");
        }
        if latitude.abs() < 75.0 && nearest < 0.15 {
            assert!(after[0] > before[0] + 0.1, "{longitude} {latitude}: {after:?}");
            changed += 1;
        }
    }
    assert!(changed > 500, "{changed}");
}

#[test]
fn an_invisible_body_only_casts_its_shadow() {
    let folder = Folder::new();
    for shape in ["", "polar_radius = 0.2"] {
        let moon = |visible: &str| format!("[[body]]\ncenter = [0, 0, 1.8]\nradius = 0.3\n{shape}\n{visible}");
        let eye = [0.0, -0.5, 0.8];
        for device in devices() {
            let render = |more: &str| device.render(&system(&folder, "", eye, more), None).unwrap();
            let (shown, hidden, none) = (render(&moon("")), render(&moon("visible = false")), render(""));
            // Ids follow the order of the file: the light's is the last one, and no pixel shows it.
            let seen = |picture: &Picture| picture.id.iter().filter(|id| **id == 1).count();
            assert!(seen(&shown) > 300 && seen(&hidden) == 0, "{}: {} {}", device.name(), seen(&shown), seen(&hidden));
            assert_eq!(hidden.id, none.id, "{}", device.name());
            // The camera sees the shadow in both pictures; from this side the body itself covers none of it.
            let dark = |picture: &Picture| picture.fraction.iter().filter(|f| **f < 0.5).count();
            assert!(dark(&hidden) > dark(&none) + 200, "{}: {} {}", device.name(), dark(&hidden), dark(&none));
            let differ = shown.fraction.iter().zip(&hidden.fraction).zip(shown.id.iter().zip(&hidden.id));
            let differ = differ.filter(|((a, b), (c, d))| c == d && (**a - **b).abs() > 1e-3).count();
            assert_eq!(differ, 0, "{}", device.name());
        }
    }
    // A camera may be inside it.
    let inside = "[[body]]\ncenter = [0, -5, 8]\nradius = 3\nvisible = false";
    system(&folder, "", [0.0, -0.5, 0.8], inside);
}
