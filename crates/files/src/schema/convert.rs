//! Conversion of rows to records, for every format: each number is rounded once, and each record is checked.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use glam::DVec3;

use super::kinds::{BULLETS, POINTS, RADII, RADIUS, RAYS, SEGMENTS, SPHERES, TIME, TableSchema, VELOCITY};
use super::left_out::Omitted;
use super::rounding::{Role, Rounding};
use crate::error::bad_file;
use crate::error::{Error, Result};
use crate::escape::quoted;
use umbracast::Bullet;
use umbracast::OnBad;
use umbracast::raygen::check_point;
use umbracast::{Ray, Sphere};

/// Maximum number of fields in a row: a sphere with all optional columns.
pub(crate) const MOST_FIELDS: usize = SPHERES.fields.len() + SPHERES.optional.len();

/// One number of a file, as f64 and rounded once to f32. (Text is rounded directly to f32: by way of f64 it would be rounded twice.)
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

/// Position of a row in a file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RowLocation {
    /// For text: the byte where the search for the row began. Its line is counted only for an error message.
    Byte(u64),
    /// The line, from 1.
    Line(usize),
    /// For arrays, and for text that cannot be read twice: the index, from 0.
    Index(u64),
}

impl RowLocation {
    /// Description for error messages: lines count from 1 as in editors, indices from 0 as in arrays.
    pub(crate) fn describe(self, path: &Path) -> String {
        match self {
            Self::Byte(byte) => {
                line_at(path, byte).map_or_else(|_| format!("byte {byte}"), |line| format!("line {line}"))
            }
            Self::Line(line) => format!("line {line}"),
            Self::Index(index) => format!("row {} (index {index})", index + 1),
        }
    }
}

/// Number, from 1, of the line of the first text at or after `byte`. Blank lines before the text are skipped, as the reader does. Lines end
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

/// One row, with its fields in the order of the record.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    pub(crate) place: RowLocation,
    pub(crate) numbers: [Number; MOST_FIELDS],
    /// The cells as written, for error messages; empty for binary formats.
    pub(crate) texts: [&'a str; MOST_FIELDS],
    /// Explains the order of unnamed columns, for error messages. Empty if columns have names or only one order is possible.
    pub(crate) order: &'static str,
    /// Cells of the columns that are kept as text.
    pub(crate) kept: &'a [&'a str],
    /// Why the row is left out.
    pub(crate) omitted: Option<Omitted<'a>>,
}

/// A number as written in the file, if the format is text.
fn cell_text(row: &Row<'_>, field: usize) -> String {
    match row.texts[field] {
        "" => row.numbers[field].wide.to_string(),
        text => text.into(),
    }
}

impl Row<'_> {
    /// A row with the default values of optional fields.
    pub(crate) fn new(kind: &TableSchema) -> Self {
        let mut numbers = [Number::default(); MOST_FIELDS];
        for (field, number) in numbers.iter_mut().enumerate().take(kind.fields.len()) {
            *number = (kind.default)(field).unwrap_or(0.0).into();
        }
        Self { place: RowLocation::Index(0), numbers, texts: [""; MOST_FIELDS], order: "", kept: &[], omitted: None }
    }
}

/// A record that is made from a row.
pub(crate) trait Record: Copy + Send + 'static {
    const KIND: &'static TableSchema;
    /// Bytes of the shortest line of text that is a valid record.
    const SHORTEST_LINE: u64;
    fn from_fields(fields: [f32; MOST_FIELDS]) -> Self;
    fn check(&self) -> umbracast::Result<()>;
}

impl Record for Sphere {
    const KIND: &'static TableSchema = &SPHERES;
    const SHORTEST_LINE: u64 = "0,0,0,0\n".len() as u64;
    fn from_fields([x, y, z, r, ..]: [f32; MOST_FIELDS]) -> Self {
        Self::new([x, y, z], r)
    }
    fn check(&self) -> umbracast::Result<()> {
        self.check()
    }
}

impl Record for Ray {
    const KIND: &'static TableSchema = &RAYS;
    const SHORTEST_LINE: u64 = "0,0,0,1,0,0\n".len() as u64;
    fn from_fields([ox, oy, oz, t_min, dx, dy, dz, t_max, ..]: [f32; MOST_FIELDS]) -> Self {
        Self::new([ox, oy, oz], [dx, dy, dz]).between(t_min, t_max)
    }
    fn check(&self) -> umbracast::Result<()> {
        self.check()
    }
}

impl Record for [[f32; 3]; 2] {
    const KIND: &'static TableSchema = &SEGMENTS;
    const SHORTEST_LINE: u64 = "0,0,0,1,0,0\n".len() as u64;
    fn from_fields([a, b, c, x, y, z, ..]: [f32; MOST_FIELDS]) -> Self {
        [[a, b, c], [x, y, z]]
    }
    fn check(&self) -> umbracast::Result<()> {
        let [from, to] = self;
        let bad = |field, value: f32, why: &'static str| Err(umbracast::Error::record("segment", 0, field, value, why));
        for (field, value) in SEGMENTS.fields.iter().zip(self.as_flattened()) {
            if !value.is_finite() {
                return bad(field, *value, "an end point must be finite");
            }
        }
        if from == to {
            return bad("x2", to[0], "the end points must differ after rounding to f32");
        }
        let far = (0..3).find(|&k| !(to[k] - from[k]).is_finite());
        far.map_or(Ok(()), |k| {
            bad(SEGMENTS.fields[3 + k], to[k], "the distance between the end points exceeds the largest f32, 3.4e38")
        })
    }
}

impl Record for [f32; 3] {
    const KIND: &'static TableSchema = &POINTS;
    const SHORTEST_LINE: u64 = "0,0,0\n".len() as u64;
    fn from_fields([x, y, z, ..]: [f32; MOST_FIELDS]) -> Self {
        [x, y, z]
    }
    fn check(&self) -> umbracast::Result<()> {
        check_point(0, self)
    }
}

impl Record for Bullet {
    const KIND: &'static TableSchema = &BULLETS;
    const SHORTEST_LINE: u64 = "0,0,0,1,0,0,1\n".len() as u64;
    fn from_fields([x1, y1, z1, x2, y2, z2, speed, ..]: [f32; MOST_FIELDS]) -> Self {
        Self::new([x1, y1, z1], [x2, y2, z2], speed)
    }
    fn check(&self) -> umbracast::Result<()> {
        self.check()
    }
}

impl Role {
    /// Role of a field, by its name, if it is no coordinate of a position.
    pub fn of_field(name: &str) -> Self {
        match name {
            "r" => Role::Radius,
            _ if RADII.contains(&name) || name == RADIUS => Role::Radius,
            "t_min" | "t_max" | "speed" => Role::Travel,
            _ if VELOCITY.contains(&name) || name == TIME => Role::Travel,
            _ => Role::Other,
        }
    }
}

/// Converts rows to records: rounds, counts roundings, and checks.
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

    pub(crate) fn convert<T: Record>(&mut self, row: &Row<'_>) -> Result<T> {
        let mut fields = [0.0; MOST_FIELDS];
        for (i, name) in T::KIND.fields.iter().enumerate() {
            let origin = if i < 3 * T::KIND.positions { self.origin[i % 3] } else { 0.0 };
            let number = if origin != 0.0 { Number::from(row.numbers[i].wide - origin) } else { row.numbers[i] };
            fields[i] = number.narrow;
            if number.narrow.is_infinite() && number.wide.is_finite() {
                if self.on_bad == OnBad::Refuse {
                    let given = row.numbers[i].wide;
                    let value = if row.texts[i].is_empty() { given.to_string() } else { row.texts[i].into() };
                    let what = if origin == 0.0 { "it" } else { &format!("the difference from {origin:?}") };
                    return Err(self.bad(row, name, &value, &format!("{what} exceeds the largest f32, 3.4e38")));
                }
                // An infinity would be a valid end of a ray, but not the one in the file.
                fields[i] = f32::NAN;
            } else {
                let role = if i < 3 * T::KIND.positions { Role::Position(i % 3) } else { Role::of_field(name) };
                self.rounding.note(name, role, number.wide, number.narrow);
            }
        }
        let record = T::from_fields(fields);
        if self.on_bad == OnBad::Refuse {
            record.check().map_err(|error| self.place::<T>(row, error))?;
        }
        Ok(record)
    }

    /// A whole number of an optional column. An empty cell or null gives `empty`, if that is set.
    pub(crate) fn whole(&self, kind: &TableSchema, row: &Row<'_>, name: &str, empty: Option<u32>) -> Result<u32> {
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
        Err(self.bad(row, name, &cell_text(row, field), "it must be a whole number from 0 to 4294967295"))
    }

    /// A number of an optional column. `OnBad::Refuse` refuses numbers that are not finite in f32, and negative radii. Other limits are
    /// checked where the column is used. With `OnBad::Skip` a number that is not finite in f32 becomes NaN.
    pub(crate) fn number(&mut self, kind: &TableSchema, row: &Row<'_>, name: &str) -> Result<f32> {
        let field = kind.place(name).unwrap_or(0);
        let Number { wide, narrow } = row.numbers[field];
        if self.on_bad == OnBad::Refuse && !narrow.is_finite() {
            let why = if wide.is_finite() { "it exceeds the largest f32, 3.4e38" } else { "it must be finite" };
            return Err(self.bad(row, name, &cell_text(row, field), why));
        }
        if self.on_bad == OnBad::Refuse && name == RADIUS && narrow < 0.0 {
            return Err(self.bad(row, name, &cell_text(row, field), "a radius must not be negative"));
        }
        let name = kind.name(field);
        self.rounding.note(name, Role::of_field(name), wide, narrow);
        Ok(if narrow.is_finite() { narrow } else { f32::NAN })
    }

    /// The atomic number of an optional column, at most `most`. 0 is an unknown atom.
    pub(crate) fn whole_below(&self, kind: &TableSchema, row: &Row<'_>, name: &str, most: u32) -> Result<u32> {
        let number = self.whole(kind, row, name, None)?;
        if number <= most {
            return Ok(number);
        }
        Err(self.bad(row, name, &number.to_string(), &format!("it must be from 0 to {most}")))
    }

    /// A colour channel of an optional column: 0 to 255.
    pub(crate) fn channel(&mut self, kind: &TableSchema, row: &Row<'_>, name: &str) -> Result<f32> {
        let value = self.number(kind, row, name)?;
        if (0.0..=255.0).contains(&value) {
            return Ok(value);
        }
        let field = kind.place(name).unwrap_or(0);
        Err(self.bad(row, name, &cell_text(row, field), "a colour must be from 0 to 255"))
    }

    /// Adds the position in the file to an error about the optional columns of a record. With `OnBad::Skip` there is no error.
    pub(crate) fn check_optional(
        &self,
        kind: &TableSchema,
        row: &Row<'_>,
        checked: umbracast::Result<()>,
    ) -> Result<()> {
        match checked {
            _ if self.on_bad == OnBad::Skip => Ok(()),
            Err(umbracast::Error::BadRecord { field, value, why, .. }) => {
                let text = kind.place(field).map(|place| cell_text(row, place)).unwrap_or(value);
                Err(self.bad(row, field, &text, &why))
            }
            other => Ok(other?),
        }
    }

    fn bad(&self, row: &Row<'_>, field: &str, value: &str, why: &str) -> Error {
        let (place, value) = (row.place.describe(&self.path), quoted(value));
        bad_file(&self.path, format!("{place}: {field} is {value}: {why}"))
    }

    /// Adds the position in the file to an error about a record.
    fn place<T: Record>(&self, row: &Row<'_>, error: umbracast::Error) -> Error {
        let umbracast::Error::BadRecord { field, value, why, .. } = error else { return error.into() };
        let apart = |i: usize| row.numbers[i].wide != row.numbers[i + 3].wide;
        let underflowed = match field {
            "direction" => row.numbers[4..7].iter().any(|n| n.wide != 0.0),
            "x2,y2,z2" => (0..3).any(apart),
            "speed" => row.numbers[6].wide > 0.0,
            _ => false,
        };
        let value = if underflowed { format!("{value} after rounding to f32") } else { value };
        let text = T::KIND.fields.iter().position(|f| *f == field).map(|i| row.texts[i]);
        let text = text.filter(|text| !text.is_empty() && !value.contains(' '));
        // The origin comes first in every order, so the hint would not help.
        let why = if row.order.is_empty() || ["ox", "oy", "oz"].contains(&field) {
            why
        } else {
            format!("{why}; {}", row.order).into()
        };
        self.bad(row, field, text.unwrap_or(&value), &why)
    }
}
