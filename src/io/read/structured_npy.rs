//! Reader of structured `.npy`: records with named fields, in any order and of any number type, with or without gaps.

use std::path::Path;

use npyz::{DType, Endianness, TypeChar, TypeStr};

use super::binary::trailing;
use super::input::{Input, rows_at_once};
use crate::error::Result;
use crate::escape::quoted;
use crate::io::errors::{bad_file, cannot_read};
use crate::io::schema::columns::columns;
use crate::io::schema::convert::{Number, Row, RowLocation};
use crate::io::schema::kinds::TableSchema;

/// Layout of records with named fields in a file.
#[derive(Debug)]
pub(crate) struct Records {
    /// Number of records.
    pub(crate) rows: u64,
    /// For each named field, the field of the row that it fills.
    pub(crate) columns: Vec<usize>,
    /// For each named field, its offset and number type within a record.
    parts: Vec<Part>,
    /// Bytes per record.
    width: usize,
}

#[derive(Clone, Copy, Debug)]
struct Part {
    at: usize,
    bytes: usize,
    form: Form,
    big_endian: bool,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Float,
    Signed,
    Unsigned,
}

/// Maximum bytes per record: 16 numbers of 8 bytes, and as many bytes of gaps.
const WIDEST: u64 = 256;

impl Records {
    /// Layout of a structured array; `None` if the type has no named fields.
    pub(crate) fn of(path: &Path, kind: &'static TableSchema, dtype: &DType, shape: &[u64]) -> Result<Option<Self>> {
        let DType::Record(fields) = dtype else { return Ok(None) };
        let [rows] = *shape else {
            let why = format!(
                "the structured array of {} has {} dimensions: expected 1; flatten it with array.ravel()",
                kind.plural,
                shape.len()
            );
            return Err(bad_file(path, why));
        };
        let (mut names, mut parts, mut width) = (Vec::new(), Vec::new(), 0_u64);
        for field in fields {
            let bytes = field.dtype.num_bytes().unwrap_or(usize::MAX) as u64;
            match (&*field.name, number(&field.dtype)) {
                // NumPy gives gaps an empty name.
                ("", _) => {}
                (name, Some((form, big_endian))) => {
                    names.push(name);
                    parts.push(Part { at: width as usize, bytes: bytes as usize, form, big_endian });
                }
                (name, None) => {
                    let found = match &field.dtype {
                        DType::Array(count, one) => format!("an array of {count} {}", one.descr()),
                        other => other.descr(),
                    };
                    let (name, found) = (quoted(name), quoted(&found));
                    let hint = match field.dtype {
                        DType::Plain(_) => "",
                        _ => "; each number needs a field of its own, named as in .csv",
                    };
                    let why = format!("field '{name}' is {found}: expected f4, f8 or an integer type{hint}");
                    return Err(bad_file(path, why));
                }
            }
            width = width.saturating_add(bytes);
            if width > WIDEST {
                return Err(bad_file(path, format!("a record has more than {WIDEST} bytes")));
            }
        }
        let columns = columns(path, "", kind, names.into_iter())?;
        Ok(Some(Self { rows, columns, parts, width: width as usize }))
    }

    /// Bytes per record.
    pub(crate) fn width(&self) -> u64 {
        self.width as u64
    }

    /// Passes every row to `sink`. The input must be at the first row.
    pub(crate) fn read(
        &self,
        mut input: Input,
        kind: &TableSchema,
        sink: &mut dyn FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut row = Row::new(kind);
        let chunk = rows_at_once();
        let mut bytes = vec![0; chunk * self.width];
        let mut first = 0;
        while first < self.rows {
            let count = (self.rows - first).min(chunk as u64);
            let bytes = &mut bytes[..count as usize * self.width];
            let read = input.read_full(bytes).map_err(|e| cannot_read(&input.path, &e))?;
            for (i, record) in (first..).zip(bytes[..read].chunks_exact(self.width)) {
                for (&field, part) in self.columns.iter().zip(&self.parts) {
                    row.numbers[field] = part.number(record);
                }
                row.place = RowLocation::Index(i);
                sink(&row)?;
            }
            if read < bytes.len() {
                let (rows, width) = (self.rows, self.width as u64);
                let fault = format!(
                    "{rows} rows need {} bytes of data, but the input has {}: it is truncated",
                    rows * width,
                    first * width + read as u64
                );
                return Err(bad_file(&input.path, fault));
            }
            first += count;
        }
        trailing(&mut input)
    }
}

/// Number format of a type, and whether it is big-endian; `None` if the type is not a number.
fn number(dtype: &DType) -> Option<(Form, bool)> {
    let DType::Plain(plain) = dtype else { return None };
    let form = match (plain.type_char(), plain.size_field()) {
        (TypeChar::Float, 4 | 8) => Form::Float,
        (TypeChar::Int, 1 | 2 | 4 | 8) => Form::Signed,
        (TypeChar::Uint, 1 | 2 | 4 | 8) => Form::Unsigned,
        _ => return None,
    };
    Some((form, is_big(plain)))
}

fn is_big(plain: &TypeStr) -> bool {
    plain.endianness() == Endianness::Big
}

impl Part {
    fn number(self, record: &[u8]) -> Number {
        let mut bits = 0_u64;
        for (i, byte) in record[self.at..self.at + self.bytes].iter().enumerate() {
            let place = if self.big_endian { self.bytes - 1 - i } else { i };
            bits |= u64::from(*byte) << (8 * place);
        }
        match (self.form, self.bytes) {
            (Form::Float, 4) => f32::from_bits(bits as u32).into(),
            (Form::Float, _) => f64::from_bits(bits).into(),
            (Form::Unsigned, _) => (bits as f64).into(),
            (Form::Signed, bytes) => {
                let unused = 64 - 8 * bytes as u32;
                (((bits << unused) as i64 >> unused) as f64).into()
            }
        }
    }
}
