//! Buffered input from a file, a pipe or memory. A file whose length changes while it is read is an error.

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Error, ErrorKind, IsTerminal, Read, Result, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error;
use crate::error::cannot_read;
use crate::format::is_standard_stream;

/// Bytes per system call for formats that read in small steps.
const BUFFER: usize = 1 << 16;

/// An open file or pipe.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    inner: BufReader<Watched>,
}

/// A file that is checked against the length it had when it was opened.
#[derive(Debug)]
struct Watched {
    source: Source,
    /// `None` for a pipe.
    length: Option<u64>,
    position: u64,
    /// The highest position so far, for other threads.
    shown: Arc<AtomicU64>,
}

/// Where the bytes are.
#[derive(Debug)]
enum Source {
    File(File),
    Memory(Cursor<Vec<u8>>),
}

/// Checks that a path leads to a regular file, and returns its length. The file is not opened, because opening a pipe waits for its writer.
pub(crate) fn check_regular(path: &Path) -> error::Result<u64> {
    if is_standard_stream(path) {
        return Err(cannot_read(path, Error::other("this input must be a file: save it and give its name")));
    }
    let about = std::fs::metadata(path).map_err(|e| cannot_read(path, e))?;
    match about.is_file() {
        true => Ok(about.len()),
        false if about.is_dir() => Err(cannot_read(path, Error::other("it is a folder, not a regular file"))),
        false => Err(cannot_read(path, Error::other("it is not a regular file"))),
    }
}

/// Whether the file is a device, such as a disk or /dev/zero.
#[cfg(unix)]
fn is_device(kind: std::fs::FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;
    kind.is_char_device() || kind.is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: std::fs::FileType) -> bool {
    false
}

/// A second handle of standard input.
fn standard_input() -> Result<File> {
    #[cfg(unix)]
    return Ok(std::os::fd::AsFd::as_fd(&std::io::stdin()).try_clone_to_owned()?.into());
    #[cfg(windows)]
    return Ok(std::os::windows::io::AsHandle::as_handle(&std::io::stdin()).try_clone_to_owned()?.into());
    #[cfg(not(any(unix, windows)))]
    return Err(Error::from(ErrorKind::Unsupported));
}

impl Input {
    /// Opens a file, a pipe, or standard input (the path `-`), which is always treated as a pipe.
    pub(crate) fn open(path: &Path) -> error::Result<Self> {
        if is_standard_stream(path) {
            let file = standard_input().map_err(|e| cannot_read(path, e))?;
            return Ok(Self::new(path, Source::File(file), None));
        }
        // Checked before opening: on Windows, opening a folder fails without this reason.
        let about = std::fs::metadata(path).map_err(|e| cannot_read(path, e))?;
        if about.is_dir() {
            return Err(cannot_read(path, Error::other("it is a folder")));
        }
        let file = File::open(path).map_err(|e| cannot_read(path, e))?;
        // Most devices have no end. On a terminal the user ends the input.
        if is_device(about.file_type()) && !file.is_terminal() {
            return Err(cannot_read(path, Error::other("it is a device: expected a file or a pipe")));
        }
        let about = file.metadata().map_err(|e| cannot_read(path, e))?;
        let length = about.is_file().then_some(about.len());
        Ok(Self::new(path, Source::File(file), length))
    }

    /// The bytes of a file that is in memory, as in a browser. `path` is its name: its extension selects the format.
    pub(crate) fn in_memory(path: &Path, bytes: Vec<u8>) -> Self {
        let length = bytes.len() as u64;
        Self::new(path, Source::Memory(Cursor::new(bytes)), Some(length))
    }

    fn new(path: &Path, source: Source, length: Option<u64>) -> Self {
        let watched = Watched { source, length, position: 0, shown: Arc::default() };
        Self { path: path.to_path_buf(), inner: BufReader::with_capacity(BUFFER, watched) }
    }

    /// Length in bytes when the file was opened; `None` for a pipe.
    pub(crate) fn length(&self) -> Option<u64> {
        self.inner.get_ref().length
    }

    /// Bytes read so far, as a counter that another thread can read.
    pub(crate) fn progress(&self) -> Arc<AtomicU64> {
        self.inner.get_ref().shown.clone()
    }

    /// Like [`read_full`](Self::read_full), from byte `start` of a file on, without filling the buffer: the next bytes are elsewhere.
    pub(crate) fn read_at(&mut self, start: u64, bytes: &mut [u8]) -> Result<usize> {
        // This empties the buffer.
        self.inner.seek(SeekFrom::Start(start))?;
        fill(self.inner.get_mut(), bytes)
    }

    /// Reads until `bytes` is full or the input ends. Returns the number of bytes read.
    pub(crate) fn read_full(&mut self, bytes: &mut [u8]) -> Result<usize> {
        fill(&mut self.inner, bytes)
    }

    /// Appends the bytes up to and including the next line end to `line`, at most `most` bytes. Returns their number; 0 at the end.
    pub(crate) fn read_line(&mut self, line: &mut Vec<u8>, most: usize) -> Result<usize> {
        (&mut self.inner).take(most as u64).read_until(b'\n', line)
    }
}

fn fill(from: &mut impl Read, bytes: &mut [u8]) -> Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match from.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

impl Read for Input {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        self.inner.read(bytes)
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.inner.consume(count);
    }
}

impl Seek for Input {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        self.inner.seek(to)
    }
}

impl Read for Watched {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        let (count, now) = match &mut self.source {
            // A reader of columns need not meet the end of a file, so its length is asked for.
            Source::File(file) => (file.read(bytes)?, self.length.map(|_| file.metadata()).transpose()?),
            Source::Memory(all) => (all.read(bytes)?, None),
        };
        self.position += count as u64;
        // Column-major arrays are read in strips across the whole file. The highest position is then the least wrong progress.
        self.shown.fetch_max(self.position, Ordering::Relaxed);
        // Files that the system makes up, as those of /proc, have a length of 0.
        if let (Some(length), Some(now)) = (self.length, now.map(|about| about.len().max(self.position)))
            && now != length
        {
            let how = if now < length { "shorter" } else { "longer" };
            return Err(Error::other(format!(
                "the file became {how} while it was being read: it had {length} bytes when it was opened"
            )));
        }
        Ok(count)
    }
}

impl Seek for Watched {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        self.position = match &mut self.source {
            Source::File(file) => file.seek(to)?,
            Source::Memory(all) => all.seek(to)?,
        };
        Ok(self.position)
    }
}

/// Rows per batch: large enough for the disk, small enough for the cache.
pub(crate) const ROWS_AT_ONCE: usize = 4096;
