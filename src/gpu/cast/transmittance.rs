//! Transmittances on a GPU: the device sums the optical depths, and the host converts the sums, so that their bits are those of the CPU engine.

use super::hit_lists::decode_counts;
use super::kernels::{Kernels, RAYS_PER_THREAD};
use super::readback::{DecodedChunk, ResultWriter};
use super::resolve::{RayContext, resolve_on_cpu};
use crate::batch::raygen::source::RaySource;
use crate::cpu::query::kind::RayQuery;
use crate::cpu::scene::CpuScene;
use crate::gpu::programs;
use crate::gpu::uniforms::CountState;
use crate::query::optical_depth::transmittance;
use crate::query::policy::Query;
use crate::query::results::Tally;

/// Results of `transmittance`. The count of a ray's [`CountState`] is its sum of depths.
pub(crate) struct TransmittanceWriter<'a>(pub(crate) &'a mut [f32]);

impl ResultWriter for TransmittanceWriter<'_> {
    type Item = f32;
    const KERNELS: Kernels = Kernels {
        brute_force: &programs::TRANSMITTANCE,
        rays_per_thread: RAYS_PER_THREAD,
        bvh: Some(&programs::TRANSMITTANCE_BVH),
        finalize: None,
        state_bytes: |rays| rays * size_of::<CountState>() as u64,
        result_bytes: |rays| rays * size_of::<CountState>() as u64,
    };

    fn decode(&mut self, start: usize, rays: RaySource<'_>, bytes: &[u8], bad: &[u32]) -> DecodedChunk<f32> {
        decode_counts(start, rays, bytes, bad, |at, depth| {
            let undecided = depth == u32::MAX;
            self.0[at] = if undecided { f32::MISS } else { transmittance(depth) };
            undecided.then_some(f32::MISS)
        })
    }

    fn resolve(_: f32, context: &RayContext, host: &CpuScene, query: &Query, tally: &mut Tally) -> f32 {
        resolve_on_cpu(context, host, query, tally)
    }

    fn write(&mut self, settled: Vec<(usize, f32)>) -> u64 {
        let hits = settled.iter().filter(|(_, record)| record.is_hit()).count() as u64;
        settled.into_iter().for_each(|(at, record)| self.0[at] = record);
        hits
    }
}
