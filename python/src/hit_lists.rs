//! The queries that return lists (`all`, `nearest`, `bullets`), and the attributes of hits.

use bytemuck::try_cast_slice;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use umbracast::{Bullet, Bullets, Hit};
use umbracast::{Error, Result};

use crate::exceptions::exception;
use crate::gil::interruptible;
use crate::input::{CHUNK, PyRays, RoundingTuple, slice, try_with_capacity};
use crate::policies::Policies;
use crate::scene::{ReportTuple, Scene, report_tuple};

/// Extends a list, with an error if the allocation fails.
fn extend<T>(list: &mut Vec<T>, more: impl ExactSizeIterator<Item = T>) -> Result<()> {
    let failed = |e: std::collections::TryReserveError| Error::OutOfMemory {
        device: "this machine".into(),
        message: e.to_string(),
    };
    list.try_reserve(more.len()).map_err(failed)?;
    list.extend(more);
    Ok(())
}

type Array<'py, T> = Bound<'py, PyArray1<T>>;

/// Columns of hit lists: offsets, `t_enter`, `t_exit`, id.
type ListArrays<'py> =
    (Array<'py, u64>, Array<'py, f32>, Array<'py, f32>, Array<'py, u32>, (ReportTuple, RoundingTuple));
/// Columns of the legs of bullets: offsets, status, id, distance, frames, points, grazing angles, velocities.
type FlightArrays<'py> = (
    Array<'py, u64>,
    Array<'py, u8>,
    Array<'py, u32>,
    Array<'py, f32>,
    Array<'py, f32>,
    Array<'py, f32>,
    Array<'py, f32>,
    Array<'py, f32>,
    ReportTuple,
);
/// Columns of hit attributes: points, normals, angles of incidence, distances.
type AttributeArrays<'py> = (Array<'py, f32>, Array<'py, f32>, Array<'py, f32>, Array<'py, f32>);

/// Finds all spheres that each ray hits, or the first `k`.
#[pyfunction]
pub(crate) fn lists<'py>(
    scene: &Scene,
    py: Python<'py>,
    rays: PyRays<'_>,
    policies: Policies,
    k: Option<u32>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<ListArrays<'py>> {
    let query = policies.query()?;
    let batch = rays.batch(&query)?;
    let failed = |error| exception(py, error);
    if k == Some(0) {
        // If there are no rays, nothing else would check this.
        return Err(failed(Error::InvalidArgument("k is 0: it must be at least 1".into())));
    }
    let mut offsets = try_with_capacity(batch.len + 1).map_err(failed)?;
    offsets.push(0);
    let (mut enter, mut exit, mut id) = (Vec::new(), Vec::new(), Vec::new());
    let report = scene.run_chunked(py, &batch, progress.as_ref(), |scene, rays, _| {
        let lists = match k {
            Some(k) => scene.nearest(rays, k, &query)?,
            None => scene.all(rays, &query)?,
        };
        let before = id.len() as u64;
        extend(&mut offsets, lists.offsets[1..].iter().map(|offset| before + offset))?;
        extend(&mut enter, lists.records.iter().map(|record| record.t_enter))?;
        extend(&mut exit, lists.records.iter().map(|record| record.t_exit))?;
        extend(&mut id, lists.records.iter().map(|record| record.id))?;
        Ok(lists.report)
    })?;
    let (enter, exit) = (PyArray1::from_vec(py, enter), PyArray1::from_vec(py, exit));
    Ok((PyArray1::from_vec(py, offsets), enter, exit, PyArray1::from_vec(py, id), report))
}

/// Traces bullets, 7 numbers each, with optional radii and spheres on which they start.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "an array for each column of the input")]
pub(crate) fn bullets<'py>(
    scene: &Scene,
    py: Python<'py>,
    bullets: PyReadonlyArray2<'_, f32>,
    radii: Option<PyReadonlyArray1<'_, f32>>,
    from_ids: Option<PyReadonlyArray1<'_, u32>>,
    bounces: u32,
    policies: Policies,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<FlightArrays<'py>> {
    let query = policies.query()?;
    let bullets: &[Bullet] =
        try_cast_slice(bullets.as_slice()?).map_err(|_| PyValueError::new_err("bullets must have 7 columns"))?;
    let mut given = Bullets::from(bullets);
    if let Some(radii) = slice(&radii, "radii", bullets.len())? {
        given = given.radii(radii);
    }
    if let Some(from_ids) = slice(&from_ids, "from_ids", bullets.len())? {
        given = given.from_ids(from_ids);
    }
    let scene = scene.current();
    let flights = interruptible(py, bullets.len(), progress.as_ref(), |token| {
        Ok(scene.with_cancel(token).bullets(given, bounces, &query)?)
    })?;
    let legs = &flights.records;
    let numbers = |number: fn(&umbracast::Leg) -> f32| PyArray1::from_iter(py, legs.iter().map(number));
    let vectors = |vector: fn(&umbracast::Leg) -> [f32; 3]| PyArray1::from_iter(py, legs.iter().flat_map(vector));
    Ok((
        PyArray1::from_vec(py, flights.offsets.clone()),
        PyArray1::from_iter(py, legs.iter().map(|leg| leg.status as u8)),
        PyArray1::from_iter(py, legs.iter().map(|leg| leg.id)),
        numbers(|leg| leg.distance),
        numbers(|leg| leg.frames),
        vectors(|leg| leg.point.to_array()),
        numbers(|leg| leg.grazing_rad),
        vectors(|leg| leg.velocity.to_array()),
        report_tuple(flights.report),
    ))
}

/// Computes the attributes of hits.
#[pyfunction]
pub(crate) fn attributes<'py>(
    scene: &Scene,
    py: Python<'py>,
    rays: PyRays<'_>,
    policies: Policies,
    t: PyReadonlyArray1<'_, f32>,
    id: PyReadonlyArray1<'_, u32>,
) -> PyResult<AttributeArrays<'py>> {
    let query = policies.query()?;
    let batch = rays.batch(&query)?;
    let scene = scene.current();
    let (t, id) = (Some(t), Some(id));
    let (Some(t), Some(id)) = (slice(&t, "t", batch.len)?, slice(&id, "id", batch.len)?) else {
        return Err(PyValueError::new_err("hits must have t and id"));
    };
    let (point, normal, angle, distance) = interruptible(py, batch.len, None, |token| {
        let (mut point, mut normal) = (try_with_capacity(3 * batch.len)?, try_with_capacity(3 * batch.len)?);
        let (mut angle, mut distance) = (try_with_capacity(batch.len)?, try_with_capacity(batch.len)?);
        let mut hits = try_with_capacity(batch.len.min(CHUNK))?;
        batch.for_each_chunk(|rays, range| {
            if token.is_cancelled() {
                return Err(Error::Cancelled { done: range.start as u64 });
            }
            hits.clear();
            hits.extend(t[range.clone()].iter().zip(&id[range]).map(|(&t, &id)| Hit { t, id }));
            for was in scene.attributes(rays, &hits, &query)? {
                point.extend(was.point.to_array());
                normal.extend(was.normal.to_array());
                angle.push(was.incidence_rad);
                distance.push(was.distance);
            }
            Ok(())
        })?;
        Ok((point, normal, angle, distance))
    })?;
    let (point, normal) = (PyArray1::from_vec(py, point), PyArray1::from_vec(py, normal));
    Ok((point, normal, PyArray1::from_vec(py, angle), PyArray1::from_vec(py, distance)))
}
