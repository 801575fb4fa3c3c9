//! Physically right shadows: how much of a light's disc is left, and pictures of it.

mod batch;
mod bins;
mod camera;
mod color;
mod cull;
mod frame;
#[cfg(all(any(test, fuzzing), feature = "parquet"))]
pub(crate) mod fuzz;
mod lighting;
mod picture;
#[cfg(feature = "files")]
mod png;
mod sight;
mod spheroid;
mod stage;
mod system;
#[cfg(feature = "files")]
mod system_file;
#[cfg(all(any(test, fuzzing), feature = "files"))]
mod whole;

pub(crate) use camera::View;
pub use camera::{Camera, Lens};
pub use color::Color;
pub(crate) use cull::square;
pub use frame::Ball;
#[cfg(feature = "files")]
pub(crate) use lighting::check_observer;
pub use lighting::{Lighting, Shadow, ShadowKind};
pub use picture::Picture;
#[cfg(feature = "files")]
pub use png::{Bits, PictureFiles};
pub(crate) use sight::Prepared;
pub use sight::{Sight, visible_fraction};
pub use spheroid::Spheroid;
pub(crate) use stage::{Figure, Look, Receiver, Stage};
pub(crate) use system::check_camera;
pub use system::{Body, LightSource, MAX_BALLS, MAX_PIXELS, MAX_SAMPLES, MAX_SIDE, PictureOptions, System};
#[cfg(feature = "files")]
pub use system_file::PLANET;

use std::sync::Arc;

use rayon::prelude::*;

use crate::cpu::coverage::Sky;
use crate::cpu::on_cores;
use crate::device::{Device, Engine};
use crate::error::Result;
use crate::memory::grow;

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
        match &self.engine {
            Engine::Cpu => on_cores(move || crate::cpu::picture::picture(&system, &stage, &watch, &*progress)).await?,
            Engine::Gpu(gpu) => crate::gpu::picture::picture(gpu, &system, &stage, &watch, &*progress).await,
        }
    }

    /// The visible fraction of each sight's light: what [`visible_fraction`] says, many at once.
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
        match &self.engine {
            Engine::Cpu => {
                let fraction = |sky: &mut Sky, one: &Prepared| one.shadow(sky).fraction;
                on_cores(move || prepared.par_iter().map_init(Sky::default, fraction).collect()).await
            }
            Engine::Gpu(gpu) => {
                let found = crate::gpu::picture::shades(gpu, &prepared).await?;
                on_cores(move || batch::settle(&found, &prepared).iter().map(|shadow| shadow.fraction).collect()).await
            }
        }
    }
}
