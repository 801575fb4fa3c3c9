//! A CSV file that is small enough for memory, with comments that begin with `#`. Errors name the line.

use std::io::Read;
use std::path::Path;

use csv::StringRecord;

use super::csv_records::{CsvRecords, check_separator};
use super::encoding::decode;
use super::input::{Input, check_regular};
use crate::error::{Error, Result};
use crate::error::{bad_file, cannot_read};
use crate::escape::quoted;
use crate::schema::convert::RowLocation;
use crate::schema::headings::{Meanings, meanings_of, split};

/// Maximum length of a file in bytes.
const LONGEST: u64 = 1 << 28;

/// Reads a text of at most 256 MiB. `what` says what it has, for errors.
pub(crate) fn read_small_text(path: &Path, what: &str) -> Result<String> {
    decode(read_small(path, what)?).map_err(|why| bad_file(path, why))
}

/// Reads the text of an open pipe, of at most 256 MiB.
pub(crate) fn read_small_pipe(pipe: Input, what: &str) -> Result<String> {
    let path = pipe.path.clone();
    let mut bytes = Vec::new();
    pipe.take(LONGEST + 1).read_to_end(&mut bytes).map_err(|e| cannot_read(&path, e))?;
    if bytes.len() as u64 > LONGEST {
        return Err(bad_file(&path, format!("the input of {what} has more than {LONGEST} bytes")));
    }
    decode(bytes).map_err(|why| bad_file(&path, why))
}

fn read_small(path: &Path, what: &str) -> Result<Vec<u8>> {
    let length = check_regular(path)?;
    if length > LONGEST {
        let message = format!("the file has {length} bytes: a file of {what} may have at most {LONGEST}");
        return Err(bad_file(path, message));
    }
    std::fs::read(path).map_err(|e| cannot_read(path, e))
}

/// A column that a file may have.
pub(crate) struct SmallColumn {
    /// Its names, the first for messages.
    pub(crate) names: &'static [&'static str],
    /// Units that the name may have, the first for messages; `None` for text.
    pub(crate) units: Option<&'static [&'static str]>,
}

impl Meanings for &[SmallColumn] {
    fn named(&self, name: &str) -> Option<usize> {
        self.iter().position(|column| column.names.contains(&name))
    }

    fn units(&self, column: usize) -> Option<Vec<String>> {
        self[column].units.map(|units| units.iter().map(|unit| (*unit).to_owned()).collect())
    }

    fn name(&self, column: usize) -> &str {
        self[column].names[0]
    }

    fn shares_units(&self) -> bool {
        false
    }
}

/// The header and the rows of a CSV.
pub(crate) struct SmallCsv<'a> {
    path: &'a Path,
    header: StringRecord,
    /// The names of the column that each heading means.
    meanings: Vec<Option<&'static [&'static str]>>,
    /// The place of each row, and its cells, without blanks around them.
    pub(crate) rows: Vec<(RowLocation, StringRecord)>,
}

impl<'a> SmallCsv<'a> {
    /// Reads a file. `what` says what it has, for errors.
    pub(crate) fn read(path: &'a Path, what: &str, columns: &'static [SmallColumn]) -> Result<Self> {
        let bytes = read_small(path, what)?;
        let is_known = |heading: &str| columns.named(&split(heading).0).is_some();
        let mut records = CsvRecords::open(&bytes[..], path, true, &is_known)?;
        let headings = records.headings();
        let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
        let place = RowLocation::Byte(records.header_at).describe(path);
        let fault = |why| bad_file(path, format!("{place}: {why}"));
        check_separator(&records.header).map_err(fault)?;
        let meanings = meanings_of(&headings, &columns).map_err(fault)?;
        let first = meanings.first().copied().flatten();
        records.has_comments = first.is_some_and(|column| columns[column].units.is_some());
        let meanings = meanings.into_iter().map(|column| Some(columns[column?].names)).collect();
        let mut csv = Self { path, header: records.header.clone(), meanings, rows: Vec::new() };
        while let Some((place, record)) = records.next()? {
            let mut record = record.clone();
            record.trim();
            csv.rows.push((place, record));
        }
        Ok(csv)
    }

    /// Index of a column, by any of its names.
    pub(crate) fn column(&self, names: &[&str]) -> Option<usize> {
        self.meanings.iter().position(|own| own.is_some_and(|own| own.contains(&names[0])))
    }

    /// Headings that mean no column.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = &str> {
        self.header.iter().zip(&self.meanings).filter(|(_, meaning)| meaning.is_none()).map(|(heading, _)| heading)
    }

    /// The error for a column that is missing.
    pub(crate) fn missing(&self, name: &str) -> Error {
        let found = self.header.iter().map(quoted).collect::<Vec<_>>().join(",");
        bad_file(self.path, format!("there is no column `{name}`: the header is `{found}`"))
    }
}
