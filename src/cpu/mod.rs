//! The CPU twins of the shaders.

pub(crate) mod angles;
pub(crate) mod coverage;
