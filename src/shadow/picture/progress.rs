//! Progress of a picture, and the time that it is expected to take.

use std::sync::Arc;
use std::time::Duration;

use crate::error::Result;
use crate::query::validate::usage;
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

/// A picture that takes longer is refused.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Refuses a picture that takes longer than a day.
pub(crate) fn check_expected(expected: Duration) -> Result<()> {
    if expected <= LONGEST {
        return Ok(());
    }
    let days = expected.as_secs_f64() / LONGEST.as_secs_f64();
    usage(format!(
        "rendering this picture would take about {days:.1} days: at most one day is allowed; \
             use fewer samples, a smaller size, or a smaller light"
    ))
}

/// Reports progress, and extrapolates the time from it.
pub(crate) struct RenderClock<'a> {
    start: Instant,
    progress: &'a (dyn Fn(RenderProgress) + Send + Sync),
}

impl<'a> RenderClock<'a> {
    pub(crate) fn start(progress: &'a (dyn Fn(RenderProgress) + Send + Sync)) -> Self {
        Self { start: Instant::now(), progress }
    }

    /// Reports the finished share. Refuses a picture that would take too long.
    pub(crate) fn report(&mut self, done: f64) -> Result<()> {
        let expected = Duration::try_from_secs_f64(self.start.elapsed().as_secs_f64() / done).unwrap_or(Duration::MAX);
        check_expected(expected)?;
        (self.progress)(RenderProgress { done, expected });
        Ok(())
    }
}
