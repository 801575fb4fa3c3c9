//! Canvas of a map: sRGB colours, antialiased lines, marks and text. Positions are in pixels from the upper left corner.

use crate::error::{Error, Result};
use umbracast::glam::DVec2;
use umbracast::memory;

use crate::drawing::{Glyphs, write_png};

/// An sRGB colour, 0…1.
pub(super) type Rgb = [f32; 3];

/// A colour from sRGB in hexadecimal.
pub(super) const fn rgb(hex: u32) -> Rgb {
    [(hex >> 16 & 255) as f32 / 255.0, (hex >> 8 & 255) as f32 / 255.0, (hex & 255) as f32 / 255.0]
}

/// Colours of labels and their halos.
const LIGHT: Rgb = rgb(0xfcfcfa);
const DARK: Rgb = rgb(0x1d1430);

/// Width of a dot of the font, relative to its height.
const ASPECT: f64 = 0.68;

/// A rectangle: lower and upper corners in x and y.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) low: DVec2,
    pub(super) high: DVec2,
}

pub(super) struct Canvas {
    pub(super) size: [usize; 2],
    pixels: Vec<Rgb>,
}

impl Canvas {
    pub(super) fn new(size: [usize; 2], color: Rgb) -> Result<Self> {
        let pixels = size[0] * size[1];
        // The colours, and the coverage of a line.
        memory::check("the picture of the map", (pixels * 19) as u64)?;
        Ok(Self { size, pixels: vec![color; pixels] })
    }

    pub(super) fn blend(&mut self, x: usize, y: usize, color: Rgb, alpha: f32) {
        if let Some(pixel) = self.pixels.get_mut(y * self.size[0] + x).filter(|_| x < self.size[0]) {
            for (own, new) in pixel.iter_mut().zip(color) {
                *own += (new - *own) * alpha;
            }
        }
    }

    /// Fills a rectangle.
    pub(super) fn fill(&mut self, frame: Frame, color: Rgb) {
        let [xs, ys] = self.range(frame);
        for y in ys {
            for x in xs.clone() {
                self.blend(x, y, color, 1.0);
            }
        }
    }

    /// The pixels of a rectangle, clipped to the canvas.
    fn range(&self, frame: Frame) -> [std::ops::Range<usize>; 2] {
        let span = |low: f64, high: f64, most: usize| {
            let at = |x: f64| x.clamp(0.0, most as f64) as usize;
            at(low.floor())..at(high.ceil())
        };
        [span(frame.low.x, frame.high.x, self.size[0]), span(frame.low.y, frame.high.y, self.size[1])]
    }

    /// Mean brightness of a rectangle, 0…1.
    fn brightness(&self, frame: Frame) -> f32 {
        let [xs, ys] = self.range(frame);
        let pixels = ys.flat_map(|y| xs.clone().map(move |x| y * self.size[0] + x));
        let (sum, count) = pixels.fold((0.0, 0), |(sum, count), at| (sum + luma(self.pixels[at]), count + 1));
        if count > 0 { sum / count as f32 } else { 1.0 }
    }

    /// Draws thin lines, as [`lines`](Self::lines) does, but lighter where the canvas is dark.
    pub(super) fn lines_on_any(&mut self, lines: &[Vec<DVec2>], clip: Frame, width: f64, colors: [Rgb; 2], alpha: f32) {
        let [on_light, on_dark] = colors;
        let cover = self.cover(lines, clip, width);
        for (at, part) in cover.into_iter().enumerate().filter(|(_, part)| *part > 0.0) {
            let color = if luma(self.pixels[at]) < 0.5 { on_dark } else { on_light };
            self.blend(at % self.size[0], at / self.size[0], color, part * alpha);
        }
    }

    /// Draws lines of a width, clipped to a rectangle. Where they overlap, the colour counts once.
    pub(super) fn lines(&mut self, lines: &[Vec<DVec2>], clip: Frame, width: f64, color: Rgb, alpha: f32) {
        self.lines_on_any(lines, clip, width, [color; 2], alpha);
    }

    /// The share of each pixel that lines cover.
    fn cover(&self, lines: &[Vec<DVec2>], clip: Frame, width: f64) -> Vec<f32> {
        let mut cover = vec![0.0_f32; self.pixels.len()];
        let reach = 0.5 * width + 1.0;
        for [from, to] in lines.iter().flat_map(|line| line.windows(2)).map(|pair| [pair[0], pair[1]]) {
            let (low, high) = (from.min(to) - reach, from.max(to) + reach);
            if high.x < clip.low.x || low.x > clip.high.x || high.y < clip.low.y || low.y > clip.high.y {
                continue;
            }
            let [xs, ys] = self.range(Frame { low: low.max(clip.low), high: high.min(clip.high) });
            let along = to - from;
            let length = along.length_squared().max(1e-12);
            for y in ys {
                for x in xs.clone() {
                    let at = DVec2::new(x as f64 + 0.5, y as f64 + 0.5) - from;
                    let aside = (at - along * (at.dot(along) / length).clamp(0.0, 1.0)).length();
                    let part = (0.5 * width + 0.5 - aside).clamp(0.0, 1.0).min(width) as f32;
                    let own = &mut cover[y * self.size[0] + x];
                    *own = own.max(part);
                }
            }
        }
        cover
    }

    /// Draws a disc with a rim of another colour.
    pub(super) fn dot(&mut self, at: DVec2, radius: f64, color: Rgb, rim: Rgb) {
        let [xs, ys] = self.range(Frame { low: at - radius - 2.0, high: at + radius + 2.0 });
        for y in ys {
            for x in xs.clone() {
                let aside = (DVec2::new(x as f64 + 0.5, y as f64 + 0.5) - at).length();
                let part = |radius: f64| (radius + 0.5 - aside).clamp(0.0, 1.0) as f32;
                self.blend(x, y, rim, part(radius + 1.2));
                self.blend(x, y, color, part(radius));
            }
        }
    }

    /// Draws a star with five points.
    pub(super) fn star(&mut self, at: DVec2, radius: f64, color: Rgb, rim: Rgb) {
        let [xs, ys] = self.range(Frame { low: at - radius - 3.0, high: at + radius + 3.0 });
        const FINE: usize = 4;
        // The distance from the centre to the edge, in a direction.
        let edge = |v: DVec2, radius: f64| {
            let fifth = std::f64::consts::TAU / 5.0;
            let angle = (v.x.atan2(-v.y)).rem_euclid(fifth) - 0.5 * fifth;
            let part = 1.0 - angle.abs() / (0.5 * fifth);
            // A straight edge between the tip at distance 1 and the notch at 0.42.
            radius * 0.42 / (0.42 + (1.0 - 0.42) * part)
        };
        for y in ys {
            for x in xs.clone() {
                let (mut inner, mut outer) = (0, 0);
                for k in 0..FINE * FINE {
                    let fine = DVec2::new((k % FINE) as f64 + 0.5, (k / FINE) as f64 + 0.5) / FINE as f64;
                    let v = DVec2::new(x as f64, y as f64) + fine - at;
                    inner += usize::from(v.length() <= edge(v, radius));
                    outer += usize::from(v.length() <= edge(v, radius + 3.0));
                }
                let part = |count: usize| count as f32 / (FINE * FINE) as f32;
                self.blend(x, y, rim, part(outer));
                self.blend(x, y, color, part(inner));
            }
        }
    }

    /// Draws text with its upper left corner at `at`. `height` is the line height in pixels, 8 dots of the font; a dot is [`ASPECT`] times
    /// as wide as high. A `halo` is drawn around the letters.
    pub(super) fn text(&mut self, text: &str, at: DVec2, height: f64, color: Rgb, halo: Option<Rgb>) {
        let dot = DVec2::new(ASPECT, 1.0) * height / 8.0;
        let glyphs = Glyphs::new(text);
        let value = |x: i64, y: i64| f64::from(u8::from(glyphs.is_dark(x, y)));
        // Bilinear between the centres of dots: corners become round.
        let smooth = |p: DVec2| {
            let q = p - 0.5;
            let (f, low) = (q - q.floor(), q.floor());
            let (x, y) = (low.x as i64, low.y as i64);
            let upper = value(x, y) * (1.0 - f.x) + value(x + 1, y) * f.x;
            let lower = value(x, y + 1) * (1.0 - f.x) + value(x + 1, y + 1) * f.x;
            upper * (1.0 - f.y) + lower * f.y
        };
        let size = DVec2::new(8.0 * glyphs.len() as f64, 8.0) * dot;
        let margin = if halo.is_some() { 2.0 * dot } else { DVec2::ZERO };
        let [xs, ys] = self.range(Frame { low: at - margin, high: at + size + margin });
        const FINE: usize = 3;
        for y in ys {
            for x in xs.clone() {
                let (mut dark, mut near) = (0.0, 0.0_f64);
                for k in 0..FINE * FINE {
                    let fine = DVec2::new((k % FINE) as f64 + 0.5, (k / FINE) as f64 + 0.5) / FINE as f64;
                    let p = (DVec2::new(x as f64, y as f64) + fine - at) / dot;
                    dark += f64::from(u8::from(smooth(p) > 0.42));
                }
                let part = (dark / (FINE * FINE) as f64) as f32;
                if let Some(halo) = halo {
                    let p = (DVec2::new(x as f64 + 0.5, y as f64 + 0.5) - at) / dot;
                    for (dx, dy) in [
                        (-1.0, 0.0),
                        (1.0, 0.0),
                        (0.0, -1.0),
                        (0.0, 1.0),
                        (0.7, 0.7),
                        (-0.7, 0.7),
                        (0.7, -0.7),
                        (-0.7, -0.7),
                    ] {
                        near = near.max(smooth(p + DVec2::new(dx, dy)));
                    }
                    self.blend(x, y, halo, (near as f32 * 1.6).min(0.85) * (1.0 - part));
                }
                self.blend(x, y, color, part);
            }
        }
    }

    /// Draws text on top of a map: dark with a light halo, or light with a dark one where the canvas is dark.
    pub(super) fn label(&mut self, text: &str, at: DVec2, height: f64) {
        let frame = Frame { low: at, high: at + DVec2::new(Self::text_width(text, height), height) };
        let (color, halo) = if self.brightness(frame) < 0.5 { (LIGHT, DARK) } else { (DARK, LIGHT) };
        self.text(text, at, height, color, Some(halo));
    }

    /// Width of a text of this height.
    pub(super) fn text_width(text: &str, height: f64) -> f64 {
        text.chars().count() as f64 * height * ASPECT
    }

    /// The picture in sRGB, 8 bits per channel, rows from the top.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.pixels.iter().flatten().map(|part| (part.clamp(0.0, 1.0) * 255.0).round() as u8).collect()
    }

    /// Encodes the picture as PNG.
    pub(super) fn png(&self, out: impl std::io::Write) -> std::io::Result<()> {
        write_png(out, &self.bytes(), self.size)
    }
}

/// Brightness of an sRGB colour as a screen shows it, 0…1.
fn luma(color: Rgb) -> f32 {
    0.3 * color[0] + 0.59 * color[1] + 0.11 * color[2]
}

/// An error if a size does not fit a canvas.
pub(super) fn check_canvas(size: [usize; 2]) -> Result<()> {
    if size.iter().any(|side| *side > 20_000) {
        return Err(Error::Usage(format!(
            "the picture would have {}x{} pixels: at most 20000 per side",
            size[0], size[1]
        )));
    }
    Ok(())
}
