//! Work without the GIL: other Python threads keep running, Ctrl-C cancels the work, and progress is reported.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{Builder, scope};
use std::time::Duration;

use crate::exceptions::Result;
use pyo3::prelude::*;
use umbracast::CancelToken;

use crate::exceptions::{exception, fork_error};

/// Work on fewer records (rays, spheres or pixels) finishes before anyone could interrupt it, and is not watched.
const MIN_WATCHED: usize = 1 << 12;
/// Interval at which signals are checked and progress is reported.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Id of the process that owns the worker threads; 0 before the first work.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// Returns whether this process was forked from one that had already worked.
pub(crate) fn is_forked() -> bool {
    ![0, std::process::id()].contains(&OWNER.load(Ordering::Relaxed))
}

/// Raises `ForkError` in a forked process, where work would wait for threads that do not exist. Else records the owner process.
pub(crate) fn check_fork(py: Python<'_>) -> PyResult<()> {
    let me = std::process::id();
    match OWNER.compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed) {
        Err(owner) if owner != me => Err(fork_error(py)),
        _ => Ok(()),
    }
}

/// Runs work without the GIL that is short or cannot be cancelled.
pub(crate) fn run_detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    check_fork(py)?;
    py.detach(work).map_err(|error| exception(py, error))
}

/// Runs cancellable work on `records` records without the GIL. Many records are processed in a new thread, while this one checks for
/// signals. `progress` is called with the number of finished records and the total; an exception that it raises cancels the work.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    records: usize,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&CancelToken) -> Result<T> + Send,
) -> PyResult<T> {
    interruptible_with(py, (records, records), progress, CancelToken::done, work)
}

/// As [`interruptible`], with a progress of its own: `done` of `total`.
pub(crate) fn interruptible_with<T: Send>(
    py: Python<'_>,
    (records, total): (usize, usize),
    progress: Option<&Bound<'_, PyAny>>,
    done: impl Fn(&CancelToken) -> u64 + Sync,
    work: impl FnOnce(&CancelToken) -> Result<T> + Send,
) -> PyResult<T> {
    let token = CancelToken::new();
    if records < MIN_WATCHED && progress.is_none() {
        return run_detached(py, || work(&token));
    }
    check_fork(py)?;
    let progress = progress.map(|callable| callable.clone().unbind());
    let poll = || {
        Python::attach(|py| {
            py.check_signals()?;
            progress.as_ref().map_or(Ok(()), |call| call.call1(py, (done(&token), total)).map(drop))
        })
    };
    py.detach(|| {
        scope(|scope| {
            let (ended, waiting) = channel::<()>();
            let task = || {
                let result = work(&token);
                drop(ended);
                result
            };
            let thread = Builder::new().name("umbracast".into()).spawn_scoped(scope, task)?;
            let mut raised = None;
            while waiting.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if raised.is_none()
                    && let Err(error) = poll()
                {
                    token.cancel();
                    raised = Some(error);
                }
            }
            let result = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            match raised {
                Some(error) => Err(error),
                None => {
                    let result = result.map_err(|error| Python::attach(|py| exception(py, error)))?;
                    // Report the final progress, and check for a signal that arrived in the last interval.
                    poll().map(|()| result)
                }
            }
        })
    })
}
