//! Reader of places: latitudes, longitudes, heights and names.

use std::path::Path;

use strsim::levenshtein;

use super::csv::wide_number;
use super::small_csv::{SmallColumn, SmallCsv};
use crate::error::Result;
use crate::error::bad_file;
use crate::escape::quoted;
use umbracast_sky::Place;
use umbracast_sky::parse_degrees;

/// The columns: the first name of each is used in messages.
const COLUMNS: [SmallColumn; 4] = [
    SmallColumn { names: &["latitude", "lat"], units: Some(&["deg", "n", "degn", "°n"]) },
    SmallColumn { names: &["longitude", "lon", "lng", "long"], units: Some(&["deg", "e", "dege", "°e"]) },
    SmallColumn { names: &["height_m", "height", "elevation", "altitude", "elev", "alt"], units: Some(&["m"]) },
    SmallColumn { names: &["name", "place", "city"], units: None },
];

/// Reads places from a `.csv`: columns `latitude` (or `lat`) and `longitude` (or `lon`) in degrees (`-33.87` or `33.87 S`), and optional
/// `height_m` (or `height`) in metres and `name`, in any order and any case. A name may have the unit, such as `Height (m)`; another unit is an
/// error. Other columns are ignored, unless their name is like one of these. A place without a name has an empty one.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) if the file cannot be read; [`Error::BadFile`](crate::Error::BadFile) with the line, the column and the
/// value if it cannot be parsed or a number is out of range.
pub fn read_places(path: &Path) -> Result<Vec<(String, Place)>> {
    let csv = SmallCsv::read(path, "places", &COLUMNS)?;
    let [latitude, longitude, height, name] = [0, 1, 2, 3].map(|column| csv.column(COLUMNS[column].names));
    for unknown in csv.unknown() {
        let short: String = unknown.to_ascii_lowercase().chars().take(20).collect();
        let is_like = |known: &&str| known.len() > 5 && levenshtein(&short, known) <= 2;
        if let Some(like) = COLUMNS.iter().find(|column| column.names.iter().any(is_like)) {
            let (unknown, like) = (quoted(unknown), like.names[0]);
            return Err(bad_file(path, format!("unknown column '{unknown}' (did you mean '{like}'?)")));
        }
    }
    let needed = |at: Option<usize>, names: &[&str]| at.ok_or_else(|| csv.missing(names[0]));
    let (latitude, longitude) = (needed(latitude, COLUMNS[0].names)?, needed(longitude, COLUMNS[1].names)?);
    let mut places = Vec::new();
    for (place, record) in &csv.rows {
        let cell = |at: usize| record.get(at).unwrap_or("");
        let bad = |why: String| bad_file(path, format!("{}: {why}", place.describe(path)));
        let known = |at: usize, field: &str, number: Option<f64>| {
            number.ok_or_else(|| bad(format!("{field} is '{}': expected a number", quoted(cell(at)))))
        };
        // `0d30` is half a degree to some, so exponents with `d` are for heights alone.
        let degrees = |at: usize, sides| parse_degrees(cell(at), sides);
        let height_m = match height {
            Some(at) if !cell(at).is_empty() => known(at, COLUMNS[2].names[0], wide_number(cell(at)))?,
            _ => 0.0,
        };
        let found = Place {
            latitude: known(latitude, COLUMNS[0].names[0], degrees(latitude, ['N', 'S']))?,
            longitude: known(longitude, COLUMNS[1].names[0], degrees(longitude, ['E', 'W']))?,
            height_m,
        };
        if let Err(umbracast_sky::Error::Umbracast(umbracast::Error::BadRecord { field, value, why, .. })) =
            found.check(0)
        {
            return Err(bad(format!("{field} is {value}: {why}")));
        }
        places.push((name.and_then(|at| record.get(at)).unwrap_or("").to_string(), found));
    }
    if places.is_empty() {
        return Err(bad_file(path, "the file contains no places"));
    }
    Ok(places)
}
