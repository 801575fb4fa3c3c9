//! Writer of hit lists to `.npz`. They are compressed sparse rows (CSR): the hits of ray i are the elements `offsets[i]..offsets[i + 1]` of
//! `t_enter`, `t_exit` and `id`.

use std::io::{Error as IoError, Result as IoResult, Write};
use std::path::Path;

use zip::ZipWriter;

use super::file_writer::{BatchWriter, Output};
use super::npz::{Quiet, Spools};
use crate::schema::answer_row::{AnswerRow, Column, Number};
use umbracast::CancelToken;
use umbracast::HitLists;
use umbracast::Interval;

/// Start of a ray's list, and end of the previous one.
#[derive(Clone, Copy)]
struct Offset(u64);

impl AnswerRow for Offset {
    const COLUMNS: &'static [Column<Self>] = &[("offsets", |offset| Number::Offset(offset.0))];
    const MISS: Self = Self(0);
}

/// The arrays of an `.npz` archive.
pub(crate) struct ListArrays {
    offsets: Spools<Offset>,
    records: Spools<Interval>,
    /// Number of records so far.
    count: u64,
}

impl ListArrays {
    /// Creates temporary files for the arrays in `folder`.
    pub(crate) fn new(folder: &Path) -> IoResult<Self> {
        let mut offsets = Spools::new(folder, Offset::COLUMNS)?;
        let records = Spools::new(folder, Interval::COLUMNS)?;
        offsets.append(&[Offset(0)])?;
        Ok(Self { offsets, records, count: 0 })
    }
}

impl BatchWriter<HitLists> for ListArrays {
    fn write(&mut self, _: &mut Output, lists: &HitLists) -> IoResult<()> {
        let ends: Vec<Offset> = lists.offsets[1..].iter().map(|end| Offset(self.count + end)).collect();
        self.count += lists.records.len() as u64;
        self.offsets.append(&ends)?;
        self.records.append(&lists.records)
    }

    fn finish(self: Box<Self>, out: &mut Output, cancel: &CancelToken) -> IoResult<()> {
        let mut npz = ZipWriter::new(Quiet::new(out));
        self.offsets.add_to(&mut npz, cancel)?;
        self.records.add_to(&mut npz, cancel)?;
        npz.finish().map_err(IoError::other)?.flush()
    }
}
