//! Sources of the rays of a cast: a file of rays or segments, points with a target or a direction, or a sensor. All are read in batches.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use umbracast::glam::{DVec3, Vec3};
use umbracast::raygen::{Parallel, Toward};
use umbracast::{CancelToken, NO_SPHERE, OnBad, Rays, Segments};
use umbracast_files::{
    Batched, FromColumn, KeptColumns, LeftOut, LidarFile, LidarInput, OptionalColumns, RayBatch, RayBatches, RayFile,
    ReadOptions, Role, Rounding, is_pipe,
};

use super::args::{Given, numbers};

/// The source of the rays, as given on the command line.
#[derive(Clone, Debug)]
pub(crate) enum RayInputOptions<'a> {
    /// A file of rays.
    Rays(&'a Path),
    /// A file of segments.
    Segments(&'a Path),
    /// Rays that start at the points of a file, on the spheres of a column.
    Points(&'a Path, DirectionSpec, FromColumn),
    /// A sensor file.
    Sensor(&'a Path),
}

/// The end points of a segment.
type Ends = [[f32; 3]; 2];

/// Target or direction of the rays from points, as given on the command line.
#[derive(Clone, Debug)]
pub(crate) enum DirectionSpec {
    /// All rays have this direction.
    Parallel([f32; 3]),
    /// All rays end at a point, or before a sphere with this radius.
    Toward { target: [Given; 3], radius: f32 },
}

/// Parser of `--parallel`.
pub(crate) fn parallel(text: &str) -> Result<DirectionSpec, String> {
    let given = numbers(text, "dx,dy,dz", &[3])?;
    let direction = [0, 1, 2].map(|i| given[i].narrow);
    if let Some((i, value)) = direction.into_iter().enumerate().find(|(_, value)| !value.is_finite()) {
        return Err(format!("{} is {value}: a direction must be finite", ["dx", "dy", "dz"][i]));
    }
    if direction == [0.0; 3] {
        return Err("a direction must not be zero".into());
    }
    Ok(DirectionSpec::Parallel(direction))
}

/// Parser of `--toward`.
pub(crate) fn toward(text: &str) -> Result<DirectionSpec, String> {
    let given = numbers(text, "x,y,z[,r]", &[3, 4])?;
    if let Some(i) = given.iter().position(|number| !number.narrow.is_finite()) {
        return Err(format!("{} is {}: a target must be finite", ["x", "y", "z", "r"][i], given[i].narrow));
    }
    let radius = given.get(3).map_or(0.0, |r| r.narrow);
    if radius < 0.0 {
        return Err(format!("r is {radius}: a radius must not be negative"));
    }
    Ok(DirectionSpec::Toward { target: [given[0], given[1], given[2]], radius })
}

/// Sources whose files have been opened and whose formats have been checked.
pub(crate) enum Opened {
    Rays(RayFile),
    Segments(RayFile<Ends>),
    Points(RayFile<[f32; 3]>, DirectionSpec),
    Sensor(LidarFile),
}

impl RayInputOptions<'_> {
    /// Adds the path and the row of a record to an error.
    pub(crate) fn placed(&self, error: impl Into<Error>) -> Error {
        match self {
            Self::Points(path, _, FromColumn::Named(name)) => match error.into() {
                Error::Umbracast(umbracast::Error::BadRecord { index, field: "from_id", value, why, .. }) => {
                    Error::bad_file(path, of_row(index, name, &value, &why))
                }
                other => placed(path, other),
            },
            Self::Rays(path) | Self::Segments(path) | Self::Points(path, ..) => placed(path, error),
            Self::Sensor(path) => match error.into() {
                Error::Umbracast(ray @ umbracast::Error::BadRecord { .. }) => Error::bad_file(path, ray.to_string()),
                other => other,
            },
        }
    }

    /// The same source without a column of the spheres on which rays start.
    pub(crate) fn free(&self) -> Self {
        match self.clone() {
            Self::Points(path, direction_spec, _) => Self::Points(path, direction_spec, FromColumn::None),
            other => other,
        }
    }

    /// The file of rays, points or segments, or the sensor file.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Rays(path) | Self::Segments(path) | Self::Points(path, ..) | Self::Sensor(path) => path,
        }
    }

    /// Opens the files. Also returns the paths of all input files.
    pub(crate) fn open(&self, options: &ReadOptions) -> Result<(Opened, Vec<PathBuf>)> {
        Ok(match self {
            Self::Rays(path) => (Opened::Rays(RayFile::open_with(path, options)?), vec![path.into()]),
            Self::Segments(path) => (Opened::Segments(RayFile::open_with(path, options)?), vec![path.into()]),
            Self::Points(path, direction_spec, from) => {
                (Opened::Points(RayFile::open_starts(path, options, from)?, direction_spec.clone()), vec![path.into()])
            }
            Self::Sensor(path) => {
                let file = LidarFile::open(path, options)?;
                let paths = [Some(path.into()), file.poses()].into_iter().flatten().collect();
                (Opened::Sensor(file), paths)
            }
        })
    }
}

impl RayInputOptions<'_> {
    /// Starts of the first batch of rays, or of all rays of a sensor. Empty for a pipe, which cannot be read twice.
    pub(crate) fn starts(&self, options: &ReadOptions) -> Result<Vec<DVec3>> {
        if is_pipe(self.path()) {
            return Ok(Vec::new());
        }
        let starts = match self.open(options)?.0 {
            Opened::Rays(file) => file.starts(),
            Opened::Segments(file) => file.starts(),
            Opened::Points(file, _) => file.starts(),
            Opened::Sensor(file) => file.positions(),
        };
        Ok(sample(&starts?))
    }
}

/// Starts of the first records of a file, for `--origin auto`. Empty for a pipe, which cannot be read twice.
pub(crate) fn first_starts<T: Batched>(path: &Path, options: &ReadOptions) -> Result<Vec<DVec3>> {
    Ok(if is_pipe(path) { Vec::new() } else { sample(&RayFile::<T>::open_with(path, options)?.starts()?) })
}

/// About 1,024 starts, evenly spaced, as in Python.
fn sample(starts: &[DVec3]) -> Vec<DVec3> {
    starts.iter().copied().step_by(starts.len().div_ceil(1024).max(1)).collect()
}

impl Opened {
    /// Number of rays, if the file states it.
    pub(crate) fn rays(&self) -> Option<u64> {
        match self {
            Self::Rays(file) => file.rays(),
            Self::Segments(file) => file.rays(),
            Self::Points(file, ..) => file.rays(),
            Self::Sensor(_) => None,
        }
    }

    /// Names of the columns that are kept as text.
    pub(crate) fn kept(&self) -> &[String] {
        match self {
            Self::Rays(file) => file.kept(),
            Self::Segments(file) => file.kept(),
            Self::Points(file, ..) => file.kept(),
            Self::Sensor(file) => file.kept(),
        }
    }

    /// Name of the column of the spheres on whose surfaces the rays start.
    pub(crate) fn start_column(&self) -> Option<&'static str> {
        match self {
            Self::Points(file, ..) => file.start_column(),
            _ => None,
        }
    }

    /// The angles of a sensor; `None` for files.
    pub(crate) fn angles(&self) -> Result<Option<SensorAngles>> {
        let Self::Sensor(file) = self else { return Ok(None) };
        let (elevations, azimuths_deg) = file.angles()?;
        Ok(Some(SensorAngles { rings: elevations.len() as u64, azimuths_deg }))
    }

    /// Starts to read the rays.
    pub(crate) fn read(self, origin: DVec3, on_bad: OnBad) -> Result<RayInput> {
        Ok(match self {
            Self::Rays(file) => RayInput::Rays(file.read(origin, on_bad)?, RayBatch::default()),
            Self::Segments(file) => RayInput::Segments {
                batches: file.read(origin, on_bad)?,
                batch: RayBatch::default(),
                segments: Segments::default(),
            },
            Self::Points(file, direction_spec) => {
                let (direction_spec, rounding) = direction_spec.from(origin);
                RayInput::Points {
                    batches: file.read(origin, on_bad)?,
                    batch: RayBatch::default(),
                    direction_spec,
                    rounding,
                }
            }
            Self::Sensor(file) => {
                let (optional, kept) = (OptionalColumns::default(), KeptColumns::default());
                RayInput::Sensor { input: file.read(origin, on_bad)?, now: 0..0, kept, times: Vec::new(), optional }
            }
        })
    }
}

/// The angles of a sensor: the number of elevations, and the azimuths.
pub(crate) struct SensorAngles {
    rings: u64,
    azimuths_deg: Vec<f64>,
}

impl SensorAngles {
    /// The channel of a ray. Rays are ordered by pose, then elevation, then azimuth.
    pub(crate) fn channel(&self, ray: u64) -> Channel {
        let columns = self.azimuths_deg.len() as u64;
        let rows = ray / columns;
        Channel {
            pose: (rows / self.rings) as u32,
            ring: (rows % self.rings) as u32,
            azimuth_deg: self.azimuths_deg[(ray % columns) as usize] as f32,
        }
    }
}

/// The channel of a sensor's ray: the indices of its pose and its elevation, and its azimuth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Channel {
    pub(crate) pose: u32,
    pub(crate) ring: u32,
    pub(crate) azimuth_deg: f32,
}

/// Target or direction of the rays from points, in f32 relative to the origin.
pub(crate) enum ResolvedDirection {
    Parallel([f32; 3]),
    Toward([f32; 3], f32),
}

impl DirectionSpec {
    /// Subtracts the origin. Also returns the rounding of the target.
    fn from(self, origin: DVec3) -> (ResolvedDirection, Rounding) {
        let mut rounding = Rounding::default();
        match self {
            Self::Parallel(direction) => (ResolvedDirection::Parallel(direction), rounding),
            Self::Toward { target, radius } => {
                let mut axis = |k: usize, given: Given, origin: f64| {
                    let wide = given.wide - origin;
                    // Without an origin, the text is rounded to f32 directly.
                    let narrow = if origin == 0.0 { given.narrow } else { wide as f32 };
                    rounding.note("--toward", Role::Position(k), wide, narrow);
                    narrow
                };
                let [x, y, z] = target;
                let target = [axis(0, x, origin.x), axis(1, y, origin.y), axis(2, z, origin.z)];
                (ResolvedDirection::Toward(target, radius), rounding)
            }
        }
    }
}

/// A stream of rays in batches.
pub(crate) enum RayInput {
    Rays(RayBatches, RayBatch),
    Segments {
        batches: RayBatches<Ends>,
        batch: RayBatch<Ends>,
        segments: Segments,
    },
    Points {
        batches: RayBatches<[f32; 3]>,
        batch: RayBatch<[f32; 3]>,
        direction_spec: ResolvedDirection,
        rounding: Rounding,
    },
    Sensor {
        input: LidarInput,
        now: Range<usize>,
        /// The kept columns of the rays of the current batch.
        kept: KeptColumns,
        /// The time of each pose, and those of the rays of the current batch; without the former there are none.
        times: Vec<f32>,
        optional: OptionalColumns,
    },
}

impl RayInput {
    /// Reads the next batch. False at the end.
    pub(crate) fn next(&mut self, watch: &CancelToken) -> Result<bool> {
        match self {
            Self::Rays(batches, batch) => Ok(batches.next(batch, watch)?),
            Self::Segments { batches, batch, segments } => {
                let more = batches.next(batch, watch)?;
                *segments = Segments::new(batch.records.iter().copied());
                Ok(more)
            }
            Self::Points { batches, batch, .. } => Ok(batches.next(batch, watch)?),
            Self::Sensor { input, now, kept, times, optional } => {
                let end = Rays::from(&input.sensor).len();
                *now = now.end..end.min(now.end + RayBatches::BATCH);
                let rays_per_pose = end / input.kept.rows().max(1);
                *kept = input.kept.select(now.clone().map(|ray| ray / rays_per_pose));
                if !times.is_empty() {
                    optional.times = Some(now.clone().map(|ray| times[ray / rays_per_pose]).collect());
                }
                Ok(now.start < now.end)
            }
        }
    }

    /// Takes the times of a sensor's rays, which see moving spheres, from the column `time` of its poses. False if a sensor has no such
    /// column. `path` is the table of poses.
    pub(crate) fn use_pose_times(&mut self, path: &Path, on_bad: OnBad) -> Result<bool> {
        let Self::Sensor { input, times, .. } = self else { return Ok(true) };
        let found = input.times(on_bad).map_err(|why| Error::bad_file(path, why))?;
        Ok(found.map(|found| *times = found).is_some())
    }

    /// The current batch. Its first ray has the number `first` among all rays.
    pub(crate) fn rays(&self, first: u64) -> Rays<'_> {
        let rays: Rays<'_> = match self {
            Self::Rays(_, RayBatch { records, optional, .. }) => optional.rays(records.into()),
            Self::Segments { batch, segments, .. } => batch.optional.rays(segments.into()),
            Self::Points {
                batch: RayBatch { records: points, optional, .. },
                direction_spec: ResolvedDirection::Parallel(direction),
                ..
            } => optional.rays((&Parallel { points, direction: *direction }).into()),
            Self::Points {
                batch: RayBatch { records: points, optional, .. },
                direction_spec: ResolvedDirection::Toward(target, radius),
                ..
            } => optional.rays((&Toward { points, target: *target, radius: *radius }).into()),
            Self::Sensor { input, now, optional, .. } => optional.rays(Rays::from(&input.sensor).slice(now.clone())),
        };
        rays.numbered_from(first)
    }

    /// The start of ray `i` of the current batch, its change by rounding, and the id of the sphere that it skips or starts on.
    pub(crate) fn start(&self, batch: Rays<'_>, i: usize) -> Option<(Vec3, [f64; 3], u32)> {
        let start = batch.ray(i)?.origin;
        let optional = self.optional();
        let skipped = optional.from_ids.as_ref().or(optional.skip_ids.as_ref());
        Some((start, self.rounding().change_of(start), skipped.map_or(NO_SPHERE, |ids| ids[i])))
    }

    /// The columns of the current batch that are kept as text; `None` if there are none.
    pub(crate) fn kept(&self) -> Option<&KeptColumns> {
        let kept = match self {
            Self::Rays(_, batch) => &batch.kept,
            Self::Segments { batch, .. } => &batch.kept,
            Self::Points { batch, .. } => &batch.kept,
            Self::Sensor { kept, .. } => kept,
        };
        (!kept.names().is_empty()).then_some(kept)
    }

    /// The optional columns of the current batch.
    pub(crate) fn optional(&self) -> &OptionalColumns {
        match self {
            Self::Rays(_, batch) => &batch.optional,
            Self::Segments { batch, .. } => &batch.optional,
            Self::Points { batch, .. } => &batch.optional,
            Self::Sensor { optional, .. } => optional,
        }
    }

    /// A warning about the poses of a sensor.
    pub(crate) fn warning(&self) -> Option<String> {
        if let Self::Sensor { input, .. } = self { input.sensor.warning() } else { None }
    }

    /// Number of rays of a sensor; `None` for files.
    pub(crate) fn made(&self) -> Option<u64> {
        if matches!(self, Self::Sensor { .. }) { self.at_most() } else { None }
    }

    /// Upper bound of the number of rays; `None` for a pipe.
    pub(crate) fn at_most(&self) -> Option<u64> {
        match self {
            Self::Rays(batches, _) => batches.at_most(),
            Self::Segments { batches, .. } => batches.at_most(),
            Self::Points { batches, .. } => batches.at_most(),
            Self::Sensor { input, .. } => Some(Rays::from(&input.sensor).len() as u64),
        }
    }

    /// Estimate of the total number of rays, as a function that another thread can call.
    pub(crate) fn expected(&self) -> Box<dyn Fn() -> Option<u64> + Send> {
        match self {
            Self::Rays(batches, _) => Box::new(batches.expected()),
            Self::Segments { batches, .. } => Box::new(batches.expected()),
            Self::Points { batches, .. } => Box::new(batches.expected()),
            Self::Sensor { .. } => {
                let all = self.at_most();
                Box::new(move || all)
            }
        }
    }

    /// What was left out of points.
    pub(crate) fn left_out(&self) -> LeftOut {
        match self {
            Self::Points { batches, .. } => batches.left_out().clone(),
            _ => LeftOut::default(),
        }
    }

    /// Rounding to f32 so far.
    pub(crate) fn rounding(&self) -> Rounding {
        match self {
            Self::Rays(batches, _) => batches.rounding(),
            Self::Segments { batches, .. } => batches.rounding(),
            Self::Points { batches, rounding, .. } => {
                let mut sum = *rounding;
                sum += batches.rounding();
                sum
            }
            Self::Sensor { input, .. } => input.rounding,
        }
    }
}

/// Adds the path and the row to an error about a ray, a point or a bullet.
pub(crate) fn placed(path: &Path, error: impl Into<Error>) -> Error {
    match error.into() {
        Error::Umbracast(umbracast::Error::BadRecord {
            what: "bullet" | "point" | "ray",
            index,
            field,
            value,
            why,
        }) => Error::bad_file(path, of_row(index, field, &value, &why)),
        other => other,
    }
}

fn of_row(index: u64, field: &str, value: &str, why: &str) -> String {
    format!("row {} (index {index}): {field} is {value}: {why}", index + 1)
}
