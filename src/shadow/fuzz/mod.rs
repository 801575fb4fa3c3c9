//! Fuzz targets of shadows.

mod cull;
mod systems;

pub use cull::cull;
pub use systems::systems;
