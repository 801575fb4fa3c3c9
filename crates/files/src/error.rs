//! The error of this crate.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::escape::cut;
use crate::format::is_standard_stream;

/// Result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error, with the file, and what helps to correct the cause.
///
/// Its message is on one line, and has no control characters. Text from a file is quoted only in part if it is long.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be parsed, or its name does not fit its purpose.
    #[error("{}: {}", name_of_file("read", path), cut(message, PART))]
    BadFile {
        /// The file.
        path: PathBuf,
        /// Row, field and value, and the expected content.
        message: String,
    },
    /// A file cannot be read or written.
    #[error("cannot {action} {}: {}", name_of_file(action, path), cut(message, PART))]
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
    /// The records are refused: invalid, too large for the memory, or cancelled.
    #[error(transparent)]
    Umbracast(#[from] umbracast::Error),
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

impl Error {
    /// Error for a file that cannot be read or written, with the error of the system as its source.
    pub fn io(action: &'static str, path: impl Into<PathBuf>, error: std::io::Error) -> Self {
        Self::Io { action, path: path.into(), message: error.to_string(), source: Some(IoCause(Arc::new(error))) }
    }

    /// Error for results that cannot be written to `path`, which may be standard output.
    pub fn bad_output(path: &Path, message: impl Into<String>) -> Self {
        let path = if is_standard_stream(path) { Path::new(STANDARD_OUTPUT) } else { path };
        bad_file(path, message)
    }

    /// Error for a file that cannot be read or written for a reason that the system did not report.
    pub(crate) fn io_message(action: &'static str, path: impl Into<PathBuf>, message: impl Into<String>) -> Self {
        Self::Io { action, path: path.into(), message: message.into(), source: None }
    }

    /// Error for a thread that cannot be started. The file that it was to read is not at fault.
    pub(crate) fn no_thread(path: &Path, error: std::io::Error) -> Self {
        Self::io("start a thread to read", path, error)
    }
}

pub(crate) fn bad_file(path: &Path, message: impl Into<String>) -> Error {
    Error::BadFile { path: path.to_path_buf(), message: message.into() }
}

pub(crate) fn cannot_read(path: &Path, error: std::io::Error) -> Error {
    Error::io("read", path, error)
}

pub(crate) fn cannot_write(path: &Path, error: std::io::Error) -> Error {
    let text = error.to_string();
    // The tempfile crate appends the path of its temporary file, a name that means nothing to the user.
    let own = error.raw_os_error().is_none().then(|| text.rsplit_once(" at path ")).flatten();
    let message = own.map_or(text.as_str(), |(why, _)| why).to_owned();
    Error::Io { action: "write", path: path.into(), message, source: Some(IoCause(Arc::new(error))) }
}

/// A copy of a borrowed error.
pub(crate) fn same(error: &std::io::Error) -> std::io::Error {
    error
        .raw_os_error()
        .map_or_else(|| std::io::Error::new(error.kind(), error.to_string()), std::io::Error::from_raw_os_error)
}

/// A path of more bytes than this is shortened: to `PATH / 3` bytes from its beginning and at most `PATH / 3` characters from its end.
const PATH: usize = 360;
/// Maximum number of bytes of a message.
const PART: usize = 1_400;

/// Standard output as messages show it.
const STANDARD_OUTPUT: &str = "standard output";

/// The path of a file as messages show it. The path `-` is a standard stream.
pub(crate) fn name_of_file(action: &str, path: &Path) -> String {
    match (is_standard_stream(path), action) {
        (true, "write") => return STANDARD_OUTPUT.into(),
        (true, _) => return "standard input".into(),
        (false, _) => {}
    }
    let text = path.to_string_lossy();
    if text.len() <= PATH {
        return cut(&text, PATH);
    }
    let (start, end) = (cut(&text, PATH / 3), text.chars().rev().take(PATH / 3).collect::<String>());
    format!("{start}{}", cut(&end.chars().rev().collect::<String>(), PATH))
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

    /// Holds for any path, any cell and any text of the system.
    #[test]
    fn errors_are_short_and_printable() {
        let control_characters: String = ('\0'..'\u{3000}').collect();
        let mut texts: Vec<String> = ["7", "\u{1b}[2J", "🙈", "\n", "é"].map(|piece| piece.repeat(100_000)).into();
        texts.push(control_characters);
        for text in texts {
            let path = PathBuf::from(&text);
            for error in [bad_file(&path, text.clone()), Error::io_message("read", path, text.clone())] {
                let shown = error.to_string();
                assert!(shown.len() < 4096, "{} bytes: {shown}", shown.len());
                assert!(!shown.contains(char::is_control), "{shown:?}");
            }
        }
    }
}
