//! Queries on a GPU: rays in pieces, spheres in parts and ranges. While the device works on one piece, the host reads the
//! one before it and writes the one after it, in place.

use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;
use wgpu::{BindGroup, ComputePipeline};

use super::GpuDevice;
use super::gather::{Gather, Open};
use super::params::{Params, UNIFORM_STEP};
use super::slot::{Flight, Sizes, Slot, Upload};
use super::spheres::{GpuScene, RANGE};
use crate::cpu::{Batch, CpuScene, Tally, on_cores};
use crate::error::Result;
use crate::query::{OnBad, Precision, Query, check_ray};
use crate::records::{Ray, Sphere};

/// Threads a workgroup, in every program.
const WORKGROUP: u64 = 64;
/// Rays a piece at most: 2²⁰ rays are 32 MiB and 16,384 workgroups, below every default limit.
const PIECE: u64 = 1 << 20;
/// Pieces under way: one on the device, one that the host reads and writes.
pub(crate) const SLOTS: usize = 2;
/// Submissions that wait for the device: enough to keep it busy, few enough to stop soon.
const AHEAD: usize = 2;

/// Spheres `begin..end` of a part, searched in one dispatch.
struct Range {
    part: usize,
    begin: u32,
    end: u32,
}

/// What all pieces of a call have in common.
struct Plan<'a> {
    gpu: &'a GpuDevice,
    scene: &'a GpuScene,
    host: &'a Arc<CpuScene>,
    query: &'a Query,
    search: ComputePipeline,
    finish: Option<ComputePipeline>,
    ranges: Vec<Range>,
    /// Rays a piece.
    piece: usize,
    sizes: Sizes,
}

/// A piece on its way.
struct Piece {
    slot: Slot,
    flight: Flight,
    /// Where its rays begin in the batch, how many there are, and which of them cannot be used.
    start: usize,
    count: usize,
    bad: Vec<u32>,
    sent: Instant,
}

impl GpuScene {
    /// Rays a piece, so that it takes 50 to 100 ms on a device that goes at its present pace.
    pub(crate) fn piece(gpu: &GpuDevice, spheres: u64) -> u64 {
        let groups = u64::from(gpu.device.limits().max_compute_workgroups_per_dimension);
        let most = (gpu.largest_binding() / size_of::<Ray>() as u64).min(groups * WORKGROUP).min(PIECE);
        let piece = (gpu.pace().budget() / spheres.max(1)).max(4096).min(most).min(gpu.limits().rays);
        // Whole workgroups, so that every piece but the last fills words of bits.
        if piece < WORKGROUP { piece.max(1) } else { piece / WORKGROUP * WORKGROUP }
    }

    /// Memory that pieces of a query take on the device.
    pub(crate) fn bytes_in_flight(rays: u64) -> u64 {
        let rays = rays.min(PIECE);
        let sizes = Sizes { params: 4096, rays: 32 * rays, pairs: 16 * rays, state: 24 * rays, results: 12 * rays };
        SLOTS as u64 * sizes.total()
    }

    /// Answers a batch, piece by piece.
    pub(crate) async fn cast<G: Gather>(
        &self,
        gpu: &GpuDevice,
        host: &Arc<CpuScene>,
        batch: Batch<'_>,
        out: &mut G,
    ) -> Result<Tally> {
        let mut tally = Tally::default();
        batch.watch.check()?;
        if batch.rays.is_empty() {
            return Ok(tally);
        }
        let plan = self.plan::<G>(gpu, host, batch).await?;
        let mut flying: std::collections::VecDeque<Piece> = std::collections::VecDeque::new();
        let mut free = Vec::new();
        let mut landed = Instant::now();
        for start in (0..batch.rays.len()).step_by(plan.piece) {
            if flying.len() >= SLOTS
                && let Some(piece) = flying.pop_front()
            {
                free.push(plan.land(piece, batch, out, &mut tally, &mut landed).await?);
            }
            batch.watch.check()?;
            let slot = match free.pop() {
                Some(slot) => slot,
                None => Slot::take(gpu, plan.sizes).await?,
            };
            flying.push_back(plan.send::<G>(slot, batch, start).await?);
        }
        while let Some(piece) = flying.pop_front() {
            free.push(plan.land(piece, batch, out, &mut tally, &mut landed).await?);
        }
        for slot in free {
            slot.give_back(gpu);
        }
        Ok(tally)
    }

    async fn plan<'a, G: Gather>(
        &'a self,
        gpu: &'a GpuDevice,
        host: &'a Arc<CpuScene>,
        batch: Batch<'a>,
    ) -> Result<Plan<'a>> {
        let mut ranges = Vec::new();
        if host.pairwise {
            ranges.push(Range { part: 0, begin: 0, end: 1 });
        }
        for (part, spheres) in self.parts.iter().enumerate() {
            for begin in (0..spheres.count).step_by(RANGE as usize) {
                ranges.push(Range { part, begin, end: spheres.count.min(begin + RANGE as u32) });
            }
        }
        if ranges.is_empty() {
            // Somebody has to say that every ray misses.
            ranges.push(Range { part: 0, begin: 0, end: 0 });
        }
        let spheres = if host.pairwise { 1 } else { host.spheres.len() as u64 };
        let piece = Self::piece(gpu, spheres).min(batch.rays.len() as u64);
        let (fast, exact) = variant(gpu, batch.query);
        Ok(Plan {
            gpu,
            scene: self,
            host,
            query: batch.query,
            search: gpu.cast_pipeline(G::SEARCH, fast, exact).await?,
            finish: match G::FINISH {
                Some(program) => Some(gpu.cast_pipeline(program, fast, exact).await?),
                None => None,
            },
            sizes: Sizes {
                params: (ranges.len() as u64 * UNIFORM_STEP).next_multiple_of(4096),
                rays: piece.next_multiple_of(WORKGROUP) * size_of::<Ray>() as u64,
                pairs: if host.pairwise { piece * size_of::<Sphere>() as u64 } else { 16 },
                state: G::state_bytes(piece),
                results: G::result_bytes(piece),
            },
            ranges,
            piece: piece as usize,
        })
    }
}

impl Plan<'_> {
    /// Writes a piece's rays where the device reads them, and submits all that is to be done with them.
    async fn send<G: Gather>(&self, slot: Slot, batch: Batch<'_>, start: usize) -> Result<Piece> {
        let rays = &batch.rays[start..batch.rays.len().min(start + self.piece)];
        let first = batch.first + start as u64;
        let count = rays.len() as u64;
        let bad = self.write(slot.view(self.gpu).await?, rays, first)?;
        let results = G::result_bytes(count);
        let written = Sizes {
            params: self.ranges.len() as u64 * UNIFORM_STEP,
            rays: count * size_of::<Ray>() as u64,
            pairs: if self.host.pairwise { count * size_of::<Sphere>() as u64 } else { 0 },
            ..Sizes::default()
        };
        let groups = self.groups(&slot).await?;
        let together = (self.gpu.pace().budget() / (count * RANGE).max(1)).max(1) as usize;
        let sent = Instant::now();
        let mut queued = std::collections::VecDeque::new();
        let mut begin = 0;
        let submission = loop {
            batch.watch.check()?;
            let end = self.ranges.len().min(begin + together);
            let last = end == self.ranges.len();
            let submission = self
                .gpu
                .scoped(|| {
                    let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
                    if begin == 0 {
                        slot.send(&mut encoder, &written);
                        if self.finish.is_none() {
                            encoder.clear_buffer(&slot.state, 0, Some(G::state_bytes(count)));
                        }
                    }
                    {
                        let mut pass = encoder.begin_compute_pass(&Default::default());
                        pass.set_pipeline(&self.search);
                        for (n, range) in (begin..).zip(&self.ranges[begin..end]) {
                            pass.set_bind_group(0, &groups[range.part], &[(n as u64 * UNIFORM_STEP) as u32]);
                            pass.dispatch_workgroups(count.div_ceil(WORKGROUP * G::RAYS) as u32, 1, 1);
                        }
                        if last && let Some(finish) = &self.finish {
                            pass.set_pipeline(finish);
                            // Each part finishes the rays whose best sphere it holds.
                            for (part, group) in groups.iter().enumerate() {
                                let n = self.ranges.iter().position(|range| range.part == part).unwrap_or(0);
                                pass.set_bind_group(0, group, &[(n as u64 * UNIFORM_STEP) as u32]);
                                pass.dispatch_workgroups(count.div_ceil(WORKGROUP) as u32, 1, 1);
                            }
                        }
                    }
                    if last {
                        let from = if self.finish.is_some() { &slot.results } else { &slot.state };
                        slot.fetch(&mut encoder, from, results);
                    }
                    self.gpu.queue.submit([encoder.finish()])
                })
                .await?;
            if last {
                break submission;
            }
            begin = end;
            queued.push_back(submission);
            if queued.len() > AHEAD
                && let Some(oldest) = queued.pop_front()
            {
                self.gpu.wait(oldest, self.gpu.limits().patience).await?;
            }
        };
        let flight = self.gpu.scoped(|| slot.fly(submission, results)).await?;
        Ok(Piece { slot, flight, start, count: rays.len(), bad, sent })
    }

    /// Writes what a piece needs into its slot; says which rays cannot be used.
    fn write(&self, mut upload: Upload, rays: &[Ray], first: u64) -> Result<Vec<u32>> {
        /// Rays made ready at a time, in the nearest cache.
        const STEP: usize = 256;
        for (n, range) in (0..).zip(&self.ranges) {
            let part = self.scene.parts.get(range.part);
            let params = Params {
                ray_count: rays.len() as u32,
                sphere_begin: range.begin,
                sphere_end: range.end,
                first_id: if self.host.pairwise { first as u32 } else { part.map_or(0, |part| part.first) },
                sphere_count: if self.host.pairwise { rays.len() as u32 } else { part.map_or(0, |part| part.count) },
                pairwise: u32::from(self.host.pairwise),
                fresh: u32::from(n == 0),
                ..self.scene.framed(Params::of(self.query))
            };
            upload.params(n * UNIFORM_STEP, &params);
        }
        let mut bad = Vec::new();
        let mut ready = [Ray::new([0.0; 3], [1.0, 0.0, 0.0]); STEP];
        for (n, chunk) in rays.chunks(STEP).enumerate() {
            for (i, (ready, ray)) in ready.iter_mut().zip(chunk).enumerate() {
                // No shader may see an infinity: the largest finite numbers stand for them.
                *ready = ray.between(ray.t_min.max(-f32::MAX), ray.t_max.min(f32::MAX));
                let at = n * STEP + i;
                if let Err(error) = check_ray(first + at as u64, ray) {
                    if self.query.on_bad == OnBad::Refuse {
                        return Err(error);
                    }
                    bad.push(at as u32);
                    // Its range is empty: the start lies past the end.
                    *ready = Ray::new([0.0; 3], [1.0, 0.0, 0.0]).between(f32::MAX, -f32::MAX);
                }
            }
            upload.rays(n * STEP, &ready[..chunk.len()]);
        }
        if self.host.pairwise {
            upload.pairs(&self.host.spheres[first as usize..first as usize + rays.len()]);
        }
        Ok(bad)
    }

    /// One bind group a part.
    async fn groups(&self, slot: &Slot) -> Result<Vec<BindGroup>> {
        let mut groups = Vec::new();
        for part in &self.scene.parts {
            groups.push(self.gpu.cast_group(slot, &part.spheres).await?);
        }
        if groups.is_empty() {
            groups.push(self.gpu.cast_group(slot, &slot.pairs).await?);
        }
        Ok(groups)
    }

    /// Waits for a piece and takes its answers; what the device left open is settled on every core.
    async fn land<G: Gather>(
        &self,
        piece: Piece,
        batch: Batch<'_>,
        out: &mut G,
        tally: &mut Tally,
        landed: &mut Instant,
    ) -> Result<Slot> {
        let Piece { slot, flight, start, count, bad, sent } = piece;
        let bytes = G::result_bytes(count as u64);
        let rays = &batch.rays[start..start + count];
        let view = slot.wait(self.gpu, flight, bytes, self.gpu.limits().patience).await?;
        let busy = sent.max(*landed).elapsed();
        *landed = Instant::now();
        if !self.host.pairwise {
            self.gpu.pace().learn(count as u64 * self.host.spheres.len() as u64, busy);
        }
        let (mut part, open) = out.gather(start, rays, &view, &bad);
        drop(view);
        slot.land();
        if !open.is_empty() {
            let (host, query, first) = (self.host.clone(), *self.query, batch.first);
            let (settled, more) = on_cores(move || settle::<G>(open, &host, &query, first)).await?;
            part = part + more;
            part.hits += out.place(settled);
        }
        part.skipped += bad.len() as u64;
        *tally = *tally + part;
        batch.watch.add(count as u64);
        Ok(slot)
    }
}

/// Settles what is open, on every core.
fn settle<G: Gather>(
    open: Vec<Open<G::Item>>,
    host: &CpuScene,
    query: &Query,
    first: u64,
) -> (Vec<(usize, G::Item)>, Tally) {
    let one = |open: Open<G::Item>| {
        let mut tally = Tally::default();
        let item = G::settle(open.raw, &open.ray, first + open.at as u64, host, query, &mut tally);
        ((open.at, item), tally)
    };
    let (settled, tallies): (Vec<_>, Vec<Tally>) = open.into_par_iter().map(one).unzip();
    (settled, tallies.into_iter().fold(Tally::default(), |a, b| a + b))
}

/// Which pipelines answer a query: (plain solve, bounds decide). Without a passing probe, exact answers rest on the plain
/// solve's wider bounds.
fn variant(gpu: &GpuDevice, query: &Query) -> (bool, bool) {
    let exact = query.precision == Precision::Exact;
    (query.precision == Precision::Fast || (exact && gpu.probe.failure.is_some()), exact)
}
