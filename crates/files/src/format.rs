//! File formats, determined by file name extensions.

use std::path::Path;

use crate::error::bad_file;
use crate::error::{Error, Result};
use crate::escape::quoted;

/// The path of standard input or standard output. A file of this name is `./-`.
pub const STANDARD_STREAM: &str = "-";

/// Whether a path stands for standard input or standard output.
pub fn is_standard_stream(path: &Path) -> bool {
    path.as_os_str() == STANDARD_STREAM
}

/// A format of standard input, of standard output and of files without an extension.
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
    /// The extension of files of this format, which is also its name in options.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Npy => "npy",
            Self::F32 => "f32",
        }
    }
}

/// The writer of a format (`write/create.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputKind {
    Npz,
    Csv,
    Parquet,
    Ply,
    /// A structured array.
    Npy,
    /// Raw records.
    Raw,
}

/// A format in which results are written.
#[derive(Debug)]
pub(crate) struct OutputFormat {
    /// Extension of the file name, in lower case.
    pub(crate) extension: &'static str,
    pub(crate) kind: OutputKind,
    /// Whether each row is a point: the results need columns `x`, `y` and `z`.
    pub(crate) needs_points: bool,
    /// Whether a row can have text, such as the cells of kept columns.
    pub(crate) has_text: bool,
    /// Minimum bytes per result, from its bytes in arrays; `None` if there is no such minimum.
    pub(crate) least_bytes: Option<fn(u64) -> u64>,
    /// Whether the disk contains the results twice while the file is completed.
    pub(crate) is_assembled: bool,
}

/// Raw records. The other formats differ from it.
const RAW: OutputFormat = OutputFormat {
    extension: "f32",
    kind: OutputKind::Raw,
    needs_points: false,
    has_text: false,
    least_bytes: Some(|bytes| bytes),
    is_assembled: false,
};

/// All formats of results.
pub(crate) const OUTPUT_FORMATS: &[OutputFormat] = &[
    OutputFormat { extension: "npz", kind: OutputKind::Npz, is_assembled: true, ..RAW },
    // At least a line end per result.
    OutputFormat { extension: "csv", kind: OutputKind::Csv, has_text: true, least_bytes: Some(|_| 1), ..RAW },
    OutputFormat { extension: "parquet", kind: OutputKind::Parquet, has_text: true, least_bytes: None, ..RAW },
    // Misses are not written.
    OutputFormat { extension: "ply", kind: OutputKind::Ply, needs_points: true, least_bytes: None, ..RAW },
    OutputFormat { extension: "npy", kind: OutputKind::Npy, is_assembled: true, ..RAW },
    RAW,
];

/// The format of results for the extension of `path`; without an extension, and for standard output, the `given` one. `None` if results
/// cannot be written in it.
pub(crate) fn output_format(path: &Path, given: Option<StreamFormat>) -> Option<&'static OutputFormat> {
    let named = || given.map_or("", StreamFormat::extension).to_owned();
    let extension = match extension(path) {
        _ if is_standard_stream(path) => given.unwrap_or_default().extension().into(),
        extension if extension.is_empty() => named(),
        extension => extension,
    };
    OUTPUT_FORMATS.iter().find(|format| format.extension == extension)
}

/// The extensions of the formats that `is_listed` selects, for messages: `.a, .b and .c` if `last` is "and".
pub(crate) fn output_extensions(is_listed: impl Fn(&OutputFormat) -> bool, last: &str) -> String {
    let listed = OUTPUT_FORMATS.iter().filter(|format| is_listed(format));
    let mut extensions: Vec<String> = listed.map(|format| format!(".{}", format.extension)).collect();
    match extensions.pop() {
        Some(end) if !extensions.is_empty() => format!("{} {last} {end}", extensions.join(", ")),
        end => end.unwrap_or_default(),
    }
}

/// Whether the format of `path` consists of points, as `.ply` does. Only results with a position can be written to it.
pub fn is_points_output(path: &Path) -> bool {
    output_format(path, None).is_some_and(|format| format.needs_points)
}

/// Whether a file is standard input or a pipe, which can be read only once.
pub fn is_pipe(path: &Path) -> bool {
    is_standard_stream(path) || std::fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir())
}

/// The extension in lower case; empty if there is none.
pub(crate) fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// Refuses `.parquet` files in a build without Parquet.
pub(crate) fn check_parquet(path: &Path) -> Result<()> {
    if extension(path) == "parquet" && cfg!(not(feature = "parquet")) { Err(without_parquet(path)) } else { Ok(()) }
}

/// The error for a `.parquet` file in a build without Parquet.
pub(crate) fn without_parquet(path: &Path) -> Error {
    let message = "this umbracast was built without Parquet: build it with `cargo build --release --features parquet`, \
        or use .csv, which has the same columns";
    bad_file(path, message)
}

pub(crate) fn describe(extension: &str) -> String {
    if extension.is_empty() { "a file without an extension".into() } else { format!("'.{}'", quoted(extension)) }
}
