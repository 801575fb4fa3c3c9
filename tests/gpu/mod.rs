//! GPU devices: shaders, limits, failures, and queries in the caller's own commands.

mod busy;
mod encode;
mod faults;
mod limits;
mod pieces;
mod shaders;
mod subnormal;
