//! Errors of files.

use std::path::Path;

use crate::error::{Error, Result};
use crate::runtime::memory::grow;

pub(crate) fn bad_file(path: &Path, message: impl Into<String>) -> Error {
    Error::BadFile { path: path.to_path_buf(), message: message.into() }
}

pub(crate) fn cannot_read(path: &Path, error: &std::io::Error) -> Error {
    Error::Io { action: "read", path: path.to_path_buf(), message: error.to_string() }
}

/// Reserves memory for `more` records. The error names the file.
pub(crate) fn reserve<T>(what: &'static str, records: &mut Vec<T>, more: u64, path: &Path) -> Result<()> {
    grow(what, records, more).map_err(|error| match error {
        Error::OutOfMemory { device, .. } => {
            Error::OutOfMemory { device, message: format!("reading {what} from {}", path.display()) }
        }
        other => other,
    })
}
