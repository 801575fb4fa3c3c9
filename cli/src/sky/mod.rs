//! Commands about the sky: eclipses, local circumstances and systems of a date.

pub(crate) mod circumstances;
pub(crate) mod eclipse;
mod instant;
pub(crate) mod list;
pub(crate) mod map;
pub(crate) mod system;
mod table_file;
mod visible;

use crate::error::{Error, Result};
use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};
use umbracast_sky::{DeltaT, Eclipse, LunarRule, Place, Radii, Sky, SkyOptions, Time};

use super::args::words;

/// Conventions for eclipses.
#[derive(Debug, Args)]
#[command(next_help_heading = "Conventions")]
pub(crate) struct SkyArgs {
    /// TT - UT1 in seconds [default: a table, extrapolated after 2027]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = delta_t)]
    delta_t: Option<f64>,
    /// Radii of Sun and Moon
    #[arg(long, default_value = "iau", value_parser = words([
        ("iau", "695,700 km and 1,737.4 km", Radii::Iau),
        ("nasa", "those of NASA's catalogues: the Moon's k is 0.272508 for partial phases, 0.272281 for total and annular ones", Radii::Nasa),
    ]))]
    radii: Radii,
}

/// The convention for lunar eclipses.
#[derive(Debug, Args)]
#[command(next_help_heading = "Conventions")]
pub(crate) struct LunarArgs {
    /// Enlargement of the Earth's shadow in lunar eclipses
    #[arg(long, default_value = "danjon", value_parser = words([
        ("danjon", "the Earth's parallax is enlarged by 1 %, as in NASA's Five Millennium Canon", LunarRule::Danjon),
        ("chauvenet", "the shadow is enlarged by 1/50, as in the Astronomical Almanac and in NASA's catalogues before 2009", LunarRule::Chauvenet),
        ("plus88", "a sphere of 6,371 + 88 km", LunarRule::Plus88),
        ("none", "a sphere of 6,371 km, no atmosphere", LunarRule::None),
        ("equator", "a sphere of 6,378.137 km, no atmosphere", LunarRule::Equator),
    ]))]
    lunar_rule: LunarRule,
}

/// What a command prints to standard output instead of a table.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print CSV on stdout
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print one JSON object on stdout; with -o, a summary
    #[arg(long)]
    json: bool,
    /// No line about conventions and no progress
    #[arg(short, long)]
    quiet: bool,
}

/// Parser of `--delta-t`.
fn delta_t(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (-1000.0..=10_000.0).contains(&seconds) => Ok(seconds),
        Ok(_) => Err("expected -1000 to 10000 seconds".into()),
        Err(_) => Err("expected a number of seconds".into()),
    }
}

impl SkyArgs {
    /// For commands whose results do not depend on the rule for lunar eclipses.
    pub(crate) fn sky(&self) -> Sky {
        self.sky_with(LunarRule::default())
    }

    pub(crate) fn sky_with(&self, lunar_rule: LunarRule) -> Sky {
        let delta_t = self.delta_t.map_or(DeltaT::Table, DeltaT::Seconds);
        Sky::new(SkyOptions { delta_t, radii: self.radii, lunar_rule })
    }
}

/// The conventions of a result.
#[derive(Serialize)]
pub(crate) struct Conventions {
    ephemeris: String,
    radii: &'static str,
    sun_radius_km: f64,
    moon_radius_km: f64,
    moon_radius_central_km: f64,
    delta_t_s: f64,
    delta_t_source: &'static str,
    /// Only of commands whose results depend on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    lunar_rule: Option<&'static str>,
    time_scale: &'static str,
}

impl Conventions {
    /// Those at an instant.
    pub(crate) fn at(sky: &Sky, time: Time) -> Self {
        let SkyOptions { delta_t, radii, lunar_rule } = sky.options();
        let source = match delta_t {
            DeltaT::Seconds(_) => "given",
            DeltaT::Table if delta_t.is_extrapolated(time) => "extrapolated",
            DeltaT::Table => "table",
        };
        Self {
            ephemeris: sky.ephemeris().name().to_string(),
            radii: radii.name(),
            sun_radius_km: radii.sun_km(),
            moon_radius_km: radii.moon_partial_km(),
            moon_radius_central_km: radii.moon_central_km(),
            delta_t_s: rounded(delta_t.seconds_at(time), 3),
            delta_t_source: source,
            lunar_rule: Some(lunar_rule.name()),
            time_scale: time.scale(delta_t),
        }
    }

    /// Those of results that do not depend on the rule for lunar eclipses.
    pub(crate) fn without_lunar_rule(sky: &Sky, time: Time) -> Self {
        Self { lunar_rule: None, ..Self::at(sky, time) }
    }

    /// One line of text.
    pub(crate) fn line(&self, solar: bool) -> String {
        let moon = if self.moon_radius_km == self.moon_radius_central_km {
            format!("{:.1} km", self.moon_radius_km)
        } else {
            format!("{:.3} km, central phases {:.3} km", self.moon_radius_km, self.moon_radius_central_km)
        };
        let rule = self.lunar_rule.filter(|_| !solar).map_or(String::new(), |rule| format!("; lunar rule {rule}"));
        format!(
            "times in {}; ephemeris {}; radii {} (Sun {:.0} km, Moon {moon}); delta T {:.2} s ({}){rule}",
            self.time_scale, self.ephemeris, self.radii, self.sun_radius_km, self.delta_t_s, self.delta_t_source
        )
    }

    /// The conventions in one line of text, for a list of eclipses. Delta T differs between eclipses, so the list has a column for it.
    pub(crate) fn list_line(&self) -> String {
        let line =
            self.line(false).replacen(&format!("times in {}", self.time_scale), "times in UTC (UT1 before 1972)", 1);
        let own = format!("delta T {:.2} s ({})", self.delta_t_s, self.delta_t_source);
        if self.delta_t_source == "given" { line } else { line.replacen(&own, "delta T as listed", 1) }
    }

    pub(crate) fn json(&self) -> Value {
        json!(self)
    }
}

/// Rounds a number to `decimals` decimals, for JSON.
pub(crate) fn rounded(number: f64, decimals: i32) -> f64 {
    let factor = 10_f64.powi(decimals);
    let rounded = (number * factor).round() / factor;
    // Not −0.
    rounded + 0.0
}

/// `25.2896 N, 104.1479 W`.
pub(crate) fn place_text(place: &Place) -> String {
    let side = |value: f64, positive: char, negative: char| {
        format!("{:.4} {}", value.abs(), if value < 0.0 { negative } else { positive })
    };
    format!("{}, {}", side(place.latitude, 'N', 'S'), side(place.longitude, 'E', 'W'))
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
    time.text(0, sky.options().delta_t).to_string().chars().take(10).collect()
}

/// `there is no ECLIPSE on DATE; the next one is …`.
pub(crate) fn no_eclipse(
    sky: &Sky,
    day: Time,
    what: &str,
    which: impl Fn(bool) -> bool,
) -> Result<(String, Option<Eclipse>)> {
    let delta_t = sky.options().delta_t;
    let (_, end) = day.day(delta_t);
    // On the last day of 2050, nothing follows.
    let next = if end < Time::of_year(2051, delta_t) { sky.next_eclipse(end, which)? } else { None };
    let text = match &next {
        Some(next) => {
            format!("the next one is the {} of {}", eclipse_name(next), date_text(sky, next.greatest()))
        }
        None => "there is none after it until the end of 2050".into(),
    };
    Ok((format!("there is no {what} on {}; {text}", date_text(sky, day)), next))
}

/// The solar eclipse of a date or an instant; an error that names the next one if there is none.
pub(crate) fn solar_eclipse(sky: &Sky, date: &str) -> Result<Box<umbracast_sky::SolarEclipse>> {
    let (time, _) = sky.parse_time(date)?;
    match sky.eclipse_on(time)? {
        Some(Eclipse::Solar(eclipse)) => Ok(eclipse),
        other => {
            let text = no_eclipse(sky, time, "solar eclipse", |solar| solar)?.0;
            let lunar = other.map_or("", |_| "; that day has a lunar eclipse: see `umbracast eclipse`");
            Err(Error::Usage(text + lunar))
        }
    }
}

/// A row of CSV: cells with a comma, a quote or a line break are quoted.
pub(crate) fn csv_row(cells: &[String]) -> String {
    let cell = |text: &String| {
        if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.clone() }
    };
    cells.iter().map(cell).collect::<Vec<_>>().join(",") + "\n"
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
