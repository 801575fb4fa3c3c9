//! A light and what may stand before it, and what of the light is left at a place.

use super::ball::Ball;
use super::spheroid::{Spheroid, check_spheroid};
use super::system::{Body, System};
use super::validate::check;
use crate::error::Result;

/// A light and the balls that may stand before it, in f64 and in any one unit: what [`Device::shadows`](crate::Device::shadows)
/// is asked about.
///
/// * A ball behind the light, or behind the observer, counts for nothing. Balls that overlap on the disc count once (their
///   true union). Should a ball meet the light, the one of smaller power stands in front.
/// * Inside a ball it is dark. On its surface the ball is half the sky, and so it is up to 2⁻²² of its radius below, which is
///   what rounding to f32 makes of a place on the ground.
/// * Inside the light, and outside all balls, there is light: 1, [`ShadowKind::None`](crate::shadow::ShadowKind::None).
/// * A light of radius 0 is a point: all or nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Lighting {
    light: Ball,
    occluders: Vec<Ball>,
    spheroids: Vec<Spheroid>,
}

impl Lighting {
    /// Puts a light and its occluders together.
    ///
    /// # Errors
    /// [`Error::BadRecord`](crate::Error::BadRecord) for a coordinate or a radius that is no number up to 1e150, and for a
    /// negative radius.
    pub fn new(light: Ball, occluders: impl Into<Vec<Ball>>) -> Result<Self> {
        let occluders = occluders.into();
        check("light", 0, light)?;
        (0..).zip(&occluders).try_for_each(|(i, &ball)| check("occluder", i, ball))?;
        Ok(Self { light, occluders, spheroids: Vec::new() })
    }

    /// Adds bodies that are not round. All that is said of balls is true of them; whether one is before the light or behind it is
    /// decided by the ball around it.
    ///
    /// ```
    /// use umbracast::shadow::{Ball, Lighting, Spheroid};
    /// let sun = Ball::new([0.0, 0.0, 1_427_000_000.0], 695_700.0);
    /// let saturn = Spheroid::new([0.0; 3], 60_268.0, 54_364.0, [0.1, 0.4, 0.9]);
    /// let lighting = Lighting::new(sun, [])?.with_spheroids([saturn])?;
    /// # Ok::<(), umbracast::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new); and for a radius of 0, a polar radius that is not 0.01 to 100 times the radius, or a pole
    /// without a direction.
    pub fn with_spheroids(mut self, spheroids: impl Into<Vec<Spheroid>>) -> Result<Self> {
        let spheroids = spheroids.into();
        (0..).zip(&spheroids).try_for_each(|(i, one)| check_spheroid(i, one))?;
        self.spheroids.extend(spheroids);
        Ok(self)
    }

    /// The light.
    pub fn light(&self) -> Ball {
        self.light
    }

    /// What may stand before it and is round.
    pub fn occluders(&self) -> &[Ball] {
        &self.occluders
    }

    /// What may stand before it and is not.
    pub fn spheroids(&self) -> &[Spheroid] {
        &self.spheroids
    }
}

impl Lighting {
    /// The light, and the bodies that cast shadows, which have been checked.
    pub(crate) fn of(light: Ball, bodies: &[Body]) -> Self {
        let (mut occluders, mut spheroids) = (Vec::new(), Vec::new());
        for body in bodies.iter().filter(|body| body.casts) {
            match body.spheroid() {
                Some(spheroid) => spheroids.push(spheroid),
                None => occluders.extend(&body.balls),
            }
        }
        Self { light, occluders, spheroids }
    }
}

impl From<&System> for Lighting {
    /// The system's light, and the balls and spheroids of all bodies that cast shadows.
    fn from(system: &System) -> Self {
        Self::of(system.light().ball, system.bodies())
    }
}
