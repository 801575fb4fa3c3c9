//! Visible fractions of lights, eclipses, and rendered pictures.

mod batches;
mod coverage;
mod eclipse;
mod extremes;
pub(crate) mod fallbacks;
mod fraction;
mod large_pictures;
mod limb_darkening;
mod pictures;
mod shadows;
mod spheroids;
mod surfaces;
