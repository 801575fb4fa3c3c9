//! Writers of results row by row: a structured `.npy`, and raw records. Both have the numbers of `.npz`, little-endian.

use std::fs::File;
use std::io::{Result, Seek, Write};
use std::path::Path;

use super::file_writer::{BatchWriter, Output};
use crate::schema::answer_row::{AnswerRow, Column, Number};
use umbracast::CancelToken;

/// Rows converted to bytes per step.
const PIECE: usize = 1 << 16;

/// Writer of raw records without a header.
pub(crate) struct RawRecords<T> {
    columns: Vec<Column<T>>,
}

impl<T: AnswerRow> RawRecords<T> {
    pub(crate) fn new(columns: Vec<Column<T>>) -> Self {
        Self { columns }
    }

    fn append(&self, out: &mut impl Write, answers: &[T]) -> Result<()> {
        let mut bytes = Vec::new();
        for answers in answers.chunks(PIECE) {
            bytes.clear();
            for answer in answers {
                self.columns.iter().for_each(|(_, number)| push(&mut bytes, number(answer)));
            }
            out.write_all(&bytes)?;
        }
        Ok(())
    }
}

/// Appends the bytes of a number.
pub(crate) fn push(bytes: &mut Vec<u8>, number: Number) {
    match number {
        Number::Float(x) | Number::Blank(x) => bytes.extend(x.to_le_bytes()),
        Number::Double(x) | Number::BlankDouble(x) => bytes.extend(x.to_le_bytes()),
        Number::Word(byte, _) => bytes.push(byte),
        Number::Id(number) | Number::Count(number) => bytes.extend(number.to_le_bytes()),
        Number::Offset(number) => bytes.extend(number.to_le_bytes()),
        Number::Flag(flag) => bytes.push(u8::from(flag)),
    }
}

impl<T: AnswerRow> BatchWriter<[T]> for RawRecords<T> {
    fn write(&mut self, out: &mut Output, answers: &[T]) -> Result<()> {
        self.append(out, answers)
    }
}

/// Writer of a structured array, with one field per column; of a plain array, if there is one column. The header has the number of rows, so
/// the rows are collected in a temporary file until the last one.
pub(crate) struct StructuredArray<T> {
    records: RawRecords<T>,
    spool: File,
    rows: u64,
}

impl<T: AnswerRow> StructuredArray<T> {
    pub(crate) fn new(folder: &Path, columns: Vec<Column<T>>) -> Result<Self> {
        Ok(Self { records: RawRecords::new(columns), spool: tempfile::tempfile_in(folder)?, rows: 0 })
    }

    fn header(&self) -> Vec<u8> {
        let kind = |(_, number): &Column<T>| type_of(number(&T::MISS));
        let kinds = match &self.records.columns[..] {
            [column] => kind(column).to_owned(),
            columns => {
                let fields: Vec<_> =
                    columns.iter().map(|column| format!("('{}', {})", column.0, kind(column))).collect();
                format!("[{}]", fields.join(", "))
            }
        };
        header(&kinds, &format!("({},)", self.rows))
    }
}

/// The type of a number in the header of an array.
pub(crate) fn type_of(number: Number) -> &'static str {
    match number {
        Number::Float(_) | Number::Blank(_) => "'<f4'",
        Number::Double(_) | Number::BlankDouble(_) => "'<f8'",
        Number::Word(..) => "'|u1'",
        Number::Id(_) | Number::Count(_) => "'<u4'",
        Number::Offset(_) => "'<u8'",
        Number::Flag(_) => "'|b1'",
    }
}

/// Header of an array, version 1.0 of the format: padded to a multiple of 64 bytes.
pub(crate) fn header(kind: &str, shape: &str) -> Vec<u8> {
    let mut text = format!("{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}");
    while !(text.len() + 11).is_multiple_of(64) {
        text.push(' ');
    }
    text.push('\n');
    let length = (text.len() as u16).to_le_bytes();
    [&b"\x93NUMPY\x01\x00"[..], &length, text.as_bytes()].concat()
}

impl<T: AnswerRow> BatchWriter<[T]> for StructuredArray<T> {
    fn write(&mut self, _: &mut Output, answers: &[T]) -> Result<()> {
        self.rows += answers.len() as u64;
        self.records.append(&mut self.spool, answers)
    }

    fn finish(mut self: Box<Self>, out: &mut Output, _: &CancelToken) -> Result<()> {
        out.write_all(&self.header())?;
        self.spool.rewind()?;
        std::io::copy(&mut self.spool, out).map(|_| ())
    }
}
