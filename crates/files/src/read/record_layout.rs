//! Reader of binary records: each named field has an offset, a number type and a byte order. Structured `.npy` and binary `.ply` use it.

use super::binary::trailing;
use super::input::{Input, ROWS_AT_ONCE};
use super::table::{RowSink, TableReader};
use crate::error::Result;
use crate::error::{bad_file, cannot_read};
use crate::schema::convert::{Number, Row, RowLocation};
use crate::schema::kinds::TableSchema;

/// Layout of records with named fields in a file.
#[derive(Debug)]
pub(crate) struct RecordLayout {
    /// Number of records.
    pub(crate) rows: u64,
    /// For each part, the field of the row that it fills.
    pub(crate) columns: Vec<usize>,
    /// Position and type of each number within a record.
    pub(crate) parts: Vec<RecordPart>,
    /// Bytes per record.
    pub(crate) width: usize,
    /// Whether other data may follow the last record.
    pub(crate) more_follows: bool,
}

/// Position and type of a number within a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordPart {
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
    pub(crate) form: NumberForm,
    pub(crate) big_endian: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum NumberForm {
    Float,
    Signed,
    Unsigned,
}

/// Records in a file, after the header has been read.
#[derive(Debug)]
pub(crate) struct RecordReader {
    pub(crate) input: Input,
    pub(crate) layout: RecordLayout,
}

impl TableReader for RecordReader {
    fn fields(&self) -> &[usize] {
        &self.layout.columns
    }

    fn rows(&self) -> Option<u64> {
        Some(self.layout.rows)
    }

    fn read(self: Box<Self>, schema: &'static TableSchema, sink: &mut RowSink<'_>) -> Result<()> {
        let Self { mut input, layout: RecordLayout { rows, columns, parts, width, more_follows } } = *self;
        let mut row = Row::new(schema);
        // At most 1 MiB at a time, but for one record.
        let chunk = ROWS_AT_ONCE.min((1 << 20) / width.max(1)).max(1);
        let mut bytes = vec![0; chunk * width];
        let mut first = 0;
        while first < rows {
            let count = (rows - first).min(chunk as u64);
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
                let needed = u128::from(rows) * width as u128;
                let came = first * width as u64 + read as u64;
                let fault =
                    format!("{rows} rows need {needed} bytes of data, but the input has {came}: it is truncated");
                return Err(bad_file(&input.path, fault));
            }
            first += count;
        }
        if more_follows { Ok(()) } else { trailing(&mut input) }
    }
}

impl RecordPart {
    pub(crate) fn number(self, record: &[u8]) -> Number {
        let mut bits = 0_u64;
        for (i, byte) in record[self.offset..self.offset + self.bytes].iter().enumerate() {
            let place = if self.big_endian { self.bytes - 1 - i } else { i };
            bits |= u64::from(*byte) << (8 * place);
        }
        match (self.form, self.bytes) {
            (NumberForm::Float, 4) => f32::from_bits(bits as u32).into(),
            (NumberForm::Float, _) => f64::from_bits(bits).into(),
            (NumberForm::Unsigned, _) => (bits as f64).into(),
            (NumberForm::Signed, bytes) => {
                let unused = 64 - 8 * bytes as u32;
                (((bits << unused) as i64 >> unused) as f64).into()
            }
        }
    }
}
