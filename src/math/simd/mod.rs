//! SIMD vectors for each instruction set, and the choice of an instruction set at run time.

#[cfg_attr(not(feature = "shadow"), allow(dead_code, reason = "shadows and pictures use all of it"))]
pub(crate) mod f64x8;
pub(crate) mod lanes;
#[macro_use]
pub(crate) mod level;
