//! What system files and sensor files have in common: they are TOML, and short.

use std::io::Read;
use std::path::Path;

use serde::de::DeserializeOwned;

use super::errors::{bad_file, cannot_read};
use super::read::input::check_regular;
use crate::error::Result;
use crate::escape::quoted;

/// The longest such file, in bytes.
const LONGEST: u64 = 1 << 20;

/// The text of a file; `what` it is.
pub(crate) fn read_text(path: &Path, what: &str) -> Result<String> {
    let length = check_regular(path)?;
    let too_long = |bytes: u64| bad_file(path, format!("it has {bytes} bytes: a {what} file has at most {LONGEST}"));
    if length > LONGEST {
        return Err(too_long(length));
    }
    let mut bytes = Vec::new();
    // What the system makes up while it is read says that it has no bytes.
    let file = std::fs::File::open(path).map_err(|e| cannot_read(path, &e))?;
    file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(|e| cannot_read(path, &e))?;
    if bytes.len() as u64 > LONGEST {
        return Err(too_long(bytes.len() as u64));
    }
    String::from_utf8(bytes).map_err(|e| bad_file(path, format!("it is not UTF-8 text: {}", e.utf8_error())))
}

/// What the text says.
pub(crate) fn parse<T: DeserializeOwned>(text: &str, path: &Path) -> Result<T> {
    toml::from_str(text).map_err(|error| bad_file(path, fault(text, &error)))
}

/// What is wrong, and where: line, column, and the line itself.
fn fault(text: &str, error: &toml::de::Error) -> String {
    // Between backquotes is what somebody wrote.
    let message: Vec<String> = error.message().split('`').map(quoted).collect();
    let message = message.join("`");
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else { return message };
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let number = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before[start..].chars().count() + 1;
    let line = text[start..].lines().next().unwrap_or_default();
    // Of a long line the part that is wrong.
    let shown: String = line.chars().skip(column.saturating_sub(40)).take(80).collect();
    match shown.trim() {
        "" => format!("line {number}, column {column}: {message}"),
        shown => format!("line {number}, column {column}: {message}, in `{}`", quoted(shown)),
    }
}
