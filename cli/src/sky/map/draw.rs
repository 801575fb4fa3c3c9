//! Drawing of an eclipse map: base map, obscuration, isolines, path, labels and legend.

use colorous::MAGMA;
use rayon::prelude::*;
use umbracast::glam::{DVec2, DVec3};
use umbracast_sky::{CITIES, CentralLine, Coastline, LocalKind, Place, SkyOptions, SolarEclipse, SolarKind, Time};
use umbracast_sky::{borders, coastlines, land_and_ice};

use super::MapArgs;
use super::fields::Fields;
use super::projection::{Kind, Places, Projection};
use crate::drawing::{
    Drawing, Frame, Ink, Pen, Style, Symbol, above_zero, least_and_largest, opaque, ramp, rgb, text_width, wrapped,
};
use crate::error::Result;

const INK: u32 = 0x1d_2733;
const FAINT: u32 = 0x5b_6672;
const LIGHT: u32 = 0xff_ffff;
const SEA: u32 = 0xd9_e6ef;
const LAND: u32 = 0xf4_f0e4;
const COAST: u32 = 0x4f_5a66;
const PATH: u32 = 0xb0_0f1d;
const HORIZON: u32 = 0x2f_5d8a;
const STAR: &str = "★";
const GOLD: u32 = 0xff_d23f;
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
    legend: Vec<(Symbol, String)>,
}

/// Least width for text below and above a map, in heights of text.
const LEAST_ROOM: f64 = 28.0;

impl MapPicture<'_> {
    /// Draws the map. `values` has the obscuration at each of its pixels.
    pub(super) fn draw(&self, projection: Projection, size: [u32; 2], values: &[f32]) -> Result<Drawing> {
        let size = DVec2::from_array(size.map(f64::from));
        // An eightieth of the width of a map that is twice as wide as high.
        let small = ((2.0 * size.x * size.y).sqrt() / 80.0).clamp(10.0, 60.0);
        // Text needs more room than a very narrow map.
        let room = size.x.max(LEAST_ROOM * small);
        let heading = wrapped(self.title, 1.5 * small, room);
        let about: Vec<String> = self.about.iter().flat_map(|line| wrapped(line, 0.9 * small, room)).collect();
        // Meridians and parallels leave the map on all sides.
        let aside = text_width("180°W", small) + small;
        let top = small * (3.1 + 1.9 * heading.len() as f64 + 1.3 * about.len() as f64);
        let low = DVec2::new(aside, top).round();
        let frame = Frame::new(low, low + size);
        let projection = projection.fit(frame);
        let range = least_and_largest(values.iter().map(|value| f64::from(*value)).filter(|value| *value > 0.0));
        let range = if range[0] < range[1] { range } else { [0.0, 1.0] };
        let step = step_of(range, &STEPS);
        let range = if range[0] < 0.1 { [0.0, range[1]] } else { range };
        let range = [(range[0] / step + 1e-6).floor() * step, ((range[1] / step - 1e-6).ceil() * step).min(1.0)];
        let drawing = Drawing::new(low + DVec2::new(room + aside, size.y + 50.0 * small))?;
        let thin = (small / 18.0).max(0.6);
        let mut sheet = Sheet { map: self, projection, drawing, small, thin, range, step, legend: Vec::new() };
        sheet.ground(values);
        sheet.coasts();
        sheet.borders();
        sheet.path();
        let fields = Fields::new(self.eclipse, &projection, self.at);
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

    /// The parts of lines of the picture that are on the globe and in the map.
    fn clipped(&self, lines: &[Vec<DVec2>]) -> Vec<Vec<DVec2>> {
        let on_globe = lines.iter().flat_map(|line| above_zero(line, |at| self.projection.within_limb(at)));
        on_globe.flat_map(|line| self.projection.frame.clipped(&line)).collect()
    }

    /// Adds lines with a light rim of a width, which keeps them readable on dark ground. Returns whether they are in view.
    fn lines(&mut self, class: &'static str, lines: &[Vec<DVec2>], pen: Pen, rim: f64) -> bool {
        let (lines, frame) = (self.clipped(lines), self.projection.frame);
        if rim > 0.0 {
            self.drawing.lines("rim", &lines, frame, Pen::new(Ink::new(LIGHT, 0.6), pen.width + 2.0 * rim));
        }
        self.drawing.lines(class, &lines, frame, pen)
    }

    /// Adds lines, and their entry in the legend if they are in view.
    fn named_lines(&mut self, class: &'static str, lines: &[Vec<DVec2>], pen: Pen, rim: f64, text: &str) {
        if self.lines(class, lines, pen, rim) {
            self.entry(Symbol::Line(pen), text);
        }
    }

    /// Land, sea and obscuration.
    fn ground(&mut self, values: &[f32]) {
        let (projection, range) = (self.projection, self.range);
        let Frame { low, high } = projection.frame;
        let [width, height] = (high - low).to_array().map(|side| side as usize);
        let sharpness = (11.1 / projection.scale().0).clamp(1.0, 8.0);
        let sharp = |share: f64| (0.5 + (share - 0.5) * sharpness).clamp(0.0, 1.0);
        let mut rgba = vec![0_u8; width * height * 4];
        rgba.par_chunks_mut(4).zip(values).enumerate().for_each(|(i, (pixel, value))| {
            let at = low + DVec2::new((i % width) as f64 + 0.5, (i / width) as f64 + 0.5);
            if projection.within_limb(at) > 0.0 {
                let (place, value) = (projection.place(at), f64::from(*value));
                let [land, ice] = land_and_ice(place[0], place[1]).map(sharp);
                let (shade, alpha) = shade(value, range);
                // The outer edge is as smooth as the others.
                let covered = alpha * (value / 0.004).min(1.0);
                pixel.copy_from_slice(&opaque(
                    rgb(SEA).lerp(rgb(LAND), land).lerp(rgb(LIGHT), ice).lerp(shade, covered),
                ));
            }
        });
        self.drawing.image("ground", low, [width as u32, height as u32], rgba);
    }

    fn coasts(&mut self) {
        // Lines along the south pole and along the meridian at which the Antarctic is cut are no coasts.
        let is_coast = |a: &[f64; 2], b: &[f64; 2]| a[1] > -89.9 && b[1] > -89.9 && (a[0] - b[0]).abs() < 90.0;
        let closed = coastlines().into_iter().map(|Coastline { points, .. }| [&points[..], &points[..1]].concat());
        let lines: Vec<Places> =
            closed.flat_map(|line| line.chunk_by(is_coast).map(<[_]>::to_vec).collect::<Vec<_>>()).collect();
        let lines = self.projection.lines(&lines);
        self.lines("coast", &lines, Pen::new(Ink::new(COAST, 0.9), 0.8 * self.thin), 0.4 * self.thin);
    }

    fn borders(&mut self) {
        if self.map.args.borders {
            let pen = Pen::new(Ink::new(COAST, 0.9), 0.7 * self.thin).dashed(2.5 * self.thin);
            self.named_lines("border", &self.projection.lines(&borders()), pen, 0.35 * self.thin, "border");
        }
    }

    /// Limits and centre line, which labels avoid, as they do the star of the greatest eclipse. In a hybrid eclipse, the annular parts of the centre line are dashed.
    fn path(&mut self) {
        let (path, thin) = (self.map.path, self.thin);
        let places = |line: &Vec<(Time, Place)>| line.iter().map(|(_, at)| [at.longitude, at.latitude]).collect();
        let limits = [0, 1].map(|side| self.map.limits[side].iter().map(places).collect::<Vec<Places>>());
        let mut kinds: Vec<LocalKind> = path.points.iter().map(|point| point.kind).collect();
        kinds.dedup();
        let what = match (&kinds[..], self.map.eclipse.kind) {
            ([LocalKind::Total], _) | ([], SolarKind::Total) => "totality".into(),
            ([LocalKind::Annular], _) | ([], SolarKind::Annular) => "annularity".into(),
            _ => format!("the path: {}", kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", then ")),
        };
        let (pen, classes) = (Pen::new(PATH, 1.2 * thin), ["northern-limit", "southern-limit"]);
        let limits = limits.map(|lines| self.projection.lines(&lines));
        let has_limits = [0, 1].map(|side| self.lines(classes[side], &limits[side], pen, 0.9 * thin));
        let is_hybrid = kinds.len() > 1;
        for (kind, dash) in [(LocalKind::Total, 0.0), (LocalKind::Annular, if is_hybrid { 6.0 * thin } else { 0.0 })] {
            // Between two parts is a gap of a step, which is no longer than one between dashes.
            let parts = path.points.chunk_by(|a, b| a.kind == b.kind).filter(|part| part[0].kind == kind);
            let places = parts.map(|part| part.iter().map(|at| [at.center.longitude, at.center.latitude]).collect());
            let lines = self.projection.lines(&places.collect::<Vec<Places>>());
            self.drawing.avoid(&self.clipped(&lines));
            let kind = if is_hybrid { format!("{} ", kind.name()) } else { String::new() };
            let text = format!("{kind}centre line, times in {}", self.time_scale());
            self.named_lines("centre-line", &lines, Pen::new(PATH, 2.0 * thin).dashed(dash), 0.9 * thin, &text);
        }
        if has_limits.contains(&true) {
            self.entry(Symbol::Line(pen), format!("limits of {what}"));
        }
        let greatest = self.map.eclipse.greatest.place;
        for at in self.projection.positions([greatest.longitude, greatest.latitude]) {
            self.drawing.avoid(&[Frame::new(at, at).grown(self.small).outline()]);
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
            let lines = fields.isolines(&fields.visible, 0.0, &fields.obscuration);
            self.named_lines("horizon", &lines, dashed, 0.0, "Sun at the horizon");
            return;
        }
        let classes = ["begins-at-horizon", "maximum-at-horizon", "ends-at-horizon"];
        let [begins, is_maximum, ends] = [0, 1, 2].map(|i| {
            let lines = fields.isolines(&fields.altitudes[i], 0.0, &fields.magnitude);
            self.lines(classes[i], &lines, if i == 1 { dashed } else { solid }, 0.0)
        });
        let limit = fields.isolines(&fields.magnitude, 0.0, &fields.altitudes[1]);
        let outer = Pen { ink: Ink::new(INK, 0.9), ..solid };
        self.named_lines("partial-limit", &limit, outer, 0.0, "limit of the partial eclipse");
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
            let pen = |hex: u32, alpha: f64, width: f64| Pen::new(Ink::new(hex, alpha), width * thin);
            let (class, values, steps, pen) = match kind {
                Isolines::Obscuration => ("obscuration", &fields.obscuration, &[self.step][..], pen(INK, 0.75, 0.8)),
                Isolines::Magnitude => ("magnitude", &fields.seen_magnitude, &STEPS[..], pen(0x8a_3b00, 0.9, 1.0)),
                Isolines::Time => ("time", &fields.seconds, &SECONDS[..], pen(0x0b_5a44, 0.9, 1.0).dashed(3.0 * thin)),
            };
            let is_ratio = *kind != Isolines::Time;
            let name = if is_ratio { class.into() } else { format!("time of the maximum in {}", self.time_scale()) };
            if *kind != Isolines::Obscuration {
                self.entry(Symbol::Line(pen), name);
            }
            let (from, range) = (if is_ratio { 0.0 } else { midnight }, seen(values, fields));
            let step = step_of(range, steps);
            let [low, high] = range.map(|value| (value - from) / step);
            let levels = (low.ceil() as i64..=high.floor() as i64).map(|k| from + k as f64 * step);
            // A ratio has isolines between 0 and 1, closer to each other near 1.
            let finer =
                NEAR_PATH.into_iter().filter(|level| is_ratio && *level > 1.0 - step && *level <= 1.0 - 0.25 * step);
            let levels = levels.chain(finer).filter(|level| !is_ratio || (*level > 1e-9 && *level < 0.9999));
            let decimals = usize::from(step < 0.01) + usize::from(step < 0.001);
            for level in levels {
                let parts = self.clipped(&fields.isolines(values, level, &fields.visible));
                self.lines(class, &parts, pen, 0.0);
                let text = match kind {
                    Isolines::Obscuration => format!("{:.decimals$} %", 100.0 * level),
                    Isolines::Magnitude => format!("{level:.*}", 2 + decimals),
                    Isolines::Time => clock(greatest.plus(level + 0.001), if step < 60.0 { 8 } else { 5 }, map.options),
                };
                labels.extend(parts.into_iter().map(|part| (part, text.clone())));
            }
        }
        labels
    }

    /// Labels of isolines: in the middle of each part, or next to it where there is no room.
    fn labels(&mut self, labels: Vec<(Vec<DVec2>, String)>) {
        let (frame, style) = (self.projection.frame.grown(-2.0), self.on_map(INK));
        for (line, text) in labels {
            let length: f64 = line.windows(2).map(|pair| pair[0].distance(pair[1])).sum();
            if length < 6.0 * self.small {
                continue;
            }
            // A long part has two labels, neither of them in its middle.
            let is_long = length > 0.8 * (frame.high.x - frame.low.x);
            let parts = [0.5, 0.25, 0.75, 0.38, 0.62, 0.12, 0.88].into_iter().skip(usize::from(is_long));
            let mut spots = parts.map(|part| line[(part * (line.len() - 1) as f64) as usize]);
            for _ in 0..1 + usize::from(is_long) {
                spots.any(|at| self.drawing.label("isoline", &text, at, 0.0, frame, style));
            }
        }
    }

    /// Meridians and parallels. Their labels are where they leave the map, or else on them.
    fn graticule(&mut self) {
        let (frame, outside, small) = (self.projection.frame, self.drawing.frame, self.small);
        let (style, on_map) = (self.style(0.9, FAINT), Style { size: 0.9 * small, ..self.on_map(FAINT) });
        // Below, above, to the left and to the right of the map. Parallels have labels at the sides only.
        let margins = [
            Frame::new(DVec2::new(outside.low.x, frame.high.y), outside.high),
            Frame::new(outside.low, DVec2::new(outside.high.x, frame.low.y)),
            Frame::new(outside.low, DVec2::new(frame.low.x, outside.high.y)),
            Frame::new(DVec2::new(frame.high.x, outside.low.y), outside.high),
        ];
        let limb = self.projection.limb();
        self.drawing.avoid(std::slice::from_ref(&limb));
        let multiples = |step: f64, end: f64| {
            let most = (end / step + 1e-9).floor() as i64;
            (-most..=most).map(move |k| k as f64 * step)
        };
        let between = |end: f64| (-180..=180).map(move |i| end * f64::from(i) / 180.0);
        // Meridians near a pole end before it, except on a flat map.
        let is_flat = self.projection.kind == Kind::Equirectangular;
        let most = if is_flat { 90.0 } else { 80.0 };
        // Three to eight lines along each side.
        const SPACINGS: [f64; 8] = [30.0, 15.0, 10.0, 5.0, 2.0, 1.0, 0.5, 0.2];
        let spacing = |extent: f64| SPACINGS.into_iter().find(|step| extent / step >= 5.0).unwrap_or(0.1);
        let [across, along] = self.projection.extent().map(|extent| self.map.args.graticule.unwrap_or(spacing(extent)));
        let meridians = multiples(across, 180.0).filter(|longitude| *longitude > -180.0).map(|longitude| {
            let line: Places = between(most).map(|latitude| [longitude, latitude]).collect();
            (named(longitude, ["E", "W"], 180.0), line)
        });
        let parallels = multiples(along, 90.0).filter(|latitude| latitude.abs() < 90.0).map(|latitude| {
            let line: Places = between(180.0).map(|longitude| [longitude, latitude]).collect();
            (named(latitude, ["N", "S"], 0.0), line)
        });
        let mut lines = Vec::new();
        for (i, (text, line)) in meridians.map(|one| (0, one)).chain(parallels.map(|one| (1, one))) {
            let parts = self.clipped(&self.projection.lines(&[line]));
            let mut ends: Vec<DVec2> = parts.iter().flat_map(|part| [part[0], part[part.len() - 1]]).collect();
            // A repetition of the line may touch the side of a flat map.
            ends.dedup_by(|a, b| a.distance(*b) < 1.0);
            let mut is_labelled = is_flat;
            for at in ends.into_iter().filter(|at| !frame.grown(-0.5).contains(*at)) {
                let mut strips = margins.iter().skip(2 * i);
                is_labelled |=
                    strips.any(|strip| self.drawing.label("graticule", &text, at, 0.7 * small, *strip, style));
            }
            if !is_labelled {
                let mut spots = parts.concat();
                let middle = frame.low.lerp(frame.high, 0.4);
                spots.sort_by(|a, b| a.distance(middle).total_cmp(&b.distance(middle)));
                spots.iter().any(|at| self.drawing.label("graticule", &text, *at, 0.0, frame.grown(-2.0), on_map));
            }
            lines.extend(parts);
        }
        self.lines("graticule", &lines, Pen::new(Ink::new(FAINT, 0.35), 0.6 * self.thin), 0.2 * self.thin);
        let outline = if limb.is_empty() { frame.outline() } else { limb };
        self.drawing.lines("frame", &[outline], frame, Pen::new(INK, 1.2 * self.thin));
    }

    /// The greatest eclipse, and instants along the centre line.
    fn marks(&mut self) {
        let greatest = self.map.eclipse.greatest.place;
        let frame = self.projection.frame;
        let star = Style { size: 1.5 * self.small, hex: GOLD, halo: Some(INK) };
        let all = self.projection.positions([greatest.longitude, greatest.latitude]);
        for at in all.iter().filter(|at| frame.grown(-self.small).contains(**at)) {
            self.drawing.centered_text("greatest-eclipse", STAR, *at + 0.55 * self.small * DVec2::Y, star);
        }
        if !all.is_empty() {
            self.entry(Symbol::Letter(STAR, star), "greatest eclipse");
        }
        let width = (frame.high.x - frame.low.x).max(12.0 * self.small);
        let position = |place| self.projection.positions(place).first().copied();
        for (place, label) in marks(self.map.eclipse, self.map.options, &position, width) {
            self.spot("mark", place, &label, self.small, [LIGHT, PATH]);
        }
    }

    /// A dot with a name, where there is room for both.
    fn spot(&mut self, class: &'static str, place: [f64; 2], name: &str, size: f64, colors: [u32; 2]) {
        let (frame, dot, style) = (self.projection.frame.grown(-2.0), 0.17 * size, self.on_map(INK));
        for at in self.projection.positions(place) {
            let own = Frame::new(at, at).grown(2.0 * dot);
            if frame.holds(&own)
                && self.drawing.is_free(&own)
                && self.drawing.label(class, name, at, 0.45 * size, frame, Style { size, ..style })
            {
                self.drawing.mark(class, at, dot, colors);
            }
        }
    }

    /// Cities in view, as far as there is room for their names.
    fn cities(&mut self) {
        for (name, latitude, longitude) in CITIES.iter().filter(|_| self.map.args.cities) {
            self.spot("city", [*longitude, *latitude], name, 0.85 * self.small, [INK, LIGHT]);
        }
    }

    fn heading(&mut self, heading: &[String], about: &[String]) {
        let mut at = DVec2::new(self.projection.frame.low.x, 0.5 * self.small);
        let about = about.iter().map(|line| ("about", line, 0.9, FAINT));
        for (class, line, size, hex) in heading.iter().map(|line| ("title", line, 1.5, INK)).chain(about) {
            at.y += (0.5 + 0.9 * size) * self.small;
            self.drawing.text(class, line, at, self.style(size, hex));
        }
    }

    /// A scale bar, unless the map shows most of the Earth.
    fn scale(&mut self) {
        let (km, latitude) = self.projection.scale();
        let length = super::round_length(11.0 * self.small * km);
        if self.projection.kind != Kind::Equirectangular || self.projection.extent()[0] <= 120.0 {
            let text = format!("{length} km at {}", named((10.0 * latitude).round() / 10.0, ["N", "S"], 0.0));
            self.entry(Symbol::Scale(length / km), text);
        }
    }

    /// The scale of colours and the symbols, below the map. Returns the lower end.
    fn legend(&mut self) -> f64 {
        let (small, frame, style) = (self.small, self.projection.frame, self.style(0.9, INK));
        let low = DVec2::new(frame.low.x, frame.high.y + 2.8 * small).round();
        let room = (frame.high.x - frame.low.x).max(LEAST_ROOM * small);
        let width = (22.0 * small).min(room).round();
        let (range, [least, largest]) = (self.range, self.range);
        let color = |part: f64| {
            let (color, alpha) = shade(least + part * (largest - least), range);
            rgb(SEA).lerp(color, alpha)
        };
        let count = ((largest - least) / self.step).round().max(1.0);
        let decimals = usize::from(self.step < 0.01) + usize::from(self.step < 0.001);
        // As many numbers as have room.
        let every = (3.2 * small * count / width).ceil().max(1.0) as usize;
        let parts = (0..=count as usize).step_by(every).map(|i| i as f64 / count);
        let ticks = parts.map(|part| (part, format!("{:.decimals$}", (least + (largest - least) * part) * 100.0)));
        let bar = Frame::new(low, low + DVec2::new(width, small.round()));
        self.drawing.colour_bar(bar, color, ticks, "covered part of the Sun, %", style);
        // The symbols flow to the right of the colours if there is room for two columns, otherwise below.
        let bottom = bar.high.y + 2.4 * small;
        let begin = match room - width > 30.0 * small {
            true => DVec2::new(bar.high.x + 3.0 * small, low.y + 0.85 * small),
            false => DVec2::new(low.x, bottom + 1.8 * small),
        };
        let end = self.drawing.legend(&std::mem::take(&mut self.legend), begin, low.x + room, style);
        end.max(bottom) + 1.2 * small
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
    least_and_largest((0..values.len()).filter(is_seen).map(|node| values[node]))
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

/// Colour and opacity of an obscuration. Where the Sun is covered wholly, it is darker than the others.
fn shade(value: f64, [least, largest]: [f64; 2]) -> (DVec3, f64) {
    let part = (value - least) / (largest - least);
    if value >= 0.999_95 { (ramp(MAGMA, 1.2), 0.82) } else { (ramp(MAGMA, 0.85 * part), 0.5 + 0.24 * part) }
}
