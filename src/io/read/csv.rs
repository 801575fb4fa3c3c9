//! Reader of `.csv`: named columns in any order.

use std::path::Path;

use ::csv::{Position, Reader, ReaderBuilder, StringRecord, Trim};

use super::bounded_text::{AHEAD, BoundedReader, LONGEST, too_long};
use super::input::Input;
use super::read_options::{ExtraColumns, ReadOptions};
use super::table_reader::{ReadFormat, RowSink, TableReader};
use crate::error::{Error, Result};
use crate::escape::quoted;
use crate::io::errors::{bad_file, cannot_read, same};
use crate::io::schema::columns::{self, required};
use crate::io::schema::convert::{Number, Row, RowLocation};
use crate::io::schema::kinds::TableSchema;

/// A table whose header line has been read.
#[derive(Debug)]
struct CsvReader {
    reader: Reader<BoundedReader>,
    /// The fields that the known columns fill.
    columns: Vec<usize>,
    /// The use of each cell of a line.
    cells: Vec<Cell>,
    /// Names of the columns that are kept.
    kept: Vec<String>,
}

/// Use of a cell.
#[derive(Clone, Copy, Debug)]
enum Cell {
    /// A number for this field.
    Field(usize),
    Kept,
    Ignored,
}

/// Text is also the format of a pipe that is not recognised.
pub(crate) const FORMAT: ReadFormat = ReadFormat { extension: "csv", first_byte: None, open };

/// Reads the header line, which names the columns.
fn open(input: Input, kind: &'static TableSchema, options: &ReadOptions) -> Result<Box<dyn TableReader>> {
    let extra = options.extra;
    let path = input.path.clone();
    let length = input.length();
    let mut reader =
        ReaderBuilder::new().trim(Trim::Headers).buffer_capacity(AHEAD).from_reader(BoundedReader::new(input));
    let start = reader.position().clone();
    let header = match reader.headers() {
        Ok(header) => header.clone(),
        Err(e) => return Err(fault(&path, length.is_some(), &start, &reader, &e)),
    };
    check_length(&path, length.is_some(), &start, &mut reader)?;
    if header.is_empty() {
        let bytes = length.unwrap_or(0);
        let columns = required(kind).join(",");
        let why = format!("the file is empty ({bytes} bytes): the first line must name the columns {columns}");
        return Err(bad_file(&path, why));
    }
    // Blank lines may precede the header. In a pipe they are not counted.
    let line = place(header.position(), true);
    let line = if length.is_some() { line.describe(&path) } else { "header line".into() };
    let is_extra = |name: &str| extra != ExtraColumns::Refuse && !columns::is_known(kind, name);
    let known: StringRecord = header.iter().filter(|name| !is_extra(name)).collect();
    let columns = columns(&path, &line, kind, if known.is_empty() { &header } else { &known })?;
    let mut fields = columns.iter();
    let use_of = |name| match extra {
        ExtraColumns::Keep if is_extra(name) => Cell::Kept,
        _ if is_extra(name) => Cell::Ignored,
        _ => fields.next().map_or(Cell::Ignored, |field| Cell::Field(*field)),
    };
    let cells = header.iter().map(use_of).collect();
    let is_kept = |name: &&str| extra == ExtraColumns::Keep && is_extra(name);
    let kept = header.iter().filter(is_kept).map(str::to_owned).collect();
    Ok(Box::new(CsvReader { reader, columns, cells, kept }))
}

impl TableReader for CsvReader {
    fn fields(&self) -> &[usize] {
        &self.columns
    }

    fn kept(&self) -> &[String] {
        &self.kept
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn read(self: Box<Self>, schema: &'static TableSchema, sink: &mut RowSink<'_>) -> Result<()> {
        let Self { mut reader, cells, .. } = *self;
        let path = reader.get_ref().input.path.clone();
        let again = reader.get_ref().input.length().is_some();
        let numbers = Row::new(schema).numbers;
        let mut record = StringRecord::new();
        loop {
            let start = reader.position().clone();
            match reader.read_record(&mut record) {
                Ok(true) => check_length(&path, again, &start, &mut reader)?,
                Ok(false) => return Ok(()),
                Err(e) if is_open(&record) && !matches!(e.kind(), ::csv::ErrorKind::Io(_)) => {
                    let line = place(Some(&start), again).describe(&path);
                    return Err(bad_file(&path, format!("{line}: {NOT_CLOSED}")));
                }
                Err(e) => return Err(fault(&path, again, &start, &reader, &e)),
            }
            let mut row = Row { numbers, place: place(record.position(), again), ..Row::new(schema) };
            let mut kept = Vec::new();
            for (cell, text) in cells.iter().zip(&record) {
                let text = text.trim();
                let field = match *cell {
                    Cell::Field(field) => field,
                    Cell::Ignored => continue,
                    Cell::Kept => {
                        kept.push(text);
                        continue;
                    }
                };
                row.texts[field] = if text.is_empty() { "empty" } else { text };
                row.numbers[field] = number(text).ok_or_else(|| {
                    let (place, name) = (row.place.describe(&path), schema.name(field));
                    let why = if text.contains('\n') { NOT_CLOSED } else { "expected a number" };
                    bad_file(&path, format!("{place}: {name} is '{}': {why}", quoted(text)))
                })?;
            }
            row.kept = &kept;
            sink(&row)?;
        }
    }
}

/// Error message for a cell that contains a line end. No valid number or column name contains one, so a quotation mark is missing.
const NOT_CLOSED: &str = "a quotation mark is not closed";

fn is_open(record: &StringRecord) -> bool {
    record.iter().any(|cell| cell.contains('\n'))
}

/// Refuses the record that began at `start` if it is too long.
fn check_length(path: &Path, again: bool, start: &Position, reader: &mut Reader<BoundedReader>) -> Result<()> {
    if reader.position().byte() - start.byte() > LONGEST {
        let line = place(Some(start), again).describe(path);
        return Err(bad_file(path, format!("{line}: {}", too_long())));
    }
    reader.get_mut().record_ended();
    Ok(())
}

/// Number in a cell: NaN if the cell is empty, `None` if it is not a number. The exponent may begin with `d`, as in Fortran, or
/// with `*^`, as in Mathematica.
pub(crate) fn number(text: &str) -> Option<Number> {
    if text.is_empty() {
        return Some(f64::NAN.into());
    }
    plain_number(text).or_else(|| {
        let (digits, exponent) = text.split_once("*^").or_else(|| text.split_once(['d', 'D']))?;
        plain_number(&format!("{digits}e{exponent}"))
    })
}

fn plain_number(text: &str) -> Option<Number> {
    let wide = text.parse::<f64>().ok()?;
    // Parsing to f64 and then converting to f32 rounds twice. This matters only if the first rounding ends halfway between two f32: if the
    // 29 bits that f32 lacks are a one followed by zeros. (A subnormal f32 has fewer bits, so small numbers are always parsed again.)
    let small = wide != 0.0 && wide.abs() < f64::from(f32::MIN_POSITIVE);
    let halfway = small || wide.to_bits() & 0x1fff_ffff == 0x1000_0000;
    let narrow = if halfway { text.parse::<f32>().ok()? } else { wide as f32 };
    // A number larger than any f64 must not become an infinity. Only the words for infinity are infinite.
    let word = text.trim_start_matches(['+', '-']).starts_with(['i', 'I', 'n', 'N']);
    let wide = if wide.is_infinite() && !word { f64::MAX.copysign(wide) } else { wide };
    Some(Number { wide, narrow })
}

/// Position of a row: its byte, from which its line can be counted if the input can be read `again`, or else its index. (The reader's own
/// line number omits the blank lines that it skipped.)
fn place(position: Option<&Position>, again: bool) -> RowLocation {
    match position {
        // The header is record 0 of the reader.
        Some(position) if !again => RowLocation::Index(position.record().saturating_sub(1)),
        _ => RowLocation::Byte(position.map_or(0, Position::byte)),
    }
}

/// The field that each column fills.
fn columns(path: &Path, line: &str, kind: &TableSchema, header: &StringRecord) -> Result<Vec<usize>> {
    let bad = |why: String| bad_file(path, format!("{line}: {why}"));
    if is_open(header) {
        return Err(bad(NOT_CLOSED.into()));
    }
    if header.iter().all(|name| name.parse::<f64>().is_ok()) {
        let wanted = required(kind).join(",");
        return Err(bad(format!("found only numbers: the first line must name the columns {wanted}")));
    }
    if let (1, Some(other)) = (header.len(), header.get(0).and_then(|h| h.chars().find(|c| ";\t|".contains(*c)))) {
        return Err(bad(format!("columns are separated by {other:?}: expected commas")));
    }
    columns::columns(path, &format!("{line}: "), kind, header.iter())
}

/// How the number of cells differs from that of the header.
pub(crate) fn unequal(found: u64, expected: u64) -> String {
    let s = if found == 1 { "" } else { "s" };
    format!("found {found} cell{s}, expected {expected}, as in the header line")
}

/// Converts an error in the record that began at `start` to an error of this library, with the line.
fn fault(path: &Path, again: bool, start: &Position, reader: &Reader<BoundedReader>, error: &::csv::Error) -> Error {
    if let Some(why) = reader.get_ref().fault() {
        return bad_file(path, format!("{}: {why}", place(Some(start), again).describe(path)));
    }
    let line = place(error.position(), again).describe(path);
    match error.kind() {
        ::csv::ErrorKind::Io(e) => cannot_read(path, same(e)),
        ::csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            bad_file(path, format!("{line}: {}", unequal(*len, *expected_len)))
        }
        ::csv::ErrorKind::Utf8 { .. } => bad_file(path, format!("{line}: the text is not UTF-8")),
        _ => bad_file(path, format!("{line}: {error}")),
    }
}
