//! The colours of a body by longitude and latitude.

use std::sync::Arc;

use glam::DVec3;

use super::texture::Texture;
use super::{earth, graticule};

/// Map of a body's surface.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SurfaceMap {
    /// The built-in map of the Earth: sea, land and ice.
    Earth,
    /// A picture.
    Texture(Arc<Texture>),
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
            Some(SurfaceMap::Earth) => earth::color(longitude, latitude, footprint),
            Some(SurfaceMap::Texture(texture)) => texture.color(longitude, latitude),
        };
        match self.graticule {
            None => color,
            Some(spacing) => color.lerp(LINE, OPACITY * graticule::cover(longitude, latitude, spacing, footprint)),
        }
    }
}
