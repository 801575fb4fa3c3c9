//! Solar eclipses: the greatest eclipse, the kind, and the shadow's axis on the Earth.

use std::f64::consts::TAU;

use glam::DVec3;
use rayon::prelude::*;

use crate::circumstances::{Circumstances, LocalEclipse, LocalKind, LocalMaximum, LocalView};
use crate::constants::Radii;
use crate::delta_t::DeltaT;
use crate::motion::{HALF_SPAN, Motion, Observer};
use crate::places::{EQUATOR_KM, Place, from_sphere, line_hits_earth, to_sphere};
use crate::roots;
use crate::time::Time;

/// Kind of a solar eclipse, for the Earth as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SolarKind {
    /// Partial everywhere.
    Partial,
    /// Annular on the whole centre line, or at the limb of the Earth if there is no centre line.
    Annular,
    /// Total on the whole centre line, or at the limb of the Earth if there is no centre line.
    Total,
    /// Total on a part of the centre line and annular on another.
    Hybrid,
}

impl SolarKind {
    /// `partial`, `annular`, `total` or `hybrid`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Partial => "partial",
            Self::Annular => "annular",
            Self::Total => "total",
            Self::Hybrid => "hybrid",
        }
    }
}

/// The greatest eclipse: the instant at which the axis of the Moon's shadow passes nearest to the centre of the Earth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Greatest {
    /// The instant.
    pub time: Time,
    /// Least distance of the axis from the centre of the Earth, in equatorial radii; positive if the axis passes north of it.
    pub gamma: f64,
    /// Where the axis meets the ellipsoid WGS 84. If it misses the Earth: the direction from the centre of the Earth to the nearest point of
    /// the axis, with a geocentric latitude, as in NASA's catalogues.
    pub place: Place,
    /// What this place sees at this instant. If the axis misses the Earth: what the place of the surface nearest to the axis sees, with the
    /// Sun on the horizon.
    pub view: LocalView,
    /// Duration of the total or annular eclipse at this place, in seconds.
    pub central_duration_s: Option<f64>,
}

/// A solar eclipse.
#[derive(Clone, Debug)]
pub struct SolarEclipse {
    /// The kind.
    pub kind: SolarKind,
    /// The greatest eclipse.
    pub greatest: Greatest,
    /// Where and when the partial eclipse begins on the Earth (P1).
    pub begins: (Time, Place),
    /// Where and when it ends (P4).
    pub ends: (Time, Place),
    /// When the axis first touches the Earth. `None` if it misses the Earth.
    pub axis_begins: Option<Time>,
    /// When the axis last touches the Earth.
    pub axis_ends: Option<Time>,
    pub(crate) motion: Motion,
    radii: Radii,
    /// For the calendar only: the motion has its own.
    pub(crate) delta_t: DeltaT,
}

impl SolarEclipse {
    /// The eclipse during `motion`, whose middle is near the greatest eclipse. `None` if the penumbra misses the Earth.
    pub(crate) fn from_motion(motion: Motion, radii: Radii, delta_t: DeltaT) -> Option<Self> {
        let axis = Axis { motion: &motion };
        let greatest = roots::minimum(|t| axis.distance(t).length_squared(), 0.0, 600.0);
        let offset = axis.distance(greatest);
        let gamma = offset.length() / EQUATOR_KM * offset.z.signum();
        let local = LocalEclipse { motion: &motion, radii };
        // The limb of the Earth nearest to the axis is where the penumbra touches first and last.
        let limb_gap = |t: f64| local.gap(t, &Observer::from(&axis.nearest_limb(t)));
        let central = axis.hit(greatest);
        let nearest = central.unwrap_or_else(|| axis.nearest_limb(greatest));
        if limb_gap(greatest) >= 0.0 && central.is_none() {
            return None;
        }
        let limb_contact = |end: f64| {
            let t = if limb_gap(end) > 0.0 {
                roots::root(|t| axis.outer_gap(t, &limb_gap), greatest, end, 1e-3)
            } else {
                end
            };
            (motion.middle().plus(t), axis.nearest_limb(t))
        };
        let (begins, ends) = (limb_contact(-HALF_SPAN), limb_contact(HALF_SPAN));
        let deepest = roots::minimum(|t| axis.depth(t), greatest, 60.0);
        let touches = (axis.depth(deepest) < 0.0).then(|| {
            let edge = |end: f64| roots::root(|t| axis.depth(t), deepest, end, 1e-3);
            (edge(-HALF_SPAN), edge(HALF_SPAN))
        });
        let (view, central_duration_s) = match central {
            Some(place) => {
                let (view, duration) = local.on_axis(greatest, &place);
                (view, Some(duration))
            }
            None => {
                let duration = local.circumstances(&nearest).central_duration_s();
                (local.view(greatest, &Observer::from(&nearest)), duration)
            }
        };
        let kind = match touches {
            Some(span) => axis.kind(span, &local),
            None => {
                // The Earth is flattened, so the shadow may be deepest a little before or after the greatest eclipse.
                let limb = |t: f64| Observer::from(&axis.nearest_limb(t));
                let deepest = roots::minimum(|t| local.central_gap(t, &limb(t)), greatest, 60.0);
                match local.view(deepest, &limb(deepest)).kind {
                    LocalKind::Total => SolarKind::Total,
                    LocalKind::Annular => SolarKind::Annular,
                    _ => SolarKind::Partial,
                }
            }
        };
        let at = |t: f64| motion.middle().plus(t);
        Some(Self {
            kind,
            greatest: Greatest {
                time: at(greatest),
                gamma,
                place: central.unwrap_or_else(|| axis.direction(greatest)),
                view,
                central_duration_s,
            },
            begins,
            ends,
            axis_begins: touches.map(|(first, _)| at(first)),
            axis_ends: touches.map(|(_, last)| at(last)),
            radii,
            delta_t,
            motion,
        })
    }

    /// Radii of Sun and Moon that were used.
    pub fn radii(&self) -> Radii {
        self.radii
    }

    pub(crate) fn local(&self) -> LocalEclipse<'_> {
        LocalEclipse { motion: &self.motion, radii: self.radii }
    }

    pub(crate) fn seconds(&self, time: Time) -> f64 {
        time.seconds_since(self.motion.middle())
    }

    /// Whether an instant is within 4 hours of the greatest eclipse, for which positions are stored.
    pub fn covers(&self, time: Time) -> bool {
        self.seconds(time).abs() <= HALF_SPAN
    }

    /// What a place sees at an instant. The instant must be within 4 hours of the greatest eclipse; further away the positions are not
    /// accurate.
    pub fn view(&self, place: &Place, time: Time) -> LocalView {
        self.local().view(self.seconds(time), &Observer::from(place))
    }

    /// The covered part of the Sun's disc at an instant within 4 hours of the greatest eclipse, and the sine of the Sun's altitude.
    pub fn obscuration(&self, place: &Place, time: Time) -> (f64, f64) {
        self.local().obscuration(self.seconds(time), &Observer::from(place))
    }

    /// The largest obscuration at a place, with the Sun above or below the horizon: faster than [`circumstances`](Self::circumstances).
    pub fn local_maximum(&self, place: &Place) -> LocalMaximum {
        let observer = Observer::from(place);
        let seconds = self.local().maximum(&observer);
        let (obscuration, sine_altitude) = self.local().obscuration(seconds, &observer);
        let since = self.motion.middle().plus(seconds).seconds_since(self.greatest.time);
        LocalMaximum { seconds: since, obscuration, sine_altitude }
    }

    /// Obscuration and sine of the Sun's altitude at many places, on all CPU cores: at an instant within 4 hours of the greatest eclipse, or
    /// at the maximum of each place, with the Sun above or below the horizon.
    pub fn obscurations(&self, places: &[Place], time: Option<Time>) -> Vec<(f64, f64)> {
        let one = |place: &Place| match time {
            Some(time) => self.obscuration(place, time),
            None => {
                let maximum = self.local_maximum(place);
                (maximum.obscuration, maximum.sine_altitude)
            }
        };
        places.par_iter().with_min_len(64).map(one).collect()
    }

    /// Local circumstances: contacts, maximum, magnitude and obscuration.
    pub fn circumstances(&self, place: &Place) -> Circumstances {
        self.local().circumstances(place)
    }

    /// [`circumstances`](Self::circumstances) of many places, on all CPU cores.
    pub fn circumstances_of(&self, places: &[Place]) -> Vec<Circumstances> {
        places.par_iter().with_min_len(16).map(|place| self.circumstances(place)).collect()
    }

    /// Where the axis of the shadow meets the ellipsoid WGS 84. `None` if it misses the Earth at this instant.
    pub fn axis_place(&self, time: Time) -> Option<Place> {
        Axis { motion: &self.motion }.hit(self.seconds(time))
    }

    /// Apparent positions of (Sun, Moon) from the centre of the Earth in km, in axes that rotate with the Earth.
    pub fn earth_fixed(&self, time: Time) -> (DVec3, DVec3) {
        let seconds = self.seconds(time);
        let (sun, moon) = self.motion.positions(seconds);
        (self.motion.to_earth_fixed(seconds, sun), self.motion.to_earth_fixed(seconds, moon))
    }
}

/// The axis of the Moon's shadow: the line through the centres of Sun and Moon.
struct Axis<'a> {
    motion: &'a Motion,
}

impl Axis<'_> {
    /// A point of the axis (the Moon) and its direction, away from the Sun.
    fn line(&self, t: f64) -> (DVec3, DVec3) {
        let (sun, moon) = self.motion.positions(t);
        (moon, (moon - sun).normalize())
    }

    /// The vector from the centre of the Earth to the nearest point of the axis, in km.
    fn distance(&self, t: f64) -> DVec3 {
        let (moon, direction) = self.line(t);
        moon - direction * moon.dot(direction)
    }

    /// The axis in the space in which the ellipsoid is a sphere.
    fn scaled(&self, t: f64) -> (DVec3, DVec3) {
        let (moon, direction) = self.line(t);
        (to_sphere(moon), to_sphere(direction).normalize())
    }

    /// Positive if the axis misses the ellipsoid.
    fn depth(&self, t: f64) -> f64 {
        let (point, direction) = self.scaled(t);
        (point - direction * point.dot(direction)).length() - EQUATOR_KM
    }

    /// Where the axis meets the ellipsoid, on the side of the Moon.
    fn hit(&self, t: f64) -> Option<Place> {
        let (moon, direction) = self.line(t);
        let hit = line_hits_earth(moon, direction)?;
        Some(self.place(t, hit))
    }

    /// The kind of an eclipse whose axis is on the Earth from `first` to `last`: by the sizes of the discs along the whole centre line.
    fn kind(&self, (first, last): (f64, f64), local: &LocalEclipse<'_>) -> SolarKind {
        const STEPS: i32 = 64;
        let step = (last - first) / f64::from(STEPS);
        let excess = |t: f64| {
            let place = self.hit(t).unwrap_or_else(|| self.nearest_limb(t));
            local.moon_excess(t, &Observer::from(&place))
        };
        let points = (0..=STEPS).map(|i| first + f64::from(i) * step).map(|t| (excess(t), t));
        let (least, (most, at)) = points.fold((f64::INFINITY, (f64::NEG_INFINITY, first)), |(least, most), point| {
            (least.min(point.0), if point.0 > most.0 { point } else { most })
        });
        // Between the points, the Moon may be larger than the Sun for a short time.
        let most = most.max(excess(roots::minimum(|t| -excess(t), at, 0.5 * step).clamp(first, last)));
        if least > 0.0 {
            SolarKind::Total
        } else if most > 0.0 {
            SolarKind::Hybrid
        } else {
            SolarKind::Annular
        }
    }

    /// The direction from the centre of the Earth to the nearest point of the axis.
    fn direction(&self, t: f64) -> Place {
        let toward = self.motion.to_earth_fixed(t, self.distance(t).normalize());
        Place {
            latitude: toward.z.clamp(-1.0, 1.0).asin().to_degrees(),
            longitude: toward.y.atan2(toward.x).to_degrees(),
            height_m: 0.0,
        }
    }

    fn place(&self, t: f64, position: DVec3) -> Place {
        let place = Place::from_earth_fixed_km(self.motion.to_earth_fixed(t, position));
        Place { height_m: 0.0, ..place }
    }

    /// The place on the Earth's limb, as seen along the axis, that is nearest to the axis (or farthest inside it).
    fn nearest_limb(&self, t: f64) -> Place {
        let (moon, direction) = self.line(t);
        let foot = moon - direction * moon.dot(direction);
        let (_, scaled_direction) = self.scaled(t);
        // The limb: a circle of the scaled sphere, perpendicular to the axis.
        let toward = to_sphere(foot);
        let first = (toward - scaled_direction * toward.dot(scaled_direction))
            .normalize_or(scaled_direction.any_orthonormal_vector());
        let second = scaled_direction.cross(first);
        let limb = |angle: f64| from_sphere((first * angle.cos() + second * angle.sin()) * EQUATOR_KM);
        let apart = |angle: f64| {
            let point = limb(angle) - foot;
            (point - direction * point.dot(direction)).length_squared()
        };
        let angle = roots::minimum(apart, 0.0, 0.01);
        self.place(t, limb(angle.clamp(-0.1 * TAU, 0.1 * TAU)))
    }

    /// `gap` on the limb; negative while the axis itself hits the Earth.
    fn outer_gap(&self, t: f64, gap: &dyn Fn(f64) -> f64) -> f64 {
        if self.depth(t) < 0.0 { -0.01 } else { gap(t) }
    }
}
