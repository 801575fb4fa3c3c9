//! Pairs of a ray and a sphere whose intersection is deferred, and the memory for intersecting them.

use crate::intersect::sphere_soa::PairBatch;
use crate::records::Sphere;

/// A candidate pair of a ray and a sphere, to be intersected.
#[derive(Clone, Copy)]
pub(crate) struct DeferredPair {
    pub(crate) ray: u32,
    /// Eight times the index of the leaf, plus the lane in it.
    pub(crate) slot: u32,
    /// Position along the ray before which the sphere is not hit.
    pub(crate) s_lower: f32,
}

/// Scratch memory for intersecting pairs.
#[derive(Default)]
pub(crate) struct IntersectScratch {
    pub(crate) ids: Vec<u32>,
    pub(crate) spheres: Vec<Sphere>,
    /// Rays whose collectors received roots that may be a hit.
    pub(crate) changed: Vec<u32>,
    pub(crate) batch: PairBatch,
}
