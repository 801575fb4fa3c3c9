//! Bounding volume hierarchies: their nodes, how they are built on the CPU, and how they are validated.

pub(crate) mod bvh8;
pub(crate) mod gpu_frame;
pub(crate) mod qbvh4;

/// Lower and upper corner of a box in f64, in which sums of two f32 are exact.
type Corners = [[f64; 3]; 2];

fn contains(outer: &Corners, inner: &Corners) -> bool {
    (0..3).all(|k| outer[0][k] <= inner[0][k] && inner[1][k] <= outer[1][k])
}
