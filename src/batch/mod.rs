//! What callers give: spheres, rays and their attributes, checked.

pub(crate) mod ellipsoids;
pub(crate) mod input;
pub(crate) mod ray_attributes;
pub(crate) mod ray_batch;
pub mod raygen;
pub(crate) mod sphere_set;
