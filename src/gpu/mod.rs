//! GPUs through wgpu. This folder is the only one that names it.

pub(crate) mod adapters;
pub(crate) mod beside;
pub(crate) mod bound;
mod buffers;
pub(crate) mod cast;
pub(crate) mod device;
pub(crate) mod emit;
pub(crate) mod encode;
pub(crate) mod gather;
pub(crate) mod lists;
mod moved;
mod pace;
pub(crate) mod params;
pub(crate) mod picture;
mod pipelines;
pub(crate) mod plan;
pub(crate) mod plant;
#[cfg(test)]
mod plant_tests;
mod planted;
pub(crate) mod probe;
pub(crate) mod readback;
mod refit;
mod settle;
pub(crate) mod shot;
mod slot;
pub(crate) mod spheres;
mod steps;
mod ways;

pub(crate) use device::GpuDevice;
pub(crate) use settle::GpuQuery;
pub(crate) use spheres::GpuScene;
