//! Shadows on a GPU: the renderer, and the records that its shaders read and write.

pub(crate) mod render;
pub(crate) mod uniforms;
