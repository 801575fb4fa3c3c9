//! Header of structured `.npy`: records with named fields, in any order and of any number type, with or without gaps.

use std::path::Path;

use npyz::{DType, Endianness, TypeChar, TypeStr};

use super::read_options::ReadOptions;
use super::record_layout::{NumberForm, RecordLayout, RecordPart};
use crate::error::Result;
use crate::error::bad_file;
use crate::error::quoted;
use crate::schema::columns::{columns, is_known};
use crate::schema::kinds::TableSchema;

/// Maximum bytes per record: 16 numbers of 8 bytes, and as many bytes of gaps.
const WIDEST: u64 = 256;

/// Layout of a structured array; `None` if the type has no named fields.
pub(crate) fn record_layout(
    path: &Path,
    kind: &'static TableSchema,
    dtype: &DType,
    shape: &[u64],
    options: &ReadOptions,
) -> Result<Option<RecordLayout>> {
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
            // An unknown field, of any type.
            (name, _) if options.ignores_unknown() && !is_known(kind, name) => {}
            (name, Some((form, big_endian))) => {
                names.push(name);
                parts.push(RecordPart { offset: width as usize, bytes: bytes as usize, form, big_endian });
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
    let columns = columns(path, "", kind, &names, false, options.unit)?.into_iter().flatten().collect();
    Ok(Some(RecordLayout { rows, columns, parts, width: width as usize, more_follows: false }))
}

/// Number format of a type, and whether it is big-endian; `None` if the type is not a number.
fn number(dtype: &DType) -> Option<(NumberForm, bool)> {
    let DType::Plain(plain) = dtype else { return None };
    let form = match (plain.type_char(), plain.size_field()) {
        (TypeChar::Float, 4 | 8) => NumberForm::Float,
        (TypeChar::Int, 1 | 2 | 4 | 8) => NumberForm::Signed,
        (TypeChar::Uint, 1 | 2 | 4 | 8) => NumberForm::Unsigned,
        _ => return None,
    };
    Some((form, is_big(plain)))
}

fn is_big(plain: &TypeStr) -> bool {
    plain.endianness() == Endianness::Big
}
