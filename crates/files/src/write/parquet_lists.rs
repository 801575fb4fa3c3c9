//! Parquet writer of hit lists: one row per ray. The columns `t_enter`, `t_exit` and `id` are lists with one element per hit; none is null.

use std::fs::File;
use std::io::{BufWriter, Result};
use std::sync::Arc;

use ::parquet::basic::{LogicalType, Repetition, Type};
use ::parquet::data_type::{FloatType, Int32Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::Type as Node;

use super::file_writer::{BatchWriter, Output};
use super::parquet::{GROUP, begin, failed, write_column};
use umbracast::CancelToken;
use umbracast::HitLists;

/// A Parquet file of hit lists that is being written.
pub(crate) struct ListGroups {
    writer: SerializedFileWriter<BufWriter<File>>,
    /// Rays in the current group.
    rows: usize,
    enters: Vec<f32>,
    exits: Vec<f32>,
    ids: Vec<i32>,
    /// Definition levels: 1 per element, 0 per empty list.
    present: Vec<i16>,
    /// Repetition levels: 0 where the list of a ray begins, 1 where it continues.
    repetition_levels: Vec<i16>,
}

/// Standard list type of Parquet: a group that contains a repeated group that contains the elements.
fn list_of(name: &str, of: Type, what: Option<LogicalType>) -> std::result::Result<Arc<Node>, ParquetError> {
    let element = Node::primitive_type_builder("element", of).with_logical_type(what);
    let element = element.with_repetition(Repetition::REQUIRED).build()?;
    let each = Node::group_type_builder("list").with_repetition(Repetition::REPEATED);
    let each = each.with_fields(vec![Arc::new(element)]).build()?;
    let list = Node::group_type_builder(name).with_repetition(Repetition::REQUIRED);
    list.with_logical_type(Some(LogicalType::List)).with_fields(vec![Arc::new(each)]).build().map(Arc::new)
}

impl ListGroups {
    pub(crate) fn new(file: File) -> Result<Self> {
        let fields = || -> std::result::Result<_, ParquetError> {
            Ok(vec![
                list_of("t_enter", Type::FLOAT, None)?,
                list_of("t_exit", Type::FLOAT, None)?,
                list_of("id", Type::INT32, Some(LogicalType::integer(32, false)))?,
            ])
        };
        let fields = fields().map_err(failed)?;
        let mut properties = WriterProperties::builder();
        for time in ["t_enter", "t_exit"] {
            let path = [time, "list", "element"].map(String::from).to_vec();
            properties = properties.set_column_dictionary_enabled(path.into(), false);
        }
        let writer = begin(file, fields, properties).map_err(failed)?;
        let (enters, exits, ids) = Default::default();
        Ok(Self { writer, rows: 0, enters, exits, ids, present: Vec::new(), repetition_levels: Vec::new() })
    }

    fn write_group(&mut self) -> std::result::Result<(), ParquetError> {
        let Self { writer, enters, exits, ids, present, repetition_levels, rows } = self;
        let mut group = writer.next_row_group()?;
        write_column::<FloatType>(&mut group, enters, Some(present), Some(repetition_levels))?;
        write_column::<FloatType>(&mut group, exits, Some(present), Some(repetition_levels))?;
        write_column::<Int32Type>(&mut group, ids, Some(present), Some(repetition_levels))?;
        group.close()?;
        present.clear();
        repetition_levels.clear();
        *rows = 0;
        Ok(())
    }
}

impl BatchWriter<HitLists> for ListGroups {
    fn write(&mut self, _: &mut Output, lists: &HitLists) -> Result<()> {
        for list in lists.iter() {
            // An empty list has one level too.
            self.present.extend(std::iter::repeat_n(i16::from(!list.is_empty()), list.len().max(1)));
            self.repetition_levels.push(0);
            self.repetition_levels.extend(std::iter::repeat_n(1, list.len().saturating_sub(1)));
            self.enters.extend(list.iter().map(|record| record.t_enter));
            self.exits.extend(list.iter().map(|record| record.t_exit));
            // The logical type is unsigned, with the same bits.
            self.ids.extend(list.iter().map(|record| record.id as i32));
            self.rows += 1;
            if self.rows == GROUP || self.present.len() >= 4 * GROUP {
                self.write_group().map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Writes the last group and the footer.
    fn finish(mut self: Box<Self>, _: &mut Output, _: &CancelToken) -> Result<()> {
        if self.rows > 0 {
            self.write_group().map_err(failed)?;
        }
        self.writer.finish().map(|_| ()).map_err(failed)
    }
}
