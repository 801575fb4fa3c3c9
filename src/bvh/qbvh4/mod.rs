//! The BVH of GPUs: an LBVH along a Morton curve, with nodes of four quantised boxes.

pub(crate) mod build_lbvh;
pub(crate) mod node;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod validate;
