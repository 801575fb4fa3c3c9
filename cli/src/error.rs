//! The errors of the program.

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

impl Error {
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
