//! All errors of this library, as one enum. The exit codes of the command line follow from it.

use std::borrow::Cow;
use std::path::PathBuf;

use crate::escape::{line, lines, path as name, quoted};

/// Result type of this library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error, with the figures that help to correct its cause.
///
/// The message has no control characters (except line breaks in driver messages), and quotes little of a file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A sphere, a ray or another record is invalid: which one, which field, which value, and why.
    #[error("{what} {index}: {field} is {}: {}", line(value), line(why))]
    BadRecord {
        /// Kind of record, such as `sphere` or `ray`.
        what: &'static str,
        /// Its index in the input, from 0.
        index: u64,
        /// The field, as named in the records.
        field: &'static str,
        /// The value as text.
        value: String,
        /// The rule that the value violates.
        why: Cow<'static, str>,
    },
    /// An option, an argument or a system file is invalid.
    #[error("{}", line(.0))]
    Usage(String),
    /// A file cannot be parsed.
    #[error("{}: {}", name(path), line(message))]
    BadFile {
        /// The file.
        path: PathBuf,
        /// Row, field and value, and the expected content.
        message: String,
    },
    /// Lists that belong together differ in length.
    #[error("{left} {left_name} and {right} {right_name}: the counts must be equal")]
    LengthsDiffer {
        /// Contents of the first list, such as `rays`.
        left_name: &'static str,
        /// Its length.
        left: u64,
        /// Contents of the second list.
        right_name: &'static str,
        /// Its length.
        right: u64,
    },
    /// No device matches the request.
    #[error("no device '{}': {}", quoted(asked), lines(seen))]
    NoDevice {
        /// The requested device.
        asked: String,
        /// The available devices, and software to install.
        seen: String,
    },
    /// The device cannot guarantee the requested precision.
    #[error("{} cannot guarantee precision '{asked}': {}; use {instead}", line(device), lines(why))]
    NoPrecision {
        /// The device's name.
        device: String,
        /// The requested precision.
        asked: &'static str,
        /// The reason, such as the findings of the probe.
        why: String,
        /// The alternative to use.
        instead: &'static str,
    },
    /// More memory is needed than the device or a format allows. Nothing was allocated.
    #[error("{what}: {asked} bytes needed, {allowed} allowed on {}", line(device))]
    TooLarge {
        /// The data that are too large, such as `spheres`.
        what: &'static str,
        /// Bytes needed.
        asked: u64,
        /// Bytes allowed.
        allowed: u64,
        /// The device, machine or format that sets the limit.
        device: String,
    },
    /// The device ran out of memory.
    #[error("{} is out of memory: {}", line(device), lines(message))]
    OutOfMemory {
        /// The device's name.
        device: String,
        /// Message of the driver.
        message: String,
    },
    /// The device is gone: unplugged, reset, or destroyed by its owner.
    #[error("{} was lost: {}", line(device), lines(message))]
    DeviceLost {
        /// The device's name.
        device: String,
        /// Message of the driver.
        message: String,
    },
    /// The device did not finish within the time limit.
    #[error("{} did not finish within {limit:?}", line(device))]
    TimedOut {
        /// The device's name.
        device: String,
        /// The time limit; see [`Limits`](crate::Limits).
        limit: std::time::Duration,
    },
    /// The device refused a command: a defect of this library or of the driver.
    #[error(
        "{} failed to run a command (please report this, with the output of `umbracast devices --report`): {}",
        line(device),
        lines(message)
    )]
    DeviceFailed {
        /// The device's name.
        device: String,
        /// Message of the device.
        message: String,
    },
    /// A file cannot be read or written.
    #[error("cannot {action} {}: {}", name(path), line(message))]
    Io {
        /// The action that failed: `read`, `write`, `start a thread to read`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Message of the system.
        message: String,
    },
    /// Cancelled. Discard partial results.
    #[error("stopped after {done} rays")]
    Cancelled {
        /// Rays processed before the cancellation.
        done: u64,
    },
    /// `--compare` found results outside the promised bounds.
    #[error("guarantee violated: {0}")]
    BrokenPromise(String),
}

impl Error {
    /// Error for an invalid record, with the reason.
    pub(crate) fn record(
        what: &'static str,
        index: u64,
        field: &'static str,
        value: impl ToString,
        why: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::BadRecord { what, index, field, value: value.to_string(), why: why.into() }
    }

    /// Error for a thread that cannot be started. The file that it was to read is not at fault.
    #[cfg(feature = "files")]
    pub(crate) fn no_thread(path: &std::path::Path, error: &std::io::Error) -> Self {
        Self::Io { action: "start a thread to read", path: path.into(), message: error.to_string() }
    }

    /// Exit code of the command line: 2 bad input or usage, 3 no such device or precision, 4 the device failed, 5 reading or writing
    /// failed, 6 a broken promise, 130 cancelled (as shells report Ctrl-C).
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
