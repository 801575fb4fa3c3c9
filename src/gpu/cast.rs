//! Queries on a GPU: rays in pieces, spheres in parts and ranges. While the device works on one piece, the host reads the
//! one before it and writes the one after it, in place.

use std::collections::VecDeque;
use std::sync::Arc;

use rayon::prelude::*;
use wgpu::{BindGroup, ComputePipeline};

use super::GpuDevice;
use super::emit::{Maker, Seeds};
use super::gather::{Gather, Open};
use super::pace::{self, Meter};
use super::params::{Params, UNIFORM_STEP};
use super::slot::{Flight, Sizes, Slot, Upload};
use super::spheres::{GpuScene, RANGE};
use crate::cpu::{Batch, CpuScene, Tally, on_cores};
use crate::emit::Source;
use crate::error::{Error, Result};
use crate::query::{Precision, Query};
use crate::records::{Ray, Sphere};
use crate::watch::Watch;

/// Threads a workgroup, in every program.
const WORKGROUP: u64 = 64;
/// Rays a piece at most: 2²⁰ rays are 32 MiB and 16,384 workgroups, below every default limit.
const PIECE: u64 = 1 << 20;
/// And at least, as a workgroup takes them: where nearly all spheres are met, a piece of them takes a fifth of a second.
const LEAST: u64 = 512;
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
    /// What makes rays on the device, when they are not sent there.
    maker: Option<Maker>,
    ranges: Vec<Range>,
}

/// A piece on its way.
struct Piece {
    slot: Slot,
    flight: Flight,
    /// Where its rays begin in the batch, how many there are, and which of them cannot be used.
    start: usize,
    count: usize,
    bad: Vec<u32>,
    /// Its last submission, to the meter.
    number: u64,
}

impl GpuScene {
    /// Rays that go together when each is tested against `spheres` and `budget` tests fit into a submission.
    pub(crate) fn piece(gpu: &GpuDevice, budget: u64, spheres: u64) -> u64 {
        let groups = u64::from(gpu.device.limits().max_compute_workgroups_per_dimension);
        let most = (gpu.largest_binding() / size_of::<Ray>() as u64).min(groups * WORKGROUP).min(PIECE);
        let piece = (budget / spheres.max(1)).max(LEAST).min(most);
        // Whole workgroups, unless somebody asks for less.
        let whole = if piece < WORKGROUP { piece.max(1) } else { piece / WORKGROUP * WORKGROUP };
        whole.min(gpu.limits().rays.max(1))
    }

    /// Rays that a picture's band may have.
    pub(crate) fn band(gpu: &GpuDevice, tests: u64) -> u64 {
        Self::piece(gpu, pace::budget(pace::usual(gpu.is_software())), tests)
    }

    /// Memory that pieces of a query take on the device.
    pub(crate) fn bytes_in_flight(spheres: u64, rays: u64) -> u64 {
        let (rays, params) = (rays.min(PIECE), (spheres.div_ceil(RANGE) * UNIFORM_STEP).next_multiple_of(4096));
        let sizes = Sizes {
            params,
            up: 32 * rays,
            pairs: 16 * rays,
            seeds: 0,
            rays: 32 * rays,
            state: 24 * rays,
            results: 12 * rays,
        };
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
        if batch.rays.len() == 0 {
            return Ok(tally);
        }
        let plan = self.plan::<G>(gpu, host, batch).await?;
        let mut flying: VecDeque<Piece> = VecDeque::new();
        let mut free = Vec::new();
        let mut meter = Meter::new(&self.pace);
        let mut start = 0;
        while start < batch.rays.len() {
            if flying.len() >= SLOTS
                && let Some(piece) = flying.pop_front()
            {
                free.push(plan.land(piece, batch, out, &mut tally, &mut meter).await?);
            }
            batch.watch.check()?;
            let rays = batch.rays.part(start..batch.rays.len().min(start + plan.piece()?));
            let seeds = Seeds::of(rays, plan.maker.is_some());
            let slot = Slot::take(gpu, free.pop(), plan.sizes::<G>(&seeds)).await?;
            flying.push_back(plan.send::<G>(slot, batch, start, seeds, &mut meter).await?);
            start += rays.len();
        }
        while let Some(piece) = flying.pop_front() {
            free.push(plan.land(piece, batch, out, &mut tally, &mut meter).await?);
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
            maker: Maker::of(gpu, batch.rays).await?,
            ranges,
        })
    }
}

impl Plan<'_> {
    /// Rays that the next piece should have, at the pace that the scene goes now.
    fn piece(&self) -> Result<usize> {
        let spheres = if self.host.pairwise { 1 } else { self.host.spheres.len() as u64 };
        let piece = GpuScene::piece(self.gpu, self.scene.pace.budget(), spheres);
        // One buffer takes all that goes up.
        let (one, params) = (Self::bytes_a_ray(self.host.pairwise), self.params_bytes() + 4 * Sizes::STEP);
        let allowed = self.gpu.largest_binding();
        match allowed.saturating_sub(params) / one {
            0 => {
                let device = self.gpu.name().into();
                Err(Error::TooLarge { what: "what a ray takes along", asked: params + one, allowed, device })
            }
            room => Ok(piece.min(room) as usize),
        }
    }

    fn bytes_a_ray(pairwise: bool) -> u64 {
        (size_of::<Ray>() + if pairwise { size_of::<Sphere>() } else { 0 }) as u64
    }

    fn params_bytes(&self) -> u64 {
        self.ranges.len() as u64 * UNIFORM_STEP
    }

    /// What a piece needs.
    fn sizes<G: Gather>(&self, seeds: &Seeds<'_>) -> Sizes {
        let rays = seeds.rays().len() as u64;
        Sizes {
            params: self.params_bytes(),
            up: seeds.bytes(),
            seeds: if seeds.made() { seeds.bytes() } else { 0 },
            rays: rays * size_of::<Ray>() as u64,
            pairs: if self.host.pairwise { rays * size_of::<Sphere>() as u64 } else { 0 },
            state: G::state_bytes(rays),
            results: G::result_bytes(rays),
        }
    }

    /// Writes a piece's rays where the device reads them, and submits all that is to be done with them.
    async fn send<G: Gather>(
        &self,
        slot: Slot,
        batch: Batch<'_>,
        start: usize,
        seeds: Seeds<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<Piece> {
        let first = batch.first + start as u64;
        let count = seeds.rays().len() as u64;
        let bad = self.write(slot.view(self.gpu).await?, &seeds, first)?;
        let results = G::result_bytes(count);
        let written = self.sizes::<G>(&seeds);
        let groups = self.groups(&slot).await?;
        let maker = self.maker.as_ref().filter(|_| seeds.made());
        let made = match maker {
            Some(maker) => Some((&maker.pipeline, maker.group(self.gpu, &slot).await?)),
            None => None,
        };
        let mut queued = VecDeque::new();
        let mut begin = 0;
        let (submission, number) = loop {
            batch.watch.check()?;
            let together = (self.scene.pace.budget() / (count * RANGE).max(1)).max(1) as usize;
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
                        if begin == 0
                            && let Some((pipeline, group)) = &made
                        {
                            pass.set_pipeline(pipeline);
                            pass.set_bind_group(0, group, &[]);
                            pass.dispatch_workgroups(count.div_ceil(WORKGROUP) as u32, 1, 1);
                        }
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
            let spheres: u64 = self.ranges[begin..end].iter().map(|range| u64::from(range.end - range.begin)).sum();
            let number = meter.sent(count * spheres);
            if last {
                break (submission, number);
            }
            begin = end;
            queued.push_back((submission, number));
            if queued.len() > AHEAD
                && let Some((oldest, number)) = queued.pop_front()
            {
                self.gpu.wait(oldest, self.gpu.limits().patience).await?;
                meter.done(number);
            }
        };
        let flight = self.gpu.scoped(|| slot.fly(submission, results)).await?;
        Ok(Piece { slot, flight, start, count: count as usize, bad, number })
    }

    /// Writes what a piece needs into its slot; says which rays cannot be used.
    fn write(&self, mut upload: Upload, seeds: &Seeds<'_>, first: u64) -> Result<Vec<u32>> {
        let rays = seeds.rays();
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
        let bad = seeds.write(&mut upload, first, self.query.on_bad)?;
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
        meter: &mut Meter<'_>,
    ) -> Result<Slot> {
        let Piece { slot, flight, start, count, bad, number } = piece;
        let bytes = G::result_bytes(count as u64);
        let rays: Source<'_> = batch.rays.part(start..start + count);
        let view = slot.wait(self.gpu, flight, bytes, self.gpu.limits().patience).await?;
        meter.done(number);
        let (mut part, open) = out.gather(start, rays, &view, &bad);
        drop(view);
        self.gpu.scoped(|| slot.land()).await?;
        if !open.is_empty() {
            let (host, query, first, watch) = (self.host.clone(), *self.query, batch.first, batch.watch.clone());
            let (settled, more) = on_cores(move || settle::<G>(open, &host, &query, first, &watch)).await?;
            batch.watch.check()?;
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
    watch: &Watch,
) -> (Vec<(usize, G::Item)>, Tally) {
    let one = |open: Open<G::Item>| {
        let mut tally = Tally::default();
        if watch.is_cancelled() {
            // Nobody will look at it.
            return ((open.at, open.raw), tally);
        }
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
