//! Commands about the sky: eclipses, local circumstances and systems of a date.

pub(crate) mod circumstances;
mod clock;
pub(crate) mod eclipse;
mod elements;
pub(crate) mod frames;
mod instant;
pub(crate) mod list;
pub(crate) mod map;
pub(crate) mod system;
mod table_file;
mod visible;

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::say;
use clap::Args;
use umbracast_files::read_ephemeris;
use umbracast_sky::{
    Conventions, DatePrecision, DeltaT, Eclipse, EclipseBody, LunarRule, Place, Radii, Record, Sky, SkyOptions, Time,
    Transit, date_from_days,
};

use super::args::words;

/// Conventions for eclipses.
#[derive(Debug, Args)]
#[command(next_help_heading = "Conventions")]
pub(crate) struct SkyArgs {
    /// Positions from an SPK file with segments of type 2, 3, 9 or 13, such as de440.bsp [default: an excerpt of DE421]
    #[arg(long, value_name = "FILE.bsp", hide_short_help = true)]
    ephemeris: Option<PathBuf>,
    /// TT - UT1 in seconds [default: a table, extrapolated after 2027]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = delta_t)]
    delta_t: Option<f64>,
    /// Radii of Sun and Moon
    #[arg(long, default_value = "iau", value_parser = words([
        ("iau", "695,700 km and 1,737.4 km", Radii::IAU),
        ("nasa", "those of the canons: the Moon's k is 0.272488 for partial phases, 0.272281 for total and annular ones", Radii::NASA),
    ]))]
    radii: Radii,
    /// Radius of the Sun at 1 au instead, such as 959.95
    #[arg(long, value_name = "ARCSECONDS", hide_short_help = true, value_parser = sun_radius)]
    sun_radius: Option<f64>,
    /// Radius of the Moon instead, in equatorial radii of the Earth, such as 0.2722810
    #[arg(long, value_name = "K", hide_short_help = true, value_parser = moon_k)]
    moon_k: Option<f64>,
}

/// The convention for lunar eclipses.
#[derive(Debug, Args)]
#[command(next_help_heading = "Conventions")]
pub(crate) struct LunarArgs {
    /// Enlargement of the Earth's shadow in lunar eclipses [default: danjon]
    #[arg(long, value_parser = words([
        ("danjon", "the Earth's parallax is enlarged by 1 %, as in NASA's Five Millennium Canon", LunarRule::Danjon),
        ("chauvenet", "the shadow is enlarged by 1/50, as in the Astronomical Almanac and in NASA's catalogues before 2009", LunarRule::Chauvenet),
        ("plus88", "a sphere of 6,371 + 88 km", LunarRule::Plus88),
        ("none", "a sphere of 6,371 km, no atmosphere", LunarRule::None),
        ("equator", "a sphere of 6,378.137 km, no atmosphere", LunarRule::Equator),
    ]))]
    lunar_rule: Option<LunarRule>,
}

impl LunarArgs {
    fn rule(&self) -> LunarRule {
        self.lunar_rule.unwrap_or_default()
    }

    /// An error if the rule is given for results that do not depend on it.
    fn check(&self, has_lunar: bool, what: impl Fn() -> String) -> Result<()> {
        match self.lunar_rule {
            Some(_) if !has_lunar => {
                Err(Error::Usage(format!("--lunar-rule is for lunar eclipses, and changes nothing here: {}", what())))
            }
            _ => Ok(()),
        }
    }
}

/// Parser of `--delta-t`.
fn delta_t(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if DeltaT::LIMITS.contains(&seconds) => Ok(seconds),
        Ok(_) => Err(format!("expected {} to {} seconds", DeltaT::LIMITS.start(), DeltaT::LIMITS.end())),
        Err(_) => Err("expected a number of seconds".into()),
    }
}

/// Parser of `--sun-radius`.
fn sun_radius(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse().map_err(|_| "expected a number of arcseconds")?;
    Radii::IAU.with_sun_radius(number).map(|_| number).map_err(|error| error.to_string())
}

/// Parser of `--moon-k`.
fn moon_k(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse().map_err(|_| "expected a number")?;
    Radii::IAU.with_moon_k(number).map(|_| number).map_err(|error| error.to_string())
}

impl SkyArgs {
    /// For commands whose results do not depend on the rule for lunar eclipses.
    pub(crate) fn sky(&self) -> Result<Sky> {
        self.sky_with(LunarRule::default(), false)
    }

    pub(crate) fn sky_with(&self, lunar_rule: LunarRule, refraction: bool) -> Result<Sky> {
        let delta_t = self.delta_t.map_or(DeltaT::Table, DeltaT::Seconds);
        // The parsers of the options have checked the values.
        let radii = self.sun_radius.and_then(|one| self.radii.with_sun_radius(one).ok()).unwrap_or(self.radii);
        let radii = self.moon_k.and_then(|k| radii.with_moon_k(k).ok()).unwrap_or(radii);
        let options = SkyOptions { delta_t, radii, lunar_rule, refraction };
        Ok(match &self.ephemeris {
            Some(path) => Sky::with_ephemeris(read_ephemeris(path)?, options),
            None => Sky::new(options),
        })
    }
}

/// What happens on a day.
pub(crate) enum Event {
    Eclipse(Eclipse),
    Transit(Box<Transit>),
}

impl Event {
    /// The eclipse of a day or else its transit. Of a day with both, an instant that only the transit contains finds the transit.
    pub(crate) fn on(sky: &Sky, time: Time, precision: DatePrecision) -> Result<Option<Self>> {
        let Some(eclipse) = sky.eclipse_on(time)?.map(Self::Eclipse) else { return Self::transit(sky, time) };
        let is_meant = precision == DatePrecision::Day || eclipse.contains(time);
        let other = if is_meant { None } else { eclipse.other(sky, time).filter(|transit| transit.contains(time)) };
        Ok(Some(other.unwrap_or(eclipse)))
    }

    fn transit(sky: &Sky, day: Time) -> Result<Option<Self>> {
        Ok(sky.transit_on(day)?.map(|transit| Self::Transit(Box::new(transit))))
    }

    /// The transit of a day with this eclipse. An error of the search is not one of the eclipse.
    fn other(&self, sky: &Sky, day: Time) -> Option<Self> {
        matches!(self, Self::Eclipse(_)).then(|| Self::transit(sky, day).ok().flatten())?
    }

    /// Of a date without an instant, says how to find the transit of a day with this eclipse, if it has one.
    pub(crate) fn say_other(&self, sky: &Sky, day: Time, precision: DatePrecision) {
        if precision == DatePrecision::Day
            && let Some(other) = self.other(sky, day)
        {
            let instant = other.greatest().text(0, sky.options().delta_t);
            say(&format!("this day also has a {}: an instant finds it, such as {instant}", other.name()));
        }
    }

    fn contains(&self, time: Time) -> bool {
        let (first, last) = self.span();
        first <= time && time <= last
    }

    pub(crate) fn greatest(&self) -> Time {
        match self {
            Self::Eclipse(eclipse) => eclipse.greatest(),
            Self::Transit(transit) => transit.contacts.greatest.time,
        }
    }

    /// The first and the last instant.
    pub(crate) fn span(&self) -> (Time, Time) {
        match self {
            Self::Eclipse(eclipse) => eclipse.span(),
            Self::Transit(transit) => transit.span(),
        }
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Self::Eclipse(eclipse) => eclipse_name(eclipse),
            Self::Transit(transit) => format!("transit of {}", transit.planet.name()),
        }
    }

    pub(crate) fn record(&self) -> Box<dyn Record> {
        match self {
            Self::Eclipse(eclipse) => eclipse.record(),
            Self::Transit(transit) => Box::new(transit.record()),
        }
    }

    pub(crate) fn is_lunar(&self) -> bool {
        matches!(self, Self::Eclipse(Eclipse::Lunar(_)))
    }

    /// Its name and its day: `total solar eclipse of 2024-04-08`.
    pub(crate) fn title(&self, sky: &Sky) -> String {
        let on = if matches!(self, Self::Eclipse(_)) { "of" } else { "on" };
        format!("{} {on} {}", self.name(), date_text(sky, self.greatest()))
    }

    /// The conventions of its results.
    pub(crate) fn conventions(&self, sky: &Sky) -> Conventions {
        Conventions::at(sky, self.greatest(), self.is_lunar())
    }
}

/// Conventions in one line of text.
pub(crate) fn conventions_text(of: &Conventions) -> String {
    let moon = if of.moon_radius_km == of.moon_radius_central_km {
        format!("{:.1} km", of.moon_radius_km)
    } else {
        format!("{:.3} km, central phases {:.3} km", of.moon_radius_km, of.moon_radius_central_km)
    };
    let rule = of.lunar_rule.map_or(String::new(), |rule| format!("; lunar rule {}", rule.name()));
    let refraction = of.refraction.map_or(String::new(), |name| format!("; refraction {name}"));
    let delta_t = delta_t_text(of);
    format!(
        "times in {}; ephemeris {}; radii {} (Sun {:.0} km, Moon {moon}); {delta_t}{rule}{refraction}",
        of.time_scale, of.ephemeris, of.radii, of.sun_radius_km
    )
}

/// `delta T 69.18 s (table)`, with an error that moves a contact by as much as its last digit.
pub(crate) fn delta_t_text(of: &Conventions) -> String {
    let error = of.delta_t_error_s.filter(|error| *error >= 0.05);
    let error = error.map_or(String::new(), |error| format!(" ± {error:.*}", usize::from(error < 10.0)));
    format!("delta T {:.2}{error} s ({})", of.delta_t_s, of.delta_t_source)
}

/// `25.2896 N, 104.1479 W`.
pub(crate) fn place_text(place: &Place) -> String {
    format!("{}, {}", latitude_text(place.latitude), longitude_text(place.longitude))
}

/// `25.2896 N`.
pub(crate) fn latitude_text(degrees: f64) -> String {
    format!("{:.4} {}", degrees.abs(), if degrees < 0.0 { 'S' } else { 'N' })
}

/// `104.1479 W`.
pub(crate) fn longitude_text(degrees: f64) -> String {
    format!("{:.4} {}", degrees.abs(), if degrees < 0.0 { 'W' } else { 'E' })
}

/// `4 min 32.1 s`, or `1 h 12 min 3 s` for long ones.
pub(crate) fn duration_text(seconds: f64) -> String {
    if seconds >= 3600.0 {
        let whole = seconds.round() as i64;
        return format!("{} h {:02} min {:02} s", whole / 3600, whole / 60 % 60, whole % 60);
    }
    let tenths = (10.0 * seconds).round();
    let minutes = (tenths / 600.0).floor();
    format!("{minutes:.0} min {:04.1} s", (tenths - 600.0 * minutes) / 10.0)
}

/// The name of an eclipse: `total solar eclipse`.
pub(crate) fn eclipse_name(eclipse: &Eclipse) -> String {
    format!("{} {} eclipse", eclipse.kind(), eclipse.body())
}

/// Its date: `2024-04-08`.
pub(crate) fn date_text(sky: &Sky, time: Time) -> String {
    day_text(&time.text(0, sky.options().delta_t).to_string()).into()
}

/// The date of an instant in text.
pub(crate) fn day_text(instant: &str) -> &str {
    instant.split('T').next().unwrap_or("")
}

/// The first day of the Gregorian calendar in the countries that had it first, as a day of UTC: 1582-10-15.
const GREGORIAN: &str = "1582-10-15";

/// The error of a day without an eclipse, which names the next one.
pub(crate) fn no_eclipse(sky: &Sky, day: Time, what: &str, only: Option<EclipseBody>) -> Error {
    let delta_t = sky.options().delta_t;
    let (_, end) = day.day(delta_t);
    // On the last day of the ephemeris, nothing follows.
    let next = if sky.ephemeris().check(end).is_ok() { sky.next_eclipse(end, only) } else { Ok(None) };
    let text = match &next {
        Ok(Some(next)) => {
            format!("the next one is the {} of {}", eclipse_name(next), date_text(sky, next.greatest()))
        }
        Err(error) => format!("the search for the next one ended: {error}"),
        Ok(None) => format!(
            "there is none after it until {}, where the positions end",
            date_text(sky, sky.ephemeris().span().1)
        ),
    };
    let date = date_text(sky, day);
    Error::NoEclipse(format!("there is no {what} on {date}; {text}{}", julian_text(sky, day)))
}

/// How dates count, before the Gregorian calendar came into use: books have the dates of the Julian one.
fn julian_text(sky: &Sky, day: Time) -> String {
    let delta_t = sky.options().delta_t;
    let reform = Time::parse(GREGORIAN, delta_t).map_or(day, |(time, _)| time);
    if day >= reform {
        return String::new();
    }
    let days = day.clock(delta_t).0;
    // Days by which the Julian calendar is behind: from March on that of the year, before that of the year before.
    let (year, month, _) = date_from_days(days);
    let century = (if month > 2 { year } else { year - 1 }).div_euclid(100);
    let behind = century - century.div_euclid(4) - 2;
    let meant = date_text(sky, day.plus(86_400.0 * behind as f64));
    format!("; dates are in the Gregorian calendar: that day of the Julian calendar is {meant}")
}

/// The solar eclipse of a date or an instant; an error that names the next one if there is none.
pub(crate) fn solar_eclipse(sky: &Sky, date: &str) -> Result<Box<umbracast_sky::SolarEclipse>> {
    let (time, _) = sky.parse_time(date)?;
    match Event::on(sky, time, DatePrecision::Day)? {
        Some(Event::Eclipse(Eclipse::Solar(eclipse))) => Ok(eclipse),
        other => {
            let other = match other {
                Some(Event::Transit(transit)) => format!("; that day has a transit of {}", transit.planet.name()),
                Some(Event::Eclipse(_)) => "; that day has a lunar eclipse".into(),
                None => String::new(),
            };
            let see = if other.is_empty() { "" } else { ": see `umbracast eclipse`" };
            let none = no_eclipse(sky, time, "solar eclipse", Some(EclipseBody::Solar));
            Err(Error::NoEclipse(format!("{none}{other}{see}")))
        }
    }
}

/// The first row of a table: the names of its columns, without their commas.
pub(crate) fn headings(names: &str) -> Vec<String> {
    names.split(',').map(String::from).collect()
}

/// Rows as a table with aligned columns. The first `left` columns are aligned to the left.
pub(crate) fn table(rows: &[Vec<String>], left: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|c| c.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let gap = if column > 0 { "  " } else { "" };
            line += &if column < left { format!("{gap}{cell:<width$}") } else { format!("{gap}{cell:>width$}") };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}
