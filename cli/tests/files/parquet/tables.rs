//! Creates Parquet files with the options of different writers, and invalid files.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, RecordBatch, UInt32Array};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::writer::SerializedFileWriter;

/// Type of the numbers in the columns of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NumberType {
    F32,
    F64,
}

/// Options for writing a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WriteOptions {
    pub(crate) of: NumberType,
    pub(crate) nullable: bool,
    pub(crate) compression: Compression,
    pub(crate) dictionary: bool,
    pub(crate) version: WriterVersion,
    /// Rows per row group.
    pub(crate) group: usize,
}

pub(crate) const PLAIN: WriteOptions = WriteOptions {
    of: NumberType::F32,
    nullable: false,
    compression: Compression::UNCOMPRESSED,
    dictionary: false,
    version: WriterVersion::PARQUET_1_0,
    group: 1 << 16,
};

impl WriteOptions {
    fn properties(&self) -> WriterPropertiesBuilder {
        WriterProperties::builder()
            .set_compression(self.compression)
            .set_dictionary_enabled(self.dictionary)
            .set_writer_version(self.version)
            .set_data_page_row_count_limit(1000)
            .set_write_batch_size(100)
    }
}

fn is_integer_column(name: &str) -> bool {
    ["mask", "skip_id"].contains(&name)
}

/// Writes a table of columns in row groups. In nullable columns, NaN stands for null.
pub(crate) fn table(how: WriteOptions, columns: &[(&str, Vec<f64>)]) -> Vec<u8> {
    let column = |&(name, ref values): &(&str, Vec<f64>)| {
        let cells = values.iter().map(|value| (!how.nullable || !value.is_nan()).then_some(*value));
        let array: ArrayRef = match how.of {
            // Unsigned 32-bit integers, as other programs write them.
            _ if is_integer_column(name) => {
                Arc::new(cells.map(|cell| cell.map(|value| value as u32)).collect::<UInt32Array>())
            }
            NumberType::F32 => Arc::new(cells.map(|cell| cell.map(|value| value as f32)).collect::<Float32Array>()),
            NumberType::F64 => Arc::new(cells.collect::<Float64Array>()),
        };
        (name.to_owned(), array, how.nullable)
    };
    let batch = RecordBatch::try_from_iter_with_nullable(columns.iter().map(column)).unwrap();
    let properties = how.properties().set_max_row_group_row_count(Some(how.group)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

/// Parses the columns of a table in CSV. A cell that is not a number becomes NaN.
pub(crate) fn columns(text: &str) -> Vec<(&str, Vec<f64>)> {
    let mut lines = text.lines();
    let mut columns: Vec<_> = lines.next().unwrap().split(',').map(|name| (name, Vec::new())).collect();
    for line in lines {
        for ((_, column), cell) in columns.iter_mut().zip(line.split(',')) {
            column.push(cell.parse().unwrap_or(f64::NAN));
        }
    }
    columns
}

/// Writes a file with the given schema and no rows.
pub(crate) fn schema(text: &str) -> Vec<u8> {
    let schema = parquet::schema::parser::parse_message_type(text).unwrap();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::default()).unwrap();
    writer.finish().unwrap();
    writer.inner().clone()
}

/// Returns a file that consists only of a footer with these bytes.
pub(crate) fn footer(bytes: &[u8]) -> Vec<u8> {
    [b"PAR1", bytes, &(bytes.len() as u32).to_le_bytes(), b"PAR1"].concat()
}

/// Returns a file whose schema has `groups` nested groups. Its footer is encoded in Thrift's compact protocol.
pub(crate) fn deep(groups: u32) -> Vec<u8> {
    // Version 1; the schema is a list of structs, its length has 7 bits per byte.
    let mut bytes = vec![0x15, 0x02, 0x19, 0xfc];
    let mut count = groups + 1;
    while count >= 0x80 {
        bytes.push(count as u8 | 0x80);
        count >>= 7;
    }
    bytes.push(count as u8);
    for _ in 0..groups {
        // Required; a name of one letter; one child; end.
        bytes.extend([0x35, 0x00, 0x18, 0x01, b'a', 0x15, 0x02, 0x00]);
    }
    // A float: required, its name, end; then no rows and no row groups.
    bytes.extend([0x15, 0x08, 0x25, 0x00, 0x18, 0x01, b'x', 0x00]);
    bytes.extend([0x16, 0x00, 0x19, 0x0c, 0x00]);
    footer(&bytes)
}
