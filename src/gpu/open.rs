//! Opens a GPU, and probes its arithmetic before any query can use it.

use wgpu::BufferUsages;

use super::context::device::GpuContext;
use super::context::pipelines::KernelConstants;
use super::engine::GpuEngine;
use super::probe::{self, Probe, RESULTS, ROWS};
use super::programs::{self, ShaderEdit};
use super::uniforms::Params;
use crate::error::Result;
use crate::query::policy::Query;
use crate::runtime::limits::Limits;

impl GpuEngine {
    /// Opens an adapter and probes it.
    pub(crate) async fn open(adapter: &wgpu::Adapter, limits: Limits, edit: Option<ShaderEdit>) -> Result<Self> {
        Self::new(GpuContext::open(adapter, limits, edit).await?).probed().await
    }

    /// Uses a device of the caller, and probes it. Sets no callbacks on it.
    pub(crate) async fn adopt(device: wgpu::Device, queue: wgpu::Queue, edit: Option<ShaderEdit>) -> Result<Self> {
        Self::new(GpuContext::adopt(device, queue, edit)).probed().await
    }

    async fn probed(mut self) -> Result<Self> {
        self.probe = run(&self).await?;
        if !self.probe.rounds_correctly() {
            // The first result turns the correction on.
            self.probe = run(&self).await?;
        }
        Ok(self)
    }
}

/// Runs the probe program and evaluates its results.
async fn run(gpu: &GpuEngine) -> Result<Probe> {
    let (rays, spheres) = probe::rows();
    let pipeline = gpu.pipeline(&programs::PROBE, KernelConstants::default()).await?;
    let params = Params { ray_count: ROWS as u32, ..Params::of(&Query::default()) };
    let params_buffer = gpu.uniform("probe params", &params).await?;
    let (rays_buffer, spheres_buffer) =
        (gpu.filled("probe rays", &rays).await?, gpu.filled("probe spheres", &spheres).await?);
    let bytes = (ROWS * RESULTS * 16) as u64;
    let out = gpu.buffer("probe results", bytes, BufferUsages::STORAGE | BufferUsages::COPY_SRC).await?;
    let staging = gpu.buffer("probe staging", bytes, BufferUsages::MAP_READ | BufferUsages::COPY_DST).await?;
    let group = gpu.bind(&pipeline, &[(0, &params_buffer), (1, &spheres_buffer), (2, &rays_buffer), (3, &out)]).await?;
    let _ = gpu.dispatch(&pipeline, &group, (ROWS / 64) as u32).await?;
    let mut results = vec![[[0f32; 4]; RESULTS]; ROWS];
    let target: &mut [u8] = bytemuck::cast_slice_mut(&mut results);
    gpu.read_in_place(&out, &staging, bytes, gpu.watchdog(), |view| target.copy_from_slice(view)).await?;
    Ok(probe::evaluate(&rays, &spheres, &results))
}
