//! The rays of a camera's picture.

use glam::DVec3;

use super::camera::{Camera, View, check_camera};
use super::grid::{Frame, Grid, clean};
use crate::error::{Error, Result};

/// The longest side of a picture, in pixels.
const MOST: u32 = 1 << 16;

/// The rays of a camera's picture, one through the centre of each pixel: rows from the top, each from the left.
///
/// In perspective all begin at the camera, and a direction is `forward + x · right + y · up` with unit vectors, not normalised: `t` is the
/// depth along the line of sight. Orthographic ones begin beside each other in the plane of the camera and look along the unit
/// vector `forward`. `t` in `[0, ∞)`.
///
/// Directions are f32: pixels narrower than about 10⁻⁶ rad run together. ([`Device::render`](crate::Device::render) turns the spheres
/// instead, in f64, and has no such limit.)
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    pub(crate) grid: Grid,
}

impl Image {
    /// The rays of a picture of `width` × `height` pixels.
    ///
    /// # Errors
    /// [`Error::Usage`] with the field and the value, when the camera cannot be used (its `up` along the line of sight, an angle
    /// out of range), a side is not 1…65,536, or there are more than 2³⁰ pixels.
    pub fn new(camera: &Camera, size: [u32; 2]) -> Result<Self> {
        check_camera(camera)?;
        let [width, height] = size;
        if ![width, height].iter().all(|side| (1..=MOST).contains(side)) {
            return Err(Error::Usage(format!("image: size is {width}x{height}: allowed is 1…{MOST} each way")));
        }
        let View { position, axes: [right, up, forward], half, orthographic, .. } = View::new(camera, size);
        let one = if orthographic { 0.0 } else { 1.0 };
        // Lengths in the picture's plane may be small in their unit; beside the distance 1 they are nothing.
        let rounded = |pair: [f64; 2]| if orthographic { pair.map(|x| x as f32) } else { clean(pair) };
        let columns = centers(width).map(|x| rounded([one, half.x * x])).collect();
        let rows = centers(height).map(|y| rounded([1.0, -half.y * y])).collect();
        let reach = DVec3::new(position.abs().max_element(), half.x, half.y);
        if orthographic && reach.element_sum() > f64::from(f32::MAX) {
            return Err(Error::Usage("image: the picture's edges exceed the largest f32, 3.4e38".into()));
        }
        let frames = vec![Frame::new(position, [forward, right, up])];
        let grid = Grid { frames, rows, columns, faults: Vec::new(), orthographic, t_min: 0.0, t_max: f32::INFINITY };
        Ok(Self { grid: grid.checked("image")? })
    }
}

/// The centres of so many pixels, from −1 to 1.
fn centers(pixels: u32) -> impl Iterator<Item = f64> {
    (0..pixels).map(move |i| (2.0 * f64::from(i) + 1.0) / f64::from(pixels) - 1.0)
}
