//! The visible flux of a light with limb darkening, for many observers.

use std::sync::Arc;

use glam::DVec3;
use rayon::prelude::*;

use super::ball::{Ball, Shadow, ShadowKind};
use super::coverage::disc::OccluderSet;
use super::gpu::visibility::{LEFT_TO_CPU, visible_shades};
use super::lighting::Lighting;
use super::limb_darkening::LimbDarkening;
use super::observers::{occluder_bvh, refuse};
use super::occluder_bvh::OccluderBvh;
use super::visibility::LocalVisibility;
use crate::error::Result;
use crate::gpu::engine::GpuEngine;
use crate::query::policy::check_same_length;
use crate::runtime::boxed::BoxedFuture;
use crate::runtime::cancel::CancelToken;
use crate::runtime::cpu_pool::run_on_pool;
use crate::runtime::memory::try_with_capacity;
use crate::scene::device::Device;

impl Device {
    /// Visible flux of a light with limb darkening for each observer, relative to that without occluders. `shadows` are the results of
    /// [`shadows`](Self::shadows) for the same observers. Without limb darkening, the flux is the visible fraction.
    ///
    /// The CPU engine computes in f64, accurate to 10⁻⁹. A GPU computes in f32, accurate to 10⁻³. The CPU computes the cases that the GPU
    /// cannot: those of [`shadows`](Self::shadows), and more than four spheres on one disc. Observers outside the penumbra and the
    /// antumbra see all of the light or nothing of it.
    ///
    /// # Errors
    /// The errors of [`shadows_into`](Self::shadows_into).
    pub async fn fluxes(&self, lighting: &Lighting, observers: &[DVec3], shadows: &[Shadow]) -> Result<Vec<f64>> {
        check_same_length("observers", observers.len(), "shadows", shadows.len())?;
        let Some(limb) = lighting.limb_darkening() else {
            return Ok(shadows.iter().map(|shadow| shadow.fraction).collect());
        };
        refuse(0, observers)?;
        let mut fluxes = try_with_capacity(observers.len())?;
        fluxes.extend(shadows.iter().map(|shadow| f64::from(u8::from(shadow.kind != ShadowKind::Total))));
        let mut partial = try_with_capacity(observers.len())?;
        let in_penumbra = |shadow: &Shadow| matches!(shadow.kind, ShadowKind::Partial | ShadowKind::Annular);
        partial.extend((0..observers.len()).filter(|&at| in_penumbra(&shadows[at])));
        let bvh = Arc::new(occluder_bvh(lighting)?);
        for places in partial.chunks(self.chunk_observers(lighting)) {
            let observers = places.iter().map(|&at| observers[at]).collect();
            let (lighting, cancel) = (lighting.clone(), self.cancel.clone());
            let chunk = Arc::new(FluxChunk { lighting, bvh: bvh.clone(), observers, cancel, limb });
            let on_gpu =
                |gpu: &Arc<GpuEngine>| -> BoxedFuture<'_, Vec<f64>> { Box::pin(chunk.clone().on_gpu(gpu.clone())) };
            let on_cpu = || Box::pin(chunk.clone().on_cpu()) as BoxedFuture<'_, Vec<f64>>;
            let found = self.on_engine(on_cpu, on_gpu).await?;
            places.iter().zip(found).for_each(|(&at, flux)| fluxes[at] = flux);
        }
        Ok(fluxes)
    }
}

/// A part of the observers.
struct FluxChunk {
    lighting: Lighting,
    bvh: Arc<Option<OccluderBvh>>,
    observers: Vec<DVec3>,
    cancel: CancelToken,
    limb: LimbDarkening,
}

impl FluxChunk {
    async fn on_cpu(self: Arc<Self>) -> Result<Vec<f64>> {
        let limb = self.limb;
        run_on_pool(move || self.prepare_each(|set, one| one.flux(set, limb))).await?
    }

    async fn on_gpu(self: Arc<Self>, gpu: Arc<GpuEngine>) -> Result<Vec<f64>> {
        let limb = self.limb;
        let prepared = run_on_pool(move || self.prepare_each(|_, one| one.clone())).await??;
        let shades = visible_shades(&gpu, &prepared, Some(limb)).await?;
        let found = shades.iter().map(|one| (one.kind != LEFT_TO_CPU).then_some(f64::from(one.fraction)));
        let found: Vec<Option<f64>> = found.collect();
        run_on_pool(move || resolve(&found, &prepared, limb)).await
    }

    /// Prepares the visibility query of each observer, and applies `finish` to it.
    fn prepare_each<T: Send>(&self, finish: impl Fn(&mut OccluderSet, &LocalVisibility) -> T + Sync) -> Result<Vec<T>> {
        let Self { lighting, bvh, observers, cancel, .. } = self;
        let one = |(occluder_set, prepared, ids, near): &mut Scratch, &observer: &DVec3| {
            cancel.check()?;
            let occluders = match bvh.as_ref() {
                None => lighting.occluders(),
                Some(bvh) => {
                    ids.clear();
                    bvh.query_all(observer, observer.length(), ids);
                    near.clear();
                    near.extend(ids.iter().map(|&id| lighting.occluders()[id as usize]));
                    near
                }
            };
            prepared.set(observer, lighting.light(), occluders, lighting.spheroids());
            Ok(finish(occluder_set, prepared))
        };
        observers.par_iter().map_init(Scratch::default, one).collect()
    }
}

/// Scratch memory of a task: the occluders in front of the disc, the query, the ids of the occluders near the disc, and these occluders.
type Scratch = (OccluderSet, LocalVisibility, Vec<u32>, Vec<Ball>);

/// The device's results; those that it left to the CPU are computed here in f64.
fn resolve(found: &[Option<f64>], prepared: &[LocalVisibility], limb: LimbDarkening) -> Vec<f64> {
    let one = |set: &mut OccluderSet, (found, one): (&Option<f64>, &LocalVisibility)| {
        found.unwrap_or_else(|| one.flux(set, limb))
    };
    found.par_iter().zip(prepared).map_init(OccluderSet::default, one).collect()
}
