//! Pictures and visible fractions on a device.

use std::sync::Arc;

use rayon::prelude::*;

use super::coverage::disc::Sky;
use super::gpu::render as on_gpu;
use super::observers::settle;
use super::picture::image::Picture;
use super::picture::prepared::Stage;
use super::picture::render_cpu;
use super::system::System;
use super::visibility::{Prepared, Sight};
use crate::error::Result;
use crate::runtime::cpu_pool::on_cores;
use crate::runtime::memory::grow;
use crate::scene::device::Device;

/// Hears now and then which share of the work is done, 0…1.
pub type Progress = Arc<dyn Fn(f64) + Send + Sync>;

impl Device {
    /// Draws a system.
    ///
    /// On the CPU in f64; on a GPU in f32, from numbers that the host made small in f64. Colours then agree to one
    /// step of 8 bits, distances to 10⁻⁵ of themselves, fractions to 10⁻³ (10⁻⁴ is the worst seen on bodies of many
    /// pixels) and what a thousandth of a pixel makes, but for single pixels at edges.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge) for a cloud in which too many spheres shade too many others, or a
    /// picture too large for the device; [`Error::Cancelled`](crate::Error::Cancelled); what devices do wrong.
    pub async fn render(&self, system: &System, progress: Option<Progress>) -> Result<Picture> {
        let progress = progress.unwrap_or_else(|| Arc::new(|_| {}));
        let (system, stage) = (Arc::new(system.clone()), Arc::new(Stage::new(system)?));
        let watch = self.watch.clone();
        match self.gpu() {
            None => on_cores(move || render_cpu::picture(&system, &stage, &watch, &*progress)).await?,
            Some(gpu) => on_gpu::picture(gpu, &system, &stage, &watch, &*progress).await,
        }
    }

    /// The visible fraction of each sight's light: what [`visible_fraction`](crate::shadow::visible_fraction) says, many at once.
    ///
    /// On a GPU in f32, within 10⁻⁴; what f32 cannot hold is done on the CPU. Many observers of one light are quicker with
    /// [`shadows`](Self::shadows).
    ///
    /// # Errors
    /// [`Error::BadRecord`](crate::Error::BadRecord) for a sight that cannot be used; what devices do wrong.
    pub async fn visible_fractions(&self, sights: &[Sight]) -> Result<Vec<f64>> {
        let mut prepared = Vec::new();
        grow("sights", &mut prepared, sights.len() as u64)?;
        for sight in sights {
            prepared.push(sight.prepare()?);
        }
        match self.gpu() {
            None => {
                let fraction = |sky: &mut Sky, one: &Prepared| one.shadow(sky).fraction;
                on_cores(move || prepared.par_iter().map_init(Sky::default, fraction).collect()).await
            }
            Some(gpu) => {
                let found = on_gpu::shades(gpu, &prepared).await?;
                on_cores(move || settle(&found, &prepared).iter().map(|shadow| shadow.fraction).collect()).await
            }
        }
    }
}
