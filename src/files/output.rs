//! Files appear whole or not at all.

use std::fs::File;
use std::io::{BufWriter, Result as IoResult};
use std::path::{Path, PathBuf};

use super::answers::cannot_write;
use super::{bad_file, extension, spoken};
use crate::error::{Error, Result};
use tempfile::TempPath;

/// Checks, before any work, that answers can be written to `path`: a known extension, an existing folder, nothing there
/// that must not be replaced. Says where the file really lies (a link is followed).
///
/// # Errors
/// [`Error::BadFile`] for what must be asked for otherwise, [`Error::Io`] for what the system does not allow.
pub fn check_output(path: &Path, inputs: &[&Path]) -> Result<PathBuf> {
    let (".npz" | ".csv") = format!(".{}", extension(path)).as_str() else {
        let found = spoken(&extension(path));
        return Err(bad_file(path, format!("cannot write answers to {found}: supported are .npz and .csv")));
    };
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

/// Writes a file under a temporary name in the same folder and renames it when it is complete: nobody ever sees half of
/// it, and nothing is left behind when `write` fails.
///
/// # Errors
/// [`Error::Io`] with `path`.
pub fn write_whole<F>(path: &Path, write: F) -> Result<()>
where
    F: FnOnce(&mut BufWriter<File>) -> IoResult<()>,
{
    let mut file = Whole::create(target(path)?).map_err(|e| cannot_write(path, &e))?;
    write(&mut file.out).and_then(|()| file.flush()).and_then(|()| file.appear()).map_err(|e| cannot_write(path, &e))
}

/// A file under a temporary name beside the one it will have; it goes when it is dropped before it appears.
pub(super) struct Whole {
    pub(super) out: BufWriter<File>,
    temporary: TempPath,
    target: PathBuf,
}

impl Whole {
    /// `target` is where the file really lies, all links followed.
    pub(super) fn create(target: PathBuf) -> IoResult<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".umbracast-").suffix(".tmp");
        #[cfg(unix)]
        {
            // As for any new file: all that the umask leaves. (Temporary files are otherwise their owner's alone.)
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let (file, temporary) = builder.tempfile_in(folder_of(&target))?.into_parts();
        Ok(Self { out: BufWriter::with_capacity(1 << 20, file), temporary, target })
    }

    /// The folder it will appear in.
    pub(super) fn folder(&self) -> &Path {
        folder_of(&self.target)
    }

    pub(super) fn flush(&mut self) -> IoResult<()> {
        std::io::Write::flush(&mut self.out)
    }

    /// Gives it its name; what had that name before is gone.
    pub(super) fn appear(self) -> IoResult<()> {
        // Closed first: Windows renames no open file.
        drop(self.out.into_inner().map_err(|e| e.into_error())?);
        self.temporary.persist(&self.target).map_err(|e| e.error)
    }
}

fn folder_of(target: &Path) -> &Path {
    target.parent().unwrap_or(Path::new("."))
}
