//! Progress bars and spinners on stderr, for work that takes longer than a second.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Shows progress on stderr from one second after its creation until it is dropped.
pub(crate) struct ProgressDisplay {
    done: Option<Sender<()>>,
    drawer: Option<JoinHandle<()>>,
}

/// Progress of a cast: functions that return the current counts.
pub(crate) struct CastProgress<D, E> {
    pub(crate) what: String,
    /// Name of the counted items, such as "rays".
    pub(crate) things: &'static str,
    pub(crate) done: D,
    /// Total number of items; returns `None` while it is unknown.
    pub(crate) expected: E,
}

impl ProgressDisplay {
    /// Shows a spinner.
    pub(crate) fn on(what: String, quiet: bool) -> Self {
        Self::draw(quiet, move |bar, _| bar.set_message(what.clone()))
    }

    /// Shows a bar, or a spinner while the total is unknown.
    pub(crate) fn casting<D, E>(casting: CastProgress<D, E>, quiet: bool) -> Self
    where
        D: Fn() -> u64 + Send + 'static,
        E: Fn() -> Option<u64> + Send + 'static,
    {
        Self::draw(quiet, move |bar, seconds| {
            let (done, expected) = ((casting.done)(), (casting.expected)());
            bar.set_message(format!(
                "{}: {}",
                casting.what,
                describe_duration(casting.things, done, expected, seconds)
            ));
            if let Some(expected) = expected {
                // The template is known to be valid.
                if let Ok(style) = ProgressStyle::with_template("{bar:24} {msg}") {
                    bar.set_style(style);
                }
                bar.set_length(expected);
                bar.set_position(done.min(expected));
            }
        })
    }

    /// Shows a bar of thousandths, or a spinner while nothing is done.
    pub(crate) fn percent(what: String, done: impl Fn() -> u64 + Send + 'static, quiet: bool) -> Self {
        Self::draw(quiet, move |bar, _| {
            bar.set_message(what.clone());
            let done = done();
            if done > 0 {
                // The template is known to be valid.
                if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent} %") {
                    bar.set_style(style);
                }
                bar.set_length(1000);
                bar.set_position(done);
            }
        })
    }

    /// Starts a thread that draws, unless `quiet`. indicatif draws only if stderr is a terminal.
    fn draw(quiet: bool, mut show: impl FnMut(&ProgressBar, f64) + Send + 'static) -> Self {
        let (done, waiting) = channel::<()>();
        if quiet {
            return Self { done: None, drawer: None };
        }
        let start = Instant::now();
        let draw = move || {
            let finished = |after| waiting.recv_timeout(after) != Err(RecvTimeoutError::Timeout);
            if finished(Duration::from_secs(1)) {
                return;
            }
            let bar = ProgressBar::new_spinner();
            while !finished(Duration::from_millis(100)) {
                show(&bar, start.elapsed().as_secs_f64());
                bar.tick();
            }
            bar.finish_and_clear();
        };
        // If the thread cannot start, only the display is missing.
        let drawer = std::thread::Builder::new().name("progress".into()).spawn(draw).ok();
        Self { done: Some(done), drawer }
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        self.done = None;
        if let Some(drawer) = self.drawer.take() {
            let _ = drawer.join();
        }
    }
}

/// Text with count, rate and remaining time after `seconds`.
fn describe_duration(things: &str, done: u64, expected: Option<u64>, seconds: f64) -> String {
    let million = |rays: u64| rays as f64 * 1e-6;
    let rate = million(done) / seconds;
    let left = |all: u64| {
        let seconds = (million(all.saturating_sub(done)) / rate).round();
        match seconds {
            _ if done == 0 => String::new(),
            ..60.0 => format!(", {seconds} s left"),
            ..3600.0 => format!(", {} min left", (seconds / 60.0).round()),
            _ => format!(", {:.1} h left", seconds / 3600.0),
        }
    };
    let of = expected.map(|all| format!(" of {:.1}", million(all.max(done)))).unwrap_or_default();
    format!(
        "{:.1}{of} million {things}, {rate:.2} M{things}/s{}",
        million(done),
        expected.map(left).unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::describe_duration;

    #[test]
    fn the_progress_bar_shows_count_rate_and_remaining_time() {
        assert_eq!(
            describe_duration("rays", 2_500_000, Some(10_000_000), 2.0),
            "2.5 of 10.0 million rays, 1.25 Mrays/s, 6 s left"
        );
        assert_eq!(
            describe_duration("rays", 2_500_000, Some(1_000_000_000), 2.0),
            "2.5 of 1000.0 million rays, 1.25 Mrays/s, 13 min left"
        );
        assert_eq!(
            describe_duration("rays", 1_000_000, Some(10_000_000_000), 1.0),
            "1.0 of 10000.0 million rays, 1.00 Mrays/s, 2.8 h left"
        );
        assert_eq!(describe_duration("rays", 2_500_000, None, 2.0), "2.5 million rays, 1.25 Mrays/s");
        assert_eq!(describe_duration("rays", 0, Some(10_000_000), 2.0), "0.0 of 10.0 million rays, 0.00 Mrays/s");
        // The total of a text file is an estimate and may be too small.
        assert_eq!(
            describe_duration("rays", 2_000_000, Some(1_900_000), 2.0),
            "2.0 of 2.0 million rays, 1.00 Mrays/s, 0 s left"
        );
    }
}
