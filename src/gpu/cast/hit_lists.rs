//! Hit lists on a GPU, in two passes: the first counts the hits of each ray, the second writes the records into memory of that size.
//! All CPU cores then sort the lists.

use std::ops::Range;

use super::kernels::{Kernels, RAYS_PER_THREAD};
use super::readback::{Gather, Landed, Open};
use super::resolve::{Asker, judged};
use crate::batch::ray_attributes::Extras;
use crate::batch::raygen::source::Source;
use crate::cpu::query::all_hits::key_of;
use crate::cpu::scene::CpuScene;
use crate::error::Result;
use crate::gpu::programs;
use crate::gpu::uniforms::{COUNTED_AGAIN, COUNTED_BEYOND, COUNTED_DOUBT, Counted, TAG_ROUND};
use crate::intersect::resolve::round_roots;
use crate::query::policy::{Inside, Query};
use crate::query::results::{ALL, Tally};
use crate::records::{Extra, Interval, Ray};

/// Maximum number of bytes of records per chunk, unless a single ray has more: enough to keep a device busy.
const TOGETHER: u64 = 32 << 20;
/// Rays per sorting task.
const TASK: usize = 1024;
const RECORD: u64 = size_of::<Interval>() as u64;

/// Decodes the counts of a chunk. Rays in `bad` are invalid and hit nothing. `take` stores the count of a ray, `u32::MAX` if it is
/// undecided, and returns a value if the host must resolve the ray.
fn share<T>(
    start: usize,
    rays: Source<'_>,
    bytes: &[u8],
    bad: &[u32],
    mut take: impl FnMut(usize, u32) -> Option<T>,
) -> Landed<T> {
    let (mut tally, mut open, mut again) = (Tally::default(), Vec::new(), Vec::new());
    let raw: &[Counted] = bytemuck::cast_slice(bytes);
    let mut bad = bad.iter().map(|i| *i as usize).peekable();
    for (i, Counted { count, flags }) in raw[..rays.len()].iter().enumerate() {
        if bad.next_if_eq(&i).is_some() {
            continue;
        }
        if flags & COUNTED_AGAIN != 0 {
            again.push(start + i);
            continue;
        }
        let raw = if flags & COUNTED_DOUBT != 0 { take(start + i, u32::MAX) } else { take(start + i, *count) };
        if let Some(raw) = raw {
            open.push(Open { at: start + i, ray: rays.ray(i), extra: Extra::NONE, raw });
        } else {
            tally.hits += u64::from(*count > 0);
            tally.beyond += u64::from(*count == 0 && flags & COUNTED_BEYOND != 0);
        }
    }
    Landed { tally, open, again }
}

/// Results of `count`: the number of spheres that each ray hits.
pub(crate) struct Counts<'a>(pub(crate) &'a mut [u32]);

impl Gather for Counts<'_> {
    type Item = u32;
    const KERNELS: Kernels = Kernels {
        brute_force: &programs::COUNT,
        rays_per_thread: RAYS_PER_THREAD,
        bvh: Some(&programs::COUNT_BVH),
        finalize: None,
        state_bytes: |rays| rays * size_of::<Counted>() as u64,
        result_bytes: |rays| rays * size_of::<Counted>() as u64,
    };

    fn gather(&mut self, start: usize, rays: Source<'_>, bytes: &[u8], bad: &[u32]) -> Landed<u32> {
        share(start, rays, bytes, bad, |at, count| {
            self.0[at] = if count == u32::MAX { 0 } else { count };
            (count == u32::MAX).then_some(0)
        })
    }

    fn settle(_: u32, asker: &Asker, host: &CpuScene, query: &Query, tally: &mut Tally) -> u32 {
        judged(asker, host, query, tally)
    }

    fn place(&mut self, settled: Vec<(usize, u32)>) -> u64 {
        let hits = settled.iter().filter(|(_, count)| *count > 0).count() as u64;
        settled.into_iter().for_each(|(at, count)| self.0[at] = count);
        hits
    }
}

/// First pass: the length of each ray's list. The host builds the lists that the device cannot decide, at once.
pub(crate) struct Lengths<'a> {
    /// Lengths of the lists that the device will write.
    pub(crate) counts: &'a mut [u32],
    /// Lists that the host has built: the index of the ray in the batch, and its list.
    pub(crate) made: Vec<(usize, Result<Vec<Interval>>)>,
    /// Maximum length of a list on the device; the host builds longer ones.
    pub(crate) most: u64,
}

impl Gather for Lengths<'_> {
    type Item = Result<Vec<Interval>>;
    const KERNELS: Kernels = Counts::KERNELS;

    fn gather(&mut self, start: usize, rays: Source<'_>, bytes: &[u8], bad: &[u32]) -> Landed<Self::Item> {
        share(start, rays, bytes, bad, |at, count| {
            let own = u64::from(count) <= self.most;
            self.counts[at] = if own { count } else { 0 };
            (!own).then_some(Ok(Vec::new()))
        })
    }

    fn settle(_: Self::Item, asker: &Asker, host: &CpuScene, query: &Query, tally: &mut Tally) -> Self::Item {
        let (records, own) = host.list_one(asker.number, &asker.ray, asker.extra, query, ALL)?;
        *tally = *tally + Tally { judged: 1, hits: 0, ..own };
        Ok(records)
    }

    fn place(&mut self, settled: Vec<(usize, Self::Item)>) -> u64 {
        let hits = settled.iter().filter(|(_, list)| list.as_ref().is_ok_and(|list| !list.is_empty())).count();
        self.made.extend(settled);
        hits as u64
    }
}

/// Position of a ray's list among the records, and the number of records that the device writes for it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Place {
    pub(crate) at: usize,
    pub(crate) count: u32,
}

/// One sorting task: the records of some rays as the device wrote them, and the data to round and sort them.
pub(crate) struct Stretch {
    rays: Vec<Ray>,
    /// Attributes of the rays, for rounding; empty if nothing moves.
    extras: Vec<Extra>,
    counts: Vec<u32>,
    records: Vec<Interval>,
    inside: Inside,
    most: u32,
}

/// Second pass: the records of lists whose lengths are known.
pub(crate) struct Fill<'a> {
    /// One per ray of the batch.
    pub(crate) places: &'a [Place],
    pub(crate) records: &'a mut [Interval],
    /// Maximum number of records to keep per list.
    pub(crate) most: u32,
    pub(crate) inside: Inside,
    /// Attributes of the rays; `None` if nothing moves.
    pub(crate) extras: Option<Extras<'a>>,
}

impl Fill<'_> {
    fn records_of(&self, rays: Range<usize>) -> u64 {
        self.places[rays].iter().map(|place| u64::from(place.count)).sum()
    }
}

impl Gather for Fill<'_> {
    type Item = Stretch;
    /// The result per ray is the end of its list, which shows whether records are missing.
    const KERNELS: Kernels = Kernels {
        brute_force: &programs::LIST,
        rays_per_thread: RAYS_PER_THREAD,
        bvh: Some(&programs::LIST_BVH),
        finalize: None,
        state_bytes: |rays| 4 * rays,
        result_bytes: |rays| 4 * rays,
    };

    fn extra_bytes(&self, rays: Range<usize>) -> u64 {
        RECORD * self.records_of(rays)
    }

    fn fit(&self, rays: Range<usize>) -> usize {
        let mut bytes = 0;
        let fit = self.places[rays].iter().take_while(|place| {
            bytes += RECORD * u64::from(place.count);
            bytes <= TOGETHER
        });
        fit.count().max(1)
    }

    fn begin(&self, rays: Range<usize>) -> Option<Vec<u32>> {
        let mut at = 0;
        let begin = |place: &Place| {
            let own = at;
            at += place.count;
            // `NOWHERE` in the shader: the ray has no list here.
            if place.count == 0 { u32::MAX } else { own }
        };
        Some(self.places[rays].iter().map(begin).collect())
    }

    fn gather(&mut self, start: usize, rays: Source<'_>, bytes: &[u8], _: &[u32]) -> Landed<Stretch> {
        let (mut open, mut again) = (Vec::new(), Vec::new());
        let places = &self.places[start..start + rays.len()];
        let (records, ends) = bytes.split_at((RECORD * self.records_of(start..start + rays.len())) as usize);
        let (records, ends): (&[Interval], &[u32]) = (bytemuck::cast_slice(records), bytemuck::cast_slice(ends));
        let mut at = 0;
        for task in (0..rays.len()).step_by(TASK) {
            let own = task..rays.len().min(task + TASK);
            let (begin, mut counts) = (at, Vec::with_capacity(own.len()));
            for i in own.clone() {
                let count = places[i].count;
                at += count as usize;
                counts.push(count);
                if count > 0 && ends[i] as usize != at {
                    again.push(start + i);
                }
            }
            if at > begin {
                let extras =
                    self.extras.map_or(Vec::new(), |extras| own.clone().map(|i| extras.of(start + i)).collect());
                let rays = rays.part(own).records().into_owned();
                let records = records[begin..at].to_vec();
                let raw = Stretch { rays, extras, counts, records, inside: self.inside, most: self.most };
                open.push(Open { at: start + task, ray: raw.rays[0], extra: Extra::NONE, raw });
            }
        }
        Landed { tally: Tally::default(), open, again }
    }

    fn settle(mut raw: Stretch, _: &Asker, host: &CpuScene, _: &Query, _: &mut Tally) -> Stretch {
        let (mut at, mut kept, mut keys) = (0, 0, Vec::new());
        for (i, (ray, &count)) in raw.rays.iter().zip(&raw.counts).enumerate() {
            let extra = raw.extras.get(i).unwrap_or(&Extra::NONE);
            keys.clear();
            for mut met in raw.records[at..at + count as usize].iter().copied() {
                if met.t_enter.to_bits() == TAG_ROUND
                    && let Some(target) = host.target(met.id, extra)
                {
                    (met.t_enter, met.t_exit) = round_roots(ray, target);
                }
                keys.push((key_of(met.met_at(ray, raw.inside), met.id), met));
            }
            keys.sort_unstable_by_key(|(key, _)| *key);
            at += count as usize;
            for (_, met) in keys.iter().take(raw.most as usize) {
                raw.records[kept] = *met;
                kept += 1;
            }
        }
        raw
    }

    fn place(&mut self, settled: Vec<(usize, Stretch)>) -> u64 {
        for (start, Stretch { counts, records, .. }) in settled {
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
