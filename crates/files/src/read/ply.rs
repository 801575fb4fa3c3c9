//! Reader of `.ply`, the polygon file format: text or binary. The rows are the element `vertex`, and its properties are the columns. Other
//! properties, such as normals, colours and lists, are ignored, and so are elements that follow.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::bounded_text::{LONE_RETURN, LONGEST, too_long};
use super::csv;
use super::encoding::decode;
use super::input::Input;
use super::read_options::{ReadOptions, refuse_kept};
use super::record_layout::{NumberForm, RecordLayout, RecordPart, WIDEST, trailing};
use super::table::{ReadFormat, RowSink, TableReader};
use crate::error::Result;
use crate::error::{bad_file, cannot_read};
use crate::escape::quoted;
use crate::schema::columns::{columns, is_known};
use crate::schema::convert::{Row, RowLocation};
use crate::schema::kinds::TableSchema;

/// A pipe is recognised by the first byte, with which no column name begins.
pub(crate) const FORMAT: ReadFormat = ReadFormat { extension: "ply", first_byte: Some(b'p'), open };

/// Maximum header length in bytes.
const LONGEST_HEADER: usize = 1 << 16;

/// Contents of a header.
struct Header {
    /// Length in bytes.
    length: u64,
    /// Whether numbers are big-endian; `None` if they are text.
    big_endian: Option<bool>,
    vertices: u64,
    properties: Vec<Property>,
    /// Whether elements follow the vertices.
    more_follows: bool,
}

struct Property {
    name: String,
    /// Type of the number, or of the length of the list.
    form: NumberForm,
    bytes: usize,
    /// Bytes per entry of a list.
    entry: Option<usize>,
}

/// Reads the header.
fn open(mut input: Input, schema: &'static TableSchema, options: &ReadOptions) -> Result<TableReader> {
    refuse_kept(&input, options)?;
    let Header { length, big_endian, vertices, properties, more_follows } = header(&mut input, schema)?;
    let path = &input.path;
    let numbers = properties.iter().filter(|property| property.entry.is_none());
    let names: Vec<&str> = numbers.map(|property| &*property.name).collect();
    let found = columns(path, "header: ", schema, &names, true, options.unit)?;
    let mut found_fields = found.iter().copied();
    let field_of = |property: &Property| property.entry.is_none().then(|| found_fields.next().flatten()).flatten();
    let fields_of: Vec<Option<usize>> = properties.iter().map(field_of).collect();
    let columns = found.into_iter().flatten().collect();
    let least = match big_endian {
        // One digit and one separator per number.
        None => 2 * properties.len(),
        Some(_) => properties.iter().map(|property| property.bytes).sum(),
    };
    if let Some(held) = input.length().map(|bytes| u128::from(bytes.saturating_sub(length))) {
        let needed = u128::from(vertices) * least as u128;
        // The last line of a text may lack its end.
        if needed > held + u128::from(big_endian.is_none()) {
            let why = format!(
                "{vertices} vertices need at least {needed} bytes, {held} follow the header: the file is truncated"
            );
            return Err(bad_file(path, why));
        }
    }
    let Some(big_endian) = big_endian else {
        let lists = properties.iter().map(|property| property.entry.is_some());
        let uses = fields_of.into_iter().zip(lists).collect();
        let text = PlyText { input, vertices, uses, position: length, more_follows };
        return Ok(TableReader::new(columns, Some(vertices), move |sink| text.read(schema, sink)));
    };
    let has_lists = properties.iter().any(|property| property.entry.is_some());
    let (mut parts, mut entries, mut offset) = (Vec::new(), Vec::new(), 0);
    for (Property { form, bytes, entry, .. }, field) in properties.into_iter().zip(&fields_of) {
        if has_lists || field.is_some() {
            // Records with lists have no fixed offsets.
            parts.push(RecordPart { offset: if has_lists { 0 } else { offset }, bytes, form, big_endian });
            entries.push(entry);
        }
        offset += bytes;
    }
    if has_lists {
        let parts = parts.into_iter().zip(fields_of).zip(entries).map(|((part, field), entry)| (part, field, entry));
        let lists = PlyLists { input, vertices, parts: parts.collect(), more_follows };
        return Ok(TableReader::new(columns, Some(vertices), move |sink| lists.read(schema, sink)));
    }
    let layout = RecordLayout { rows: Some(vertices), columns, parts, width: offset, more_follows, order: "" };
    Ok(layout.reader(input, schema))
}

/// Reads the lines up to `end_header`.
fn header(input: &mut Input, schema: &TableSchema) -> Result<Header> {
    let path = input.path.clone();
    let mut lines = HeaderLines { input, path: &path, length: 0, line: 0 };
    if lines.next()? != ["ply"] {
        return Err(lines.fault("the first line must be 'ply'"));
    }
    let big_endian = match lines.next()?.iter().map(|word| &**word).collect::<Vec<_>>()[..] {
        ["format", "ascii", "1.0"] => None,
        ["format", "binary_little_endian", "1.0"] => Some(false),
        ["format", "binary_big_endian", "1.0"] => Some(true),
        _ => {
            let why =
                "expected 'format ascii 1.0', 'format binary_little_endian 1.0' or 'format binary_big_endian 1.0'";
            return Err(lines.fault(why));
        }
    };
    let (mut vertices, mut properties, mut more_follows) = (None, Vec::new(), false);
    loop {
        let words = lines.next()?;
        match words.iter().map(|word| &**word).collect::<Vec<_>>()[..] {
            [] | ["comment" | "obj_info", ..] => {}
            ["end_header"] => break,
            ["element", "vertex", count] if vertices.is_none() => {
                let Ok(count) = count.parse::<u64>() else {
                    return Err(lines.fault(&format!("'{}' is not a number of vertices", quoted(count))));
                };
                vertices = Some(count);
            }
            ["element", _, "0"] => more_follows = vertices.is_some(),
            ["element", name, _] if vertices.is_none() => {
                return Err(
                    lines.fault(&format!("the element '{}' precedes 'vertex': it must come later", quoted(name)))
                );
            }
            ["element", _, _] => more_follows = true,
            // Properties of other elements are not read.
            ["property", ..] if vertices.is_none() || more_follows => {}
            ["property", "list", _, _, name] if is_known(schema, name) => {
                return Err(lines.fault(&format!("'{}' is a list: expected one number", quoted(name))));
            }
            ["property", "list", length, entry, name] => {
                let ((form, bytes), (_, entry)) = (lines.number_type(length)?, lines.number_type(entry)?);
                if matches!(form, NumberForm::Float) {
                    return Err(lines.fault(&format!("the length of a list is '{length}': expected a whole number")));
                }
                properties.push(Property { name: name.into(), form, bytes, entry: Some(entry) });
            }
            ["property", kind, name] => {
                let (form, bytes) = lines.number_type(kind)?;
                properties.push(Property { name: name.into(), form, bytes, entry: None });
            }
            _ => return Err(lines.fault(&format!("'{}' is not a line of a header", quoted(&words.join(" "))))),
        }
    }
    let Some(vertices) = vertices else { return Err(lines.fault("the header has no element 'vertex'")) };
    if properties.iter().map(|property| property.bytes).sum::<usize>() > WIDEST {
        return Err(lines.fault(&format!("a vertex has more than {WIDEST} bytes")));
    }
    Ok(Header { length: lines.length as u64, big_endian, vertices, properties, more_follows })
}

/// Number format of a type, and its size in bytes.
fn number_type(name: &str) -> Option<(NumberForm, usize)> {
    Some(match name {
        "char" | "int8" => (NumberForm::Signed, 1),
        "uchar" | "uint8" => (NumberForm::Unsigned, 1),
        "short" | "int16" => (NumberForm::Signed, 2),
        "ushort" | "uint16" => (NumberForm::Unsigned, 2),
        "int" | "int32" => (NumberForm::Signed, 4),
        "uint" | "uint32" => (NumberForm::Unsigned, 4),
        "float" | "float32" => (NumberForm::Float, 4),
        "double" | "float64" => (NumberForm::Float, 8),
        _ => return None,
    })
}

/// The lines of a header, split into words.
struct HeaderLines<'a> {
    input: &'a mut Input,
    path: &'a Path,
    /// Bytes read so far.
    length: usize,
    /// Number of the current line, from 1.
    line: usize,
}

impl HeaderLines<'_> {
    fn next(&mut self) -> Result<Vec<String>> {
        let mut bytes = Vec::new();
        let left = LONGEST_HEADER - self.length;
        let count = self.input.read_line(&mut bytes, left).map_err(|e| cannot_read(self.path, e))?;
        self.length += count;
        self.line += 1;
        if !bytes.starts_with(b"comment") && bytes.trim_ascii_end().contains(&b'\r') {
            return Err(self.fault(LONE_RETURN));
        }
        match bytes.last() {
            Some(b'\n') => {}
            _ if self.length == LONGEST_HEADER => {
                return Err(self.fault(&format!("the header has more than {LONGEST_HEADER} bytes")));
            }
            _ => return Err(self.fault("the file ends within the header")),
        }
        let text = decode(bytes).map_err(|why| self.fault(why))?;
        Ok(text.split_ascii_whitespace().map(str::to_owned).collect())
    }

    fn number_type(&self, name: &str) -> Result<(NumberForm, usize)> {
        number_type(name).ok_or_else(|| self.fault(&format!("'{}' is not a number type of .ply", quoted(name))))
    }

    fn fault(&self, why: &str) -> crate::error::Error {
        bad_file(self.path, format!("not a readable .ply file: line {}: {why}", self.line))
    }
}

/// Vertices as text, one per line.
struct PlyText {
    input: Input,
    vertices: u64,
    /// The field that each property fills, if it is not ignored, and whether it is a list.
    uses: Vec<(Option<usize>, bool)>,
    /// Position of the next line in bytes.
    position: u64,
    more_follows: bool,
}

impl PlyText {
    fn read(self, schema: &TableSchema, sink: &mut RowSink<'_>) -> Result<()> {
        let Self { mut input, vertices, uses, mut position, more_follows } = self;
        let path: PathBuf = input.path.clone();
        let is_file = input.length().is_some();
        let mut line = Vec::new();
        let mut index = 0;
        loop {
            let place = if is_file { RowLocation::Byte(position) } else { RowLocation::Index(index) };
            let bad = |why: String| bad_file(&path, format!("{}: {why}", place.describe(&path)));
            line.clear();
            let count = input.read_line(&mut line, LONGEST as usize + 1).map_err(|e| cannot_read(&path, e))?;
            if count as u64 > LONGEST {
                return Err(bad(too_long()));
            }
            position += count as u64;
            let Ok(text) = std::str::from_utf8(&line) else { return Err(bad("the text is not UTF-8".into())) };
            let blank = text.trim_ascii().is_empty();
            if index == vertices && (more_follows || count == 0) {
                return Ok(());
            }
            if count == 0 {
                let why = format!(
                    "the header announces {vertices} vertices, but only {index} follow: the input is truncated"
                );
                return Err(bad_file(&path, why));
            }
            if blank {
                continue;
            }
            if index == vertices {
                return Err(bad(format!("a line follows the {vertices} vertices of the header")));
            }
            let mut row = Row { place, ..Row::new(schema) };
            let (mut words, mut found, mut expected) = (text.split_ascii_whitespace(), 0, uses.len());
            for (field, is_list) in &uses {
                let Some(word) = words.next() else { break };
                found += 1;
                if *is_list {
                    let why = || bad(format!("the length of a list is '{}': expected a whole number", quoted(word)));
                    let entries = word.parse::<u32>().map_err(|_| why())? as usize;
                    found += words.by_ref().take(entries).count();
                    expected += entries;
                }
                let Some(field) = *field else { continue };
                row.texts[field] = word;
                let why = || bad(format!("{} is '{}': expected a number", schema.name(field), quoted(word)));
                row.numbers[field] = csv::number(word).ok_or_else(why)?;
            }
            found += words.count();
            if found != expected {
                return Err(bad(format!("there are {found} numbers: expected {expected}, as in the header")));
            }
            sink(&row)?;
            index += 1;
        }
    }
}

/// Binary vertices with lists, which are skipped.
struct PlyLists {
    input: Input,
    vertices: u64,
    /// The number or the length of each property, the field that it fills, and the bytes per entry of a list.
    parts: Vec<(RecordPart, Option<usize>, Option<usize>)>,
    more_follows: bool,
}

impl PlyLists {
    fn read(self, schema: &TableSchema, sink: &mut RowSink<'_>) -> Result<()> {
        let Self { mut input, vertices, parts, more_follows } = self;
        let path = input.path.clone();
        let mut row = Row::new(schema);
        for index in 0..vertices {
            row.place = RowLocation::Index(index);
            let bad = |why: &str| bad_file(&path, format!("{}: {why}", row.place.describe(&path)));
            for (part, field, entry) in &parts {
                let mut bytes = [0; 8];
                let bytes = &mut bytes[..part.bytes];
                let mut complete = input.read_full(bytes).map_err(|e| cannot_read(&path, e))? == bytes.len();
                let number = part.number(bytes);
                if let Some(entry) = entry.filter(|_| complete) {
                    if number.wide < 0.0 {
                        return Err(bad(&format!("the length of a list is {}", number.wide)));
                    }
                    let length = number.wide as u64 * entry as u64;
                    let skipped = std::io::copy(&mut (&mut input).take(length), &mut std::io::sink());
                    complete = skipped.map_err(|e| cannot_read(&path, e))? == length;
                }
                if !complete {
                    return Err(bad(&format!(
                        "the input ends here, but the header announces {vertices} vertices: it is truncated"
                    )));
                }
                if let Some(field) = *field {
                    row.numbers[field] = number;
                }
            }
            sink(&row)?;
        }
        if more_follows { Ok(()) } else { trailing(&mut input) }
    }
}
