//! Light-aligned frames: f64 positions become relative numbers that f32 can represent.
//!
//! A shadow depends on the distance of a point from the line through light and occluder. Computed from f32 coordinates, that distance has a
//! resolution of 16 km at 1 au. Computed here in f64 and stored separately, it keeps its full precision.

use crate::math::error_free::two_sum;
use glam::{DMat3, DVec2, DVec3};

use super::ball::Ball;
use super::coverage::cones::SpheroidShape;
use super::coverage::light::{Light, Occluder, ROUND};
use super::spheroid::Spheroid;

/// The light-aligned frame of one receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LightFrame {
    origin: DVec3,
    unit: f64,
    light_center: DVec3,
    light_distance: f64,
    light_radius: f64,
    /// From the origin to the light's centre.
    toward: DVec3,
    /// The frame's axes; the third points to the light.
    axes: [DVec3; 3],
    /// The light in this frame.
    pub(crate) light: Light,
}

impl LightFrame {
    /// A frame with this origin and this unit of length.
    pub(crate) fn new(origin: DVec3, unit: f64, light: Ball) -> Self {
        let toward = light.center - origin;
        let distance = toward.length();
        // At the light's own centre any direction works: the caller is inside the light.
        let z = if distance > 0.0 { toward / distance } else { DVec3::Z };
        let (x, y) = z.any_orthonormal_pair();
        let distance = distance.max(f64::MIN_POSITIVE);
        Self {
            origin,
            unit,
            light_center: light.center,
            light_distance: distance,
            light_radius: light.radius,
            toward,
            axes: [x, y, z],
            light: Light { inverse_distance: unit / distance, ratio: light.radius / distance },
        }
    }

    /// The rotation from the input's coordinates into the frame.
    pub(crate) fn rotation(&self) -> DMat3 {
        DMat3::from_cols(self.axes[0], self.axes[1], self.axes[2]).transpose()
    }

    /// Transforms an occluder into this frame.
    pub(crate) fn occluder(&self, ball: Ball) -> Occluder {
        let from_origin = ball.center - self.origin;
        let from_light = ball.center - self.light_center;
        // Both vectors have the same components across the axis; the shorter one has the smaller rounding error.
        let w = if from_origin.length_squared() <= from_light.length_squared() { from_origin } else { from_light };
        // The difference of the squared distances is computed as a product of sum and difference: a star may be 10⁷ times as far away as
        // occluder and origin are apart.
        let radii = (self.light_radius - ball.radius) * (self.light_radius + ball.radius);
        let powers = -from_light.dot(self.toward + from_origin) - radii;
        Occluder {
            offset: DVec2::new(w.dot(self.axes[0]), w.dot(self.axes[1])) / self.unit,
            along: from_origin.dot(self.axes[2]) / self.unit,
            radius: ball.radius / self.unit,
            power: power(self.origin, ball, 0.0) / (self.unit * self.unit),
            beyond: -from_light.dot(self.axes[2]) / self.light_distance,
            front: powers / (self.light_distance * self.light_distance),
            shape: ROUND,
        }
    }

    /// Transforms a spheroid into this frame, and gives its shape the index `number`.
    pub(crate) fn spheroid(&self, spheroid: &Spheroid, number: u32) -> (Occluder, SpheroidShape) {
        let (pole, stretch) = (spheroid.pole.normalize(), spheroid.stretch());
        let height = (spheroid.center - self.origin).dot(pole);
        let sphere = Ball { center: spheroid.center, radius: spheroid.radius };
        let power = power(self.origin, sphere, stretch * height * height);
        let occluder = Occluder {
            radius: spheroid.radius / self.unit,
            power: power / (self.unit * self.unit),
            shape: number,
            ..self.occluder(spheroid.bounding_ball())
        };
        (occluder, SpheroidShape { pole: self.rotation() * pole, stretch })
    }

    /// Transforms the body with this id into this frame: one of the `spheroids`, which are sorted by id, or else `ball`. Appends the shape
    /// of a spheroid to `shapes`.
    #[inline]
    pub(crate) fn body(
        &self,
        id: u32,
        ball: Ball,
        spheroids: &[(u32, Spheroid)],
        shapes: &mut Vec<SpheroidShape>,
    ) -> Occluder {
        let Ok(at) = spheroids.binary_search_by_key(&id, |one| one.0) else { return self.occluder(ball) };
        let (occluder, shape) = self.spheroid(&spheroids[at].1, shapes.len() as u32);
        shapes.push(shape);
        occluder
    }
}

/// Squared distance minus squared radius, plus `more`, as if computed exactly and rounded once or twice. An observer a millimetre above a
/// planet sees its edge √(2 h / r) below the horizontal; plain f64 would get that wrong in the seventh digit.
fn power(point: DVec3, ball: Ball, more: f64) -> f64 {
    let mut high = 0.0;
    let mut low = 0.0;
    let mut add = |a: f64, b: f64, tail: f64| {
        let product = a * b;
        let (sum, rest) = two_sum(high, product);
        high = sum;
        low += rest + a.mul_add(b, -product) + tail;
    };
    for (c, p) in ball.center.to_array().into_iter().zip(point.to_array()) {
        let (d, rest) = two_sum(c, -p);
        add(d, d, 2.0 * d * rest);
    }
    add(-ball.radius, ball.radius, 0.0);
    add(1.0, more, 0.0);
    high + low
}
