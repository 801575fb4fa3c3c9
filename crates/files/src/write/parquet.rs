//! Parquet writers, by way of Arrow: results with nulls for a miss, and hit lists with one row per ray.

use std::fs::File;
use std::io::{BufWriter, Error, Result};
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::arrow::arrow_writer::ArrowWriterOptions;
use ::parquet::basic::Compression;
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use arrow_array::{
    ArrayRef, BooleanArray, Float32Array, Float64Array, ListArray, RecordBatch, StringArray, UInt32Array, UInt64Array,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, FieldRef, Schema};

use super::file_writer::{BatchWriter, Output};
use crate::schema::answer_row::{AnswerRow, Column, Number};
use crate::schema::kept::KeptColumns;
use umbracast::CancelToken;
use umbracast::HitLists;
use umbracast::{Interval, NO_SPHERE};

/// Rows per group, the same as rays per batch, for readers that read a group at a time.
const GROUP: usize = 1 << 18;

/// A Parquet file of results that is being written.
pub(crate) struct Groups<T> {
    writer: ArrowWriter<BufWriter<File>>,
    schema: Arc<Schema>,
    columns: Vec<Column<T>>,
}

/// Creates a file with these fields.
fn begin(file: File, fields: Vec<Field>) -> Result<(ArrowWriter<BufWriter<File>>, Arc<Schema>)> {
    let mut properties =
        WriterProperties::builder().set_compression(Compression::SNAPPY).set_max_row_group_row_count(Some(GROUP));
    for field in &fields {
        // Floats rarely repeat, so a dictionary would only cost time.
        match field.data_type() {
            DataType::Float32 | DataType::Float64 => {
                properties = properties.set_column_dictionary_enabled(field.name().as_str().into(), false);
            }
            DataType::List(item) if *item.data_type() == DataType::Float32 => {
                let path = [field.name(), "list", item.name()].map(String::from).to_vec();
                properties = properties.set_column_dictionary_enabled(path.into(), false);
            }
            _ => {}
        }
    }
    let schema = Arc::new(Schema::new(fields));
    let options = ArrowWriterOptions::new().with_properties(properties.build()).with_skip_arrow_metadata(true);
    let options = options.with_schema_root("answers".into());
    let out = BufWriter::with_capacity(1 << 20, file);
    let writer = ArrowWriter::try_new_with_options(out, schema.clone(), options).map_err(failed)?;
    Ok((writer, schema))
}

impl<T: AnswerRow> Groups<T> {
    pub(crate) fn new(file: File, columns: Vec<Column<T>>, kept: &[String]) -> Result<Self> {
        let kept = kept.iter().map(|name| Field::new(name, DataType::Utf8, false));
        let answers = columns.iter().map(|column| {
            let of = array(column, &[T::MISS]).data_type().clone();
            // A miss has no such value.
            let is_nullable = matches!(
                column.1(&T::MISS),
                Number::Float(_) | Number::Blank(_) | Number::BlankDouble(_) | Number::Id(_)
            );
            Field::new(column.0, of, is_nullable)
        });
        let (writer, schema) = begin(file, kept.chain(answers).collect())?;
        Ok(Self { writer, schema, columns })
    }

    /// Writes a batch whose first columns are given.
    fn append(&mut self, mut arrays: Vec<ArrayRef>, answers: &[T]) -> Result<()> {
        arrays.extend(self.columns.iter().map(|column| array(column, answers)));
        let batch = RecordBatch::try_new(self.schema.clone(), arrays).map_err(Error::other)?;
        self.writer.write(&batch).map_err(failed)
    }
}

/// A column of results.
fn array<T: AnswerRow>((name, number): &Column<T>, answers: &[T]) -> ArrayRef {
    let of_ray = T::OF_RAY.contains(name);
    let cells = answers.iter().map(|answer| (of_ray || !answer.is_miss()).then(|| number(answer)));
    /// The values of one kind of number. Others are null.
    macro_rules! values {
        ($kind:ident) => {
            cells.map(|cell| if let Some(Number::$kind(value)) = cell { Some(value) } else { None })
        };
    }
    match number(&T::MISS) {
        Number::Float(_) | Number::Blank(_) => Arc::new(values!(Float).collect::<Float32Array>()),
        Number::Double(_) | Number::BlankDouble(_) => Arc::new(values!(Double).collect::<Float64Array>()),
        Number::Id(_) => Arc::new(values!(Id).map(|id| id.filter(|id| *id != NO_SPHERE)).collect::<UInt32Array>()),
        Number::Count(_) => Arc::new(values!(Count).collect::<UInt32Array>()),
        Number::Offset(_) => Arc::new(values!(Offset).collect::<UInt64Array>()),
        Number::Flag(_) => Arc::new(values!(Flag).collect::<BooleanArray>()),
        Number::Word(..) => {
            let word = |cell| if let Some(Number::Word(_, word)) = cell { Some(word) } else { None };
            Arc::new(cells.map(word).collect::<StringArray>())
        }
    }
}

impl<T: AnswerRow> BatchWriter<[T]> for Groups<T> {
    fn write(&mut self, _: &mut Output, answers: &[T]) -> Result<()> {
        self.append(Vec::new(), answers)
    }

    fn write_kept(&mut self, _: &mut Output, answers: &[T], kept: &KeptColumns, first: usize) -> Result<()> {
        let rows = first..first + answers.len();
        let texts = (0..kept.names().len()).map(|column| {
            let cells = rows.clone().map(|row| kept.row(row).nth(column));
            Arc::new(cells.collect::<StringArray>()) as ArrayRef
        });
        self.append(texts.collect(), answers)
    }

    /// Writes the last group and the footer.
    fn finish(mut self: Box<Self>, _: &mut Output, _: &CancelToken) -> Result<()> {
        self.writer.finish().map(|_| ()).map_err(failed)
    }
}

/// A Parquet file of hit lists that is being written. The columns `t_enter`, `t_exit` and `id` are lists with one element per hit.
pub(crate) struct ListGroups {
    writer: ArrowWriter<BufWriter<File>>,
    schema: Arc<Schema>,
    /// Hits in the current group.
    hits: u64,
}

impl ListGroups {
    pub(crate) fn new(file: File) -> Result<Self> {
        let list = |column: &Column<Interval>| {
            let element = Field::new("element", array(column, &[]).data_type().clone(), false);
            Field::new(column.0, DataType::List(element.into()), false)
        };
        let (writer, schema) = begin(file, Interval::COLUMNS.iter().map(list).collect())?;
        Ok(Self { writer, schema, hits: 0 })
    }

    /// Writes the lists of these rays.
    fn append(&mut self, lists: &HitLists, rays: std::ops::Range<usize>) -> Result<()> {
        let offsets = &lists.offsets[rays.start..=rays.end];
        let records = &lists.records[offsets[0] as usize..offsets[rays.len()] as usize];
        let starts = offsets.iter().map(|offset| i32::try_from(offset - offsets[0]));
        let starts = starts.collect::<std::result::Result<Vec<_>, _>>().map_err(Error::other)?;
        let list = |(column, field): (&Column<Interval>, &FieldRef)| {
            let DataType::List(element) = field.data_type() else { return Err(Error::other("a column is no list")) };
            let (element, starts) = (element.clone(), starts.clone());
            let list = ListArray::try_new(element, OffsetBuffer::new(starts.into()), array(column, records), None);
            Ok(Arc::new(list.map_err(Error::other)?) as ArrayRef)
        };
        let arrays = Interval::COLUMNS.iter().zip(self.schema.fields()).map(list).collect::<Result<_>>()?;
        let batch = RecordBatch::try_new(self.schema.clone(), arrays).map_err(Error::other)?;
        self.writer.write(&batch).map_err(failed)
    }
}

impl BatchWriter<HitLists> for ListGroups {
    fn write(&mut self, _: &mut Output, lists: &HitLists) -> Result<()> {
        let mut first = 0;
        while first < lists.len() {
            // A group is full as soon as it has this many hits, too.
            let room = 4 * GROUP as u64 - self.hits;
            let hits = |offset: &u64| offset - lists.offsets[first];
            let end = first + 1 + lists.offsets[first + 1..].partition_point(|offset| hits(offset) < room);
            let end = end.min(lists.len()).min(first + GROUP - self.writer.in_progress_rows());
            self.append(lists, first..end)?;
            self.hits += hits(&lists.offsets[end]);
            if self.hits >= 4 * GROUP as u64 {
                self.writer.flush().map_err(failed)?;
            }
            if self.writer.in_progress_rows() == 0 {
                self.hits = 0;
            }
            first = end;
        }
        Ok(())
    }

    /// Writes the last group and the footer.
    fn finish(mut self: Box<Self>, _: &mut Output, _: &CancelToken) -> Result<()> {
        self.writer.finish().map(|_| ()).map_err(failed)
    }
}

fn failed(error: ParquetError) -> Error {
    match error {
        ParquetError::External(error) => error.downcast().map_or_else(Error::other, |error| *error),
        other => Error::other(other),
    }
}
