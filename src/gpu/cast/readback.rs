//! Decodes the results of a chunk from mapped memory into the caller's memory, as records or bits.

use std::ops::Range;

use super::kernels::{Kernels, RAYS_PER_THREAD};
use super::resolve::{GpuQuery, RawRecord, RayContext, resolve_on_cpu};
use crate::batch::raygen::source::RaySource;
use crate::cpu::scene::CpuScene;
use crate::gpu::programs;
use crate::query::policy::Query;
use crate::query::results::Tally;
use crate::records::{Ray, RayAttributes};

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

/// A query on a GPU: its programs, and where its results are stored.
pub(crate) trait ResultWriter {
    /// Result of an undecided entry, before and after it is resolved; usually of one ray.
    type Item: Send + 'static;
    const KERNELS: Kernels;
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

/// Results of one record per ray.
pub(crate) struct RecordWriter<'a, T>(pub(crate) &'a mut [T]);

impl<T: GpuQuery> ResultWriter for RecordWriter<'_, T> {
    type Item = T;
    const KERNELS: Kernels = T::KERNELS;

    fn decode(&mut self, start: usize, rays: RaySource<'_>, bytes: &[u8], bad: &[u32]) -> DecodedChunk<T> {
        let (mut tally, mut open, mut again) = (Tally::default(), Vec::new(), Vec::new());
        let raw: &[T] = bytemuck::cast_slice(bytes);
        let mut bad = bad.iter().map(|i| *i as usize).peekable();
        for (i, (out, raw)) in self.0[start..].iter_mut().zip(&raw[..rays.len()]).enumerate() {
            if bad.next_if_eq(&i).is_some() {
                *out = T::MISS;
                continue;
            }
            match T::read(*raw, || rays.ray(i)) {
                RawRecord::Final(record) => {
                    tally.hits += u64::from(record.is_hit());
                    *out = record;
                }
                RawRecord::Overflow => {
                    tally.overflowed += 1;
                    *out = T::MISS;
                }
                RawRecord::Undecided => open.push(UndecidedRay {
                    index: start + i,
                    ray: rays.ray(i),
                    attributes: RayAttributes::NONE,
                    raw: *raw,
                }),
                RawRecord::Unfinished => again.push(start + i),
            }
        }
        DecodedChunk { tally, undecided: open, unfinished: again }
    }

    fn unresolved() -> Option<T> {
        Some(T::MISS)
    }

    fn resolve(raw: T, context: &RayContext, host: &CpuScene, query: &Query, tally: &mut Tally) -> T {
        T::resolve(raw, context, host, query, tally)
    }

    fn write(&mut self, settled: Vec<(usize, T)>) -> u64 {
        let mut hits = 0;
        for (at, record) in settled {
            hits += u64::from(record.is_hit());
            self.0[at] = record;
        }
        hits
    }
}

/// Results of `occluded`: one bit per ray. The device keeps four bitsets: hit, undecided, hit only beyond f32 (overflow), unfinished.
pub(crate) struct BitWriter<'a>(pub(crate) &'a mut [u32]);

impl ResultWriter for BitWriter<'_> {
    type Item = bool;
    const KERNELS: Kernels = Kernels {
        brute_force: &programs::OCCLUDED,
        rays_per_thread: RAYS_PER_THREAD,
        bvh: Some(&programs::OCCLUDED_BVH),
        finalize: None,
        state_bytes: |rays| 4 * 4 * rays.div_ceil(32),
        result_bytes: |rays| 4 * 4 * rays.div_ceil(32),
    };

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
        resolve_on_cpu(context, host, query, tally)
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
    /// Sets up to 32 bits from bit `index` on. A chunk need not begin at a word boundary.
    fn put_word(&mut self, at: usize, bits: u32, count: usize) {
        let (word, shift) = (at / 32, at % 32);
        self.0[word] |= bits << shift;
        if shift > 0 && shift + count.min(32) > 32 {
            self.0[word + 1] |= bits >> (32 - shift);
        }
    }
}
