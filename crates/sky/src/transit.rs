//! Transits: Mercury or Venus in front of the Sun.

use glam::DVec3;

use crate::apparent::apparent;
use crate::bodies::SkyBody;
use crate::circumstances::{LocalEclipse, LocalView};
use crate::constants::{ARCSECONDS, Radii};
use crate::delta_t::DeltaT;
use crate::eclipse::EclipseBody;
use crate::ephemeris::Ephemeris;
use crate::error::Result;
use crate::motion::{Motion, Observer};
use crate::places::{EQUATOR_KM, Place};
use crate::roots;
use crate::search::closest_approach;
use crate::time::{DAY, Time};

/// Contacts of a transit. At each, the position angle is that of the planet's centre, which is the direction of the point where the limbs
/// touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransitContacts {
    /// First contact: the planet touches the Sun's disc from outside.
    pub c1: Option<LocalView>,
    /// Second contact: the whole planet is in front of the Sun.
    pub c2: Option<LocalView>,
    /// When the centres are nearest to each other.
    pub greatest: LocalView,
    /// Third contact: the planet touches the Sun's limb from inside.
    pub c3: Option<LocalView>,
    /// Fourth contact: the planet has left the disc.
    pub c4: Option<LocalView>,
    /// The least distance of the centres in arcseconds.
    pub separation_arcsec: f64,
}

/// A transit of Mercury or Venus.
#[derive(Clone, Debug)]
pub struct Transit {
    /// The planet.
    pub planet: SkyBody,
    /// The contacts as seen from the centre of the Earth, where altitudes and azimuths have no meaning. A transit that only a part of the
    /// Earth sees, as that of 1937-05-11, has none.
    pub contacts: TransitContacts,
    /// Where the Sun is at the zenith at the greatest transit (height 0).
    pub zenith: Place,
    motion: Motion,
    /// The Sun's radius; the Moon's are that of the planet.
    discs: Radii,
    pub(crate) radii: Radii,
    /// For the calendar only: the motion has its own.
    pub(crate) delta_t: DeltaT,
}

/// A transit as seen from a place. Contacts are geometric: the Sun may be below the horizon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransitCircumstances {
    /// The place.
    pub place: Place,
    /// Its contacts, up to 7 minutes from those of the centre of the Earth.
    pub contacts: TransitContacts,
    /// The Sun's centre rises above the horizon between the first and the fourth contact.
    pub sunrise: Option<LocalView>,
    /// The Sun's centre sets below the horizon between them.
    pub sunset: Option<LocalView>,
}

/// The inferior conjunctions of a planet with the Sun between two instants that may be transits: within 0.3° of the Sun's centre. The
/// search ends where the ephemeris does.
pub(crate) fn conjunctions(ephemeris: &Ephemeris, planet: SkyBody, first: Time, end: Time) -> Result<Vec<Time>> {
    // The planet is east or west of the Sun along the ecliptic (J2000) for more than 30 days.
    const LONGEST_STEP: f64 = 8.0 * DAY;
    const MOST_APART: f64 = 0.3;
    let [first, end] = [first, end].map(|time| ephemeris.nearest(time, 0.0));
    let ecliptic_pole = DVec3::from_array([0.0, -0.397_777, 0.917_482]);
    let directions = |time: Time| -> Result<(DVec3, DVec3)> {
        Ok((apparent(ephemeris, SkyBody::Sun, time)?, apparent(ephemeris, planet, time)?))
    };
    let steps = (end.seconds_since(first) / LONGEST_STEP).ceil().max(1.0);
    let step = end.seconds_since(first) / steps;
    let mut found = Vec::new();
    let mut before: Option<f64> = None;
    for i in 0..=steps as i64 {
        let time = first.plus(step * i as f64);
        let (sun, body) = directions(time)?;
        let east = sun.cross(body).dot(ecliptic_pole) / (sun.length() * body.length());
        // At the inferior conjunction, the planet passes from the east to the west.
        if let Some(before) = before.replace(east).filter(|&before| before > 0.0 && east <= 0.0) {
            let near = time.plus(-step * east / (east - before));
            let time = closest_approach(ephemeris, planet, EclipseBody::Solar, near)?;
            let (sun, body) = directions(time)?;
            if sun.angle_between(body) < MOST_APART.to_radians() && body.length() < sun.length() {
                found.push(time);
            }
        }
    }
    Ok(found)
}

impl Transit {
    /// The transit during `motion`, whose middle is near the greatest transit. `None` if the planet misses the Sun, seen from every place
    /// of the Earth.
    pub(crate) fn from_motion(motion: Motion, planet: SkyBody, radii: Radii, delta_t: DeltaT) -> Option<Self> {
        let radius = planet.radii_km().0;
        let discs = Radii { moon_partial_km: radius, moon_central_km: radius, ..radii };
        let zenith = Place { latitude: 0.0, longitude: 0.0, height_m: 0.0 };
        let local = LocalEclipse { motion: &motion, radii: discs };
        let contacts = contacts(&local, &Observer::CENTER, &zenith);
        let seconds = contacts.greatest.time.seconds_since(motion.middle());
        let (sun, body) = motion.positions(seconds);
        // A place moves the planet on the Sun by at most the difference of their parallaxes.
        let parallax = EQUATOR_KM / body.length() - EQUATOR_KM / sun.length();
        if local.gap(seconds, &Observer::CENTER) > parallax {
            return None;
        }
        let sun = motion.to_earth_fixed(seconds, sun);
        let zenith = Place { height_m: 0.0, ..Place::from_earth_fixed_km(sun) };
        Some(Self { planet, contacts, zenith, motion, discs, radii, delta_t })
    }

    /// The first and the last contact; the greatest transit for both if the centre of the Earth sees none.
    pub fn span(&self) -> (Time, Time) {
        let of = &self.contacts;
        let time = |view: Option<LocalView>| view.unwrap_or(of.greatest).time;
        (time(of.c1), time(of.c4))
    }

    /// The Sun and the planet at a place, at an instant within 4 hours of the greatest transit.
    pub fn view(&self, place: &Place, time: Time) -> LocalView {
        let local = LocalEclipse { motion: &self.motion, radii: self.discs };
        local.view(time.seconds_since(self.motion.middle()), &Observer::from(place))
    }

    /// What a place sees: contacts, and whether the Sun rises or sets between them.
    pub fn circumstances(&self, place: &Place) -> TransitCircumstances {
        let local = LocalEclipse { motion: &self.motion, radii: self.discs };
        let observer = Observer::from(place);
        let contacts = contacts(&local, &observer, place);
        let (first, last) = self.span();
        let [first, last] = [contacts.c1.map_or(first, |view| view.time), contacts.c4.map_or(last, |view| view.time)]
            .map(|time| time.seconds_since(self.motion.middle()));
        let above = |seconds: f64| {
            let view = local.view(seconds, &observer);
            view.sun_altitude - view.horizon_altitude
        };
        let [sunrise, sunset] = roots::rise_and_set(above, first, last)
            .map(|crossing| crossing.map(|seconds| local.view(seconds, &observer)));
        TransitCircumstances { place: *place, contacts, sunrise, sunset }
    }
}

/// The contacts of an observer.
fn contacts(local: &LocalEclipse<'_>, observer: &Observer, place: &Place) -> TransitContacts {
    let of = local.seen_by(observer, place);
    // The maximum of the magnitude is a fraction of a second from the least separation.
    let near = of.maximum.time.seconds_since(local.motion.middle());
    let greatest = roots::minimum(|t| local.separation(t, observer).powi(2), near, 600.0);
    TransitContacts {
        c1: of.c1,
        c2: of.c2,
        greatest: local.view(greatest, observer),
        c3: of.c3,
        c4: of.c4,
        separation_arcsec: local.separation(greatest, observer) * ARCSECONDS,
    }
}
