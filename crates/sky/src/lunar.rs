//! Lunar eclipses: the Moon in the shadow of the Earth.

use crate::constants::{LunarRule, Radii};
use crate::delta_t::DeltaT;
use crate::motion::{HALF_SPAN, Motion};
use crate::places::{EQUATOR_KM, Place};
use crate::roots;
use crate::time::Time;

/// Kind of a lunar eclipse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LunarKind {
    /// The Moon is in the penumbra only.
    Penumbral,
    /// A part of the Moon is in the umbra.
    Partial,
    /// The whole Moon is in the umbra.
    Total,
}

impl LunarKind {
    /// `penumbral`, `partial` or `total`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Penumbral => "penumbral",
            Self::Partial => "partial",
            Self::Total => "total",
        }
    }
}

/// A lunar eclipse.
#[derive(Clone, Debug)]
pub struct LunarEclipse {
    /// The kind.
    pub kind: LunarKind,
    /// The instant at which the Moon is nearest to the axis of the shadow.
    pub greatest: Time,
    /// The least distance of the Moon from the axis, in equatorial radii of the Earth; positive if the Moon passes north of it.
    pub gamma: f64,
    /// The part of the Moon's diameter that is in the umbra; more than 1 if the Moon is deep inside, negative if it misses the umbra.
    pub umbral_magnitude: f64,
    /// The part of the Moon's diameter that is in the penumbra.
    pub penumbral_magnitude: f64,
    /// The Moon enters the penumbra (P1).
    pub begins: Time,
    /// The Moon enters the umbra (U1).
    pub partial_begins: Option<Time>,
    /// The total eclipse begins (U2).
    pub total_begins: Option<Time>,
    /// The total eclipse ends (U3).
    pub total_ends: Option<Time>,
    /// The Moon leaves the umbra (U4).
    pub partial_ends: Option<Time>,
    /// The Moon leaves the penumbra (P4).
    pub ends: Time,
    /// Where the Moon is at the zenith at the greatest eclipse (height 0).
    pub zenith: Place,
    pub(crate) motion: Motion,
    radii: Radii,
    rule: LunarRule,
    /// For the calendar only: the motion has its own.
    pub(crate) delta_t: DeltaT,
}

/// The Moon relative to the shadow, in radians.
struct Phase {
    /// From the axis to the Moon's centre.
    separation: f64,
    moon: f64,
    umbra: f64,
    penumbra: f64,
}

fn phase(motion: &Motion, t: f64, radii: Radii, rule: LunarRule) -> Phase {
    let (sun, moon) = motion.positions(t);
    let (sun_km, moon_km) = (sun.length(), moon.length());
    let (u, v) = (-sun / sun_km, moon / moon_km);
    let (umbra, penumbra) = rule.shadow_radii(moon_km, sun_km, radii.sun_km);
    Phase {
        separation: 2.0 * (u - v).length().atan2((u + v).length()),
        moon: (radii.moon_partial_km / moon_km).asin(),
        umbra,
        penumbra,
    }
}

impl LunarEclipse {
    /// The eclipse during `motion`, whose middle is near the greatest eclipse. `None` if the Moon misses the penumbra.
    pub(crate) fn from_motion(motion: Motion, radii: Radii, rule: LunarRule, delta_t: DeltaT) -> Option<Self> {
        let offset = |t: f64| {
            let (sun, moon) = motion.positions(t);
            let axis = -sun.normalize();
            moon - axis * moon.dot(axis)
        };
        let greatest = roots::minimum(|t| offset(t).length_squared(), 0.0, 600.0);
        let nearest = offset(greatest);
        let at = |t: f64| phase(&motion, t, radii, rule);
        // The distance by which a shadow of this radius covers the Moon's edge: negative inside.
        let contact = |gap: &dyn Fn(&Phase) -> f64, end: f64| {
            let inside = gap(&at(greatest)) < 0.0 && gap(&at(end)) > 0.0;
            inside.then(|| motion.middle().plus(roots::root(|t| gap(&at(t)), greatest, end, 1e-3)))
        };
        let outer = |phase: &Phase| phase.separation - phase.penumbra - phase.moon;
        let umbral = |phase: &Phase| phase.separation - phase.umbra - phase.moon;
        let total = |phase: &Phase| phase.separation - phase.umbra + phase.moon;
        let (begins, ends) = (contact(&outer, -HALF_SPAN)?, contact(&outer, HALF_SPAN)?);
        let (partial_begins, partial_ends) = (contact(&umbral, -HALF_SPAN), contact(&umbral, HALF_SPAN));
        let (total_begins, total_ends) = (contact(&total, -HALF_SPAN), contact(&total, HALF_SPAN));
        let kind = match (partial_begins, total_begins) {
            (_, Some(_)) => LunarKind::Total,
            (Some(_), None) => LunarKind::Partial,
            _ => LunarKind::Penumbral,
        };
        let deepest = at(greatest);
        let covered = |shadow: f64| (shadow + deepest.moon - deepest.separation) / (2.0 * deepest.moon);
        let moon = motion.to_earth_fixed(greatest, motion.positions(greatest).1);
        Some(Self {
            kind,
            greatest: motion.middle().plus(greatest),
            gamma: nearest.length() / EQUATOR_KM * nearest.z.signum(),
            umbral_magnitude: covered(deepest.umbra),
            penumbral_magnitude: covered(deepest.penumbra),
            begins,
            partial_begins,
            total_begins,
            total_ends,
            partial_ends,
            ends,
            zenith: Place { height_m: 0.0, ..Place::from_earth_fixed_km(moon) },
            motion,
            radii,
            rule,
            delta_t,
        })
    }

    /// Radii of Sun and Moon that were used.
    pub fn radii(&self) -> Radii {
        self.radii
    }

    /// The rule for the Earth's atmosphere that was used.
    pub fn rule(&self) -> LunarRule {
        self.rule
    }

    /// Altitude of the Moon's centre at a place in degrees, without refraction, at an instant within 4 hours of the greatest eclipse.
    pub fn moon_altitude(&self, place: &Place, time: Time) -> f64 {
        let seconds = time.seconds_since(self.motion.middle());
        let seen = self.motion.seen(seconds, &place.into());
        (seen.moon.dot(seen.zenith) / seen.moon.length()).clamp(-1.0, 1.0).asin().to_degrees()
    }
}
