//! A CSV file that is small enough for memory, with comments that begin with `#`. Errors name the line.

use std::path::Path;

use csv::{ErrorKind, ReaderBuilder, StringRecord, Trim};

use super::csv::unequal;
use super::input::check_regular;
use crate::error::{Error, Result};
use crate::escape::quoted;
use crate::io::errors::{bad_file, cannot_read};

/// Maximum length of a file in bytes.
const LONGEST: u64 = 1 << 28;

/// Reads a text of at most 256 MiB. `what` says what it has, for errors.
pub(crate) fn read_small_text(path: &Path, what: &str) -> Result<String> {
    let length = check_regular(path)?;
    if length > LONGEST {
        let message = format!("the file has {length} bytes: a file of {what} may have at most {LONGEST}");
        return Err(bad_file(path, message));
    }
    let bytes = std::fs::read(path).map_err(|e| cannot_read(path, e))?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count();
        bad_file(path, format!("line {line}: the text is not UTF-8"))
    })
}

/// The header and the rows of a CSV.
pub(crate) struct SmallCsv<'a> {
    path: &'a Path,
    pub(crate) header: StringRecord,
    /// The line of each row, from 1, and its cells, without blanks around them.
    pub(crate) rows: Vec<(usize, StringRecord)>,
}

impl<'a> SmallCsv<'a> {
    /// Parses a text.
    pub(crate) fn parse(path: &'a Path, text: &str) -> Result<Self> {
        // A byte order mark is no part of a name.
        let text = text.trim_start_matches('\u{feff}');
        let mut reader =
            ReaderBuilder::new().trim(Trim::All).comment(Some(b'#')).has_headers(false).from_reader(text.as_bytes());
        let mut cursor = LineCursor { text, byte: 0, line: 1 };
        let mut csv = Self { path, header: StringRecord::new(), rows: Vec::new() };
        let mut record = StringRecord::new();
        loop {
            let start = reader.position().byte() as usize;
            let found = reader.read_record(&mut record);
            let line = cursor.record_after(start);
            match found {
                Ok(false) => return Ok(csv),
                Ok(true) if csv.header.is_empty() => csv.header = record.clone(),
                Ok(true) => csv.rows.push((line, record.clone())),
                Err(error) => return Err(csv.fault(line, &error)),
            }
        }
    }

    /// An error in a record, with its cells if there are too few or too many.
    fn fault(&self, line: usize, error: &csv::Error) -> Error {
        let message = match error.kind() {
            ErrorKind::UnequalLengths { expected_len, len, .. } => {
                format!("{}: {}", unequal(*len, *expected_len), self.header_line())
            }
            _ => error.to_string(),
        };
        bad_file(self.path, format!("line {line}: {message}"))
    }

    fn header_line(&self) -> String {
        self.header.iter().map(quoted).collect::<Vec<_>>().join(",")
    }

    /// Index of a column, by any of its names, in upper or lower case.
    pub(crate) fn column(&self, names: &[&str]) -> Option<usize> {
        self.header.iter().position(|own| names.iter().any(|name| name.eq_ignore_ascii_case(own)))
    }

    /// The error for a column that is missing.
    pub(crate) fn missing(&self, name: &str) -> Error {
        let found = self.header_line();
        let comma = if found.contains(';') { ", and columns must be separated by commas" } else { "" };
        bad_file(self.path, format!("there is no column `{name}`: the header is `{found}`{comma}"))
    }
}

/// Counts the lines up to records in ascending order.
struct LineCursor<'a> {
    text: &'a str,
    byte: usize,
    line: usize,
}

impl LineCursor<'_> {
    /// The line of the first record at or after a byte, where the reader began: it skips blank lines and comments.
    fn record_after(&mut self, start: usize) -> usize {
        let rest = |byte: usize| self.text.get(byte..).unwrap_or("");
        let next = |byte: usize| rest(byte).find('\n').map_or(self.text.len(), |end| byte + end + 1);
        while self.byte < start {
            (self.byte, self.line) = (next(self.byte), self.line + 1);
        }
        while self.byte < self.text.len()
            && (rest(self.byte).starts_with(['#', '\n']) || rest(self.byte).starts_with("\r\n"))
        {
            (self.byte, self.line) = (next(self.byte), self.line + 1);
        }
        self.line
    }
}
