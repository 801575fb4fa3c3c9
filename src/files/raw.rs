//! `.f32`, `.spheres`, `.rays`: records one after the other, little-endian, nothing else.

use std::path::Path;

use super::binary::{self, Layout};
use super::rows::{Kind, Row};
use super::{bad_file, open};
use crate::error::Result;

/// Reads raw records. No bytes are no records: there is no other way to write that here.
pub(super) fn read(path: &Path, kind: &'static Kind, sink: &mut dyn FnMut(&Row<'_>) -> Result<()>) -> Result<()> {
    const FIELDS: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
    let (file, length) = open(path)?;
    let record = 4 * kind.fields.len() as u64;
    if !length.is_multiple_of(record) {
        return Err(bad_file(
            path,
            format!(
                "{length} bytes are not a multiple of {record}, the size of a {} ({} f32: {})",
                kind.what,
                kind.fields.len(),
                kind.fields.join(", ")
            ),
        ));
    }
    const SPHERE: &[usize] = FIELDS.split_at(4).0;
    let columns = if kind.fields.len() == 4 { SPHERE } else { &FIELDS };
    let layout =
        Layout { offset: 0, rows: length / record, columns, double: false, big_endian: false, by_column: false };
    binary::read(path, file, kind, &layout, sink)
}
