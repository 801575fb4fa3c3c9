//! The errors of the program.

use umbracast_files::escape::printable;

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a command failed. [`crate::signals::exit_code`] has the exit codes.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Umbracast(#[from] umbracast::Error),
    #[error(transparent)]
    Files(#[from] umbracast_files::Error),
    #[error(transparent)]
    Sky(#[from] umbracast_sky::Error),
    /// An option is invalid.
    #[error("{0}")]
    Usage(String),
    /// There is no eclipse on a day.
    #[error("{0}")]
    NoEclipse(String),
    /// `--compare` found results outside the promised bounds.
    #[error("guarantee violated: {0}")]
    BrokenPromise(String),
}

/// Maximum number of characters of a message.
const MESSAGE: usize = 4_000;

impl Error {
    /// The message, for the terminal: escaped, and cut after 4,000 characters.
    pub(crate) fn printable(&self) -> String {
        // The engine counts rays, also of points and of bullets, and not of all of its calls.
        let is_stopped = matches!(self.of_records(), Some(umbracast::Error::Cancelled { .. }));
        let text = if is_stopped { "stopped".into() } else { self.to_string() };
        match text.char_indices().nth(MESSAGE) {
            Some((end, _)) => format!("{}…", printable(&text[..end])),
            None => printable(&text).into_owned(),
        }
    }

    /// Error for a file that a command cannot use.
    pub(crate) fn bad_file(path: impl Into<std::path::PathBuf>, message: impl Into<String>) -> Self {
        umbracast_files::Error::BadFile { path: path.into(), message: message.into() }.into()
    }

    /// Error for a file that cannot be written.
    pub(crate) fn cannot_write(path: impl Into<std::path::PathBuf>, error: std::io::Error) -> Self {
        umbracast_files::Error::io("write", path, error).into()
    }

    /// The error of the engine, also of records in a file; `None` for other errors.
    pub(crate) fn of_records(&self) -> Option<&umbracast::Error> {
        match self {
            Self::Umbracast(error)
            | Self::Files(umbracast_files::Error::Umbracast(error))
            | Self::Sky(umbracast_sky::Error::Umbracast(error)) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Error;

    #[test]
    fn messages_are_short_and_printable() {
        for piece in ["7", "\u{1b}[2J", "🙈", "é"] {
            let shown = Error::Usage(piece.repeat(100_000)).printable();
            assert!(shown.len() < 40_000 && !shown.contains(char::is_control), "{shown:?}");
        }
        assert_eq!(Error::Usage("one\ntwo".into()).printable(), "one\ntwo");
    }
}
