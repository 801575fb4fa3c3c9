//! Header of structured `.npy`: records with named fields, in any order and of any number type, with or without gaps.

use std::path::Path;

use super::npy::{Kind, Value};
use super::read_options::ReadOptions;
use super::record_layout::{NumberForm, RecordLayout, RecordPart, WIDEST};
use crate::error::Result;
use crate::error::bad_file;
use crate::escape::quoted;
use crate::schema::columns::{columns, is_known};
use crate::schema::kinds::TableSchema;

/// Layout of a structured array, whose type is a list of fields.
pub(super) fn record_layout(
    path: &Path,
    kind: &'static TableSchema,
    fields: &[Value<'_>],
    shape: &[u64],
    options: &ReadOptions,
) -> Result<RecordLayout> {
    let [rows] = *shape else {
        let why = format!(
            "the structured array of {} has {} dimensions: expected 1; flatten it with array.ravel()",
            kind.plural,
            shape.len()
        );
        return Err(bad_file(path, why));
    };
    let (mut names, mut parts, mut width) = (Vec::new(), Vec::new(), 0_u64);
    for value in fields {
        let Some((name, of, sizes)) = field(value) else {
            let why = "is no field with a name and a type";
            return Err(bad_file(path, format!("not a readable .npy file: {} {why}", quoted(value.source))));
        };
        let (bytes, form) = number(of);
        let bytes = sizes.iter().fold(bytes, |bytes, size| bytes.saturating_mul(*size));
        match (name, form.filter(|_| sizes.is_empty())) {
            // NumPy gives gaps an empty name.
            ("", _) => {}
            // An unknown field, of any type.
            (name, _) if options.ignores_unknown() && !is_known(kind, name) => {
                names.push(name);
                parts.push(None);
            }
            (name, Some((form, bytes, big_endian))) => {
                names.push(name);
                parts.push(Some(RecordPart { offset: width as usize, bytes, form, big_endian }));
            }
            (name, None) => {
                let found = match &sizes[..] {
                    [] => of.source.to_owned(),
                    [count] => format!("an array of {count} {}", of.source),
                    sizes => format!("an array of {sizes:?} {}", of.source),
                };
                let (name, found) = (quoted(name), quoted(&found));
                let is_plain = sizes.is_empty() && matches!(of.kind, Kind::Text(_));
                let hint = if is_plain { "" } else { "; each number needs a field of its own, named as in .csv" };
                let why = format!("field '{name}' is {found}: expected f4, f8 or an integer type{hint}");
                return Err(bad_file(path, why));
            }
        }
        width = width.saturating_add(bytes);
        if width > WIDEST as u64 {
            let why = match bytes {
                u64::MAX => {
                    let (name, found) = (quoted(name), quoted(of.source));
                    format!("field '{name}' is {found}: Python objects are a pickle, which is not read")
                }
                _ => format!("a record has more than {WIDEST} bytes"),
            };
            let own = fields
                .iter()
                .filter_map(field)
                .filter(|(name, of, sizes)| is_known(kind, name) && sizes.is_empty() && number(of).1.is_some());
            let names: Vec<&str> = own.map(|(name, ..)| name).collect();
            let remedy = "save the columns alone, with numpy.lib.recfunctions.repack_fields";
            return Err(bad_file(path, format!("{why}: {remedy}(array[{names:?}])")));
        }
    }
    let found = columns(path, "", kind, &names, options.ignores_unknown(), options.unit)?;
    let (columns, parts) = found.into_iter().zip(parts).filter_map(|(field, part)| Some((field?, part?))).unzip();
    Ok(RecordLayout { rows: Some(rows), columns, parts, width: width as usize, more_follows: false, order: "" })
}

/// Name, type and shape of a field of a structured array.
fn field<'a>(value: &'a Value<'a>) -> Option<(&'a str, &'a Value<'a>, Vec<u64>)> {
    let Kind::Items(parts) = &value.kind else { return None };
    match &parts[..] {
        [Value { kind: Kind::Text(name), .. }, of] => Some((name, of, Vec::new())),
        [Value { kind: Kind::Text(name), .. }, of, shape] => Some((name, of, shape.sizes()?)),
        _ => None,
    }
}

/// Bytes of a type, such as `<f4`, which objects do not have, and for numbers their format, bytes and whether they are big-endian.
pub(super) fn number(of: &Value<'_>) -> (u64, Option<(NumberForm, usize, bool)>) {
    if let Kind::Items(fields) = &of.kind {
        // A record within a record.
        let bytes = fields.iter().map(|value| {
            let (_, of, sizes) = field(value)?;
            Some(sizes.iter().fold(number(of).0, |bytes, size| bytes.saturating_mul(*size)))
        });
        return (bytes.fold(0, |all, bytes| all.saturating_add(bytes.unwrap_or(u64::MAX))), None);
    }
    let text = of.text().split('[').next().unwrap_or_default();
    let letter = text.as_bytes().get(1).copied().unwrap_or_default();
    let size = text.get(2..).and_then(|digits| digits.parse::<u64>().ok()).unwrap_or(u64::MAX);
    let form = match (letter, size) {
        (b'f', 4 | 8) => NumberForm::Float,
        (b'i', 1 | 2 | 4 | 8) => NumberForm::Signed,
        (b'u', 1 | 2 | 4 | 8) => NumberForm::Unsigned,
        (b'O', _) => return (u64::MAX, None),
        // A character has 4 bytes.
        (b'U', _) => return (size.saturating_mul(4), None),
        _ => return (size, None),
    };
    (size, Some((form, size as usize, text.starts_with('>'))))
}
