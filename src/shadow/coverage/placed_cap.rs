//! Caps with the directions of their centres. Differences of directions decide most relations of two caps without trigonometric functions.
//!
//! A chord is never longer than its arc. Therefore two centres are at least as far apart, as an angle, as their directions differ. The
//! margins exceed the rounding errors by far, so that a decision always agrees with that of the angles.

use glam::DVec3;

use super::caps::{Cap, are_apart, edge_direction};
use crate::math::angles::{sine, versine};

/// Margin, relative to the angles involved.
const MARGIN: f64 = 1e-9;

/// A cap and the direction of its centre.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedCap {
    pub(crate) cap: Cap,
    /// Unit vector to the centre; the disc's centre is (0, 0, 1).
    direction: DVec3,
    /// Length of the chord of an arc as long as the radius.
    chord: f64,
}

impl PlacedCap {
    pub(crate) fn new(cap: Cap) -> Self {
        let direction = (sine(cap.separation) * cap.azimuth).extend(1.0 - versine(cap.separation));
        Self { cap, direction, chord: 2.0 * sine(0.5 * cap.radius) }
    }

    /// Whether the centres are farther apart than `angle`, for certain.
    fn exceeds(&self, other: &Self, angle: f64) -> bool {
        let limit = angle + MARGIN * (angle.abs() + self.cap.separation + other.cap.separation);
        limit < 0.0 || self.direction.distance_squared(other.direction) > limit * limit
    }

    /// Whether this cap is inside another one, up to `slack`.
    pub(crate) fn is_inside(&self, outer: &Self, slack: f64) -> bool {
        let (inner_cap, outer_cap) = (self.cap, outer.cap);
        !self.exceeds(outer, outer_cap.radius + slack - inner_cap.radius)
            && are_apart(outer_cap, inner_cap) + inner_cap.radius <= outer_cap.radius + slack
    }

    /// The angle between the centres if the caps overlap.
    #[inline]
    pub(crate) fn gap_to(&self, other: &Self) -> Option<f64> {
        let radii = self.cap.radius + other.cap.radius;
        if self.exceeds(other, radii) {
            return None;
        }
        let gap = are_apart(self.cap, other.cap);
        (gap < radii).then_some(gap)
    }

    /// Whether the cap may contain a point, given as a unit vector. False is certain.
    pub(crate) fn may_contain(&self, point: DVec3) -> bool {
        let lengths = self.chord + self.cap.separation;
        self.direction.distance_squared(point) <= self.chord * self.chord + MARGIN * lengths * lengths
    }

    /// The point of the edge at `angle`, a bearing, as a unit vector.
    pub(crate) fn edge_direction(&self, angle: f64) -> DVec3 {
        edge_direction(self.cap, angle)
    }
}
