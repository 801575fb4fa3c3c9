//! Reader of `.parquet`: a few thousand rows of every column at a time, as arrays of Arrow.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, TimestampNanosecondType, TimestampSecondType};
use arrow_array::{Array, ArrayRef, RecordBatchReader, new_empty_array};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{ArrowError, DataType, Field, Fields, TimeUnit};

use super::csv;
use super::input::{Input, ROWS_AT_ONCE};
use super::parquet_pages::PagedFile;
use super::read_options::ReadOptions;
use super::table::{ReadFormat, RowSink, TableReader};
use crate::error::{Error, Result, bad_file};
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

/// A column, batch by batch. (Arrow reads any number of columns at once. Of one column, an error can have the name.)
struct Column {
    name: String,
    /// `None` if it is kept as text.
    field: Option<usize>,
    batches: ParquetRecordBatchReader,
    /// The same column in whole seconds, if it is INT96. Its nanoseconds may exceed an integer of Arrow, which wraps around.
    seconds: Option<ParquetRecordBatchReader>,
}

type ArrowResult<T> = std::result::Result<T, ArrowError>;

pub(crate) const FORMAT: ReadFormat = ReadFormat { extension: "parquet", first_byte: None, open };

/// Reads the footer, which has the names and positions of the columns.
fn open(input: Input, kind: &'static TableSchema, options: &ReadOptions) -> Result<TableReader> {
    let (path, options) = (input.path.clone(), *options);
    let Some(length) = input.length() else {
        return Err(bad_file(&path, "a Parquet file cannot be read from a pipe; use .npy or .csv"));
    };
    let file = PagedFile::new(input, length);
    let footer = footer_length(&file)?;
    memory::check("the footer of a Parquet file", 8 * footer)?;
    // A schema may be as deep as the footer is long, and the crate recurses into it: 7 bytes of footer and some hundred bytes of stack per
    // level. (The stack uses only address space until the recursion needs it.)
    let opened = std::thread::Builder::new().name("footer".into()).stack_size((2 << 20) + 256 * footer as usize);
    let opened = opened.spawn(move || read_footer(file, kind, &options)).map_err(|e| Error::no_thread(&path, e))?;
    opened.join().unwrap_or_else(|_| Err(damaged(&path, "its footer is invalid")))
}

/// Checks both ends of the file, and returns the length of the footer in bytes.
fn footer_length(file: &PagedFile) -> Result<u64> {
    let length = file.length;
    let read = |from, count| file.get_bytes(from, count as usize).map_err(|e| fault(file, "", &e));
    let (head, tail) = (read(0, length.min(4))?, read(length.saturating_sub(8), length.min(8))?);
    let why = match (&head[..], &tail[..]) {
        ([], _) => "it is empty (0 bytes)".into(),
        (_, [.., b'P', b'A', b'R', b'E']) => "it is encrypted, which is not supported".into(),
        (b"PAR1", [a, b, c, d, b'P', b'A', b'R', b'1']) => match u32::from_le_bytes([*a, *b, *c, *d]).into() {
            footer if footer + 12 <= length => return Ok(footer),
            footer => format!("its footer claims {footer} bytes, but the file has {length}"),
        },
        (b"PAR1", _) => format!("it does not end with PAR1 after {length} bytes: the file is truncated"),
        _ => "it does not begin with PAR1".into(),
    };
    Err(bad_file(&file.path, format!("not a readable .parquet file: {why}")))
}

fn read_footer(file: PagedFile, kind: &'static TableSchema, options: &ReadOptions) -> Result<TableReader> {
    let path = &file.path;
    let reader: Arc<dyn FileReader> =
        Arc::new(SerializedFileReader::new(file.clone()).map_err(|e| fault(&file, "", &e))?);
    let metadata = reader.metadata();
    let schema = metadata.file_metadata().schema_descr();
    let names: Vec<&str> = schema.root_schema().get_fields().iter().map(|field| field.name()).collect();
    let found = columns(path, "", kind, &names, options.ignores_unknown(), options.unit)?;
    let (mut columns, mut leaves) = (Vec::new(), Vec::new());
    // A nested column has several leaves.
    for (index, leaf) in schema.columns().iter().enumerate() {
        let root = schema.get_column_root_idx(index);
        if found[root].is_none() && !options.keeps(names[root]) {
            continue;
        }
        // Types that Arrow does not have, and leaves of maps, are refused like Float16.
        let column = Column::new(&reader, index, found[root]).ok();
        let schema = column.as_ref().map(|column| column.batches.schema());
        let field = schema.as_ref().and_then(|schema| schema.fields().first());
        let of = field.map_or(&DataType::Float16, |field| field.data_type());
        // Field 0 of a state is the time.
        if kind.plural == "states" && found[root] == Some(0) && *of == DataType::Float32 {
            let why = "column 'unix_s' is FLOAT: expected DOUBLE, since f4 rounds unix_s to 128 s; \
                convert the column with astype('float64') before it has the times";
            return Err(bad_file(path, why));
        }
        check_type(path, leaf, of, found[root].map(|field| kind.name(field)))?;
        columns.extend(column);
        leaves.push(index);
    }
    let chunks = metadata.row_groups().iter().flat_map(|group| leaves.iter().map(|leaf| group.column(*leaf)));
    for chunk in chunks {
        if let Compression::BROTLI(_) | Compression::LZO = chunk.compression() {
            let (name, found) = (quoted(chunk.column_descr().name()), chunk.compression().to_string());
            let found = found.split('(').next().unwrap_or_default();
            let supported = "none, SNAPPY, ZSTD, GZIP and LZ4";
            let why = format!("column '{name}' is compressed with {found}: supported are {supported}");
            return Err(bad_file(path, why));
        }
    }
    let claimed = metadata.file_metadata().num_rows();
    let mut in_groups = metadata.row_groups().iter().map(|group| group.num_rows());
    let sum = in_groups.try_fold(0u64, |sum, rows| sum.checked_add(u64::try_from(rows).ok()?));
    let Some(rows) = sum.filter(|sum| u64::try_from(claimed) == Ok(*sum)) else {
        let have = sum.map_or_else(|| "too many".into(), |sum| sum.to_string());
        return Err(damaged(path, &format!("it claims {claimed} rows, but its row groups have {have}")));
    };
    let fields = columns.iter().filter_map(|column| column.field).collect();
    let kept = columns.iter().filter(|column| column.field.is_none()).map(|column| column.name.clone()).collect();
    Ok(TableReader::new(fields, Some(rows), move |sink| read(&file, columns, rows, kind, sink)).keeps(kept))
}

/// Checks that a column is a plain list: of numbers, which may have to be integers, or, if it has no field, of what can be kept as text.
fn check_type(path: &Path, leaf: &ColumnDescriptor, of: &DataType, field: Option<&str>) -> Result<()> {
    use DataType::{Binary, Boolean, Date32, FixedSizeBinary, Float16, Time32, Time64, Timestamp, Utf8};
    let (physical, logical, converted) = (leaf.physical_type(), leaf.logical_type_ref(), leaf.converted_type());
    let is_number = (of.is_numeric() && *of != Float16) || of.is_null();
    let is_text = match (of, logical, converted) {
        (Boolean | Date32 | Time32(_) | Time64(_) | Timestamp(..) | Utf8, ..) => true,
        (Binary, None | Some(LogicalType::Enum), ConvertedType::NONE | ConvertedType::ENUM) => true,
        (FixedSizeBinary(16), Some(LogicalType::Uuid), _) => true,
        _ => is_number,
    };
    let (is_right, expected) = match field {
        Some(field) if is_whole(field) => (is_number && !of.is_floating(), "expected an integer type"),
        Some(_) => (is_number, "expected a number: a floating-point, integer or decimal type"),
        None => (is_text, "only text, numbers, dates and times can be kept; use --ignore-extra"),
    };
    let found = match (logical, converted) {
        _ if is_right => return Ok(()),
        _ if leaf.path().parts().len() > 1 => "nested".into(),
        _ if leaf.max_rep_level() > 0 => "a list".into(),
        (Some(logical), _) => format!("{physical} ({logical:?})"),
        (None, ConvertedType::NONE) => physical.to_string(),
        (None, converted) => format!("{physical} ({converted})"),
    };
    let name = quoted(&leaf.path().parts()[0]);
    Err(bad_file(path, format!("column '{name}' is {}: {expected}", quoted(&found))))
}

impl Column {
    fn new(file: &Arc<dyn FileReader>, leaf: usize, field: Option<usize>) -> ::parquet::errors::Result<Self> {
        let schema = file.metadata().file_metadata().schema_descr();
        let read = |as_type: Option<&Fields>| {
            let levels = parquet_to_arrow_field_levels(schema, ProjectionMask::leaves(schema, [leaf]), as_type)?;
            ParquetRecordBatchReader::try_new_with_row_groups(&levels, file, ROWS_AT_ONCE, None)
        };
        let seconds = DataType::Timestamp(TimeUnit::Second, None);
        let roots = schema.root_schema().get_fields().iter();
        let as_seconds = roots.map(|root| Field::new(root.name(), seconds.clone(), true)).collect();
        let is_int96 = schema.column(leaf).physical_type() == Type::INT96;
        // Groups are no seconds, but they are refused anyway.
        let seconds = is_int96.then(|| read(Some(&as_seconds)).ok()).flatten();
        Ok(Self { name: schema.get_column_root(leaf).name().into(), field, batches: read(None)?, seconds })
    }
}

/// The next cells of a column; none at its end. The crate slices by sizes that pages claim. A few of its slices panic if a size is wrong.
fn next(batches: &mut ParquetRecordBatchReader) -> ArrowResult<ArrayRef> {
    let batch = catch_unwind(AssertUnwindSafe(|| batches.next()))
        .unwrap_or_else(|_| Some(Err(ArrowError::ParquetError("a page is invalid".into()))));
    Ok(batch.transpose()?.map_or_else(|| new_empty_array(&DataType::Null), |batch| batch.column(0).clone()))
}

/// Cells as numbers, `None` for nulls.
fn numbers(cells: &ArrayRef) -> ArrowResult<Vec<Option<Number>>> {
    if cells.data_type().is_decimal() {
        // Text is rounded to f32 only once.
        let number = |text: String| (!text.is_empty()).then(|| csv::number(&text).unwrap_or(f64::NAN.into()));
        return Ok(texts(cells, None)?.into_iter().map(number).collect());
    }
    let (wide, narrow) = (cast(cells, &DataType::Float64)?, cast(cells, &DataType::Float32)?);
    let pairs = wide.as_primitive::<Float64Type>().iter().zip(narrow.as_primitive::<Float32Type>());
    Ok(pairs.map(|(wide, narrow)| Some(Number { wide: wide?, narrow: narrow? })).collect())
}

/// Cells as text, empty for nulls. Instants of INT96 are given in `seconds`, too.
fn texts(cells: &ArrayRef, seconds: Option<&ArrayRef>) -> ArrowResult<Vec<String>> {
    // Arrow formats only local time without a database of time zones.
    let (local, zone) = match cells.data_type() {
        DataType::Timestamp(unit, Some(_)) => (cast(cells, &DataType::Timestamp(*unit, None))?, "Z"),
        _ => (seconds.unwrap_or(cells).clone(), ""),
    };
    let options = FormatOptions::new();
    let format = ArrayFormatter::try_new(&local, &options)?;
    let text = |row| {
        let text = format.value(row).try_to_string()?;
        Ok(match cells.data_type() {
            _ if cells.is_null(row) => text,
            DataType::Float32 => format!("{:?}", cells.as_primitive::<Float32Type>().value(row)),
            DataType::Float64 => format!("{:?}", cells.as_primitive::<Float64Type>().value(row)),
            DataType::Binary => String::from_utf8_lossy(cells.as_binary::<i32>().value(row)).into_owned(),
            DataType::FixedSizeBinary(_) => [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &text[part]).join("-"),
            DataType::Timestamp(..) | DataType::Time32(_) | DataType::Time64(_) => {
                let part = seconds.map(|seconds| {
                    let whole = seconds.as_primitive::<TimestampSecondType>().value(row).wrapping_mul(1_000_000_000);
                    cells.as_primitive::<TimestampNanosecondType>().value(row).wrapping_sub(whole)
                });
                let text = text + &part.map_or_else(String::new, |part| format!(".{part:09}"));
                // As many digits of the second as are needed.
                let digits = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
                format!("{digits}{zone}")
            }
            _ => text,
        })
    };
    (0..cells.len()).map(text).collect()
}

fn read(
    file: &PagedFile,
    mut columns: Vec<Column>,
    rows: u64,
    kind: &TableSchema,
    sink: &mut RowSink<'_>,
) -> Result<()> {
    let mut row = Row::new(kind);
    // Including the end, where the columns must end, too.
    for first in (0..=rows).step_by(ROWS_AT_ONCE) {
        let count = (rows - first).min(ROWS_AT_ONCE as u64) as usize;
        let (mut in_fields, mut kept) = (Vec::new(), Vec::new());
        for Column { name, field, batches, seconds } in &mut columns {
            let mut read = || {
                let (cells, seconds) = (next(batches)?, seconds.as_mut().map(next).transpose()?);
                match field {
                    Some(field) => in_fields.push((*field, numbers(&cells)?)),
                    None => {
                        let texts = texts(&cells, seconds.as_ref())?;
                        // A dictionary can repeat a long text in every row.
                        if let Some(at) = texts.iter().position(|text| text.len() > 1024) {
                            let row = RowLocation::Index(first + at as u64).describe(&file.path);
                            let why = "more than 1024 bytes cannot be kept; use --ignore-extra";
                            return Err(ArrowError::ParquetError(format!("{UNSUPPORTED}{row}: {why}")));
                        }
                        kept.push(texts);
                    }
                }
                Ok::<_, ArrowError>(cells.len())
            };
            if read().map_err(|e| fault(file, name, &e))? != count {
                let why = format!("column '{}' has not the {rows} rows that the file claims", quoted(name));
                return Err(damaged(&file.path, &why));
            }
        }
        for i in 0..count {
            for (field, cells) in &in_fields {
                row.texts[*field] = if cells[i].is_none() { "null" } else { "" };
                row.numbers[*field] = cells[i].unwrap_or(f64::NAN.into());
            }
            let kept: Vec<&str> = kept.iter().map(|texts| &*texts[i]).collect();
            let Row { numbers, texts, order, .. } = row;
            let place = RowLocation::Index(first + i as u64);
            sink(&Row { place, numbers, texts, order, kept: &kept, omitted: None })?;
        }
    }
    Ok(())
}

/// How messages of the parquet crate begin that are about what it does not support.
const UNSUPPORTED: &str = "NYI: ";

fn damaged(path: &Path, why: &str) -> Error {
    bad_file(path, format!("the file is damaged: {why}"))
}

/// Converts an error of the crates to an error of this library, with the column if there is one.
fn fault(file: &PagedFile, column: &str, error: &dyn std::error::Error) -> Error {
    let within = if column.is_empty() { String::new() } else { format!("column '{}': ", quoted(column)) };
    let why = error.to_string();
    let names = ["Parquet argument error: ", "Parquet error: ", "EOF: ", "Cast error: "];
    let why = names.iter().fold(&*why, |why, name| why.strip_prefix(name).unwrap_or(why));
    file.failure().unwrap_or_else(|| match why.strip_prefix(UNSUPPORTED) {
        Some(why) => bad_file(&file.path, format!("{within}{why}")),
        None => damaged(&file.path, &format!("{within}{why}")),
    })
}
