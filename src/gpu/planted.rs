//! A tree on a device, as shaders walk it.

use wgpu::{Buffer, BufferUsages};

use super::GpuDevice;
use crate::error::Result;
use crate::lbvh::Lbvh;
use crate::records::Sphere;

/// The tree over the spheres of one buffer.
pub(crate) struct Planted {
    /// The nodes, the root first.
    pub(crate) nodes: Buffer,
    /// The place of each sphere in the buffer, in the order of the leaves.
    pub(crate) order: Buffer,
    /// The spheres in that order.
    pub(crate) leaves: Buffer,
}

/// What every buffer of a tree is for.
const USAGE: BufferUsages = BufferUsages::STORAGE.union(BufferUsages::COPY_DST).union(BufferUsages::COPY_SRC);

impl Planted {
    /// Takes a tree that the host made.
    pub(crate) async fn upload(gpu: &GpuDevice, tree: &Lbvh, spheres: &[Sphere]) -> Result<Self> {
        let leaves: Vec<Sphere> = tree.order.iter().map(|place| spheres[*place as usize]).collect();
        let up = async |what, bytes: &[u8]| {
            let buffer = gpu.buffer(what, bytes.len() as u64, USAGE).await?;
            gpu.upload(&buffer, bytes).await?;
            Ok(buffer)
        };
        Ok(Self {
            nodes: up("a tree's nodes", bytemuck::cast_slice(&tree.nodes)).await?,
            order: up("a tree's order", bytemuck::cast_slice(&tree.order)).await?,
            leaves: up("a tree's spheres", bytemuck::cast_slice(&leaves)).await?,
        })
    }
}
