//! The buffers of a chunk, including its staging buffers for upload and readback. They are reused across chunks and calls. The staging
//! buffers are mapped, so that the host writes and reads in place.

use std::ops::Range;
use std::sync::Mutex;

use bytemuck::{Pod, Zeroable};
use futures_channel::oneshot;
use wgpu::{Buffer, BufferUsages, BufferView, BufferViewMut, CommandEncoder, MapMode, SubmissionIndex, WriteOnly};

use crate::error::Result;
use crate::gpu::context::buffers::Mapped;
use crate::gpu::context::device::{GpuContext, lock};
use crate::runtime::map_tasks;

/// Bytes of each buffer. Uploads are `params`; `upload_rays`, the rays, or their seeds if `seeds` is not 0; `pairs`, the spheres of a
/// pairwise scene; `ray_attributes`, the ray attributes; and `pair_attributes`, the attributes of the spheres in `pairs`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct BufferSizes {
    pub(crate) params: u64,
    pub(crate) upload_rays: u64,
    pub(crate) pairs: u64,
    pub(crate) ray_attributes: u64,
    pub(crate) pair_attributes: u64,
    pub(crate) seeds: u64,
    pub(crate) rays: u64,
    pub(crate) state: u64,
    pub(crate) results: u64,
}

impl BufferSizes {
    /// Buffer sizes are multiples of this number of bytes.
    pub(crate) const SIZE_STEP: u64 = 256;

    fn fields(self) -> [u64; 9] {
        bytemuck::cast(self)
    }

    fn covers(self, other: Self) -> bool {
        self.fields().iter().zip(other.fields()).all(|(own, other)| *own >= other)
    }

    fn max(self, other: Self) -> Self {
        let (own, other) = (self.fields(), other.fields());
        bytemuck::cast(std::array::from_fn::<u64, 9, _>(|i| own[i].max(other[i])))
    }

    fn upload(self) -> u64 {
        self.params + self.upload_rays + self.pairs + self.ray_attributes + self.pair_attributes
    }

    /// Bytes of all buffers of a slot together.
    pub(crate) fn total(self) -> u64 {
        self.upload()
            + self.params
            + self.pairs
            + self.ray_attributes
            + self.pair_attributes
            + self.seeds
            + self.rays
            + self.state
            + 2 * self.results
    }
}

/// Pool of slots that casts have finished with, for later casts.
#[derive(Default)]
pub(crate) struct StagingPool(Mutex<Vec<Staging>>);

impl StagingPool {
    /// Returns a slot of at least these sizes: the caller's own or one of the pool if there is one, enlarged if necessary; else a new one.
    pub(crate) async fn take(&self, gpu: &GpuContext, own: Option<Staging>, sizes: BufferSizes) -> Result<Staging> {
        let before = own.or_else(|| lock(&self.0).pop());
        match before {
            Some(staging) if staging.sizes.covers(sizes) => Ok(staging),
            // Grows to the larger of both sizes, so that alternating calls do not allocate a new slot each time.
            Some(staging) => {
                let sizes = staging.sizes.max(sizes);
                drop(staging);
                Staging::new(gpu, sizes).await
            }
            None => Staging::new(gpu, sizes).await,
        }
    }

    /// Returns a slot to the pool, unless the pool has `STAGING_COUNT` of them.
    pub(crate) fn release(&self, staging: Staging) {
        let mut slots = lock(&self.0);
        if slots.len() < STAGING_COUNT {
            slots.push(staging);
        }
    }
}

/// The buffers of one chunk, for the exclusive use of their owner.
pub(crate) struct Staging {
    sizes: BufferSizes,
    upload: Buffer,
    pub(crate) params: Buffer,
    pub(crate) seeds: Buffer,
    pub(crate) rays: Buffer,
    pub(crate) pairs: Buffer,
    pub(crate) ray_attributes: Buffer,
    pub(crate) pair_attributes: Buffer,
    pub(crate) state: Buffer,
    pub(crate) results: Buffer,
    download: Buffer,
}

/// A submitted chunk in flight. When both staging buffers are mapped, it is done.
pub(crate) struct PendingReadback {
    submission: SubmissionIndex,
    upload: Mapped,
    download: Mapped,
}

impl Staging {
    pub(crate) async fn new(gpu: &GpuContext, sizes: BufferSizes) -> Result<Self> {
        // No buffer may be empty.
        let whole = |bytes: u64| bytes.max(16).next_multiple_of(BufferSizes::SIZE_STEP);
        let sizes: BufferSizes = bytemuck::cast(sizes.fields().map(whole));
        let storage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let upload = wgpu::BufferDescriptor {
            label: Some("upload"),
            size: sizes.upload(),
            usage: BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC,
            mapped_at_creation: true,
        };
        Ok(Self {
            sizes,
            params: gpu.buffer("params", sizes.params, BufferUsages::UNIFORM | BufferUsages::COPY_DST).await?,
            seeds: gpu.buffer("input of the ray generator", sizes.seeds, storage).await?,
            rays: gpu.buffer("rays", sizes.rays, storage | BufferUsages::COPY_SRC).await?,
            pairs: gpu.buffer("spheres of a pairwise scene", sizes.pairs, storage).await?,
            ray_attributes: gpu.buffer("ray attributes", sizes.ray_attributes, storage).await?,
            pair_attributes: gpu
                .buffer("sphere attributes of a pairwise scene", sizes.pair_attributes, storage)
                .await?,
            state: gpu.buffer("state", sizes.state, storage | BufferUsages::COPY_SRC).await?,
            results: gpu.buffer("results", sizes.results, storage | BufferUsages::COPY_SRC).await?,
            download: gpu.buffer("download", sizes.results, BufferUsages::MAP_READ | BufferUsages::COPY_DST).await?,
            upload: gpu.scoped(|| gpu.device.create_buffer(&upload)).await?,
        })
    }

    /// The mapped upload buffer: params, rays or seeds, spheres of pairs, ray attributes, attributes of the spheres of pairs.
    pub(crate) async fn view(&self, gpu: &GpuContext) -> Result<Upload> {
        match self.upload.get_mapped_range_mut(..) {
            Ok(view) => Ok(Upload { view, sizes: self.sizes }),
            // A lost device creates invalid buffers and reports no error.
            Err(e) => Err(gpu.lost().await.unwrap_or_else(|| gpu.failed(e.to_string()))),
        }
    }

    /// Starts a chunk: unmaps the upload buffer and records copies from it to the buffers that shaders read. `written` has the number of
    /// bytes for each.
    pub(crate) fn record_upload(&self, encoder: &mut CommandEncoder, written: &BufferSizes) {
        self.upload.unmap();
        let mut from = 0;
        let rays = if written.seeds > 0 { &self.seeds } else { &self.rays };
        let targets = [
            (&self.params, written.params),
            (rays, written.upload_rays),
            (&self.pairs, written.pairs),
            (&self.ray_attributes, written.ray_attributes),
            (&self.pair_attributes, written.pair_attributes),
        ];
        for ((target, bytes), room) in targets.into_iter().zip(self.sizes.fields()) {
            if bytes > 0 {
                encoder.copy_buffer_to_buffer(&self.upload, from, target, 0, bytes);
            }
            from += room;
        }
    }

    /// Ends a chunk: records a copy of the first `bytes` bytes of `from` to byte `at` of the readback buffer.
    pub(crate) fn record_readback(&self, encoder: &mut CommandEncoder, from: &Buffer, at: u64, bytes: u64) {
        if bytes > 0 {
            encoder.copy_buffer_to_buffer(from, 0, &self.download, at, bytes);
        }
    }

    /// Requests the mapping of both staging buffers, after the last submission of a chunk.
    pub(crate) fn map_after(&self, submission: SubmissionIndex, bytes: u64) -> PendingReadback {
        let map = |buffer: &Buffer, mode, bytes| {
            let (done, answer) = oneshot::channel();
            // The receiver may have been dropped.
            buffer.map_async(mode, 0..bytes, move |result| drop(done.send(result)));
            answer
        };
        PendingReadback {
            submission,
            download: map(&self.download, MapMode::Read, bytes),
            upload: map(&self.upload, MapMode::Write, self.sizes.upload()),
        }
    }

    /// Waits for a chunk and returns its results as a view of mapped memory. Drop the view before [`Staging::unmap`].
    pub(crate) async fn wait(&self, gpu: &GpuContext, pending: PendingReadback, bytes: u64) -> Result<BufferView> {
        gpu.wait(pending.submission).await?;
        for mapped in [pending.download, pending.upload] {
            gpu.is_mapped(mapped).await?;
        }
        match self.download.get_mapped_range(0..bytes) {
            Ok(view) => Ok(view),
            Err(e) => Err(gpu.lost().await.unwrap_or_else(|| gpu.failed(e.to_string()))),
        }
    }

    /// Unmaps the readback buffer, so that the slot is ready for its next chunk.
    pub(crate) fn unmap(&self) {
        self.download.unmap();
    }
}

/// Indices of the rays of a chunk for which the device computes no result, in order.
#[derive(Default)]
pub(crate) struct Excluded {
    pub(crate) invalid: Vec<u32>,
    /// Rays that the host casts.
    pub(crate) on_host: Vec<u32>,
}

impl Excluded {
    /// Joins those of consecutive tasks, or returns the first error.
    pub(crate) fn join(parts: impl IntoIterator<Item = Result<Self>>) -> Result<Self> {
        parts.into_iter().try_fold(Self::default(), |mut all, part| {
            let part = part?;
            all.invalid.extend(part.invalid);
            all.on_host.extend(part.on_host);
            Ok(all)
        })
    }
}

/// Records per task of [`Upload::write_each`].
pub(crate) const TASK_RECORDS: usize = 1 << 14;
/// Records prepared at a time, so that they stay in the L1 cache.
const WRITE_RECORDS: usize = 256;

/// The upload buffer while it is mapped for writing.
pub(crate) struct Upload {
    view: BufferViewMut,
    sizes: BufferSizes,
}

impl Upload {
    pub(crate) fn params<T: Pod>(&mut self, at: u64, params: &T) {
        self.put(at, bytemuck::bytes_of(params));
    }

    /// Writes rays or seeds, `at` bytes after the first.
    pub(crate) fn rays<T: Pod>(&mut self, at: usize, rays: &[T]) {
        self.put(self.sizes.params + at as u64, bytemuck::cast_slice(rays));
    }

    /// Writes `count` rays or points, `at` bytes after the first byte of the rays; see [`write_each`](Self::write_each).
    pub(crate) fn write_rays<T: Pod + Sync, const BYTES: usize>(
        &mut self,
        at: usize,
        count: usize,
        fill: impl Fn(Range<usize>, &mut [T], &mut Excluded) -> Result<()> + Sync,
    ) -> Result<Excluded> {
        self.write_each::<T, BYTES>(self.sizes.params as usize + at, count, fill)
    }

    /// Writes the attributes of `count` rays; see [`write_each`](Self::write_each).
    pub(crate) fn write_ray_attributes<T: Pod + Sync, const BYTES: usize>(
        &mut self,
        count: usize,
        record: impl Fn(usize, &mut Excluded) -> T + Sync,
    ) -> Result<Excluded> {
        let first = self.sizes.params + self.sizes.upload_rays + self.sizes.pairs;
        self.write_each::<T, BYTES>(first as usize, count, |own, ready, excluded| {
            own.zip(ready).for_each(|(at, ready)| *ready = record(at, excluded));
            Ok(())
        })
    }

    /// Writes `count` records from byte `first` on, on all CPU cores. `fill` computes some of them, and may exclude any. Of several errors the
    /// first is returned. `BYTES` is the size of `TASK_RECORDS` records: wgpu lends slices of constant length to other threads, and no others.
    fn write_each<T: Pod + Sync, const BYTES: usize>(
        &mut self,
        first: usize,
        count: usize,
        fill: impl Fn(Range<usize>, &mut [T], &mut Excluded) -> Result<()> + Sync,
    ) -> Result<Excluded> {
        const { assert!(BYTES == TASK_RECORDS * size_of::<T>()) };
        let task = |own: Range<usize>, mut target: WriteOnly<'_, [u8]>| {
            let (mut excluded, mut ready) = (Excluded::default(), [T::zeroed(); WRITE_RECORDS]);
            for start in own.clone().step_by(WRITE_RECORDS) {
                let count = WRITE_RECORDS.min(own.end - start);
                fill(start..start + count, &mut ready[..count], &mut excluded)?;
                let (ready, at): (&[u8], _) =
                    (bytemuck::cast_slice(&ready[..count]), (start - own.start) * size_of::<T>());
                target.slice(at..at + ready.len()).copy_from_slice(ready);
            }
            Ok(excluded)
        };
        let (whole, rest) = self.view.slice(first..first + count * size_of::<T>()).into_chunks::<BYTES>();
        let begin = whole.len() * TASK_RECORDS;
        let tasks: Vec<WriteOnly<'_, [u8; BYTES]>> = whole.into_iter().collect();
        let one =
            |(n, target): (usize, WriteOnly<'_, _>)| task(n * TASK_RECORDS..(n + 1) * TASK_RECORDS, target.into());
        let done = map_tasks(tasks.into_iter().enumerate(), one);
        Excluded::join(done.into_iter().chain([task(begin..count, rest)]))
    }

    pub(crate) fn pairs<T: Pod>(&mut self, spheres: &[T]) {
        self.put(self.sizes.params + self.sizes.upload_rays, bytemuck::cast_slice(spheres));
    }

    /// Writes the first `words` words of the attributes of each sphere; `words` is at least 1.
    pub(crate) fn pair_attributes<const N: usize>(
        &mut self,
        words: usize,
        pair_attributes: impl Iterator<Item = [u32; N]>,
    ) {
        let first = self.sizes.params + self.sizes.upload_rays + self.sizes.pairs + self.sizes.ray_attributes;
        for (at, one) in (first..).step_by(4 * words).zip(pair_attributes) {
            self.put(at, bytemuck::cast_slice(&one[..words]));
        }
    }

    fn put(&mut self, at: u64, bytes: &[u8]) {
        let at = at as usize;
        self.view.slice(at..at + bytes.len()).copy_from_slice(bytes);
    }
}

/// Maximum number of chunks in flight: one on the device, one that the host reads and writes.
pub(crate) const STAGING_COUNT: usize = 2;
