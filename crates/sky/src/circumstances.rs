//! Local circumstances of a solar eclipse: what a place on the Earth sees, and when.

use crate::constants::Radii;
use crate::motion::{HALF_SPAN, Motion, Observer, Seen};
use crate::places::Place;
use crate::roots;
use crate::time::Time;
use umbracast::shadow::covered_fraction;

/// Kind of eclipse at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LocalKind {
    /// The Moon does not touch the Sun's disc.
    #[default]
    None,
    /// The Moon covers a part of the Sun.
    Partial,
    /// A ring of the Sun remains.
    Annular,
    /// The Moon covers the Sun.
    Total,
}

impl LocalKind {
    /// `none`, `partial`, `annular` or `total`.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Partial => "partial",
            Self::Annular => "annular",
            Self::Total => "total",
        }
    }
}

/// Sun and Moon as seen from a place at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalView {
    /// The instant.
    pub time: Time,
    /// Kind of coverage at this instant. At a contact, that of the phase which begins or ends.
    pub kind: LocalKind,
    /// The covered part of the Sun's diameter; from C2 to C3, both included, the ratio of the diameters of Moon and Sun. 0 without an
    /// eclipse.
    pub magnitude: f64,
    /// The covered part of the Sun's disc, by solid angle.
    pub obscuration: f64,
    /// Altitude of the Sun's centre in degrees above the horizontal plane, without refraction unless
    /// [`SkyOptions::refraction`](crate::SkyOptions::refraction) asks for it.
    pub sun_altitude: f64,
    /// Azimuth of the Sun's centre in degrees, from north through east, 0 to 360.
    pub sun_azimuth: f64,
    /// Altitude of the horizon below or above the Sun, in degrees: where a line of sight touches the ellipsoid WGS 84. It is 0 for a place on
    /// or below the ellipsoid and negative for one above it, -3.4 at 11 km.
    pub horizon_altitude: f64,
    /// Position angle on the Sun's limb in degrees, 0 to 360, from the celestial north pole through east. At a contact it is that of the
    /// point at which the limbs touch, otherwise that of the centre of the Moon or the planet. (At C2 and C3 of a total eclipse, the limbs touch on the side
    /// away from the Moon's centre.)
    pub position_angle: f64,
    /// The same angle from the zenith instead of the pole, in the same sense: counterclockwise as seen in the sky.
    pub zenith_angle: f64,
}

impl LocalView {
    /// Whether the Sun's centre is above the horizon.
    pub fn is_sun_up(&self) -> bool {
        self.sun_altitude >= self.horizon_altitude
    }
}

/// Maximum of an eclipse at a place: see [`SolarEclipse::local_maximum`](super::SolarEclipse::local_maximum).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalMaximum {
    /// The instant, in seconds since the greatest eclipse.
    pub seconds: f64,
    /// The covered part of the Sun's disc, by solid angle.
    pub obscuration: f64,
    /// Sine of the Sun's altitude.
    pub sine_altitude: f64,
}

/// Local circumstances: contacts and maximum. All are geometric: the Sun may be below the horizon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Circumstances {
    /// The place.
    pub place: Place,
    /// Kind of eclipse at maximum.
    pub kind: LocalKind,
    /// The maximum: the instant of the largest magnitude. Without an eclipse, this is the closest approach.
    pub maximum: LocalView,
    /// First contact: the partial eclipse begins.
    pub c1: Option<LocalView>,
    /// Second contact: the total or annular eclipse begins.
    pub c2: Option<LocalView>,
    /// Third contact: the total or annular eclipse ends.
    pub c3: Option<LocalView>,
    /// Fourth contact: the partial eclipse ends.
    pub c4: Option<LocalView>,
    /// The largest obscuration with the Sun's centre above the horizon: the maximum, or sunrise or sunset. `None` if the Sun is below the
    /// horizon from C1 to C4, and without an eclipse.
    pub visible: Option<LocalView>,
    /// The Sun's centre rises above the horizon between C1 and C4.
    pub sunrise: Option<LocalView>,
    /// The Sun's centre sets below the horizon between them.
    pub sunset: Option<LocalView>,
}

impl Circumstances {
    /// Duration of the total or annular eclipse in seconds.
    pub fn central_duration_s(&self) -> Option<f64> {
        Some(self.c3?.time.seconds_since(self.c2?.time))
    }

    /// The kind of eclipse that is seen: that of [`visible`](Self::visible), or none.
    pub fn visible_kind(&self) -> LocalKind {
        self.visible.map_or(LocalKind::None, |view| view.kind)
    }

    /// Duration of the whole eclipse in seconds, from C1 to C4.
    pub fn duration_s(&self) -> Option<f64> {
        Some(self.c4?.time.seconds_since(self.c1?.time))
    }
}

/// Angular radii and separation of the discs, in radians.
#[derive(Clone, Copy, Debug)]
struct Discs {
    separation: f64,
    sun: f64,
    /// The Moon, with the radius for partial phases and with that for total and annular ones.
    moon: f64,
    moon_central: f64,
}

/// What places see during one eclipse.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalEclipse<'a> {
    pub(crate) motion: &'a Motion,
    pub(crate) radii: Radii,
}

impl LocalEclipse<'_> {
    fn discs(&self, seen: &Seen) -> Discs {
        let (sun_distance, moon_distance) = (seen.sun.length(), seen.moon.length());
        let (u, v) = (seen.sun / sun_distance, seen.moon / moon_distance);
        Discs {
            // No cancellation for close directions.
            separation: 2.0 * (u - v).length().atan2((u + v).length()),
            sun: (self.radii.sun_km / sun_distance).min(1.0).asin(),
            moon: (self.radii.moon_partial_km / moon_distance).min(1.0).asin(),
            moon_central: (self.radii.moon_central_km / moon_distance).min(1.0).asin(),
        }
    }

    /// Distance between the centres of the discs, in radians.
    pub(crate) fn separation(&self, seconds: f64, observer: &Observer) -> f64 {
        self.discs_at(seconds, observer).separation
    }

    fn discs_at(&self, seconds: f64, observer: &Observer) -> Discs {
        self.discs(&self.motion.seen(seconds, observer))
    }

    /// Distance between the edges of the discs in radians: negative during an eclipse.
    pub(crate) fn gap(&self, seconds: f64, observer: &Observer) -> f64 {
        let discs = self.discs_at(seconds, observer);
        discs.separation - discs.sun - discs.moon
    }

    /// How far the discs are from a total or annular eclipse, in radians: negative during it.
    pub(crate) fn central_gap(&self, seconds: f64, observer: &Observer) -> f64 {
        let discs = self.discs_at(seconds, observer);
        discs.separation - (discs.sun - discs.moon_central).abs()
    }

    /// How much larger than the Sun the Moon is, in radians, with its radius for total and annular phases.
    pub(crate) fn moon_excess(&self, seconds: f64, observer: &Observer) -> f64 {
        let discs = self.discs_at(seconds, observer);
        discs.moon_central - discs.sun
    }

    /// The view at an instant.
    pub(crate) fn view(&self, seconds: f64, observer: &Observer) -> LocalView {
        self.view_as(Discs::kind, seconds, observer)
    }

    /// The view where the axis of the shadow meets the Earth, and the duration of the total or annular eclipse there. The discs are
    /// concentric, so their sizes decide the kind. The axis neglects that the light of the Moon reaches the place before the centre of the
    /// Earth, which moves the shadow by at most 21 m: where the shadow is smaller, the duration is 0 and not a few hundredths of a second.
    pub(crate) fn on_axis(&self, seconds: f64, place: &Place) -> (LocalView, f64) {
        let view = self.view_as(Discs::central_kind, seconds, &Observer::from(place));
        (view, self.circumstances(place).central_duration_s().unwrap_or(0.0))
    }

    /// The view at an instant, with a rule for the kind: rounding would decide it at a contact.
    fn view_as(&self, kind: impl Fn(&Discs) -> LocalKind, seconds: f64, observer: &Observer) -> LocalView {
        let seen = self.motion.seen(seconds, observer);
        let discs = self.discs(&seen);
        let kind = kind(&discs);
        let sun = seen.sun.normalize();
        let [sun_altitude, sun_azimuth, horizon_altitude] = seen.horizontal(sun);
        // On the sky: the directions from the Sun's centre to the celestial pole and to the east.
        let celestial_east = glam::DVec3::Z.cross(sun).normalize();
        let celestial_north = sun.cross(celestial_east);
        let angle = |toward: glam::DVec3| toward.dot(celestial_east).atan2(toward.dot(celestial_north)).to_degrees();
        let position_angle = angle(seen.moon);
        LocalView {
            time: self.motion.middle().plus(seconds),
            kind,
            magnitude: discs.magnitude(kind),
            obscuration: discs.obscuration(kind),
            sun_altitude,
            sun_azimuth,
            horizon_altitude,
            position_angle: position_angle.rem_euclid(360.0),
            zenith_angle: (position_angle - angle(seen.zenith)).rem_euclid(360.0),
        }
    }

    /// The covered part of the Sun's disc, and the sine of the Sun's altitude.
    pub(crate) fn obscuration(&self, seconds: f64, observer: &Observer) -> (f64, f64) {
        let seen = self.motion.seen(seconds, observer);
        let discs = self.discs(&seen);
        (discs.obscuration(discs.kind()), seen.sun_sine_altitude())
    }

    /// The instant of maximum at a place, in seconds from the middle of the motion: that of the largest magnitude
    /// (r☉ + r☾ − s) / (2 r☉), with the separation s.
    pub(crate) fn maximum(&self, observer: &Observer) -> f64 {
        let discs = |seconds: f64| self.discs_at(seconds, observer);
        // The separation has one minimum during an eclipse, which steps of an hour find.
        const STEPS: i32 = 4;
        let step = HALF_SPAN / f64::from(STEPS);
        let (mut best, mut least) = (0.0, f64::INFINITY);
        for i in -STEPS..=STEPS {
            let at = f64::from(i) * step;
            let separation = discs(at).separation;
            if separation < least {
                (best, least) = (at, separation);
            }
        }
        // The derivative of the magnitude is 0 if s s' = s w, with w = r☾' − (r☾ − s) r☉' / r☉. s² and so s s' are smooth, also where
        // the centres meet. Newton's method, with differences for derivatives.
        for step in [1500.0, 400.0, 120.0, 30.0, 30.0] {
            let (before, here, after) = (discs(best - step), discs(best), discs(best + step));
            let rate = |a: f64, b: f64| (b - a) / (2.0 * step);
            let square = |discs: Discs| discs.separation * discs.separation;
            let (low, middle, high) = (square(before), square(here), square(after));
            let bend = (high - 2.0 * middle + low) / (2.0 * step * step);
            let sun = rate(before.sun, after.sun) / here.sun;
            let w = rate(before.moon, after.moon) - (here.moon - here.separation) * sun;
            let slope = 0.5 * rate(low, high) - here.separation * w;
            if bend > 0.0 {
                best -= (slope / bend).clamp(-2.0 * step, 2.0 * step);
            }
        }
        best.clamp(-HALF_SPAN, HALF_SPAN)
    }

    /// Contacts and maximum at a place.
    pub(crate) fn circumstances(&self, place: &Place) -> Circumstances {
        self.seen_by(&Observer::from(place), place)
    }

    /// The same of an observer: that of the place, or the centre of the Earth.
    pub(crate) fn seen_by(&self, observer: &Observer, place: &Place) -> Circumstances {
        let middle = self.maximum(observer);
        let maximum = self.view(middle, observer);
        let gap = |seconds: f64| self.gap(seconds, observer);
        let central_gap = |seconds: f64| self.central_gap(seconds, observer);
        let contact = |f: &dyn Fn(f64) -> f64, end: f64, kind: LocalKind| {
            let sign_changes = f(middle) < 0.0 && f(end) > 0.0;
            sign_changes.then(|| {
                let mut view = self.view_as(|_| kind, roots::root(f, middle, end, 1e-4), observer);
                // The Sun's disc is inside that of the Moon: the limbs touch on the side away from the Moon's centre.
                if kind == LocalKind::Total {
                    for angle in [&mut view.position_angle, &mut view.zenith_angle] {
                        *angle = (*angle + 180.0).rem_euclid(360.0);
                    }
                }
                view
            })
        };
        let c1 = contact(&gap, -HALF_SPAN, LocalKind::Partial);
        let c4 = contact(&gap, HALF_SPAN, LocalKind::Partial);
        let seconds = |view: Option<LocalView>| view.map(|view| view.time.seconds_since(self.motion.middle()));
        let (c2, c3) = match (seconds(c1), seconds(c4)) {
            (Some(first), Some(last)) => {
                (contact(&central_gap, first, maximum.kind), contact(&central_gap, last, maximum.kind))
            }
            _ => (None, None),
        };
        // Contact times round; a grazing contact decides the kind at maximum.
        let circumstances = Circumstances {
            place: *place,
            kind: maximum.kind,
            maximum,
            c1,
            c2,
            c3,
            c4,
            visible: None,
            sunrise: None,
            sunset: None,
        };
        self.with_horizon(circumstances, observer)
    }

    /// Adds sunrise and sunset between C1 and C4, and the largest obscuration with the Sun above the horizon.
    fn with_horizon(&self, mut of: Circumstances, observer: &Observer) -> Circumstances {
        let (Some(c1), Some(c4)) = (of.c1, of.c4) else { return of };
        of.visible = of.maximum.is_sun_up().then_some(of.maximum);
        let above = |view: LocalView| view.sun_altitude - view.horizon_altitude;
        // The Sun moves by less than 24 degrees between two of them.
        let heights = [c1, of.maximum, c4].map(above);
        if heights.iter().all(|height| *height > 12.0) || heights.iter().all(|height| *height < -12.0) {
            return of;
        }
        let [first, last] = [c1, c4].map(|view| view.time.seconds_since(self.motion.middle()));
        let view = |seconds: f64| self.view(seconds, observer);
        let [rises, sets] = roots::rise_and_set(|t| above(view(t)), first, last);
        (of.sunrise, of.sunset) = (rises.map(view), sets.map(view));
        // The side of the root where the Sun is up, by a hundredth of a second.
        let at_horizon = [rises.map(|t| t + 0.01), sets.map(|t| t - 0.01)].into_iter().flatten().map(view);
        of.visible = of.visible.or_else(|| at_horizon.max_by(|a, b| a.obscuration.total_cmp(&b.obscuration)));
        of
    }
}

impl Discs {
    fn kind(&self) -> LocalKind {
        if self.separation < (self.sun - self.moon_central).abs() {
            return self.central_kind();
        }
        if self.separation < self.sun + self.moon { LocalKind::Partial } else { LocalKind::None }
    }

    /// The kind if one disc is inside the other.
    fn central_kind(&self) -> LocalKind {
        if self.moon_central > self.sun { LocalKind::Total } else { LocalKind::Annular }
    }

    fn magnitude(&self, kind: LocalKind) -> f64 {
        match kind {
            LocalKind::Total | LocalKind::Annular => self.moon_central / self.sun,
            // NASA's larger Moon for partial phases covers more than the Sun just before C2.
            LocalKind::Partial => ((self.sun + self.moon - self.separation) / (2.0 * self.sun)).clamp(0.0, 1.0),
            LocalKind::None => 0.0,
        }
    }

    fn obscuration(&self, kind: LocalKind) -> f64 {
        let moon = match kind {
            LocalKind::None => return 0.0,
            LocalKind::Total => return 1.0,
            LocalKind::Annular => self.moon_central,
            LocalKind::Partial => self.moon,
        };
        covered_fraction(self.sun, moon, self.separation)
    }
}
