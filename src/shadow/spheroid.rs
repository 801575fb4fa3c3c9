//! Bodies that turn fast: flattened spheres.

use glam::DVec3;

use super::ball::Ball;
use super::validate::check;
use crate::error::{Error, Result};

/// A sphere that has been squeezed, or stretched, along its pole: every section across the pole is a circle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spheroid {
    /// The centre.
    pub center: DVec3,
    /// The radius of the equator.
    pub radius: f64,
    /// From the centre to either pole; less than `radius` for planets.
    pub polar_radius: f64,
    /// The direction of the pole, of any length.
    pub pole: DVec3,
}

/// The largest ratio of the two radii: beyond it f64 does not keep what is promised.
pub(crate) const MAX_OBLATENESS: f64 = 100.0;

/// The lengths that a pole may have, so that its squares are numbers.
pub(crate) const POLE_LENGTHS: std::ops::RangeInclusive<f64> = 1e-100..=1e100;

impl Spheroid {
    /// A spheroid from its centre, the radii of equator and pole, and the direction of its pole.
    pub fn new(center: impl Into<DVec3>, radius: f64, polar_radius: f64, pole: impl Into<DVec3>) -> Self {
        Self { center: center.into(), radius, polar_radius, pole: pole.into() }
    }

    /// The smallest ball around it.
    pub(crate) fn around(&self) -> Ball {
        Ball { center: self.center, radius: self.radius.max(self.polar_radius) }
    }

    /// The largest ball in it.
    pub(crate) fn within(&self) -> Ball {
        Ball { center: self.center, radius: self.radius.min(self.polar_radius) }
    }

    /// The square of the stretch along the pole that makes it a sphere, less 1.
    pub(crate) fn stretch(&self) -> f64 {
        let (a, c) = (self.radius, self.polar_radius);
        (a - c) / c * ((a + c) / c)
    }
}

/// Whether a spheroid can be used: one that is flat, or a line, is no body.
pub(crate) fn check_spheroid(index: u64, spheroid: &Spheroid) -> Result<()> {
    check("spheroid", index, Ball { center: spheroid.center, radius: spheroid.radius })?;
    let bad = |field, value: String, why: &'static str| Err(Error::record("spheroid", index, field, value, why));
    if spheroid.radius == 0.0 {
        return bad("radius", "0".into(), "a spheroid needs a positive one");
    }
    let ratio = spheroid.polar_radius / spheroid.radius;
    if !(1.0 / MAX_OBLATENESS..=MAX_OBLATENESS).contains(&ratio) {
        return bad("polar_radius", spheroid.polar_radius.to_string(), "it must be 0.01 to 100 times the radius");
    }
    if !POLE_LENGTHS.contains(&spheroid.pole.length()) {
        let [x, y, z] = spheroid.pole.to_array();
        return bad("pole", format!("[{x}, {y}, {z}]"), "a direction must not be zero");
    }
    Ok(())
}
