//! `--plot`: a picture of spheres, rays and hits, for debugging of a query.

mod balls;
mod draw;
mod sample;
mod scenery;
mod view;

use std::path::Path;

use crate::error::{Error, Result};
use draw::Picture;
pub(crate) use sample::Mark;
use sample::{Beam, Sample};
use scenery::Scenery;
use umbracast::glam::DVec3;
use umbracast::{Motion, Rays, Sphere};
use umbracast_files::{OptionalColumns, PreparedFile, Table, check_target, prepare_atomic};

use super::outputs::overwrites;

/// Maximum number of spheres drawn. If there are more, every nth is drawn.
const MOST_SPHERES: usize = 200_000;

pub(crate) const HIT: u32 = 0xd6_336c;
pub(crate) const RAY: u32 = 0x2b_5fb3;
pub(crate) const MISS: u32 = 0x8a_929c;
pub(crate) const DARK: u32 = 0xc2_5a00;
pub(crate) const PASS: u32 = 0x6f_42c1;
const INK: u32 = 0x23_2a33;

/// Legend: text, colour, and whether the symbol is a line (otherwise a dot).
pub(crate) type Legend = &'static [(&'static str, u32, bool)];

/// Legend for hit lists.
pub(crate) const LISTED: Legend = &[
    ("ray that hits", RAY, true),
    ("inside a sphere", HIT, true),
    ("t_enter, t_exit", HIT, false),
    ("ray that misses", MISS, true),
];

/// A plot: its path, and the rays and results collected for it.
pub(crate) struct Plot<'a> {
    path: &'a Path,
    sample: Sample,
    legend: Legend,
}

impl<'a> Plot<'a> {
    /// Checks, before any work, that a plot can be written to `path`, and that it would not replace a file in `others`.
    pub(crate) fn new(path: &'a Path, others: &[&Path], legend: Legend) -> Result<Self> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        if !matches!(extension.as_deref(), Some("png" | "svg")) {
            let message = "cannot write a plot in this format: supported is .png and .svg";
            return Err(umbracast_files::Error::bad_output(path, message).into());
        }
        let target = [check_target(path)?];
        if others.iter().any(|other| overwrites(&target, other)) {
            let message = "is also an input or output of this cast: the plot would overwrite it";
            return Err(Error::bad_file(path, message));
        }
        Ok(Self { path, sample: Sample::new(), legend })
    }

    /// Adds rays with the marks of their results. `optional` has the optional columns of the rays and the row of the first ray.
    pub(crate) fn add(
        &mut self,
        rays: Rays<'_>,
        optional: Option<(&OptionalColumns, usize)>,
        mark: impl Fn(usize) -> Mark,
    ) {
        let count = rays.len();
        for i in self.sample.is_selected(count).collect::<Vec<_>>() {
            if let Some(ray) = rays.ray(i).filter(|ray| ray.check().is_ok()) {
                let column = |column: fn(&OptionalColumns) -> Option<&Vec<f32>>| {
                    let (optional, begin) = optional?;
                    // Rays with invalid values were skipped.
                    column(optional)?.get(begin + i).copied().filter(|value| value.is_finite())
                };
                let time = column(|optional| optional.times.as_ref()).unwrap_or(0.0);
                let radius = column(|optional| optional.radii.as_ref()).unwrap_or(0.0).max(0.0);
                self.sample.keep(Beam { number: self.sample.seen + i as u64, ray, time, radius, mark: mark(i) });
            }
        }
        self.sample.seen += count as u64;
    }

    /// Draws the picture and writes the file, which appears under its name only by [`PreparedFile`]. Also returns a description of the
    /// content: the number of spheres and rays drawn, and the origin that was subtracted from coordinates, as on the axes.
    pub(crate) fn write(
        &self,
        spheres: &Table<Sphere>,
        motion: Motion,
        range: [f32; 2],
        origin: DVec3,
    ) -> Result<(String, PreparedFile)> {
        let scenery = Scenery::new(spheres, motion, range);
        let mut shown = self.shown(&scenery);
        if origin != DVec3::ZERO {
            shown += &format!(", relative to {},{},{}", origin.x, origin.y, origin.z);
        }
        let drawing = Picture::new(scenery, &self.sample)?.drawn(self.legend, &shown);
        let ready = prepare_atomic(self.path, |out| drawing.write(self.path, out))?;
        Ok((shown, ready))
    }

    fn shown(&self, scenery: &Scenery<'_>) -> String {
        let part = |shown: usize, all: u64, what: &str| {
            if shown as u64 == all { format!("{all} {what}") } else { format!("{shown} of {all} {what}") }
        };
        let spheres = scenery.len();
        let every = spheres.div_ceil(MOST_SPHERES).max(1);
        let is_skipped = |id: &usize| scenery.is_skipped(*id);
        let drawn = (0..spheres).step_by(every).filter(|id| !is_skipped(id)).count();
        let spheres = spheres - (0..spheres).filter(is_skipped).count();
        let rays = part(self.sample.kept.len(), self.sample.seen, "rays");
        let when = match scenery.span(&self.sample.kept).map(|span| span.map(|time| time as f32)) {
            None => String::new(),
            Some([from, to]) if from == to => format!(" at time {from}"),
            Some([from, to]) => format!(" from time {from} to {to}"),
        };
        format!("{}{when}, {rays}", part(drawn, spheres as u64, scenery.word()))
    }
}
