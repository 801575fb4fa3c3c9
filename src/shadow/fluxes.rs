//! The visible flux of a light with limb darkening, for many observers.

use glam::DVec3;
use rayon::prelude::*;

use super::ball::{Ball, Shadow, ShadowKind};
use super::coverage::disc::OccluderSet;
use super::gpu::uniforms::Shade;
use super::gpu::visibility::{LEFT_TO_CPU, visible_shades};
use super::lighting::Lighting;
use super::limb_darkening::LimbDarkening;
use super::observers::{ShadowTasks, chunk_observers, refuse};
use super::visibility::LocalVisibility;
use crate::error::Result;
use crate::query::policy::check_same_length;
use crate::runtime::block_on::block_on;
use crate::runtime::memory::try_with_capacity;
use crate::scene::device::Device;

impl Device {
    /// Visible flux of a light with limb darkening for each observer, relative to that without occluders. `shadows` are the results of
    /// [`shadows`](Self::shadows) for the same observers. Without limb darkening, the flux is the visible fraction.
    ///
    /// The CPU engine computes in f64, accurate to 10⁻⁹ + 5 · 10⁻¹⁷ / a, for a light of the angular radius a in rad (10⁻⁸ where a spheroid
    /// overlaps another body). A GPU computes in f32, accurate to 10⁻³. The CPU computes the cases that the GPU cannot: those of
    /// [`shadows`](Self::shadows), and more than four spheres on one disc. Observers outside the penumbra and the antumbra see all of the
    /// light or nothing of it.
    ///
    /// The call blocks until all fluxes are computed, and allocates 16 bytes per observer.
    ///
    /// # Errors
    /// The errors of [`shadows_into`](Self::shadows_into).
    pub fn fluxes(&self, lighting: &Lighting, observers: &[DVec3], shadows: &[Shadow]) -> Result<Vec<f64>> {
        block_on(self.fluxes_async(lighting, observers, shadows))
    }

    /// [`fluxes`](Self::fluxes), for code that must not block. On the CPU engine the first poll of the future computes everything.
    pub async fn fluxes_async(&self, lighting: &Lighting, observers: &[DVec3], shadows: &[Shadow]) -> Result<Vec<f64>> {
        check_same_length("observers", observers.len(), "shadows", shadows.len())?;
        let Some(limb) = lighting.limb_darkening() else {
            return Ok(shadows.iter().map(|shadow| shadow.fraction).collect());
        };
        refuse(0, observers)?;
        let mut fluxes = try_with_capacity(observers.len())?;
        fluxes.extend(shadows.iter().map(|shadow| f64::from(u8::from(shadow.kind != ShadowKind::Umbra))));
        let mut partial = try_with_capacity(observers.len())?;
        let in_penumbra = |shadow: &Shadow| matches!(shadow.kind, ShadowKind::Penumbra | ShadowKind::Antumbra);
        partial.extend((0..observers.len()).filter(|&at| in_penumbra(&shadows[at])));
        let tasks = ShadowTasks::of(self, lighting)?;
        let chunk = self.on_gpu().map_or(partial.len().max(1), |_| chunk_observers(lighting));
        for places in partial.chunks(chunk) {
            let found = match self.on_gpu().zip(limb.quadratic()) {
                None => tasks.prepare_each(observers, places, |set, one| one.flux(set, limb))?,
                Some((gpu, law)) => {
                    let prepared = tasks.prepare_each(observers, places, |_, one| one.clone())?;
                    resolve(&visible_shades(gpu, &prepared, Some(law)).await?, &prepared, limb)
                }
            };
            places.iter().zip(found).for_each(|(&at, flux)| fluxes[at] = flux);
        }
        Ok(fluxes)
    }
}

impl ShadowTasks<'_> {
    /// Prepares the visibility query of each of the observers in `places`, and applies `finish` to it.
    fn prepare_each<T: Send>(
        &self,
        observers: &[DVec3],
        places: &[usize],
        finish: impl Fn(&mut OccluderSet, &LocalVisibility) -> T + Sync,
    ) -> Result<Vec<T>> {
        let Self { lighting, bvh, cancel, .. } = self;
        let one = |(occluder_set, prepared, ids, near): &mut Scratch, &at: &usize| {
            cancel.check()?;
            let observer = observers[at];
            let occluders = match bvh {
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
        places.par_iter().map_init(Scratch::default, one).collect()
    }
}

/// Scratch memory of a task: the occluders in front of the disc, the query, the ids of the occluders near the disc, and these occluders.
type Scratch = (OccluderSet, LocalVisibility, Vec<u32>, Vec<Ball>);

/// The device's results; those that it left to the CPU are computed here in f64.
pub(super) fn resolve(found: &[Shade], prepared: &[LocalVisibility], limb: LimbDarkening) -> Vec<f64> {
    let one = |set: &mut OccluderSet, (found, one): (&Shade, &LocalVisibility)| match found.kind {
        LEFT_TO_CPU => one.flux(set, limb),
        _ => f64::from(found.fraction),
    };
    found.par_iter().zip(prepared).map_init(OccluderSet::default, one).collect()
}
