//! Visible fluxes of a rendered picture whose light has limb darkening.

use super::image::Picture;
use super::prepared::PreparedPicture;
use super::render_cpu::{center, each_pixel};
use super::shade::{ShadingScratch, light_at};
use crate::error::Result;
use crate::runtime::memory::try_filled;
use crate::shadow::system::System;

impl Picture {
    /// Visible flux of the light at the point that the centre of each pixel shows: the brightness of the visible part of its disc, relative
    /// to that of the whole disc, occlusion by the ground itself included. Where the visible fraction is 0 or 1, and without limb
    /// darkening, it is that fraction. `system` is the system that the picture shows.
    ///
    /// The CPU computes it, on all cores, accurate to 10⁻⁴.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn fluxes(&self, system: &System) -> Result<Vec<f32>> {
        let mut fluxes = try_filled("visible fluxes", self.fraction.len(), 0.0)?;
        fluxes.copy_from_slice(&self.fraction);
        if system.light().limb_darkening.is_none() {
            return Ok(fluxes);
        }
        let partial = |at: &usize| self.fraction[*at] > 0.0 && self.fraction[*at] < 1.0;
        let pixels: Vec<usize> = (0..self.fraction.len()).filter(partial).collect();
        let prepared_picture = PreparedPicture::new(system)?;
        let flux = |scratch: &mut ShadingScratch, at| {
            light_at(&prepared_picture, scratch, center(&prepared_picture, self.size, at)).flux as f32
        };
        for (at, flux) in each_pixel(&pixels, flux) {
            fluxes[at] = flux;
        }
        Ok(fluxes)
    }
}
