//! Drawing of an eclipse map: base map, obscuration, isolines, path, labels and legend.

use rayon::prelude::*;
use umbracast::glam::DVec2;
use umbracast_sky::{CITIES, CentralLine, Coastline, LocalKind, MapGrid, Place, SkyOptions, SolarEclipse, Time};
use umbracast_sky::{borders, coastlines, land_and_ice};

use super::MapArgs;
use super::fields::{Fields, Places};
use super::projection::{Kind, Projection};
use crate::drawing::{Drawing, Frame, Ink, Pen, Style, rgb, text_width, wrapped};
use crate::error::Result;

const INK: u32 = 0x1d_2733;
const FAINT: u32 = 0x5b_6672;
const LIGHT: u32 = 0xff_ffff;
const SEA: u32 = 0xd9_e6ef;
const LAND: u32 = 0xf4_f0e4;
const ICE: u32 = 0xff_ffff;
const COAST: u32 = 0x4f_5a66;
const PATH: u32 = 0xb0_0f1d;
const HORIZON: u32 = 0x2f_5d8a;
const STAR: [u32; 2] = [0xff_d23f, INK];
/// Colour and opacity of an obscuration, from the least to the largest in view.
const RAMP: [(f64, u32, f64); 6] = [
    (0.0, 0xfd_efb5, 0.5),
    (0.25, 0xf9_c15c, 0.62),
    (0.5, 0xef_8350, 0.68),
    (0.75, 0xc9_4f72, 0.7),
    (0.95, 0x8b_3a86, 0.72),
    (1.0, 0x6d_2f86, 0.74),
];
/// Where the Sun is covered wholly.
const WHOLE: (u32, f64) = (0x37_1a5e, 0.82);
/// Obscurations next to the path that have isolines in addition to the multiples of a step.
const NEAR_PATH: [f64; 2] = [0.9, 0.95];
/// Steps of isolines: of obscurations and magnitudes, and of instants in seconds. A map has at least four in view, if possible.
const STEPS: [f64; 9] = [0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005];
const SECONDS: [f64; 8] = [3600.0, 1800.0, 1200.0, 600.0, 300.0, 120.0, 60.0, 30.0];

/// What isolines can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Isolines {
    Obscuration,
    Magnitude,
    Time,
}

/// What a map shows.
pub(super) struct MapPicture<'a> {
    pub(super) eclipse: &'a SolarEclipse,
    pub(super) options: SkyOptions,
    /// The instant; `None` shows the maximum.
    pub(super) at: Option<Time>,
    pub(super) title: &'a str,
    pub(super) about: &'a [String],
    pub(super) path: &'a CentralLine,
    /// The lines of the northern and of the southern limit.
    pub(super) limits: &'a [Vec<Vec<(Time, Place)>>; 2],
    pub(super) args: &'a MapArgs,
}

/// A symbol of the legend.
enum Symbol {
    Line(Pen),
    Star,
    Scale { pixels: f64 },
}

/// A map that is being drawn.
struct Sheet<'a> {
    map: &'a MapPicture<'a>,
    projection: Projection,
    drawing: Drawing,
    /// Height of text, and width of thin lines.
    small: f64,
    thin: f64,
    /// The least and the largest obscuration of the colours, and the step of their isolines.
    range: [f64; 2],
    step: f64,
    /// Spacing of meridians and parallels in degrees.
    graticule: [f64; 2],
    legend: Vec<(Symbol, String)>,
}

/// Least width for text below and above a map, in heights of text.
const LEAST_ROOM: f64 = 28.0;

/// Height of the text of a map of this size: an eightieth of its width if that is twice its height.
fn text_size(size: DVec2) -> f64 {
    ((2.0 * size.x * size.y).sqrt() / 80.0).clamp(10.0, 60.0)
}

impl MapPicture<'_> {
    /// Draws the map. `grid` has the obscurations `values` of what the picture shows.
    pub(super) fn draw(
        &self,
        projection: Projection,
        size: [u32; 2],
        grid: &MapGrid,
        values: &[f32],
    ) -> Result<Drawing> {
        let size = DVec2::from_array(size.map(f64::from));
        let small = text_size(size);
        // Text needs more room than a very narrow map.
        let room = size.x.max(LEAST_ROOM * small);
        let heading = wrapped(self.title, 1.5 * small, room);
        let about: Vec<String> = self.about.iter().flat_map(|line| wrapped(line, 0.9 * small, room)).collect();
        // Meridians of other projections leave the map on all sides.
        let is_flat = projection.kind == Kind::Equirectangular;
        let [above, aside] =
            if is_flat { [0.0, 2.0 * small] } else { [1.4 * small, text_width("180°W", small) + small] };
        let top = small * (1.7 + 1.9 * heading.len() as f64 + 1.3 * about.len() as f64) + above;
        let low = DVec2::new(text_width(if is_flat { "80°N" } else { "180°W" }, small) + small, top).round();
        let frame = Frame::new(low, low + size);
        let range = range_in_view(&projection.fit(frame), grid, values);
        let step = step_of(range, &STEPS);
        let range = if range[0] < 0.1 { [0.0, range[1]] } else { range };
        let range = [(range[0] / step + 1e-6).floor() * step, ((range[1] / step - 1e-6).ceil() * step).min(1.0)];
        let drawing = Drawing::new(low + DVec2::new(room + aside, size.y + 50.0 * small))?;
        let graticule = self.args.graticule.map_or_else(|| super::graticule_for(&projection), |step| [step; 2]);
        let projection = projection.fit(frame);
        let thin = (small / 18.0).max(0.6);
        let mut sheet =
            Sheet { map: self, projection, drawing, small, thin, range, step, graticule, legend: Vec::new() };
        sheet.ground(grid, values);
        sheet.coasts();
        sheet.borders();
        sheet.path();
        let fields = Fields::new(self.eclipse, projection.shown(), self.at);
        sheet.horizon(&fields);
        let labels = sheet.isolines(&fields);
        sheet.heading(&heading, &about);
        sheet.graticule();
        sheet.marks();
        sheet.labels(labels);
        sheet.cities();
        sheet.scale();
        let bottom = sheet.legend();
        sheet.drawing.frame.high.y = bottom.ceil();
        Ok(sheet.drawing)
    }
}

impl Sheet<'_> {
    fn style(&self, size: f64, hex: u32) -> Style {
        Style { size: size * self.small, hex, halo: None }
    }

    /// The style of text on the map.
    fn on_map(&self, hex: u32) -> Style {
        Style { size: self.small, hex, halo: Some(LIGHT) }
    }

    /// Adds lines of places, with a light rim of a width, which keeps them readable on dark ground. Returns whether they are in view.
    fn places(&mut self, class: &'static str, lines: &[Places], pen: Pen, rim: f64) -> bool {
        let lines = self.projection.lines(lines);
        let frame = self.projection.frame;
        if rim > 0.0 {
            self.drawing.lines("rim", &lines, frame, Pen::new(Ink::new(LIGHT, 0.6), pen.width + 2.0 * rim));
        }
        self.drawing.lines(class, &lines, frame, pen)
    }

    /// Adds lines of places, and their entry in the legend if they are in view.
    fn named_places(&mut self, class: &'static str, lines: &[Places], pen: Pen, rim: f64, text: &str) {
        if self.places(class, lines, pen, rim) {
            self.entry(Symbol::Line(pen), text);
        }
    }

    /// Land, sea and obscuration.
    fn ground(&mut self, grid: &MapGrid, values: &[f32]) {
        let (projection, range) = (self.projection, self.range);
        let Frame { low, high } = projection.frame;
        let [width, height] = (high - low).to_array().map(|side| side as usize);
        let sharpness = (11.1 / projection.scale().0).clamp(1.0, 8.0);
        let sharp = |share: f64| (0.5 + (share - 0.5) * sharpness).clamp(0.0, 1.0);
        let mut rgba = vec![0_u8; width * height * 4];
        rgba.par_chunks_mut(width * 4).enumerate().for_each(|(y, row)| {
            for (x, pixel) in row.chunks_exact_mut(4).enumerate() {
                let at = low + DVec2::new(x as f64 + 0.5, y as f64 + 0.5);
                let Some(place) = projection.place(at) else { continue };
                let [land, ice] = land_and_ice(place[0], place[1]).map(sharp);
                let mut color = mixed(mixed(rgb(SEA), rgb(LAND), land), rgb(ICE), ice);
                let value = sampled(grid, values, place);
                if value > 0.0 {
                    let (shade, alpha) = shade(value, range);
                    // The outer edge is as smooth as the others.
                    color = mixed(color, shade, alpha * (value / 0.004).min(1.0));
                }
                pixel.copy_from_slice(&[color[0], color[1], color[2], 1.0].map(|part| (255.0 * part).round() as u8));
            }
        });
        self.drawing.image("ground", low, [width as u32, height as u32], rgba);
    }

    fn coasts(&mut self) {
        // Lines along the south pole and along the meridian at which the Antarctic is cut are no coasts.
        let is_coast = |a: &[f64; 2], b: &[f64; 2]| a[1] > -89.9 && b[1] > -89.9 && (a[0] - b[0]).abs() < 90.0;
        let mut lines: Vec<Places> = Vec::new();
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
        self.places("coast", &lines, Pen::new(Ink::new(COAST, 0.9), 0.8 * self.thin), 0.4 * self.thin);
    }

    fn borders(&mut self) {
        if self.map.args.borders {
            let pen = Pen::new(Ink::new(COAST, 0.9), 0.7 * self.thin).dashed(2.5 * self.thin);
            self.named_places("border", &borders(), pen, 0.35 * self.thin, "border");
        }
    }

    /// Limits and centre line. In a hybrid eclipse, the annular parts of the centre line are dashed.
    fn path(&mut self) {
        let (path, thin) = (self.map.path, self.thin);
        let own = |line: &Vec<(Time, Place)>| unwrapped(line.iter().map(|(_, at)| Some([at.longitude, at.latitude])));
        let limits = [0, 1].map(|side| self.map.limits[side].iter().flat_map(own).collect::<Vec<_>>());
        let mut kinds: Vec<LocalKind> = path.points.iter().map(|point| point.kind).collect();
        kinds.dedup();
        let is_hybrid = kinds.len() > 1;
        let what = match kinds[..] {
            [LocalKind::Total] => "totality".into(),
            [LocalKind::Annular] => "annularity".into(),
            _ => format!("the path: {}", kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", then ")),
        };
        let (pen, classes) = (Pen::new(PATH, 1.2 * thin), ["northern-limit", "southern-limit"]);
        let has_limits = [0, 1].map(|side| self.places(classes[side], &limits[side], pen, 0.9 * thin));
        for (kind, dash) in [(LocalKind::Total, 0.0), (LocalKind::Annular, if is_hybrid { 6.0 * thin } else { 0.0 })] {
            // A part begins where the one before it ends.
            let of = |i: usize| {
                let is_own =
                    |at: Option<usize>| at.and_then(|at| path.points.get(at)).is_some_and(|one| one.kind == kind);
                let center = path.points[i].center;
                (is_own(Some(i)) || is_own(i.checked_sub(1))).then_some([center.longitude, center.latitude])
            };
            let lines = unwrapped((0..path.points.len()).map(of));
            let kind = if is_hybrid { format!("{} ", kind.name()) } else { String::new() };
            let text = format!("{kind}centre line, times in {}", self.time_scale());
            self.named_places("centre-line", &lines, Pen::new(PATH, 2.0 * thin).dashed(dash), 0.9 * thin, &text);
            self.drawing.avoid(self.projection.lines(&lines).concat());
        }
        if has_limits.contains(&true) {
            self.entry(Symbol::Line(pen), format!("limits of {what}"));
        }
    }

    fn time_scale(&self) -> &'static str {
        self.map.eclipse.greatest.time.scale(self.map.options.delta_t)
    }

    fn entry(&mut self, symbol: Symbol, text: impl Into<String>) {
        self.legend.push((symbol, text.into()));
    }

    /// The limits of the partial eclipse, and where the Sun is at the horizon.
    fn horizon(&mut self, fields: &Fields) {
        let solid = Pen::new(Ink::new(HORIZON, 0.9), 1.1 * self.thin);
        let dashed = solid.dashed(5.0 * self.thin);
        if self.map.at.is_some() {
            let lines = fields.isolines(&fields.visible, 0.0, Some(&fields.obscuration));
            self.named_places("horizon", &lines, dashed, 0.0, "Sun at the horizon");
            return;
        }
        let classes = ["begins-at-horizon", "maximum-at-horizon", "ends-at-horizon"];
        let [begins, is_maximum, ends] = [0, 1, 2].map(|i| {
            let lines = fields.isolines(&fields.altitudes[i], 0.0, Some(&fields.magnitude));
            self.places(classes[i], &lines, if i == 1 { dashed } else { solid }, 0.0)
        });
        let limit = fields.isolines(&fields.magnitude, 0.0, Some(&fields.altitudes[1]));
        let outer = Pen { ink: Ink::new(INK, 0.9), ..solid };
        self.named_places("partial-limit", &limit, outer, 0.0, "limit of the partial eclipse");
        if begins || ends {
            self.entry(Symbol::Line(solid), "begins or ends at sunrise or sunset");
        }
        if is_maximum {
            self.entry(Symbol::Line(dashed), "maximum at sunrise or sunset");
        }
    }

    /// Isolines. Returns the parts in view with their labels.
    fn isolines(&mut self, fields: &Fields) -> Vec<(Vec<DVec2>, String)> {
        let mut labels = Vec::new();
        let (map, thin) = (self.map, self.thin);
        let (greatest, delta_t) = (map.eclipse.greatest.time, map.options.delta_t);
        let midnight = greatest.day(delta_t).0.seconds_since(greatest);
        for kind in map.args.isolines.iter().filter(|kind| map.at.is_none() || **kind == Isolines::Obscuration) {
            let (class, values, steps, ink, width) = match kind {
                Isolines::Obscuration => {
                    ("obscuration", &fields.obscuration, &[self.step][..], Ink::new(INK, 0.75), 0.8)
                }
                Isolines::Magnitude => ("magnitude", &fields.magnitude, &STEPS[..], Ink::new(0x1c_4f9c, 0.9), 1.0),
                Isolines::Time => ("time", &fields.seconds, &SECONDS[..], Ink::new(0x0b_5a44, 0.9), 1.0),
            };
            let is_ratio = *kind != Isolines::Time;
            let (from, dash) = if is_ratio { (0.0, 0.0) } else { (midnight, 3.0 * thin) };
            let (pen, range) = (Pen::new(ink, width * thin).dashed(dash), seen(values, fields));
            let step = step_of(range, steps);
            let [low, high] = range.map(|value| (value - from) / step);
            let levels = (low.ceil() as i64..=high.floor() as i64).map(|k| from + k as f64 * step);
            // A ratio has isolines between 0 and 1, closer to each other near 1.
            let finer =
                NEAR_PATH.into_iter().filter(|level| is_ratio && *level > 1.0 - step && *level <= 1.0 - 0.25 * step);
            let levels = levels.chain(finer).filter(|level| !is_ratio || (*level > 1e-9 && *level < 0.9999));
            let decimals = usize::from(step < 0.01) + usize::from(step < 0.001);
            for level in levels {
                let lines = fields.isolines(values, level, Some(&fields.visible));
                self.places(class, &lines, pen, 0.0);
                let text = match kind {
                    Isolines::Obscuration => format!("{:.decimals$} %", 100.0 * level),
                    Isolines::Magnitude => format!("{level:.*}", 2 + decimals),
                    Isolines::Time => clock(greatest.plus(level + 0.001), if step < 60.0 { 8 } else { 5 }, map.options),
                };
                let lines = self.projection.lines(&lines);
                let parts = lines.iter().flat_map(|line| self.projection.frame.clipped(line));
                labels.extend(parts.map(|part| (part, text.clone())));
            }
            match kind {
                Isolines::Obscuration => {}
                Isolines::Magnitude => self.entry(Symbol::Line(pen), "magnitude"),
                Isolines::Time => {
                    self.entry(Symbol::Line(pen), format!("time of the maximum in {}", self.time_scale()))
                }
            }
        }
        labels
    }

    /// Labels of isolines: in the middle of each part, or next to it where there is no room.
    fn labels(&mut self, labels: Vec<(Vec<DVec2>, String)>) {
        let (frame, style) = (self.projection.frame.grown(-2.0), self.on_map(INK));
        for (line, text) in labels {
            let lengths: Vec<f64> = line.windows(2).map(|pair| pair[0].distance(pair[1])).collect();
            let whole: f64 = lengths.iter().sum();
            let at = |part: f64| {
                let mut rest = part * whole;
                lengths.iter().position(|length| {
                    rest -= length;
                    rest <= 0.0
                })
            };
            if whole < 6.0 * self.small {
                continue;
            }
            let count = if whole > 0.8 * (frame.high.x - frame.low.x) { 2 } else { 1 };
            let mut placed = 0;
            for part in [0.5, 0.25, 0.75, 0.38, 0.62, 0.12, 0.88] {
                let is_apart = count == 1 || part != 0.5;
                if let Some(i) = at(part).filter(|_| placed < count && is_apart) {
                    placed += usize::from(self.drawing.label("isoline", &text, line[i], 0.0, frame, style));
                }
            }
        }
    }

    /// Meridians and parallels, and their labels: below and to the left of an equirectangular map, otherwise where they leave the map, or on
    /// them.
    fn graticule(&mut self) {
        let [west, south, east, north] = self.projection.shown();
        let is_flat = self.projection.kind == Kind::Equirectangular;
        let multiples = |low: f64, high: f64, step: f64| {
            ((low / step - 1e-9).ceil() as i64..=(high / step + 1e-9).floor() as i64).map(move |k| k as f64 * step)
        };
        let between = |low: f64, high: f64| (0..=180).map(move |i| low + (high - low) * f64::from(i) / 180.0);
        let (frame, style, small) = (self.projection.frame, self.style(0.9, FAINT), self.small);
        let clip = self.drawing.frame;
        let mut lines = Vec::new();
        // Meridians near a pole end before it.
        let ends = if is_flat { [south, north] } else { [south.max(-89.0 + 9.0), north.min(80.0)] };
        let is_round = east - west >= 360.0 && !is_flat;
        let limb = self.projection.limb();
        limb.windows(2).for_each(|pair| self.drawing.fence([pair[0], pair[1]]));
        for longitude in multiples(west, east, self.graticule[0]).skip(usize::from(is_round)) {
            let line: Places = between(ends[0], ends[1]).map(|latitude| [longitude, latitude]).collect();
            let text = named(longitude, ["E", "W"], 180.0);
            let mut is_labelled = limb.is_empty();
            for part in self.projection.lines(std::slice::from_ref(&line)).iter().flat_map(|line| frame.clipped(line)) {
                let on_edge = |at: &&DVec2| !frame.grown(-0.5).contains(**at);
                let edges = part.first().into_iter().chain(part.last()).filter(on_edge);
                for at in edges.filter(|at| !is_flat || at.y > frame.high.y - 1.0) {
                    let below = at.y > frame.high.y - 1.0;
                    let aside = if at.x > frame.high.x - 1.0 { 1.0 } else { -1.0 };
                    let offset = match below {
                        true => DVec2::new(0.0, 0.9 * small),
                        false if at.y < frame.low.y + 1.0 => DVec2::new(0.0, -0.8 * small),
                        false => DVec2::new(aside * (0.5 * text_width(&text, style.size) + 0.4 * small), 0.0),
                    };
                    is_labelled |= self.drawing.label("graticule", &text, *at + offset, 0.0, clip, style);
                }
            }
            if !is_labelled {
                let latitudes = (0..6).map(|i| 15.0 * f64::from(i) + 7.5).flat_map(|latitude| [latitude, -latitude]);
                self.label_line(&text, latitudes.map(|latitude| [longitude, latitude]));
            }
            lines.push(line);
        }
        for latitude in multiples(south, north, self.graticule[1]).filter(|latitude| is_flat || latitude.abs() < 90.0) {
            let line: Places = between(west, east).map(|longitude| [longitude, latitude]).collect();
            let text = named(latitude, ["N", "S"], 0.0);
            if is_flat {
                if let Some(at) = self.projection.position([west, latitude]) {
                    let at = at + DVec2::new(-0.4 * small - 0.5 * text_width(&text, style.size), 0.0);
                    self.drawing.label("graticule", &text, at, 0.0, clip, style);
                }
            } else {
                self.label_line(&text, multiples(west, east, 15.0).map(|longitude| [longitude + 7.5, latitude]));
            }
            lines.push(line);
        }
        self.places("graticule", &lines, Pen::new(Ink::new(FAINT, 0.35), 0.6 * self.thin), 0.2 * self.thin);
        let Frame { low, high } = frame;
        let corners = vec![low, DVec2::new(high.x, low.y), high, DVec2::new(low.x, high.y), low];
        let outline = if limb.is_empty() { corners } else { limb };
        self.drawing.lines("frame", &[outline], frame, Pen::new(INK, 1.2 * self.thin));
    }

    /// Labels a line of the graticule at the first of some places with room.
    fn label_line(&mut self, text: &str, places: impl Iterator<Item = [f64; 2]>) {
        let (frame, style) =
            (self.projection.frame.grown(-2.0), Style { size: 0.9 * self.small, ..self.on_map(FAINT) });
        let mut spots = places.flat_map(|place| self.projection.positions(place));
        spots.any(|at| self.drawing.label("graticule", text, at, 0.0, frame, style));
    }

    /// The greatest eclipse, and instants along the centre line.
    fn marks(&mut self) {
        let greatest = self.map.eclipse.greatest.place;
        let frame = self.projection.frame;
        let (star, dot) = (0.55 * self.small, 0.17 * self.small);
        let all = self.projection.positions([greatest.longitude, greatest.latitude]);
        for at in all.iter().filter(|at| frame.grown(-1.5 * star).contains(**at)) {
            self.drawing.star("greatest-eclipse", *at, star, STAR);
        }
        if !all.is_empty() {
            self.entry(Symbol::Star, "greatest eclipse");
        }
        let style = self.on_map(INK);
        let width = frame.high.x - frame.low.x;
        let marks = marks(
            self.map.eclipse,
            self.map.options,
            &|place| self.projection.positions(place).first().copied(),
            width.max(12.0 * self.small),
        );
        for (place, label) in &marks {
            let inside =
                self.projection.positions(*place).into_iter().filter(|at| frame.grown(-1.5 * dot).contains(*at));
            for at in inside {
                self.drawing.mark("mark", at, dot, [LIGHT, PATH]);
                self.drawing.label("mark", label, at, 0.45 * self.small, frame.grown(-2.0), style);
            }
        }
    }

    /// Cities in view, as far as there is room for their names.
    fn cities(&mut self) {
        let (frame, dot) = (self.projection.frame.grown(-2.0), 0.14 * self.small);
        for (name, latitude, longitude) in CITIES.iter().filter(|_| self.map.args.cities) {
            let all = self.projection.positions([*longitude, *latitude]);
            for at in all.into_iter().filter(|at| frame.grown(-1.5 * dot).contains(*at)) {
                let style = Style { size: 0.85 * self.small, ..self.on_map(INK) };
                // The dot needs room of its own.
                let is_free = self.drawing.is_free(&Frame::new(at, at).grown(2.0 * dot));
                if is_free && self.drawing.label("city", name, at, 0.4 * self.small, frame, style) {
                    self.drawing.mark("city", at, dot, [INK, LIGHT]);
                }
            }
        }
    }

    fn heading(&mut self, heading: &[String], about: &[String]) {
        let mut at = DVec2::new(self.projection.frame.low.x, 0.4 * self.small);
        for line in heading {
            at.y += 1.9 * self.small;
            self.drawing.text("title", line, at, self.style(1.5, INK));
        }
        at.y += 0.3 * self.small;
        for line in about {
            at.y += 1.3 * self.small;
            self.drawing.text("about", line, at, self.style(0.9, FAINT));
        }
    }

    /// A scale bar, unless the map shows most of the Earth.
    fn scale(&mut self) {
        let (km, latitude) = self.projection.scale();
        let length = super::round_length(11.0 * self.small * km);
        let [west, _, east, _] = self.projection.shown();
        if self.projection.kind != Kind::Equirectangular || east - west <= 120.0 {
            let text = format!("{length} km at {}", named((10.0 * latitude).round() / 10.0, ["N", "S"], 0.0));
            self.entry(Symbol::Scale { pixels: length / km }, text);
        }
    }

    /// The scale of colours and the symbols, below the map. Returns the lower end.
    fn legend(&mut self) -> f64 {
        let (small, thin, frame) = (self.small, self.thin, self.projection.frame);
        let all = self.drawing.frame;
        let low = DVec2::new(frame.low.x, frame.high.y + 2.8 * small);
        let room = (frame.high.x - frame.low.x).max(LEAST_ROOM * small);
        let width = (22.0 * small).min(room).round();
        let [least, largest] = self.range;
        let colors = (0..width as u32).flat_map(|x| {
            let part = (f64::from(x) + 0.5) / width;
            let (color, alpha) = shade(least + part * (largest - least), self.range);
            mixed(rgb(SEA), color, alpha)
                .map(|part| (255.0 * part).round() as u8)
                .into_iter()
                .chain([255])
                .collect::<Vec<_>>()
        });
        let row: Vec<u8> = colors.collect();
        let height = small.round();
        self.drawing.image("colours", low, [width as u32, height as u32], row.repeat(height as usize));
        let corners = [(0.0, 0.0), (width, 0.0), (width, height), (0.0, height), (0.0, 0.0)];
        let corners = corners.map(|(x, y)| low + DVec2::new(x, y)).to_vec();
        self.drawing.lines("colours", &[corners], all, Pen::new(INK, 0.8 * thin));
        let count = ((largest - least) / self.step).round().max(1.0);
        // As many numbers as have room.
        let every = (3.2 * small * count / width).ceil().max(1.0) as usize;
        for i in (0..=count as usize).step_by(every) {
            let value = (least + (largest - least) * i as f64 / count) * 100.0;
            let decimals = usize::from(self.step < 0.01) + usize::from(self.step < 0.001);
            let at = low + DVec2::new(width * i as f64 / count, 2.1 * small);
            self.drawing.centered_text("colours", &format!("{value:.decimals$}"), at, self.style(0.9, INK));
        }
        let mut at = low + DVec2::new(0.0, 3.4 * small);
        self.drawing.text("colours", "covered part of the Sun, %", at, self.style(0.9, FAINT));
        // The symbols flow to the right of the colours if there is room for two columns, otherwise below.
        let left = if room - width > 30.0 * small { low.x + width + 3.0 * small } else { low.x };
        let begin = if left > low.x { low.y + 0.85 * small } else { at.y + 1.8 * small };
        let bottom = at.y;
        at = DVec2::new(left, begin);
        for (symbol, text) in std::mem::take(&mut self.legend) {
            let size = 0.9 * small;
            let wide = match symbol {
                Symbol::Scale { pixels } => pixels,
                Symbol::Line(_) => 2.4 * small,
                Symbol::Star => 1.4 * small,
            };
            let whole = wide + 0.6 * small + text_width(&text, size);
            if at.x > left && at.x + whole > frame.low.x + room {
                at = DVec2::new(left, at.y + 1.6 * small);
            }
            let middle = at - DVec2::Y * 0.3 * small;
            match symbol {
                Symbol::Line(pen) => {
                    self.drawing.lines("legend", &[vec![middle, middle + DVec2::X * wide]], all, pen);
                }
                Symbol::Star => self.drawing.star("legend", middle + DVec2::X * 0.7 * small, 0.5 * small, STAR),
                Symbol::Scale { pixels } => {
                    self.drawing.scale_bar(middle, [pixels, 0.3 * small], Pen::new(INK, 1.4 * thin));
                }
            }
            self.drawing.text("legend", &text, at + DVec2::X * (wide + 0.6 * small), self.style(0.9, INK));
            at.x += whole + 1.6 * small;
        }
        at.y.max(bottom) + 1.2 * small
    }
}

/// Marks along the centre line: longitude and latitude, and a label. They are at full multiples of as few minutes as leave room for the
/// labels. `position` is that of a place in the picture, if it is in view.
pub(super) fn marks(
    eclipse: &SolarEclipse,
    options: SkyOptions,
    position: &dyn Fn([f64; 2]) -> Option<DVec2>,
    width: f64,
) -> Vec<([f64; 2], String)> {
    /// Least distance of marks in widths of the map.
    const LEAST: f64 = 0.045;
    let mut found = Vec::new();
    for step in [60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0] {
        let points = eclipse.central_line(step).points;
        // The first and the last point are at the horizon, not at a full minute.
        let inner = points.get(1..points.len().saturating_sub(1)).unwrap_or_default();
        let mark = |time: Time, at: &Place| ([at.longitude, at.latitude], clock(time, 5, options));
        found = inner.iter().map(|point| mark(point.time, &point.center)).collect();
        let apart = |pair: &[([f64; 2], String)]| Some((position(pair[0].0)? - position(pair[1].0)?).length() / width);
        if found.windows(2).filter_map(apart).fold(f64::INFINITY, f64::min) >= LEAST {
            break;
        }
    }
    found
}

/// The first letters of a time of day.
fn clock(time: Time, letters: usize, options: SkyOptions) -> String {
    time.clock_text(0, options.delta_t).to_string().chars().take(letters).collect()
}

/// The largest of some steps with at least four multiples between two values, or the smallest.
fn step_of([low, high]: [f64; 2], steps: &[f64]) -> f64 {
    let last = steps.last().copied().unwrap_or(1.0);
    steps.iter().copied().find(|step| (high / step - 1e-9).ceil() - (low / step).floor() > 4.0).unwrap_or(last)
}

/// The least and the largest value where the eclipse is seen.
fn seen(values: &[f64], fields: &Fields) -> [f64; 2] {
    let is_seen = |node: &usize| fields.visible[*node] > 0.0 && fields.obscuration[*node] > 0.0;
    let all = (0..values.len()).filter(is_seen).map(|node| values[node]);
    all.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| [low.min(value), high.max(value)])
}

/// The least and the largest obscuration in view; 0 and 1 without an eclipse.
fn range_in_view(projection: &Projection, grid: &MapGrid, values: &[f32]) -> [f64; 2] {
    const STEPS: i32 = 200;
    let Frame { low, high } = projection.frame;
    let all = (0..STEPS * STEPS).map(|i| DVec2::new(f64::from(i % STEPS), f64::from(i / STEPS)) + 0.5);
    let places = all.filter_map(|at| projection.place(low + (high - low) * at / f64::from(STEPS)));
    let found = places.map(|place| sampled(grid, values, place)).filter(|value| *value > 0.0);
    let range = found.fold([1.0_f64, 0.0_f64], |[low, high], value| [low.min(value), high.max(value)]);
    if range[0] < range[1] { range } else { [0.0, 1.0] }
}

/// The obscuration at a place: bilinear between the centres of cells; 0 outside.
fn sampled(grid: &MapGrid, values: &[f32], [longitude, latitude]: [f64; 2]) -> f64 {
    let [west, _, east, _] = grid.region();
    let [width, height] = grid.size().map(|side| side as usize);
    let longitude =
        if (west..=east).contains(&longitude) { longitude } else { (longitude - west).rem_euclid(360.0) + west };
    let [x, y] = grid.cell(longitude, latitude).map(|x| x - 0.5);
    if longitude > east || !(-0.5..=height as f64).contains(&y) {
        return 0.0;
    }
    let is_round = east - west >= 360.0;
    let column = |x: f64| {
        let last = width as f64;
        (if is_round { x.rem_euclid(last) } else { x.clamp(0.0, last - 1.0) }) as usize
    };
    let row = |y: f64| y.clamp(0.0, height as f64 - 1.0) as usize * width;
    let ([left, right], [up, down]) = ([x.floor(), x.floor() + 1.0].map(column), [y.floor(), y.floor() + 1.0].map(row));
    let (f, g) = (x - x.floor(), y - y.floor());
    let at = |row: usize, column: usize| f64::from(values[row + column]);
    let lines = [up, down].map(|row| at(row, left) * (1.0 - f) + at(row, right) * f);
    lines[0] * (1.0 - g) + lines[1] * g
}

/// Lines without missing points, with longitudes that continue beyond ±180°.
pub(super) fn unwrapped(points: impl Iterator<Item = Option<[f64; 2]>>) -> Vec<Places> {
    let mut lines: Vec<Places> = vec![Vec::new()];
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
    let text = format!("{}°", (1000.0 * wrapped.abs()).round() / 1000.0);
    if wrapped == 0.0 || (limit > 0.0 && wrapped.abs() == limit) {
        return text;
    }
    text + letters[usize::from(wrapped < 0.0)]
}

fn mixed(from: [f64; 3], to: [f64; 3], part: f64) -> [f64; 3] {
    std::array::from_fn(|i| from[i] + (to[i] - from[i]) * part)
}

/// Colour and opacity of an obscuration.
fn shade(value: f64, [least, largest]: [f64; 2]) -> ([f64; 3], f64) {
    if value >= 0.999_95 {
        return (rgb(WHOLE.0), WHOLE.1);
    }
    let part = (value - least) / (largest - least);
    let above = RAMP.iter().position(|row| row.0 >= part).unwrap_or(RAMP.len() - 1).max(1);
    let (low, high) = (RAMP[above - 1], RAMP[above]);
    let f = ((part - low.0) / (high.0 - low.0)).clamp(0.0, 1.0);
    (mixed(rgb(low.1), rgb(high.1), f), low.2 + (high.2 - low.2) * f)
}
