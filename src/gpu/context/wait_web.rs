//! Waits for submissions in a browser, which polls the device itself: see `wait.rs`.

use std::time::Duration;

use futures_channel::oneshot;
use wgpu::SubmissionIndex;

use super::device::GpuContext;
use crate::error::Result;

/// Nothing: no thread can poll the device.
pub(super) struct Poller;

impl Poller {
    pub(super) fn start(_: wgpu::Device) -> std::io::Result<Self> {
        Ok(Self)
    }
}

impl GpuContext {
    /// Waits until all submissions are done. The limit has no effect: a browser resets a device that hangs, which is reported as its loss.
    pub(crate) async fn wait_within(&self, _: SubmissionIndex, _: Option<Duration>) -> Result<()> {
        let (done, answer) = oneshot::channel();
        self.queue.on_submitted_work_done(move || {
            // The receiver may have been dropped.
            let _ = done.send(());
        });
        answer.await.map_err(|_| self.failed("the end of a submission was never reported".into()))?;
        self.check()
    }
}
