//! GPU devices: shaders, limits, device failures, cancellation, and queries recorded into the caller's command encoder.
//!
//! llvmpipe (Mesa 22.3) has no `robustBufferAccess2`, so wgpu limits every index of a storage buffer there, as it does on Metal.

mod encode;
mod faults;
mod hostile;
mod limits;
mod measure_gpu;
mod pieces;
mod subnormal;
