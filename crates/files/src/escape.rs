//! Text from files and arguments as messages show it: control characters are escaped, and long text is cut.

use std::borrow::Cow;

/// Maximum number of bytes of quoted text.
const QUOTED: usize = 80;

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

/// Quotes a cell, a name or an argument, on one line: escaped, and cut after 80 bytes.
pub fn quoted(text: &str) -> String {
    cut(text, QUOTED)
}

/// Text without characters that XML reserves.
pub fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Escapes text up to `most` bytes; `…` marks a cut.
pub(crate) fn cut(text: &str, most: usize) -> String {
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
    use super::*;

    #[test]
    fn printable_text_is_not_escaped() {
        for text in ["", "s.csv", "a 'b' \"c\" \\d", "größer als ½ µm", "e\u{301}te\u{301}", "星.npy"] {
            assert_eq!((quoted(text), printable(text)), (text.to_owned(), text.into()));
        }
        assert_eq!(printable("one\ntwo"), "one\ntwo");
        assert_eq!(quoted("one\ntwo"), "one\\ntwo");
    }

    #[test]
    fn terminal_control_sequences_are_escaped() {
        let title = "\u{1b}]0;pwned\u{7}\u{1b}[2J\u{9b}31m\u{202e}x\r";
        assert_eq!(quoted(title), "\\u{1b}]0;pwned\\u{7}\\u{1b}[2J\\u{9b}31m\\u{202e}x\\r");
        assert_eq!(printable(title), quoted(title));
    }
}
