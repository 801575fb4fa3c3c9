//! A finished picture.

use super::color::encoded;

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
    pub(crate) fn new(size: [u32; 2]) -> Self {
        let pixels = size[0] as usize * size[1] as usize;
        Self {
            size,
            rgb: vec![[0.0; 3]; pixels],
            t: vec![f32::INFINITY; pixels],
            id: vec![crate::NO_SPHERE; pixels],
            fraction: vec![1.0; pixels],
        }
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
