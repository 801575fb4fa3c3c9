//! A GPU device: adapters, buffers, pipelines, submissions and their timing.

pub(crate) mod adapters;
pub(crate) mod buffers;
pub(crate) mod device;
pub(crate) mod dispatch;
pub(crate) mod pipelines;
pub(crate) mod throughput;
#[cfg_attr(target_arch = "wasm32", path = "wait_web.rs")]
mod wait;
