//! `umbracast system`: a system file of the sky at an instant.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use umbracast::io::{check_output, read_places, write_atomic};
use umbracast::shadow::System;
use umbracast::sky::{DatePrecision, SkyBody, View};
use umbracast::{Error, Result};

use super::{Conventions, SkyArgs, csv_row, no_eclipse};
use crate::args::SummaryArgs;
use crate::print_summary;

const EXAMPLES: &str = "\
DATE is an instant, 2024-04-08T18:17:20Z, or the day of an eclipse, for the greatest eclipse. Times are UTC, and UT1
before 1972; dates are from 1900 to 2050. Positions are apparent: light time and aberration are included. They are in
km and in axes that rotate with the Earth: x through 0 N 0 E, z through the north pole.

With --places, the places of FILE.csv (columns latitude, longitude, optional height_m) are also written as observers
for `umbracast shadow`, in the same axes.

Examples:
  umbracast system 2024-04-08 -o eclipse.toml
  umbracast system 2026-08-12T17:46:00Z --view moon -o moon.toml
  umbracast system 2024-04-08 --places places.csv --observers observers.csv -o eclipse.toml
  umbracast shadow observers.csv eclipse.toml -o seen.csv

Exit codes: 0 done, 2 bad usage or input, 5 reading or writing failed.";

/// Write a system file with the bodies of the solar system at an instant, for `render` and `shadow`
#[derive(Debug, Args)]
#[command(after_long_help = crate::args::paragraphs(EXAMPLES), after_help = "`umbracast system --help` explains dates and files, and gives examples.")]
pub(crate) struct SystemArgs {
    /// An instant, or the day of an eclipse
    date: String,
    /// Bodies: sun, earth, moon, mercury, venus, mars, jupiter, saturn, uranus, neptune
    #[arg(long, value_name = "NAMES", default_value = "sun,earth,moon")]
    bodies: String,
    /// Camera: moon, sun, earth, above or LAT,LON[,HEIGHT]; see `umbracast eclipse --help`
    #[arg(long, allow_hyphen_values = true)]
    view: Option<String>,
    /// Output file: .toml
    #[arg(short, long, value_name = "TOML")]
    output: PathBuf,
    /// Places to write as observers
    #[arg(long, value_name = "FILE.csv", requires = "observers")]
    places: Option<PathBuf>,
    /// Output file of the observers: .csv
    #[arg(long, value_name = "OUT.csv", requires = "places")]
    observers: Option<PathBuf>,
    #[command(flatten)]
    sky: SkyArgs,
    #[command(flatten)]
    summary: SummaryArgs,
}

pub(crate) fn run(args: &SystemArgs) -> Result<()> {
    let has = |path: &Path, wanted: &str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(wanted));
    for (path, extension) in [(Some(&args.output), "toml"), (args.observers.as_ref(), "csv")] {
        if let Some(path) = path.filter(|path| !has(path, extension)) {
            let message = format!("cannot write this format: the extension must be .{extension}");
            return Err(Error::BadFile { path: path.clone(), message });
        }
    }
    let sky = args.sky.sky();
    let bodies = args.bodies.split(',').map(SkyBody::from_name).collect::<Result<Vec<_>>>()?;
    let view = args.view.as_deref().map(View::parse).transpose()?;
    let (time, precision) = sky.parse_time(&args.date)?;
    let time = match precision {
        DatePrecision::Instant => time,
        DatePrecision::Day => match sky.eclipse_on(time)? {
            Some(eclipse) => eclipse.greatest(),
            None => {
                let (text, _) = no_eclipse(&sky, time, "eclipse", |_| true)?;
                return Err(Error::Usage(format!(
                    "{text}; for another instant, give its time: {}T12:00:00Z",
                    args.date
                )));
            }
        },
    };
    let text = sky.system_toml(time, &bodies, view, [1920, 1080])?;
    // The checks of every system file: for example, no body may touch the light.
    System::parse(&text, &args.output)?;
    let mut observers = 0;
    if let (Some(places), Some(output)) = (&args.places, &args.observers) {
        check_output(output, &[places])?;
        let list = read_places(places)?;
        observers = list.len();
        let mut rows = csv_row(&["x", "y", "z"].map(String::from));
        for (_, place) in &list {
            let position = place.earth_fixed_km();
            rows += &csv_row(&position.to_array().map(|number| format!("{number:?}")));
        }
        write_atomic(output, |out| out.write_all(rows.as_bytes()))?;
    }
    write_atomic(&args.output, |out| out.write_all(text.as_bytes()))?;
    let conventions = Conventions::at(&sky, time);
    let instant = time.text(3, sky.options().delta_t).to_string();
    let names: Vec<&str> = bodies.iter().map(|body| body.name()).collect();
    let line = format!("{instant}: {}; {}; wrote {}", names.join(", "), conventions.line(true), args.output.display());
    let value = json!({
        "instant": instant,
        "bodies": names,
        "output": args.output,
        "observers": (observers > 0).then_some(observers),
        "conventions": conventions.json(),
    });
    print_summary(&value, &line, args.summary.json, args.summary.quiet)
}
