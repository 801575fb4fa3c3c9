//! GPUs through wgpu. This folder is the only one that names it.

pub(crate) mod adapters;
mod buffers;
pub(crate) mod cast;
pub(crate) mod device;
pub(crate) mod params;
pub(crate) mod picture;
pub(crate) mod probe;
pub(crate) mod shot;

pub(crate) use device::GpuDevice;
