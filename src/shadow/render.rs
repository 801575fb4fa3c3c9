//! Pictures on a device.

use std::sync::Arc;

use super::gpu::render as on_gpu;
use super::picture::image::Picture;
use super::picture::prepared::PreparedPicture;
use super::picture::progress::Progress;
use super::picture::render_cpu;
use super::system::System;
use crate::error::Result;
use crate::runtime::block_on::block_on;
use crate::scene::device::Device;

impl Device {
    /// Renders a system.
    ///
    /// The CPU renders in f64; a GPU renders in f32, from numbers that the CPU makes relative in f64. Their pictures agree as follows,
    /// except for single pixels at edges: colours within one step of 8 bits; distances within a relative 10⁻⁵; fractions within 10⁻³ plus
    /// the change of the fraction across a thousandth of a pixel (on bodies of many pixels, the largest difference seen is 10⁻⁴).
    ///
    /// A GPU renders the spheres that fit into its largest binding, 4,194,303 with WebGPU's default limits. The CPU renders more of them.
    /// It also renders systems with ambient occlusion, maps, graticules or limb darkening that is not quadratic, large scenes that have a
    /// spheroid, and those with a light narrower than 10⁻⁹ rad (not a point).
    /// [`Picture::cpu_fallback`] is the reason, and [`Picture::cpu_pixels`] the number of pixels that the CPU computed.
    ///
    /// The call blocks until the picture is complete, and allocates the picture and copies of the bodies.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge) for a picture too large for the device; [`Error::Cancelled`](crate::Error::Cancelled);
    /// device errors.
    pub fn render(&self, system: &System, progress: Option<Progress>) -> Result<Picture> {
        block_on(self.render_async(system, progress))
    }

    /// [`render`](Self::render), for code that must not block. On the CPU engine the first poll of the future renders everything, and a
    /// GPU's future does so if only the CPU renders the system.
    pub async fn render_async(&self, system: &System, progress: Option<Progress>) -> Result<Picture> {
        let progress = progress.unwrap_or_else(|| Arc::new(|_| {}));
        let prepared = PreparedPicture::new(system)?;
        let on_cpu = || render_cpu::picture(system, &prepared, &self.cancel, &*progress);
        let Some(gpu) = self.on_gpu() else { return on_cpu() };
        match on_gpu::picture(gpu, system, &prepared, &self.cancel, &*progress).await? {
            Ok(picture) => Ok(picture),
            Err(reason) => {
                let picture = on_cpu()?;
                Ok(Picture { cpu_fallback: Some(reason), cpu_pixels: picture.id.len(), ..picture })
            }
        }
    }
}
