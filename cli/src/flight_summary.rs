//! Summary of `umbracast bullets`: one line of text, or one JSON object.

use std::path::Path;

use serde::Serialize;
use umbracast::{Device, Flights, LegStatus, Precision, Report};

use super::compare::Reference;
use super::summary::counts;

/// Totals of the bullets so far.
#[derive(Default)]
pub(super) struct FlightTotals {
    pub(super) report: Report,
    inside: u64,
    ricochets: u64,
    pub(super) differ: u64,
}

impl FlightTotals {
    pub(super) fn add(&mut self, flights: &Flights) {
        self.report = self.report + flights.report;
        self.ricochets += flights.records.iter().filter(|leg| leg.is_hit()).count() as u64;
        let inside = flights.records.iter().filter(|leg| leg.status == LegStatus::StartedInside);
        self.inside += inside.count() as u64;
    }

    pub(super) fn summary<'a>(
        &self,
        device: &'a Device,
        (spheres, skipped_spheres): (usize, usize),
        (precision, with): (Precision, Option<Reference>),
        rounded: u64,
        output: Option<&'a Path>,
    ) -> FlightSummary<'a> {
        let Report { rays: bullets, rays_hit, skipped, overflowed, resolved_exactly, seconds, .. } = self.report;
        FlightSummary {
            device: device.name(),
            cpu: device.is_cpu(),
            precision: precision.word(),
            spheres,
            skipped_spheres,
            bullets,
            bullets_hit: rays_hit,
            missed: bullets - rays_hit - self.inside,
            started_inside: self.inside,
            ricochets: self.ricochets,
            skipped,
            overflowed,
            resolved_exactly,
            seconds,
            mbullets_per_second: (seconds > 0.0 && bullets > 0).then(|| bullets as f64 / seconds * 1e-6),
            rounded,
            output,
            differ: with.map(|_| self.differ),
            compared_with: with,
        }
    }
}

/// Summary: one line of text, or one JSON object.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FlightSummary<'a> {
    device: &'a str,
    cpu: bool,
    precision: &'static str,
    spheres: usize,
    skipped_spheres: usize,
    bullets: u64,
    bullets_hit: u64,
    missed: u64,
    started_inside: u64,
    /// Sum over all bullets.
    ricochets: u64,
    skipped: u64,
    /// Legs that miss only because their length exceeds the largest f32.
    overflowed: u64,
    /// Legs that exact arithmetic resolved.
    resolved_exactly: u64,
    /// Excludes reading and writing of files.
    seconds: f64,
    /// `None` without bullets or if the measured time is 0.
    mbullets_per_second: Option<f64>,
    /// Number of values that rounding to f32 changed.
    rounded: u64,
    /// `None` if `--compare` failed and the file was not written.
    output: Option<&'a Path>,
    /// Number of flights that differ from those of `compared_with`.
    differ: Option<u64>,
    compared_with: Option<Reference>,
}

impl FlightSummary<'_> {
    pub(super) fn line(&self) -> String {
        let mut line = format!(
            "{}: {} spheres, {} bullets: {} hit, {} missed, {} started inside; ",
            self.device, self.spheres, self.bullets, self.bullets_hit, self.missed, self.started_inside
        );
        line += &format!("{} ricochets, {:.3} ms", self.ricochets, 1e3 * self.seconds);
        if let Some(rate) = self.mbullets_per_second {
            line += &format!(", {rate:.3} Mbullets/s");
        }
        line += &counts([
            (self.skipped_spheres as u64, "bad spheres skipped"),
            (self.skipped, "bad bullets skipped"),
            (self.overflowed, "legs miss only because their length exceeds f32"),
            (self.resolved_exactly, "legs resolved by exact arithmetic"),
            (self.rounded, "numbers rounded to f32"),
        ]);
        if let Some((differ, with)) = self.differ.zip(self.compared_with) {
            line += &format!("; {differ} flights differ from those of {with}");
        }
        line
    }
}
