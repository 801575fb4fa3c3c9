//! Who builds the tree that a GPU walks.

use crate::error::{Error, Result};
use crate::gpu::context::device::GpuDevice;

/// Who builds the tree that a GPU walks. The tree is the same to the byte either way; only the time differs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Builder {
    /// The GPU, but for adapters in software, where every core of the CPU is quicker.
    #[default]
    Auto,
    /// Every core of the CPU.
    Cpu,
    /// The GPU, software or not.
    Gpu,
}

impl Builder {
    /// Whether the GPU builds. One whose arithmetic does not round to the nearest would make another tree.
    pub(crate) fn on(self, gpu: &GpuDevice) -> Result<bool> {
        match (self, &gpu.probe.failure) {
            (Self::Cpu, _) => Ok(false),
            (Self::Auto, failure) => Ok(failure.is_none() && !gpu.is_software()),
            (Self::Gpu, None) => Ok(true),
            (Self::Gpu, Some(why)) => Err(Error::Usage(format!(
                "builder 'gpu': {} is not to be trusted with it: {why}; use 'cpu'",
                gpu.name()
            ))),
        }
    }

    /// What the CPU engine says to [`Builder::Gpu`].
    pub(crate) fn needs_gpu() -> Error {
        Error::Usage("builder 'gpu' needs a GPU, and the device is the CPU engine: use 'auto', or --device gpu".into())
    }
}
