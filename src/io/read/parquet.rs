//! Reader of `.parquet`: a few thousand rows of every column at a time. Pages are unpacked when they are needed.

use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::input::{Input, ROWS_AT_ONCE};
use super::parquet_bytes::FileBytes;
use super::parquet_columns::{Meaning, check_lengths, column, fill, is_number, meaning, text_column};
use super::read_options::{ExtraColumns, ReadOptions};
use super::table_reader::{ReadFormat, RowSink, TableReader};
use crate::error::{Error, Result};
use crate::escape::quoted;
use crate::io::errors::{bad_file, cannot_read, same};
use crate::io::schema::columns::columns;
use crate::io::schema::convert::{Row, RowLocation};
use crate::io::schema::kinds::TableSchema;
use crate::io::schema::optional::is_whole;
use crate::runtime::memory::check_memory;
use ::parquet::basic::{Compression, ConvertedType, Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::RowGroupMetaData;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;

/// A file whose footer has been read and checked.
struct ParquetReader {
    path: PathBuf,
    reader: SerializedFileReader<FileBytes>,
    /// Indices of the columns that are used.
    leaves: Vec<usize>,
    /// For each of them, the field of the record that it fills.
    fields: Vec<usize>,
    /// Names of the columns that are kept as text, and their indices.
    kept: Vec<String>,
    kept_leaves: Vec<usize>,
    rows: u64,
}

impl std::fmt::Debug for ParquetReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetReader").field("path", &self.path).field("rows", &self.rows).finish_non_exhaustive()
    }
}

pub(crate) const FORMAT: ReadFormat = ReadFormat { extension: "parquet", first_byte: None, open };

/// Reads the footer, which has the names and positions of the columns.
fn open(input: Input, kind: &'static TableSchema, options: &ReadOptions) -> Result<Box<dyn TableReader>> {
    let path = input.path.clone();
    let (file, length, shown) = input.into_parts();
    let Some(length) = length else {
        let why = "a Parquet file cannot be read from a pipe; use .npy or .csv";
        return Err(bad_file(&path, why));
    };
    let bytes = FileBytes { file: Arc::new(file), length, shown, largest: Arc::default() };
    let footer = footer_length(&path, &bytes)?;
    check_memory("the footer of a Parquet file", 8 * footer)?;
    // A schema may be as deep as the footer is long, and the crate recurses into it: 7 bytes of footer and some hundred bytes of stack per
    // level. (The stack uses only address space until the recursion needs it.)
    let stack = (2 << 20) + 256 * footer as usize;
    let opened = std::thread::Builder::new().name("footer".into()).stack_size(stack);
    let opened = opened.spawn({
        let (path, options) = (path.clone(), *options);
        move || read_footer(path, bytes, kind, &options)
    });
    let opened = opened.map_err(|e| Error::no_thread(&path, e))?;
    let opened = opened.join().unwrap_or_else(|_| Err(damaged(&path, "its footer is invalid")));
    Ok(Box::new(opened?))
}

/// Checks both ends of the file, and returns the length of the footer in bytes.
fn footer_length(path: &Path, bytes: &FileBytes) -> Result<u64> {
    use ::parquet::file::reader::ChunkReader;
    let length = bytes.length;
    let bad = |why: String| Err(bad_file(path, format!("not a readable .parquet file: {why}")));
    if length == 0 {
        return bad("it is empty (0 bytes)".into());
    }
    let read = |from, count| bytes.get_bytes(from, count).map_err(|e| fault(path, "", e));
    let begins = length >= 4 && read(0, 4)?[..] == *b"PAR1";
    if !begins {
        return bad("it does not begin with PAR1".into());
    }
    let tail = if length >= 12 { read(length - 8, 8)? } else { Default::default() };
    let footer = match tail[..] {
        [a, b, c, d, b'P', b'A', b'R', b'1'] => u64::from(u32::from_le_bytes([a, b, c, d])),
        [.., b'P', b'A', b'R', b'E'] => return bad("it is encrypted, which is not supported".into()),
        _ => return bad(format!("it does not end with PAR1 after {length} bytes: the file is truncated")),
    };
    if footer + 12 > length {
        return bad(format!("its footer claims {footer} bytes, but the file has {length}"));
    }
    Ok(footer)
}

fn read_footer(
    path: PathBuf,
    bytes: FileBytes,
    kind: &'static TableSchema,
    options: &ReadOptions,
) -> Result<ParquetReader> {
    let (largest, length) = (bytes.largest.clone(), bytes.length);
    let reader = SerializedFileReader::new(bytes).map_err(|e| fault(&path, "", e))?;
    let metadata = reader.metadata();
    let schema = metadata.file_metadata().schema_descr();
    let names: Vec<&str> = schema.root_schema().get_fields().iter().map(|field| field.name()).collect();
    let found = columns(&path, "", kind, &names, options.ignores_unknown(), options.unit)?;
    let (mut leaves, mut kept, mut kept_leaves) = (Vec::new(), Vec::new(), Vec::new());
    // A nested column has several leaves, which are what row groups list.
    for (index, leaf) in schema.columns().iter().enumerate() {
        let root = schema.get_column_root_idx(index);
        if let Some(field) = found[root] {
            check_number(&path, leaf, kind, field)?;
            leaves.push(index);
        } else if options.extra == ExtraColumns::Keep {
            check_kept(&path, leaf)?;
            kept.push(names[root].to_owned());
            kept_leaves.push(index);
        }
    }
    let fields = found.into_iter().flatten().collect();
    let mut rows = 0_u64;
    for (number, group) in metadata.row_groups().iter().enumerate() {
        rows += check_group(&path, number, group, length)?;
        for chunk in group.columns() {
            largest.fetch_max(chunk.uncompressed_size().max(0) as u64, Ordering::Relaxed);
        }
    }
    if rows != metadata.file_metadata().num_rows() as u64 {
        let claimed = metadata.file_metadata().num_rows();
        return Err(damaged(&path, &format!("it claims {claimed} rows, but its row groups have {rows}")));
    }
    Ok(ParquetReader { path, reader, leaves, fields, kept, kept_leaves, rows })
}

/// Checks that a column is a plain list of numbers, which are whole if it is an optional column of whole numbers.
fn check_number(path: &Path, leaf: &ColumnDescriptor, kind: &'static TableSchema, field: usize) -> Result<()> {
    let whole = is_whole(kind.name(field));
    let found = match (leaf.path().parts().len(), leaf.max_rep_level(), leaf.physical_type()) {
        (2.., ..) => "nested".into(),
        (_, 1.., _) => "a list".into(),
        (.., Type::FLOAT | Type::DOUBLE) if whole => leaf.physical_type().to_string(),
        _ if is_number(leaf) => return Ok(()),
        (.., found) => match (leaf.logical_type_ref(), leaf.converted_type()) {
            (Some(logical), _) => format!("{found} ({logical:?})"),
            (None, ConvertedType::NONE) => found.to_string(),
            (None, converted) => format!("{found} ({converted})"),
        },
    };
    let expected =
        if whole { "expected an integer type" } else { "expected a number: a floating-point, integer or decimal type" };
    let name = quoted(&leaf.path().parts()[0]).to_string();
    Err(bad_file(path, format!("column '{name}' is {}: {expected}", quoted(&found))))
}

/// Checks that a column is a plain list of texts, numbers, dates or times, which can be kept as text.
fn check_kept(path: &Path, leaf: &ColumnDescriptor) -> Result<()> {
    let is_plain = leaf.path().parts().len() == 1 && leaf.max_rep_level() == 0;
    if is_plain && meaning(leaf) != Meaning::Other {
        return Ok(());
    }
    let (name, found) = (quoted(leaf.path().parts()[0].as_str()), leaf.physical_type());
    let found = if is_plain { found.to_string() } else { "nested".into() };
    let kept = "only text, numbers, dates and times can be kept";
    Err(bad_file(path, format!("column '{name}' is {found}: {kept}; use --ignore-extra")))
}

/// Checks the claims of a row group against the file, and returns its number of rows.
fn check_group(path: &Path, number: usize, group: &RowGroupMetaData, length: u64) -> Result<u64> {
    let Ok(rows) = u64::try_from(group.num_rows()) else {
        return Err(damaged(path, &format!("row group {number} claims {} rows", group.num_rows())));
    };
    for chunk in group.columns() {
        let name = chunk.column_descr().name();
        let name = quoted(name);
        let bad = |why: String| Err(damaged(path, &format!("column '{name}' of row group {number} {why}")));
        match chunk.compression() {
            Compression::BROTLI(_) | Compression::LZO => {
                let found = chunk.compression().to_string();
                let found = found.split('(').next().unwrap_or_default();
                let supported = "none, SNAPPY, ZSTD, GZIP and LZ4";
                let why = format!("column '{name}' is compressed with {found}: supported are {supported}");
                return Err(bad_file(path, why));
            }
            _ => {}
        }
        if chunk.num_values() != group.num_rows() {
            return bad(format!("claims {} values, but the row group has {rows} rows", chunk.num_values()));
        }
        let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
        let (Ok(start), Ok(size)) = (u64::try_from(start), u64::try_from(chunk.compressed_size())) else {
            return bad(format!("claims {} bytes from byte {start} on", chunk.compressed_size()));
        };
        if start.checked_add(size).is_none_or(|end| end > length) {
            return bad(format!("claims {size} bytes from byte {start} on, but the file has {length}"));
        }
    }
    Ok(rows)
}

impl TableReader for ParquetReader {
    fn fields(&self) -> &[usize] {
        &self.fields
    }

    fn kept(&self) -> &[String] {
        &self.kept
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn read(self: Box<Self>, kind: &'static TableSchema, sink: &mut RowSink<'_>) -> Result<()> {
        let Self { path, reader, leaves, fields, kept, kept_leaves, .. } = *self;
        let mut first = 0;
        for number in 0..reader.num_row_groups() {
            let group = reader.get_row_group(number).map_err(|e| fault(&path, "", e))?;
            let mut row = Row::new(kind);
            let mut columns = fields
                .iter()
                .zip(&leaves)
                .map(|(&field, &leaf)| {
                    Ok((field, column(&*group, leaf).map_err(|e| fault(&path, kind.name(field), e))?))
                })
                .collect::<Result<Vec<_>>>()?;
            let mut texts = kept_leaves
                .iter()
                .zip(&kept)
                .map(|(&leaf, name)| Ok((name, text_column(&*group, leaf).map_err(|e| fault(&path, name, e))?)))
                .collect::<Result<Vec<_>>>()?;
            let mut left = group.metadata().num_rows() as u64;
            while left > 0 {
                let count = left.min(ROWS_AT_ONCE as u64) as usize;
                for (field, column) in &mut columns {
                    let name = kind.name(*field);
                    fill(column.as_mut(), count).map_err(|e| fault(&path, name, e))?;
                    if column.cells().len() < count {
                        let row = first + column.cells().len() as u64;
                        let why = format!("column '{name}' ends before row {} (index {row})", row + 1);
                        return Err(damaged(&path, &why));
                    }
                }
                for (name, column) in &mut texts {
                    fill(column.as_mut(), count)
                        .and_then(|()| check_lengths(column.cells()))
                        .map_err(|e| fault(&path, name, e))?;
                    if column.cells().len() < count {
                        return Err(damaged(&path, &format!("column '{}' ends too early", quoted(name))));
                    }
                }
                for i in 0..count {
                    for (field, column) in &columns {
                        let number = column.cells()[i];
                        row.texts[*field] = if number.is_none() { "null" } else { "" };
                        row.numbers[*field] = number.unwrap_or(f64::NAN.into());
                    }
                    row.place = RowLocation::Index(first + i as u64);
                    let kept: Vec<&str> =
                        texts.iter().map(|(_, column)| column.cells()[i].as_deref().unwrap_or_default()).collect();
                    let Row { place, numbers, texts, order, .. } = row;
                    sink(&Row { place, numbers, texts, order, kept: &kept, omitted: None })?;
                }
                first += count as u64;
                left -= count as u64;
            }
        }
        Ok(())
    }
}

fn damaged(path: &Path, why: &str) -> Error {
    bad_file(path, format!("the file is damaged: {why}"))
}

/// Converts an error of the crate to an error of this library, with the column if there is one.
fn fault(path: &Path, column: &str, error: ParquetError) -> Error {
    let within = if column.is_empty() { String::new() } else { format!("column '{}': ", quoted(column)) };
    match error {
        ParquetError::External(error) => match error.downcast::<Error>() {
            Ok(error) => *error,
            Err(error) => match error.downcast_ref::<std::io::Error>() {
                // Decompressors report damaged bytes as I/O errors of these kinds.
                Some(e) if !matches!(e.kind(), InvalidData | UnexpectedEof | InvalidInput) => {
                    cannot_read(path, same(e))
                }
                _ => damaged(path, &format!("{within}{error}")),
            },
        },
        ParquetError::General(why) | ParquetError::EOF(why) => damaged(path, &format!("{within}{why}")),
        other => damaged(path, &format!("{within}{other}")),
    }
}
