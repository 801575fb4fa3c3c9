//! Reader of `.f32`, `.spheres`, `.rays`, `.points`, `.poses` and `.bullets`, which are consecutive little-endian records without a header.

use super::input::Input;
use super::read_options::ReadOptions;
use super::record_layout::{NumberForm, RecordLayout, RecordPart};
use super::table::{ReadFormat, TableReader};
use crate::error::{Result, bad_file};
use crate::schema::kinds::TableSchema;

/// The format of `.f32`, and of files whose extension is the plural of their records.
pub(crate) const RAW: ReadFormat = ReadFormat { extension: "f32", first_byte: None, open };

/// An empty file is valid and has no records, since the format has no other way to write that.
fn open(input: Input, kind: &'static TableSchema, _: &ReadOptions) -> Result<TableReader> {
    const FIELDS: &[usize] = &[0, 1, 2, 3, 4, 5, 6, 7];
    // Files have the ends of a ray last.
    const RAY_FIELDS: &[usize] = &[0, 1, 2, 4, 5, 6, 3, 7];
    let count = kind.fields.len() - usize::from(kind.is_of_one_radius());
    let columns = if kind.plural == "rays" { RAY_FIELDS } else { &FIELDS[..count] };
    let record = 4 * count as u64;
    if let Some(length) = input.length()
        && !length.is_multiple_of(record)
    {
        let fields: Vec<_> = columns.iter().map(|field| kind.fields[*field]).collect();
        let (what, fields) = (kind.what, fields.join(", "));
        let size = format!("{record}, the size of a {what} ({count} f32: {fields})");
        return Err(bad_file(&input.path, format!("the file has {length} bytes, which is not a multiple of {size}")));
    }
    let rows = input.length().map(|length| length / record);
    let order = if kind.plural == "rays" { "the columns are origin, direction, t_min, t_max" } else { "" };
    let number = RecordPart { offset: 0, bytes: 4, form: NumberForm::Float, big_endian: false };
    Ok(RecordLayout::plain(rows, columns, number, order).reader(input, kind))
}
