//! Surfaces of bodies: maps of colours by longitude and latitude.

pub(crate) mod coastlines;
pub(crate) mod earth;
pub(crate) mod graticule;
pub(crate) mod land_raster;
pub(crate) mod map;
pub(crate) mod texture;
