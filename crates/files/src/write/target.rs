//! Checks of output paths, made before any work.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Result as IoResult};
use std::path::{Path, PathBuf};

use super::atomic_file::{AtomicFile, Complete};
use crate::error::name_of_file;
use crate::error::{Error, Result};
use crate::error::{bad_file, cannot_write};
use crate::format::{
    StreamFormat, check_parquet, describe, extension, is_standard_stream, output_extensions, output_format,
};

/// Checks, before any work, that results can be written to `path`: the extension, or without one the `format`, must be known, the folder must exist, and an existing file
/// must be replaceable and not one of the `inputs`. Returns the path of the file with links resolved.
///
/// # Errors
/// [`Error::BadFile`] if the format is not supported or the file is an input, [`Error::Io`] if the system does not allow writing.
pub fn check_output(path: &Path, inputs: &[&Path], format: Option<StreamFormat>) -> Result<PathBuf> {
    check_results_output(path, inputs, format, false)
}

/// As [`check_output`], for results with a position, which can also be written to formats of points, such as `.ply`.
///
/// # Errors
/// The errors of [`check_output`].
pub fn check_points_output(path: &Path, inputs: &[&Path], format: Option<StreamFormat>) -> Result<PathBuf> {
    check_results_output(path, inputs, format, true)
}

/// Checks an output for results that have a position if `has_points`.
pub(crate) fn check_results_output(
    path: &Path,
    inputs: &[&Path],
    format: Option<StreamFormat>,
    has_points: bool,
) -> Result<PathBuf> {
    if is_standard_stream(path) {
        return Ok(path.to_path_buf());
    }
    let Some(format) = output_format(path, format) else {
        // A folder or a device has no extension either.
        check_target(path)?;
        let found = describe(&extension(path));
        let supported = output_extensions(|format| has_points || !format.needs_points, "and");
        return Err(bad_file(path, format!("cannot write results to {found}: supported are {supported}")));
    };
    if format.needs_points && !has_points {
        let extension = format.extension;
        let message = format!(
            "a .{extension} file consists of points (columns x, y and z): it can be written only by cast --query closest"
        );
        return Err(bad_file(path, message));
    }
    check_parquet(path)?;
    let target = check_target(path)?;
    for input in inputs {
        if std::fs::canonicalize(input).is_ok_and(|input| input == target) {
            return Err(bad_file(path, "is also an input: the results would overwrite it"));
        }
    }
    Ok(target)
}

/// Checks, before any work, that a file can be written to `path`: the folder must exist, and an existing file must be replaceable. Returns
/// the path of the file with links resolved; `-` is standard output.
///
/// # Errors
/// [`Error::Io`] if the system does not allow writing.
pub fn check_target(path: &Path) -> Result<PathBuf> {
    if is_standard_stream(path) {
        return Ok(path.to_path_buf());
    }
    let cannot = |message: String| Error::io_message("write", path, message);
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let a_folder = || cannot("it is a folder: add the name of a file".into());
    // `Path` ignores a separator at the end.
    if path.to_string_lossy().ends_with(std::path::is_separator) {
        return Err(a_folder());
    }
    let name = path.file_name().ok_or_else(a_folder)?;
    match std::fs::metadata(path) {
        Ok(about) if about.is_dir() => Err(a_folder()),
        Ok(about) if !about.is_file() => {
            Err(cannot("it is a device or a pipe: give the name of a regular file".into()))
        }
        // A rename would replace even a read-only file, against the intention of its owner.
        Ok(about) if about.permissions().readonly() => Err(cannot("it is read-only".into())),
        Ok(_) => std::fs::canonicalize(path).map_err(|e| cannot(e.to_string())),
        Err(_) if std::fs::symlink_metadata(path).is_ok() => Err(cannot("it is a broken link".into())),
        Err(_) => match std::fs::canonicalize(folder) {
            Ok(folder) if folder.is_dir() => Ok(folder.join(name)),
            Ok(_) => Err(cannot(format!("{} is not a folder", folder.display()))),
            Err(_) => Err(cannot(format!("there is no folder {}", folder.display()))),
        },
    }
}

/// A complete file without its final name. If it is dropped, nothing is left behind.
#[derive(Debug)]
#[must_use]
pub struct PreparedFile {
    path: PathBuf,
    file: Complete,
}

impl PreparedFile {
    pub(crate) fn new(path: &Path, file: AtomicFile) -> Result<Self> {
        Ok(Self { path: path.to_path_buf(), file: file.complete().map_err(|e| cannot_write(path, e))? })
    }

    /// Standard output after its reader has closed it. The rest of the buffer is not written.
    pub(crate) fn abandoned(path: &Path, file: AtomicFile) -> Result<Self> {
        Ok(Self { path: path.to_path_buf(), file: file.abandon() })
    }

    /// Gives the file its name. A file that had this name before is replaced.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn persist(self) -> Result<()> {
        self.file.persist().map_err(|e| cannot_write(&self.path, e))
    }

    /// Gives several files their names in quick succession.
    ///
    /// # Errors
    /// [`Error::Io`] for the first file that cannot be named. The message lists the files that have their names already.
    pub fn persist_all(files: impl IntoIterator<Item = Self>) -> Result<()> {
        let mut done = Vec::new();
        for file in files {
            let path = file.path.clone();
            file.persist().map_err(|error| match error {
                Error::Io { action, path, message, source } if !done.is_empty() => {
                    let message = format!("{message}; already written: {}", done.join(", "));
                    Error::Io { action, path, message, source }
                }
                other => other,
            })?;
            done.push(name_of_file("write", &path));
        }
        Ok(())
    }
}

/// Writes a file atomically: it gets its name when it is complete. If `write` fails, nothing is left behind. `-` is standard output, to
/// which bytes are written at once; it is not an error if its reader closes it.
///
/// # Errors
/// [`Error::Io`] with `path`.
pub fn write_atomic<F>(path: &Path, write: F) -> Result<()>
where
    F: FnOnce(&mut BufWriter<File>) -> IoResult<()>,
{
    prepare_atomic(path, write)?.persist()
}

/// Writes a file, but does not name it yet. With several files, none has to appear before all are complete.
///
/// # Errors
/// The errors of [`write_atomic`].
pub fn prepare_atomic<F>(path: &Path, write: F) -> Result<PreparedFile>
where
    F: FnOnce(&mut BufWriter<File>) -> IoResult<()>,
{
    let failed = |e| cannot_write(path, e);
    let is_stream = is_standard_stream(path);
    let file = if is_stream { AtomicFile::standard_output() } else { AtomicFile::create(check_target(path)?) };
    let mut file = file.map_err(failed)?;
    match write(&mut file.out).and_then(|()| file.flush()) {
        Err(e) if is_stream && e.kind() == ErrorKind::BrokenPipe => PreparedFile::abandoned(path, file),
        written => {
            written.map_err(failed)?;
            PreparedFile::new(path, file)
        }
    }
}
