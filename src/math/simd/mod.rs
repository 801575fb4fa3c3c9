//! SIMD vectors for each instruction set, and the choice of an instruction set at run time.

pub(crate) mod f64x8;
pub(crate) mod lanes;
#[macro_use]
pub(crate) mod level;
