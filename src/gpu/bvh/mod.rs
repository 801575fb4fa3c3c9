//! The tree on the GPU: building, refitting, and the copy that shaders traverse.

pub(crate) mod build;
#[cfg(test)]
pub(crate) mod build_tests;
pub(crate) mod motion;
pub(crate) mod refit;
pub(crate) mod resident;
