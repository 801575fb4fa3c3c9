//! An input of text whose records have a longest length: what has no line ends must not fill the memory.

use std::io::{Error, Read, Result};

use super::input::Input;

/// The longest record, in bytes: a line with all its cells, or the lines that a cell between quotation marks has.
pub(crate) const LONGEST: u64 = 1 << 20;

/// Bytes that the reader of text may hold beyond the record that it is at.
pub(crate) const AHEAD: usize = 1 << 16;

/// An input that stops within a record that is too long.
#[derive(Debug)]
pub(crate) struct Bounded {
    pub(crate) input: Input,
    /// Bytes read since a record ended, and what kinds there were among them.
    since: u64,
    line_ends: bool,
    others: bool,
}

impl Bounded {
    pub(crate) fn new(input: Input) -> Self {
        Self { input, since: 0, line_ends: false, others: false }
    }

    /// A record has ended.
    pub(crate) fn record_ended(&mut self) {
        (self.since, self.line_ends, self.others) = (0, false, false);
    }

    /// Why the record that it is at is too long; none where it is not.
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

/// What is said of any record that is too long.
pub(crate) fn too_long() -> String {
    format!("the row has more than {LONGEST} bytes")
}

impl Read for Bounded {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        let count = self.input.read(bytes)?;
        self.since += count as u64;
        if self.since > 2 * AHEAD as u64 {
            // All of these belong to one record.
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
