//! Drawing of a plot: the order of the layers, their colours and opacities.

use crate::error::Result;
use umbracast::Ray;
use umbracast::glam::{DVec2, DVec3};

use crate::drawing::{Drawing, Frame, Ink, Pen, Style, Symbol, least_and_largest, ramp, text_width};
use crate::sky::map::round_length;
use colorous::PLASMA;

use super::balls::{Balls, Body};
use super::sample::{Beam, Mark, Sample};
use super::scenery::{Form, Scenery};
use super::view::{HEIGHT, View, WIDTH, along};
use super::{DARK, HIT, INK, Legend, MISS, MOST_SPHERES, PASS, RAY};

/// Maximum number of spheres, and of rays, that are labelled with their ids.
const MAX_LABELLED: usize = 24;
/// Colour of the path of a sphere without hits.
const UNHIT_COLOR: u32 = 0x8f_99a5;

/// Parts of the path of a moving sphere.
const PATH_PARTS: u32 = 8;

const WHITE: u32 = 0xff_ffff;
/// Height of text.
const TEXT: f64 = 19.0;

/// A picture and its content.
pub(super) struct Picture<'a> {
    drawing: Drawing,
    view: View,
    balls: Balls,
    scenery: Scenery<'a>,
    sample: &'a Sample,
    /// First and last time shown; `None` if no sphere moves.
    span: Option<[f64; 2]>,
    /// Ids and times of the spheres in the results of the rays, sorted.
    hits: Vec<(u32, f64)>,
    /// The least and the largest `t` of hits, which have colours by it; `None` for few rays.
    colored: Option<[f64; 2]>,
}

impl<'a> Picture<'a> {
    /// Draws spheres, and the paths of moving ones below them.
    pub(super) fn new(scenery: Scenery<'a>, sample: &'a Sample) -> Result<Self> {
        let view = View::fit(&scenery, &sample.kept);
        let one = |beam: &'a Beam| beam.hits().map(move |(id, t)| (id, scenery.moment(beam, t)));
        let mut hits: Vec<(u32, f64)> = sample.kept.iter().flat_map(one).collect();
        hits.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        // Positions of a sphere at most 2 pixels apart are merged.
        let apart = |id: u32, time: f64| scenery.velocity(id as usize).length() * time.abs() * view.scale;
        hits.dedup_by(|next, kept| next.0 == kept.0 && apart(next.0, next.1 - kept.1) <= 2.0);
        let span = scenery.span(&sample.kept);
        let drawing = Drawing::new(DVec2::new(f64::from(WIDTH), f64::from(HEIGHT)))?;
        let balls = Balls::cast(&view, &bodies(&scenery, &hits, span))?;
        let ends = sample.kept.iter().filter_map(|beam| match beam.mark {
            Mark::Hit { t, .. } if t.is_finite() => Some(f64::from(t)),
            _ => None,
        });
        let colored =
            Some(least_and_largest(ends)).filter(|[low, high]| low < high && sample.seen > MAX_LABELLED as u64);
        Ok(Self { drawing, view, balls, scenery, sample, span, hits, colored })
    }

    /// Draws everything. Later layers cover earlier ones.
    pub(super) fn drawn(mut self, legend: Legend, shown: &str) -> Drawing {
        if let Some(span) = self.moving_span() {
            self.draw_paths(span);
        }
        self.drawing.image("spheres", DVec2::ZERO, [WIDTH, HEIGHT], std::mem::take(&mut self.balls.rgba));
        let sample = self.sample;
        let misses = sample.kept.iter().filter(|beam| beam.mark == Mark::Miss);
        for beam in misses.chain(sample.kept.iter().filter(|beam| beam.mark != Mark::Miss)) {
            self.line(beam);
        }
        for beam in &sample.kept {
            self.spots(beam);
        }
        self.legend(legend, shown);
        self.colour_bar();
        self.axes();
        self.names();
        self.drawing
    }

    /// The time range of the paths of moving spheres; `None` for a single time.
    fn moving_span(&self) -> Option<[f64; 2]> {
        self.span.filter(|[from, to]| from < to)
    }

    /// Draws the paths of moving spheres, from faint to strong.
    fn draw_paths(&mut self, span: [f64; 2]) {
        let moving = |id: &usize| self.scenery.velocity(*id) != DVec3::ZERO;
        let all: Vec<usize> = shown(&self.scenery).filter(moving).collect();
        let many = (40.0 / (all.len() as f64).sqrt()).clamp(0.1, 1.0);
        for id in all {
            let ends = span.map(|time| self.scenery.at(id, time));
            let [Some((from, form)), Some((to, _))] = ends else { continue };
            let hex = if moments(&self.hits, id).is_empty() { UNHIT_COLOR } else { hex(tint(id, true)) };
            // Each part is covered by the later ones: the path becomes stronger with time.
            for part in 0..PATH_PARTS {
                let begin = from.lerp(to, f64::from(part) / f64::from(PATH_PARTS));
                self.drawing.area("path", self.view.swept(begin, to, &form), Ink::new(hex, 0.06 * many));
            }
        }
    }

    /// Opacity of rays: the more rays, the lower.
    fn alpha(&self) -> f64 {
        (9.0 / (self.sample.kept.len() as f64).sqrt()).clamp(0.25, 1.0)
    }

    /// The colour of a ray, the `t` up to which it is drawn, and the factor of its opacity.
    fn course(Beam { ray, mark, .. }: &Beam) -> (u32, f32, f64) {
        match mark {
            Mark::Hit { t, .. } => (RAY, *t, 1.0),
            Mark::Inside(hits) => (RAY, hits.t_enter.max(ray.t_min), 1.0),
            Mark::Through(_) => (RAY, ray.t_max, 1.0),
            Mark::Pass { .. } => (RAY, ray.t_max, 0.7),
            Mark::Occluded => (DARK, ray.t_max, 1.0),
            Mark::Miss => (MISS, ray.t_max, 0.5),
        }
    }

    /// Draws the line of a ray and the area of its radius up to its end, with its chords or its clearance.
    fn line(&mut self, beam: &Beam) {
        let Beam { ray, mark, .. } = beam;
        let (hex, end, part) = Self::course(beam);
        let alpha = self.alpha();
        let width = if self.sample.kept.len() < 100 { 1.7 } else { 1.2 };
        let [from, to] = [ray.t_min, end].map(|t| far_along(ray, t, &self.view));
        if beam.radius > 0.0 {
            let swept = self.view.swept(from, to, &Form::ball(f64::from(beam.radius)));
            self.drawing.area("width", swept, Ink::new(hex, 0.16 * alpha));
        }
        self.stroke("ray", from, to, Pen::new(Ink::new(hex, part * alpha), width), 0.16);
        for chord in mark.chords() {
            let [from, to] = [chord.t_enter, chord.t_exit].map(|t| far_along(ray, t, &self.view));
            self.stroke("inside", from, to, Pen::new(Ink::new(HIT, alpha), 2.0 * width), 0.7);
        }
        if let Mark::Pass { t, clearance, id } = *mark
            && clearance > 0.0
            && let Some([mine, other]) = self.surfaces(beam, t, id)
        {
            self.stroke("clearance", mine, other, Pen::new(Ink::new(PASS, alpha), width), 0.4);
        }
    }

    /// Draws a line between two points. Where bodies hide it, its opacity is multiplied by `behind`.
    fn stroke(&mut self, class: &'static str, from: DVec3, to: DVec3, pen: Pen, behind: f64) {
        let [from, to] = [from, to].map(|at| self.view.project(at));
        let clip = self.drawing.frame;
        let Some(seen) = clip.clipped(&[from.truncate(), to.truncate()]).pop() else { return };
        let whole = (to - from).truncate();
        let part = |at: DVec2| (at - from.truncate()).dot(whole) / whole.length_squared().max(f64::MIN_POSITIVE);
        let [from, to] = [seen[0], seen[seen.len() - 1]].map(|at| at.extend(from.lerp(to, part(at)).z));
        let count = (to - from).truncate().length().ceil().max(1.0);
        let at = |step: f64| from.lerp(to, step / count);
        let is_hidden = |step: &usize| self.balls.hides(at(*step as f64 + 0.5), 0.5);
        let mut parts = [Vec::new(), Vec::new()];
        let steps: Vec<usize> = (0..count as usize).collect();
        for run in steps.chunk_by(|a, b| is_hidden(a) == is_hidden(b)) {
            let [begin, end] = [run[0], run[run.len() - 1] + 1].map(|step| at(step as f64).truncate());
            parts[usize::from(is_hidden(&run[0]))].push(vec![begin, end]);
        }
        for (lines, factor) in parts.iter().zip([1.0, behind]) {
            let ink = Ink { alpha: pen.ink.alpha * factor, ..pen.ink };
            self.drawing.lines(class, lines, clip, Pen { ink, ..pen });
        }
    }

    /// The nearest points of the ball of a ray and of a sphere at `t`. `None` for an ellipsoid and for an unknown id.
    fn surfaces(&self, beam: &Beam, t: f32, id: u32) -> Option<[DVec3; 2]> {
        let (center, form) = self.scenery.at(id as usize, self.scenery.moment(beam, t))?;
        let (radius, at) = (form.radius()?, along(&beam.ray, t));
        let apart = (center - at).normalize_or_zero();
        Some([at + apart * f64::from(beam.radius), center - apart * radius])
    }

    /// Draws dots at the start and at the hits of a ray.
    fn spots(&mut self, beam: &Beam) {
        let Beam { ray, mark, .. } = beam;
        let many = self.sample.kept.len() > 100;
        let (small, large) = if many { (0.9, 1.8) } else { (2.2, 3.6) };
        let alpha = if many { 0.75 } else { 1.0 };
        let touched = match *mark {
            // A ray with a radius touches the sphere at a point next to its line.
            Mark::Hit { t, id } if beam.radius > 0.0 => self.surfaces(beam, t, id).map(|[_, other]| other),
            _ => None,
        };
        let color = |t: f32| match self.colored {
            Some([low, high]) => hex(ramp(PLASMA, (f64::from(t) - low) / (high - low))),
            None => HIT,
        };
        let mut spot = |class: &'static str, t: f32, hex: u32, radius: f64| {
            if !t.is_finite() {
                return;
            }
            let at = self.view.project(touched.filter(|_| hex != INK).unwrap_or_else(|| along(ray, t)));
            // A dot behind a body is faint and has no rim. It is tested once, so that a ball does not cut a dot on its side.
            let is_hidden = self.balls.hides(at, 2.5);
            if hex != INK && !is_hidden {
                self.drawing.dot("rim", at.truncate(), radius + 1.2, Ink::new(WHITE, 0.8 * alpha));
            }
            self.drawing.dot(class, at.truncate(), radius, Ink::new(hex, if is_hidden { 0.3 * alpha } else { alpha }));
        };
        spot("start", ray.t_min, INK, small);
        match *mark {
            Mark::Hit { t, .. } => spot("hit", t, color(t), large),
            Mark::Pass { t, .. } => spot("pass", t, PASS, large),
            _ => {}
        }
        for chord in mark.chords() {
            spot("enter", chord.t_enter, HIT, large);
            spot("exit", chord.t_exit, HIT, 0.75 * large);
        }
    }

    /// Labels spheres and rays with their ids, if there are at most `MAX_LABELLED`.
    fn names(&mut self) {
        let last = self.span.map_or(0.0, |[_, to]| to);
        let clip = self.drawing.frame.grown(-4.0);
        let style = |hex: u32| Style { size: TEXT, hex, halo: Some(WHITE) };
        for id in (0..self.scenery.len()).filter(|_| self.scenery.len() <= MAX_LABELLED) {
            let time = moments(&self.hits, id).first().map_or(last, |hits| hits.1);
            let Some((center, form)) = self.scenery.at(id, time) else { continue };
            // The label of a hidden sphere would appear on the sphere that hides it.
            let front = self.view.project(center + form.farthest(self.view.back));
            let at = self.view.project(center).truncate();
            if !self.balls.hides(at.extend(front.z), 2.5) {
                self.drawing.label("sphere-id", &id.to_string(), at, 0.0, clip, style(INK));
            }
        }
        if self.sample.seen <= MAX_LABELLED as u64 {
            // Rays that start close together share a label, which keeps clear of the rays where it can.
            let mut places: Vec<(DVec2, String)> = Vec::new();
            for beam in self.sample.kept.iter().filter(|beam| beam.ray.t_min.is_finite()) {
                let Beam { number, ray, .. } = beam;
                let ends = [ray.t_min, Self::course(beam).1].map(|t| far_along(ray, t, &self.view));
                let [at, end] = ends.map(|at| self.view.project(at).truncate());
                self.drawing.avoid(&clip.clipped(&[at, end]));
                match places.iter_mut().find(|(place, _)| (*place - at).length() < 10.0) {
                    Some((_, numbers)) => *numbers += &format!(",{number}"),
                    None => places.push((at, number.to_string())),
                }
            }
            for (at, numbers) in places {
                self.drawing.label("ray-id", &numbers, at, 6.0, clip, style(RAY));
            }
        }
    }

    /// Draws the legend of the colours, and the summary.
    fn legend(&mut self, legend: Legend, shown: &str) {
        let (moving, drawing) = (self.moving_span(), &mut self.drawing);
        let style = Style { size: TEXT, hex: INK, halo: None };
        let path = moving.map(|[first, last]| {
            let pen = Pen::new(Ink::new(UNHIT_COLOR, 0.5), 0.4 * TEXT);
            (Symbol::Line(pen), format!("path of a sphere from time {first} to {last}"))
        });
        // Hits that have colours by `t` have a scale of them.
        let named = legend.iter().filter(|(_, hex, _)| *hex != HIT || self.colored.is_none());
        let entries = named.map(|(words, hex, is_line)| {
            (if *is_line { Symbol::Line(Pen::new(*hex, 3.0)) } else { Symbol::Dot(*hex) }, words.to_string())
        });
        let entries: Vec<(Symbol, String)> = entries.chain(path).collect();
        let end = drawing.legend(&entries, DVec2::new(24.0, 36.0), drawing.frame.high.x - 24.0, style);
        let shown = format!("{shown}; lengths in the unit of the input");
        drawing.text("content", &shown, DVec2::new(24.0, end + 30.0), style);
    }

    /// Draws three edges of the box around the scene, with coordinates. They are on the outline of the box, so they cover nothing in it.
    fn axes(&mut self) {
        let (view, drawing) = (self.view, &mut self.drawing);
        let clip = drawing.frame;
        let mut drawn = Vec::new();
        for (axis, (name, hex)) in [("x", 0xb3_2d2d), ("y", 0x2f_7d32), ("z", 0x1f_4fa3)].into_iter().enumerate() {
            let [low, high] = view.bounds.map(|corner| corner[axis]);
            let at = |value: f64| {
                // The axis y is on the right.
                let mut place = if axis == 1 { view.bounds[0].with_x(view.bounds[1].x) } else { view.bounds[0] };
                place[axis] = value;
                view.project(place).truncate()
            };
            let (from, to) = (at(low), at(high));
            let (ahead, length) = ((to - from).normalize_or_zero(), (to - from).length());
            if !(1.0..1e4).contains(&length) {
                continue;
            }
            // Away from the box: to the left of its left edge, and below the lower ones.
            let out = if axis == 2 { -ahead.perp() } else { ahead.perp() };
            let style = Style { size: 0.85 * TEXT, hex, halo: Some(WHITE) };
            // A short axis has smaller steps, so that it has numbers, too.
            let steps = [110.0, 44.0].map(|pixels| round_length(pixels * (high - low) / length));
            let is_short = (high / steps[0]).floor() <= (low / steps[0]).ceil();
            let step = steps[usize::from(is_short)];
            let mut lines = vec![vec![from, to]];
            let first = (low / step - 1e-9).ceil();
            // A coordinate far from 0 may have fewer digits than the step needs.
            for value in (0..64).map(|i| (first + f64::from(i)) * step).take_while(|value| *value <= high + 1e-9 * step)
            {
                lines.push(vec![at(value), at(value) + 7.0 * out]);
                let text = number(value, step);
                let room = 12.0 + 0.5 * (text_width(&text, style.size) * out.x.abs() + style.size * out.y.abs());
                drawing.label("axis", &text, at(value) + room * out, 0.0, clip, style);
            }
            drawing.lines("axis", &lines, clip, Pen::new(hex, 1.6));
            // Next to the numbers. Wide numbers leave no room there: then at an end of the axis.
            let mut spots = [0.5 * (from + to) + 52.0 * out, to + 24.0 * ahead, from - 24.0 * ahead].into_iter();
            spots.any(|at| drawing.label("axis", name, at, 0.0, clip, Style { size: 1.2 * TEXT, ..style }));
            drawn.push(vec![from, to]);
        }
        drawing.avoid(&drawn);
    }

    /// Draws the scale of the colours of hits.
    fn colour_bar(&mut self) {
        let Some([low, high]) = self.colored else { return };
        let step = round_length(0.5 * (high - low));
        let inner = (0..64).map(|i| ((low / step).ceil() + f64::from(i)) * step).take_while(|t| *t <= high);
        let ticks = inner.map(|t| ((t - low) / (high - low), number(t, step)));
        let at = DVec2::new(24.0, f64::from(HEIGHT) - 70.0);
        let (bar, color) = (Frame::new(at, at + DVec2::new(240.0, 14.0)), |part| ramp(PLASMA, part));
        let style = Style { size: 0.85 * TEXT, hex: INK, halo: None };
        self.drawing.colour_bar(bar, color, ticks, "t of the hit", style);
    }
}

/// A multiple of a step, with as many digits as the step has.
fn number(value: f64, step: f64) -> String {
    let digits = step.log10().floor();
    if (-4.0..7.0).contains(&digits) && value.abs() < 1e9 {
        return format!("{:.*}", (-digits).max(0.0) as usize, value + 0.0);
    }
    let shown = if value == 0.0 { 0.0 } else { (value.abs().log10().floor() - digits).clamp(0.0, 15.0) };
    format!("{value:.*e}", shown as usize)
}

/// Ids of the spheres to draw.
fn shown(scenery: &Scenery<'_>) -> impl Iterator<Item = usize> + use<> {
    (0..scenery.len()).step_by(scenery.len().div_ceil(MOST_SPHERES).max(1))
}

/// The part of sorted ids and times that belongs to a sphere.
fn moments(hits: &[(u32, f64)], id: usize) -> &[(u32, f64)] {
    let begin = hits.partition_point(|hits| (hits.0 as usize) < id);
    &hits[begin..hits.partition_point(|hits| hits.0 as usize <= id)]
}

/// Spheres at the times of their hits; without a hit, at the end of the time range.
fn bodies(scenery: &Scenery<'_>, hits: &[(u32, f64)], span: Option<[f64; 2]>) -> Vec<Body> {
    let last = span.map_or(0.0, |[_, to]| to);
    let mut found = Vec::new();
    for id in shown(scenery) {
        let all = moments(hits, id);
        let unhit = [(id as u32, last)];
        let times = if all.is_empty() { &unhit[..] } else { all };
        let at = times.iter().filter_map(|(_, time)| scenery.at(id, *time));
        found.extend(at.map(|(center, form)| Body { center, form, tint: tint(id, !all.is_empty()) }));
    }
    found
}

/// The point of a ray at `t`. For an infinite `t`, a point that is certainly outside the picture.
fn far_along(ray: &Ray, t: f32, view: &View) -> DVec3 {
    if t.is_finite() {
        return along(ray, t);
    }
    let direction = ray.direction.as_dvec3().normalize_or_zero();
    let start = view.project(ray.origin.as_dvec3()).truncate().abs().max_element();
    let reach = 10.0 * (start + f64::from(WIDTH + HEIGHT)) / view.scale;
    ray.origin.as_dvec3() + direction * reach.copysign(f64::from(t))
}

/// Colour of a sphere as sRGB, 0…1: a hue of its own if a result contains it, otherwise pale grey.
fn tint(id: usize, is_met: bool) -> DVec3 {
    if !is_met {
        return DVec3::new(0.835, 0.855, 0.88);
    }
    // Successive ids differ by the golden angle in hue, so neighbouring ids have distinct colours.
    let hue = (id as f64 * 0.381_966).fract() * std::f64::consts::TAU;
    DVec3::from_array([0.0, 1.0, 2.0].map(|third| 0.73 + 0.17 * (hue + third * std::f64::consts::TAU / 3.0).cos()))
}

/// An sRGB colour, 0…1, in hexadecimal.
fn hex(color: DVec3) -> u32 {
    color.to_array().iter().fold(0, |hex, part| hex << 8 | (255.0 * part).round() as u32)
}
