//! Queries that return hit lists: all hits of each ray, or the first few. Also counts of hits.

use std::time::Instant;

use super::cast::Cast;
use super::near::without_blocked;
use super::scene::Scene;
use crate::batch::input::Rays;
use crate::batch::ray_batch::RayBatch;
use crate::error::{Error, Result};
use crate::gpu::cast::hit_lists::{ListLengthWriter, ListSlot, ListWriter};
use crate::gpu::cast::plan::Search;
use crate::gpu::engine::GpuEngine;
use crate::gpu::scene::GpuScene;
use crate::query::kind::{All, Nearest};
use crate::query::policy::Query;
use crate::query::results::{HitLists, Report, Tally};
use crate::records::Interval;
use crate::runtime::block_on::block_on;
use crate::runtime::memory::{self, try_with_capacity};

/// Offset of each ray's list, the records of all lists, and the counts of the batch.
pub(super) type Listed = (Vec<u64>, Vec<Interval>, Tally);

impl Scene {
    /// Finds every sphere that each ray hits, with both raw roots, ordered by (`t`, id), where `t` follows the policy
    /// ([`Interval::hit_t`]). The number of hits is not limited: memory grows with the result.
    /// The call blocks until all lists are complete, and allocates 8 bytes per ray and 12 per hit; while tasks join their lists, twice that.
    ///
    /// ```
    /// use umbracast::{Device, DeviceOptions, Interval, Query, Ray, SceneOptions, Sphere};
    ///
    /// let device = Device::open(&DeviceOptions::new("cpu"))?;
    /// let spheres = [Sphere::new([9.0, 0.0, 0.0], 1.0), Sphere::new([5.0, 0.0, 0.0], 1.0)];
    /// let scene = device.scene(&spheres, &SceneOptions::default())?;
    /// let rays = [Ray::new([0.0; 3], [1.0, 0.0, 0.0]), Ray::new([0.0; 3], [0.0, 1.0, 0.0])];
    /// let lists = scene.all(&rays, &Query::default())?;
    /// assert_eq!(lists.offsets, [0, 2, 2]);
    /// assert_eq!(lists.get(0).unwrap()[0], Interval { t_enter: 4.0, t_exit: 6.0, id: 1 });
    /// # Ok::<(), umbracast::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`closest`](Self::closest); [`Error::TooLarge`] also if the lists of these rays exceed the available memory of the machine. Then
    /// cast fewer rays at a time.
    pub fn all<'a>(&'a self, rays: impl Into<Rays<'a>>, query: &'a Query) -> Result<HitLists> {
        block_on(All.start(self, rays.into(), query))
    }

    /// Finds the first `k` hits of each ray, in the order of [`all`](Self::all), or all hits if there are fewer. The first is the hit of
    /// [`closest`](Self::closest). The CPU engine does not search behind the last of them; a GPU finds all hits and keeps the first `k`.
    /// It blocks and allocates as [`all`](Self::all), for at most `k` hits per ray.
    ///
    /// # Errors
    /// As [`all`](Self::all); [`Error::InvalidArgument`] also if `k` is 0.
    pub fn nearest<'a>(&'a self, rays: impl Into<Rays<'a>>, k: u32, query: &'a Query) -> Result<HitLists> {
        block_on(Nearest(k).start(self, rays.into(), query))
    }

    /// Lists at most `most` hits per ray.
    pub(super) async fn list(&self, rays: Rays<'_>, most: u32, query: &Query) -> Result<HitLists> {
        let start = Instant::now();
        let len = rays.len();
        let batch = self.batch(&rays, query)?;
        let off_surface = self.off_surface(&batch);
        let (offsets, records, tally) = self.dispatch_lists(batch, most).await?;
        let blocked = self.blocked(&rays, query).await?;
        let report = Report::new(len, Tally { off_surface, ..tally }, start);
        Ok(without_blocked(HitLists { offsets, records, report }, &blocked))
    }

    /// Lists hits on a GPU in two passes: the first counts them, the second writes the records, if there is memory for them.
    pub(super) async fn list_gpu(
        &self,
        device: &GpuEngine,
        gpu: &GpuScene,
        batch: RayBatch<'_>,
        most: u32,
    ) -> Result<Listed> {
        let (counts, mut tally, again) = self.lengths(device, gpu, batch, Search::Bvh).await?;
        let ListCounts { mut device_counts, mut made } = counts;
        // Rays that the BVH traversal does not finish: the device counts their hits by brute force.
        let rest = batch.gather(&again);
        let rest = rest.batch(batch.query, batch.cancel);
        let (counts, more, _) = self.lengths(device, gpu, rest, Search::BruteForce).await?;
        tally = tally + more;
        made.extend(counts.made.into_iter().map(|(i, list)| (again[i], list)));
        again.iter().zip(&counts.device_counts).for_each(|(&at, count)| device_counts[at] = *count);

        // Offsets of the lists: a prefix sum of their lengths.
        let mut offsets: Vec<u64> = try_with_capacity(batch.rays.len() + 1)?;
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
            return Err(Error::TooLarge { what: "hit lists", asked, allowed, device });
        }
        memory::check("hit lists", asked)?;
        let mut records: Vec<Interval> = try_with_capacity(end as usize)?;
        records.resize(end as usize, Interval::MISS);
        for (at, list) in made {
            let place = &mut records[offsets[at] as usize..offsets[at + 1] as usize];
            place.copy_from_slice(&list[..place.len()]);
        }

        let place = |at: usize, count: u32| ListSlot { at: offsets[at] as usize, count };
        let brute: Vec<(usize, ListSlot)> = again.into_iter().map(|at| (at, place(at, device_counts[at]))).collect();
        brute.iter().for_each(|(at, _)| device_counts[*at] = 0);
        let silent = batch.cancel.without_progress();
        let batch = RayBatch { cancel: &silent, ..batch };
        let listed = device_counts.iter().filter(|count| **count > 0).count();
        let places = (0..).zip(&device_counts).map(|(at, &count)| (at, place(at, count)));
        let mut fill = ListFill { scene: self, device, gpu, batch, most, records: &mut records };
        // If few rays hit anything, only they are cast again. In a pairwise scene the index of a ray must not change.
        let unfinished = if self.host.pairwise || listed > batch.rays.len() / 2 {
            fill.write_all(places.map(|(_, place)| place).collect(), Search::Bvh).await?
        } else {
            fill.write_some(places.filter(|(_, place)| place.count > 0).collect(), Search::Bvh).await?
        };
        let unfinished = unfinished.into_iter().map(|at| (at, place(at, device_counts[at])));
        let some = unfinished.chain(brute.into_iter().filter(|(_, place)| place.count > 0)).collect();
        if let Some(at) = fill.write_some(some, Search::BruteForce).await?.first() {
            let message = format!("ray {} hit fewer spheres than were counted before", batch.first + *at as u64);
            return Err(Error::DeviceFailed { device: self.device.name().into(), message });
        }
        Ok((offsets, records, tally))
    }

    /// Counts the hits of each ray. Also returns the counts of the batch, and the indices of the rays to cast again.
    async fn lengths(
        &self,
        device: &GpuEngine,
        gpu: &GpuScene,
        batch: RayBatch<'_>,
        search: Search,
    ) -> Result<(ListCounts, Tally, Vec<usize>)> {
        let mut counts = try_with_capacity(batch.rays.len())?;
        counts.resize(batch.rays.len(), 0);
        let most = device.largest_binding() / (2 * size_of::<Interval>() as u64);
        let mut lengths = ListLengthWriter { counts: &mut counts, made: Vec::new(), most };
        let (tally, again) = gpu.cast(device, &self.host, batch, &mut lengths, search).await?;
        let made = lengths.made.into_iter().map(|(at, list)| Ok((at, list?))).collect::<Result<Vec<_>>>()?;
        Ok((ListCounts { device_counts: counts, made }, tally, again))
    }
}

/// Lengths of hit lists.
struct ListCounts {
    /// Number of hits that the device will write per ray.
    device_counts: Vec<u32>,
    /// Lists that the host has built instead, each with the index of its ray.
    made: Vec<(usize, Vec<Interval>)>,
}

/// Second pass: writes the hits into lists of known lengths.
struct ListFill<'a> {
    scene: &'a Scene,
    device: &'a GpuEngine,
    gpu: &'a GpuScene,
    batch: RayBatch<'a>,
    most: u32,
    records: &'a mut [Interval],
}

impl ListFill<'_> {
    /// Writes the lists of all rays. Returns the indices of unfinished rays.
    async fn write_all(&mut self, places: Vec<ListSlot>, search: Search) -> Result<Vec<usize>> {
        let Self { batch, most, .. } = *self;
        let ray_attributes = self.scene.host.has_motion_or_shape(&batch.ray_attributes).then_some(batch.ray_attributes);
        let mut fill =
            ListWriter { places: &places, records: self.records, most, inside: batch.query.inside, ray_attributes };
        Ok(self.gpu.cast(self.device, &self.scene.host, batch, &mut fill, search).await?.1)
    }

    /// Writes the lists of some rays, given by their indices. Returns the indices of unfinished rays.
    async fn write_some(&mut self, some: Vec<(usize, ListSlot)>, search: Search) -> Result<Vec<usize>> {
        let Self { batch, most, .. } = *self;
        let numbers: Vec<usize> = some.iter().map(|(at, _)| *at).collect();
        let rest = batch.gather(&numbers);
        let places: Vec<ListSlot> = some.iter().map(|(_, place)| *place).collect();
        let rest = rest.batch(batch.query, batch.cancel);
        let ray_attributes = self.scene.host.has_motion_or_shape(&rest.ray_attributes).then_some(rest.ray_attributes);
        let mut fill =
            ListWriter { places: &places, records: self.records, most, inside: batch.query.inside, ray_attributes };
        let (_, unfinished) = self.gpu.cast(self.device, &self.scene.host, rest, &mut fill, search).await?;
        Ok(unfinished.into_iter().map(|i| some[i].0).collect())
    }
}
