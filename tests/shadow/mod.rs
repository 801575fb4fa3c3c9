//! Visible fractions, eclipses, and pictures.

mod coverage;
mod eclipse;
mod extremes;
mod fraction;
mod pictures;
mod shadows;
mod spheroids;
