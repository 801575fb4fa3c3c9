//! Pictures of a system: preparation, culling, and the CPU renderer.

pub(crate) mod cull;
pub(crate) mod geometry;
pub(crate) mod image;
pub(crate) mod openness;
pub(crate) mod prepared;
pub(crate) mod primary;
pub(crate) mod progress;
pub(crate) mod receiver_lists;
pub(crate) mod render_cpu;
pub(crate) mod shade;
pub(crate) mod starfield;
pub(crate) mod tiles;
