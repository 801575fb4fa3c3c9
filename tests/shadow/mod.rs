//! Visible fractions of lights, eclipses, and rendered pictures.

mod coverage;
mod eclipse;
mod extremes;
mod fraction;
mod pictures;
mod shadows;
mod spheroids;
