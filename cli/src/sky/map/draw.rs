//! Drawing of an eclipse map: base map, obscuration, contours, graticule, path, labels and legend.

use crate::error::Result;
use umbracast::glam::DVec2;
use umbracast_sky::{CentralLine, MapGrid, Place, Time};
use umbracast_sky::{Coastline, coastlines, land_and_ice};

use super::canvas::{Canvas, Frame, Rgb, check_canvas, rgb};

const PAPER: Rgb = rgb(0xfcfcfa);
const INK: Rgb = rgb(0x1d2733);
const FAINT: Rgb = rgb(0x5b6672);
const WHITE: Rgb = rgb(0xffffff);
const SEA: Rgb = rgb(0xd9e6ef);
const LAND: Rgb = rgb(0xf2eee2);
const ICE: Rgb = rgb(0xffffff);
const COAST: Rgb = rgb(0x4f5a66);
const COAST_ON_DARK: Rgb = rgb(0xb9bfcd);
const PATH: Rgb = rgb(0xc1121f);
/// Colour and opacity by obscuration.
const RAMP: [(f32, Rgb, f32); 6] = [
    (0.0, rgb(0xfde9a9), 0.45),
    (0.25, rgb(0xf9b95c), 0.6),
    (0.5, rgb(0xe87a4a), 0.68),
    (0.75, rgb(0xb23a63), 0.74),
    (0.97, rgb(0x4a1a6b), 0.82),
    (1.0, rgb(0x17062c), 0.9),
];
/// Obscurations with a contour.
const LEVELS: [f32; 4] = [0.2, 0.4, 0.6, 0.8];

/// What a map shows.
pub(super) struct MapPicture<'a> {
    pub(super) grid: &'a MapGrid,
    pub(super) values: &'a [f32],
    pub(super) title: String,
    pub(super) lines: Vec<String>,
    pub(super) path: &'a CentralLine,
    /// The lines of the northern and of the southern limit.
    pub(super) limits: &'a [Vec<Vec<(Time, Place)>>; 2],
    /// Longitude and latitude of marks along the path, with labels.
    pub(super) marks: Vec<([f64; 2], String)>,
    /// Longitude and latitude of the greatest eclipse.
    pub(super) greatest: Option<[f64; 2]>,
    /// What the limits bound: totality, annularity or, in a hybrid eclipse, the path.
    pub(super) path_name: &'static str,
    /// Spacing of the graticule in degrees.
    pub(super) graticule: f64,
}

/// Sizes that depend on the size of the map.
struct Layout {
    /// Height of small text.
    small: f64,
    unit: f64,
    frame: Frame,
    size: [usize; 2],
}

impl Layout {
    fn new(grid: &MapGrid, lines: usize) -> Self {
        let [width, height] = grid.size().map(f64::from);
        let unit = (width / 1600.0).clamp(0.5, 4.0);
        let small = (15.0 * unit).max(9.0);
        let (left, top, bottom) = (4.0 * small, small * (4.0 + 1.4 * lines as f64), 7.0 * small);
        let low = DVec2::new(left, top).round();
        let high = low + DVec2::new(width, height);
        let size = [(high.x + 0.5 * left).ceil() as usize, (high.y + bottom).ceil() as usize];
        Self { small, unit, frame: Frame { low, high }, size }
    }
}

impl MapPicture<'_> {
    pub(super) fn draw(&self) -> Result<Canvas> {
        let layout = Layout::new(self.grid, self.lines.len());
        check_canvas(layout.size)?;
        let mut canvas = Canvas::new(layout.size, PAPER)?;
        self.ground(&mut canvas, &layout);
        self.coasts(&mut canvas, &layout);
        self.meridians(&mut canvas, &layout);
        self.path_lines(&mut canvas, &layout);
        self.contour_labels(&mut canvas, &layout);
        self.frame(&mut canvas, &layout);
        self.legend(&mut canvas, &layout);
        Ok(canvas)
    }

    /// Position of a place in the picture.
    fn place(&self, layout: &Layout, [longitude, latitude]: [f64; 2]) -> DVec2 {
        layout.frame.low + DVec2::from_array(self.grid.cell(longitude, latitude))
    }

    /// The same lines, repeated every 360° as far as the map shows them.
    fn repeated(&self, layout: &Layout, lines: &[Vec<[f64; 2]>]) -> Vec<Vec<DVec2>> {
        let [west, _, east, _] = self.grid.region();
        let mut out = Vec::new();
        for line in lines {
            let low = line.iter().map(|p| p[0]).fold(f64::INFINITY, f64::min);
            let high = line.iter().map(|p| p[0]).fold(f64::NEG_INFINITY, f64::max);
            for turn in -3..=3 {
                let shift = 360.0 * f64::from(turn);
                if low + shift <= east && high + shift >= west {
                    out.push(line.iter().map(|p| self.place(layout, [p[0] + shift, p[1]])).collect());
                }
            }
        }
        out
    }

    /// Land, sea, obscuration and contours.
    fn ground(&self, canvas: &mut Canvas, layout: &Layout) {
        let [width, height] = self.grid.size().map(|side| side as usize);
        let [west, _, east, _] = self.grid.region();
        let degrees_per_pixel = (east - west) / width as f64;
        let sharpness = (0.1 / degrees_per_pixel).clamp(1.0, 8.0);
        let sharp = |share: f64| (0.5 + (share - 0.5) * sharpness).clamp(0.0, 1.0) as f32;
        let [x0, y0] = layout.frame.low.to_array().map(|x| x as usize);
        let at = |x: usize, y: usize| self.values[y * width + x];
        for y in 0..height {
            for x in 0..width {
                let [longitude, latitude] = self.grid.degrees(x as f64 + 0.5, y as f64 + 0.5);
                let [land, ice] = land_and_ice(longitude, latitude).map(sharp);
                let ground = mixed(LAND, ICE, ice);
                let mut color = mixed(SEA, ground, land);
                let value = at(x, y);
                if value > 0.0 {
                    let (shade, alpha) = shade(value);
                    // The outer edge is as smooth as the others.
                    color = mixed(color, shade, alpha * (value / 0.004).min(1.0));
                }
                let (left, right) = (at(x.saturating_sub(1), y), at((x + 1).min(width - 1), y));
                let (up, down) = (at(x, y.saturating_sub(1)), at(x, (y + 1).min(height - 1)));
                let slope = (0.5 * (right - left)).hypot(0.5 * (down - up));
                // At the horizon, an instant's map has a jump, which is no contour.
                if slope > 1e-7 && slope < 0.12 {
                    for level in LEVELS {
                        let part = 0.5 * layout.unit as f32 + 0.5 - (value - level).abs() / slope;
                        color = mixed(color, INK, 0.5 * part.clamp(0.0, 1.0));
                    }
                }
                canvas.blend(x0 + x, y0 + y, color, 1.0);
            }
        }
    }

    fn coasts(&self, canvas: &mut Canvas, layout: &Layout) {
        // Lines along the south pole and along the meridian at which the Antarctic is cut are no coasts.
        let is_coast = |a: &[f64; 2], b: &[f64; 2]| a[1] > -89.9 && b[1] > -89.9 && (a[0] - b[0]).abs() < 90.0;
        let mut lines: Vec<Vec<[f64; 2]>> = Vec::new();
        for Coastline { points, .. } in coastlines() {
            let mut line = vec![points[0]];
            for (a, b) in points.iter().zip(points.iter().skip(1).chain([&points[0]])) {
                if is_coast(a, b) {
                    line.push(*b);
                } else {
                    lines.push(std::mem::replace(&mut line, vec![*b]));
                }
            }
            lines.push(line);
        }
        canvas.lines_on_any(
            &self.repeated(layout, &lines),
            layout.frame,
            0.9 * layout.unit,
            [COAST, COAST_ON_DARK],
            0.9,
        );
    }

    fn meridians(&self, canvas: &mut Canvas, layout: &Layout) {
        let [west, south, east, north] = self.grid.region();
        let multiples = |low: f64, high: f64| {
            let step = self.graticule;
            (((low / step).ceil() as i64)..=((high / step).floor() as i64)).map(move |k| k as f64 * step)
        };
        let mut lines = Vec::new();
        for longitude in multiples(west, east) {
            lines.push(vec![self.place(layout, [longitude, south]), self.place(layout, [longitude, north])]);
            let text = named(longitude, ["E", "W"], 180.0);
            let at = self.place(layout, [longitude, south]);
            let half = 0.5 * Canvas::text_width(&text, layout.small);
            canvas.text(&text, at + DVec2::new(-half, 0.5 * layout.small), layout.small, FAINT, None);
        }
        for latitude in multiples(south, north) {
            lines.push(vec![self.place(layout, [west, latitude]), self.place(layout, [east, latitude])]);
            let text = named(latitude, ["N", "S"], 0.0);
            let at = self.place(layout, [west, latitude]);
            let before = Canvas::text_width(&text, layout.small) + 0.4 * layout.small;
            canvas.text(&text, at - DVec2::new(before, 0.5 * layout.small), layout.small, FAINT, None);
        }
        canvas.lines(&lines, layout.frame, 0.7 * layout.unit, FAINT, 0.28);
    }

    fn path_lines(&self, canvas: &mut Canvas, layout: &Layout) {
        let points = &self.path.points;
        let line = |of: &dyn Fn(usize) -> Option<[f64; 2]>| unwrapped((0..points.len()).map(of));
        let center = line(&|i| Some([points[i].center.longitude, points[i].center.latitude]));
        let own = |line: &Vec<(Time, Place)>| unwrapped(line.iter().map(|(_, at)| Some([at.longitude, at.latitude])));
        let limits: Vec<_> = self.limits.iter().flatten().flat_map(own).collect();
        canvas.lines(&self.repeated(layout, &limits), layout.frame, 1.1 * layout.unit, PATH, 0.85);
        canvas.lines(&self.repeated(layout, &center), layout.frame, 1.9 * layout.unit, PATH, 1.0);
        if let Some(greatest) = self.greatest {
            for at in self.places(layout, greatest) {
                canvas.star(at, 8.5 * layout.unit, rgb(0xffd23f), INK);
            }
        }
        for (place, label) in &self.marks {
            for at in self.places(layout, *place) {
                canvas.dot(at, 2.6 * layout.unit, WHITE, PATH);
                let (gap, length) = (8.0 * layout.unit, Canvas::text_width(label, layout.small));
                let fits = at.x + gap + length < layout.frame.high.x;
                let offset = DVec2::new(if fits { gap } else { -gap - length }, -0.5 * layout.small);
                canvas.label(label, at + offset, layout.small);
            }
        }
    }

    /// A place wherever the map shows it.
    fn places(&self, layout: &Layout, place: [f64; 2]) -> Vec<DVec2> {
        let all = self.repeated(layout, &[vec![place]]);
        let Frame { low, high } = layout.frame;
        all.into_iter().flatten().filter(|p| p.cmpge(low).all() && p.cmple(high).all()).collect()
    }

    /// Labels of contours, where they cross two meridians.
    fn contour_labels(&self, canvas: &mut Canvas, layout: &Layout) {
        let [width, height] = self.grid.size().map(|side| side as usize);
        let middle = self.greatest.map_or(width / 2, |[longitude, _]| {
            let turns = ((self.grid.region()[0] - longitude) / 360.0).ceil() * 360.0;
            (self.grid.cell(longitude + turns, 0.0)[0].max(0.0) as usize).min(width - 1)
        });
        let mut taken: Vec<DVec2> = self.marks.iter().flat_map(|(place, _)| self.places(layout, *place)).collect();
        for level in LEVELS {
            for column in [middle.saturating_sub(width / 40), (middle + width / 12).min(width - 1)] {
                let at = |y: usize| self.values[y * width + column];
                for y in 1..height {
                    let crosses = (at(y - 1) < level) != (at(y) < level) && (at(y) - at(y - 1)).abs() < 0.1;
                    let place = layout.frame.low + DVec2::new(column as f64, y as f64);
                    let is_free = taken.iter().all(|other| (*other - place).length() > 4.0 * layout.small);
                    if crosses && is_free {
                        let text = format!("{:.0}%", 100.0 * level);
                        let half = DVec2::new(0.5 * Canvas::text_width(&text, layout.small), 0.5 * layout.small);
                        canvas.label(&text, place - half, layout.small);
                        taken.push(place);
                    }
                }
            }
        }
    }

    fn frame(&self, canvas: &mut Canvas, layout: &Layout) {
        let Frame { low, high } = layout.frame;
        let corners = [low, DVec2::new(high.x, low.y), high, DVec2::new(low.x, high.y), low];
        let all = Frame { low: DVec2::ZERO, high: DVec2::new(layout.size[0] as f64, layout.size[1] as f64) };
        canvas.lines(&[corners.to_vec()], all, layout.unit, INK, 1.0);
        let mut at = DVec2::new(low.x, 1.1 * layout.small);
        // Smaller if the picture is narrow.
        let room = layout.size[0] as f64 - low.x;
        let fitting = |text: &str, height: f64| height.min(height * room / Canvas::text_width(text, height));
        canvas.text(&self.title, at, fitting(&self.title, 1.7 * layout.small), INK, None);
        at.y += 2.5 * layout.small;
        for line in &self.lines {
            canvas.text(line, at, fitting(line, layout.small), FAINT, None);
            at.y += 1.4 * layout.small;
        }
    }

    fn legend(&self, canvas: &mut Canvas, layout: &Layout) {
        let small = layout.small;
        let all = Frame { low: DVec2::ZERO, high: DVec2::new(layout.size[0] as f64, layout.size[1] as f64) };
        let low = DVec2::new(layout.frame.low.x, layout.frame.high.y + 2.6 * small);
        let width = (22.0 * small).min(0.42 * f64::from(self.grid.size()[0])).round();
        for x in 0..width as usize {
            let (color, alpha) = shade((x as f32 + 0.5) / width as f32);
            let color = mixed(SEA, color, alpha);
            let left = low + DVec2::new(x as f64, 0.0);
            canvas.fill(Frame { low: left.floor(), high: left.floor() + DVec2::new(1.0, small.round()) }, color);
        }
        let box_of =
            [low, low + DVec2::new(width, 0.0), low + DVec2::new(width, small), low + DVec2::new(0.0, small), low];
        canvas.lines(&[box_of.to_vec()], all, 0.8 * layout.unit, INK, 0.8);
        for percent in [0, 20, 40, 60, 80, 100] {
            let text = format!("{percent}");
            let at = low + DVec2::new(width * f64::from(percent) / 100.0, 1.4 * small);
            canvas.text(&text, at - DVec2::new(0.5 * Canvas::text_width(&text, small), 0.0), small, INK, None);
        }
        canvas.text("covered part of the Sun, %", low + DVec2::new(0.0, 2.8 * small), small, FAINT, None);
        let mut at = low + DVec2::new(width + 3.0 * small, 0.0);
        let mut entry = |canvas: &mut Canvas, text: &str, symbol: &dyn Fn(&mut Canvas, DVec2)| {
            symbol(canvas, at + DVec2::new(0.0, 0.5 * small));
            canvas.text(text, at + DVec2::new(3.2 * small, 0.0), small, INK, None);
            at.y += 1.5 * small;
        };
        let stroke = |width: f64| {
            move |canvas: &mut Canvas, at: DVec2| {
                canvas.lines(&[vec![at, at + DVec2::new(2.4 * small, 0.0)]], all, width, PATH, 1.0);
            }
        };
        if !self.path.points.is_empty() {
            entry(canvas, "centre line, times in UTC", &stroke(1.9 * layout.unit));
        }
        if self.limits.iter().any(|lines| !lines.is_empty()) {
            entry(canvas, &format!("limits of {}", self.path_name), &stroke(1.1 * layout.unit));
        }
        if self.greatest.is_some() {
            entry(canvas, "greatest eclipse", &|canvas, at| {
                canvas.star(at + DVec2::new(1.2 * small, 0.0), 0.6 * small, rgb(0xffd23f), INK);
            });
        }
    }
}

/// Lines without missing points, with longitudes that continue beyond ±180°.
pub(super) fn unwrapped(points: impl Iterator<Item = Option<[f64; 2]>>) -> Vec<Vec<[f64; 2]>> {
    let mut lines: Vec<Vec<[f64; 2]>> = vec![Vec::new()];
    for point in points {
        let last = lines.len() - 1;
        match point {
            None if !lines[last].is_empty() => lines.push(Vec::new()),
            None => {}
            Some([x, y]) => {
                let turns = lines[last].last().map_or(0.0, |before| ((before[0] - x) / 360.0).round());
                lines[last].push([x + 360.0 * turns, y]);
            }
        }
    }
    lines.retain(|line| line.len() > 1);
    lines
}

/// `30°N`, without a letter at 0 and at `limit`.
fn named(degrees: f64, letters: [&str; 2], limit: f64) -> String {
    let wrapped = if limit > 0.0 { (degrees + 180.0).rem_euclid(360.0) - 180.0 } else { degrees };
    let text = format!("{}°", wrapped.abs());
    if wrapped == 0.0 || (limit > 0.0 && wrapped.abs() == limit) {
        return text;
    }
    text + letters[usize::from(wrapped < 0.0)]
}

fn mixed(from: Rgb, to: Rgb, part: f32) -> Rgb {
    std::array::from_fn(|i| from[i] + (to[i] - from[i]) * part)
}

/// Colour and opacity of an obscuration.
fn shade(value: f32) -> (Rgb, f32) {
    let above = RAMP.iter().position(|row| row.0 >= value).unwrap_or(RAMP.len() - 1).max(1);
    let (low, high) = (RAMP[above - 1], RAMP[above]);
    let f = ((value - low.0) / (high.0 - low.0)).clamp(0.0, 1.0);
    (mixed(low.1, high.1, f), low.2 + (high.2 - low.2) * f)
}
