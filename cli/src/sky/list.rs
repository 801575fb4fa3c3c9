//! `umbracast eclipse --list`: a table of the eclipses of some years.

use std::path::Path;

use crate::error::{Error, Result};
use serde_json::{Value, json};
use umbracast_files::escape::quoted;
use umbracast_sky::{Eclipse, Sky, Time};

use super::{Conventions, csv_row, rounded, table, table_file};
use crate::{print, print_json, print_summary, say};

/// Format of the output.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Table,
    Csv,
    Json,
}

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
            if (1900..=2050).contains(&year) { Ok(year) } else { Err(format!("{year} is not in 1900 to 2050")) }
        };
        let (first, last) = (year(first)?, year(last)?);
        if first > last {
            return Err(format!("{first} is after {last}"));
        }
        Ok(Self { first, last })
    }
}

/// Columns of an eclipse in lists.
const COLUMNS: [&str; 10] = [
    "date",
    "greatest",
    "body",
    "kind",
    "gamma",
    "magnitude",
    "latitude",
    "longitude",
    "central_duration_s",
    "delta_t_s",
];

/// Cells of an eclipse. Numbers have their full precision in CSV only.
fn cells(sky: &Sky, eclipse: &Eclipse) -> Vec<String> {
    let delta_t = sky.options().delta_t;
    let time = eclipse.greatest();
    let (place, duration) = match eclipse {
        Eclipse::Solar(one) => (one.greatest.place, one.greatest.central_duration_s),
        Eclipse::Lunar(one) => (one.zenith, one.u3.zip(one.u2).map(|(end, start)| end.seconds_since(start))),
    };
    vec![
        super::date_text(sky, time),
        time.text(1, delta_t).to_string(),
        eclipse.body().into(),
        eclipse.kind().into(),
        format!("{:.4}", eclipse.gamma()),
        format!("{:.4}", eclipse.magnitude()),
        format!("{:.4}", place.latitude),
        format!("{:.4}", place.longitude),
        duration.map_or(String::new(), |seconds| format!("{seconds:.1}")),
        format!("{:.2}", delta_t.seconds_at(time)),
    ]
}

/// One eclipse as JSON.
pub(crate) fn short_json(sky: &Sky, eclipse: &Eclipse) -> Value {
    let cells = cells(sky, eclipse);
    let number = |at: usize| cells[at].parse::<f64>().ok();
    json!({
        "date": cells[0], "greatest": cells[1], "body": cells[2], "kind": cells[3], "gamma": number(4),
        "magnitude": number(5), "latitude": number(6), "longitude": number(7), "central_duration_s": number(8),
        "delta_t_s": rounded(sky.options().delta_t.seconds_at(eclipse.greatest()), 3),
    })
}

/// One or several eclipses as CSV.
pub(crate) fn csv_text(sky: &Sky, eclipses: &[Eclipse]) -> String {
    let mut text = csv_row(&COLUMNS.map(String::from));
    for eclipse in eclipses {
        text += &csv_row(&cells(sky, eclipse));
    }
    text
}

/// Prints the eclipses of some years, or writes them to `output`.
pub(crate) fn run(
    sky: &Sky,
    years: Years,
    which: impl Fn(bool) -> bool,
    format: Format,
    output: Option<&Path>,
    quiet: bool,
) -> Result<()> {
    if let Some(output) = output {
        if format == Format::Csv {
            return Err(Error::Usage("--csv prints the table: with -o, the extension selects the format".into()));
        }
        table_file::check(output, &[])?;
    }
    let delta_t = sky.options().delta_t;
    let (first, end) = (Time::of_year(years.first, delta_t), Time::of_year(years.last + 1, delta_t));
    let eclipses = sky.eclipses(first, end, which)?;
    if eclipses.is_empty() {
        return Err(Error::Usage("there is no such eclipse in these years".into()));
    }
    let conventions = Conventions::at(sky, eclipses[0].greatest());
    let list_json = || {
        let list: Vec<Value> = eclipses.iter().map(|one| short_json(sky, one)).collect();
        json!({ "eclipses": list, "conventions": conventions.json() })
    };
    if let Some(output) = output {
        table_file::write(output, || csv_text(sky, &eclipses), list_json)?;
        let count = eclipses.len();
        let value = json!({ "eclipses": count, "output": output, "conventions": conventions.json() });
        let line = format!("{count} eclipses; {}; wrote {}", conventions.list_line(), output.display());
        return print_summary(&value, &line, format == Format::Json, quiet);
    }
    if format == Format::Json {
        return print_json(&list_json());
    }
    if format == Format::Csv {
        print(&csv_text(sky, &eclipses))?;
    } else {
        let mut rows = vec![
            ["greatest eclipse", "body", "kind", "gamma", "magnitude", "latitude", "longitude", "duration", "delta T"]
                .map(String::from)
                .to_vec(),
        ];
        rows.extend(eclipses.iter().map(|one| cells(sky, one)[1..].to_vec()));
        print(&table(&rows, 3))?;
    }
    if !quiet {
        say(&conventions.list_line());
    }
    Ok(())
}
