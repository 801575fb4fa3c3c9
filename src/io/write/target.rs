//! Where files may be written, checked before any work.

use std::fs::File;
use std::io::{BufWriter, Result as IoResult};
use std::path::{Path, PathBuf};

use super::atomic_file::{Complete, Whole};
use crate::error::{Error, Result};
use crate::io::errors::{bad_file, cannot_write};
use crate::io::format::{check_parquet, extension, spoken};

/// Checks, before any work, that answers can be written to `path`: a known extension, an existing folder, nothing there
/// that must not be replaced. Says where the file really lies (a link is followed).
///
/// # Errors
/// [`Error::BadFile`] for what must be asked for otherwise, [`Error::Io`] for what the system does not allow.
pub fn check_output(path: &Path, inputs: &[&Path]) -> Result<PathBuf> {
    match extension(path).as_str() {
        "npz" | "csv" | "parquet" => check_parquet(path)?,
        other => {
            let found = spoken(other);
            return Err(bad_file(
                path,
                format!("cannot write answers to {found}: supported are .npz, .csv and .parquet"),
            ));
        }
    }
    let target = target(path)?;
    for input in inputs {
        if std::fs::canonicalize(input).is_ok_and(|input| input == target) {
            return Err(bad_file(path, "is an input too: answers would replace it"));
        }
    }
    Ok(target)
}

/// Checks, before any work, that a file can be written to `path`: an existing folder, nothing there that must not be
/// replaced. Says where the file really lies (a link is followed).
///
/// # Errors
/// [`Error::Io`] for what the system does not allow.
pub fn check_target(path: &Path) -> Result<PathBuf> {
    target(path)
}

/// Where a file of that name lies or would lie, all links followed.
fn target(path: &Path) -> Result<PathBuf> {
    let cannot = |message: String| Error::Io { action: "write", path: path.to_path_buf(), message };
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or_else(|| cannot("it has no file name".into()))?;
    match std::fs::metadata(path) {
        Ok(about) if about.is_dir() => Err(cannot("it is a folder".into())),
        Ok(about) if !about.is_file() => Err(cannot("it is not a regular file".into())),
        // A rename would replace it all the same; whoever protected it did not mean that.
        Ok(about) if about.permissions().readonly() => Err(cannot("it is read-only".into())),
        Ok(_) => std::fs::canonicalize(path).map_err(|e| cannot(e.to_string())),
        Err(_) if std::fs::symlink_metadata(path).is_ok() => Err(cannot("it is a link to nothing".into())),
        Err(_) => match std::fs::canonicalize(folder) {
            Ok(folder) if folder.is_dir() => Ok(folder.join(name)),
            Ok(_) => Err(cannot(format!("{} is not a folder", folder.display()))),
            Err(_) => Err(cannot(format!("there is no folder {}", folder.display()))),
        },
    }
}

/// A file that is complete, but has not got its name yet. Dropped, nothing is left behind.
#[derive(Debug)]
#[must_use]
pub struct Ready {
    path: PathBuf,
    file: Complete,
}

impl Ready {
    pub(crate) fn new(path: &Path, file: Whole) -> Result<Self> {
        Ok(Self { path: path.to_path_buf(), file: file.complete().map_err(|e| cannot_write(path, &e))? })
    }

    /// Gives it its name; what had that name before is gone.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn appear(self) -> Result<()> {
        self.file.appear().map_err(|e| cannot_write(&self.path, &e))
    }

    /// Gives several files their names, one right after the other.
    ///
    /// # Errors
    /// [`Error::Io`] for the first that gets none; the error names those that have theirs.
    pub fn appear_all(files: impl IntoIterator<Item = Self>) -> Result<()> {
        let mut done = Vec::new();
        for file in files {
            let path = file.path.clone();
            file.appear().map_err(|error| match error {
                Error::Io { action, path, message } if !done.is_empty() => {
                    Error::Io { action, path, message: format!("{message}; already written: {}", done.join(", ")) }
                }
                other => other,
            })?;
            done.push(crate::escape::path(&path));
        }
        Ok(())
    }
}

/// Writes a file that gets its name when it is complete: nobody ever sees half of it, and nothing is left behind when
/// `write` fails.
///
/// # Errors
/// [`Error::Io`] with `path`.
pub fn write_whole<F>(path: &Path, write: F) -> Result<()>
where
    F: FnOnce(&mut BufWriter<File>) -> IoResult<()>,
{
    prepare_whole(path, write)?.appear()
}

/// The same but for the name, which the file gets later: where there are several, none appears before all are complete.
///
/// # Errors
/// As [`write_whole`].
pub fn prepare_whole<F>(path: &Path, write: F) -> Result<Ready>
where
    F: FnOnce(&mut BufWriter<File>) -> IoResult<()>,
{
    let failed = |e| cannot_write(path, &e);
    let mut file = Whole::create(target(path)?).map_err(failed)?;
    write(&mut file.out).map_err(failed)?;
    Ready::new(path, file)
}
