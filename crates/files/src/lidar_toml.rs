//! Parser of sensor files: TOML, documented in `systems/README.md`.

use std::path::{Path, PathBuf};

use glam::{DQuat, DVec3};
use serde::Deserialize;

use super::read::csv::number;
use super::read::poses::{PoseFile, PoseTable};
use super::read::read_options::ReadOptions;
use super::schema::columns::time_column;
use super::schema::kept::KeptColumns;
use super::schema::kinds::TIME;
use super::schema::rounding::{Role, Rounding};
use super::toml_text::{parse, read_text};
use crate::error::bad_file;
use crate::error::{Error, Result};
use crate::escape::quoted;
use umbracast::OnBad;
use umbracast::raygen::{Lidar, linspace};

/// Maximum number of angles in a range given by its two ends.
const MOST_STEPS: u64 = 1 << 20;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    elevations_deg: Option<Angles>,
    azimuths_deg: Option<Angles>,
    #[serde(default = "everything")]
    range: [f64; 2],
    #[serde(default = "here")]
    poses: Poses,
}

fn everything() -> [f64; 2] {
    [0.0, f64::INFINITY]
}

/// One pose at the origin, without rotation.
fn here() -> Poses {
    Poses::Inline(vec![vec![0.0; 3]])
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a list of angles, { from, to, count } or { from, through, count }")]
enum Angles {
    List(Vec<f64>),
    Steps(Steps),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Steps {
    from: f64,
    to: Option<f64>,
    through: Option<f64>,
    count: u64,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a file name, or a list of [x, y, z] or [x, y, z, qw, qx, qy, qz]")]
enum Poses {
    File(PathBuf),
    Inline(Vec<Vec<f64>>),
}

/// A parsed sensor file. If it names a pose table, only the header of that is read yet.
#[derive(Debug)]
pub struct LidarFile {
    path: PathBuf,
    tables: Tables,
    poses: Option<PoseFile>,
}

/// A sensor, as its files describe it.
#[derive(Debug)]
pub struct LidarInput {
    /// The sensor.
    pub sensor: Lidar,
    /// How rounding to f32 changed its positions.
    pub rounding: Rounding,
    /// The columns of its pose table that are kept as text, one row per pose.
    pub kept: KeptColumns,
}

impl LidarInput {
    /// The times of the poses in seconds, from their kept column `time`; `None` without it. Their rounding joins that of the positions. With
    /// [`OnBad::Skip`], those that are empty or not finite are kept, and the query skips their rays. An error is the reason.
    pub fn times(&mut self, on_bad: OnBad) -> Result<Option<Vec<f32>>, String> {
        let names: Vec<&str> = self.kept.names().iter().map(String::as_str).collect();
        let Some(column) = time_column(&names)? else { return Ok(None) };
        let mut times = Vec::with_capacity(self.kept.rows());
        for row in 0..self.kept.rows() {
            let cell = self.kept.cell(row, column).trim();
            let found = number(if cell.is_empty() { "nan" } else { cell })
                .filter(|time| time.narrow.is_finite() || on_bad == OnBad::Skip)
                .ok_or_else(|| {
                    format!("row {} (index {row}): {TIME} is '{}': expected a finite number", row + 1, quoted(cell))
                })?;
            self.rounding.note(TIME, Role::Travel, found.wide, found.narrow);
            times.push(found.narrow);
        }
        Ok(Some(times))
    }
}

impl LidarFile {
    /// Reads and parses the file, and the header of the pose table that it names. `options` are those of the pose table.
    ///
    /// # Errors
    /// [`Error::Io`] if a file cannot be read, [`Error::BadFile`] if it cannot be parsed.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self> {
        let tables: Tables = parse(&read_text(path, "sensor")?, path)?;
        let angles = [("elevations_deg", &tables.elevations_deg), ("azimuths_deg", &tables.azimuths_deg)];
        if let Some((name, _)) = angles.into_iter().find(|(_, angles)| angles.is_none()) {
            return Err(missing(path, name));
        }
        let mut file = Self { path: path.into(), tables, poses: None };
        file.poses = file.poses().map(|poses| PoseFile::open(&poses, options)).transpose()?;
        Ok(file)
    }

    /// Names of the columns of the pose table that are kept as text.
    pub fn kept(&self) -> &[String] {
        self.poses.as_ref().map_or(&[], PoseFile::kept)
    }

    /// Path of the pose table that the file names, relative to the folder of the sensor file.
    pub fn poses(&self) -> Option<PathBuf> {
        match &self.tables.poses {
            Poses::File(name) => Some(self.path.parent().unwrap_or(Path::new("")).join(name)),
            Poses::Inline(_) => None,
        }
    }

    /// The elevations and the azimuths in degrees, in the order of the rays.
    ///
    /// # Errors
    /// [`Error::BadFile`] with the key.
    pub fn angles(&self) -> Result<(Vec<f64>, Vec<f64>)> {
        let list = |name: &str, angles: &Option<Angles>| match angles {
            Some(angles) => angles.list().map_err(|why| bad_file(&self.path, format!("{name}: {why}"))),
            None => Err(missing(&self.path, name)),
        };
        let elevations = list("elevations_deg", &self.tables.elevations_deg)?;
        Ok((elevations, list("azimuths_deg", &self.tables.azimuths_deg)?))
    }

    /// Reads the positions of the poses, which are not rounded.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    pub fn positions(mut self) -> Result<Vec<DVec3>> {
        Ok(self.table(DVec3::ZERO, OnBad::Skip)?.poses.into_iter().map(|pose| pose.position).collect())
    }

    /// Reads the poses and returns the sensor. `origin` is subtracted from the positions in f64.
    ///
    /// With [`OnBad::Skip`], invalid poses are kept, and the query skips them.
    ///
    /// # Errors
    /// [`Error::BadFile`] with the key, the position and the invalid value; the errors of [`read_poses`](super::read_poses).
    pub fn read(mut self, origin: DVec3, on_bad: OnBad) -> Result<LidarInput> {
        let (elevations, azimuths) = self.angles()?;
        let table = self.table(origin, on_bad)?;
        let bad = |message: String| bad_file(&self.path, message);
        let Tables { range: [near, far], .. } = &self.tables;
        for end in [near, far] {
            if end.is_finite() && (*end as f32).is_infinite() {
                return Err(bad(format!("range: {end:e} exceeds the largest f32, 3.4e38")));
            }
        }
        let sensor = Lidar::new(&table.poses, &elevations, &azimuths)
            .and_then(|sensor| sensor.within(*near as f32, *far as f32))
            .map_err(|error| match &error {
                umbracast::Error::BadRecord { what, index, .. } => {
                    bad(placed(&error, &format!("{what}s_deg[{index}]")))
                }
                umbracast::Error::InvalidArgument(why) => bad(why.clone()),
                _ => error.into(),
            })?;
        Ok(LidarInput { sensor, rounding: table.rounding, kept: table.kept })
    }

    fn table(&mut self, origin: DVec3, on_bad: OnBad) -> Result<PoseTable> {
        let bad = |message: String| bad_file(&self.path, message);
        let rows = match (self.poses.take(), &self.tables.poses) {
            (Some(file), _) => return file.read(origin, on_bad),
            (None, Poses::Inline(rows)) => rows,
            // Not reachable: a pose table was opened.
            (None, Poses::File(_)) => return Ok(PoseTable::default()),
        };
        let mut table = PoseTable::default();
        for (i, row) in rows.iter().enumerate() {
            let rotation = match row[..] {
                [_, _, _] => DQuat::IDENTITY,
                [_, _, _, qw, qx, qy, qz] => DQuat::from_xyzw(qx, qy, qz, qw),
                _ => {
                    return Err(bad(format!(
                        "poses[{i}]: found {} numbers, expected 3 (x, y, z) or 7 (x, y, z, qw, qx, qy, qz)",
                        row.len()
                    )));
                }
            };
            table.push(DVec3::new(row[0], row[1], row[2]), rotation, origin)?;
        }
        if on_bad == OnBad::Refuse {
            for (i, pose) in table.poses.iter().enumerate() {
                pose.check(0).map_err(|e| bad(placed(&e, &format!("poses[{i}]"))))?;
            }
        }
        Ok(table)
    }
}

fn missing(path: &Path, name: &str) -> Error {
    bad_file(path, format!("{name} is missing: a sensor file needs elevations_deg and azimuths_deg"))
}

/// Text of an error about a record, with its position in the file.
fn placed(error: &umbracast::Error, place: &str) -> String {
    match error {
        umbracast::Error::BadRecord { field: "deg", value, why, .. } => format!("{place} is {value}: {why}"),
        umbracast::Error::BadRecord { field, value, why, .. } => format!("{place}: {field} is {value}: {why}"),
        other => other.to_string(),
    }
}

impl Angles {
    fn list(&self) -> std::result::Result<Vec<f64>, String> {
        let Steps { from, to, through, count } = match self {
            Self::List(list) => return Ok(list.clone()),
            Self::Steps(steps) => steps,
        };
        if !(1..=MOST_STEPS).contains(count) {
            return Err(format!("count is {count}: it must be between 1 and {MOST_STEPS}"));
        }
        for (name, value) in [("from", Some(from)), ("to", to.as_ref()), ("through", through.as_ref())] {
            if let Some(value) = value.filter(|value| !value.is_finite()) {
                return Err(format!("{name} is {value}: an angle must be finite"));
            }
        }
        let count = *count as usize;
        match (to, through) {
            (Some(to), None) => Ok(linspace(*from, *to, count).collect()),
            (None, Some(through)) if count > 1 => {
                let step = (through - from) / (count - 1) as f64;
                let before = (0..count - 1).map(|i| from + step * i as f64);
                // Rounding must not exceed an end of 90°.
                Ok(before.chain([*through]).collect())
            }
            (None, Some(through)) if through == from => Ok(vec![*from]),
            (None, Some(_)) => Err("count is 1: it must be at least 2 if 'from' and 'through' differ".into()),
            _ => Err("expected either 'to' (excluded) or 'through' (included)".into()),
        }
    }
}
