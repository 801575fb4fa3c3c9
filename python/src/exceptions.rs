//! Conversion of the library's errors to Python exceptions. `umbracast/_errors.py` defines those that Python lacks.

use pyo3::exceptions::{
    PyFileNotFoundError, PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;
use umbracast::Error;

/// Converts an error to the corresponding exception.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::BadRecord { what, index, field, value, .. } => {
            package_exception(py, "RecordError", (message, *what, *index, *field, value.as_str()))
        }
        Error::InvalidArgument(_) | Error::BadFile { .. } | Error::LengthsDiffer { .. } => {
            PyValueError::new_err(message)
        }
        Error::NoDevice { .. } => package_exception(py, "NoDeviceError", (message,)),
        Error::NoPrecision { .. } => package_exception(py, "PrecisionError", (message,)),
        Error::DeviceLost { .. } | Error::TimedOut { .. } | Error::DeviceFailed { .. } => {
            // The next call that names a device opens it again.
            let _ = py.import("umbracast._devices").and_then(|devices| devices.call_method0("forget_shared"));
            package_exception(py, "DeviceError", (message,))
        }
        Error::TooLarge { .. } | Error::OutOfMemory { .. } => PyMemoryError::new_err(message),
        Error::Io { path, .. } if !path.exists() => PyFileNotFoundError::new_err(message),
        Error::Io { .. } => PyOSError::new_err(message),
        Error::Cancelled { .. } => PyKeyboardInterrupt::new_err(message),
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
