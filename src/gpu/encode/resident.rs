//! Scenes whose spheres are in a buffer of the caller, and never on the host.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use glam::Vec3;
use wgpu::{Buffer, BufferSlice, BufferUsages, CommandEncoder};

use super::pass::{bound, window};
use crate::bvh::gpu_frame::GpuFrame;
use crate::error::{Error, Result};
use crate::gpu::bvh::build::RecordedBuild;
use crate::gpu::bvh::resident::GpuBvh;
use crate::gpu::context::dispatch::{Groups, Step, THREADS};
use crate::gpu::context::pipelines::KernelConstants;
use crate::gpu::engine::GpuEngine;
use crate::gpu::programs;
use crate::gpu::scene::{GpuScene, ScenePart};
use crate::query::policy::Precision;
use crate::query::validate::usage;
use crate::records::Sphere;

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
    /// Builds the BVH over the copies, and fits it to them; `None` if there is none.
    build: Option<RecordedBuild>,
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
        let (bvh, build) = match has_bvh {
            true => Some(GpuBvh::recorded(gpu, &own, count, &frame).await?).unzip(),
            false => (None, None),
        };
        let part = ScenePart { first: 0, count, spheres: own, attributes: None, bvh, built_cost: None };
        let resident =
            Self { gpu: gpu.clone(), scene: Arc::new(GpuScene::of_part(gpu, part, frame)), take, bad, build };
        let build = || {
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            resident.rebuild(&mut encoder);
            gpu.queue.submit([encoder.finish()])
        };
        let submitted = gpu.scoped(build).await?;
        gpu.wait(submitted).await?;
        let mut bad = [0u32];
        let staging = gpu.staging_buffer("bad spheres", 4).await?;
        gpu.read(&resident.bad, &staging, &mut bad).await?;
        if bad[0] > 0 {
            let why = "are not finite, have a negative radius or are not within the bounds";
            return Err(Error::InvalidArgument(format!("{} of the spheres {why}", bad[0])));
        }
        Ok(resident)
    }

    /// Number of spheres.
    #[allow(clippy::len_without_is_empty, reason = "there is always a sphere")]
    pub fn len(&self) -> u32 {
        self.scene.parts.first().map_or(0, |part| part.count)
    }

    /// Records that the scene takes the spheres that the caller's buffer then contains: it copies them and fits the BVH to them. Queries
    /// encoded later find these spheres, by plans made before or after. It allocates nothing on the device, submits nothing and waits for
    /// nothing.
    ///
    /// A BVH whose spheres have moved far from where they were when it was built is slow, and rays may end undone: then
    /// [`rebuild`](Self::rebuild). Particles of a gas need that in each frame.
    ///
    /// A sphere that is not finite, has a negative radius or leaves the bounds is bad: a point at the lower corner of the bounds takes its
    /// place, and [`bad_spheres`](Self::bad_spheres) counts it.
    pub fn refit(&self, encoder: &mut CommandEncoder) {
        self.record(encoder, RecordedBuild::refit);
    }

    /// [`refit`](Self::refit) with a new BVH, recorded in the same way. It takes several times as long as a refit.
    pub fn rebuild(&self, encoder: &mut CommandEncoder) {
        self.record(encoder, RecordedBuild::build);
    }

    fn record(&self, encoder: &mut CommandEncoder, how: impl Fn(&RecordedBuild, &mut CommandEncoder, &Step)) {
        encoder.clear_buffer(&self.bad, 0, None);
        match &self.build {
            Some(build) => how(build, encoder, &self.take),
            None => self.take.record(&mut encoder.begin_compute_pass(&Default::default())),
        }
    }

    /// The number of bad spheres at the last [`refit`](Self::refit) or [`rebuild`](Self::rebuild): the first `u32` of the buffer, which has the
    /// usages `STORAGE` and `COPY_SRC`.
    pub fn bad_spheres(&self) -> &Buffer {
        &self.bad
    }
}
