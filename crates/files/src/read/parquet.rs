//! Reader of `.parquet`: a few thousand rows of every column at a time, as arrays of Arrow.

use std::cmp::Ordering::{Equal, Greater, Less};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, TimestampNanosecondType, TimestampSecondType};
use arrow_array::{Array, ArrayRef, RecordBatchReader, new_empty_array};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{ArrowError, DataType, Field, Fields, TimeUnit};

use super::csv;
use super::input::{Input, ROWS_AT_ONCE};
use super::parquet_bytes::FileBytes;
use super::read_options::{ExtraColumns, ReadOptions};
use super::table::{ReadFormat, RowSink, TableReader};
use crate::error::{Error, Result};
use crate::error::{bad_file, cannot_read};
use crate::escape::quoted;
use crate::schema::columns::columns;
use crate::schema::convert::{Number, Row, RowLocation};
use crate::schema::kinds::TableSchema;
use crate::schema::optional::is_whole;
use ::parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use ::parquet::arrow::{ProjectionMask, parquet_to_arrow_field_levels};
use ::parquet::basic::{Compression, ConvertedType, LogicalType, Type};
use ::parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;
use umbracast::memory;

/// A file whose footer has been read and checked.
struct ParquetReader {
    bytes: FileBytes,
    /// For each column of numbers, the field of the record that it fills.
    fields: Vec<usize>,
    numbers: Vec<Column>,
    /// Names of the columns that are kept as text.
    kept: Vec<String>,
    texts: Vec<Column>,
    /// Rows in all, and per batch.
    rows: u64,
    batch: u64,
}

/// A column, batch by batch. (Arrow reads any number of columns at once. Of one column, an error can have the name.)
struct Column {
    batches: ParquetRecordBatchReader,
    /// The same column in whole seconds, if it is INT96. Its nanoseconds may exceed an integer of Arrow, which wraps around.
    seconds: Option<ParquetRecordBatchReader>,
}

type ArrowResult<T> = std::result::Result<T, ArrowError>;

impl std::fmt::Debug for ParquetReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetReader").field("bytes", &self.bytes).field("rows", &self.rows).finish_non_exhaustive()
    }
}

pub(crate) const FORMAT: ReadFormat = ReadFormat { extension: "parquet", first_byte: None, open };

/// Reads the footer, which has the names and positions of the columns.
fn open(input: Input, kind: &'static TableSchema, options: &ReadOptions) -> Result<Box<dyn TableReader>> {
    let path = input.path.clone();
    let (file, length, shown) = input.into_parts().map_err(|error| cannot_read(&path, error))?;
    let Some(length) = length else {
        return Err(bad_file(&path, "a Parquet file cannot be read from a pipe; use .npy or .csv"));
    };
    let (largest, failed) = Default::default();
    let bytes = FileBytes { path: path.clone(), file: Arc::new(file), length, shown, largest, failed };
    let footer = footer_length(&path, &bytes)?;
    memory::check("the footer of a Parquet file", 8 * footer)?;
    // A schema may be as deep as the footer is long, and the crate recurses into it: 7 bytes of footer and some hundred bytes of stack per
    // level. (The stack uses only address space until the recursion needs it.)
    let stack = (2 << 20) + 256 * footer as usize;
    let opened = std::thread::Builder::new().name("footer".into()).stack_size(stack);
    let (options, batch) = (*options, ROWS_AT_ONCE);
    let opened = opened.spawn(move || read_footer(bytes, kind, &options, batch));
    let opened = opened.map_err(|e| Error::no_thread(&path, e))?;
    let opened = opened.join().unwrap_or_else(|_| Err(damaged(&path, "its footer is invalid")));
    Ok(Box::new(opened?))
}

/// Checks both ends of the file, and returns the length of the footer in bytes.
fn footer_length(path: &Path, bytes: &FileBytes) -> Result<u64> {
    let length = bytes.length;
    let bad = |why: String| Err(bad_file(path, format!("not a readable .parquet file: {why}")));
    if length == 0 {
        return bad("it is empty (0 bytes)".into());
    }
    let read = |from, count| bytes.get_bytes(from, count).map_err(|e| fault(bytes, "", &e));
    if length < 4 || read(0, 4)?[..] != *b"PAR1" {
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
    bytes: FileBytes,
    kind: &'static TableSchema,
    options: &ReadOptions,
    batch: usize,
) -> Result<ParquetReader> {
    let path = &bytes.path;
    let reader = SerializedFileReader::new(bytes.clone()).map_err(|e| fault(&bytes, "", &e))?;
    let reader: Arc<dyn FileReader> = Arc::new(reader);
    let metadata = reader.metadata();
    let schema = metadata.file_metadata().schema_descr();
    let names: Vec<&str> = schema.root_schema().get_fields().iter().map(|field| field.name()).collect();
    let found = columns(path, "", kind, &names, options.ignores_unknown(), options.unit)?;
    let (mut numbers, mut kept, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    // A nested column has several leaves.
    for (index, leaf) in schema.columns().iter().enumerate() {
        let root = schema.get_column_root_idx(index);
        let is_kept = found[root].is_none() && options.extra == ExtraColumns::Keep;
        if found[root].is_none() && !is_kept {
            continue;
        }
        // Types that Arrow does not have are refused like Float16.
        let column = Column::new(&reader, index, leaf, batch).ok();
        let schema = column.as_ref().map(|column| column.batches.schema());
        let of = schema.as_ref().map_or(&DataType::Float16, |schema| schema.field(0).data_type());
        match found[root] {
            // Field 0 of a state is the time.
            Some(0) if kind.plural == "states" && *of == DataType::Float32 => {
                let why = "column 'unix_s' is FLOAT: expected DOUBLE, since f4 rounds unix_s to 128 s; \
                    convert the column with astype('float64') before it has the times";
                return Err(bad_file(path, why));
            }
            Some(field) => check_number(path, leaf, of, is_whole(kind.name(field)))?,
            None => check_kept(path, leaf, of)?,
        }
        if is_kept {
            kept.push(names[root].to_owned());
            texts.extend(column);
        } else {
            numbers.extend(column);
        }
    }
    let fields = found.into_iter().flatten().collect();
    let mut rows = 0_u64;
    for (number, group) in metadata.row_groups().iter().enumerate() {
        let claimed = u64::try_from(group.num_rows());
        rows += claimed.map_err(|_| damaged(path, &format!("row group {number} claims {} rows", group.num_rows())))?;
        for chunk in group.columns() {
            bytes.largest.fetch_max(chunk.uncompressed_size().max(0) as u64, Ordering::Relaxed);
            if let Compression::BROTLI(_) | Compression::LZO = chunk.compression() {
                let (name, found) = (quoted(chunk.column_descr().name()), chunk.compression().to_string());
                let found = found.split('(').next().unwrap_or_default();
                let supported = "none, SNAPPY, ZSTD, GZIP and LZ4";
                let why = format!("column '{name}' is compressed with {found}: supported are {supported}");
                return Err(bad_file(path, why));
            }
        }
    }
    let claimed = metadata.file_metadata().num_rows();
    if rows != claimed as u64 {
        return Err(damaged(path, &format!("it claims {claimed} rows, but its row groups have {rows}")));
    }
    Ok(ParquetReader { bytes, fields, numbers, kept, texts, rows, batch: batch as u64 })
}

fn is_decimal(of: &DataType) -> bool {
    matches!(of, DataType::Decimal128(..) | DataType::Decimal256(..))
}

fn is_number(of: &DataType) -> bool {
    of.is_integer() || is_decimal(of) || matches!(of, DataType::Float32 | DataType::Float64 | DataType::Null)
}

/// Checks that a column is a plain list of numbers, which are integers if `is_whole`.
fn check_number(path: &Path, leaf: &ColumnDescriptor, of: &DataType, is_whole: bool) -> Result<()> {
    let found = match (leaf.path().parts().len(), leaf.max_rep_level(), leaf.physical_type()) {
        (2.., ..) => "nested".into(),
        (_, 1.., _) => "a list".into(),
        (.., Type::FLOAT | Type::DOUBLE) if is_whole => leaf.physical_type().to_string(),
        _ if is_number(of) => return Ok(()),
        (.., found) => match (leaf.logical_type_ref(), leaf.converted_type()) {
            (Some(logical), _) => format!("{found} ({logical:?})"),
            (None, ConvertedType::NONE) => found.to_string(),
            (None, converted) => format!("{found} ({converted})"),
        },
    };
    let number = "expected a number: a floating-point, integer or decimal type";
    let expected = if is_whole { "expected an integer type" } else { number };
    let name = quoted(&leaf.path().parts()[0]);
    Err(bad_file(path, format!("column '{name}' is {}: {expected}", quoted(&found))))
}

/// Checks that a column is a plain list of texts, numbers, dates or times, which can be kept as text.
fn check_kept(path: &Path, leaf: &ColumnDescriptor, of: &DataType) -> Result<()> {
    use DataType::{Binary, Boolean, Date32, FixedSizeBinary, Time32, Time64, Timestamp, Utf8};
    let is_text = match (of, leaf.logical_type_ref(), leaf.converted_type()) {
        (Boolean | Date32 | Time32(_) | Time64(_) | Timestamp(..) | Utf8, ..) => true,
        (Binary, None, ConvertedType::NONE | ConvertedType::ENUM) | (Binary, Some(LogicalType::Enum), _) => true,
        (FixedSizeBinary(16), Some(LogicalType::Uuid), _) => true,
        _ => is_number(of),
    };
    if is_text {
        return Ok(());
    }
    let (name, is_plain) = (quoted(leaf.path().parts()[0].as_str()), leaf.path().parts().len() == 1);
    let found = if is_plain && leaf.max_rep_level() == 0 { leaf.physical_type().to_string() } else { "nested".into() };
    let kept = "only text, numbers, dates and times can be kept";
    Err(bad_file(path, format!("column '{name}' is {found}: {kept}; use --ignore-extra")))
}

impl Column {
    fn new(
        file: &Arc<dyn FileReader>,
        index: usize,
        leaf: &ColumnDescriptor,
        batch: usize,
    ) -> ::parquet::errors::Result<Self> {
        let schema = file.metadata().file_metadata().schema_descr();
        let read = |as_type: Option<&Fields>| {
            let levels = parquet_to_arrow_field_levels(schema, ProjectionMask::leaves(schema, [index]), as_type)?;
            ParquetRecordBatchReader::try_new_with_row_groups(&levels, file, batch, None)
        };
        let as_type = |name| match name == leaf.name() {
            true => Field::new(name, DataType::Timestamp(TimeUnit::Second, None), true),
            // The type of the file, as this one is not possible.
            false => Field::new(name, DataType::Null, true),
        };
        let all = || schema.root_schema().get_fields().iter().map(|field| as_type(field.name())).collect();
        let seconds = (leaf.physical_type() == Type::INT96).then(|| read(Some(&all())));
        Ok(Self { batches: read(None)?, seconds: seconds.transpose()? })
    }

    /// The next cells as numbers, `None` for nulls.
    fn numbers(&mut self) -> ArrowResult<Vec<Option<Number>>> {
        let cells = next(&mut self.batches)?;
        if is_decimal(cells.data_type()) {
            // Text is rounded to f32 only once.
            let number = |text: String| csv::number(&text).unwrap_or(f64::NAN.into());
            return Ok(texts(&cells, None)?.into_iter().map(|text| text.map(number)).collect());
        }
        let (wide, narrow) = (cast(&cells, &DataType::Float64)?, cast(&cells, &DataType::Float32)?);
        let pairs = wide.as_primitive::<Float64Type>().iter().zip(narrow.as_primitive::<Float32Type>());
        Ok(pairs.map(|(wide, narrow)| Some(Number { wide: wide?, narrow: narrow? })).collect())
    }

    /// The next cells as texts, `None` for nulls.
    fn texts(&mut self) -> ArrowResult<Vec<Option<String>>> {
        let cells = next(&mut self.batches)?;
        let seconds = self.seconds.as_mut().map(next).transpose()?;
        let texts = texts(&cells, seconds.as_ref())?;
        // A dictionary can repeat a long text in every row.
        match texts.iter().flatten().any(|text| text.len() > 1024) {
            true => Err(ArrowError::ParquetError("a cell has more than 1024 bytes".into())),
            false => Ok(texts),
        }
    }
}

/// The next cells of a column; none at its end. The crate slices by sizes that pages claim. A few of its slices panic if a size is wrong.
fn next(batches: &mut ParquetRecordBatchReader) -> ArrowResult<ArrayRef> {
    let batch = catch_unwind(AssertUnwindSafe(|| batches.next()))
        .unwrap_or_else(|_| Some(Err(ArrowError::ParquetError("a page is invalid".into()))));
    Ok(batch.transpose()?.map_or_else(|| new_empty_array(&DataType::Null), |batch| batch.column(0).clone()))
}

/// Cells as text. Instants of INT96 are given in `seconds`, too.
fn texts(cells: &ArrayRef, seconds: Option<&ArrayRef>) -> ArrowResult<Vec<Option<String>>> {
    let zone = if matches!(cells.data_type(), DataType::Timestamp(_, Some(_))) { "Z" } else { "" };
    // Arrow formats only local time without a database of time zones.
    let local = match cells.data_type() {
        DataType::Timestamp(unit, Some(_)) => cast(cells, &DataType::Timestamp(*unit, None))?,
        _ => seconds.unwrap_or(cells).clone(),
    };
    let options = FormatOptions::new();
    let format = ArrayFormatter::try_new(&local, &options)?;
    let nulls = cells.logical_nulls();
    let text = |row: usize| {
        let text = || format.value(row).try_to_string();
        Ok(match cells.data_type() {
            DataType::Float32 => format!("{:?}", cells.as_primitive::<Float32Type>().value(row)),
            DataType::Float64 => format!("{:?}", cells.as_primitive::<Float64Type>().value(row)),
            DataType::Binary => String::from_utf8_lossy(cells.as_binary::<i32>().value(row)).into_owned(),
            DataType::FixedSizeBinary(16) => {
                let hex = text()?;
                [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &hex[part]).join("-")
            }
            DataType::Timestamp(..) | DataType::Time32(_) | DataType::Time64(_) => {
                let text = match seconds {
                    Some(seconds) => {
                        let whole =
                            seconds.as_primitive::<TimestampSecondType>().value(row).wrapping_mul(1_000_000_000);
                        let part = cells.as_primitive::<TimestampNanosecondType>().value(row).wrapping_sub(whole);
                        format!("{}.{part:09}", text()?)
                    }
                    None => text()?,
                };
                // As many digits of the second as are needed.
                let digits = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
                format!("{digits}{zone}")
            }
            _ => text()?,
        })
    };
    (0..cells.len())
        .map(|row| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)).then(|| text(row)).transpose())
        .collect()
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
        let Self { bytes, fields, mut numbers, kept, mut texts, rows, batch } = *self;
        let mut row = Row::new(kind);
        let mut first = 0;
        loop {
            // No rows after the last one: then the columns must end.
            let count = (rows - first).min(batch) as usize;
            let check = |name: &str, held: usize| {
                let why = match held.cmp(&count) {
                    Equal => return Ok(()),
                    Less => format!("ends before row {}", first + held as u64 + 1),
                    Greater => format!("has more than {rows} rows"),
                };
                Err(damaged(&bytes.path, &format!("column '{}' {why}", quoted(name))))
            };
            let numbers = fields.iter().zip(&mut numbers).map(|(field, column)| {
                let name = kind.name(*field);
                let cells = column.numbers().map_err(|e| fault(&bytes, name, &e))?;
                check(name, cells.len()).map(|()| cells)
            });
            let numbers = numbers.collect::<Result<Vec<_>>>()?;
            let texts = kept.iter().zip(&mut texts).map(|(name, column)| {
                let cells = column.texts().map_err(|e| fault(&bytes, name, &e))?;
                check(name, cells.len()).map(|()| cells)
            });
            let texts = texts.collect::<Result<Vec<_>>>()?;
            if count == 0 {
                return Ok(());
            }
            for i in 0..count {
                for (&field, cells) in fields.iter().zip(&numbers) {
                    row.texts[field] = if cells[i].is_none() { "null" } else { "" };
                    row.numbers[field] = cells[i].unwrap_or(f64::NAN.into());
                }
                row.place = RowLocation::Index(first + i as u64);
                let kept: Vec<&str> = texts.iter().map(|cells| cells[i].as_deref().unwrap_or_default()).collect();
                let Row { place, numbers, texts, order, .. } = row;
                sink(&Row { place, numbers, texts, order, kept: &kept, omitted: None })?;
            }
            first += count as u64;
        }
    }
}

fn damaged(path: &Path, why: &str) -> Error {
    bad_file(path, format!("the file is damaged: {why}"))
}

/// Converts an error of the crates to an error of this library, with the column if there is one.
fn fault(bytes: &FileBytes, column: &str, error: &dyn std::error::Error) -> Error {
    if let Some(error) = bytes.failed.lock().ok().and_then(|mut failed| failed.take()) {
        return error;
    }
    let within = if column.is_empty() { String::new() } else { format!("column '{}': ", quoted(column)) };
    let why = error.to_string();
    let names = ["Parquet argument error: ", "Parquet error: ", "EOF: ", "Cast error: "];
    let why = names.iter().fold(&*why, |why, name| why.strip_prefix(name).unwrap_or(why));
    damaged(&bytes.path, &format!("{within}{why}"))
}

#[cfg(test)]
mod tests {
    use arrow_array::{TimestampNanosecondArray, TimestampSecondArray};

    use super::*;

    /// The nanoseconds of the year 1 have wrapped around.
    #[test]
    fn instants_beyond_64_bits_of_nanoseconds_are_right() {
        let second = -62_135_596_800_i64;
        let wrapped: ArrayRef =
            Arc::new(TimestampNanosecondArray::from(vec![second.wrapping_mul(1_000_000_000) + 500]));
        let seconds: ArrayRef = Arc::new(TimestampSecondArray::from(vec![second]));
        assert_eq!(texts(&wrapped, Some(&seconds)).unwrap()[0].as_deref(), Some("0001-01-01T00:00:00.0000005"));
    }
}
