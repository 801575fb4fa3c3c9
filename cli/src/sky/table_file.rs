//! Tables that are written to a file: CSV or JSON, by the extension.

use std::path::Path;

use crate::error::Result;
use serde_json::Value;
use umbracast_files::write_atomic;

use crate::outputs::{OutputFile, check_outputs, is_input, overwrites};

/// Formats of the file.
const EXTENSIONS: [&str; 2] = ["csv", "json"];

/// Refuses, before any work, another format, a file that cannot be written, and one of the `inputs`.
pub(crate) fn check(path: &Path, inputs: &[&Path]) -> Result<()> {
    let file = OutputFile { path, name: "the table", content: "a table", extensions: &EXTENSIONS };
    let targets = check_outputs([file])?;
    if inputs.iter().any(|input| overwrites(&targets, input)) { Err(is_input(path)) } else { Ok(()) }
}

/// Writes the table. It appears complete or not at all.
pub(crate) fn write(path: &Path, csv: impl FnOnce() -> String, json: impl FnOnce() -> Value) -> Result<()> {
    let is_json = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
    let text = if is_json { format!("{}\n", json()) } else { csv() };
    Ok(write_atomic(path, |out| std::io::Write::write_all(out, text.as_bytes()))?)
}
