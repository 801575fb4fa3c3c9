//! Which spheres a ray cannot meet, told in plain f32 for a block of spheres at a time.
//! Twin of `shaders/filter.wgsl`.
//!
//! Conservative: what is dropped is proved to miss under any rounding WGSL allows; what is kept goes to the solve. The
//! scale is common to the scene and the ray, so tiny spheres in a vast scene may be kept needlessly, never dropped wrongly.

use glam::Vec3;

use super::pairs::{dot3, norm1};
use crate::records::{Ray, Sphere};

/// Spheres tested together: one bit each of a mask.
pub(crate) const BLOCK: usize = 32;

const U: f32 = 1.0 / 16_777_216.0;

/// Spheres as columns, padded to whole blocks.
pub(crate) struct Columns {
    pub(crate) x: Vec<f32>,
    pub(crate) y: Vec<f32>,
    pub(crate) z: Vec<f32>,
    pub(crate) r: Vec<f32>,
    /// The largest coordinate or radius.
    pub(crate) largest: f32,
}

/// A ray made ready for the filter.
pub(crate) struct Prepared {
    scale: f32,
    origin: Vec3,
    direction: Vec3,
    inverse_square: f32,
}

/// The largest magnitude among a scene's coordinates and radii.
pub(crate) fn largest_of(spheres: &[Sphere]) -> f32 {
    spheres.iter().fold(0.0f32, |m, s| m.max(s.center.abs().max_element()).max(s.radius))
}

impl Columns {
    pub(crate) fn new(spheres: &[Sphere]) -> Self {
        let padded = spheres.len().next_multiple_of(BLOCK);
        let column = |f: fn(&Sphere) -> f32| {
            let mut v = Vec::with_capacity(padded);
            v.extend(spheres.iter().map(f));
            v.resize(padded, 0.0);
            v
        };
        Self {
            x: column(|s| s.center.x),
            y: column(|s| s.center.y),
            z: column(|s| s.center.z),
            r: column(|s| s.radius),
            largest: largest_of(spheres),
        }
    }
}

/// The power of two that brings `m` to [1, 2).
fn normalizer(m: f32) -> f32 {
    let exponent = m.clamp(f32::MIN_POSITIVE, 8.507_059e37).to_bits() & 0x7f80_0000;
    f32::from_bits(0x7f00_0000 - exponent)
}

/// Scales the ray with the scene.
pub(crate) fn prepare(ray: &Ray, largest: f32) -> Prepared {
    let scale = normalizer(ray.origin.abs().max_element().max(largest));
    // A direction among the subnormals is lifted first.
    let lift = if ray.direction.abs().max_element() < 7.888_609e-31 { 16_777_216.0 } else { 1.0 };
    let lifted = ray.direction * lift;
    let direction = lifted * normalizer(lifted.abs().max_element());
    Prepared { scale, origin: ray.origin * scale, direction, inverse_square: 1.0 / dot3(direction, direction) }
}

/// Below 0 when the line through the ray certainly misses the sphere.
#[inline(always)]
pub(crate) fn margin(ray: &Prepared, center: Vec3, radius: f32) -> f32 {
    let e = center * ray.scale - ray.origin;
    let r = radius * ray.scale;
    let k = dot3(e, ray.direction) * ray.inverse_square;
    let p = e - k * ray.direction;
    let size = norm1(e) + r;
    // 24 u bounds the solve's own error (see solve.rs); the rest is for the reciprocal and for underflow.
    let slack = 32.0 * U * size * (norm1(p) + r) + size * size * 7.275_958e-12 + 1e-30;
    r * r - dot3(p, p) + slack
}

/// The spheres of one block that the line may meet, as a mask.
#[inline]
pub(crate) fn may_meet(ray: &Prepared, columns: &Columns, start: usize) -> u32 {
    let column = |c: &[f32]| -> [f32; BLOCK] { std::array::from_fn(|i| c[start + i]) };
    let (x, y, z, r) = (column(&columns.x), column(&columns.y), column(&columns.z), column(&columns.r));
    let mut margins = [0.0f32; BLOCK];
    for i in 0..BLOCK {
        margins[i] = margin(ray, Vec3::new(x[i], y[i], z[i]), r[i]);
    }
    let mut mask = 0u32;
    for (i, m) in margins.iter().enumerate() {
        mask |= u32::from(*m >= 0.0) << i;
    }
    mask
}
