//! Visible fractions of lights, eclipses, and rendered pictures.

mod coverage;
mod eclipse;
mod extremes;
mod fraction;
mod pictures;
mod scenes;
mod shadows;
mod spheroids;
