//! File formats, determined by file name extensions.

use std::path::Path;

use super::errors::bad_file;
#[cfg(test)]
use super::no_parquet_tests;
use crate::error::{Error, Result};
use crate::escape::quoted;

/// The path of standard input or standard output. A file of this name is `./-`.
pub const STANDARD_STREAM: &str = "-";

/// Whether a path stands for standard input or standard output.
pub fn is_standard_stream(path: &Path) -> bool {
    path.as_os_str() == STANDARD_STREAM
}

/// A format of standard input and standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamFormat {
    /// Text with named columns.
    #[default]
    Csv,
    /// One array of NumPy. Results with several columns are a structured array.
    Npy,
    /// Raw little-endian records without a header. Results have the types that they have in `.npz`, row by row.
    F32,
}

impl StreamFormat {
    /// The extension of files of this format.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Npy => "npy",
            Self::F32 => "f32",
        }
    }
}

/// A format in which results are written.
#[derive(Debug)]
pub(crate) struct OutputFormat {
    /// Extension of the file name, in lower case.
    pub(crate) extension: &'static str,
    /// Minimum bytes per result, from its bytes in arrays; `None` if there is no such minimum.
    pub(crate) least_bytes: Option<fn(u64) -> u64>,
    /// Whether the disk contains the results twice while the file is completed.
    pub(crate) is_assembled: bool,
}

/// All formats of results.
pub(crate) const OUTPUT_FORMATS: [OutputFormat; 3] = [
    OutputFormat { extension: "npz", least_bytes: Some(|bytes| bytes), is_assembled: true },
    // At least a line end per result.
    OutputFormat { extension: "csv", least_bytes: Some(|_| 1), is_assembled: false },
    OutputFormat { extension: "parquet", least_bytes: None, is_assembled: false },
];

/// The format of results for the extension of `path`; `None` if results cannot be written in it.
pub(crate) fn output_format(path: &Path) -> Option<&'static OutputFormat> {
    let extension = extension(path);
    OUTPUT_FORMATS.iter().find(|format| format.extension == extension)
}

/// The extension in lower case; empty if there is none.
pub(crate) fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// Refuses `.parquet` files in a build without Parquet.
pub(crate) fn check_parquet(path: &Path) -> Result<()> {
    if extension(path) != "parquet" || has_parquet() {
        return Ok(());
    }
    Err(without_parquet(path))
}

/// The error for a `.parquet` file in a build without Parquet.
pub(crate) fn without_parquet(path: &Path) -> Error {
    let message = "this umbracast was built without Parquet: build it with `cargo build --release --features parquet`, \
        or use .csv, which has the same columns";
    bad_file(path, message)
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
