//! Reader of state vectors: tables of JPL Horizons, and CSV.

use std::path::{Path, PathBuf};

use glam::DVec3;

use super::small_csv::{SmallColumn, SmallCsv, read_small_text};
use crate::error::{Error, Result};
use crate::error::{bad_file, cannot_read, name_of_file};
use crate::escape::quoted;
use umbracast_sky::{
    AU_KM, BodyVectors, DatePrecision, DeltaT, Ephemeris, Error as SkyError, SkyBody, Time, VectorRow, known_radius,
};

/// Obliquity of the ecliptic of J2000 that Horizons uses, in degrees: 84,381.448″.
const OBLIQUITY_DEG: f64 = 84_381.448 / 3600.0;
/// Seconds per day.
const DAY_S: f64 = 86_400.0;
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

/// Reads an ephemeris: an SPK file, `.bsp`, with segments of type 2 or 3, such as JPL's DE440. The name of the ephemeris is that of the file.
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
            (None, Err(unknown)) if ephemeris.is_built_in() => return Err(unknown),
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
    let file = VectorFile { path, text: &text };
    let table = match text.lines().any(|line| line.trim() == "$$SOE") {
        true => file.horizons(name)?,
        false if text.contains("$$SOE") => {
            let why = "$$SOE is not on a line of its own: save the page of Horizons as text (of its API: format=text, not json)";
            return Err(bad_file(path, why));
        }
        false => file.csv(delta_t)?,
    };
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
    BodyVectors::new(name, center, radius_km, &name_of_file("read", path), table.rows).map_err(|error| match error {
        SkyError::Umbracast(umbracast::Error::BadRecord { index, field, value, why, .. }) => {
            let line = table.lines.get(index as usize).copied().unwrap_or(0);
            bad_file(path, format!("line {line}: {field} is {value}: {why}"))
        }
        other => bad_file(path, other.to_string()),
    })
}

struct VectorFile<'a> {
    path: &'a Path,
    text: &'a str,
}

#[derive(Default)]
struct VectorTable {
    rows: Vec<VectorRow>,
    /// The line of each row.
    lines: Vec<usize>,
    center: Option<SkyBody>,
}

impl VectorTable {
    fn push(&mut self, line: usize, tdb_seconds: f64, [x, y, z, vx, vy, vz]: [Option<f64>; 6]) {
        let vector = |x: Option<f64>, y: Option<f64>, z: Option<f64>| Some(DVec3::new(x?, y?, z?));
        let position = vector(x, y, z).unwrap_or(DVec3::NAN);
        self.rows.push(VectorRow { tdb_seconds, position, velocity: vector(vx, vy, vz) });
        self.lines.push(line);
    }
}

/// What the lines before `$$SOE` of a page of Horizons say.
#[derive(Default)]
struct HorizonsHeader {
    center: Option<SkyBody>,
    /// The units of length, in km, and of velocity, in km/s.
    units: Option<[f64; 2]>,
    /// Whether the axes are those of the ecliptic, by the line `Reference frame`.
    frame: Option<bool>,
    /// The same by the line `Coordinate systm`, which pages before 2021 have: there, `Reference frame` is ICRF for both.
    system: Option<bool>,
    /// Names of the columns, beginning with the date. In text, they are on several lines.
    columns: Vec<String>,
    is_csv: bool,
    /// Whether the next line continues the names of the columns.
    in_columns: bool,
}

/// A row of a table of Horizons.
#[derive(Default)]
struct HorizonsRow {
    line: usize,
    date: f64,
    numbers: [Option<f64>; 6],
    /// Numbers without labels so far.
    numbers_seen: usize,
}

impl HorizonsHeader {
    /// Reads a line. An error is the reason why the table is refused.
    fn add(&mut self, line: &str, name: &str) -> Result<(), String> {
        if line.starts_with("JDUT") {
            return Err("the times are in UT: expected TDB; in Horizons, choose the time scale TDB".into());
        }
        if line.starts_with("JDTDB") || line.starts_with("JDCT") {
            self.is_csv = line.contains(',');
            self.in_columns = !self.is_csv;
            self.columns = line.split(',').map(|name| name.trim().into()).collect();
            return Ok(());
        }
        self.in_columns &= !line.starts_with('*');
        if self.in_columns {
            self.columns.extend(line.split_whitespace().map(String::from));
        }
        let Some((key, value)) = line.split_once(':') else { return Ok(()) };
        // Comments such as the source of the data follow in braces.
        let value = value.split('{').next().unwrap_or("").trim();
        let shown = quoted(value);
        let is_barycenter = value.to_ascii_lowercase().contains("barycenter");
        let body = value.split('(').next().unwrap_or("").trim().trim_end_matches(" Barycenter");
        let advice = "in Horizons, choose the Coordinate Center";
        match key.trim() {
            "Target body name" if is_barycenter => {
                return Err(format!("the target is '{shown}', a barycentre: in Horizons, choose the body itself"));
            }
            // A radius by the name of another body would be wrong, too.
            "Target body name"
                if known_radius(name).is_some() && !value.split(' ').any(|own| own.eq_ignore_ascii_case(name)) =>
            {
                return Err(format!("the target is '{shown}', not {}", quoted(name)));
            }
            "Center body name" => match SkyBody::from_name(body) {
                // The barycentres of these three are their centres, within a metre.
                Ok(found) if !is_barycenter || matches!(found, SkyBody::Mercury | SkyBody::Venus | SkyBody::Mars) => {
                    self.center = Some(found);
                }
                Ok(found) => {
                    let found = found.name();
                    return Err(format!(
                        "the centre is '{shown}', which is not the centre of {found}: {advice} {found} (body center)"
                    ));
                }
                Err(_) if is_barycenter => {
                    return Err(format!(
                        "the centre is '{shown}', which is no body: {advice} of a body, such as Sun (body center)"
                    ));
                }
                Err(error) => return Err(format!("center body: {error}")),
            },
            "Center-site name" if !matches!(value, "BODY CENTER" | "GEOCENTRIC") => {
                return Err(format!(
                    "the positions are relative to '{shown}', a place on the body: {advice} (body center)"
                ));
            }
            "Output units" => {
                self.units = match value {
                    "KM-S" => Some([1.0, 1.0]),
                    "KM-D" => Some([1.0, 1.0 / DAY_S]),
                    "AU-D" => Some([AU_KM, AU_KM / DAY_S]),
                    _ => return Err(format!("the units are '{shown}': expected KM-S, KM-D or AU-D")),
                };
            }
            "Output type" if value != "GEOMETRIC cartesian states" => {
                return Err(format!("the output type is '{shown}': expected GEOMETRIC cartesian states"));
            }
            "Reference frame" | "Coordinate systm" => {
                let ecliptic = match value {
                    "ICRF" | "ICRF/J2000.0" | "Earth Mean Equator and Equinox of Reference Epoch" => false,
                    "Ecliptic of J2000.0" | "Ecliptic and Mean Equinox of Reference Epoch" => true,
                    _ => return Err(format!("the reference frame is '{shown}': expected ICRF or Ecliptic of J2000.0")),
                };
                *(if key.starts_with('C') { &mut self.system } else { &mut self.frame }) = Some(ecliptic);
            }
            _ => {}
        }
        Ok(())
    }
}

impl VectorFile<'_> {
    fn bad(&self, line: usize, message: &str) -> Error {
        bad_file(self.path, format!("line {line}: {message}"))
    }

    fn number(&self, line: usize, field: &str, text: &str) -> Result<f64> {
        let why = || self.bad(line, &format!("{field} is '{}': expected a number", quoted(text)));
        text.trim().parse().map_err(|_| why())
    }

    /// A table of JPL Horizons: a header, and rows between `$$SOE` and `$$EOE`. `name` is that of the body.
    fn horizons(&self, name: &str) -> Result<VectorTable> {
        let mut lines = self.text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
        let mut header = HorizonsHeader::default();
        for (at, line) in lines.by_ref().take_while(|(_, line)| *line != "$$SOE") {
            header.add(line, name).map_err(|why| self.bad(at, &why))?;
        }
        let missing = |line: &str| {
            let message = format!("there is no line `{line}` before $$SOE: expected a vector table of Horizons");
            bad_file(self.path, message)
        };
        let Some(units) = header.units else { return Err(missing("Output units : KM-S")) };
        let Some(ecliptic) = header.system.or(header.frame) else { return Err(missing("Reference frame : ICRF")) };
        let mut table = VectorTable { center: header.center, ..VectorTable::default() };
        let mut pending: Option<HorizonsRow> = None;
        let mut complete = false;
        for (at, line) in lines {
            let is_end = line == "$$EOE";
            let date = line.split_once('=').filter(|_| line.starts_with(|c: char| c.is_ascii_digit()));
            // In text, a line with the date begins a row. In a CSV, each line is one.
            if (header.is_csv || is_end || date.is_some())
                && let Some(row) = pending.take()
            {
                self.finish(&mut table, &row)?;
            }
            if is_end {
                complete = true;
                break;
            }
            if header.is_csv {
                let mut cells = line.split(',').map(str::trim);
                let date = self.number(at, "JDTDB", cells.next().unwrap_or(""))?;
                let mut row = HorizonsRow { line: at, date, ..HorizonsRow::default() };
                for (name, cell) in header.columns[1..].iter().zip(cells) {
                    self.set(&mut row, at, name, cell, units)?;
                }
                pending = Some(row);
            } else if let Some((date, calendar)) = date {
                // `CT` is the name of TDB in old pages.
                if !calendar.split(|c: char| !c.is_alphanumeric()).any(|word| matches!(word, "TDB" | "CT")) {
                    return Err(self.bad(at, &format!("the time is '{}': expected a time in TDB", quoted(line))));
                }
                let date = self.number(at, "JDTDB", date)?;
                pending = Some(HorizonsRow { line: at, date, ..HorizonsRow::default() });
            } else if let Some(row) = &mut pending {
                let words: Vec<&str> = line.split(['=', ' ']).filter(|word| !word.is_empty()).collect();
                if line.contains('=') {
                    words.chunks_exact(2).try_for_each(|pair| self.set(row, at, pair[0], pair[1], units))?;
                    continue;
                }
                // Without labels, the numbers are in the order of the header.
                for word in words {
                    let name = header.columns.get(1 + row.numbers_seen).map_or("", String::as_str);
                    row.numbers_seen += 1;
                    self.set(row, at, name, word, units)?;
                }
            }
        }
        if !complete {
            return Err(bad_file(self.path, "the table does not end with $$EOE: the file is incomplete"));
        }
        if ecliptic {
            let (sine, cosine) = OBLIQUITY_DEG.to_radians().sin_cos();
            let turn = |v: DVec3| DVec3::new(v.x, cosine * v.y - sine * v.z, sine * v.y + cosine * v.z);
            for row in &mut table.rows {
                (row.position, row.velocity) = (turn(row.position), row.velocity.map(turn));
            }
        }
        Ok(table)
    }

    /// Sets a number of a row of Horizons, if it is a coordinate.
    fn set(&self, row: &mut HorizonsRow, line: usize, name: &str, text: &str, units: [f64; 2]) -> Result<()> {
        if let Some(field) = FIELDS.iter().position(|field| field.eq_ignore_ascii_case(name)) {
            row.numbers[field] = Some(self.number(line, name, text)? * units[field / 3]);
        }
        Ok(())
    }

    /// Adds a row of Horizons, whose time is a Julian date.
    fn finish(&self, table: &mut VectorTable, row: &HorizonsRow) -> Result<()> {
        if let Some(missing) = (0..3).find(|&at| row.numbers[at].is_none()) {
            return Err(self.bad(row.line, &format!("the row has no {}", FIELDS[missing].to_uppercase())));
        }
        table.push(row.line, seconds_of(row.date), row.numbers);
        Ok(())
    }

    /// A CSV with named columns.
    fn csv(&self, delta_t: DeltaT) -> Result<VectorTable> {
        let csv = SmallCsv::read(self.path, "vectors", &COLUMNS)?;
        let (utc, julian) = (csv.column(&["time"]), csv.column(&["jd_tdb"]));
        if utc.is_none() && julian.is_none() {
            return Err(csv.missing("time` or `jd_tdb"));
        }
        let fields = FIELDS.map(|name| csv.column(&[name]));
        // Velocities are complete or absent.
        let needed = if fields[3..].iter().any(Option::is_some) { 6 } else { 3 };
        if let Some(at) = (0..needed).find(|&at| fields[at].is_none()) {
            return Err(csv.missing(FIELDS[at]));
        }
        let mut table = VectorTable::default();
        for (line, record) in &csv.rows {
            let line = *line;
            let cell = |at: usize| record.get(at).unwrap_or("");
            let mut numbers = [None; 6];
            for ((number, at), field) in numbers.iter_mut().zip(fields).zip(FIELDS) {
                *number = at.map(|at| self.number(line, field, cell(at))).transpose()?;
            }
            let seconds = match (julian, utc) {
                (Some(at), _) => seconds_of(self.number(line, "jd_tdb", cell(at))?),
                (None, at) => {
                    let text = cell(at.unwrap_or(0));
                    match Time::parse(text, delta_t) {
                        Ok((time, DatePrecision::Instant)) => time.tdb_seconds(),
                        Ok(_) => {
                            let message =
                                format!("time is '{}': expected an instant, YYYY-MM-DDTHH:MM:SSZ", quoted(text));
                            return Err(self.bad(line, &message));
                        }
                        Err(error) => return Err(self.bad(line, &format!("time: {error}"))),
                    }
                }
            };
            table.push(line, seconds, numbers);
        }
        Ok(table)
    }
}

/// Seconds since J2000 of a Julian date.
fn seconds_of(julian_date: f64) -> f64 {
    (julian_date - 2_451_545.0) * DAY_S
}
