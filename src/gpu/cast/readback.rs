//! Answers on their way from mapped memory to the caller's: records, or bits.

use std::ops::Range;

use super::resolve::{Asker, GpuQuery, Raw, judged};
use crate::batch::raygen::source::Source;
use crate::cpu::scene::CpuScene;
use crate::gpu::programs::{self, Program};
use crate::query::policy::Query;
use crate::query::results::Tally;
use crate::records::{Extra, Hit, Ray};

/// A ray that the device left open: where it is in the batch, and what was found of it.
pub(crate) struct Open<T> {
    pub(crate) at: usize,
    pub(crate) ray: Ray,
    /// Filled in by whoever asked for the piece.
    pub(crate) extra: Extra,
    pub(crate) raw: T,
}

/// What a piece came to.
pub(crate) struct Landed<T> {
    pub(crate) tally: Tally,
    /// For the host to settle.
    pub(crate) open: Vec<Open<T>>,
    /// Rays of the batch whose walk through the tree was not finished.
    pub(crate) again: Vec<usize>,
}

/// What a query's answers are gathered into.
pub(crate) trait Gather {
    /// One ray's answer.
    type Item: Send + 'static;
    /// The program run over each range of spheres.
    const SEARCH: &'static Program;
    /// The same by the tree; `None` where that makes no sense.
    const WALK: Option<&'static Program>;
    /// Rays a thread of `SEARCH` takes; `RAYS` of `shaders/cull/blocks.wgsl`.
    const RAYS: u64 = 8;
    /// The program run once at the end; without one, the state is the result.
    const FINISH: Option<&'static Program>;
    /// Bytes kept on the device between two searches.
    fn state_bytes(rays: u64) -> u64;
    /// Bytes that come back.
    fn result_bytes(rays: u64) -> u64;
    /// Bytes of results that come back before them, where some rays of the batch have more than a fixed number.
    fn extra_bytes(&self, _rays: Range<usize>) -> u64 {
        0
    }
    /// How many of some rays of the batch may go together, one at the least.
    fn fit(&self, rays: Range<usize>) -> usize {
        rays.len()
    }
    /// What the state of some rays of the batch begins as, when neither a program nor zeros do.
    fn begin(&self, _rays: Range<usize>) -> Option<Vec<u32>> {
        None
    }
    /// Takes a piece's results, whose first ray is number `start` of the batch; `bad` rays miss.
    fn gather(&mut self, start: usize, rays: Source<'_>, bytes: &[u8], bad: &[u32]) -> Landed<Self::Item>;
    /// Settles one that was left open.
    fn settle(raw: Self::Item, asker: &Asker, host: &CpuScene, query: &Query, tally: &mut Tally) -> Self::Item;
    /// Puts settled ones in place; says how many are hits.
    fn place(&mut self, settled: Vec<(usize, Self::Item)>) -> u64;
}

/// One record a ray.
pub(crate) struct Records<'a, T>(pub(crate) &'a mut [T]);

impl<T: GpuQuery> Gather for Records<'_, T> {
    type Item = T;
    const SEARCH: &'static Program = T::SEARCH;
    const WALK: Option<&'static Program> = T::WALK;
    const FINISH: Option<&'static Program> = Some(T::FINISH);

    fn state_bytes(rays: u64) -> u64 {
        rays * T::STATE
    }

    fn result_bytes(rays: u64) -> u64 {
        rays * size_of::<T>() as u64
    }

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

/// The records of `closest` by the program that one would write first.
pub(crate) struct Naive<'a>(pub(crate) Records<'a, Hit>);

impl Gather for Naive<'_> {
    type Item = Hit;
    const SEARCH: &'static Program = &programs::NAIVE;
    const WALK: Option<&'static Program> = None;
    const RAYS: u64 = 1;
    const FINISH: Option<&'static Program> = Some(&programs::CLOSEST_FINALIZE);

    fn state_bytes(rays: u64) -> u64 {
        Records::<Hit>::state_bytes(rays)
    }

    fn result_bytes(rays: u64) -> u64 {
        Records::<Hit>::result_bytes(rays)
    }

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

/// One bit a ray, of `occluded`. The device keeps four bitsets: met, in doubt, met only beyond f32, to be cast
/// again.
pub(crate) struct Words<'a>(pub(crate) &'a mut [u32]);

impl Gather for Words<'_> {
    type Item = bool;
    const SEARCH: &'static Program = &programs::OCCLUDED;
    const WALK: Option<&'static Program> = Some(&programs::OCCLUDED_BVH);
    const FINISH: Option<&'static Program> = None;

    fn state_bytes(rays: u64) -> u64 {
        4 * 4 * rays.div_ceil(32)
    }

    fn result_bytes(rays: u64) -> u64 {
        Self::state_bytes(rays)
    }

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
            // A doubtful one is counted by whoever judges it.
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
    /// Sets up to 32 bits from bit `at` on; pieces need not begin with a word.
    fn put(&mut self, at: usize, bits: u32, count: usize) {
        let (word, shift) = (at / 32, at % 32);
        self.0[word] |= bits << shift;
        if shift > 0 && shift + count.min(32) > 32 {
            self.0[word + 1] |= bits >> (32 - shift);
        }
    }
}
