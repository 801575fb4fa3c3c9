//! Fuzz targets for files, and the settings by which they change readers and writers on their own thread.

pub(crate) mod answers;
pub(crate) mod npy;
pub(crate) mod number;
pub(crate) mod parquet;
pub(crate) mod sources;

pub use answers::answers;
pub use npy::npy;
pub use number::number;
pub use parquet::parquet;
pub use sources::sources;

use std::cell::Cell;
use std::path::PathBuf;

use tempfile::TempDir;

thread_local! {
    /// Maximum rows per batch, and bytes per read, of the readers; 0 for the usual sizes.
    static CHUNK: Cell<usize> = const { Cell::new(0) };
    /// Maximum size in bytes of each file that is written, if set.
    static ROOM: Cell<Option<u64>> = const { Cell::new(None) };
    /// Folder of the input files.
    static FOLDER: TempDir = tempfile::tempdir().expect("a folder");
}

/// Writes an input to a file of this name. The next input of the same name replaces it.
fn written(name: &str, input: &[u8]) -> PathBuf {
    let path = FOLDER.with(|folder| folder.path().join(name));
    std::fs::write(&path, input).expect("it is short");
    path
}

/// Rows per batch of the readers: `usual`, or fewer if a target has set `CHUNK`.
pub(crate) fn chunk(usual: usize) -> usize {
    match CHUNK.get() {
        0 => usual,
        rows => rows.min(usual),
    }
}

/// The part of a buffer that one read may fill.
pub(crate) fn shortened(bytes: &mut [u8]) -> &mut [u8] {
    let length = bytes.len();
    &mut bytes[..chunk(length)]
}

/// Runs `work` while readers take at most `chunk` rows per batch and `chunk` bytes per read.
fn with_chunk<T>(chunk: usize, work: impl FnOnce() -> T) -> T {
    CHUNK.set(chunk);
    let done = work();
    CHUNK.set(0);
    done
}

/// An unnamed file of at most `ROOM` bytes; `None` if `ROOM` is not set.
#[cfg(target_os = "linux")]
pub(crate) fn cramped_file() -> Option<std::fs::File> {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
    let room = ROOM.get()?;
    let file = memfd_create("cramped", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).ok()?;
    ftruncate(&file, room).ok()?;
    fcntl_add_seals(&file, SealFlags::GROW).ok()?;
    Some(file.into())
}
