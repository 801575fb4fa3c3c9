//! The bytes of a Parquet file, with limits for its pages: the crate allocates the sizes that their headers claim.

use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use ::bytes::Bytes;
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::reader::{ChunkReader, Length};

use crate::error::Error;
use crate::error::cannot_read;
use umbracast::memory;
use umbracast::memory::try_reserve;

/// A page may always unpack to this many bytes, whatever size its column claims.
const ALWAYS: u64 = 64 << 20;

/// A file of known length, and the limit for its unpacked pages.
#[derive(Clone, Debug)]
pub(super) struct FileBytes {
    pub(super) path: PathBuf,
    pub(super) file: Arc<File>,
    pub(super) length: u64,
    /// The highest byte read so far, for other threads.
    pub(super) shown: Arc<AtomicU64>,
    /// Unpacked size in bytes of the largest column of a row group, as the footer claims.
    pub(super) largest: Arc<AtomicU64>,
    /// The first error that is no fault of the file. Arrow would pass on only its text.
    pub(super) failed: Arc<Mutex<Option<Error>>>,
}

impl FileBytes {
    /// Reads `length` bytes from `start` on, or fewer at the end of the file.
    fn read(&self, start: u64, length: usize) -> Result<Vec<u8>> {
        let read = || {
            let mut bytes = Vec::new();
            try_reserve("a page of a Parquet file", &mut bytes, length as u64)?;
            // The reads are sequential: no other code moves the position between this seek and the read.
            let sought = (&*self.file).seek(SeekFrom::Start(start));
            let read = sought.and_then(|_| (&*self.file).take(length as u64).read_to_end(&mut bytes));
            read.map_err(|e| cannot_read(&self.path, e))?;
            self.shown.fetch_max(start + bytes.len() as u64, Ordering::Relaxed);
            Ok(bytes)
        };
        read().map_err(|error| self.fail(error))
    }

    fn fail(&self, error: Error) -> ParquetError {
        let mut failed = self.failed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        failed.get_or_insert(error);
        ParquetError::General("the file cannot be read".into())
    }
}

impl Length for FileBytes {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for FileBytes {
    type T = Cursor<Vec<u8>>;

    /// Returns the header of a page, after a check of what it claims.
    fn get_read(&self, start: u64) -> Result<Self::T> {
        // A header has a few dozen bytes, plus the minimum and maximum of the page.
        let head = self.read(start, 1 << 12)?;
        // (The last 8 bytes of the file are read in the same way and are not a page.)
        if head.len() > 8 {
            let bad = |why: String| Err(ParquetError::General(why));
            let Some(PageHeader { unpacked, values, encoding }) = PageHeader::read(&head) else {
                return bad("a page header is invalid".into());
            };
            let allowed = self.largest.load(Ordering::Relaxed).max(ALWAYS);
            if unpacked > allowed {
                return bad(format!(
                    "a page claims to decompress to {unpacked} bytes, but its column to at most {allowed}"
                ));
            }
            memory::check("a page of a Parquet file", unpacked).map_err(|error| self.fail(error.into()))?;
            match encoding {
                None if values > unpacked => return bad("a dictionary is shorter than its header claims".into()),
                // The numbers of PLAIN, PLAIN_DICTIONARY, RLE_DICTIONARY and BYTE_STREAM_SPLIT.
                None | Some(0 | 2 | 8 | 9) => {}
                Some(other) => {
                    return bad(format!("a page has the encoding {other}, which is not allowed for numbers"));
                }
            }
        }
        Ok(Cursor::new(head))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let held = self.length;
        if start.checked_add(length as u64).is_none_or(|end| end > held) {
            let why = format!("{length} bytes from byte {start} on are beyond the end of the file, at byte {held}");
            return Err(ParquetError::General(why));
        }
        let bytes = self.read(start, length)?;
        if bytes.len() < length {
            let why =
                format!("the file became shorter while it was being read: it had {held} bytes when it was opened");
            return Err(self.fail(cannot_read(&self.path, std::io::Error::other(why))));
        }
        Ok(bytes.into())
    }
}

/// What the header of a page claims.
struct PageHeader {
    /// Unpacked size in bytes.
    unpacked: u64,
    values: u64,
    /// `None` for a dictionary.
    encoding: Option<u64>,
}

impl PageHeader {
    /// Reads the header, which is in Thrift's compact protocol: type, both sizes, perhaps a checksum, and the fields of the type.
    fn read(mut head: &[u8]) -> Option<Self> {
        let (of, unpacked, _) = (number(&mut head)?, number(&mut head)?, number(&mut head)?);
        // The checksum may be negative.
        let _ = head.starts_with(&[NEXT_I32]) && number(&mut head).is_none();
        /// Type of a field: a struct.
        const STRUCT: u8 = 0xc;
        (head.split_off_first()? & 0xf == STRUCT).then_some(())?;
        let values = number(&mut head)?;
        let encoding = match of {
            0 => Some(number(&mut head)?),
            // Its numbers of nulls and rows come first.
            3 => Some((number(&mut head)?, number(&mut head)?, number(&mut head)?).2),
            _ => None,
        };
        Some(Self { unpacked, values, encoding })
    }
}

/// Field header of Thrift: the next field id, type i32.
const NEXT_I32: u8 = 0x15;

/// The value of the next field, which must be an i32 that is not negative.
fn number(head: &mut &[u8]) -> Option<u64> {
    (*head.split_off_first()? == NEXT_I32).then_some(())?;
    let mut number = 0_u64;
    for shift in (0..35).step_by(7) {
        let byte = head.split_off_first()?;
        number |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            break;
        }
    }
    // Zigzag encoding: odd numbers are negative.
    number.is_multiple_of(2).then_some(number / 2)
}
