//! The public objects: devices, scenes and their queries.

pub(crate) mod backend;
pub(crate) mod cast;
pub(crate) mod contains;
pub(crate) mod device;
#[cfg(feature = "gpu")]
pub(crate) mod encode;
pub(crate) mod hit_attributes;
pub(crate) mod hit_lists;
pub(crate) mod memory_estimate;
mod near;
#[cfg_attr(not(feature = "gpu"), path = "no_gpu.rs")]
mod on_gpu;
pub(crate) mod one_ray;
#[allow(clippy::module_inception, reason = "it defines `Scene`")]
pub(crate) mod scene;
pub(crate) mod single_ray;
pub(crate) mod update;
