//! Intersection of a ray and a sphere in f64, as the reference for error bounds of f32.

use umbracast::glam::{DMat3, DQuat, DVec3};
use umbracast::{Ellipsoid, Precision};

use super::Pair;

/// Unit roundoff of f32: 2⁻²⁴.
pub(super) const U: f64 = 1.0 / (1 << 24) as f64;

/// A ray relative to a sphere, or relative to an ellipsoid in the space in which that is its bounding ball.
pub(super) struct Line {
    /// Origin minus centre.
    pub(super) offset: DVec3,
    pub(super) direction: DVec3,
    pub(super) radius: f64,
    /// Error bound of the centre in arithmetic on pairs of f32, for a moving sphere or an ellipsoid; otherwise 0.
    pub(super) position_error: f64,
    /// Whether the ray starts on the surface.
    on_surface: bool,
}

impl Line {
    /// The ray relative to the sphere. The radius of the ray is added to that of the sphere.
    pub(super) fn new(pair: &Pair<'_>) -> Self {
        let Pair { ray, sphere, velocity, time, relative, radius, ellipsoid, on_surface } = *pair;
        let (origin, center, way) = (ray.origin.as_dvec3(), sphere.center.as_dvec3(), velocity * time);
        let moved = way != DVec3::ZERO;
        let size = origin.abs().element_sum() + center.abs().element_sum() + way.abs().element_sum();
        let line = Self {
            offset: origin - (center + way),
            direction: ray.direction.as_dvec3() - if relative { velocity } else { DVec3::ZERO },
            radius: f64::from(sphere.radius) + radius,
            position_error: if moved { (-45.0_f64).exp2() * size } else { 0.0 },
            on_surface,
        };
        match ellipsoid {
            Some(ellipsoid) => line.through(&ellipsoid),
            None => line,
        }
    }

    /// Maps the line to the space in which the ellipsoid is its bounding ball.
    fn through(self, ellipsoid: &Ellipsoid) -> Self {
        let [x, y, z, w] = ellipsoid.rotation.to_array().map(f64::from);
        let back = DMat3::from_quat(DQuat::from_xyzw(x, y, z, w).normalize()).transpose();
        let stretch = self.radius / ellipsoid.radii.as_dvec3();
        let displacement = (-42.0_f64).exp2() * (self.offset.length() + self.radius);
        Self {
            offset: back * self.offset * stretch,
            direction: back * self.direction * stretch,
            radius: self.radius,
            position_error: (self.position_error + displacement) * stretch.max_element(),
            on_surface: self.on_surface,
        }
    }

    /// Square of half the chord; negative if the line misses the sphere.
    pub(super) fn half_chord_squared(&self) -> f64 {
        let foot = self.offset - self.offset.dot(self.direction) / self.direction.length_squared() * self.direction;
        self.radius * self.radius - foot.length_squared()
    }

    /// The roots that can be hits: of a ray that starts on the surface only the second one.
    pub(super) fn roots(&self) -> Option<[f64; 2]> {
        let (h2, length) = (self.half_chord_squared(), self.direction.length());
        let center = -self.offset.dot(self.direction) / (length * length);
        if self.on_surface {
            return Some([2.0 * center; 2]);
        }
        // A line that is tangent within the rounding of f64 counts as tangent.
        let h2 = if h2.abs() <= 1e-12 * self.radius * self.radius { h2.max(0.0) } else { h2 };
        (h2 >= 0.0).then(|| [center - h2.sqrt() / length, center + h2.sqrt() / length])
    }

    /// Error bound of a root. `fast`: 32u (E + r + E·r/h) / |d|. `standard`: 8u (|t|·|d| + r·r/h) / |d|; for `exact` this is an upper bound
    /// of the difference between devices. `position_error` · (1 + r/h) / |d| is added. Infinite for h = 0.
    pub(super) fn bound(&self, precision: Precision, t: f64) -> f64 {
        let (e, r, length) = (self.offset.length(), self.radius, self.direction.length());
        let h = self.half_chord_squared().max(0.0).sqrt();
        if h == 0.0 {
            return f64::INFINITY;
        }
        let position_term = self.position_error * (1.0 + r / h);
        match precision {
            Precision::Fast => (32.0 * U * (e + r + e * r / h) + position_term) / length,
            _ => (8.0 * U * (t.abs() * length + r * r / h) + position_term) / length,
        }
    }
}
