//! Writes results in batches, one row per ray, to a file that appears when it is complete.

use std::path::{Path, PathBuf};

use super::atomic_file::AtomicFile;
#[cfg(feature = "parquet")]
use super::parquet;
use super::target::{PreparedFile, check_output};
use super::{csv, npz};
use crate::error::Result;
use crate::io::errors::cannot_write;
use crate::io::format::extension;
use crate::io::schema::answer_row::{AnswerRow, Column};
use crate::runtime::cancel::CancelToken;

/// Writes results to `.npz`, `.csv` or `.parquet` in batches. Until [`finish`](Self::finish), no file of that name appears, and an
/// existing one stays unchanged. If the writer is dropped earlier, nothing is left behind.
pub struct AnswerWriter<T: AnswerRow> {
    path: PathBuf,
    file: AtomicFile,
    columns: Vec<Column<T>>,
    format: Format<T>,
}

enum Format<T: AnswerRow> {
    Text,
    Arrays(npz::Spools<T>),
    #[cfg(feature = "parquet")]
    Groups(Box<parquet::Groups<T>>),
}

impl<T: AnswerRow> AnswerWriter<T> {
    /// Creates a writer for the format of the extension.
    ///
    /// # Errors
    /// The errors of [`check_output`]; [`Error::Io`](crate::Error::Io) if the file cannot be written.
    pub fn create(path: &Path) -> Result<Self> {
        Self::create_with(path, T::COLUMNS.to_vec())
    }

    /// Creates a writer with other columns than the default ones of the result.
    ///
    /// # Errors
    /// The errors of [`create`](Self::create).
    pub fn create_with(path: &Path, columns: Vec<Column<T>>) -> Result<Self> {
        let target = check_output(path, &[])?;
        let failed = |e| cannot_write(path, &e);
        let mut file = AtomicFile::create(target).map_err(failed)?;
        let format = match extension(path).as_str() {
            "npz" => Format::Arrays(npz::Spools::new(file.folder(), &columns).map_err(failed)?),
            // A second handle of the same file; both share one position.
            #[cfg(feature = "parquet")]
            "parquet" => {
                let file = file.out.get_ref().try_clone().map_err(failed)?;
                Format::Groups(Box::new(parquet::Groups::new(file, &columns).map_err(failed)?))
            }
            _ => {
                csv::header(&mut file.out, &columns).map_err(failed)?;
                Format::Text
            }
        };
        Ok(Self { path: path.to_path_buf(), file, columns, format })
    }

    /// Appends results.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn write(&mut self, answers: &[T]) -> Result<()> {
        let written = match &mut self.format {
            Format::Text => csv::rows(&mut self.file.out, &self.columns, answers),
            Format::Arrays(spools) => spools.write(answers),
            #[cfg(feature = "parquet")]
            Format::Groups(groups) => groups.write(answers),
        };
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
            Format::Arrays(spools) => {
                // The archive is as large as everything written before, so this takes long enough to be cancelled.
                let assembled = spools.assemble(&mut file.out, cancel);
                cancel.check()?;
                assembled.map_err(failed)?;
            }
            #[cfg(feature = "parquet")]
            Format::Groups(groups) => groups.finish().map_err(failed)?,
        }
        file.flush().map_err(failed)?;
        cancel.check()?;
        PreparedFile::new(&path, file)
    }
}
