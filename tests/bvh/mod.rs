//! BVH: identical results with and without a tree, after updates, and for scenes that are hard to partition.

mod trees;
mod updates;
mod walks;
