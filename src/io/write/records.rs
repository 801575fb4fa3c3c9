//! Answers as a stream: one row a ray, in batches, into a file that appears when it is complete.

use std::path::{Path, PathBuf};

use super::atomic_file::Whole;
#[cfg(feature = "parquet")]
use super::parquet;
use super::target::{Ready, check_output};
use super::{csv, npz};
use crate::error::Result;
use crate::io::errors::cannot_write;
use crate::io::format::extension;
use crate::io::schema::answer_row::{AnswerRow, Column};
use crate::runtime::cancel::Watch;

/// Writes answers to `.npz`, `.csv` or `.parquet`, batch by batch. Until [`finish`](Self::finish) there is no file of that name, or the
/// one that was there before; dropped earlier, nothing is left behind.
pub struct AnswerWriter<T: AnswerRow> {
    path: PathBuf,
    file: Whole,
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
    /// Begins a file in the format of the extension.
    ///
    /// # Errors
    /// As [`check_output`]; [`Error::Io`](crate::Error::Io) when nothing can be written there.
    pub fn create(path: &Path) -> Result<Self> {
        Self::create_with(path, T::COLUMNS.to_vec())
    }

    /// The same with other columns than the answer's own.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_with(path: &Path, columns: Vec<Column<T>>) -> Result<Self> {
        let target = check_output(path, &[])?;
        let failed = |e| cannot_write(path, &e);
        let mut file = Whole::create(target).map_err(failed)?;
        let format = match extension(path).as_str() {
            "npz" => Format::Arrays(npz::Spools::new(file.folder(), &columns).map_err(failed)?),
            // Through a handle of its own, at one position with the file's.
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

    /// Adds answers.
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
    /// [`Error::Io`](crate::Error::Io), [`Error::Cancelled`](crate::Error::Cancelled); then everything is as it was before [`create`](Self::create).
    pub fn finish(self, watch: &Watch) -> Result<()> {
        self.complete(watch)?.appear()
    }

    /// Completes the file, which gets its name later: where there are several, none appears before all are complete.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn complete(self, watch: &Watch) -> Result<Ready> {
        let Self { path, mut file, format, .. } = self;
        let failed = |e| cannot_write(&path, &e);
        match format {
            Format::Text => {}
            Format::Arrays(spools) => {
                // The archive is as large as all that was written before: there is time to change one's mind.
                let assembled = spools.assemble(&mut file.out, watch);
                watch.check()?;
                assembled.map_err(failed)?;
            }
            #[cfg(feature = "parquet")]
            Format::Groups(groups) => groups.finish().map_err(failed)?,
        }
        file.flush().map_err(failed)?;
        watch.check()?;
        Ready::new(&path, file)
    }
}
