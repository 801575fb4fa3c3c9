//! Queries that sum integers over the spheres that a ray hits: counts, and the optical depths of transmittances. The device sums; the host
//! converts the sums, so that the results have the bits of the CPU engine.

use super::kernels::{Kernels, RAYS_PER_THREAD};
use super::readback::{DecodedChunk, ResultWriter, UndecidedRay};
use super::resolve::{RayContext, resolve_on_cpu};
use crate::batch::raygen::source::RaySource;
use crate::cpu::query::kind::RayQuery;
use crate::cpu::scene::CpuScene;
use crate::gpu::programs::{self, Program};
use crate::gpu::uniforms::{COUNT_OVERFLOW, COUNT_UNDECIDED, COUNT_UNFINISHED, CountState};
use crate::query::optical_depth::transmittance;
use crate::query::policy::Query;
use crate::query::results::Tally;
use crate::records::RayAttributes;

/// A query whose result is computed from one sum per ray, in the field `count` of a [`CountState`]. What a sphere adds depends on its id
/// alone, not on the roots. A ray hits if its sum is not 0, so [`RayQuery::is_hit`] must agree.
pub(crate) trait GpuSum: RayQuery {
    /// The programs for brute force and for a BVH.
    const PROGRAMS: [&'static Program; 2];
    /// Whether a device casts pairwise scenes. Otherwise the CPU engine does.
    const PAIRS_ON_GPU: bool;
    /// The result of a sum.
    fn of_sum(sum: u32) -> Self;
}

impl GpuSum for u32 {
    const PROGRAMS: [&'static Program; 2] = [&programs::COUNT, &programs::COUNT_BVH];
    const PAIRS_ON_GPU: bool = true;
    fn of_sum(sum: u32) -> u32 {
        sum
    }
}

impl GpuSum for f32 {
    const PROGRAMS: [&'static Program; 2] = [&programs::TRANSMITTANCE, &programs::TRANSMITTANCE_BVH];
    /// The depths of a pairwise scene are not uploaded.
    const PAIRS_ON_GPU: bool = false;
    fn of_sum(depth: u32) -> f32 {
        transmittance(depth)
    }
}

/// Decodes the sums of a chunk. Rays in `bad` are invalid and hit nothing. `take` stores the sum of a ray, `None` if it is undecided, and
/// returns a value if the host must resolve the ray.
pub(crate) fn decode_sums<T>(
    start: usize,
    rays: RaySource<'_>,
    bytes: &[u8],
    bad: &[u32],
    mut take: impl FnMut(usize, Option<u32>) -> Option<T>,
) -> DecodedChunk<T> {
    let (mut tally, mut undecided, mut unfinished) = (Tally::default(), Vec::new(), Vec::new());
    let raw: &[CountState] = bytemuck::cast_slice(bytes);
    let mut bad = bad.iter().map(|i| *i as usize).peekable();
    for (i, CountState { count, flags }) in raw[..rays.len()].iter().enumerate() {
        if bad.next_if_eq(&i).is_some() {
            continue;
        }
        if flags & COUNT_UNFINISHED != 0 {
            unfinished.push(start + i);
            continue;
        }
        let sum = (flags & COUNT_UNDECIDED == 0).then_some(*count);
        if let Some(raw) = take(start + i, sum) {
            undecided.push(UndecidedRay { index: start + i, ray: rays.ray(i), attributes: RayAttributes::NONE, raw });
        } else {
            tally.hits += u64::from(*count > 0);
            tally.overflowed += u64::from(*count == 0 && flags & COUNT_OVERFLOW != 0);
        }
    }
    DecodedChunk { tally, undecided, unfinished }
}

/// Results of a query that sums over the spheres hit, one sum per ray.
pub(crate) struct SumWriter<'a, T>(pub(crate) &'a mut [T]);

impl<T: GpuSum> ResultWriter for SumWriter<'_, T> {
    type Item = T;
    const KERNELS: Kernels = Kernels {
        brute_force: T::PROGRAMS[0],
        rays_per_thread: RAYS_PER_THREAD,
        bvh: Some(T::PROGRAMS[1]),
        finalize: None,
        state_bytes: |rays| rays * size_of::<CountState>() as u64,
        result_bytes: |rays| rays * size_of::<CountState>() as u64,
    };

    fn decode(&mut self, start: usize, rays: RaySource<'_>, bytes: &[u8], bad: &[u32]) -> DecodedChunk<T> {
        decode_sums(start, rays, bytes, bad, |at, sum| {
            self.0[at] = sum.map_or(T::MISS, T::of_sum);
            sum.is_none().then_some(T::MISS)
        })
    }

    fn unresolved() -> Option<T> {
        Some(T::MISS)
    }

    fn resolve(_: T, context: &RayContext, host: &CpuScene, query: &Query, tally: &mut Tally) -> T {
        resolve_on_cpu(context, host, query, tally)
    }

    fn write(&mut self, settled: Vec<(usize, T)>) -> u64 {
        let hits = settled.iter().filter(|(_, record)| record.is_hit()).count() as u64;
        settled.into_iter().for_each(|(at, record)| self.0[at] = record);
        hits
    }
}
