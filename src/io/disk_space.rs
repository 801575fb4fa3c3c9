//! How much of the disk answers take, asked before they are computed.

use std::path::Path;

use super::format::extension;
use crate::error::{Error, Result};

/// Bytes that a file of so many answers has at the least, each of `bytes` in arrays; none where nobody knows.
pub fn least_output(path: &Path, answers: u64, bytes: u64) -> Option<u64> {
    match extension(path).as_str() {
        "npz" => Some(answers.saturating_mul(bytes)),
        // A line end each, and nothing else where a ray has no answer.
        "csv" => Some(answers),
        _ => None,
    }
}

/// Checks that the disk has room for answers whose file has at least `bytes`.
///
/// # Errors
/// [`Error::Io`] with both figures, where the system says how much is free.
pub fn check_disk(path: &Path, bytes: u64) -> Result<()> {
    // Every column of an archive waits in a file of its own until all are complete.
    let twice = extension(path) == "npz";
    let asked = bytes.saturating_mul(if twice { 2 } else { 1 });
    // Where it is a link, the answers lie beside what it names.
    let place = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    match free_bytes(place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))) {
        Some(free) if asked > free => {
            let why = if twice { ", twice their size while the archive is made" } else { "" };
            let message = format!("the answers need at least {asked} bytes{why}, {free} are free there");
            Err(Error::Io { action: "write", path: path.to_path_buf(), message })
        }
        _ => Ok(()),
    }
}

/// The bytes that a program can still write to the disk of a folder; none where the system does not say.
#[cfg(target_os = "linux")]
fn free_bytes(folder: &Path) -> Option<u64> {
    let about = rustix::fs::statvfs(folder).ok()?;
    // Some file systems tell no sizes.
    (about.f_blocks > 0).then(|| about.f_bavail.saturating_mul(about.f_frsize))
}

#[cfg(not(target_os = "linux"))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}
