//! A ray and a sphere in f64: exact enough to say how exact f32 can be.

use umbracast::glam::{DMat3, DQuat, DVec3};
use umbracast::{Ellipsoid, Precision};

use super::Pair;

/// Half a step of f32, relative.
pub(super) const U: f64 = 1.0 / (1 << 24) as f64;

/// A ray as a sphere sees it, or as an ellipsoid does where it is the ball around it.
pub(super) struct Line {
    /// Centre to origin.
    pub(super) offset: DVec3,
    pub(super) direction: DVec3,
    pub(super) radius: f64,
    /// How far pairs of f32 may put the centre elsewhere, of what moves or is an ellipsoid.
    pub(super) noise: f64,
}

impl Line {
    /// As the sphere sees the ray; a ray with a radius meets a larger one.
    pub(super) fn new(pair: &Pair<'_>) -> Self {
        let Pair { ray, sphere, velocity, time, relative, radius, ellipsoid } = *pair;
        let (origin, center, way) = (ray.origin.as_dvec3(), sphere.center.as_dvec3(), velocity * time);
        let moved = way != DVec3::ZERO;
        let size = origin.abs().element_sum() + center.abs().element_sum() + way.abs().element_sum();
        let line = Self {
            offset: origin - (center + way),
            direction: ray.direction.as_dvec3() - if relative { velocity } else { DVec3::ZERO },
            radius: f64::from(sphere.radius) + radius,
            noise: if moved { (-45.0_f64).exp2() * size } else { 0.0 },
        };
        match ellipsoid {
            Some(ellipsoid) => line.through(&ellipsoid),
            None => line,
        }
    }

    /// Where the ellipsoid is the ball around it.
    fn through(self, ellipsoid: &Ellipsoid) -> Self {
        let [x, y, z, w] = ellipsoid.rotation.to_array().map(f64::from);
        let back = DMat3::from_quat(DQuat::from_xyzw(x, y, z, w).normalize()).transpose();
        let stretch = self.radius / ellipsoid.radii.as_dvec3();
        let slip = (-42.0_f64).exp2() * (self.offset.length() + self.radius);
        Self {
            offset: back * self.offset * stretch,
            direction: back * self.direction * stretch,
            radius: self.radius,
            noise: (self.noise + slip) * stretch.max_element(),
        }
    }

    /// Half the chord, squared; negative when the line passes by.
    pub(super) fn half_chord_squared(&self) -> f64 {
        let foot = self.offset - self.offset.dot(self.direction) / self.direction.length_squared() * self.direction;
        self.radius * self.radius - foot.length_squared()
    }

    pub(super) fn roots(&self) -> Option<[f64; 2]> {
        let (h2, length) = (self.half_chord_squared(), self.direction.length());
        let center = -self.offset.dot(self.direction) / (length * length);
        // A line that passes within the rounding of f64 still touches for this purpose.
        let h2 = if h2.abs() <= 1e-12 * self.radius * self.radius { h2.max(0.0) } else { h2 };
        (h2 >= 0.0).then(|| [center - h2.sqrt() / length, center + h2.sqrt() / length])
    }

    /// How far a root may be off. `fast`: 32u (E + r + E·r/h) / |d|. Else, and for `exact` as an upper limit of what
    /// devices could disagree about: 8u (|t|·|d| + r·r/h) / |d|.
    pub(super) fn bound(&self, precision: Precision, t: f64) -> f64 {
        let (e, r, length) = (self.offset.length(), self.radius, self.direction.length());
        let h = self.half_chord_squared().max(0.0).sqrt();
        if h == 0.0 {
            return f64::INFINITY;
        }
        let noise = self.noise * (1.0 + r / h);
        match precision {
            Precision::Fast => (32.0 * U * (e + r + e * r / h) + noise) / length,
            _ => (8.0 * U * (t.abs() * length + r * r / h) + noise) / length,
        }
    }
}
