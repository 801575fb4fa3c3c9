//! Two methods of reading back a buffer, for `umbracast bench copy`: the naive one, and the one that casts use.

use wgpu::{Buffer, BufferUsages};

use super::device::GpuContext;
use crate::error::Result;

/// A buffer on a device, and a staging buffer for repeated readbacks.
pub(crate) struct Readback {
    bytes: u64,
    source: Buffer,
    staging: Buffer,
}

impl Readback {
    /// Creates both buffers with `bytes` bytes, a multiple of 4.
    pub(crate) async fn new(gpu: &GpuContext, bytes: u64) -> Result<Self> {
        let source = gpu.buffer("source", bytes, BufferUsages::COPY_SRC | BufferUsages::COPY_DST).await?;
        Ok(Self { bytes, source, staging: Self::staging(gpu, bytes).await? })
    }

    async fn staging(gpu: &GpuContext, bytes: u64) -> Result<Buffer> {
        gpu.buffer("staging", bytes, BufferUsages::MAP_READ | BufferUsages::COPY_DST).await
    }

    /// Reads back through a new staging buffer into a new list. Returns the sum of the words.
    pub(crate) async fn fresh(&self, gpu: &GpuContext) -> Result<u64> {
        let staging = Self::staging(gpu, self.bytes).await?;
        let list =
            gpu.read_in_place(&self.source, &staging, self.bytes, gpu.patience(), |bytes| bytes.to_vec()).await?;
        Ok(sum(&list))
    }

    /// Reads back in place, through the same staging buffer each time. Returns the sum of the words.
    pub(crate) async fn in_place(&self, gpu: &GpuContext) -> Result<u64> {
        gpu.read_in_place(&self.source, &self.staging, self.bytes, gpu.patience(), sum).await
    }
}

fn sum(bytes: &[u8]) -> u64 {
    let words: &[u32] = bytemuck::cast_slice(bytes);
    words.iter().map(|word| u64::from(*word)).sum()
}
