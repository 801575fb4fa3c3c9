//! Places on the Earth: the ellipsoid WGS 84.

use glam::{DVec2, DVec3};

use crate::error::quoted;
use crate::error::{Error, Result};

/// Equatorial radius of the Earth in km (WGS 84).
pub(crate) const EQUATOR_KM: f64 = 6378.137;
/// Polar radius of the Earth in km (WGS 84).
pub(crate) const POLE_KM: f64 = 6_356.752_314_245_179;
/// Square of the eccentricity of the meridian.
const ECCENTRICITY_SQUARED: f64 = 1.0 - (POLE_KM * POLE_KM) / (EQUATOR_KM * EQUATOR_KM);

/// A place: geodetic latitude and longitude on WGS 84, and the height above the ellipsoid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Place {
    /// Latitude in degrees, −90 to 90, north positive.
    pub latitude: f64,
    /// Longitude in degrees, −360 to 360, east positive.
    pub longitude: f64,
    /// Height above the ellipsoid in metres, −12,000 to 100,000,000.
    pub height_m: f64,
}

impl Place {
    /// A place, checked.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a number that is out of range.
    pub fn new(latitude: f64, longitude: f64, height_m: f64) -> Result<Self> {
        let place = Self { latitude, longitude, height_m };
        match place.fault() {
            Some((field, value, why)) => Err(Error::InvalidArgument(format!("{field} {value}: {why}"))),
            None => Ok(place),
        }
    }

    /// Parses `LAT,LON` or `LAT,LON,HEIGHT`: degrees, and metres above the ellipsoid. Degrees have a sign (`-33.87,151.21`) or a letter
    /// (`33.87 S, 151.21 E`); with a letter, minutes and seconds may follow (`33°52'8" S`). Spaces may separate the numbers, too, and
    /// semicolons, with which decimals may have commas (`-33,87; 151,21`).
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the text has another form or a number is out of range.
    pub fn parse(text: &str) -> Result<Self> {
        let shown = quoted(text);
        let parts = split(text);
        let parts: Vec<&str> = parts.iter().map(|part| part.trim()).collect();
        let (latitude, longitude, height) = match parts[..] {
            [latitude, longitude] => (latitude, longitude, "0"),
            [latitude, longitude, height] => (latitude, longitude, height),
            _ => {
                let expected = "expected LAT,LON or LAT,LON,HEIGHT, such as 36.8,-4.3 or 36.8,-4.3,900";
                return Err(Error::InvalidArgument(format!("place '{shown}': {expected}")));
            }
        };
        let bad = |text: &str, what: &str| {
            Error::InvalidArgument(format!("place '{shown}': '{}' is not {what}", quoted(text)))
        };
        let place = Self::new(
            parse_degrees(latitude, ['N', 'S'])
                .ok_or_else(|| bad(latitude, "a latitude, such as -33.87 or 33.87 S"))?,
            parse_degrees(longitude, ['E', 'W'])
                .ok_or_else(|| bad(longitude, "a longitude, such as -96.8 or 96.8 W"))?,
            height
                .strip_suffix('m')
                .map_or(height, str::trim_end)
                .parse()
                .map_err(|_| bad(height, "a number of metres"))?,
        );
        place.map_err(|error| Error::InvalidArgument(format!("place '{shown}': {error}")))
    }

    /// Checks the numbers. `index` is that of the place in a list, for the message.
    ///
    /// # Errors
    /// [`BadRecord`](umbracast::Error::BadRecord) with the first invalid field.
    pub fn check(&self, index: u64) -> Result<()> {
        match self.fault() {
            Some((field, value, why)) => Err(umbracast::Error::record("place", index, field, value, why).into()),
            None => Ok(()),
        }
    }

    /// The first invalid field: its name, its value and the rule.
    pub(crate) fn fault(&self) -> Option<(&'static str, f64, &'static str)> {
        [
            ("latitude", self.latitude, -90.0..=90.0, "expected -90 to 90 degrees"),
            ("longitude", self.longitude, -360.0..=360.0, "expected -360 to 360 degrees"),
            ("height", self.height_m, -12_000.0..=1e8, "expected -12,000 to 100,000,000 metres"),
        ]
        .into_iter()
        .find_map(|(field, value, range, why)| (!range.contains(&value)).then_some((field, value, why)))
    }

    /// The position in km, in axes that rotate with the Earth: x through 0° N 0° E, z through the north pole.
    pub fn earth_fixed_km(&self) -> DVec3 {
        self.fixed_km(EQUATOR_KM, ECCENTRICITY_SQUARED)
    }

    /// The position on a body of this equatorial radius in km and square of the eccentricity, in axes that rotate with it.
    pub(crate) fn fixed_km(&self, equator_km: f64, eccentricity_squared: f64) -> DVec3 {
        let (sine, cosine) = self.latitude.to_radians().sin_cos();
        let normal = equator_km / (1.0 - eccentricity_squared * sine * sine).sqrt();
        let height = self.height_m / 1000.0;
        let across = (normal + height) * cosine;
        let (east, front) = self.longitude.to_radians().sin_cos();
        DVec3::new(across * front, across * east, (normal * (1.0 - eccentricity_squared) + height) * sine)
    }

    /// Unit vector to the zenith (the normal of the ellipsoid), in the same axes.
    pub fn zenith(&self) -> DVec3 {
        let (sine, cosine) = self.latitude.to_radians().sin_cos();
        let (east, front) = self.longitude.to_radians().sin_cos();
        DVec3::new(cosine * front, cosine * east, sine)
    }

    /// The place at a position in km, in axes that rotate with the Earth. The longitude is −180 to 180.
    pub fn from_earth_fixed_km(position: DVec3) -> Self {
        let across = DVec2::new(position.x, position.y).length();
        let mut latitude = position.z.atan2(across * (1.0 - ECCENTRICITY_SQUARED));
        let mut height = 0.0;
        // Near the surface each round shrinks the error by more than a hundred.
        for _ in 0..8 {
            let (sine, cosine) = latitude.sin_cos();
            let normal = EQUATOR_KM / (1.0 - ECCENTRICITY_SQUARED * sine * sine).sqrt();
            height = across * cosine + position.z * sine - EQUATOR_KM * EQUATOR_KM / normal;
            latitude = position.z.atan2(across * (1.0 - ECCENTRICITY_SQUARED * normal / (normal + height)));
        }
        Self {
            latitude: latitude.to_degrees(),
            longitude: position.y.atan2(position.x).to_degrees(),
            height_m: 1000.0 * height,
        }
    }

    /// Distance to another place in km, along the chord.
    pub fn chord_km(&self, other: &Self) -> f64 {
        self.earth_fixed_km().distance(other.earth_fixed_km())
    }
}

/// The numbers of a place, with their letters.
fn split(text: &str) -> Vec<String> {
    let is_side = |letter: char| "NSEWnsew".contains(letter);
    if text.contains(';') {
        text.split(';').map(|part| part.replace(',', ".")).collect()
    } else if text.contains(',') {
        text.split(',').map(str::to_owned).collect()
    } else if text.contains(is_side) && !text.trim_start().starts_with(is_side) {
        text.split_inclusive(is_side).map(str::to_owned).collect()
    } else {
        text.split_whitespace().map(str::to_owned).collect()
    }
}

/// Parses degrees with a sign, `-33.87`, or with a letter of `sides`, that of positive angles first: `33.87S`, `33.87° S`, `33°52' S` or
/// `33°52'8" S`. The letter may come first: `S33.87`.
pub fn parse_degrees(text: &str, sides: [char; 2]) -> Option<f64> {
    if let Ok(degrees) = text.parse() {
        return Some(degrees);
    }
    if let Some(first) = text.chars().next().filter(char::is_ascii_alphabetic) {
        let rest = text[1..].trim_start();
        // One letter is enough.
        return rest
            .ends_with(|c: char| !c.is_ascii_alphabetic())
            .then(|| parse_degrees(&format!("{rest}{first}"), sides))?;
    }
    let letter = text.chars().next_back()?.to_ascii_uppercase();
    let side = sides.iter().position(|side| *side == letter)?;
    let (mut rest, mut seconds) = (text[..text.len() - 1].trim_end(), 0.0);
    for (unit, marks) in [(3600.0, "°º"), (60.0, "'′’"), (1.0, "\"″”")] {
        let (number, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len()));
        let number: f64 = number.parse().ok()?;
        // Degrees alone need no mark.
        let is_plain = unit == 3600.0 && after.is_empty();
        rest =
            if is_plain { after } else { after.trim_start().strip_prefix(|mark| marks.contains(mark))?.trim_start() };
        seconds += unit * number;
        if (unit < 3600.0 && number >= 60.0) || (number.fract() != 0.0 && !rest.is_empty()) {
            return None;
        }
        if rest.is_empty() {
            let degrees = if unit == 3600.0 { number } else { seconds / 3600.0 };
            return Some(if side == 0 { degrees } else { -degrees });
        }
    }
    None
}

/// Scales z so that the ellipsoid becomes a sphere with the equatorial radius.
pub(crate) fn to_sphere(position: DVec3) -> DVec3 {
    DVec3::new(position.x, position.y, position.z * (EQUATOR_KM / POLE_KM))
}

/// The inverse of [`to_sphere`].
pub(crate) fn from_sphere(position: DVec3) -> DVec3 {
    DVec3::new(position.x, position.y, position.z * (POLE_KM / EQUATOR_KM))
}

/// Where a line meets the ellipsoid WGS 84 first, in the direction given; in km, in axes whose z is the Earth's axis.
pub(crate) fn line_hits_earth(point: DVec3, direction: DVec3) -> Option<DVec3> {
    let (point, direction) = (to_sphere(point), to_sphere(direction).normalize());
    let foot = point - direction * point.dot(direction);
    let inside = EQUATOR_KM * EQUATOR_KM - foot.length_squared();
    (inside >= 0.0).then(|| from_sphere(foot - direction * inside.sqrt()))
}

/// Altitude in radians of the Earth's horizon, seen from a position in km in the azimuth of `toward`: 0 on the ellipsoid WGS 84 and below
/// it, negative above it.
///
/// A line from the position p along d touches the ellipsoid xᵀ M x = a² if (p M d)² = (p M p − a²)(d M d). With d = level + u zenith, this
/// is a quadratic equation for the tangent u of the altitude. The smaller root touches ahead, the other one behind.
pub(crate) fn horizon_altitude(position: DVec3, zenith: DVec3, toward: DVec3) -> f64 {
    let metric = DVec3::new(1.0, 1.0, (EQUATOR_KM / POLE_KM).powi(2));
    let outside = position.dot(metric * position) - EQUATOR_KM * EQUATOR_KM;
    // Rounding puts a place on the ellipsoid within a micrometre of it.
    if outside < 1e-5 {
        return 0.0;
    }
    let level = (toward - zenith * toward.dot(zenith)).normalize_or(zenith.any_orthonormal_vector());
    let (along, up) = (position.dot(metric * level), position.dot(metric * zenith));
    let a = up * up - outside * zenith.dot(metric * zenith);
    let b = along * up - outside * level.dot(metric * zenith);
    let c = along * along - outside * level.dot(metric * level);
    ((-b - (b * b - a * c).max(0.0).sqrt()) / a).atan()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of sight a little above the horizon misses the ellipsoid, and one a little below it meets it.
    #[test]
    fn lines_of_sight_touch_the_ellipsoid_at_the_horizon() {
        let mut lowest = 0.0_f64;
        for (latitude, height_m) in
            [(0.0, 1.0), (45.0, 11_000.0), (-67.3, 4e5), (90.0, 8848.0), (-90.0, 3e6), (-30.0, 1e8), (12.0, 0.1)]
        {
            let place = Place { latitude, longitude: 23.0, height_m };
            let (position, zenith) = (place.earth_fixed_km(), place.zenith());
            let level = zenith.any_orthonormal_vector();
            for azimuth in 0..8 {
                let toward = glam::DQuat::from_axis_angle(zenith, f64::from(azimuth) * 0.7) * level;
                let horizon = horizon_altitude(position, zenith, toward + 0.3 * zenith);
                let is_hidden = |altitude: f64| {
                    let direction = toward * altitude.cos() + zenith * altitude.sin();
                    line_hits_earth(position, direction).is_some()
                };
                assert!(
                    horizon < 0.0 && is_hidden(horizon - 1e-7) && !is_hidden(horizon + 1e-7),
                    "{place:?} {horizon}"
                );
                lowest = lowest.min(horizon);
            }
        }
        assert!(lowest.to_degrees() < -86.0);
        for height_m in [0.0, -430.0, -12_000.0] {
            for latitude in [-90.0, 31.5, 48.2, 0.0] {
                let place = Place { latitude, longitude: 35.4, height_m };
                assert_eq!(horizon_altitude(place.earth_fixed_km(), place.zenith(), DVec3::X), 0.0, "{place:?}");
            }
        }
    }

    #[test]
    fn positions_and_places_are_inverses() {
        for latitude in [-90.0, -89.9999, -45.0, -1e-9, 0.0, 23.4, 60.0, 90.0] {
            for longitude in [-179.0, -104.1, 0.0, 77.2, 180.0] {
                for height_m in [-400.0, 0.0, 8848.0, 400_000.0] {
                    let place = Place::new(latitude, longitude, height_m).unwrap();
                    let back = Place::from_earth_fixed_km(place.earth_fixed_km());
                    assert!(place.chord_km(&back) < 1e-6, "{place:?} {back:?}");
                    assert!((back.latitude - latitude).abs() < 1e-9 && (back.height_m - height_m).abs() < 1e-4);
                    let surface = Place { height_m: 0.0, ..place }.earth_fixed_km();
                    assert!((to_sphere(surface).length() - EQUATOR_KM).abs() < 1e-9);
                }
            }
        }
        for (text, expected) in [
            ("-33.87,151.21", Some([-33.87, 151.21])),
            ("33.87S,151.21E", Some([-33.87, 151.21])),
            ("25.2896 N, 104.1479 W", Some([25.2896, -104.1479])),
            ("33.8688° S, 151.2093° E", Some([-33.8688, 151.2093])),
            ("33°52'7.68\" s, 151° 12′ 33.48″ e", Some([-33.8688, 151.2093])),
            ("51º 30’ N, 0W", Some([51.5, 0.0])),
            ("36.8 N 4.3 W", Some([36.8, -4.3])),
            ("36.8 -4.3", Some([36.8, -4.3])),
            ("36°48'N 4°18'W", Some([36.8, -4.3])),
            ("N36.8 W4.3", Some([36.8, -4.3])),
            ("n 36.8, w 4.3, 900 m", Some([36.8, -4.3])),
            ("36,8; -4,3", Some([36.8, -4.3])),
            ("36.8 N 4.3 W 900", Some([36.8, -4.3])),
            // Letters of the other axis, a sign and a letter, minutes without marks or out of range, no number.
            ("151.21E,33.87S", None),
            ("-33.87S,151.21E", None),
            ("33 52 S,151E", None),
            ("33°60'S,151E", None),
            ("33.5°30'S,151E", None),
            ("S33.87S,151E", None),
            ("S,E", None),
            ("36,8,4,3", None),
            ("33°52\"S,151E", None),
            ("33'52\"S,151E", None),
            ("S,151E", None),
            ("33.87°,151E", None),
            ("91N,0E", None),
        ] {
            let found = Place::parse(text).ok().map(|place| [place.latitude, place.longitude]);
            let is_near = |(a, b): ([f64; 2], [f64; 2])| (a[0] - b[0]).abs().max((a[1] - b[1]).abs()) < 1e-9;
            assert!(found.zip(expected).map_or(found == expected, is_near), "{text}: {found:?}");
        }
        for (latitude, longitude, height) in
            [(91.0, 0.0, 0.0), (0.0, 361.0, 0.0), (0.0, 0.0, f64::NAN), (f64::NAN, 0.0, 0.0)]
        {
            assert!(Place::new(latitude, longitude, height).is_err());
        }
    }
}
