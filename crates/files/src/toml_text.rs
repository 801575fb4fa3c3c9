//! Reader and parser shared by system files and sensor files: short TOML texts.

use std::io::Read;
use std::path::Path;

use serde::de::DeserializeOwned;

use super::read::encoding::decode;
use super::read::input::check_regular;
use crate::error::Result;
use crate::error::{bad_file, cannot_read};
use crate::escape::quoted;

/// Maximum length of such a file in bytes.
const LONGEST: u64 = 1 << 20;

/// Reads the text of a file. `what` is the kind of file, for error messages.
pub(crate) fn read_text(path: &Path, what: &str) -> Result<String> {
    let length = check_regular(path)?;
    let too_long =
        |bytes: u64| bad_file(path, format!("the file has {bytes} bytes: a {what} file may have at most {LONGEST}"));
    if length > LONGEST {
        return Err(too_long(length));
    }
    let mut bytes = Vec::new();
    // The length is checked again, because files that the system generates report 0 bytes.
    let file = std::fs::File::open(path).map_err(|e| cannot_read(path, e))?;
    file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(|e| cannot_read(path, e))?;
    if bytes.len() as u64 > LONGEST {
        return Err(too_long(bytes.len() as u64));
    }
    decode(bytes).map_err(|why| bad_file(path, why))
}

/// Parses a TOML text.
pub(crate) fn parse<T: DeserializeOwned>(text: &str, path: &Path) -> Result<T> {
    toml::from_str(text).map_err(|error| {
        let is_toml = path.extension().is_none_or(|extension| extension.eq_ignore_ascii_case("toml"));
        let why = if is_toml { "" } else { "; is this the right file? It must be a .toml" };
        bad_file(path, fault(text, &error) + why)
    })
}

/// Error message with line, column and the line itself.
fn fault(text: &str, error: &toml::de::Error) -> String {
    // Text between backquotes comes from the file.
    let message: Vec<String> = error.message().split('`').map(quoted).collect();
    let mut message = message.join("`");
    // serde calls keys fields, and keywords variants.
    for (term, plain) in [
        ("missing field `", "missing key `"),
        ("unknown field `", "unknown key `"),
        ("unknown variant `", "unknown value `"),
    ] {
        if let Some(rest) = message.strip_prefix(term) {
            message = format!("{plain}{rest}");
        }
    }
    // serde's messages contain names of Rust types.
    for (name, plain) in
        [("f64", "a number"), ("u32", "a whole number from 0 to 4294967295"), ("u64", "a whole number of at least 0")]
    {
        if let Some(start) = message.strip_suffix(name).filter(|start| start.ends_with(", expected ")) {
            message = format!("{start}{plain}");
        }
    }
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else { return message };
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let number = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before[start..].chars().count() + 1;
    let line = text[start..].lines().next().unwrap_or_default();
    // A list of tables needs two brackets. The key is the last one of the line, without its brackets.
    let table =
        line.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).filter(|key| !key.starts_with('['));
    let is_duplicate = message == "duplicate key";
    match table {
        Some(key) if message.ends_with("expected a sequence") || (is_duplicate && key == "body") => {
            message = format!("a table of a list is written with two brackets, [[{}]]", quoted(key));
        }
        Some(key) if is_duplicate => {
            message = format!("there is one [{0}], and this is the second: put all keys into one [{0}]", quoted(key));
        }
        _ => {}
    }
    let list = line.trim().strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]"));
    let is_single = message.starts_with("invalid type") || message.starts_with("wanted exactly 1 element");
    if let Some(key) = list.filter(|_| is_single) {
        message = format!("there is one `{0}`, which is written with one bracket, [{0}]", quoted(key));
    }
    // Only the part of a long line around the error.
    let shown: String = line.chars().skip(column.saturating_sub(40)).take(80).collect();
    match shown.trim() {
        "" => format!("line {number}, column {column}: {message}"),
        shown => format!("line {number}, column {column}: {message}, in `{}`", quoted(shown)),
    }
}
