//! Checks of the files that a command writes, before any work.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use umbracast_files::{check_target, is_standard_stream};

/// A file to write.
pub(crate) struct OutputFile<'a> {
    pub(crate) path: &'a Path,
    /// Its name in messages: the option, or a description.
    pub(crate) name: &'static str,
    /// The content, with an article.
    pub(crate) content: &'static str,
    /// The extensions of its formats.
    pub(crate) extensions: &'static [&'static str],
}

impl OutputFile<'_> {
    /// Refuses an extension of another format.
    pub(crate) fn check_extension(&self) -> Result<()> {
        let Self { path, name, content, extensions } = *self;
        // Only the main output may be standard output.
        if is_standard_stream(path) && name.starts_with("--") {
            let example = extensions[0];
            let message = format!("{content} cannot go to standard output, `-`: give the name of a .{example} file");
            return Err(Error::Usage(message));
        }
        if is_standard_stream(path)
            || extensions.iter().any(|known| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(known)))
        {
            return Ok(());
        }
        // A folder or a device has no extension either.
        check_target(path)?;
        let known = extensions.join(" and .");
        let message = format!("cannot write {content} in this format: supported is .{known}");
        Err(Error::bad_file(path, message))
    }
}

/// Whether writing to one of `targets` would overwrite `input`.
pub(crate) fn overwrites(targets: &[PathBuf], input: &Path) -> bool {
    std::fs::canonicalize(input).is_ok_and(|input| targets.contains(&input))
}

/// The error for an output that is also an input.
pub(crate) fn is_input(path: &Path) -> Error {
    Error::bad_file(path, "is also an input: the results would overwrite it")
}

/// Refuses files of other formats, files that cannot be written, two files in one place, and a file on standard output together with
/// the JSON of `--json`. Returns the places.
pub(crate) fn check_outputs<'a>(files: impl IntoIterator<Item = OutputFile<'a>>, json: bool) -> Result<Vec<PathBuf>> {
    let mut targets: Vec<(PathBuf, &str)> = Vec::new();
    for file in files {
        file.check_extension()?;
        let target = check_target(file.path)?;
        if json && is_standard_stream(file.path) {
            return Err(Error::Usage("--json and `-o -` would both write to standard output".into()));
        }
        if let Some((_, other)) = targets.iter().find(|(known, _)| *known == target) {
            let message = format!("{other} and {} would both write this file", file.name);
            return Err(Error::bad_file(file.path, message));
        }
        targets.push((target, file.name));
    }
    Ok(targets.into_iter().map(|(target, _)| target).collect())
}
