//! Records of a text with separators: a header that names the columns, and rows. Before the header there may be a byte order mark,
//! comments that begin with `#`, and the line `sep=,` with which Excel names the separator. The header may itself be a comment, as
//! `numpy.savetxt` writes it. Blank rows at the end are left out.

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use ::csv::{Reader, ReaderBuilder, StringRecord};

use super::bounded_text::{AHEAD, BoundedReader, LONGEST, too_long};
use super::encoding::{MARK, UTF_16, characters, decode, is_utf_16};
use crate::error::{Error, Result};
use crate::error::{bad_file, cannot_read, same};
use crate::escape::quoted;
use crate::format::is_standard_stream;
use crate::schema::convert::RowLocation;

/// An open text whose header has been read.
#[derive(Debug)]
pub(crate) struct CsvRecords<R> {
    path: PathBuf,
    /// Whether the text can be read again, to count its lines.
    again: bool,
    reader: Reader<BoundedReader<R>>,
    /// Bytes before those of `reader`.
    skipped: u64,
    /// Names of the columns.
    pub(crate) header: StringRecord,
    /// Units of the columns, if the comments have them; else empty.
    pub(crate) units: Vec<String>,
    /// Start of the header in bytes.
    pub(crate) header_at: u64,
    /// Whether a row that begins with `#` is a comment even if it has as many cells as the header: it is one unless it begins with an error
    /// value of Excel.
    pub(crate) has_comments: bool,
    record: StringRecord,
    record_at: u64,
    /// The start and index of the last record, if its last cell contains a line end.
    may_be_open: Option<(u64, u64)>,
    /// Whether `record` has been read and not been returned.
    is_waiting: bool,
    /// Blank rows before `record` that have not been returned, and the start of the first.
    blank_rows: u64,
    blank_at: u64,
    blank: StringRecord,
    /// Number of rows that have been returned.
    rows: u64,
}

/// Error message for raw records, among others, from standard input.
const BINARY_STREAM: &str = "the input is binary, not text: raw records need --input-format f32";

/// Error message for a cell that contains a line end. No valid number or column name contains one, so a quotation mark is missing.
pub(crate) const NOT_CLOSED: &str = "a quotation mark is not closed";

impl<R: BufRead> CsvRecords<R> {
    /// Reads the header. `is_known` says whether a name is that of a column: a comment with such names is the header if the first line
    /// that is no comment has none.
    pub(crate) fn open(mut input: R, path: &Path, again: bool, is_known: &dyn Fn(&str) -> bool) -> Result<Self> {
        let is_utf_16 = is_utf_16(input.fill_buf().map_err(|e| cannot_read(path, e))?);
        let preamble = Preamble::read(&mut input, is_known).map_err(|e| cannot_read(path, e))?;
        let Preamble { bytes, head, separator, header, units, is_too_long, .. } = preamble;
        let reader = reader_of(separator).from_reader(BoundedReader::new(head, input));
        let mut records = Self {
            path: path.into(),
            again,
            reader,
            skipped: bytes,
            header: StringRecord::new(),
            units: Vec::new(),
            header_at: 0,
            has_comments: false,
            record: StringRecord::new(),
            record_at: bytes,
            may_be_open: None,
            is_waiting: false,
            blank_rows: 0,
            blank_at: 0,
            blank: StringRecord::new(),
            rows: 0,
        };
        if is_too_long {
            return Err(records.fault(0, 0, &too_long()));
        }
        let found = records.read_record()?;
        records.header_at = records.record_at;
        if header.is_empty() || records.record.iter().any(is_known) {
            records.header = std::mem::take(&mut records.record);
            records.header.trim();
        } else {
            (records.header, records.is_waiting) = (header, found);
        }
        // Text has none of these control characters.
        if records.header.iter().any(|name| name.contains(|c| c < '\u{7}')) {
            let why = match is_utf_16 {
                true => UTF_16,
                false if !again && is_standard_stream(path) => BINARY_STREAM,
                false => "the file is binary, not text",
            };
            return Err(records.fault(records.header_at, 0, why));
        }
        let unit = |name: &str| units.iter().find(|(own, _)| own == name).map_or("", |(_, unit)| unit).to_owned();
        records.units = records.header.iter().map(unit).collect();
        records.blank = StringRecord::from(vec![""; records.header.len()]);
        Ok(records)
    }
}

impl<R: Read> CsvRecords<R> {
    /// Names of the columns with their units.
    pub(crate) fn headings(&self) -> Vec<String> {
        let heading = |(name, unit): (&str, &String)| match &**unit {
            "" => name.to_owned(),
            unit => format!("{name} [{unit}]"),
        };
        self.header.iter().zip(&self.units).map(heading).collect()
    }

    /// The next row with its place; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<(RowLocation, &StringRecord)>> {
        let columns = self.header.len();
        while !self.is_waiting {
            if !self.read_record()? {
                // Blank rows at the end are left out.
                return Ok(None);
            }
            let first = self.record.get(0).unwrap_or_default();
            let has_all = self.record.len() == columns;
            if first.starts_with('#') && (!has_all || self.has_comments && !is_excel_error(first)) {
                if self.record.iter().any(|cell| cell.contains('\n')) {
                    return Err(self.fault(self.record_at, self.rows + self.blank_rows, NOT_CLOSED));
                }
                continue;
            }
            if self.record.iter().all(|cell| cell.trim().is_empty()) {
                self.blank_at = if self.blank_rows == 0 { self.record_at } else { self.blank_at };
                self.blank_rows += 1;
                continue;
            }
            self.is_waiting = true;
        }
        let row = self.rows;
        self.rows += 1;
        if self.blank_rows > 0 {
            self.blank_rows -= 1;
            return Ok(Some((self.location(self.blank_at, row), &self.blank)));
        }
        self.is_waiting = false;
        if self.record.len() != columns {
            let is_open = self.record.iter().any(|cell| cell.contains('\n'));
            let why = if is_open { NOT_CLOSED.into() } else { unequal(self.record.len(), &self.header) };
            return Err(self.fault(self.record_at, row, &why));
        }
        Ok(Some((self.location(self.record_at, row), &self.record)))
    }

    /// Reads the next record, of any length. False at the end.
    fn read_record(&mut self) -> Result<bool> {
        let start = self.reader.position().byte();
        self.record_at = self.skipped + start;
        let mut bytes = std::mem::take(&mut self.record).into_byte_record();
        let row = self.rows + self.blank_rows;
        let found = self.reader.read_byte_record(&mut bytes).map_err(|error| {
            match (self.reader.get_ref().fault(), error.kind()) {
                (Some(why), _) => self.fault(self.record_at, row, &why),
                (None, ::csv::ErrorKind::Io(e)) => cannot_read(&self.path, same(e)),
                (None, _) => self.fault(self.record_at, row, &error.to_string()),
            }
        })?;
        if self.reader.position().byte() - start > LONGEST {
            return Err(self.fault(self.record_at, row, &too_long()));
        }
        self.reader.get_mut().record_ended();
        self.record = StringRecord::from_byte_record(bytes)
            .unwrap_or_else(|error| error.into_byte_record().iter().map(characters).collect());
        // A quotation mark that is not closed swallows the rest of the text.
        if let Some((byte, row)) = self.may_be_open.filter(|_| !found && !self.reader.get_ref().ends_quoted()) {
            return Err(self.fault(byte, row, NOT_CLOSED));
        }
        let is_open = self.record.iter().next_back().is_some_and(|cell| cell.contains('\n'));
        self.may_be_open = is_open.then_some((self.record_at, row));
        Ok(found)
    }

    /// An error about a row.
    pub(crate) fn fault(&self, byte: u64, row: u64, why: &str) -> Error {
        bad_file(&self.path, format!("{}: {why}", self.location(byte, row).describe(&self.path)))
    }

    /// Place of a row: its start, from which its line can be counted if the text can be read again, or else its index. (The reader's own
    /// line number omits the blank lines that it skipped.)
    fn location(&self, byte: u64, row: u64) -> RowLocation {
        if self.again { RowLocation::Byte(byte) } else { RowLocation::Index(row) }
    }
}

/// Refuses a header of one column that contains another separator.
pub(crate) fn check_separator(header: &StringRecord) -> std::result::Result<(), String> {
    match (header.len(), header.get(0).and_then(|name| name.chars().find(|c| ";\t| ".contains(*c)))) {
        (1, Some(other)) => Err(format!("columns are separated by {other:?}: expected commas")),
        _ => Ok(()),
    }
}

/// Whether a cell is an error value of Excel in any language, such as `#DIV/0!`, `#NAME?` or `#N/A`.
fn is_excel_error(cell: &str) -> bool {
    matches!(cell, "#N/A" | "#NV") || cell.ends_with(['!', '?']) && !cell.contains(' ')
}

/// How the number of cells differs from that of the header.
fn unequal(found: usize, header: &StringRecord) -> String {
    let (s, expected) = (if found == 1 { "" } else { "s" }, header.len());
    let names = header.iter().collect::<Vec<_>>().join(",");
    format!("found {found} cell{s}, expected {expected}, as in the header line: {}", quoted(&names))
}

/// What stands before the header.
#[derive(Default)]
struct Preamble {
    /// Length in bytes.
    bytes: u64,
    /// Start of the header, if it has been read.
    head: Vec<u8>,
    separator: u8,
    /// The last comment with names of columns.
    header: StringRecord,
    /// Names and units of columns in the comments of ECSV.
    units: Vec<(String, String)>,
    /// The last of these columns.
    column: String,
    is_too_long: bool,
}

impl Preamble {
    fn read(input: &mut impl BufRead, is_known: &dyn Fn(&str) -> bool) -> std::io::Result<Self> {
        let mut found = Self { separator: b',', ..Self::default() };
        let mut is_ecsv = false;
        loop {
            let line = match input.fill_buf()?.first() {
                Some(0xef) if found.bytes == 0 => line_of(input, MARK.len())?,
                Some(b'#') => line_of(input, LONGEST as usize)?,
                Some(b's' | b'S' | b'"') => line_of(input, "\"sep=,\"\r\n".len())?,
                _ => return Ok(found),
            };
            found.bytes += line.len() as u64;
            if found.bytes > LONGEST {
                found.is_too_long = true;
                return Ok(found);
            }
            if line.starts_with(b"#") {
                let text = decode(line).unwrap_or_default();
                let text = text.trim_start_matches('#').trim();
                is_ecsv |= text.starts_with("%ECSV");
                if is_ecsv {
                    found.read_ecsv(text);
                }
                let mut cells = StringRecord::new();
                let _ = reader_of(found.separator).from_reader(text.as_bytes()).read_record(&mut cells);
                cells.trim();
                if cells.iter().any(is_known) {
                    found.header = cells;
                }
            } else if let Some(separator) = separator_of(&line) {
                found.separator = separator;
            } else if line != MARK {
                found.bytes -= line.len() as u64;
                found.head = line;
                return Ok(found);
            }
        }
    }

    /// A comment of ECSV, the format of astropy. The separator is a blank unless a comment has another. A column is `- {name: x, unit: km}`, or
    /// begins with `- name: x`, and the unit follows. The scale of times, which counts as their unit, follows a line `time:`.
    fn read_ecsv(&mut self, comment: &str) {
        let scalar = |text: &str| {
            let text = text.trim_start();
            let mut parts = match text.strip_prefix(['\'', '"']) {
                Some(quoted) => quoted.split(['\'', '"']),
                None => text.split([',', '}']),
            };
            parts.next().unwrap_or_default().trim().to_owned()
        };
        let value = |key: &str| comment.strip_prefix(key).map(scalar);
        let within = |key: &str| comment.split_once(key).map(|(_, text)| scalar(text));
        if comment.starts_with("%ECSV") {
            self.separator = b' ';
        }
        if let Some(&[separator]) = within("delimiter:").as_ref().map(String::as_bytes) {
            self.separator = separator;
        }
        let in_braces = value("- {name:");
        let unit = match in_braces {
            Some(_) => within("unit:"),
            // Objects of astropy begin with one of these characters. Their columns have the unit, too.
            None => value("unit:").or(value("scale:")).filter(|unit| !unit.starts_with(['!', '&', '*'])),
        };
        if let Some(name) = in_braces.or(value("- name:")).or(comment.strip_suffix(':').map(scalar)) {
            self.column = name;
        }
        self.units.extend(unit.map(|unit| (self.column.clone(), unit)));
    }
}

fn reader_of(separator: u8) -> ReaderBuilder {
    let mut builder = ReaderBuilder::new();
    builder.has_headers(false).flexible(true).delimiter(separator).buffer_capacity(AHEAD);
    builder
}

/// The separator that a line `sep=,` names.
fn separator_of(line: &[u8]) -> Option<u8> {
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let text = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(text);
    match text {
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', separator] => Some(*separator),
        _ => None,
    }
}

/// The bytes up to a line end, which is `\n`, `\r\n` or `\r`: at most `most`.
fn line_of(input: &mut impl BufRead, most: usize) -> std::io::Result<Vec<u8>> {
    let mut line = Vec::new();
    loop {
        let buffer = input.fill_buf()?;
        let part = &buffer[..buffer.len().min(most - line.len())];
        let end = part.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let count = end.map_or(part.len(), |end| end + 1);
        line.extend_from_slice(&part[..count]);
        input.consume(count);
        if end.is_some() || count == 0 {
            break;
        }
    }
    if line.ends_with(b"\r") && line.len() < most && input.fill_buf()?.first() == Some(&b'\n') {
        line.push(b'\n');
        input.consume(1);
    }
    Ok(line)
}
