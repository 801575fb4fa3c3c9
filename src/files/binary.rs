//! Rows of binary numbers behind an offset: the body of `.npy` and the whole of `.f32`.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::cannot_read;
use super::rows::{Kind, MOST_FIELDS, Number, Place, Row};
use crate::error::Result;

/// How the numbers lie in the file. Whoever makes one has checked that the file is exactly that long.
#[derive(Debug)]
pub(super) struct Layout {
    /// Where the first number begins.
    pub(super) offset: u64,
    /// How many rows.
    pub(super) rows: u64,
    /// For each column of the file, the field of the record that it fills.
    pub(super) columns: &'static [usize],
    /// f8 instead of f4.
    pub(super) double: bool,
    /// Most significant byte first.
    pub(super) big_endian: bool,
    /// One column after the other, instead of one row after the other.
    pub(super) by_column: bool,
}

/// Rows read at once: large enough for the disk, small enough for the cache.
const CHUNK: u64 = 4096;

/// Hands every row to `sink`.
pub(super) fn read(
    path: &Path,
    mut file: File,
    kind: &Kind,
    layout: &Layout,
    sink: &mut dyn FnMut(&Row<'_>) -> Result<()>,
) -> Result<()> {
    let width = if layout.double { 8 } else { 4 };
    let columns = layout.columns.len();
    let mut numbers = [Number::default(); MOST_FIELDS];
    for (field, number) in numbers.iter_mut().enumerate().take(kind.fields.len()) {
        *number = (kind.default)(field).unwrap_or(0.0).into();
    }
    let mut row = Row { place: Place::Index(0), numbers, texts: [""; MOST_FIELDS] };
    let mut bytes = vec![0; CHUNK as usize * columns * width];
    let mut first = 0;
    while first < layout.rows {
        let count = (layout.rows - first).min(CHUNK);
        let (count_here, strips) = (count as usize, if layout.by_column { columns } else { 1 });
        let strip = count_here * columns * width / strips;
        for k in 0..strips {
            let skipped = if layout.by_column { k as u64 * layout.rows + first } else { first * columns as u64 };
            file.seek(SeekFrom::Start(layout.offset + skipped * width as u64))
                .and_then(|_| file.read_exact(&mut bytes[k * strip..(k + 1) * strip]))
                .map_err(|e| cannot_read(path, &e))?;
        }
        for i in 0..count_here {
            for (c, &field) in layout.columns.iter().enumerate() {
                let at = if layout.by_column { c * count_here + i } else { i * columns + c };
                row.numbers[field] = number(&bytes[at * width..(at + 1) * width], layout.big_endian);
            }
            row.place = Place::Index(first + i as u64);
            sink(&row)?;
        }
        first += count;
    }
    Ok(())
}

fn number(bytes: &[u8], big_endian: bool) -> Number {
    match (<[u8; 4]>::try_from(bytes), <[u8; 8]>::try_from(bytes), big_endian) {
        (Ok(b), _, false) => f32::from_le_bytes(b).into(),
        (Ok(b), _, true) => f32::from_be_bytes(b).into(),
        (_, Ok(b), false) => f64::from_le_bytes(b).into(),
        (_, Ok(b), true) => f64::from_be_bytes(b).into(),
        // Widths are 4 and 8; nothing else is ever asked for.
        _ => f32::NAN.into(),
    }
}
