//! Reader of state vectors: tables of JPL Horizons, and CSV.

use std::path::{Path, PathBuf};

use ::csv::StringRecord;
use glam::DVec3;

use super::csv;
use super::small_csv::{SmallColumn, SmallCsv, read_small_text};
use super::trajectories::instant;
use crate::error::{Error, Result};
use crate::error::{bad_file, cannot_read, name_of_file};
use crate::escape::quoted;
use crate::schema::convert::RowLocation;
use umbracast_sky::{AU_KM, BodyVectors, DeltaT, Ephemeris, Error as SkyError, SkyBody, VectorRow, known_radius};

/// Obliquity of the ecliptic of J2000 that Horizons uses, in degrees: 84,381.448″.
const OBLIQUITY_DEG: f64 = 84_381.448 / 3600.0;
/// Seconds per day.
const DAY_S: f64 = 86_400.0;
/// Units of length, in km, and of velocity, in km/s, by their name in Horizons.
const UNITS: [(&str, [f64; 2]); 3] =
    [("KM-S", [1.0, 1.0]), ("KM-D", [1.0, 1.0 / DAY_S]), ("AU-D", [AU_KM, AU_KM / DAY_S])];
/// Names of axes in Horizons, and whether they are those of the ecliptic of J2000, not of the ICRF.
const AXES: [(&str, bool); 5] = [
    ("ICRF", false),
    ("ICRF/J2000.0", false),
    ("Earth Mean Equator and Equinox of Reference Epoch", false),
    ("Ecliptic of J2000.0", true),
    ("Ecliptic and Mean Equinox of Reference Epoch", true),
];
/// Names of the numbers of a row.
const FIELDS: [&str; 6] = ["x", "y", "z", "vx", "vy", "vz"];
/// The columns of a CSV.
const COLUMNS: [SmallColumn; 8] = [
    SmallColumn { names: &["time"], units: Some(&["utc"]) },
    SmallColumn { names: &["jd_tdb", "jdtdb"], units: Some(&["d", "tdb"]) },
    SmallColumn { names: &["x"], units: Some(&["km"]) },
    SmallColumn { names: &["y"], units: Some(&["km"]) },
    SmallColumn { names: &["z"], units: Some(&["km"]) },
    SmallColumn { names: &["vx"], units: Some(&["km/s"]) },
    SmallColumn { names: &["vy"], units: Some(&["km/s"]) },
    SmallColumn { names: &["vz"], units: Some(&["km/s"]) },
];

/// Where the positions of a body are, and its radius.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorSource {
    /// The body, as `NAME` or `NAME@CENTER`.
    pub body: String,
    /// The file of state vectors. `None`: the ephemeris.
    pub path: Option<PathBuf>,
    /// The radius in km; large moons need none.
    pub radius_km: Option<f64>,
}

/// The name of a body without its centre, in small letters.
fn name_of(body: &str) -> String {
    body.split('@').next().unwrap_or("").trim().to_lowercase()
}

/// Reads an ephemeris: an SPK file, `.bsp`, with segments of type 2, 3, 9 or 13, such as JPL's DE440. The name of the ephemeris is that of the file.
/// The whole file is kept in memory.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read; [`Error::BadFile`] if it is no such file, or if Sun, Moon or Earth are missing;
/// [`OutOfMemory`](umbracast::Error::OutOfMemory) if it is too large.
pub fn read_ephemeris(path: &Path) -> Result<Ephemeris> {
    let found = Ephemeris::from_bytes(read_spk(path)?);
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    found.map(|found| found.with_name(&quoted(&name))).map_err(|error| bad_file(path, error.to_string()))
}

/// The bytes of an SPK file.
pub(super) fn read_spk(path: &Path) -> Result<Vec<u8>> {
    let unread = |error| cannot_read(path, error);
    let about = std::fs::metadata(path).map_err(unread)?;
    if !about.is_file() {
        return Err(bad_file(path, "an ephemeris must be a file, because its parts are read in any order"));
    }
    umbracast::memory::check("an ephemeris", about.len())?;
    std::fs::read(path).map_err(unread)
}

/// The bodies with these names: those with state vectors, which are read, those that every ephemeris has, and others of an SPK file. Every name
/// of `vectors` must be listed, with its centre or without.
///
/// # Errors
/// [`InvalidArgument`](umbracast::Error::InvalidArgument) for a name that is unknown, for vectors of a body that is not listed, and for a radius of a
/// body that has one;
/// [`Error::Io`] if a file cannot be read; [`Error::BadFile`] if it cannot be parsed.
pub fn read_bodies(
    names: &[&str],
    vectors: &[VectorSource],
    ephemeris: &Ephemeris,
    delta_t: DeltaT,
) -> Result<(Vec<SkyBody>, Vec<BodyVectors>)> {
    if let Some(one) = vectors.iter().find(|one| !names.iter().any(|name| name_of(name) == name_of(&one.body))) {
        let what = if one.path.is_some() { "are vectors" } else { "is a radius" };
        let message = format!("there {what} of '{}', which is not one of the bodies", quoted(&one.body));
        return Err(umbracast::Error::InvalidArgument(message).into());
    }
    let (mut bodies, mut found) = (Vec::new(), Vec::new());
    for name in names {
        let own = vectors.iter().find(|one| name_of(&one.body) == name_of(name));
        let radius_km = own.and_then(|one| one.radius_km);
        match (own.and_then(|one| one.path.as_ref().map(|path| (&one.body, path))), body_named(name)) {
            (Some((body, path)), _) => found.push(read_vectors(body, path, radius_km, delta_t)?),
            (None, Ok(body)) if radius_km.is_none() => bodies.push(body),
            (None, Ok(body)) => {
                let message = format!("the radius of {} is known: give radii of other bodies only", body.name());
                return Err(umbracast::Error::InvalidArgument(message).into());
            }
            (None, Err(unknown)) if ephemeris.is_built_in() => {
                let message = format!("{unknown}; others need an SPK file as the ephemeris, or vectors");
                return Err(umbracast::Error::InvalidArgument(message).into());
            }
            (None, Err(_)) => {
                let body = BodyVectors::of_ephemeris(ephemeris, name.trim(), radius_km);
                found.push(body.map_err(|error| umbracast::Error::InvalidArgument(error.to_string()))?);
            }
        }
    }
    Ok((bodies, found))
}

/// The body with this name.
fn body_named(name: &str) -> Result<SkyBody> {
    Ok(SkyBody::from_name(name).map_err(|error| umbracast::Error::InvalidArgument(error.to_string()))?)
}

/// Reads state vectors of a body, relative to the centre of another body. `body` is `NAME` or `NAME@CENTER`, such as `io@jupiter`;
/// `radius_km` may be omitted for large moons. `delta_t` is used for times before 1972 only.
///
/// The file is a vector table of JPL Horizons, as text or as CSV, in the units `KM-S`, `KM-D` or `AU-D` and in the axes of the ICRF or of
/// the ecliptic of J2000; it names the centre, which must be that of a body and not a barycentre. Or it is a CSV with the columns `time`
/// (an instant in UTC) or `jd_tdb` (a Julian date in TDB), `x,y,z` in km in the axes of the ICRF, and optional `vx,vy,vz` in km/s; then
/// `body` names the centre. Lines that start with `#` are comments.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read; [`Error::BadFile`] with the line, the field and the value if it cannot be parsed, has other
/// units or axes, a barycentre, or is incomplete; the errors of [`BodyVectors::new`].
pub fn read_vectors(body: &str, path: &Path, radius_km: Option<f64>, delta_t: DeltaT) -> Result<BodyVectors> {
    let (name, center) = match body.split_once('@') {
        Some((name, center)) => (name.trim(), Some(body_named(center)?)),
        None => (body.trim(), None),
    };
    let text = read_small_text(path, "vectors")?;
    let is_page = text.lines().any(|line| line.trim() == "$$SOE");
    if !is_page && text.contains("$$SOE") {
        let why =
            "$$SOE is not on a line of its own: save the page of Horizons as text (of its API: format=text, not json)";
        return Err(bad_file(path, why));
    }
    let table = if is_page { horizons(path, &text, name)? } else { csv_table(path, delta_t)? };
    let center = match (center, table.center) {
        (Some(given), Some(found)) if given != found => {
            let (given, found) = (given.name(), found.name());
            return Err(bad_file(path, format!("the centre of the vectors is {found}, not {given}")));
        }
        (Some(center), _) | (None, Some(center)) => center,
        (None, None) => {
            let name = quoted(name);
            let message = format!(
                "the file does not name the centre of the vectors: expected {name}@CENTER, such as {name}@jupiter"
            );
            return Err(bad_file(path, message));
        }
    };
    let rows = table.rows.iter().map(|row| state(path, row, table.is_ecliptic == Some(true))).collect::<Result<_>>()?;
    BodyVectors::new(name, center, radius_km, &name_of_file("read", path), rows).map_err(|error| match error {
        SkyError::Umbracast(umbracast::Error::BadRecord { index, field, value, why, .. }) => {
            let place = table.rows.get(index as usize).map_or(RowLocation::Index(index), |row| row.place);
            bad_row(path, place, &format!("{field} is {value}: {why}"))
        }
        other => bad_file(path, other.to_string()),
    })
}

/// The rows, and what the lines before `$$SOE` of a page of Horizons say.
#[derive(Default)]
struct VectorTable<'a> {
    rows: Vec<Row>,
    center: Option<SkyBody>,
    /// The units of length, in km, and of velocity, in km/s.
    units: Option<[f64; 2]>,
    /// Whether the axes are those of the ecliptic of J2000, not of the ICRF.
    is_ecliptic: Option<bool>,
    /// Names of the columns, beginning with the date. In text, they are on several lines.
    columns: Vec<&'a str>,
    is_csv: bool,
}

/// A row: its place, the seconds of TDB since J2000, and the numbers of [`FIELDS`] in km and km/s.
struct Row {
    place: RowLocation,
    tdb_seconds: f64,
    numbers: [Option<f64>; 6],
}

fn bad_row(path: &Path, place: RowLocation, message: &str) -> Error {
    bad_file(path, format!("{}: {message}", place.describe(path)))
}

fn number(path: &Path, place: RowLocation, field: &str, text: &str) -> Result<f64> {
    let why = || bad_row(path, place, &format!("{field} is '{}': expected a number", quoted(text)));
    csv::wide_number(text.trim()).ok_or_else(why)
}

/// Reads the lines before the table. `name` is that of the body.
fn header<'l>(path: &Path, lines: impl Iterator<Item = (RowLocation, &'l str)>, name: &str) -> Result<VectorTable<'l>> {
    let mut table = VectorTable::default();
    let mut in_columns = false;
    for (at, line) in lines {
        if line.starts_with("JDTDB") || line.starts_with("JDCT") {
            (table.is_csv, in_columns) = (line.contains(','), true);
        }
        in_columns &= !line.starts_with('*');
        if in_columns {
            let names = line.split(if table.is_csv { ',' } else { ' ' }).map(str::trim);
            table.columns.extend(names.filter(|name| !name.is_empty()));
        }
        let (key, value) = line.split_once(':').map_or((line, ""), |(key, value)| (key.trim(), value));
        // Comments such as the source of the data follow in braces.
        let value = value.split('{').next().unwrap_or("").trim();
        let shown = quoted(value);
        let is_barycenter = value.to_ascii_lowercase().contains("barycenter");
        let body = SkyBody::from_name(value.split('(').next().unwrap_or("").trim().trim_end_matches(" Barycenter"));
        let unit = UNITS.iter().find(|unit| unit.0 == value);
        let axes = AXES.iter().find(|axes| axes.0 == value);
        match key {
            "Center body name" => table.center = body.clone().ok(),
            "Output units" => table.units = unit.map(|unit| unit.1),
            // In pages before 2021, which have both lines, `Reference frame` is ICRF for both axes.
            "Reference frame" if table.is_ecliptic.is_some() => {}
            "Reference frame" | "Coordinate systm" => table.is_ecliptic = axes.map(|axes| axes.1),
            _ => {}
        }
        let advice = "in Horizons, choose the Coordinate Center";
        let why = match (key, body) {
            _ if line.starts_with("JDUT") => {
                "the times are in UT: expected TDB; in Horizons, choose the time scale TDB".into()
            }
            ("Target body name", _) if is_barycenter => {
                format!("the target is '{shown}', a barycentre: in Horizons, choose the body itself")
            }
            // A radius by the name of another body would be wrong, too.
            ("Target body name", _)
                if known_radius(name).is_some() && !value.split(' ').any(|own| own.eq_ignore_ascii_case(name)) =>
            {
                format!("the target is '{shown}', not {}", quoted(name))
            }
            ("Center body name", Err(_)) if is_barycenter => {
                format!("the centre is '{shown}', which is no body: {advice} of a body, such as Sun (body center)")
            }
            ("Center body name", Err(error)) => format!("center body: {error}"),
            // The barycentres of these three are their centres, within a metre.
            ("Center body name", Ok(found))
                if is_barycenter && !matches!(found, SkyBody::Mercury | SkyBody::Venus | SkyBody::Mars) =>
            {
                let name = found.name();
                format!("the centre is '{shown}', which is not the centre of {name}: {advice} {name} (body center)")
            }
            ("Center-site name", _) if !matches!(value, "BODY CENTER" | "GEOCENTRIC") => {
                format!("the positions are relative to '{shown}', a place on the body: {advice} (body center)")
            }
            ("Output units", _) if unit.is_none() => {
                format!("the units are '{shown}': expected KM-S, KM-D or AU-D")
            }
            ("Output type", _) if value != "GEOMETRIC cartesian states" => {
                format!("the output type is '{shown}': expected GEOMETRIC cartesian states")
            }
            ("Reference frame" | "Coordinate systm", _) if axes.is_none() => {
                format!("the reference frame is '{shown}': expected ICRF or Ecliptic of J2000.0")
            }
            _ => continue,
        };
        return Err(bad_row(path, at, &why));
    }
    Ok(table)
}

/// A table of JPL Horizons: a header, and rows between `$$SOE` and `$$EOE`. `name` is that of the body.
fn horizons<'l>(path: &Path, text: &'l str, name: &str) -> Result<VectorTable<'l>> {
    let mut lines = text.lines().enumerate().map(|(at, line)| (RowLocation::Line(at + 1), line.trim()));
    let mut table = header(path, lines.by_ref().take_while(|(_, line)| *line != "$$SOE"), name)?;
    let missing = |line: &str| {
        bad_file(path, format!("there is no line `{line}` before $$SOE: expected a vector table of Horizons"))
    };
    let units = table.units.ok_or_else(|| missing("Output units : KM-S"))?;
    table.is_ecliptic.ok_or_else(|| missing("Reference frame : ICRF"))?;
    // The columns that cells without labels of this row have not filled.
    let mut columns = table.columns.iter();
    for (at, line) in lines {
        if line == "$$EOE" {
            return Ok(table);
        }
        // In text, a line with the date begins a row. In a CSV, each line is one.
        let (dated, mut rest) = match table.is_csv {
            true => (Some(line.split_once(',').unwrap_or((line, ""))), ""),
            false => (line.split_once('=').filter(|_| line.starts_with(|c: char| c.is_ascii_digit())), line),
        };
        if let Some((date, after)) = dated {
            // `CT` is the name of TDB in old pages.
            let is_tdb = |word| matches!(word, "TDB" | "CT");
            if !table.is_csv && !after.split(|c: char| !c.is_alphanumeric()).any(is_tdb) {
                return Err(bad_row(path, at, &format!("the time is '{}': expected a time in TDB", quoted(line))));
            }
            let tdb_seconds = seconds_of(number(path, at, "JDTDB", date)?);
            table.rows.push(Row { place: at, tdb_seconds, numbers: [None; 6] });
            columns = table.columns[..].iter();
            columns.next();
            rest = if table.is_csv { after } else { "" };
        }
        let has_labels = !table.is_csv && line.contains('=');
        let mut cells = rest.split(if table.is_csv { &[','][..] } else { &['=', ' '] });
        let mut next = || cells.find(|cell| table.is_csv || !cell.is_empty());
        while let (Some(row), Some(cell)) = (table.rows.last_mut(), next()) {
            let (name, cell) = match has_labels {
                true => (cell, next().unwrap_or("")),
                false => (columns.next().copied().unwrap_or(""), cell),
            };
            if let Some(field) = FIELDS.iter().position(|field| field.eq_ignore_ascii_case(name)) {
                row.numbers[field] = Some(number(path, at, name, cell)? * units[field / 3]);
            }
        }
    }
    Err(bad_file(path, "the table does not end with $$EOE: the file is incomplete"))
}

/// A CSV with named columns.
fn csv_table(path: &Path, delta_t: DeltaT) -> Result<VectorTable<'static>> {
    let csv = SmallCsv::read(path, "vectors", &COLUMNS)?;
    let [utc, julian] = ["time", "jd_tdb"].map(|name| csv.column(&[name]));
    if utc.is_some() && julian.is_some() {
        return Err(bad_file(path, "both time and jd_tdb are given: leave one of them out"));
    }
    let time = julian.or(utc).ok_or_else(|| csv.missing("time` or `jd_tdb"))?;
    let fields = FIELDS.map(|name| csv.column(&[name]));
    // Velocities are complete or absent.
    let needed = if fields[3..].iter().any(Option::is_some) { 6 } else { 3 };
    if let Some(at) = fields[..needed].iter().position(Option::is_none) {
        return Err(csv.missing(FIELDS[at]));
    }
    let row = |(place, record): &(RowLocation, StringRecord)| {
        let cell = |at: usize| record.get(at).unwrap_or("");
        let mut numbers = [None; 6];
        for ((own, at), field) in numbers.iter_mut().zip(fields).zip(FIELDS) {
            *own = at.map(|at| number(path, *place, field, cell(at))).transpose()?;
        }
        let tdb_seconds = match julian {
            Some(at) => seconds_of(number(path, *place, "jd_tdb", cell(at))?),
            None => instant(cell(time), delta_t).map_err(|why| bad_row(path, *place, &why))?.tdb_seconds(),
        };
        Ok(Row { place: *place, tdb_seconds, numbers })
    };
    let rows = csv.rows.iter().map(row).collect::<Result<_>>()?;
    Ok(VectorTable { rows, ..VectorTable::default() })
}

/// The state of a row in the axes of the ICRF.
fn state(path: &Path, row: &Row, is_ecliptic: bool) -> Result<VectorRow> {
    let (sine, cosine) = if is_ecliptic { OBLIQUITY_DEG.to_radians().sin_cos() } else { (0.0, 1.0) };
    let vector = |first: usize| {
        let [x, y, z] = [0, 1, 2].map(|axis| row.numbers[first + axis]);
        let (x, y, z) = (x?, y?, z?);
        Some(DVec3::new(x, cosine * y - sine * z, sine * y + cosine * z))
    };
    let position = vector(0).ok_or_else(|| {
        let missing = row.numbers.iter().position(Option::is_none).map_or("x", |field| FIELDS[field]);
        bad_row(path, row.place, &format!("the row has no {}", missing.to_uppercase()))
    })?;
    Ok(VectorRow { tdb_seconds: row.tdb_seconds, position, velocity: vector(3) })
}

/// Seconds since J2000 of a Julian date.
fn seconds_of(julian_date: f64) -> f64 {
    (julian_date - 2_451_545.0) * DAY_S
}
