//! What a device may be given at once.

use std::time::Duration;

/// Limits below a device's own: take [`Limits::default`] and set what is to be less. Whatever exceeds one is done in pieces,
/// or refused with figures; answers stay the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Rays sent to a GPU at once.
    pub rays: u64,
    /// Bytes of one buffer of a GPU.
    pub binding: u64,
    /// Bytes that a scene and a query may take, here and on the device, beyond the caller's own.
    pub memory: u64,
    /// How long to wait for one submission of a query to a GPU before the query fails with [`TimedOut`](crate::Error::TimedOut).
    /// `None` means five minutes for hardware, which may hang, and no limit for software adapters, which are only slow. A submission
    /// is sized to take a tenth of a second; on a busy machine, and at the first use of a kernel, it takes longer. Opening a device
    /// and uploading spheres always wait as `None` says.
    pub patience: Option<Duration>,
}

impl Default for Limits {
    /// No limits but the device's own.
    fn default() -> Self {
        Self { rays: u64::MAX, binding: u64::MAX, memory: u64::MAX, patience: None }
    }
}
