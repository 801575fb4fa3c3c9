//! Creates Parquet files with the options of different writers, and invalid files.

use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type};
use parquet::data_type::{DoubleType, FloatType, Int32Type};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type as Node;

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
    let physical = match how.of {
        NumberType::F32 => Type::FLOAT,
        NumberType::F64 => Type::DOUBLE,
    };
    let repetition = if how.nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let field = |(name, _): &(&str, Vec<f64>)| {
        let own = match name {
            // Unsigned 32-bit integers, as Arrow writes them.
            name if is_integer_column(name) => {
                Node::primitive_type_builder(name, Type::INT32).with_logical_type(Some(LogicalType::integer(32, false)))
            }
            name => Node::primitive_type_builder(name, physical),
        };
        Arc::new(own.with_repetition(repetition).build().unwrap())
    };
    let schema = Node::group_type_builder("schema").with_fields(columns.iter().map(field).collect()).build().unwrap();
    let properties = Arc::new(how.properties().build());
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), properties).unwrap();
    let rows = columns.first().map_or(0, |(_, column)| column.len());
    for first in (0..rows).step_by(how.group) {
        let mut group = writer.next_row_group().unwrap();
        for (name, values) in columns {
            let values = &values[first..rows.min(first + how.group)];
            let levels: Vec<i16> = values.iter().map(|value| i16::from(!value.is_nan())).collect();
            let held: Vec<f64> = values.iter().copied().filter(|value| !how.nullable || !value.is_nan()).collect();
            let levels = how.nullable.then_some(&levels[..]);
            let mut column = group.next_column().unwrap().unwrap();
            let written = match how.of {
                _ if is_integer_column(name) => {
                    let held: Vec<i32> = held.iter().map(|value| *value as u32 as i32).collect();
                    column.typed::<Int32Type>().write_batch(&held, levels, None)
                }
                NumberType::F32 => {
                    let held: Vec<f32> = held.iter().map(|value| *value as f32).collect();
                    column.typed::<FloatType>().write_batch(&held, levels, None)
                }
                NumberType::F64 => column.typed::<DoubleType>().write_batch(&held, levels, None),
            };
            written.unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.finish().unwrap();
    writer.inner().clone()
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
