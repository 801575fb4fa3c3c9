//! Random access to the bytes of a Parquet file, with limits on the size of unpacked pages.

use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ::bytes::Bytes;
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::reader::{ChunkReader, Length};

use umbracast::memory;

/// A page may always unpack to this many bytes, whatever size its column claims.
const ALWAYS: u64 = 64 << 20;

/// A file of known length, and the limit for its unpacked pages.
#[derive(Clone, Debug)]
pub(crate) struct FileBytes {
    pub(crate) file: Arc<File>,
    pub(crate) length: u64,
    /// The highest byte read so far, for other threads.
    pub(crate) shown: Arc<AtomicU64>,
    /// Unpacked size in bytes of the largest column of a row group, as the footer claims.
    pub(crate) largest: Arc<AtomicU64>,
}

impl FileBytes {
    fn at(&self, start: u64) -> Result<&File> {
        // The reads are sequential: no other code moves the position between this seek and the next read.
        (&*self.file).seek(SeekFrom::Start(start))?;
        self.shown.fetch_max(start, Ordering::Relaxed);
        Ok(&self.file)
    }
}

impl Length for FileBytes {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for FileBytes {
    type T = Cursor<Vec<u8>>;

    /// Returns the header of a page. Checks its unpacked size first, because the crate allocates that size before it unpacks.
    fn get_read(&self, start: u64) -> Result<Self::T> {
        // A header has a few dozen bytes, plus the minimum and maximum of the page.
        const HEAD: u64 = 1 << 12;
        let mut head = Vec::new();
        self.at(start)?.take(HEAD).read_to_end(&mut head)?;
        // (The last 8 bytes of the file are read in the same way and are not a page.)
        if let Some(asked) = unpacked(&head).filter(|_| head.len() > 8) {
            let allowed = self.largest.load(Ordering::Relaxed).max(ALWAYS);
            if asked > allowed {
                let why = format!("a page claims to decompress to {asked} bytes, but its column to at most {allowed}");
                return Err(ParquetError::General(why));
            }
            memory::check("a page of a Parquet file", asked).map_err(|e| ParquetError::External(Box::new(e)))?;
        }
        Ok(Cursor::new(head))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let end = start.checked_add(length as u64).filter(|end| *end <= self.length);
        let Some(end) = end else {
            let held = self.length;
            return Err(ParquetError::EOF(format!(
                "{length} bytes from byte {start} on are beyond the end of the file, at byte {held}"
            )));
        };
        memory::check("a page of a Parquet file", length as u64).map_err(|e| ParquetError::External(Box::new(e)))?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length).map_err(|e| ParquetError::External(Box::new(e)))?;
        let read = self.at(start)?.take(length as u64).read_to_end(&mut bytes)?;
        if read < length {
            let why = format!(
                "the file became shorter while it was being read: it had {} bytes when it was opened",
                self.length
            );
            return Err(std::io::Error::other(why).into());
        }
        self.shown.fetch_max(end, Ordering::Relaxed);
        Ok(bytes.into())
    }
}

/// Unpacked size of a page in bytes: the second field of its header, after its type, in Thrift's compact protocol. `None` if no page begins
/// here; the crate reports that error.
fn unpacked(head: &[u8]) -> Option<u64> {
    /// Field header: the next field id, type i32.
    const NEXT_I32: u8 = 0x15;
    let mut head = head.iter().copied();
    for field in 1..=2 {
        (head.next()? == NEXT_I32).then_some(())?;
        let mut number = 0_u64;
        for shift in (0..35).step_by(7) {
            let byte = head.next()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        if field == 2 {
            // Zigzag encoding: odd numbers are negative, and the crate refuses them.
            return number.is_multiple_of(2).then_some(number / 2);
        }
    }
    None
}
