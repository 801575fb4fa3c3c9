//! Cameras, and the space they see: x to the right, y up, z forward, the camera at the origin.
//!
//! Spheres are turned into that space in f64. There a pixel's direction is (x, y, 1) with x and y as small as the field
//! of view, so that a telescope's picture loses nothing to f32.

use crate::error::Result;
use crate::query::validate::{MAX_LENGTH, check_point, text, usage};

use glam::{DVec2, DVec3};

/// What a camera shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lens {
    /// As eyes see: the height of the picture spans this angle, in degrees.
    Perspective {
        /// More than 0, at most 170.
        field_of_view_deg: f64,
    },
    /// As plans are drawn: the width of the picture spans this length.
    Orthographic {
        /// In the system's unit.
        width: f64,
    },
}

/// Where the picture is taken from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// The camera's place.
    pub position: DVec3,
    /// What is in the middle of the picture.
    pub target: DVec3,
    /// What points upwards in it.
    pub up: DVec3,
    /// Perspective or not.
    pub lens: Lens,
}

/// A camera with a picture of so many pixels: how pixels become rays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) position: DVec3,
    /// Right, up and forward.
    pub(crate) axes: [DVec3; 3],
    /// Half the picture: of the plane at distance 1 in perspective, of the picture's own plane otherwise.
    pub(crate) half: DVec2,
    pub(crate) orthographic: bool,
    /// Width of a pixel in the plane of `half`; for stars, as an angle.
    pub(crate) pixel: f64,
}

impl View {
    /// For a checked camera and picture.
    pub(crate) fn new(camera: &Camera, size: [u32; 2]) -> Self {
        let forward = (camera.target - camera.position).normalize();
        let right = forward.cross(camera.up).normalize();
        let up = right.cross(forward);
        let [width, height] = size.map(f64::from);
        let (half, orthographic) = match camera.lens {
            Lens::Perspective { field_of_view_deg } => {
                let half = (0.5 * field_of_view_deg.to_radians()).tan();
                (DVec2::new(half * width / height, half), false)
            }
            Lens::Orthographic { width: across } => (DVec2::new(0.5 * across, 0.5 * across * height / width), true),
        };
        Self { position: camera.position, axes: [right, up, forward], half, orthographic, pixel: 2.0 * half.x / width }
    }

    /// A direction turned into the camera's space.
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
        return usage(format!("camera: target is {at}, the same as position: there is no direction to look in"));
    }
    let up = camera.up.normalize_or_zero();
    if up == DVec3::ZERO {
        return usage(format!("camera: up is {}: a direction must not be zero", text(camera.up)));
    }
    if forward.normalize().cross(up).length() < 1e-9 {
        let up = text(camera.up);
        return usage(format!("camera: up is {up}, parallel to the line of sight: any other direction will do"));
    }
    match camera.lens {
        Lens::Perspective { field_of_view_deg: angle } if !(1e-6..=170.0).contains(&angle) => {
            usage(format!("camera: field_of_view_deg is {angle}: allowed is 0.000001…170"))
        }
        Lens::Orthographic { width } if !(1e-30..=MAX_LENGTH).contains(&width) => {
            usage(format!("camera: width is {width}: allowed is a positive length of at most 1e30"))
        }
        _ => Ok(()),
    }
}
