//! Readers of binary numbers of any type and byte order: of records, in which each field has an offset, and of columns that follow each
//! other.

use super::input::{Input, ROWS_AT_ONCE};
use super::table::{RowSink, TableReader};
use crate::error::Result;
use crate::error::{bad_file, cannot_read};
use crate::schema::convert::{Number, Row, RowLocation};
use crate::schema::kinds::TableSchema;

/// Maximum bytes per record of a file that names its numbers.
pub(crate) const WIDEST: usize = 1024;

/// Layout of consecutive records in a file.
pub(crate) struct RecordLayout {
    /// Number of records; `None` for a pipe whose length is unknown.
    pub(crate) rows: Option<u64>,
    /// For each part, the field of the row that it fills.
    pub(crate) columns: Vec<usize>,
    /// Position and type of each number within a record.
    pub(crate) parts: Vec<RecordPart>,
    /// Bytes per record.
    pub(crate) width: usize,
    /// Whether other data may follow the last record.
    pub(crate) more_follows: bool,
    /// Explains the order of the columns, for an error about a row that may have another order; may be empty.
    pub(crate) order: &'static str,
}

/// Position and type of a number within a record.
#[derive(Clone, Copy)]
pub(crate) struct RecordPart {
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
    pub(crate) form: NumberForm,
    pub(crate) big_endian: bool,
}

#[derive(Clone, Copy)]
pub(crate) enum NumberForm {
    Float,
    Signed,
    Unsigned,
}

impl RecordLayout {
    /// Records of numbers of one type.
    pub(crate) fn plain(rows: Option<u64>, columns: &[usize], number: RecordPart, order: &'static str) -> Self {
        let parts = (0..columns.len()).map(|k| RecordPart { offset: k * number.bytes, ..number }).collect();
        let width = columns.len() * number.bytes;
        Self { rows, columns: columns.to_vec(), parts, width, more_follows: false, order }
    }

    /// A reader of the records, at the first of which the input is.
    pub(crate) fn reader(self, input: Input, schema: &'static TableSchema) -> TableReader {
        TableReader::new(self.columns.clone(), self.rows, move |sink| self.read(input, schema, sink))
    }

    fn read(self, mut input: Input, schema: &TableSchema, sink: &mut RowSink<'_>) -> Result<()> {
        let Self { rows, columns, parts, width, more_follows, order } = self;
        let mut row = Row { order, ..Row::new(schema) };
        // At most 1 MiB at a time, but for one record.
        let chunk = ROWS_AT_ONCE.min((1 << 20) / width.max(1)).max(1);
        let mut bytes = vec![0; chunk * width];
        let mut first = 0;
        while rows != Some(first) {
            let count = rows.map_or(chunk as u64, |rows| (rows - first).min(chunk as u64));
            let bytes = &mut bytes[..count as usize * width];
            let read = input.read_full(bytes).map_err(|e| cannot_read(&input.path, e))?;
            for (i, record) in (first..).zip(bytes[..read].chunks_exact(width.max(1))) {
                for (&field, part) in columns.iter().zip(&parts) {
                    row.numbers[field] = part.number(record);
                }
                row.place = RowLocation::Index(i);
                sink(&row)?;
            }
            if read < bytes.len() {
                let came = first * width as u64 + read as u64;
                let fault = match rows {
                    Some(rows) => format!(
                        "{rows} rows need {} bytes of data, but the input has {came}: it is truncated",
                        u128::from(rows) * width as u128
                    ),
                    None if read.is_multiple_of(width) => return Ok(()),
                    None => {
                        let index = came / width as u64;
                        format!("the input ends in the middle of row {} (index {index})", index + 1)
                    }
                };
                return Err(bad_file(&input.path, fault));
            }
            first += count;
        }
        if more_follows { Ok(()) } else { trailing(&mut input) }
    }
}

/// Refuses bytes after the last row. The length of a file was checked when it was opened, so this matters for pipes.
pub(crate) fn trailing(input: &mut Input) -> Result<()> {
    let mut more = [0; 1];
    match input.read_full(&mut more).map_err(|e| cannot_read(&input.path, e))? {
        0 => Ok(()),
        _ => Err(bad_file(&input.path, "there are trailing bytes after the last row")),
    }
}

/// A column of numbers: the position of the first in the file, and their type.
pub(crate) struct NumberColumn {
    pub(crate) start: u64,
    pub(crate) number: RecordPart,
}

/// A reader of columns of `rows` numbers in a file, with the field that each fills.
pub(crate) fn column_reader(
    mut input: Input,
    schema: &'static TableSchema,
    rows: u64,
    columns: Vec<(usize, NumberColumn)>,
    order: &'static str,
) -> TableReader {
    let fields = columns.iter().map(|(field, _)| *field).collect();
    TableReader::new(fields, Some(rows), move |sink| {
        let mut row = Row { order, ..Row::new(schema) };
        let strip = |(_, column): &(usize, NumberColumn)| vec![0; ROWS_AT_ONCE * column.number.bytes];
        let mut strips: Vec<Vec<u8>> = columns.iter().map(strip).collect();
        for first in (0..rows).step_by(ROWS_AT_ONCE) {
            let count = (rows - first).min(ROWS_AT_ONCE as u64) as usize;
            for ((_, NumberColumn { start, number }), strip) in columns.iter().zip(&mut strips) {
                let strip = &mut strip[..count * number.bytes];
                let read = input.read_at(start + first * number.bytes as u64, strip);
                if read.map_err(|e| cannot_read(&input.path, e))? < strip.len() {
                    return Err(bad_file(&input.path, "the file is truncated"));
                }
            }
            for i in 0..count {
                for ((field, NumberColumn { number, .. }), strip) in columns.iter().zip(&strips) {
                    row.numbers[*field] = number.number(&strip[i * number.bytes..]);
                }
                row.place = RowLocation::Index(first + i as u64);
                sink(&row)?;
            }
        }
        Ok(())
    })
}

impl RecordPart {
    pub(crate) fn number(self, record: &[u8]) -> Number {
        let bytes = &record[self.offset..self.offset + self.bytes];
        let bits = match (<[u8; 4]>::try_from(bytes), <[u8; 8]>::try_from(bytes)) {
            // Almost all numbers have one of these sizes.
            (Ok(four), _) => {
                u64::from(if self.big_endian { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) })
            }
            (_, Ok(eight)) => {
                if self.big_endian {
                    u64::from_be_bytes(eight)
                } else {
                    u64::from_le_bytes(eight)
                }
            }
            _ if self.big_endian => bytes.iter().fold(0, |bits, byte| bits << 8 | u64::from(*byte)),
            _ => bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)),
        };
        match (self.form, self.bytes) {
            (NumberForm::Float, 4) => f32::from_bits(bits as u32).into(),
            (NumberForm::Float, _) => f64::from_bits(bits).into(),
            // By way of f64, integers above 2⁵³ would be rounded twice.
            (NumberForm::Unsigned, _) => Number { wide: bits as f64, narrow: bits as f32 },
            (NumberForm::Signed, bytes) => {
                let unused = 64 - 8 * bytes as u32;
                let value = (bits << unused) as i64 >> unused;
                Number { wide: value as f64, narrow: value as f32 }
            }
        }
    }
}
