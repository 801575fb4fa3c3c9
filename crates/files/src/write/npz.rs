//! Writer of `.npz`: one array per column, with the names of the record's fields. A miss is inf and 4294967295.
//!
//! An archive contains one array after the other, but results arrive row by row. Each column is therefore collected in an unnamed temporary
//! file until the last ray, and memory use stays constant. (While the archive is written, the disk contains the results twice.)

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::file_writer::{BatchWriter, Output};
use super::npy::{header, push, type_of};
use crate::schema::answer_row::{AnswerRow, Column};
use umbracast::CancelToken;

/// Bytes copied per step.
const BLOCK: usize = 1 << 20;
/// Results converted to bytes per step.
const PIECE: usize = 1 << 18;

/// Output of an archive. After the first error it accepts and discards everything: a `ZipWriter` that is dropped tries to finish again, and
/// would print to stderr the error that was already returned.
pub(crate) struct Quiet<W> {
    out: W,
    /// Position of the next byte, also after an error.
    at: u64,
    failed: bool,
}

impl<W> Quiet<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, at: 0, failed: false }
    }

    /// The result of `work`, or `otherwise` after an error.
    fn attempt<T>(&mut self, otherwise: T, work: impl FnOnce(&mut W) -> Result<T>) -> Result<T> {
        if self.failed {
            return Ok(otherwise);
        }
        let done = work(&mut self.out);
        self.failed = done.as_ref().is_err_and(|error| error.kind() != ErrorKind::Interrupted);
        done
    }
}

impl<W: Write> Write for Quiet<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let count = self.attempt(bytes.len(), |out| out.write(bytes))?;
        self.at += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> Result<()> {
        self.attempt((), W::flush)
    }
}

impl<W: Seek> Seek for Quiet<W> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        let otherwise = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::Current(by) => self.at.saturating_add_signed(by),
            SeekFrom::End(_) => self.at,
        };
        self.at = self.attempt(otherwise, |out| out.seek(to))?;
        Ok(self.at)
    }
}

/// The columns, in temporary files.
pub(crate) struct Spools<T> {
    files: Vec<(File, Column<T>)>,
    rows: u64,
    bytes: Vec<u8>,
}

impl<T: AnswerRow> Spools<T> {
    pub(crate) fn new(folder: &Path, columns: &[Column<T>]) -> Result<Self> {
        let spool = |column: &Column<T>| Ok((tempfile::tempfile_in(folder)?, *column));
        let files = columns.iter().map(spool).collect::<Result<_>>()?;
        Ok(Self { files, rows: 0, bytes: Vec::new() })
    }

    /// Appends results to the columns.
    pub(crate) fn append(&mut self, answers: &[T]) -> Result<()> {
        answers.chunks(PIECE).try_for_each(|answers| self.write_piece(answers))
    }

    fn write_piece(&mut self, answers: &[T]) -> Result<()> {
        for (file, (_, number)) in &mut self.files {
            self.bytes.clear();
            answers.iter().for_each(|answer| push(&mut self.bytes, number(answer)));
            file.write_all(&self.bytes)?;
        }
        self.rows += answers.len() as u64;
        Ok(())
    }

    /// Writes the arrays into an archive. They are not compressed, as in `numpy.savez`: floats hardly compress. They have no date, so that
    /// equal results give equal bytes.
    pub(crate) fn add_to<W: Write + Seek>(self, npz: &mut ZipWriter<W>, cancel: &CancelToken) -> Result<()> {
        let mut block = vec![0; BLOCK];
        for (mut file, (name, number)) in self.files {
            let header = header(type_of(number(&T::MISS)), &format!("({}, )", self.rows));
            let size = header.len() as u64 + file.stream_position()?;
            file.rewind()?;
            let options = SimpleFileOptions::default()
                .compression_method(CompressionMethod::Stored)
                .last_modified_time(DateTime::default())
                // The declaration that an entry may exceed 4 GiB costs 20 bytes.
                .large_file(size > u64::from(u32::MAX));
            npz.start_file(format!("{name}.npy"), options).map_err(Error::other)?;
            npz.write_all(&header)?;
            loop {
                let count = file.read(&mut block)?;
                if count == 0 {
                    break;
                }
                npz.write_all(&block[..count])?;
                if cancel.is_cancelled() {
                    return Err(Error::other("stopped"));
                }
            }
        }
        Ok(())
    }
}

impl<T: AnswerRow> BatchWriter<[T]> for Spools<T> {
    fn write(&mut self, _: &mut Output, answers: &[T]) -> Result<()> {
        self.append(answers)
    }

    fn finish(self: Box<Self>, out: &mut Output, cancel: &CancelToken) -> Result<()> {
        let mut npz = ZipWriter::new(Quiet::new(out));
        self.add_to(&mut npz, cancel)?;
        npz.finish().map_err(Error::other)?.flush()
    }
}
