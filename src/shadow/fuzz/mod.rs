//! Fuzz targets for shadows.

pub(crate) mod cull;
pub(crate) mod systems;

pub use cull::cull;
pub use systems::systems;
