//! Pictures and visible fractions on a device.

use std::sync::Arc;

use rayon::prelude::*;

use super::coverage::disc::OccluderSet;
use super::gpu::render as on_gpu;
use super::observers::resolve;
use super::picture::image::Picture;
use super::picture::prepared::PreparedPicture;
use super::picture::progress::Progress;
use super::picture::receiver_lists::ReceiverLists;
use super::picture::render_cpu;
use super::system::System;
use super::visibility::{LocalVisibility, VisibilityQuery};
use crate::error::Result;
use crate::runtime::cpu_pool::run_on_pool;
use crate::runtime::memory::try_reserve;
use crate::scene::device::Device;

impl Device {
    /// Renders a system.
    ///
    /// The CPU renders in f64; a GPU renders in f32, from numbers that the CPU makes relative in f64. Their pictures agree as follows,
    /// except for single pixels at edges: colours within one step of 8 bits; distances within a relative 10⁻⁵; fractions within 10⁻³ plus
    /// the change of the fraction across a thousandth of a pixel (on bodies of many pixels, the largest difference seen is 10⁻⁴).
    ///
    /// A GPU renders at most 65,536 spheres and 4,194,304 pairs of a sphere and one that may shade it. Beyond that the CPU renders, and also
    /// systems with ambient occlusion, maps or graticules ([`System::is_for_cpu`]).
    ///
    /// # Errors
    /// [`Error::Usage`](crate::Error::Usage) for a picture that would take longer than a day;
    /// [`Error::TooLarge`](crate::Error::TooLarge) for a picture too large for the device; [`Error::Cancelled`](crate::Error::Cancelled);
    /// device errors.
    pub async fn render(&self, system: &System, progress: Option<Progress>) -> Result<Picture> {
        let progress = progress.unwrap_or_else(|| Arc::new(|_| {}));
        let gpu = self.gpu().filter(|_| ReceiverLists::suit(system));
        let prepared_picture = Arc::new(PreparedPicture::new(system, gpu.is_some())?);
        let system = Arc::new(system.clone());
        let cancel = self.cancel.clone();
        let on_cpu = || {
            let (system, prepared_picture) = (system.clone(), prepared_picture.clone());
            let (cancel, progress) = (cancel.clone(), progress.clone());
            run_on_pool(move || render_cpu::picture(&system, &prepared_picture, &cancel, &*progress))
        };
        match gpu {
            None => on_cpu().await?,
            Some(gpu) => match ReceiverLists::new(&prepared_picture)? {
                Some(lists) => on_gpu::picture(gpu, &system, &prepared_picture, &lists, &cancel, &*progress).await,
                None => on_cpu().await?,
            },
        }
    }

    /// Visible fraction of each query's light: the batch version of [`visible_fraction`](crate::shadow::visible_fraction).
    ///
    /// A GPU computes in f32, accurate to 10⁻⁴; the CPU computes what f32 cannot represent. For many observers of one light
    /// [`shadows`](Self::shadows) is faster.
    ///
    /// # Errors
    /// [`Error::BadRecord`](crate::Error::BadRecord) for an invalid query; device errors.
    pub async fn visible_fractions(&self, queries: &[VisibilityQuery]) -> Result<Vec<f64>> {
        let mut prepared = Vec::new();
        try_reserve("visibility queries", &mut prepared, queries.len() as u64)?;
        for query in queries {
            prepared.push(query.prepare()?);
        }
        match self.gpu() {
            None => {
                let fraction =
                    |occluder_set: &mut OccluderSet, one: &LocalVisibility| one.shadow(occluder_set).fraction;
                run_on_pool(move || prepared.par_iter().map_init(OccluderSet::default, fraction).collect()).await
            }
            Some(gpu) => {
                let found = on_gpu::visible_shades(gpu, &prepared, None).await?;
                run_on_pool(move || resolve(&found, &prepared).iter().map(|shadow| shadow.fraction).collect()).await
            }
        }
    }
}
