//! Shadows on a GPU: pictures, visible fractions, and the records that their shaders read and write.

pub(crate) mod render;
pub(crate) mod tree;
pub(crate) mod uniforms;
pub(crate) mod visibility;
