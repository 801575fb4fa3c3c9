//! The compute programs of a query kind and the sizes of their data.

use crate::gpu::programs::Program;

/// The programs of a query kind, and the sizes of its state and results on the device.
#[derive(Clone, Copy)]
pub(crate) struct Kernels {
    /// The brute-force program, run for each range of spheres.
    pub(crate) brute_force: &'static Program,
    /// Rays per thread of `brute_force`: [`RAYS_PER_THREAD`], or 1.
    pub(crate) rays_per_thread: u64,
    /// The program that traverses the BVH; `None` if the query has none.
    pub(crate) bvh: Option<&'static Program>,
    /// The finalize program, run once at the end. If it is `None`, the state is the result.
    pub(crate) finalize: Option<&'static Program>,
    /// Bytes of state for a number of rays, which the device keeps between dispatches.
    pub(crate) state_bytes: fn(u64) -> u64,
    /// Bytes of results for a number of rays, of fixed size per ray.
    pub(crate) result_bytes: fn(u64) -> u64,
}

/// Rays per thread of the culling programs: `RAYS` of `shaders/cull/blocks.wgsl`.
pub(crate) const RAYS_PER_THREAD: u64 = 8;
