//! The colours of a body by longitude and latitude, and its graticule: meridians and parallels at a regular spacing.

use std::sync::Arc;

use glam::DVec3;

use super::texture::Texture;

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
    let quarter = std::f64::consts::FRAC_PI_2;
    let step = if latitude.abs().to_degrees() > last { quarter.max(spacing_rad) } else { spacing_rad };
    let meridian = near(apart(longitude, step) * latitude.cos());
    parallel.max(meridian)
}
