//! Parser of system files: TOML, documented in `systems/README.md`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::DVec3;

use super::read::read_options::{Models, ReadOptions, UnknownAtoms};
use super::read::spheres::read_balls;
use super::schema::left_out::LeftOut;
use super::system_tables::{
    BodyTable, CameraKind, CameraTable, Colors, Ground, LightTable, ModelsWord, SpheresValue, SurfaceKind, SystemFile,
    UnknownAtomsValue, UnknownAtomsWord,
};
use super::texture::read_texture;
use super::toml_text::{parse, read_text};
use crate::error::bad_file;
use crate::error::{Error, Result};
use crate::escape::quoted;
use umbracast::shadow::Ball;
use umbracast::shadow::Color;
use umbracast::shadow::Lighting;
use umbracast::shadow::LimbDarkening;
use umbracast::shadow::SurfaceMap;
use umbracast::shadow::{Body, LightSource, MAX_BALLS, PictureOptions, System};
use umbracast::shadow::{Camera, Lens};

/// Units of length. Every length of a file, and the `t` of its picture, has the one unit of that file.
const UNITS: [&str; 9] = ["angstrom", "nm", "um", "mm", "m", "km", "mi", "au", "pc"];

/// Angular diameter of a distant light unless the file has another: that of the Sun, seen from the Earth.
const SUN_DIAMETER_DEG: f64 = 0.53;

/// Colour of the ground unless the file has another.
const GROUND_COLOR: &str = "#b8b4ac";

/// The system file `systems/planet.toml`: a banded planet and its moon, the default picture of `umbracast render`. [`parse_system`] parses it.
pub const PLANET: &str = include_str!("planet.toml");

/// The files that were read for a system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SystemFiles {
    /// The system file, then the sphere files and textures. Output must not overwrite them.
    pub paths: Vec<PathBuf>,
    /// What was left out of files of atoms.
    pub left_out: Vec<(PathBuf, LeftOut)>,
}

/// Reads the text of a system file, for [`parse_system`].
///
/// # Errors
/// [`Error::Io`] if the file cannot be read; [`Error::BadFile`] if it is not text, or has more than 1 MiB.
pub fn read_system_text(path: &Path) -> Result<String> {
    read_text(path, "system")
}

/// Reads a system file. Lengths stay in the unit of the file.
///
/// # Errors
/// [`Error::Io`] if it, or a sphere file that it names, cannot be read; [`Error::BadFile`] with the table, the key, the value and the
/// allowed values if it is invalid.
pub fn read_system(path: &Path) -> Result<System> {
    Ok(read_system_with_files(path)?.0)
}

/// Reads a system file. Also returns the files that were read.
///
/// # Errors
/// The errors of [`read_system`].
pub fn read_system_with_files(path: &Path) -> Result<(System, SystemFiles)> {
    let (system, mut files) = system_of(&read_text(path, "system")?, path)?;
    files.paths.insert(0, path.into());
    Ok((system, files))
}

/// Parses the text of a system file. Errors name `path`. Sphere files are found relative to its folder.
///
/// # Errors
/// The errors of [`read_system`].
pub fn parse_system(text: &str, path: &Path) -> Result<System> {
    Ok(system_of(text, path)?.0)
}

fn system_of(text: &str, path: &Path) -> Result<(System, SystemFiles)> {
    let file = SystemFile::parse(text, path)?;
    let scene = Scene::new(path, file.unit(), file.light, file.body, file.ground, file.camera.as_ref(), true)?;
    let table = file.picture;
    let defaults = PictureOptions::default();
    let transparent = table.background.as_deref() == Some("transparent");
    let background = table.background.filter(|_| !transparent);
    let picture = PictureOptions {
        size: table.size.unwrap_or(defaults.size),
        samples: table.samples.unwrap_or(defaults.samples),
        exposure: table.exposure.unwrap_or(defaults.exposure),
        ambient: table.ambient.unwrap_or(defaults.ambient),
        ambient_samples: table.ambient_samples.unwrap_or(defaults.ambient_samples),
        background: background.map_or(Ok(defaults.background), |c| color(path, "picture: background", &c))?,
        transparent,
        stars: table.stars.unwrap_or(defaults.stars),
    };
    let system = match file.camera {
        Some(camera) => System::new(scene.light, scene.bodies, camera_of(path, &camera)?, picture),
        None => System::framed(scene.light, scene.bodies, DVec3::Z, picture),
    };
    let system = system.map_err(|e| in_file(path, e))?;
    Ok((system.with_unit(file.unit.unwrap_or_default()), scene.files))
}

/// Reads the light and the shadow-casting bodies of a system file, which needs no camera. Also returns the files that were read.
///
/// # Errors
/// The errors of [`read_system`].
pub fn read_lighting_with_files(path: &Path) -> Result<(Lighting, SystemFiles)> {
    let (lighting, mut files) = lighting_of(&read_text(path, "system")?, path)?;
    files.paths.insert(0, path.into());
    Ok((lighting, files))
}

/// Parses the text of a system file. Errors name `path`. Sphere files are found relative to its folder.
///
/// # Errors
/// The errors of [`read_system`].
pub fn parse_lighting(text: &str, path: &Path) -> Result<Lighting> {
    Ok(lighting_of(text, path)?.0)
}

fn lighting_of(text: &str, path: &Path) -> Result<(Lighting, SystemFiles)> {
    let file = SystemFile::parse(text, path)?;
    let unit = file.unit();
    let scene = Scene::new(path, unit, file.light, file.body, file.ground, file.camera.as_ref(), false)?;
    let lighting = Lighting::of_bodies(&scene.light, &scene.bodies).map_err(|e| in_file(path, e))?;
    let lighting = match unit {
        Some(unit) => lighting.with_unit(unit),
        None => lighting,
    };
    Ok((lighting, scene.files))
}

impl SystemFile {
    /// The unit of all lengths.
    fn unit(&self) -> Option<&'static str> {
        UNITS.into_iter().find(|unit| self.unit.as_deref() == Some(unit))
    }

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
}

/// An error about a value, with the file that contains it.
fn in_file(path: &Path, error: umbracast::Error) -> Error {
    match error {
        umbracast::Error::InvalidArgument(message) => bad_file(path, message),
        other => other.into(),
    }
}

/// The light and the bodies of a file.
struct Scene {
    light: LightSource,
    /// The bodies. The last one may be the ground.
    bodies: Vec<Body>,
    /// The sphere files and textures.
    files: SystemFiles,
}

impl Scene {
    fn new(
        path: &Path,
        unit: Option<&'static str>,
        light: Option<LightTable>,
        tables: Vec<BodyTable>,
        ground: Option<Ground>,
        camera: Option<&CameraTable>,
        textures: bool,
    ) -> Result<Self> {
        let Some(light) = light else {
            return Err(bad_file(path, "the table [light] is missing: it needs center and radius, or direction"));
        };
        let (mut bodies, mut files) = (Vec::<Body>::new(), SystemFiles::default());
        let mut left = MAX_BALLS as u64;
        for (i, table) in tables.into_iter().enumerate() {
            let body = body_of(path, unit, i, table, &mut files, left, textures)?;
            left = left.saturating_sub(body.balls.len() as u64);
            bodies.push(body);
        }
        let light = light_of(path, light, &bodies)?;
        let ground = match ground {
            None | Some(Ground::Shown(false)) => None,
            Some(Ground::Shown(true)) => Some(GROUND_COLOR.into()),
            Some(Ground::Table(table)) => Some(table.color.unwrap_or_else(|| GROUND_COLOR.into())),
        };
        if let Some(ground) = ground {
            let up = camera.map_or(DVec3::Z, |camera| camera.up.into());
            bodies.push(Body::ground(&bodies, up, color(path, "ground: color", &ground)?));
        }
        Ok(Self { light, bodies, files })
    }
}

/// The law of a light.
fn limb_darkening(coefficients: &[f64]) -> umbracast::Result<LimbDarkening> {
    match coefficients {
        [u1, u2] => LimbDarkening::new(*u1, *u2),
        [u] => Err(umbracast::Error::InvalidArgument(format!(
            "light: limb_darkening is [{u}]: expected two coefficients, which for a linear law are [{u}, 0]"
        ))),
        more => Err(umbracast::Error::InvalidArgument(format!(
            "light: limb_darkening has {} coefficients: expected two",
            more.len()
        ))),
    }
}

/// The light of a file. A distant light has no position: it is placed far away from the bodies.
fn light_of(path: &Path, table: LightTable, bodies: &[Body]) -> Result<LightSource> {
    let bad = |message: String| Err(bad_file(path, message));
    let light = match (table.center, table.radius, table.direction) {
        (Some(center), Some(radius), None) => {
            if let Some(diameter) = table.diameter_deg {
                return bad(format!("light: diameter_deg is {diameter}: it is only for a light with direction"));
            }
            LightSource::new("light", Ball::new(center, radius))
        }
        (None, None, Some(direction)) => {
            let diameter = table.diameter_deg.unwrap_or(SUN_DIAMETER_DEG);
            LightSource::distant(bodies, DVec3::from_array(direction), diameter).map_err(|e| in_file(path, e))?
        }
        (None, None, None) => return bad("light: center and radius, or direction, are missing".into()),
        (None, Some(_), None) => return bad("light: center is missing".into()),
        (Some(_), None, None) => return bad("light: radius is missing".into()),
        (.., Some(_)) => return bad("light: a light with direction cannot have center or radius".into()),
    };
    Ok(LightSource {
        name: table.name.unwrap_or(light.name),
        color: table.color.map_or(Ok(light.color), |c| color(path, "light: color", &c))?,
        limb_darkening: table
            .limb_darkening
            .map(|coefficients| limb_darkening(&coefficients))
            .transpose()
            .map_err(|e| in_file(path, e))?,
        ..light
    })
}

/// A body of a file. `left` is the number of spheres that it may have. Its texture is read only if `textures`. The files that it names are
/// appended to `files`.
fn body_of(
    path: &Path,
    unit: Option<&'static str>,
    i: usize,
    table: BodyTable,
    files: &mut SystemFiles,
    left: u64,
    textures: bool,
) -> Result<Body> {
    let bad = |message: String| bad_file(path, message);
    let place =
        format!("body[{i}]{}", table.name.as_ref().map_or(String::new(), |name| format!(" '{}'", quoted(name))));
    let colors = match &table.color {
        None => vec![Color::from_hex("#b0b0b0").unwrap_or(Color::WHITE)],
        Some(Colors::One(one)) => vec![color(path, &format!("{place}: color"), one)?],
        Some(Colors::Bands(many)) => many
            .iter()
            .enumerate()
            .map(|(j, one)| color(path, &format!("{place}: color[{j}]"), one))
            .collect::<Result<_>>()?,
    };
    for (key, is_given) in [("models", table.models.is_some()), ("unknown_atoms", table.unknown_atoms.is_some())] {
        if is_given && !matches!(table.spheres, Some(SpheresValue::File(_))) {
            return Err(bad(format!("{place}: {key} is only for spheres of a file")));
        }
    }
    let (balls, sphere_colors) = match (&table.spheres, table.center, table.radius) {
        (Some(_), ..) if table.polar_radius.is_some() => {
            return Err(bad(format!("{place}: a body with spheres cannot have polar_radius")));
        }
        (None, Some(center), Some(radius)) => (vec![Ball::new(center, radius)], Vec::new()),
        (Some(SpheresValue::List(_)), None, Some(radius)) => {
            return Err(bad(format!("{place}: radius is {radius}: the spheres of a list have their own radii")));
        }
        (Some(SpheresValue::List(list)), None, None) => {
            if list.is_empty() {
                return Err(bad(format!("{place}: spheres is an empty list")));
            }
            (list.iter().map(|&[x, y, z, radius]| Ball::new([x, y, z], radius)).collect(), Vec::new())
        }
        (Some(SpheresValue::File(cloud)), None, radius) => {
            let cloud = path.parent().unwrap_or(Path::new("")).join(cloud);
            files.paths.push(cloud.clone());
            let models = match table.models {
                Some(ModelsWord::All) => Models::All,
                Some(ModelsWord::First) | None => Models::First,
            };
            let unknown_atoms = match table.unknown_atoms {
                Some(UnknownAtomsValue::Radius(radius)) => UnknownAtoms::Radius(radius),
                Some(UnknownAtomsValue::Word(UnknownAtomsWord::Error)) => UnknownAtoms::Refuse,
                Some(UnknownAtomsValue::Word(UnknownAtomsWord::Skip)) | None => UnknownAtoms::Skip,
            };
            let options = ReadOptions::default().sphere_radius(radius).unit(unit);
            let options = options.models(models).unknown_atoms(unknown_atoms);
            let (balls, colors, left_out) = read_balls(&cloud, left, &options)?;
            files.left_out.push((cloud, left_out));
            (balls, colors)
        }
        (Some(_), Some(_), _) => return Err(bad(format!("{place}: a body with spheres cannot have center"))),
        (None, Some(_), None) => return Err(bad(format!("{place}: radius is missing"))),
        (None, None, Some(_)) => return Err(bad(format!("{place}: center is missing"))),
        (None, None, None) => {
            return Err(bad(format!("{place}: either center and radius, or spheres, are missing")));
        }
    };
    let map = match (table.texture, table.surface) {
        (None, None) => None,
        (Some(_), Some(_)) => return Err(bad(format!("{place}: a body cannot have both texture and surface"))),
        _ if table.color.is_some() => {
            return Err(bad(format!("{place}: a body with texture or surface cannot have color")));
        }
        (None, Some(SurfaceKind::Earth)) => Some(umbracast_sky::earth_map()),
        (Some(texture), None) => {
            let file = path.parent().unwrap_or(Path::new("")).join(texture);
            let texture = textures.then(|| read_texture(&file, &format!("texture of {place} in {}", path.display())));
            files.paths.push(file);
            texture.transpose()?.map(|texture| SurfaceMap::Texture(Arc::new(texture)))
        }
    };
    Ok(Body {
        map,
        graticule: table.graticule,
        meridian: table.meridian.map(DVec3::from_array),
        visible: table.visible.unwrap_or(true),
        // A colour in the table replaces those of the file.
        sphere_colors: if table.color.is_none() { sphere_colors } else { Vec::new() },
        pole: table.pole.map_or(DVec3::Z, DVec3::from_array),
        polar_radius: table.polar_radius,
        swirl: table.swirl.unwrap_or(0.0),
        casts: table.casts.unwrap_or(true),
        receives: table.receives.unwrap_or(true),
        ..Body::new(table.name.unwrap_or_else(|| "body".into()), balls, colors)
    })
}

fn camera_of(path: &Path, camera: &CameraTable) -> Result<Camera> {
    let lens = match (&camera.kind, camera.field_of_view_deg, camera.width) {
        (None | Some(CameraKind::Perspective), Some(field_of_view_deg), None) => {
            Lens::Perspective { field_of_view_deg }
        }
        (None | Some(CameraKind::Orthographic), None, Some(width)) => Lens::Orthographic { width },
        (None, Some(_), Some(_)) => {
            return Err(bad_file(path, "camera: only one of field_of_view_deg and width is allowed"));
        }
        (None, ..) => return Err(bad_file(path, "camera: either field_of_view_deg or width is needed")),
        (Some(CameraKind::Perspective), ..) => {
            let why = "camera: kind \"perspective\" needs field_of_view_deg and does not allow width";
            return Err(bad_file(path, why));
        }
        (Some(CameraKind::Orthographic), ..) => {
            let why = "camera: kind \"orthographic\" needs width and does not allow field_of_view_deg";
            return Err(bad_file(path, why));
        }
    };
    Ok(Camera { position: camera.position.into(), target: camera.target.into(), up: camera.up.into(), lens })
}

fn color(path: &Path, place: &str, text: &str) -> Result<Color> {
    let other = if place.ends_with("background") { ", or \"transparent\"" } else { "" };
    Color::from_hex(text).ok_or_else(|| {
        bad_file(
            path,
            format!("{place} is \"{}\": expected \"#rrggbb\", with six hexadecimal digits{other}", quoted(text)),
        )
    })
}
