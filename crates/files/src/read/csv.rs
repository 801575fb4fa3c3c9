//! Reader of `.csv`: named columns in any order.

use std::path::PathBuf;

use ::csv::StringRecord;

use super::csv_records::{CsvRecords, NOT_CLOSED, check_separator};
use super::input::Input;
use super::read_options::{ExtraColumns, ReadOptions};
use super::table::{ReadFormat, RowSink, TableReader};
use crate::error::Result;
use crate::error::bad_file;
use crate::escape::quoted;
use crate::schema::columns::{columns, is_known, required};
use crate::schema::convert::{Number, Row, RowLocation};
use crate::schema::kinds::TableSchema;

/// A table whose header line has been read.
struct CsvReader {
    path: PathBuf,
    records: CsvRecords<Input>,
    /// The use of each cell of a line.
    cells: Vec<Cell>,
}

/// Use of a cell.
#[derive(Clone, Copy)]
enum Cell {
    /// A number for this field.
    Field(usize),
    Kept,
    Ignored,
    /// The column has no name, so it must be blank.
    Blank,
}

/// Text is also the format of a pipe that is not recognised.
pub(crate) const FORMAT: ReadFormat = ReadFormat { extension: "csv", first_byte: None, open };

/// Reads the header line, which names the columns.
fn open(input: Input, kind: &'static TableSchema, options: &ReadOptions) -> Result<TableReader> {
    let (path, length) = (input.path.clone(), input.length());
    let mut records = CsvRecords::open(input, &path, length.is_some(), &|name| is_known(kind, name))?;
    let header = &records.header;
    if header.is_empty() {
        let bytes = length.unwrap_or(0);
        let columns = required(kind).join(",");
        let why = format!("the file is empty ({bytes} bytes): the first line must name the columns {columns}");
        return Err(bad_file(&path, why));
    }
    // Blank lines may precede the header. In a pipe they are not counted.
    let line = RowLocation::Byte(records.header_at);
    let line = if length.is_some() { line.describe(&path) } else { "header line".into() };
    check_header(header, kind).map_err(|why| bad_file(&path, format!("{line}: {why}")))?;
    let headings = records.headings();
    let named: Vec<&str> = headings.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
    let fields = columns(&path, &format!("{line}: "), kind, &named, options.ignores_unknown(), options.unit)?;
    let mut of_named = fields.iter();
    let use_of = |name: &str| match (name, options.extra) {
        ("", ExtraColumns::Ignore) => Cell::Ignored,
        // The caller of `only` ignores other columns.
        ("", ExtraColumns::Keep) if options.only.is_some() => Cell::Ignored,
        ("", _) => Cell::Blank,
        _ => match of_named.next() {
            Some(Some(field)) if options.unread != Some(kind.name(*field)) => Cell::Field(*field),
            _ if options.keeps(name) => Cell::Kept,
            _ => Cell::Ignored,
        },
    };
    let cells: Vec<Cell> = header.iter().map(use_of).collect();
    let kept = headings.into_iter().zip(&cells).filter(|(_, cell)| matches!(cell, Cell::Kept));
    let kept = kept.map(|(name, _)| name).collect();
    let columns = fields.into_iter().flatten().collect();
    // A number does not begin with `#`, but a text may.
    records.has_comments = matches!(cells[0], Cell::Field(_));
    let reader = CsvReader { path, records, cells };
    Ok(TableReader::new(columns, None, move |sink| reader.read(kind, sink)).keeps(kept))
}

impl CsvReader {
    fn read(self, schema: &TableSchema, sink: &mut RowSink<'_>) -> Result<()> {
        let Self { path, mut records, cells } = self;
        let numbers = Row::new(schema).numbers;
        while let Some((place, record)) = records.next()? {
            let mut row = Row { numbers, place, ..Row::new(schema) };
            let mut kept = Vec::new();
            for ((at, cell), text) in cells.iter().enumerate().zip(record) {
                let text = text.trim();
                let field = match *cell {
                    Cell::Field(field) => field,
                    Cell::Ignored => continue,
                    Cell::Blank if text.is_empty() => continue,
                    Cell::Blank => {
                        let (place, cell) = (place.describe(&path), at + 1);
                        let why = "its column has no name: name the column, or use --ignore-extra";
                        return Err(bad_file(&path, format!("{place}: cell {cell} is '{}', but {why}", quoted(text))));
                    }
                    Cell::Kept => {
                        kept.push(text);
                        continue;
                    }
                };
                if text.is_empty() {
                    (row.texts[field], row.numbers[field]) = ("empty", f64::NAN.into());
                    continue;
                }
                row.texts[field] = text;
                row.numbers[field] = number(text).ok_or_else(|| {
                    let (place, name) = (row.place.describe(&path), schema.name(field));
                    let why = if text.contains('\n') { NOT_CLOSED } else { "expected a number" };
                    bad_file(&path, format!("{place}: {name} is '{}': {why}", quoted(text)))
                })?;
            }
            row.kept = &kept;
            sink(&row)?;
        }
        Ok(())
    }
}

/// [`number`] in f64; `None` also if it is larger than any f64, which `number` reads as the largest one.
pub(crate) fn wide_number(text: &str) -> Option<f64> {
    number(text).map(|number| number.wide).filter(|number| number.abs() != f64::MAX)
}

/// A number; `None` if the text is none. The exponent may begin with `d`, as in Fortran, or with `*^`, as in Mathematica.
pub(crate) fn number(text: &str) -> Option<Number> {
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

/// Refuses a header that names no columns.
fn check_header(header: &StringRecord, kind: &TableSchema) -> std::result::Result<(), String> {
    if header.iter().any(|name| name.contains('\n')) {
        return Err(NOT_CLOSED.into());
    }
    if header.iter().all(|name| name.parse::<f64>().is_ok()) {
        return Err(format!("found only numbers: the first line must name the columns {}", required(kind).join(",")));
    }
    check_separator(header)
}
