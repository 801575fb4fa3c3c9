//! Systems: a light, bodies, a camera and the options of the picture.

use glam::DVec3;

use super::ball::Ball;
use super::limb_darkening::LimbDarkening;
use super::picture::image::{Color, CpuFallback};
use super::spheroid::{MAX_OBLATENESS, POLE_LENGTHS, Spheroid};
use super::surface::SurfaceMap;
use crate::batch::raygen::camera::{Camera, check_camera};
use crate::error::{Error, Result};
use crate::query::validate::{MAX_LENGTH, check_point, text, usage};

/// The light source: a sphere.
#[derive(Clone, Debug, PartialEq)]
pub struct LightSource {
    /// Its name.
    pub name: String,
    /// Centre and radius; radius 0 is a point light.
    pub ball: Ball,
    /// Its colour, both as it appears itself and as it tints the bodies.
    pub color: Color,
    /// How much darker its edge appears; `None`: the disc has uniform brightness.
    pub limb_darkening: Option<LimbDarkening>,
}

impl LightSource {
    /// A white sphere of uniform brightness.
    pub fn new(name: impl Into<String>, ball: Ball) -> Self {
        Self { name: name.into(), ball, color: Color::WHITE, limb_darkening: None }
    }
}

/// A body that is lit: a sphere, a spheroid, or a cloud of spheres with the same appearance.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Its name.
    pub name: String,
    /// Centre and radius of each of its spheres.
    pub balls: Vec<Ball>,
    /// Colours from the south pole to the north pole, evenly spaced in latitude and interpolated; at least one.
    pub colors: Vec<Color>,
    /// A colour per sphere, instead of `colors`; empty if all spheres have the same.
    pub sphere_colors: Vec<Color>,
    /// Direction of the north pole; any length.
    pub pole: DVec3,
    /// Direction of longitude 0, of any length; its part along the pole does not count. `None`: the x axis, or y if the pole is along x.
    pub meridian: Option<DVec3>,
    /// Map of its surface, in place of `colors`.
    pub map: Option<SurfaceMap>,
    /// Spacing in degrees, 0.1 to 90, of meridians and parallels that are drawn on it.
    pub graticule: Option<f64>,
    /// Distance from the centre to either pole, if it differs from the radius. Such a body is a spheroid. It must have exactly one sphere,
    /// whose radius is the equatorial radius.
    pub polar_radius: Option<f64>,
    /// Strength of the meandering of the bands, 0…1.
    pub swirl: f64,
    /// Whether it casts shadows on other bodies.
    pub casts: bool,
    /// Whether the shadows of other bodies fall on it. (Its night side is dark in either case.)
    pub receives: bool,
    /// Whether pictures show it. An invisible body only casts shadows.
    pub visible: bool,
    /// Whether it is the [ground](Self::ground); errors call it so.
    pub is_ground: bool,
}

impl Body {
    /// Spheres of one appearance: the pole along z, no swirl. They cast and receive shadows.
    pub fn new(name: impl Into<String>, balls: Vec<Ball>, colors: Vec<Color>) -> Self {
        Self {
            name: name.into(),
            balls,
            colors,
            sphere_colors: Vec::new(),
            pole: DVec3::Z,
            meridian: None,
            map: None,
            graticule: None,
            polar_radius: None,
            swirl: 0.0,
            casts: true,
            receives: true,
            visible: true,
            is_ground: false,
        }
    }

    /// Its spheres; for a spheroid its bounding ball.
    pub(crate) fn bounding_balls(&self) -> impl Iterator<Item = Ball> {
        let around = self.spheroid().map(|one| one.bounding_ball());
        self.balls.iter().map(move |ball| around.unwrap_or(*ball))
    }

    /// The body as a spheroid; `None` if it has no polar radius.
    pub(crate) fn spheroid(&self) -> Option<Spheroid> {
        let (&Ball { center, radius }, polar_radius) = (self.balls.first()?, self.polar_radius?);
        Some(Spheroid { center, radius, polar_radius, pole: self.pole })
    }
}

/// Options of the picture.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureOptions {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Samples along each axis of a pixel.
    pub samples: u32,
    /// Factor applied to the light.
    pub exposure: f64,
    /// Ambient light, 0…1; exposure does not apply to it.
    pub ambient: f64,
    /// Rays per sample that test how much of the sky is open: bodies then block ambient light, too. 0: they do not.
    pub ambient_samples: u32,
    /// Background colour.
    pub background: Color,
    /// Whether the picture has an alpha channel and no background. [`background`](Self::background) is ignored, and there must be no stars.
    pub transparent: bool,
    /// Density of stars, 0 (none) … 1 (many).
    pub stars: f64,
}

impl PictureOptions {
    /// The background that pixels show.
    pub(crate) fn shown_background(&self) -> DVec3 {
        if self.transparent { DVec3::ZERO } else { DVec3::from_array(self.background.0) }
    }
}

impl Default for PictureOptions {
    /// 1920 × 1080 pixels with nine samples each, exposure 1, no ambient light, a black background without stars.
    fn default() -> Self {
        Self {
            size: [1920, 1080],
            samples: 3,
            exposure: 1.0,
            ambient: 0.0,
            ambient_samples: 0,
            background: Color::BLACK,
            transparent: false,
            stars: 0.0,
        }
    }
}

/// A system whose values have been checked.
///
/// Ids number the spheres of all bodies in the given order, including each sphere of a cloud. The light has the last id.
#[derive(Clone, Debug, PartialEq)]
pub struct System {
    light: LightSource,
    bodies: Vec<Body>,
    camera: Camera,
    picture: PictureOptions,
    unit: Option<String>,
    /// The direction up if the camera is [framed](System::framed).
    framed: Option<DVec3>,
}

/// Maximum number of spheres in a system: 12 GiB of memory.
pub const MAX_BALLS: usize = 1 << 26;
/// Maximum length of a picture's side, in pixels.
pub const MAX_SIDE: u32 = 16_384;
/// Maximum number of pixels of a picture.
pub const MAX_PIXELS: u64 = 1 << 26;
/// Maximum number of samples along each axis of a pixel.
pub const MAX_SAMPLES: u32 = 16;
/// Maximum number of rays per sample for ambient light.
pub const MAX_AMBIENT_SAMPLES: u32 = 1024;
/// Largest ratio of a distance to a radius.
const MAX_RATIO: f64 = 1e15;

impl System {
    /// A system of a light, bodies, a camera and picture options.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) with the name of the invalid value, the value and the allowed range.
    pub fn new(light: LightSource, bodies: Vec<Body>, camera: Camera, picture: PictureOptions) -> Result<Self> {
        let system = Self { light, bodies, camera, picture, unit: None, framed: None };
        check_picture(&system.picture)?;
        check_camera(&system.camera)?;
        check_bodies(&system.light, &system.bodies, Some(&system.camera))?;
        Ok(system)
    }

    /// A system whose camera [shows all bodies](Camera::framing), also after [`with_picture`](Self::with_picture) with another size.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn framed(light: LightSource, bodies: Vec<Body>, up: DVec3, picture: PictureOptions) -> Result<Self> {
        let camera = Camera::framing(&bodies, &light, up, picture.size);
        Ok(Self { framed: Some(up), ..Self::new(light, bodies, camera, picture)? })
    }

    /// The light.
    pub fn light(&self) -> &LightSource {
        &self.light
    }

    /// The bodies.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// The camera.
    pub fn camera(&self) -> &Camera {
        &self.camera
    }

    /// Options of the picture.
    pub fn picture(&self) -> &PictureOptions {
        &self.picture
    }

    /// The unit of all lengths; `None` if it is not known.
    pub fn unit(&self) -> Option<&str> {
        self.unit.as_deref()
    }

    /// The same system with the name of its unit of length.
    pub fn with_unit(self, unit: impl Into<String>) -> Self {
        Self { unit: Some(unit.into()), ..self }
    }

    /// The reason, if only the CPU engine renders it: it has ambient occlusion, a map, a graticule, or limb darkening that is not quadratic.
    pub(crate) fn cpu_fallback(&self) -> Option<CpuFallback> {
        if self.picture.ambient_samples > 0 {
            return Some(CpuFallback::AmbientOcclusion);
        }
        if self.light.limb_darkening.is_some_and(|law| law.quadratic().is_none()) {
            return Some(CpuFallback::LimbDarkening);
        }
        let has_surface = self.bodies.iter().any(|body| body.map.is_some() || body.graticule.is_some());
        has_surface.then_some(CpuFallback::Surface)
    }

    /// Number of spheres, without the light; also the light's id.
    pub fn ball_count(&self) -> usize {
        self.bodies.iter().map(|body| body.balls.len()).sum()
    }

    /// The same system with other picture options.
    ///
    /// # Errors
    /// The errors of [`System::new`].
    pub fn with_picture(self, picture: PictureOptions) -> Result<Self> {
        let Self { light, bodies, camera, unit, framed, .. } = self;
        let camera = framed.map_or(camera, |up| Camera::framing(&bodies, &light, up, picture.size));
        Ok(Self { unit, framed, ..Self::new(light, bodies, camera, picture)? })
    }
}

/// Checks a light and bodies. If there is a camera, also checks that it is outside all of them.
pub(crate) fn check_bodies(light: &LightSource, bodies: &[Body], camera: Option<&Camera>) -> Result<()> {
    check_ball("light", &light.ball)?;
    check_color("light", light.color)?;
    let count: usize = bodies.iter().map(|body| body.balls.len()).sum();
    if count > MAX_BALLS {
        return usage(format!("{count} spheres in the system: at most {MAX_BALLS} are allowed"));
    }
    let mut smallest = if light.ball.radius > 0.0 { light.ball.radius } else { f64::INFINITY };
    let from_camera = |ball: &Ball| camera.map_or(0.0, |camera| (ball.center - camera.position).length());
    let mut farthest = from_camera(&light.ball);
    check_clear("light", INSIDE, &light.ball, camera)?;
    for (i, body) in bodies.iter().enumerate() {
        let place = if body.is_ground { "ground".into() } else { format!("body[{i}] '{}'", body.name) };
        let inside = if body.is_ground { BELOW_GROUND } else { INSIDE };
        if body.colors.is_empty() {
            return usage(format!("{place}: color is an empty list: at least one colour is needed"));
        }
        body.colors.iter().chain(&body.sphere_colors).try_for_each(|color| check_color(&place, *color))?;
        if !body.sphere_colors.is_empty() && body.sphere_colors.len() != body.balls.len() {
            let (colors, spheres) = (body.sphere_colors.len(), body.balls.len());
            return usage(format!("{place}: {colors} sphere colours and {spheres} spheres: the counts must be equal"));
        }
        let pole = body.pole.length();
        if !POLE_LENGTHS.contains(&pole) {
            return usage(format!("{place}: pole is {}: a direction must not be zero", text(body.pole)));
        }
        if let Some(meridian) = body.meridian {
            let across = meridian.cross(body.pole.normalize()).length();
            if !POLE_LENGTHS.contains(&meridian.length()) || across.is_nan() || across < 1e-9 * meridian.length() {
                let meridian = text(meridian);
                return usage(format!("{place}: meridian is {meridian}: it must not be zero or parallel to the pole"));
            }
        }
        if let Some(spacing) = body.graticule.filter(|spacing| !(0.1..=90.0).contains(spacing)) {
            return usage(format!("{place}: graticule is {spacing}: it must be between 0.1 and 90 degrees"));
        }
        if !(0.0..=1.0).contains(&body.swirl) {
            return usage(format!("{place}: swirl is {}: it must be between 0 and 1", body.swirl));
        }
        check_polar_radius(&place, body)?;
        for (j, ball) in body.bounding_balls().enumerate() {
            let ball = &ball;
            let place = if body.balls.len() > 1 { format!("{place} spheres[{j}]") } else { place.clone() };
            check_ball(&place, ball)?;
            if ball.radius == 0.0 {
                return usage(format!("{place}: radius is 0: the radius of a body must be above 0"));
            }
            check_clear(&place, inside, ball, camera.filter(|_| body.visible))?;
            let distance = (ball.center - light.ball.center).length();
            if distance <= ball.radius + light.ball.radius {
                let name = format!("the light '{}'", light.name);
                return usage(format!("{place}: {}", touches(&name, light.ball, inside, ball, distance)));
            }
            smallest = smallest.min(ball.radius);
            farthest = farthest.max(distance).max(from_camera(ball));
        }
    }
    if farthest > smallest * MAX_RATIO {
        return usage(format!(
            "the largest distance is {farthest}, and the smallest radius is {smallest}: their ratio must be at most 1e15"
        ));
    }
    Ok(())
}

fn check_polar_radius(place: &str, body: &Body) -> Result<()> {
    let Some(polar_radius) = body.polar_radius else { return Ok(()) };
    let [ball] = &body.balls[..] else {
        let count = body.balls.len();
        return usage(format!(
            "{place}: polar_radius is {polar_radius}: it is only for a body of one sphere, and this one has {count}"
        ));
    };
    check_ball(place, ball)?;
    let (least, most) = (ball.radius / MAX_OBLATENESS, ball.radius * MAX_OBLATENESS);
    if polar_radius > 0.0 && (least..=most).contains(&polar_radius) {
        return Ok(());
    }
    usage(format!(
        "{place}: polar_radius is {polar_radius}: it must be between 0.01 and 100 times the radius, {}",
        ball.radius
    ))
}

/// Checks that the light is outside the bounding sphere of a spheroid that is not a sphere. The bounding sphere decides whether the
/// spheroid is in front of the light.
pub(crate) fn check_apart_from_light(index: u64, spheroid: &Spheroid, light: Ball) -> Result<()> {
    let around = spheroid.bounding_ball();
    let distance = (around.center - light.center).length();
    if spheroid.is_sphere() || distance > around.radius + light.radius {
        return Ok(());
    }
    let why = format!("{} (of its bounding sphere)", touches("the light", light, INSIDE, &around, distance));
    Err(Error::record("spheroid", index, "center", text(spheroid.center), why))
}

/// Words for a place inside a body: for errors about the camera, and about the light.
type Inside = [&'static str; 2];
const INSIDE: Inside = ["inside", "inside this body"];
/// The ground is a huge sphere.
const BELOW_GROUND: Inside = ["below the ground"; 2];

/// How a body touches the light, which is called `name`.
fn touches(name: &str, light: Ball, [_, inside]: Inside, ball: &Ball, distance: f64) -> String {
    let radius = light.radius;
    let how = if distance + radius <= ball.radius {
        format!("{name} is {inside}")
    } else if distance + ball.radius <= radius {
        format!("the body is inside {name}")
    } else if distance <= ball.radius {
        format!("the centre of {name} is {inside}")
    } else {
        format!("the body touches or overlaps {name}")
    };
    format!("{how}: the centres are {distance} apart, and the radii are {} and {radius}", ball.radius)
}

fn check_clear(place: &str, [inside, _]: Inside, ball: &Ball, camera: Option<&Camera>) -> Result<()> {
    let Some(camera) = camera else { return Ok(()) };
    let distance = (ball.center - camera.position).length();
    if distance <= ball.radius {
        return usage(format!(
            "{place}: the camera is {inside}: its position {} is {} below the surface, {distance} from the centre, and the radius is {}: set a `position` outside it in the table [camera]",
            text(camera.position),
            ball.radius - distance,
            ball.radius
        ));
    }
    Ok(())
}

fn check_ball(place: &str, ball: &Ball) -> Result<()> {
    check_point(place, "center", ball.center)?;
    if !(0.0..=MAX_LENGTH).contains(&ball.radius) {
        return usage(format!("{place}: radius is {}: it must be between 0 and 1e30", ball.radius));
    }
    Ok(())
}

fn check_color(place: &str, color: Color) -> Result<()> {
    if color.0.iter().all(|channel| (0.0..=1e6).contains(channel)) {
        return Ok(());
    }
    usage(format!("{place}: color is {}: its channels must be between 0 and 1e6", text(color.0.into())))
}

fn check_picture(picture: &PictureOptions) -> Result<()> {
    check_color("picture: background", picture.background)?;
    let [width, height] = picture.size;
    if width == 0 || height == 0 || width > MAX_SIDE || height > MAX_SIDE {
        return usage(format!("picture: size is {width}x{height}: width and height must be between 1 and {MAX_SIDE}"));
    }
    let pixels = u64::from(width) * u64::from(height);
    if pixels > MAX_PIXELS {
        return usage(format!("picture: size is {width}x{height}, {pixels} pixels: at most {MAX_PIXELS} are allowed"));
    }
    for (name, value, least, most) in [
        ("samples", picture.samples.into(), 1.0, MAX_SAMPLES.into()),
        ("exposure", picture.exposure, 1e-6, 1e6),
        ("ambient", picture.ambient, 0.0, 1.0),
        ("ambient_samples", picture.ambient_samples.into(), 0.0, MAX_AMBIENT_SAMPLES.into()),
        ("stars", picture.stars, 0.0, 1.0),
    ] {
        if !(least..=most).contains(&value) {
            return usage(format!("picture: {name} is {value}: it must be between {least} and {most}"));
        }
    }
    if picture.transparent && picture.stars > 0.0 {
        return usage(format!("picture: stars is {}: a transparent background has no stars", picture.stars));
    }
    Ok(())
}
