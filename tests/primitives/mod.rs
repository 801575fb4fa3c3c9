//! Spheres that move, and ellipsoids.

mod ellipsoid_refusals;
mod ellipsoids;
mod motion;
mod motion_refusals;
mod moving_segments;
