//! Bullets: points or balls that fly straight at a constant speed until they hit a sphere, and glance off it.

pub(crate) mod bullet;
pub(crate) mod flights;
pub(crate) mod ricochet;
pub(crate) mod state;
pub(crate) mod step;
