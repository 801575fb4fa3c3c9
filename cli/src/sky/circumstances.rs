//! `umbracast circumstances`: what places see of an eclipse, and when.

use std::path::PathBuf;

use crate::error::{Error, Result};
use clap::Args;
use jiff::tz::TimeZone;
use serde::Serialize;
use umbracast_files::read_places;
use umbracast_sky::{
    Circumstances, Conventions, DatePrecision, Eclipse, LocalView, LunarEclipse, LunarKind, MoonView, Place, Record,
    SolarEclipse, Transit, city,
};

use super::clock::{Clock, time_zone};
use super::table_file::RecordArgs;
use super::{Event, LunarArgs, SkyArgs, conventions_text, duration_text, headings, no_eclipse, table};
use crate::say;

const EXAMPLES: &str = "\
DATE is the day of an eclipse or a transit, 2024-04-08, from 1900 to 2050, or in --ephemeris. Times are UTC, and UT1 before 1972. A place is
33.87S,151.21E or -33.87,151.21. In tables, +1d and -1d mark times of the day after and before.
FILE.csv has the columns latitude (or lat) and longitude (or lon) in degrees, east positive, and optional height_m (or
height, in metres) and name.

Solar eclipses: C1 and C4 begin and end the partial eclipse, C2 and C3 the total or annular one. Magnitude: the covered
part of the Sun's diameter; from C2 to C3, both included, the ratio of the diameters. Obscuration: the covered part of
the disc. There is no refraction without --refraction. The horizon is where a line of sight touches the ellipsoid: a height lowers it, by 3.4 degrees
at 11 km. In tables, parentheses mean that the Sun's centre is below the horizon; `seen`, magnitude and obscuration are those of the largest obscuration above it;
`Sun` is its altitude at the maximum in degrees, and sunrise and sunset are those between C1 and C4. CSV and JSON have altitude and azimuth of the Sun and the altitude of the horizon
at each contact, and its position angle from the north point of the Sun's limb and from the zenith, both through east;
`visible` is when the obscuration is largest with the Sun's centre above the horizon.

Lunar eclipses: P1 and P4 begin and end the penumbral eclipse, U1 and U4 the partial one, U2 and U3 the total one.
Parentheses mean that the Moon's centre is below the horizon. `seen` is the deepest phase with the Moon above it, and
moonrise and moonset are those between P1 and P4. CSV and JSON have altitude and azimuth of the Moon at each contact.

Transits of Mercury and Venus: C1 and C4 are the contacts from outside, C2 and C3 those from inside. `separation` is the
least distance of the centres in arcseconds, and sunrise and sunset are those between C1 and C4.

Examples:
  umbracast circumstances 2024-04-08 --city Dallas --city Houston
  umbracast circumstances 2026-08-12 --place 43.36,-8.41 --place 64.15,-21.94,50
  umbracast circumstances 2026-08-12 --places places.csv -o seen.csv
  umbracast circumstances 2025-09-07 --city Nairobi --city Berlin
  umbracast circumstances 2032-11-13 --city Madrid

Exit codes: 0 done, 1 no eclipse on this day, 2 bad usage or input, 5 reading or writing failed.";

/// Compute the local circumstances of an eclipse or a transit: contacts, magnitude, obscuration, altitude of the Sun or the Moon
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("seen_from").required(true).multiple(true).args(["place", "city", "places"]))]
#[command(after_long_help = crate::args::paragraphs(EXAMPLES), after_help = "`umbracast circumstances --help` explains the columns and gives examples.")]
pub(crate) struct CircumstancesArgs {
    /// The day of an eclipse or a transit
    date: String,
    /// A place: degrees, and metres above the ellipsoid; several times for several places
    #[arg(long, value_name = "LAT,LON[,HEIGHT]", allow_hyphen_values = true)]
    place: Vec<String>,
    /// A city of the built-in list; several times for several cities
    #[arg(long, value_name = "NAME")]
    city: Vec<String>,
    /// Places from a file
    #[arg(long, value_name = "FILE.csv")]
    places: Option<PathBuf>,
    /// Print instants in this time zone: an offset from UTC, +02:00, or a name, Europe/Madrid [default: UTC]
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true, value_parser = time_zone)]
    tz: Option<TimeZone>,
    /// Raise altitudes of Sun and Moon by refraction in air of 1010 hPa and 10 C: they rise earlier and set later; contacts stay
    #[arg(long)]
    refraction: bool,
    #[command(flatten)]
    sky: SkyArgs,
    #[command(flatten)]
    lunar: LunarArgs,
    /// Write one row per place to a file, .csv or .json, or to standard output, `-`
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    record: RecordArgs,
}

/// The object of `--json`.
#[derive(Serialize)]
struct Output<'a> {
    eclipse: &'a dyn Record,
    places: &'a [Box<dyn Record>],
    conventions: &'a Conventions,
}

pub(crate) fn run(args: &CircumstancesArgs) -> Result<()> {
    let inputs: Vec<PathBuf> = args.places.iter().cloned().collect();
    let output = args.record.check(args.output.as_deref(), &["csv", "json"], &inputs)?;
    let sky = args.sky.sky_with(args.lunar.rule(), args.refraction)?;
    let mut places = Vec::new();
    for text in &args.place {
        let place = Place::parse(text).map_err(|e| match text.contains(',') {
            true => e.into(),
            false => Error::Usage(format!("{e}; --city takes names")),
        })?;
        places.push((String::new(), place));
    }
    for name in &args.city {
        let (name, place) = city(name)?;
        places.push((name.to_string(), place));
    }
    if let Some(path) = &args.places {
        places.extend(read_places(path)?);
    }
    let (names, places): (Vec<String>, Vec<Place>) = places.into_iter().unzip();
    let (time, precision) = sky.parse_time(&args.date)?;
    let Some(event) = Event::on(&sky, time, precision)? else { return Err(no_eclipse(&sky, time, "eclipse", None)) };
    args.lunar.check(event.is_lunar(), || event.title(&sky))?;
    if precision == DatePrecision::Instant && !args.record.quiet {
        say(&format!("the instant counts as its day: these are the contacts of the {}", event.title(&sky)));
    }
    if !args.record.quiet {
        event.say_other(&sky, time, precision);
    }
    let clock = Clock { delta_t: sky.options().delta_t, zone: args.tz.as_ref(), greatest: event.greatest() };
    let seen = match &event {
        Event::Eclipse(Eclipse::Solar(eclipse)) => solar(&clock, eclipse, &names, &places),
        Event::Eclipse(Eclipse::Lunar(eclipse)) => lunar(&clock, eclipse, &names, &places),
        Event::Transit(transit) => seen_of_transit(&clock, transit, &names, &places),
    };
    let conventions = event.conventions(&sky);
    if let Some(hint) = seen.hint.filter(|_| !args.record.quiet) {
        say(&hint);
    }
    // The place, and of eclipses the kind.
    let left = if matches!(event, Event::Transit(_)) { 1 } else { 2 };
    let line = clock.conventions_line(conventions_text(&conventions), &conventions);
    let line = format!("{}; {line}", clock.date(clock.greatest));
    let record = clock.record(event.record());
    let records: Vec<_> = seen.records.into_iter().map(|record| clock.record(record)).collect();
    let json = Output { eclipse: &*record, places: &records, conventions: &conventions };
    args.record.write(output, &records, &json, (&conventions, &line), || table(&seen.rows, left))
}

/// What places see: records, and the rows of the table.
struct SeenFromPlaces {
    records: Vec<Box<dyn Record>>,
    rows: Vec<Vec<String>>,
    /// A probable mistake in the places.
    hint: Option<String>,
}

/// The name of a place in a record.
fn record_name(name: &str) -> Option<String> {
    (!name.is_empty()).then(|| name.to_string())
}

/// A place in a table.
fn shown_name(name: &str, place: &Place) -> String {
    if name.is_empty() { super::place_text(place) } else { umbracast_files::escape::printable(name).into_owned() }
}

fn solar(clock: &Clock<'_>, eclipse: &SolarEclipse, names: &[String], places: &[Place]) -> SeenFromPlaces {
    let found = eclipse.circumstances_of(places);
    let record = |(name, one): (&String, &Circumstances)| -> Box<dyn Record> {
        Box::new(eclipse.circumstances_record(record_name(name), one))
    };
    let mut rows =
        vec![headings("place,seen,C1,C2,maximum,C3,C4,magnitude,obscuration,central duration,Sun,sunrise,sunset")];
    rows.extend(names.iter().zip(&found).map(|(name, one)| table_cells(clock, name, one)));
    // Latitude and longitude are easily swapped.
    let nobody = found.iter().all(|one| one.visible.is_none());
    let swapped = |place: &Place| Place::new(place.longitude, place.latitude, place.height_m).ok();
    let sees = |place: &Place| swapped(place).is_some_and(|other| eclipse.circumstances(&other).visible.is_some());
    let hint = (nobody && places.iter().any(sees)).then(|| {
        "no place sees the eclipse; with latitude and longitude swapped, one would: places are LAT,LON".into()
    });
    SeenFromPlaces { records: names.iter().zip(&found).map(record).collect(), rows, hint }
}

fn lunar(clock: &Clock<'_>, eclipse: &LunarEclipse, names: &[String], places: &[Place]) -> SeenFromPlaces {
    let cell = |view: Option<MoonView>| match view {
        Some(view) if !view.is_moon_up() => format!("({})", clock.time(view.time)),
        Some(view) => clock.time(view.time),
        None => "-".into(),
    };
    let mut rows = vec![headings("place,seen,P1,U1,U2,greatest,U3,U4,P4,moonrise,moonset")];
    let mut records: Vec<Box<dyn Record>> = Vec::with_capacity(places.len());
    for (name, place) in names.iter().zip(places) {
        let seen = eclipse.circumstances(place);
        records.push(Box::new(eclipse.circumstances_record(record_name(name), &seen)));
        let horizon = |view: Option<MoonView>| view.map_or("-".into(), |view| clock.time(view.time));
        let contacts = [
            Some(seen.begins),
            seen.partial_begins,
            seen.total_begins,
            Some(seen.greatest),
            seen.total_ends,
            seen.partial_ends,
            Some(seen.ends),
        ];
        let mut row = vec![shown_name(name, place), seen.visible_kind.map_or("none", LunarKind::name).into()];
        row.extend(contacts.map(cell));
        row.extend([horizon(seen.moonrise), horizon(seen.moonset)]);
        rows.push(row);
    }
    SeenFromPlaces { records, rows, hint: None }
}

fn seen_of_transit(clock: &Clock<'_>, transit: &Transit, names: &[String], places: &[Place]) -> SeenFromPlaces {
    let mut rows = vec![headings("place,C1,C2,greatest,C3,C4,separation,Sun,sunrise,sunset")];
    let mut records: Vec<Box<dyn Record>> = Vec::with_capacity(places.len());
    for (name, place) in names.iter().zip(places) {
        let seen = transit.circumstances(place);
        let of = seen.contacts;
        let mut row = vec![shown_name(name, place)];
        row.extend([of.c1, of.c2, Some(of.greatest), of.c3, of.c4].map(|view| contact_text(clock, view)));
        row.extend([format!("{:.1}\"", of.separation_arcsec), format!("{:.1}", of.greatest.sun_altitude)]);
        let horizon = |view: Option<LocalView>| view.map_or("-".into(), |view| clock.time(view.time));
        row.extend([seen.sunrise, seen.sunset].map(horizon));
        rows.push(row);
        records.push(Box::new(transit.circumstances_record(record_name(name), &seen)));
    }
    SeenFromPlaces { records, rows, hint: None }
}

/// The instant of a contact, in parentheses if the Sun is below the horizon.
fn contact_text(clock: &Clock<'_>, view: Option<LocalView>) -> String {
    let Some(view) = view else { return "-".into() };
    let time = clock.time(view.time);
    if view.is_sun_up() { time } else { format!("({time})") }
}

fn table_cells(clock: &Clock<'_>, name: &str, one: &Circumstances) -> Vec<String> {
    let time = |view: Option<LocalView>| contact_text(clock, view);
    let exists = one.c1.is_some();
    let shown = |text: String| if exists { text } else { "-".into() };
    // What the place sees; what happens below the horizon is in parentheses.
    let largest = one.visible.unwrap_or(one.maximum);
    let hidden = |text: String, is_seen: bool| if is_seen { text } else { format!("({text})") };
    let is_seen = one.visible.is_some();
    let is_up = |view: Option<LocalView>| view.is_some_and(|view| view.is_sun_up());
    let horizon = |view: Option<LocalView>| view.map_or("-".into(), |view| clock.time(view.time));
    vec![
        shown_name(name, &one.place),
        if exists && !is_seen { format!("({})", one.kind.name()) } else { one.visible_kind().name().into() },
        time(one.c1),
        time(one.c2),
        time(exists.then_some(one.maximum)),
        time(one.c3),
        time(one.c4),
        shown(hidden(format!("{:.4}", largest.magnitude), is_seen)),
        shown(hidden(format!("{:.4}", largest.obscuration), is_seen)),
        one.central_duration_s().map_or("-".into(), |s| hidden(duration_text(s), is_up(one.c2) && is_up(one.c3))),
        shown(format!("{:.1}", one.maximum.sun_altitude)),
        horizon(one.sunrise),
        horizon(one.sunset),
    ]
}
