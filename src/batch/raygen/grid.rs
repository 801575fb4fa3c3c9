//! Rays of frames × rows × columns: what a camera and a spinning sensor have in common. `shaders/raygen.wgsl` makes the same.
//!
//! A column is (c, s), a row (p, q), and a ray looks along forward · (p c) + side · (p s) + up · q. Of a camera p and c are 1, s and
//! q the place in the picture; of a sensor they are cosines and sines of azimuth and elevation.

use std::ops::Range;

use glam::{DVec3, Vec3};

use crate::error::{Error, Result};
use crate::records::Ray;

/// All rays of a camera or a sensor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Grid {
    pub(crate) frames: Vec<Frame>,
    pub(crate) rows: Vec<[f32; 2]>,
    pub(crate) columns: Vec<[f32; 2]>,
    /// Frames that cannot be used, in their order, and why.
    pub(crate) faults: Vec<(usize, Error)>,
    /// The rays look forward, and begin beside each other.
    pub(crate) orthographic: bool,
    pub(crate) t_min: f32,
    pub(crate) t_max: f32,
}

/// Where rays begin, and the axes they are turned into: 48 bytes, as a device reads them.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Frame {
    pub(crate) position: Vec3,
    pub(crate) forward: Vec3,
    pub(crate) side: Vec3,
    pub(crate) up: Vec3,
}

impl Frame {
    pub(crate) fn new(position: DVec3, [forward, side, up]: [DVec3; 3]) -> Self {
        let axis = |axis: DVec3| Vec3::from_array(clean(axis.to_array()));
        Self { position: position.as_vec3(), forward: axis(forward), side: axis(side), up: axis(up) }
    }

    /// One whose rays cannot be used.
    pub(crate) fn unusable() -> Self {
        Self { position: Vec3::NAN, forward: Vec3::X, side: Vec3::Y, up: Vec3::Z }
    }
}

/// Numbers rounded to f32. What is 0 but for the rounding of f64, as the cosine of 90° is, becomes 0: nothing a device
/// multiplies is then so small that it may be flushed.
pub(crate) fn clean<const N: usize>(numbers: [f64; N]) -> [f32; N] {
    let largest = numbers.into_iter().fold(0.0, |most: f64, number| most.max(number.abs()));
    numbers.map(|number| if number.abs() < largest * (-40.0_f64).exp2() { 0.0 } else { number as f32 })
}

/// Some rays of a grid, one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GridPart<'a> {
    pub(crate) grid: &'a Grid,
    pub(crate) first: usize,
    len: usize,
}

/// Where a ray stands in its grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) frame: usize,
    pub(crate) row: usize,
    pub(crate) column: usize,
}

impl Grid {
    /// Refuses more rays than can be numbered, or more of a frame than a device counts.
    pub(crate) fn checked(self, what: &str) -> Result<Self> {
        let (frames, rows, columns) = (self.frames.len(), self.rows.len(), self.columns.len());
        let here = rows.checked_mul(columns).filter(|rays| *rays <= 1 << 30);
        match here.and_then(|rays| rays.checked_mul(frames)) {
            Some(_) => Ok(self),
            None => Err(Error::Usage(format!(
                "{what}: {frames} × {rows} × {columns} rays are too many: 2^30 of each pose are allowed"
            ))),
        }
    }

    pub(crate) fn whole(&self) -> GridPart<'_> {
        GridPart { grid: self, first: 0, len: self.frames.len() * self.rows.len() * self.columns.len() }
    }
}

impl GridPart<'_> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn part(&self, range: Range<usize>) -> Self {
        Self { first: self.first + range.start, len: range.len(), ..*self }
    }

    pub(crate) fn place(&self, i: usize) -> Place {
        let (rows, columns) = (self.grid.rows.len(), self.grid.columns.len());
        let row = (self.first + i) / columns;
        Place { frame: row / rows, row: row % rows, column: (self.first + i) % columns }
    }

    pub(crate) fn ray(&self, i: usize) -> Ray {
        let Grid { frames, rows, columns, orthographic, t_min, t_max, .. } = self.grid;
        let place = self.place(i);
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
        if self.grid.faults.is_empty() {
            return Ok(());
        }
        let frame = self.place(i).frame;
        match self.grid.faults.binary_search_by_key(&frame, |(frame, _)| *frame) {
            Ok(fault) => Err(self.grid.faults[fault].1.clone()),
            Err(_) => Ok(()),
        }
    }
}
