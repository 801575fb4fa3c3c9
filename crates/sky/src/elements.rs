//! Besselian elements of a solar eclipse, as polynomials of time.
//!
//! The fundamental plane passes through the centre of the Earth, at right angles to the axis of the Moon's shadow: x points east, y north and
//! z towards the Sun (Explanatory Supplement to the Astronomical Almanac, 3rd edition, section 11.3.2). Positions are apparent ones, the axes
//! are those of the true equator and equinox of date, and the Moon is at its centre of mass.

use std::f64::consts::{PI, TAU};

use crate::constants::Radii;
use crate::motion::Motion;
use crate::places::EQUATOR_KM;
use crate::solar::SolarEclipse;
use crate::time::{DAY, Time};

/// Seconds per hour.
const HOUR: f64 = 3600.0;
/// Half the interval of the polynomials, in hours.
const REACH_H: f64 = 3.0;
/// Points at which the polynomials are fitted.
const POINTS: u32 = 24;
/// The Earth turns by this angle per second of UT1, in radians (IAU 2006).
const TURN: f64 = TAU * 1.002_737_811_911_354_6 / DAY;

/// Besselian elements: polynomials of `t`, the hours since [`t0`](Self::t0), for 3 hours before and after it. The coefficient of t⁰ is first.
///
/// x, y, `l1` and `l2` are in equatorial radii of the Earth, `d` and `mu` in degrees. The polynomials are within 10⁻⁶ of each quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BesselianElements {
    /// The full hour of TT that is nearest to the greatest eclipse.
    pub t0: Time,
    /// Where the axis of the shadow meets the fundamental plane, to the east.
    pub x: [f64; 4],
    /// Where it meets the plane, to the north.
    pub y: [f64; 4],
    /// Declination of the point of the sky towards which the axis points.
    pub d: [f64; 3],
    /// Radius of the penumbra in the fundamental plane, with the Moon's radius for partial phases.
    pub l1: [f64; 3],
    /// Radius of the umbra in the fundamental plane, with the Moon's radius for total and annular phases: negative if the eclipse is total
    /// there.
    pub l2: [f64; 3],
    /// Ephemeris hour angle of that point: the hour angle at Greenwich if UT1 were TT. The hour angle is less by 0.00417807° per second of ΔT.
    pub mu: [f64; 3],
    /// Tangent of the angle between the axis and the edge of the penumbra, at the greatest eclipse.
    pub tan_f1: f64,
    /// Tangent of the angle between the axis and the edge of the umbra, at the greatest eclipse.
    pub tan_f2: f64,
}

/// The elements at one instant.
struct Instant {
    x: f64,
    y: f64,
    /// Declination and right ascension of the axis in radians.
    d: f64,
    a: f64,
    l1: f64,
    l2: f64,
    tan_f1: f64,
    tan_f2: f64,
}

impl Instant {
    fn new(motion: &Motion, radii: Radii, seconds: f64) -> Self {
        let (sun, moon) = motion.positions(seconds);
        let toward_sun = sun - moon;
        let distance = toward_sun.length();
        let z_axis = toward_sun / distance;
        let (a, d) = (z_axis.y.atan2(z_axis.x), z_axis.z.asin());
        let x_axis = glam::DVec3::new(-a.sin(), a.cos(), 0.0);
        let z = moon.dot(z_axis);
        // Each cone touches Sun and Moon; its radius grows from the Moon's centre to the plane.
        let cone = |moon_km: f64| {
            let sine = (radii.sun_km + moon_km) / distance;
            let cosine = (1.0 - sine * sine).sqrt();
            (sine / cosine, (z * sine + moon_km) / (cosine * EQUATOR_KM))
        };
        let ((tan_f1, l1), (tan_f2, l2)) = (cone(radii.moon_partial_km), cone(-radii.moon_central_km));
        let [x, y] = [x_axis, z_axis.cross(x_axis)].map(|axis| moon.dot(axis) / EQUATOR_KM);
        Self { x, y, d, a, l1, l2, tan_f1, tan_f2 }
    }
}

impl SolarEclipse {
    /// Besselian elements. Those of NASA's canons have other radii: Sun 959.63″ at 1 au, Moon k = 0.272488 for `l1` and 0.272281 for `l2`.
    pub fn besselian_elements(&self) -> BesselianElements {
        let t0 = Time::from_tt_seconds((self.greatest.time.tt_seconds() / HOUR).round() * HOUR);
        let delta_t = self.delta_t.seconds_at(self.greatest.time);
        let at = |hours: f64| Instant::new(&self.motion, self.radii(), self.seconds(t0) + HOUR * hours);
        let middle = at(0.0).a;
        // Relative to the middle, so that no angle turns over within the interval.
        let hour_angle = |hours: f64| {
            let since = self.seconds(t0) + HOUR * hours;
            let ascension = (at(hours).a - middle + PI).rem_euclid(TAU) - PI;
            self.motion.sidereal_time(since) + TURN * delta_t - middle - ascension
        };
        let mut mu = fit(|hours| hour_angle(hours).to_degrees());
        mu[0] = mu[0].rem_euclid(360.0);
        let greatest = Instant::new(&self.motion, self.radii(), self.seconds(self.greatest.time));
        BesselianElements {
            t0,
            x: fit(|hours| at(hours).x),
            y: fit(|hours| at(hours).y),
            d: fit(|hours| at(hours).d.to_degrees()),
            l1: fit(|hours| at(hours).l1),
            l2: fit(|hours| at(hours).l2),
            mu,
            tan_f1: greatest.tan_f1,
            tan_f2: greatest.tan_f2,
        }
    }
}

/// The polynomial of at most degree 3 that is nearest to a function of hours between −[`REACH_H`] and [`REACH_H`]: the first terms of its
/// Chebyshev series.
fn fit<const N: usize>(function: impl Fn(f64) -> f64) -> [f64; N] {
    let mut series = [0.0; 4];
    for i in 0..POINTS {
        let angle = PI * (f64::from(i) + 0.5) / f64::from(POINTS);
        let value = function(REACH_H * angle.cos()) * 2.0 / f64::from(POINTS);
        for (k, term) in series.iter_mut().take(N).enumerate() {
            *term += value * (k as f64 * angle).cos();
        }
    }
    let [c0, c1, c2, c3] = series;
    let powers = [0.5 * c0 - c2, c1 - 3.0 * c3, 2.0 * c2, 4.0 * c3];
    std::array::from_fn(|k| powers[k] / REACH_H.powi(k as i32))
}
