//! Reader of binary rows: the body of `.npy`, and `.f32`, `.spheres`, `.rays`, `.points`, `.poses` and `.bullets`, which are consecutive
//! little-endian records without a header.

use std::io::{Seek, SeekFrom};

use super::input::{Input, ROWS_AT_ONCE};
use super::read_options::ReadOptions;
use super::table::{ReadFormat, RowSink, TableReader};
use crate::error::Result;
use crate::error::{bad_file, cannot_read};
use crate::schema::convert::{Number, Row, RowLocation};
use crate::schema::kinds::TableSchema;

/// Layout of the numbers in a file.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Number of rows; `None` for a pipe whose length is unknown.
    pub(crate) rows: Option<u64>,
    /// For each column of the file, the field of the record that it fills.
    pub(crate) columns: &'static [usize],
    /// f8 instead of f4.
    pub(crate) double: bool,
    /// Most significant byte first.
    pub(crate) big_endian: bool,
    /// Offset of the first number in column-major order; `None` in row-major order.
    pub(crate) by_column: Option<u64>,
    /// Explains the order of the columns, for an error about a row that may have another order; may be empty.
    pub(crate) order: &'static str,
}

/// Numbers of one type in a file, after the header has been read.
#[derive(Debug)]
pub(crate) struct BinaryReader {
    pub(crate) input: Input,
    pub(crate) layout: Layout,
}

impl TableReader for BinaryReader {
    fn fields(&self) -> &[usize] {
        self.layout.columns
    }

    fn rows(&self) -> Option<u64> {
        self.layout.rows
    }

    fn read(self: Box<Self>, schema: &'static TableSchema, sink: &mut RowSink<'_>) -> Result<()> {
        let Self { mut input, layout } = *self;
        match (layout.double, layout.big_endian) {
            (false, false) => rows(&mut input, schema, &layout, |b: [u8; 4]| f32::from_le_bytes(b).into(), sink)?,
            (false, true) => rows(&mut input, schema, &layout, |b: [u8; 4]| f32::from_be_bytes(b).into(), sink)?,
            (true, false) => rows(&mut input, schema, &layout, |b: [u8; 8]| f64::from_le_bytes(b).into(), sink)?,
            (true, true) => rows(&mut input, schema, &layout, |b: [u8; 8]| f64::from_be_bytes(b).into(), sink)?,
        }
        trailing(&mut input)
    }
}

/// The format of `.f32`, and of files whose extension is the plural of their records.
pub(crate) const RAW: ReadFormat = ReadFormat { extension: "f32", first_byte: None, open };

fn open(input: Input, schema: &'static TableSchema, _: &ReadOptions) -> Result<Box<dyn TableReader>> {
    let layout = layout(&input, schema)?;
    Ok(Box::new(BinaryReader { input, layout }))
}

/// Layout of the records. An empty file is valid and has no records, since the format has no other way to write that.
fn layout(input: &Input, kind: &'static TableSchema) -> Result<Layout> {
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
    Ok(Layout { rows, columns, double: false, big_endian: false, by_column: None, order })
}

/// Refuses bytes after the last row. The length of a file was checked when it was opened, so this matters for pipes.
pub(crate) fn trailing(input: &mut Input) -> Result<()> {
    let mut more = [0; 1];
    match input.read_full(&mut more).map_err(|e| cannot_read(&input.path, e))? {
        0 => Ok(()),
        _ => Err(bad_file(&input.path, "there are trailing bytes after the last row")),
    }
}

fn rows<const WIDTH: usize>(
    input: &mut Input,
    kind: &TableSchema,
    layout: &Layout,
    number: impl Fn([u8; WIDTH]) -> Number,
    sink: &mut RowSink<'_>,
) -> Result<()> {
    let columns = layout.columns.len();
    let mut row = Row { order: layout.order, ..Row::new(kind) };
    let chunk = ROWS_AT_ONCE as u64;
    let mut bytes = vec![0; chunk as usize * columns * WIDTH];
    let mut first = 0;
    loop {
        let count = layout.rows.map_or(chunk, |rows| (rows - first).min(chunk)) as usize;
        let read = match (layout.by_column, layout.rows) {
            (Some(offset), Some(rows)) => strips::<WIDTH>(input, &mut bytes, offset, rows, first, count, columns)?,
            _ => input.read_full(&mut bytes[..count * columns * WIDTH]).map_err(|e| cannot_read(&input.path, e))?,
        };
        let here = read / (columns * WIDTH);
        // Strides between the numbers of a row, and between the rows.
        let (across, down) = if layout.by_column.is_some() { (count, 1) } else { (1, columns) };
        let numbers = bytes.as_chunks::<WIDTH>().0;
        for i in 0..here {
            for (c, &field) in layout.columns.iter().enumerate() {
                row.numbers[field] = number(numbers[c * across + i * down]);
            }
            row.place = RowLocation::Index(first + i as u64);
            sink(&row)?;
        }
        first += here as u64;
        match layout.rows {
            Some(rows) if first == rows => return Ok(()),
            Some(rows) if here < count => {
                let width = (columns * WIDTH) as u64;
                let (needed, held) = (rows * width, (first - here as u64) * width + read as u64);
                let fault =
                    format!("{rows} rows need {needed} bytes of data, but the input has {held}: it is truncated");
                return Err(bad_file(&input.path, fault));
            }
            None if !read.is_multiple_of(columns * WIDTH) => {
                let fault = format!("the input ends in the middle of row {} (index {first})", first + 1);
                return Err(bad_file(&input.path, fault));
            }
            None if here < count => return Ok(()),
            _ => {}
        }
    }
}

/// Reads `count` rows from `first` on of every column, one column after the other. Returns the number of bytes read.
fn strips<const WIDTH: usize>(
    input: &mut Input,
    bytes: &mut [u8],
    offset: u64,
    rows: u64,
    first: u64,
    count: usize,
    columns: usize,
) -> Result<usize> {
    let strip = count * WIDTH;
    let mut filled = 0;
    for (k, bytes) in bytes.chunks_mut(strip.max(1)).take(columns).enumerate() {
        let at = offset + (k as u64 * rows + first) * WIDTH as u64;
        let read = input.seek(SeekFrom::Start(at)).and_then(|_| input.read_full(&mut bytes[..strip]));
        filled += read.map_err(|e| cannot_read(&input.path, e))?;
    }
    Ok(filled)
}
