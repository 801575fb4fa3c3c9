//! Surfaces of bodies: colours by longitude and latitude, textures (equirectangular maps of colours), and graticules, which are meridians and
//! parallels at a regular spacing.

use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::sync::Arc;

use glam::DVec3;

use super::picture::image::Color;
use crate::error::Result;
use crate::query::validate::usage;

/// The colour at a longitude and a latitude in radians, as linear light. The third number is the size of a pixel on the surface in radians,
/// to which edges can be sharp.
pub type ColorAt = fn(longitude: f64, latitude: f64, footprint: f64) -> DVec3;

/// Map of a body's surface.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SurfaceMap {
    /// A map that is computed, with its name.
    Computed(&'static str, ColorAt),
    /// A picture.
    Texture(Arc<Texture>),
}

impl PartialEq for SurfaceMap {
    /// Computed maps are equal if they have the same name.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Computed(name, _), Self::Computed(other, _)) => name == other,
            (Self::Texture(texture), Self::Texture(other)) => texture == other,
            _ => false,
        }
    }
}

/// A map with a graticule.
#[derive(Clone, Debug)]
pub(crate) struct Surface {
    /// `None`: only the graticule is drawn, over the bands.
    pub(crate) map: Option<SurfaceMap>,
    /// Spacing of the graticule in degrees.
    pub(crate) graticule: Option<f64>,
}

/// Colour of the graticule.
const LINE: DVec3 = DVec3::new(0.55, 0.62, 0.68);
/// Opacity of the graticule.
const OPACITY: f64 = 0.4;

impl Surface {
    /// Colour at a point with this outward normal, in axes whose third one is the pole and whose first one is at longitude 0. `footprint`
    /// is the size of a pixel on the surface in radians. `bands` is the colour without a map.
    pub(crate) fn color(&self, normal: DVec3, footprint: f64, bands: impl FnOnce() -> DVec3) -> DVec3 {
        let longitude = normal.y.atan2(normal.x);
        let latitude = normal.z.atan2(normal.x.hypot(normal.y));
        let color = match &self.map {
            None => bands(),
            Some(SurfaceMap::Computed(_, color)) => color(longitude, latitude, footprint),
            Some(SurfaceMap::Texture(texture)) => texture.color(longitude, latitude),
        };
        match self.graticule {
            None => color,
            Some(spacing) => color.lerp(LINE, OPACITY * graticule(longitude, latitude, spacing, footprint)),
        }
    }
}

/// Width of a line in pixels.
const LINE_WIDTH: f64 = 1.1;

/// Share of a pixel that the lines of a graticule cover, 0…1. `spacing` is in degrees, angles are in radians. `footprint` is the size of a pixel on the
/// surface, in radians. Meridians end at the last parallel, so that they do not crowd at the poles; those at multiples of 90° continue.
fn graticule(longitude: f64, latitude: f64, spacing: f64, footprint: f64) -> f64 {
    let spacing_rad = spacing.to_radians();
    let apart = |angle: f64, step: f64| (angle - (angle / step).round() * step).abs();
    let near = |distance: f64| (0.5 * LINE_WIDTH + 0.5 - distance / footprint).clamp(0.0, 1.0);
    let parallel = near(apart(latitude, spacing_rad));
    let last = (90.0 / spacing).ceil() * spacing - spacing;
    let quarter = FRAC_PI_2;
    let step = if latitude.abs().to_degrees() > last { quarter.max(spacing_rad) } else { spacing_rad };
    let meridian = near(apart(longitude, step) * latitude.cos());
    parallel.max(meridian)
}

/// An equirectangular map: the left edge is at longitude −180°, the right edge at 180°, the upper edge at the north pole.
#[derive(Clone, PartialEq)]
pub struct Texture {
    size: [u32; 2],
    /// sRGB, row by row from the upper left.
    pixels: Vec<[u8; 3]>,
    /// Linear light of each sRGB value.
    linear: Vec<f32>,
}

impl std::fmt::Debug for Texture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Texture({}x{})", self.size[0], self.size[1])
    }
}

impl Texture {
    /// Largest width and height in pixels.
    pub const MAX_SIDE: u32 = 32_768;

    /// A texture of this width and height in pixels, with colours in sRGB, row by row from the north-west corner.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) if a side is 0 or above 32,768, or if the number of colours is not that of the pixels.
    pub fn new(size: [u32; 2], pixels: Vec<[u8; 3]>) -> Result<Self> {
        let [width, height] = size;
        if !size.iter().all(|side| (1..=Self::MAX_SIDE).contains(side)) {
            return usage(format!(
                "the texture has {width}x{height} pixels: width and height must be between 1 and {}",
                Self::MAX_SIDE
            ));
        }
        if pixels.len() as u64 != u64::from(width) * u64::from(height) {
            return usage(format!("the texture has {} colours for {width}x{height} pixels", pixels.len()));
        }
        let linear = (0..=255_u8).map(|x| Color::from_srgb([f32::from(x); 3]).0[0] as f32).collect();
        Ok(Self { size, pixels, linear })
    }

    /// Width and height in pixels.
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Colour at a place as linear light: bilinear between the centres of pixels, which repeat from 180° to −180°. Angles are in radians.
    pub(crate) fn color(&self, longitude: f64, latitude: f64) -> DVec3 {
        let [width, height] = self.size.map(f64::from);
        let x = (longitude + PI) / TAU * width - 0.5;
        let y = ((FRAC_PI_2 - latitude) / PI * height - 0.5).clamp(0.0, height - 1.0);
        let (left, top) = (x.floor(), y.floor());
        let (f, g) = (x - left, y - top);
        let pixel = |column: f64, row: f64| {
            let column = (column as i64).rem_euclid(i64::from(self.size[0])) as usize;
            let row = (row as usize).min(self.size[1] as usize - 1);
            let rgb = self.pixels[row * self.size[0] as usize + column];
            DVec3::from_array(rgb.map(|x| f64::from(self.linear[usize::from(x)])))
        };
        let upper = pixel(left, top).lerp(pixel(left + 1.0, top), f);
        let lower = pixel(left, top + 1.0).lerp(pixel(left + 1.0, top + 1.0), f);
        upper.lerp(lower, g)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_texture_is_interpolated_and_repeats_at_180_degrees() {
        let texture =
            Texture::new([4, 2], vec![[0; 3], [0; 3], [255; 3], [0; 3], [0; 3], [255, 0, 0], [0; 3], [0; 3]]).unwrap();
        let at = |x: f64, y: f64| texture.color(x.to_radians(), y.to_radians()).to_array();
        // Pixels of the upper row have their centres at latitude 45°, and at longitudes −135°, −45°, 45° and 135°.
        for ((x, y), expected) in [
            ((45.0, 45.0), [1.0; 3]),
            ((45.0, 89.0), [1.0; 3]),
            ((90.0, 45.0), [0.5; 3]),
            ((45.0, 0.0), [0.5; 3]),
            ((-45.0, -45.0), [1.0, 0.0, 0.0]),
            ((180.0, 45.0), [0.0; 3]),
            ((-180.0, 45.0), [0.0; 3]),
        ] {
            let found = at(x, y);
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{x} {y}: {found:?}");
        }
        let edge = Texture::new([2, 1], vec![[255; 3], [0; 3]]).unwrap();
        assert!((edge.color(PI, 0.0).x - 0.5).abs() < 1e-6 && (edge.color(-PI, 0.0).x - 0.5).abs() < 1e-6);
    }

    #[test]
    fn wrong_sizes_are_errors() {
        assert!(Texture::new([0, 1], Vec::new()).is_err());
        assert!(Texture::new([2, 2], vec![[0; 3]; 3]).is_err());
        assert!(Texture::new([40_000, 1], vec![[0; 3]; 40_000]).is_err());
    }
}
