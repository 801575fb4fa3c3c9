//! Columns of a row group of a Parquet file, read as numbers or as text.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::parquet_pages::Checked;
use crate::io::schema::convert::Number;
use ::parquet::basic::{ConvertedType, Type};
use ::parquet::column::page::PageReader;
use ::parquet::column::reader::ColumnReaderImpl;
use ::parquet::data_type::{BoolType, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::RowGroupReader;
use ::parquet::schema::types::ColumnDescPtr;

/// The pages of one column of a row group, and whether its 32-bit integers are unsigned: these are stored as signed ones with the same
/// bits.
fn pages(
    group: &dyn RowGroupReader,
    number: usize,
) -> ::parquet::errors::Result<(ColumnDescPtr, Box<dyn PageReader>, bool)> {
    let chunk = group.metadata().column(number);
    let pages = Checked {
        inner: group.get_column_page_reader(number)?,
        left: group.metadata().num_rows() as u64,
        // The length of a text takes 4 bytes. Booleans have no dictionary.
        width: if matches!(chunk.column_type(), Type::DOUBLE | Type::INT64) { 8 } else { 4 },
        has_dictionary: false,
    };
    let descr = chunk.column_descr_ptr();
    let unsigned = descr.converted_type() == ConvertedType::UINT_32;
    Ok((descr, Box::new(pages), unsigned))
}

/// Reader of a column of numbers, for any of the accepted types.
pub(super) fn column(group: &dyn RowGroupReader, number: usize) -> ::parquet::errors::Result<Box<dyn Fill<Number>>> {
    let (descr, pages, unsigned) = pages(group, number)?;
    Ok(match descr.physical_type() {
        Type::DOUBLE => Reading::<DoubleType, _>::boxed(descr, pages, |x| (*x).into()),
        Type::INT64 => Reading::<Int64Type, _>::boxed(descr, pages, |x| (*x as f64).into()),
        Type::INT32 if unsigned => Reading::<Int32Type, _>::boxed(descr, pages, |x| f64::from(*x as u32).into()),
        Type::INT32 => Reading::<Int32Type, _>::boxed(descr, pages, |x| f64::from(*x).into()),
        _ => Reading::<FloatType, _>::boxed(descr, pages, |x| (*x).into()),
    })
}

/// Reader of a column that is kept as text.
pub(super) fn text_column(
    group: &dyn RowGroupReader,
    number: usize,
) -> ::parquet::errors::Result<Box<dyn Fill<String>>> {
    let (descr, pages, unsigned) = pages(group, number)?;
    Ok(match descr.physical_type() {
        Type::DOUBLE => Reading::<DoubleType, _>::boxed(descr, pages, |x| format!("{x:?}")),
        Type::FLOAT => Reading::<FloatType, _>::boxed(descr, pages, |x| format!("{x:?}")),
        Type::INT64 => Reading::<Int64Type, _>::boxed(descr, pages, i64::to_string),
        Type::INT32 if unsigned => Reading::<Int32Type, _>::boxed(descr, pages, |x| (*x as u32).to_string()),
        Type::INT32 => Reading::<Int32Type, _>::boxed(descr, pages, i32::to_string),
        Type::BOOLEAN => Reading::<BoolType, _>::boxed(descr, pages, bool::to_string),
        _ => Reading::<ByteArrayType, _>::boxed(descr, pages, |x| String::from_utf8_lossy(x.data()).into_owned()),
    })
}

/// Maximum bytes of a cell that is kept: a dictionary can repeat a long text in every row.
const LONGEST_CELL: usize = 1024;

pub(super) fn check_lengths(cells: &[Option<String>]) -> ::parquet::errors::Result<()> {
    match cells.iter().flatten().find(|cell| cell.len() > LONGEST_CELL) {
        Some(_) => Err(ParquetError::General(format!("a cell has more than {LONGEST_CELL} bytes"))),
        None => Ok(()),
    }
}

/// A column that is read as numbers or as text, with `None` for nulls.
pub(super) trait Fill<C> {
    /// Reads the next `count` cells; fewer only at the end of the column.
    fn fill(&mut self, count: usize) -> ::parquet::errors::Result<()>;
    fn cells(&self) -> &[Option<C>];
}

/// Reads the next `count` cells. The crate slices by sizes that pages claim. A few of its slices panic if a size is wrong.
pub(super) fn fill<C>(column: &mut dyn Fill<C>, count: usize) -> ::parquet::errors::Result<()> {
    catch_unwind(AssertUnwindSafe(|| column.fill(count)))
        .unwrap_or_else(|_| Err(ParquetError::General("a page is invalid".into())))
}

struct Reading<T: DataType, C> {
    reader: ColumnReaderImpl<T>,
    convert: fn(&T::T) -> C,
    nullable: bool,
    values: Vec<T::T>,
    /// Definition levels: 1 if there is a value.
    levels: Vec<i16>,
    cells: Vec<Option<C>>,
}

impl<T: DataType, C: 'static> Reading<T, C> {
    fn boxed(descr: ColumnDescPtr, pages: Box<dyn PageReader>, convert: fn(&T::T) -> C) -> Box<dyn Fill<C>> {
        let nullable = descr.max_def_level() > 0;
        let (values, levels, cells) = (Vec::new(), Vec::new(), Vec::new());
        Box::new(Self { reader: ColumnReaderImpl::new(descr, pages), convert, nullable, values, levels, cells })
    }
}

impl<T: DataType, C> Fill<C> for Reading<T, C> {
    fn fill(&mut self, count: usize) -> ::parquet::errors::Result<()> {
        let Self { reader, convert, nullable, values, levels, cells } = self;
        values.clear();
        levels.clear();
        let mut filled = 0;
        while filled < count {
            let levels = nullable.then_some(&mut *levels);
            match reader.read_records(count - filled, levels, None, values)? {
                (0, ..) => break,
                (records, ..) => filled += records,
            }
        }
        cells.clear();
        let mut values = values.iter().map(*convert);
        if *nullable {
            cells.extend(levels.iter().map(|level| if *level > 0 { values.next() } else { None }));
        } else {
            cells.extend(values.map(Some));
        }
        Ok(())
    }

    fn cells(&self) -> &[Option<C>] {
        &self.cells
    }
}
