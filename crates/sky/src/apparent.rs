//! Apparent places: light time and aberration.

use glam::DVec3;

use crate::bodies::SkyBody;
use crate::ephemeris::Ephemeris;
use crate::error::Result;
use crate::time::Time;

/// Speed of light in km/s.
pub(crate) const LIGHT: f64 = 299_792.458;

/// The apparent position of a body from the centre of the Earth, in km: where the light that arrives at `time` left the body, turned by the
/// aberration that the Earth's motion causes. Axes of the GCRS. The distance is that which the light travelled. The Earth is at the origin.
///
/// # Errors
/// As for [`Ephemeris::barycentric`].
pub(crate) fn apparent(ephemeris: &Ephemeris, body: SkyBody, time: Time) -> Result<DVec3> {
    if body == SkyBody::Earth {
        return Ok(DVec3::ZERO);
    }
    apparent_of(ephemeris, time, |tdb_seconds| Ok(ephemeris.barycentric(body, tdb_seconds)?.position))
}

/// The apparent position, as [`apparent`], of a body with this barycentric position at an instant of TDB.
pub(crate) fn apparent_of(ephemeris: &Ephemeris, time: Time, position: impl Fn(f64) -> Result<DVec3>) -> Result<DVec3> {
    let now = time.tdb_seconds();
    let earth = ephemeris.barycentric(SkyBody::Earth, now)?;
    Ok(aberrated(retarded(earth.position, now, position)?, earth.velocity))
}

/// The [`apparent`] position of a body with its distance in the frame of the moving Earth, which is longer by a factor of 1 + n·β: up to 38 km
/// for the Moon. From such positions those of observers may be subtracted.
pub(crate) fn in_earth_frame(ephemeris: &Ephemeris, body: SkyBody, time: Time) -> Result<DVec3> {
    let now = time.tdb_seconds();
    let earth = ephemeris.barycentric(SkyBody::Earth, now)?;
    let seen = retarded(earth.position, now, |tdb_seconds| Ok(ephemeris.barycentric(body, tdb_seconds)?.position))?;
    Ok(turned(seen, earth.velocity) * seen.length())
}

/// The vector from an observer to a body: where the light left the body that arrives at the observer at `now`, in seconds of TDB.
pub(crate) fn retarded(observer: DVec3, now: f64, position: impl Fn(f64) -> Result<DVec3>) -> Result<DVec3> {
    let mut light_time = 0.0;
    let mut seen = DVec3::ZERO;
    // Each round shrinks the error of the light time by the speed of the body over that of light: 10⁻⁴.
    for _ in 0..4 {
        seen = position(now - light_time)? - observer;
        light_time = seen.length() / LIGHT;
    }
    Ok(seen)
}

/// Turns a vector by the aberration at an observer's velocity in km/s (special relativity). Its length stays.
pub(crate) fn aberrated(vector: DVec3, velocity: DVec3) -> DVec3 {
    turned(vector, velocity).normalize() * vector.length()
}

/// The direction of a vector in the frame of an observer with this velocity in km/s. Its length is that of the vector there relative to here.
fn turned(vector: DVec3, velocity: DVec3) -> DVec3 {
    let beta = velocity / LIGHT;
    let direction = vector / vector.length();
    let inverse_gamma = (1.0 - beta.length_squared()).sqrt();
    let along = direction.dot(beta);
    direction * inverse_gamma + beta * (1.0 + along / (1.0 + inverse_gamma))
}
