//! The BVH of the CPU engine: nodes of eight boxes over leaves of eight spheres.

pub(crate) mod build_sah;
pub(crate) mod node;
pub(crate) mod validate;
