//! Projections of cameras: the ray of a picture position, the bounds of a ball in the picture, and the directions of the starfield. Twin of
//! `shaders/shadow/projection.wgsl`. All points and directions are in camera space; picture positions are in the plane of
//! [`View::half`](super::camera::View::half).

use glam::{DVec2, DVec3};

/// How a camera maps space to its picture. The numbers are those of the shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Projection {
    /// Rays start at the camera and pass the picture plane at distance 1.
    Perspective = 0,
    /// Rays start in the picture plane, all in the same direction.
    Orthographic = 1,
}

impl Projection {
    /// Origin and unit direction of the ray through a position.
    pub(crate) fn ray(self, at: DVec2) -> (DVec3, DVec3) {
        match self {
            Self::Perspective => (DVec3::ZERO, at.extend(1.0).normalize()),
            Self::Orthographic => (at.extend(0.0), DVec3::Z),
        }
    }

    /// The position at which a point appears; `None` if it is behind the camera.
    #[cfg(test)]
    pub(crate) fn position(self, point: DVec3) -> Option<DVec2> {
        match self {
            Self::Perspective => (point.z > 0.0).then(|| point.truncate() / point.z),
            Self::Orthographic => Some(point.truncate()),
        }
    }

    /// The intervals of x and y in which a ball appears; `None` if it is behind the camera.
    pub(crate) fn bounds(self, center: DVec3, radius: f64) -> Option<[[f64; 2]; 2]> {
        let DVec3 { x, y, z } = center;
        match self {
            Self::Perspective => Some([tangents(x, z, radius)?, tangents(y, z, radius)?]),
            Self::Orthographic => Some([[x - radius, x + radius], [y - radius, y + radius]]),
        }
    }

    /// Divisor that turns picture positions, and widths of pixels, into those of the starfield. An orthographic camera looks in one
    /// direction only: its stars are those of a perspective camera whose field of view is 2 atan 1 = 90° wide.
    pub(crate) fn star_scale(self, half: DVec2) -> f64 {
        match self {
            Self::Perspective => 1.0,
            Self::Orthographic => half.x,
        }
    }
}

/// The interval that a circle around (x, z), seen from the origin, covers on the line z = 1; `None` if it is behind the origin.
fn tangents(x: f64, z: f64, radius: f64) -> Option<[f64; 2]> {
    // Directions farther than this from straight ahead extend the interval to infinity.
    const SIDE: f64 = std::f64::consts::FRAC_PI_2 - 1e-9;
    let sine = radius / x.hypot(z);
    if sine.is_nan() || sine > 1.0 - 1e-9 {
        return Some([f64::NEG_INFINITY, f64::INFINITY]);
    }
    let (middle, half) = (x.atan2(z), sine.asin() * (1.0 + 1e-6));
    let (low, high) = (middle - half, middle + half);
    if low >= SIDE || high <= -SIDE {
        return None;
    }
    let low = if low > -SIDE { low.tan() } else { f64::NEG_INFINITY };
    let high = if high < SIDE { high.tan() } else { f64::INFINITY };
    Some([low, high])
}
