//! Reader of `.npy`, the format of NumPy. The sizes in the header are checked against the file before they are used.

use std::path::Path;

use super::encoding::decode;
use super::input::Input;
use super::read_options::{ReadOptions, refuse_kept};
use super::record_layout::{NumberColumn, NumberForm, RecordLayout, RecordPart, column_reader};
use super::structured_npy::{number, record_layout};
use super::table::{ReadFormat, TableReader};
use crate::error::Result;
use crate::error::{bad_file, cannot_read};
use crate::escape::quoted;
use crate::schema::kinds::TableSchema;

/// Maximum header length in bytes. NumPy writes 128 bytes, and refuses to read more than 10,000.
const LONGEST_HEADER: u64 = 10_000;

/// A pipe is recognised by the first byte, which cannot begin a text.
pub(crate) const FORMAT: ReadFormat = ReadFormat { extension: "npy", first_byte: Some(0x93), open };

/// Reads the header. An array of f4 or f8 must have the shape of the kind; a structured array names its fields.
fn open(mut input: Input, kind: &'static TableSchema, options: &ReadOptions) -> Result<TableReader> {
    refuse_kept(&input, options)?;
    let header = header(&mut input)?;
    let descr = parse(&mut &*header.descr, DEEPEST).map_err(|why| bad_file(&input.path, why))?;
    let Kind::Items(fields) = &descr.kind else { return plain(input, kind, &header, &descr) };
    let records = record_layout(&input.path, kind, fields, &header.shape, options)?;
    // Field 0 of a state is the time.
    let is_short = |(field, part): (&usize, &RecordPart)| *field == 0 && is_f4(part);
    if kind.plural == "states" && records.columns.iter().zip(&records.parts).any(is_short) {
        return Err(bad_file(&input.path, format!("field 'unix_s' is f4: {F4_TIMES}")));
    }
    check_length(&input, &header, u128::from(records.rows.unwrap_or(0)) * records.width as u128)?;
    Ok(records.reader(input, kind))
}

/// The header of an array.
struct Header {
    /// The type of the numbers, a Python literal.
    descr: String,
    shape: Vec<u64>,
    is_fortran: bool,
    /// Position of the first number.
    offset: u64,
}

/// An array of an archive, with one number per row, and the number of rows. The input is at its header, at `start`, and the entry has `size` bytes.
#[cfg(not(target_arch = "wasm32"))]
pub(super) fn column(input: &mut Input, name: &str, start: u64, size: u64) -> Result<(u64, NumberColumn)> {
    let header = header(input)?;
    let bad = |why: String| bad_file(&input.path, format!("array '{}': {why}", quoted(name)));
    let descr = parse(&mut &*header.descr, DEEPEST).map_err(|why| bad(why.into()))?;
    let (_, Some((form, bytes, big_endian))) = number(&descr) else {
        return Err(bad(format!("dtype is {}: expected f4, f8 or an integer type", quoted(descr.source))));
    };
    let number = RecordPart { offset: 0, bytes, form, big_endian };
    if name.starts_with("unix_s") && is_f4(&number) {
        return Err(bad(F4_TIMES.into()));
    }
    let [rows] = header.shape[..] else {
        let shape = describe(&header.shape);
        return Err(bad(format!(
            "shape is {shape}: expected one number per row, in arrays named as the columns of .csv"
        )));
    };
    let (needed, held) = (u128::from(rows) * bytes as u128, u128::from(size.saturating_sub(header.offset)));
    if needed != held {
        return Err(bad(format!("shape ({rows},) needs {needed} bytes of data, but the archive has {held}")));
    }
    Ok((rows, NumberColumn { start: start + header.offset, number }))
}

/// Whether a number is an f4.
fn is_f4(part: &RecordPart) -> bool {
    matches!((part.form, part.bytes), (NumberForm::Float, 4))
}

/// Why the times of states cannot be f4.
const F4_TIMES: &str = "expected f8, since f4 rounds unix_s to 128 s; \
    make the array with astype('float64') before it has the times";

/// An array of f4 or f8, which must have the shape of the kind.
fn plain(input: Input, kind: &'static TableSchema, header: &Header, descr: &Value<'_>) -> Result<TableReader> {
    let path = &input.path;
    let (_, number) = number(descr);
    let has_times = kind.plural == "states";
    let Some((NumberForm::Float, width, big_endian)) = number else {
        let hint = match descr.text().as_bytes().get(1) {
            Some(b'b' | b'i' | b'u' | b'f') if has_times => "; convert the array with array.astype('float64')",
            Some(b'b' | b'i' | b'u' | b'f') => "; convert the array with array.astype('float32')",
            _ => "",
        };
        let expected = if has_times { "f8" } else { "f4 or f8" };
        return Err(bad_file(path, format!("dtype is {}: expected {expected}{hint}", quoted(descr.source))));
    };
    if has_times && width == 4 {
        return Err(bad_file(path, format!("dtype is {}: {F4_TIMES}", quoted(descr.source))));
    }
    let (rows, columns) = shape(path, kind, &header.shape)?;
    check_length(&input, header, u128::from(rows) * columns.len() as u128 * width as u128)?;
    let is_order = kind.plural == "rays" && columns.len() == 8;
    let order = if is_order { "the columns are origin, direction, t_min, t_max" } else { "" };
    let number = RecordPart { offset: 0, bytes: width, form: NumberForm::Float, big_endian };
    if !header.is_fortran {
        return Ok(RecordLayout::plain(Some(rows), columns, number, order).reader(input, kind));
    }
    if input.length().is_none() {
        let why = "an array in Fortran order cannot be read from a pipe; use numpy.ascontiguousarray before saving it";
        return Err(bad_file(path, why));
    }
    let start = |k: u64| header.offset + k * rows * width as u64;
    let columns = (0..).zip(columns).map(|(k, field)| (*field, NumberColumn { start: start(k), number })).collect();
    Ok(column_reader(input, kind, rows, columns, order))
}

/// Refuses a file whose length differs from the length that its header claims.
fn check_length(input: &Input, header: &Header, claimed: u128) -> Result<()> {
    if let Some(length) = input.length() {
        let held = u128::from(length.saturating_sub(header.offset));
        if claimed != held {
            let fault = if held < claimed { "the file is truncated" } else { "there are trailing bytes" };
            let shape = describe(&header.shape);
            let need = format!("shape {shape} needs {claimed} bytes of data, but the file has {held}: {fault}");
            return Err(bad_file(&input.path, need));
        }
    }
    Ok(())
}

/// Number of rows, and the field of the record that each column fills, from the shape of an array.
fn shape(path: &Path, kind: &TableSchema, shape: &[u64]) -> Result<(u64, &'static [usize])> {
    const FIELDS: &[usize] = &[0, 1, 2, 3, 4, 5, 6, 7];
    let fields = kind.fields.len();
    // In arrays both ends come last. In the record, `t_min` follows the origin and `t_max` follows the direction.
    const RAYS: &[usize] = &[0, 1, 2, 4, 5, 6, 3, 7];
    match *shape {
        [rows, 8] if fields == 8 => Ok((rows, RAYS)),
        // Rays without `t_min` and `t_max`.
        [rows, 6] if fields == 8 => Ok((rows, &RAYS[..6])),
        // Trajectories without velocities.
        [rows, 4] if kind.plural == "states" => Ok((rows, &FIELDS[..4])),
        [rows, 3] if kind.is_of_one_radius() => Ok((rows, &FIELDS[..3])),
        [rows, columns] if columns == fields as u64 => Ok((rows, &FIELDS[..fields])),
        _ => {
            let hint = match (kind.plural, shape) {
                ("spheres", [_, 6 | 8]) | ("rays", [_, 4]) => "; the order of the files is SPHERES, then RAYS",
                ("spheres", [_, 7]) | ("bullets", [_, 4]) => "; the order of the files is SPHERES, then BULLETS",
                ("segments", [_, 8]) => "; to cast rays, leave out --segments",
                ("spheres", [_, 3]) => kind.radius_remedy(),
                ("rays", [_, 3]) => "; to cast rays from points, use cast --toward or --parallel",
                (_, [_]) => "; for a single row, use array.reshape(1, -1)",
                _ => "",
            };
            let (found, expected) = (describe(shape), kind.shape);
            Err(bad_file(path, format!("shape is {found}: expected {expected} for {}{hint}", kind.plural)))
        }
    }
}

/// A shape in Python notation.
fn describe(shape: &[u64]) -> String {
    match shape {
        [one] => format!("({one},)"),
        many => format!("({})", many.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// Reads the header.
fn header(input: &mut Input) -> Result<Header> {
    let path = input.path.clone();
    let bad = |why: String| bad_file(&path, format!("not a readable .npy file: {why}"));
    let mut start = vec![0; 12];
    let held = input.read_full(&mut start).map_err(|e| cannot_read(&path, e))?;
    let (from, claimed) = match start[..] {
        _ if held == 0 => return Err(bad("it is empty (0 bytes)".into())),
        _ if held < 12 => return Err(bad(format!("{held} bytes are too few for a header"))),
        [0x93, b'N', b'U', b'M', b'P', b'Y', 1, _, a, b, ..] => (10, u64::from(u16::from_le_bytes([a, b]))),
        [0x93, b'N', b'U', b'M', b'P', b'Y', 2 | 3, _, a, b, c, d] => (12, u64::from(u32::from_le_bytes([a, b, c, d]))),
        [0x93, b'N', b'U', b'M', b'P', b'Y', major, minor, ..] => {
            return Err(bad(format!("format version {major}.{minor} is not supported")));
        }
        [b'P', b'K', ..] => {
            return Err(bad("it is an .npz archive: name it .npz, or save a single array with numpy.save".into()));
        }
        _ => return Err(bad("it does not begin with \\x93NUMPY".into())),
    };
    if claimed > LONGEST_HEADER {
        return Err(bad(format!("its header claims {claimed} bytes, but at most {LONGEST_HEADER} are allowed")));
    }
    start.resize((from + claimed as usize).max(12), 0);
    let rest = input.read_full(&mut start[12..]).map_err(|e| cannot_read(&path, e))?;
    let Some(text) = start.get(from..from + claimed as usize).filter(|text| text.len() + from <= 12 + rest) else {
        return Err(bad(format!("its header of {claimed} bytes is truncated")));
    };
    // Version 1 is Latin-1.
    let text = decode(text.to_vec()).map_err(|why| bad(why.into()))?;
    let found = parse(&mut &*text, DEEPEST).map_err(|why| bad(why.into()))?;
    let Value { kind: Kind::Items(items), .. } = found else { return Err(bad("its header is no dict".into())) };
    // Keys and values.
    let (pairs, []) = items.as_chunks::<2>() else { return Err(bad("its header is no dict".into())) };
    let value = |name: &str| {
        let pair = pairs.iter().rfind(|[key, _]| key.text() == name);
        pair.map(|[_, value]| value).ok_or_else(|| bad(format!("its header has no '{name}'")))
    };
    let (descr, order, shape) = (value("descr")?, value("fortran_order")?, value("shape")?);
    let (Kind::Truth(is_fortran), Some(shape)) = (&order.kind, shape.sizes()) else {
        return Err(bad("'fortran_order' is no bool, or 'shape' no tuple of sizes".into()));
    };
    // With this maximum, sizes in bytes fit in 64 bits.
    if shape.iter().try_fold(1_u64, |all, size| all.checked_mul(*size)).is_none_or(|all| all >= 1 << 58) {
        return Err(bad("its shape is too large for any file".into()));
    }
    Ok(Header { descr: descr.source.into(), shape, is_fortran: *is_fortran, offset: start.len() as u64 })
}

/// Maximum depth of brackets in a header.
const DEEPEST: u32 = 8;

/// A literal of Python.
pub(super) struct Value<'a> {
    /// The literal as written.
    pub(super) source: &'a str,
    pub(super) kind: Kind<'a>,
}

pub(super) enum Kind<'a> {
    Text(String),
    Whole(u64),
    Truth(bool),
    /// A tuple or a list; or a dict, with keys and values in turn.
    Items(Vec<Value<'a>>),
}

impl Value<'_> {
    /// The text; empty for other literals.
    pub(super) fn text(&self) -> &str {
        if let Kind::Text(text) = &self.kind { text } else { "" }
    }

    /// The sizes of a tuple or a list of sizes.
    pub(super) fn sizes(&self) -> Option<Vec<u64>> {
        let Kind::Items(items) = &self.kind else { return None };
        items.iter().map(|item| if let Kind::Whole(size) = item.kind { Some(size) } else { None }).collect()
    }
}

/// Parses the literal at the start of a text, and leaves what follows it.
fn parse<'a>(rest: &mut &'a str, depth: u32) -> std::result::Result<Value<'a>, &'static str> {
    let start = rest.trim_start();
    let first = start.chars().next().unwrap_or_default();
    let kind = if let Some(close) = [('(', ')'), ('[', ']'), ('{', '}')].iter().find(|pair| pair.0 == first) {
        let depth = depth.checked_sub(1).ok_or("its header nests too deeply")?;
        *rest = &start[1..];
        let mut items = Vec::new();
        while !takes(rest, close.1) {
            items.push(parse(rest, depth)?);
            let is_key = first == '{' && items.len() % 2 == 1;
            let is_last = !is_key && rest.trim_start().starts_with(close.1);
            if !takes(rest, if is_key { ':' } else { ',' }) && !is_last {
                return Err("its header is no literal of Python");
            }
        }
        Kind::Items(items)
    } else if matches!(first, '\'' | '"') {
        let (mut text, mut chars) = (String::new(), start[1..].chars());
        loop {
            match chars.next().ok_or("a text in its header is not closed")? {
                c if c == first => break,
                '\\' => text.extend(chars.next()),
                c => text.push(c),
            }
        }
        *rest = chars.as_str();
        Kind::Text(text)
    } else {
        let end = start.find(|c: char| !c.is_alphanumeric() && c != '-').unwrap_or(start.len());
        *rest = &start[end..];
        match &start[..end] {
            "True" => Kind::Truth(true),
            "False" => Kind::Truth(false),
            word if word.starts_with('-') => return Err("a size in its header is negative"),
            word if word.starts_with(|c: char| c.is_ascii_digit()) => {
                // Python 2 writes `3L`.
                let digits = word.strip_suffix('L').unwrap_or(word);
                Kind::Whole(digits.parse().map_err(|_| "its shape is too large for any file")?)
            }
            _ => return Err("its header is no literal of Python"),
        }
    };
    Ok(Value { source: &start[..start.len() - rest.len()], kind })
}

/// Whether a text begins with a character, which is then removed.
fn takes(rest: &mut &str, token: char) -> bool {
    let found = rest.trim_start().strip_prefix(token);
    *rest = found.unwrap_or(rest);
    found.is_some()
}
