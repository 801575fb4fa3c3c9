//! Writes results in batches to a file that appears when it is complete.

use std::fs::File;
use std::io::{BufWriter, Error, ErrorKind, Result as IoResult};
use std::path::{Path, PathBuf};

use super::atomic_file::AtomicFile;
use super::target::{PreparedFile, check_results_output};
use crate::error::Result;
use crate::error::cannot_write;
use crate::format::{OutputKind, StreamFormat, is_standard_stream, output_format};
use crate::schema::kept::KeptColumns;
use umbracast::CancelToken;

/// Buffered output of a file that is being written.
pub(crate) type Output = BufWriter<File>;

/// Writes batches of results in one format. `B` is the type of a batch: a slice of records, or hit lists.
pub(crate) trait BatchWriter<B: ?Sized>: Send {
    /// Appends a batch with columns that are kept. The cells of its rows begin at row `first` of `kept`.
    fn write_kept(&mut self, _: &mut Output, _: &B, _kept: &KeptColumns, _first: usize) -> IoResult<()> {
        Err(Error::other("this format has no columns of text"))
    }

    /// Appends a batch.
    fn write(&mut self, out: &mut Output, batch: &B) -> IoResult<()>;

    /// Writes everything that remains. May end early, with any result, if `cancel` is cancelled.
    fn finish(self: Box<Self>, _out: &mut Output, _cancel: &CancelToken) -> IoResult<()> {
        Ok(())
    }
}

/// Writes results to `.npz`, `.csv`, `.parquet`, `.ply`, `.npy` or `.f32` in batches. Until [`finish`](Self::finish), no file of that name appears, and an
/// existing one stays unchanged. If the writer is dropped earlier, nothing is left behind.
///
/// `FileWriter<[T]>` writes one row per record, `FileWriter<HitLists>` writes [hit lists](umbracast::HitLists).
pub struct FileWriter<B: ?Sized> {
    path: PathBuf,
    file: AtomicFile,
    writer: Box<dyn BatchWriter<B>>,
    /// Whether the reader of standard output has closed it.
    is_closed: bool,
}

impl<B: ?Sized> FileWriter<B> {
    /// Creates the file, and a writer for its format with `begin`. Files without an extension and standard output have the `format`. It may be one of points
    /// if `has_points`.
    pub(crate) fn begin(
        path: &Path,
        format: Option<StreamFormat>,
        has_points: bool,
        begin: impl FnOnce(OutputKind, &mut AtomicFile) -> IoResult<Box<dyn BatchWriter<B>>>,
    ) -> Result<Self> {
        let created = if is_standard_stream(path) {
            AtomicFile::standard_output()
        } else {
            AtomicFile::create(check_results_output(path, &[], format, has_points)?)
        };
        let kind = output_format(path, format).map_or(OutputKind::Csv, |format| format.kind);
        let begun = created.and_then(|mut file| begin(kind, &mut file).map(|writer| (file, writer)));
        let (file, writer) = begun.map_err(|e| cannot_write(path, e))?;
        Ok(Self { path: path.to_path_buf(), file, writer, is_closed: false })
    }

    /// Appends results.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn write(&mut self, batch: &B) -> Result<()> {
        if !self.is_closed {
            let written = self.writer.write(&mut self.file.out, batch);
            self.note(written)?;
        }
        Ok(())
    }

    /// Appends results with the cells of kept columns, which come first in each row. The first result has row `first` of `kept`.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), also if the writer was created without columns to keep.
    pub fn write_kept(&mut self, batch: &B, kept: &KeptColumns, first: usize) -> Result<()> {
        if kept.names().is_empty() {
            return self.write(batch);
        }
        if !self.is_closed {
            let written = self.writer.write_kept(&mut self.file.out, batch, kept, first);
            self.note(written)?;
        }
        Ok(())
    }

    /// Whether the reader of standard output has closed it, as `head` does. Further results would not be read.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Converts the error of a write. That standard output was closed is not an error.
    fn note(&mut self, written: IoResult<()>) -> Result<()> {
        match written {
            Err(e) if self.file.is_stream() && e.kind() == ErrorKind::BrokenPipe => self.is_closed = true,
            other => other.map_err(|e| cannot_write(&self.path, e))?,
        }
        Ok(())
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), [`Cancelled`](umbracast::Error::Cancelled); the folder is then as it was before the writer was
    /// created.
    pub fn finish(self, cancel: &CancelToken) -> Result<()> {
        self.complete(cancel)?.persist()
    }

    /// Completes the file, but does not name it yet. With several files, none has to appear before all are complete.
    ///
    /// # Errors
    /// The errors of [`finish`](Self::finish).
    pub fn complete(self, cancel: &CancelToken) -> Result<PreparedFile> {
        let Self { path, mut file, writer, is_closed } = self;
        if is_closed {
            return PreparedFile::abandoned(&path, file);
        }
        // An archive is as large as everything written before, so this takes long enough to be cancelled.
        let finished = writer.finish(&mut file.out, cancel).and_then(|()| file.flush());
        cancel.check()?;
        if file.is_stream() && finished.as_ref().is_err_and(|e| e.kind() == ErrorKind::BrokenPipe) {
            return PreparedFile::abandoned(&path, file);
        }
        finished.map_err(|e| cannot_write(&path, e))?;
        PreparedFile::new(&path, file)
    }
}
