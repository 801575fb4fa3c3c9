//! Reader of `.npz`, an archive of NumPy: one array per column, named as in `.csv`. This is also how results are written.

use std::io::{Seek, SeekFrom};

use zip::{CompressionMethod, ZipArchive};

use super::input::{Input, ROWS_AT_ONCE};
use super::npy::column;
use super::read_options::{ReadOptions, refuse_kept};
use super::record_layout::RecordPart;
use super::table::{ReadFormat, RowSink, TableReader};
use crate::error::{Result, bad_file, cannot_read};
use crate::escape::quoted;
use crate::schema::columns::{columns, is_known};
use crate::schema::convert::{Row, RowLocation};
use crate::schema::kinds::TableSchema;

/// Largest number of arrays: more than there are columns with a meaning.
const MOST_ARRAYS: usize = 1 << 10;

pub(crate) const FORMAT: ReadFormat = ReadFormat { extension: "npz", first_byte: None, open };

/// An array of numbers in the archive.
#[derive(Debug)]
pub(crate) struct Array {
    /// Position of the first number in the file.
    pub(crate) start: u64,
    pub(crate) rows: u64,
    /// Type of the numbers.
    pub(crate) number: RecordPart,
}

#[derive(Debug)]
struct ArchiveReader {
    input: Input,
    rows: u64,
    /// The field that each array fills.
    fields: Vec<usize>,
    arrays: Vec<Array>,
}

/// Reads the directory of the archive, and the headers of its arrays.
fn open(input: Input, schema: &'static TableSchema, options: &ReadOptions) -> Result<Box<dyn TableReader>> {
    refuse_kept(&input, options)?;
    let path = input.path.clone();
    let bad = |why: String| bad_file(&path, why);
    let Some(length) = input.length() else {
        return Err(bad("an archive cannot be read from a pipe: save it, or use .npy or .csv".into()));
    };
    let unreadable = |e: zip::result::ZipError| bad(format!("not a readable .npz file: {e}"));
    let mut archive = ZipArchive::new(input).map_err(unreadable)?;
    if archive.len() > MOST_ARRAYS {
        return Err(bad(format!("the archive has {} arrays, but at most {MOST_ARRAYS} are allowed", archive.len())));
    }
    let mut entries = Vec::new();
    for i in 0..archive.len() {
        let entry = archive.by_index_raw(i).map_err(unreadable)?;
        let name = entry.name().map_err(unreadable)?;
        let name = name.strip_suffix(".npy").unwrap_or(&name).to_owned();
        if options.ignores_unknown() && !is_known(schema, &name) {
            continue;
        }
        if entry.compression() != CompressionMethod::Stored || entry.encrypted() {
            let name = quoted(&name);
            return Err(bad(format!("array '{name}' is compressed: save it with numpy.savez, not savez_compressed")));
        }
        let start = entry.data_start().filter(|start| start.saturating_add(entry.size()) <= length);
        let start = start.ok_or_else(|| bad(format!("array '{}' is truncated", quoted(&name))))?;
        entries.push((name, start, entry.size()));
    }
    let mut input = archive.into_inner();
    let names: Vec<&str> = entries.iter().map(|(name, ..)| name.as_str()).collect();
    let fields = columns(&path, "", schema, &names, false, options.unit)?.into_iter().flatten().collect();
    let mut arrays = Vec::new();
    for (name, start, size) in &entries {
        input.seek(SeekFrom::Start(*start)).map_err(|e| cannot_read(&path, e))?;
        arrays.push(column(&mut input, name, *start, *size)?);
    }
    let rows = arrays.first().map_or(0, |array: &Array| array.rows);
    if let Some(at) = arrays.iter().position(|array| array.rows != rows) {
        let [first, other] = [names[0], names[at]].map(quoted);
        return Err(bad(format!(
            "array '{first}' has {rows} numbers and array '{other}' {}: every row needs one of each",
            arrays[at].rows
        )));
    }
    Ok(Box::new(ArchiveReader { input, rows, fields, arrays }))
}

impl TableReader for ArchiveReader {
    fn fields(&self) -> &[usize] {
        &self.fields
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn read(self: Box<Self>, schema: &'static TableSchema, sink: &mut RowSink<'_>) -> Result<()> {
        let Self { mut input, rows, fields, arrays } = *self;
        let mut row = Row::new(schema);
        let mut strips: Vec<Vec<u8>> = arrays.iter().map(|array| vec![0; ROWS_AT_ONCE * array.number.bytes]).collect();
        for first in (0..rows).step_by(ROWS_AT_ONCE) {
            let count = (rows - first).min(ROWS_AT_ONCE as u64) as usize;
            for (array, strip) in arrays.iter().zip(&mut strips) {
                let width = array.number.bytes;
                let strip = &mut strip[..count * width];
                let at = SeekFrom::Start(array.start + first * width as u64);
                let read =
                    input.seek(at).and_then(|_| input.read_full(strip)).map_err(|e| cannot_read(&input.path, e))?;
                if read < strip.len() {
                    return Err(bad_file(&input.path, "the archive is truncated"));
                }
            }
            for i in 0..count {
                for ((field, array), strip) in fields.iter().zip(&arrays).zip(&strips) {
                    row.numbers[*field] = array.number.number(&strip[i * array.number.bytes..]);
                }
                row.place = RowLocation::Index(first + i as u64);
                sink(&row)?;
            }
        }
        Ok(())
    }
}
