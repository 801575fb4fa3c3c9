//! The BVH on the GPU: build, refit, and the buffers that shaders traverse.

pub(crate) mod build;
#[cfg(test)]
pub(crate) mod build_tests;
pub(crate) mod resident;
