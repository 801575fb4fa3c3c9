//! Hit lists on a GPU, in two passes: the first counts the hits of each ray, the second writes the records into memory of that size.
//! All CPU cores then sort the lists.

use std::ops::Range;

use super::kernels::{Kernels, RAYS_PER_THREAD};
use super::readback::{DecodedChunk, ResultWriter, UndecidedRay, decode};
use super::resolve::{GpuQuery, RayContext};
use crate::batch::ray_attributes::RayAttributeColumns;
use crate::batch::raygen::source::RaySource;
use crate::cpu::query::all_hits::key_of;
use crate::cpu::query::kinds::Count;
use crate::cpu::scene::CpuScene;
use crate::error::Result;
use crate::gpu::programs;
use crate::gpu::uniforms::TAG_UNROUNDED;
use crate::intersect::resolve::round_roots;
use crate::query::policy::{Inside, Query};
use crate::query::results::{ALL, Tally};
use crate::records::{Interval, Ray, RayAttributes};

/// Maximum number of bytes of records per chunk, unless a single ray has more: enough to keep a device busy.
const MAX_CHUNK_BYTES: u64 = 32 << 20;
/// Rays per sorting task.
const SORT_TASK_RAYS: usize = 1024;
const RECORD_BYTES: u64 = size_of::<Interval>() as u64;

/// First pass: the length of each ray's list. Lists with undecided spheres are built by the host immediately.
pub(crate) struct ListLengthWriter<'a> {
    /// Lengths of the lists that the device will write.
    pub(crate) counts: &'a mut [u32],
    /// Lists that the host has built: the index of the ray in the batch, and its list.
    pub(crate) made: Vec<(usize, Result<Vec<Interval>>)>,
    /// Maximum length of a list on the device; the host builds longer ones.
    pub(crate) most: u64,
}

impl ResultWriter for ListLengthWriter<'_> {
    type Item = Result<Vec<Interval>>;

    fn kernels(&self) -> Kernels {
        Count::KERNELS
    }

    fn decode(&mut self, start: usize, rays: RaySource<'_>, bytes: &[u8], bad: &[u32]) -> DecodedChunk<Self::Item> {
        let most = self.most;
        let counts = &mut self.counts[start..start + rays.len()];
        decode::<Count, _, _>(start, rays, bytes, bad, counts, |slot, count, is_final| {
            let own = is_final && u64::from(count) <= most;
            *slot = if own { count } else { 0 };
            (!own).then(|| Ok(Vec::new()))
        })
    }

    fn unresolved() -> Option<Self::Item> {
        Some(Ok(Vec::new()))
    }

    fn resolve(_: Self::Item, context: &RayContext, host: &CpuScene, query: &Query, tally: &mut Tally) -> Self::Item {
        let (records, own) = host.list_one(context.number, &context.ray, context.attributes, query, ALL)?;
        *tally = *tally + Tally { exact: context.count_exact(own.exact > 0), hits: 0, ..own };
        Ok(records)
    }

    fn write(&mut self, settled: Vec<(usize, Self::Item)>) -> u64 {
        let hits = settled.iter().filter(|(_, list)| list.as_ref().is_ok_and(|list| !list.is_empty())).count();
        self.made.extend(settled);
        hits as u64
    }
}

/// Position of a ray's list among the records, and the number of records that the device writes for it.
#[derive(Clone, Copy, Default)]
pub(crate) struct ListSlot {
    pub(crate) at: usize,
    pub(crate) count: u32,
}

/// One sorting task: the records of some rays as the device wrote them, and the data to round and sort them.
pub(crate) struct ListChunk {
    rays: Vec<Ray>,
    /// Attributes of the rays, for rounding; empty if nothing moves.
    ray_attributes: Vec<RayAttributes>,
    counts: Vec<u32>,
    records: Vec<Interval>,
    inside: Inside,
    most: u32,
}

/// Second pass: the records of lists whose lengths are known.
pub(crate) struct ListWriter<'a> {
    /// One per ray of the batch.
    pub(crate) places: &'a [ListSlot],
    pub(crate) records: &'a mut [Interval],
    /// Maximum number of records to keep per list.
    pub(crate) most: u32,
    pub(crate) inside: Inside,
    /// Attributes of the rays; `None` if nothing moves.
    pub(crate) ray_attributes: Option<RayAttributeColumns<'a>>,
}

impl ListWriter<'_> {
    fn records_of(&self, rays: Range<usize>) -> u64 {
        self.places[rays].iter().map(|place| u64::from(place.count)).sum()
    }
}

impl ResultWriter for ListWriter<'_> {
    type Item = ListChunk;

    /// The result per ray is the end of its list, which shows whether records are missing.
    fn kernels(&self) -> Kernels {
        Kernels {
            brute_force: &programs::LIST,
            rays_per_thread: RAYS_PER_THREAD,
            bvh: Some(&programs::LIST_BVH),
            finalize: None,
            state_bytes: |rays| 8 * rays,
            result_bytes: |rays| 8 * rays,
        }
    }

    fn list_bytes(&self, rays: Range<usize>) -> u64 {
        RECORD_BYTES * self.records_of(rays)
    }

    fn max_rays(&self, rays: Range<usize>) -> usize {
        let mut bytes = 0;
        let fit = self.places[rays].iter().take_while(|place| {
            bytes += RECORD_BYTES * u64::from(place.count);
            bytes <= MAX_CHUNK_BYTES
        });
        fit.count().max(1)
    }

    fn initial_state(&self, rays: Range<usize>) -> Option<Vec<u32>> {
        let mut end = 0;
        let range = |place: &ListSlot| {
            let begin = end;
            end += place.count;
            if place.count == 0 { [0; 2] } else { [begin, end] }
        };
        Some(self.places[rays].iter().flat_map(range).collect())
    }

    fn decode(&mut self, start: usize, rays: RaySource<'_>, bytes: &[u8], _: &[u32]) -> DecodedChunk<ListChunk> {
        let (mut open, mut again) = (Vec::new(), Vec::new());
        let places = &self.places[start..start + rays.len()];
        let (records, ends) = bytes.split_at((RECORD_BYTES * self.records_of(start..start + rays.len())) as usize);
        let (records, ends): (&[Interval], &[[u32; 2]]) = (bytemuck::cast_slice(records), bytemuck::cast_slice(ends));
        let mut at = 0;
        for task in (0..rays.len()).step_by(SORT_TASK_RAYS) {
            let own = task..rays.len().min(task + SORT_TASK_RAYS);
            let (begin, mut counts) = (at, Vec::with_capacity(own.len()));
            for i in own.clone() {
                let count = places[i].count;
                at += count as usize;
                counts.push(count);
                if count > 0 && ends[i][0] as usize != at {
                    again.push(start + i);
                }
            }
            if at > begin {
                let ray_attributes = self
                    .ray_attributes
                    .map_or(Vec::new(), |ray_attributes| own.clone().map(|i| ray_attributes.of(start + i)).collect());
                let rays = rays.slice(own).records().into_owned();
                let records = records[begin..at].to_vec();
                let raw = ListChunk { rays, ray_attributes, counts, records, inside: self.inside, most: self.most };
                open.push(UndecidedRay { index: start + task, ray: raw.rays[0], attributes: RayAttributes::NONE, raw });
            }
        }
        DecodedChunk { tally: Tally::default(), undecided: open, unfinished: again }
    }

    /// The first pass has built the lists of these rays.
    fn unresolved() -> Option<ListChunk> {
        None
    }

    fn resolve(mut raw: ListChunk, _: &RayContext, host: &CpuScene, _: &Query, _: &mut Tally) -> ListChunk {
        let (mut at, mut kept, mut keys) = (0, 0, Vec::new());
        for (i, (ray, &count)) in raw.rays.iter().zip(&raw.counts).enumerate() {
            let attributes = raw.ray_attributes.get(i).unwrap_or(&RayAttributes::NONE);
            keys.clear();
            for mut hit in raw.records[at..at + count as usize].iter().copied() {
                if hit.t_enter.to_bits() == TAG_UNROUNDED
                    && let Some(target) = host.target(hit.id, attributes)
                {
                    (hit.t_enter, hit.t_exit) = round_roots(ray, target);
                }
                keys.push((key_of(hit.hit_t(ray, raw.inside), hit.id), hit));
            }
            keys.sort_unstable_by_key(|(key, _)| *key);
            at += count as usize;
            for (_, hit) in keys.iter().take(raw.most as usize) {
                raw.records[kept] = *hit;
                kept += 1;
            }
        }
        raw
    }

    fn write(&mut self, settled: Vec<(usize, ListChunk)>) -> u64 {
        for (start, ListChunk { counts, records, .. }) in settled {
            let mut from = 0;
            for (place, count) in self.places[start..].iter().zip(counts) {
                let kept = count.min(self.most) as usize;
                self.records[place.at..place.at + kept].copy_from_slice(&records[from..from + kept]);
                from += kept;
            }
        }
        0
    }
}
