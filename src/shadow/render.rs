//! Pictures and visible fractions on a device.

use std::sync::Arc;

use rayon::prelude::*;

use super::coverage::disc::OccluderSet;
use super::gpu::render::{self as on_gpu, Bodies};
use super::gpu::visibility::visible_shades;
use super::observers::resolve;
use super::picture::image::Picture;
use super::picture::prepared::PreparedPicture;
use super::picture::progress::Progress;
use super::picture::render_cpu;
use super::system::System;
use super::visibility::{LocalVisibility, VisibilityQuery};
use crate::error::Result;
use crate::gpu::engine::GpuEngine;
use crate::runtime::boxed::BoxedFuture;
use crate::runtime::cancel::CancelToken;
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
    /// A GPU renders the spheres that fit into its largest binding, 4,194,303 with WebGPU's default limits. The CPU renders more of them.
    /// It also renders systems with ambient occlusion, maps or graticules ([`System::is_for_cpu`]), large scenes that have a spheroid, and
    /// those with a light narrower than 10⁻⁹ rad (not a point).
    /// [`Picture::cpu_fallback`] is the reason, and [`Picture::cpu_pixels`] the number of pixels that the CPU computed.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a picture that would take longer than a day;
    /// [`Error::TooLarge`](crate::Error::TooLarge) for a picture too large for the device; [`Error::Cancelled`](crate::Error::Cancelled);
    /// device errors.
    pub async fn render(&self, system: &System, progress: Option<Progress>) -> Result<Picture> {
        let progress = progress.unwrap_or_else(|| Arc::new(|_| {}));
        let work = RenderWork {
            prepared_picture: Arc::new(PreparedPicture::new(system)?),
            system: Arc::new(system.clone()),
            cancel: self.cancel.clone(),
            progress,
        };
        let on_gpu = |gpu: &Arc<GpuEngine>| -> BoxedFuture<'_, Picture> { Box::pin(work.on_gpu(gpu.clone())) };
        self.on_engine(|| Box::pin(work.on_cpu()) as BoxedFuture<'_, Picture>, on_gpu).await
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
        let prepared = Arc::new(prepared);
        let on_cpu = || -> BoxedFuture<'_, Vec<f64>> {
            let fraction = |occluder_set: &mut OccluderSet, one: &LocalVisibility| one.shadow(occluder_set).fraction;
            let prepared = prepared.clone();
            Box::pin(run_on_pool(move || prepared.par_iter().map_init(OccluderSet::default, fraction).collect()))
        };
        let on_gpu = |gpu: &Arc<GpuEngine>| -> BoxedFuture<'_, Vec<f64>> {
            let (gpu, prepared) = (gpu.clone(), prepared.clone());
            Box::pin(async move {
                let found = visible_shades(&gpu, &prepared, None).await?;
                run_on_pool(move || resolve(&found, &prepared).iter().map(|shadow| shadow.fraction).collect()).await
            })
        };
        self.on_engine(on_cpu, on_gpu).await
    }
}

/// A picture to be rendered.
struct RenderWork {
    system: Arc<System>,
    prepared_picture: Arc<PreparedPicture>,
    cancel: CancelToken,
    progress: Progress,
}

impl RenderWork {
    async fn on_cpu(&self) -> Result<Picture> {
        let (system, prepared_picture) = (self.system.clone(), self.prepared_picture.clone());
        let (cancel, progress) = (self.cancel.clone(), self.progress.clone());
        run_on_pool(move || render_cpu::picture(&system, &prepared_picture, &cancel, &*progress)).await?
    }

    /// Renders on a GPU, or on the CPU if the GPU cannot draw this picture.
    async fn on_gpu(&self, gpu: Arc<GpuEngine>) -> Result<Picture> {
        let Self { system, prepared_picture, cancel, progress } = self;
        let bodies = match system.cpu_fallback() {
            Some(reason) => Err(reason),
            None => Bodies::new(&gpu, prepared_picture)?,
        };
        match bodies {
            Ok(bodies) => on_gpu::picture(&gpu, system, prepared_picture, &bodies, cancel, &**progress).await,
            Err(reason) => {
                let picture = self.on_cpu().await?;
                Ok(Picture { cpu_fallback: Some(reason), cpu_pixels: picture.id.len(), ..picture })
            }
        }
    }
}
