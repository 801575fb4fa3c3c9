//! File formats, determined by file name extensions.

use std::path::Path;

use super::errors::bad_file;
#[cfg(test)]
use super::no_parquet_tests;
use crate::error::Result;
use crate::escape::quoted;

/// The extension in lower case; empty if there is none.
pub(crate) fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// Refuses `.parquet` files in a build without Parquet.
pub(crate) fn check_parquet(path: &Path) -> Result<()> {
    if extension(path) != "parquet" || has_parquet() {
        return Ok(());
    }
    let message = "this umbracast was built without Parquet: build it with `cargo build --release --features parquet`, \
        or use .csv, which has the same columns";
    Err(bad_file(path, message))
}

fn has_parquet() -> bool {
    #[cfg(test)]
    if no_parquet_tests::WITHOUT_PARQUET.get() {
        return false;
    }
    cfg!(feature = "parquet")
}

pub(crate) fn describe(extension: &str) -> String {
    if extension.is_empty() { "a file without an extension".into() } else { format!("'.{}'", quoted(extension)) }
}
