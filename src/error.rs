//! Everything that can go wrong, as one enum; the command line's exit codes follow it one to one.

use std::borrow::Cow;
use std::path::PathBuf;

use crate::escape::{line, lines, path as name, quoted};

/// A result of this library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, with the figures to mend it.
///
/// Its text has no control characters (but for line ends of what drivers say), and quotes little of a file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A sphere or a ray cannot be used: which one, which field, which value, and why.
    #[error("{what} {index}: {field} is {}: {}", line(value), line(why))]
    BadRecord {
        /// `sphere` or `ray`.
        what: &'static str,
        /// Its number in the input, from 0.
        index: u64,
        /// The field, as in the records.
        field: &'static str,
        /// The value as text.
        value: String,
        /// What is allowed.
        why: Cow<'static, str>,
    },
    /// An option, an argument or a system file asks for something that makes no sense.
    #[error("{}", line(.0))]
    Usage(String),
    /// A file cannot be understood.
    #[error("{}: {}", name(path), line(message))]
    BadFile {
        /// The file.
        path: PathBuf,
        /// Row, field and value, and what was expected.
        message: String,
    },
    /// Lists that go together differ in length.
    #[error("{left} {left_name} and {right} {right_name}: there must be as many of one as of the other")]
    LengthsDiffer {
        /// What the first list holds.
        left_name: &'static str,
        /// Its length.
        left: u64,
        /// What the second list holds.
        right_name: &'static str,
        /// Its length.
        right: u64,
    },
    /// No device answers to that name.
    #[error("no device '{}': {}", quoted(asked), lines(seen))]
    NoDevice {
        /// What was asked for.
        asked: String,
        /// What there is, and what to install.
        seen: String,
    },
    /// The device cannot promise the precision asked for.
    #[error("{} cannot promise precision '{asked}': {}; use {instead}", line(device), lines(why))]
    NoPrecision {
        /// The device's name.
        device: String,
        /// The precision asked for.
        asked: &'static str,
        /// What its probe found.
        why: String,
        /// What to use instead.
        instead: &'static str,
    },
    /// More than the device, or a format, can hold; nothing was allocated.
    #[error("{what}: {asked} bytes needed, {allowed} allowed on {}", line(device))]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Bytes it needs.
        asked: u64,
        /// Bytes there may be.
        allowed: u64,
        /// Where.
        device: String,
    },
    /// The device ran out of memory.
    #[error("{} is out of memory: {}", line(device), lines(message))]
    OutOfMemory {
        /// The device's name.
        device: String,
        /// What the driver said.
        message: String,
    },
    /// The device is gone: unplugged, reset, or destroyed by its owner.
    #[error("{} was lost: {}", line(device), lines(message))]
    DeviceLost {
        /// The device's name.
        device: String,
        /// What the driver said.
        message: String,
    },
    /// The device did not finish in time.
    #[error("{} did not finish within {limit:?}", line(device))]
    TimedOut {
        /// The device's name.
        device: String,
        /// How long it was waited for; see [`Limits`](crate::Limits).
        limit: std::time::Duration,
    },
    /// The device refused a command: a defect of this library or of the driver.
    #[error(
        "{} refused a command (please report this with `umbracast devices --report`): {}",
        line(device),
        lines(message)
    )]
    DeviceFailed {
        /// The device's name.
        device: String,
        /// What it said.
        message: String,
    },
    /// A file cannot be read or written.
    #[error("cannot {action} {}: {}", name(path), line(message))]
    Io {
        /// What could not be done with it: `read`, `write`, `start a thread that reads`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        message: String,
    },
    /// Somebody stopped the work; nothing of it is to be used.
    #[error("stopped after {done} rays")]
    Cancelled {
        /// Rays answered before.
        done: u64,
    },
    /// `--compare` found answers outside what is promised.
    #[error("broken promise: {0}")]
    BrokenPromise(String),
}

impl Error {
    /// A record that cannot be used, and why.
    pub(crate) fn record(
        what: &'static str,
        index: u64,
        field: &'static str,
        value: impl ToString,
        why: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::BadRecord { what, index, field, value: value.to_string(), why: why.into() }
    }

    /// A thread that cannot be had, which says nothing of the file that it was to read.
    #[cfg(feature = "files")]
    pub(crate) fn no_thread(path: &std::path::Path, error: &std::io::Error) -> Self {
        Self::Io { action: "start a thread that reads", path: path.into(), message: error.to_string() }
    }

    /// The command line's exit code: 2 bad input or usage, 3 no such device or precision, 4 the device failed,
    /// 5 reading or writing failed, 6 a broken promise, 130 stopped (what shells say of Ctrl-C).
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::BadRecord { .. } | Self::Usage(_) | Self::BadFile { .. } | Self::LengthsDiffer { .. } => 2,
            Self::NoDevice { .. } | Self::NoPrecision { .. } => 3,
            Self::TooLarge { .. }
            | Self::OutOfMemory { .. }
            | Self::DeviceLost { .. }
            | Self::TimedOut { .. }
            | Self::DeviceFailed { .. } => 4,
            Self::Io { .. } => 5,
            Self::BrokenPromise(_) => 6,
            Self::Cancelled { .. } => 130,
        }
    }
}
