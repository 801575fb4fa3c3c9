//! `--plot`: a picture of a query, for people who ask why a ray met what it met: spheres, rays, and where they meet.

mod canvas;
mod sample;
mod view;

use std::path::Path;

use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};
use umbracast::files::{check_target, write_whole};
use umbracast::glam::{DVec2, DVec3, Vec3};
use umbracast::{Approach, Error, Hit, Interval, Ray, Rays, Result, Sphere};

use super::describe::Described;
use canvas::{Canvas, HEIGHT, Pen, WIDTH, color};
use sample::{Mark, Sample};
use view::{View, along};

/// Spheres drawn at most; of more, every so many.
const MOST_SPHERES: usize = 200_000;
/// As many spheres or rays are few: they are named by their numbers.
const FEW: usize = 24;

const HIT: u32 = 0xd6_336c;
const RAY: u32 = 0x2b_5fb3;
const MISS: u32 = 0x8a_929c;
const DARK: u32 = 0xc2_5a00;
const PASS: u32 = 0x6f_42c1;
const INK: u32 = 0x23_2a33;

/// What colours mean: a word, the colour, and whether it is a line or a spot.
pub(crate) type Legend = &'static [(&'static str, u32, bool)];

/// What a plot can show of an answer.
pub(crate) trait Plotted {
    fn mark(&self) -> Marked;
    const LEGEND: Legend;
}

/// An answer, as a plot sees it.
pub(crate) struct Marked(Mark);

impl Plotted for Hit {
    fn mark(&self) -> Marked {
        Marked(if self.is_hit() { Mark::Hit { t: self.t, id: self.id } } else { Mark::Miss })
    }
    const LEGEND: Legend = &[("ray that hits", RAY, true), ("hit", HIT, false), ("ray that misses", MISS, true)];
}

impl Plotted for Described {
    fn mark(&self) -> Marked {
        self.hit.mark()
    }
    const LEGEND: Legend = Hit::LEGEND;
}

impl Plotted for bool {
    fn mark(&self) -> Marked {
        Marked(if *self { Mark::Occluded } else { Mark::Miss })
    }
    const LEGEND: Legend = &[("occluded ray", DARK, true), ("free ray", MISS, true)];
}

impl Plotted for u32 {
    fn mark(&self) -> Marked {
        Marked(if *self > 0 { Mark::Occluded } else { Mark::Miss })
    }
    const LEGEND: Legend = &[("ray that meets any", DARK, true), ("ray that meets none", MISS, true)];
}

impl Plotted for Interval {
    fn mark(&self) -> Marked {
        let Self { t_enter, t_exit, id } = *self;
        Marked(if self.is_hit() { Mark::Inside { t_enter, t_exit, id } } else { Mark::Miss })
    }
    const LEGEND: Legend = &[
        ("ray that hits", RAY, true),
        ("inside its sphere", HIT, true),
        ("t_enter, t_exit", HIT, false),
        ("ray that misses", MISS, true),
    ];
}

impl Plotted for Approach {
    fn mark(&self) -> Marked {
        let Self { t, clearance, id } = *self;
        Marked(if *self == Self::NONE { Mark::Miss } else { Mark::Pass { t, clearance, id } })
    }
    const LEGEND: Legend =
        &[("ray", RAY, true), ("nearest pass", PASS, false), ("clearance to the surface", PASS, true)];
}

/// A plot to be, and what it will show.
pub(crate) struct Plot<'a> {
    path: &'a Path,
    sample: Sample,
    legend: Legend,
}

impl<'a> Plot<'a> {
    /// Checks, before any work, that a plot can be written.
    pub(crate) fn new(path: &'a Path, others: &[&Path], legend: Legend) -> Result<Self> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        if extension.as_deref() != Some("png") {
            let message = "a plot is a picture: expected a name that ends in .png".into();
            return Err(Error::BadFile { path: path.into(), message });
        }
        let target = check_target(path)?;
        for other in others {
            if std::fs::canonicalize(other).is_ok_and(|other| other == target) {
                let message = "is a file of this cast already: the plot would replace it".into();
                return Err(Error::BadFile { path: path.into(), message });
            }
        }
        Ok(Self { path, sample: Sample::new(), legend })
    }

    /// Looks at a part of the rays and its answers.
    pub(crate) fn look<T: Plotted>(&mut self, rays: Rays<'_>, answers: &[T]) {
        for i in self.sample.wanted(answers.len()).collect::<Vec<_>>() {
            if let Some(ray) = rays.ray(i).filter(|ray| ray.check().is_ok()) {
                self.sample.keep(self.sample.seen + i as u64, ray, answers[i].mark().0);
            }
        }
        self.sample.seen += answers.len() as u64;
    }

    /// Draws and writes the picture; says what is in it, where that is not everything.
    pub(crate) fn write(&self, spheres: &[Sphere]) -> Result<String> {
        let canvas = self.draw(spheres)?;
        write_whole(self.path, |out| {
            PngEncoder::new_with_quality(out, CompressionType::Default, FilterType::Adaptive)
                .write_image(&canvas.srgb8(), WIDTH as u32, HEIGHT as u32, ExtendedColorType::Rgb8)
                .map_err(std::io::Error::other)
        })?;
        Ok(self.shown(spheres.len()))
    }

    fn shown(&self, spheres: usize) -> String {
        let part = |shown: usize, all: u64, what: &str| {
            if shown as u64 == all { format!("{all} {what}") } else { format!("{shown} of {all} {what}") }
        };
        let drawn = spheres.div_ceil(spheres.div_ceil(MOST_SPHERES).max(1));
        let rays = part(self.sample.kept.len(), self.sample.seen, "rays");
        format!("{}, {rays}", part(drawn, spheres as u64, "spheres"))
    }

    fn draw(&self, spheres: &[Sphere]) -> Result<Canvas> {
        let mut canvas = Canvas::new()?;
        let sample = &self.sample.kept;
        let view = View::fit(spheres, sample);
        let mut met: Vec<u32> = sample.iter().filter_map(|(.., mark)| mark.id()).collect();
        met.sort_unstable();
        met.dedup();
        let every = spheres.len().div_ceil(MOST_SPHERES).max(1);
        for (id, sphere) in spheres.iter().enumerate().step_by(every) {
            let is_met = met.binary_search(&(id as u32)).is_ok();
            canvas.ball(view.see(sphere.center.as_dvec3()), f64::from(sphere.radius) * view.scale, tint(id, is_met));
        }
        // What is drawn last is seen best.
        for (_, ray, mark) in sample.iter().filter(|(.., mark)| *mark == Mark::Miss) {
            self.ray(&mut canvas, &view, ray, *mark, spheres);
        }
        for (_, ray, mark) in sample.iter().filter(|(.., mark)| *mark != Mark::Miss) {
            self.ray(&mut canvas, &view, ray, *mark, spheres);
        }
        for (_, ray, mark) in sample {
            self.spots(&mut canvas, &view, ray, *mark);
        }
        self.names(&mut canvas, &view, spheres);
        self.legend(&mut canvas, &view, spheres.len());
        Ok(canvas)
    }

    /// The line of a ray, as far as it is cast.
    fn ray(&self, canvas: &mut Canvas, view: &View, ray: &Ray, mark: Mark, spheres: &[Sphere]) {
        let count = self.sample.kept.len() as f32;
        let alpha = (9.0 / count.sqrt()).clamp(0.25, 1.0);
        let pen = |hex: u32, alpha: f32| Pen {
            color: color(hex),
            width: if count < 100.0 { 1.7 } else { 1.2 },
            alpha,
            behind: 0.16,
        };
        let mut line = |from: f32, to: f32, pen: Pen| {
            let [from, to] = [from, to].map(|t| view.see(far_along(ray, t, view)));
            canvas.line(from, to, pen);
        };
        match mark {
            Mark::Hit { t, .. } => line(ray.t_min, t, pen(RAY, alpha)),
            Mark::Inside { t_enter, t_exit, .. } => {
                line(ray.t_min, t_enter.max(ray.t_min), pen(RAY, alpha));
                line(t_enter, t_exit, Pen { behind: 0.6, width: 2.4, ..pen(HIT, alpha) });
            }
            Mark::Pass { t, clearance, id } => {
                line(ray.t_min, ray.t_max, pen(RAY, 0.7 * alpha));
                if let Some(sphere) = spheres.get(id as usize).filter(|_| clearance > 0.0) {
                    let (at, center) = (along(ray, t), sphere.center.as_dvec3());
                    let surface = center + (at - center).normalize_or_zero() * f64::from(sphere.radius);
                    canvas.line(view.see(at), view.see(surface), Pen { behind: 0.4, ..pen(PASS, alpha) });
                }
            }
            Mark::Occluded => line(ray.t_min, ray.t_max, pen(DARK, alpha)),
            Mark::Miss => line(ray.t_min, ray.t_max, pen(MISS, 0.5 * alpha)),
        }
    }

    /// Where a ray begins, and where it meets what it meets.
    fn spots(&self, canvas: &mut Canvas, view: &View, ray: &Ray, mark: Mark) {
        let many = self.sample.kept.len() > 100;
        let (small, large) = if many { (0.9, 1.8) } else { (2.2, 3.6) };
        let alpha = if many { 0.75 } else { 1.0 };
        let mut spot = |t: f32, hex: u32, radius: f64| {
            if t.is_finite() {
                let rim = if hex == INK { 0.0 } else { 1.2 };
                canvas.spot(view.see(along(ray, t)), radius, rim, color(hex), alpha);
            }
        };
        spot(ray.t_min, INK, small);
        match mark {
            Mark::Hit { t, .. } => spot(t, HIT, large),
            Mark::Inside { t_enter, t_exit, .. } => {
                spot(t_enter, HIT, large);
                spot(t_exit, HIT, 0.75 * large);
            }
            Mark::Pass { t, .. } => spot(t, PASS, large),
            Mark::Occluded | Mark::Miss => {}
        }
    }

    /// Few spheres and few rays have their numbers beside them.
    fn names(&self, canvas: &mut Canvas, view: &View, spheres: &[Sphere]) {
        if spheres.len() <= FEW {
            for (id, sphere) in spheres.iter().enumerate() {
                let at = view.see(sphere.center.as_dvec3());
                let text = id.to_string();
                let middle = DVec2::new(Canvas::text_width(&text) / 2.0, 6.0);
                canvas.text(&text, at.truncate() - middle, color(INK));
            }
        }
        if self.sample.seen <= FEW as u64 {
            // Rays that begin together share a place for their numbers.
            let mut places: Vec<(DVec2, String)> = Vec::new();
            for (number, ray, _) in self.sample.kept.iter().filter(|(_, ray, _)| ray.t_min.is_finite()) {
                // On the side from which the ray comes, where it is not.
                let ahead = view.axis(ray.direction.as_dvec3().normalize_or_zero());
                let at = view.see(along(ray, ray.t_min)).truncate() - 16.0 * ahead.normalize_or_zero();
                match places.iter_mut().find(|(place, _)| (*place - at).length() < 10.0) {
                    Some((_, numbers)) => *numbers += &format!(",{number}"),
                    None => places.push((at, number.to_string())),
                }
            }
            for (at, numbers) in places {
                canvas.text(&numbers, at - DVec2::new(Canvas::text_width(&numbers) / 2.0, 6.0), color(RAY));
            }
        }
    }

    /// What the colours mean, how long a length is, where the axes point.
    fn legend(&self, canvas: &mut Canvas, view: &View, spheres: usize) {
        let (ink, mut at) = (color(INK), DVec2::new(24.0, HEIGHT as f64 - 36.0));
        let over = |at: DVec2| at.extend(f64::from(f32::MAX));
        for (words, hex, is_line) in self.legend {
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
        canvas.text(&self.shown(spheres), DVec2::new(24.0, HEIGHT as f64 - 62.0), ink);

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

/// The point at `t`; of a line without an end one that is certainly outside the picture.
fn far_along(ray: &Ray, t: f32, view: &View) -> DVec3 {
    if t.is_finite() {
        return along(ray, t);
    }
    let direction = ray.direction.as_dvec3().normalize_or_zero();
    let start = view.see(ray.origin.as_dvec3()).truncate().abs().max_element();
    let reach = 10.0 * (start + (WIDTH + HEIGHT) as f64) / view.scale;
    ray.origin.as_dvec3() + direction * reach.copysign(f64::from(t))
}

/// A sphere's colour: of its own where a ray is about it, pale where none is.
fn tint(id: usize, is_met: bool) -> Vec3 {
    if !is_met {
        return color(0xd5_dae0);
    }
    // Hues a golden angle apart differ from their neighbours'.
    let hue = (id as f32 * 0.381_966).fract() * std::f32::consts::TAU;
    let part = |shift: f32| 0.52 + 0.24 * (hue + shift).cos();
    let third = std::f32::consts::TAU / 3.0;
    Vec3::new(part(0.0), part(third), part(2.0 * third))
}

/// The largest of 1, 2 and 5 times a power of ten that is not above.
fn round_length(most: f64) -> f64 {
    let power = 10.0_f64.powf(most.log10().floor());
    [5.0, 2.0, 1.0].map(|part| part * power).into_iter().find(|length| *length <= most).unwrap_or(power)
}
