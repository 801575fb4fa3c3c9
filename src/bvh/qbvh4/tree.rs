//! LBVH that shaders traverse: spheres are sorted along a Morton curve, a radix tree is built over them (Karras 2012, Maximizing
//! Parallelism in the Construction of BVHs, Octrees, and k-d Trees), and it is collapsed into nodes of four boxes.
//!
//! The algorithm has two implementations with bit-identical results: this one for all CPU cores, and the shaders of `shaders/build`. So
//! the only rounded operations here are sums and products of two numbers, which every device rounds alike.

use super::node::QNode4;

/// LBVH over the spheres of one buffer.
pub(crate) struct QBvh4 {
    /// All nodes, the root first, then level by level.
    pub(crate) nodes: Vec<QNode4>,
    /// Index in the buffer of each sphere, in leaf order.
    pub(crate) order: Vec<u32>,
    /// End of each level, as a node index; the first level, the root, ends at 1.
    pub(crate) levels: Vec<u32>,
}

impl QBvh4 {
    /// Maximum number of levels of nodes, see `build_lbvh.rs`.
    pub(crate) const MAX_LEVELS: usize = 96;
}
