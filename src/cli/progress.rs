//! A sign of life on a terminal, for work that takes longer than a second.

use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// While it lives, and from its second second on, a spinner turns on stderr.
pub(crate) struct Working {
    done: Option<Sender<()>>,
    spinner: Option<JoinHandle<()>>,
}

impl Working {
    /// indicatif draws nothing where stderr is no terminal; `quiet` silences it there too.
    pub(crate) fn on(what: String, quiet: bool) -> Self {
        let (done, waiting) = channel::<()>();
        if quiet {
            return Self { done: None, spinner: None };
        }
        let spin = move || {
            let finished = |after| waiting.recv_timeout(after) != Err(std::sync::mpsc::RecvTimeoutError::Timeout);
            if finished(Duration::from_secs(1)) {
                return;
            }
            let spinner = indicatif::ProgressBar::new_spinner().with_message(what);
            while !finished(Duration::from_millis(100)) {
                spinner.tick();
            }
            spinner.finish_and_clear();
        };
        // Without a thread there is no spinner, and nothing else is missing.
        let spinner = std::thread::Builder::new().name("spinner".into()).spawn(spin).ok();
        Self { done: Some(done), spinner }
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.done = None;
        if let Some(spinner) = self.spinner.take() {
            let _ = spinner.join();
        }
    }
}
