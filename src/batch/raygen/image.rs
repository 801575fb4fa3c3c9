//! Ray generator for a camera's picture.

use glam::DVec3;

use super::camera::{Camera, View, check_camera};
use super::grid::{Grid, SensorPose, round_to_f32};
use super::projection::Projection;
use crate::error::Result;
use crate::query::validate::usage;

/// Maximum width and height of a picture, in pixels.
const MAX_SIDE: u32 = 1 << 16;

/// The rays of a camera's picture, one through the centre of each pixel: rows from top to bottom, each from left to right.
///
/// Perspective rays start at the camera. Their direction is `forward + x · right + y · up` with unit vectors and is not normalised, so
/// `t` is the distance along the line of sight, the view distance. Orthographic rays start in the plane of the camera, and their direction is the unit vector
/// `forward`. The range of `t` is `[0, ∞)`.
///
/// Directions are f32, so pixels narrower than about 10⁻⁶ rad cannot be told apart. ([`Device::render`](crate::Device::render) rotates
/// the spheres instead, in f64, and has no such limit.)
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    pub(crate) grid: Grid,
}

impl Image {
    /// The rays of a picture of `width` × `height` pixels.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) with the field and the value if the camera is invalid (`up` parallel to the line of sight, an angle out of
    /// range), if width or height is not in 1…65,536, or if there are more than 2³⁰ pixels.
    pub fn new(camera: &Camera, size: [u32; 2]) -> Result<Self> {
        check_camera(camera)?;
        let [width, height] = size;
        if ![width, height].iter().all(|side| (1..=MAX_SIDE).contains(side)) {
            return usage(format!(
                "image: size is {width}x{height}: width and height must be between 1 and {MAX_SIDE}"
            ));
        }
        let View { position, axes: [right, up, forward], half, projection, .. } = View::new(camera, size);
        let orthographic = projection == Projection::Orthographic;
        let one = if orthographic { 0.0 } else { 1.0 };
        // For an orthographic camera, these are lengths in the unit of the scene and may be small. For perspective, they are relative to
        // the distance 1, so `round_to_f32` may replace tiny ones by 0.
        let rounded = |pair: [f64; 2]| if orthographic { pair.map(|x| x as f32) } else { round_to_f32(pair) };
        let columns = centers(width).map(|x| rounded([one, half.x * x])).collect();
        let rows = centers(height).map(|y| rounded([1.0, -half.y * y])).collect();
        let reach = DVec3::new(position.abs().max_element(), half.x, half.y);
        if orthographic && reach.element_sum() > f64::from(f32::MAX) {
            return usage("image: the edges of the picture exceed the largest f32, 3.4e38");
        }
        let frames = vec![SensorPose::new(position, [forward, right, up])];
        let grid = Grid {
            frames,
            rows,
            columns,
            invalid_frames: Vec::new(),
            orthographic,
            t_min: 0.0,
            t_max: f32::INFINITY,
            is_sensor: false,
        };
        Ok(Self { grid: grid.checked("image")? })
    }
}

/// Pixel centres along an axis of `pixels` pixels, in units where the picture reaches from −1 to 1.
fn centers(pixels: u32) -> impl Iterator<Item = f64> {
    (0..pixels).map(move |i| (2.0 * f64::from(i) + 1.0) / f64::from(pixels) - 1.0)
}
