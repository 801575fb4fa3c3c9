//! GPU devices: shaders, limits, device failures, cancellation, and queries recorded into the caller's command encoder.

mod encode;
mod faults;
mod hostile;
mod limits;
mod pieces;
mod subnormal;
