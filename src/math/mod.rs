//! Arithmetic of single numbers and of SIMD vectors: the lowest layer.

#[cfg(feature = "shadow")]
pub(crate) mod angles;
pub(crate) mod error_free;
pub(crate) mod float;
pub(crate) mod simd;
