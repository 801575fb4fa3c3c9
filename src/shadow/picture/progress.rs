//! Progress of a picture, and the time that it is expected to take.

use std::sync::Arc;
use std::time::Duration;

use crate::runtime::Instant;

/// How far the rendering of a picture is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RenderProgress {
    /// Finished share of the work, 0…1.
    pub done: f64,
    /// Estimate of the time that the whole picture takes.
    pub expected: Duration,
}

/// Callback that receives the progress from time to time, also from several threads at once.
pub type Progress = Arc<dyn Fn(RenderProgress) + Send + Sync>;

/// Reports progress, and extrapolates the time from it.
pub(crate) struct RenderClock<'a> {
    start: Instant,
    progress: &'a (dyn Fn(RenderProgress) + Send + Sync),
}

impl<'a> RenderClock<'a> {
    pub(crate) fn start(progress: &'a (dyn Fn(RenderProgress) + Send + Sync)) -> Self {
        Self { start: Instant::now(), progress }
    }

    /// Reports the finished share.
    pub(crate) fn report(&self, done: f64) {
        let expected = Duration::try_from_secs_f64(self.start.elapsed().as_secs_f64() / done).unwrap_or(Duration::MAX);
        (self.progress)(RenderProgress { done, expected });
    }
}
