//! Queries with one result per ray or point. Each writes its results into output arrays, one per column.

use bytemuck::try_cast_slice;
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyReadwriteArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use umbracast::{Answer, Hit, Report};

use crate::exceptions::exception;
use crate::gil::interruptible;
use crate::input::{CHUNK, PyRays, RoundingTuple, chunks, slice, try_with_capacity};
use crate::policies::Policies;
use crate::scene::{ReportTuple, Scene, report_tuple};

/// Output array of one column.
#[derive(FromPyObject)]
pub(crate) enum OutputArray<'py> {
    F32(PyReadwriteArray1<'py, f32>),
    U32(PyReadwriteArray1<'py, u32>),
    Bool(PyReadwriteArray1<'py, bool>),
}

/// View of an [`OutputArray`] that does not need the GIL.
enum Output<'a> {
    F32(&'a mut [f32]),
    U32(&'a mut [u32]),
    Bool(&'a mut [bool]),
}

impl OutputArray<'_> {
    fn view(&mut self, rays: usize) -> PyResult<Output<'_>> {
        Ok(match self {
            Self::F32(array) => Output::F32(output_slice(array, "out", rays)?),
            Self::U32(array) => Output::U32(output_slice(array, "out", rays)?),
            Self::Bool(array) => Output::Bool(output_slice(array, "out", rays)?),
        })
    }
}

/// Borrows an output array. Raises `ValueError` if its length is not `rays`.
pub(crate) fn output_slice<'a, T: numpy::Element>(
    out: &'a mut PyReadwriteArray1<'_, T>,
    name: &str,
    rays: usize,
) -> PyResult<&'a mut [T]> {
    let out = out.as_slice_mut()?;
    if out.len() != rays {
        return Err(PyValueError::new_err(format!("{name}: the length is {}, but must be {rays}", out.len())));
    }
    Ok(out)
}

/// Copies results of one number per ray to a range of their output array.
fn copy<T: Copy>(found: &Answer<T>, out: &mut [T]) -> Report {
    out.copy_from_slice(found);
    found.report
}

/// Runs the query `verb` and writes its results. `out` has the columns of `QUERIES` in `umbracast/_queries.py`.
#[pyfunction]
pub(crate) fn cast(
    scene: &Scene,
    py: Python<'_>,
    verb: &str,
    rays: PyRays<'_>,
    policies: Policies,
    mut out: Vec<OutputArray<'_>>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(ReportTuple, RoundingTuple)> {
    let (query, progress) = (policies.query()?, progress.as_ref());
    let batch = rays.batch(&query)?;
    let mut out = out.iter_mut().map(|array| array.view(batch.len)).collect::<PyResult<Vec<_>>>()?;
    match (verb, &mut out[..]) {
        ("closest", [Output::F32(t), Output::U32(id)]) => {
            // All chunks use the same memory.
            let mut hits = try_with_capacity(batch.len.min(CHUNK)).map_err(|error| exception(py, error))?;
            scene.run_chunked(py, &batch, progress, |scene, rays, range| {
                hits.resize(range.len(), Hit::MISS);
                let report = scene.closest_into(rays, &mut hits, &query)?;
                let places = t[range.clone()].iter_mut().zip(&mut id[range]);
                places.zip(&hits).for_each(|((t, id), hit)| (*t, *id) = (hit.t, hit.id));
                Ok(report)
            })
        }
        ("interval", [Output::F32(enter), Output::F32(exit), Output::U32(id)]) => {
            scene.run_chunked(py, &batch, progress, |scene, rays, range| {
                let found = scene.interval(rays, &query)?;
                for (i, record) in range.zip(found.iter()) {
                    (enter[i], exit[i], id[i]) = (record.t_enter, record.t_exit, record.id);
                }
                Ok(found.report)
            })
        }
        ("approach", [Output::F32(t), Output::F32(clearance), Output::U32(id)]) => {
            scene.run_chunked(py, &batch, progress, |scene, rays, range| {
                let found = scene.approach(rays, &query)?;
                for (i, record) in range.zip(found.iter()) {
                    (t[i], clearance[i], id[i]) = (record.t, record.clearance, record.id);
                }
                Ok(found.report)
            })
        }
        ("count", [Output::U32(count)]) => scene.run_chunked(py, &batch, progress, |scene, rays, range| {
            Ok(copy(&scene.count(rays, &query)?, &mut count[range]))
        }),
        ("transmittance", [Output::F32(left)]) => scene.run_chunked(py, &batch, progress, |scene, rays, range| {
            Ok(copy(&scene.transmittance(rays, &query)?, &mut left[range]))
        }),
        ("occluded", [Output::Bool(occluded)]) => scene.run_chunked(py, &batch, progress, |scene, rays, range| {
            let bits = scene.occluded(rays, &query)?;
            for (out, word) in occluded[range].chunks_mut(32).zip(&bits.words) {
                (0..).zip(out).for_each(|(bit, out)| *out = word >> bit & 1 == 1);
            }
            Ok(bits.report)
        }),
        _ => Err(PyValueError::new_err(format!("query '{verb}' has other output columns"))),
    }
}

/// For points, 3 numbers each: counts the spheres that contain them, and finds the lowest id.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "an array for each column of the input and of the result")]
pub(crate) fn contains(
    scene: &Scene,
    py: Python<'_>,
    points: PyReadonlyArray2<'_, f32>,
    masks: Option<PyReadonlyArray1<'_, u32>>,
    skip_ids: Option<PyReadonlyArray1<'_, u32>>,
    times: Option<PyReadonlyArray1<'_, f32>>,
    policies: Policies,
    mut count: PyReadwriteArray1<'_, u32>,
    mut id: PyReadwriteArray1<'_, u32>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<ReportTuple> {
    let query = policies.query()?;
    let points: &[[f32; 3]] =
        try_cast_slice(points.as_slice()?).map_err(|_| PyValueError::new_err("points must have 3 columns"))?;
    let scene = scene.current_for(points.len())?;
    let (masks, skip_ids) = (slice(&masks, "masks", points.len())?, slice(&skip_ids, "skip_ids", points.len())?);
    let times = slice(&times, "times", points.len())?;
    let (count, id) = (output_slice(&mut count, "count", points.len())?, output_slice(&mut id, "id", points.len())?);
    interruptible(py, points.len(), progress.as_ref(), |token| {
        let scene = scene.with_cancel(token);
        let mut report = Report::default();
        for range in chunks(points.len()) {
            let mut part = umbracast::Points::from(&points[range.clone()]);
            if range.len() < points.len() {
                part = part.numbered_from(range.start as u64);
            }
            if let Some(masks) = masks {
                part = part.masks(&masks[range.clone()]);
            }
            if let Some(skip_ids) = skip_ids {
                part = part.skip_ids(&skip_ids[range.clone()]);
            }
            if let Some(times) = times {
                part = part.times(&times[range.clone()]);
            }
            let found = scene.contains(part, &query)?;
            report = report + found.report;
            for (i, record) in range.zip(&found.records) {
                (count[i], id[i]) = (record.count, record.id);
            }
        }
        Ok(report_tuple(report))
    })
}
