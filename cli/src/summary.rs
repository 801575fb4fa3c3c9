//! Summary of a cast: one line of text, or one JSON object.

use std::path::Path;

use serde::Serialize;
use umbracast::glam::DVec3;
use umbracast::{Device, Report};
use umbracast_files::Rounding;

use super::compare::Comparison;

/// Data of the summary.
pub(crate) struct CastSummary<'a> {
    pub(crate) query: &'static str,
    pub(crate) precision: &'static str,
    pub(crate) device: &'a Device,
    pub(crate) spheres: usize,
    pub(crate) skipped_spheres: usize,
    pub(crate) report: &'a Report,
    /// Number of spheres hit by all rays, for queries that count or list them.
    pub(crate) sphere_hits: Option<u64>,
    /// Rounding of spheres and rays.
    pub(crate) rounding: Rounding,
    pub(crate) origin: Option<DVec3>,
    /// The column of the spheres on whose surfaces the rays start, or why a column `id` is not.
    pub(crate) from_id: Option<FromId>,
    /// `None` if `--compare` failed and the file was not written.
    pub(crate) output: Option<&'a Path>,
    /// The plot, and a description of its content.
    pub(crate) plot: Option<(&'a Path, &'a str)>,
    pub(crate) comparison: Option<&'a Comparison>,
}

/// The column with the spheres on whose surfaces the rays from points start.
#[derive(Debug)]
pub(crate) enum FromId {
    /// This column.
    Column(&'static str),
    /// None: the file has a column `id`, but it is not used.
    Unused(String),
}

impl FromId {
    fn column(&self) -> Option<&'static str> {
        match self {
            Self::Column(name) => Some(name),
            Self::Unused(_) => None,
        }
    }
}

/// The object that `--json` prints.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Json<'a> {
    query: &'static str,
    precision: &'static str,
    device: &'a str,
    cpu: bool,
    spheres: usize,
    skipped_spheres: usize,
    rays: u64,
    rays_hit: u64,
    sphere_hits: Option<u64>,
    skipped: u64,
    overflowed: u64,
    resolved_exactly: u64,
    off_surface: u64,
    from_id: Option<&'static str>,
    seconds: f64,
    mrays_per_second: Option<f64>,
    /// Number of values that rounding to f32 changed, the largest change, and its field.
    rounded: u64,
    largest_rounding: f64,
    rounded_field: Option<&'static str>,
    origin: Option<[f64; 3]>,
    output: Option<String>,
    plot: Option<String>,
    plot_shows: Option<&'a str>,
    compare: Option<&'a Comparison>,
}

impl CastSummary<'_> {
    /// `None` if the measured time is 0.
    fn mrays_per_second(&self) -> Option<f64> {
        (self.report.seconds > 0.0).then(|| self.report.rays as f64 / self.report.seconds * 1e-6)
    }

    pub(crate) fn json(&self) -> Json<'_> {
        let Report { rays, rays_hit, skipped, overflowed, resolved_exactly, off_surface, seconds, .. } = *self.report;
        Json {
            query: self.query,
            precision: self.precision,
            device: self.device.name(),
            cpu: self.device.is_cpu(),
            spheres: self.spheres,
            skipped_spheres: self.skipped_spheres,
            rays,
            rays_hit,
            sphere_hits: self.sphere_hits,
            skipped,
            overflowed,
            resolved_exactly,
            off_surface,
            from_id: self.from_id.as_ref().and_then(FromId::column),
            seconds,
            mrays_per_second: self.mrays_per_second(),
            rounded: self.rounding.changed,
            largest_rounding: self.rounding.largest,
            rounded_field: (self.rounding.changed > 0).then_some(self.rounding.field),
            origin: self.origin.map(|o| o.to_array()),
            output: self.output.map(|path| path.display().to_string()),
            plot: self.plot.map(|(path, _)| path.display().to_string()),
            plot_shows: self.plot.map(|(_, shows)| shows),
            compare: self.comparison,
        }
    }

    pub(crate) fn line(&self) -> String {
        let report = self.report;
        let mut line = format!(
            "{}: {} spheres, {} rays, {} hits, ",
            self.device.name(),
            self.spheres,
            report.rays,
            report.rays_hit
        );
        if let Some(sphere_hits) = self.sphere_hits {
            line += &format!("{sphere_hits} sphere hits in total, ");
        }
        line += &describe(report.seconds);
        if let Some(rate) = self.mrays_per_second() {
            line += &format!(", {rate:.3} Mrays/s");
        }
        line += &counts([
            (self.skipped_spheres as u64, "bad spheres skipped"),
            (report.skipped, "bad rays skipped"),
            (report.overflowed, "rays miss only because t exceeds f32"),
            (report.resolved_exactly, "rays resolved by exact arithmetic"),
        ]);
        match &self.from_id {
            Some(FromId::Column(name)) => line += &format!("; rays start on the spheres of column {name}"),
            Some(FromId::Unused(why)) => line += &format!("; column id is not used: {why}"),
            None => {}
        }
        if let Some(origin) = self.origin {
            line += &format!("; origin {},{},{}", origin.x, origin.y, origin.z);
        }
        let Rounding { changed, largest, field, .. } = self.rounding;
        if changed > 0 {
            line += &format!("; {changed} numbers rounded to f32, by at most {largest:.1e} ({field})");
        }
        if let Some((path, shows)) = self.plot {
            line += &format!("; {} shows {shows}", path.display());
        }
        if let Some(comparison) = self.comparison {
            line += &format!("; {comparison}");
        }
        line
    }
}

/// Formats seconds with three decimals, in ms or s.
fn describe(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.3} ms", 1e3 * seconds) } else { format!("{seconds:.3} s") }
}

/// The counts above 0 with their descriptions, each after a comma.
pub(super) fn counts<const N: usize>(counted: [(u64, &str); N]) -> String {
    counted.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!(", {count} {what}")).collect()
}

/// A number and what it counts, with an s unless it is one.
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
