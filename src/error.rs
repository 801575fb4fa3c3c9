//! All errors of this library, as one enum.

use std::borrow::Cow;

/// Result type of this library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error, with the values that help to correct its cause.
///
/// Messages of drivers are part of it as they are: escape control characters before you print them to a terminal.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A sphere, a ray or another record is invalid: which one, which field, which value, and why.
    #[error("{what} {index}: {field} is {value}: {why}")]
    BadRecord {
        /// Kind of record, such as `sphere` or `ray`.
        what: &'static str,
        /// Its index in the input, from 0.
        index: u64,
        /// The field, as named in the records.
        field: &'static str,
        /// The value as text.
        value: String,
        /// The rule that the value violates.
        why: Cow<'static, str>,
    },
    /// An argument is invalid.
    #[error("{0}")]
    InvalidArgument(String),
    /// Lists that belong together differ in length.
    #[error("{left} {left_name} and {right} {right_name}: the counts must be equal")]
    LengthsDiffer {
        /// Contents of the first list, such as `rays`.
        left_name: &'static str,
        /// Its length.
        left: u64,
        /// Contents of the second list.
        right_name: &'static str,
        /// Its length.
        right: u64,
    },
    /// No device matches the request.
    #[error("no device '{asked}': {seen}")]
    NoDevice {
        /// The requested device.
        asked: String,
        /// The available devices, and software to install.
        seen: String,
    },
    /// The device cannot guarantee the requested precision.
    #[error("{device} cannot guarantee precision '{asked}': {why}; use {instead}")]
    NoPrecision {
        /// The device's name.
        device: String,
        /// The requested precision.
        asked: &'static str,
        /// The reason, such as the findings of the probe.
        why: String,
        /// The alternative to use.
        instead: &'static str,
    },
    /// More memory is needed than the device or a format allows. Nothing was allocated.
    #[error("{what}: {asked} bytes needed, {allowed} allowed on {device}")]
    TooLarge {
        /// The data that are too large, such as `spheres`.
        what: &'static str,
        /// Bytes needed.
        asked: u64,
        /// Bytes allowed.
        allowed: u64,
        /// The device, machine or format that sets the limit.
        device: String,
    },
    /// The device ran out of memory.
    #[error("{device} is out of memory: {message}")]
    OutOfMemory {
        /// The device's name.
        device: String,
        /// Message of the driver.
        message: String,
    },
    /// The device is gone: unplugged, reset, or destroyed by its owner.
    #[error("{device} was lost: {message}")]
    DeviceLost {
        /// The device's name.
        device: String,
        /// Message of the driver.
        message: String,
    },
    /// The device did not finish within the time limit.
    #[error("{device} did not finish within {limit:?}")]
    TimedOut {
        /// The device's name.
        device: String,
        /// The time limit; see [`Limits`](crate::Limits).
        limit: std::time::Duration,
    },
    /// The device refused a command: a defect of this library or of the driver.
    #[error("{device} failed to run a command (please report this): {message}")]
    DeviceFailed {
        /// The device's name.
        device: String,
        /// Message of the device.
        message: String,
    },
    /// Cancelled. Discard partial results.
    #[error("stopped after {done} rays")]
    Cancelled {
        /// Rays processed before the cancellation.
        done: u64,
    },
}

impl Error {
    /// The [`BadRecord`](Self::BadRecord) of a value that violates the rule `why`.
    pub fn record(
        what: &'static str,
        index: u64,
        field: &'static str,
        value: impl ToString,
        why: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::BadRecord { what, index, field, value: value.to_string(), why: why.into() }
    }
}
