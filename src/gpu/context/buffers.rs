//! Buffers, bind groups, uploads and readback.

use std::sync::atomic::Ordering;
use std::time::Duration;

use bytemuck::Pod;
use futures_channel::oneshot;
use wgpu::{BindingResource, BufferAsyncError, BufferUsages, MapMode};

use super::device::GpuContext;
use crate::error::Result;
use crate::runtime::memory::check_within;

/// Receives the result of mapping a buffer.
pub(crate) type Mapped = oneshot::Receiver<Result<(), BufferAsyncError>>;

impl GpuContext {
    /// Creates a buffer of `bytes` bytes, at least 16 because a binding must not be empty. Fails with [`Error::TooLarge`] if it exceeds
    /// the largest binding.
    pub(crate) async fn buffer(&self, what: &'static str, bytes: u64, usage: BufferUsages) -> Result<wgpu::Buffer> {
        check_within(what, bytes, self.largest_binding(), self.name())?;
        let description = wgpu::BufferDescriptor {
            label: Some(what),
            size: bytes.max(16).next_multiple_of(4),
            usage,
            mapped_at_creation: false,
        };
        self.made.fetch_add(1, Ordering::Relaxed);
        self.scoped(|| self.device.create_buffer(&description)).await
    }

    /// Creates a storage buffer that contains `data`.
    pub(crate) async fn filled<T: Pod>(&self, what: &'static str, data: &[T]) -> Result<wgpu::Buffer> {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
        let buffer = self.buffer(what, size_of_val(data) as u64, usage).await?;
        self.write(&buffer, data).await?;
        Ok(buffer)
    }

    /// Creates a uniform buffer that contains a record.
    pub(crate) async fn uniform<T: Pod>(&self, what: &'static str, record: &T) -> Result<wgpu::Buffer> {
        let usage = BufferUsages::UNIFORM | BufferUsages::COPY_DST;
        let buffer = self.buffer(what, size_of::<T>() as u64, usage).await?;
        self.write(&buffer, std::slice::from_ref(record)).await?;
        Ok(buffer)
    }

    /// Writes records from the start of a buffer.
    pub(crate) async fn write<T: Pod>(&self, buffer: &wgpu::Buffer, data: &[T]) -> Result<()> {
        self.scoped(|| self.queue.write_buffer(buffer, 0, bytemuck::cast_slice(data))).await
    }

    /// Writes records from the start of a buffer, and submits. For large data: wgpu keeps a copy in memory until the next submission.
    pub(crate) async fn upload<T: Pod>(&self, buffer: &wgpu::Buffer, data: &[T]) -> Result<()> {
        self.write(buffer, data).await?;
        let uploaded = self.scoped(|| self.queue.submit([])).await?;
        self.wait_within(uploaded, self.watchdog()).await
    }

    /// Creates a bind group from buffers with their binding numbers.
    pub(crate) async fn bind_group<'b>(
        &self,
        layout: &wgpu::BindGroupLayout,
        bindings: impl IntoIterator<Item = (u32, wgpu::BufferBinding<'b>)>,
    ) -> Result<wgpu::BindGroup> {
        let entry = |(binding, buffer)| wgpu::BindGroupEntry { binding, resource: BindingResource::Buffer(buffer) };
        let entries: Vec<_> = bindings.into_iter().map(entry).collect();
        let description = wgpu::BindGroupDescriptor { label: None, layout, entries: &entries };
        self.scoped(|| self.device.create_bind_group(&description)).await
    }

    /// [`bind_group`](Self::bind_group) for group 0 of a pipeline, with whole buffers.
    pub(crate) async fn bind(
        &self,
        pipeline: &wgpu::ComputePipeline,
        buffers: &[(u32, &wgpu::Buffer)],
    ) -> Result<wgpu::BindGroup> {
        let whole = buffers.iter().map(|(binding, buffer)| (*binding, buffer.as_entire_buffer_binding()));
        self.bind_group(&pipeline.get_bind_group_layout(0), whole).await
    }

    /// Submits one dispatch of `groups` workgroups.
    pub(crate) async fn dispatch(
        &self,
        pipeline: &wgpu::ComputePipeline,
        group: &wgpu::BindGroup,
        groups: u32,
    ) -> Result<wgpu::SubmissionIndex> {
        self.submit(|encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, group, &[]);
            pass.dispatch_workgroups(groups, 1, 1);
        })
        .await
    }

    pub(crate) async fn submit(&self, record: impl FnOnce(&mut wgpu::CommandEncoder)) -> Result<wgpu::SubmissionIndex> {
        self.scoped(|| {
            let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            record(&mut encoder);
            self.queue.submit([encoder.finish()])
        })
        .await
    }

    /// Creates a buffer for reading back `bytes` bytes.
    pub(crate) async fn staging_buffer(&self, what: &'static str, bytes: u64) -> Result<wgpu::Buffer> {
        self.buffer(what, bytes, BufferUsages::MAP_READ | BufferUsages::COPY_DST).await
    }

    /// Reads back the start of `from` into `out`, through `staging`, after all submitted work is done.
    pub(crate) async fn read<T: Pod>(&self, from: &wgpu::Buffer, staging: &wgpu::Buffer, out: &mut [T]) -> Result<()> {
        let bytes = (size_of_val(out) as u64).next_multiple_of(4);
        let target: &mut [u8] = bytemuck::cast_slice_mut(out);
        self.read_in_place(from, staging, bytes, self.patience(), |view| target.copy_from_slice(&view[..target.len()]))
            .await
    }

    /// Copies the first `bytes` bytes of `from` to `staging`, waits, and passes the mapped bytes to `show`.
    pub(crate) async fn read_in_place<T>(
        &self,
        from: &wgpu::Buffer,
        staging: &wgpu::Buffer,
        bytes: u64,
        limit: Option<Duration>,
        show: impl FnOnce(&[u8]) -> T,
    ) -> Result<T> {
        let (mapped, answer) = oneshot::channel();
        let submission = self
            .scoped(|| {
                let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
                encoder.copy_buffer_to_buffer(from, 0, staging, 0, bytes);
                let submission = self.queue.submit([encoder.finish()]);
                staging.map_async(MapMode::Read, 0..bytes, move |result| {
                    // The receiver may have been dropped.
                    let _ = mapped.send(result);
                });
                submission
            })
            .await?;
        self.wait_within(submission, limit).await?;
        self.is_mapped(answer).await?;
        let shown = {
            let view = staging.get_mapped_range(0..bytes).map_err(|e| self.failed(e.to_string()))?;
            show(&view)
        };
        self.scoped(|| staging.unmap()).await?;
        Ok(shown)
    }

    /// Waits for the result of a mapping, after its submission is done. Fails if the buffer was not mapped.
    pub(crate) async fn is_mapped(&self, answer: Mapped) -> Result<()> {
        if let Err(e) = answer.await.map_err(|_| self.failed("the mapping of a buffer was never completed".into()))? {
            let failure = self.failed(format!("a buffer could not be mapped: {e}"));
            return Err(self.lost().await.unwrap_or(failure));
        }
        Ok(())
    }
}
