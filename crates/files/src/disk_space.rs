//! Checks the disk space that results need, before they are computed.

use std::path::Path;

use super::format::{is_standard_stream, output_format};
use crate::error::{Error, Result};

/// Minimum size in bytes of a file of `answers` results, where `bytes` is the size of one result in arrays. `None` for formats without such
/// a minimum.
pub fn least_output(path: &Path, answers: u64, bytes: u64) -> Option<u64> {
    if is_standard_stream(path) {
        return None;
    }
    output_format(path, None)?.least_bytes.map(|least| answers.saturating_mul(least(bytes)))
}

/// Checks that the disk has at least `bytes` bytes for a file of results, or twice as many for `.npz`.
///
/// # Errors
/// [`Error::Io`] with both sizes, if the system reports the free space and it is too small.
pub fn check_disk(path: &Path, bytes: u64) -> Result<()> {
    // Each column of an archive is stored in a temporary file until all are complete.
    if is_standard_stream(path) {
        return Ok(());
    }
    let twice = output_format(path, None).is_some_and(|format| format.is_assembled);
    let asked = bytes.saturating_mul(if twice { 2 } else { 1 });
    // If the path is a link, the results are written next to the link's target.
    let place = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    match free_bytes(place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))) {
        Some(free) if asked > free => {
            let why = if twice { " (twice their size, while the file is completed)" } else { "" };
            let message = format!("the results need at least {asked} bytes{why}, but only {free} are free there");
            Err(Error::io_message("write", path, message))
        }
        _ => Ok(()),
    }
}

/// Bytes on the disk of a folder that this program can still use; `None` if the system does not report them.
#[cfg(target_os = "linux")]
fn free_bytes(folder: &Path) -> Option<u64> {
    let about = rustix::fs::statvfs(folder).ok()?;
    // Some file systems report no sizes.
    (about.f_blocks > 0).then(|| about.f_bavail.saturating_mul(about.f_frsize))
}

#[cfg(not(target_os = "linux"))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}
