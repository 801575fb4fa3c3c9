//! Lights as somebody sees them past what stands in the way.

use glam::DVec3;

use super::frame::{Ball, Frame};
use crate::cpu::coverage::{self, Light, Occluder};
use crate::error::{Error, Result};

/// A light, seen from a place, past occluders. Positions in f64, in any unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Sight {
    /// From where.
    pub observer: DVec3,
    /// The light.
    pub light: Ball,
    /// What may stand before it.
    pub occluders: Vec<Ball>,
}

/// A sight in its light-aligned frame.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) light: Light,
    pub(crate) occluders: Vec<Occluder>,
}

impl Sight {
    pub(crate) fn prepare(&self) -> Result<Prepared> {
        prepare(self.observer, self.light, &self.occluders)
    }
}

fn prepare(observer: DVec3, light: Ball, occluders: &[Ball]) -> Result<Prepared> {
    check("observer", 0, Ball { center: observer, radius: 0.0 })?;
    check("light", 0, light)?;
    for (i, &ball) in occluders.iter().enumerate() {
        check("occluder", i as u64, ball)?;
    }
    let unit = (light.center - observer).length();
    let frame = Frame::new(observer, if unit > 0.0 { unit } else { 1.0 }, light);
    Ok(Prepared { light: frame.light, occluders: occluders.iter().map(|&ball| frame.occluder(ball)).collect() })
}

impl Prepared {
    /// The visible fraction, in f64.
    pub(crate) fn visible(&self) -> f64 {
        let disc = coverage::disc_from(DVec3::ZERO, self.light);
        let caps = self.occluders.iter().map(|&one| coverage::cap_of(DVec3::ZERO, self.light, disc, one));
        if disc.power <= 0.0 {
            let swallowed = caps.into_iter().any(|cap| cap.radius > 3.0);
            return if swallowed { 0.0 } else { 1.0 };
        }
        if disc.radius <= 0.0 {
            return caps.map(coverage::left_of_point).fold(1.0, f64::min);
        }
        let mut sky = coverage::Sky::default();
        for cap in caps {
            coverage::add(&mut sky, disc, cap);
        }
        coverage::left(&mut sky, disc)
    }
}

/// The part of the light's disc, by solid angle, that the occluders leave uncovered at `observer`: 0 in an umbra, 1 in
/// full light. Positions in f64, in any unit.
///
/// An occluder behind the light, or one that the light's disc does not touch, counts for nothing. Inside an occluder it
/// is dark; inside the light it is not. Occluders that overlap on the disc count once (the true union). Exact to 10⁻⁹. A light of radius 0 is a point: all or nothing.
///
/// # Errors
/// [`Error::BadRecord`] for a coordinate or a radius that is not finite, or a negative radius.
///
/// ```
/// use umbracast::shadow::{Ball, visible_fraction};
/// let sun = Ball::new([0.0, 0.0, 149_597_870.7], 695_700.0);
/// let moon = Ball::new([0.0, 0.0, 370_000.0], 1_737.4);
/// let left = visible_fraction([0.0, 0.0, 6_371.0].into(), sun, &[moon])?;
/// assert_eq!(left, 0.0); // a total eclipse
/// # Ok::<(), umbracast::Error>(())
/// ```
pub fn visible_fraction(observer: DVec3, light: Ball, occluders: &[Ball]) -> Result<f64> {
    Ok(prepare(observer, light, occluders)?.visible())
}

fn check(what: &'static str, index: u64, ball: Ball) -> Result<()> {
    // Squares of these stay finite.
    const LARGEST: f64 = 1e150;
    let bad = |field, value: f64, why| Err(Error::BadRecord { what, index, field, value: value.to_string(), why });
    for (field, value) in ["x", "y", "z"].into_iter().zip(ball.center.to_array()) {
        if value.is_nan() || value.abs() > LARGEST {
            return bad(field, value, "a coordinate must be a number of at most 1e150");
        }
    }
    if !(0.0..=LARGEST).contains(&ball.radius) {
        return bad("radius", ball.radius, "a radius must be a number in 0…1e150");
    }
    Ok(())
}
