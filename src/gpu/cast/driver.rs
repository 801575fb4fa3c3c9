//! Casts a batch on a GPU: rays in chunks, spheres in parts and ranges. While the device works on one chunk, the host reads the results
//! of the previous chunk and writes the next one, both in mapped memory.

use std::collections::VecDeque;
use std::ops::Range;

use super::plan::{DispatchPlan, Search};
use super::raygen::RaySeeds;
use super::readback::{DecodedChunk, ResultWriter, UndecidedRay};
use super::resolve::RayContext;
use super::staging::{BufferSizes, Excluded, PendingReadback, STAGING_COUNT, Staging};
use crate::batch::ray_batch::RayBatch;
use crate::cpu::scene::CpuScene;
use crate::error::Result;
use crate::gpu::context::throughput::SubmissionMeter;
use crate::gpu::engine::GpuEngine;
use crate::gpu::scene::{GpuScene, MAX_RANGE_SPHERES};
use crate::gpu::uniforms::UNIFORM_STEP;
use crate::query::results::Tally;
use crate::records::{Ray, RayAttributes};
use crate::runtime::map_tasks;

/// Threads per workgroup, in every program of a cast.
const WORKGROUP: u64 = 64;
/// Maximum number of rays per chunk: 2²⁰ rays are 32 MiB and 16,384 workgroups, below every default limit.
const MAX_CHUNK_RAYS: u64 = 1 << 20;
/// Minimum number of rays per chunk: as many as one workgroup takes. If nearly all spheres are hit, a chunk of this size takes a fifth
/// of a second.
const MIN_CHUNK_RAYS: u64 = 512;
/// Maximum number of queued submissions: enough to keep the device busy, few enough to cancel soon.
const MAX_QUEUED: usize = 2;

/// Results of the finished chunks: counts, and the rays to cast again.
#[derive(Default)]
struct CastTotals {
    tally: Tally,
    unfinished: Vec<usize>,
}

/// A chunk in flight.
struct Chunk {
    staging: Staging,
    pending: PendingReadback,
    /// Index of its first ray in the batch, number of its rays, and those of them for which the device computes no result.
    start: usize,
    count: usize,
    /// Bytes to read back.
    bytes: u64,
    excluded: Excluded,
    /// Number of its last submission in the meter.
    submission: u64,
}

/// Data that a query adds to a chunk: its results of variable length, in bytes, and the initial state, if no program sets it.
struct QueryData {
    list_bytes: u64,
    initial_state: Option<Vec<u32>>,
}

impl GpuScene {
    /// Number of rays per chunk if each is tested against `spheres` spheres and `budget` tests fit into a submission.
    pub(crate) fn chunk_rays(gpu: &GpuEngine, budget: u64, spheres: u64) -> u64 {
        let groups = u64::from(gpu.device.limits().max_compute_workgroups_per_dimension);
        let most = (gpu.largest_binding() / size_of::<Ray>() as u64).min(groups * WORKGROUP).min(MAX_CHUNK_RAYS);
        let chunk = (budget / spheres.max(1)).max(MIN_CHUNK_RAYS).min(most);
        // Whole workgroups, unless a limit allows less than one.
        let whole = if chunk < WORKGROUP { chunk.max(1) } else { chunk / WORKGROUP * WORKGROUP };
        whole.min(gpu.limits().rays.max(1))
    }

    #[cfg(feature = "shadow")]
    /// Maximum number of rays in a band of a picture with `tests` tests per ray.
    pub(crate) fn band_rays(gpu: &GpuEngine, tests: u64) -> u64 {
        Self::chunk_rays(
            gpu,
            crate::gpu::context::throughput::budget(crate::gpu::context::throughput::usual(gpu.is_software())),
            tests,
        )
    }

    /// Device memory of the chunks in flight. `pair_attributes` is the number of bytes of attributes per sphere that is uploaded with its
    /// ray (pairwise scenes).
    pub(crate) fn bytes_in_flight(spheres: u64, rays: u64, pair_attributes: u64) -> u64 {
        let (rays, params) =
            (rays.min(MAX_CHUNK_RAYS), (spheres.div_ceil(MAX_RANGE_SPHERES) * UNIFORM_STEP).next_multiple_of(4096));
        let sizes = BufferSizes {
            params,
            upload_rays: 32 * rays,
            pairs: 16 * rays,
            ray_attributes: RayAttributes::UPLOADED_BYTES as u64 * rays,
            pair_attributes: pair_attributes * rays,
            seeds: 0,
            rays: 32 * rays,
            state: 24 * rays,
            results: 12 * rays,
        };
        STAGING_COUNT as u64 * sizes.total()
    }

    /// Casts a batch, chunk by chunk. Returns the counts, and the indices of the rays to cast again without the BVH.
    pub(crate) async fn cast<G: ResultWriter>(
        &self,
        gpu: &GpuEngine,
        host: &CpuScene,
        batch: RayBatch<'_>,
        out: &mut G,
        search: Search,
    ) -> Result<(Tally, Vec<usize>)> {
        let mut sum = CastTotals::default();
        batch.cancel.check()?;
        if batch.rays.len() == 0 {
            return Ok((sum.tally, sum.unfinished));
        }
        let plan = DispatchPlan::new(gpu, self, host, batch, search, out.kernels(), G::IS_APPROACH).await?;
        let mut in_flight: VecDeque<Chunk> = VecDeque::new();
        let mut free = Vec::new();
        let mut meter = SubmissionMeter::new(plan.throughput());
        let mut start = 0;
        while start < batch.rays.len() {
            if in_flight.len() >= STAGING_COUNT
                && let Some(chunk) = in_flight.pop_front()
            {
                free.push(plan.finish_chunk(chunk, out, &mut sum, &mut meter).await?);
            }
            batch.cancel.check()?;
            let end = batch.rays.len().min(start + plan.next_chunk_rays()?);
            let part = start..start + out.max_rays(start..end);
            let own =
                QueryData { list_bytes: out.list_bytes(part.clone()), initial_state: out.initial_state(part.clone()) };
            start = part.end;
            in_flight.push_back(plan.submit_chunk(free.pop(), part, own, &mut meter).await?);
        }
        while let Some(chunk) = in_flight.pop_front() {
            free.push(plan.finish_chunk(chunk, out, &mut sum, &mut meter).await?);
        }
        for staging in free {
            gpu.staging.release(staging);
        }
        Ok((sum.tally, sum.unfinished))
    }
}

impl DispatchPlan<'_> {
    /// Writes a chunk's rays into mapped memory and submits all its work.
    async fn submit_chunk(
        &self,
        free: Option<Staging>,
        part: Range<usize>,
        own: QueryData,
        meter: &mut SubmissionMeter<'_>,
    ) -> Result<Chunk> {
        let (start, rays) = (part.start, self.batch.rays.slice(part.clone()));
        let count = rays.len() as u64;
        let seeds = RaySeeds::of(rays, self.generator.is_some());
        let sizes = self.buffer_sizes(&seeds, own.list_bytes);
        let staging = self.gpu.staging.take(self.gpu, free, sizes).await?;
        let excluded = self.write_upload(staging.view(self.gpu).await?, &seeds, start)?;
        let groups = self.bind_groups(&staging).await?;
        // Bytes of state to read back: without a finalize program the state is the result.
        let after = if self.finalize_pipeline.is_some() { 0 } else { sizes.results - own.list_bytes };
        if let Some(begins) = &own.initial_state {
            self.gpu.write(&staging.state, begins).await?;
        }
        let made = seeds.bind_group(self.gpu, self.generator.as_ref(), &staging).await?;
        let mut queued = VecDeque::new();
        let mut begin = 0;
        let (submission, number) = loop {
            self.batch.cancel.check()?;
            let end = self.ranges_per_submission(begin, count);
            let last = end == self.ranges.len();
            let submission = self
                .gpu
                .scoped(|| {
                    let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
                    if begin == 0 {
                        staging.record_upload(&mut encoder, &sizes);
                        if self.finalize_pipeline.is_none() && own.initial_state.is_none() {
                            encoder.clear_buffer(&staging.state, 0, Some(sizes.state));
                        }
                    }
                    {
                        let mut pass = encoder.begin_compute_pass(&Default::default());
                        if begin == 0
                            && let Some((pipeline, group)) = &made
                        {
                            pass.set_pipeline(pipeline);
                            pass.set_bind_group(0, group, &[]);
                            pass.dispatch_workgroups(count.div_ceil(WORKGROUP) as u32, 1, 1);
                        }
                        pass.set_pipeline(&self.search_pipeline);
                        for (n, range) in (begin..).zip(&self.ranges[begin..end]) {
                            pass.set_bind_group(0, &groups[range.part][0], &[(n as u64 * UNIFORM_STEP) as u32]);
                            pass.dispatch_workgroups(count.div_ceil(WORKGROUP * self.rays_per_thread) as u32, 1, 1);
                        }
                        if last && let Some(finish) = &self.finalize_pipeline {
                            pass.set_pipeline(finish);
                            // Each part finishes the rays whose best sphere it contains.
                            for (part, [_, group]) in groups.iter().enumerate() {
                                let n = self.ranges.iter().position(|range| range.part == part).unwrap_or(0);
                                pass.set_bind_group(0, group, &[(n as u64 * UNIFORM_STEP) as u32]);
                                pass.dispatch_workgroups(count.div_ceil(WORKGROUP) as u32, 1, 1);
                            }
                        }
                    }
                    if last {
                        let before = sizes.results - after;
                        staging.record_readback(&mut encoder, &staging.results, 0, before);
                        staging.record_readback(&mut encoder, &staging.state, before, sizes.results - before);
                    }
                    self.gpu.queue.submit([encoder.finish()])
                })
                .await?;
            let weight: u64 = self.ranges[begin..end].iter().map(|range| range.weight).sum();
            let number = meter.submitted(count * weight);
            if last {
                break (submission, number);
            }
            begin = end;
            queued.push_back((submission, number));
            if queued.len() > MAX_QUEUED
                && let Some((oldest, number)) = queued.pop_front()
            {
                self.gpu.wait(oldest).await?;
                meter.completed(number);
            }
        };
        let pending = self.gpu.scoped(|| staging.map_after(submission, sizes.results)).await?;
        let (count, bytes) = (rays.len(), sizes.results);
        Ok(Chunk { staging, pending, start, count, bytes, excluded, submission: number })
    }

    /// Waits for a chunk and decodes its results. Rays that the device left undecided are resolved on all CPU cores.
    async fn finish_chunk<G: ResultWriter>(
        &self,
        chunk: Chunk,
        out: &mut G,
        sum: &mut CastTotals,
        meter: &mut SubmissionMeter<'_>,
    ) -> Result<Staging> {
        let Chunk { staging, pending, start, count, bytes, excluded, submission } = chunk;
        let Excluded { invalid, on_host } = excluded;
        let batch = self.batch;
        let rays = batch.rays.slice(start..start + count);
        let view = staging.wait(self.gpu, pending, bytes).await?;
        meter.completed(submission);
        // The device computes no result for invalid rays, nor for those that the host casts.
        let mut without = [&invalid[..], &on_host].concat();
        without.sort_unstable();
        let DecodedChunk { tally: mut part, undecided: mut open, unfinished: again } =
            out.decode(start, rays, &view, &without);
        for at in on_host.into_iter().map(|at| at as usize) {
            let (ray, attributes) = (rays.ray(at), RayAttributes::NONE);
            open.extend(G::unresolved().map(|raw| UndecidedRay { index: start + at, ray, attributes, raw }));
        }
        open.iter_mut().for_each(|open| open.attributes = batch.ray_attributes.of(open.index));
        drop(view);
        self.gpu.scoped(|| staging.unmap()).await?;
        if !open.is_empty() {
            let (settled, more) = resolve_all::<G>(open, self.host, batch);
            batch.cancel.check()?;
            part = part + more;
            part.hits += out.write(settled);
        }
        part.skipped += invalid.len() as u64;
        sum.tally = sum.tally + part;
        // Rays to cast again are counted as done after that cast.
        batch.cancel.add((count - again.len()) as u64);
        sum.unfinished.extend(again);
        Ok(staging)
    }
}

/// Undecided rays per task: enough to hide the cost of a task.
const TASK_RAYS: usize = 64;

/// Resolves undecided rays on all CPU cores.
fn resolve_all<G: ResultWriter>(
    mut open: Vec<UndecidedRay<G::Item>>,
    host: &CpuScene,
    batch: RayBatch<'_>,
) -> (Vec<(usize, G::Item)>, Tally) {
    let one = |open: UndecidedRay<G::Item>, tally: &mut Tally| {
        if batch.cancel.is_cancelled() {
            // The result is discarded.
            return (open.index, open.raw);
        }
        let context =
            RayContext { ray: open.ray, number: batch.first + open.index as u64, attributes: open.attributes };
        (open.index, G::resolve(open.raw, &context, host, batch.query, tally))
    };
    host.expect_rays(open.len());
    let mut groups = Vec::new();
    while !open.is_empty() {
        groups.push(open.split_off(open.len().saturating_sub(TASK_RAYS)));
    }
    let task = |group: Vec<UndecidedRay<G::Item>>| {
        let mut tally = Tally::default();
        let settled: Vec<_> = group.into_iter().map(|open| one(open, &mut tally)).collect();
        (settled, tally)
    };
    let (mut settled, mut tally) = (Vec::new(), Tally::default());
    for (group, part) in map_tasks(groups.into_iter().rev(), task) {
        settled.extend(group);
        tally = tally + part;
    }
    (settled, tally)
}
