//! Rendered pictures.

use super::color::encoded;
use crate::error::Result;
use crate::runtime::memory::{check_memory, try_filled};

/// A picture: colour, distance, id and visible fraction per pixel, row by row from the upper left.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Picture {
    /// Width and height.
    pub size: [u32; 2],
    /// Linear light after exposure, 0…1.
    pub rgb: Vec<[f32; 3]>,
    /// Distance from the camera (from its plane if it is orthographic) to what the centre of the pixel shows, in the system's unit;
    /// infinite if it shows nothing.
    pub t: Vec<f32>,
    /// Id of what the centre of the pixel shows; [`NO_SPHERE`](crate::NO_SPHERE) if it shows nothing.
    pub id: Vec<u32>,
    /// Visible fraction of the light's disc at that point, occlusion by the ground itself included: 0 on a night side and in an umbra; 1 on
    /// the light itself and where the pixel shows nothing.
    pub fraction: Vec<f32>,
}

impl Picture {
    /// An empty picture; an error if there is not enough memory.
    pub(crate) fn new(size: [u32; 2]) -> Result<Self> {
        let pixels = size[0] as usize * size[1] as usize;
        // The total is checked first, then each allocation.
        check_memory("the picture", pixels as u64 * (size_of::<[f32; 5]>() + size_of::<u32>()) as u64)?;
        Ok(Self {
            size,
            rgb: try_filled("the picture", pixels, [0.0; 3])?,
            t: try_filled("the picture", pixels, f32::INFINITY)?,
            id: try_filled("the picture", pixels, crate::records::NO_SPHERE)?,
            fraction: try_filled("the picture", pixels, 1.0)?,
        })
    }

    /// The picture in sRGB, 8 bits per channel.
    pub fn srgb8(&self) -> Vec<u8> {
        self.rgb.iter().flatten().map(|&x| (encoded(f64::from(x)) * 255.0).round() as u8).collect()
    }

    /// The picture in sRGB, 16 bits per channel.
    pub fn srgb16(&self) -> Vec<u16> {
        self.rgb.iter().flatten().map(|&x| (encoded(f64::from(x)) * 65535.0).round() as u16).collect()
    }
}
