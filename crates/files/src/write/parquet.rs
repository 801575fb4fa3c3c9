//! Parquet writers, by way of Arrow: results with nulls for a miss, and hit lists with one row per ray.

use std::fs::File;
use std::io::{BufWriter, Error, Result};
use std::sync::Arc;

use ::parquet::arrow::arrow_writer::ArrowWriterOptions;
use ::parquet::arrow::{ArrowSchemaConverter, ArrowWriter};
use ::parquet::basic::{Compression, Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, LargeListArray, RecordBatch, StringArray, UInt32Array,
    UInt64Array,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::Field;

use super::file_writer::{BatchWriter, Output};
use crate::schema::answer_row::{AnswerRow, Column, Number};
use crate::schema::kept::KeptColumns;
use umbracast::CancelToken;
use umbracast::HitLists;
use umbracast::{Interval, NO_SPHERE};

/// Rows per group, the same as rays per batch, for readers that read a group at a time.
const GROUP: usize = 1 << 18;

/// A Parquet file that is being written.
type Writer = ArrowWriter<BufWriter<File>>;

/// Creates a file with the columns of a batch.
fn begin(file: File, batch: &RecordBatch) -> Result<Writer> {
    let mut properties =
        WriterProperties::builder().set_compression(Compression::SNAPPY).set_max_row_group_row_count(Some(GROUP));
    let schema = ArrowSchemaConverter::new().convert(batch.schema_ref()).map_err(failed)?;
    // Floats rarely repeat, so a dictionary would only cost time.
    for float in schema.columns().iter().filter(|leaf| matches!(leaf.physical_type(), Type::FLOAT | Type::DOUBLE)) {
        properties = properties.set_column_dictionary_enabled(float.path().clone(), false);
    }
    let options = ArrowWriterOptions::new().with_properties(properties.build()).with_skip_arrow_metadata(true);
    let options = options.with_schema_root("answers".into());
    ArrowWriter::try_new_with_options(BufWriter::with_capacity(1 << 20, file), batch.schema(), options).map_err(failed)
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
            // The word of a skipped record is empty.
            let word = |cell| match cell {
                Some(Number::Word(_, word)) if !word.is_empty() => Some(word),
                _ => None,
            };
            Arc::new(cells.map(word).collect::<StringArray>())
        }
    }
}

/// Rows of columns of text, then of results.
fn rows<T: AnswerRow>(
    names: &[String],
    text: impl Fn(usize) -> StringArray,
    columns: &[Column<T>],
    answers: &[T],
) -> Result<RecordBatch> {
    use Number::{Blank, BlankDouble, Float, Id, Word};
    let kept = names.iter().enumerate().map(|(column, name)| (&**name, Arc::new(text(column)) as ArrayRef, false));
    // A miss has no such value.
    let is_nullable =
        |column: &Column<T>| matches!(column.1(&T::MISS), Float(_) | Blank(_) | BlankDouble(_) | Id(_) | Word(..));
    let answers = columns.iter().map(|column| (column.0, array(column, answers), is_nullable(column)));
    RecordBatch::try_from_iter_with_nullable(kept.chain(answers)).map_err(Error::other)
}

/// A file of results.
pub(crate) struct Groups<T> {
    writer: Writer,
    columns: Vec<Column<T>>,
}

impl<T: AnswerRow> Groups<T> {
    pub(crate) fn new(file: File, columns: Vec<Column<T>>, kept: &[String]) -> Result<Self> {
        let none = rows(kept, |_| StringArray::new_null(0), &columns, &[])?;
        Ok(Self { writer: begin(file, &none)?, columns })
    }
}

impl<T: AnswerRow> BatchWriter<[T]> for Groups<T> {
    fn write(&mut self, out: &mut Output, answers: &[T]) -> Result<()> {
        self.write_kept(out, answers, &KeptColumns::default(), 0)
    }

    fn write_kept(&mut self, _: &mut Output, answers: &[T], kept: &KeptColumns, first: usize) -> Result<()> {
        let text = |column| (first..first + answers.len()).map(|row| Some(kept.cell(row, column))).collect();
        self.writer.write(&rows(kept.names(), text, &self.columns, answers)?).map_err(failed)
    }

    /// Writes the last group and the footer.
    fn finish(mut self: Box<Self>, _: &mut Output, _: &CancelToken) -> Result<()> {
        self.writer.finish().map(|_| ()).map_err(failed)
    }
}

/// Hit lists of rays. The columns `t_enter`, `t_exit` and `id` are lists with one element per hit.
fn lists(offsets: &[u64], records: &[Interval]) -> Result<RecordBatch> {
    let columns = Interval::COLUMNS.iter().map(|column| {
        let lengths = offsets.windows(2).map(|ends| (ends[1] - ends[0]) as usize);
        let elements = array(column, &records[offsets[0] as usize..offsets[offsets.len() - 1] as usize]);
        let field = Field::new("element", elements.data_type().clone(), false);
        let list = LargeListArray::new(field.into(), OffsetBuffer::from_lengths(lengths), elements, None);
        (column.0, Arc::new(list) as ArrayRef, false)
    });
    RecordBatch::try_from_iter_with_nullable(columns).map_err(Error::other)
}

/// A file of hit lists.
pub(crate) struct ListGroups {
    writer: Writer,
    /// Hits in the current group.
    hits: u64,
}

impl ListGroups {
    pub(crate) fn new(file: File) -> Result<Self> {
        Ok(Self { writer: begin(file, &lists(&[0], &[])?)?, hits: 0 })
    }
}

impl BatchWriter<HitLists> for ListGroups {
    fn write(&mut self, _: &mut Output, batch: &HitLists) -> Result<()> {
        let mut offsets = &batch.offsets[..];
        while let [first, ends @ ..] = offsets
            && !ends.is_empty()
        {
            // A group is full as soon as it has this many hits, too.
            let room = 4 * GROUP as u64 - self.hits;
            let rays = (1 + ends.partition_point(|end| end - first < room)).min(ends.len());
            let rays = rays.min(GROUP - self.writer.in_progress_rows());
            self.writer.write(&lists(&offsets[..=rays], &batch.records)?).map_err(failed)?;
            self.hits += offsets[rays] - first;
            if self.hits >= 4 * GROUP as u64 {
                self.writer.flush().map_err(failed)?;
            }
            if self.writer.in_progress_rows() == 0 {
                self.hits = 0;
            }
            offsets = &offsets[rays..];
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
