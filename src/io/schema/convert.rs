//! What every format has in common: a row of numbers becomes a record, is rounded once, and is checked.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use glam::DVec3;

use super::kinds::{BULLETS, Kind, POINTS, RADII, RADIUS, RAYS, SEGMENTS, SPHERES, TIME, VELOCITY};
use super::rounding::{Role, Rounding};
use crate::batch::raygen::points::check_point;
use crate::bullets::bullet::{Bullet, check_bullet};
use crate::error::{Error, Result};
use crate::escape::quoted;
use crate::io::errors::bad_file;
use crate::query::policy::OnBad;
use crate::query::validate::{check_ray, check_sphere};
use crate::records::{Ray, Sphere};

/// The longest row there is: a sphere with all that may be beside it.
pub(crate) const MOST_FIELDS: usize = 15;

/// One number of a file: as exact as f64 has it, and rounded once. (Text is rounded to f32 directly: by way of f64 it
/// would be rounded twice.)
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Number {
    pub(crate) wide: f64,
    pub(crate) narrow: f32,
}

impl From<f64> for Number {
    fn from(wide: f64) -> Self {
        Self { wide, narrow: wide as f32 }
    }
}

impl From<f32> for Number {
    fn from(narrow: f32) -> Self {
        Self { wide: f64::from(narrow), narrow }
    }
}

/// Where a row stands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// In text: the byte from which on it was looked for. Its line is counted only when somebody wants to know.
    Byte(u64),
    /// In an array, or in text that cannot be read twice.
    Index(u64),
}

impl Place {
    /// In the words of who looks for it: an editor counts lines from 1, an array counts from 0.
    pub(crate) fn spoken(self, path: &Path) -> String {
        match self {
            Self::Byte(byte) => {
                line_at(path, byte).map_or_else(|_| format!("byte {byte}"), |line| format!("line {line}"))
            }
            Self::Index(index) => format!("row {} (index {index})", index + 1),
        }
    }
}

/// The line, from 1, on which the first text from `byte` on stands: blank lines before it are skipped, as the reader does. Lines end
/// with `\n`, `\r\n` or `\r`.
fn line_at(path: &Path, byte: u64) -> std::io::Result<u64> {
    let (mut line, mut before) = (1, 0);
    for (at, read) in BufReader::new(File::open(path)?).bytes().enumerate() {
        let now = read?;
        match now {
            b'\n' if before == b'\r' => {}
            b'\n' | b'\r' => line += 1,
            _ if at as u64 >= byte => break,
            _ => {}
        }
        before = now;
    }
    Ok(line)
}

/// One row, its fields in the order of the record.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    pub(crate) place: Place,
    pub(crate) numbers: [Number; MOST_FIELDS],
    /// As written, for messages; empty in binary formats.
    pub(crate) texts: [&'a str; MOST_FIELDS],
    /// What to say of the order of columns without names; nothing where they have names, or can have one order only.
    pub(crate) order: &'static str,
}

/// A number as written, where it was.
fn spoken(row: &Row<'_>, field: usize) -> String {
    match row.texts[field] {
        "" => row.numbers[field].wide.to_string(),
        text => text.into(),
    }
}

impl Row<'_> {
    /// With what fields hold that the file leaves out.
    pub(crate) fn new(kind: &Kind) -> Self {
        let mut numbers = [Number::default(); MOST_FIELDS];
        for (field, number) in numbers.iter_mut().enumerate().take(kind.fields.len()) {
            *number = (kind.default)(field).unwrap_or(0.0).into();
        }
        Self { place: Place::Index(0), numbers, texts: [""; MOST_FIELDS], order: "" }
    }
}

/// A record that rows can be made into.
pub(crate) trait Record: Copy + Send + 'static {
    const KIND: &'static Kind;
    /// Bytes of the shortest line that is one.
    const SHORTEST_LINE: u64;
    fn from_fields(fields: [f32; MOST_FIELDS]) -> Self;
    fn check(&self) -> Result<()>;
}

impl Record for Sphere {
    const KIND: &'static Kind = &SPHERES;
    const SHORTEST_LINE: u64 = "0,0,0,0\n".len() as u64;
    fn from_fields([x, y, z, r, ..]: [f32; MOST_FIELDS]) -> Self {
        Self::new([x, y, z], r)
    }
    fn check(&self) -> Result<()> {
        check_sphere(0, self)
    }
}

impl Record for Ray {
    const KIND: &'static Kind = &RAYS;
    const SHORTEST_LINE: u64 = "0,0,0,1,0,0\n".len() as u64;
    fn from_fields([ox, oy, oz, t_min, dx, dy, dz, t_max, ..]: [f32; MOST_FIELDS]) -> Self {
        Self::new([ox, oy, oz], [dx, dy, dz]).between(t_min, t_max)
    }
    fn check(&self) -> Result<()> {
        check_ray(0, self)
    }
}

impl Record for [[f32; 3]; 2] {
    const KIND: &'static Kind = &SEGMENTS;
    const SHORTEST_LINE: u64 = "0,0,0,1,0,0\n".len() as u64;
    fn from_fields([a, b, c, x, y, z, ..]: [f32; MOST_FIELDS]) -> Self {
        [[a, b, c], [x, y, z]]
    }
    fn check(&self) -> Result<()> {
        let [from, to] = self;
        let bad = |field, value: f32, why: &'static str| Err(Error::record("segment", 0, field, value, why));
        for (field, value) in SEGMENTS.fields.iter().zip(self.as_flattened()) {
            if !value.is_finite() {
                return bad(field, *value, "an end must be finite");
            }
        }
        if from == to {
            return bad("x2", to[0], "its ends must be two points, once rounded to f32");
        }
        let far = (0..3).find(|&k| !(to[k] - from[k]).is_finite());
        far.map_or(Ok(()), |k| bad(SEGMENTS.fields[3 + k], to[k], "its ends are farther apart than f32 reaches"))
    }
}

impl Record for [f32; 3] {
    const KIND: &'static Kind = &POINTS;
    const SHORTEST_LINE: u64 = "0,0,0\n".len() as u64;
    fn from_fields([x, y, z, ..]: [f32; MOST_FIELDS]) -> Self {
        [x, y, z]
    }
    fn check(&self) -> Result<()> {
        check_point(0, self)
    }
}

impl Record for Bullet {
    const KIND: &'static Kind = &BULLETS;
    const SHORTEST_LINE: u64 = "0,0,0,1,0,0,1\n".len() as u64;
    fn from_fields([x1, y1, z1, x2, y2, z2, speed, ..]: [f32; MOST_FIELDS]) -> Self {
        Self::new([x1, y1, z1], [x2, y2, z2], speed)
    }
    fn check(&self) -> Result<()> {
        check_bullet(0, self)
    }
}

/// What rounding does to a field, by its name; positions are known by their place.
fn role(name: &str) -> Role {
    match name {
        "r" => Role::Radius,
        _ if RADII.contains(&name) || name == RADIUS => Role::Radius,
        "t_min" | "t_max" | "speed" => Role::Travel,
        _ if VELOCITY.contains(&name) || name == TIME => Role::Travel,
        _ => Role::Other,
    }
}

/// Makes records of rows: rounds, counts and checks.
#[derive(Debug)]
pub(crate) struct Converter {
    path: PathBuf,
    origin: DVec3,
    on_bad: OnBad,
    pub(crate) rounding: Rounding,
}

impl Converter {
    pub(crate) fn new(path: &Path, origin: DVec3, on_bad: OnBad) -> Self {
        Self { path: path.to_path_buf(), origin, on_bad, rounding: Rounding::default() }
    }

    /// The file that the rows are of.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn convert<T: Record>(&mut self, row: &Row<'_>) -> Result<T> {
        let mut fields = [0.0; MOST_FIELDS];
        for (i, name) in T::KIND.fields.iter().enumerate() {
            let origin = if i < 3 * T::KIND.positions { self.origin[i % 3] } else { 0.0 };
            let number = if origin != 0.0 { Number::from(row.numbers[i].wide - origin) } else { row.numbers[i] };
            fields[i] = number.narrow;
            if number.narrow.is_infinite() && number.wide.is_finite() {
                if self.on_bad == OnBad::Refuse {
                    let value = if row.texts[i].is_empty() { number.wide.to_string() } else { row.texts[i].into() };
                    return Err(self.bad(row, name, &value, "it exceeds the largest f32, 3.4e38"));
                }
                // As an infinity it would be a valid end of a ray, and quietly another one than the file's.
                fields[i] = f32::NAN;
            } else {
                let role = if i < 3 * T::KIND.positions { Role::Position(i % 3) } else { role(name) };
                self.rounding.note(name, role, number.wide, number.narrow);
            }
        }
        let record = T::from_fields(fields);
        if self.on_bad == OnBad::Refuse {
            record.check().map_err(|error| self.place::<T>(row, error))?;
        }
        Ok(record)
    }

    /// A whole number of a row; `empty` where there is none, if that is allowed.
    pub(crate) fn whole(&self, kind: &Kind, row: &Row<'_>, name: &str, empty: Option<u32>) -> Result<u32> {
        let field = kind.place(name).unwrap_or(0);
        let Number { wide, .. } = row.numbers[field];
        match empty {
            Some(empty) if wide.is_nan() && ["empty", "null"].contains(&row.texts[field]) => return Ok(empty),
            _ => {}
        }
        let whole = wide as u32;
        if f64::from(whole) == wide {
            return Ok(whole);
        }
        Err(self.bad(row, name, &spoken(row, field), "it must be a whole number from 0 to 4294967295"))
    }

    /// A number of a row, beside its record. What it may be is for whoever uses it to say, but for what is no f32.
    pub(crate) fn number(&mut self, kind: &Kind, row: &Row<'_>, name: &str) -> Result<f32> {
        let field = kind.place(name).unwrap_or(0);
        let Number { wide, narrow } = row.numbers[field];
        if self.on_bad == OnBad::Refuse && !narrow.is_finite() {
            let why = if wide.is_finite() { "it exceeds the largest f32, 3.4e38" } else { "it must be finite" };
            return Err(self.bad(row, name, &spoken(row, field), why));
        }
        if self.on_bad == OnBad::Refuse && name == RADIUS && narrow < 0.0 {
            return Err(self.bad(row, name, &spoken(row, field), "a radius must not be negative"));
        }
        let name = kind.name(field);
        self.rounding.note(name, role(name), wide, narrow);
        Ok(if narrow.is_finite() { narrow } else { f32::NAN })
    }

    /// Gives the library's complaint about what is beside a record its place in the file.
    pub(crate) fn check_beside(&self, kind: &Kind, row: &Row<'_>, checked: Result<()>) -> Result<()> {
        match checked {
            Err(Error::BadRecord { field, value, why, .. }) => {
                let text = kind.place(field).map(|place| spoken(row, place)).unwrap_or(value);
                Err(self.bad(row, field, &text, &why))
            }
            other => other,
        }
    }

    fn bad(&self, row: &Row<'_>, field: &str, value: &str, why: &str) -> Error {
        let (place, value) = (row.place.spoken(&self.path), quoted(value));
        bad_file(&self.path, format!("{place}: {field} is {value}: {why}"))
    }

    /// Gives the library's complaint about a record its place in the file.
    fn place<T: Record>(&self, row: &Row<'_>, error: Error) -> Error {
        let Error::BadRecord { field, value, why, .. } = error else { return error };
        let apart = |i: usize| row.numbers[i].wide != row.numbers[i + 3].wide;
        let vanished = match field {
            "direction" => row.numbers[4..7].iter().any(|n| n.wide != 0.0),
            "x2,y2,z2" => (0..3).any(apart),
            "speed" => row.numbers[6].wide > 0.0,
            _ => false,
        };
        let value = if vanished { format!("{value} once rounded to f32") } else { value };
        let text = T::KIND.fields.iter().position(|f| *f == field).map(|i| row.texts[i]);
        let text = text.filter(|text| !text.is_empty() && !value.contains(' '));
        // The origin comes first in every order.
        let why = if row.order.is_empty() || ["ox", "oy", "oz"].contains(&field) {
            why
        } else {
            format!("{why}; {}", row.order).into()
        };
        self.bad(row, field, text.unwrap_or(&value), &why)
    }
}
