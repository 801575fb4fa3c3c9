//! Ray generators: rays that are generated on the device.

mod emit;
mod refusals;
