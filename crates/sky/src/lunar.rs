//! Lunar eclipses: the Moon in the shadow of the Earth.

use crate::constants::{LunarRule, Radii};
use crate::delta_t::DeltaT;
use crate::motion::{HALF_SPAN, Motion, Observer};
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

/// The Moon at a place and an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoonView {
    /// The instant.
    pub time: Time,
    /// Altitude of the Moon's centre in degrees above the horizontal plane, without refraction unless
    /// [`SkyOptions::refraction`](crate::SkyOptions::refraction) asks for it.
    pub moon_altitude: f64,
    /// Azimuth of the Moon's centre in degrees, from north through east, 0 to 360.
    pub moon_azimuth: f64,
    /// Altitude of the horizon below or above the Moon, in degrees: see [`LocalView::horizon_altitude`](crate::LocalView).
    pub horizon_altitude: f64,
}

impl MoonView {
    /// Whether the Moon's centre is above the horizon.
    pub fn is_moon_up(&self) -> bool {
        self.moon_altitude >= self.horizon_altitude
    }
}

/// What a place sees of a lunar eclipse. Contacts are at the same instants everywhere; the Moon may be below the horizon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LunarCircumstances {
    /// The place.
    pub place: Place,
    /// The kind of the deepest phase of which a part has the Moon's centre above the horizon. `None` if it is below from the first contact
    /// to the last.
    pub visible_kind: Option<LunarKind>,
    /// The Moon enters the penumbra (P1).
    pub begins: MoonView,
    /// The Moon enters the umbra (U1).
    pub partial_begins: Option<MoonView>,
    /// The whole Moon is in the umbra (U2).
    pub total_begins: Option<MoonView>,
    /// The greatest eclipse.
    pub greatest: MoonView,
    /// The Moon begins to leave the umbra (U3).
    pub total_ends: Option<MoonView>,
    /// The Moon has left the umbra (U4).
    pub partial_ends: Option<MoonView>,
    /// The Moon has left the penumbra (P4).
    pub ends: MoonView,
    /// The Moon's centre rises above the horizon during the eclipse.
    pub moonrise: Option<MoonView>,
    /// The Moon's centre sets below the horizon during the eclipse.
    pub moonset: Option<MoonView>,
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

    /// The Moon at a place, at an instant within 4 hours of the greatest eclipse.
    pub fn view(&self, place: &Place, time: Time) -> MoonView {
        self.view_at(&place.into(), time.seconds_since(self.motion.middle()))
    }

    fn view_at(&self, observer: &Observer, seconds: f64) -> MoonView {
        let seen = self.motion.seen(seconds, observer);
        let [moon_altitude, moon_azimuth, horizon_altitude] = seen.horizontal(seen.moon.normalize());
        MoonView { time: self.motion.middle().plus(seconds), moon_altitude, moon_azimuth, horizon_altitude }
    }

    /// What a place sees: where the Moon is at each contact, and whether it rises or sets during the eclipse.
    pub fn circumstances(&self, place: &Place) -> LunarCircumstances {
        let observer = Observer::from(place);
        let view = |time: Time| self.view(place, time);
        let above = |seconds: f64| {
            let view = self.view_at(&observer, seconds);
            view.moon_altitude - view.horizon_altitude
        };
        let [first, last] = [self.begins, self.ends].map(|time| time.seconds_since(self.motion.middle()));
        let [moonrise, moonset] = roots::rise_and_set(above, first, last)
            .map(|crossing| crossing.map(|seconds| self.view_at(&observer, seconds)));
        // The Moon is up in a phase if it is up at its beginning or its end, or rises or sets within it.
        let is_seen = |begins: Option<Time>, ends: Option<Time>| {
            let Some((begins, ends)) = begins.zip(ends) else { return false };
            let crossings = [moonrise, moonset].into_iter().flatten().map(|one: MoonView| one.time);
            let is_within = |time: Time| time >= begins && time <= ends;
            [begins, ends].into_iter().any(|time| view(time).is_moon_up()) || crossings.into_iter().any(is_within)
        };
        let visible_kind = if is_seen(self.total_begins, self.total_ends) {
            Some(LunarKind::Total)
        } else if is_seen(self.partial_begins, self.partial_ends) {
            Some(LunarKind::Partial)
        } else {
            is_seen(Some(self.begins), Some(self.ends)).then_some(LunarKind::Penumbral)
        };
        LunarCircumstances {
            place: *place,
            visible_kind,
            begins: view(self.begins),
            partial_begins: self.partial_begins.map(view),
            total_begins: self.total_begins.map(view),
            greatest: view(self.greatest),
            total_ends: self.total_ends.map(view),
            partial_ends: self.partial_ends.map(view),
            ends: view(self.ends),
            moonrise,
            moonset,
        }
    }
}
