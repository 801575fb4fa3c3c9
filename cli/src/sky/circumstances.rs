//! `umbracast circumstances`: what places see of a solar eclipse, and when.

use std::path::PathBuf;

use crate::error::Result;
use clap::Args;
use serde_json::{Value, json};
use umbracast_files::read_places;
use umbracast_sky::{Circumstances, LocalView, Place, Sky, city};

use super::{
    Conventions, ListArgs, SkyArgs, csv_row, duration_text, eclipse_name, rounded, solar_eclipse, table, table_file,
};
use crate::{print, print_json, print_summary, say};

const EXAMPLES: &str = "\
DATE is the day of a solar eclipse, 2024-04-08, from 1900 to 2050. Times are UTC, and UT1 before 1972. A place is
33.87S,151.21E or -33.87,151.21.
FILE.csv has the columns latitude (or lat) and longitude (or lon) in degrees, east positive, and optional height_m (or
height, in metres) and name.

C1 and C4 begin and end the partial eclipse, C2 and C3 the total or annular one. Magnitude: the covered part of the
Sun's diameter; from C2 to C3, both included, the ratio of the diameters. Obscuration: the covered part of the disc.
There is no refraction. The horizon is where a line of sight touches the ellipsoid: a height lowers it, by 3.4 degrees
at 11 km. In tables, parentheses mean that the Sun's centre is below the horizon, and the last column is the altitude
of the Sun at the maximum, in degrees. `visible_obscuration` in CSV, and `visible` in JSON, is the largest obscuration
with the Sun's centre above the horizon.

Examples:
  umbracast circumstances 2024-04-08 --city Dallas --city Houston
  umbracast circumstances 2026-08-12 --at 43.36,-8.41 --at 64.15,-21.94,50
  umbracast circumstances 2026-08-12 --places places.csv -o seen.csv

Exit codes: 0 done, 2 bad usage or input, 5 reading or writing failed.";

/// Compute the local circumstances of a solar eclipse: contacts, magnitude, obscuration, altitude of the Sun
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("place").required(true).multiple(true).args(["at", "city", "places"]))]
#[command(after_long_help = crate::args::paragraphs(EXAMPLES), after_help = "`umbracast circumstances --help` explains the columns and gives examples.")]
pub(crate) struct CircumstancesArgs {
    /// The day of a solar eclipse
    date: String,
    /// A place: degrees, and metres above the ellipsoid; several times for several places
    #[arg(long, value_name = "LAT,LON[,HEIGHT]", allow_hyphen_values = true)]
    at: Vec<String>,
    /// A city of the built-in list; several times for several cities
    #[arg(long, value_name = "NAME")]
    city: Vec<String>,
    /// Places from a file
    #[arg(long, value_name = "FILE.csv")]
    places: Option<PathBuf>,
    #[command(flatten)]
    sky: SkyArgs,
    /// Write the table to a file instead: .csv or .json
    #[arg(short, long, value_name = "FILE", conflicts_with = "csv")]
    output: Option<PathBuf>,
    #[command(flatten)]
    table: ListArgs,
}

pub(crate) fn run(args: &CircumstancesArgs) -> Result<()> {
    if let Some(output) = &args.output {
        table_file::check(output, &args.places.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
    }
    let sky = args.sky.sky();
    let mut places = Vec::new();
    for text in &args.at {
        places.push((String::new(), Place::parse(text)?));
    }
    for name in &args.city {
        let (name, place) = city(name)?;
        places.push((name.to_string(), place));
    }
    if let Some(path) = &args.places {
        places.extend(read_places(path)?);
    }
    let eclipse = solar_eclipse(&sky, &args.date)?;
    let (names, places): (Vec<String>, Vec<Place>) = places.into_iter().unzip();
    let found = eclipse.circumstances_of(&places);
    let conventions = Conventions::without_lunar_rule(&sky, eclipse.greatest.time);
    let line = format!("{}; {}", super::date_text(&sky, eclipse.greatest.time), conventions.line(true));
    let csv = || {
        let mut text = csv_row(&COLUMNS.map(String::from));
        for (name, one) in names.iter().zip(&found) {
            text += &csv_row(&csv_cells(&sky, name, one, &conventions));
        }
        text
    };
    let list_json = || {
        let list: Vec<Value> = names.iter().zip(&found).map(|(name, one)| one_json(&sky, name, one)).collect();
        let name = eclipse_name(&umbracast_sky::Eclipse::Solar(eclipse.clone()));
        json!({ "eclipse": name, "places": list, "conventions": conventions.json() })
    };
    if let Some(output) = &args.output {
        table_file::write(output, csv, list_json)?;
        let count = found.len();
        let value = json!({ "places": count, "output": output, "conventions": conventions.json() });
        let places = if count == 1 { "place" } else { "places" };
        let line = format!("{count} {places}; {line}; wrote {}", output.display());
        return print_summary(&value, &line, args.table.json, args.table.quiet);
    }
    if args.table.json {
        return print_json(&list_json());
    }
    if args.table.csv {
        print(&csv())?;
    } else {
        let mut rows = vec![
            ["place", "kind", "C1", "C2", "maximum", "C3", "C4", "magnitude", "obscuration", "duration", "Sun"]
                .map(String::from)
                .to_vec(),
        ];
        rows.extend(names.iter().zip(&found).map(|(name, one)| table_cells(&sky, name, one)));
        print(&table(&rows, 2))?;
    }
    if !args.table.quiet {
        say(&line);
    }
    Ok(())
}

/// Columns of CSV.
const COLUMNS: [&str; 22] = [
    "name",
    "latitude",
    "longitude",
    "height_m",
    "kind",
    "c1",
    "c2",
    "maximum",
    "c3",
    "c4",
    "magnitude",
    "obscuration",
    "central_duration_s",
    "duration_s",
    "sun_altitude_at_maximum",
    "sun_azimuth_at_maximum",
    "sun_altitude_at_c1",
    "sun_altitude_at_c4",
    "horizon_altitude_at_maximum",
    "visible_obscuration",
    "radii",
    "delta_t_s",
];

fn csv_cells(sky: &Sky, name: &str, one: &Circumstances, conventions: &Conventions) -> Vec<String> {
    let delta_t = sky.options().delta_t;
    let time = |view: Option<LocalView>| view.map_or(String::new(), |view| view.time.text(2, delta_t).to_string());
    let number =
        |value: Option<f64>, decimals: usize| value.map_or(String::new(), |value| format!("{value:.decimals$}"));
    let exists = one.c1.is_some();
    vec![
        name.to_string(),
        one.place.latitude.to_string(),
        one.place.longitude.to_string(),
        one.place.height_m.to_string(),
        one.kind.name().into(),
        time(one.c1),
        time(one.c2),
        time(exists.then_some(one.maximum)),
        time(one.c3),
        time(one.c4),
        number(Some(one.maximum.magnitude), 5),
        number(Some(one.maximum.obscuration), 6),
        number(one.central_duration_s(), 2),
        number(one.duration_s(), 1),
        number(exists.then_some(one.maximum.sun_altitude), 3),
        number(exists.then_some(one.maximum.sun_azimuth), 3),
        number(one.c1.map(|view| view.sun_altitude), 3),
        number(one.c4.map(|view| view.sun_altitude), 3),
        number(exists.then_some(one.maximum.horizon_altitude), 3),
        number(Some(one.visible.map_or(0.0, |view| view.obscuration)), 6),
        conventions.radii.into(),
        format!("{:.2}", conventions.delta_t_s),
    ]
}

fn one_json(sky: &Sky, name: &str, one: &Circumstances) -> Value {
    let delta_t = sky.options().delta_t;
    let view = |view: LocalView| {
        json!({
            "time": view.time.text(2, delta_t).to_string(),
            "magnitude": rounded(view.magnitude, 6),
            "obscuration": rounded(view.obscuration, 6),
            "sun_altitude": rounded(view.sun_altitude, 3),
            "sun_azimuth": rounded(view.sun_azimuth, 3),
            "horizon_altitude": rounded(view.horizon_altitude, 3),
        })
    };
    json!({
        "name": if name.is_empty() { None } else { Some(name) },
        "latitude": one.place.latitude,
        "longitude": one.place.longitude,
        "height_m": one.place.height_m,
        "kind": one.kind.name(),
        "magnitude": rounded(one.maximum.magnitude, 6),
        "obscuration": rounded(one.maximum.obscuration, 6),
        "c1": one.c1.map(view),
        "c2": one.c2.map(view),
        "maximum": one.c1.map(|_| view(one.maximum)),
        "c3": one.c3.map(view),
        "c4": one.c4.map(view),
        "central_duration_s": one.central_duration_s().map(|seconds| rounded(seconds, 2)),
        "duration_s": one.duration_s().map(|seconds| rounded(seconds, 2)),
        "visible": one.visible.map(view),
    })
}

fn table_cells(sky: &Sky, name: &str, one: &Circumstances) -> Vec<String> {
    let delta_t = sky.options().delta_t;
    let time = |view: Option<LocalView>| match view {
        Some(view) if !view.is_sun_up() => format!("({})", view.time.clock_text(1, delta_t)),
        Some(view) => view.time.clock_text(1, delta_t).to_string(),
        None => "-".into(),
    };
    let exists = one.c1.is_some();
    let shown = |text: String| if exists { text } else { "-".into() };
    vec![
        if name.is_empty() {
            super::place_text(&one.place)
        } else {
            umbracast_files::escape::printable(name).into_owned()
        },
        if exists && one.visible.is_none() { format!("({})", one.kind.name()) } else { one.kind.name().into() },
        time(one.c1),
        time(one.c2),
        time(exists.then_some(one.maximum)),
        time(one.c3),
        time(one.c4),
        shown(format!("{:.4}", one.maximum.magnitude)),
        shown(format!("{:.4}", one.maximum.obscuration)),
        one.central_duration_s().map_or("-".into(), duration_text),
        shown(format!("{:.1}", one.maximum.sun_altitude)),
    ]
}

#[cfg(test)]
mod tests {
    use crate::error::Error;

    use super::*;

    #[test]
    fn rows_have_the_columns() {
        let sky = Sky::new(umbracast_sky::SkyOptions::default());
        let eclipse = solar_eclipse(&sky, "2024-04-08").unwrap();
        let one = eclipse.circumstances(&city("Dallas").unwrap().1);
        let conventions = Conventions::without_lunar_rule(&sky, eclipse.greatest.time);
        assert_eq!(csv_cells(&sky, "Dallas", &one, &conventions).len(), COLUMNS.len());
        assert!(matches!(solar_eclipse(&sky, "2024-04-09"), Err(Error::Usage(_))));
    }
}
