//! A BVH on a device, in the buffers that shaders traverse: its build, its refit, and the motion of its spheres. AABBs contain the whole
//! paths of moving spheres; the traversal tests a sphere at its position at the time of the ray (`shaders/traverse/leaf.wgsl`).

use std::sync::atomic::Ordering;

use wgpu::{Buffer, BufferUsages};

use super::build::{BuildParams, LbvhBuilder};
use crate::batch::sphere_set::SphereSet;
use crate::bvh::gpu_frame::GpuFrame;
use crate::bvh::qbvh4::node::{QBvh4, QNode4};
use crate::error::{Error, Result};
use crate::gpu::context::dispatch::THREADS;
use crate::gpu::engine::GpuEngine;
use crate::gpu::programs;
use crate::intersect::motion::half_span;
use crate::records::Sphere;

/// BVH over the spheres of one buffer.
pub(crate) struct GpuBvh {
    /// The nodes, the root first.
    pub(crate) nodes: Buffer,
    /// The positions of the spheres in their buffer, in leaf order.
    pub(crate) order: Buffer,
    /// The spheres in leaf order, followed by their motion if they move.
    pub(crate) leaves: Buffer,
    /// Number of nodes.
    pub(crate) node_count: u32,
    /// The end of each level of nodes: the index after its last node.
    pub(crate) levels: Vec<u32>,
}

/// Usage of every buffer of a BVH.
pub(crate) const USAGE: BufferUsages =
    BufferUsages::STORAGE.union(BufferUsages::COPY_DST).union(BufferUsages::COPY_SRC);

/// Minimum number of spheres for a build on the GPU. An H100 takes 9 ms for 10⁴ spheres and 11 ms for 10⁵; 16 cores take 3 and 11.
const GPU_BUILD_FROM: u32 = 1 << 16;

impl GpuBvh {
    /// Builds a BVH over `spheres`, at least one, with which `buffer` begins: a part of those of `set`.
    pub(crate) async fn new(
        gpu: &GpuEngine,
        buffer: &Buffer,
        spheres: &[Sphere],
        frame: &GpuFrame,
        motion: Option<LeafMotion<'_>>,
        set: &SphereSet<'_>,
    ) -> Result<Self> {
        let count = spheres.len() as u32;
        // A test may say where to build. A GPU whose arithmetic does not round to nearest would build a different BVH.
        let pays = || count >= GPU_BUILD_FROM && !gpu.is_software() && !gpu.builder_failed.load(Ordering::Relaxed);
        if gpu.probe.failure.is_none() && set.tree_on_gpu.unwrap_or_else(pays) {
            let built = Self::build(gpu, buffer, count, frame, motion, set.cancel).await;
            if set.tree_on_gpu.is_some() || !matches!(built, Err(Error::DeviceFailed { .. })) {
                return built;
            }
            // Direct3D's older compiler refuses some programs. The CPU builds the same BVH; only moving spheres still need a refit.
            gpu.builder_failed.store(true, Ordering::Relaxed);
        }
        let bvh = Self::upload(gpu, &QBvh4::new(spheres, frame, set.cancel)?, spheres).await?;
        if motion.is_some() { bvh.refit(gpu, buffer, count, frame, motion).await } else { Ok(bvh) }
    }

    /// Uploads a BVH that the CPU has built.
    pub(crate) async fn upload(gpu: &GpuEngine, tree: &QBvh4, spheres: &[Sphere]) -> Result<Self> {
        let leaves: Vec<Sphere> = tree.order.iter().map(|place| spheres[*place as usize]).collect();
        let up = async |what, bytes: &[u8]| {
            let buffer = gpu.buffer(what, bytes.len() as u64, USAGE).await?;
            gpu.upload(&buffer, bytes).await?;
            Ok(buffer)
        };
        Ok(Self {
            nodes: up("BVH nodes", bytemuck::cast_slice(&tree.nodes)).await?,
            order: up("BVH sphere order", bytemuck::cast_slice(&tree.order)).await?,
            leaves: up("BVH leaves", bytemuck::cast_slice(&leaves)).await?,
            node_count: tree.nodes.len() as u32,
            levels: tree.levels.clone(),
        })
    }

    /// Bytes of a BVH over `spheres` spheres on the device, including its copy of the spheres. Measured: 0.15 to 0.18 nodes per sphere
    /// (uniform, clustered, radii over six orders of magnitude; 10⁴ to 10⁶ spheres).
    pub(crate) fn bytes(spheres: u64) -> u64 {
        let nodes = spheres / 5 + 1;
        let each = (size_of::<Sphere>() + size_of::<u32>()) as u64;
        spheres.saturating_mul(each).saturating_add(nodes.saturating_mul(size_of::<QNode4>() as u64))
    }
}

/// Longest time range for which leaves have velocities. Over a longer one, velocities that a device flushes to zero would matter.
const MAX_HALF_SPAN: f64 = 65_536.0;

/// Largest component of a scaled velocity for which nothing overflows.
const MAX_VELOCITY: f64 = (1_u64 << 40) as f64;

/// Attributes of moving spheres, and the time range of their motion.
#[derive(Clone, Copy)]
pub(crate) struct LeafMotion<'a> {
    pub(crate) attributes: &'a Buffer,
    time_range: [f32; 2],
}

impl<'a> LeafMotion<'a> {
    /// `None` if no sphere moves, or if the spheres are ellipsoids.
    pub(crate) fn of(attributes: &'a Option<Buffer>, set: &SphereSet<'_>) -> Option<Self> {
        let columns = &set.attributes;
        let attributes = attributes.as_ref().filter(|_| columns.velocities.is_some() && columns.maps.is_none())?;
        Some(Self { attributes, time_range: set.time_range })
    }

    /// Parameters of the build: the largest velocity component that leaves contain, negative for none, and half the length of the time
    /// range, rounded up.
    pub(crate) fn scaled_limits(&self, frame: &GpuFrame) -> (f32, f32) {
        let half = half_span(self.time_range);
        let fastest = if 2.0 * half <= MAX_HALF_SPAN { MAX_VELOCITY / f64::from(frame.scale) } else { -1.0 };
        (fastest.min(f32::MAX.into()) as f32, (half as f32).next_up())
    }
}

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
            let staging = gpu.staging_buffer("BVH surface areas", u64::from(count) * 4).await?;
            gpu.read(from, &staging, &mut values).await?;
            Ok::<f64, Error>(values.into_iter().map(f64::from).sum())
        };
        Ok(sum(&areas, groups).await? / sum(&root, 1).await?)
    }
}

/// Copies a buffer.
async fn copy(gpu: &GpuEngine, what: &'static str, from: &Buffer) -> Result<Buffer> {
    let buffer = gpu.buffer(what, from.size(), USAGE).await?;
    gpu.submit(|encoder| encoder.copy_buffer_to_buffer(from, 0, &buffer, 0, from.size())).await?;
    Ok(buffer)
}
