//! Measurement of wall-clock and CPU time.

use std::time::Instant;

use crate::error::Result;
use cpu_time::ProcessTime;

/// Medians of wall-clock seconds and of CPU seconds of this process on all cores, and the result of the last run.
pub(super) struct Times<T> {
    pub(super) wall: f64,
    pub(super) cpu: f64,
    pub(super) last: T,
}

/// Runs `work` once as a warm-up, then `repeat` times, and returns the medians. Each result is dropped before the next run starts.
pub(super) fn median<T>(repeat: u32, mut work: impl FnMut() -> Result<T>) -> Result<Times<T>> {
    let mut last = work()?;
    let (mut walls, mut cpus) = (Vec::new(), Vec::new());
    for _ in 0..repeat {
        drop(last);
        let (wall, cpu) = (Instant::now(), ProcessTime::now());
        last = work()?;
        cpus.push(cpu.elapsed().as_secs_f64());
        walls.push(wall.elapsed().as_secs_f64());
    }
    Ok(Times { wall: share(&mut walls, 0.5), cpu: share(&mut cpus, 0.5), last })
}

/// Quantile: the smallest of the times (at least one) such that the fraction `share` of them does not exceed it. Sorts the times.
pub(super) fn share(times: &mut [f64], share: f64) -> f64 {
    times.sort_by(f64::total_cmp);
    let rank = (share * times.len() as f64).ceil() as usize;
    times[rank.clamp(1, times.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::{median, share};

    #[test]
    fn share_returns_quantiles_of_the_sorted_times() {
        let mut times: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        assert_eq!([0.0, 0.5, 0.99, 1.0].map(|part| share(&mut times, part)), [1.0, 100.0, 198.0, 200.0]);
        assert_eq!(share(&mut [3.0, 1.0, 2.0], 0.5), 2.0);
        assert_eq!(share(&mut [7.0], 0.99), 7.0);
    }

    #[test]
    fn the_first_run_is_not_timed() {
        let mut runs = 0;
        let times = median(3, || {
            runs += 1;
            if runs == 1 {
                std::thread::sleep(std::time::Duration::from_millis(200));
            }
            Ok(runs)
        });
        let times = times.expect("nothing here fails");
        assert_eq!(times.last, 4);
        assert!(times.wall < 0.1, "{} s", times.wall);
    }
}
