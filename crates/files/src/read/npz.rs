//! Reader of `.npz`, an archive of NumPy: one array per column, named as in `.csv`. This is also how results are written.

use std::io::{Seek, SeekFrom};

use zip::{CompressionMethod, ZipArchive};

use super::input::Input;
use super::npy::column;
use super::read_options::{ReadOptions, refuse_kept};
use super::record_layout::column_reader;
use super::table::{ReadFormat, TableReader};
use crate::error::{Result, bad_file, cannot_read};
use crate::escape::quoted;
use crate::schema::columns::columns;
use crate::schema::kinds::TableSchema;

/// Largest number of arrays: more than there are columns with a meaning.
const MOST_ARRAYS: usize = 1 << 10;

pub(crate) const FORMAT: ReadFormat = ReadFormat { extension: "npz", first_byte: None, open };

/// Reads the directory of the archive, and the headers of its arrays.
fn open(input: Input, schema: &'static TableSchema, options: &ReadOptions) -> Result<TableReader> {
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
    let mut names = Vec::new();
    for i in 0..archive.len() {
        let entry = archive.by_index_raw(i).map_err(unreadable)?;
        let name = entry.name().map_err(unreadable)?;
        names.push(name.strip_suffix(".npy").unwrap_or(&name).to_owned());
    }
    let headings: Vec<&str> = names.iter().map(String::as_str).collect();
    let found = columns(&path, "", schema, &headings, options.ignores_unknown(), options.unit)?;
    let mut entries = Vec::new();
    for ((i, name), field) in headings.into_iter().enumerate().zip(found) {
        let Some(field) = field else { continue };
        let entry = archive.by_index_raw(i).map_err(unreadable)?;
        if entry.compression() != CompressionMethod::Stored || entry.encrypted() {
            let name = quoted(name);
            return Err(bad(format!("array '{name}' is compressed: save it with numpy.savez, not savez_compressed")));
        }
        let start = entry.data_start().filter(|start| start.saturating_add(entry.size()) <= length);
        let start = start.ok_or_else(|| bad(format!("array '{}' is truncated", quoted(name))))?;
        entries.push((field, name, start, entry.size()));
    }
    let mut input = archive.into_inner();
    let (mut arrays, mut counts) = (Vec::new(), Vec::new());
    for (field, name, start, size) in &entries {
        input.seek(SeekFrom::Start(*start)).map_err(|e| cannot_read(&path, e))?;
        let (rows, numbers) = column(&mut input, name, *start, *size)?;
        counts.push(rows);
        arrays.push((*field, numbers));
    }
    let rows = counts.first().copied().unwrap_or(0);
    if let Some(at) = counts.iter().position(|count| *count != rows) {
        let [first, other] = [entries[0].1, entries[at].1].map(quoted);
        return Err(bad(format!(
            "array '{first}' has {rows} numbers and array '{other}' {}: every row needs one of each",
            counts[at]
        )));
    }
    Ok(column_reader(input, schema, rows, arrays, ""))
}
