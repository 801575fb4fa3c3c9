//! The apparent motion of Sun and Moon during one eclipse, as polynomials of time. In a transit, a planet takes the place of the Moon.
//!
//! An eclipse is computed from thousands of positions. Instead of the ephemeris and nutation, polynomials are evaluated that agree with
//! them to centimetres. Axes are those of the true equator and equinox of date; the Earth turns in them at a constant rate.

use glam::DVec3;

use crate::almanac::SkyOptions;
use crate::apparent::LIGHT;
use crate::bodies::SkyBody;
use crate::ephemeris::Ephemeris;
use crate::error::Result;
use crate::orientation::Orientation;
use crate::places::{Place, horizon_altitude};
use crate::time::Time;

/// Coefficients of a polynomial.
const SIZE: usize = 10;

/// Half the span of the polynomials in seconds: 4 h.
pub(crate) const HALF_SPAN: f64 = 14_400.0;

/// Apparent positions of Sun and Moon around an instant. `moon` is the body before the Sun: the Moon or, in a transit, a planet.
#[derive(Clone, Debug)]
pub(crate) struct Motion {
    middle: Time,
    moon: [DVec3; SIZE],
    sun: [DVec3; SIZE],
    /// Sidereal time in radians at the middle, and its rate per second.
    sidereal_time: f64,
    pub(crate) rate: f64,
    /// Whether altitudes are raised by refraction.
    refraction: bool,
    /// Their mean velocities in km/s, for light time to places.
    moon_velocity: DVec3,
    sun_velocity: DVec3,
}

/// A place, in the axes that rotate with the Earth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observer {
    position: DVec3,
    zenith: DVec3,
}

impl Observer {
    /// The centre of the Earth, where altitudes have no meaning.
    pub(crate) const CENTER: Self = Self { position: DVec3::ZERO, zenith: DVec3::Z };
}

impl From<&Place> for Observer {
    fn from(place: &Place) -> Self {
        Self { position: place.earth_fixed_km(), zenith: place.zenith() }
    }
}

/// Sun and Moon as seen from a place: vectors in km, the place itself from the centre of the Earth, and the unit vector to its zenith.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) sun: DVec3,
    pub(crate) moon: DVec3,
    pub(crate) place: DVec3,
    pub(crate) zenith: DVec3,
    refraction: bool,
}

impl Seen {
    /// Sine of the altitude of the Sun's centre above the horizontal plane, without refraction.
    pub(crate) fn sun_sine_altitude(&self) -> f64 {
        self.sun.dot(self.zenith) / self.sun.length()
    }

    /// Where a unit vector points, in degrees: altitude above the horizontal plane, with refraction if that is asked for, azimuth from north through east (0 to 360), and the
    /// altitude of the horizon in this azimuth.
    pub(crate) fn horizontal(&self, toward: DVec3) -> [f64; 3] {
        // East is perpendicular to the Earth's axis and to the zenith; at a pole, any direction.
        let east = DVec3::Z.cross(self.zenith).try_normalize().unwrap_or(DVec3::Y);
        let north = self.zenith.cross(east);
        let altitude = toward.dot(self.zenith).clamp(-1.0, 1.0).asin().to_degrees();
        [
            if self.refraction { altitude + refraction(altitude) } else { altitude },
            toward.dot(east).atan2(toward.dot(north)).to_degrees().rem_euclid(360.0),
            horizon_altitude(self.place, self.zenith, toward).to_degrees(),
        ]
    }
}

impl Motion {
    /// The motion of the Sun and of `body`, the Moon or a planet, around `middle`, by positions from the centre of the Earth. ΔT is constant during
    /// it.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) if the span extends beyond the ephemeris.
    pub(crate) fn around(
        ephemeris: &Ephemeris,
        body: SkyBody,
        middle: Time,
        options: SkyOptions,
        position: impl Fn(&Ephemeris, SkyBody, Time) -> Result<DVec3>,
    ) -> Result<Self> {
        let delta_t = options.delta_t.seconds_at(middle);
        let mut moon = [DVec3::ZERO; SIZE];
        let mut sun = [DVec3::ZERO; SIZE];
        for k in 0..SIZE {
            let angle = std::f64::consts::PI * (k as f64 + 0.5) / SIZE as f64;
            let time = middle.plus(HALF_SPAN * angle.cos());
            let axes = Orientation::at(time, delta_t).true_from_gcrs;
            let moon_there = axes * position(ephemeris, body, time)?;
            let sun_there = axes * position(ephemeris, SkyBody::Sun, time)?;
            for j in 0..SIZE {
                let weight = if j == 0 { 1.0 } else { 2.0 } / SIZE as f64 * (j as f64 * angle).cos();
                moon[j] += moon_there * weight;
                sun[j] += sun_there * weight;
            }
        }
        let (moon, sun) = (powers(&moon), powers(&sun));
        let turned = |seconds: f64| Orientation::at(middle.plus(seconds), delta_t).sidereal_time;
        let (before, after) = (turned(-HALF_SPAN), turned(HALF_SPAN));
        let rate = (after - before).rem_euclid(std::f64::consts::TAU) / (2.0 * HALF_SPAN);
        Ok(Self {
            middle,
            moon,
            sun,
            sidereal_time: before + rate * HALF_SPAN,
            rate,
            refraction: options.refraction,
            moon_velocity: moon[1] / HALF_SPAN,
            sun_velocity: sun[1] / HALF_SPAN,
        })
    }

    /// The instant from which seconds are counted.
    pub(crate) fn middle(&self) -> Time {
        self.middle
    }

    /// Apparent positions of (Sun, Moon) from the centre of the Earth, in km.
    #[inline]
    pub(crate) fn positions(&self, seconds: f64) -> (DVec3, DVec3) {
        let x = seconds / HALF_SPAN;
        let (mut sun, mut moon) = (self.sun[SIZE - 1], self.moon[SIZE - 1]);
        for i in (0..SIZE - 1).rev() {
            sun = sun * x + self.sun[i];
            moon = moon * x + self.moon[i];
        }
        (sun, moon)
    }

    /// Greenwich apparent sidereal time in radians, not reduced to one turn.
    pub(crate) fn sidereal_time(&self, seconds: f64) -> f64 {
        self.sidereal_time + self.rate * seconds
    }

    /// Turns a vector from the axes that rotate with the Earth to those of the positions.
    #[inline]
    pub(crate) fn turned_with_earth(&self, seconds: f64, vector: DVec3) -> DVec3 {
        turned(vector, self.sidereal_time + self.rate * seconds)
    }

    /// Turns a vector from the axes of the positions to those that rotate with the Earth.
    pub(crate) fn to_earth_fixed(&self, seconds: f64, vector: DVec3) -> DVec3 {
        turned(vector, -(self.sidereal_time + self.rate * seconds))
    }

    /// The Moon as seen from a place on the Earth: its light arrives there before it arrives at the centre of the Earth.
    #[inline]
    pub(crate) fn moon_from(&self, place: DVec3, moon: DVec3) -> DVec3 {
        moon + self.moon_velocity * (place.dot(moon) / (moon.length() * LIGHT))
    }

    /// Sun and Moon in space as seen from any point, also behind the Moon. The positions must be those in the frame of the Earth.
    pub(crate) fn bodies_from(&self, point: DVec3, seconds: f64) -> (DVec3, DVec3) {
        let from = |body: DVec3, velocity: DVec3| body + velocity * ((body.length() - body.distance(point)) / LIGHT);
        let (sun, moon) = self.positions(seconds);
        (from(sun, self.sun_velocity), from(moon, self.moon_velocity))
    }

    /// Sun and Moon as seen from a place.
    #[inline]
    pub(crate) fn seen(&self, seconds: f64, observer: &Observer) -> Seen {
        let (sun, moon) = self.positions(seconds);
        let (sine, cosine) = (self.sidereal_time + self.rate * seconds).sin_cos();
        let turn = |v: DVec3| DVec3::new(v.x * cosine - v.y * sine, v.x * sine + v.y * cosine, v.z);
        let (place, zenith) = (turn(observer.position), turn(observer.zenith));
        Seen { sun: sun - place, moon: self.moon_from(place, moon) - place, place, zenith, refraction: self.refraction }
    }
}

/// By how much refraction raises a body of this true altitude, in degrees, at 1010 hPa and 10 °C (Sæmundsson, Sky & Telescope 72, 1986; Meeus,
/// Astronomical Algorithms, chapter 16). The formula is for bodies above the horizon: below −1° its value there stays.
fn refraction(altitude: f64) -> f64 {
    let altitude = altitude.max(-1.0);
    (1.02 / 60.0 / (altitude + 10.3 / (altitude + 5.11)).to_radians().tan()).max(0.0)
}

/// Turns a vector about z.
fn turned(v: DVec3, angle: f64) -> DVec3 {
    let (sine, cosine) = angle.sin_cos();
    DVec3::new(v.x * cosine - v.y * sine, v.x * sine + v.y * cosine, v.z)
}

/// The coefficients of powers, from those of Chebyshev polynomials.
fn powers(chebyshev: &[DVec3; SIZE]) -> [DVec3; SIZE] {
    let mut sum = [DVec3::ZERO; SIZE];
    let (mut before, mut now) = ([0.0; SIZE], [0.0; SIZE]);
    now[0] = 1.0;
    for (j, &coefficient) in chebyshev.iter().enumerate() {
        for (total, &power) in sum.iter_mut().zip(&now) {
            *total += coefficient * power;
        }
        let mut next = [0.0; SIZE];
        for i in 1..SIZE {
            next[i] = if j == 0 { now[i - 1] } else { 2.0 * now[i - 1] };
        }
        for i in 0..SIZE {
            next[i] -= before[i];
        }
        (before, now) = (now, next);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the formula of Bennett for apparent altitudes, which is within 0.1' of it, and an example of Meeus (16.a): the Sun's upper limb.
    #[test]
    fn refraction_is_that_of_the_standard_atmosphere() {
        assert!((33.246 + 60.0 * refraction(33.246 / 60.0) - 57.864).abs() < 0.01);
        for tenth in 0..900 {
            let apparent = f64::from(tenth) * 0.1;
            let bennett = 1.0 / 60.0 / (apparent + 7.31 / (apparent + 4.4)).to_radians().tan();
            let own = refraction(apparent - bennett);
            assert!((own - bennett).abs() < 0.12 / 60.0, "{apparent}: {own} and {bennett}");
        }
        // Altitudes stay in order.
        let mut last = f64::NEG_INFINITY;
        for tenth in -900..=900 {
            let altitude = f64::from(tenth) * 0.1;
            assert!(altitude + refraction(altitude) > last, "{altitude}");
            last = altitude + refraction(altitude);
        }
        assert!((0.0..1e-9).contains(&refraction(90.0)));
    }
}
