//! Bounding volume hierarchies: their nodes, how they are built on the CPU, and how they are validated.

pub(crate) mod bvh8;
pub(crate) mod gpu_frame;
pub(crate) mod qbvh4;

use crate::error::Error;

/// Where the GPU's BVH is built. The BVH is byte-identical either way; only the build time differs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BvhBuilder {
    /// On the GPU, except for fewer than 65,536 spheres and for software adapters, for which all cores of the CPU are faster, and for GPUs
    /// whose arithmetic fails the probe.
    #[default]
    Auto,
    /// On all cores of the CPU.
    Cpu,
    /// On the GPU, also with a software adapter.
    Gpu,
}

impl BvhBuilder {
    /// The error for [`BvhBuilder::Gpu`] on the CPU engine.
    pub(crate) fn needs_gpu() -> Error {
        Error::InvalidArgument(
            "builder 'gpu' needs a GPU, but the device is the CPU engine: use builder 'auto', or a GPU".into(),
        )
    }
}

/// Lower and upper corner of a box in f64, in which sums of two f32 are exact.
type Corners = [[f64; 3]; 2];

fn contains(outer: &Corners, inner: &Corners) -> bool {
    (0..3).all(|k| outer[0][k] <= inner[0][k] && inner[1][k] <= outer[1][k])
}
