//! System files with the bodies where they appear from the Earth, and cameras for eclipses.

use std::fmt::Write;

use glam::{DQuat, DVec3};

use crate::almanac::Sky;
use crate::apparent::{LIGHT, aberrated, apparent_of, retarded};
use crate::bodies::SkyBody;
use crate::error::quoted;
use crate::error::{Error, Result};
use crate::places::{EQUATOR_KM, Place, horizon_altitude, line_hits_earth};
use crate::time::Time;
use crate::vectors::BodyVectors;

/// From where an eclipse is seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum View<'a> {
    /// From the Moon: the whole Earth.
    Moon,
    /// From the direction of the Sun: the day side of the Earth, in parallel projection.
    Sun,
    /// From the Earth. If the Moon is nearer to the Sun than to the opposite point: the Sun, from where the axis of the Moon's shadow meets
    /// the surface, or from the place nearest to the axis. Otherwise: the Moon.
    Earth,
    /// From 9,000 km above the place where the axis of the Moon's shadow meets the Earth, or above the place that sees the Moon at the zenith.
    Above,
    /// From a place: the Moon if it is within 5 degrees of the point opposite to the Sun, as in a lunar eclipse, else the Sun. The Earth is invisible.
    Place(Place),
    /// From the centre of the Earth, which is invisible: a body of the system by its name, which nearly fills the height.
    To(&'a str),
}

impl<'a> View<'a> {
    /// Parses `moon`, `sun`, `earth`, `above`, `LAT,LON[,HEIGHT]` or `to-BODY`, such as `to-jupiter`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for other words, and for numbers out of range.
    pub fn parse(text: &'a str) -> Result<Self> {
        match text {
            "moon" => Ok(Self::Moon),
            "sun" => Ok(Self::Sun),
            "earth" => Ok(Self::Earth),
            "above" => Ok(Self::Above),
            "to-earth" => Err(Error::InvalidArgument(
                "view 'to-earth' is from the centre of the Earth: use moon, sun or above".into(),
            )),
            _ if text.contains(',') => Ok(Self::Place(Place::parse(text)?)),
            _ => match text.strip_prefix("to-") {
                Some(body) => Ok(Self::To(body)),
                None => {
                    let text = quoted(text);
                    let expected = "expected moon, sun, earth, above, LAT,LON[,HEIGHT] or to-BODY";
                    Err(Error::InvalidArgument(format!("view '{text}': {expected}")))
                }
            },
        }
    }
}

/// Which light shows the bodies of a system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LightTime {
    /// Each body is where the light left it that arrives at the centre of the Earth at the instant, with aberration.
    #[default]
    Earth,
    /// Each body is where it is at the instant: geometric positions, without aberration.
    Off,
    /// Sunlight passes the bodies, reaches the body of this name, and arrives from there at the Earth at the instant: shadows on this body are
    /// where they are seen. It is at its apparent position. The others are where the light passed them that falls on the place of their shadow.
    By(String),
}

impl LightTime {
    /// `earth`, `off`, or the name of a body.
    pub fn from_name(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "earth" => Self::Earth,
            "off" => Self::Off,
            _ => Self::By(name.into()),
        }
    }
}

/// A body of a system.
#[derive(Clone, Copy, PartialEq)]
enum Member<'a> {
    Known(SkyBody),
    Own(&'a BodyVectors),
}

impl Member<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Known(body) => body.name(),
            Self::Own(body) => body.name(),
        }
    }

    fn radius_km(&self) -> f64 {
        match self {
            Self::Known(body) => body.radii_km().0,
            Self::Own(body) => body.radius_km(),
        }
    }
}

/// The bodies of a system.
fn members<'a>(bodies: &[SkyBody], vectors: &'a [BodyVectors]) -> impl Iterator<Item = Member<'a>> {
    bodies.iter().map(|&body| Member::Known(body)).chain(vectors.iter().map(Member::Own))
}

/// Positions of the bodies of a system at an instant.
struct Positions<'a> {
    sky: &'a Sky,
    time: Time,
    light_time: &'a LightTime,
    /// The body of [`LightTime::By`].
    receiver: Option<Member<'a>>,
}

impl Positions<'_> {
    fn barycentric(&self, body: Member<'_>, tdb_seconds: f64) -> Result<DVec3> {
        match body {
            Member::Known(body) => Ok(self.sky.ephemeris().barycentric(body, tdb_seconds)?.position),
            Member::Own(body) => body.barycentric(self.sky.ephemeris(), tdb_seconds),
        }
    }

    /// The position of a body from the centre of the Earth in km, in axes that rotate with the Earth.
    fn of(&self, body: Member<'_>) -> Result<DVec3> {
        let position = |tdb_seconds: f64| self.barycentric(body, tdb_seconds);
        let now = self.time.tdb_seconds();
        let earth = self.sky.ephemeris().barycentric(SkyBody::Earth, now)?;
        let gcrs = match (self.light_time, self.receiver) {
            _ if body == Member::Known(SkyBody::Earth) => DVec3::ZERO,
            (LightTime::Off, _) => position(now)? - earth.position,
            (LightTime::By(_), Some(receiver)) if receiver != body => {
                let seen = retarded(earth.position, now, |at| self.barycentric(receiver, at))?;
                let apparent = aberrated(seen, earth.velocity);
                // The aberration of the receiver turns what is around it, too.
                let turn = DQuat::from_rotation_arc(seen.normalize(), apparent.normalize());
                apparent + turn * self.seen_by(receiver, body, earth.position, now)?
            }
            _ => apparent_of(self.sky.ephemeris(), self.time, position)?,
        };
        Ok(self.sky.to_earth_fixed(gcrs, self.time))
    }

    /// The position of a place on a body, in the same axes as [`of`](Self::of). The body is as it was when the light left it.
    fn of_place(&self, body: SkyBody, place: &Place) -> Result<DVec3> {
        if body == SkyBody::Earth {
            return Ok(place.earth_fixed_km());
        }
        let center = self.of(Member::Known(body))?;
        let (equator, polar) = body.radii_km();
        let fixed = place.fixed_km(equator, 1.0 - (polar / equator).powi(2));
        let at = |time: Time| body.icrf_from_fixed(time) * fixed;
        let beside = match self.light_time {
            LightTime::Off => at(self.time),
            _ => {
                // As in `of`: aberration turns what is around the receiver.
                let earth = self.sky.ephemeris().barycentric(SkyBody::Earth, self.time.tdb_seconds())?;
                let seen =
                    retarded(earth.position, self.time.tdb_seconds(), |at| self.barycentric(Member::Known(body), at))?;
                let apparent = aberrated(seen, earth.velocity);
                let turn = DQuat::from_rotation_arc(seen.normalize(), apparent.normalize());
                turn * at(self.time.plus(-seen.length() / LIGHT))
            }
        };
        Ok(center + self.sky.to_earth_fixed(beside, self.time))
    }

    /// The vector from the receiver to a body: where the light passed the body (or left the Sun) that falls on the receiver where the axis of
    /// the body's shadow meets it, or passes nearest to it, and that arrives from there at the Earth `now`.
    fn seen_by(&self, receiver: Member<'_>, body: Member<'_>, earth: DVec3, now: f64) -> Result<DVec3> {
        let sun = Member::Known(SkyBody::Sun);
        let radius = receiver.radius_km();
        // The place from the centre of the receiver. Its change moves the light time by the radius over the speed of light, so a few rounds
        // are enough.
        let (mut place, mut toward) = (DVec3::ZERO, DVec3::ZERO);
        for _ in 0..6 {
            let point = retarded(earth, now, |at| Ok(self.barycentric(receiver, at)? + place))?;
            let then = now - point.length() / LIGHT;
            let from_place = |body: Member<'_>| retarded(earth + point, then, |at| self.barycentric(body, at));
            toward = from_place(body)? + place;
            if body == sun {
                break;
            }
            let along = (toward - from_place(sun)? - place).normalize();
            // A body behind the receiver casts no shadow on it.
            let foot = (toward - along * toward.dot(along)).clamp_length_max(radius);
            place = match toward.dot(along) < 0.0 {
                true => foot - along * (radius * radius - foot.length_squared()).max(0.0).sqrt(),
                false => DVec3::ZERO,
            };
        }
        Ok(toward)
    }
}

impl Positions<'_> {
    /// The table of a body whose positions the caller supplied.
    fn own_toml(&self, body: &BodyVectors) -> Result<String> {
        let error = body.error_km().map_or("unknown".into(), |error| format!("about {error:.1e} km"));
        let comment = match body.center() {
            Some(center) => {
                format!(
                    "# Vectors relative to {}: {}. Error of the interpolation: {error}.\n",
                    center.name(),
                    body.source()
                )
            }
            None => String::new(),
        };
        Ok(format!(
            "{comment}[[body]]\nname = \"{}\"\ncenter = {}\nradius = {:?}\ncolor = \"#b3a88f\"\n",
            body.name(),
            vector(self.of(Member::Own(body))?),
            body.radius_km()
        ))
    }
}

/// A camera, as in a system file.
struct Camera {
    position: DVec3,
    target: DVec3,
    up: DVec3,
    /// Vertical field of view in degrees, or the height of a parallel projection in km.
    field: Field,
    /// Whether the camera is on the surface of the Earth or at its centre. The Earth is invisible then, but casts its shadow.
    in_earth: bool,
}

enum Field {
    Degrees(f64),
    HeightKm(f64),
}

impl Sky {
    /// The text of a system file: the light is the Sun, and the bodies are at their apparent positions, in km and in axes that rotate with
    /// the Earth. The camera has the `view`; without one, [`View::Above`] if the axis of the Moon's shadow meets the Earth, else
    /// [`View::Earth`]. A view changes no body, except that the Earth is invisible if the camera is on it or in it. The picture has `size`
    /// pixels.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the Sun or the body of the view is not among the bodies, if one is listed twice, if the ephemeris does not
    /// cover the instant, or if the Sun or the Moon is below the horizon of a place.
    pub fn system_toml(
        &self,
        time: Time,
        bodies: &[SkyBody],
        view: Option<View<'_>>,
        size: [u32; 2],
    ) -> Result<String> {
        self.system_toml_with(time, bodies, &[], &LightTime::Earth, view, size)
    }

    /// As [`system_toml`](Self::system_toml), with more bodies, whose positions the caller supplies, and with the light that shows them.
    ///
    /// # Errors
    /// The errors of [`system_toml`](Self::system_toml), and [`Error::InvalidArgument`] if the instant, less the light time, is not between the rows
    /// of the vectors, and if the body of [`LightTime::By`] is the Sun or not among the bodies.
    pub fn system_toml_with(
        &self,
        time: Time,
        bodies: &[SkyBody],
        vectors: &[BodyVectors],
        light_time: &LightTime,
        view: Option<View<'_>>,
        size: [u32; 2],
    ) -> Result<String> {
        if !bodies.contains(&SkyBody::Sun) {
            return Err(Error::InvalidArgument("the bodies do not include the Sun, which is the light".into()));
        }
        if let Some(twice) = bodies.iter().enumerate().find(|(i, body)| bodies[..*i].contains(body)) {
            return Err(Error::InvalidArgument(format!("{} is listed twice", twice.1.name())));
        }
        let is_twice = |(i, one): &(usize, &BodyVectors)| vectors[..*i].iter().any(|other| other.name() == one.name());
        if let Some(twice) = vectors.iter().enumerate().find(is_twice) {
            return Err(Error::InvalidArgument(format!("{} is listed twice", twice.1.name())));
        }
        let positions = self.system_positions(time, bodies, vectors, light_time)?;
        let receiver = positions.receiver;
        let camera = self.camera(&positions, members(bodies, vectors), view)?;
        let options = self.options();
        let delta_t = options.delta_t;
        let mut out = String::new();
        let mut line = |text: String| {
            out.push_str(&text);
            out.push('\n');
        };
        line(format!(
            "# {} ({}), {},",
            time.text(3, delta_t),
            time.scale(delta_t),
            match receiver {
                Some(body) =>
                    format!("positions by the light that reaches {} and then the Earth, with aberration", body.name()),
                None if *light_time == LightTime::Off => "geometric positions without light time and aberration".into(),
                None => "apparent positions with light time and aberration".into(),
            }
        ));
        line("# in axes that rotate with the Earth: x through 0° N 0° E, z through the north pole.".into());
        line(format!(
            "# Ephemeris: {}. Radii: {}. Delta T: {:.3} s.",
            self.ephemeris().name(),
            options.radii.name(),
            delta_t.seconds_at(time)
        ));
        line("unit = \"km\"\n".into());
        let sun = positions.of(Member::Known(SkyBody::Sun))?;
        line(format!(
            "[light]\nname = \"Sun\"\ncenter = {}\nradius = {:?}\ncolor = \"#fff6e9\"\n",
            vector(sun),
            options.radii.sun_km
        ));
        for &body in bodies.iter().filter(|body| **body != SkyBody::Sun) {
            let is_hidden = body == SkyBody::Earth && camera.in_earth;
            let hidden =
                if is_hidden { "visible = false  # the camera is on it or in it; it casts its shadow\n" } else { "" };
            line(self.body_toml(body, &positions)? + hidden);
        }
        for one in vectors {
            line(positions.own_toml(one)?);
        }
        line(camera.toml(size));
        // No sunlight is refracted into the Earth's shadow, where the Moon would be black.
        let is_full = self.earth_fixed(SkyBody::Moon, time).is_ok_and(|moon| sun.dot(moon) < 0.0);
        let ambient = if is_full { "0.03" } else { "0.003" };
        let [width, height] = size;
        line(format!("[picture]\nsize = [{width}, {height}]\nsamples = 3\nexposure = 1.7\nambient = {ambient}"));
        Ok(out)
    }

    fn system_positions<'a>(
        &'a self,
        time: Time,
        bodies: &[SkyBody],
        vectors: &'a [BodyVectors],
        light_time: &'a LightTime,
    ) -> Result<Positions<'a>> {
        let receiver = match light_time {
            LightTime::By(name) => {
                let found = members(bodies, vectors).find(|one| one.name().eq_ignore_ascii_case(name));
                let found = found.filter(|one| *one != Member::Known(SkyBody::Sun));
                Some(found.ok_or_else(|| {
                    Error::InvalidArgument(format!(
                        "light time '{}': expected earth, off, or one of the bodies on which shadows fall",
                        quoted(name)
                    ))
                })?)
            }
            _ => None,
        };
        Ok(Positions { sky: self, time, light_time, receiver })
    }

    /// The position of a place on a body in km, in the axes and from the origin of [`system_toml_with`](Self::system_toml_with), whose arguments the others are.
    /// Latitudes are planetographic (normal to the ellipsoid of [`SkyBody::radii_km`]), longitudes positive to the east.
    ///
    /// # Errors
    /// As for [`system_toml_with`](Self::system_toml_with), and if the body is not among `bodies`: nothing would hide the Sun at night.
    pub fn place_in_system(
        &self,
        body: SkyBody,
        place: &Place,
        time: Time,
        bodies: &[SkyBody],
        vectors: &[BodyVectors],
        light_time: &LightTime,
    ) -> Result<DVec3> {
        if !bodies.contains(&body) {
            let name = body.name();
            return Err(Error::InvalidArgument(format!(
                "{name} is not among the bodies: it would not hide the Sun from its places at night. Add {name} to them"
            )));
        }
        self.system_positions(time, bodies, vectors, light_time)?.of_place(body, place)
    }

    /// The table of one body.
    fn body_toml(&self, body: SkyBody, positions: &Positions<'_>) -> Result<String> {
        let (mut equator, mut polar) = body.radii_km();
        if body == SkyBody::Moon {
            (equator, polar) = (self.options().radii.moon_partial_km, self.options().radii.moon_partial_km);
        }
        let pole = if body == SkyBody::Earth {
            DVec3::Z
        } else {
            self.to_earth_fixed(body.pole(positions.time), positions.time)
        };
        let center = vector(positions.of(Member::Known(body))?);
        let mut text = format!("[[body]]\nname = \"{}\"\ncenter = {center}\nradius = {equator:?}\n", body.name());
        let mut add = |key: &str, value: &str| {
            let _ = writeln!(text, "{key} = {value}");
        };
        if polar != equator {
            add("polar_radius", &format!("{polar:?}"));
        }
        add("pole", &vector(pole));
        if body == SkyBody::Earth {
            add("surface", "\"earth\"");
            add("graticule", "15");
        } else {
            add("color", colors(body));
        }
        Ok(text)
    }

    fn camera<'a>(
        &self,
        positions: &Positions<'_>,
        members: impl Iterator<Item = Member<'a>>,
        view: Option<View<'_>>,
    ) -> Result<Camera> {
        let [sun, moon] = [SkyBody::Sun, SkyBody::Moon].map(|body| positions.of(Member::Known(body)));
        let sun = sun?;
        // A view to a body does not depend on the Moon, which files of the moons of other planets lack.
        let moon = match view {
            Some(View::To(_)) => moon.unwrap_or(-sun),
            _ => moon.map_err(|error| {
                let remedy = "a view to a body, such as to-jupiter, does not need the Moon";
                Error::InvalidArgument(format!("{error}; {remedy}"))
            })?,
        };
        let axis = line_hits_earth(moon, moon - sun).map(Place::from_earth_fixed_km);
        // If the axis of the shadow misses the Earth: the point of the surface that is nearest to it, with the Sun at the horizon.
        let along = (moon - sun).normalize();
        let foot = Place { height_m: 0.0, ..Place::from_earth_fixed_km(moon - along * moon.dot(along)) };
        let new_moon = sun.dot(moon) > 0.0;
        let view = view.unwrap_or(if axis.is_some() && new_moon { View::Above } else { View::Earth });
        let below = Place { height_m: 0.0, ..Place::from_earth_fixed_km(moon) };
        let under_axis = axis.filter(|_| new_moon).map(|place| Place { height_m: 0.0, ..place });
        let toward_moon = moon.normalize();
        Ok(match view {
            View::Moon => {
                let distance = moon.length() - 1.05 * 1737.4;
                let field = 2.5 * (EQUATOR_KM / distance).asin().to_degrees();
                Camera::new(toward_moon * distance, DVec3::ZERO, DVec3::Z, Field::Degrees(field))
            }
            View::Sun => {
                let field = Field::HeightKm(2.2 * EQUATOR_KM);
                Camera::new(sun.normalize() * 100_000.0, DVec3::ZERO, DVec3::Z, field)
            }
            View::Above => {
                let place = under_axis.unwrap_or(below);
                let high = Place { height_m: 9e6, ..place };
                Camera::new(high.earth_fixed_km(), place.earth_fixed_km(), DVec3::Z, Field::Degrees(52.0))
            }
            View::Earth if new_moon => self.camera_at(&under_axis.unwrap_or(foot), sun, "Sun")?,
            View::Earth => {
                let field = Field::Degrees(3.0 * (1737.4 / moon.length()).asin().to_degrees());
                Camera::new(toward_moon * 1.01 * EQUATOR_KM, moon, DVec3::Z, field)
            }
            View::To(name) => {
                let members: Vec<Member<'_>> = members.collect();
                let missing = || {
                    let names = members.iter().map(|one| one.name().to_lowercase()).collect::<Vec<_>>().join(", ");
                    format!("view 'to-{0}': {0} is not among the bodies: {names}", quoted(name))
                };
                let body = members.iter().find(|one| one.name().eq_ignore_ascii_case(name));
                let body = *body.ok_or_else(|| Error::InvalidArgument(missing()))?;
                let position = positions.of(body)?;
                let is_sun = body == Member::Known(SkyBody::Sun);
                let radius = if is_sun { self.options().radii.sun_km } else { body.radius_km() };
                let field = Field::Degrees(2.2 * (radius / position.length()).asin().to_degrees());
                Camera { in_earth: true, ..Camera::new(DVec3::ZERO, position, DVec3::Z, field) }
            }
            View::Place(place) => {
                let (body, name) = target(sun, moon);
                self.camera_at(&place, body, name)?
            }
        })
    }

    /// Whether the [view](View::Place) of a place sees the Sun, or near a full moon the Moon, above the horizon.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the ephemeris does not cover the instant.
    pub fn is_target_up(&self, place: &Place, time: Time) -> Result<bool> {
        let seen = |body| Ok::<_, Error>(self.to_earth_fixed(self.apparent(body, time)?, time));
        let [altitude, horizon] = altitudes(place, target(seen(SkyBody::Sun)?, seen(SkyBody::Moon)?).0);
        Ok(altitude >= horizon)
    }

    /// A camera at a place that is directed at a body, the zenith up.
    fn camera_at(&self, place: &Place, body: DVec3, name: &str) -> Result<Camera> {
        let position = place.earth_fixed_km();
        let [altitude, horizon] = altitudes(place, body);
        if altitude < horizon - 0.3 {
            let Place { latitude, longitude, .. } = place;
            let lowered = if horizon < 0.0 { format!(", that of the horizon {horizon:.1}") } else { String::new() };
            return Err(Error::InvalidArgument(format!(
                "the {name} is below the horizon of {latitude:.4}, {longitude:.4} at that instant: its altitude is {altitude:.1} degrees{lowered}"
            )));
        }
        let camera = Camera::new(position, body, place.zenith(), Field::Degrees(1.0));
        Ok(Camera { in_earth: true, ..camera })
    }
}

/// The body at which the camera of a place is directed: in a lunar eclipse the Moon is within 2 degrees of the direction opposite to the Sun.
fn target(sun: DVec3, moon: DVec3) -> (DVec3, &'static str) {
    if sun.angle_between(-moon) < 5_f64.to_radians() { (moon, "Moon") } else { (sun, "Sun") }
}

/// The altitude of a body's centre at a place, and that of the horizon in its azimuth, in degrees.
fn altitudes(place: &Place, body: DVec3) -> [f64; 2] {
    let position = place.earth_fixed_km();
    let toward = (body - position).normalize();
    let altitude = toward.dot(place.zenith()).clamp(-1.0, 1.0).asin().to_degrees();
    [altitude, horizon_altitude(position, place.zenith(), toward).to_degrees()]
}

impl Camera {
    fn new(position: DVec3, target: DVec3, up: DVec3, field: Field) -> Self {
        let along = (target - position).normalize();
        // Another direction if `up` is nearly along the line of sight.
        let up = if along.cross(up).length() > 0.01 { up } else { along.any_orthonormal_vector() };
        Self { position, target, up, field, in_earth: false }
    }

    fn toml(&self, size: [u32; 2]) -> String {
        let (kind, field) = match self.field {
            Field::Degrees(degrees) => ("perspective", format!("field_of_view_deg = {degrees:?}")),
            Field::HeightKm(height) => {
                ("orthographic", format!("width = {:?}", height * f64::from(size[0]) / f64::from(size[1].max(1))))
            }
        };
        format!(
            "[camera]\nkind = \"{kind}\"\nposition = {}\ntarget = {}\nup = {}\n{field}\n",
            vector(self.position),
            vector(self.target),
            vector(self.up)
        )
    }
}

/// A vector as TOML, with all digits.
fn vector(v: DVec3) -> String {
    format!("[{:?}, {:?}, {:?}]", v.x, v.y, v.z)
}

/// Colours of a body, as TOML: made up, but similar to how it looks.
fn colors(body: SkyBody) -> &'static str {
    match body {
        SkyBody::Sun => "\"#fff6e9\"",
        SkyBody::Earth => {
            "[\"#f4f7fa\", \"#d5dfe8\", \"#6f93b3\", \"#39688f\", \"#4f83ab\", \"#2e6496\", \"#5c8fb4\", \"#2e6496\", \"#4f83ab\", \"#39688f\", \"#7d9db8\", \"#dbe4ec\", \"#f4f7fa\"]"
        }
        SkyBody::Moon => "\"#a9a59f\"",
        SkyBody::Mercury => "\"#8f8a86\"",
        SkyBody::Venus => "\"#e6d9b8\"",
        SkyBody::Mars => "\"#b5653d\"",
        SkyBody::Jupiter => {
            "[\"#9a8f86\", \"#d8c7ab\", \"#a87f5d\", \"#e6dac3\", \"#a87f5d\", \"#d8c7ab\", \"#9a8f86\"]"
        }
        SkyBody::Saturn => "[\"#b7a67c\", \"#dccb9b\", \"#cbb684\", \"#e3d6ae\", \"#cbb684\", \"#dccb9b\"]",
        SkyBody::Uranus => "\"#b5d6dc\"",
        SkyBody::Neptune => "\"#5b7fd6\"",
    }
}
