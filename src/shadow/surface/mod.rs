//! Surfaces of bodies: maps of colours by longitude and latitude.

pub(crate) mod map;
pub(crate) mod texture;
