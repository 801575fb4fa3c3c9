//! `umbracast eclipse --list`: a table of the eclipses of some years.

use std::path::Path;

use crate::error::{Error, Result};
use umbracast_files::escape::quoted;
use umbracast_sky::{Conventions, Eclipse, EclipseBody, LunarKind, Record, Sky, Time, Transit};

use super::clock::Clock;
use super::elements;
use super::table_file::RecordArgs;
use super::{duration_text, headings, table};

/// First and last year of `--list`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Years {
    first: i32,
    last: i32,
}

impl std::str::FromStr for Years {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let year = |text: &str| {
            let year = text
                .parse::<i32>()
                .map_err(|_| format!("'{}' is not a year: expected FIRST..LAST, as in 2024..2030", quoted(text)))?;
            if (-1999..=3000).contains(&year) { Ok(year) } else { Err(format!("{year} is not in -1999 to 3000")) }
        };
        let (first, last) = (year(first)?, year(last)?);
        if first > last {
            return Err(format!("{first} is after {last}"));
        }
        Ok(Self { first, last })
    }
}

/// What a list has instead of all eclipses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Only {
    Eclipses(EclipseBody),
    Transits,
}

/// The table of a list of transits.
fn transits_text(sky: &Sky, transits: &[Transit]) -> String {
    let delta_t = sky.options().delta_t;
    let mut rows = vec![headings("greatest transit,planet,C1,C2,C3,C4,separation,latitude,longitude,delta T")];
    rows.extend(transits.iter().map(|transit| {
        let of = &transit.contacts;
        let clock = Clock { delta_t, zone: None, greatest: of.greatest.time };
        let mut row = vec![of.greatest.time.text(1, delta_t).to_string(), transit.planet.name().into()];
        row.extend([of.c1, of.c2, of.c3, of.c4].map(|view| view.map_or("-".into(), |view| clock.time(view.time))));
        row.extend([
            format!("{:.1}\"", of.separation_arcsec),
            format!("{:.4}", transit.zenith.latitude),
            format!("{:.4}", transit.zenith.longitude),
            format!("{:.2}", delta_t.seconds_at(of.greatest.time)),
        ]);
        row
    }));
    table(&rows, 2)
}

/// The table of a list.
fn list_text(sky: &Sky, eclipses: &[Eclipse]) -> String {
    let delta_t = sky.options().delta_t;
    let mut rows =
        vec![headings("greatest eclipse,body,kind,Saros,gamma,magnitude,latitude,longitude,central or total,delta T")];
    rows.extend(eclipses.iter().map(|eclipse| {
        let magnitude = format!("{:.4}", eclipse.magnitude());
        let (place, magnitude, duration) = match eclipse {
            Eclipse::Solar(one) => (one.greatest.place, magnitude, one.greatest.central_duration_s),
            Eclipse::Lunar(one) => {
                let shadow = if one.kind == LunarKind::Penumbral { "penumbral" } else { "umbral" };
                (one.zenith, format!("{shadow} {magnitude}"), one.record().total_duration_s)
            }
        };
        vec![
            eclipse.greatest().text(1, delta_t).to_string(),
            eclipse.body().into(),
            eclipse.kind().into(),
            eclipse.lunation_and_saros().1.to_string(),
            format!("{:.4}", eclipse.gamma()),
            magnitude,
            format!("{:.4}", place.latitude),
            format!("{:.4}", place.longitude),
            duration.map_or(String::new(), duration_text),
            format!("{:.2}", delta_t.seconds_at(eclipse.greatest())),
        ]
    }));
    table(&rows, 3)
}

/// Prints the eclipses or the transits of some years, or the elements of solar eclipses, or writes them to `output`.
pub(crate) fn run(
    sky: &Sky,
    years: Years,
    only: Option<Only>,
    elements: bool,
    args: &RecordArgs,
    output: Option<&Path>,
) -> Result<()> {
    let delta_t = sky.options().delta_t;
    let (first, end) = (Time::of_year(years.first, delta_t), Time::of_year(years.last + 1, delta_t));
    if elements {
        if let Some(Only::Eclipses(EclipseBody::Lunar) | Only::Transits) = only {
            let word = if only == Some(Only::Transits) { "transits" } else { "lunar" };
            let message = format!("--elements is for solar eclipses, and --only {word} leaves them out");
            return Err(Error::Usage(message));
        }
        let solar = |eclipse| if let Eclipse::Solar(eclipse) = eclipse { Some(*eclipse) } else { None };
        let eclipses = sky.eclipses(first, end, Some(EclipseBody::Solar))?;
        let eclipses: Vec<_> = eclipses.into_iter().filter_map(solar).collect();
        return elements::run(sky, &eclipses, args, output);
    }
    let output = args.check(output, &["csv", "json"], &[])?;
    let body = match only {
        Some(Only::Transits) => {
            let transits = sky.transits(first, end)?;
            let [Some(earliest), Some(latest)] = [transits.first(), transits.last()] else {
                return Err(Error::NoEclipse("there is no transit in these years".into()));
            };
            let records: Vec<Box<dyn Record>> =
                transits.iter().map(|one| -> Box<dyn Record> { Box::new(one.record()) }).collect();
            let [first, last] = [earliest, latest].map(|one| one.contacts.greatest.time);
            let conventions = Conventions::of_list(sky, first, last, false);
            return args.write_list(output, ("transits", &records), conventions, || transits_text(sky, &transits));
        }
        Some(Only::Eclipses(body)) => Some(body),
        None => None,
    };
    let eclipses = sky.eclipses(first, end, body)?;
    let [Some(earliest), Some(latest)] = [eclipses.first(), eclipses.last()] else {
        return Err(Error::NoEclipse("there is no such eclipse in these years".into()));
    };
    let records: Vec<Box<dyn Record>> = eclipses.iter().map(Eclipse::record).collect();
    let has_lunar = eclipses.iter().any(|one| matches!(one, Eclipse::Lunar(_)));
    let conventions = Conventions::of_list(sky, earliest.greatest(), latest.greatest(), has_lunar);
    args.write_list(output, ("eclipses", &records), conventions, || list_text(sky, &eclipses))
}
