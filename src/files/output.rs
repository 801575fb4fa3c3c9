//! Answers leave as whole files or not at all.

use std::io::BufWriter;
use std::path::{Path, PathBuf};

use super::{bad_file, csv, extension, npz, spoken};
use crate::error::{Error, Result};
use crate::records::{Approach, Hit, Interval};

/// The answers of one query, to be written.
#[derive(Clone, Copy, Debug)]
pub enum Answers<'a> {
    /// Of `closest`: arrays `t`, `id`.
    Closest(&'a [Hit]),
    /// Of `occluded`: array `occluded` of bool.
    Occluded {
        /// Ray 0 in bit 0 of word 0.
        words: &'a [u32],
        /// How many rays.
        len: usize,
    },
    /// Of `interval`: arrays `t_enter`, `t_exit`, `id`.
    Interval(&'a [Interval]),
    /// Of `approach`: arrays `t`, `clearance`, `id`.
    Approach(&'a [Approach]),
}

pub(super) fn bits(words: &[u32], len: usize) -> impl Iterator<Item = bool> + '_ {
    words.iter().flat_map(|word| (0..32).map(move |bit| word >> bit & 1 == 1)).take(len)
}

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

/// Writes answers in the format of the extension, `.npz` or `.csv`.
///
/// # Errors
/// As [`check_output`]; and [`Error::Io`] when writing fails, after which `path` is as it was.
pub fn write_answers(path: &Path, answers: &Answers<'_>) -> Result<()> {
    check_output(path, &[])?;
    let archive = extension(path) == "npz";
    write_whole(path, |out| if archive { npz::write(out, answers) } else { csv::write(out, answers) })
}

/// Writes a file under a temporary name in the same folder and renames it when it is complete: nobody ever sees half of
/// it, and nothing is left behind when `write` fails.
///
/// # Errors
/// [`Error::Io`] with `path`.
pub fn write_whole<F>(path: &Path, write: F) -> Result<()>
where
    F: FnOnce(&mut BufWriter<std::fs::File>) -> std::io::Result<()>,
{
    let target = target(path)?;
    let folder = target.parent().unwrap_or(Path::new("."));
    let cannot = |e: std::io::Error| Error::Io { action: "write", path: path.to_path_buf(), message: e.to_string() };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".umbracast-").suffix(".tmp");
    #[cfg(unix)]
    {
        // As for any new file: all that the umask leaves. (Temporary files are otherwise their owner's alone.)
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let (file, temporary) = builder.tempfile_in(folder).map_err(cannot)?.into_parts();
    let mut out = BufWriter::with_capacity(1 << 20, file);
    write(&mut out).map_err(cannot)?;
    // Closed first: Windows renames no open file.
    drop(out.into_inner().map_err(|e| cannot(e.into_error()))?);
    temporary.persist(&target).map_err(|e| cannot(e.error))
}
