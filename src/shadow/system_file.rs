//! System files: TOML, described in `systems/README.md`.

use std::path::Path;

use glam::DVec3;
use serde::Deserialize;

use super::camera::{Camera, Lens};
use super::color::Color;
use super::frame::Ball;
use super::lighting::Lighting;
use super::system::{Body, LightSource, PictureOptions, System, check_bodies};
use crate::error::{Error, Result};

/// Units of length; every length of a file is in its one unit, and so is the `t` of its picture.
const UNITS: [&str; 6] = ["mm", "m", "km", "mi", "au", "pc"];

/// The system file `systems/planet.toml`: a banded planet and its moon, the picture that `umbracast render` draws by default.
/// [`System::parse`] reads it.
pub const PLANET: &str = include_str!("../../systems/planet.toml");

/// The longest system file, in bytes.
const LONGEST: u64 = 1 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SystemFile {
    unit: String,
    light: LightTable,
    #[serde(default)]
    body: Vec<BodyTable>,
    #[serde(default)]
    camera: Option<CameraTable>,
    #[serde(default)]
    picture: PictureTable,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LightTable {
    #[serde(default)]
    name: Option<String>,
    center: [f64; 3],
    radius: f64,
    #[serde(default)]
    color: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BodyTable {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    center: Option<[f64; 3]>,
    #[serde(default)]
    radius: Option<f64>,
    #[serde(default)]
    spheres: Option<String>,
    #[serde(default)]
    color: Option<Colors>,
    #[serde(default)]
    pole: Option<[f64; 3]>,
    #[serde(default)]
    polar_radius: Option<f64>,
    #[serde(default)]
    swirl: Option<f64>,
    #[serde(default)]
    casts: Option<bool>,
    #[serde(default)]
    receives: Option<bool>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "color must be one \"#rrggbb\" or a list of them, south to north")]
enum Colors {
    One(String),
    Bands(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CameraTable {
    kind: Kind,
    position: [f64; 3],
    target: [f64; 3],
    up: [f64; 3],
    #[serde(default)]
    field_of_view_deg: Option<f64>,
    #[serde(default)]
    width: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Perspective,
    Orthographic,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct PictureTable {
    size: Option<[u32; 2]>,
    samples: Option<u32>,
    exposure: Option<f64>,
    ambient: Option<f64>,
    background: Option<String>,
    stars: Option<f64>,
}

impl System {
    /// Reads a system file. Lengths stay in the file's unit.
    ///
    /// # Errors
    /// [`Error::Io`] when it, or a cloud it names, cannot be read; [`Error::BadFile`] with the table, the key, the value
    /// and what is allowed when it cannot be used.
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(&read_text(path)?, path)
    }

    /// The same from text; `path` is what errors name, and its folder is where clouds are looked for.
    ///
    /// # Errors
    /// As [`System::read`].
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let bad = |message: String| bad_file(path, message);
        let mut file = SystemFile::parse(text, path)?;
        let (light, bodies) = file.bodies(path)?;
        let Some(camera) = file.camera else { return Err(bad("camera is missing: a picture needs one".into())) };
        let lens = match (camera.kind, camera.field_of_view_deg, camera.width) {
            (Kind::Perspective, Some(field_of_view_deg), None) => Lens::Perspective { field_of_view_deg },
            (Kind::Orthographic, None, Some(width)) => Lens::Orthographic { width },
            (Kind::Perspective, ..) => {
                return Err(bad("camera: a perspective one has field_of_view_deg and no width".into()));
            }
            (Kind::Orthographic, ..) => {
                return Err(bad("camera: an orthographic one has width and no field_of_view_deg".into()));
            }
        };
        let camera =
            Camera { position: camera.position.into(), target: camera.target.into(), up: camera.up.into(), lens };
        let picture = PictureOptions {
            size: file.picture.size.unwrap_or([1920, 1080]),
            samples: file.picture.samples.unwrap_or(3),
            exposure: file.picture.exposure.unwrap_or(1.0),
            ambient: file.picture.ambient.unwrap_or(0.0),
            background: file.picture.background.map_or(Ok(Color::BLACK), |c| color(path, "picture: background", &c))?,
            stars: file.picture.stars.unwrap_or(0.0),
        };
        Self::new(light, bodies, camera, picture).map_err(|e| match e {
            Error::Usage(message) => bad(message),
            other => other,
        })
    }
}

impl Lighting {
    /// Reads a system file for its light and the bodies that cast shadows. It needs no camera.
    ///
    /// # Errors
    /// As [`System::read`].
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(&read_text(path)?, path)
    }

    /// The same from text; `path` is what errors name, and its folder is where clouds are looked for.
    ///
    /// # Errors
    /// As [`System::read`].
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let (light, bodies) = SystemFile::parse(text, path)?.bodies(path)?;
        check_bodies(&light, &bodies, None).map_err(|e| match e {
            Error::Usage(message) => bad_file(path, message),
            other => other,
        })?;
        Ok(Self::of(light.ball, &bodies))
    }
}

impl SystemFile {
    fn parse(text: &str, path: &Path) -> Result<Self> {
        let file: Self = toml::from_str(text).map_err(|e| bad_file(path, e.to_string().trim_end().to_owned()))?;
        if !UNITS.contains(&file.unit.as_str()) {
            return Err(bad_file(path, format!("unit is \"{}\": allowed are {}", file.unit, UNITS.join(", "))));
        }
        Ok(file)
    }

    /// The light and the bodies, as they are written.
    fn bodies(&mut self, path: &Path) -> Result<(LightSource, Vec<Body>)> {
        let bad = |message: String| bad_file(path, message);
        let light = LightSource {
            name: self.light.name.take().unwrap_or_else(|| "light".into()),
            ball: Ball::new(self.light.center, self.light.radius),
            color: self.light.color.take().map_or(Ok(Color::WHITE), |c| color(path, "light: color", &c))?,
        };
        let mut bodies = Vec::new();
        for (i, table) in std::mem::take(&mut self.body).into_iter().enumerate() {
            let place = format!("body[{i}]{}", table.name.as_ref().map_or(String::new(), |name| format!(" '{name}'")));
            let colors = match &table.color {
                None => vec![Color::from_hex("#b0b0b0").unwrap_or(Color::WHITE)],
                Some(Colors::One(one)) => vec![color(path, &format!("{place}: color"), one)?],
                Some(Colors::Bands(many)) => many
                    .iter()
                    .enumerate()
                    .map(|(j, one)| color(path, &format!("{place}: color[{j}]"), one))
                    .collect::<Result<_>>()?,
            };
            let balls = match (&table.spheres, table.center, table.radius) {
                (Some(_), ..) if table.polar_radius.is_some() => {
                    return Err(bad(format!("{place}: it has spheres: no polar_radius beside them")));
                }
                (None, Some(center), Some(radius)) => vec![Ball::new(center, radius)],
                (Some(cloud), None, None) => read_cloud(path, cloud)?,
                (Some(_), ..) => return Err(bad(format!("{place}: it has spheres: no center or radius beside them"))),
                (None, Some(_), None) => return Err(bad(format!("{place}: radius is missing"))),
                (None, None, Some(_)) => return Err(bad(format!("{place}: center is missing"))),
                (None, None, None) => return Err(bad(format!("{place}: center and radius are missing, or spheres"))),
            };
            bodies.push(Body {
                name: table.name.unwrap_or_else(|| "body".into()),
                balls,
                colors,
                pole: table.pole.map_or(DVec3::Z, DVec3::from_array),
                polar_radius: table.polar_radius,
                swirl: table.swirl.unwrap_or(0.0),
                casts: table.casts.unwrap_or(true),
                receives: table.receives.unwrap_or(true),
            });
        }
        Ok((light, bodies))
    }
}

fn bad_file(path: &Path, message: String) -> Error {
    Error::BadFile { path: path.to_path_buf(), message }
}

fn color(path: &Path, place: &str, text: &str) -> Result<Color> {
    Color::from_hex(text)
        .ok_or_else(|| bad_file(path, format!("{place} is \"{text}\": allowed is \"#rrggbb\", six hexadecimal digits")))
}

/// The text of a system file.
fn read_text(path: &Path) -> Result<String> {
    let cannot = |message: String| Error::Io { action: "read", path: path.to_path_buf(), message };
    let about = std::fs::metadata(path).map_err(|e| cannot(e.to_string()))?;
    if !about.is_file() {
        return Err(cannot("it is not a regular file".into()));
    }
    if about.len() > LONGEST {
        return Err(bad_file(path, format!("it has {} bytes: a system file has at most {LONGEST}", about.len())));
    }
    let bytes = std::fs::read(path).map_err(|e| cannot(e.to_string()))?;
    String::from_utf8(bytes).map_err(|e| bad_file(path, format!("it is not UTF-8 text: {e}")))
}

/// The spheres of a cloud. They are read about their own middle, so that what f32 rounds is the cloud, not its distance.
fn read_cloud(system: &Path, cloud: &str) -> Result<Vec<Ball>> {
    let path = system.parent().unwrap_or(Path::new("")).join(cloud);
    let middle = crate::files::center_of_spheres(&path)?;
    let table = crate::files::read_spheres(&path, middle)?;
    if table.records.is_empty() {
        return Err(Error::BadFile { path, message: "it holds no spheres".into() });
    }
    Ok(table
        .records
        .iter()
        .map(|sphere| Ball { center: sphere.center.as_dvec3() + middle, radius: f64::from(sphere.radius) })
        .collect())
}
