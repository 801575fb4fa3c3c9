//! Conversion of the library's errors to Python exceptions. `umbracast/_errors.py` defines those that Python lacks.

use pyo3::exceptions::{
    PyFileNotFoundError, PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of any of the crates.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) enum Error {
    Umbracast(#[from] umbracast::Error),
    Files(#[from] umbracast_files::Error),
    Sky(#[from] umbracast_sky::Error),
}

/// The error of an invalid argument.
pub(crate) fn usage(message: impl Into<String>) -> Error {
    umbracast::Error::InvalidArgument(message.into()).into()
}

/// Converts an error to the corresponding exception.
pub(crate) fn exception(py: Python<'_>, error: impl Into<Error>) -> PyErr {
    use umbracast::Error as Records;
    use umbracast_files::Error as Files;
    let error = match error.into() {
        Error::Umbracast(error)
        | Error::Files(Files::Umbracast(error))
        | Error::Sky(umbracast_sky::Error::Umbracast(error)) => error,
        Error::Files(error @ Files::Io { .. }) => {
            let is_missing = matches!(&error, Files::Io { path, .. } if !path.exists());
            let message = error.to_string();
            return if is_missing { PyFileNotFoundError::new_err(message) } else { PyOSError::new_err(message) };
        }
        Error::Files(error) => return PyValueError::new_err(error.to_string()),
        Error::Sky(error) => return PyValueError::new_err(error.to_string()),
    };
    let message = error.to_string();
    match &error {
        Records::BadRecord { what, index, field, value, .. } => {
            package_exception(py, "RecordError", (message, *what, *index, *field, value.as_str()))
        }
        Records::InvalidArgument(_) | Records::LengthsDiffer { .. } => PyValueError::new_err(message),
        Records::NoDevice { .. } => package_exception(py, "NoDeviceError", (message,)),
        Records::NoPrecision { .. } => package_exception(py, "PrecisionError", (message,)),
        Records::DeviceLost { .. } | Records::TimedOut { .. } | Records::DeviceFailed { .. } => {
            // The next call that names a device opens it again.
            let _ = py.import("umbracast._devices").and_then(|devices| devices.call_method0("forget_shared"));
            package_exception(py, "DeviceError", (message,))
        }
        Records::TooLarge { .. } | Records::OutOfMemory { .. } => PyMemoryError::new_err(message),
        Records::Cancelled { .. } => PyKeyboardInterrupt::new_err(message),
        _ => PyRuntimeError::new_err(message),
    }
}

/// The `ForkError` for a forked process, which lacks the threads of its parent.
pub(crate) fn fork_error(py: Python<'_>) -> PyErr {
    let message = "this process was forked from one that had used umbracast, and lacks its threads and devices: start it with \
        multiprocessing.get_context('spawn') or 'forkserver', or use umbracast only after the fork";
    package_exception(py, "ForkError", (message,))
}

fn package_exception<'py>(py: Python<'py>, class: &str, arguments: impl pyo3::call::PyCallArgs<'py>) -> PyErr {
    let made = py.import("umbracast._errors").and_then(|errors| errors.getattr(class)?.call1(arguments));
    made.map_or_else(|error| error, PyErr::from_value)
}
