//! `.npz`: one array a column, named as in the records; a miss is inf and 4294967295.
//!
//! An archive holds one array after the other, but answers come with all their numbers: every column waits in an unnamed
//! file of its own until the last ray, so that memory stays flat. (The disk holds them twice while the archive is made.)

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom, Write};
use std::path::Path;

use npyz::{WriteOptions, WriterBuilder};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::io::schema::answer_row::{AnswerRow, Column, Number};
use crate::runtime::cancel::Watch;

/// Bytes copied at a time.
const BLOCK: usize = 1 << 20;
/// Answers turned into bytes at a time.
const PIECE: usize = 1 << 18;

/// What an archive is written to. Once it has failed it takes everything: a `ZipWriter` that is dropped tries again, and would tell
/// stderr of the error that was returned before.
pub(crate) struct Quiet<W> {
    out: W,
    /// Where the next byte is written, or would be.
    at: u64,
    failed: bool,
}

impl<W> Quiet<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, at: 0, failed: false }
    }

    /// What `work` returns, or `otherwise` once something has failed.
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

/// The columns, waiting.
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

    pub(crate) fn write(&mut self, answers: &[T]) -> Result<()> {
        answers.chunks(PIECE).try_for_each(|answers| self.write_piece(answers))
    }

    fn write_piece(&mut self, answers: &[T]) -> Result<()> {
        for (file, (_, number)) in &mut self.files {
            self.bytes.clear();
            for answer in answers {
                match number(answer) {
                    Number::Float(x) | Number::Blank(x) => self.bytes.extend(x.to_le_bytes()),
                    Number::Double(x) | Number::BlankDouble(x) => self.bytes.extend(x.to_le_bytes()),
                    Number::Word(byte, _) => self.bytes.push(byte),
                    Number::Id(number) | Number::Count(number) => self.bytes.extend(number.to_le_bytes()),
                    Number::Offset(number) => self.bytes.extend(number.to_le_bytes()),
                    Number::Flag(flag) => self.bytes.push(u8::from(flag)),
                }
            }
            file.write_all(&self.bytes)?;
        }
        self.rows += answers.len() as u64;
        Ok(())
    }

    /// Writes the archive.
    pub(crate) fn assemble(self, out: impl Write + Seek, watch: &Watch) -> Result<()> {
        let mut npz = ZipWriter::new(Quiet::new(out));
        self.add_to(&mut npz, watch)?;
        npz.finish().map_err(Error::other)?.flush()
    }

    /// Writes its arrays into an archive, uncompressed (as `numpy.savez` does: floats hardly compress) and without a date, so that
    /// the same answers make the same bytes.
    pub(crate) fn add_to<W: Write + Seek>(self, npz: &mut ZipWriter<W>, watch: &Watch) -> Result<()> {
        let mut block = vec![0; BLOCK];
        for (mut file, (name, number)) in self.files {
            let header = header(number(&T::MISS), self.rows)?;
            let size = header.len() as u64 + file.stream_position()?;
            file.rewind()?;
            let options = SimpleFileOptions::default()
                .compression_method(CompressionMethod::Stored)
                .last_modified_time(DateTime::default())
                // Saying that an entry may exceed 4 GiB costs 20 bytes.
                .large_file(size > u64::from(u32::MAX));
            npz.start_file(format!("{name}.npy"), options).map_err(Error::other)?;
            npz.write_all(&header)?;
            loop {
                let count = file.read(&mut block)?;
                if count == 0 {
                    break;
                }
                npz.write_all(&block[..count])?;
                if watch.is_cancelled() {
                    return Err(Error::other("stopped"));
                }
            }
        }
        Ok(())
    }
}

/// What stands before the numbers of an array.
fn header(like: Number, rows: u64) -> Result<Vec<u8>> {
    let mut header = Vec::new();
    // Each writes its header at once; that no numbers follow here is no concern of anybody's.
    match like {
        Number::Float(_) | Number::Blank(_) => {
            drop(WriteOptions::<f32>::new().default_dtype().shape(&[rows]).writer(&mut header).begin_nd()?)
        }
        Number::Double(_) | Number::BlankDouble(_) => {
            drop(WriteOptions::<f64>::new().default_dtype().shape(&[rows]).writer(&mut header).begin_nd()?)
        }
        Number::Word(..) => {
            drop(WriteOptions::<u8>::new().default_dtype().shape(&[rows]).writer(&mut header).begin_nd()?)
        }
        Number::Id(_) | Number::Count(_) => {
            drop(WriteOptions::<u32>::new().default_dtype().shape(&[rows]).writer(&mut header).begin_nd()?)
        }
        Number::Offset(_) => {
            drop(WriteOptions::<u64>::new().default_dtype().shape(&[rows]).writer(&mut header).begin_nd()?)
        }
        Number::Flag(_) => {
            drop(WriteOptions::<bool>::new().default_dtype().shape(&[rows]).writer(&mut header).begin_nd()?)
        }
    }
    Ok(header)
}
