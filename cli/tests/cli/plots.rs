//! Plots of queries: their pixels, the summary about them, and rejected arguments.

use image::{ImageReader, Rgb, RgbImage};
use umbracast_testing::folder::{Folder, f32_bytes};

use super::svg;

const SPHERES: &str = "x,y,z,r\n4,0,0,1\n0,5,0,2\n";
const HIT: [u8; 3] = [0xd6, 0x33, 0x6c];
const DARK: [u8; 3] = [0xc2, 0x5a, 0x00];
const PASS: [u8; 3] = [0x6f, 0x42, 0xc1];

fn picture(folder: &Folder, name: &str) -> RgbImage {
    ImageReader::open(folder.path(name)).unwrap().decode().unwrap().to_rgb8()
}

/// Counts the pixels below the legend that have approximately this colour.
fn count(picture: &RgbImage, color: [u8; 3]) -> usize {
    let near = |pixel: &Rgb<u8>| pixel.0.iter().zip(color).all(|(a, b)| a.abs_diff(b) <= 12);
    picture.enumerate_pixels().filter(|(x, y, pixel)| *y > 90 && !(*x < 140 && *y > 800) && near(pixel)).count()
}

#[test]
fn hits_are_marked_in_every_query() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES);
    // A ray that hits the first sphere on the side of the camera, and one that misses everything.
    folder.write("hit.csv", "ox,oy,oz,dx,dy,dz\n4,-6,0,0,1,0\n").write("miss.csv", "ox,oy,oz,dx,dy,dz\n4,-6,0,1,0,0\n");
    // Query, colour, and the allowed numbers of pixels for a hit and for a miss.
    for (query, color, hit, miss) in [
        ("closest", HIT, 20..200, 0..1),
        ("occluded", DARK, 30..2000, 0..1),
        ("interval", HIT, 15..900, 0..1),
        ("approach", PASS, 0..15, 15..2000),
    ] {
        for (rays, range) in [("hit.csv", hit), ("miss.csv", miss)] {
            folder.run_ok(&format!("cast s.csv {rays} -o o.npz -q --plot o.png --query {query}"));
            let picture = picture(&folder, "o.png");
            assert_eq!(picture.dimensions(), (1280, 960));
            let found = count(&picture, color);
            assert!(range.contains(&found), "{query} {rays}: {found} pixels of {color:02x?}: expected {range:?}");
        }
    }
}

#[test]
fn hit_points_are_drawn_at_their_position() {
    let folder = Folder::new();
    // The camera looks from the front right and from above, with z up. The scene is centred in the picture.
    folder.write("s.csv", "x,y,z,r\n0,0,0,1\n").write("r.csv", "ox,oy,oz,dx,dy,dz,t_min,t_max\n0,0,5,0,0,-1,0,9\n");
    folder.run_ok("cast s.csv r.csv -o o.npz -q --plot o.png");
    let picture = picture(&folder, "o.png");
    let spots = picture.enumerate_pixels().filter(|(_, y, p)| *y > 90 && p.0 == HIT).map(|(x, y, _)| (x, y));
    let (mut n, mut sum) = (0, (0, 0));
    for (x, y) in spots {
        (n, sum) = (n + 1, (sum.0 + x, sum.1 + y));
    }
    // The middle of the box from (-1, -1, -1) to (1, 1, 5) is in the middle of the picture; the hit is 1 below it.
    let expected = 479.5 + scale_of([2.0, 2.0, 6.0]) * 26_f64.to_radians().cos();
    let found = (f64::from(sum.0) / f64::from(n), f64::from(sum.1) / f64::from(n));
    assert!((found.0 - 639.5).abs() < 1.0 && (found.1 - expected).abs() < 1.5, "{found:?} for {expected}");
}

/// To the right and downwards, in units of length: the camera looks from azimuth -60 and elevation 26 degrees.
fn seen([x, y, z]: [f64; 3]) -> [f64; 2] {
    let ((sa, ca), (se, ce)) = (60_f64.to_radians().sin_cos(), 26_f64.to_radians().sin_cos());
    [x * sa + y * ca, (x * ca - y * sa) * se - z * ce]
}

/// Pixels per unit of length of a plot of a box with these sides: it fits between margins of 70 and 90 pixels.
fn scale_of([x, y, z]: [f64; 3]) -> f64 {
    let [wide, _] = seen([x, y, 0.0]);
    let [_, high] = seen([x, -y, -z]);
    (1140.0 / wide).min(780.0 / high)
}

/// Returns the mean position of the pixels below the legend that satisfy `is`, and the width and height of their bounding box.
fn middle(picture: &RgbImage, is: impl Fn([u8; 3]) -> bool) -> ([f64; 2], [u32; 2]) {
    let found = picture.enumerate_pixels().filter(|(x, y, p)| *y > 90 && !(*x < 320 && *y > 800) && is(p.0));
    let (mut n, mut sum, mut low, mut high) = (0.0, [0.0; 2], [u32::MAX; 2], [0; 2]);
    for (x, y, _) in found {
        n += 1.0;
        for (k, at) in [x, y].into_iter().enumerate() {
            sum[k] += f64::from(at);
            (low[k], high[k]) = (low[k].min(at), high[k].max(at));
        }
    }
    assert!(n > 0.0, "no pixel has this colour");
    ([sum[0] / n, sum[1] / n], [high[0] - low[0] + 1, high[1] - low[1] + 1])
}

/// Whether a colour is a bluish grey that is darker than the background.
fn pale([r, g, b]: [u8; 3]) -> bool {
    (120..=228).contains(&r) && b.abs_diff(r) < 16 && g >= r && b >= g && (r < 215 || b - r > 6)
}

#[test]
fn moving_spheres_are_drawn_at_the_times_of_the_hits() {
    let folder = Folder::new();
    // The sphere moves upwards, and each of the first two rays hits it at the time of the ray.
    folder.write("s.csv", "x,y,z,r,vx,vy,vz\n0,0,-4,0.5,0,0,8\n").write(
        "r.csv",
        "ox,oy,oz,dx,dy,dz,t_min,t_max,time\n0,-3,-2,0,1,0,0,9,0.25\n0,-3,3,0,1,0,0,9,0.875\n9,9,9,1,0,0,0,1,0\n9,9,9,1,0,0,0,1,1\n",
    );
    let said = |arguments: &str| folder.run_ok(&format!("cast s.csv {arguments} -o o.npz --plot o.png")).errors;
    let shown = said("r.csv");
    assert!(shown.contains("o.png shows 1 spheres from time 0 to 1, 4 rays"), "{shown}");
    // Both dots are opaque: neither is hidden by the sphere of another time.
    folder.run_ok("cast s.csv r.csv -o o.npz --plot o.svg -q");
    let elements = svg::check(&folder, "o.svg");
    let dots = svg::of(&elements, "hit");
    assert_eq!(dots.len(), 2);
    assert!(dots.iter().all(|dot| dot.attributes["fill-opacity"] == "1"), "{dots:?}");
    // With a single time the sphere is drawn once; at a later time it is higher up.
    let mut heights = Vec::new();
    for time in ["0.25", "0.875"] {
        folder.write("one.csv", format!("ox,oy,oz,dx,dy,dz,t_min,t_max,time\n5,5,5,0,0,1,0,1,{time}\n"));
        folder.write("ends.csv", "x,y,z,r,vx,vy,vz\n0,0,-4,0.5,0,0,8\n3,3,5,0.01,0,0,0\n-3,-3,-5,0.01,0,0,0\n");
        let shown = folder.run_ok("cast ends.csv one.csv -o o.npz --plot o.png").errors;
        assert!(shown.contains(&format!("3 spheres at time {time}, 1 rays")), "{shown}");
        let (at, size) = middle(&picture(&folder, "o.png"), pale);
        assert!(size[0] > 20, "{size:?}");
        heights.push(at[1]);
    }
    assert!(heights[0] - heights[1] > 100.0, "{heights:?}");
    // With `--motion with-ray` t is the time, so the sphere is drawn over a range of times.
    folder.write("shot.csv", "ox,oy,oz,dx,dy,dz,t_min,t_max\n0,-4,0,0,4,0,0,1\n0,-4,3,0,4,0,0,1\n");
    let shown = said("shot.csv --motion with-ray");
    assert!(shown.contains("1 spheres from time 0 to 1, 2 rays"), "{shown}");
}

#[test]
fn segments_inside_spheres_are_drawn_thicker() {
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r\n4,0,0,1\n8,0,0,1\n12,0,0,1\n16,0,0,1\n");
    folder.write("r.csv", "ox,oy,oz,dx,dy,dz,t_min,t_max\n0,0,0,1,0,0,0,20\n");
    folder.write("miss.csv", "ox,oy,oz,dx,dy,dz,t_min,t_max\n0,0,5,1,0,0,0,20\n");
    let drawn = |arguments: &str| {
        folder.run_ok(&format!("cast s.csv {arguments} -o o.npz -q --plot o.png"));
        // Lines seen through spheres are paler.
        let pink =
            |p: &Rgb<u8>| p.0[0] > p.0[1].saturating_add(70) && p.0[2] > p.0[1].saturating_add(10) && p.0[1] < 150;
        let below = |x: u32, y: u32| y > 90 && !(x < 140 && y > 800);
        picture(&folder, "o.png").enumerate_pixels().filter(|(x, y, p)| below(*x, *y) && pink(p)).count()
    };
    let [one, two, all] =
        ["nearest --k 1", "nearest --k 2", "all"].map(|query| drawn(&format!("r.csv --query {query}")));
    assert!(one > 60 && two > 3 * one / 2 && all > 3 * two / 2, "{one} {two} {all}");
    assert_eq!(drawn("miss.csv --query all"), 0);
}

#[test]
fn ellipsoids_have_their_own_outlines() {
    let folder = Folder::new();
    // Two tiny ellipsoids, 8 apart along x, are at the ends of the box.
    let ends = "-4,0,0,1e-3,1e-3,1e-3,1,0,0,0\n4,0,0,1e-3,1e-3,1e-3,1,0,0,0\n";
    folder.write("r.csv", "ox,oy,oz,dx,dy,dz,t_min,t_max\n");
    let (elevation, azimuth) = (26_f64.to_radians(), -60_f64.to_radians());
    let right = [-azimuth.sin(), azimuth.cos(), 0.0];
    let up = [-azimuth.cos() * elevation.sin(), -azimuth.sin() * elevation.sin(), elevation.cos()];
    for radii in [[2.0, 0.5, 0.25], [0.25, 0.25, 1.5], [1.0, 1.0, 1.0], [0.1, 1.5, 1.0]] {
        let [a, b, c] = radii;
        // Unrotated, and rotated by 90° about z.
        for (turn, axes) in [("1,0,0,0", [a, b, c]), ("1,0,0,1", [b, a, c])] {
            folder.write("e.csv", format!("x,y,z,rx,ry,rz,qw,qx,qy,qz\n0,0,0,{a},{b},{c},{turn}\n{ends}"));
            folder.run_ok("cast e.csv r.csv -o o.npz -q --plot o.png");
            let picture = picture(&folder, "o.png");
            // Ellipsoids without hits are grey, and the axes are not. The label of the large one is in its middle.
            let grey = |x: u32, y: u32| {
                let [r, g, b] = picture.get_pixel(x, y).0;
                r <= 220 && r.abs_diff(b) < 16 && r.abs_diff(g) < 12
            };
            let scale = scale_of([8.002, 2.0 * axes[1], 2.0 * axes[2]]);
            let reach = |axis: [f64; 3]| 2.0 * scale * (0..3).map(|k| (axis[k] * axes[k]).powi(2)).sum::<f64>().sqrt();
            let (wide, high) = (reach(right), reach(up));
            let near = (0.5 * wide) as u32 + 12;
            let near = 640 - near..640 + near;
            let columns = near.clone().filter(|x| (100..860).any(|y| grey(*x, y))).count() as f64;
            let rows = (100..860).filter(|y| near.clone().any(|x| grey(x, *y))).count() as f64;
            assert!((columns - wide).abs() < 6.0, "{radii:?} {turn}: {columns} columns for {wide}");
            assert!((rows - high).abs() < 6.0, "{radii:?} {turn}: {rows} rows for {high}");
        }
    }
}

#[test]
fn thick_rays_are_drawn_with_their_width() {
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r\n0,0,-4,0.5\n0,0,4,0.5\n");
    let columns = |radius: f32| {
        // The width is measured along a row of pixels half-way up, which crosses the vertical ray at right angles.
        folder.write("r.csv", format!("ox,oy,oz,dx,dy,dz,t_min,t_max,radius\n0,0,3,0,0,-1,0,6,{radius}\n"));
        folder.run_ok("cast s.csv r.csv -o o.npz -q --plot o.png --query occluded");
        let picture = picture(&folder, "o.png");
        let bare = picture.get_pixel(1270, 440).0;
        let strange = |x: &u32| picture.get_pixel(*x, 440).0.iter().zip(bare).any(|(p, q)| p.abs_diff(q) > 6);
        // The ray is in the middle of the picture, and the z axis is to its left.
        2.0 * (640..1279).filter(strange).count() as f64
    };
    let scale = scale_of([1.0, 1.0, 9.0]);
    assert!(columns(0.0) < 5.0);
    for radius in [0.25, 1.0] {
        assert!((columns(radius) - 2.0 * scale * f64::from(radius)).abs() < 3.0, "{radius}: {}", columns(radius));
    }
}

/// Dots lie where the view projects the hits, in the files of both renderers, and the labels of spheres, rays and axes do not overlap.
#[test]
fn dots_are_at_their_hits_and_labels_do_not_overlap() {
    let folder = Folder::new();
    // Spheres in a row along x, and a ray to each; the first two are so close together that one hides the other's label.
    let centers = [0.0, 0.3, 4.0, 8.0];
    let spheres: String = centers.iter().map(|x| format!("{x},0,0,0.5\n")).collect();
    let rays: String = centers.iter().map(|x| format!("{x},-6,0,0,1,0\n")).collect();
    folder.write("s.csv", format!("x,y,z,r\n{spheres}")).write("r.csv", format!("ox,oy,oz,dx,dy,dz\n{rays}"));
    for file in ["o.svg", "o.png"] {
        folder.run_ok(&format!("cast s.csv r.csv -o o.npz -q --plot {file}"));
    }
    let elements = svg::check(&folder, "o.svg");
    let dots: Vec<[f64; 2]> = svg::of(&elements, "hit").iter().map(|dot| dot.center()).collect();
    let starts: Vec<[f64; 2]> = svg::of(&elements, "start").iter().map(|dot| dot.center()).collect();
    assert_eq!((dots.len(), starts.len()), (4, 4));
    // The scale is that of the row of spheres.
    let scale = (dots[3][0] - dots[2][0]) / seen([4.0, 0.0, 0.0])[0];
    for ((dot, start), x) in dots.iter().zip(&starts).zip(centers) {
        for (place, at) in [([x, -0.5], dot), ([x, -6.0], start)] {
            let [dx, dy] = seen([place[0] - 8.0, place[1] + 0.5, 0.0]).map(|by| scale * by);
            let off = (at[0] - dots[3][0] - dx).hypot(at[1] - dots[3][1] - dy);
            assert!(off < 0.1, "{place:?} is {off} pixels off");
        }
    }
    // The other renderer has the dots at the same positions.
    let picture = picture(&folder, "o.png");
    for [x, y] in dots {
        assert_eq!(picture.get_pixel(x as u32, y as u32).0, HIT);
    }
    let ids: Vec<&str> = svg::of(&elements, "sphere-id").iter().map(|label| label.text.as_str()).collect();
    assert!(ids.contains(&"3") && ids.len() >= 3, "{ids:?}");
}

/// The rays of the first scene start at the z axis.
#[test]
fn labels_keep_clear_of_axes() {
    let folder = Folder::new();
    let samples = umbracast_testing::root().join("systems/samples");
    // Wide numbers at the axes.
    let rays: String = (0..12).map(|i| format!("-3e6,{},0,1,0,0\n", 300_000 * i)).collect();
    folder.write("wide.csv", "x,y,z,r\n0,0,0,1e6\n3e6,0,0,1e6\n");
    folder.write("far.csv", format!("ox,oy,oz,dx,dy,dz\n{rays}"));
    for (spheres, rays, options) in [
        ("wide.csv", "far.csv", ""),
        ("pebbles.csv", "comb.csv", "--query all"),
        ("circling.csv", "shots.csv", "--motion with-ray --time-range 0,5"),
    ] {
        for file in [spheres, rays] {
            if let Ok(bytes) = std::fs::read(samples.join(file)) {
                folder.write(file, bytes);
            }
        }
        folder.run_ok(&format!("cast {spheres} {rays} {options} -o o.npz -q --plot o.svg"));
        let elements = svg::check(&folder, "o.svg");
        let axes: Vec<[f64; 2]> = svg::of(&elements, "axis")
            .iter()
            .filter(|one| one.name == "path")
            .flat_map(|path| path.lines())
            .flat_map(|line| {
                let [[a, b], [c, d]] = [line[0], line[1]];
                (0..=1000).map(move |i| f64::from(i) / 1000.0).map(move |part| [a + part * (c - a), b + part * (d - b)])
            })
            .collect();
        assert!(axes.len() > 10_000, "{spheres}");
        for name in ["x", "y", "z"] {
            assert_eq!(
                svg::of(&elements, "axis").iter().filter(|one| one.text == name).count(),
                1,
                "{spheres}: {name}"
            );
        }
        let (mut ids, mut near) = (0, f64::INFINITY);
        for label in elements.iter().filter(|one| one.name == "text") {
            let [left, top, right, bottom] = label.bounds();
            ids += usize::from(label.attributes["class"] == "ray-id");
            for [x, y] in &axes {
                let apart = (left - x).max(x - right).max(0.0).hypot((top - y).max(y - bottom).max(0.0));
                near = near.min(apart);
                assert!(apart > 3.0, "{spheres}: '{}' is {apart} pixels from an axis", label.text);
            }
        }
        assert!(ids > 8 && near < 20.0, "{spheres}: {ids} rays, {near}");
    }
}

/// The numbers of the axes are at the edges of the box, where the view projects their coordinates relative to a hit.
#[test]
fn axes_and_colours_have_the_coordinates_and_the_distances_of_the_scene() {
    let folder = Folder::new();
    // Thirty rays downwards; the farther to the right, the lower is the sphere.
    let spheres: String = (0..30).map(|i| format!("{},0,{},0.5\n", 100 + 2 * i, -i)).collect();
    let rays: String = (0..30).map(|i| format!("{},0,1.5,0,0,-1,0,99\n", 100 + 2 * i)).collect();
    folder.write("s.csv", format!("x,y,z,r\n{spheres}"));
    folder.write("r.csv", format!("ox,oy,oz,dx,dy,dz,t_min,t_max\n{rays}"));
    folder.run_ok("cast s.csv r.csv -o o.npz -q --plot o.svg");
    let elements = svg::check(&folder, "o.svg");
    let (low, high) = ([99.5, -0.5, -29.5], [158.5, 0.5, 1.5]);
    let scale = scale_of([0, 1, 2].map(|axis| high[axis] - low[axis]));
    let dots = svg::of(&elements, "hit");
    assert_eq!(dots.len(), 30);
    let [x, y] = dots[0].center();
    let project = |point: [f64; 3]| {
        let [right, down] = seen([point[0] - 100.0, point[1], point[2] - 0.5]);
        [x + scale * right, y + scale * down]
    };
    let axes: Vec<_> = svg::of(&elements, "axis").into_iter().filter(|one| one.name == "path").collect();
    assert_eq!(axes.len(), 3);
    for (axis, path) in axes.iter().enumerate() {
        let color = &path.attributes["stroke"];
        let labels: Vec<_> = svg::of(&elements, "axis")
            .into_iter()
            .filter(|one| one.name == "text" && &one.attributes["fill"] == color)
            .collect();
        assert_eq!(labels.iter().filter(|one| one.text == ["x", "y", "z"][axis]).count(), 1);
        let mut numbers = 0;
        for label in &labels {
            let Ok(value) = label.text.parse::<f64>() else { continue };
            let mut place = if axis == 1 { [high[0], low[1], low[2]] } else { low };
            place[axis] = value;
            let tick = project(place);
            let off = |at: &[f64; 2]| (at[0] - tick[0]).hypot(at[1] - tick[1]);
            assert!(path.lines().iter().any(|line| off(&line[0]) < 0.2), "{}: no tick at {tick:?}", label.text);
            let [left, top, right, bottom] = label.bounds();
            assert!(off(&[0.5 * (left + right), 0.5 * (top + bottom)]) < 45.0, "{} is not at {tick:?}", label.text);
            numbers += 1;
        }
        assert!(numbers >= [4, 1, 3][axis], "{numbers} numbers");
    }
    // Hits have the colours of the bar, not one of the legend.
    assert!(svg::of(&elements, "legend").iter().all(|one| one.text != "hit"));
    // The distances of the hits are 1 to 30: from yellow to violet. Matplotlib has these colours of "plasma" at 0.95, 0.61 and 0.25.
    let color = |dot: &svg::Element| {
        let hex = u32::from_str_radix(&dot.attributes["fill"][1..], 16).unwrap();
        [16, 8, 0].map(|shift| (hex >> shift & 255) as u8)
    };
    for (dot, expected) in [(0, [247, 228, 37]), (14, [227, 104, 95]), (29, [126, 3, 168])] {
        let found = color(dots[dot]);
        assert!(found.iter().zip(expected).all(|(one, other)| one.abs_diff(other) < 8), "{dot}: {found:?}");
    }
    let bar = svg::of(&elements, "colours");
    let image = bar.iter().find(|one| one.name == "image").expect("a bar").bounds();
    for text in bar.iter().filter(|one| one.name == "text") {
        let Ok(value) = text.text.parse::<f64>() else { continue };
        let [left, _, right, _] = text.bounds();
        let expected = image[0] + (image[2] - image[0]) * (value - 1.0) / 29.0;
        assert!((0.5 * (left + right) - expected).abs() < 0.1, "{value}");
    }
}

#[test]
fn the_summary_reports_that_rays_were_sampled() {
    let folder = Folder::new();
    let rays: Vec<f32> = (0..300_000).flat_map(|i| [0.0, i as f32 * 1e-5, 0.0, 1.0, 0.0, 0.0, 0.0, 9.0]).collect();
    folder.write("s.csv", SPHERES).write("r.rays", f32_bytes(&rays));
    let done = folder.run_ok("cast s.csv r.rays -o o.npz --plot many.png");
    assert!(done.errors.contains("; many.png shows 2 spheres, 1239 of 300000 rays"), "{}", done.errors);
    let json = folder.json("cast s.csv r.rays -o o.npz --plot again.PNG --json");
    assert_eq!((&json["plot"], &json["plot_shows"]), (&"again.PNG".into(), &"2 spheres, 1239 of 300000 rays".into()));
    assert!(folder.bytes("many.png") == folder.bytes("again.PNG"));
    let done = folder.run_ok("cast s.csv r.rays -o o.npz --json");
    assert!(done.output.contains("\"plot\":null"), "{}", done.output);
}

#[test]
fn extreme_scenes_can_be_plotted() {
    let folder = Folder::new();
    // Extreme velocities, sizes, times and radii, needles and discs; further below, scenes without spheres or rays.
    let moving = "x,y,z,r,vx,vy,vz\n0,0,0,0,0,0,0\n1,2,3,1,1e30,0,0\n1e-40,0,0,1e-41,0,0,1e-44\n0,0,0,1e30,-1e30,1,1\n";
    let stretched = "x,y,z,rx,ry,rz,qw,qx,qy,qz\n0,0,0,1e30,1e25,1e30,1,2,3,4\n1,1,1,1e-30,1e-35,1e-30,1e-20,0,0,1\n";
    let wide = "ox,oy,oz,dx,dy,dz,t_min,t_max,time,radius\n0,0,0,1,0,0,0,1,0.5,0\n1,2,3,1,1,1,0,1,1e30,1e30\n\
                0,0,0,1e30,0,0,-1,1,0.5,1e38\n5,5,5,1,2,3,0,1,nan,-1\n";
    folder.write("moving.csv", moving).write("stretched.csv", stretched).write("wide.csv", wide);
    folder.write("thin.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n3,3,3,-1,-1,-1\n1e38,0,0,-1,0,0\n");
    for query in ["closest", "occluded", "interval", "approach", "all", "nearest --k 2"] {
        for motion in ["at-time", "with-ray"] {
            let arguments = format!("--query {query} --motion {motion} --on-bad skip");
            folder.run_ok(&format!("cast moving.csv wide.csv -o o.npz -q --plot o.png {arguments}"));
        }
        if query != "approach" {
            folder.run_ok(&format!("cast stretched.csv thin.csv -o o.npz -q --plot o.png --query {query}"));
        }
    }
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
        for query in ["closest", "occluded", "interval", "approach", "all"] {
            folder.run_ok(&format!("cast s.csv r.csv -o o.npz -q --plot o.png --query {query} --on-bad skip"));
            assert_eq!(picture(&folder, "o.png").dimensions(), (1280, 960));
        }
    }
}

/// Coordinates on the axes are those after the origin was subtracted, and the plot says so.
#[test]
fn plots_name_the_origin_of_their_axes() {
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r\n1000000,2000000,0,1\n1000003,2000000,0,0.5\n");
    folder.write("r.csv", "ox,oy,oz,dx,dy,dz\n999995,2000000,0,1,0,0\n");
    for (origin, words) in [("--origin 1000000,2000000,0.5", Some("relative to 1000000,2000000,0.5")), ("", None)] {
        folder.run(&format!("cast s.csv r.csv -o o.npz --plot p.svg {origin}"));
        let plot = folder.text("p.svg");
        assert_eq!(plot.contains("relative to"), words.is_some());
        assert!(words.is_none_or(|words| plot.contains(words)), "{words:?}");
    }
}

#[test]
fn invalid_plot_arguments_are_refused_before_work() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("r.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n").write("o.npz", "before");
    folder.write("old.png", "before").write("bad.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,0,0,0\n");
    std::fs::create_dir(folder.path("folder.png")).unwrap();
    for (arguments, code, words) in [
        (
            "s.csv r.csv -o o.npz --plot o.jpg",
            2,
            "o.jpg: cannot write a plot in this format: supported is .png and .svg",
        ),
        ("s.csv r.csv -o o.npz --plot plot", 2, "plot: cannot write a plot in this format"),
        ("s.csv r.csv -o o.npz --plot absent/o.png", 5, "there is no folder absent"),
        ("s.csv r.csv -o o.npz --plot folder.png", 5, "folder.png: it is a folder"),
        ("s.csv r.csv -o o.npz --plot", 2, "a value is required for '--plot <PICTURE>'"),
        ("--sphere 4,0,0,1 --ray 0,0,0,1,0,0 --plot o.png", 2, "cannot be used with"),
        // A later failure leaves an existing plot unchanged.
        ("s.csv bad.csv -o o.npz --plot old.png", 2, "bad.csv: line 2: direction"),
        ("s.csv r.csv -o absent/o.npz --plot old.png", 5, "there is no folder absent"),
    ] {
        folder.fails(&format!("cast {arguments}"), code, &[words]);
    }
}
