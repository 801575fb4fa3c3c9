//! Decodes the results of a chunk from mapped memory into the caller's memory, as records or bits.

use std::ops::Range;

use super::kernels::{Kernels, RAYS_PER_THREAD};
use super::resolve::{GpuQuery, RawRecord, RayContext, resolve_on_cpu};
use crate::batch::raygen::source::RaySource;
use crate::cpu::query::kinds::Occluded;
use crate::cpu::scene::CpuScene;
use crate::gpu::programs;
use crate::query::policy::Query;
use crate::query::results::Tally;
use crate::records::{Ray, RayAttributes};
use crate::runtime::map_tasks;

/// A ray that the device left undecided: its index in the batch, and its raw result.
pub(crate) struct UndecidedRay<T> {
    pub(crate) index: usize,
    pub(crate) ray: Ray,
    /// Filled in by the driver, after `ResultWriter::decode`.
    pub(crate) attributes: RayAttributes,
    pub(crate) raw: T,
}

/// Decoded results of a chunk.
pub(crate) struct DecodedChunk<T> {
    pub(crate) tally: Tally,
    /// Undecided rays, which the host resolves.
    pub(crate) undecided: Vec<UndecidedRay<T>>,
    /// Indices in the batch of the rays whose traversal was not finished.
    pub(crate) unfinished: Vec<usize>,
}

impl<T> Default for DecodedChunk<T> {
    fn default() -> Self {
        Self { tally: Tally::default(), undecided: Vec::new(), unfinished: Vec::new() }
    }
}

/// A query on a GPU: its programs, and where its results are stored.
pub(crate) trait ResultWriter {
    /// Whether the query is `approach`.
    const IS_APPROACH: bool = false;
    /// Result of an undecided entry, before and after it is resolved; usually of one ray.
    type Item: Send + 'static;
    /// The programs.
    fn kernels(&self) -> Kernels;
    /// Bytes of results of variable length for some rays of the batch. They precede the other results in the readback.
    fn list_bytes(&self, _rays: Range<usize>) -> u64 {
        0
    }
    /// How many of these rays of the batch, from the first on, may form one chunk; at least 1.
    fn max_rays(&self, rays: Range<usize>) -> usize {
        rays.len()
    }
    /// Initial state for some rays of the batch; `None` if a program sets it or if it is zero.
    fn initial_state(&self, _rays: Range<usize>) -> Option<Vec<u32>> {
        None
    }
    /// Decodes the results of a chunk whose first ray has index `start` in the batch. Rays in `bad` are invalid and miss.
    fn decode(&mut self, start: usize, rays: RaySource<'_>, bytes: &[u8], bad: &[u32]) -> DecodedChunk<Self::Item>;
    /// The raw result of a ray that the host casts instead of the device. `None` if this pass needs nothing of such rays.
    fn unresolved() -> Option<Self::Item>;
    /// Resolves an undecided result on the host.
    fn resolve(raw: Self::Item, context: &RayContext, host: &CpuScene, query: &Query, tally: &mut Tally) -> Self::Item;
    /// Stores resolved results. Returns the number of hits among them.
    fn write(&mut self, settled: Vec<(usize, Self::Item)>) -> u64;
}

/// Rays per task of [`decode`].
const TASK_RAYS: usize = 1 << 14;

/// Decodes the results of a chunk on all CPU cores. Rays in `bad`, sorted, are invalid and miss. `out` has one element per ray. `put` stores
/// the record of a ray in its element, which is final if the flag is set, or returns what the host resolves.
pub(crate) fn decode<Q: GpuQuery, E: Send, T: Send>(
    start: usize,
    rays: RaySource<'_>,
    bytes: &[u8],
    bad: &[u32],
    out: &mut [E],
    put: impl Fn(&mut E, Q::Record, bool) -> Option<T> + Sync,
) -> DecodedChunk<T> {
    let raw: &[Q::Raw] = &bytemuck::cast_slice(bytes)[..rays.len()];
    let one = |(n, (raw, out)): (usize, (&[Q::Raw], &mut [E]))| {
        let begin = n * TASK_RAYS;
        let mut bad = bad[bad.partition_point(|i| (*i as usize) < begin)..].iter().map(|i| *i as usize).peekable();
        let mut chunk = DecodedChunk::default();
        for (i, (raw, out)) in (begin..).zip(raw.iter().zip(out)) {
            let read = match bad.next_if_eq(&i) {
                Some(_) => RawRecord::Final(Q::MISS),
                None => Q::read(*raw, || rays.ray(i)),
            };
            let (record, is_final, overflowed) = match read {
                RawRecord::Final(record) => (record, true, false),
                RawRecord::Overflow => (Q::MISS, true, true),
                RawRecord::Undecided(raw) => (raw, false, false),
                RawRecord::Unfinished => {
                    chunk.unfinished.push(start + i);
                    continue;
                }
            };
            if let Some(raw) = put(out, record, is_final) {
                let (index, ray, attributes) = (start + i, rays.ray(i), RayAttributes::NONE);
                chunk.undecided.push(UndecidedRay { index, ray, attributes, raw });
            } else {
                chunk.tally.hits += u64::from(Q::is_hit(&record));
                chunk.tally.overflowed += u64::from(overflowed);
            }
        }
        chunk
    };
    let mut sum = DecodedChunk::default();
    for chunk in map_tasks(raw.chunks(TASK_RAYS).zip(out.chunks_mut(TASK_RAYS)).enumerate(), one) {
        sum.tally = sum.tally + chunk.tally;
        sum.undecided.extend(chunk.undecided);
        sum.unfinished.extend(chunk.unfinished);
    }
    sum
}

/// Results of one record per ray, with the programs that compute them.
pub(crate) struct RecordWriter<'a, Q: GpuQuery> {
    out: &'a mut [Q::Record],
    kernels: Kernels,
}

impl<'a, Q: GpuQuery> RecordWriter<'a, Q> {
    pub(crate) fn new(out: &'a mut [Q::Record]) -> Self {
        Self { out, kernels: Q::KERNELS }
    }
}

impl<Q: GpuQuery> ResultWriter for RecordWriter<'_, Q> {
    const IS_APPROACH: bool = Q::IS_APPROACH;
    type Item = Q::Record;

    fn kernels(&self) -> Kernels {
        self.kernels
    }

    fn decode(&mut self, start: usize, rays: RaySource<'_>, bytes: &[u8], bad: &[u32]) -> DecodedChunk<Q::Record> {
        decode::<Q, _, _>(start, rays, bytes, bad, &mut self.out[start..start + rays.len()], |out, record, is_final| {
            if is_final {
                *out = record;
            }
            (!is_final).then_some(record)
        })
    }

    fn unresolved() -> Option<Q::Record> {
        Some(Q::MISS)
    }

    fn resolve(raw: Q::Record, context: &RayContext, host: &CpuScene, query: &Query, tally: &mut Tally) -> Q::Record {
        Q::round(raw, context, host, query).unwrap_or_else(|| resolve_on_cpu::<Q>(context, host, query, tally))
    }

    fn write(&mut self, settled: Vec<(usize, Q::Record)>) -> u64 {
        let hits = settled.iter().filter(|(_, record)| Q::is_hit(record)).count() as u64;
        settled.into_iter().for_each(|(at, record)| self.out[at] = record);
        hits
    }
}

/// Results of `occluded`: one bit per ray. The device keeps four bitsets: hit, undecided, hit only beyond f32 (overflow), unfinished.
pub(crate) struct BitWriter<'a>(pub(crate) &'a mut [u32]);

impl ResultWriter for BitWriter<'_> {
    type Item = bool;

    fn kernels(&self) -> Kernels {
        Self::KERNELS
    }

    fn decode(&mut self, start: usize, rays: RaySource<'_>, bytes: &[u8], bad: &[u32]) -> DecodedChunk<bool> {
        let (mut tally, mut open, mut again) = (Tally::default(), Vec::new(), Vec::new());
        let raw: &[u32] = bytemuck::cast_slice(bytes);
        let words = raw.len() / 4;
        let mut usable = vec![u32::MAX; words];
        for i in bad {
            usable[*i as usize / 32] &= !(1 << (i % 32));
        }
        for (w, usable) in usable.into_iter().enumerate() {
            let hit = raw[w] & usable;
            let unfinished = raw[3 * words + w] & usable & !hit;
            let rest = usable & !hit & !unfinished;
            let (mut doubt, beyond) = (raw[words + w] & rest, raw[2 * words + w] & rest);
            again.extend((0..32).filter(|bit| unfinished >> bit & 1 == 1).map(|bit| start + w * 32 + bit));
            tally.hits += u64::from(hit.count_ones());
            // An undecided ray is counted when the host resolves it.
            tally.overflowed += u64::from((beyond & !doubt).count_ones());
            while doubt != 0 {
                let i = w * 32 + doubt.trailing_zeros() as usize;
                doubt &= doubt - 1;
                open.push(UndecidedRay {
                    index: start + i,
                    ray: rays.ray(i),
                    attributes: RayAttributes::NONE,
                    raw: false,
                });
            }
            self.put_word(start + w * 32, hit, rays.len() - w * 32);
        }
        DecodedChunk { tally, undecided: open, unfinished: again }
    }

    fn unresolved() -> Option<bool> {
        Some(false)
    }

    fn resolve(_: bool, context: &RayContext, host: &CpuScene, query: &Query, tally: &mut Tally) -> bool {
        resolve_on_cpu::<Occluded>(context, host, query, tally)
    }

    fn write(&mut self, settled: Vec<(usize, bool)>) -> u64 {
        let mut hits = 0;
        for (at, hit) in settled {
            hits += u64::from(hit);
            self.0[at / 32] |= u32::from(hit) << (at % 32);
        }
        hits
    }
}

impl BitWriter<'_> {
    pub(crate) const KERNELS: Kernels = Kernels {
        brute_force: &programs::OCCLUDED,
        rays_per_thread: RAYS_PER_THREAD,
        bvh: Some(&programs::OCCLUDED_BVH),
        finalize: None,
        state_bytes: |rays| 4 * 4 * rays.div_ceil(32),
        result_bytes: |rays| 4 * 4 * rays.div_ceil(32),
    };

    /// Sets up to 32 bits from bit `index` on. A chunk need not begin at a word boundary.
    fn put_word(&mut self, at: usize, bits: u32, count: usize) {
        let (word, shift) = (at / 32, at % 32);
        self.0[word] |= bits << shift;
        if shift > 0 && shift + count.min(32) > 32 {
            self.0[word + 1] |= bits >> (32 - shift);
        }
    }
}
