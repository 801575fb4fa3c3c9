//! Fuzz targets of files, and what they change in readers and writers on their own thread.

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
    /// Rows, and bytes, that readers take at a time; 0 for as many as ever.
    static CHUNK: Cell<usize> = const { Cell::new(0) };
    /// Where set, files that are written cannot become larger than this.
    static ROOM: Cell<Option<u64>> = const { Cell::new(None) };
    /// Where inputs are written.
    static FOLDER: TempDir = tempfile::tempdir().expect("a folder");
}

/// Writes an input into a file of that name; the next of that name replaces it.
fn written(name: &str, input: &[u8]) -> PathBuf {
    let path = FOLDER.with(|folder| folder.path().join(name));
    std::fs::write(&path, input).expect("it is short");
    path
}

/// Rows that readers take at a time, where a target has set that.
pub(crate) fn chunk(usual: usize) -> usize {
    match CHUNK.get() {
        0 => usual,
        rows => rows.min(usual),
    }
}

/// The part of a buffer that one read fills.
pub(crate) fn shortened(bytes: &mut [u8]) -> &mut [u8] {
    let length = bytes.len();
    &mut bytes[..chunk(length)]
}

/// Runs `work` while readers take at most `chunk` rows, and bytes, at a time.
fn with_chunk<T>(chunk: usize, work: impl FnOnce() -> T) -> T {
    CHUNK.set(chunk);
    let done = work();
    CHUNK.set(0);
    done
}

/// A file without a name that cannot become larger than `ROOM`; none where that is not set.
#[cfg(target_os = "linux")]
pub(crate) fn cramped_file() -> Option<std::fs::File> {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
    let room = ROOM.get()?;
    let file = memfd_create("cramped", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).ok()?;
    ftruncate(&file, room).ok()?;
    fcntl_add_seals(&file, SealFlags::GROW).ok()?;
    Some(file.into())
}
