//! Drawing of a plot: the order of the layers, their colours and opacities.

use crate::error::Result;
use umbracast::Ray;
use umbracast::glam::{DVec2, DVec3, Vec3};

use super::body::Outline;
use super::canvas::{Canvas, HEIGHT, Pen, WIDTH, color};
use super::sample::{Beam, Mark, Sample};
use super::scenery::{Form, Scenery};
use super::view::{View, along};
use super::{DARK, HIT, INK, Legend, MISS, MOST_SPHERES, PASS, RAY};

/// Maximum number of spheres, and of rays, that are labelled with their ids.
const MAX_LABELLED: usize = 24;
/// Colour of the path of a sphere without hits.
const UNHIT_COLOR: u32 = 0x8f_99a5;

/// A picture and its content.
pub(super) struct Drawing<'a> {
    canvas: Canvas,
    view: View,
    scenery: Scenery<'a>,
    sample: &'a Sample,
    /// First and last time shown; `None` if no sphere moves.
    span: Option<[f64; 2]>,
    /// Ids and times of the spheres in the results of the rays, sorted.
    hits: Vec<(u32, f64)>,
}

impl<'a> Drawing<'a> {
    pub(super) fn new(scenery: Scenery<'a>, sample: &'a Sample) -> Result<Self> {
        let view = View::fit(&scenery, &sample.kept);
        let one = |beam: &'a Beam| beam.hits().map(move |(id, t)| (id, scenery.moment(beam, t)));
        let mut hits: Vec<(u32, f64)> = sample.kept.iter().flat_map(one).collect();
        hits.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        // Positions of a sphere at most 2 pixels apart are merged.
        let apart = |id: u32, time: f64| scenery.velocity(id as usize).length() * time.abs() * view.scale;
        hits.dedup_by(|next, kept| next.0 == kept.0 && apart(next.0, next.1 - kept.1) <= 2.0);
        let span = scenery.span(&sample.kept);
        Ok(Self { canvas: Canvas::new()?, view, scenery, sample, span, hits })
    }

    /// Draws everything. Later layers cover earlier ones.
    pub(super) fn drawn(mut self, legend: Legend, shown: &str) -> Canvas {
        if let Some(span) = self.moving_span() {
            self.draw_paths(span);
        }
        self.draw_bodies();
        let sample = self.sample;
        let misses = sample.kept.iter().filter(|beam| beam.mark == Mark::Miss);
        for beam in misses.chain(sample.kept.iter().filter(|beam| beam.mark != Mark::Miss)) {
            self.width(beam);
            self.line(beam);
        }
        for beam in &sample.kept {
            self.spots(beam);
        }
        self.names();
        self.legend(legend, shown);
        self.canvas
    }

    /// The time range of the paths of moving spheres; `None` for a single time.
    fn moving_span(&self) -> Option<[f64; 2]> {
        self.span.filter(|[from, to]| from < to)
    }

    fn every(&self) -> usize {
        self.scenery.len().div_ceil(MOST_SPHERES).max(1)
    }

    /// The times at which results contain a sphere.
    fn moments(&self, id: usize) -> &[(u32, f64)] {
        let begin = self.hits.partition_point(|hits| (hits.0 as usize) < id);
        &self.hits[begin..self.hits.partition_point(|hits| hits.0 as usize <= id)]
    }

    /// Draws the paths of moving spheres, from faint to strong.
    fn draw_paths(&mut self, span: [f64; 2]) {
        let moving = |id: &usize| self.scenery.velocity(*id) != DVec3::ZERO;
        let all: Vec<usize> = (0..self.scenery.len()).step_by(self.every()).filter(moving).collect();
        let many = (40.0 / (all.len() as f32).sqrt()).clamp(0.1, 1.0);
        for id in all {
            let ends = span.map(|time| self.scenery.at(id, time));
            let [Some((from, form)), Some((to, _))] = ends else { continue };
            let paint = if self.moments(id).is_empty() { color(UNHIT_COLOR) } else { tint(id, true) };
            let outline = self.view.body(&form).outline;
            let [from, to] = [from, to].map(|at| self.view.project(at));
            self.canvas.streak(from, to, &outline, paint, [0.05 * many, 0.38 * many]);
        }
    }

    /// Draws spheres at the times of their hits; without a hit, at the end of the time range.
    fn draw_bodies(&mut self) {
        let last = self.span.map_or(0.0, |[_, to]| to);
        for id in (0..self.scenery.len()).step_by(self.every()) {
            let moments = self.moments(id).to_vec();
            let is_met = !moments.is_empty();
            let times = if is_met { moments } else { vec![(id as u32, last)] };
            for (center, form) in times.into_iter().filter_map(|(_, time)| self.scenery.at(id, time)) {
                self.canvas.body(self.view.project(center), &self.view.body(&form), tint(id, is_met));
            }
        }
    }

    /// Opacity of rays: the more rays, the lower.
    fn alpha(&self) -> f32 {
        (9.0 / (self.sample.kept.len() as f32).sqrt()).clamp(0.25, 1.0)
    }

    /// Draws the area of a ray with a radius, up to its end.
    fn width(&mut self, beam: &Beam) {
        if beam.radius == 0.0 {
            return;
        }
        let (hex, end) = match beam.mark {
            Mark::Hit { t, .. } => (RAY, t),
            Mark::Inside(hits) => (RAY, hits.t_enter.max(beam.ray.t_min)),
            Mark::Through(_) | Mark::Pass { .. } => (RAY, beam.ray.t_max),
            Mark::Occluded => (DARK, beam.ray.t_max),
            Mark::Miss => (MISS, beam.ray.t_max),
        };
        let [from, to] = [beam.ray.t_min, end].map(|t| self.view.project(far_along(&beam.ray, t, &self.view)));
        let outline = Outline::round(f64::from(beam.radius) * self.view.scale);
        self.canvas.streak(from, to, &outline, color(hex), [0.16 * self.alpha(); 2]);
    }

    /// Draws the line of a ray up to its end, with its chords or its clearance.
    fn line(&mut self, beam: &Beam) {
        let Beam { ray, mark, .. } = beam;
        let alpha = self.alpha();
        let width = if self.sample.kept.len() < 100 { 1.7 } else { 1.2 };
        let pen = |hex: u32, alpha: f32| Pen { color: color(hex), width, alpha, behind: 0.16 };
        let (view, canvas) = (self.view, &mut self.canvas);
        let mut line = |from: f32, to: f32, pen: Pen| {
            let [from, to] = [from, to].map(|t| view.project(far_along(ray, t, &view)));
            canvas.line(from, to, pen);
        };
        match *mark {
            Mark::Hit { t, .. } => line(ray.t_min, t, pen(RAY, alpha)),
            Mark::Inside(hits) => line(ray.t_min, hits.t_enter.max(ray.t_min), pen(RAY, alpha)),
            Mark::Through(_) => line(ray.t_min, ray.t_max, pen(RAY, alpha)),
            Mark::Pass { .. } => line(ray.t_min, ray.t_max, pen(RAY, 0.7 * alpha)),
            Mark::Occluded => line(ray.t_min, ray.t_max, pen(DARK, alpha)),
            Mark::Miss => line(ray.t_min, ray.t_max, pen(MISS, 0.5 * alpha)),
        }
        for chord in mark.chords() {
            line(chord.t_enter, chord.t_exit, Pen { behind: 0.7, width: 2.0 * width, ..pen(HIT, alpha) });
        }
        if let Mark::Pass { t, clearance, id } = *mark
            && clearance > 0.0
            && let Some([mine, other]) = self.surfaces(beam, t, id)
        {
            let pen = Pen { behind: 0.4, ..pen(PASS, alpha) };
            self.canvas.line(self.view.project(mine), self.view.project(other), pen);
        }
    }

    /// The nearest points of the ball of a ray and of a sphere at `t`. `None` for an ellipsoid and for an unknown id.
    fn surfaces(&self, beam: &Beam, t: f32, id: u32) -> Option<[DVec3; 2]> {
        let (center, form) = self.scenery.at(id as usize, self.scenery.moment(beam, t))?;
        let Form::Ball(radius) = form else { return None };
        let at = along(&beam.ray, t);
        let apart = (center - at).normalize_or_zero();
        Some([at + apart * f64::from(beam.radius), center - apart * radius])
    }

    /// Draws dots at the start and at the hits of a ray.
    fn spots(&mut self, beam: &Beam) {
        let Beam { ray, mark, .. } = beam;
        let many = self.sample.kept.len() > 100;
        let (small, large) = if many { (0.9, 1.8) } else { (2.2, 3.6) };
        let alpha = if many { 0.75 } else { 1.0 };
        let view = self.view;
        let touched = match *mark {
            // A ray with a radius touches the sphere at a point next to its line.
            Mark::Hit { t, id } if beam.radius > 0.0 => self.surfaces(beam, t, id).map(|[_, other]| other),
            _ => None,
        };
        let mut spot = |t: f32, hex: u32, radius: f64| {
            if t.is_finite() {
                let rim = if hex == INK { 0.0 } else { 1.2 };
                let at = touched.filter(|_| hex == HIT).unwrap_or_else(|| along(ray, t));
                self.canvas.spot(view.project(at), radius, rim, color(hex), alpha);
            }
        };
        spot(ray.t_min, INK, small);
        match *mark {
            Mark::Hit { t, .. } => spot(t, HIT, large),
            Mark::Pass { t, .. } => spot(t, PASS, large),
            _ => {}
        }
        for chord in mark.chords() {
            spot(chord.t_enter, HIT, large);
            spot(chord.t_exit, HIT, 0.75 * large);
        }
    }

    /// Labels spheres and rays with their ids, if there are at most `MAX_LABELLED`.
    fn names(&mut self) {
        let last = self.span.map_or(0.0, |[_, to]| to);
        for id in (0..self.scenery.len()).filter(|_| self.scenery.len() <= MAX_LABELLED) {
            let time = self.moments(id).first().map_or(last, |hits| hits.1);
            let Some((center, form)) = self.scenery.at(id, time) else { continue };
            let (at, text) = (self.view.project(center), id.to_string());
            // The label of a hidden sphere would appear on the sphere that hides it.
            if self.canvas.is_hidden(at + DVec3::Z * self.view.body(&form).depth) {
                continue;
            }
            let middle = DVec2::new(Canvas::text_width(&text) / 2.0, 6.0);
            self.canvas.text(&text, at.truncate() - middle, color(INK));
        }
        if self.sample.seen <= MAX_LABELLED as u64 {
            // Rays that start close together share a label.
            let mut places: Vec<(DVec2, String)> = Vec::new();
            for Beam { number, ray, .. } in self.sample.kept.iter().filter(|beam| beam.ray.t_min.is_finite()) {
                // The label is behind the start of the ray, so the ray does not cover it.
                let ahead = self.view.axis(ray.direction.as_dvec3().normalize_or_zero());
                let at = self.view.project(along(ray, ray.t_min)).truncate() - 16.0 * ahead.normalize_or_zero();
                match places.iter_mut().find(|(place, _)| (*place - at).length() < 10.0) {
                    Some((_, numbers)) => *numbers += &format!(",{number}"),
                    None => places.push((at, number.to_string())),
                }
            }
            for (at, numbers) in places {
                self.canvas.text(&numbers, at - DVec2::new(Canvas::text_width(&numbers) / 2.0, 6.0), color(RAY));
            }
        }
    }

    /// Draws the legend of the colours, the summary, the axes and the scale.
    fn legend(&mut self, legend: Legend, shown: &str) {
        let moving_span = self.moving_span().is_some();
        let (view, canvas) = (self.view, &mut self.canvas);
        let (ink, mut at) = (color(INK), DVec2::new(24.0, HEIGHT as f64 - 36.0));
        let over = |at: DVec2| at.extend(f64::from(f32::MAX));
        for (words, hex, is_line) in legend {
            let middle = at + DVec2::new(14.0, 6.0);
            if *is_line {
                let pen = Pen { color: color(*hex), width: 3.0, alpha: 0.9, behind: 1.0 };
                canvas.line(over(middle - DVec2::X * 14.0), over(middle + DVec2::X * 14.0), pen);
            } else {
                canvas.spot(over(middle), 5.0, 1.2, color(*hex), 1.0);
            }
            canvas.text(words, at + DVec2::new(38.0, 0.0), ink);
            at.x += 38.0 + Canvas::text_width(words) + 36.0;
        }
        if moving_span {
            let (from, to) = (at + DVec2::new(6.0, 6.0), at + DVec2::new(30.0, 6.0));
            canvas.streak(over(from), over(to), &Outline::round(6.0), color(UNHIT_COLOR), [0.05, 0.6]);
            canvas.text("path of a sphere over time", at + DVec2::new(46.0, 0.0), ink);
        }
        canvas.text(shown, DVec2::new(24.0, HEIGHT as f64 - 62.0), ink);

        let foot = DVec2::new(72.0, 60.0);
        for (axis, name, hex) in [(DVec3::X, "x", 0xb3_2d2d), (DVec3::Y, "y", 0x2f_7d32), (DVec3::Z, "z", 0x1f_4fa3)] {
            let tip = foot + 40.0 * view.axis(axis);
            let pen = Pen { color: color(hex), width: 2.6, alpha: 1.0, behind: 1.0 };
            canvas.line(over(foot), over(tip), pen);
            let name_at = foot + 52.0 * view.axis(axis) - DVec2::new(6.0, 6.0);
            canvas.text(name, name_at, color(hex));
        }
        let length = round_length(160.0 / view.scale);
        let (from, wide) = (DVec2::new(150.0, 36.0), length * view.scale);
        let pen = Pen { color: ink, width: 2.0, alpha: 1.0, behind: 1.0 };
        canvas.line(over(from), over(from + DVec2::X * wide), pen);
        for end in [from, from + DVec2::X * wide] {
            canvas.line(over(end - DVec2::Y * 5.0), over(end + DVec2::Y * 5.0), pen);
        }
        let text = if (1e-3..1e6).contains(&length) { format!("{length}") } else { format!("{length:e}") };
        canvas.text(&text, from + DVec2::new((wide - Canvas::text_width(&text)) / 2.0, 10.0), ink);
    }
}

/// The point of a ray at `t`. For an infinite `t`, a point that is certainly outside the picture.
fn far_along(ray: &Ray, t: f32, view: &View) -> DVec3 {
    if t.is_finite() {
        return along(ray, t);
    }
    let direction = ray.direction.as_dvec3().normalize_or_zero();
    let start = view.project(ray.origin.as_dvec3()).truncate().abs().max_element();
    let reach = 10.0 * (start + (WIDTH + HEIGHT) as f64) / view.scale;
    ray.origin.as_dvec3() + direction * reach.copysign(f64::from(t))
}

/// Colour of a sphere: a hue of its own if a result contains it, otherwise pale grey.
fn tint(id: usize, is_met: bool) -> Vec3 {
    if !is_met {
        return color(0xd5_dae0);
    }
    // Successive ids differ by the golden angle in hue, so neighbouring ids have distinct colours.
    let hue = (id as f32 * 0.381_966).fract() * std::f32::consts::TAU;
    let part = |shift: f32| 0.52 + 0.24 * (hue + shift).cos();
    let third = std::f32::consts::TAU / 3.0;
    Vec3::new(part(0.0), part(third), part(2.0 * third))
}

/// The largest number <= `most` of the form 1, 2 or 5 times a power of ten.
fn round_length(most: f64) -> f64 {
    let power = 10.0_f64.powf(most.log10().floor());
    [5.0, 2.0, 1.0].map(|part| part * power).into_iter().find(|length| *length <= most).unwrap_or(power)
}
