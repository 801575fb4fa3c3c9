//! Visibility queries: the visible fraction of a light, for one observer and a list of occluders.

use glam::DVec3;

use super::ball::{Ball, Shadow, ShadowKind};
use super::coverage::cones::SpheroidShape;
use super::coverage::disc::{self, OccluderSet};
use super::coverage::flux::{EXACT, visible_flux};
use super::coverage::light::{Light, Occluder, disc_from};
use super::light_frame::LightFrame;
use super::limb_darkening::LimbDarkening;
use super::spheroid::Spheroid;
use super::validate::{check, check_observer};
use crate::error::Result;

/// A visibility query in its light-aligned frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct LocalVisibility {
    pub(crate) light: Light,
    pub(crate) occluders: Vec<Occluder>,
    /// Shapes of the occluders that are spheroids.
    pub(crate) shapes: Vec<SpheroidShape>,
}

impl LocalVisibility {
    /// Replaces the contents with another query. Its numbers must have been checked.
    pub(crate) fn set(&mut self, observer: DVec3, light: Ball, occluders: &[Ball], spheroids: &[Spheroid]) {
        let frame = self.start(observer, light);
        occluders.iter().for_each(|&ball| self.add_ball(&frame, ball));
        spheroids.iter().for_each(|spheroid| self.add_spheroid(&frame, spheroid));
    }

    /// Replaces the contents with another query, whose bodies are spheroids and spheres. Its numbers must have been checked.
    pub(crate) fn set_bodies<'a>(
        &mut self,
        observer: DVec3,
        light: Ball,
        bodies: impl IntoIterator<Item = &'a Spheroid>,
    ) {
        let frame = self.start(observer, light);
        for body in bodies {
            if body.is_sphere() {
                self.add_ball(&frame, body.bounding_ball());
            } else {
                self.add_spheroid(&frame, body);
            }
        }
    }

    fn start(&mut self, observer: DVec3, light: Ball) -> LightFrame {
        let unit = (light.center - observer).length();
        let frame = LightFrame::new(observer, if unit > 0.0 { unit } else { 1.0 }, light);
        self.light = frame.light;
        self.occluders.clear();
        self.shapes.clear();
        frame
    }

    fn add_ball(&mut self, frame: &LightFrame, ball: Ball) {
        self.occluders.push(raised_to_surface(frame.occluder(ball)));
    }

    fn add_spheroid(&mut self, frame: &LightFrame, spheroid: &Spheroid) {
        let (occluder, shape) = frame.spheroid(spheroid, self.shapes.len() as u32);
        self.occluders.push(raised_to_surface(occluder));
        self.shapes.push(shape);
    }

    /// Computes the shadow, in f64. Twin of `shaders/shadow/visibility.wgsl`.
    pub(crate) fn shadow(&self, occluder_set: &mut OccluderSet) -> Shadow {
        let disc = disc_from(DVec3::ZERO, self.light);
        let mut open = 1.0;
        disc::clear(occluder_set);
        for &one in &self.occluders {
            let visible = disc::add_occluder(occluder_set, DVec3::ZERO, self.light, disc, one, &self.shapes);
            let Some(visible) = visible else { return Shadow::DARK };
            open = visible.min(open);
        }
        if disc.power <= 0.0 {
            return Shadow::LIT;
        }
        if disc.radius <= 0.0 {
            return if open > 0.0 { Shadow::LIT } else { Shadow::DARK };
        }
        let rest = disc::uncovered_fraction(occluder_set, disc);
        Shadow { fraction: rest, kind: disc::kind(occluder_set, disc, rest) }
    }

    /// Visible flux of a light with limb darkening, relative to that without occluders. Equal to the fraction if the light is a point.
    pub(crate) fn flux(&self, occluder_set: &mut OccluderSet, limb: LimbDarkening) -> f64 {
        let shadow = self.shadow(occluder_set);
        let disc = disc_from(DVec3::ZERO, self.light);
        match shadow.kind {
            ShadowKind::Penumbra | ShadowKind::Antumbra if disc.radius > 0.0 => {
                visible_flux(occluder_set, disc, limb, EXACT)
            }
            _ => shadow.fraction,
        }
    }

    /// Whether an f32 result may be wrong by more than 10⁻⁴.
    ///
    /// Let an occluder have the angular radius b. Its edge is at sin(c − b) = |o| h − z r (o and z: its centre across and along the line of
    /// sight; h: the length of the tangent; r: its radius). Each of the four is rounded once, which moves the edge by up to 2⁻²² sin b cos
    /// b. A light of angular radius a is 2 a wide. Moving an edge that crosses its centre by s therefore changes the visible fraction by s
    /// / (1.6 a).
    ///
    /// Areas are squares of angles. The square of an angle or a distance below [`LEAST_SQUARED`] loses digits in f32, or is 0 on a device
    /// without subnormal numbers: an observer 10¹⁷ times as far away as the light is wide would be in the dark.
    ///
    /// With spheroids, the quadratics of bodies close to the observer's feet are nearly squares, in units of the light's width. In f32 they
    /// lose the sign changes, up to 7 · 10⁻³ of the light.
    ///
    /// A device that does not round quotients and roots correctly may be off by 10 roundings in h, 16 in |o| and 5 in the
    /// rest: 31 instead of 4.
    pub(crate) fn exceeds_f32(&self, rounds_correctly: bool) -> bool {
        let most = if rounds_correctly { 500.0 } else { 60.0 };
        let squares = LEAST_SQUARED..=MOST_SQUARED;
        let ratio = self.light.ratio;
        let coarse = |one: &Occluder| {
            let square = one.radius * one.radius;
            one.power > 0.0 && one.radius * one.power.sqrt() > most * ratio * (one.power + square)
        };
        let is_near = |one: &Occluder| one.power <= 0.1 * (ratio * one.radius).powi(2);
        let size = |one: &Occluder| one.offset.abs().max_element().max(one.along.abs()).max(one.radius);
        (ratio > 0.0 && !squares.contains(&ratio))
            || (!self.shapes.is_empty() && self.occluders.iter().any(is_near))
            || self.occluders.iter().any(|one| coarse(one) || !squares.contains(&size(one)))
    }
}

/// The smallest and the largest number whose square, and a hundredth of that square, keep full precision in f32 without subnormal numbers.
const LEAST_SQUARED: f64 = 1e-17;
const MOST_SQUARED: f64 = 1e18;

/// An observer slightly below the surface of an occluder counts as on it: see [`Lighting`](super::lighting::Lighting).
fn raised_to_surface(occluder: Occluder) -> Occluder {
    // A depth of 2⁻²² of the distance from the centre to the surface there, expressed as a power: −2⁻²¹ in units of the squared radius. A
    // spheroid is stretched to a sphere, which changes no ratio of lengths in one direction.
    const DEPTH: f64 = 1.0 / (1_u64 << 21) as f64;
    let on = occluder.power < 0.0 && occluder.power >= -DEPTH * occluder.radius * occluder.radius;
    if on { Occluder { power: 0.0, ..occluder } } else { occluder }
}

/// Fraction of the light's disc, by solid angle, that the occluders leave uncovered at `observer`: 0 in an umbra, 1 in full light.
/// Positions are in f64, in any unit.
///
/// An occluder behind the light, or one that does not touch the light's disc, has no effect. Inside an occluder it is dark; inside the
/// light it is not. Occluders that overlap on the disc count once (the true union). The result is accurate to
/// 10⁻⁹ + 5 · 10⁻¹⁷ / a, for a light of the angular radius a in rad, or to 10⁻⁵ if the outlines of several occluders coincide to a
/// thousandth of the light's radius. A light of radius 0 is a point: it is visible completely
/// or not at all.
///
/// # Errors
/// [`Error::BadRecord`](crate::Error::BadRecord) for a coordinate or radius that is not a number or exceeds 1e150 in magnitude, and for a
/// negative radius.
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
    check_observer(0, observer)?;
    check("light", 0, light)?;
    (0..).zip(occluders).try_for_each(|(i, &ball)| check("occluder", i, ball))?;
    let mut prepared = LocalVisibility::default();
    prepared.set(observer, light, occluders, &[]);
    Ok(prepared.shadow(&mut OccluderSet::default()).fraction)
}
