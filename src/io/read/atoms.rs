//! Tables of atoms as text, one atom per line: shared by `.xyz` and `.pdb`. An atom fills position, radius and element, as far as the table
//! has them.

use std::path::PathBuf;

use super::bounded_text::{LONGEST, too_long};
use super::csv;
use super::elements::{atomic_number, radius};
use super::encoding::decode;
use super::input::Input;
use super::table_reader::RowSink;
use crate::error::{Error, Result};
use crate::escape::quoted;
use crate::io::errors::{bad_file, cannot_read};
use crate::io::schema::convert::{Row, RowLocation};
use crate::io::schema::kinds::{ELEMENT, TableSchema};

/// An element, and the coordinates x, y and z, as the file has them.
pub(crate) struct AtomText<'a> {
    pub(crate) element: &'a str,
    pub(crate) position: [&'a str; 3],
}

/// Lines of text, with the place of the current one.
#[derive(Debug)]
pub(crate) struct Lines {
    input: Input,
    path: PathBuf,
    place: RowLocation,
    /// Bytes and lines read so far.
    position: u64,
    count: u64,
}

impl Lines {
    pub(crate) fn new(input: Input) -> Self {
        let path = input.path.clone();
        Self { input, path, place: RowLocation::Byte(0), position: 0, count: 0 }
    }

    /// Reads the next line. False at the end.
    pub(crate) fn next(&mut self, line: &mut String) -> Result<bool> {
        self.place = match self.input.length() {
            Some(_) => RowLocation::Byte(self.position),
            None => RowLocation::Index(self.count),
        };
        let mut bytes = Vec::new();
        let count = self.input.read_line(&mut bytes, LONGEST as usize + 1).map_err(|e| cannot_read(&self.path, e))?;
        if count as u64 > LONGEST {
            return Err(self.fault(&too_long()));
        }
        self.position += count as u64;
        self.count += 1;
        *line = decode(bytes).map_err(|why| self.fault(why))?;
        Ok(count > 0)
    }

    /// An error about the current line.
    pub(crate) fn fault(&self, why: &str) -> Error {
        bad_file(&self.path, format!("{}: {why}", self.place.describe(&self.path)))
    }

    /// An error about the whole file.
    pub(crate) fn fault_of_file(&self, why: &str) -> Error {
        bad_file(&self.path, why)
    }

    /// Passes the atom of the current line to `sink`.
    pub(crate) fn add(&self, atom: &AtomText<'_>, schema: &'static TableSchema, sink: &mut RowSink<'_>) -> Result<()> {
        let mut row = Row { place: self.place, ..Row::new(schema) };
        for (field, text) in atom.position.into_iter().enumerate() {
            row.texts[field] = text;
            row.numbers[field] = csv::number(text).filter(|_| !text.is_empty()).ok_or_else(|| {
                self.fault(&format!("{} is '{}': expected a number", schema.name(field), quoted(text)))
            })?;
        }
        let number = match atom.element.parse() {
            Ok(number @ 1..=118) => Some(number),
            _ => atomic_number(atom.element),
        };
        // Points and observers have no radius, and any name will do.
        if let Some(field) = radius_field(schema) {
            let unknown = || self.fault(&format!("'{}' is not a chemical element", quoted(atom.element)));
            let number = number.ok_or_else(unknown)?;
            row.numbers[field] = radius(number).into();
            if let Some(element) = schema.place(ELEMENT) {
                row.numbers[element] = f64::from(number).into();
            }
        }
        sink(&row)
    }
}

fn radius_field(schema: &TableSchema) -> Option<usize> {
    schema.fields.iter().position(|name| *name == "r")
}

/// The fields that atoms fill.
///
/// # Errors
/// [`Error::BadFile`] for tables other than spheres, points and observers.
pub(crate) fn fields(input: &Input, schema: &'static TableSchema) -> Result<Vec<usize>> {
    if !["spheres", "points", "observers"].contains(&schema.plural) {
        let why = format!("{} cannot be read from atoms, which have only a position and a radius", schema.plural);
        return Err(bad_file(&input.path, why));
    }
    let radius = radius_field(schema);
    Ok([0, 1, 2].into_iter().chain(radius).chain(radius.and_then(|_| schema.place(ELEMENT))).collect())
}
