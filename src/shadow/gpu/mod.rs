//! Pictures and visible fractions on a GPU.

pub(crate) mod render;
pub(crate) mod uniforms;
