//! The display list of plots and maps: lines, areas, dots, text and images, rendered as PNG and as SVG.
//!
//! Positions are in pixels from the upper left corner, x to the right and y down. Shapes are clipped when they are added, so a renderer only
//! draws.

use std::io::{self, Write};
use std::path::Path;
use std::sync::LazyLock;

use base64::Engine;
use png::{BitDepth, ColorType, Encoder, EncodingError};
use tiny_skia::{
    Color, FillRule, FilterQuality, IntSize, LineCap, LineJoin, Paint, PathBuilder, Pixmap, PixmapPaint, Shader,
    Stroke, StrokeDash, Transform,
};
use ttf_parser::{Face, GlyphId, OutlineBuilder};
use umbracast::glam::{DVec2, DVec3};
use umbracast::memory;
use umbracast_files::escape::xml;

use crate::error::{Error, Result};

/// Largest width and height of a picture in pixels.
const MAX_SIDE: f64 = 20_000.0;

/// Frames per second of an animation.
const FRAMES_PER_S: u16 = 15;

/// The families of text in SVG: that of the PNG renderer first. `textLength` keeps the width of another family.
const FAMILIES: &str = "'DejaVu Sans Condensed','DejaVu Sans',Verdana,sans-serif";

/// The width of the halo of a text, in heights of text.
const HALO: f64 = 0.3;

/// A rectangle: its upper left and its lower right corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Frame {
    pub(crate) low: DVec2,
    pub(crate) high: DVec2,
}

/// An sRGB colour in hexadecimal, and its opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ink {
    pub(crate) hex: u32,
    pub(crate) alpha: f64,
}

/// How lines look. `dash` is the length of dashes and gaps; 0 is a solid line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pen {
    pub(crate) ink: Ink,
    pub(crate) width: f64,
    pub(crate) dash: f64,
}

/// What an item draws.
#[derive(Clone, Debug)]
enum Shape {
    /// Lines, stroked together: where they overlap, the colour counts once.
    Lines(Vec<Vec<DVec2>>, Pen),
    /// A filled outline.
    Area(Vec<DVec2>),
    /// A disc: its middle and its radius.
    Dot(DVec2, f64),
    /// Text from the left end of its base line.
    Text(DVec2, String, Style),
    /// An image: its upper left corner, its width and height, and its RGBA, not multiplied with the opacity.
    Image(DVec2, [u32; 2], Vec<u8>),
}

/// A shape, its ink, and its class in SVG.
#[derive(Clone, Debug)]
struct Item {
    class: &'static str,
    ink: Ink,
    shape: Shape,
}

/// How text looks. `halo` is the colour around the letters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) size: f64,
    pub(crate) hex: u32,
    pub(crate) halo: Option<u32>,
}

/// A symbol of a legend.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Symbol {
    Dot(u32),
    Letter(&'static str, Style),
    Line(Pen),
    /// A scale bar of this length.
    Scale(f64),
}

/// A picture as a list of shapes, the last one on top.
#[derive(Clone, Debug)]
pub(crate) struct Drawing {
    pub(crate) frame: Frame,
    items: Vec<Item>,
    /// Rectangles of labels, which later labels avoid.
    taken: Vec<Frame>,
    /// Points that labels should not cover.
    obstacles: Vec<DVec2>,
}

impl From<u32> for Ink {
    fn from(hex: u32) -> Self {
        Self { hex, alpha: 1.0 }
    }
}

impl Ink {
    pub(crate) fn new(hex: u32, alpha: f64) -> Self {
        Self { hex, alpha }
    }

    fn color(self) -> Color {
        let [_, r, g, b] = self.hex.to_be_bytes();
        Color::from_rgba8(r, g, b, (255.0 * self.alpha.clamp(0.0, 1.0)).round() as u8)
    }
}

impl Pen {
    /// Draws solid lines.
    pub(crate) fn new(ink: impl Into<Ink>, width: f64) -> Self {
        Self { ink: ink.into(), width, dash: 0.0 }
    }

    pub(crate) fn dashed(self, dash: f64) -> Self {
        Self { dash, ..self }
    }
}

impl Frame {
    pub(crate) fn new(low: DVec2, high: DVec2) -> Self {
        Self { low, high }
    }

    pub(crate) fn contains(&self, at: DVec2) -> bool {
        at.cmpge(self.low).all() && at.cmple(self.high).all()
    }

    /// The corners, from the upper left one to the right and back to it.
    pub(crate) fn outline(&self) -> Vec<DVec2> {
        let Self { low, high } = *self;
        vec![low, DVec2::new(high.x, low.y), high, DVec2::new(low.x, high.y), low]
    }

    pub(crate) fn holds(&self, other: &Self) -> bool {
        self.contains(other.low) && self.contains(other.high)
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.low.cmplt(other.high).all() && other.low.cmplt(self.high).all()
    }

    pub(crate) fn grown(&self, by: f64) -> Self {
        Self { low: self.low - by, high: self.high + by }
    }

    /// How far a point lies within each side, in pixels.
    fn within(&self) -> [impl Fn(DVec2) -> f64; 4] {
        let sides = [(0, 1.0, self.low), (0, -1.0, self.high), (1, 1.0, self.low), (1, -1.0, self.high)];
        // What lies on a side is inside.
        sides.map(|(axis, sign, corner)| move |at: DVec2| sign * (at[axis] - corner[axis]) + 1e-9)
    }

    /// The parts of a line in this rectangle.
    pub(crate) fn clipped(&self, line: &[DVec2]) -> Vec<Vec<DVec2>> {
        let whole = line.split(|at| !at.is_finite()).map(<[_]>::to_vec).collect();
        self.within()
            .iter()
            .fold(whole, |lines: Vec<_>, side| lines.iter().flat_map(|line| above_zero(line, side)).collect())
    }

    /// The part of a convex outline in this rectangle.
    fn clipped_area(&self, outline: Vec<DVec2>) -> Vec<DVec2> {
        let closed = |outline: Vec<DVec2>| outline.iter().chain(outline.first()).copied().collect::<Vec<_>>();
        self.within().iter().fold(outline, |outline, side| above_zero(&closed(outline), side).concat())
    }
}

/// The parts of a line on which a value is above 0.
pub(crate) fn above_zero(line: &[DVec2], value: impl Fn(DVec2) -> f64) -> Vec<Vec<DVec2>> {
    let mut parts: Vec<Vec<DVec2>> = Vec::new();
    let mut is_open = false;
    for pair in line.windows(2) {
        let [a, b] = [pair[0], pair[1]];
        let [from, to] = [a, b].map(&value);
        let crossing = a.lerp(b, from / (from - to));
        if from > 0.0 || to > 0.0 {
            if !is_open {
                parts.push(vec![if from > 0.0 { a } else { crossing }]);
            }
            if let Some(part) = parts.last_mut() {
                part.push(if to > 0.0 { b } else { crossing });
            }
        }
        is_open = to > 0.0;
    }
    parts
}

impl Drawing {
    /// An empty white picture.
    ///
    /// # Errors
    /// `Usage` for more than 20,000 pixels per side; `OutOfMemory`.
    pub(crate) fn new(size: DVec2) -> Result<Self> {
        let size = size.ceil();
        if size.max_element() > MAX_SIDE {
            return Err(Error::Usage(format!(
                "the picture would have {}x{} pixels: at most {MAX_SIDE} per side",
                size.x, size.y
            )));
        }
        memory::check("the picture", (size.x * size.y) as u64 * 12)?;
        let frame = Frame::new(DVec2::ZERO, size);
        Ok(Self { frame, items: Vec::new(), taken: Vec::new(), obstacles: Vec::new() })
    }

    fn push(&mut self, class: &'static str, ink: Ink, shape: Shape) {
        self.items.push(Item { class, ink, shape });
    }

    /// Adds the parts of lines in a rectangle. Returns whether there are any.
    pub(crate) fn lines(&mut self, class: &'static str, lines: &[Vec<DVec2>], clip: Frame, pen: Pen) -> bool {
        let lines: Vec<Vec<DVec2>> = lines.iter().flat_map(|line| clip.clipped(line)).collect();
        let is_seen = !lines.is_empty();
        if is_seen {
            self.push(class, pen.ink, Shape::Lines(lines, pen));
        }
        is_seen
    }

    /// Adds the part of a convex filled outline in the picture.
    pub(crate) fn area(&mut self, class: &'static str, outline: Vec<DVec2>, ink: impl Into<Ink>) {
        let outline = self.frame.clipped_area(outline);
        if outline.len() > 2 && outline.iter().all(|at| at.is_finite()) {
            self.push(class, ink.into(), Shape::Area(outline));
        }
    }

    /// Adds a disc.
    pub(crate) fn dot(&mut self, class: &'static str, at: DVec2, radius: f64, ink: impl Into<Ink>) {
        if self.frame.grown(-radius).contains(at) {
            self.push(class, ink.into(), Shape::Dot(at, radius));
        }
    }

    /// Adds a dot with a rim, which labels avoid.
    pub(crate) fn mark(&mut self, class: &'static str, at: DVec2, radius: f64, [inner, rim]: [u32; 2]) {
        self.dot("rim", at, 1.5 * radius, rim);
        self.dot(class, at, radius, inner);
        self.taken.push(Frame::new(at - radius, at + radius));
    }

    /// Adds an image, one pixel of it per pixel of the picture; `rgba` is not multiplied with the opacity.
    pub(crate) fn image(&mut self, class: &'static str, at: DVec2, size: [u32; 2], rgba: Vec<u8>) {
        self.push(class, Ink::from(0), Shape::Image(at, size, rgba));
    }

    /// Adds text from the left end of its base line. The text takes its room: later labels avoid it.
    pub(crate) fn text(&mut self, class: &'static str, text: &str, at: DVec2, style: Style) {
        self.taken.push(text_frame(at, text_width(text, style.size), style.size));
        self.push(class, style.hex.into(), Shape::Text(at, text.into(), style));
    }

    /// As [`text`](Self::text), from the middle of its base line.
    pub(crate) fn centered_text(&mut self, class: &'static str, text: &str, at: DVec2, style: Style) {
        self.text(class, text, at - DVec2::X * text_width(text, style.size) * 0.5, style);
    }

    /// Adds the entries of a legend from left to right, and in further lines where they would pass `right`. Returns the base line of the last.
    pub(crate) fn legend(&mut self, entries: &[(Symbol, String)], begin: DVec2, right: f64, style: Style) -> f64 {
        let (size, mut at) = (style.size, begin);
        for (symbol, text) in entries {
            let wide = match symbol {
                Symbol::Dot(_) | Symbol::Letter(..) => size,
                Symbol::Line(_) => 2.4 * size,
                Symbol::Scale(length) => *length,
            };
            let whole = wide + 0.6 * size + text_width(text, size);
            if at.x > begin.x && at.x + whole > right {
                at = DVec2::new(begin.x, at.y + 1.8 * size);
            }
            let (middle, along) = (at - DVec2::Y * 0.35 * size, DVec2::X * wide);
            match *symbol {
                Symbol::Dot(hex) => self.dot("legend", middle + 0.5 * along, 0.3 * size, hex),
                Symbol::Letter(letter, style) => self.centered_text("legend", letter, at + 0.5 * along, style),
                Symbol::Line(pen) => {
                    self.lines("legend", &[vec![middle, middle + along]], self.frame, pen);
                }
                Symbol::Scale(_) => {
                    let tick = |at: DVec2| [-0.33, 0.33].map(|up| at + up * size * DVec2::Y).to_vec();
                    let bar = [tick(middle), tick(middle + along), vec![middle, middle + along]];
                    self.lines("scale", &bar, self.frame, Pen::new(style.hex, 0.1 * size));
                }
            }
            self.text("legend", text, at + along + DVec2::X * 0.6 * size, style);
            at.x += whole + 1.8 * size;
        }
        at.y
    }

    /// Adds a scale of colours in a rectangle: the colours from 0 to 1, numbers at ticks below, and a title below these.
    pub(crate) fn colour_bar(
        &mut self,
        frame: Frame,
        color: impl Fn(f64) -> DVec3,
        ticks: impl Iterator<Item = (f64, String)>,
        title: &str,
        style: Style,
    ) {
        let Frame { low, high } = frame;
        let [width, height] = (high - low).to_array().map(|side| side as u32);
        let row: Vec<u8> = (0..width).flat_map(|x| opaque(color((f64::from(x) + 0.5) / f64::from(width)))).collect();
        self.image("colours", low, [width, height], row.repeat(height as usize));
        let (size, mut lines) = (style.size, vec![frame.outline()]);
        for (part, number) in ticks {
            let tick = DVec2::new(low.x + part * (high.x - low.x), high.y);
            lines.push(vec![tick, tick + 0.3 * size * DVec2::Y]);
            self.centered_text("colours", &number, tick + 1.25 * size * DVec2::Y, style);
        }
        self.lines("colours", &lines, self.frame, Pen::new(style.hex, 0.05 * size));
        self.text("colours", title, DVec2::new(low.x, high.y + 2.6 * size), style);
    }

    /// Lets labels avoid lines: those on a point always, those next to a point where they can.
    pub(crate) fn avoid(&mut self, lines: &[Vec<DVec2>]) {
        for (from, to) in lines.iter().flat_map(|line| line.iter().zip(line.iter().skip(1))) {
            let steps = (0.25 * from.distance(*to)).ceil().max(1.0);
            self.obstacles.extend((0..=steps as usize).map(|i| from.lerp(*to, i as f64 / steps)));
        }
    }

    /// Whether no text and no mark overlaps a rectangle.
    pub(crate) fn is_free(&self, frame: &Frame) -> bool {
        !self.taken.iter().any(|other| other.overlaps(frame))
    }

    /// Adds text next to a point, or on it if `gap` is 0: where it lies within a rectangle, overlaps no other text, and covers the fewest
    /// points to avoid; on a point, none. Returns whether there was room.
    pub(crate) fn label(
        &mut self,
        class: &'static str,
        text: &str,
        near: DVec2,
        gap: f64,
        within: Frame,
        style: Style,
    ) -> bool {
        let (width, size) = (text_width(text, style.size), style.size);
        let middle = DVec2::new(-0.5 * width, 0.35 * size);
        let aside = |x: f64, y: f64| middle + DVec2::new(x * (0.5 * width + gap), y * (0.45 * size + gap));
        let around = [(1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 1), (-1, -1), (-1, 1)];
        let offsets: Vec<DVec2> = match gap {
            0.0 => vec![middle],
            _ => around.iter().map(|&(x, y)| aside(f64::from(x), f64::from(y))).collect(),
        };
        let near_text = |frame: &Frame| frame.grown(0.2 * size);
        let covered = |frame: &Frame| self.obstacles.iter().filter(|at| near_text(frame).contains(**at)).count();
        let best = offsets
            .into_iter()
            .map(|offset| (near + offset, text_frame(near + offset, width, size)))
            .filter(|(_, frame)| within.holds(frame) && (gap > 0.0 || covered(frame) == 0))
            .filter(|(_, frame)| self.is_free(&near_text(frame)))
            .min_by_key(|(_, frame)| covered(frame));
        let Some((at, _)) = best else { return false };
        self.text(class, text, at, style);
        true
    }

    /// Encodes the picture by the extension of a path: `.svg`, otherwise PNG.
    pub(crate) fn write(&self, path: &Path, out: &mut dyn Write) -> io::Result<()> {
        let size = self.frame.high.to_array().map(|side| side as u32);
        match path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg")) {
            true => out.write_all(self.svg()?.as_bytes()),
            false => write_png(out, &self.pixels()?, size, ColorType::Rgb),
        }
    }

    /// The RGB pixels of the picture, rows from the top.
    pub(crate) fn pixels(&self) -> io::Result<Vec<u8>> {
        let [width, height] = self.frame.high.to_array().map(|side| side as u32);
        let mut pixmap = Pixmap::new(width, height).ok_or_else(|| io::Error::other("the picture is empty"))?;
        pixmap.fill(Color::WHITE);
        self.items.iter().for_each(|item| item.paint(&mut pixmap));
        // The white background makes every pixel opaque.
        Ok(pixmap.data().chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect())
    }

    fn svg(&self) -> io::Result<String> {
        let [width, height] = self.frame.high.to_array();
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} \
             {height}\" font-family=\"{FAMILIES}\" stroke-linejoin=\"round\" stroke-linecap=\"round\">\n<rect \
             width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        );
        for item in &self.items {
            text += &(item.svg()? + "\n");
        }
        Ok(text + "</svg>\n")
    }
}

impl Item {
    /// Draws the item.
    fn paint(&self, pixmap: &mut Pixmap) {
        let (paint, still) = (paint(self.ink), Transform::identity());
        let outline = match &self.shape {
            Shape::Lines(lines, pen) => {
                let dash = StrokeDash::new(vec![pen.dash as f32; 2], 0.0);
                let stroke = Stroke { dash, ..stroke(pen.width) };
                if let Some(path) = path(lines, false) {
                    pixmap.stroke_path(&path, &paint, &stroke, still, None);
                }
                return;
            }
            Shape::Area(outline) => path(std::slice::from_ref(outline), true),
            Shape::Dot(at, radius) => PathBuilder::from_circle(at.x as f32, at.y as f32, *radius as f32),
            Shape::Text(at, text, Style { size, halo, .. }) => {
                let path = glyphs(text, *at, *size);
                if let (Some(halo), Some(path)) = (halo, &path) {
                    let paint = self::paint((*halo).into());
                    pixmap.stroke_path(path, &paint, &stroke(HALO * *size), still, None);
                }
                path
            }
            Shape::Image(at, [width, height], rgba) => {
                let premultiplied = rgba.chunks_exact(4).flat_map(|p| {
                    let color = tiny_skia::ColorU8::from_rgba(p[0], p[1], p[2], p[3]).premultiply();
                    [color.red(), color.green(), color.blue(), color.alpha()]
                });
                let size = IntSize::from_wh(*width, *height);
                if let Some(image) = size.and_then(|size| Pixmap::from_vec(premultiplied.collect(), size)) {
                    let paint = PixmapPaint { quality: FilterQuality::Nearest, ..PixmapPaint::default() };
                    pixmap.draw_pixmap(at.x as i32, at.y as i32, image.as_ref(), &paint, still, None);
                }
                return;
            }
        };
        if let Some(path) = outline {
            pixmap.fill_path(&path, &paint, FillRule::Winding, still, None);
        }
    }

    /// The item as an element of SVG.
    fn svg(&self) -> io::Result<String> {
        let Item { class, ink, shape } = self;
        let color = format!("#{:06x}", ink.hex);
        let opacity = short(ink.alpha);
        let fill = format!(r#"fill="{color}" fill-opacity="{opacity}""#);
        Ok(match shape {
            Shape::Lines(lines, pen) => {
                let (data, width, dash) = (path_data(lines, ""), short(pen.width), short(pen.dash));
                let pen = format!(r#"stroke="{color}" stroke-opacity="{opacity}" stroke-width="{width}""#);
                format!(r#"<path class="{class}" d="{data}" fill="none" {pen} stroke-dasharray="{dash}"/>"#)
            }
            Shape::Area(outline) => {
                let data = path_data(std::slice::from_ref(outline), "Z");
                format!(r#"<path class="{class}" d="{data}" {fill}/>"#)
            }
            Shape::Dot(at, radius) => {
                let [x, y, radius] = [at.x, at.y, *radius].map(short);
                format!(r#"<circle class="{class}" cx="{x}" cy="{y}" r="{radius}" {fill}/>"#)
            }
            Shape::Text(at, text, Style { size, halo, .. }) => {
                let [x, y, length, width] = [at.x, at.y, text_width(text, *size), HALO * *size].map(short);
                let halo = halo.map_or(String::new(), |halo| {
                    format!(r##" stroke="#{halo:06x}" stroke-width="{width}" paint-order="stroke""##)
                });
                let (size, text) = (short(*size), xml(text));
                let fit = format!(r#"font-size="{size}" textLength="{length}" lengthAdjust="spacingAndGlyphs""#);
                format!(r#"<text class="{class}" x="{x}" y="{y}" {fit} fill="{color}"{halo}>{text}</text>"#)
            }
            Shape::Image(at, [width, height], rgba) => {
                let mut png = Vec::new();
                write_png(&mut png, rgba, [*width, *height], ColorType::Rgba)?;
                let (x, y, data) = (short(at.x), short(at.y), base64::engine::general_purpose::STANDARD.encode(png));
                let place = format!(r#"x="{x}" y="{y}" width="{width}" height="{height}""#);
                format!(r#"<image class="{class}" {place} href="data:image/png;base64,{data}"/>"#)
            }
        })
    }
}

/// Draws with a colour, with smooth edges.
fn paint(ink: Ink) -> Paint<'static> {
    Paint { anti_alias: true, shader: Shader::SolidColor(ink.color()), ..Paint::default() }
}

fn stroke(width: f64) -> Stroke {
    Stroke { width: width as f32, line_join: LineJoin::Round, line_cap: LineCap::Round, ..Stroke::default() }
}

/// The least and the largest of some values.
pub(crate) fn least_and_largest(values: impl Iterator<Item = f64>) -> [f64; 2] {
    values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| [low.min(value), high.max(value)])
}

/// Red, green and blue of an sRGB colour, 0…1.
pub(crate) fn rgb(hex: u32) -> DVec3 {
    DVec3::from_array([16, 8, 0].map(|shift| f64::from(hex >> shift & 255) / 255.0))
}

/// The 8-bit channels of an opaque sRGB colour.
pub(crate) fn opaque(color: DVec3) -> [u8; 4] {
    color.extend(1.0).to_array().map(|part| (255.0 * part).round() as u8)
}

/// The colour of a part of a sequence of colours: from its light end at 0 to its dark one at 1.
pub(crate) fn ramp(gradient: colorous::Gradient, part: f64) -> DVec3 {
    let (r, g, b) = gradient.eval_continuous(0.95 - 0.7 * part).as_tuple();
    DVec3::new(r.into(), g.into(), b.into()) / 255.0
}

/// A number with at most two decimals.
fn short(number: f64) -> f64 {
    (100.0 * number).round() / 100.0 + 0.0
}

fn path_data(lines: &[Vec<DVec2>], end: &str) -> String {
    let mut data = String::new();
    for line in lines {
        for (i, at) in line.iter().enumerate() {
            data += &format!("{}{},{}", if i == 0 { 'M' } else { ' ' }, short(at.x), short(at.y));
        }
        data += end;
    }
    data
}

/// Polylines as one path; `None` if it is empty or not finite.
fn path(lines: &[Vec<DVec2>], is_closed: bool) -> Option<tiny_skia::Path> {
    let mut builder = PathBuilder::new();
    for line in lines {
        for (i, at) in line.iter().map(|at| at.as_vec2()).enumerate() {
            if i == 0 { builder.move_to(at.x, at.y) } else { builder.line_to(at.x, at.y) }
        }
        if is_closed {
            builder.close();
        }
    }
    builder.finish()
}

/// The font of all text, and its units per line height.
static FACE: LazyLock<Face<'static>> =
    LazyLock::new(|| Face::parse(dejavu::sans_condensed::regular(), 0).expect("the font is that of the crate"));
const UNITS: f64 = 2048.0;

/// The glyphs of a text with their positions from the left and their widths, in units of the font.
fn placed_glyphs(text: &str) -> impl Iterator<Item = (GlyphId, f64, f64)> {
    let mut pen = 0.0;
    text.chars().map(move |letter| {
        let glyph = FACE.glyph_index(letter).unwrap_or_default();
        let (at, advance) = (pen, f64::from(FACE.glyph_hor_advance(glyph).unwrap_or(0)));
        pen += advance;
        (glyph, at, advance)
    })
}

/// Width of a text in pixels.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    placed_glyphs(text).map(|(_, _, advance)| advance).sum::<f64>() * size / UNITS
}

/// The rectangle of a text: from the top of capitals to the bottom of descenders.
fn text_frame(at: DVec2, width: f64, size: f64) -> Frame {
    Frame::new(at - DVec2::Y * 0.76 * size, at + DVec2::new(width, 0.24 * size))
}

/// Breaks a text between words into lines of at most `width` pixels. A longer word has a line of its own.
pub(crate) fn wrapped(text: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}"), size) <= width => *line = format!("{line} {word}"),
            _ => lines.push(word.into()),
        }
    }
    lines
}

/// The outlines of a text.
fn glyphs(text: &str, at: DVec2, size: f64) -> Option<tiny_skia::Path> {
    /// The outlines so far, and the left end of the next one: in units of the font, y up.
    struct Outlines(PathBuilder, f32);
    impl OutlineBuilder for Outlines {
        fn move_to(&mut self, x: f32, y: f32) {
            self.0.move_to(self.1 + x, y);
        }
        fn line_to(&mut self, x: f32, y: f32) {
            self.0.line_to(self.1 + x, y);
        }
        fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
            self.0.quad_to(self.1 + x1, y1, self.1 + x, y);
        }
        fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
            self.0.cubic_to(self.1 + x1, y1, self.1 + x2, y2, self.1 + x, y);
        }
        fn close(&mut self) {
            self.0.close();
        }
    }
    let mut outlines = Outlines(PathBuilder::new(), 0.0);
    for (glyph, left, _) in placed_glyphs(text) {
        outlines.1 = left as f32;
        FACE.outline_glyph(glyph, &mut outlines);
    }
    let scale = (size / UNITS) as f32;
    outlines.0.finish()?.transform(Transform::from_row(scale, 0.0, 0.0, -scale, at.x as f32, at.y as f32))
}

/// Encodes pixels of 8 bits per channel, rows from the top, as PNG.
pub(crate) fn write_png(out: impl Write, pixels: &[u8], size: [u32; 2], color: ColorType) -> io::Result<()> {
    write_frames(out, size, color, 1, std::iter::once(Ok(pixels)))
}

/// Encodes frames of such pixels as PNG: `count` of them, several as an animation that repeats for ever.
pub(crate) fn write_frames(
    out: impl Write,
    [width, height]: [u32; 2],
    color: ColorType,
    count: u32,
    frames: impl Iterator<Item = io::Result<impl AsRef<[u8]>>>,
) -> io::Result<()> {
    let mut encoder = Encoder::new(out, width, height);
    encoder.set_color(color);
    encoder.set_depth(BitDepth::Eight);
    if count > 1 {
        encoder.set_animated(count, 0).and_then(|()| encoder.set_frame_delay(1, FRAMES_PER_S)).map_err(io_error)?;
    }
    let mut writer = encoder.write_header().map_err(io_error)?;
    for frame in frames {
        writer.write_image_data(frame?.as_ref()).map_err(io_error)?;
    }
    writer.finish().map_err(io_error)
}

/// Keeps the kind of the error: a closed pipe is no failure.
fn io_error(error: EncodingError) -> io::Error {
    match error {
        EncodingError::IoError(error) => error,
        other => other.into(),
    }
}
