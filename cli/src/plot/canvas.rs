//! Canvas of a plot: linear colours and a depth buffer, with 2 × 2 supersampling.

use crate::error::Result;
use umbracast::glam::{DVec2, DVec3, Vec3};
use umbracast::memory;

use super::body::{Body, Outline};
use crate::drawing::Glyphs;

/// Size of the final picture in pixels.
pub(super) const WIDTH: usize = 1280;
pub(super) const HEIGHT: usize = 960;
/// Fine pixels per final pixel, along each axis.
const FINE: usize = 2;

/// The canvas. Coordinates are in final pixels: x to the right and y up from the lower left corner, z towards the eye.
pub(super) struct Canvas {
    colors: Vec<Vec3>,
    near: Vec<f32>,
}

/// A linear colour from sRGB in hexadecimal.
pub(super) fn color(hex: u32) -> Vec3 {
    let part = |shift: u32| (f64::from(hex >> shift & 0xff) / 255.0).powf(2.2) as f32;
    Vec3::new(part(16), part(8), part(0))
}

/// Style of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pen {
    pub(super) color: Vec3,
    pub(super) width: f64,
    pub(super) alpha: f32,
    /// Factor of the opacity behind a sphere.
    pub(super) behind: f32,
}

impl Canvas {
    pub(super) fn new() -> Result<Self> {
        let pixels = WIDTH * HEIGHT * FINE * FINE;
        memory::check("the plot", (pixels * (size_of::<Vec3>() + size_of::<f32>())) as u64)?;
        let (low, high) = (color(0xe9_edf2), color(0xfb_fcfd));
        let row = |y: usize| low.lerp(high, y as f32 / (HEIGHT * FINE) as f32);
        let mut colors = Vec::with_capacity(pixels);
        for y in 0..HEIGHT * FINE {
            colors.resize(colors.len() + WIDTH * FINE, row(y));
        }
        Ok(Self { colors, near: vec![f32::NEG_INFINITY; pixels] })
    }

    /// Iterates over the fine pixels of a rectangle, clipped to the canvas: index and centre of each.
    fn pixels(low: DVec2, high: DVec2) -> impl Iterator<Item = (usize, DVec2)> {
        let span = |low: f64, high: f64, most: usize| {
            let at = |x: f64| (x * FINE as f64).clamp(0.0, (most * FINE) as f64);
            at(low).floor() as usize..at(high).ceil() as usize
        };
        let (xs, ys) = (span(low.x, high.x, WIDTH), span(low.y, high.y, HEIGHT));
        ys.flat_map(move |y| {
            xs.clone().map(move |x| (y * WIDTH * FINE + x, DVec2::new(x as f64 + 0.5, y as f64 + 0.5) / FINE as f64))
        })
    }

    fn blend(&mut self, pixel: usize, color: Vec3, alpha: f32) {
        self.colors[pixel] = self.colors[pixel].lerp(color, alpha);
    }

    /// Draws a ball or an ellipsoid, lit from the upper left behind the eye.
    pub(super) fn body(&mut self, center: DVec3, body: &Body, color: Vec3) {
        let light = DVec3::new(-0.45, 0.65, 0.62).normalize();
        let Body { outline, lean, depth } = *body;
        for (pixel, at) in Self::pixels(center.truncate() - outline.half, center.truncate() + outline.half) {
            let aside = at - center.truncate();
            let unit = outline.unit * aside;
            let rest = 1.0 - unit.length_squared();
            let root = rest.max(0.0).sqrt();
            let near = (center.z + lean.dot(aside) + depth * root) as f32;
            if rest < 0.0 || near <= self.near[pixel] {
                continue;
            }
            let slope = depth * (outline.unit.transpose() * unit) - lean * root;
            let normal = slope.extend(root).normalize_or(DVec3::Z);
            let shade = 0.45 + 0.55 * (0.5 + 0.5 * normal.dot(light)).powi(2);
            // A darker rim separates balls of the same colour.
            let rim = 1.0 - 0.55 * (1.0 - normal.z).powi(4);
            self.near[pixel] = near;
            self.colors[pixel] = color * (shade * rim) as f32;
        }
    }

    /// Draws the area that an outline sweeps between two points, translucent. `alpha` is the opacity at the first and at the last point.
    pub(super) fn streak(&mut self, from: DVec3, to: DVec3, outline: &Outline, color: Vec3, alpha: [f32; 2]) {
        if !(from.is_finite() && to.is_finite()) {
            return;
        }
        let (flat, along) = ((to - from).truncate(), outline.unit * (to - from).truncate());
        let length = along.length_squared();
        let edge = 1.0 - 1.5 / outline.half.min_element().max(1.5);
        let (low, high) = (from.min(to).truncate() - outline.half, from.max(to).truncate() + outline.half);
        let row = |y: f64| y.clamp(0.0, HEIGHT as f64) * FINE as f64;
        for row in row(low.y).floor() as usize..row(high.y).ceil() as usize {
            let y = (row as f64 + 0.5) / FINE as f64;
            // The part of the path in which the outline covers this row.
            let cross = |y: f64| if flat.y == 0.0 { None } else { Some(((y - from.y) / flat.y).clamp(0.0, 1.0)) };
            let ends = [cross(y - outline.half.y).unwrap_or(0.0), cross(y + outline.half.y).unwrap_or(1.0)];
            let [a, b] = ends.map(|part| from.x + part * flat.x);
            let strip = DVec2::new(a.min(b) - outline.half.x, y)..DVec2::new(a.max(b) + outline.half.x, y);
            for (pixel, at) in Self::pixels(strip.start, strip.end + DVec2::Y * 1e-9) {
                let unit = outline.unit * (at - from.truncate());
                let part = if length > 0.0 { (unit.dot(along) / length).clamp(0.0, 1.0) } else { 1.0 };
                let aside = (unit - part * along).length();
                if aside > 1.0 {
                    continue;
                }
                let near = (from.z + part * (to.z - from.z)) as f32;
                let clear = alpha[0] + (alpha[1] - alpha[0]) * part as f32;
                // A more opaque edge separates the area from its neighbours.
                let clear = if aside >= edge { (2.5 * clear).min(1.0) } else { clear };
                self.blend(pixel, color, if near >= self.near[pixel] { clear } else { 0.2 * clear });
            }
        }
    }

    /// Draws a line, fainter behind balls.
    pub(super) fn line(&mut self, from: DVec3, to: DVec3, pen: Pen) {
        let frame = DVec2::new(WIDTH as f64, HEIGHT as f64);
        let Some((from, to)) = clip(from, to, DVec2::splat(-pen.width), frame + pen.width) else { return };
        let (flat, half) = ((to - from).truncate(), pen.width / 2.0);
        let length = flat.length();
        let steep = flat.y.abs() > flat.x.abs();
        // One strip of fine pixels per step along the major axis, as wide as the section of the line.
        let (along, across) = if steep { (flat.y, flat.x) } else { (flat.x, flat.y) };
        let reach = if along == 0.0 { half } else { half * length / along.abs() };
        let (start, side) = if steep { (from.y, from.x) } else { (from.x, from.y) };
        let (low, high) = (start.min(start + along), start.max(start + along));
        let steps = (low * FINE as f64).floor() as i64
            ..(high * FINE as f64).ceil().max((low * FINE as f64).floor() + 1.0) as i64;
        for step in steps {
            let middle = (step as f64 + 0.5) / FINE as f64;
            let part = if along == 0.0 { 0.0 } else { ((middle - start) / along).clamp(0.0, 1.0) };
            let center = side + part * across;
            let near = (from.z + part * (to.z - from.z)) as f32;
            let (first, last) = ((center - reach) * FINE as f64, (center + reach) * FINE as f64);
            for other in first.floor() as i64..=last.floor() as i64 {
                // The fraction of this pixel that the strip covers.
                let cover = (last.min(other as f64 + 1.0) - first.max(other as f64)).clamp(0.0, 1.0) as f32;
                let (x, y) = if steep { (other, step) } else { (step, other) };
                if x < 0 || y < 0 || x >= (WIDTH * FINE) as i64 || y >= (HEIGHT * FINE) as i64 {
                    continue;
                }
                let pixel = y as usize * WIDTH * FINE + x as usize;
                let seen = if near >= self.near[pixel] - 0.5 { 1.0 } else { pen.behind };
                self.blend(pixel, pen.color, pen.alpha * seen * cover);
            }
        }
    }

    /// Whether a body hides a point: it is at least 2.5 pixels nearer to the eye.
    pub(super) fn is_hidden(&self, at: DVec3) -> bool {
        let flat = at.truncate();
        Self::pixels(flat, flat + 1e-9).any(|(pixel, _)| (at.z + 2.5) as f32 <= self.near[pixel])
    }

    /// Draws a dot with a white rim, of constant size. If a body hides its centre, draws a ring without the rim instead.
    pub(super) fn spot(&mut self, at: DVec3, radius: f64, rim: f64, color: Vec3, alpha: f32) {
        let rim = radius + rim;
        let center = at.truncate();
        // Tested once per dot, so that a ball does not cut a dot on its side.
        let hidden = self.is_hidden(at);
        for (pixel, middle) in Self::pixels(center - rim, center + rim) {
            let aside = (middle - center).length();
            if aside <= radius {
                let faint = if aside < radius - 0.9 { 0.2 } else { 0.75 };
                self.blend(pixel, color, if hidden { alpha * faint } else { alpha });
            } else if aside <= rim && !hidden {
                self.blend(pixel, Vec3::ONE, 0.8 * alpha);
            }
        }
    }

    /// Draws text from its lower left corner, on top of everything, with a white outline.
    pub(super) fn text(&mut self, text: &str, at: DVec2, color: Vec3) {
        let glyphs = Glyphs::new(text);
        // Rows of the canvas count from the bottom.
        let dark = |x: i64, y: i64| glyphs.is_dark(x, 7 - y);
        // A dot of the font is 2 fine pixels wide and 3 high, which makes the letters as wide as high.
        let dot = DVec2::new(2.0, 3.0) / FINE as f64;
        let size = DVec2::new(8.0 * glyphs.len() as f64, 8.0) * dot;
        for (pixel, middle) in Self::pixels(at - dot, at + size + dot) {
            let place = ((middle - at) / dot).floor();
            let (x, y) = (place.x as i64, place.y as i64);
            if dark(x, y) {
                self.blend(pixel, color, 1.0);
            } else if (-1..=1).any(|dx| (-1..=1).any(|dy| dark(x + dx, y + dy))) {
                self.blend(pixel, Vec3::ONE, 0.55);
            }
        }
    }

    /// Width of a text in pixels.
    pub(super) fn text_width(text: &str) -> f64 {
        8.0 * text.chars().count() as f64
    }

    /// The final picture in sRGB, rows from the top.
    pub(super) fn srgb8(&self) -> Vec<u8> {
        let encode =
            |mean: Vec3| mean.to_array().map(|part| (255.0 * part.clamp(0.0, 1.0).powf(1.0 / 2.2)).round() as u8);
        let mut bytes = Vec::with_capacity(WIDTH * HEIGHT * 3);
        // Most pixels have the colour of their left neighbour, whose encoding is reused.
        let mut last = (Vec3::ZERO, encode(Vec3::ZERO));
        for y in (0..HEIGHT).rev() {
            for x in 0..WIDTH {
                let mut sum = Vec3::ZERO;
                for dy in 0..FINE {
                    let row = (y * FINE + dy) * WIDTH * FINE + x * FINE;
                    let mut part = Vec3::ZERO;
                    for color in &self.colors[row..row + FINE] {
                        part += *color;
                    }
                    sum += part;
                }
                let mean = sum / (FINE * FINE) as f32;
                if mean != last.0 {
                    last = (mean, encode(mean));
                }
                bytes.extend_from_slice(&last.1);
            }
        }
        bytes
    }
}

/// Clips a line to a rectangle in x and y (Liang and Barsky, 1984). `None` if it misses the rectangle.
fn clip(from: DVec3, to: DVec3, low: DVec2, high: DVec2) -> Option<(DVec3, DVec3)> {
    let along = to - from;
    let (mut first, mut last) = (0.0_f64, 1.0_f64);
    for axis in 0..2 {
        let (start, step) = (from[axis], along[axis]);
        if step == 0.0 {
            if start < low[axis] || start > high[axis] {
                return None;
            }
            continue;
        }
        let (a, b) = ((low[axis] - start) / step, (high[axis] - start) / step);
        first = first.max(a.min(b));
        last = last.min(a.max(b));
    }
    (first <= last && along.is_finite()).then(|| (from + first * along, from + last * along))
}
