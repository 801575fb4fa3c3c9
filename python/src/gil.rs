//! Work without the interpreter's lock: other Python threads run meanwhile, Ctrl-C ends it, and progress is told.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{Builder, scope};
use std::time::Duration;

use pyo3::prelude::*;
use umbracast::{CancelToken, Result};

use crate::exceptions::{exception, forked};

/// Fewer records are answered, spheres built in and pixels drawn, before anybody could press a key.
const FEW: usize = 1 << 12;
/// How often signals are looked at, and progress is told.
const OFTEN: Duration = Duration::from_millis(50);

/// The process whose threads do the work; 0 before there is any.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// Whether this process is a fork of one that had begun to work.
pub(crate) fn is_forked() -> bool {
    ![0, std::process::id()].contains(&OWNER.load(Ordering::Relaxed))
}

/// Refuses to wait for threads that a fork has left behind.
pub(crate) fn check_fork(py: Python<'_>) -> PyResult<()> {
    let me = std::process::id();
    match OWNER.compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed) {
        Err(owner) if owner != me => Err(forked(py)),
        _ => Ok(()),
    }
}

/// Short work that needs no watching, and work that cannot be stopped.
pub(crate) fn brief<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    check_fork(py)?;
    py.detach(work).map_err(|error| exception(py, &error))
}

/// Work on so many records, in a thread of its own if they are many, while this one looks after signals. `progress` is called
/// with how many are done and how many there are; what it raises ends the work.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    records: usize,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&CancelToken) -> Result<T> + Send,
) -> PyResult<T> {
    let watch = CancelToken::new();
    if records < FEW && progress.is_none() {
        return brief(py, || work(&watch));
    }
    check_fork(py)?;
    let progress = progress.map(|callable| callable.clone().unbind());
    let look = || {
        Python::attach(|py| {
            py.check_signals()?;
            progress.as_ref().map_or(Ok(()), |call| call.call1(py, (watch.done(), records)).map(drop))
        })
    };
    py.detach(|| {
        scope(|scope| {
            let (done, waiting) = channel::<()>();
            let task = || {
                let result = work(&watch);
                drop(done);
                result
            };
            let thread = Builder::new().name("umbracast".into()).spawn_scoped(scope, task)?;
            let mut raised = None;
            while waiting.recv_timeout(OFTEN) == Err(RecvTimeoutError::Timeout) {
                if raised.is_none()
                    && let Err(error) = look()
                {
                    watch.cancel();
                    raised = Some(error);
                }
            }
            let result = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            match raised {
                Some(error) => Err(error),
                None => {
                    let result = result.map_err(|error| Python::attach(|py| exception(py, &error)))?;
                    // That all is done is told, too, and a key pressed just now is not forgotten.
                    look().map(|()| result)
                }
            }
        })
    })
}
