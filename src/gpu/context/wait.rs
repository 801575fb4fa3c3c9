//! Waits for submissions: a thread polls the device, or the thread that waits. In a browser `wait_web.rs` takes the place of this file.

use std::future::poll_fn;
use std::sync::mpsc::{Sender, channel};
use std::task::Poll;
use std::thread::JoinHandle;
use std::time::Duration;

use futures_channel::oneshot;
use wgpu::{PollError, PollType, SubmissionIndex};

use super::device::GpuContext;
use crate::error::{Error, Result};
use crate::runtime::Instant;

/// How long a future that polls a device of the caller keeps its thread at a time.
const SLICE: Duration = Duration::from_millis(1);

/// A request to the polling thread: wait for a submission.
struct Wait {
    submission: SubmissionIndex,
    limit: Option<Duration>,
    done: oneshot::Sender<Result<(), PollError>>,
}

/// The thread that polls a device, so that futures work with every executor. It is ended and joined when the device is dropped: a
/// process that exits while another thread still drops a Vulkan device crashes in the driver.
pub(super) struct Poller {
    waits: Option<Sender<Wait>>,
    thread: Option<JoinHandle<()>>,
}

impl Poller {
    pub(super) fn start(device: wgpu::Device) -> std::io::Result<Self> {
        let (waits, inbox) = channel::<Wait>();
        let thread = std::thread::Builder::new().name("umbracast-poll".into()).spawn(move || {
            for wait in inbox {
                let poll = PollType::Wait { submission_index: Some(wait.submission), timeout: wait.limit };
                // The receiver may have been dropped.
                let _ = wait.done.send(device.poll(poll).map(|_| ()));
            }
        })?;
        Ok(Self { waits: Some(waits), thread: Some(thread) })
    }

    /// Sends a request to the thread; `None` if the thread has ended.
    fn wait(&self, wait: Wait) -> Option<()> {
        self.waits.as_ref()?.send(wait).ok()
    }
}

impl Drop for Poller {
    fn drop(&mut self) {
        drop(self.waits.take());
        if let Some(thread) = self.thread.take().filter(|thread| thread.thread().id() != std::thread::current().id()) {
            // A device is dropped after its work is done, so a panic of the thread can be ignored.
            let _ = thread.join();
        }
    }
}

impl GpuContext {
    /// Polls the device on this thread until a submission is done. Other futures of the thread run between two slices of a millisecond.
    async fn poll_here(&self, submission: SubmissionIndex, limit: Option<Duration>) -> Result<(), PollError> {
        let start = Instant::now();
        poll_fn(|context| {
            let left = limit.map_or(SLICE, |limit| limit.saturating_sub(start.elapsed()));
            let poll = PollType::Wait { submission_index: Some(submission.clone()), timeout: Some(left.min(SLICE)) };
            match self.device.poll(poll) {
                Err(PollError::Timeout) if left > SLICE || limit.is_none() => {
                    context.waker().wake_by_ref();
                    Poll::Pending
                }
                waited => Poll::Ready(waited.map(|_| ())),
            }
        })
        .await
    }

    /// Waits for a submission, at most for `limit`; without a limit if it is `None`.
    pub(crate) async fn wait_within(&self, submission: SubmissionIndex, limit: Option<Duration>) -> Result<()> {
        let waited = match &self.poller {
            Some(poller) => {
                let (done, answer) = oneshot::channel();
                let ended = || self.failed("the thread that polls the device has ended".into());
                poller.wait(Wait { submission, limit, done }).ok_or_else(ended)?;
                answer.await.map_err(|_| ended())?
            }
            None => self.poll_here(submission, limit).await,
        };
        self.check()?;
        if waited.is_err()
            && let Some(lost) = self.lost().await
        {
            return Err(lost);
        }
        match (waited, limit) {
            (Ok(()), _) => Ok(()),
            (Err(PollError::Timeout), Some(limit)) => Err(Error::TimedOut { device: self.name().into(), limit }),
            (Err(other), _) => Err(self.failed(other.to_string())),
        }
    }
}
