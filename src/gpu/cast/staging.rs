//! The buffers of a chunk, including its staging buffers for upload and readback. They are reused across chunks and calls. The staging
//! buffers are mapped, so that the host writes and reads in place.

use std::sync::Mutex;

use bytemuck::Pod;
use futures_channel::oneshot;
use wgpu::{Buffer, BufferUsages, BufferView, BufferViewMut, CommandEncoder, MapMode, SubmissionIndex};

use crate::error::Result;
use crate::gpu::context::buffers::Mapped;
use crate::gpu::context::device::{GpuContext, lock};

/// Bytes of each buffer. Uploads are `params`; `up`, the rays, or their seeds if `seeds` is not 0; `pairs`, the spheres of a pairwise
/// scene; `extras`, the ray attributes; and `beside`, the attributes of the spheres in `pairs`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) params: u64,
    pub(crate) up: u64,
    pub(crate) pairs: u64,
    pub(crate) extras: u64,
    pub(crate) beside: u64,
    pub(crate) seeds: u64,
    pub(crate) rays: u64,
    pub(crate) state: u64,
    pub(crate) results: u64,
}

impl Sizes {
    /// Buffer sizes are multiples of this number of bytes.
    pub(crate) const STEP: u64 = 256;

    fn fields(self) -> [u64; 9] {
        [self.params, self.up, self.pairs, self.extras, self.beside, self.seeds, self.rays, self.state, self.results]
    }

    fn from_fields([params, up, pairs, extras, beside, seeds, rays, state, results]: [u64; 9]) -> Self {
        Self { params, up, pairs, extras, beside, seeds, rays, state, results }
    }

    fn covers(self, other: Self) -> bool {
        self.fields().iter().zip(other.fields()).all(|(own, other)| *own >= other)
    }

    fn widest(self, other: Self) -> Self {
        let (own, other) = (self.fields(), other.fields());
        Self::from_fields(std::array::from_fn(|i| own[i].max(other[i])))
    }

    fn upload(self) -> u64 {
        self.params + self.up + self.pairs + self.extras + self.beside
    }

    /// Bytes of all buffers of a slot together.
    pub(crate) fn total(self) -> u64 {
        self.upload()
            + self.params
            + self.pairs
            + self.extras
            + self.beside
            + self.seeds
            + self.rays
            + self.state
            + 2 * self.results
    }
}

/// Pool of slots that casts have finished with, for later casts.
#[derive(Default)]
pub(crate) struct StagingPool(Mutex<Vec<Slot>>);

impl StagingPool {
    /// Returns a slot of at least these sizes: the caller's own or one of the pool if there is one, enlarged if necessary; else a new one.
    pub(crate) async fn take(&self, gpu: &GpuContext, own: Option<Slot>, sizes: Sizes) -> Result<Slot> {
        let before = own.or_else(|| lock(&self.0).pop());
        match before {
            Some(slot) if slot.sizes.covers(sizes) => Ok(slot),
            // Grows to the larger of both sizes, so that alternating calls do not allocate a new slot each time.
            Some(slot) => {
                let sizes = slot.sizes.widest(sizes);
                drop(slot);
                Slot::new(gpu, sizes).await
            }
            None => Slot::new(gpu, sizes).await,
        }
    }

    /// Returns a slot to the pool, unless the pool has `SLOTS` of them.
    pub(crate) fn give_back(&self, slot: Slot) {
        let mut slots = lock(&self.0);
        if slots.len() < SLOTS {
            slots.push(slot);
        }
    }
}

/// The buffers of one chunk, for the exclusive use of their owner.
pub(crate) struct Slot {
    sizes: Sizes,
    upload: Buffer,
    pub(crate) params: Buffer,
    pub(crate) seeds: Buffer,
    pub(crate) rays: Buffer,
    pub(crate) pairs: Buffer,
    pub(crate) extras: Buffer,
    pub(crate) beside: Buffer,
    pub(crate) state: Buffer,
    pub(crate) results: Buffer,
    download: Buffer,
}

/// A submitted chunk in flight. When both staging buffers are mapped, it is done.
pub(crate) struct Flight {
    submission: SubmissionIndex,
    upload: Mapped,
    download: Mapped,
}

impl Slot {
    pub(crate) async fn new(gpu: &GpuContext, sizes: Sizes) -> Result<Self> {
        // No buffer may be empty.
        let sizes = Sizes::from_fields(sizes.fields().map(|bytes| bytes.max(16).next_multiple_of(Sizes::STEP)));
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
            seeds: gpu.buffer("seeds of rays", sizes.seeds, storage).await?,
            rays: gpu.buffer("rays", sizes.rays, storage | BufferUsages::COPY_SRC).await?,
            pairs: gpu.buffer("spheres of pairs", sizes.pairs, storage).await?,
            extras: gpu.buffer("what rays bring along", sizes.extras, storage).await?,
            beside: gpu.buffer("what is beside spheres", sizes.beside, storage).await?,
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
    pub(crate) fn send(&self, encoder: &mut CommandEncoder, written: &Sizes) {
        self.upload.unmap();
        let mut from = 0;
        let rays = if written.seeds > 0 { &self.seeds } else { &self.rays };
        let targets = [
            (&self.params, written.params),
            (rays, written.up),
            (&self.pairs, written.pairs),
            (&self.extras, written.extras),
            (&self.beside, written.beside),
        ];
        for ((target, bytes), room) in targets.into_iter().zip(self.sizes.fields()) {
            if bytes > 0 {
                encoder.copy_buffer_to_buffer(&self.upload, from, target, 0, bytes);
            }
            from += room;
        }
    }

    /// Ends a chunk: records a copy of the first `bytes` bytes of `from` to byte `at` of the readback buffer.
    pub(crate) fn fetch(&self, encoder: &mut CommandEncoder, from: &Buffer, at: u64, bytes: u64) {
        if bytes > 0 {
            encoder.copy_buffer_to_buffer(from, 0, &self.download, at, bytes);
        }
    }

    /// Requests the mapping of both staging buffers, after the last submission of a chunk.
    pub(crate) fn fly(&self, submission: SubmissionIndex, bytes: u64) -> Flight {
        let map = |buffer: &Buffer, mode, bytes| {
            let (done, answer) = oneshot::channel();
            // The receiver may have been dropped.
            buffer.map_async(mode, 0..bytes, move |result| drop(done.send(result)));
            answer
        };
        Flight {
            submission,
            download: map(&self.download, MapMode::Read, bytes),
            upload: map(&self.upload, MapMode::Write, self.sizes.upload()),
        }
    }

    /// Waits for a chunk and returns its results as a view of mapped memory. Drop the view before [`Slot::land`].
    pub(crate) async fn wait(&self, gpu: &GpuContext, flight: Flight, bytes: u64) -> Result<BufferView> {
        gpu.wait(flight.submission).await?;
        for mapped in [flight.download, flight.upload] {
            gpu.is_mapped(mapped).await?;
        }
        match self.download.get_mapped_range(0..bytes) {
            Ok(view) => Ok(view),
            Err(e) => Err(gpu.lost().await.unwrap_or_else(|| gpu.failed(e.to_string()))),
        }
    }

    /// Unmaps the readback buffer, so that the slot is ready for its next chunk.
    pub(crate) fn land(&self) {
        self.download.unmap();
    }
}

/// The upload buffer while it is mapped for writing.
pub(crate) struct Upload {
    view: BufferViewMut,
    sizes: Sizes,
}

impl Upload {
    pub(crate) fn params<T: Pod>(&mut self, at: u64, params: &T) {
        self.put(at, bytemuck::bytes_of(params));
    }

    /// Writes rays or seeds, `at` bytes after the first.
    pub(crate) fn rays<T: Pod>(&mut self, at: usize, rays: &[T]) {
        self.put(self.sizes.params + at as u64, bytemuck::cast_slice(rays));
    }

    pub(crate) fn pairs<T: Pod>(&mut self, spheres: &[T]) {
        self.put(self.sizes.params + self.sizes.up, bytemuck::cast_slice(spheres));
    }

    pub(crate) fn extras<T: Pod>(&mut self, extras: impl Iterator<Item = T>) {
        self.put_each(self.sizes.params + self.sizes.up + self.sizes.pairs, extras);
    }

    /// Writes the first `words` words of the attributes of each sphere; `words` is at least 1.
    pub(crate) fn beside<const N: usize>(&mut self, words: usize, beside: impl Iterator<Item = [u32; N]>) {
        let first = self.sizes.params + self.sizes.up + self.sizes.pairs + self.sizes.extras;
        for (at, one) in (first..).step_by(4 * words).zip(beside) {
            self.put(at, bytemuck::cast_slice(&one[..words]));
        }
    }

    fn put_each<T: Pod>(&mut self, first: u64, each: impl Iterator<Item = T>) {
        for (at, one) in (first..).step_by(size_of::<T>()).zip(each) {
            self.put(at, bytemuck::bytes_of(&one));
        }
    }

    fn put(&mut self, at: u64, bytes: &[u8]) {
        let at = at as usize;
        self.view.slice(at..at + bytes.len()).copy_from_slice(bytes);
    }
}

/// Maximum number of chunks in flight: one on the device, one that the host reads and writes.
pub(crate) const SLOTS: usize = 2;
