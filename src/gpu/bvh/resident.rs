//! A BVH on a device, in the buffers that shaders traverse.

use std::sync::atomic::Ordering;

use wgpu::{Buffer, BufferUsages};

use super::motion::LeafMotion;
use crate::bvh::BvhBuilder;
use crate::bvh::gpu_frame::GpuFrame;
use crate::bvh::qbvh4::node::QBvh4;
use crate::bvh::qbvh4::node::QNode4;
use crate::error::{Error, Result};
use crate::gpu::engine::GpuEngine;
use crate::records::Sphere;
use crate::runtime::cancel::CancelToken;

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

/// Minimum number of spheres that `auto` builds on the GPU. An H100 takes 9 ms for 10⁴ spheres and 11 ms for 10⁵; 16 cores take 3 and 11.
const GPU_BUILD_FROM: u32 = 1 << 16;

/// Whether to build on the GPU. A GPU whose arithmetic does not round to nearest would build a different BVH; asking for it is an error.
fn builds_on(gpu: &GpuEngine, builder: BvhBuilder, count: u32) -> Result<bool> {
    match (builder, &gpu.probe.failure) {
        (BvhBuilder::Cpu, _) => Ok(false),
        (BvhBuilder::Auto, failure) => {
            let large = count >= GPU_BUILD_FROM && !gpu.is_software();
            Ok(failure.is_none() && large && !gpu.builder_failed.load(Ordering::Relaxed))
        }
        (BvhBuilder::Gpu, None) => Ok(true),
        (BvhBuilder::Gpu, Some(why)) => Err(Error::InvalidArgument(format!(
            "builder 'gpu': the arithmetic of {} is not accurate enough: {why}; use builder 'cpu'",
            gpu.name()
        ))),
    }
}

impl GpuBvh {
    /// Builds a BVH over `spheres`, at least one, with which `buffer` begins. `builder` chooses between CPU and GPU.
    pub(crate) async fn new(
        gpu: &GpuEngine,
        buffer: &Buffer,
        spheres: &[Sphere],
        frame: &GpuFrame,
        motion: Option<LeafMotion<'_>>,
        builder: BvhBuilder,
        cancel: &CancelToken,
    ) -> Result<Self> {
        let count = spheres.len() as u32;
        if builds_on(gpu, builder, count)? {
            let built = Self::build(gpu, buffer, count, frame, motion, cancel).await;
            if builder == BvhBuilder::Gpu || !matches!(built, Err(Error::DeviceFailed { .. })) {
                return built;
            }
            // Direct3D's older compiler refuses some programs. The CPU builds the same BVH; only moving spheres still need a refit.
            gpu.builder_failed.store(true, Ordering::Relaxed);
        }
        let bvh = Self::upload(gpu, &QBvh4::new(spheres, frame, cancel)?, spheres).await?;
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

    /// Bytes of a BVH over `spheres` spheres on the device, including its copy of the spheres. Measured: 0.09 to 0.11 nodes per sphere
    /// (uniform, clustered, radii over six orders of magnitude; 10⁴ to 10⁶ spheres).
    pub(crate) fn bytes(spheres: u64) -> u64 {
        let nodes = spheres / 8 + 1;
        let each = (size_of::<Sphere>() + size_of::<u32>()) as u64;
        spheres.saturating_mul(each).saturating_add(nodes.saturating_mul(size_of::<QNode4>() as u64))
    }
}
