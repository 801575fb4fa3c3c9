//! `umbracast system`: a system file of the sky at an instant.

use std::io::Write;
use std::path::{Path, PathBuf};
use umbracast_files::parse_system;

use crate::error::{Error, Result};
use clap::Args;
use serde::Serialize;
use umbracast_files::escape::quoted;
use umbracast_files::{VectorSource, check_output, check_target, read_bodies, read_places, write_atomic};
use umbracast_sky::{BodyVectors, Conventions, DatePrecision, LightTime, SkyBody, View};

use super::{Event, SkyArgs, conventions_text, no_eclipse};
use crate::args::SummaryArgs;
use crate::outputs::{OutputFile, check_outputs, is_input, overwrites};
use crate::print_summary;

const EXAMPLES: &str = "\
DATE is an instant, 2024-04-08T18:17:20Z, or the day of an eclipse, for the greatest eclipse. Times are UTC, and UT1
before 1972; dates are from 1900 to 2050, or those of --ephemeris. Positions are apparent: light time and aberration are included. They are in
km and in axes that rotate with the Earth: x through 0 N 0 E, z through the north pole.

With --vectors, positions of other bodies are interpolated between the rows of a file: a vector table of JPL Horizons
(text or CSV, frame ICRF or ecliptic), or a CSV with the columns time (UTC) or jd_tdb, x, y, z in km and optional vx, vy,
vz in km/s, axes of the ICRF. Positions are relative to the centre of a body, not to a barycentre. A CSV does not name
its centre, so the option does: io@jupiter=FILE.

With --places, the places of FILE.csv (columns latitude, longitude, optional height_m) are also written as observers
for `umbracast shadow`, in the same axes. With --places-on mars, they are on Mars. Add --light-time mars, so that the
light arrives there as it should; DATE is then when it arrives at the Earth.

Examples:
  umbracast system 2024-04-08 -o eclipse.toml
  umbracast system 2026-08-12T17:46:00Z --view moon -o moon.toml
  umbracast system 2024-04-08 --places places.csv --observers observers.csv -o eclipse.toml
  umbracast shadow observers.csv eclipse.toml -o seen.csv
  umbracast system 2024-04-08T00:00Z --bodies sun,jupiter,io --vectors io=io.txt --view to-jupiter \\
      -o jupiter.toml
  umbracast system 2012-06-06T01:30Z --bodies sun,venus --view to-sun -o transit.toml

Exit codes: 0 done, 1 no eclipse on this day, 2 bad usage or input, 5 reading or writing failed.";

/// Write a system file with the bodies of the solar system at an instant, for `render` and `shadow`
#[derive(Debug, Args)]
#[command(after_long_help = crate::args::paragraphs(EXAMPLES), after_help = "`umbracast system --help` explains dates and files, and gives examples.")]
pub(crate) struct SystemArgs {
    /// An instant, or the day of an eclipse
    date: String,
    /// Bodies: sun, earth, moon, mercury, venus, mars, jupiter, saturn, uranus, neptune, those of --vectors, and with --ephemeris large moons by name and any body by its number of NAIF
    #[arg(long, value_name = "NAMES", default_value = "sun,earth,moon")]
    bodies: String,
    /// State vectors of a body, relative to the centre that the file or CENTER names; several times for several bodies
    #[arg(long, value_name = "NAME[@CENTER]=FILE", value_parser = assignment)]
    vectors: Vec<(String, String)>,
    /// Radius of another body in km [default: known for large moons]
    #[arg(long, value_name = "NAME=KM", value_parser = assignment)]
    radius: Vec<(String, String)>,
    /// Which light shows the bodies: `earth`, that which arrives at the Earth; `off`, all at the instant; or a body, by the light that falls on it: its shadows are where they are seen
    #[arg(long, value_name = "earth|off|BODY", default_value = "earth")]
    light_time: String,
    /// Camera: moon, sun, earth, above, LAT,LON[,HEIGHT] or to-BODY, one of --bodies, such as to-jupiter; see `umbracast eclipse --help`
    #[arg(long, allow_hyphen_values = true)]
    view: Option<String>,
    /// Output file: .toml, or `-` for standard output
    #[arg(short, long, value_name = "TOML")]
    output: PathBuf,
    /// Body on which the places are: latitudes are planetographic, longitudes positive to the east
    #[arg(long, value_name = "BODY", default_value = "earth", requires = "places", value_parser = rotating)]
    places_on: SkyBody,
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

/// Parser of a body with a known rotation.
fn rotating(name: &str) -> std::result::Result<SkyBody, String> {
    let unknown = |error: umbracast_sky::Error| error.to_string().replacen("no positions of", "no places on", 1);
    SkyBody::from_name(name).map_err(unknown)
}

/// Parser of `NAME=VALUE`.
fn assignment(text: &str) -> std::result::Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.is_empty() => Ok((name.trim().into(), value.into())),
        _ => Err("expected NAME=VALUE, as in io=io.txt".into()),
    }
}

impl SystemArgs {
    /// The files of `--vectors` with the radii of `--radius`.
    fn sources(&self) -> Result<Vec<VectorSource>> {
        let own_name = |name: &str| name.split('@').next().unwrap_or("").trim().to_lowercase();
        let is_given = |name: &str| self.vectors.iter().any(|(other, _)| own_name(other) == own_name(name));
        for (option, given) in [("--vectors", &self.vectors), ("--radius", &self.radius)] {
            let twice = |(i, one): (usize, &(String, String))| {
                given[..i].iter().any(|(name, _)| own_name(name) == own_name(&one.0))
            };
            if let Some((name, _)) = given.iter().enumerate().find(|one| twice(*one)).map(|(_, one)| one) {
                return Err(Error::Usage(format!("{option} is given twice for {}", quoted(&own_name(name)))));
            }
        }
        let number = |(name, text): &(String, String)| {
            let bad = || format!("--radius of {} is '{}': expected a number of km", quoted(name), quoted(text));
            text.trim().parse::<f64>().map_err(|_| Error::Usage(bad()))
        };
        let source = |(body, path): &(String, String)| {
            let radius = self.radius.iter().find(|(other, _)| own_name(other) == own_name(body));
            let path = PathBuf::from(path);
            // The system file must not replace its input.
            if check_target(&self.output).is_ok_and(|own| overwrites(&[own], &path)) {
                return Err(is_input(&path));
            }
            Ok(VectorSource { body: body.clone(), path: Some(path), radius_km: radius.map(number).transpose()? })
        };
        let of_ephemeris = |radius: &(String, String)| {
            Ok(VectorSource { body: radius.0.clone(), path: None, radius_km: Some(number(radius)?) })
        };
        let others = self.radius.iter().filter(|(name, _)| !is_given(name)).map(of_ephemeris);
        self.vectors.iter().map(source).chain(others).collect()
    }
}

/// The object of `--json`.
#[derive(Serialize)]
struct SystemSummary<'a> {
    instant: String,
    bodies: &'a [&'a str],
    interpolation_error_km: Vec<Option<f64>>,
    output: &'a Path,
    observers: Option<usize>,
    conventions: Conventions,
}

pub(crate) fn run(args: &SystemArgs) -> Result<()> {
    let system = OutputFile { path: &args.output, name: "-o", content: "a system", extensions: &["toml"] };
    let observers = args.observers.as_deref();
    let observers =
        observers.map(|path| OutputFile { path, name: "--observers", content: "observers", extensions: &["csv"] });
    check_outputs([system].into_iter().chain(observers), args.summary.json)?;
    let sky = args.sky.sky()?;
    let names: Vec<&str> = args.bodies.split(',').map(str::trim).collect();
    let (bodies, vectors) = read_bodies(&names, &args.sources()?, sky.ephemeris(), sky.options().delta_t)?;
    let view = args.view.as_deref().map(View::parse).transpose()?;
    let (time, precision) = sky.parse_time(&args.date)?;
    let time = match precision {
        DatePrecision::Instant => time,
        DatePrecision::Day => match Event::on(&sky, time, precision)? {
            Some(event) => event.greatest(),
            None => {
                let text = no_eclipse(&sky, time, "eclipse", None);
                return Err(Error::NoEclipse(format!(
                    "{text}; for an instant, give its time: {}T12:00:00Z",
                    args.date
                )));
            }
        },
    };
    let light_time = LightTime::from_name(&args.light_time);
    let text = sky.system_toml_with(time, &bodies, &vectors, &light_time, view, [1920, 1080])?;
    // The checks of every system file: for example, no body may touch the light.
    parse_system(&text, &args.output)?;
    let mut observers = 0;
    if let (Some(places), Some(output)) = (&args.places, &args.observers) {
        check_output(output, &[places], None)?;
        let list = read_places(places)?;
        observers = list.len();
        let mut rows = String::from("x,y,z\n");
        for (_, place) in &list {
            let position = sky.place_in_system(args.places_on, place, time, &bodies, &vectors, &light_time)?;
            let [x, y, z] = position.to_array();
            rows += &format!("{x:?},{y:?},{z:?}\n");
        }
        write_atomic(output, |out| out.write_all(rows.as_bytes()))?;
    }
    write_atomic(&args.output, |out| out.write_all(text.as_bytes()))?;
    let conventions = Conventions::at(&sky, time, false);
    let instant = time.text(3, sky.options().delta_t).to_string();
    let names: Vec<&str> = bodies.iter().map(|body| body.name()).chain(vectors.iter().map(BodyVectors::name)).collect();
    let line =
        format!("{instant}: {}; {}; wrote {}", names.join(", "), conventions_text(&conventions), args.output.display());
    let summary = SystemSummary {
        instant,
        bodies: &names,
        interpolation_error_km: vectors.iter().map(BodyVectors::error_km).collect(),
        output: &args.output,
        observers: (observers > 0).then_some(observers),
        conventions,
    };
    print_summary(&summary, &line, args.summary.json, args.summary.quiet)
}
