//! How the results of a query lie in the caller's memory: a record or a bit per ray. Each engine casts into any of them.

use crate::batch::ray_batch::RayBatch;
use crate::cpu::query::kind::RayQuery;
use crate::cpu::scene::CpuScene;
use crate::error::Result;
use crate::gpu::cast::readback::{BitWriter, RecordWriter, ResultWriter};
use crate::gpu::cast::resolve::GpuQuery;
use crate::query::kind::Occluded;
use crate::query::results::Tally;

/// Layout of a query's results, and the two casts that write it.
pub(super) trait Output: RayQuery {
    /// Element of the caller's memory.
    type Word: Copy + Send + 'static;
    /// Results of the GPU, on their way into the caller's memory.
    type Writer<'o>: ResultWriter;
    /// A word whose rays all miss.
    const EMPTY: Self::Word;
    /// Results per word.
    const RAYS_PER_WORD: usize;
    /// Whether a GPU casts pairwise scenes. Otherwise the CPU engine does.
    const PAIRS_ON_GPU: bool;

    /// Casts a batch on the CPU engine. `out` has a word for each [`RAYS_PER_WORD`](Self::RAYS_PER_WORD) rays, the last perhaps for fewer.
    fn cast_cpu(host: &CpuScene, batch: RayBatch<'_>, out: &mut [Self::Word]) -> Result<Tally>;
    /// Wraps the caller's memory for a cast on a GPU.
    fn writer(out: &mut [Self::Word]) -> Self::Writer<'_>;
    /// Copies the result of ray `i` of `from` to ray `at` of `out`, where that ray misses so far.
    fn copy(out: &mut [Self::Word], at: usize, from: &[Self::Word], i: usize);
}

/// One record per ray.
impl<Q: GpuQuery> Output for Q {
    type Word = Q::Record;
    type Writer<'o> = RecordWriter<'o, Q>;
    const EMPTY: Q::Record = Q::MISS;
    const RAYS_PER_WORD: usize = 1;
    const PAIRS_ON_GPU: bool = <Q as GpuQuery>::PAIRS_ON_GPU;

    fn cast_cpu(host: &CpuScene, batch: RayBatch<'_>, out: &mut [Q::Record]) -> Result<Tally> {
        host.cast::<Q>(batch, out)
    }

    fn writer(out: &mut [Q::Record]) -> RecordWriter<'_, Q> {
        RecordWriter::new(out)
    }

    fn copy(out: &mut [Q::Record], at: usize, from: &[Q::Record], i: usize) {
        out[at] = from[i];
    }
}

/// One bit per ray.
impl Output for Occluded {
    type Word = u32;
    type Writer<'o> = BitWriter<'o>;
    const EMPTY: u32 = 0;
    const RAYS_PER_WORD: usize = 32;
    const PAIRS_ON_GPU: bool = true;

    fn cast_cpu(host: &CpuScene, batch: RayBatch<'_>, out: &mut [u32]) -> Result<Tally> {
        host.cast_bits(batch, out)
    }

    fn writer(out: &mut [u32]) -> BitWriter<'_> {
        BitWriter(out)
    }

    fn copy(out: &mut [u32], at: usize, from: &[u32], i: usize) {
        out[at / 32] |= (from[i / 32] >> (i % 32) & 1) << (at % 32);
    }
}
