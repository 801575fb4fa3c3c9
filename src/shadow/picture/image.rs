//! A finished picture.

use super::color::encoded;
use crate::error::Result;
use crate::runtime::memory::{check_memory, filled};

/// A picture and what its pixels know, row by row from the upper left.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Picture {
    /// Width and height.
    pub size: [u32; 2],
    /// Linear light, exposed, 0…1.
    pub rgb: Vec<[f32; 3]>,
    /// Distance from the camera (its plane, if it is orthographic) to what the middle of the pixel shows, in the
    /// system's unit; infinite where nothing is.
    pub t: Vec<f32>,
    /// The id of what the middle of the pixel shows; [`NO_SPHERE`](crate::NO_SPHERE) where nothing is.
    pub id: Vec<u32>,
    /// The visible fraction of the light's disc there, the ground's own horizon included: 0 on a night side and in an
    /// umbra. On the light itself, and where nothing is, 1.
    pub fraction: Vec<f32>,
}

impl Picture {
    /// One that shows nothing; refused where there is no room for it.
    pub(crate) fn new(size: [u32; 2]) -> Result<Self> {
        let pixels = size[0] as usize * size[1] as usize;
        // Asked for all of it, then for each part.
        check_memory("the picture", pixels as u64 * (size_of::<[f32; 5]>() + size_of::<u32>()) as u64)?;
        Ok(Self {
            size,
            rgb: filled("the picture", pixels, [0.0; 3])?,
            t: filled("the picture", pixels, f32::INFINITY)?,
            id: filled("the picture", pixels, crate::records::NO_SPHERE)?,
            fraction: filled("the picture", pixels, 1.0)?,
        })
    }

    /// The picture in sRGB, 8 bits a channel.
    pub fn srgb8(&self) -> Vec<u8> {
        self.rgb.iter().flatten().map(|&x| (encoded(f64::from(x)) * 255.0).round() as u8).collect()
    }

    /// The picture in sRGB, 16 bits a channel.
    pub fn srgb16(&self) -> Vec<u16> {
        self.rgb.iter().flatten().map(|&x| (encoded(f64::from(x)) * 65535.0).round() as u16).collect()
    }
}
