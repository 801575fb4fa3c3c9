//! Chooses the engine: of a device for pictures, shadows and estimates, and of a scene for a batch. No other file asks a device which
//! engine it has (`tests/architecture.rs`).

use std::sync::Arc;

use super::device::Device;
use super::hit_lists::Listed;
use super::output::Output;
use super::scene::{CPU_CHUNK, Scene, Wait};
use crate::batch::ray_batch::RayBatch;
use crate::batch::sphere_set::SphereSet;
use crate::bvh::BvhBuilder;
use crate::cpu::hit_lists::join;
use crate::error::Result;
use crate::gpu::cast::plan::Search;
use crate::gpu::engine::GpuEngine;
use crate::gpu::scene::GpuScene;
use crate::query::policy::Precision;
use crate::query::results::Tally;
use crate::runtime::cpu_pool::run_on_pool;

/// The engine that casts a batch.
enum Backend<'s> {
    /// The CPU engine, with borrowed rays: the caller blocks until the result is there.
    Cpu,
    /// The CPU engine, with owned copies of the rays: the caller polls, so tasks may outlive its borrow.
    CpuOwned,
    /// A GPU. The CPU engine resolves the rays that the GPU leaves undecided.
    Gpu(&'s GpuEngine, &'s GpuScene),
}

impl Backend<'_> {
    fn on_cpu(wait: Wait) -> Self {
        if wait == Wait::Blocking { Self::Cpu } else { Self::CpuOwned }
    }
}

impl Device {
    /// Calls the function of the engine that the device has.
    pub(crate) fn on_engine<T>(&self, cpu: impl FnOnce() -> T, gpu: impl FnOnce(&Arc<GpuEngine>) -> T) -> T {
        match self.gpu() {
            None => cpu(),
            Some(engine) => gpu(engine),
        }
    }

    /// Uploads the spheres of a scene. `None` on the CPU engine.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) if the CPU engine should build a BVH on a GPU; device errors.
    pub(super) async fn upload(
        &self,
        set: &SphereSet<'_>,
        pairwise: bool,
        builder: BvhBuilder,
    ) -> Result<Option<Arc<GpuScene>>> {
        match self.gpu() {
            None if builder == BvhBuilder::Gpu => Err(BvhBuilder::needs_gpu()),
            None => Ok(None),
            Some(gpu) => Ok(Some(Arc::new(GpuScene::new(gpu, set, pairwise, builder).await?))),
        }
    }
}

impl Scene {
    /// The GPU and the scene's data on it; `None` on the CPU engine.
    pub(crate) fn on_gpu(&self) -> Option<(&Arc<GpuEngine>, &Arc<GpuScene>)> {
        Some((self.device.gpu()?, self.gpu.as_ref()?))
    }

    /// Chooses the engine for a batch. `is_approach`: the query is `approach`.
    fn backend(&self, batch: &RayBatch<'_>, is_approach: bool, wait: Wait) -> Backend<'_> {
        match self.on_gpu() {
            Some((engine, scene)) if !self.answers_on_cpu(batch, is_approach) => Backend::Gpu(engine, scene),
            _ => Backend::on_cpu(wait),
        }
    }

    /// Whether the CPU engine takes over a batch from the GPU: because it is faster, or because the GPU flushes subnormal numbers to 0 and
    /// this could change an exact result. `is_approach`: the query is `approach`.
    pub(crate) fn answers_on_cpu(&self, batch: &RayBatch<'_>, is_approach: bool) -> bool {
        let (rays, spheres) = (batch.rays.len() as u64, self.len() as u64);
        let flushes = self.device.probe().is_some_and(|probe| !probe.subnormals);
        self.device.answers_on_cpu(if self.host.pairwise { 1 } else { spheres }, rays, batch.query.precision)
            || (flushes && batch.query.precision == Precision::Exact && self.host.needs_subnormals(batch, is_approach))
    }

    /// Casts a batch for one result per ray.
    pub(super) async fn dispatch<O: Output>(
        &self,
        batch: RayBatch<'_>,
        out: &mut [O::Word],
        wait: Wait,
    ) -> Result<Tally> {
        let backend = match self.backend(&batch, O::IS_APPROACH, wait) {
            Backend::Gpu(..) if self.host.pairwise && !O::PAIRS_ON_GPU => Backend::on_cpu(wait),
            backend => backend,
        };
        match backend {
            Backend::Cpu => O::cast_cpu(&self.host, batch, out),
            // Boxed, because the state of these futures is large and would be moved for each call on the CPU engine.
            Backend::CpuOwned => Box::pin(self.cast_owned::<O>(batch, out)).await,
            Backend::Gpu(engine, scene) => Box::pin(self.cast_gpu::<O>(engine, scene, batch, out)).await,
        }
    }

    /// Casts a batch for hit lists, each with at most `most` hits.
    pub(super) async fn dispatch_lists(&self, batch: RayBatch<'_>, most: u32, wait: Wait) -> Result<Listed> {
        match self.backend(&batch, false, wait) {
            Backend::Cpu => join(self.host.list(batch, most, &self.growth_budget())?),
            Backend::CpuOwned => Box::pin(self.list_owned(batch, most)).await,
            Backend::Gpu(engine, scene) => Box::pin(self.list_gpu(engine, scene, batch, most)).await,
        }
    }

    /// Casts a batch on a GPU, with the BVH. Rays that the traversal does not finish are cast again by brute force.
    async fn cast_gpu<O: Output>(
        &self,
        device: &GpuEngine,
        gpu: &GpuScene,
        batch: RayBatch<'_>,
        out: &mut [O::Word],
    ) -> Result<Tally> {
        let (tally, again) = gpu.cast(device, &self.host, batch, &mut O::writer(out), Search::Bvh).await?;
        let rest = batch.gather(&again);
        let mut results = vec![O::MISS; again.len().div_ceil(O::RAYS_PER_WORD)];
        let rest = rest.batch(batch.query, batch.cancel);
        let (more, _) = gpu.cast(device, &self.host, rest, &mut O::writer(&mut results), Search::BruteForce).await?;
        again.into_iter().enumerate().for_each(|(i, at)| O::copy(out, at, &results, i));
        Ok(tally + more)
    }

    /// Casts a batch in chunks, on workers of the CPU engine that own the rays of their chunk.
    async fn cast_owned<O: Output>(&self, batch: RayBatch<'_>, out: &mut [O::Word]) -> Result<Tally> {
        let mut sum = Tally::default();
        for (start, out) in (0..).step_by(CPU_CHUNK).zip(out.chunks_mut(CPU_CHUNK / O::RAYS_PER_WORD)) {
            let taken = batch.owned_range(start..batch.rays.len().min(start + CPU_CHUNK), self.host.start_check())?;
            let (scene, query, cancel) = (self.host.clone(), *batch.query, self.cancel.clone());
            let (tally, results) = run_on_pool(move || {
                let mut results = vec![O::MISS; taken.rays.len().div_ceil(O::RAYS_PER_WORD)];
                let tally = O::cast_cpu(&scene, taken.batch(&query, &cancel), &mut results);
                (tally, results)
            })
            .await?;
            sum = sum + tally?;
            out.copy_from_slice(&results);
        }
        Ok(sum)
    }
}
