//! Parser of system files: TOML, documented in `systems/README.md`.

use std::path::{Path, PathBuf};

use glam::DVec3;
use serde::Deserialize;

use super::toml_text::{parse, read_text};
use crate::batch::raygen::camera::{Camera, Lens};
use crate::error::{Error, Result};
use crate::escape::quoted;
use crate::records::Sphere;
use crate::shadow::ball::Ball;
use crate::shadow::lighting::Lighting;
use crate::shadow::picture::color::Color;
use crate::shadow::system::{Body, LightSource, MAX_BALLS, PictureOptions, System, check_bodies};

/// Units of length. Every length of a file, and the `t` of its picture, has the one unit of that file.
const UNITS: [&str; 6] = ["mm", "m", "km", "mi", "au", "pc"];

/// The system file `systems/planet.toml`: a banded planet and its moon, the default picture of `umbracast render`. [`System::parse`] parses
/// it.
pub const PLANET: &str = include_str!("../../systems/planet.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SystemFile {
    unit: Option<String>,
    light: Option<LightTable>,
    #[serde(default)]
    body: Vec<BodyTable>,
    #[serde(default)]
    camera: Option<CameraTable>,
    #[serde(default)]
    picture: PictureTable,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct LightTable {
    #[serde(default)]
    name: Option<String>,
    center: [f64; 3],
    radius: f64,
    #[serde(default)]
    color: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
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
#[serde(untagged, expecting = "expected one \"#rrggbb\", or a list of them from south to north")]
enum Colors {
    One(String),
    Bands(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
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
#[serde(deny_unknown_fields, default, expecting = "a table")]
struct PictureTable {
    size: Option<[u32; 2]>,
    samples: Option<u32>,
    exposure: Option<f64>,
    ambient: Option<f64>,
    background: Option<String>,
    stars: Option<f64>,
}

impl System {
    /// Reads a system file. Lengths stay in the unit of the file.
    ///
    /// # Errors
    /// [`Error::Io`] if it, or a sphere file that it names, cannot be read; [`Error::BadFile`] with the table, the key, the value and the
    /// allowed values if it is invalid.
    pub fn read(path: &Path) -> Result<Self> {
        Ok(Self::read_with_files(path)?.0)
    }

    /// Reads a system file. Also returns the files that were read: the system file, then the sphere files. Output must not overwrite them.
    ///
    /// # Errors
    /// The errors of [`System::read`].
    pub fn read_with_files(path: &Path) -> Result<(Self, Vec<PathBuf>)> {
        let (system, clouds) = Self::parse_all(&read_text(path, "system")?, path)?;
        Ok((system, [path.to_path_buf()].into_iter().chain(clouds).collect()))
    }

    /// Parses the text of a system file. Errors name `path`. Sphere files are found relative to its folder.
    ///
    /// # Errors
    /// The errors of [`System::read`].
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        Ok(Self::parse_all(text, path)?.0)
    }

    fn parse_all(text: &str, path: &Path) -> Result<(Self, Vec<PathBuf>)> {
        let bad = |message: String| bad_file(path, message);
        let mut file = SystemFile::parse(text, path)?;
        let (light, bodies, clouds) = file.bodies(path)?;
        let Some(camera) = file.camera else {
            return Err(bad("the table [camera] is missing: a picture needs a camera".into()));
        };
        let lens = match (camera.kind, camera.field_of_view_deg, camera.width) {
            (Kind::Perspective, Some(field_of_view_deg), None) => Lens::Perspective { field_of_view_deg },
            (Kind::Orthographic, None, Some(width)) => Lens::Orthographic { width },
            (Kind::Perspective, ..) => {
                return Err(
                    bad("camera: kind \"perspective\" needs field_of_view_deg and does not allow width".into()),
                );
            }
            (Kind::Orthographic, ..) => {
                return Err(bad(
                    "camera: kind \"orthographic\" needs width and does not allow field_of_view_deg".into()
                ));
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
        let system = Self::new(light, bodies, camera, picture).map_err(|e| match e {
            Error::Usage(message) => bad(message),
            other => other,
        })?;
        Ok((system, clouds))
    }
}

impl Lighting {
    /// Reads the light and the shadow-casting bodies of a system file. The file needs no camera.
    ///
    /// # Errors
    /// The errors of [`System::read`].
    pub fn read(path: &Path) -> Result<Self> {
        Ok(Self::read_with_files(path)?.0)
    }

    /// Reads a system file like [`Lighting::read`]. Also returns the files that were read: the system file, then the sphere files. Output
    /// must not overwrite them.
    ///
    /// # Errors
    /// The errors of [`System::read`].
    pub fn read_with_files(path: &Path) -> Result<(Self, Vec<PathBuf>)> {
        let (lighting, clouds) = Self::parse_all(&read_text(path, "system")?, path)?;
        Ok((lighting, [path.to_path_buf()].into_iter().chain(clouds).collect()))
    }

    /// Parses the text of a system file. Errors name `path`. Sphere files are found relative to its folder.
    ///
    /// # Errors
    /// The errors of [`System::read`].
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        Ok(Self::parse_all(text, path)?.0)
    }

    fn parse_all(text: &str, path: &Path) -> Result<(Self, Vec<PathBuf>)> {
        let (light, bodies, clouds) = SystemFile::parse(text, path)?.bodies(path)?;
        check_bodies(&light, &bodies, None).map_err(|e| match e {
            Error::Usage(message) => bad_file(path, message),
            other => other,
        })?;
        Ok((Self::of(light.ball, &bodies), clouds))
    }
}

impl SystemFile {
    fn parse(text: &str, path: &Path) -> Result<Self> {
        let file: Self = parse(text, path)?;
        let units = UNITS.join(", ");
        let Some(unit) = &file.unit else {
            let why = "unit is missing: add a line such as unit = \"km\" at the top, before the first table";
            return Err(bad_file(path, format!("{why}; allowed are {units}")));
        };
        if !UNITS.contains(&unit.as_str()) {
            let lower = unit.to_ascii_lowercase();
            let guess = UNITS.iter().find(|known| **known == lower);
            let guess = guess.map(|known| format!(" (did you mean \"{known}\"?)")).unwrap_or_default();
            return Err(bad_file(path, format!("unit is \"{}\"{guess}: allowed are {units}", quoted(unit))));
        }
        Ok(file)
    }

    /// The light and the bodies, in the unit of the file, and the paths of the sphere files.
    fn bodies(&mut self, path: &Path) -> Result<(LightSource, Vec<Body>, Vec<PathBuf>)> {
        let bad = |message: String| bad_file(path, message);
        let Some(light) = self.light.take() else {
            return Err(bad("the table [light] is missing: it needs center and radius".into()));
        };
        let light = LightSource {
            name: light.name.unwrap_or_else(|| "light".into()),
            ball: Ball::new(light.center, light.radius),
            color: light.color.map_or(Ok(Color::WHITE), |c| color(path, "light: color", &c))?,
        };
        let (mut bodies, mut clouds): (Vec<Body>, _) = (Vec::new(), Vec::new());
        let mut left = MAX_BALLS as u64;
        for (i, table) in std::mem::take(&mut self.body).into_iter().enumerate() {
            let place = format!(
                "body[{i}]{}",
                table.name.as_ref().map_or(String::new(), |name| format!(" '{}'", quoted(name)))
            );
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
                    return Err(bad(format!("{place}: a body with spheres cannot have polar_radius")));
                }
                (None, Some(center), Some(radius)) => vec![Ball::new(center, radius)],
                (Some(cloud), None, None) => {
                    clouds.push(path.parent().unwrap_or(Path::new("")).join(cloud));
                    read_balls(&clouds[clouds.len() - 1], left)?
                }
                (Some(_), ..) => return Err(bad(format!("{place}: a body with spheres cannot have center or radius"))),
                (None, Some(_), None) => return Err(bad(format!("{place}: radius is missing"))),
                (None, None, Some(_)) => return Err(bad(format!("{place}: center is missing"))),
                (None, None, None) => {
                    return Err(bad(format!("{place}: either center and radius, or spheres, are missing")));
                }
            };
            left = left.saturating_sub(balls.len() as u64);
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
        Ok((light, bodies, clouds))
    }
}

fn bad_file(path: &Path, message: String) -> Error {
    Error::BadFile { path: path.to_path_buf(), message }
}

fn color(path: &Path, place: &str, text: &str) -> Result<Color> {
    Color::from_hex(text).ok_or_else(|| {
        bad_file(path, format!("{place} is \"{}\": expected \"#rrggbb\", with six hexadecimal digits", quoted(text)))
    })
}

/// Reads the spheres of a sphere file, at most `most`. Their common centre is subtracted first, so that the error of rounding to f32 is
/// relative to the size of the set and not to its distance.
fn read_balls(cloud: &Path, most: u64) -> Result<Vec<Ball>> {
    let (table, middle) = crate::io::read::spheres::read_cloud(cloud, most)?;
    if table.records.is_empty() {
        return Err(bad_file(cloud, "the file contains no spheres".into()));
    }
    let ball = |sphere: &Sphere| Ball { center: sphere.center.as_dvec3() + middle, radius: f64::from(sphere.radius) };
    Ok(table.records.iter().map(ball).collect())
}
