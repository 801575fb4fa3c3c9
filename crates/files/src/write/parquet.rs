//! Parquet writer of results: row groups of 2¹⁸ rows, with nulls for a miss.

use std::fs::File;
use std::io::{BufWriter, Error, Result};
use std::sync::Arc;

use ::parquet::basic::{Compression, LogicalType, Repetition, Type};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::Type as Node;

use super::file_writer::{BatchWriter, Output};
use crate::schema::answer_row::{AnswerRow, Column, Number};
use crate::schema::kept::KeptColumns;
use umbracast::CancelToken;
use umbracast::NO_SPHERE;

/// Rows per group, the same as rays per batch, for readers that read a group at a time.
pub(crate) const GROUP: usize = 1 << 18;

/// A Parquet file of results that is being written.
pub(crate) struct Groups<T> {
    writer: SerializedFileWriter<BufWriter<File>>,
    columns: Vec<Filling<T>>,
    /// Cells of each column that is kept as text, which come first.
    kept: Vec<Vec<ByteArray>>,
    /// Rows in the current group.
    rows: usize,
}

/// A column of the current group.
struct Filling<T> {
    column: Column<T>,
    values: Values,
    /// Definition levels, for columns that may be null: 1 if there is a value.
    present: Vec<i16>,
}

/// Values of a column, without nulls.
enum Values {
    Floats(Vec<f32>),
    Doubles(Vec<f64>),
    /// Doubles that may be null.
    Points(Vec<f64>),
    Ids(Vec<i32>),
    Counts(Vec<i32>),
    Offsets(Vec<i64>),
    Words(Vec<ByteArray>),
    Flags(Vec<bool>),
}

impl<T: AnswerRow> Groups<T> {
    pub(crate) fn new(file: File, columns: &[Column<T>], kept: &[String]) -> Result<Self> {
        let empty = |column: &Column<T>| match column.1(&T::MISS) {
            Number::Float(_) | Number::Blank(_) => Values::Floats(Vec::new()),
            Number::Double(_) => Values::Doubles(Vec::new()),
            // A miss has no such value: it is null.
            Number::BlankDouble(_) => Values::Points(Vec::new()),
            Number::Id(_) => Values::Ids(Vec::new()),
            Number::Count(_) => Values::Counts(Vec::new()),
            Number::Word(..) => Values::Words(Vec::new()),
            Number::Flag(_) => Values::Flags(Vec::new()),
            Number::Offset(_) => Values::Offsets(Vec::new()),
        };
        let filling = |column: &Column<T>| Filling { column: *column, values: empty(column), present: Vec::new() };
        let columns = columns.iter().map(filling).collect::<Vec<_>>();
        let texts = kept.iter().map(|name| Values::Words(Vec::new()).field(name));
        let fields = texts.chain(columns.iter().map(|filling| filling.values.field(filling.column.0)));
        let fields = fields.collect::<std::result::Result<_, _>>().map_err(failed)?;
        // Floats rarely repeat, so a dictionary would only cost time. Ids do repeat. Booleans have no dictionary.
        let mut properties = WriterProperties::builder();
        for Filling { column: (name, _), values, .. } in &columns {
            let repeats = matches!(values, Values::Ids(_) | Values::Counts(_) | Values::Offsets(_) | Values::Words(_));
            properties = properties.set_column_dictionary_enabled((*name).into(), repeats);
        }
        let writer = begin(file, fields, properties).map_err(failed)?;
        Ok(Self { writer, columns, kept: vec![Vec::new(); kept.len()], rows: 0 })
    }

    fn write_group(&mut self) -> Result<()> {
        let mut group = self.writer.next_row_group().map_err(failed)?;
        for cells in &mut self.kept {
            write_column::<ByteArrayType>(&mut group, cells, None, None).map_err(failed)?;
        }
        for Filling { values, present, .. } in &mut self.columns {
            values.write(&mut group, present).map_err(failed)?;
            present.clear();
        }
        group.close().map_err(failed)?;
        self.rows = 0;
        Ok(())
    }
}

impl<T: AnswerRow> BatchWriter<[T]> for Groups<T> {
    fn write(&mut self, _: &mut Output, mut answers: &[T]) -> Result<()> {
        while !answers.is_empty() {
            let (now, later) = answers.split_at(answers.len().min(GROUP - self.rows));
            self.columns.iter_mut().try_for_each(|filling| filling.add(now))?;
            self.rows += now.len();
            if self.rows == GROUP {
                self.write_group()?;
            }
            answers = later;
        }
        Ok(())
    }

    fn write_kept(&mut self, out: &mut Output, answers: &[T], kept: &KeptColumns, first: usize) -> Result<()> {
        for (row, answer) in (first..).zip(answers) {
            for (cells, cell) in self.kept.iter_mut().zip(kept.row(row)) {
                cells.push(cell.into());
            }
            self.write(out, std::slice::from_ref(answer))?;
        }
        Ok(())
    }

    /// Writes the last group and the footer.
    fn finish(mut self: Box<Self>, _: &mut Output, _: &CancelToken) -> Result<()> {
        if self.rows > 0 {
            self.write_group()?;
        }
        self.writer.finish().map(|_| ()).map_err(failed)
    }
}

impl<T: AnswerRow> Filling<T> {
    fn add(&mut self, answers: &[T]) -> Result<()> {
        for answer in answers {
            let number = (self.column.1)(answer);
            let blank = matches!(number, Number::Blank(_) | Number::BlankDouble(_) | Number::Id(NO_SPHERE));
            let present = !answer.is_miss() && !blank;
            self.present.push(i16::from(present));
            if !present {
                continue;
            }
            match (&mut self.values, number) {
                (Values::Floats(list), Number::Float(x)) => list.push(x),
                (Values::Doubles(list) | Values::Points(list), Number::Double(x)) => list.push(x),
                // The logical type is unsigned, with the same bits.
                (Values::Ids(list), Number::Id(id)) => list.push(id as i32),
                (Values::Counts(list), Number::Count(count)) => list.push(count as i32),
                (Values::Offsets(list), Number::Offset(number)) => list.push(number as i64),
                (Values::Words(list), Number::Word(_, word)) => list.push(word.into()),
                (Values::Flags(list), Number::Flag(flag)) => list.push(flag),
                _ => return Err(Error::other("a column holds two types")),
            }
        }
        Ok(())
    }
}

impl Values {
    fn field(&self, name: &str) -> std::result::Result<Arc<Node>, ParquetError> {
        let (physical, logical, repetition) = match self {
            Self::Floats(_) => (Type::FLOAT, None, Repetition::OPTIONAL),
            Self::Doubles(_) => (Type::DOUBLE, None, Repetition::REQUIRED),
            Self::Points(_) => (Type::DOUBLE, None, Repetition::OPTIONAL),
            Self::Ids(_) => (Type::INT32, Some(LogicalType::integer(32, false)), Repetition::OPTIONAL),
            Self::Counts(_) => (Type::INT32, Some(LogicalType::integer(32, false)), Repetition::REQUIRED),
            Self::Offsets(_) => (Type::INT64, Some(LogicalType::integer(64, false)), Repetition::REQUIRED),
            Self::Words(_) => (Type::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED),
            Self::Flags(_) => (Type::BOOLEAN, None, Repetition::REQUIRED),
        };
        let field = Node::primitive_type_builder(name, physical).with_logical_type(logical).with_repetition(repetition);
        field.build().map(Arc::new)
    }

    fn write(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, BufWriter<File>>,
        present: &[i16],
    ) -> std::result::Result<(), ParquetError> {
        match self {
            Self::Floats(list) => write_column::<FloatType>(group, list, Some(present), None),
            Self::Doubles(list) => write_column::<DoubleType>(group, list, None, None),
            Self::Points(list) => write_column::<DoubleType>(group, list, Some(present), None),
            Self::Ids(list) => write_column::<Int32Type>(group, list, Some(present), None),
            Self::Counts(list) => write_column::<Int32Type>(group, list, None, None),
            Self::Offsets(list) => write_column::<Int64Type>(group, list, None, None),
            Self::Words(list) => write_column::<ByteArrayType>(group, list, None, None),
            Self::Flags(list) => write_column::<BoolType>(group, list, None, None),
        }
    }
}

/// Creates a file with these fields.
pub(crate) fn begin(
    file: File,
    fields: Vec<Arc<Node>>,
    properties: WriterPropertiesBuilder,
) -> std::result::Result<SerializedFileWriter<BufWriter<File>>, ParquetError> {
    let schema = Node::group_type_builder("answers").with_fields(fields).build()?;
    let properties = properties.set_compression(Compression::SNAPPY).build();
    let out = BufWriter::with_capacity(1 << 20, file);
    SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))
}

/// Writes the next column of a group, and clears the values for the next group. `present` contains the definition levels: 1 if there is a
/// value. `repetition_levels` contains the repetition levels: 1 if a list continues.
pub(crate) fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, BufWriter<File>>,
    values: &mut Vec<T::T>,
    present: Option<&[i16]>,
    repetition_levels: Option<&[i16]>,
) -> std::result::Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("a column is missing".into()));
    };
    column.typed::<T>().write_batch(values, present, repetition_levels)?;
    values.clear();
    column.close()
}

pub(crate) fn failed(error: ParquetError) -> Error {
    match error {
        ParquetError::External(error) => match error.downcast::<Error>() {
            Ok(error) => *error,
            Err(error) => Error::other(error),
        },
        other => Error::other(other),
    }
}
