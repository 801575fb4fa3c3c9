//! Writes hit lists in batches to a file that appears when it is complete. In `.npz` they are compressed sparse rows (CSR): the hits of ray
//! i are the elements `offsets[i]..offsets[i + 1]` of `t_enter`, `t_exit` and `id`. In `.parquet` these three are columns of lists, with
//! one row per ray.

use std::io::{Error as IoError, Result as IoResult, Write};
use std::path::{Path, PathBuf};

use zip::ZipWriter;

use super::atomic_file::AtomicFile;
use super::csv;
use super::npz::{Quiet, Spools};
#[cfg(feature = "parquet")]
use super::parquet_lists;
use super::target::{PreparedFile, check_output};
use crate::error::Result;
use crate::io::errors::cannot_write;
use crate::io::format::extension;
use crate::io::schema::answer_row::{AnswerRow, Column, Number};
use crate::query::results::HitLists;
use crate::records::Interval;
use crate::runtime::cancel::CancelToken;

/// Start of a ray's list, and end of the previous one.
#[derive(Clone, Copy)]
struct Offset(u64);

impl AnswerRow for Offset {
    const COLUMNS: &'static [Column<Self>] = &[("offsets", |offset| Number::Offset(offset.0))];
    const MISS: Self = Self(0);
    fn is_miss(&self) -> bool {
        false
    }
}

/// Writes hit lists to `.npz`, `.csv` or `.parquet` in batches. Until [`finish`](Self::finish), no file of that name appears, and an
/// existing one stays unchanged. If the writer is dropped earlier, nothing is left behind.
pub struct ListWriter {
    path: PathBuf,
    file: AtomicFile,
    format: Format,
    rays: u64,
    records: u64,
}

enum Format {
    Text,
    Arrays(Spools<Offset>, Spools<Interval>),
    #[cfg(feature = "parquet")]
    Groups(Box<parquet_lists::ListGroups>),
}

impl ListWriter {
    /// Creates a writer for the format of the extension.
    ///
    /// # Errors
    /// The errors of [`check_output`]; [`Error::Io`](crate::Error::Io) if the file cannot be written.
    pub fn create(path: &Path) -> Result<Self> {
        let mut file = AtomicFile::create(check_output(path, &[])?).map_err(|e| cannot_write(path, &e))?;
        let mut begin = || -> IoResult<Format> {
            #[cfg(feature = "parquet")]
            if extension(path) == "parquet" {
                // A second handle of the same file; both share one position.
                return Ok(Format::Groups(Box::new(parquet_lists::ListGroups::new(file.out.get_ref().try_clone()?)?)));
            }
            if extension(path) != "npz" {
                csv::list_header(&mut file.out)?;
                return Ok(Format::Text);
            }
            let mut offsets = Spools::new(file.folder(), Offset::COLUMNS)?;
            let records = Spools::new(file.folder(), Interval::COLUMNS)?;
            offsets.write(&[Offset(0)])?;
            Ok(Format::Arrays(offsets, records))
        };
        let format = begin().map_err(|e| cannot_write(path, &e))?;
        Ok(Self { path: path.to_path_buf(), file, format, rays: 0, records: 0 })
    }

    /// Appends the lists of the next rays.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn write(&mut self, lists: &HitLists) -> Result<()> {
        let written = match &mut self.format {
            Format::Text => csv::list_rows(&mut self.file.out, lists, self.rays),
            Format::Arrays(offsets, records) => {
                let ends: Vec<Offset> = lists.offsets[1..].iter().map(|end| Offset(self.records + end)).collect();
                offsets.write(&ends).and_then(|()| records.write(&lists.records))
            }
            #[cfg(feature = "parquet")]
            Format::Groups(groups) => groups.write(lists),
        };
        self.rays += lists.len() as u64;
        self.records += lists.records.len() as u64;
        written.map_err(|e| cannot_write(&self.path, &e))
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), [`Error::Cancelled`](crate::Error::Cancelled); the folder is then as it was before
    /// [`create`](Self::create).
    pub fn finish(self, cancel: &CancelToken) -> Result<()> {
        self.complete(cancel)?.persist()
    }

    /// Completes the file, but does not name it yet. With several files, none has to appear before all are complete.
    ///
    /// # Errors
    /// The errors of [`finish`](Self::finish).
    pub fn complete(self, cancel: &CancelToken) -> Result<PreparedFile> {
        let Self { path, mut file, format, .. } = self;
        let failed = |e| cannot_write(&path, &e);
        match format {
            Format::Text => {}
            Format::Arrays(offsets, records) => {
                let mut npz = ZipWriter::new(Quiet::new(&mut file.out));
                let added = offsets.add_to(&mut npz, cancel).and_then(|()| records.add_to(&mut npz, cancel));
                cancel.check()?;
                added.and_then(|()| npz.finish().map_err(IoError::other)?.flush()).map_err(failed)?;
            }
            #[cfg(feature = "parquet")]
            Format::Groups(groups) => groups.finish().map_err(failed)?,
        }
        file.flush().map_err(failed)?;
        cancel.check()?;
        PreparedFile::new(&path, file)
    }
}
