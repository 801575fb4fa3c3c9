//! Atomic output files: a file appears complete or not at all.

use std::fs::{File, Metadata};
use std::io::{BufWriter, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, TempPath};

use crate::io::format::STANDARD_STREAM;

/// A file that is written in the folder of the file that it will replace.
///
/// On systems with unnamed files (Linux, on most file systems) it has no name until its bytes are on the disk: not even a power cut leaves
/// a partial file. Elsewhere it has a temporary name, and is deleted if it is dropped before it appears.
pub(crate) struct AtomicFile {
    pub(crate) out: BufWriter<File>,
    temporary: Option<TempPath>,
    target: PathBuf,
    /// Standard output, which is written at once.
    is_stream: bool,
}

impl AtomicFile {
    /// Standard output: its bytes appear as they are written.
    pub(crate) fn standard_output() -> Result<Self> {
        let out = BufWriter::with_capacity(1 << 16, standard_output()?);
        Ok(Self { out, temporary: None, target: STANDARD_STREAM.into(), is_stream: true })
    }

    /// `target` is the path of the file after all links are resolved.
    pub(crate) fn create(target: PathBuf) -> Result<Self> {
        let (file, temporary) = match unnamed::create(folder_of(&target)) {
            Some(file) => (file, None),
            None => {
                let (file, temporary) = names().tempfile_in(folder_of(&target))?.into_parts();
                (file, Some(temporary))
            }
        };
        Ok(Self { out: BufWriter::with_capacity(1 << 20, file), temporary, target, is_stream: false })
    }

    /// The folder in which the file will appear; for standard output the folder of temporary files.
    pub(crate) fn folder(&self) -> PathBuf {
        if self.is_stream { std::env::temp_dir() } else { folder_of(&self.target).to_path_buf() }
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.is_stream
    }

    /// A second handle of the same file. Both share one position.
    #[cfg(feature = "parquet")]
    pub(crate) fn second_handle(&self) -> Result<File> {
        self.out.get_ref().try_clone()
    }

    pub(crate) fn flush(&mut self) -> Result<()> {
        self.out.flush()
    }

    /// Gives up standard output, without the bytes in the buffer.
    pub(crate) fn abandon(self) -> Complete {
        let Self { out, temporary, target, is_stream } = self;
        Complete { file: out.into_parts().0, temporary, target, is_stream }
    }

    /// Writes all remaining bytes to the disk, but not yet the name. Most failures happen here, and then nothing is left behind.
    pub(crate) fn complete(self) -> Result<Complete> {
        let Self { out, temporary, target, is_stream } = self;
        let file = out.into_inner().map_err(|e| e.into_error())?;
        if is_stream {
            return Ok(Complete { file, temporary, target, is_stream });
        }
        if let Ok(before) = std::fs::metadata(&target) {
            // If the old file was private, the new one must be too.
            keep_access(&file, &before)?;
        }
        // Without this the name may reach the disk before the bytes, and a power cut could leave an empty file.
        match file.sync_data() {
            // A few file systems do not support this.
            Err(e) if matches!(e.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput) => {}
            synced => synced?,
        }
        Ok(Complete { file, temporary, target, is_stream })
    }
}

/// A file that has all its bytes, but not yet its final name.
#[derive(Debug)]
pub(crate) struct Complete {
    file: File,
    temporary: Option<TempPath>,
    target: PathBuf,
    is_stream: bool,
}

impl Complete {
    /// Gives the file its name. A file that had this name before is replaced.
    pub(crate) fn persist(self) -> Result<()> {
        let Self { file, temporary, target, is_stream } = self;
        if is_stream {
            return Ok(());
        }
        let temporary = match temporary {
            Some(temporary) => temporary,
            // Only a rename can replace a file, so it needs a temporary name first.
            None => names().make_in(folder_of(&target), |name| unnamed::name(&file, name))?.into_temp_path(),
        };
        // Closed first: Windows does not rename an open file.
        drop(file);
        temporary.persist(&target).map_err(|e| e.error)
    }
}

/// A second handle of standard output.
fn standard_output() -> Result<File> {
    #[cfg(unix)]
    return Ok(std::os::fd::AsFd::as_fd(&std::io::stdout()).try_clone_to_owned()?.into());
    #[cfg(windows)]
    return Ok(std::os::windows::io::AsHandle::as_handle(&std::io::stdout()).try_clone_to_owned()?.into());
    #[cfg(not(any(unix, windows)))]
    return Err(ErrorKind::Unsupported.into());
}

/// Gives a file the owner, the group and the permissions of the file that it replaces, as far as the system allows. Set-user-id and
/// set-group-id are not kept, because they were granted to other contents.
#[cfg(unix)]
fn keep_access(file: &File, before: &Metadata) -> Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let (owner, group) = (before.uid(), before.gid());
    let now = file.metadata()?;
    let has_group = (now.uid(), now.gid()) == (owner, group)
        || fchown(file, Some(owner), Some(group)).is_ok()
        || fchown(file, None, Some(group)).is_ok();
    let mode = before.mode() & 0o777;
    // If the group could not be kept, the new group gets only permissions that all others have.
    let mode = if has_group { mode } else { mode & (0o707 | (mode & 0o007) << 3) };
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn keep_access(file: &File, before: &Metadata) -> Result<()> {
    file.set_permissions(before.permissions())
}

fn folder_of(target: &Path) -> &Path {
    target.parent().unwrap_or(Path::new("."))
}

/// Builder of temporary names.
fn names() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".umbracast-").suffix(".tmp");
    #[cfg(unix)]
    {
        // Permissions of any new file, as the umask allows. (By default only the owner can access a temporary file.)
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder
}

#[cfg(target_os = "linux")]
mod unnamed {
    use std::fs::File;
    use std::io::Result;
    use std::os::fd::AsRawFd;
    use std::path::{Path, PathBuf};

    use rustix::fs::{AtFlags, CWD, Mode, OFlags};

    /// `None` if the file system has no unnamed files, or if the file could not be named later.
    pub(crate) fn create(folder: &Path) -> Option<File> {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(folder, flags, Mode::from_raw_mode(0o666)).ok()?);
        path(&file).exists().then_some(file)
    }

    pub(crate) fn name(file: &File, name: &Path) -> Result<()> {
        Ok(rustix::fs::linkat(CWD, path(file), CWD, name, AtFlags::SYMLINK_FOLLOW)?)
    }

    /// Path of the file while it has no name.
    fn path(file: &File) -> PathBuf {
        format!("/proc/self/fd/{}", file.as_raw_fd()).into()
    }
}

#[cfg(not(target_os = "linux"))]
mod unnamed {
    use std::fs::File;
    use std::io::{Error, ErrorKind, Result};
    use std::path::Path;

    pub(crate) fn create(_: &Path) -> Option<File> {
        None
    }

    pub(crate) fn name(_: &File, _: &Path) -> Result<()> {
        Err(Error::from(ErrorKind::Unsupported))
    }
}
