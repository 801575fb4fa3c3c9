//! One ray and one ellipsoid: maps the ellipsoid to a ball, so that the sphere intersection applies. Twin of
//! `shaders/intersect/ellipsoid.wgsl`.
//!
//! Products and sums are kept as pairs (high, low). The error is then that of a displacement of the ellipsoid by 2⁻⁴³ of its distance. In
//! plain f32 the error of the distance from a slim ellipsoid would be multiplied by the ratio of its longest to its shortest semi-axis.

use bytemuck::{Pod, Zeroable};
use glam::{DMat3, DQuat, DVec3, Quat, Vec3};

use super::sphere::{ScaledPair, normalize_range};
use crate::error::{Error, Result};
use crate::math::error_free::{dot3, two_product, two_sum};

/// Product of a matrix row and a vector, each as a pair (high, low).
#[inline(always)]
fn row_dot(row: (Vec3, Vec3), v: (Vec3, Vec3)) -> (f32, f32) {
    let x = two_product(row.0.x, v.0.x);
    let y = two_product(row.0.y, v.0.y);
    let z = two_product(row.0.z, v.0.z);
    let xy = two_sum(x.0, y.0);
    let all = two_sum(xy.0, z.0);
    let rest = ((x.1 + y.1) + z.1) + (xy.1 + all.1) + (dot3(row.0, v.1) + dot3(row.1, v.0));
    two_sum(all.0, rest)
}

/// Applies the map to a vector given as a pair (high, low).
#[inline(always)]
fn apply(map: &UnitBallMap, v: (Vec3, Vec3)) -> (Vec3, Vec3) {
    let row = |i: usize| (Vec3::from_array(map.high[i]), Vec3::from_array(map.low[i]));
    let (x, y, z) = (row_dot(row(0), v), row_dot(row(1), v), row_dot(row(2), v));
    (Vec3::new(x.0, y.0, z.0), Vec3::new(x.1, y.1, z.1))
}

/// Maps a pair, scaled for the bounding ball of its ellipsoid, to the space in which the ellipsoid is a ball. `position_error` does not
/// cover the error of the mapping: only `Precision::Exact` needs error bounds, and it is refused for ellipsoids.
#[inline(always)]
pub(crate) fn to_unit_ball(s: &ScaledPair, map: &UnitBallMap) -> ScaledPair {
    let ((eh, el), (d, dl)) = (apply(map, (s.eh, s.el)), apply(map, (s.d, s.dl)));
    normalize_range(&ScaledPair { eh, el, d, dl, ..*s })
}

/// Maximum ratio of the longest to the shortest semi-axis: 2²⁰.
const MAX_AXIS_RATIO: f32 = 1_048_576.0;

/// Semi-axes and rotation of an ellipsoid. Its sphere record contains the bounding ball.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EllipsoidShape {
    /// Semi-axes: finite and above 0.
    pub radii: Vec3,
    /// Rotation from its own axes to those of the scene, of any finite length except zero.
    pub rotation: Quat,
}

impl EllipsoidShape {
    /// Radius of the bounding ball.
    pub fn bounding_radius(&self) -> f32 {
        self.radii.max_element()
    }

    /// Checks that the shape of ellipsoid `index` is valid: semi-axes finite, above 0 and of a ratio of at most 2²⁰, a rotation that is
    /// finite and not zero.
    ///
    /// # Errors
    /// [`Error::BadRecord`] with the field and the value.
    pub fn check(&self, index: u64) -> Result<()> {
        let bad = |field, value: f32, why: &'static str| Err(Error::record("ellipsoid", index, field, value, why));
        let radii = self.radii.to_array();
        let axes = || ["rx", "ry", "rz"].into_iter().zip(radii);
        if let Some((field, radius)) = axes().find(|(_, radius)| !radius.is_finite() || *radius <= 0.0) {
            return bad(field, radius, "a semi-axis must be finite and larger than 0");
        }
        let [x, y, z, w] = self.rotation.to_array();
        if let Some((field, part)) = [("qw", w), ("qx", x), ("qy", y), ("qz", z)].into_iter().find(|q| !q.1.is_finite())
        {
            return bad(field, part, "a rotation must be finite");
        }
        if [x, y, z, w] == [0.0; 4] {
            return bad("qw", 0.0, "a rotation must not be zero");
        }
        match axes().find(|(_, radius)| self.bounding_radius() / MAX_AXIS_RATIO > *radius) {
            Some((field, r)) => bad(field, r, "the longest semi-axis must be at most 1048576 times the shortest"),
            None => Ok(()),
        }
    }
}

/// Linear map from an ellipsoid to a ball with the radius of its bounding ball: the rows of a matrix as pairs (high, low). Also has the
/// ratio of the shortest to the longest semi-axis. `shaders/intersect/attributes.wgsl` reads the record as words.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct UnitBallMap {
    pub(crate) high: [[f32; 3]; 3],
    pub(crate) low: [[f32; 3]; 3],
    /// Shortest divided by longest semi-axis, rounded down.
    pub(crate) inscribed_radius: f32,
}

impl UnitBallMap {
    /// Applies the map to a vector in f64.
    pub(crate) fn apply(&self, v: DVec3) -> DVec3 {
        let row = |i: usize| {
            let part = |j: usize| f64::from(self.high[i][j]) + f64::from(self.low[i][j]);
            part(0) * v.x + part(1) * v.y + part(2) * v.z
        };
        DVec3::new(row(0), row(1), row(2))
    }

    /// Computes the map of a valid shape.
    pub(crate) fn of(shape: &EllipsoidShape) -> Self {
        let [x, y, z, w] = shape.rotation.to_array().map(f64::from);
        let (longest, radii) = (f64::from(shape.bounding_radius()), shape.radii.to_array().map(f64::from));
        let shortest = radii.into_iter().fold(longest, f64::min);
        let axes = DMat3::from_quat(DQuat::from_xyzw(x, y, z, w).normalize()).to_cols_array_2d();
        let rows: [[f64; 3]; 3] = std::array::from_fn(|i| axes[i].map(|part| part * (longest / radii[i])));
        let high = rows.map(|row| row.map(|part| part as f32));
        let low = std::array::from_fn(|i| std::array::from_fn(|j| (rows[i][j] - f64::from(high[i][j])) as f32));
        let least = (shortest / longest) as f32;
        Self {
            high,
            low,
            inscribed_radius: if f64::from(least) * longest > shortest { least.next_down() } else { least },
        }
    }
}
