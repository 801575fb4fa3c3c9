//! Text from files and from the system, made fit for a message: what a terminal would act on is escaped, long text is cut.

use std::borrow::Cow;
use std::path::Path;

/// Bytes of a cell, a line or a name that a message quotes at most.
const QUOTED: usize = 80;
/// Bytes of a path that a message shows at most: a third of them from its beginning, the rest from its end.
const PATH: usize = 360;
/// Bytes of one part of a message at most, however it was made.
const PART: usize = 1_400;

/// Escapes what is not printable, such as the control sequences of terminals. Line ends stay.
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

/// A cell, a line, a name or an argument as messages quote it, on one line: what is not printable is escaped, and text of more than
/// 80 bytes is cut.
pub fn quoted(text: &str) -> String {
    cut(text, QUOTED)
}

/// A file's name as messages show it.
pub(crate) fn path(path: &Path) -> String {
    let text = path.to_string_lossy();
    if text.len() <= PATH {
        return cut(&text, PATH);
    }
    let (start, end) = (cut(&text, PATH / 3), text.chars().rev().take(PATH / 3).collect::<String>());
    format!("{start}{}", cut(&end.chars().rev().collect::<String>(), PATH))
}

/// A part of a message that is one line.
pub(crate) fn line(text: &str) -> String {
    cut(text, PART)
}

/// A part of a message that may have several lines: what drivers say.
pub(crate) fn lines(text: &str) -> String {
    let kept: String = text.chars().take(2 * PART).collect();
    let more = if kept.len() < text.len() { "…" } else { "" };
    format!("{}{more}", printable(&kept))
}

/// Escapes text up to so many bytes; what is left out is `…`.
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

/// Whether a character needs no look at the tables.
fn is_plain(c: char) -> bool {
    matches!(c, ' '..='~')
}

fn escape(out: &mut String, c: char) {
    if is_plain(c) {
        return out.push(c);
    }
    // After another character: an accent alone is escaped, one on a letter is not.
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
    fn what_can_be_printed_stays() {
        for text in ["", "s.csv", "a 'b' \"c\" \\d", "größer als ½ µm", "e\u{301}te\u{301}", "星.npy"] {
            assert_eq!((quoted(text), printable(text)), (text.to_owned(), text.into()));
        }
        assert_eq!(printable("one\ntwo"), "one\ntwo");
        assert_eq!(line("one\ntwo"), "one\\ntwo");
    }

    #[test]
    fn what_a_terminal_acts_on_is_escaped() {
        let title = "\u{1b}]0;pwned\u{7}\u{1b}[2J\u{9b}31m\u{202e}x\r";
        assert_eq!(quoted(title), "\\u{1b}]0;pwned\\u{7}\\u{1b}[2J\\u{9b}31m\\u{202e}x\\r");
        assert_eq!(printable(title), quoted(title));
    }

    /// For any path, any cell and any text of the system.
    #[test]
    fn errors_are_short_and_printable() {
        let nasty: String = ('\0'..'\u{3000}').collect();
        let mut texts: Vec<String> = ["7", "\u{1b}[2J", "🙈", "\n", "é"].map(|piece| piece.repeat(100_000)).into();
        texts.push(nasty);
        for text in texts {
            let path = PathBuf::from(&text);
            // What drivers say may be long, and its bytes may be escaped.
            let said = Error::DeviceLost { device: text.clone(), message: text.clone() }.to_string();
            assert!(said.len() < 40_000 && !said.contains(|c: char| c.is_control() && c != '\n'), "{said:?}");
            for error in [
                Error::Usage(text.clone()),
                Error::BadFile { path: path.clone(), message: text.clone() },
                Error::Io { action: "read", path, message: text.clone() },
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
