//! The command line `umbracast`, for the script of that name which is installed with the package.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command line and returns its exit code. The first argument is the name of the program.
#[pyfunction]
pub(crate) fn command_line(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| umbracast_cli::main_with(arguments))
}
