//! The tree that shaders walk: spheres along a Morton curve, a radix tree over them (Karras 2012, Maximizing Parallelism in the
//! Construction of BVHs, Octrees, and k-d Trees), and nodes of four boxes from it.
//!
//! One algorithm, two executors with the same result to the bit: this one on every core, and the shaders of `shaders/build`. So nothing
//! here rounds but sums and products of two numbers, which every device rounds alike.

use super::node::Quad;

/// A tree over the spheres of one buffer.
pub(crate) struct Lbvh {
    /// The root first, then level by level.
    pub(crate) nodes: Vec<Quad>,
    /// The place in the buffer of each sphere in the order of the leaves.
    pub(crate) order: Vec<u32>,
    /// Where each level of nodes ends; the root's ends at 1.
    pub(crate) levels: Vec<u32>,
}

impl Lbvh {
    /// Levels of nodes at the most: see `build_lbvh.rs`.
    pub(crate) const DEEPEST: usize = 96;
}
