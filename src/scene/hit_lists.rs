//! Questions whose answers are lists: all spheres that a ray meets, or the first few.

use std::time::Instant;

use super::scene::{CPU_CHUNK, Caller, Scene};
use crate::batch::input::Rays;
use crate::batch::ray_batch::Batch;
use crate::cpu::growth_budget::Pool;
use crate::cpu::hit_lists::join;
use crate::error::{Error, Result};
use crate::gpu::cast::hit_lists::{Fill, Lengths, Place};
use crate::gpu::cast::plan::Way;
use crate::gpu::engine::GpuEngine;
use crate::gpu::scene::GpuScene;
use crate::query::policy::Query;
use crate::query::results::{ALL, Answer, Lists, Report, Tally};
use crate::records::Interval;
use crate::runtime::boxed::Boxed;
use crate::runtime::cpu_pool::on_cores;
use crate::runtime::memory::{check_memory, room};

/// Where each ray's list begins, the records of all, and how it went.
pub(super) type Listed = (Vec<u64>, Vec<Interval>, Tally);

impl Scene {
    /// For each ray every sphere it meets, with both raw roots, ordered by (`t`, id) where `t` is the policy's. However many they are:
    /// nothing is cut off, and memory follows what is found.
    ///
    /// # Errors
    /// As [`closest`](Self::closest); [`Error::TooLarge`] when the lists of these rays exceed what the machine has to spare (cast
    /// fewer at a time).
    pub async fn all(&self, rays: impl Into<Rays<'_>>, query: &Query) -> Result<Lists> {
        self.list(rays.into(), ALL, query, Caller::Polls).await
    }

    /// For each ray the first `k` of [`all`](Self::all), or all when there are fewer; so the first is that of
    /// [`closest`](Self::closest). The CPU engine stops looking behind the last of them; a GPU finds all, and the first `k` are kept.
    ///
    /// # Errors
    /// As [`all`](Self::all); [`Error::Usage`] when `k` is 0.
    pub async fn nearest(&self, rays: impl Into<Rays<'_>>, k: u32, query: &Query) -> Result<Lists> {
        self.list(rays.into(), at_least_one(k)?, query, Caller::Polls).await
    }

    /// [`count`](Self::count).
    pub(crate) fn counted<'a>(&'a self, rays: Rays<'a>, query: &'a Query, caller: Caller) -> Boxed<'a, Answer<u32>> {
        Box::pin(self.cast_counts(rays, query, caller))
    }

    /// [`all`](Self::all) and [`nearest`](Self::nearest): lists for rays, each at most `most` long.
    pub(crate) fn list<'a>(&'a self, rays: Rays<'a>, most: u32, query: &'a Query, caller: Caller) -> Boxed<'a, Lists> {
        Box::pin(self.cast_lists(rays, most, query, caller))
    }

    async fn cast_counts(&self, rays: Rays<'_>, query: &Query, caller: Caller) -> Result<Answer<u32>> {
        let start = Instant::now();
        let batch = self.batch(&rays, query)?;
        let mut records = room(rays.len())?;
        records.resize(rays.len(), 0);
        let tally = self.dispatch_counts(batch, &mut records, caller).await?;
        Ok(Answer { report: Report::new(records.len(), tally, start), records })
    }

    async fn cast_lists(&self, rays: Rays<'_>, most: u32, query: &Query, caller: Caller) -> Result<Lists> {
        let start = Instant::now();
        let len = rays.len();
        let batch = self.batch(&rays, query)?;
        let (offsets, records, tally) = self.dispatch_lists(batch, most, caller).await?;
        Ok(Lists { offsets, records, report: Report::new(len, tally, start) })
    }

    /// What lists on the CPU engine may take together.
    pub(super) fn pool(&self) -> Pool {
        Pool::new(self.device.limits.memory)
    }

    /// On a GPU: how long the lists are, and when there is memory for them what is in them.
    pub(super) async fn list_gpu(
        &self,
        device: &GpuEngine,
        gpu: &GpuScene,
        batch: Batch<'_>,
        most: u32,
    ) -> Result<Listed> {
        let (counts, mut tally, again) = self.lengths(device, gpu, batch, Way::Tree).await?;
        let Counted { mut device_counts, mut made } = counts;
        // Rays that the tree cannot answer, and how many spheres the device finds without it.
        let rest = batch.some(&again);
        let rest = rest.batch(batch.query, batch.watch);
        let (counts, more, _) = self.lengths(device, gpu, rest, Way::Brute).await?;
        tally = tally + more;
        made.extend(counts.made.into_iter().map(|(i, list)| (again[i], list)));
        again.iter().zip(&counts.device_counts).for_each(|(&at, count)| device_counts[at] = *count);

        // Where each list begins.
        let mut offsets: Vec<u64> = room(batch.rays.len() + 1)?;
        offsets.push(0);
        offsets.extend(device_counts.iter().map(|count| u64::from((*count).min(most))));
        made.iter().for_each(|(at, list)| offsets[at + 1] = (list.len() as u64).min(most.into()));
        let mut end = 0;
        for offset in &mut offsets {
            end += *offset;
            *offset = end;
        }
        let asked = end.saturating_mul(size_of::<Interval>() as u64);
        if asked > self.device.limits.memory {
            let (allowed, device) = (self.device.limits.memory, self.device.name().into());
            return Err(Error::TooLarge { what: "spheres met", asked, allowed, device });
        }
        check_memory("spheres met", asked)?;
        let mut records: Vec<Interval> = room(end as usize)?;
        records.resize(end as usize, Interval::MISS);
        for (at, list) in made {
            let place = &mut records[offsets[at] as usize..offsets[at + 1] as usize];
            place.copy_from_slice(&list[..place.len()]);
        }

        let place = |at: usize, count: u32| Place { at: offsets[at] as usize, count };
        let brute: Vec<(usize, Place)> = again.into_iter().map(|at| (at, place(at, device_counts[at]))).collect();
        brute.iter().for_each(|(at, _)| device_counts[*at] = 0);
        let silent = batch.watch.silently();
        let batch = Batch { watch: &silent, ..batch };
        let listed = device_counts.iter().filter(|count| **count > 0).count();
        let places = (0..).zip(&device_counts).map(|(at, &count)| (at, place(at, count)));
        let mut fill = Filling { scene: self, device, gpu, batch, most, records: &mut records };
        // Where few rays meet anything only they are cast again. Pairs go by their numbers.
        let unfinished = if self.host.pairwise || listed > batch.rays.len() / 2 {
            fill.all(places.map(|(_, place)| place).collect(), Way::Tree).await?
        } else {
            fill.some(places.filter(|(_, place)| place.count > 0).collect(), Way::Tree).await?
        };
        let unfinished = unfinished.into_iter().map(|at| (at, place(at, device_counts[at])));
        let some = unfinished.chain(brute.into_iter().filter(|(_, place)| place.count > 0)).collect();
        if let Some(at) = fill.some(some, Way::Brute).await?.first() {
            let message = format!("ray {} met fewer spheres than were counted", batch.first + *at as u64);
            return Err(Error::DeviceFailed { device: self.device.name().into(), message });
        }
        Ok((offsets, records, tally))
    }

    /// How long lists are, and which rays are to be cast again.
    async fn lengths(
        &self,
        device: &GpuEngine,
        gpu: &GpuScene,
        batch: Batch<'_>,
        way: Way,
    ) -> Result<(Counted, Tally, Vec<usize>)> {
        let mut counts = room(batch.rays.len())?;
        counts.resize(batch.rays.len(), 0);
        let most = device.largest_binding() / (2 * size_of::<Interval>() as u64);
        let mut lengths = Lengths { counts: &mut counts, made: Vec::new(), most };
        let (tally, again) = gpu.cast(device, &self.host, batch, &mut lengths, way).await?;
        let made = lengths.made.into_iter().map(|(at, list)| Ok((at, list?))).collect::<Result<Vec<_>>>()?;
        Ok((Counted { device_counts: counts, made }, tally, again))
    }

    /// Rays in pieces that the CPU engine's workers own.
    pub(super) async fn list_owned(&self, batch: Batch<'_>, most: u32) -> Result<Listed> {
        let pool = std::sync::Arc::new(self.pool());
        let mut shares = Vec::new();
        for start in (0..batch.rays.len()).step_by(CPU_CHUNK) {
            let taken = batch.owned(start..batch.rays.len().min(start + CPU_CHUNK))?;
            let (scene, query, watch, pool) = (self.host.clone(), *batch.query, batch.watch.clone(), pool.clone());
            let more = on_cores(move || scene.list(taken.batch(&query, &watch), most, &pool));
            shares.extend(more.await??);
        }
        on_cores(move || join(shares)).await?
    }
}

/// How long lists are.
struct Counted {
    /// What the device will find for each ray.
    device_counts: Vec<u32>,
    /// Lists that the host has made instead, with the numbers of their rays.
    made: Vec<(usize, Vec<Interval>)>,
}

/// Lists of known lengths on their way.
struct Filling<'a> {
    scene: &'a Scene,
    device: &'a GpuEngine,
    gpu: &'a GpuScene,
    batch: Batch<'a>,
    most: u32,
    records: &'a mut [Interval],
}

impl Filling<'_> {
    /// Those of all rays; says which were not finished.
    async fn all(&mut self, places: Vec<Place>, way: Way) -> Result<Vec<usize>> {
        let Self { batch, most, .. } = *self;
        let extras = self.scene.host.moves(&batch.extras).then_some(batch.extras);
        let mut fill = Fill { places: &places, records: self.records, most, inside: batch.query.inside, extras };
        Ok(self.gpu.cast(self.device, &self.scene.host, batch, &mut fill, way).await?.1)
    }

    /// The same for some rays, by their numbers.
    async fn some(&mut self, some: Vec<(usize, Place)>, way: Way) -> Result<Vec<usize>> {
        let Self { batch, most, .. } = *self;
        let numbers: Vec<usize> = some.iter().map(|(at, _)| *at).collect();
        let rest = batch.some(&numbers);
        let places: Vec<Place> = some.iter().map(|(_, place)| *place).collect();
        let rest = rest.batch(batch.query, batch.watch);
        let extras = self.scene.host.moves(&rest.extras).then_some(rest.extras);
        let mut fill = Fill { places: &places, records: self.records, most, inside: batch.query.inside, extras };
        let (_, unfinished) = self.gpu.cast(self.device, &self.scene.host, rest, &mut fill, way).await?;
        Ok(unfinished.into_iter().map(|i| some[i].0).collect())
    }
}

/// A number of spheres that makes sense.
pub(crate) fn at_least_one(k: u32) -> Result<u32> {
    if k == 0 {
        return Err(Error::Usage("nearest needs to know how many: k must be at least 1".into()));
    }
    Ok(k)
}
