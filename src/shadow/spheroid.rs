//! Spheroids: bodies flattened by their rotation.

use glam::DVec3;

use super::ball::Ball;
use super::validate::check;
use crate::error::{Error, Result};

/// An ellipsoid of revolution: a sphere compressed or stretched along its pole, so that every section across the pole is a circle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spheroid {
    /// The centre.
    pub center: DVec3,
    /// Equatorial radius.
    pub radius: f64,
    /// Distance from the centre to either pole; less than `radius` for planets.
    pub polar_radius: f64,
    /// Direction of the pole, of any length.
    pub pole: DVec3,
}

/// Largest ratio of the two radii: beyond it f64 does not reach the documented accuracy.
pub(crate) const MAX_OBLATENESS: f64 = 100.0;

/// Allowed lengths of a pole: the squares of its components stay finite and above zero.
pub(crate) const POLE_LENGTHS: std::ops::RangeInclusive<f64> = 1e-100..=1e100;

impl Spheroid {
    /// A spheroid with this centre, equatorial radius, polar radius and direction of the pole.
    pub fn new(center: impl Into<DVec3>, radius: f64, polar_radius: f64, pole: impl Into<DVec3>) -> Self {
        Self { center: center.into(), radius, polar_radius, pole: pole.into() }
    }

    /// Whether the radii are equal, so that the pole does not matter.
    pub(crate) fn is_sphere(&self) -> bool {
        self.radius == self.polar_radius
    }

    /// The bounding sphere.
    pub(crate) fn bounding_ball(&self) -> Ball {
        Ball { center: self.center, radius: self.radius.max(self.polar_radius) }
    }

    /// The largest inscribed sphere.
    pub(crate) fn inscribed_ball(&self) -> Ball {
        Ball { center: self.center, radius: self.radius.min(self.polar_radius) }
    }

    /// The square of the stretch factor along the pole that turns the spheroid into a sphere, minus 1.
    pub(crate) fn stretch(&self) -> f64 {
        let (a, c) = (self.radius, self.polar_radius);
        (a - c) / c * ((a + c) / c)
    }
}

impl From<Ball> for Spheroid {
    /// The sphere as a spheroid with equal radii, whose pole is the z axis.
    fn from(ball: Ball) -> Self {
        Self { center: ball.center, radius: ball.radius, polar_radius: ball.radius, pole: DVec3::Z }
    }
}

/// Checks a spheroid. The ratio of its radii must be 0.01 to 100, because a disc or a line is not a body.
pub(crate) fn check_spheroid(index: u64, spheroid: &Spheroid) -> Result<()> {
    check("spheroid", index, Ball { center: spheroid.center, radius: spheroid.radius })?;
    let bad = |field, value: String, why: &'static str| Err(Error::record("spheroid", index, field, value, why));
    if spheroid.radius == 0.0 {
        return bad("radius", "0".into(), "the radius of a spheroid must be above 0");
    }
    let ratio = spheroid.polar_radius / spheroid.radius;
    if !(1.0 / MAX_OBLATENESS..=MAX_OBLATENESS).contains(&ratio) {
        return bad(
            "polar_radius",
            spheroid.polar_radius.to_string(),
            "it must be between 0.01 and 100 times the radius",
        );
    }
    if !POLE_LENGTHS.contains(&spheroid.pole.length()) {
        let [x, y, z] = spheroid.pole.to_array();
        return bad("pole", format!("[{x}, {y}, {z}]"), "a direction must not be zero");
    }
    Ok(())
}
