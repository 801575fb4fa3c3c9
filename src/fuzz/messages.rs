//! Fuzz target for error messages. They are short and printable for any path, any cell and any system file.

use std::path::PathBuf;

use crate::error::Error;
use crate::io::write::target::check_output;
use crate::shadow::system::System;

/// Limit of a message's length in bytes.
const LONGEST: usize = 2048;

/// Checks the text of an error: less than 2 KiB, no control characters, no characters that change the writing direction.
pub(crate) fn check_message(error: &Error) {
    let shown = error.to_string();
    assert!(shown.len() < LONGEST, "a message of {} bytes: {}", shown.len(), shown.escape_debug());
    let acts = |c: char| {
        c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!shown.contains(acts), "a terminal acts on {}", shown.escape_debug());
}

#[cfg(unix)]
fn path_of(data: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(data).into()
}

#[cfg(not(unix))]
fn path_of(data: &[u8]) -> PathBuf {
    String::from_utf8_lossy(data).into_owned().into()
}

/// `messages`: the input is used as a path, as a cell and as a text.
pub fn messages(data: &[u8]) {
    let (path, text) = (path_of(data), String::from_utf8_lossy(data).into_owned());
    // A long text of the same characters.
    let long = text.repeat(4096 / text.len().max(1));
    for text in [text, long] {
        for error in [
            Error::InvalidArgument(text.clone()),
            Error::BadFile { path: path.clone(), message: text.clone() },
            Error::io_message("read", path.clone(), text.clone()),
            Error::record("sphere", 3, "x", &text, "a centre must be finite"),
            Error::NoDevice { asked: text.clone(), seen: "none".into() },
        ] {
            check_message(&error);
        }
        if let Err(error) = System::parse(&text, &path) {
            check_message(&error);
        }
        // Driver messages may be long and contain line breaks.
        let said = Error::DeviceLost { device: text.clone(), message: text.clone() }.to_string();
        assert!(said.len() < 40_000 && !said.contains(|c: char| c.is_control() && c != '\n'), "{said:?}");
    }
    if let Err(error) = check_output(&path, &[]) {
        check_message(&error);
    }
}
