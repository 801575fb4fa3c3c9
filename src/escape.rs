//! Escaping of text from files and from the system for messages: control characters are escaped, and long text is truncated.

use std::borrow::Cow;
use std::path::Path;

/// Maximum number of bytes of a quoted cell, line or name.
const QUOTED: usize = 80;
/// A path of more bytes than this is shortened: to `PATH / 3` bytes from its beginning and at most `PATH / 3` characters from its end.
const PATH: usize = 360;
/// Maximum number of bytes of a one-line part of a message. A part with several lines may have twice as many characters.
const PART: usize = 1_400;

/// Escapes non-printable characters, such as terminal control sequences. Line breaks are kept.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| c == '\n' || is_plain(c)) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for (i, line) in text.split('\n').enumerate() {
        if i > 0 {
            out.push('\n');
        }
        line.chars().for_each(|c| escape(&mut out, c));
    }
    out.into()
}

/// Quotes a cell, a line, a name or an argument for a message, on one line. Non-printable characters are escaped, and text of more than 80
/// bytes is truncated.
pub fn quoted(text: &str) -> String {
    cut(text, QUOTED)
}

/// The path of a file, as messages show it.
pub(crate) fn path(path: &Path) -> String {
    let text = path.to_string_lossy();
    if text.len() <= PATH {
        return cut(&text, PATH);
    }
    let (start, end) = (cut(&text, PATH / 3), text.chars().rev().take(PATH / 3).collect::<String>());
    format!("{start}{}", cut(&end.chars().rev().collect::<String>(), PATH))
}

/// A one-line part of a message.
pub(crate) fn line(text: &str) -> String {
    cut(text, PART)
}

/// A part of a message that may have several lines, such as a driver's message.
pub(crate) fn lines(text: &str) -> String {
    let kept: String = text.chars().take(2 * PART).collect();
    let more = if kept.len() < text.len() { "…" } else { "" };
    format!("{}{more}", printable(&kept))
}

/// Escapes text up to `most` bytes; `…` marks a truncation.
fn cut(text: &str, most: usize) -> String {
    let mut out = String::with_capacity(text.len().min(most));
    for c in text.chars() {
        let before = out.len();
        escape(&mut out, c);
        if out.len() > most {
            out.truncate(before);
            out.push('…');
            break;
        }
    }
    out
}

/// Whether a character is printable ASCII, which needs no look-up in Unicode tables.
fn is_plain(c: char) -> bool {
    matches!(c, ' '..='~')
}

fn escape(out: &mut String, c: char) {
    if is_plain(c) {
        return out.push(c);
    }
    // `escape_debug` escapes a combining accent at the start of a string, but not after a letter: hence the `a` before it.
    let mut pair = String::from("a");
    pair.push(c);
    out.extend(pair.escape_debug().skip(1));
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::error::Error;

    #[test]
    fn printable_text_is_not_escaped() {
        for text in ["", "s.csv", "a 'b' \"c\" \\d", "größer als ½ µm", "e\u{301}te\u{301}", "星.npy"] {
            assert_eq!((quoted(text), printable(text)), (text.to_owned(), text.into()));
        }
        assert_eq!(printable("one\ntwo"), "one\ntwo");
        assert_eq!(line("one\ntwo"), "one\\ntwo");
    }

    #[test]
    fn terminal_control_sequences_are_escaped() {
        let title = "\u{1b}]0;pwned\u{7}\u{1b}[2J\u{9b}31m\u{202e}x\r";
        assert_eq!(quoted(title), "\\u{1b}]0;pwned\\u{7}\\u{1b}[2J\\u{9b}31m\\u{202e}x\\r");
        assert_eq!(printable(title), quoted(title));
    }

    /// Holds for any path, any cell and any text of the system.
    #[test]
    fn errors_are_short_and_printable() {
        let control_characters: String = ('\0'..'\u{3000}').collect();
        let mut texts: Vec<String> = ["7", "\u{1b}[2J", "🙈", "\n", "é"].map(|piece| piece.repeat(100_000)).into();
        texts.push(control_characters);
        for text in texts {
            let path = PathBuf::from(&text);
            // Driver messages may be long, and their bytes may be escaped.
            let said = Error::DeviceLost { device: text.clone(), message: text.clone() }.to_string();
            assert!(said.len() < 40_000 && !said.contains(|c: char| c.is_control() && c != '\n'), "{said:?}");
            for error in [
                Error::InvalidArgument(text.clone()),
                Error::BadFile { path: path.clone(), message: text.clone() },
                Error::io_message("read", path, text.clone()),
                Error::record("sphere", 3, "x", &text, text.clone()),
                Error::NoDevice { asked: text.clone(), seen: "none".into() },
            ] {
                let shown = error.to_string();
                assert!(shown.len() < 4096, "{} bytes: {shown}", shown.len());
                assert!(!shown.contains(char::is_control), "{shown:?}");
            }
        }
    }
}
