//! Constructors of file errors.

use std::path::Path;

use crate::error::{Error, Result};
use crate::runtime::memory::try_reserve;

pub(crate) fn bad_file(path: &Path, message: impl Into<String>) -> Error {
    Error::BadFile { path: path.to_path_buf(), message: message.into() }
}

pub(crate) fn cannot_read(path: &Path, error: &std::io::Error) -> Error {
    Error::Io { action: "read", path: path.to_path_buf(), message: error.to_string() }
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

pub(crate) fn cannot_write(path: &Path, error: &std::io::Error) -> Error {
    let text = error.to_string();
    // The tempfile crate appends the path of its temporary file, a name that means nothing to the user.
    let own = error.raw_os_error().is_none().then(|| text.rsplit_once(" at path ")).flatten();
    let message = own.map_or(text.as_str(), |(why, _)| why).to_owned();
    Error::Io { action: "write", path: path.to_path_buf(), message }
}
