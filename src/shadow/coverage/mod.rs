//! Fraction of a light's disc that its occluders cover.

pub(crate) mod caps;
pub(crate) mod classify_simd;
pub(crate) mod cones;
pub(crate) mod disc;
pub(crate) mod flux;
pub(crate) mod light;
pub(crate) mod trig_roots;
pub(crate) mod two_caps_simd;
