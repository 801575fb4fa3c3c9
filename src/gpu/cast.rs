//! Queries on a GPU: rays in chunks, spheres in ranges, records back.

use std::sync::Arc;
use std::time::Duration;

use bytemuck::Pod;
use rayon::prelude::*;
use wgpu::{Buffer, BufferUsages};

use super::GpuDevice;
use super::params::{Best, Nearest, Params, TAG_BEYOND, TAG_JUDGE, TAG_ROUND};
use crate::cpu::{Batch, CpuQuery, CpuScene, Tally, on_cores, round_roots};
use crate::error::Result;
use crate::query::{OnBad, Precision, Query, check_ray};
use crate::records::{Approach, Hit, Interval, NO_SPHERE, Ray, Sphere};
use crate::wgsl::{self, Program};

/// Threads a workgroup, in every program.
const WORKGROUP: u32 = 64;
/// Rays a core settles at a time.
const TASK: usize = 256;
/// Spheres a dispatch at most: its loops then stay far below the 65,535 iterations after which lavapipe stops a thread
/// without a word (32 × 512 tests, 512 blocks, and as many candidates).
const RANGE: u32 = 16_384;
/// Rays a chunk at most: 2²⁰ rays are 32 MiB and 16,384 workgroups, below every default limit.
pub(crate) const CHUNK: u64 = 1 << 20;

/// Spheres on a GPU.
pub(crate) struct GpuScene {
    spheres: Buffer,
    largest: f32,
}

/// Rays cast together: number `first` of the whole input, and those after it.
#[derive(Clone, Copy)]
pub(crate) struct Chunk<'a> {
    pub(crate) first: u64,
    pub(crate) rays: &'a [Ray],
    pub(crate) query: &'a Query,
}

/// The buffers of one query, for chunks of up to `chunk` rays.
struct Workspace {
    params: Buffer,
    rays: Buffer,
    state: Buffer,
    out: Buffer,
    staging: Buffer,
}

/// The program of a query that runs over each range of spheres, and the bytes it keeps for a ray between dispatches.
pub(crate) struct Search {
    program: &'static Program,
    state: u64,
}

const OCCLUDED: Search = Search { program: &wgsl::OCCLUDED, state: 4 };

/// A query's programs and records on a GPU.
pub(crate) trait GpuQuery: CpuQuery + Pod {
    /// The program run over each range of spheres.
    const SEARCH: Search;
    /// The program run once at the end.
    const FINISH: &'static Program;
    /// Whether `FINISH` reads spheres and rays.
    const FINISH_SOLVES: bool;
    /// Turns a raw record into an answer; the host rounds or judges what the device left open.
    fn settle(raw: Self, ray: &Ray, number: u64, scene: &CpuScene, query: &Query, tally: &mut Tally) -> Self;
}

impl GpuScene {
    /// Uploads spheres; refused with figures when they exceed a binding.
    pub(crate) async fn new(gpu: &GpuDevice, spheres: &[Sphere], pairwise: bool) -> Result<Self> {
        // Pairs travel with their rays.
        let resident = if pairwise { &[] } else { spheres };
        let resident = gpu.filled("spheres", resident).await?;
        // Uploads stay in memory until something is submitted: scenes made and dropped unasked would pile up.
        let uploaded = gpu.scoped(|| gpu.queue.submit([])).await?;
        gpu.wait(uploaded, Duration::from_secs(60)).await?;
        Ok(Self { spheres: resident, largest: crate::cpu::largest_of(spheres) })
    }

    /// How many rays to cast at once so that a submission stays short: software adapters test about 10⁹ pairs a second,
    /// the slowest GPUs a hundred times that.
    pub(crate) fn chunk(gpu: &GpuDevice, spheres: u64, pairwise: bool) -> u64 {
        let tests = if pairwise { 1 } else { spheres.clamp(1, u64::from(RANGE)) };
        let budget: u64 = if gpu.is_software() { 1 << 29 } else { 1 << 34 };
        let limits = gpu.device.limits();
        let groups = u64::from(limits.max_compute_workgroups_per_dimension);
        let most = (gpu.largest_binding() / size_of::<Ray>() as u64).min(groups * u64::from(WORKGROUP)).min(CHUNK);
        let chunk = (budget / tests).clamp(4096, CHUNK).min(most);
        // Whole workgroups, so that every chunk but the last fills words of bits.
        (chunk / u64::from(WORKGROUP)).max(1) * u64::from(WORKGROUP)
    }

    /// Answers a batch, piece by piece.
    pub(crate) async fn cast<T: GpuQuery>(
        &self,
        gpu: &GpuDevice,
        scene: &Arc<CpuScene>,
        batch: Batch<'_>,
        out: &mut [T],
    ) -> Result<Tally> {
        let mut sum = Tally::default();
        let step = Self::chunk(gpu, scene.spheres.len() as u64, scene.pairwise) as usize;
        for (n, (rays, out)) in batch.rays.chunks(step).zip(out.chunks_mut(step)).enumerate() {
            batch.watch.check()?;
            let first = batch.first + (n * step) as u64;
            let (rays, bad) = accept(first, rays, batch.query)?;
            let (scene, query) = (scene.clone(), *batch.query);
            let mut raw: Vec<T> = self.chunk_of(gpu, &scene, Chunk { first, rays: &rays, query: &query }).await?;
            let count = rays.len() as u64;
            let (records, tally) = on_cores(move || {
                let tally = settle(&mut raw, Chunk { first, rays: &rays, query: &query }, &scene);
                (raw, tally)
            })
            .await?;
            out.copy_from_slice(&records);
            bad.iter().for_each(|i| out[*i] = T::MISS);
            let hits = out.iter().filter(|record| record.is_hit()).count() as u64;
            sum = sum + Tally { hits, skipped: bad.len() as u64, ..tally };
            batch.watch.add(count);
        }
        Ok(sum)
    }

    /// The same for bits.
    pub(crate) async fn occluded(
        &self,
        gpu: &GpuDevice,
        scene: &Arc<CpuScene>,
        batch: Batch<'_>,
        words: &mut [u32],
    ) -> Result<Tally> {
        let mut sum = Tally::default();
        let step = Self::chunk(gpu, scene.spheres.len() as u64, scene.pairwise) as usize;
        for (n, (rays, words)) in batch.rays.chunks(step).zip(words.chunks_mut(step / 32)).enumerate() {
            batch.watch.check()?;
            let first = batch.first + (n * step) as u64;
            let (rays, bad) = accept(first, rays, batch.query)?;
            let (scene, query) = (scene.clone(), *batch.query);
            let raw = self.bits_of(gpu, &scene, Chunk { first, rays: &rays, query: &query }).await?;
            let count = rays.len() as u64;
            let (bits, tally) =
                on_cores(move || settle_bits(&raw, Chunk { first, rays: &rays, query: &query }, &scene)).await?;
            words.copy_from_slice(&bits);
            bad.iter().for_each(|i| words[i / 32] &= !(1 << (i % 32)));
            let hits = words.iter().map(|word| u64::from(word.count_ones())).sum();
            sum = sum + Tally { hits, skipped: bad.len() as u64, ..tally };
            batch.watch.add(count);
        }
        Ok(sum)
    }

    /// Answers one chunk, but for what [`settle`] has to do.
    async fn chunk_of<T: GpuQuery>(&self, gpu: &GpuDevice, scene: &CpuScene, chunk: Chunk<'_>) -> Result<Vec<T>> {
        let Chunk { rays, query, .. } = chunk;
        let count = rays.len() as u64;
        let record = size_of::<T>() as u64;
        let work = Workspace::new(gpu, count, T::SEARCH.state, record, count).await?;
        let (fast, exact) = solve_variant(gpu, query);
        let (spheres, limit) = self.search(&T::SEARCH, gpu, scene, chunk, &work).await?;
        let finish = gpu.pipeline(T::FINISH, fast, exact).await?;
        let mut bound = vec![(0, &work.params), (3, &work.state), (4, &work.out)];
        if T::FINISH_SOLVES {
            bound.extend([(1, &spheres), (2, &work.rays)]);
        }
        let group = gpu.bind(&finish, &bound).await?;
        let _ = gpu.dispatch(&finish, &group, groups(count)).await?;
        let mut raw = vec![T::zeroed(); rays.len()];
        gpu.read(&work.out, &work.staging, &mut raw, limit).await?;
        Ok(raw)
    }

    /// Runs the search program over every range of spheres; returns the spheres it used, and how long to wait at most.
    async fn search(
        &self,
        search: &Search,
        gpu: &GpuDevice,
        scene: &CpuScene,
        Chunk { first, rays, query }: Chunk<'_>,
        work: &Workspace,
    ) -> Result<(Buffer, Duration)> {
        let (fast, exact) = solve_variant(gpu, query);
        let pipeline = gpu.pipeline(search.program, fast, exact).await?;
        gpu.write(&work.rays, &finite(rays)).await?;
        let spheres = if scene.pairwise {
            // This chunk's own spheres, so that ray and sphere share an index.
            gpu.filled("spheres", &scene.spheres[first as usize..first as usize + rays.len()]).await?
        } else {
            self.spheres.clone()
        };
        let group = gpu.bind(&pipeline, &[(0, &work.params), (1, &spheres), (2, &work.rays), (3, &work.state)]).await?;
        let count = if scene.pairwise { 1 } else { scene.spheres.len() as u32 };
        let mut begin = 0u32;
        loop {
            let end = count.min(begin.saturating_add(RANGE));
            let params = Params {
                ray_count: rays.len() as u32,
                sphere_begin: begin,
                sphere_end: end,
                first_id: if scene.pairwise { first as u32 } else { 0 },
                pairwise: u32::from(scene.pairwise),
                fresh: u32::from(begin == 0),
                largest: self.largest,
                ..Params::of(query)
            };
            gpu.write(&work.params, &[params]).await?;
            let _ = gpu.dispatch(&pipeline, &group, groups(rays.len() as u64)).await?;
            begin = end;
            if begin >= count {
                break;
            }
        }
        // Generous: ten million tests a second is slower than any device seen.
        let tests = rays.len() as u64 * u64::from(count);
        Ok((spheres, Duration::from_secs(60 + tests / 10_000_000)))
    }

    /// Occlusion of one chunk: three bitsets, of the rays that meet something, that may, and that would beyond f32.
    async fn bits_of(&self, gpu: &GpuDevice, scene: &CpuScene, chunk: Chunk<'_>) -> Result<Vec<u32>> {
        let words = chunk.rays.len().div_ceil(32);
        let work = Workspace::new(gpu, chunk.rays.len() as u64, 12, 12, words as u64).await?;
        gpu.write(&work.state, &vec![0u32; 3 * words]).await?;
        let (_, limit) = self.search(&OCCLUDED, gpu, scene, chunk, &work).await?;
        let mut raw = vec![0u32; 3 * words];
        gpu.read(&work.state, &work.staging, &mut raw, limit).await?;
        Ok(raw)
    }
}

/// Rounds and judges, on every core, what the device left open in a chunk.
pub(crate) fn settle<T: GpuQuery>(raw: &mut [T], chunk: Chunk<'_>, scene: &CpuScene) -> Tally {
    let Chunk { first, rays, query } = chunk;
    let task = |(i, (raw, rays)): (usize, (&mut [T], &[Ray]))| {
        let mut tally = Tally::default();
        for (j, (raw, ray)) in raw.iter_mut().zip(rays).enumerate() {
            *raw = T::settle(*raw, ray, first + (i * TASK + j) as u64, scene, query, &mut tally);
        }
        tally
    };
    let tasks = raw.par_chunks_mut(TASK).zip(rays.par_chunks(TASK)).enumerate();
    tasks.map(task).reduce(Tally::default, |a, b| a + b)
}

/// The same for the three bitsets of `occluded`: the first one is complete afterwards.
pub(crate) fn settle_bits(raw: &[u32], chunk: Chunk<'_>, scene: &CpuScene) -> (Vec<u32>, Tally) {
    let Chunk { first, rays, query } = chunk;
    let words = raw.len() / 3;
    let word = |w: usize| {
        let (mut met, doubt, beyond) = (raw[w], raw[words + w], raw[2 * words + w]);
        let mut tally = Tally { beyond: u64::from((beyond & !met).count_ones()), ..Tally::default() };
        let mut open = doubt & !met;
        while open != 0 {
            let i = w * 32 + open.trailing_zeros() as usize;
            open &= open - 1;
            let found = judged(&rays[i], first + i as u64, scene, query, &mut tally, false);
            met |= u32::from(found) << (i % 32);
        }
        (met, tally)
    };
    let (bits, tallies): (Vec<u32>, Vec<Tally>) = (0..words).into_par_iter().map(word).unzip();
    (bits, tallies.into_iter().fold(Tally::default(), |a, b| a + b))
}

impl GpuDevice {
    async fn ray_buffer(&self, count: u64) -> Result<Buffer> {
        self.buffer("rays", count * 32, BufferUsages::STORAGE | BufferUsages::COPY_DST).await
    }
}

impl Workspace {
    /// For `rays` rays: `state` bytes of state and `out` bytes of results for each of `records`.
    async fn new(gpu: &GpuDevice, rays: u64, state: u64, out: u64, records: u64) -> Result<Self> {
        let storage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        Ok(Self {
            params: gpu
                .buffer("params", size_of::<Params>() as u64, BufferUsages::UNIFORM | BufferUsages::COPY_DST)
                .await?,
            rays: gpu.ray_buffer(rays).await?,
            state: gpu.buffer("state", rays.max(records) * state, storage).await?,
            out: gpu.buffer("results", records * out, storage).await?,
            staging: gpu.buffer("staging", records * out, BufferUsages::MAP_READ | BufferUsages::COPY_DST).await?,
        })
    }
}

/// Which pipelines answer a query: (plain solve, bounds decide). Without a passing probe, exact answers rest on the plain
/// solve's wider bounds.
fn solve_variant(gpu: &GpuDevice, query: &Query) -> (bool, bool) {
    let exact = query.precision == Precision::Exact;
    (query.precision == Precision::Fast || (exact && gpu.probe.failure.is_some()), exact)
}

fn groups(count: u64) -> u32 {
    count.div_ceil(u64::from(WORKGROUP)) as u32
}

/// Rays with infinite ends replaced by the largest finite numbers: no shader may see an infinity.
fn finite(rays: &[Ray]) -> Vec<Ray> {
    rays.iter().map(|ray| ray.between(ray.t_min.max(-f32::MAX), ray.t_max.min(f32::MAX))).collect()
}

/// Answers a ray on the CPU that the device left open.
fn judged<T: CpuQuery>(ray: &Ray, number: u64, scene: &CpuScene, query: &Query, tally: &mut Tally, miss: T) -> T {
    if ray.t_min > ray.t_max {
        // A ray that was skipped: it ends before it starts.
        return miss;
    }
    tally.judged += 1;
    match scene.cast_one::<T>(number, ray, query) {
        Some(found) => {
            tally.beyond += u64::from(found.beyond);
            found.answer
        }
        None => miss,
    }
}

impl GpuQuery for Hit {
    const SEARCH: Search = Search { program: &wgsl::CLOSEST, state: size_of::<Best>() as u64 };
    const FINISH: &'static Program = &wgsl::HITS;
    const FINISH_SOLVES: bool = true;

    fn settle(raw: Self, ray: &Ray, number: u64, scene: &CpuScene, query: &Query, tally: &mut Tally) -> Self {
        match raw.t.to_bits() {
            TAG_JUDGE => judged(ray, number, scene, query, tally, Self::MISS),
            TAG_BEYOND => {
                tally.beyond += 1;
                Self::MISS
            }
            TAG_ROUND => match scene.spheres.get(raw.id as usize) {
                Some(sphere) => Self { t: crate::cpu::round_hit(ray, sphere, query), id: raw.id },
                None => Self::MISS,
            },
            _ => raw,
        }
    }
}

impl GpuQuery for Interval {
    const SEARCH: Search = Search { program: &wgsl::CLOSEST, state: size_of::<Best>() as u64 };
    const FINISH: &'static Program = &wgsl::INTERVALS;
    const FINISH_SOLVES: bool = true;

    fn settle(raw: Self, ray: &Ray, number: u64, scene: &CpuScene, query: &Query, tally: &mut Tally) -> Self {
        match raw.t_enter.to_bits() {
            TAG_JUDGE => judged(ray, number, scene, query, tally, Self::MISS),
            TAG_BEYOND => {
                tally.beyond += 1;
                Self::MISS
            }
            TAG_ROUND => match scene.spheres.get(raw.id as usize) {
                Some(sphere) => {
                    let (t_enter, t_exit) = round_roots(ray, sphere);
                    Self { t_enter, t_exit, id: raw.id }
                }
                None => Self::MISS,
            },
            _ => raw,
        }
    }
}

impl GpuQuery for Approach {
    const SEARCH: Search = Search { program: &wgsl::APPROACH, state: size_of::<Nearest>() as u64 };
    const FINISH: &'static Program = &wgsl::APPROACHES;
    const FINISH_SOLVES: bool = false;

    fn settle(raw: Self, ray: &Ray, number: u64, scene: &CpuScene, query: &Query, tally: &mut Tally) -> Self {
        match raw.t.to_bits() {
            TAG_JUDGE => judged(ray, number, scene, query, tally, Self::NONE),
            TAG_ROUND => match scene.spheres.get(raw.id as usize) {
                Some(sphere) => {
                    let (t, clearance) = crate::cpu::judge_approach(ray, sphere);
                    Self { t, clearance, id: raw.id }
                }
                None => Self::NONE,
            },
            _ if raw.id == NO_SPHERE => raw,
            _ => Self { t: raw.t.max(ray.t_min).min(ray.t_max), ..raw },
        }
    }
}

/// A chunk's rays with the bad ones replaced by one that meets nothing, and where those are.
fn accept(first: u64, chunk: &[Ray], query: &Query) -> Result<(Vec<Ray>, Vec<usize>)> {
    let mut rays = chunk.to_vec();
    let mut bad = Vec::new();
    for (i, ray) in rays.iter_mut().enumerate() {
        if let Err(error) = check_ray(first + i as u64, ray) {
            if query.on_bad == OnBad::Refuse {
                return Err(error);
            }
            // Its range is empty: the start lies past the end.
            *ray = Ray::new([0.0; 3], [1.0, 0.0, 0.0]).between(f32::MAX, -f32::MAX);
            bad.push(i);
        }
    }
    Ok((rays, bad))
}
