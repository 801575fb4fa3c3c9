//! Writing: a row group every so many answers, a miss null.

use std::fs::File;
use std::io::{BufWriter, Error, Result};
use std::sync::Arc;

use ::parquet::basic::{Compression, LogicalType, Repetition, Type};
use ::parquet::data_type::{BoolType, FloatType, Int32Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::Type as Node;

use crate::files::answers::{AnswerRow, Column, Number};

/// Rows of a group: as many as there are rays in a batch, for readers that take a group at a time.
const GROUP: usize = 1 << 18;

/// A file of answers, being written.
pub(in crate::files) struct Groups<T> {
    writer: SerializedFileWriter<BufWriter<File>>,
    columns: Vec<(Column<T>, Values)>,
    /// 1 where a ray has an answer, for columns that may be null.
    present: Vec<i16>,
}

/// The values of a column of the group to come, without those that are null.
enum Values {
    Floats(Vec<f32>),
    Ids(Vec<i32>),
    Flags(Vec<bool>),
}

impl<T: AnswerRow> Groups<T> {
    pub(in crate::files) fn new(file: File, columns: &[Column<T>]) -> Result<Self> {
        let empty = |column: &Column<T>| match column.1(&T::MISS) {
            Number::Float(_) => Values::Floats(Vec::new()),
            Number::Id(_) => Values::Ids(Vec::new()),
            Number::Flag(_) => Values::Flags(Vec::new()),
        };
        let columns = columns.iter().map(|column| (*column, empty(column))).collect::<Vec<_>>();
        let fields = columns.iter().map(|((name, _), values)| values.field(name));
        let fields = fields.collect::<std::result::Result<_, _>>().map_err(failed)?;
        let schema = Node::group_type_builder("answers").with_fields(fields).build().map_err(failed)?;
        // Floats hardly repeat, so a dictionary of them is time lost; ids do, and flags have none.
        let mut properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        for ((name, _), values) in &columns {
            properties = properties.set_column_dictionary_enabled((*name).into(), matches!(values, Values::Ids(_)));
        }
        let out = BufWriter::with_capacity(1 << 20, file);
        let writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties.build())).map_err(failed)?;
        Ok(Self { writer, columns, present: Vec::new() })
    }

    pub(in crate::files) fn write(&mut self, mut answers: &[T]) -> Result<()> {
        while !answers.is_empty() {
            let (now, later) = answers.split_at(answers.len().min(GROUP - self.present.len()));
            self.present.extend(now.iter().map(|answer| i16::from(!answer.is_miss())));
            for ((_, number), values) in &mut self.columns {
                for number in now.iter().filter(|answer| !answer.is_miss()).map(*number) {
                    match (&mut *values, number) {
                        (Values::Floats(list), Number::Float(x)) => list.push(x),
                        // Unsigned by its logical type: the same bits.
                        (Values::Ids(list), Number::Id(id)) => list.push(id as i32),
                        (Values::Flags(list), Number::Flag(flag)) => list.push(flag),
                        _ => return Err(Error::other("a column holds two types")),
                    }
                }
            }
            if self.present.len() == GROUP {
                self.write_group()?;
            }
            answers = later;
        }
        Ok(())
    }

    fn write_group(&mut self) -> Result<()> {
        let mut group = self.writer.next_row_group().map_err(failed)?;
        for (_, values) in &mut self.columns {
            values.write(&mut group, &self.present).map_err(failed)?;
        }
        group.close().map_err(failed)?;
        self.present.clear();
        Ok(())
    }

    /// Writes what is left and the footer.
    pub(in crate::files) fn finish(mut self) -> Result<()> {
        if !self.present.is_empty() {
            self.write_group()?;
        }
        self.writer.finish().map(|_| ()).map_err(failed)
    }
}

impl Values {
    fn field(&self, name: &str) -> std::result::Result<Arc<Node>, ParquetError> {
        let (physical, logical, repetition) = match self {
            Self::Floats(_) => (Type::FLOAT, None, Repetition::OPTIONAL),
            Self::Ids(_) => (Type::INT32, Some(LogicalType::integer(32, false)), Repetition::OPTIONAL),
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
        let Some(mut column) = group.next_column()? else {
            return Err(ParquetError::General("a column is missing".into()));
        };
        match self {
            Self::Floats(list) => {
                column.typed::<FloatType>().write_batch(list, Some(present), None)?;
                list.clear();
            }
            Self::Ids(list) => {
                column.typed::<Int32Type>().write_batch(list, Some(present), None)?;
                list.clear();
            }
            Self::Flags(list) => {
                column.typed::<BoolType>().write_batch(list, None, None)?;
                list.clear();
            }
        }
        column.close()
    }
}

fn failed(error: ParquetError) -> Error {
    match error {
        ParquetError::External(error) => match error.downcast::<Error>() {
            Ok(error) => *error,
            Err(error) => Error::other(error),
        },
        other => Error::other(other),
    }
}
