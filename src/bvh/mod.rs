//! Bounding volume hierarchies: their nodes, how they are built on the CPU, and how they are validated.

pub(crate) mod builder;
pub(crate) mod bvh8;
pub(crate) mod qbvh4;
pub(crate) mod scene_frame;
