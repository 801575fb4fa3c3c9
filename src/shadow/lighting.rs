//! A light and its occluders: the scene of [`Device::shadows`](crate::Device::shadows).

use super::ball::Ball;
use super::limb_darkening::LimbDarkening;
use super::spheroid::{Spheroid, check_spheroid};
use super::system::{Body, LightSource, System, check_apart_from_light, check_bodies};
use super::validate::check;
use crate::error::Result;

/// A light and the bodies that may cover it, in f64 and in any single unit: the input of [`Device::shadows`](crate::Device::shadows).
///
/// * A sphere behind the light or behind the observer has no effect. Spheres that overlap on the disc count once (their true union). If a
///   sphere intersects the light, the one of smaller power counts as in front.
/// * Inside a body it is dark. On its surface the body covers half the sky. Observers up to 2⁻²² of the distance from its centre to the
///   surface there below the surface count as on it, because rounding a position on the ground to f32 may move it that far.
/// * Inside the light and outside all spheres there is full light: 1, [`ShadowKind::Lit`](crate::shadow::ShadowKind::Lit).
/// * A light of radius 0 is a point: it is visible completely or not at all.
#[derive(Clone, Debug, PartialEq)]
pub struct Lighting {
    light: Ball,
    occluders: Vec<Ball>,
    spheroids: Vec<Spheroid>,
    limb_darkening: Option<LimbDarkening>,
    /// Index of the first sphere of each body with its name, and the names of the spheroids.
    names: (Vec<(usize, String)>, Vec<String>),
    unit: Option<&'static str>,
}

impl Lighting {
    /// A light with its occluders.
    ///
    /// # Errors
    /// [`Error::BadRecord`](crate::Error::BadRecord) for a coordinate or radius that is not a number or exceeds 1e150 in magnitude, and for
    /// a negative radius.
    pub fn new(light: Ball, occluders: impl Into<Vec<Ball>>) -> Result<Self> {
        let occluders = occluders.into();
        check("light", 0, light)?;
        (0..).zip(&occluders).try_for_each(|(i, &ball)| check("occluder", i, ball))?;
        Ok(Self {
            light,
            occluders,
            spheroids: Vec::new(),
            limb_darkening: None,
            names: Default::default(),
            unit: None,
        })
    }

    /// Adds bodies that are not spheres. The rules for spheres apply to them. Whether one is in front of the light or behind it is decided
    /// by its bounding sphere.
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
    /// The errors of [`new`](Self::new); also for a radius of 0, a polar radius that is not 0.01 to 100 times the radius, a pole without a
    /// direction, or a bounding sphere that touches the light.
    pub fn with_spheroids(mut self, spheroids: impl Into<Vec<Spheroid>>) -> Result<Self> {
        let spheroids = spheroids.into();
        (0..).zip(&spheroids).try_for_each(|(i, one)| {
            check_spheroid(i, one)?;
            check_apart_from_light(i, one, self.light)
        })?;
        self.spheroids.extend(spheroids);
        Ok(self)
    }

    /// The same lighting, with a light that is darker towards its edge. It changes [`Device::fluxes`](crate::Device::fluxes), and no
    /// visible fraction.
    pub fn with_limb_darkening(mut self, law: LimbDarkening) -> Self {
        self.limb_darkening = Some(law);
        self
    }

    /// Limb darkening of the light, if it has any.
    pub fn limb_darkening(&self) -> Option<LimbDarkening> {
        self.limb_darkening
    }

    /// The unit of all lengths, such as `km`, if a system file has it.
    pub fn unit(&self) -> Option<&'static str> {
        self.unit
    }

    /// The same lighting with the name of its unit of length.
    #[must_use]
    pub fn with_unit(self, unit: &'static str) -> Self {
        Self { unit: Some(unit), ..self }
    }

    /// The light.
    pub fn light(&self) -> Ball {
        self.light
    }

    /// The occluders that are spheres.
    pub fn occluders(&self) -> &[Ball] {
        &self.occluders
    }

    /// The occluders that are spheroids.
    pub fn spheroids(&self) -> &[Spheroid] {
        &self.spheroids
    }

    /// A light and the spheres and spheroids of all bodies that cast shadows.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) with the name of the invalid value, the value and the allowed range.
    pub fn of_bodies(light: &LightSource, bodies: &[Body]) -> Result<Self> {
        check_bodies(light, bodies, None)?;
        Ok(Self::of(light, bodies))
    }

    /// [`of_bodies`](Self::of_bodies), of bodies that have been checked.
    fn of(light: &LightSource, bodies: &[Body]) -> Self {
        let (mut occluders, mut spheroids, mut names) = (Vec::new(), Vec::new(), (Vec::new(), Vec::new()));
        for body in bodies.iter().filter(|body| body.casts) {
            match body.spheroid() {
                Some(spheroid) => {
                    spheroids.push(spheroid);
                    names.1.push(body.name.clone());
                }
                None => {
                    names.0.push((occluders.len(), body.name.clone()));
                    occluders.extend(&body.balls);
                }
            }
        }
        Self { light: light.ball, occluders, spheroids, limb_darkening: light.limb_darkening, names, unit: None }
    }

    /// Index of the first sphere of each body with the name of the body, and the names of the spheroids. Empty without names.
    pub(crate) fn names(&self) -> (&[(usize, String)], &[String]) {
        (&self.names.0, &self.names.1)
    }
}

impl From<&System> for Lighting {
    /// The system's light, and the spheres and spheroids of all bodies that cast shadows.
    fn from(system: &System) -> Self {
        Self::of(system.light(), system.bodies())
    }
}
