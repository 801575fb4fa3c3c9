//! A table in any of the readable formats, and the interface of a format: how it is recognised, and how its rows are read. Opening a
//! table reads the header; the rows are read later.

use std::fmt::Debug;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::binary::RAW;
use super::input::Input;
#[cfg(not(target_arch = "wasm32"))]
use super::npz;
#[cfg(feature = "parquet")]
use super::parquet::FORMAT as PARQUET;
use super::read_options::{ExtraColumns, ReadOptions};
use super::{atoms, csv, npy, pdb, ply, xyz};
use crate::error::Result;
use crate::error::{bad_file, cannot_read};
#[cfg(not(feature = "parquet"))]
use crate::format::without_parquet;
use crate::format::{check_parquet, describe, extension};
use crate::schema::convert::Row;
use crate::schema::kinds::TableSchema;
use crate::schema::left_out::{LeftOut, Omitted};

/// Receives the rows of a table, one after the other. An error ends the read.
pub(crate) type RowSink<'a> = dyn FnMut(&Row<'_>) -> Result<()> + 'a;

/// Passes every row to a sink.
type ReadRows = dyn FnOnce(&mut RowSink<'_>) -> Result<()> + Send;

/// An open file whose header has been read and checked.
pub(crate) struct TableReader {
    /// The field of a row that each column fills.
    fields: Vec<usize>,
    /// Names of the columns that are kept as text. Each row has one cell for each of them.
    kept: Vec<String>,
    /// Number of rows, if it is known before the end of the input.
    rows: Option<u64>,
    read: Box<ReadRows>,
}

impl TableReader {
    pub(crate) fn new(
        fields: Vec<usize>,
        rows: Option<u64>,
        read: impl FnOnce(&mut RowSink<'_>) -> Result<()> + Send + 'static,
    ) -> Self {
        Self { fields, kept: Vec::new(), rows, read: Box::new(read) }
    }

    /// With columns that are kept as text.
    pub(crate) fn keeps(self, kept: Vec<String>) -> Self {
        Self { kept, ..self }
    }
}

impl Debug for TableReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableReader").field("fields", &self.fields).field("rows", &self.rows).finish_non_exhaustive()
    }
}

/// A format in which tables can be read.
#[derive(Debug)]
pub(crate) struct ReadFormat {
    /// Extension of the file name, in lower case.
    pub(crate) extension: &'static str,
    /// First byte by which a pipe without an extension is recognised; `None` if the first byte can be any.
    pub(crate) first_byte: Option<u8>,
    /// Reads the header.
    pub(crate) open: fn(Input, &'static TableSchema, &ReadOptions) -> Result<TableReader>,
}

/// All readable formats. The raw format also has the plural of the records as its extension, such as `.rays`.
const FORMATS: &[ReadFormat] = &[
    npy::FORMAT,
    // In a browser, the crate of archives would be much of what has to be fetched.
    #[cfg(not(target_arch = "wasm32"))]
    npz::FORMAT,
    csv::FORMAT,
    PARQUET,
    ply::FORMAT,
    xyz::FORMAT,
    pdb::FORMAT,
    RAW,
];

/// The entry of Parquet in a build without it.
#[cfg(not(feature = "parquet"))]
const PARQUET: ReadFormat =
    ReadFormat { extension: "parquet", first_byte: None, open: |input, _, _| Err(without_parquet(&input.path)) };

/// An open table with a checked header.
#[derive(Debug)]
pub(crate) struct OpenTable {
    path: PathBuf,
    length: Option<u64>,
    progress: Arc<AtomicU64>,
    reader: TableReader,
}

impl OpenTable {
    /// Opens a file in the format of its extension. A pipe often has no extension: its first byte selects the format, else it is text.
    pub(crate) fn open_with(path: &Path, schema: &'static TableSchema, options: &ReadOptions) -> Result<Self> {
        let (input, format) = recognise(path, None, schema, options)?;
        Self::of(input, format, schema, options)
    }

    /// Opens the bytes of a file that is in memory. The extension of `name` selects the format.
    pub(crate) fn in_memory(name: &Path, bytes: Vec<u8>, schema: &'static TableSchema) -> Result<Self> {
        let options = ReadOptions::default();
        let (input, format) = recognise(name, Some(Input::in_memory(name, bytes)), schema, &options)?;
        Self::of(input, format, schema, &options)
    }

    /// Like [`open_with`](Self::open_with), but keeps the unknown columns of formats that can have text: all of them, or, if extra columns are
    /// ignored, at least those named `texts`. `opened` is the input if it is open already.
    pub(crate) fn open_with_text(
        path: &Path,
        opened: Option<Input>,
        schema: &'static TableSchema,
        texts: &'static [&'static str],
        options: &ReadOptions,
    ) -> Result<Self> {
        let (input, format) = recognise(path, opened, schema, options)?;
        let has_text = matches!(format.extension, "csv" | "parquet");
        let extra = if has_text { ExtraColumns::Keep } else { options.extra };
        let only = (options.extra == ExtraColumns::Ignore).then_some(texts);
        Self::of(input, format, schema, &ReadOptions { extra, only, ..*options })
    }

    fn of(input: Input, format: &ReadFormat, schema: &'static TableSchema, options: &ReadOptions) -> Result<Self> {
        let (path, length, progress) = (input.path.clone(), input.length(), input.progress());
        Ok(Self { path, length, progress, reader: (format.open)(input, schema, options)? })
    }

    /// The fields that the columns fill.
    pub(crate) fn fields(&self) -> &[usize] {
        &self.reader.fields
    }

    /// Names of the columns that are kept as text.
    pub(crate) fn kept(&self) -> &[String] {
        &self.reader.kept
    }

    /// Number of rows, if it is known before the end of the input.
    pub(crate) fn rows(&self) -> Option<u64> {
        self.reader.rows
    }

    /// Length in bytes when the file was opened; `None` for a pipe.
    pub(crate) fn length(&self) -> Option<u64> {
        self.length
    }

    /// Bytes read so far, as a counter that another thread can read.
    pub(crate) fn progress(&self) -> Arc<AtomicU64> {
        self.progress.clone()
    }

    /// Passes every row to `sink`, including those that are left out. Returns their counts.
    pub(crate) fn read(self, sink: &mut RowSink<'_>) -> Result<LeftOut> {
        let mut left_out = LeftOut::default();
        (self.reader.read)(&mut |row| {
            if let Some(omitted) = row.omitted {
                left_out.note(omitted, || row.place.describe(&self.path));
                if matches!(omitted, Omitted::Model) {
                    return Ok(());
                }
            }
            sink(row)
        })?;
        Ok(left_out)
    }
}

/// Opens the input of a table, and determines its format.
fn recognise(
    path: &Path,
    opened: Option<Input>,
    schema: &'static TableSchema,
    options: &ReadOptions,
) -> Result<(Input, &'static ReadFormat)> {
    let extension = extension(path);
    check_parquet(path)?;
    let raw = extension == schema.plural;
    let known = FORMATS.iter().find(|format| format.extension == extension).or(raw.then_some(&RAW));
    if known.is_none() && !extension.is_empty() {
        return Err(unsupported(path, schema, &extension));
    }
    let mut input = opened.map_or_else(|| Input::open(path), Ok)?;
    let format = match known {
        Some(format) => format,
        None if input.length().is_some() => return Err(unsupported(path, schema, "")),
        None if options.stream_format.is_some() => {
            let wanted = options.stream_format.map_or("", |format| format.extension());
            FORMATS.iter().find(|format| format.extension == wanted).unwrap_or(&csv::FORMAT)
        }
        None => {
            let start = input.fill_buf().map_err(|e| cannot_read(path, e))?;
            for (mark, name) in [(&b"PAR1"[..], "Parquet"), (b"PK\x03\x04", ".npz")] {
                if start.starts_with(mark) {
                    return Err(bad_file(path, format!("{name} cannot be read from a pipe: give the file")));
                }
            }
            let first = start.first().copied();
            let recognised = |format: &&ReadFormat| format.first_byte.is_some() && format.first_byte == first;
            FORMATS.iter().find(recognised).unwrap_or(&csv::FORMAT)
        }
    };
    if !fits(schema, format.extension) {
        return Err(unsupported(path, schema, format.extension));
    }
    Ok((input, format))
}

/// Whether the records of a schema can come from a format. Atoms have a place and a radius. States have times and names of objects, and
/// numbers of `.ply` are often f4, which rounds `unix_s` to 128 s.
fn fits(schema: &TableSchema, extension: &str) -> bool {
    match extension {
        "xyz" | "pdb" => atoms::TABLES.contains(&schema.plural),
        "ply" => schema.plural != "states",
        _ => true,
    }
}

/// The error for a file whose extension is not that of a readable format.
fn unsupported(path: &Path, schema: &TableSchema, found: &str) -> crate::error::Error {
    let swapped = match (schema.plural, found) {
        ("observers" | "poses", _) => "",
        ("rays", "segments") => "; to cast segments, use cast --segments",
        ("rays", "points") => "; to cast rays from points, use cast --toward or --parallel",
        ("segments", "rays") => "; to cast rays, leave out --segments",
        ("bullets", "spheres") => "; the order of the files is SPHERES, then BULLETS",
        (_, "spheres" | "rays") => "; the order of the files is SPHERES, then RAYS or POINTS",
        _ => "",
    };
    let (plural, found) = (schema.plural, describe(found));
    // Raw records may also have the plural as their extension.
    let has_times = plural == "states";
    let supported: Vec<String> = FORMATS
        .iter()
        .map(|format| format.extension)
        .filter(|extension| fits(schema, extension) && (!has_times || *extension != RAW.extension))
        .chain(has_times.then_some(["bsp", "oem"]).into_iter().flatten())
        .map(|extension| format!(".{extension}"))
        .collect();
    let (supported, last) = (supported.join(", "), if has_times { "xml" } else { plural });
    bad_file(path, format!("cannot read {plural} from {found}: supported are {supported} and .{last}{swapped}"))
}
