//! A scene, spheres resident on one device, and the questions it answers.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Instant;

use crate::cpu::{CpuScene, Tally, on_cores};
use crate::device::{Device, Engine};
use crate::error::{Error, Result};
use crate::gpu::cast::{Chunk, GpuQuery, GpuScene, settle, settle_bits};
use crate::query::{OnBad, Query, check_ray, check_sphere};
use crate::records::{Approach, Hit, Interval, Ray, Sphere};

/// Rays the CPU engine copies at a time: its tasks may outlive the caller's borrow, so they own what they read.
const CPU_CHUNK: usize = 1 << 18;

/// Spheres to make a scene of: a borrowed slice, later with more columns.
#[derive(Clone, Copy, Debug)]
pub struct Spheres<'a> {
    pub(crate) records: &'a [Sphere],
}

/// Rays to cast: a borrowed slice, later with more columns.
#[derive(Clone, Copy, Debug)]
pub struct Rays<'a> {
    pub(crate) records: &'a [Ray],
}

macro_rules! from_slices {
    ($columns:ident, $record:ident) => {
        impl<'a> From<&'a [$record]> for $columns<'a> {
            fn from(records: &'a [$record]) -> Self {
                Self { records }
            }
        }
        impl<'a> From<&'a Vec<$record>> for $columns<'a> {
            fn from(records: &'a Vec<$record>) -> Self {
                Self { records }
            }
        }
        impl<'a, const N: usize> From<&'a [$record; N]> for $columns<'a> {
            fn from(records: &'a [$record; N]) -> Self {
                Self { records }
            }
        }
    };
}
from_slices!(Spheres, Sphere);
from_slices!(Rays, Ray);

/// How to build a scene: nothing to choose yet, every sphere is tested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SceneOptions {}

/// How a query went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Rays cast.
    pub rays: u64,
    /// Rays that met a sphere (for `approach`: that touch or enter one).
    pub hits: u64,
    /// Rays that could not be used and missed ([`OnBad::Skip`]).
    pub skipped: u64,
    /// Rays that miss only because their root exceeds the largest f32.
    pub beyond: u64,
    /// Rays decided by exact arithmetic ([`Precision::Exact`](crate::Precision::Exact)).
    pub judged: u64,
    /// Wall time.
    pub seconds: f64,
}

/// One record a ray, in their order, and how it went.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Answer<T> {
    /// One for each ray.
    pub records: Vec<T>,
    /// How it went.
    pub report: Report,
}

/// The answer of `closest`.
pub type Hits = Answer<Hit>;

impl<T> Deref for Answer<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.records
    }
}

/// The answer of `occluded`: one bit a ray, ray 0 in bit 0 of word 0; bits past the last ray are 0.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Bits {
    /// The words.
    pub words: Vec<u32>,
    /// How many rays.
    pub len: usize,
    /// How it went.
    pub report: Report,
}

impl Bits {
    /// Whether ray `i` met a sphere; `None` past the last ray.
    pub fn get(&self, i: usize) -> Option<bool> {
        let word = self.words.get(i / 32)?;
        (i < self.len).then(|| word >> (i % 32) & 1 == 1)
    }

    /// All of them in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = bool> + '_ {
        (0..self.len).map(|i| self.get(i) == Some(true))
    }
}

/// Spheres resident on a device; clones share them.
#[derive(Clone)]
pub struct Scene {
    device: Device,
    host: Arc<CpuScene>,
    gpu: Option<Arc<GpuScene>>,
}

impl Scene {
    pub(crate) async fn new(device: &Device, spheres: &[Sphere], pairwise: bool) -> Result<Self> {
        // The last id means "no sphere".
        let most = u64::from(u32::MAX);
        if spheres.len() as u64 > most {
            let (asked, allowed) = (spheres.len() as u64 * 16, most * 16);
            return Err(Error::TooLarge { what: "spheres", asked, allowed, device: device.name().into() });
        }
        for (index, sphere) in (0..).zip(spheres) {
            check_sphere(index, sphere)?;
        }
        let gpu = match &device.engine {
            Engine::Cpu => None,
            Engine::Gpu(gpu) => Some(Arc::new(GpuScene::new(gpu, spheres, pairwise).await?)),
        };
        Ok(Self { device: device.clone(), host: Arc::new(CpuScene::new(spheres, pairwise)), gpu })
    }

    /// The device the scene lives on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// How many spheres it holds.
    pub fn len(&self) -> usize {
        self.host.spheres.len()
    }

    /// Whether it holds none: every ray misses.
    pub fn is_empty(&self) -> bool {
        self.host.spheres.is_empty()
    }

    /// For each ray the smallest valid `t` over all spheres, and the id; [`Hit::MISS`] when there is none.
    ///
    /// # Errors
    /// [`Error::BadRecord`] for a ray that cannot be used, [`Error::NoPrecision`], and what the device can suffer.
    pub async fn closest(&self, rays: impl Into<Rays<'_>>, query: &Query) -> Result<Hits> {
        self.answer(rays.into(), query, Hit::MISS).await
    }

    /// [`closest`](Self::closest) into the caller's memory, which is undefined after an error.
    ///
    /// # Errors
    /// As [`closest`](Self::closest); [`Error::LengthsDiffer`] unless `hits` has one record a ray.
    pub async fn closest_into(&self, rays: impl Into<Rays<'_>>, hits: &mut [Hit], query: &Query) -> Result<Report> {
        let rays = rays.into();
        same_length("rays", rays.records.len(), "results", hits.len())?;
        self.cast(rays, query, hits, Hit::MISS).await
    }

    /// For each ray both roots of its closest sphere, never clipped to the ray's ends.
    ///
    /// # Errors
    /// As [`closest`](Self::closest).
    pub async fn interval(&self, rays: impl Into<Rays<'_>>, query: &Query) -> Result<Answer<Interval>> {
        self.answer(rays.into(), query, Interval::MISS).await
    }

    /// For each ray where it passes nearest to a surface, within its ends: the least clearance, then the least `t`, then the
    /// lowest id. Of the query only the precision and `on_bad` matter.
    ///
    /// # Errors
    /// As [`closest`](Self::closest).
    pub async fn approach(&self, rays: impl Into<Rays<'_>>, query: &Query) -> Result<Answer<Approach>> {
        self.answer(rays.into(), query, Approach::NONE).await
    }

    /// For each ray whether it meets any sphere.
    ///
    /// # Errors
    /// As [`closest`](Self::closest).
    pub async fn occluded(&self, rays: impl Into<Rays<'_>>, query: &Query) -> Result<Bits> {
        let start = Instant::now();
        let rays = rays.into().records;
        self.check(rays, query)?;
        let mut words = vec![0u32; rays.len().div_ceil(32)];
        let (mut tally, mut skipped) = (Tally::default(), 0);
        let step = self.chunk();
        for (n, chunk) in rays.chunks(step).enumerate() {
            let first = (n * step) as u64;
            let (clean, bad) = accept(first, chunk, query)?;
            let out = &mut words[n * step / 32..][..chunk.len().div_ceil(32)];
            let (bits, more) = self.occluded_chunk(first, clean, query).await?;
            out.copy_from_slice(&bits);
            tally = tally + more;
            for i in &bad {
                out[i / 32] &= !(1 << (i % 32));
            }
            skipped += bad.len() as u64;
        }
        let hits = words.iter().map(|word| u64::from(word.count_ones())).sum();
        Ok(Bits { words, len: rays.len(), report: report(rays.len(), hits, skipped, tally, start) })
    }

    /// One chunk's bits, in whole words.
    async fn occluded_chunk(&self, first: u64, rays: Vec<Ray>, query: &Query) -> Result<(Vec<u32>, Tally)> {
        let (scene, query) = (self.host.clone(), *query);
        if let (Engine::Gpu(device), Some(gpu)) = (&self.device.engine, &self.gpu) {
            let raw = gpu.occluded(device, &scene, Chunk { first, rays: &rays, query: &query }).await?;
            return on_cores(move || settle_bits(&raw, Chunk { first, rays: &rays, query: &query }, &scene)).await;
        }
        on_cores(move || {
            let mut flags = vec![false; rays.len()];
            let tally = scene.cast(first, &rays, &query, &mut flags);
            let word = |flags: &[bool]| flags.iter().rev().fold(0u32, |word, flag| word << 1 | u32::from(*flag));
            (flags.chunks(32).map(word).collect(), tally)
        })
        .await
    }

    /// One chunk's records.
    async fn cast_chunk<T: GpuQuery>(
        &self,
        first: u64,
        rays: Vec<Ray>,
        query: &Query,
        miss: T,
    ) -> Result<(Vec<T>, Tally)> {
        let (scene, query) = (self.host.clone(), *query);
        if let (Engine::Gpu(device), Some(gpu)) = (&self.device.engine, &self.gpu) {
            let mut raw: Vec<T> = gpu.cast(device, &scene, Chunk { first, rays: &rays, query: &query }).await?;
            return on_cores(move || {
                let tally = settle(&mut raw, Chunk { first, rays: &rays, query: &query }, &scene);
                (raw, tally)
            })
            .await;
        }
        on_cores(move || {
            let mut records = vec![miss; rays.len()];
            let tally = scene.cast(first, &rays, &query, &mut records);
            (records, tally)
        })
        .await
    }

    async fn answer<T: GpuQuery + IsHit>(&self, rays: Rays<'_>, query: &Query, miss: T) -> Result<Answer<T>> {
        let mut records = vec![miss; rays.records.len()];
        let report = self.cast(rays, query, &mut records, miss).await?;
        Ok(Answer { records, report })
    }

    async fn cast<T: GpuQuery + IsHit>(&self, rays: Rays<'_>, query: &Query, out: &mut [T], miss: T) -> Result<Report> {
        let start = Instant::now();
        let rays = rays.records;
        self.check(rays, query)?;
        let (mut tally, mut skipped) = (Tally::default(), 0);
        let step = self.chunk();
        for (n, (chunk, out)) in rays.chunks(step).zip(out.chunks_mut(step)).enumerate() {
            let first = (n * step) as u64;
            let (clean, bad) = accept(first, chunk, query)?;
            let (records, more) = self.cast_chunk(first, clean, query, miss).await?;
            out.copy_from_slice(&records);
            tally = tally + more;
            for i in &bad {
                out[*i] = miss;
            }
            skipped += bad.len() as u64;
        }
        let hits = out.iter().filter(|record| record.is_hit()).count() as u64;
        Ok(report(rays.len(), hits, skipped, tally, start))
    }

    fn check(&self, rays: &[Ray], query: &Query) -> Result<()> {
        if self.host.pairwise {
            same_length("rays", rays.len(), "spheres", self.len())?;
        }
        match &self.device.engine {
            Engine::Cpu => Ok(()),
            Engine::Gpu(gpu) => gpu.check_precision(query.precision),
        }
    }

    fn chunk(&self) -> usize {
        match &self.device.engine {
            Engine::Cpu => CPU_CHUNK,
            Engine::Gpu(gpu) => GpuScene::chunk(gpu, self.len() as u64, self.host.pairwise) as usize,
        }
    }
}

/// Whether a record is a hit, for the report.
pub(crate) trait IsHit: 'static {
    fn is_hit(&self) -> bool;
}

impl IsHit for Hit {
    fn is_hit(&self) -> bool {
        Hit::is_hit(self)
    }
}

impl IsHit for Interval {
    fn is_hit(&self) -> bool {
        Interval::is_hit(self)
    }
}

impl IsHit for Approach {
    fn is_hit(&self) -> bool {
        self.clearance <= 0.0
    }
}

fn same_length(left_name: &'static str, left: usize, right_name: &'static str, right: usize) -> Result<()> {
    if left == right {
        return Ok(());
    }
    Err(Error::LengthsDiffer { left_name, left: left as u64, right_name, right: right as u64 })
}

fn report(rays: usize, hits: u64, skipped: u64, tally: Tally, start: Instant) -> Report {
    Report {
        rays: rays as u64,
        hits,
        skipped,
        beyond: tally.beyond,
        judged: tally.judged,
        seconds: start.elapsed().as_secs_f64(),
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
