//! Bytes of text files as characters, for all readers: UTF-8, with or without a byte order mark; bytes that are not UTF-8 are read as
//! Windows-1252, which contains Latin-1. UTF-16 is refused.

/// The byte order mark of UTF-8, which is no part of a text.
pub(crate) const MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// Error message for a text in UTF-16.
pub(crate) const UTF_16: &str = "the text is UTF-16: save the file as UTF-8";

/// The characters 0x80 to 0x9f of Windows-1252. The others have the numbers of Unicode.
const HIGH: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";

/// Decodes a line or a whole text. A byte order mark at its start is removed.
pub(crate) fn decode(mut bytes: Vec<u8>) -> Result<String, &'static str> {
    if is_utf_16(&bytes) {
        return Err(UTF_16);
    }
    if bytes.starts_with(&MARK) {
        bytes.drain(..MARK.len());
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| characters(error.as_bytes())))
}

/// Whether a text begins with a byte order mark of UTF-16, or with a character of two bytes one of which is 0.
pub(crate) fn is_utf_16(bytes: &[u8]) -> bool {
    matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, (1..), ..] | [(1..), 0, (1..), 0, ..])
}

/// Characters of a text that is not UTF-8.
pub(crate) fn characters(bytes: &[u8]) -> String {
    let high = |byte: u8| HIGH.chars().nth(usize::from(byte - 0x80)).unwrap_or_default();
    bytes.iter().map(|&byte| if (0x80..0xa0).contains(&byte) { high(byte) } else { byte.into() }).collect()
}
