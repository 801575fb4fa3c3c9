//! Spheres that move, and ellipsoids.

mod ellipsoids;
mod motion;
mod moving_segments;
