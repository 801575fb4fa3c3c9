//! Light-aligned frames: where f64 positions become small numbers that f32 can carry.
//!
//! What a shadow depends on is how far a point is from the line through light and occluder. Formed from coordinates in
//! f32 that distance has a 16 km step at 1 au; formed here in f64, and stored by itself, it keeps all its digits.

use glam::{DMat3, DVec2, DVec3};

use super::ball::Ball;
use super::coverage::cones::Shape;
use super::coverage::light::{Light, Occluder, ROUND};
use super::spheroid::Spheroid;

/// The light-aligned frame of one receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
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

impl Frame {
    /// The frame around `origin`, with lengths in `unit`s.
    pub(crate) fn new(origin: DVec3, unit: f64, light: Ball) -> Self {
        let toward = light.center - origin;
        let distance = toward.length();
        // At the light's own centre every direction is as good; the caller is inside the light then.
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

    /// The rotation into the frame.
    pub(crate) fn rotation(&self) -> DMat3 {
        DMat3::from_cols(self.axes[0], self.axes[1], self.axes[2]).transpose()
    }

    /// An occluder in this frame.
    pub(crate) fn occluder(&self, ball: Ball) -> Occluder {
        let from_origin = ball.center - self.origin;
        let from_light = ball.center - self.light_center;
        // Across the axis both differ by nothing; the shorter one is rounded less.
        let w = if from_origin.length_squared() <= from_light.length_squared() { from_origin } else { from_light };
        // Difference of the squared distances as a product of sum and difference: a planet's star may be 10⁷ times as
        // far as the two are apart.
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

    /// A spheroid in this frame; its shape is to have that number.
    pub(crate) fn spheroid(&self, spheroid: &Spheroid, number: u32) -> (Occluder, Shape) {
        let (pole, stretch) = (spheroid.pole.normalize(), spheroid.stretch());
        let height = (spheroid.center - self.origin).dot(pole);
        let sphere = Ball { center: spheroid.center, radius: spheroid.radius };
        let power = power(self.origin, sphere, stretch * height * height);
        let occluder = Occluder {
            radius: spheroid.radius / self.unit,
            power: power / (self.unit * self.unit),
            shape: number,
            ..self.occluder(spheroid.around())
        };
        (occluder, Shape { pole: self.rotation() * pole, stretch })
    }
}

/// Squared distance less squared radius, and more, as if computed exactly and rounded once or twice: an observer a millimetre
/// above a planet sees its edge at √(2 h / r) below the horizontal, which plain f64 gets wrong in the seventh digit.
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

/// The sum and what its rounding lost (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}
