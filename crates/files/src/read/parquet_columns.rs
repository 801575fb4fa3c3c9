//! Columns of a row group of a Parquet file, read as numbers or as text.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::csv;
use super::logical_text::{date_text, decimal_text, time_text, timestamp_text};
use super::parquet_pages::Checked;
use crate::schema::convert::Number;
use ::parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use ::parquet::column::page::PageReader;
use ::parquet::column::reader::ColumnReaderImpl;
use ::parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type, Int64Type, Int96Type,
};
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::RowGroupReader;
use ::parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};

/// What the values of a column stand for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meaning {
    /// Numbers, texts or booleans, as they are stored.
    Plain,
    /// Integers without a sign, stored as signed ones with the same bits.
    Unsigned,
    /// Integers divided by a power of ten.
    Decimal {
        scale: usize,
    },
    /// Days.
    Date,
    /// Times of day.
    Time {
        per_second: i64,
    },
    /// Instants, in UTC or local.
    Timestamp {
        per_second: i64,
        utc: bool,
    },
    Uuid,
    /// Anything else.
    Other,
}

/// What the values of a column stand for: its logical type, or for older writers its converted type.
pub(super) fn meaning(column: &ColumnDescriptor) -> Meaning {
    let per_second = |unit: &TimeUnit| match unit {
        TimeUnit::MILLIS => 1000,
        TimeUnit::MICROS => 1_000_000,
        TimeUnit::NANOS => 1_000_000_000,
    };
    let scale = |scale: i32| usize::try_from(scale).ok().filter(|scale| *scale <= MOST_DIGITS);
    let decimal = |digits: i32| scale(digits).map_or(Meaning::Other, |scale| Meaning::Decimal { scale });
    let plain_bytes = matches!(column.physical_type(), Type::FIXED_LEN_BYTE_ARRAY);
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Decimal(decimal_type)), _) => decimal(decimal_type.scale),
        (Some(LogicalType::Date), _) => Meaning::Date,
        (Some(LogicalType::Time(time)), _) => Meaning::Time { per_second: per_second(&time.unit) },
        (Some(LogicalType::Timestamp(time)), _) => {
            Meaning::Timestamp { per_second: per_second(&time.unit), utc: time.is_adjusted_to_u_t_c }
        }
        (Some(LogicalType::Integer(integer)), _) if !integer.is_signed => Meaning::Unsigned,
        (Some(LogicalType::Uuid), _) => Meaning::Uuid,
        (
            Some(
                LogicalType::Integer(_)
                | LogicalType::String
                | LogicalType::Enum
                | LogicalType::Json
                | LogicalType::Unknown,
            ),
            _,
        ) => Meaning::Plain,
        (Some(_), _) => Meaning::Other,
        (None, ConvertedType::DECIMAL) => decimal(column.type_scale()),
        (None, ConvertedType::DATE) => Meaning::Date,
        (None, ConvertedType::TIME_MILLIS) => Meaning::Time { per_second: 1000 },
        (None, ConvertedType::TIME_MICROS) => Meaning::Time { per_second: 1_000_000 },
        // These older types are in UTC.
        (None, ConvertedType::TIMESTAMP_MILLIS) => Meaning::Timestamp { per_second: 1000, utc: true },
        (None, ConvertedType::TIMESTAMP_MICROS) => Meaning::Timestamp { per_second: 1_000_000, utc: true },
        (None, ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64) => {
            Meaning::Unsigned
        }
        (None, ConvertedType::INTERVAL | ConvertedType::BSON) => Meaning::Other,
        // The time that Spark and Impala wrote, without a type.
        (None, _) if column.physical_type() == Type::INT96 => {
            Meaning::Timestamp { per_second: 1_000_000_000, utc: false }
        }
        (None, _) if plain_bytes => Meaning::Other,
        (None, _) => Meaning::Plain,
    }
}

/// Most digits of a decimal number: those of 32 bytes.
const MOST_DIGITS: usize = 77;

/// Whether the values of a column are numbers.
pub(super) fn is_number(column: &ColumnDescriptor) -> bool {
    match meaning(column) {
        Meaning::Decimal { .. } => true,
        Meaning::Plain | Meaning::Unsigned => {
            matches!(column.physical_type(), Type::FLOAT | Type::DOUBLE | Type::INT32 | Type::INT64)
        }
        _ => false,
    }
}

/// The pages of one column of a row group.
fn pages(
    group: &dyn RowGroupReader,
    number: usize,
) -> ::parquet::errors::Result<(ColumnDescPtr, Box<dyn PageReader>, Meaning)> {
    let chunk = group.metadata().column(number);
    let descr = chunk.column_descr_ptr();
    let pages = Checked {
        inner: group.get_column_page_reader(number)?,
        left: group.metadata().num_rows() as u64,
        // The length of a text takes 4 bytes. Booleans have no dictionary.
        width: match chunk.column_type() {
            Type::DOUBLE | Type::INT64 => 8,
            Type::INT96 => 12,
            Type::FIXED_LEN_BYTE_ARRAY => descr.type_length().max(1) as u64,
            _ => 4,
        },
        has_dictionary: false,
    };
    let meaning = meaning(&descr);
    Ok((descr, Box::new(pages), meaning))
}

/// Reader of a column of numbers, for any of the accepted types.
pub(super) fn column(group: &dyn RowGroupReader, number: usize) -> ::parquet::errors::Result<Box<dyn Fill<Number>>> {
    let (descr, pages, meaning) = pages(group, number)?;
    let decimal = |bytes: &[u8], scale| {
        // Text is rounded to f32 only once.
        checked_decimal(bytes, scale).map(|text| csv::number(&text).unwrap_or(f64::NAN.into()))
    };
    let integer = |x: i64| Number { wide: x as f64, narrow: x as f32 };
    Ok(match (descr.physical_type(), meaning) {
        (Type::DOUBLE, _) => Reading::<DoubleType, _>::boxed(descr, pages, |x| Ok((*x).into())),
        (Type::INT64, Meaning::Decimal { scale }) => {
            Reading::<Int64Type, _>::boxed(descr, pages, move |x| decimal(&x.to_be_bytes(), scale))
        }
        (Type::INT32, Meaning::Decimal { scale }) => {
            Reading::<Int32Type, _>::boxed(descr, pages, move |x| decimal(&x.to_be_bytes(), scale))
        }
        (Type::FIXED_LEN_BYTE_ARRAY, Meaning::Decimal { scale }) => {
            Reading::<FixedLenByteArrayType, _>::boxed(descr, pages, move |x| decimal(x.data(), scale))
        }
        (Type::BYTE_ARRAY, Meaning::Decimal { scale }) => {
            Reading::<ByteArrayType, _>::boxed(descr, pages, move |x| decimal(x.data(), scale))
        }
        (Type::INT64, Meaning::Unsigned) => Reading::<Int64Type, _>::boxed(descr, pages, |x| {
            let x = *x as u64;
            Ok(Number { wide: x as f64, narrow: x as f32 })
        }),
        (Type::INT64, _) => Reading::<Int64Type, _>::boxed(descr, pages, move |x| Ok(integer(*x))),
        (Type::INT32, Meaning::Unsigned) => {
            Reading::<Int32Type, _>::boxed(descr, pages, move |x| Ok(integer(i64::from(*x as u32))))
        }
        (Type::INT32, _) => Reading::<Int32Type, _>::boxed(descr, pages, move |x| Ok(integer(i64::from(*x)))),
        _ => Reading::<FloatType, _>::boxed(descr, pages, |x| Ok((*x).into())),
    })
}

/// Reader of a column that is kept as text.
pub(super) fn text_column(
    group: &dyn RowGroupReader,
    number: usize,
) -> ::parquet::errors::Result<Box<dyn Fill<String>>> {
    let (descr, pages, meaning) = pages(group, number)?;
    Ok(match descr.physical_type() {
        Type::DOUBLE => Reading::<DoubleType, _>::boxed(descr, pages, |x| Ok(format!("{x:?}"))),
        Type::FLOAT => Reading::<FloatType, _>::boxed(descr, pages, |x| Ok(format!("{x:?}"))),
        Type::INT64 => Reading::<Int64Type, _>::boxed(descr, pages, move |x| match meaning {
            Meaning::Unsigned => Ok((*x as u64).to_string()),
            _ => integer_text(*x, meaning),
        }),
        Type::INT32 => Reading::<Int32Type, _>::boxed(descr, pages, move |x| match meaning {
            Meaning::Unsigned => Ok((*x as u32).to_string()),
            _ => integer_text(i64::from(*x), meaning),
        }),
        Type::INT96 => Reading::<Int96Type, _>::boxed(descr, pages, |x| {
            // Nanoseconds of a day, and the Julian day.
            let [low, high, day] = [0, 1, 2].map(|at| i64::from(x.data()[at]));
            let clock = time_text((high << 32) + low, 1_000_000_000);
            let clock = clock.ok_or_else(|| ParquetError::General("a time is not within a day".into()))?;
            Ok(format!("{}T{clock}", date_text(day - 2_440_588)))
        }),
        Type::BOOLEAN => Reading::<BoolType, _>::boxed(descr, pages, |x| Ok(x.to_string())),
        Type::FIXED_LEN_BYTE_ARRAY => {
            Reading::<FixedLenByteArrayType, _>::boxed(descr, pages, move |x| bytes_text(x.data(), meaning))
        }
        Type::BYTE_ARRAY => Reading::<ByteArrayType, _>::boxed(descr, pages, move |x| bytes_text(x.data(), meaning)),
    })
}

fn integer_text(x: i64, meaning: Meaning) -> ::parquet::errors::Result<String> {
    Ok(match meaning {
        Meaning::Decimal { scale } => decimal_text(&x.to_be_bytes(), scale),
        Meaning::Date => date_text(x),
        Meaning::Time { per_second } => time_text(x, per_second)
            .ok_or_else(|| ParquetError::General(format!("the time {x} is not within a day")))?,
        Meaning::Timestamp { per_second, utc } => timestamp_text(x, per_second, utc),
        _ => x.to_string(),
    })
}

fn bytes_text(bytes: &[u8], meaning: Meaning) -> ::parquet::errors::Result<String> {
    match meaning {
        Meaning::Decimal { scale } => checked_decimal(bytes, scale),
        Meaning::Uuid => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let parts =
                [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| hex.get(range).unwrap_or_default().to_owned());
            Ok(parts.join("-"))
        }
        _ => Ok(String::from_utf8_lossy(bytes).into_owned()),
    }
}

fn checked_decimal(bytes: &[u8], scale: usize) -> ::parquet::errors::Result<String> {
    if bytes.len() > 32 {
        return Err(ParquetError::General(format!("a decimal number has {} bytes, more than 32", bytes.len())));
    }
    Ok(decimal_text(bytes, scale))
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

type Convert<T, C> = Box<dyn Fn(&T) -> ::parquet::errors::Result<C> + Send>;

struct Reading<T: DataType, C> {
    reader: ColumnReaderImpl<T>,
    convert: Convert<T::T, C>,
    nullable: bool,
    values: Vec<T::T>,
    /// Definition levels: 1 if there is a value.
    levels: Vec<i16>,
    cells: Vec<Option<C>>,
}

impl<T: DataType, C: 'static> Reading<T, C> {
    fn boxed(
        descr: ColumnDescPtr,
        pages: Box<dyn PageReader>,
        convert: impl Fn(&T::T) -> ::parquet::errors::Result<C> + Send + 'static,
    ) -> Box<dyn Fill<C>> {
        let convert = Box::new(convert);
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
        let mut values = values.iter().map(convert);
        if *nullable {
            for level in &*levels {
                cells.push(if *level > 0 { values.next().transpose()? } else { None });
            }
        } else {
            for value in values {
                cells.push(Some(value?));
            }
        }
        Ok(())
    }

    fn cells(&self) -> &[Option<C>] {
        &self.cells
    }
}
