//! Reader of state vectors: tables of JPL Horizons, and CSV.

use std::path::Path;

use glam::DVec3;

use super::small_csv::{SmallColumn, SmallCsv, read_small_text};
use crate::error::{Error, Result};
use crate::escape::quoted;
use crate::io::errors::bad_file;
use crate::sky::{BodyVectors, DatePrecision, DeltaT, SkyBody, Time, VectorRow};

/// Obliquity of the ecliptic of J2000 that Horizons uses, in degrees: 84,381.448″.
const OBLIQUITY_DEG: f64 = 84_381.448 / 3600.0;
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

/// Reads state vectors of a body, relative to the centre of another body. `body` is `NAME` or `NAME@CENTER`, such as `io@jupiter`;
/// `radius_km` may be omitted for large moons. `delta_t` is used for times before 1972 only.
///
/// The file is a vector table of JPL Horizons, as text or as CSV, in km and km/s (`KM-S`) and in the axes of the ICRF or of the ecliptic of
/// J2000; it names the centre. Or it is a CSV with the columns `time` (an instant in UTC) or `jd_tdb` (a Julian date in TDB), `x,y,z` in km
/// in the axes of the ICRF, and optional `vx,vy,vz` in km/s; then `body` names the centre. Lines that start with `#` are comments.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read; [`Error::BadFile`] with the line, the field and the value if it cannot be parsed, has other
/// units or axes, or is incomplete; the errors of [`BodyVectors::new`].
pub fn read_vectors(body: &str, path: &Path, radius_km: Option<f64>, delta_t: DeltaT) -> Result<BodyVectors> {
    let (name, center) = match body.split_once('@') {
        Some((name, center)) => (name.trim(), Some(SkyBody::from_name(center)?)),
        None => (body.trim(), None),
    };
    let text = read_small_text(path, "vectors")?;
    let file = VectorFile { path, text: &text };
    let table = if text.lines().any(|line| line.trim() == "$$SOE") { file.horizons()? } else { file.csv(delta_t)? };
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
    BodyVectors::new(name, center, radius_km, &crate::escape::path(path), table.rows).map_err(|error| match error {
        Error::BadRecord { index, field, value, why, .. } => {
            let line = table.lines.get(index as usize).copied().unwrap_or(0);
            bad_file(path, format!("line {line}: {field} is {value}: {why}"))
        }
        Error::Usage(why) => bad_file(path, why),
        other => other,
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

impl VectorFile<'_> {
    fn bad(&self, line: usize, message: &str) -> Error {
        bad_file(self.path, format!("line {line}: {message}"))
    }

    fn number(&self, line: usize, field: &str, text: &str) -> Result<f64> {
        let why = || self.bad(line, &format!("{field} is '{}': expected a number", quoted(text)));
        text.trim().parse().map_err(|_| why())
    }

    /// A table of JPL Horizons: a header, and rows between `$$SOE` and `$$EOE`.
    fn horizons(&self) -> Result<VectorTable> {
        let mut table = VectorTable::default();
        let mut lines = self.text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
        let (mut ecliptic, mut units, mut columns) = (None, false, Vec::new());
        for (at, line) in lines.by_ref() {
            if line == "$$SOE" {
                break;
            }
            if line.starts_with("JDTDB") {
                columns = line.split(',').map(|name| name.trim().to_ascii_lowercase()).collect();
            }
            let Some((key, value)) = line.split_once(':') else { continue };
            // Comments such as the source of the data follow in braces.
            let value = value.split('{').next().unwrap_or("").trim();
            match key.trim() {
                "Center body name" => {
                    let name = value.split('(').next().unwrap_or("").trim();
                    let name = name.strip_suffix(" Barycenter").unwrap_or(name);
                    table.center =
                        Some(SkyBody::from_name(name).map_err(|error| self.bad(at, &format!("center body: {error}")))?);
                }
                "Output units" if value != "KM-S" => {
                    return Err(
                        self.bad(at, &format!("the units are '{}': expected KM-S, km and seconds", quoted(value)))
                    );
                }
                "Output units" => units = true,
                "Output type" if !value.starts_with("GEOMETRIC") => {
                    return Err(self.bad(at, &format!("the output type is '{}': expected GEOMETRIC", quoted(value))));
                }
                "Reference frame" if value.starts_with("ICRF") => ecliptic = Some(false),
                "Reference frame" if value.starts_with("Ecliptic of J2000") => ecliptic = Some(true),
                "Reference frame" => {
                    let message =
                        format!("the reference frame is '{}': expected ICRF or Ecliptic of J2000.0", quoted(value));
                    return Err(self.bad(at, &message));
                }
                _ => {}
            }
        }
        if !units {
            return Err(bad_file(self.path, "there is no line `Output units : KM-S` before $$SOE"));
        }
        let Some(ecliptic) = ecliptic else {
            return Err(bad_file(self.path, "there is no line `Reference frame : ICRF` before $$SOE"));
        };
        let mut pending: Option<(usize, f64, [Option<f64>; 6])> = None;
        let mut complete = false;
        for (at, line) in lines {
            if line == "$$EOE" {
                complete = true;
                break;
            }
            if !columns.is_empty() {
                let cells: Vec<&str> = line.split(',').collect();
                let cell =
                    |name: &str| columns.iter().position(|column| column == name).and_then(|at| cells.get(at).copied());
                let mut numbers = [None; 6];
                for (number, field) in numbers.iter_mut().zip(FIELDS) {
                    *number = cell(field).map(|text| self.number(at, field, text)).transpose()?;
                }
                let date = self.number(at, "JDTDB", cell("jdtdb").unwrap_or(""))?;
                self.finish(&mut table, (at, date, numbers))?;
            } else if let Some((date, rest)) = line.split_once(" = ").filter(|(date, _)| !date.contains(['X', 'V'])) {
                if let Some(row) = pending.take() {
                    self.finish(&mut table, row)?;
                }
                if !rest.trim().ends_with("TDB") {
                    return Err(self.bad(at, &format!("the time is '{}': expected a time in TDB", quoted(line))));
                }
                pending = Some((at, self.number(at, "JDTDB", date)?, [None; 6]));
            } else if let Some((_, _, numbers)) = &mut pending {
                let spaced = line.replace('=', " = ");
                let words: Vec<&str> = spaced.split_whitespace().collect();
                for triple in words.windows(3).filter(|triple| triple[1] == "=") {
                    let field = FIELDS.iter().position(|field| field.eq_ignore_ascii_case(triple[0]));
                    if let Some(field) = field {
                        numbers[field] = Some(self.number(at, triple[0], triple[2])?);
                    }
                }
            }
        }
        if let Some(row) = pending.take() {
            self.finish(&mut table, row)?;
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

    /// Adds a row of Horizons, whose time is a Julian date.
    fn finish(&self, table: &mut VectorTable, (line, date, numbers): (usize, f64, [Option<f64>; 6])) -> Result<()> {
        if let Some(missing) = (0..3).find(|&at| numbers[at].is_none()) {
            return Err(self.bad(line, &format!("the row has no {}", FIELDS[missing].to_uppercase())));
        }
        table.push(line, seconds_of(date), numbers);
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
    (julian_date - 2_451_545.0) * 86_400.0
}
