//! Pictures of queries: what is in them, what is said of them, and what is refused.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test that cannot write its files may panic")]

mod folder;

use folder::{Folder, le4};
use image::{ImageReader, Rgb, RgbImage};

const SPHERES: &str = "x,y,z,r\n4,0,0,1\n0,5,0,2\n";
const HIT: [u8; 3] = [0xd6, 0x33, 0x6c];
const DARK: [u8; 3] = [0xc2, 0x5a, 0x00];
const PASS: [u8; 3] = [0x6f, 0x42, 0xc1];

fn picture(folder: &Folder, name: &str) -> RgbImage {
    ImageReader::open(folder.path(name)).unwrap().decode().unwrap().to_rgb8()
}

/// How many pixels below the legend have a colour, about.
fn count(picture: &RgbImage, color: [u8; 3]) -> usize {
    let near = |pixel: &Rgb<u8>| pixel.0.iter().zip(color).all(|(a, b)| a.abs_diff(b) <= 12);
    picture.enumerate_pixels().filter(|(x, y, pixel)| *y > 90 && !(*x < 140 && *y > 800) && near(pixel)).count()
}

#[test]
fn what_is_met_is_marked() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES);
    // Towards the eye's side of the first sphere, and past everything.
    folder.write("hit.csv", "ox,oy,oz,dx,dy,dz\n4,-6,0,0,1,0\n").write("miss.csv", "ox,oy,oz,dx,dy,dz\n4,-6,0,1,0,0\n");
    // Each colour, and how many pixels of it a hit and a miss have at least and at most.
    for (query, color, hit, miss) in [
        ("closest", HIT, 20..200, 0..1),
        ("occluded", DARK, 30..2000, 0..1),
        ("interval", HIT, 15..900, 0..1),
        ("approach", PASS, 0..15, 15..2000),
    ] {
        for (rays, range) in [("hit.csv", hit), ("miss.csv", miss)] {
            folder.right(&format!("cast s.csv {rays} -o o.npz -q --plot o.png --query {query}"));
            let picture = picture(&folder, "o.png");
            assert_eq!(picture.dimensions(), (1280, 960));
            let found = count(&picture, color);
            assert!(range.contains(&found), "{query} {rays}: {found} pixels of {color:02x?}: expected {range:?}");
        }
    }
}

#[test]
fn a_point_is_where_it_is() {
    let folder = Folder::new();
    // The eye looks from the right front and above, z up: the middle of the picture is the middle of what is seen.
    folder.write("s.csv", "x,y,z,r\n0,0,0,1\n").write("r.csv", "ox,oy,oz,dx,dy,dz,t_min,t_max\n0,0,3,0,0,-1,0,9\n");
    folder.right("cast s.csv r.csv -o o.npz -q --plot o.png");
    let picture = picture(&folder, "o.png");
    let spots = picture.enumerate_pixels().filter(|(_, y, p)| *y > 90 && p.0 == HIT).map(|(x, y, _)| (x, y));
    let (mut n, mut sum) = (0, (0, 0));
    for (x, y) in spots {
        (n, sum) = (n + 1, (sum.0 + x, sum.1 + y));
    }
    // From 1 below to cos 26° · 3 above, in 960 − 180 pixels; the hit lies cos 26° above the middle of the sphere.
    let scale = 780.0 / (1.0 + 3.0 * 26_f64.to_radians().cos());
    let expected = 870.0 - scale * (1.0 + 26_f64.to_radians().cos());
    let found = (f64::from(sum.0) / f64::from(n), f64::from(sum.1) / f64::from(n));
    assert!((found.0 - 639.5).abs() < 1.0 && (found.1 - expected).abs() < 1.5, "{found:?} for {expected}");
}

#[test]
fn many_rays_are_sampled_and_it_is_said() {
    let folder = Folder::new();
    let rays: Vec<f32> = (0..300_000).flat_map(|i| [0.0, i as f32 * 1e-5, 0.0, 0.0, 1.0, 0.0, 0.0, 9.0]).collect();
    folder.write("s.csv", SPHERES).write("r.rays", le4(&rays));
    let done = folder.right("cast s.csv r.rays -o o.npz --plot many.png");
    assert!(done.errors.contains("; many.png shows 2 spheres, 1172 of 300000 rays"), "{}", done.errors);
    let done = folder.right("cast s.csv r.rays -o o.npz --plot again.PNG --json");
    let json: serde_json::Value = serde_json::from_str(&done.output).unwrap();
    assert_eq!((&json["plot"], &json["plot_shows"]), (&"again.PNG".into(), &"2 spheres, 1172 of 300000 rays".into()));
    assert!(std::fs::read(folder.path("many.png")).unwrap() == std::fs::read(folder.path("again.PNG")).unwrap());
    let done = folder.right("cast s.csv r.rays -o o.npz --json");
    assert!(done.output.contains("\"plot\":null"), "{}", done.output);
}

#[test]
fn strange_scenes_have_pictures_too() {
    let folder = Folder::new();
    for (spheres, rays) in [
        ("", ""),
        ("", "0,0,0,1,0,0,0,inf\n"),
        ("1,2,3,0\n", ""),
        ("1,2,3,0\n", "1,2,3,1,0,0,-inf,inf\n"),
        ("3e38,0,0,1e38\n-3e38,0,0,1e38\n", "0,0,0,3e38,0,0,0,1\n0,0,0,1e-30,0,0,-3e38,3e38\n"),
        ("1e-40,0,0,1e-41\n", "0,0,0,1e-40,0,0,0,inf\n"),
        ("0,0,-6400000,6400000\n0,0,1,0.5\n", "0,0,3,0,0,-1,0,inf\n1,0,3,0,0,-1,0,inf\n"),
    ] {
        folder
            .write("s.csv", format!("x,y,z,r\n{spheres}"))
            .write("r.csv", format!("ox,oy,oz,dx,dy,dz,t_min,t_max\n{rays}"));
        for query in ["closest", "occluded", "interval", "approach"] {
            folder.right(&format!("cast s.csv r.csv -o o.npz -q --plot o.png --query {query} --on-bad skip"));
            assert_eq!(picture(&folder, "o.png").dimensions(), (1280, 960));
        }
    }
}

#[test]
fn what_cannot_be_a_plot_is_refused_before_work() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("r.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n").write("o.npz", "before");
    folder.write("old.png", "before").write("bad.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,0,0,0\n");
    std::fs::create_dir(folder.path("folder.png")).unwrap();
    let before = folder.contents();
    for (arguments, code, words) in [
        ("s.csv r.csv -o o.npz --plot o.jpg", 2, "o.jpg: a plot is a picture: expected a name that ends in .png"),
        ("s.csv r.csv -o o.npz --plot plot", 2, "plot: a plot is a picture"),
        ("s.csv r.csv -o o.npz --plot absent/o.png", 5, "there is no folder absent"),
        ("s.csv r.csv -o o.npz --plot folder.png", 5, "folder.png: it is a folder"),
        ("s.csv r.csv -o o.npz --plot", 2, "a value is required for '--plot <FILE.png>'"),
        ("--sphere 4,0,0,1 --ray 0,0,0,1,0,0 --plot o.png", 2, "cannot be used with"),
        // What fails later leaves an old plot alone.
        ("s.csv bad.csv -o o.npz --plot old.png", 2, "bad.csv: line 2: direction"),
        ("s.csv r.csv -o absent/o.npz --plot old.png", 5, "there is no folder absent"),
    ] {
        let done = folder.run(&format!("cast {arguments}"));
        assert_eq!(done.code, code, "{arguments}: {}", done.errors);
        assert!(done.errors.contains(words), "expected '{words}' in: {}", done.errors);
        assert!(folder.contents() == before, "{arguments}: something was touched");
    }
}
