//! Rays that are generated on the device.

mod emit;
