//! Sunlight along trajectories.

use std::sync::atomic::{AtomicU64, Ordering};

use numpy::{PyArray1, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;
use rayon::prelude::*;
use umbracast::glam::DVec3;
use umbracast_sky::{Frame, PathCheck, ShadowInterval, Sunlight, Trajectory, TrajectoryState};

use crate::device::Device;
use crate::exceptions::{Result, exception};
use crate::gil::interruptible_with;
use crate::queries::output_slice;
use crate::sky::Sky;

/// An invalid state: its index in all states, the field, its value and the rule.
type BadState = (u64, &'static str, String, String);
/// A column of the intervals.
type Column<'py, T> = Bound<'py, PyArray1<T>>;
/// Object, body, kind, first and last instant in microseconds, duration in seconds, whether it began earlier and whether it ends later.
type Intervals<'py> = (
    Column<'py, u32>,
    Column<'py, u8>,
    Column<'py, u8>,
    Column<'py, i64>,
    Column<'py, i64>,
    Column<'py, f64>,
    Column<'py, bool>,
    Column<'py, bool>,
);

/// The first invalid state, or the intervals, an estimate of the error of the interpolation in km, and doubts about the paths.
type Answer<'py> = (Option<BadState>, Option<Intervals<'py>>, Option<f64>, Vec<String>);

/// What the work makes.
enum Found {
    Bad(BadState),
    Good { intervals: Vec<(u32, i64, i64, ShadowInterval)>, check: PathCheck },
}

/// Computes visible fraction and kind for the states of objects, `states` for each of them, and the intervals of shadow.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a column per argument and per part of the answer")]
#[pyo3(signature = (sky, device, frame, states, times, positions, velocities, fraction, kind, progress))]
pub(crate) fn sunlight<'py>(
    py: Python<'py>,
    sky: &Sky,
    device: &Device,
    frame: &str,
    states: usize,
    times: PyReadonlyArray1<'_, i64>,
    positions: PyReadonlyArray1<'_, f64>,
    velocities: Option<PyReadonlyArray1<'_, f64>>,
    mut fraction: PyReadwriteArray1<'_, f64>,
    mut kind: PyReadwriteArray1<'_, u8>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Answer<'py>> {
    let frame = Frame::from_name(frame).map_err(|error| exception(py, error))?;
    let (times, positions) = (times.as_slice()?, positions.as_slice()?);
    let velocities = velocities.as_ref().map(|column| column.as_slice()).transpose()?;
    let count = times.len();
    let (fraction, kind) = (output_slice(&mut fraction, "fraction", count)?, output_slice(&mut kind, "kind", count)?);
    // The states of trajectories whose intervals are found. They take as long as the fractions.
    let searched = AtomicU64::new(0);
    let done = |token: &umbracast::CancelToken| (token.done() + searched.load(Ordering::Relaxed)) / 2;
    let work = |token: &umbracast::CancelToken| -> Result<Found> {
        let state = |i: usize| -> Result<TrajectoryState, BadState> {
            let vector = |column: &[f64]| DVec3::from_slice(&column[3 * i..3 * i + 3]);
            // Only Python can print such a time.
            let bad = |_| (i as u64, "time", String::new(), "it must be in the years -1999 to 3000".into());
            Ok(TrajectoryState {
                time: sky.time(times[i]).map_err(bad)?,
                position: vector(positions),
                velocity: velocities.map(vector),
            })
        };
        let mut paths = Vec::new();
        let cancelled = |done: usize| umbracast::Error::Cancelled { done: done as u64 };
        for first in (0..count).step_by(states.max(1)) {
            if token.is_cancelled() {
                return Err(cancelled(0).into());
            }
            let own = match (first..first + states).map(state).collect::<Result<Vec<_>, _>>() {
                Ok(own) => own,
                Err(bad) => return Ok(Found::Bad(bad)),
            };
            for (index, state) in (first as u64..).zip(&own) {
                if let Err(error) = sky.inner.ephemeris().check(state.time) {
                    let time = state.time.text(0, sky.inner.options().delta_t).to_string();
                    return Ok(Found::Bad((index, "time", time, error.to_string())));
                }
            }
            paths.push(match Trajectory::new("", frame, own) {
                Ok(path) => path,
                Err(umbracast_sky::Error::Umbracast(umbracast::Error::BadRecord {
                    index, field, value, why, ..
                })) => {
                    return Ok(Found::Bad((first as u64 + index, field, value, why.into_owned())));
                }
                Err(other) => return Err(other.into()),
            });
        }
        let sunlight = Sunlight::new(&sky.inner, &paths)?;
        let row = |i: usize, row: &mut _| sunlight.row(i / states, i % states, row);
        let shadows = device.inner().with_cancel(token).shadows_by_row(count, &row)?;
        for (i, found) in shadows.into_iter().enumerate() {
            (fraction[i], kind[i]) = (found.shadow.fraction, found.shadow.kind as u8);
        }
        let of = |trajectory: usize| {
            if token.is_cancelled() {
                return Err(cancelled(count));
            }
            let own = sunlight.intervals_of(trajectory);
            searched.fetch_add(states as u64, Ordering::Relaxed);
            Ok(own)
        };
        let found = (0..paths.len()).into_par_iter().map(of).collect::<Result<Vec<_>, _>>()?;
        let mut intervals = Vec::new();
        for ((object, path), own) in (0..).zip(&paths).zip(found) {
            let start = path.states().first().map(|state| state.time).unwrap_or_default();
            let at = |seconds: f64| sky.microseconds(start.plus(seconds));
            intervals.extend(own.into_iter().map(|one| (object, at(one.begins), at(one.ends), one)));
        }
        Ok(Found::Good { intervals, check: sunlight.check() })
    };
    Ok(match interruptible_with(py, (count, count), progress.as_ref(), done, work)? {
        Found::Bad(bad) => (Some(bad), None, None, Vec::new()),
        Found::Good { intervals, check } => {
            fn column<'py, T: numpy::Element>(
                py: Python<'py>,
                rows: &[(u32, i64, i64, ShadowInterval)],
                of: impl Fn(&(u32, i64, i64, ShadowInterval)) -> T,
            ) -> Column<'py, T> {
                PyArray1::from_vec(py, rows.iter().map(of).collect())
            }
            let rows = &intervals;
            let columns = (
                column(py, rows, |row| row.0),
                column(py, rows, |row| row.3.body as u8),
                column(py, rows, |row| row.3.kind as u8),
                column(py, rows, |row| row.1),
                column(py, rows, |row| row.2),
                column(py, rows, |row| row.3.ends - row.3.begins),
                column(py, rows, |row| row.3.begins_earlier),
                column(py, rows, |row| row.3.ends_later),
            );
            (None, Some(columns), check.interpolation_error_km, check.doubts)
        }
    })
}
