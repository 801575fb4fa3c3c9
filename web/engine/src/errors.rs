//! Errors of the library as JavaScript objects: `{ name, message }`, and for a bad record its index, field and value.

use js_sys::{Object, Reflect};
use umbracast::Error;
use wasm_bindgen::prelude::*;

/// An error that JavaScript sees.
pub struct JsError(JsValue);

/// Result of an exported function.
pub type Result<T, E = JsError> = std::result::Result<T, E>;

impl From<JsError> for JsValue {
    fn from(error: JsError) -> Self {
        error.0
    }
}

impl JsError {
    /// An error with a name, which is that of its kind, and a message.
    pub(crate) fn new(name: &str, message: &str) -> Self {
        Self(record([("name", name.into()), ("message", message.into())]))
    }
}

/// The error for an option that has another number of numbers.
pub(crate) fn wrong_count(name: &str, count: usize, expected: usize) -> JsError {
    Error::InvalidArgument(format!("{name} has {count} numbers: expected {expected}")).into()
}

impl From<Error> for JsError {
    fn from(error: Error) -> Self {
        let name = match &error {
            Error::BadRecord { .. } => "BadRecord",
            Error::InvalidArgument(_) => "InvalidArgument",
            Error::LengthsDiffer { .. } => "LengthsDiffer",
            Error::NoDevice { .. } => "NoDevice",
            Error::NoPrecision { .. } => "NoPrecision",
            Error::TooLarge { .. } => "TooLarge",
            Error::OutOfMemory { .. } => "OutOfMemory",
            Error::DeviceLost { .. } => "DeviceLost",
            Error::TimedOut { .. } => "TimedOut",
            Error::Cancelled { .. } => "Cancelled",
            // The library may have more kinds later.
            _ => "DeviceFailed",
        };
        let message = match &error {
            // What the library takes for the machine is this module.
            Error::OutOfMemory { device, message } if device == "this machine" => {
                format!(
                    "a module of WebAssembly has 4 GiB of memory, and 2 GiB for one list: {message}; ask for fewer at once"
                )
            }
            _ => error.to_string(),
        };
        let found = Self::new(name, &message);
        if let Error::BadRecord { what, index, field, value, .. } = error {
            let more = [("what", what.into()), ("field", field.into()), ("value", value.into())];
            set(&found.0, more);
            set(&found.0, [("index", (index as f64).into())]);
        }
        found
    }
}

/// A JavaScript object with these properties.
pub(crate) fn record<const N: usize>(properties: [(&str, JsValue); N]) -> JsValue {
    let object = Object::new().into();
    set(&object, properties);
    object
}

/// Adds properties to an object.
pub(crate) fn set<const N: usize>(object: &JsValue, properties: [(&str, JsValue); N]) {
    for (name, value) in properties {
        // A plain object takes any property.
        let _ = Reflect::set(object, &name.into(), &value);
    }
}
