//! Input from callers: spheres, rays and their attributes, and the checks on them.

pub(crate) mod ellipsoids;
pub(crate) mod input;
pub(crate) mod ray_attributes;
pub(crate) mod ray_batch;
pub mod raygen;
pub(crate) mod sphere_set;
pub(crate) mod surface_rays;
