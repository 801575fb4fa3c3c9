//! Rendered pictures. Colours are sRGB in the interface, and linear light inside.

use std::fmt;

use crate::error::Result;
use crate::query::policy::check_same_length;
use crate::runtime::memory::{self, try_filled};

/// A picture: colour, distance, id and visible fraction per pixel, row by row from the upper left.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Picture {
    /// Width and height.
    pub size: [u32; 2],
    /// Linear light after exposure, 0…1. With a transparent background, what covers a pixel in part contributes in part.
    pub rgb: Vec<[f32; 3]>,
    /// Share of the pixel's samples that show a body or the light; empty unless the background is transparent.
    pub alpha: Vec<f32>,
    /// Distance from the camera (from its plane if it is orthographic) to what the centre of the pixel shows, in the system's unit;
    /// infinite if it shows nothing.
    pub t: Vec<f32>,
    /// Id of what the centre of the pixel shows; [`NO_SPHERE`](crate::NO_SPHERE) if it shows nothing.
    pub id: Vec<u32>,
    /// Visible fraction of the light's disc at that point, occlusion by the ground itself included: 0 on a night side and in an umbra; 1 on
    /// the light itself and where the pixel shows nothing.
    pub fraction: Vec<f32>,
    /// The reason, if the CPU engine rendered the whole picture although the device is a GPU.
    pub cpu_fallback: Option<CpuFallback>,
    /// Number of pixels that the CPU engine computed although the device is a GPU: all of them, or those that exceed a limit of the GPU
    /// programs.
    pub cpu_pixels: usize,
}

/// One pixel of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pixel {
    pub(crate) rgb: [f32; 3],
    pub(crate) alpha: f32,
    pub(crate) t: f32,
    pub(crate) id: u32,
    pub(crate) fraction: f32,
}

impl Picture {
    /// Stores the pixel with this index.
    pub(crate) fn set(&mut self, at: usize, pixel: Pixel) {
        (self.rgb[at], self.t[at], self.id[at], self.fraction[at]) = (pixel.rgb, pixel.t, pixel.id, pixel.fraction);
        if let Some(alpha) = self.alpha.get_mut(at) {
            *alpha = pixel.alpha;
        }
    }

    /// An empty picture; an error if there is not enough memory.
    pub(crate) fn new(size: [u32; 2], transparent: bool) -> Result<Self> {
        let pixels = size[0] as usize * size[1] as usize;
        let bytes = size_of::<[f32; 5]>() + size_of::<u32>() + if transparent { size_of::<f32>() } else { 0 };
        // The total is checked first, then each allocation.
        memory::check("the picture", (pixels * bytes) as u64)?;
        Ok(Self {
            size,
            alpha: try_filled("the picture", if transparent { pixels } else { 0 }, 0.0)?,
            rgb: try_filled("the picture", pixels, [0.0; 3])?,
            t: try_filled("the picture", pixels, f32::INFINITY)?,
            id: try_filled("the picture", pixels, crate::records::NO_SPHERE)?,
            fraction: try_filled("the picture", pixels, 1.0)?,
            cpu_fallback: None,
            cpu_pixels: 0,
        })
    }

    /// A picture of arrays that another one had, such as stored ones. `alpha` may be empty.
    ///
    /// # Errors
    /// [`LengthsDiffer`](crate::Error::LengthsDiffer) if an array does not have a value per pixel.
    pub fn from_arrays(
        size: [u32; 2],
        rgb: Vec<[f32; 3]>,
        alpha: Vec<f32>,
        t: Vec<f32>,
        id: Vec<u32>,
        fraction: Vec<f32>,
    ) -> Result<Self> {
        let pixels = size[0] as usize * size[1] as usize;
        let alphas = if alpha.is_empty() { pixels } else { alpha.len() };
        for (name, length) in
            [("rgb", rgb.len()), ("alpha", alphas), ("t", t.len()), ("id", id.len()), ("fraction", fraction.len())]
        {
            check_same_length("pixels", pixels, name, length)?;
        }
        Ok(Self { size, rgb, alpha, t, id, fraction, cpu_fallback: None, cpu_pixels: 0 })
    }

    /// The picture in sRGB, 8 bits per channel: red, green and blue, and alpha if the background is transparent.
    pub fn srgb8(&self) -> Vec<u8> {
        self.channels().map(|x| (x * 255.0).round() as u8).collect()
    }

    /// Number of channels: 3, or 4 if the background is transparent.
    pub fn channel_count(&self) -> usize {
        if self.alpha.is_empty() { 3 } else { 4 }
    }

    /// The channels of all pixels in sRGB, 0…1. Alpha is linear, and colours are not multiplied by it, as in a PNG.
    pub fn channels(&self) -> impl Iterator<Item = f64> {
        self.rgb.iter().enumerate().flat_map(|(i, rgb)| {
            let alpha = self.alpha.get(i).map(|&alpha| f64::from(alpha));
            let share = alpha.filter(|alpha| *alpha > 0.0).unwrap_or(1.0);
            rgb.iter().map(move |&x| encoded(f64::from(x) / share)).chain(alpha)
        })
    }
}

/// A colour as linear light; 1 is the brightest that a picture can show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Color(pub [f64; 3]);

impl Color {
    /// White.
    pub const WHITE: Self = Self([1.0; 3]);
    /// Black.
    pub const BLACK: Self = Self([0.0; 3]);

    /// The colour of three sRGB channels, 0…255.
    pub fn from_srgb(channels: [f32; 3]) -> Self {
        Self(channels.map(|channel| linear(f64::from(channel) / 255.0)))
    }

    /// The colour of an sRGB text `#rrggbb`; `None` for anything else.
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#')?;
        if digits.len() != 6 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let channel = |i: usize| Some(linear(f64::from(u8::from_str_radix(digits.get(i..i + 2)?, 16).ok()?) / 255.0));
        Some(Self([channel(0)?, channel(2)?, channel(4)?]))
    }
}

/// sRGB to linear light (IEC 61966-2-1).
fn linear(encoded: f64) -> f64 {
    if encoded <= 0.040_45 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) }
}

/// Linear light to sRGB; values above 1 are clipped.
pub(crate) fn encoded(linear: f64) -> f64 {
    let linear = linear.clamp(0.0, 1.0);
    if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
}

/// The reason why the CPU engine rendered a whole picture although the device is a GPU. All but the first three concern pictures that need a
/// BVH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CpuFallback {
    /// The picture has ambient occlusion.
    AmbientOcclusion,
    /// A body has a texture, a built-in surface or a graticule.
    Surface,
    /// The light's limb darkening is not quadratic.
    LimbDarkening,
    /// The GPU fails the [probe](crate::Device::probe).
    Probe,
    /// A body is a spheroid.
    Spheroid,
    /// The spheres do not fit into the largest binding of the GPU.
    SphereCount,
    /// The light is narrower than 10⁻⁹ rad, but not a point.
    NarrowLight,
}

impl fmt::Display for CpuFallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AmbientOcclusion => "it has ambient_samples",
            Self::Surface => "a body has a texture, a surface or a graticule",
            Self::LimbDarkening => "the light's limb darkening is not quadratic",
            Self::Probe => "it needs a BVH, and the GPU fails the probe",
            Self::Spheroid => "it needs a BVH, and a body is a spheroid",
            Self::SphereCount => "it needs a BVH, and its spheres do not fit into the largest binding of the GPU",
            Self::NarrowLight => "it needs a BVH, and the light is narrower than 1e-9 rad",
        })
    }
}
