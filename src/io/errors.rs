//! Constructors of file errors.

use std::path::Path;

use crate::error::{Error, Result};
use crate::runtime::memory::try_reserve;

pub(crate) fn bad_file(path: &Path, message: impl Into<String>) -> Error {
    Error::BadFile { path: path.to_path_buf(), message: message.into() }
}

pub(crate) fn cannot_read(path: &Path, error: std::io::Error) -> Error {
    Error::io("read", path, error)
}

/// A copy of a borrowed error.
pub(crate) fn same(error: &std::io::Error) -> std::io::Error {
    error
        .raw_os_error()
        .map_or_else(|| std::io::Error::new(error.kind(), error.to_string()), std::io::Error::from_raw_os_error)
}

/// Reserves capacity for `more` records. An error names the file.
pub(crate) fn reserve<T>(what: &'static str, records: &mut Vec<T>, more: u64, path: &Path) -> Result<()> {
    try_reserve(what, records, more).map_err(|error| match error {
        Error::OutOfMemory { device, .. } => {
            Error::OutOfMemory { device, message: format!("reading {what} from {}", path.display()) }
        }
        other => other,
    })
}

pub(crate) fn cannot_write(path: &Path, error: std::io::Error) -> Error {
    let text = error.to_string();
    // The tempfile crate appends the path of its temporary file, a name that means nothing to the user.
    let own = error.raw_os_error().is_none().then(|| text.rsplit_once(" at path ")).flatten();
    let message = own.map_or(text.as_str(), |(why, _)| why).to_owned();
    match Error::io("write", path, error) {
        Error::Io { action, path, source, .. } => Error::Io { action, path, message, source },
        other => other,
    }
}
