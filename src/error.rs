//! All errors of this library, as one enum.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use crate::escape::{line, lines, path as name, quoted};

/// Result type of this library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error, with the values that help to correct its cause.
///
/// The message has no control characters, except line breaks in driver messages. Text from a file is quoted only in part if it is long.
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
    #[error("{}: {}", name_of_file("read", path), line(message))]
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
    #[error("cannot {action} {}: {}", name_of_file(action, path), line(message))]
    Io {
        /// The action that failed: `read`, `write`, `start a thread to read`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Message of the system.
        message: String,
        /// The error of the system, if there is one.
        source: Option<IoCause>,
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

/// The error of the system behind an [`Error::Io`]: its [`source`](std::error::Error::source). It can be compared and cloned.
#[derive(Clone, Debug)]
pub struct IoCause(Arc<std::io::Error>);

impl PartialEq for IoCause {
    /// Errors are equal if they are of the same kind and have the same message.
    fn eq(&self, other: &Self) -> bool {
        self.kind() == other.kind() && self.0.to_string() == other.0.to_string()
    }
}

impl std::fmt::Display for IoCause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for IoCause {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

impl std::ops::Deref for IoCause {
    type Target = std::io::Error;
    fn deref(&self) -> &std::io::Error {
        &self.0
    }
}

/// The path of a file as messages show it. The path `-` is a standard stream.
fn name_of_file(action: &str, path: &std::path::Path) -> String {
    match (path.as_os_str() == "-", action) {
        (true, "write") => "standard output".into(),
        (true, _) => "standard input".into(),
        (false, _) => name(path),
    }
}

impl Error {
    /// Error for a file that cannot be read or written, with the error of the system as its source.
    pub fn io(action: &'static str, path: impl Into<PathBuf>, error: std::io::Error) -> Self {
        Self::Io { action, path: path.into(), message: error.to_string(), source: Some(IoCause(Arc::new(error))) }
    }

    /// Error for a file that cannot be read or written for a reason that the system did not report.
    #[cfg(any(feature = "files", test))]
    pub(crate) fn io_message(action: &'static str, path: impl Into<PathBuf>, message: impl Into<String>) -> Self {
        Self::Io { action, path: path.into(), message: message.into(), source: None }
    }

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
    pub(crate) fn no_thread(path: &std::path::Path, error: std::io::Error) -> Self {
        Self::io("start a thread to read", path, error)
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn the_error_of_the_system_is_the_source() {
        let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
        let error = Error::io("read", "spheres.csv", missing);
        assert!(error.to_string().starts_with("cannot read spheres.csv: "), "{error}");
        let cause = error.source().and_then(|source| source.downcast_ref::<IoCause>()).unwrap();
        assert_eq!(cause.kind(), std::io::ErrorKind::NotFound);
        assert_eq!(error.clone(), error);
        assert_ne!(Error::io("read", "spheres.csv", std::io::ErrorKind::PermissionDenied.into()), error);
        assert!(Error::io_message("write", "-", "it is full").source().is_none());
        assert_eq!(
            Error::io_message("write", "-", "it is full").to_string(),
            "cannot write standard output: it is full"
        );
    }
}
