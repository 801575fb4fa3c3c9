//! The BVH of the CPU engine: nodes of eight boxes over leaves of eight spheres.

pub(crate) mod build_sah;
mod collapse;
pub(crate) mod node;
mod split_set;
pub(crate) mod validate;
