//! Who builds the tree that a GPU walks.

use crate::error::Error;

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
    /// What the CPU engine says to [`Builder::Gpu`].
    pub(crate) fn needs_gpu() -> Error {
        Error::Usage("builder 'gpu' needs a GPU, and the device is the CPU engine: use 'auto', or --device gpu".into())
    }
}
