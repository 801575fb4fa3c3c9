//! Hooks for the tests and tools. They are not part of the public interface.

use super::device::Device;
use crate::batch::input::Rays;
use crate::bvh::gpu_frame::GpuFrame;
use crate::bvh::qbvh4::node::QBvh4;
use crate::error::Result;
use crate::gpu::cast::raygen::generated_rays;
use crate::math::simd::level::SimdLevel;
use crate::records::{Ray, Sphere};
use crate::runtime::block_on::block_on;
use crate::runtime::cancel::CancelToken;
use crate::runtime::cpu_pool;

/// Generates rays on a GPU and reads them back as it casts them: infinite ends are the largest f32. Also returns the number of bytes
/// uploaded. `None` on the CPU engine.
///
/// # Errors
/// As a query with these rays.
pub fn made<'a>(device: &Device, rays: impl Into<Rays<'a>>) -> Result<Option<(Vec<Ray>, u64)>> {
    let source = rays.into().source;
    device.on_gpu().map(|gpu| block_on(generated_rays(gpu, source))).transpose()
}

/// Builds the BVH for GPUs on the CPU. Returns its number of nodes.
///
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn lbvh(spheres: &[Sphere]) -> Result<usize> {
    Ok(QBvh4::new(spheres, &GpuFrame::of(spheres), &CancelToken::new())?.nodes.len())
}

/// Number of threads of the CPU engine.
pub fn threads() -> usize {
    cpu_pool::threads()
}

/// Instruction sets of the CPU engine that this processor supports, fastest first.
pub fn levels() -> Vec<&'static str> {
    SimdLevel::all().into_iter().map(SimdLevel::name).collect()
}
