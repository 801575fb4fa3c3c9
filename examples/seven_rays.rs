//! Draws the seven rays of a well-known unit test for ray–sphere intersection: `cargo run --release -p umbracast --example seven_rays`
//! writes `output/seven-rays.png`.
//!
//! The upper part shows all rays as that test draws them: the spheres of the first three rows in red, the rays in green, the hits in blue.
//! Not every ray is tested against every sphere, so this view alone does not show which results are correct. The lower part shows each row
//! separately, in the plane of its ray and its centre, with the `t` of its hit in units of the direction as given. Every point drawn in
//! blue is a result of the library.

use std::f32::consts::TAU;

use umbracast::glam::{Vec2, Vec3, vec2, vec3};
use umbracast::{Device, DeviceOptions, Hit, Inside, Precision, Query, Ray, Sphere};

const RED: Vec3 = vec3(0.78, 0.10, 0.12);
const GREEN: Vec3 = vec3(0.05, 0.56, 0.20);
const BLUE: Vec3 = vec3(0.08, 0.25, 0.85);
const GREY: Vec3 = vec3(0.52, 0.54, 0.58);
const INK: Vec3 = vec3(0.15, 0.16, 0.20);
const PAPER: Vec3 = vec3(1.0, 1.0, 1.0);

/// An image, drawn with strokes with soft edges.
struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<Vec3>,
}

impl Canvas {
    fn new(width: usize, height: usize) -> Self {
        Self { width, height, pixels: vec![PAPER; width * height] }
    }

    /// Blends a colour into every pixel of the rectangle `low..high`. `cover` gives the opacity at the centre of a pixel.
    fn paint(&mut self, low: Vec2, high: Vec2, color: Vec3, cover: impl Fn(Vec2) -> f32) {
        let clip = |v: Vec2| v.clamp(Vec2::ZERO, vec2(self.width as f32, self.height as f32)).as_usizevec2();
        let (low, high) = (clip(low.floor()), clip(high.ceil()));
        for y in low.y..high.y {
            for x in low.x..high.x {
                let pixel = &mut self.pixels[y * self.width + x];
                *pixel = pixel.lerp(color, cover(vec2(x as f32 + 0.5, y as f32 + 0.5)).clamp(0.0, 1.0));
            }
        }
    }

    /// Draws a path with round ends and joints. Where it crosses itself it is not darker.
    fn path(&mut self, path: &[Vec2], width: f32, color: Vec3, alpha: f32) {
        let (low, high) = path.iter().fold((path[0], path[0]), |(l, h), p| (l.min(*p), h.max(*p)));
        let margin = Vec2::splat(width / 2.0 + 1.0);
        let distance = |p: Vec2| {
            let to = |pair: &[Vec2]| {
                let along = pair[1] - pair[0];
                let t = (p - pair[0]).dot(along) / along.length_squared().max(1e-9);
                p.distance_squared(pair[0] + along * t.clamp(0.0, 1.0))
            };
            path.windows(2).map(to).fold(f32::MAX, f32::min).sqrt()
        };
        self.paint(low - margin, high + margin, color, |p| alpha * (width / 2.0 + 0.5 - distance(p)).clamp(0.0, 1.0));
    }

    fn dot(&mut self, at: Vec2, radius: f32, color: Vec3) {
        self.path(&[at, at], 2.0 * radius, color, 1.0);
    }

    /// Draws an arrow on a white halo, which separates it from the lines that it crosses.
    fn arrow(&mut self, from: Vec2, to: Vec2, width: f32, color: Vec3) {
        let along = (to - from).normalize_or_zero() * width;
        for (width, color) in [(width + 3.0, PAPER), (width, color)] {
            self.path(&[from, to], width, color, 1.0);
            self.path(
                &[to - 3.6 * along + 2.0 * along.perp(), to, to - 3.6 * along - 2.0 * along.perp()],
                width,
                color,
                1.0,
            );
        }
    }

    /// Draws text in strokes, with its lower left corner at `at`.
    fn text(&mut self, text: &str, at: Vec2, height: f32, color: Vec3) {
        let unit = height / 6.0;
        let mut pen = at;
        for letter in text.chars() {
            let strokes = STROKES.split(';').find_map(|entry| entry.strip_prefix(letter));
            for stroke in strokes.unwrap_or_default().split_whitespace() {
                let digits: Vec<f32> = stroke.bytes().map(|b| f32::from(b - b'0')).collect();
                let points: Vec<Vec2> = digits.chunks(2).map(|p| pen + unit * vec2(p[0], -p[1])).collect();
                self.path(&points, 0.13 * height, color, 1.0);
            }
            pen.x += unit * advance(letter);
        }
    }
}

/// Letters as strokes: pairs of digits, x to the right and y up, on a grid of 4 by 6 units.
const STROKES: &str = "0 103041453616050110;1 052620;2 05163645440040;3 064623334241301001;4 30360242;\
    5 460603334241301001;6 3616050110304142331302;7 064610;8 13334241301001021304051636454433;\
    9 1030414536160504133344;. 1010;= 0343 0141;t 16112030 0434;m 0004 03142320 23344340;i 1014 1616;\
    s 43341403123241301001;x 0044 0440;y 0420 4410;z 04440040";

/// Advance of the pen after a letter, in units of the grid.
fn advance(letter: char) -> f32 {
    if ".1i ".contains(letter) { 3.6 } else { 6.0 }
}

/// An orthographic view: world axes to the right and up in the picture, the world point drawn at pixel `middle`, and pixels per unit.
struct View {
    right: Vec3,
    up: Vec3,
    center: Vec3,
    middle: Vec2,
    scale: f32,
}

impl View {
    fn point(&self, p: Vec3) -> Vec2 {
        let p = p - self.center;
        self.middle + self.scale * vec2(p.dot(self.right), -p.dot(self.up))
    }

    fn towards_viewer(&self) -> Vec3 {
        self.right.cross(self.up)
    }
}

/// Draws the red ball behind the rays or, with `front`, the wires in front of them.
fn draw_sphere(canvas: &mut Canvas, view: &View, sphere: &Sphere, front: bool) {
    let (center, radius) = (view.point(sphere.center), sphere.radius * view.scale);
    if !front {
        let light = vec2(-0.35, -0.45) * radius;
        canvas.paint(center - radius, center + radius, RED, |p| {
            let edge = (radius + 0.5 - p.distance(center)).clamp(0.0, 1.0);
            edge * (0.05 + 0.13 * (p.distance(center + light) / radius / 1.5).powi(2))
        });
    }
    // A circle every 30° of longitude and latitude, about the y axis.
    let point = |latitude: f32, longitude: f32| {
        let (s, c) = latitude.sin_cos();
        vec3(c * longitude.cos(), s, c * longitude.sin())
    };
    let circle = |f: &dyn Fn(f32) -> Vec3| (0..=120).map(|i| f(TAU * i as f32 / 120.0)).collect::<Vec<_>>();
    let meridians = (0..6).map(|i| circle(&|angle| point(angle, TAU / 12.0 * i as f32)));
    let parallels = (-2..=2).map(|i| circle(&|angle| point(TAU / 12.0 * i as f32, angle)));
    let fine = if view.scale > 60.0 { 1.5 } else { 0.9 };
    for ring in meridians.chain(parallels) {
        for part in ring.chunk_by(|a, b| {
            let facing = |p: &Vec3| p.dot(view.towards_viewer()) >= 0.0;
            facing(a) == facing(b)
        }) {
            if (part[part.len() / 2].dot(view.towards_viewer()) >= 0.0) == front {
                let part: Vec<Vec2> = part.iter().map(|p| view.point(sphere.center + sphere.radius * *p)).collect();
                canvas.path(&part, fine, RED, if front { 0.42 } else { 0.16 });
            }
        }
    }
    if front {
        let outline: Vec<Vec2> =
            circle(&|a| vec3(a.cos(), a.sin(), 0.0)).iter().map(|p| center + radius * p.truncate()).collect();
        canvas.path(&outline, 1.6 * fine, RED, 0.95);
    }
}

/// One row of the test: a ray and a sphere, and the result of the library.
struct Row {
    ray: Ray,
    sphere: Sphere,
    hit: Option<(f32, Vec3)>,
    /// End of the drawn part of the ray.
    end: Vec3,
}

/// Draws the ray: solid up to its hit, then dashed.
fn draw_ray(canvas: &mut Canvas, view: &View, row: &Row, width: f32) {
    let (from, to) = (view.point(row.ray.origin), view.point(row.end));
    match row.hit {
        None => canvas.arrow(from, to, width, GREEN),
        Some((_, point)) => {
            let hit = view.point(point);
            let count = (hit.distance(to) / (10.0 * width)).round().max(1.0);
            let period = (to - hit) / count;
            for i in 1..count as usize {
                let end = hit + period * i as f32;
                canvas.path(&[end - 0.5 * period, end], 0.8 * width, GREEN, 0.9);
            }
            canvas.arrow(to - 0.5 * period, to, 0.8 * width, GREEN);
            canvas.path(&[from, hit], width + 3.0, PAPER, 1.0);
            canvas.path(&[from, hit], width, GREEN, 1.0);
        }
    }
}

fn draw_ends(canvas: &mut Canvas, view: &View, row: &Row, width: f32) {
    canvas.dot(view.point(row.ray.origin), 1.5 * width, GREEN);
    if let Some((_, point)) = row.hit {
        canvas.dot(view.point(point), 2.8 * width, PAPER);
        canvas.dot(view.point(point), 2.2 * width, BLUE);
    }
}

/// Casts the seven rays, each at its own sphere. A ray that starts inside a sphere hits it on the way out.
fn rows() -> umbracast::Result<Vec<Row>> {
    let table = [
        ([-2.0, 1.0, 0.0], [2.0, 0.0, 0.0], [2.0, 0.0, 0.0]),
        ([-2.0, 0.0, 0.0], [2.0, 0.0, 0.0], [2.0, 2.0, 0.0]),
        ([-2.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
        ([-2.0, 2.0, 0.0], [2.0, -1.0, 2.0], [0.0, 0.0, 0.0]),
        ([2.0, 1.0, 0.0], [2.0, 0.0, 0.0], [2.0, 0.0, 0.0]),
        ([-2.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [2.0, 0.0, 0.0]),
        ([-5.0, 1.0, 0.0], [2.0, 0.4, 0.0], [2.0, 0.0, 0.0]),
    ];
    let rays = table.map(|(origin, direction, _)| Ray::new(origin, direction));
    let spheres = table.map(|(.., center)| Sphere::new(center, 2.0));
    let device = Device::open(&DeviceOptions::default())?;
    let scene = device.pairwise(&spheres, &Default::default())?;
    let query = Query::at(Precision::Exact).inside(Inside::Exit);
    let hits = scene.closest(&rays, &query)?;
    let passes = scene.approach(&rays, &query)?;
    let row = |i: usize| {
        let (ray, sphere, hit) = (rays[i], spheres[i], hits[i]);
        let last = ray.roots(&sphere).map_or(passes[i].t, |(_, exit)| exit.max(passes[i].t));
        let end = ray.point_at(last) + 1.6 * ray.direction.normalize();
        let point = |hit: Hit| (hit.t, hit.point(&ray, &sphere));
        Row { ray, sphere, hit: hit.is_hit().then(|| point(hit)), end }
    };
    Ok((0..rays.len()).map(row).collect())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rows = rows()?;
    let mut canvas = Canvas::new(1600, 1180);

    // All rows, seen a little from the right and from above.
    let ((s, c), (s2, c2)) = (0.42f32.sin_cos(), 0.30f32.sin_cos());
    let (right, up) = (vec3(c, 0.0, -s), vec3(-s * s2, c2, -c * s2));
    let view = View { right, up, center: vec3(0.1, 1.05, 0.0), middle: vec2(800.0, 420.0), scale: 122.0 };
    for (axis, name, to, from) in [(Vec3::X, "x", 5.9, -5.6), (Vec3::Y, "y", 4.1, -2.6), (Vec3::Z, "z", 4.6, -3.0)] {
        canvas.arrow(view.point(axis * from), view.point(axis * to), 1.6, GREY);
        canvas.text(name, view.point(axis * (to + 0.3)) + vec2(-8.0, 8.0), 24.0, GREY);
        for i in (from as i32..=to as i32).filter(|i| *i != 0) {
            canvas.dot(view.point(axis * i as f32), 3.0, GREY);
        }
    }
    let spheres = [&rows[2].sphere, &rows[0].sphere, &rows[1].sphere];
    spheres.iter().for_each(|sphere| draw_sphere(&mut canvas, &view, sphere, false));
    rows.iter().for_each(|row| draw_ray(&mut canvas, &view, row, 4.0));
    spheres.iter().for_each(|sphere| draw_sphere(&mut canvas, &view, sphere, true));
    rows.iter().for_each(|row| draw_ends(&mut canvas, &view, row, 4.0));
    let beside =
        [(8.0, -14.0), (-50.0, -10.0), (-50.0, 38.0), (-8.0, -16.0), (-4.0, 40.0), (-32.0, -14.0), (-8.0, -16.0)];
    for (i, (row, (x, y))) in rows.iter().zip(beside).enumerate() {
        canvas.text(&(i + 1).to_string(), view.point(row.ray.origin) + vec2(x, y), 24.0, INK);
    }

    // Each row separately, in the plane of the ray and the centre, with x to the right.
    for (i, row) in rows.iter().enumerate() {
        let normal = row.ray.direction.cross(row.sphere.center - row.ray.origin).try_normalize().unwrap_or(Vec3::Z);
        let normal = if normal.z < 0.0 { -normal } else { normal };
        let right = Vec3::X.reject_from_normalized(normal).normalize();
        let up = normal.cross(right);
        let bounds = |axis: Vec3| {
            let ball = row.sphere.center.dot(axis);
            let points = [row.ray.origin.dot(axis), row.end.dot(axis), ball - 2.0, ball + 2.0];
            (points.into_iter().fold(f32::MAX, f32::min), points.into_iter().fold(f32::MIN, f32::max))
        };
        let ((x0, x1), (y0, y1)) = (bounds(right), bounds(up));
        let center = (right * (x0 + x1) + up * (y0 + y1)) / 2.0 + normal * row.sphere.center.dot(normal);
        let scale = (190.0 / (x1 - x0)).min(27.0);
        let left = 30.0 + 220.0 * i as f32;
        let view = View { right, up, center, middle: vec2(left + 110.0, 1005.0), scale };
        canvas.path(&[vec2(left, 870.0), vec2(left, 1150.0)], 1.0, GREY, if i == 0 { 0.0 } else { 0.5 });
        draw_sphere(&mut canvas, &view, &row.sphere, false);
        draw_ray(&mut canvas, &view, row, 2.6);
        draw_sphere(&mut canvas, &view, &row.sphere, true);
        draw_ends(&mut canvas, &view, row, 2.6);
        canvas.text(&(i + 1).to_string(), vec2(left + 16.0, 900.0), 24.0, INK);
        let (words, color) = match row.hit {
            Some((t, _)) => (format!("t = {t:.3}"), BLUE),
            None => ("miss".into(), GREY),
        };
        let half = words.chars().map(advance).sum::<f32>() / 6.0 * 10.0;
        canvas.text(&words, vec2(left + 110.0 - half, 1142.0), 20.0, color);
    }

    let bytes = canvas.pixels.iter().flat_map(|p| (*p * 255.0 + 0.5).to_array()).map(|v| v as u8).collect();
    let picture =
        image::RgbImage::from_raw(canvas.width as u32, canvas.height as u32, bytes).ok_or("a picture's size")?;
    let path = std::env::args().nth(1).unwrap_or(concat!(env!("CARGO_MANIFEST_DIR"), "/output/seven-rays.png").into());
    picture.save(&path)?;
    println!("{path}: {} hits of {} rays", rows.iter().filter(|row| row.hit.is_some()).count(), rows.len());
    Ok(())
}
