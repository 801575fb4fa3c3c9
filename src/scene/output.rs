//! How the results of a query lie in the caller's memory: a record, a count or a bit per ray. Each engine casts into any of them.

use std::marker::PhantomData;

use crate::batch::ray_batch::RayBatch;
use crate::cpu::query::kind::RayQuery;
use crate::cpu::scene::CpuScene;
use crate::error::Result;
use crate::gpu::cast::readback::{BitWriter, RecordWriter, ResultWriter};
use crate::gpu::cast::resolve::GpuQuery;
use crate::gpu::cast::sums::{GpuSum, SumWriter};
use crate::query::results::Tally;

/// Layout of a query's results, and the two casts that write it.
pub(super) trait Output {
    /// Element of the caller's memory.
    type Word: Copy + Send + 'static;
    /// Results of the GPU, on their way into the caller's memory.
    type Writer<'o>: ResultWriter;
    /// A word whose rays all miss.
    const MISS: Self::Word;
    /// Results per word.
    const RAYS_PER_WORD: usize = 1;
    /// Whether the query is about closest approaches.
    const IS_APPROACH: bool = false;
    /// Whether a GPU casts pairwise scenes. Otherwise the CPU engine does.
    const PAIRS_ON_GPU: bool = true;

    /// Casts a batch on the CPU engine. `out` has a word for each [`RAYS_PER_WORD`](Self::RAYS_PER_WORD) rays, the last perhaps for fewer.
    fn cast_cpu(host: &CpuScene, batch: RayBatch<'_>, out: &mut [Self::Word]) -> Result<Tally>;
    /// Wraps the caller's memory for a cast on a GPU.
    fn writer(out: &mut [Self::Word]) -> Self::Writer<'_>;
    /// Copies the result of ray `i` of `from` to ray `at` of `out`, where that ray misses so far.
    fn copy(out: &mut [Self::Word], at: usize, from: &[Self::Word], i: usize);
}

/// One record per ray.
pub(super) struct RecordOutput<T>(PhantomData<T>);

impl<T: GpuQuery> Output for RecordOutput<T> {
    type Word = T;
    type Writer<'o> = RecordWriter<'o, T>;
    const MISS: T = <T as RayQuery>::MISS;
    const IS_APPROACH: bool = T::IS_APPROACH;

    fn cast_cpu(host: &CpuScene, batch: RayBatch<'_>, out: &mut [T]) -> Result<Tally> {
        host.cast(batch, out)
    }

    fn writer(out: &mut [T]) -> RecordWriter<'_, T> {
        RecordWriter(out)
    }

    fn copy(out: &mut [T], at: usize, from: &[T], i: usize) {
        out[at] = from[i];
    }
}

/// A result per ray that is computed from a sum over the spheres that it hits.
pub(super) struct SumOutput<T>(PhantomData<T>);

impl<T: GpuSum> Output for SumOutput<T> {
    type Word = T;
    type Writer<'o> = SumWriter<'o, T>;
    const MISS: T = <T as RayQuery>::MISS;
    const PAIRS_ON_GPU: bool = T::PAIRS_ON_GPU;

    fn cast_cpu(host: &CpuScene, batch: RayBatch<'_>, out: &mut [T]) -> Result<Tally> {
        host.cast(batch, out)
    }

    fn writer(out: &mut [T]) -> SumWriter<'_, T> {
        SumWriter(out)
    }

    fn copy(out: &mut [T], at: usize, from: &[T], i: usize) {
        out[at] = from[i];
    }
}

/// One bit per ray: whether it hits anything.
pub(super) struct BitOutput;

impl Output for BitOutput {
    type Word = u32;
    type Writer<'o> = BitWriter<'o>;
    const MISS: u32 = 0;
    const RAYS_PER_WORD: usize = 32;

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
