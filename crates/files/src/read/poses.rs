//! Reader of pose tables for a sensor.

use std::path::{Path, PathBuf};

use glam::{DQuat, DVec3};

use super::input::check_regular;
use super::read_options::ReadOptions;
use super::table::OpenTable;
use crate::error::Result;
use crate::error::bad_file;
use crate::escape::quoted;
use crate::schema::kept::KeptColumns;
use crate::schema::kinds::POSES;
use crate::schema::rounding::{Role, Rounding};
use umbracast::OnBad;
use umbracast::memory::{try_push, try_reserve};
use umbracast::raygen::Pose;

/// Poses, and how rounding to f32 will change their positions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PoseTable {
    /// The poses, in the order of the file.
    pub poses: Vec<Pose>,
    /// Rounding of the positions. Rotations are directions and are not counted.
    pub rounding: Rounding,
    /// The columns that are kept as text, one row per pose.
    pub kept: KeptColumns,
}

impl PoseTable {
    /// Appends a pose. `origin` is subtracted from its position in f64.
    ///
    /// # Errors
    /// [`TooLarge`](umbracast::Error::TooLarge) and [`OutOfMemory`](umbracast::Error::OutOfMemory) if there is not enough memory.
    pub fn push(&mut self, position: DVec3, rotation: DQuat, origin: DVec3) -> Result<()> {
        let position = position - origin;
        for (axis, wide) in position.to_array().into_iter().enumerate() {
            self.rounding.note(POSES.fields[axis], Role::Position(axis), wide, wide as f32);
        }
        Ok(try_push("poses", &mut self.poses, Pose { position, rotation })?)
    }
}

/// An open table of poses with a checked header. No pose has been read yet.
#[derive(Debug)]
pub(crate) struct PoseFile {
    path: PathBuf,
    source: OpenTable,
}

/// Reads poses: positions and unit quaternions, in f64. `origin` is subtracted from the positions.
///
/// With [`OnBad::Skip`], invalid poses are kept, and the query skips them.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) if the file cannot be read, [`Error::BadFile`](crate::Error::BadFile) if it cannot be parsed or contains
/// an invalid pose, [`TooLarge`](umbracast::Error::TooLarge) and [`OutOfMemory`](umbracast::Error::OutOfMemory) if the poses do not fit
/// into memory.
pub fn read_poses(path: &Path, origin: DVec3, on_bad: OnBad) -> Result<PoseTable> {
    PoseFile::open(path, &ReadOptions::default())?.read(origin, on_bad)
}

impl PoseFile {
    pub(crate) fn open(path: &Path, options: &ReadOptions) -> Result<Self> {
        // Checked before opening: a sensor file may name neither a pipe nor a device.
        check_regular(path)?;
        Ok(Self { path: path.into(), source: OpenTable::open_with(path, &POSES, options)? })
    }

    /// Names of the columns that are kept as text.
    pub(crate) fn kept(&self) -> &[String] {
        self.source.kept()
    }

    pub(crate) fn read(self, origin: DVec3, on_bad: OnBad) -> Result<PoseTable> {
        let Self { path, source } = self;
        let mut table = PoseTable { kept: KeptColumns::new(source.kept().to_vec()), ..PoseTable::default() };
        try_reserve("poses", &mut table.poses, source.rows().unwrap_or(0))?;
        source.read(&mut |row| {
            let [x, y, z, qw, qx, qy, qz] = std::array::from_fn(|field| row.numbers[field].wide);
            table.push(DVec3::new(x, y, z), DQuat::from_xyzw(qx, qy, qz, qw), origin)?;
            row.kept.iter().for_each(|cell| table.kept.push(cell));
            let Some(pose) = table.poses.last().filter(|_| on_bad == OnBad::Refuse) else { return Ok(()) };
            pose.check(0).map_err(|error| match error {
                umbracast::Error::BadRecord { field, value, why, .. } => {
                    bad_file(&path, format!("{}: {field} is {}: {why}", row.place.describe(&path), quoted(&value)))
                }
                other => other.into(),
            })
        })?;
        Ok(table)
    }
}
