//! Scenes whose spheres are in a buffer of the caller, and never on the host.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use glam::Vec3;
use wgpu::{Buffer, BufferSlice, BufferUsages, CommandEncoder};

use super::pass::{bound, window};
use crate::bvh::gpu_frame::GpuFrame;
use crate::error::{Error, Result};
use crate::gpu::bvh::resident::GpuBvh;
use crate::gpu::context::dispatch::{Groups, Step, THREADS};
use crate::gpu::context::pipelines::KernelConstants;
use crate::gpu::engine::GpuEngine;
use crate::gpu::programs;
use crate::gpu::scene::{GpuScene, ScenePart};
use crate::query::policy::Precision;
use crate::query::validate::usage;
use crate::records::Sphere;
use crate::runtime::block_on::block_on;
use crate::runtime::cancel::CancelToken;

/// Uniform of the program that takes the caller's spheres. Twin of `SphereTask` in `shaders/encode/take_spheres.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct SphereTask {
    pub(crate) low: [f32; 3],
    pub(crate) count: u32,
    pub(crate) high: [f32; 3],
    pub(crate) spheres_at: u32,
}

/// A scene over spheres in a [`wgpu::Buffer`] of the caller, whose shaders move them: a simulation of particles, for example. Neither
/// spheres nor results pass through the host. [`Device::resident_scene`](crate::Device::resident_scene) makes it and documents the
/// contract.
pub struct ResidentScene {
    pub(crate) gpu: Arc<GpuEngine>,
    pub(crate) scene: Arc<GpuScene>,
    /// Copies the caller's spheres, and counts the bad ones.
    take: Step,
    bad: Buffer,
    /// Fits the BVH to the copies.
    refit: Vec<Step>,
}

impl ResidentScene {
    pub(crate) async fn new(
        gpu: &Arc<GpuEngine>,
        spheres: BufferSlice<'_>,
        count: u32,
        bounds: [Vec3; 2],
        tree_from: Option<usize>,
    ) -> Result<Self> {
        gpu.check_precision(Precision::Standard)?;
        let [low, high] = bounds;
        if !(low.is_finite() && high.is_finite() && low.cmplt(high).all()) {
            let message = format!(
                "bounds: the corners are {low} and {high}, but the first must be below the second on every axis"
            );
            return Err(Error::InvalidArgument(message));
        }
        if count == 0 {
            return usage("a resident scene needs at least one sphere");
        }
        let bytes = u64::from(count) * size_of::<Sphere>() as u64;
        let (given, spheres_at) = window(gpu, "the spheres", &spheres, bytes)?;
        let frame = GpuFrame::within(bounds);
        let has_bvh = GpuScene::worth_bvh(gpu, count as usize, tree_from, &frame);
        let own = GpuScene::space(gpu, u64::from(count)).await?;
        let bad = gpu
            .buffer("bad spheres", 4, BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC)
            .await?;
        let task = SphereTask { low: low.to_array(), count, high: high.to_array(), spheres_at };
        let task = gpu.uniform("spheres to take", &task).await?;
        let pipeline = gpu.pipeline(&programs::TAKE_SPHERES, KernelConstants::default()).await?;
        let [task, copies, counted] = [&task, &own, &bad].map(|buffer| buffer.as_entire_buffer_binding());
        let group = bound(gpu, &pipeline, [task, given, copies, counted]).await?;
        let take = Step { pipeline, group, offset: None, groups: Groups::in_rows(count.div_ceil(THREADS)) };
        let part = ScenePart { first: 0, count, spheres: own, attributes: None, bvh: None, built_cost: None };
        let mut resident = Self {
            gpu: gpu.clone(),
            scene: Arc::new(GpuScene::of_part(gpu, part, frame)),
            take,
            bad,
            refit: Vec::new(),
        };
        resident.build(has_bvh).await?;
        Ok(resident)
    }

    /// Takes the spheres as they are now, and builds the BVH.
    async fn build(&mut self, has_bvh: bool) -> Result<()> {
        let gpu = &*self.gpu;
        self.refit.clear();
        self.submit_refit().await?;
        let mut bad = [0u32];
        let staging = gpu.buffer("bad spheres", 4, BufferUsages::MAP_READ | BufferUsages::COPY_DST).await?;
        gpu.read(&self.bad, &staging, &mut bad).await?;
        if bad[0] > 0 {
            let message = format!(
                "{} of the spheres are not finite, have a negative radius or are not within the bounds",
                bad[0]
            );
            return Err(Error::InvalidArgument(message));
        }
        if !has_bvh {
            return Ok(());
        }
        let [part] = &self.scene.parts[..] else { return Ok(()) };
        let (spheres, count, frame) = (&part.spheres, part.count, &self.scene.frame);
        let bvh = GpuBvh::build(gpu, spheres, count, frame, None, &CancelToken::new()).await?;
        let (bvh, refit) = bvh.recorded_refit(gpu, spheres, count, frame).await?;
        let part = ScenePart { spheres: spheres.clone(), attributes: None, bvh: Some(bvh), ..*part };
        self.scene = Arc::new(GpuScene::of_part(gpu, part, *frame));
        self.refit = refit;
        self.submit_refit().await
    }

    async fn submit_refit(&self) -> Result<()> {
        let gpu = &*self.gpu;
        let refit = || {
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            self.refit(&mut encoder);
            gpu.queue.submit([encoder.finish()])
        };
        let submitted = gpu.scoped(refit).await?;
        gpu.wait(submitted).await
    }

    /// Number of spheres.
    #[allow(clippy::len_without_is_empty, reason = "there is always a sphere")]
    pub fn len(&self) -> u32 {
        self.scene.parts.first().map_or(0, |part| part.count)
    }

    /// Records that the scene takes the spheres that the caller's buffer then contains: it copies them and fits the BVH to them. Queries
    /// encoded later, by plans made before or after, find these spheres. It allocates nothing on the device, submits nothing and waits for
    /// nothing. A BVH whose spheres have moved far from where they were when it was built is slow, but right: then
    /// [`rebuild`](Self::rebuild).
    ///
    /// A sphere that is not finite, has a negative radius or leaves the bounds is bad: a point at the lower corner of the bounds takes its
    /// place, and [`bad_spheres`](Self::bad_spheres) counts it.
    pub fn refit(&self, encoder: &mut CommandEncoder) {
        encoder.clear_buffer(&self.bad, 0, None);
        let description = wgpu::ComputePassDescriptor { label: Some("umbracast refit"), timestamp_writes: None };
        let mut pass = encoder.begin_compute_pass(&description);
        self.take.record(&mut pass);
        self.refit.iter().for_each(|step| step.record(&mut pass));
    }

    /// The number of bad spheres at the last [`refit`](Self::refit): the first `u32` of the buffer, which has the usages `STORAGE` and `COPY_SRC`.
    pub fn bad_spheres(&self) -> &Buffer {
        &self.bad
    }

    /// Builds the BVH anew over the spheres that the caller's buffer contains now. The call blocks until the device is done. Plans made
    /// before keep the old BVH, which is not refitted any more: make new ones.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if spheres are bad, and device errors.
    pub fn rebuild(&mut self) -> Result<()> {
        let has_bvh = self.scene.has_bvh();
        block_on(self.build(has_bvh))
    }
}
