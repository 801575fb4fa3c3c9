//! Two ways to read what a device wrote, for `umbracast bench copy`: the one that one would write first, and the one that
//! casts use.

use std::time::Duration;

use wgpu::{Buffer, BufferUsages, MapMode};

use super::GpuDevice;
use crate::error::Result;

const LIMIT: Duration = Duration::from_secs(60);

/// A buffer on a device, and memory to read it through that is used again and again.
pub(crate) struct Readback {
    bytes: u64,
    source: Buffer,
    staging: Buffer,
}

impl Readback {
    /// Of so many bytes, a multiple of 4.
    pub(crate) async fn new(gpu: &GpuDevice, bytes: u64) -> Result<Self> {
        let source = gpu.buffer("source", bytes, BufferUsages::COPY_SRC | BufferUsages::COPY_DST).await?;
        Ok(Self { bytes, source, staging: Self::staging(gpu, bytes).await? })
    }

    async fn staging(gpu: &GpuDevice, bytes: u64) -> Result<Buffer> {
        gpu.buffer("staging", bytes, BufferUsages::MAP_READ | BufferUsages::COPY_DST).await
    }

    /// Through a fresh buffer, into a fresh list; the sum of its words.
    pub(crate) async fn fresh(&self, gpu: &GpuDevice) -> Result<u64> {
        let staging = Self::staging(gpu, self.bytes).await?;
        let list = self.mapped(gpu, &staging, |bytes| bytes.to_vec()).await?;
        Ok(sum(&list))
    }

    /// Through the same buffer each time, in place; the sum of its words.
    pub(crate) async fn in_place(&self, gpu: &GpuDevice) -> Result<u64> {
        self.mapped(gpu, &self.staging, sum).await
    }

    async fn mapped<T>(&self, gpu: &GpuDevice, staging: &Buffer, read: impl FnOnce(&[u8]) -> T) -> Result<T> {
        let submission = gpu
            .scoped(|| {
                let mut encoder = gpu.device.create_command_encoder(&Default::default());
                encoder.copy_buffer_to_buffer(&self.source, 0, staging, 0, self.bytes);
                let submission = gpu.queue.submit([encoder.finish()]);
                // The view below says whether it was mapped.
                staging.map_async(MapMode::Read, .., |_| {});
                submission
            })
            .await?;
        gpu.wait(submission, LIMIT).await?;
        let read = {
            let view = staging.get_mapped_range(..).map_err(|e| gpu.failed(e.to_string()))?;
            read(&view)
        };
        gpu.scoped(|| staging.unmap()).await?;
        Ok(read)
    }
}

fn sum(bytes: &[u8]) -> u64 {
    let words: &[u32] = bytemuck::cast_slice(bytes);
    words.iter().map(|word| u64::from(*word)).sum()
}
