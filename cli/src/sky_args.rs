//! Command-line arguments of the commands about eclipses: the conventions that change their results.

use clap::Args;
use umbracast::sky::{DeltaT, Radii, SkyOptions};

use super::args::words;

/// Conventions for eclipses.
#[derive(Debug, Args)]
#[command(next_help_heading = "Conventions")]
pub(crate) struct SkyArgs {
    /// Radii of Sun and Moon
    #[arg(long, default_value = "iau", value_parser = words([
        ("iau", "Sun 695,700 km, Moon 1,737.4 km", Radii::Iau),
        ("nasa", "those of NASA's Five Millennium Canon", Radii::Nasa),
    ]))]
    radii: Radii,
    /// TT - UT1 in seconds, at most 10,000 [default: a table, extrapolated after 2027]
    #[arg(long, value_name = "SECONDS", value_parser = delta_t, allow_negative_numbers = true)]
    delta_t: Option<f64>,
}

fn delta_t(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds.abs() <= 10_000.0 => Ok(seconds),
        _ => Err("expected a number of seconds from -10000 to 10000".into()),
    }
}

impl SkyArgs {
    pub(crate) fn options(&self) -> SkyOptions {
        let delta_t = self.delta_t.map_or(DeltaT::Table, DeltaT::Seconds);
        SkyOptions { delta_t, radii: self.radii, ..SkyOptions::default() }
    }
}
