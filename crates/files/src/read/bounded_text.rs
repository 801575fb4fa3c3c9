//! Text input with a maximum record length, so that a file without line ends cannot fill the memory.

use std::io::{Cursor, Error, Read, Result};

/// Maximum length of a record in bytes: a line with all its cells, or several lines if a quoted cell contains line ends.
pub(crate) const LONGEST: u64 = 1 << 20;

/// Error message for lines that end as those of old Macs.
pub(crate) const LONE_RETURN: &str =
    r"expected lines that end with \n or \r\n, found \r alone; `tr '\r' '\n'` converts a text";

/// Maximum bytes that the text reader buffers after the current record.
pub(crate) const AHEAD: usize = 1 << 16;

/// Input that returns an error within a record that is too long.
#[derive(Debug)]
pub(crate) struct BoundedReader<R> {
    /// Bytes that were read before.
    head: Cursor<Vec<u8>>,
    input: R,
    /// Bytes read since the last record ended. `line_ends` and `others` say whether line ends and other bytes were among them.
    since: u64,
    line_ends: bool,
    others: bool,
    /// The last byte that is no white space.
    last: u8,
}

impl<R> BoundedReader<R> {
    /// A reader of `head` and then `input`.
    pub(crate) fn new(head: Vec<u8>, input: R) -> Self {
        Self { head: Cursor::new(head), input, since: 0, line_ends: false, others: false, last: 0 }
    }

    /// Whether the input so far ends with a quotation mark, or white space after one.
    pub(crate) fn ends_quoted(&self) -> bool {
        self.last == b'"'
    }

    /// Must be called at the end of every record.
    pub(crate) fn record_ended(&mut self) {
        (self.since, self.line_ends, self.others) = (0, false, false);
    }

    /// Why the current record is too long; `None` if it is not.
    pub(crate) fn fault(&self) -> Option<String> {
        let likely = match (self.line_ends, self.others) {
            _ if self.since <= LONGEST + AHEAD as u64 => return None,
            (true, true) => "a quotation mark is not closed",
            (true, false) => "there are only blank lines",
            _ => "there are no line ends",
        };
        Some(format!("{}: {likely}", too_long()))
    }
}

/// Error message for a record that is too long.
pub(crate) fn too_long() -> String {
    format!("the row has more than {LONGEST} bytes")
}

impl<R: Read> Read for BoundedReader<R> {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        let count = match self.head.read(bytes)? {
            0 => self.input.read(bytes)?,
            count => count,
        };
        self.since += count as u64;
        self.last = bytes[..count].iter().rfind(|byte| !byte.is_ascii_whitespace()).copied().unwrap_or(self.last);
        if self.since > 2 * AHEAD as u64 {
            // All bytes of this read belong to one record.
            let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
            self.line_ends |= bytes[..count].iter().any(is_end);
            self.others |= !bytes[..count].iter().all(is_end);
        }
        match self.fault() {
            Some(why) => Err(Error::other(why)),
            None => Ok(count),
        }
    }
}
