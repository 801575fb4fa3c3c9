//! One ray and one primitive: roots with error bounds, classification, and the exact test.

pub(crate) mod classify;
pub(crate) mod double;
pub(crate) mod ellipsoid;
pub mod exact;
pub(crate) mod motion;
pub(crate) mod resolve;
pub(crate) mod sphere;
pub(crate) mod sphere_soa;
pub(crate) mod surface;
