//! Two ways to read what a device wrote, for `umbracast bench copy`: the one that one would write first, and the one that
//! casts use.

use wgpu::{Buffer, BufferUsages};

use super::device::GpuContext;
use crate::error::Result;

/// A buffer on a device, and memory to read it through that is used again and again.
pub(crate) struct Readback {
    bytes: u64,
    source: Buffer,
    staging: Buffer,
}

impl Readback {
    /// Of so many bytes, a multiple of 4.
    pub(crate) async fn new(gpu: &GpuContext, bytes: u64) -> Result<Self> {
        let source = gpu.buffer("source", bytes, BufferUsages::COPY_SRC | BufferUsages::COPY_DST).await?;
        Ok(Self { bytes, source, staging: Self::staging(gpu, bytes).await? })
    }

    async fn staging(gpu: &GpuContext, bytes: u64) -> Result<Buffer> {
        gpu.buffer("staging", bytes, BufferUsages::MAP_READ | BufferUsages::COPY_DST).await
    }

    /// Through a fresh buffer, into a fresh list; the sum of its words.
    pub(crate) async fn fresh(&self, gpu: &GpuContext) -> Result<u64> {
        let staging = Self::staging(gpu, self.bytes).await?;
        let list =
            gpu.read_in_place(&self.source, &staging, self.bytes, gpu.patience(), |bytes| bytes.to_vec()).await?;
        Ok(sum(&list))
    }

    /// Through the same buffer each time, in place; the sum of its words.
    pub(crate) async fn in_place(&self, gpu: &GpuContext) -> Result<u64> {
        gpu.read_in_place(&self.source, &self.staging, self.bytes, gpu.patience(), sum).await
    }
}

fn sum(bytes: &[u8]) -> u64 {
    let words: &[u32] = bytemuck::cast_slice(bytes);
    words.iter().map(|word| u64::from(*word)).sum()
}
