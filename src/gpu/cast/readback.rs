//! Decodes the results of a chunk from mapped memory into the caller's memory, as records or bits.

use std::ops::Range;

use super::kernels::{Kernels, RAYS_PER_THREAD};
use super::resolve::{Asker, GpuQuery, Raw, judged};
use crate::batch::raygen::source::Source;
use crate::cpu::scene::CpuScene;
use crate::gpu::programs;
use crate::query::policy::Query;
use crate::query::results::Tally;
use crate::records::{Extra, Hit, Ray};

/// A ray that the device left undecided: its index in the batch, and its raw result.
pub(crate) struct Open<T> {
    pub(crate) at: usize,
    pub(crate) ray: Ray,
    /// Filled in by the driver, after `Gather::gather`.
    pub(crate) extra: Extra,
    pub(crate) raw: T,
}

/// Decoded results of a chunk.
pub(crate) struct Landed<T> {
    pub(crate) tally: Tally,
    /// Undecided rays, which the host resolves.
    pub(crate) open: Vec<Open<T>>,
    /// Indices in the batch of the rays whose traversal was not finished.
    pub(crate) again: Vec<usize>,
}

/// A query on a GPU: its programs, and where its results are stored.
pub(crate) trait Gather {
    /// Result of an undecided entry, before and after it is resolved; usually of one ray.
    type Item: Send + 'static;
    const KERNELS: Kernels;
    /// Bytes of results of variable length for some rays of the batch. They precede the other results in the readback.
    fn extra_bytes(&self, _rays: Range<usize>) -> u64 {
        0
    }
    /// How many of these rays of the batch, from the first on, may form one chunk; at least 1.
    fn fit(&self, rays: Range<usize>) -> usize {
        rays.len()
    }
    /// Initial state for some rays of the batch; `None` if a program sets it or if it is zero.
    fn begin(&self, _rays: Range<usize>) -> Option<Vec<u32>> {
        None
    }
    /// Decodes the results of a chunk whose first ray has index `start` in the batch. Rays in `bad` are invalid and miss.
    fn gather(&mut self, start: usize, rays: Source<'_>, bytes: &[u8], bad: &[u32]) -> Landed<Self::Item>;
    /// Resolves an undecided result on the host.
    fn settle(raw: Self::Item, asker: &Asker, host: &CpuScene, query: &Query, tally: &mut Tally) -> Self::Item;
    /// Stores resolved results. Returns the number of hits among them.
    fn place(&mut self, settled: Vec<(usize, Self::Item)>) -> u64;
}

/// Results of one record per ray.
pub(crate) struct Records<'a, T>(pub(crate) &'a mut [T]);

impl<T: GpuQuery> Gather for Records<'_, T> {
    type Item = T;
    const KERNELS: Kernels = T::KERNELS;

    fn gather(&mut self, start: usize, rays: Source<'_>, bytes: &[u8], bad: &[u32]) -> Landed<T> {
        let (mut tally, mut open, mut again) = (Tally::default(), Vec::new(), Vec::new());
        let raw: &[T] = bytemuck::cast_slice(bytes);
        let mut bad = bad.iter().map(|i| *i as usize).peekable();
        for (i, (out, raw)) in self.0[start..].iter_mut().zip(&raw[..rays.len()]).enumerate() {
            if bad.next_if_eq(&i).is_some() {
                *out = T::MISS;
                continue;
            }
            match T::read(*raw, || rays.ray(i)) {
                Raw::Final(record) => {
                    tally.hits += u64::from(record.is_hit());
                    *out = record;
                }
                Raw::Beyond => {
                    tally.beyond += 1;
                    *out = T::MISS;
                }
                Raw::Open => open.push(Open { at: start + i, ray: rays.ray(i), extra: Extra::NONE, raw: *raw }),
                Raw::Again => again.push(start + i),
            }
        }
        Landed { tally, open, again }
    }

    fn settle(raw: T, asker: &Asker, host: &CpuScene, query: &Query, tally: &mut Tally) -> T {
        T::settle(raw, asker, host, query, tally)
    }

    fn place(&mut self, settled: Vec<(usize, T)>) -> u64 {
        let mut hits = 0;
        for (at, record) in settled {
            hits += u64::from(record.is_hit());
            self.0[at] = record;
        }
        hits
    }
}

/// Records of `closest`, computed by the naive program.
pub(crate) struct Naive<'a>(pub(crate) Records<'a, Hit>);

impl Gather for Naive<'_> {
    type Item = Hit;
    const KERNELS: Kernels = Kernels { brute_force: &programs::NAIVE, rays_per_thread: 1, bvh: None, ..Hit::KERNELS };

    fn gather(&mut self, start: usize, rays: Source<'_>, bytes: &[u8], bad: &[u32]) -> Landed<Hit> {
        self.0.gather(start, rays, bytes, bad)
    }

    fn settle(raw: Hit, asker: &Asker, host: &CpuScene, query: &Query, tally: &mut Tally) -> Hit {
        Records::<Hit>::settle(raw, asker, host, query, tally)
    }

    fn place(&mut self, settled: Vec<(usize, Hit)>) -> u64 {
        self.0.place(settled)
    }
}

/// Results of `occluded`: one bit per ray. The device keeps four bitsets: hit, undecided, hit only beyond f32 (overflow), unfinished.
pub(crate) struct Words<'a>(pub(crate) &'a mut [u32]);

impl Gather for Words<'_> {
    type Item = bool;
    const KERNELS: Kernels = Kernels {
        brute_force: &programs::OCCLUDED,
        rays_per_thread: RAYS_PER_THREAD,
        bvh: Some(&programs::OCCLUDED_BVH),
        finalize: None,
        state_bytes: |rays| 4 * 4 * rays.div_ceil(32),
        result_bytes: |rays| 4 * 4 * rays.div_ceil(32),
    };

    fn gather(&mut self, start: usize, rays: Source<'_>, bytes: &[u8], bad: &[u32]) -> Landed<bool> {
        let (mut tally, mut open, mut again) = (Tally::default(), Vec::new(), Vec::new());
        let raw: &[u32] = bytemuck::cast_slice(bytes);
        let words = raw.len() / 4;
        let mut usable = vec![u32::MAX; words];
        for i in bad {
            usable[*i as usize / 32] &= !(1 << (i % 32));
        }
        for (w, usable) in usable.into_iter().enumerate() {
            let met = raw[w] & usable;
            let unfinished = raw[3 * words + w] & usable & !met;
            let rest = usable & !met & !unfinished;
            let (mut doubt, beyond) = (raw[words + w] & rest, raw[2 * words + w] & rest);
            again.extend((0..32).filter(|bit| unfinished >> bit & 1 == 1).map(|bit| start + w * 32 + bit));
            tally.hits += u64::from(met.count_ones());
            // An undecided ray is counted when the host resolves it.
            tally.beyond += u64::from((beyond & !doubt).count_ones());
            while doubt != 0 {
                let i = w * 32 + doubt.trailing_zeros() as usize;
                doubt &= doubt - 1;
                open.push(Open { at: start + i, ray: rays.ray(i), extra: Extra::NONE, raw: false });
            }
            self.put(start + w * 32, met, rays.len() - w * 32);
        }
        Landed { tally, open, again }
    }

    fn settle(_: bool, asker: &Asker, host: &CpuScene, query: &Query, tally: &mut Tally) -> bool {
        judged(asker, host, query, tally)
    }

    fn place(&mut self, settled: Vec<(usize, bool)>) -> u64 {
        let mut hits = 0;
        for (at, met) in settled {
            hits += u64::from(met);
            self.0[at / 32] |= u32::from(met) << (at % 32);
        }
        hits
    }
}

impl Words<'_> {
    /// Sets up to 32 bits from bit `at` on. A chunk need not begin at a word boundary.
    fn put(&mut self, at: usize, bits: u32, count: usize) {
        let (word, shift) = (at / 32, at % 32);
        self.0[word] |= bits << shift;
        if shift > 0 && shift + count.min(32) > 32 {
            self.0[word + 1] |= bits >> (32 - shift);
        }
    }
}
