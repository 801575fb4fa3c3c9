//! Arithmetic of one number or one vector of lanes: the lowest layer.

pub(crate) mod angles;
pub(crate) mod error_free;
pub(crate) mod simd;
