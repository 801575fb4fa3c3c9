//! The error of this crate.

use std::borrow::Cow;

/// Result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error, with the values that help to correct its cause.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument is invalid: which one, its value, and what is allowed.
    #[error("{0}")]
    InvalidArgument(String),
    /// A place or a row of vectors is invalid, or the machine has too little memory.
    #[error(transparent)]
    Umbracast(#[from] umbracast::Error),
}

/// A name as messages show it: cut after 80 characters.
pub(crate) fn quoted(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

pub(crate) fn usage<T>(message: String) -> Result<T> {
    Err(Error::InvalidArgument(message))
}
