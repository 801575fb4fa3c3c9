//! The pages of a Parquet file, with limits for what their headers claim: the crate allocates as much.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::bytes::Bytes;
use ::bytes::buf::{Buf, Reader};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::reader::{ChunkReader, Length};

use super::input::Input;
use crate::error::{Error, cannot_read};
use umbracast::memory;
use umbracast::memory::try_reserve;

/// Limit for the unpacked size of a page in bytes. Programs write pages of about 1 MB, a few one page per row group.
const LARGEST: u64 = 1 << 30;

/// A file of known length.
#[derive(Clone, Debug)]
pub(super) struct PagedFile {
    pub(super) path: PathBuf,
    pub(super) length: u64,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug)]
struct Shared {
    input: Input,
    /// The first error that is no fault of the file. Arrow would pass on only its text.
    failure: Option<Error>,
}

impl PagedFile {
    pub(super) fn new(input: Input, length: u64) -> Self {
        Self { path: input.path.clone(), length, shared: Arc::new(Mutex::new(Shared { input, failure: None })) }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn failure(&self) -> Option<Error> {
        self.shared().failure.take()
    }

    fn fail(&self, error: Error) -> ParquetError {
        self.shared().failure.get_or_insert(error);
        ParquetError::General("the file cannot be read".into())
    }
}

impl Length for PagedFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for PagedFile {
    type T = Reader<Bytes>;

    /// Returns the header of a page, after a check of what it claims.
    fn get_read(&self, start: u64) -> Result<Self::T> {
        // A header has a few dozen bytes, plus the minimum and maximum of the page.
        let head = self.get_bytes(start, self.length.saturating_sub(start).min(1 << 14) as usize)?;
        // (The last 8 bytes of the file are read in the same way and are not a page.)
        if head.len() > 8 {
            let why = match page_header(&head) {
                None => "a page header is invalid".into(),
                Some((unpacked, ..)) if unpacked > LARGEST => {
                    format!("a page claims to decompress to {unpacked} bytes, but {LARGEST} are supported")
                }
                Some((unpacked, values, None)) if values > unpacked => {
                    "a dictionary is shorter than its header claims".into()
                }
                // The numbers of PLAIN, PLAIN_DICTIONARY, RLE (of truth values), RLE_DICTIONARY and BYTE_STREAM_SPLIT. Others have lists whose
                // lengths are claims.
                Some((.., Some(other))) if ![0, 2, 3, 8, 9].contains(&other) => {
                    let names = ["DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"];
                    let name = (5..).zip(names).find(|(number, _)| *number == other);
                    let name = name.map_or_else(|| format!("number {other}"), |(_, name)| name.into());
                    return Err(ParquetError::NYI(format!(
                        "the encoding {name} is not supported: write the column as PLAIN or with a dictionary"
                    )));
                }
                Some((unpacked, ..)) => match memory::check("a page of a Parquet file", unpacked) {
                    Ok(()) => return Ok(head.reader()),
                    Err(error) => return Err(self.fail(error.into())),
                },
            };
            return Err(ParquetError::General(why));
        }
        Ok(head.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            let end = self.length;
            let why = format!("{length} bytes from byte {start} on are beyond the end of the file, at byte {end}");
            return Err(ParquetError::General(why));
        }
        let read = || {
            let mut bytes = Vec::new();
            try_reserve("a page of a Parquet file", &mut bytes, length as u64)?;
            bytes.resize(length, 0);
            let read = self.shared().input.read_at(start, &mut bytes).map_err(|e| cannot_read(&self.path, e))?;
            bytes.truncate(read);
            Ok(bytes.into())
        };
        read().map_err(|error| self.fail(error))
    }
}

/// The unpacked size of a page in bytes, its number of values, and their encoding, `None` for a dictionary. The header is in Thrift's
/// compact protocol: type, both sizes, perhaps a checksum, and the fields of the type.
fn page_header(mut head: &[u8]) -> Option<(u64, u64, Option<u64>)> {
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
    Some((unpacked, values, encoding))
}

/// Field header of Thrift: the next field id, type i32.
const NEXT_I32: u8 = 0x15;

/// The value of the next field, which must be an i32 that is not negative.
fn number(head: &mut &[u8]) -> Option<u64> {
    // Each byte has 7 bits, the lowest first. All but the last are at least 0x80.
    let last = head.iter().skip(1).take(5).position(|byte| *byte < 0x80)? + 1;
    let (field, rest) = head.split_at(last + 1);
    *head = rest;
    let zigzag = field[1..].iter().rev().fold(0, |number, byte| number << 7 | u64::from(byte & 0x7f));
    // Odd numbers are negative.
    (field[0] == NEXT_I32 && zigzag.is_multiple_of(2)).then_some(zigzag / 2)
}
