//! Cameras, the rays of their pictures, and camera space: x to the right, y up, z forward, the camera at the origin.
//!
//! Spheres are transformed into camera space in f64. There the direction of a pixel is (x, y, 1), with x and y as small as the field
//! of view. So even a telescope's picture loses no precision to f32.

use super::grid::{Grid, SensorPose, round_to_f32};
use super::projection::Projection;
use crate::error::Result;
use crate::query::validate::{MAX_LENGTH, check_point, text, usage};

use glam::{DVec2, DVec3};

/// Projection of a camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lens {
    /// Perspective projection: the height of the picture spans an angle.
    Perspective {
        /// The angle in degrees: 0.000001 to 170.
        field_of_view_deg: f64,
    },
    /// Orthographic projection: the width of the picture spans a length.
    Orthographic {
        /// The length, in the unit of the system.
        width: f64,
    },
}

/// A camera: position, orientation and projection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Position of the camera.
    pub position: DVec3,
    /// Point at the centre of the picture.
    pub target: DVec3,
    /// Direction that points upwards in the picture. It must not be parallel to the line of sight.
    pub up: DVec3,
    /// Perspective or orthographic projection.
    pub lens: Lens,
}

/// A camera with a picture size: the transformation from pixels to rays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) position: DVec3,
    /// Right, up and forward.
    pub(crate) axes: [DVec3; 3],
    /// Half the width and height of the picture: at distance 1 in perspective, in the picture's own plane otherwise.
    pub(crate) half: DVec2,
    pub(crate) projection: Projection,
    /// Width of a pixel in the plane of `half`. In perspective, the starfield uses it as an angle.
    pub(crate) pixel: f64,
}

impl View {
    /// The view of a camera and a picture size that have been checked.
    pub(crate) fn new(camera: &Camera, size: [u32; 2]) -> Self {
        let forward = (camera.target - camera.position).normalize();
        let right = forward.cross(camera.up).normalize();
        let up = right.cross(forward);
        let [width, height] = size.map(f64::from);
        let (half, projection) = match camera.lens {
            Lens::Perspective { field_of_view_deg } => {
                let half = (0.5 * field_of_view_deg.to_radians()).tan();
                (DVec2::new(half * width / height, half), Projection::Perspective)
            }
            Lens::Orthographic { width: across } => {
                (DVec2::new(0.5 * across, 0.5 * across * height / width), Projection::Orthographic)
            }
        };
        Self { position: camera.position, axes: [right, up, forward], half, projection, pixel: 2.0 * half.x / width }
    }

    /// The ray through a position in the picture, from (−1, −1) at the lower left to (1, 1), in camera space: origin and unit direction.
    pub(crate) fn ray(&self, place: DVec2) -> (DVec3, DVec3) {
        self.projection.ray(place * self.half)
    }

    /// Rotates a direction into camera space.
    pub(crate) fn turn(&self, v: DVec3) -> DVec3 {
        DVec3::new(v.dot(self.axes[0]), v.dot(self.axes[1]), v.dot(self.axes[2]))
    }
}

pub(crate) fn check_camera(camera: &Camera) -> Result<()> {
    check_point("camera", "position", camera.position)?;
    check_point("camera", "target", camera.target)?;
    check_point("camera", "up", camera.up)?;
    let forward = camera.target - camera.position;
    if forward.length() == 0.0 {
        let at = text(camera.target);
        return usage(format!("camera: target is {at}, the same as position: the two points must differ"));
    }
    let up = camera.up.normalize_or_zero();
    if up == DVec3::ZERO {
        return usage(format!("camera: up is {}: a direction must not be zero", text(camera.up)));
    }
    if forward.normalize().cross(up).length() < 1e-9 {
        let up = text(camera.up);
        return usage(format!("camera: up is {up}, parallel to the viewing direction: choose another direction"));
    }
    match camera.lens {
        Lens::Perspective { field_of_view_deg: angle } if !(1e-6..=170.0).contains(&angle) => {
            usage(format!("camera: field_of_view_deg is {angle}: it must be between 0.000001 and 170"))
        }
        Lens::Orthographic { width } if !(1e-30..=MAX_LENGTH).contains(&width) => {
            usage(format!("camera: width is {width}: it must be between 1e-30 and 1e30"))
        }
        _ => Ok(()),
    }
}

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
