//! Refits a BVH to moved spheres, with new AABBs for the same nodes, and computes its SAH cost.

use wgpu::{Buffer, BufferUsages};

use super::build::{BuildParams, LbvhBuilder};
use super::motion::LeafMotion;
use super::resident::GpuBvh;
use crate::bvh::gpu_frame::GpuFrame;
use crate::error::Result;
use crate::gpu::context::dispatch::THREADS;
use crate::gpu::engine::GpuEngine;
use crate::gpu::programs;

impl GpuBvh {
    /// Refits a copy of the BVH to the first `count` spheres of another buffer: as many as before, at least 1. The topology stays. The
    /// AABBs are as tight as those of a new BVH with this topology.
    pub(crate) async fn refit(
        &self,
        gpu: &GpuEngine,
        spheres: &Buffer,
        count: u32,
        frame: &GpuFrame,
        motion: Option<LeafMotion<'_>>,
    ) -> Result<Self> {
        let mut builder = LbvhBuilder::new(gpu, count, frame, motion);
        let nodes = copy(gpu, "BVH nodes", &self.nodes).await?;
        let order = copy(gpu, "BVH sphere order", &self.order).await?;
        let (leaves, boxes) = builder.leaves(spheres, &order).await?;
        let params_buffer = builder.upload_params(&[BuildParams { jobs: self.node_count, ..builder.params }]).await?;
        builder.step(&programs::REFIT, (&params_buffer, 0), &[&leaves, &boxes, &nodes], self.node_count).await?;
        builder.steps.finish().await?;
        Ok(Self { nodes, order, leaves, node_count: self.node_count, levels: self.levels.clone() })
    }

    /// SAH cost: the average number of nodes that a line through the root's AABB enters. It is the sum of the surface areas of all nodes'
    /// AABBs, in units of the root's (Goldsmith & Salmon 1987, Automatic Creation of Object Hierarchies for Ray Tracing).
    pub(crate) async fn cost(&self, gpu: &GpuEngine) -> Result<f64> {
        let mut builder = LbvhBuilder::new(gpu, 0, &GpuFrame::of(&[]), None);
        let groups = self.node_count.div_ceil(THREADS);
        let areas = builder.scratch("BVH surface areas", u64::from(groups) * 4).await?;
        let root = builder.scratch("BVH root surface area", 4).await?;
        let params_buffer = [self.node_count, 1].map(|jobs| BuildParams { jobs, ..builder.params });
        let params_buffer = builder.upload_params(&params_buffer).await?;
        builder.step(&programs::SAH_COST, (&params_buffer, 0), &[&self.nodes, &areas], self.node_count).await?;
        builder.step(&programs::SAH_COST, (&params_buffer, 1), &[&self.nodes, &root], 1).await?;
        builder.steps.finish().await?;
        let sum = async |from: &Buffer, count: u32| {
            let mut values = vec![0f32; count as usize];
            let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
            let staging = gpu.buffer("BVH surface areas", u64::from(count) * 4, usage).await?;
            gpu.read(from, &staging, &mut values).await?;
            Ok::<f64, crate::error::Error>(values.into_iter().map(f64::from).sum())
        };
        Ok(sum(&areas, groups).await? / sum(&root, 1).await?)
    }
}

/// Copies a buffer.
async fn copy(gpu: &GpuEngine, what: &'static str, from: &Buffer) -> Result<Buffer> {
    let buffer = gpu.buffer(what, from.size(), super::resident::USAGE).await?;
    gpu.scoped(|| {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(from, 0, &buffer, 0, from.size());
        gpu.queue.submit([encoder.finish()])
    })
    .await?;
    Ok(buffer)
}
