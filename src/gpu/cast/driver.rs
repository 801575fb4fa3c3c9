//! Casts a batch on a GPU: rays in chunks, spheres in parts and ranges. While the device works on one chunk, the host reads the results
//! of the previous chunk and writes the next one, both in mapped memory.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use wgpu::BufferView;

use super::plan::{Plan, Way};
use super::raygen::Seeds;
use super::readback::{Gather, Landed, Open};
use super::resolve::Asker;
use super::staging::{Flight, SLOTS, Sizes, Slot};
use crate::batch::ray_batch::Batch;
use crate::cpu::scene::CpuScene;
use crate::error::Result;
use crate::gpu::context::throughput::{self, Meter};
use crate::gpu::engine::GpuEngine;
use crate::gpu::scene::{GpuScene, RANGE};
use crate::gpu::uniforms::UNIFORM_STEP;
use crate::query::policy::Query;
use crate::query::results::Tally;
use crate::records::Ray;
use crate::runtime::cancel::Watch;
use crate::runtime::cpu_pool::{self, on_cores};

/// Threads per workgroup, in every program of a cast.
const WORKGROUP: u64 = 64;
/// Maximum number of rays per chunk: 2²⁰ rays are 32 MiB and 16,384 workgroups, below every default limit.
const PIECE: u64 = 1 << 20;
/// Minimum number of rays per chunk: as many as one workgroup takes. If nearly all spheres are hit, a chunk of this size takes a fifth
/// of a second.
const LEAST: u64 = 512;
/// Maximum number of queued submissions: enough to keep the device busy, few enough to cancel soon.
const AHEAD: usize = 2;

/// Results of the finished chunks: counts, and the rays to cast again.
#[derive(Default)]
struct Sum {
    tally: Tally,
    again: Vec<usize>,
}

/// A chunk in flight.
struct Piece {
    slot: Slot,
    flight: Flight,
    /// Index of its first ray in the batch, number of its rays, and (`bad`) the indices of invalid rays within the chunk.
    start: usize,
    count: usize,
    /// Bytes to read back.
    bytes: u64,
    bad: Vec<u32>,
    /// Number of its last submission in the meter.
    number: u64,
}

/// What a query adds to a chunk: its results of variable length, in bytes, and the initial state, if no program sets it.
struct Own {
    extra_bytes: u64,
    state: Option<Vec<u32>>,
}

impl GpuScene {
    /// Number of rays per chunk if each is tested against `spheres` spheres and `budget` tests fit into a submission.
    pub(crate) fn piece(gpu: &GpuEngine, budget: u64, spheres: u64) -> u64 {
        let groups = u64::from(gpu.device.limits().max_compute_workgroups_per_dimension);
        let most = (gpu.largest_binding() / size_of::<Ray>() as u64).min(groups * WORKGROUP).min(PIECE);
        let piece = (budget / spheres.max(1)).max(LEAST).min(most);
        // Whole workgroups, unless a limit allows less than one.
        let whole = if piece < WORKGROUP { piece.max(1) } else { piece / WORKGROUP * WORKGROUP };
        whole.min(gpu.limits().rays.max(1))
    }

    /// Maximum number of rays in a band of a picture with `tests` tests per ray.
    pub(crate) fn band(gpu: &GpuEngine, tests: u64) -> u64 {
        Self::piece(gpu, throughput::budget(throughput::usual(gpu.is_software())), tests)
    }

    /// Device memory of the chunks in flight. `beside` is the number of bytes of attributes per sphere that is uploaded with its ray
    /// (pairwise scenes).
    pub(crate) fn bytes_in_flight(spheres: u64, rays: u64, beside: u64) -> u64 {
        let (rays, params) = (rays.min(PIECE), (spheres.div_ceil(RANGE) * UNIFORM_STEP).next_multiple_of(4096));
        let sizes = Sizes {
            params,
            up: 32 * rays,
            pairs: 16 * rays,
            extras: size_of::<crate::records::Extra>() as u64 * rays,
            beside: beside * rays,
            seeds: 0,
            rays: 32 * rays,
            state: 24 * rays,
            results: 12 * rays,
        };
        SLOTS as u64 * sizes.total()
    }

    /// Casts a batch, chunk by chunk. Returns the counts, and the indices of the rays to cast again without the BVH.
    pub(crate) async fn cast<G: Gather>(
        &self,
        gpu: &GpuEngine,
        host: &Arc<CpuScene>,
        batch: Batch<'_>,
        out: &mut G,
        way: Way,
    ) -> Result<(Tally, Vec<usize>)> {
        let mut sum = Sum::default();
        batch.watch.check()?;
        if batch.rays.len() == 0 {
            return Ok((sum.tally, sum.again));
        }
        let plan = Plan::new(gpu, self, host, batch, way, G::KERNELS).await?;
        let mut flying: VecDeque<Piece> = VecDeque::new();
        let mut free = Vec::new();
        let mut meter = Meter::new(plan.pace());
        let mut start = 0;
        while start < batch.rays.len() {
            if flying.len() >= SLOTS
                && let Some(piece) = flying.pop_front()
            {
                free.push(plan.land(piece, out, &mut sum, &mut meter).await?);
            }
            batch.watch.check()?;
            let end = batch.rays.len().min(start + plan.piece()?);
            let part = start..start + out.fit(start..end);
            let own = Own { extra_bytes: out.extra_bytes(part.clone()), state: out.begin(part.clone()) };
            start = part.end;
            flying.push_back(plan.send(free.pop(), part, own, &mut meter).await?);
        }
        while let Some(piece) = flying.pop_front() {
            free.push(plan.land(piece, out, &mut sum, &mut meter).await?);
        }
        for slot in free {
            gpu.staging.give_back(slot);
        }
        Ok((sum.tally, sum.again))
    }
}

impl Plan<'_> {
    /// Writes a chunk's rays into mapped memory and submits all its work.
    async fn send(&self, free: Option<Slot>, part: Range<usize>, own: Own, meter: &mut Meter<'_>) -> Result<Piece> {
        let (start, rays) = (part.start, self.batch.rays.part(part.clone()));
        let count = rays.len() as u64;
        let seeds = Seeds::of(rays, self.maker.is_some());
        let sizes = self.sizes(&seeds, own.extra_bytes);
        let slot = self.gpu.staging.take(self.gpu, free, sizes).await?;
        let bad = self.write(slot.view(self.gpu).await?, &seeds, start)?;
        let groups = self.groups(&slot).await?;
        // Bytes of state to read back: without a finalize program the state is the result.
        let after = if self.finish.is_some() { 0 } else { sizes.results - own.extra_bytes };
        if let Some(begins) = &own.state {
            self.gpu.write(&slot.state, begins).await?;
        }
        let maker = self.maker.as_ref().filter(|_| seeds.made());
        let made = match maker {
            Some(maker) => Some((&maker.pipeline, maker.group(self.gpu, &slot).await?)),
            None => None,
        };
        let mut queued = VecDeque::new();
        let mut begin = 0;
        let (submission, number) = loop {
            self.batch.watch.check()?;
            let end = self.together(begin, count);
            let last = end == self.ranges.len();
            let submission = self
                .gpu
                .scoped(|| {
                    let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
                    if begin == 0 {
                        slot.send(&mut encoder, &sizes);
                        if self.finish.is_none() && own.state.is_none() {
                            encoder.clear_buffer(&slot.state, 0, Some(sizes.state));
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
                        pass.set_pipeline(&self.search);
                        for (n, range) in (begin..).zip(&self.ranges[begin..end]) {
                            pass.set_bind_group(0, &groups[range.part][0], &[(n as u64 * UNIFORM_STEP) as u32]);
                            pass.dispatch_workgroups(count.div_ceil(WORKGROUP * self.rays_a_thread) as u32, 1, 1);
                        }
                        if last && let Some(finish) = &self.finish {
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
                        slot.fetch(&mut encoder, &slot.results, 0, before);
                        slot.fetch(&mut encoder, &slot.state, before, sizes.results - before);
                    }
                    self.gpu.queue.submit([encoder.finish()])
                })
                .await?;
            let weight: u64 = self.ranges[begin..end].iter().map(|range| range.weight).sum();
            let number = meter.sent(count * weight);
            if last {
                break (submission, number);
            }
            begin = end;
            queued.push_back((submission, number));
            if queued.len() > AHEAD
                && let Some((oldest, number)) = queued.pop_front()
            {
                self.gpu.wait(oldest).await?;
                meter.done(number);
            }
        };
        let flight = self.gpu.scoped(|| slot.fly(submission, sizes.results)).await?;
        Ok(Piece { slot, flight, start, count: rays.len(), bytes: sizes.results, bad, number })
    }

    /// Waits for a chunk. Returns its buffers, its results in mapped memory, and the indices of its invalid rays.
    async fn wait(&self, piece: Piece, meter: &mut Meter<'_>) -> Result<(Slot, BufferView, Vec<u32>)> {
        let Piece { slot, flight, bytes, bad, number, .. } = piece;
        let view = slot.wait(self.gpu, flight, bytes).await?;
        meter.done(number);
        Ok((slot, view, bad))
    }

    /// Waits for a chunk and decodes its results. Rays that the device left undecided are resolved on all CPU cores.
    async fn land<G: Gather>(&self, piece: Piece, out: &mut G, sum: &mut Sum, meter: &mut Meter<'_>) -> Result<Slot> {
        let (start, count) = (piece.start, piece.count);
        let batch = self.batch;
        let rays = batch.rays.part(start..start + count);
        let (slot, view, bad) = self.wait(piece, meter).await?;
        let Landed { tally: mut part, mut open, again } = out.gather(start, rays, &view, &bad);
        open.iter_mut().for_each(|open| open.extra = batch.extras.of(open.at));
        drop(view);
        self.gpu.scoped(|| slot.land()).await?;
        if !open.is_empty() {
            let (host, query, first, watch) = (self.host.clone(), *batch.query, batch.first, batch.watch.clone());
            let (settled, more) = on_cores(move || settle::<G>(open, &host, &query, first, &watch)).await?;
            batch.watch.check()?;
            part = part + more;
            part.hits += out.place(settled);
        }
        part.skipped += bad.len() as u64;
        sum.tally = sum.tally + part;
        // Rays to cast again are counted as done after that cast.
        batch.watch.add((count - again.len()) as u64);
        sum.again.extend(again);
        Ok(slot)
    }
}

/// Resolves undecided rays on all CPU cores.
fn settle<G: Gather>(
    open: Vec<Open<G::Item>>,
    host: &CpuScene,
    query: &Query,
    first: u64,
    watch: &Watch,
) -> (Vec<(usize, G::Item)>, Tally) {
    let one = |open: Open<G::Item>| {
        let mut tally = Tally::default();
        if watch.is_cancelled() {
            // The result is discarded.
            return ((open.at, open.raw), tally);
        }
        let asker = Asker { ray: open.ray, number: first + open.at as u64, extra: open.extra };
        let item = G::settle(open.raw, &asker, host, query, &mut tally);
        ((open.at, item), tally)
    };
    cpu_pool::ready();
    let (settled, tallies): (Vec<_>, Vec<Tally>) = open.into_par_iter().map(one).unzip();
    (settled, tallies.into_iter().fold(Tally::default(), |a, b| a + b))
}
