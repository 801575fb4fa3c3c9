//! Chooses the engine: of a device for pictures, shadows and estimates, and of a scene for a batch. No other file asks a device which
//! engine it has. Either engine casts into the caller's memory, a record or a bit per ray ([`Output`]).

use std::sync::Arc;

use super::device::Device;
use super::hit_lists::Listed;
use super::scene::Scene;
use crate::batch::ray_batch::RayBatch;
use crate::cpu::growth_budget::GrowthBudget;
use crate::cpu::hit_lists::join;
use crate::cpu::query::kind::RayQuery;
use crate::cpu::query::kinds::Occluded;
use crate::cpu::scene::CpuScene;
use crate::error::Result;
use crate::gpu::cast::readback::{BitWriter, RecordWriter, ResultWriter};
use crate::gpu::cast::resolve::GpuQuery;
use crate::gpu::engine::GpuEngine;
use crate::gpu::scene::GpuScene;
use crate::query::policy::Precision;
use crate::query::results::Tally;

impl Device {
    /// The GPU; `None` on the CPU engine.
    pub(crate) fn on_gpu(&self) -> Option<&Arc<GpuEngine>> {
        self.gpu.as_ref()
    }
}

impl Scene {
    /// The GPU and the scene's data on it; `None` on the CPU engine.
    pub(crate) fn on_gpu(&self) -> Option<(&Arc<GpuEngine>, &Arc<GpuScene>)> {
        Some((self.device.on_gpu()?, self.gpu.as_ref()?))
    }

    /// The GPU that casts a batch; `None` if the CPU engine casts it. `is_approach`: the query is `approach`.
    fn gpu_for(&self, batch: &RayBatch<'_>, is_approach: bool) -> Option<(&GpuEngine, &GpuScene)> {
        let (engine, scene) = self.on_gpu()?;
        (!self.answers_on_cpu(batch, is_approach)).then_some((engine, scene))
    }

    /// Whether the CPU engine takes over a batch from the GPU: because it is faster, or because the GPU flushes subnormal numbers to 0 and
    /// this could change an exact result. `is_approach`: the query is `approach`.
    pub(crate) fn answers_on_cpu(&self, batch: &RayBatch<'_>, is_approach: bool) -> bool {
        let flushes = || self.device.probe().is_some_and(|probe| !probe.subnormals);
        let spheres = if self.host.pairwise { 1 } else { self.len() as u64 };
        let pairs = spheres.saturating_mul(batch.rays.len() as u64);
        // Only at `Exact` do both give the same bytes; at other precisions the result of a ray would depend on the size of its batch.
        batch.query.precision == Precision::Exact
            && (pairs < self.device.few || (flushes() && self.host.needs_subnormals(is_approach)))
    }

    /// Casts a batch for one result per ray.
    pub(super) async fn dispatch<O: Output>(&self, batch: RayBatch<'_>, out: &mut [O::Word]) -> Result<Tally> {
        match self.gpu_for(&batch, O::IS_APPROACH) {
            // Boxed, because the state of this future is large and would be moved for each call on the CPU engine.
            Some((engine, scene)) if O::PAIRS_ON_GPU || !self.host.pairwise => {
                Box::pin(self.cast_gpu::<O>(engine, scene, batch, out)).await
            }
            _ => O::cast_cpu(&self.host, batch, out),
        }
    }

    /// Casts a batch for hit lists, each with at most `most` hits.
    pub(super) async fn dispatch_lists(&self, batch: RayBatch<'_>, most: u32) -> Result<Listed> {
        match self.gpu_for(&batch, false) {
            Some((engine, scene)) => Box::pin(self.list_gpu(engine, scene, batch, most)).await,
            // All lists of a query share the memory budget.
            None => join(self.host.list(batch, most, &GrowthBudget::new(self.device.limits.memory))?),
        }
    }
}

/// Layout of a query's results, and the two casts that write it.
pub(super) trait Output: RayQuery {
    /// Element of the caller's memory.
    type Word: Copy + Send + 'static;
    /// Results of the GPU, on their way into the caller's memory.
    type Writer<'o>: ResultWriter;
    /// A word whose rays all miss.
    const EMPTY: Self::Word;
    /// Results per word.
    const RAYS_PER_WORD: usize;
    /// Whether a GPU casts pairwise scenes. Otherwise the CPU engine does.
    const PAIRS_ON_GPU: bool;

    /// Casts a batch on the CPU engine. `out` has a word for each [`RAYS_PER_WORD`](Self::RAYS_PER_WORD) rays, the last perhaps for fewer.
    fn cast_cpu(host: &CpuScene, batch: RayBatch<'_>, out: &mut [Self::Word]) -> Result<Tally>;
    /// Wraps the caller's memory for a cast on a GPU.
    fn writer(out: &mut [Self::Word]) -> Self::Writer<'_>;
    /// Copies the result of ray `i` of `from` to ray `at` of `out`, where that ray misses so far.
    fn copy(out: &mut [Self::Word], at: usize, from: &[Self::Word], i: usize);
}

/// One record per ray.
impl<Q: GpuQuery> Output for Q {
    type Word = Q::Record;
    type Writer<'o> = RecordWriter<'o, Q>;
    const EMPTY: Q::Record = Q::MISS;
    const RAYS_PER_WORD: usize = 1;
    const PAIRS_ON_GPU: bool = <Q as GpuQuery>::PAIRS_ON_GPU;

    fn cast_cpu(host: &CpuScene, batch: RayBatch<'_>, out: &mut [Q::Record]) -> Result<Tally> {
        host.cast::<Q>(batch, out)
    }

    fn writer(out: &mut [Q::Record]) -> RecordWriter<'_, Q> {
        RecordWriter::new(out)
    }

    fn copy(out: &mut [Q::Record], at: usize, from: &[Q::Record], i: usize) {
        out[at] = from[i];
    }
}

/// One bit per ray.
impl Output for Occluded {
    type Word = u32;
    type Writer<'o> = BitWriter<'o>;
    const EMPTY: u32 = 0;
    const RAYS_PER_WORD: usize = 32;
    const PAIRS_ON_GPU: bool = true;

    fn cast_cpu(host: &CpuScene, batch: RayBatch<'_>, out: &mut [u32]) -> Result<Tally> {
        host.cast_bits(batch, out)
    }

    fn writer(out: &mut [u32]) -> BitWriter<'_> {
        BitWriter(out)
    }

    fn copy(out: &mut [u32], at: usize, from: &[u32], i: usize) {
        out[at / 32] |= (from[i / 32] >> (i % 32) & 1) << (at % 32);
    }
}
