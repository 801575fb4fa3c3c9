//! A file or a pipe, read from its beginning to its end, that says so when a file changes on the way.

use std::fs::File;
use std::io::{BufRead, BufReader, Error, ErrorKind, IsTerminal, Read, Result, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error;
use crate::io::errors::cannot_read;

/// Bytes asked of the system at once where a format reads little by little.
const BUFFER: usize = 1 << 16;

/// What is read.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    inner: BufReader<Watched>,
}

/// A file whose length is known from when it was opened.
#[derive(Debug)]
struct Watched {
    file: File,
    /// None of a pipe.
    length: Option<u64>,
    position: u64,
    /// The position, for others to see.
    shown: Arc<AtomicU64>,
}

/// Checks that a path leads to a regular file, without opening it: opening a pipe waits for whoever writes into it. Returns its length.
pub(crate) fn check_regular(path: &Path) -> error::Result<u64> {
    let about = std::fs::metadata(path).map_err(|e| cannot_read(path, &e))?;
    match about.is_file() {
        true => Ok(about.len()),
        false if about.is_dir() => Err(cannot_read(path, &Error::other("it is a folder, not a regular file"))),
        false => Err(cannot_read(path, &Error::other("it is not a regular file"))),
    }
}

/// Whether it is a device, such as a disk or /dev/zero.
#[cfg(unix)]
fn is_device(kind: std::fs::FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;
    kind.is_char_device() || kind.is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: std::fs::FileType) -> bool {
    false
}

impl Input {
    pub(crate) fn open(path: &Path) -> error::Result<Self> {
        // Asked before opening: on Windows opening a folder is merely denied.
        let about = std::fs::metadata(path).map_err(|e| cannot_read(path, &e))?;
        if about.is_dir() {
            return Err(cannot_read(path, &Error::other("it is a folder")));
        }
        let file = File::open(path).map_err(|e| cannot_read(path, &e))?;
        // Most devices have no end. Whoever types on a terminal ends it.
        if is_device(about.file_type()) && !file.is_terminal() {
            return Err(cannot_read(path, &Error::other("it is a device: expected a file or a pipe")));
        }
        let about = file.metadata().map_err(|e| cannot_read(path, &e))?;
        let length = about.is_file().then_some(about.len());
        let watched = Watched { file, length, position: 0, shown: Arc::default() };
        Ok(Self { path: path.to_path_buf(), inner: BufReader::with_capacity(BUFFER, watched) })
    }

    /// How many bytes it had when it was opened; none of a pipe.
    pub(crate) fn length(&self) -> Option<u64> {
        self.inner.get_ref().length
    }

    /// How many bytes have been read so far, to be asked from another thread.
    pub(crate) fn progress(&self) -> Arc<AtomicU64> {
        self.inner.get_ref().shown.clone()
    }

    /// What a format needs that reads here and there; of what was opened nothing has been read yet.
    #[cfg(feature = "parquet")]
    pub(crate) fn into_parts(self) -> (File, Option<u64>, Arc<AtomicU64>) {
        let Watched { file, length, shown, .. } = self.inner.into_inner();
        (file, length, shown)
    }

    /// The first byte, still to be read; none when there is none.
    pub(crate) fn first(&mut self) -> Result<Option<u8>> {
        Ok(self.inner.fill_buf()?.first().copied())
    }

    /// Fills as much of `bytes` as there is, and says how much that was.
    pub(crate) fn read_full(&mut self, bytes: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while filled < bytes.len() {
            match self.read(&mut bytes[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(filled)
    }
}

impl Read for Input {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        self.inner.read(bytes)
    }
}

impl Seek for Input {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        self.inner.seek(to)
    }
}

impl Read for Watched {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        #[cfg(all(any(test, fuzzing), feature = "parquet"))]
        let bytes = crate::io::fuzz::shortened(bytes);
        let count = self.file.read(bytes)?;
        self.position += count as u64;
        // What is read of columns is read in strips all over the file: the farthest byte says least wrong.
        self.shown.fetch_max(self.position, Ordering::Relaxed);
        let Some(length) = self.length else { return Ok(count) };
        let ended = count == 0 && !bytes.is_empty();
        if (ended && self.position < length) || self.position > length {
            let how = if ended { "shorter" } else { "longer" };
            return Err(Error::other(format!("it became {how} while it was read: it had {length} bytes when opened")));
        }
        Ok(count)
    }
}

impl Seek for Watched {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        self.position = self.file.seek(to)?;
        Ok(self.position)
    }
}

/// Rows read at once: large enough for the disk, small enough for the cache. Fuzz targets take fewer.
pub(crate) fn rows_at_once() -> usize {
    const CHUNK: usize = 4096;
    #[cfg(all(any(test, fuzzing), feature = "parquet"))]
    return crate::io::fuzz::chunk(CHUNK);
    #[cfg(not(all(any(test, fuzzing), feature = "parquet")))]
    CHUNK
}
