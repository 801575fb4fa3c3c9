//! Ray generator for spinning and flash LiDAR sensors: poses × elevations × azimuths.

use glam::{DQuat, DVec3};

use super::grid::{Grid, SensorPose, round_to_f32};
use crate::error::{Error, Result};
use crate::query::validate::usage;
use crate::runtime::memory::{try_push, try_reserve};

/// Position and orientation of a sensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Position of the sensor; finite, and within the range of f32.
    pub position: DVec3,
    /// Rotation from the sensor's axes to the world's: a quaternion of length 0.9 to 1.1. It is normalised.
    pub rotation: DQuat,
}

/// The rays of a sensor, ordered by pose, then by elevation (channel), then by azimuth.
///
/// The axes of a sensor are x forward, y to the left and z up, as in ISO 8855 and ROS. Azimuths rotate from x towards y, elevations rise
/// from the xy plane towards z. Directions have unit length within 8 units in the last place of f32, so `t` is in the unit of the
/// positions.
///
/// For a sensor that moves while it rotates, pass one pose per azimuth, and a single azimuth of 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Lidar {
    pub(crate) grid: Grid,
    /// Number of poses whose quaternion is off length 1 by more than rounding, and the index and length of the worst.
    normalised: (usize, usize, f64),
}

/// A quaternion whose length differs from 1 by more was not rounded, but shortened to a few digits, or is no rotation.
const ROUNDING: f64 = 1e-4;
/// A quaternion whose length differs from 1 by more is no rotation.
const MOST_OFF: f64 = 0.1;

impl Lidar {
    /// A sensor from tables of angles in degrees. The range of `t` is `[0, ∞)`.
    ///
    /// An invalid pose is not an error here. The query reports it, or skips its rays.
    ///
    /// # Errors
    /// [`Error::BadRecord`] with the index and the value of an angle that is not finite, or of an elevation outside −90…90;
    /// [`Error::InvalidArgument`] if a table is empty, or for more than 2³⁰ rays per pose; [`Error::TooLarge`] and [`Error::OutOfMemory`] if
    /// memory for the poses cannot be allocated.
    pub fn new(poses: &[Pose], elevations_deg: &[f64], azimuths_deg: &[f64]) -> Result<Self> {
        for (name, table) in [("elevations", elevations_deg), ("azimuths", azimuths_deg)] {
            if table.is_empty() {
                return usage(format!("sensor: the list of {name} is empty: it needs at least one angle"));
            }
        }
        for (what, table, most, why) in [
            ("elevation", elevations_deg, 90.0, "an elevation must be between -90 and 90"),
            ("azimuth", azimuths_deg, f64::MAX, "an angle must be finite"),
        ] {
            if let Some((index, deg)) = (0..).zip(table).find(|(_, deg)| deg.is_nan() || deg.abs() > most) {
                return Err(Error::record(what, index, "deg", deg, why));
            }
        }
        let table = |degrees: &[f64]| {
            let pair = |deg: &f64| {
                let (sin, cos) = deg.to_radians().sin_cos();
                round_to_f32([cos, sin])
            };
            degrees.iter().map(pair).collect()
        };
        let (mut faults, mut frames, mut normalised) = (Vec::new(), Vec::new(), (0, 0, 1.0_f64));
        try_reserve("poses", &mut frames, poses.len() as u64)?;
        for (i, pose) in poses.iter().enumerate() {
            frames.push(match pose.check(i as u64) {
                Ok(()) => {
                    let length = pose.rotation.length();
                    let off = |length: f64| (length - 1.0).abs();
                    normalised.0 += usize::from(off(length) > ROUNDING);
                    if off(length) > off(normalised.2) {
                        (normalised.1, normalised.2) = (i, length);
                    }
                    pose.frame()
                }
                Err(error) => {
                    try_push("invalid poses", &mut faults, (i, error))?;
                    SensorPose::invalid()
                }
            });
        }
        let (rows, columns) = (table(elevations_deg), table(azimuths_deg));
        let grid = Grid {
            frames,
            rows,
            columns,
            invalid_frames: faults,
            orthographic: false,
            t_min: 0.0,
            t_max: f32::INFINITY,
            is_sensor: true,
        };
        Ok(Self { grid: grid.checked("sensor")?, normalised })
    }

    /// A warning if the length of a quaternion differs from 1 by more than 10⁻⁴. It was normalised.
    pub fn warning(&self) -> Option<String> {
        let (count, worst, length) = self.normalised;
        let poses = self.grid.frames.len();
        (count > 0).then(|| {
            format!(
                "quaternions of {count} of {poses} poses were normalised: |q| of pose {worst} is {length:.6}, not 1"
            )
        })
    }

    /// Sets the range of the sensor: `t` from `near` to `far`. A sphere before `near` returns nothing and hides the spheres behind it,
    /// unless the query says otherwise ([`Near`](crate::Near)).
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless 0 ≤ `near` ≤ `far`, `near` finite; `far` may be infinite.
    pub fn within(mut self, near: f32, far: f32) -> Result<Self> {
        if !(0.0..=f32::MAX).contains(&near) || far.is_nan() || far < near {
            return usage(format!(
                "sensor: the range is {near} to {far}: its start must be finite and at least 0, and its end at least its start"
            ));
        }
        (self.grid.t_min, self.grid.t_max) = (near, far);
        Ok(self)
    }
}

impl Pose {
    /// Checks a pose: a finite position within the range of f32, and a quaternion of length 0.9 to 1.1.
    ///
    /// A [`Lidar`] accepts invalid poses. The query then returns an error for their rays, or skips them.
    ///
    /// # Errors
    /// [`Error::BadRecord`] with the index, the field and the value.
    pub fn check(&self, index: u64) -> Result<()> {
        let bad = |field, value: f64, why: &'static str| Err(Error::record("pose", index, field, value, why));
        for (field, value) in ["x", "y", "z"].into_iter().zip(self.position.to_array()) {
            if !value.is_finite() {
                return bad(field, value, "a position must be finite");
            }
            if (value as f32).is_infinite() {
                return bad(field, value, "it exceeds the largest f32, 3.4e38");
            }
        }
        let DQuat { x, y, z, w } = self.rotation;
        for (field, value) in [("qw", w), ("qx", x), ("qy", y), ("qz", z)] {
            if !value.is_finite() {
                return bad(field, value, "a rotation must be finite");
            }
        }
        let length = self.rotation.length();
        if (length - 1.0).abs() > MOST_OFF {
            return bad("|q|", length, "a rotation must be a quaternion of length 1 (0.9 to 1.1 is normalised)");
        }
        Ok(())
    }

    fn frame(&self) -> SensorPose {
        let rotation = self.rotation.normalize();
        SensorPose::new(self.position, [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| rotation * axis))
    }
}

/// `count` equally spaced numbers from `from` to `to`, without `to` itself. So a full turn from 0 to 360 contains no angle twice.
pub fn linspace(from: f64, to: f64, count: usize) -> impl ExactSizeIterator<Item = f64> {
    (0..count).map(move |i| from + (to - from) * (i as f64 / count as f64))
}
