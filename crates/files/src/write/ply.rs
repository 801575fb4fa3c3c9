//! Writer of `.ply`: the results that are not a miss, as vertices of a binary, little-endian file. The columns are the properties.

use std::io::{Error, Result, Seek, SeekFrom, Write};

use super::file_writer::{BatchWriter, Output};
use super::npy::push;
use crate::schema::answer_row::{AnswerRow, Column, Number};
use umbracast::CancelToken;

/// Rows converted to bytes per step.
const PIECE: usize = 1 << 16;
/// Start of the header, up to the number of vertices.
const START: &str = "ply\nformat binary_little_endian 1.0\nelement vertex ";
/// Digits of the number of vertices, which is written last: enough for any u64.
const DIGITS: usize = 20;

/// Writer of vertices.
pub(crate) struct Vertices<T> {
    columns: Vec<Column<T>>,
    count: u64,
}

impl<T: AnswerRow> Vertices<T> {
    /// Writes the header, with zeros for the number of vertices.
    pub(crate) fn begin(out: &mut Output, columns: Vec<Column<T>>) -> Result<Self> {
        writeln!(out, "{START}{:0DIGITS$}", 0)?;
        for (name, number) in &columns {
            let kind = match number(&T::MISS) {
                Number::Float(_) | Number::Blank(_) => "float",
                Number::Double(_) | Number::BlankDouble(_) => "double",
                // Other programs read `int`, and skip `uint`.
                Number::Id(_) | Number::Count(_) => "int",
                Number::Word(..) | Number::Flag(_) => "uchar",
                // The format has no integers of 64 bits.
                Number::Offset(_) => "double",
            };
            writeln!(out, "property {kind} {name}")?;
        }
        writeln!(out, "end_header")?;
        Ok(Self { columns, count: 0 })
    }
}

impl<T: AnswerRow> BatchWriter<[T]> for Vertices<T> {
    fn write(&mut self, out: &mut Output, answers: &[T]) -> Result<()> {
        let mut bytes = Vec::new();
        for answers in answers.chunks(PIECE) {
            bytes.clear();
            for answer in answers.iter().filter(|answer| !answer.is_miss()) {
                self.count += 1;
                for (_, number) in &self.columns {
                    match number(answer) {
                        Number::Id(id) | Number::Count(id) if id > i32::MAX as u32 => return Err(too_large(id)),
                        Number::Offset(number) => bytes.extend((number as f64).to_le_bytes()),
                        other => push(&mut bytes, other),
                    }
                }
            }
            out.write_all(&bytes)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>, out: &mut Output, _: &CancelToken) -> Result<()> {
        out.seek(SeekFrom::Start(START.len() as u64))?;
        write!(out, "{:0DIGITS$}", self.count)?;
        out.seek(SeekFrom::End(0)).map(|_| ())
    }
}

/// The error for a number that the property `int` cannot hold.
fn too_large(number: u32) -> Error {
    Error::other(format!("{number} exceeds 2147483647, the largest int of .ply: write .npz or .csv instead"))
}
