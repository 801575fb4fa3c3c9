//! Which engine casts a batch: the only place that chooses between a scene's engines.

use super::hit_lists::Listed;
use super::scene::{CPU_CHUNK, Caller, Scene};
use crate::batch::ray_batch::Batch;
use crate::cpu::hit_lists::join;
use crate::cpu::query::kind::CpuQuery;
use crate::error::Result;
use crate::gpu::cast::hit_lists::Counts;
use crate::gpu::cast::plan::Way;
use crate::gpu::cast::readback::{Records, Words};
use crate::gpu::cast::resolve::GpuQuery;
use crate::gpu::engine::GpuEngine;
use crate::gpu::scene::GpuScene;
use crate::query::policy::Precision;
use crate::query::results::Tally;
use crate::runtime::cpu_pool::on_cores;

/// Where a batch is cast.
enum Backend<'s> {
    /// On the CPU engine, while the caller waits.
    Cpu,
    /// On the CPU engine's workers, which own their rays, while the caller polls.
    CpuOwned,
    /// On a GPU. The CPU engine answers what it leaves undecided.
    Gpu(&'s GpuEngine, &'s GpuScene),
}

impl Scene {
    /// Where a batch is cast; `nears` says that the query is about nearest passes.
    fn backend(&self, batch: &Batch<'_>, nears: bool, caller: Caller) -> Backend<'_> {
        match self.on_gpu() {
            Some((engine, scene)) if !self.spares(batch, nears) => Backend::Gpu(engine, scene),
            _ if caller == Caller::Waits => Backend::Cpu,
            _ => Backend::CpuOwned,
        }
    }

    /// Whether the CPU engine answers instead of the GPU: because it is quicker, or because the GPU takes subnormal numbers for 0 where
    /// that could change an exact answer. `nears` says that the query is about nearest passes.
    pub(crate) fn spares(&self, batch: &Batch<'_>, nears: bool) -> bool {
        let (rays, spheres) = (batch.rays.len() as u64, self.len() as u64);
        let flushes = self.device.probe().is_some_and(|probe| !probe.subnormals);
        self.device.spares(if self.host.pairwise { 1 } else { spheres }, rays, batch.query.precision)
            || (flushes && batch.query.precision == Precision::Exact && self.host.needs_subnormals(batch, nears))
    }

    /// Casts a batch for records.
    pub(super) async fn dispatch<T: GpuQuery>(&self, batch: Batch<'_>, out: &mut [T], caller: Caller) -> Result<Tally> {
        match self.backend(&batch, T::NEARS, caller) {
            Backend::Cpu => self.host.cast(batch, out),
            Backend::CpuOwned => self.cast_owned(batch, out).await,
            Backend::Gpu(engine, scene) => self.cast_gpu(engine, scene, batch, out).await,
        }
    }

    /// Casts a batch for bits.
    pub(super) async fn dispatch_bits(&self, batch: Batch<'_>, words: &mut [u32], caller: Caller) -> Result<Tally> {
        match self.backend(&batch, false, caller) {
            Backend::Cpu => self.host.cast_bits(batch, words),
            Backend::CpuOwned => self.bits_owned(batch, words).await,
            Backend::Gpu(engine, scene) => self.bits_gpu(engine, scene, batch, words).await,
        }
    }

    /// Casts a batch for counts.
    pub(super) async fn dispatch_counts(&self, batch: Batch<'_>, out: &mut [u32], caller: Caller) -> Result<Tally> {
        match self.backend(&batch, false, caller) {
            Backend::Cpu => self.host.cast(batch, out),
            Backend::CpuOwned => self.cast_owned(batch, out).await,
            Backend::Gpu(engine, scene) => self.count_gpu(engine, scene, batch, out).await,
        }
    }

    /// Casts a batch for lists, each at most `most` long.
    pub(super) async fn dispatch_lists(&self, batch: Batch<'_>, most: u32, caller: Caller) -> Result<Listed> {
        match self.backend(&batch, false, caller) {
            Backend::Cpu => join(self.host.list(batch, most, &self.pool())?),
            Backend::CpuOwned => self.list_owned(batch, most).await,
            Backend::Gpu(engine, scene) => self.list_gpu(engine, scene, batch, most).await,
        }
    }

    /// By the tree, and what did not come to an end there without it.
    async fn cast_gpu<T: GpuQuery>(
        &self,
        device: &GpuEngine,
        gpu: &GpuScene,
        batch: Batch<'_>,
        out: &mut [T],
    ) -> Result<Tally> {
        let (tally, again) = gpu.cast(device, &self.host, batch, &mut Records(out), Way::Tree).await?;
        let rest = batch.some(&again);
        let mut records = vec![T::MISS; again.len()];
        let rest = rest.batch(batch.query, batch.watch);
        let (more, _) = gpu.cast(device, &self.host, rest, &mut Records(&mut records), Way::Brute).await?;
        again.into_iter().zip(records).for_each(|(at, record)| out[at] = record);
        Ok(tally + more)
    }

    /// The same for bits.
    async fn bits_gpu(&self, device: &GpuEngine, gpu: &GpuScene, batch: Batch<'_>, words: &mut [u32]) -> Result<Tally> {
        let (tally, again) = gpu.cast(device, &self.host, batch, &mut Words(words), Way::Tree).await?;
        let rest = batch.some(&again);
        let mut bits = vec![0; again.len().div_ceil(32)];
        let rest = rest.batch(batch.query, batch.watch);
        let (more, _) = gpu.cast(device, &self.host, rest, &mut Words(&mut bits), Way::Brute).await?;
        for (i, at) in again.into_iter().enumerate() {
            words[at / 32] |= (bits[i / 32] >> (i % 32) & 1) << (at % 32);
        }
        Ok(tally + more)
    }

    /// By the tree, and what did not come to an end there without it.
    async fn count_gpu(&self, device: &GpuEngine, gpu: &GpuScene, batch: Batch<'_>, out: &mut [u32]) -> Result<Tally> {
        let (tally, again) = gpu.cast(device, &self.host, batch, &mut Counts(out), Way::Tree).await?;
        let rest = batch.some(&again);
        let mut counts = vec![0; again.len()];
        let rest = rest.batch(batch.query, batch.watch);
        let (more, _) = gpu.cast(device, &self.host, rest, &mut Counts(&mut counts), Way::Brute).await?;
        again.into_iter().zip(counts).for_each(|(at, count)| out[at] = count);
        Ok(tally + more)
    }

    /// Rays in pieces that the CPU engine's workers own.
    pub(crate) async fn cast_owned<T: CpuQuery>(&self, batch: Batch<'_>, out: &mut [T]) -> Result<Tally> {
        let mut sum = Tally::default();
        for (start, out) in (0..).step_by(CPU_CHUNK).zip(out.chunks_mut(CPU_CHUNK)) {
            let taken = batch.owned(start..start + out.len())?;
            let (scene, query, watch) = (self.host.clone(), *batch.query, self.watch.clone());
            let (tally, records) = on_cores(move || {
                let mut records = vec![T::MISS; taken.rays.len()];
                let tally = scene.cast(taken.batch(&query, &watch), &mut records);
                (tally, records)
            })
            .await?;
            sum = sum + tally?;
            out.copy_from_slice(&records);
        }
        Ok(sum)
    }

    /// The same for bits.
    async fn bits_owned(&self, batch: Batch<'_>, words: &mut [u32]) -> Result<Tally> {
        let mut sum = Tally::default();
        for (start, words) in (0..).step_by(CPU_CHUNK).zip(words.chunks_mut(CPU_CHUNK / 32)) {
            let taken = batch.owned(start..batch.rays.len().min(start + CPU_CHUNK))?;
            let (scene, query, watch) = (self.host.clone(), *batch.query, self.watch.clone());
            let (tally, bits) = on_cores(move || {
                let mut bits = vec![0; taken.rays.len().div_ceil(32)];
                let tally = scene.cast_bits(taken.batch(&query, &watch), &mut bits);
                (tally, bits)
            })
            .await?;
            sum = sum + tally?;
            words.copy_from_slice(&bits);
        }
        Ok(sum)
    }
}
