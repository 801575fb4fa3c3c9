//! The BVH of the CPU engine: nodes of eight boxes over leaves of eight spheres.

mod binary;
pub(crate) mod build_sah;
mod collapse;
pub(crate) mod node;
mod split_set;
pub(crate) mod validate;
