//! Rays on a grid of frames × rows × columns, as used by cameras and spinning sensors. Twin: `shaders/raygen.wgsl`.
//!
//! A column is (c, s), a row is (p, q), and a ray has the direction forward · (p c) + side · (p s) + up · q. For a perspective camera,
//! p and c are 1, and s and q are the position in the picture. For an orthographic camera, p is 1, c is 0, the vector is the offset of
//! the ray's origin, and the direction is forward. For a sensor, (c, s) and (p, q) are cosine and sine of azimuth and elevation.

use std::ops::Range;

use glam::{DVec3, Vec3};

use crate::error::{Error, Result};
use crate::query::validate::usage;
use crate::records::Ray;

/// All rays of a camera or a sensor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Grid {
    pub(crate) frames: Vec<SensorPose>,
    pub(crate) rows: Vec<[f32; 2]>,
    pub(crate) columns: Vec<[f32; 2]>,
    /// Index and error of each invalid frame, in ascending order.
    pub(crate) invalid_frames: Vec<(usize, Error)>,
    /// Orthographic projection: all rays have the forward direction and start on the image plane.
    pub(crate) orthographic: bool,
    pub(crate) t_min: f32,
    pub(crate) t_max: f32,
    /// Whether these are the rays of a sensor, whose `t_min` is a minimum range.
    pub(crate) is_sensor: bool,
}

/// Origin of the rays and the axes of their directions: 48 bytes, in the layout that a device reads.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct SensorPose {
    pub(crate) position: Vec3,
    pub(crate) forward: Vec3,
    pub(crate) side: Vec3,
    pub(crate) up: Vec3,
}

impl SensorPose {
    pub(crate) fn new(position: DVec3, [forward, side, up]: [DVec3; 3]) -> Self {
        let axis = |axis: DVec3| Vec3::from_array(round_to_f32(axis.to_array()));
        Self { position: position.as_vec3(), forward: axis(forward), side: axis(side), up: axis(up) }
    }

    /// A frame whose rays are invalid.
    pub(crate) fn invalid() -> Self {
        Self { position: Vec3::NAN, forward: Vec3::X, side: Vec3::Y, up: Vec3::Z }
    }
}

/// Rounds numbers to f32. Numbers below 2⁻⁴⁰ of the largest become 0: they differ from 0 only by f64 rounding, like the cosine of 90°.
/// So no factor on a device is so small that the device may flush it.
pub(crate) fn round_to_f32<const N: usize>(numbers: [f64; N]) -> [f32; N] {
    let largest = numbers.into_iter().fold(0.0, |most: f64, number| most.max(number.abs()));
    numbers.map(|number| if number.abs() < largest * (-40.0_f64).exp2() { 0.0 } else { number as f32 })
}

/// A range of consecutive rays of a grid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GridSlice<'a> {
    pub(crate) grid: &'a Grid,
    pub(crate) first: usize,
    len: usize,
}

/// Position of a ray in its grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GridIndex {
    pub(crate) frame: usize,
    pub(crate) row: usize,
    pub(crate) column: usize,
}

impl Grid {
    /// Returns an error if a frame has more than 2³⁰ rays, the limit of a device, or if the total exceeds `usize`.
    pub(crate) fn checked(self, what: &str) -> Result<Self> {
        let (frames, rows, columns) = (self.frames.len(), self.rows.len(), self.columns.len());
        let here = rows.checked_mul(columns).filter(|rays| *rays <= 1 << 30);
        match here.and_then(|rays| rays.checked_mul(frames)) {
            Some(_) => Ok(self),
            None => usage(format!(
                "{what}: {frames} × {rows} × {columns} rays are too many: at most 2^30 rays per pose are allowed"
            )),
        }
    }

    pub(crate) fn whole(&self) -> GridSlice<'_> {
        GridSlice { grid: self, first: 0, len: self.frames.len() * self.rows.len() * self.columns.len() }
    }
}

impl GridSlice<'_> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn slice(&self, range: Range<usize>) -> Self {
        Self { first: self.first + range.start, len: range.len(), ..*self }
    }

    pub(crate) fn index_of(&self, i: usize) -> GridIndex {
        let (rows, columns) = (self.grid.rows.len(), self.grid.columns.len());
        let row = (self.first + i) / columns;
        GridIndex { frame: row / rows, row: row % rows, column: (self.first + i) % columns }
    }

    pub(crate) fn ray(&self, i: usize) -> Ray {
        let Grid { frames, rows, columns, orthographic, t_min, t_max, .. } = self.grid;
        let place = self.index_of(i);
        let (frame, [p, q], [c, s]) = (&frames[place.frame], rows[place.row], columns[place.column]);
        let (along, across) = (p * c, p * s);
        let turned = (frame.forward * along + frame.side * across) + frame.up * q;
        let ray = if *orthographic {
            Ray::new(frame.position + turned, frame.forward)
        } else {
            Ray::new(frame.position, turned)
        };
        ray.between(*t_min, *t_max)
    }

    pub(crate) fn check_one(&self, i: usize) -> Result<()> {
        if self.grid.invalid_frames.is_empty() {
            return Ok(());
        }
        let frame = self.index_of(i).frame;
        match self.grid.invalid_frames.binary_search_by_key(&frame, |(frame, _)| *frame) {
            Ok(fault) => Err(self.grid.invalid_frames[fault].1.clone()),
            Err(_) => Ok(()),
        }
    }
}
