//! Reader of `.f32`, `.spheres`, `.rays`, `.points`, `.poses` and `.bullets`: consecutive little-endian records without a header.

use super::binary::{BinaryReader, Layout};
use super::input::Input;
use super::read_options::ReadOptions;
use super::table_reader::{ReadFormat, TableReader};
use crate::error::Result;
use crate::error::bad_file;
use crate::schema::kinds::TableSchema;

/// The format of `.f32`, and of files whose extension is the plural of their records.
pub(crate) const FORMAT: ReadFormat = ReadFormat { extension: "f32", first_byte: None, open };

fn open(input: Input, schema: &'static TableSchema, _: &ReadOptions) -> Result<Box<dyn TableReader>> {
    let layout = layout(&input, schema)?;
    Ok(Box::new(BinaryReader { input, layout }))
}

/// Layout of the records. An empty file is valid and has no records, since the format has no other way to write that.
fn layout(input: &Input, kind: &'static TableSchema) -> Result<Layout> {
    const FIELDS: &[usize] = &[0, 1, 2, 3, 4, 5, 6, 7];
    let count = kind.fields.len() - usize::from(kind.is_of_one_radius());
    let record = 4 * count as u64;
    if let Some(length) = input.length()
        && !length.is_multiple_of(record)
    {
        let (what, fields) = (kind.what, kind.fields[..count].join(", "));
        let size = format!("{record}, the size of a {what} ({count} f32: {fields})");
        return Err(bad_file(&input.path, format!("the file has {length} bytes, which is not a multiple of {size}")));
    }
    let columns = &FIELDS[..count];
    let rows = input.length().map(|length| length / record);
    let order = if kind.plural == "rays" { "the order in .f32 is origin, t_min, direction, t_max" } else { "" };
    Ok(Layout { rows, columns, double: false, big_endian: false, by_column: None, order })
}
