//! Reader of `.npy`, the format of NumPy. npyz parses the header. The sizes in it are checked against the file before they are used.

use std::path::Path;

use npyz::{DType, Endianness, NpyHeader, Order, TypeChar};

use super::binary::{BinaryReader, Layout};
use super::input::Input;
use super::read_options::{ReadOptions, refuse_kept};
use super::record_layout::{RecordLayout, RecordReader};
use super::structured_npy::record_layout;
use super::table_reader::{ReadFormat, TableReader};
use crate::error::quoted;
use crate::error::{Error, Result};
use crate::error::{bad_file, cannot_read};
use crate::schema::kinds::TableSchema;

/// Maximum header length in bytes. NumPy writes 128 bytes, and refuses to read more than 10,000.
const LONGEST_HEADER: u64 = 10_000;

/// A pipe is recognised by the first byte, which cannot begin a text.
pub(crate) const FORMAT: ReadFormat = ReadFormat { extension: "npy", first_byte: Some(0x93), open };

/// Reads the header.
fn open(mut input: Input, schema: &'static TableSchema, options: &ReadOptions) -> Result<Box<dyn TableReader>> {
    refuse_kept(&input, options)?;
    Ok(match array(&mut input, schema, options)? {
        NpyArray::Plain(layout) => Box::new(BinaryReader { input, layout }),
        NpyArray::Structured(layout) => Box::new(RecordReader { input, layout }),
    })
}

/// Layout of an array in a file.
pub(crate) enum NpyArray {
    /// Numbers of one type, in rows and columns.
    Plain(Layout),
    /// Records with named fields.
    Structured(RecordLayout),
}

/// Reads the header and returns the layout. An array of f4 or f8 must have the shape of the kind; a structured array names its fields. The
/// input is then at the first number.
pub(crate) fn array(input: &mut Input, kind: &'static TableSchema, options: &ReadOptions) -> Result<NpyArray> {
    let (header, offset) = header(input)?;
    if let Some(records) = record_layout(&input.path, kind, &header.dtype(), header.shape(), options)? {
        check_length(input, &header, offset, u128::from(records.rows) * records.width as u128)?;
        return Ok(NpyArray::Structured(records));
    }
    layout(input, kind, &header, offset).map(NpyArray::Plain)
}

/// Layout of an array of f4 or f8, which must have the shape of the kind.
fn layout(input: &Input, kind: &'static TableSchema, header: &NpyHeader, offset: u64) -> Result<Layout> {
    let path = &input.path;
    let (double, big_endian) = number_type(path, header)?;
    let (rows, columns) = shape(path, kind, header.shape())?;
    let width = if double { 8 } else { 4 };
    check_length(input, header, offset, u128::from(rows) * columns.len() as u128 * width)?;
    let by_column = (header.order() == Order::Fortran).then_some(offset);
    if by_column.is_some() && input.length().is_none() {
        let why = "an array in Fortran order cannot be read from a pipe; use numpy.ascontiguousarray before saving it";
        return Err(bad_file(path, why));
    }
    let order = if kind.plural == "rays" && columns.len() == 8 {
        "the columns are origin, direction, t_min, t_max"
    } else {
        ""
    };
    Ok(Layout { rows: Some(rows), columns, double, big_endian, by_column, order })
}

/// Refuses a file whose length differs from the length that its header claims.
fn check_length(input: &Input, header: &NpyHeader, offset: u64, claimed: u128) -> Result<()> {
    if let Some(length) = input.length() {
        let held = u128::from(length.saturating_sub(offset));
        if claimed != held {
            let fault = if held < claimed { "the file is truncated" } else { "there are trailing bytes" };
            let shape = describe(header.shape());
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
        [rows, 3] if kind.is_of_one_radius() => Ok((rows, &FIELDS[..3])),
        [rows, columns] if columns == fields as u64 => Ok((rows, &FIELDS[..fields])),
        _ => {
            let hint = match (kind.plural, shape) {
                ("spheres", [_, 6 | 8]) | ("rays", [_, 4]) => "; the order of the files is SPHERES, then RAYS",
                ("spheres", [_, 7]) | ("bullets", [_, 4]) => "; the order of the files is SPHERES, then BULLETS",
                ("segments", [_, 8]) => "; to cast rays, leave out --segments",
                ("spheres", [_, 3]) => {
                    "; points need a column with a radius, or a radius for all spheres (--sphere-radius)"
                }
                ("rays", [_, 3]) => "; to cast rays from points, add --toward or --parallel",
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

/// Whether the numbers are f8 (else f4), and whether they are big-endian.
fn number_type(path: &Path, header: &NpyHeader) -> Result<(bool, bool)> {
    let dtype = header.dtype();
    let mut hint = "";
    if let DType::Plain(plain) = &dtype {
        if plain.type_char() == TypeChar::Float
            && let 4 | 8 = plain.size_field()
        {
            return Ok((plain.size_field() == 8, plain.endianness() == Endianness::Big));
        }
        if let TypeChar::Bool | TypeChar::Int | TypeChar::Uint | TypeChar::Float = plain.type_char() {
            hint = "; convert the array with array.astype('float32')";
        }
    }
    let found = quoted(&dtype.descr());
    Err(bad_file(path, format!("dtype is {found}: expected f4 or f8{hint}")))
}

/// Reads the header. It is checked before npyz parses it: the parser takes time exponential in the depth of brackets, allocates as many
/// bytes as the length field claims, and multiplies the dimensions without an overflow check.
///
/// Also returns the offset of the first number.
fn header(input: &mut Input) -> Result<(NpyHeader, u64)> {
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
        [b'P', b'K', ..] => return Err(bad("it is an .npz archive; save a single array with numpy.save".into())),
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
    let (mut depth, mut deepest) = (0_i32, 0);
    for byte in text {
        depth += match byte {
            b'(' | b'[' | b'{' => 1,
            b')' | b']' | b'}' => -1,
            _ => 0,
        };
        deepest = deepest.max(depth);
    }
    if deepest > 5 {
        return Err(bad("its header nests too deeply".into()));
    }
    let at = text.windows(7).position(|w| w == b"'shape'").unwrap_or(0);
    // The product of dimensions with fewer than 19 digits in total fits in 64 bits.
    if text[at..].iter().filter(|b| b.is_ascii_digit()).count() > 18 {
        return Err(bad("its shape is too large for any file".into()));
    }
    let header = NpyHeader::from_reader(&start[..]).map_err(|e| match e.kind() {
        std::io::ErrorKind::InvalidData | std::io::ErrorKind::UnexpectedEof => bad(quoted(&e.to_string())),
        _ => Error::io("read", path.clone(), e),
    })?;
    Ok((header, start.len() as u64))
}
