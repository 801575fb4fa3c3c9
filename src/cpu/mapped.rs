//! A ray and an ellipsoid, told where it is a ball. Twin of `shaders/mapped.wgsl`.
//!
//! Products and sums are kept as pairs, so that what is lost is what a displacement of the ellipsoid by 2⁻⁴³ of its distance would
//! lose: in f32 the distance from a slim one would be off by as many times as it is slimmer than long.

use glam::Vec3;

use super::pairs::{dot3, two_product, two_sum};
use super::solve::{Scaled, ranged};
use crate::ellipsoid::Map;

/// A row times a vector, both as pairs.
#[inline(always)]
fn along(row: (Vec3, Vec3), v: (Vec3, Vec3)) -> (f32, f32) {
    let x = two_product(row.0.x, v.0.x);
    let y = two_product(row.0.y, v.0.y);
    let z = two_product(row.0.z, v.0.z);
    let xy = two_sum(x.0, y.0);
    let all = two_sum(xy.0, z.0);
    let rest = ((x.1 + y.1) + z.1) + (xy.1 + all.1) + (dot3(row.0, v.1) + dot3(row.1, v.0));
    two_sum(all.0, rest)
}

/// A vector through the map.
#[inline(always)]
fn image(map: &Map, v: (Vec3, Vec3)) -> (Vec3, Vec3) {
    let row = |i: usize| (Vec3::from_array(map.high[i]), Vec3::from_array(map.low[i]));
    let (x, y, z) = (along(row(0), v), along(row(1), v), along(row(2), v));
    (Vec3::new(x.0, y.0, z.0), Vec3::new(x.1, y.1, z.1))
}

/// A pair where its ellipsoid, scaled as the ball around it, is a ball. How far it may be off is told nobody: who asks, asks for
/// exact answers.
#[inline(always)]
pub(crate) fn mapped(s: &Scaled, map: &Map) -> Scaled {
    let ((eh, el), (d, dl)) = (image(map, (s.eh, s.el)), image(map, (s.d, s.dl)));
    ranged(&Scaled { eh, el, d, dl, ..*s })
}
