//! GPU devices: shaders, limits, device failures, cancellation, and queries recorded into the caller's command encoder.

mod encode;
mod faults;
mod limits;
mod measure_gpu;
mod pieces;
mod subnormal;
