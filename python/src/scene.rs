//! The class `Scene`, and the queries that return one result per ray or point.

use std::mem::ManuallyDrop;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use bytemuck::try_cast_slice;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyReadwriteArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use umbracast::{CancelToken, Hit, Rays, Report, Result, SceneOptions, blocking};

use crate::device::Device;
use crate::exceptions::exception;
use crate::gil::{interruptible, is_forked};
use crate::input::{CHUNK, PyRays, RayBatch, Rounding, chunks, slice, try_with_capacity};
use crate::policies::{Policies, builder};
use crate::spheres::{PySpheres, Shape};

/// The fields of `umbracast.Report`: rays, hits, skipped, overflowed, exact, seconds, rounded, largest rounding.
pub(crate) type ReportTuple = (u64, u64, u64, u64, u64, f64, u64, f64);

pub(crate) fn report_tuple(report: Report, rounding: Rounding) -> ReportTuple {
    let Report { rays, hits, skipped, overflowed, exact, seconds, .. } = report;
    (rays, hits, skipped, overflowed, exact, seconds, rounding.changed, rounding.largest)
}

/// A scene, and the shapes if it contains ellipsoids: the library keeps only derived data, and Python reads the shapes back.
#[derive(Clone)]
struct SceneState {
    scene: umbracast::Scene,
    shapes: Option<Arc<Vec<Shape>>>,
}

/// Spheres on a device. Running queries keep the spheres that they started with.
#[pyclass(frozen, module = "umbracast._umbracast")]
pub(crate) struct Scene {
    state: ManuallyDrop<RwLock<SceneState>>,
    /// Locked while an update or rebuild prepares the next scene.
    updating: Mutex<()>,
    pairwise: bool,
}

impl Drop for Scene {
    /// In a forked process nothing is released, as for [`Device`].
    fn drop(&mut self) {
        if !is_forked() {
            // SAFETY: the value is dropped only here, once, and is not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.state) }
        }
    }
}

impl Scene {
    /// Returns the current scene; clones share its spheres.
    pub(crate) fn current(&self) -> umbracast::Scene {
        self.state().scene
    }

    fn state(&self) -> SceneState {
        self.state.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_state(&self, state: SceneState) {
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = state;
    }

    /// Returns the current scene. For a pairwise scene, checks the total number of rays first, which a chunk of them does not show.
    pub(crate) fn current_for(&self, rays: usize) -> PyResult<umbracast::Scene> {
        let scene = self.current();
        if self.pairwise && rays != scene.len() {
            let spheres = scene.len();
            return Err(PyValueError::new_err(format!(
                "{rays} rays and {spheres} spheres: a pairwise scene needs as many rays as spheres"
            )));
        }
        Ok(scene)
    }

    /// Runs a query chunk by chunk: `run` casts a chunk, writes the results to its range and returns the report.
    pub(crate) fn run_chunked(
        &self,
        py: Python<'_>,
        batch: &RayBatch<'_>,
        progress: Option<&Bound<'_, PyAny>>,
        mut run: impl FnMut(&umbracast::Scene, Rays<'_>, Range<usize>) -> Result<Report> + Send,
    ) -> PyResult<ReportTuple> {
        let scene = self.current_for(batch.len)?;
        interruptible(py, batch.len, progress, |token| {
            let scene = scene.with_cancel(token);
            let mut report = Report::default();
            let rounding = batch.for_each_chunk(|rays, range| {
                report = report + run(&scene, rays, range)?;
                Ok(())
            })?;
            Ok(report_tuple(report, rounding))
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

#[pymethods]
impl Scene {
    #[new]
    #[pyo3(signature = (device, spheres, builder_word, time_range, pairwise))]
    fn new(
        py: Python<'_>,
        device: &Device,
        spheres: PySpheres<'_>,
        builder_word: &str,
        time_range: [f32; 2],
        pairwise: bool,
    ) -> PyResult<Self> {
        let options = SceneOptions::default().built_by(builder(builder_word)?).over(time_range);
        let (device, view) = (device.inner(), spheres.view()?);
        let state = interruptible(py, view.len(), None, |token| {
            let device = &device.with_cancel(token);
            let shapes = view.shapes(None)?;
            let scene = view.with(shapes.as_ref(), |spheres| match pairwise {
                true => blocking::pairwise_with(device, spheres, &options),
                false => blocking::scene(device, spheres, &options),
            })?;
            Ok(SceneState { scene, shapes })
        })?;
        Ok(Self { state: ManuallyDrop::new(RwLock::new(state)), updating: Mutex::new(()), pairwise })
    }

    fn __len__(&self) -> usize {
        self.current().len()
    }

    /// Returns the spheres, 4 numbers each; the masks; the velocities, 3 numbers each; the shapes of ellipsoids, 7 numbers each.
    #[expect(clippy::type_complexity, reason = "four arrays that go together")]
    fn parts<'py>(
        &self,
        py: Python<'py>,
    ) -> (
        Bound<'py, PyArray1<f32>>,
        Option<Bound<'py, PyArray1<u32>>>,
        Option<Bound<'py, PyArray1<f32>>>,
        Option<Bound<'py, PyArray1<f32>>>,
    ) {
        let SceneState { scene, shapes } = self.state();
        (
            PyArray1::from_slice(py, bytemuck::cast_slice(scene.spheres())),
            scene.masks().map(|masks| PyArray1::from_slice(py, masks)),
            scene.velocities().map(|velocities| PyArray1::from_slice(py, bytemuck::cast_slice(velocities))),
            shapes.map(|shapes| PyArray1::from_slice(py, bytemuck::cast_slice(&shapes))),
        )
    }

    /// Returns whether the scene contains ellipsoids.
    fn has_ellipsoids(&self) -> bool {
        self.state().shapes.is_some()
    }

    /// Replaces the spheres. Returns the quality loss and whether to rebuild.
    fn update(&self, py: Python<'_>, spheres: PySpheres<'_>) -> PyResult<(f32, bool)> {
        let view = spheres.view()?;
        let update = interruptible(py, view.len(), None, |token| {
            let _lock = self.updating.lock().unwrap_or_else(PoisonError::into_inner);
            let SceneState { scene, shapes } = self.state();
            let mut scene = scene.with_cancel(token);
            let shapes = view.shapes(shapes.as_ref())?;
            let update = view.with(shapes.as_ref(), |spheres| blocking::update(&mut scene, spheres))?;
            self.set_state(SceneState { scene, shapes });
            Ok(update)
        })?;
        Ok((update.quality_loss, update.rebuild_suggested))
    }

    /// Rebuilds the BVH.
    fn rebuild(&self, py: Python<'_>) -> PyResult<()> {
        interruptible(py, self.current().len(), None, |token| {
            let _lock = self.updating.lock().unwrap_or_else(PoisonError::into_inner);
            let SceneState { scene, shapes } = self.state();
            let mut scene = scene.with_cancel(token);
            blocking::rebuild(&mut scene)?;
            self.set_state(SceneState { scene, shapes });
            Ok(())
        })
    }

    fn closest(
        &self,
        py: Python<'_>,
        rays: PyRays<'_>,
        policies: Policies,
        mut t: PyReadwriteArray1<'_, f32>,
        mut id: PyReadwriteArray1<'_, u32>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<ReportTuple> {
        let query = policies.query()?;
        let batch = rays.batch(&query)?;
        let (t, id) = (output_slice(&mut t, "t", batch.len)?, output_slice(&mut id, "id", batch.len)?);
        // All chunks use the same buffer.
        let mut hits = try_with_capacity(batch.len.min(CHUNK)).map_err(|error| exception(py, &error))?;
        self.run_chunked(py, &batch, progress.as_ref(), |scene, rays, range| {
            hits.resize(range.len(), Hit::MISS);
            let report = blocking::closest_into(scene, rays, &mut hits, &query)?;
            let places = t[range.clone()].iter_mut().zip(&mut id[range]);
            places.zip(&hits).for_each(|((t, id), hit)| (*t, *id) = (hit.t, hit.id));
            Ok(report)
        })
    }

    #[expect(clippy::too_many_arguments, reason = "an array for each column of the answer")]
    fn interval(
        &self,
        py: Python<'_>,
        rays: PyRays<'_>,
        policies: Policies,
        mut t_enter: PyReadwriteArray1<'_, f32>,
        mut t_exit: PyReadwriteArray1<'_, f32>,
        mut id: PyReadwriteArray1<'_, u32>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<ReportTuple> {
        let query = policies.query()?;
        let batch = rays.batch(&query)?;
        let len = batch.len;
        let (enter, exit) = (output_slice(&mut t_enter, "t_enter", len)?, output_slice(&mut t_exit, "t_exit", len)?);
        let id = output_slice(&mut id, "id", len)?;
        self.run_chunked(py, &batch, progress.as_ref(), |scene, rays, range| {
            let found = blocking::interval(scene, rays, &query)?;
            for (i, record) in range.zip(found.iter()) {
                (enter[i], exit[i], id[i]) = (record.t_enter, record.t_exit, record.id);
            }
            Ok(found.report)
        })
    }

    #[expect(clippy::too_many_arguments, reason = "an array for each column of the answer")]
    fn approach(
        &self,
        py: Python<'_>,
        rays: PyRays<'_>,
        policies: Policies,
        mut t: PyReadwriteArray1<'_, f32>,
        mut clearance: PyReadwriteArray1<'_, f32>,
        mut id: PyReadwriteArray1<'_, u32>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<ReportTuple> {
        let query = policies.query()?;
        let batch = rays.batch(&query)?;
        let len = batch.len;
        let (t, clearance) = (output_slice(&mut t, "t", len)?, output_slice(&mut clearance, "clearance", len)?);
        let id = output_slice(&mut id, "id", len)?;
        self.run_chunked(py, &batch, progress.as_ref(), |scene, rays, range| {
            let found = blocking::approach(scene, rays, &query)?;
            for (i, record) in range.zip(found.iter()) {
                (t[i], clearance[i], id[i]) = (record.t, record.clearance, record.id);
            }
            Ok(found.report)
        })
    }

    fn count(
        &self,
        py: Python<'_>,
        rays: PyRays<'_>,
        policies: Policies,
        mut count: PyReadwriteArray1<'_, u32>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<ReportTuple> {
        let query = policies.query()?;
        let batch = rays.batch(&query)?;
        let count = output_slice(&mut count, "out", batch.len)?;
        self.run_chunked(py, &batch, progress.as_ref(), |scene, rays, range| {
            let found = blocking::count(scene, rays, &query)?;
            count[range].copy_from_slice(&found);
            Ok(found.report)
        })
    }

    fn occluded(
        &self,
        py: Python<'_>,
        rays: PyRays<'_>,
        policies: Policies,
        mut occluded: PyReadwriteArray1<'_, bool>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<ReportTuple> {
        let query = policies.query()?;
        let batch = rays.batch(&query)?;
        let occluded = output_slice(&mut occluded, "out", batch.len)?;
        self.run_chunked(py, &batch, progress.as_ref(), |scene, rays, range| {
            let bits = blocking::occluded(scene, rays, &query)?;
            for (out, word) in occluded[range].chunks_mut(32).zip(&bits.words) {
                (0..).zip(out).for_each(|(bit, out)| *out = word >> bit & 1 == 1);
            }
            Ok(bits.report)
        })
    }

    /// For points, 3 numbers each: counts the spheres that contain them, and finds the lowest id.
    #[expect(clippy::too_many_arguments, reason = "an array for each column of the question and of the answer")]
    fn contains(
        &self,
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
        let scene = self.current_for(points.len())?;
        let (masks, skip_ids) = (slice(&masks, "masks", points.len())?, slice(&skip_ids, "skip_ids", points.len())?);
        let times = slice(&times, "times", points.len())?;
        let (count, id) =
            (output_slice(&mut count, "count", points.len())?, output_slice(&mut id, "id", points.len())?);
        interruptible(py, points.len(), progress.as_ref(), |token: &CancelToken| {
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
                let found = blocking::contains(&scene, part, &query)?;
                report = report + found.report;
                for (i, record) in range.zip(&found.records) {
                    (count[i], id[i]) = (record.count, record.id);
                }
            }
            Ok(report_tuple(report, Rounding::default()))
        })
    }
}
