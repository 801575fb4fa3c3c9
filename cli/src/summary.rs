//! Summary of a cast: one line of text, or one JSON object.

use serde::Serialize;

use super::compare::Comparison;

/// The column with the spheres on whose surfaces the rays from points start.
#[derive(Debug)]
pub(crate) enum FromId {
    /// This column.
    Column(&'static str),
    /// None: the file has a column `id`, but it is not used.
    Unused(String),
}

/// The object that `--json` prints.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CastSummary<'a> {
    pub(crate) query: &'static str,
    pub(crate) precision: &'static str,
    pub(crate) device: &'a str,
    pub(crate) cpu: bool,
    pub(crate) spheres: usize,
    pub(crate) skipped_spheres: usize,
    pub(crate) rays: u64,
    pub(crate) rays_hit: u64,
    pub(crate) sphere_hits: Option<u64>,
    pub(crate) skipped: u64,
    pub(crate) overflowed: u64,
    pub(crate) resolved_exactly: u64,
    pub(crate) off_surface: u64,
    pub(crate) from_id: Option<&'static str>,
    /// Why a column `id` is not that of `from_id`.
    #[serde(skip)]
    pub(crate) unused_id: Option<String>,
    pub(crate) seconds: f64,
    pub(crate) mrays_per_second: Option<f64>,
    /// Number of values that rounding to f32 changed, the largest change, and its field.
    pub(crate) rounded: u64,
    pub(crate) largest_rounding: f64,
    pub(crate) rounded_field: Option<&'static str>,
    pub(crate) origin: Option<[f64; 3]>,
    pub(crate) output: Option<String>,
    pub(crate) plot: Option<String>,
    pub(crate) plot_shows: Option<&'a str>,
    pub(crate) compare: Option<&'a Comparison>,
}

impl CastSummary<'_> {
    pub(crate) fn line(&self) -> String {
        let mut line =
            format!("{}: {} spheres, {} rays, {} hits, ", self.device, self.spheres, self.rays, self.rays_hit);
        if let Some(sphere_hits) = self.sphere_hits {
            line += &format!("{sphere_hits} sphere hits in total, ");
        }
        line += &describe(self.seconds);
        if let Some(rate) = self.mrays_per_second {
            line += &format!(", {rate:.3} Mrays/s");
        }
        line += &counts([
            (self.skipped_spheres as u64, "bad spheres skipped"),
            (self.skipped, "bad rays skipped"),
            (self.overflowed, "rays miss only because t exceeds f32"),
            (self.resolved_exactly, "rays resolved by exact arithmetic"),
        ]);
        if let Some(name) = self.from_id {
            line += &format!("; rays start on the spheres of column {name}");
        }
        if let Some(why) = &self.unused_id {
            line += &format!("; column id is not used: {why}");
        }
        if let Some([x, y, z]) = self.origin {
            line += &format!("; origin {x},{y},{z}");
        }
        if let Some(field) = self.rounded_field {
            line += &format!(
                "; {} numbers rounded to f32, by at most {:.1e} ({field})",
                self.rounded, self.largest_rounding
            );
        }
        if let Some((path, shows)) = self.plot.as_ref().zip(self.plot_shows) {
            line += &format!("; {path} shows {shows}");
        }
        if let Some(comparison) = self.compare {
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
