//! Limits on rays, buffers, memory and waiting time of a device.

use std::time::Duration;

/// Limits below those of the device. Start from [`Limits::default`] and lower some of them. Work that exceeds a limit is done in chunks, or
/// refused with an error that states the figures. Results stay the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum number of rays sent to a GPU at once.
    pub rays: u64,
    /// Maximum size of one GPU buffer in bytes.
    pub binding: u64,
    /// Maximum number of bytes for a scene and a query, on the host and on the device together, in addition to the caller's own memory.
    pub memory: u64,
    /// Time limit for one submission of a query to a GPU. After it the query fails with [`TimedOut`](crate::Error::TimedOut). `None` means
    /// five minutes for hardware, which may hang, and no limit for software adapters, which are only slow. A submission is sized to take a
    /// tenth of a second; on a busy machine, and at the first use of a kernel, it takes longer. Opening a device and uploading spheres
    /// always use the limit of `None`.
    pub patience: Option<Duration>,
}

impl Default for Limits {
    /// No limits except the device's own.
    fn default() -> Self {
        Self { rays: u64::MAX, binding: u64::MAX, memory: u64::MAX, patience: None }
    }
}
