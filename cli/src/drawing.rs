//! The display list of plots and maps: lines, areas, dots, text and images, rendered as PNG and as SVG.
//!
//! Positions are in pixels from the upper left corner, x to the right and y down. Shapes are clipped when they are added, so a renderer only
//! draws.

use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;

use base64::Engine;
use png::{BitDepth, ColorType, Encoder, EncodingError};
use tiny_skia::{
    Color, FillRule, FilterQuality, GradientStop, IntSize, LineCap, LineJoin, LinearGradient, Paint, PathBuilder,
    Pixmap, PixmapPaint, Point, Shader, SpreadMode, Stroke, StrokeDash, Transform,
};
use ttf_parser::{Face, GlyphId, OutlineBuilder};
use umbracast::glam::DVec2;
use umbracast::memory;

use crate::error::{Error, Result};

/// Largest width and height of a picture in pixels.
const MAX_SIDE: f64 = 20_000.0;

/// The families of text in SVG: that of the PNG renderer first. `textLength` keeps the width of another family.
const FAMILIES: &str = "'DejaVu Sans Condensed','DejaVu Sans',Verdana,sans-serif";

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
    Lines {
        lines: Vec<Vec<DVec2>>,
        width: f64,
        dash: f64,
    },
    /// A filled outline. With `fade`, the opacity changes from that of the ink at the first point to another one at the second.
    Area {
        outline: Vec<DVec2>,
        fade: Option<([DVec2; 2], f64)>,
    },
    Dot {
        at: DVec2,
        radius: f64,
    },
    /// Text from the left end of its base line. `halo` is the colour around the letters.
    Text {
        at: DVec2,
        size: f64,
        text: String,
        halo: Option<u32>,
    },
    /// RGBA, not multiplied with the opacity.
    Image {
        at: DVec2,
        size: [u32; 2],
        rgba: Vec<u8>,
    },
}

/// A shape, its ink, and its class in SVG.
#[derive(Clone, Debug)]
struct Item {
    class: &'static str,
    ink: Ink,
    shape: Shape,
}

/// How text looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) size: f64,
    pub(crate) hex: u32,
    pub(crate) halo: Option<u32>,
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

    fn holds(&self, other: &Self) -> bool {
        self.contains(other.low) && self.contains(other.high)
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.low.cmplt(other.high).all() && other.low.cmplt(self.high).all()
    }

    pub(crate) fn grown(&self, by: f64) -> Self {
        Self { low: self.low - by, high: self.high + by }
    }

    /// The part of a segment in this rectangle, as parameters from 0 to 1 (Liang and Barsky, 1984). `None` if it misses the rectangle.
    pub(crate) fn part(&self, from: DVec2, to: DVec2) -> Option<[f64; 2]> {
        let along = to - from;
        let (mut first, mut last) = (0.0_f64, 1.0_f64);
        for axis in 0..2 {
            let (start, step) = (from[axis], along[axis]);
            if step == 0.0 {
                if start < self.low[axis] || start > self.high[axis] {
                    return None;
                }
                continue;
            }
            let (a, b) = ((self.low[axis] - start) / step, (self.high[axis] - start) / step);
            first = first.max(a.min(b));
            last = last.min(a.max(b));
        }
        (first <= last && along.is_finite()).then_some([first, last])
    }

    /// The parts of a line in this rectangle.
    pub(crate) fn clipped(&self, line: &[DVec2]) -> Vec<Vec<DVec2>> {
        let mut parts: Vec<Vec<DVec2>> = Vec::new();
        let mut is_open = false;
        for (from, to) in line.iter().zip(line.iter().skip(1)) {
            let Some([first, last]) = self.part(*from, *to) else {
                is_open = false;
                continue;
            };
            let at = |part: f64| if part == 1.0 { *to } else { *from + part * (*to - *from) };
            match parts.last_mut().filter(|_| is_open && first == 0.0) {
                Some(part) => part.push(at(last)),
                None => parts.push(vec![at(first), at(last)]),
            }
            is_open = last == 1.0;
        }
        parts
    }
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
            self.push(class, pen.ink, Shape::Lines { lines, width: pen.width, dash: pen.dash });
        }
        is_seen
    }

    /// Adds a filled outline. With `fade`, the opacity changes between two points to a second value.
    pub(crate) fn area(
        &mut self,
        class: &'static str,
        outline: Vec<DVec2>,
        ink: impl Into<Ink>,
        fade: Option<([DVec2; 2], f64)>,
    ) {
        if outline.len() > 2 && outline.iter().all(|at| at.is_finite()) {
            self.push(class, ink.into(), Shape::Area { outline, fade });
        }
    }

    /// Adds a disc.
    pub(crate) fn dot(&mut self, class: &'static str, at: DVec2, radius: f64, ink: impl Into<Ink>) {
        if self.frame.grown(-radius).contains(at) {
            self.push(class, ink.into(), Shape::Dot { at, radius });
        }
    }

    /// Adds a dot with a rim, which labels avoid.
    pub(crate) fn mark(&mut self, class: &'static str, at: DVec2, radius: f64, [inner, rim]: [u32; 2]) {
        self.dot("rim", at, 1.5 * radius, rim);
        self.dot(class, at, radius, inner);
        self.taken.push(Frame::new(at - radius, at + radius));
    }

    /// Adds a scale bar to the right of a point: as long as `length`, with ticks of `tick` up and down at both ends.
    pub(crate) fn scale_bar(&mut self, at: DVec2, [length, tick]: [f64; 2], pen: Pen) {
        let corner = |x: f64, y: f64| at + DVec2::new(x, y);
        let left = [corner(0.0, -tick), corner(0.0, tick), corner(0.0, 0.0)];
        let right = [corner(length, 0.0), corner(length, tick), corner(length, -tick)];
        self.lines("scale", &[[left, right].concat()], self.frame, pen);
    }

    /// Adds a star with five points and a rim, which labels avoid.
    pub(crate) fn star(&mut self, class: &'static str, at: DVec2, radius: f64, [inner, rim]: [u32; 2]) {
        let corners = |radius: f64| {
            let angle = |i: usize| DVec2::from_angle(std::f64::consts::PI * (i as f64 / 5.0 - 0.5));
            (0..10).map(|i| at + angle(i) * radius * if i % 2 == 0 { 1.0 } else { 0.42 }).collect::<Vec<_>>()
        };
        self.area(class, corners(1.45 * radius), rim, None);
        self.area(class, corners(radius), inner, None);
        self.taken.push(Frame::new(at - radius, at + radius));
    }

    /// Adds an image, one pixel of it per pixel of the picture; `rgba` is not multiplied with the opacity.
    pub(crate) fn image(&mut self, class: &'static str, at: DVec2, size: [u32; 2], rgba: Vec<u8>) {
        self.push(class, Ink::from(0), Shape::Image { at, size, rgba });
    }

    /// Adds text from the left end of its base line. The text takes its room: later labels avoid it.
    pub(crate) fn text(&mut self, class: &'static str, text: &str, at: DVec2, style: Style) {
        self.taken.push(text_frame(at, text_width(text, style.size), style.size));
        let shape = Shape::Text { at, size: style.size, text: text.into(), halo: style.halo };
        self.push(class, style.hex.into(), shape);
    }

    /// As [`text`](Self::text), from the middle of its base line.
    pub(crate) fn centered_text(&mut self, class: &'static str, text: &str, at: DVec2, style: Style) {
        self.text(class, text, at - DVec2::X * text_width(text, style.size) * 0.5, style);
    }

    /// Lets labels avoid these points where they can.
    pub(crate) fn avoid(&mut self, points: impl IntoIterator<Item = DVec2>) {
        self.obstacles.extend(points);
    }

    /// Keeps later labels clear of a line.
    pub(crate) fn fence(&mut self, [from, to]: [DVec2; 2]) {
        let steps = (0.25 * (to - from).length()).ceil().max(1.0);
        let points = (0..=steps as usize).map(|i| from.lerp(to, i as f64 / steps));
        self.taken.extend(points.map(|at| Frame::new(at, at)));
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
        let covered = |frame: &Frame| self.obstacles.iter().filter(|at| frame.contains(**at)).count();
        let best = offsets
            .into_iter()
            .map(|offset| (near + offset, text_frame(near + offset, width, size)))
            .filter(|(_, frame)| within.holds(frame) && (gap > 0.0 || covered(frame) == 0))
            .filter(|(_, frame)| self.is_free(&frame.grown(0.2 * size)))
            .min_by_key(|(_, frame)| covered(frame));
        let Some((at, _)) = best else { return false };
        self.text(class, text, at, style);
        true
    }

    /// Encodes the picture by the extension of a path: `.svg`, otherwise PNG.
    pub(crate) fn write(&self, path: &Path, out: &mut dyn Write) -> io::Result<()> {
        match path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg")) {
            true => out.write_all(self.svg()?.as_bytes()),
            false => write_png(out, &self.pixels()?, self.size(), ColorType::Rgb),
        }
    }

    /// The RGB pixels of the picture, rows from the top.
    pub(crate) fn pixels(&self) -> io::Result<Vec<u8>> {
        let [width, height] = self.size();
        let mut pixmap = Pixmap::new(width, height).ok_or_else(|| io::Error::other("the picture is empty"))?;
        pixmap.fill(Color::WHITE);
        self.items.iter().for_each(|item| item.paint(&mut pixmap));
        // The white background makes every pixel opaque.
        Ok(pixmap.data().chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect())
    }

    /// Width and height in pixels.
    fn size(&self) -> [u32; 2] {
        self.frame.high.to_array().map(|side| side as u32)
    }

    fn svg(&self) -> io::Result<String> {
        let [width, height] = self.frame.high.to_array();
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} \
             {height}\" font-family=\"{FAMILIES}\" stroke-linejoin=\"round\" stroke-linecap=\"round\">\n<rect \
             width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        );
        for (number, item) in self.items.iter().enumerate() {
            item.write_svg(number, &mut text)?;
        }
        Ok(text + "</svg>\n")
    }
}

impl Item {
    /// Draws the item.
    fn paint(&self, pixmap: &mut Pixmap) {
        let (mut paint, still) = (paint(self.ink), Transform::identity());
        let outline = match &self.shape {
            Shape::Lines { lines, width, dash } => {
                let mut stroke = stroke(*width);
                if *dash > 0.0 {
                    let dash = StrokeDash::new(vec![*dash as f32; 2], 0.0);
                    stroke = Stroke { dash, line_cap: LineCap::Butt, ..stroke };
                }
                if let Some(path) = path(lines, false) {
                    pixmap.stroke_path(&path, &paint, &stroke, still, None);
                }
                return;
            }
            Shape::Area { outline, fade } => {
                if let Some(([from, to], last)) = *fade {
                    let stop = |at: f32, alpha: f64| GradientStop::new(at, Ink { alpha, ..self.ink }.color());
                    let ends = [stop(0.0, self.ink.alpha), stop(1.0, last)].to_vec();
                    let shader = LinearGradient::new(point(from), point(to), ends, SpreadMode::Pad, still);
                    paint.shader = shader.unwrap_or(paint.shader);
                }
                path(std::slice::from_ref(outline), true)
            }
            Shape::Dot { at, radius } => PathBuilder::from_circle(at.x as f32, at.y as f32, *radius as f32),
            Shape::Text { at, size, text, halo } => {
                let path = glyphs(text, *at, *size);
                if let (Some(halo), Some(path)) = (halo, &path) {
                    let paint = self::paint(Ink::new(*halo, 0.8));
                    pixmap.stroke_path(path, &paint, &stroke(halo_width(*size)), still, None);
                }
                path
            }
            Shape::Image { at, size: [width, height], rgba } => {
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

    /// Appends the item as an element. `number` names its gradient.
    fn write_svg(&self, number: usize, out: &mut String) -> io::Result<()> {
        let Item { class, ink, shape } = self;
        let color = format!("#{:06x}", ink.hex);
        let opacity = |name: &str| match ink.alpha {
            1.0 => String::new(),
            alpha => format!(r#" {name}-opacity="{}""#, short(alpha)),
        };
        let fill = format!(r#"fill="{color}"{}"#, opacity("fill"));
        let element = match shape {
            Shape::Lines { lines, width, dash } => {
                let (data, width, dash) = (path_data(lines, ""), short(*width), short(*dash));
                let dash = match dash {
                    0.0 => String::new(),
                    dash => format!(r#" stroke-dasharray="{dash}" stroke-linecap="butt""#),
                };
                let pen = format!(r#"stroke="{color}" stroke-width="{width}"{dash}{}"#, opacity("stroke"));
                format!(r#"<path class="{class}" d="{data}" fill="none" {pen}/>"#)
            }
            Shape::Area { outline, fade } => {
                let data = path_data(std::slice::from_ref(outline), "Z");
                let faded = fade.map(|(ends, last)| {
                    let [x1, y1, x2, y2] = [ends[0].x, ends[0].y, ends[1].x, ends[1].y].map(short);
                    let line = format!(r#"gradientUnits="userSpaceOnUse" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}""#);
                    let stops = [(0, ink.alpha), (1, last)].map(|(at, alpha)| {
                        format!(r#"<stop offset="{at}" stop-color="{color}" stop-opacity="{}"/>"#, short(alpha))
                    });
                    *out +=
                        &format!("<linearGradient id=\"fade{number}\" {line}>{}</linearGradient>\n", stops.concat());
                    format!("fill=\"url(#fade{number})\"")
                });
                format!(r#"<path class="{class}" d="{data}" {}/>"#, faded.unwrap_or(fill))
            }
            Shape::Dot { at, radius } => {
                let [x, y, radius] = [at.x, at.y, *radius].map(short);
                format!(r#"<circle class="{class}" cx="{x}" cy="{y}" r="{radius}" {fill}/>"#)
            }
            Shape::Text { at, size, text, halo } => {
                let [x, y, length, width] = [at.x, at.y, text_width(text, *size), halo_width(*size)].map(short);
                let halo = halo.map_or(String::new(), |halo| {
                    format!(
                        r##" stroke="#{halo:06x}" stroke-opacity="0.8" stroke-width="{width}" paint-order="stroke""##
                    )
                });
                let (size, text) = (short(*size), escaped(text));
                let fit = format!(r#"font-size="{size}" textLength="{length}" lengthAdjust="spacingAndGlyphs""#);
                format!(r#"<text class="{class}" x="{x}" y="{y}" {fit} fill="{color}"{halo}>{text}</text>"#)
            }
            Shape::Image { at, size: [width, height], rgba } => {
                let mut png = Vec::new();
                write_png(&mut png, rgba, [*width, *height], ColorType::Rgba)?;
                let (x, y, data) = (short(at.x), short(at.y), base64::engine::general_purpose::STANDARD.encode(png));
                let place = format!(r#"x="{x}" y="{y}" width="{width}" height="{height}""#);
                format!(r#"<image class="{class}" {place} href="data:image/png;base64,{data}"/>"#)
            }
        };
        *out += &(element + "\n");
        Ok(())
    }
}

/// Draws with a colour, with smooth edges.
fn paint(ink: Ink) -> Paint<'static> {
    Paint { anti_alias: true, shader: Shader::SolidColor(ink.color()), ..Paint::default() }
}

fn stroke(width: f64) -> Stroke {
    Stroke { width: width as f32, line_join: LineJoin::Round, line_cap: LineCap::Round, ..Stroke::default() }
}

/// Red, green and blue of an sRGB colour, 0…1.
pub(crate) fn rgb(hex: u32) -> [f64; 3] {
    [16, 8, 0].map(|shift| f64::from(hex >> shift & 255) / 255.0)
}

/// The width of the halo of a text.
fn halo_width(size: f64) -> f64 {
    0.24 * size
}

/// Text without characters that XML reserves.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
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

fn point(at: DVec2) -> Point {
    Point::from_xy(at.x as f32, at.y as f32)
}

/// Polylines as one path; `None` if it is empty or not finite.
fn path(lines: &[Vec<DVec2>], is_closed: bool) -> Option<tiny_skia::Path> {
    let mut builder = PathBuilder::new();
    for line in lines {
        for (i, at) in line.iter().map(|at| point(*at)).enumerate() {
            if i == 0 { builder.move_to(at.x, at.y) } else { builder.line_to(at.x, at.y) }
        }
        if is_closed {
            builder.close();
        }
    }
    builder.finish()
}

/// The font of all text.
fn face() -> Option<&'static Face<'static>> {
    static FACE: OnceLock<Option<Face<'static>>> = OnceLock::new();
    FACE.get_or_init(|| Face::parse(dejavu::sans_condensed::regular(), 0).ok()).as_ref()
}

/// The glyphs of a text with their positions from the left, in units of the font.
fn placed_glyphs(text: &str) -> impl Iterator<Item = (GlyphId, f64, f64)> {
    let mut pen = 0.0;
    text.chars().filter_map(|letter| face().map(|face| (face, letter))).map(move |(face, letter)| {
        let glyph = face.glyph_index(letter).unwrap_or_default();
        let (at, advance) = (pen, f64::from(face.glyph_hor_advance(glyph).unwrap_or(0)));
        pen += advance;
        (glyph, at, advance)
    })
}

/// Units of the font per line height.
fn units() -> f64 {
    face().map_or(2048.0, |face| f64::from(face.units_per_em()))
}

/// Width of a text in pixels.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    placed_glyphs(text).map(|(_, _, advance)| advance).sum::<f64>() * size / units()
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
    struct Outlines(PathBuilder, DVec2, f64);
    impl Outlines {
        fn at(&self, x: f32, y: f32) -> (f32, f32) {
            let at = self.1 + self.2 * DVec2::new(f64::from(x), -f64::from(y));
            (at.x as f32, at.y as f32)
        }
    }
    impl OutlineBuilder for Outlines {
        fn move_to(&mut self, x: f32, y: f32) {
            let (x, y) = self.at(x, y);
            self.0.move_to(x, y);
        }
        fn line_to(&mut self, x: f32, y: f32) {
            let (x, y) = self.at(x, y);
            self.0.line_to(x, y);
        }
        fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
            let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
            self.0.quad_to(x1, y1, x, y);
        }
        fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
            let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
            self.0.cubic_to(x1, y1, x2, y2, x, y);
        }
        fn close(&mut self) {
            self.0.close();
        }
    }
    let scale = size / units();
    let mut outlines = Outlines(PathBuilder::new(), at, scale);
    for (glyph, left, _) in placed_glyphs(text) {
        outlines.1 = at + DVec2::X * left * scale;
        face()?.outline_glyph(glyph, &mut outlines);
    }
    outlines.0.finish()
}

/// Encodes pixels of 8 bits per channel, rows from the top, as PNG.
pub(crate) fn write_png(out: impl Write, pixels: &[u8], size: [u32; 2], color: ColorType) -> io::Result<()> {
    let mut writer = encoder(out, size, color).write_header().map_err(io_error)?;
    writer.write_image_data(pixels).and_then(|()| writer.finish()).map_err(io_error)
}

/// Encodes frames of 8-bit RGB pixels as an animated PNG that repeats for ever. `count` is the number of frames.
pub(crate) fn write_frames(
    out: impl Write,
    size: [u32; 2],
    count: u32,
    frames_per_s: u16,
    frames: impl Iterator<Item = io::Result<Vec<u8>>>,
) -> io::Result<()> {
    let mut encoder = encoder(out, size, ColorType::Rgb);
    encoder.set_animated(count, 0).and_then(|()| encoder.set_frame_delay(1, frames_per_s)).map_err(io_error)?;
    let mut writer = encoder.write_header().map_err(io_error)?;
    for frame in frames {
        writer.write_image_data(&frame?).map_err(io_error)?;
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

fn encoder<'a>(out: impl Write + 'a, [width, height]: [u32; 2], color: ColorType) -> Encoder<'a, impl Write + 'a> {
    let mut encoder = Encoder::new(out, width, height);
    encoder.set_color(color);
    encoder.set_depth(BitDepth::Eight);
    encoder
}
