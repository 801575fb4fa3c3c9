//! The CPU twins of the shaders.

pub(crate) mod angles;
pub(crate) mod caps;
pub(crate) mod coverage;
