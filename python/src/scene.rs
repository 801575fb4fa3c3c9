//! The class `Scene`: spheres on a device, their updates, and the loop over chunks of rays.

use std::mem::ManuallyDrop;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use umbracast::Result;
use umbracast::glam::{DVec3, Quat};
use umbracast::{Ellipsoid, Ellipsoids, NO_SPHERE, Rays, Report, SceneOptions, Sphere, Spheres};
use umbracast_files::{
    ExtraColumns, Heights, LeftOut, Models, OriginFinder, ReadOptions, UnknownAtoms, origin_of_spheres,
    read_spheres_with,
};

use crate::device::Device;
use crate::gil::{interruptible, is_forked, run_detached};
use crate::input::{RayBatch, RoundingTuple, positions, rounding_tuple};
use crate::spheres::{PySpheres, Shape};

/// Fields of `umbracast.Report`: rays, rays hit, skipped, overflowed, resolved exactly, off surface, precision, seconds.
pub(crate) type ReportTuple = (u64, u64, u64, u64, u64, u64, &'static str, f64);

pub(crate) fn report_tuple(report: Report) -> ReportTuple {
    let Report { rays, rays_hit, skipped, overflowed, resolved_exactly, off_surface, precision, seconds, .. } = report;
    (rays, rays_hit, skipped, overflowed, resolved_exactly, off_surface, precision.word(), seconds)
}

/// A scene, the shapes if it contains ellipsoids, and the transmittances if it has any: of both, the library keeps only derived data, but
/// Python reads them back.
#[derive(Clone)]
struct SceneState {
    scene: umbracast::Scene,
    shapes: Option<Arc<Vec<Shape>>>,
    transmittances: Option<Arc<Vec<f32>>>,
}

/// Spheres on a device. Running queries keep the spheres that they started with.
#[pyclass(frozen, module = "umbracast._umbracast")]
pub(crate) struct Scene {
    state: ManuallyDrop<RwLock<SceneState>>,
    /// Locked while an update or rebuild prepares the next scene.
    updating: Mutex<()>,
    pairwise: bool,
    heights: Mutex<Heights>,
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
    ) -> PyResult<(ReportTuple, RoundingTuple)> {
        let scene = self.current_for(batch.len)?;
        interruptible(py, batch.len, progress, |token| {
            let scene = scene.with_cancel(token);
            let mut report = Report::default();
            let rounding = batch.for_each_chunk(|rays, range| {
                report = report + run(&scene, rays, range)?;
                Ok(())
            })?;
            Ok((report_tuple(report), rounding_tuple(&rounding)))
        })
    }
}

#[pymethods]
impl Scene {
    #[new]
    #[pyo3(signature = (device, spheres, time_range, pairwise))]
    fn new(
        py: Python<'_>,
        device: &Device,
        spheres: PySpheres<'_>,
        time_range: [f32; 2],
        pairwise: bool,
    ) -> PyResult<Self> {
        let options = SceneOptions::default().time_range(time_range);
        let (device, view) = (device.inner(), spheres.view()?);
        let state = interruptible(py, view.len(), None, |token| {
            let device = &device.with_cancel(token);
            let (shapes, transmittances) = (view.shapes(None)?, view.transmittances(None)?);
            let scene = view.with(shapes.as_ref(), |spheres| match pairwise {
                true => device.pairwise(spheres, &options),
                false => device.scene(spheres, &options),
            })?;
            Ok(SceneState { scene, shapes, transmittances })
        })?;
        let state = ManuallyDrop::new(RwLock::new(state));
        Ok(Self { state, updating: Mutex::new(()), pairwise, heights: Mutex::default() })
    }

    fn __len__(&self) -> usize {
        self.current().len()
    }

    /// Returns the spheres, 4 numbers each; the masks; the velocities, 3 numbers each; the shapes of ellipsoids, 7 numbers each; the
    /// transmittances.
    #[expect(clippy::type_complexity, reason = "five arrays that go together")]
    fn parts<'py>(
        &self,
        py: Python<'py>,
    ) -> (
        Bound<'py, PyArray1<f32>>,
        Option<Bound<'py, PyArray1<u32>>>,
        Option<Bound<'py, PyArray1<f32>>>,
        Option<Bound<'py, PyArray1<f32>>>,
        Option<Bound<'py, PyArray1<f32>>>,
    ) {
        let SceneState { scene, shapes, transmittances } = self.state();
        (
            PyArray1::from_slice(py, bytemuck::cast_slice(scene.spheres())),
            scene.masks().map(|masks| PyArray1::from_slice(py, masks)),
            scene.velocities().map(|velocities| PyArray1::from_slice(py, bytemuck::cast_slice(velocities))),
            shapes.map(|shapes| PyArray1::from_slice(py, bytemuck::cast_slice(&shapes))),
            transmittances.map(|transmittances| PyArray1::from_slice(py, &transmittances)),
        )
    }

    /// Measures how much rounding moves starts of rays relative to the nearest surface. `changes` is how much coordinates and radii of spheres
    /// were changed. Returns, if the mean is coarse, the change and the distance of the worst start, and whether another origin would help. In a
    /// scene with an origin, that must not be the same one.
    fn coarse_start(
        &self,
        starts: PyReadonlyArray2<'_, f64>,
        skip_ids: Option<Vec<u32>>,
        changes: [f64; 2],
        has_origin: bool,
    ) -> PyResult<Option<(f64, f64, bool)>> {
        let starts = positions(&starts)?;
        let mut rounding = umbracast_files::Rounding::default();
        rounding.positions.iter_mut().for_each(|moved| moved.by = changes[0]);
        rounding.radius = changes[1];
        let SceneState { scene, shapes, .. } = self.state();
        if self.pairwise || scene.velocities().is_some() {
            return Ok(None);
        }
        let mut heights = self.heights.lock().unwrap_or_else(PoisonError::into_inner);
        let start = |i: usize| {
            let (wide, narrow) = (starts[i], starts[i].as_vec3());
            let change = (narrow.as_dvec3() - wide).abs().to_array();
            Some((narrow, change, skip_ids.as_ref().map_or(NO_SPHERE, |ids| ids[i])))
        };
        match shapes {
            None => heights.add(Spheres::from(scene.spheres()), &rounding, starts.len(), start),
            Some(shapes) => {
                let one = |(ball, &[x, y, z, qw, qx, qy, qz]): (&Sphere, &Shape)| {
                    Ellipsoid::new(ball.center, [x, y, z]).turned(Quat::from_xyzw(qx, qy, qz, qw))
                };
                let ellipsoids = Ellipsoids::new(scene.spheres().iter().zip(&*shapes).map(one));
                heights.add(Spheres::from(&ellipsoids), &rounding, starts.len(), start);
            }
        }
        Ok(heights.coarse().map(|worst| {
            let better = heights.origin(scene.spheres());
            let helped = worst.radius < 0.5 * worst.change()
                && !(has_origin && better == DVec3::ZERO)
                && worst.axes().any(|axis| worst.is_helped_by(better, axis));
            (worst.change(), worst.distance, helped)
        }))
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
            let SceneState { scene, shapes, transmittances } = self.state();
            let mut scene = scene.with_cancel(token);
            let shapes = view.shapes(shapes.as_ref())?;
            let transmittances = view.transmittances(transmittances.as_ref())?;
            let update = view.with(shapes.as_ref(), |spheres| scene.update(spheres))?;
            self.set_state(SceneState { scene, shapes, transmittances });
            Ok(update)
        })?;
        Ok((update.quality_loss, update.rebuild_suggested))
    }

    /// Rebuilds the BVH.
    fn rebuild(&self, py: Python<'_>) -> PyResult<()> {
        interruptible(py, self.current().len(), None, |token| {
            let _lock = self.updating.lock().unwrap_or_else(PoisonError::into_inner);
            let SceneState { scene, shapes, transmittances } = self.state();
            let mut scene = scene.with_cancel(token);
            scene.rebuild()?;
            self.set_state(SceneState { scene, shapes, transmittances });
            Ok(())
        })
    }
}

/// Spheres of a file: the origin; spheres, 4 numbers each; the shapes of ellipsoids, 7 numbers each; masks; velocities, 3 numbers each;
/// transmittances; how rounding changed them; what was left out.
type FileSpheres<'py> = (
    [f64; 3],
    Bound<'py, PyArray1<f32>>,
    Option<Bound<'py, PyArray1<f32>>>,
    Option<Bound<'py, PyArray1<u32>>>,
    Option<Bound<'py, PyArray1<f32>>>,
    Option<Bound<'py, PyArray1<f32>>>,
    RoundingTuple,
    Vec<String>,
);

/// An origin; or starts of rays, for which it is chosen as for `--origin auto`.
#[derive(FromPyObject)]
pub(crate) enum FileOrigin<'py> {
    Starts(PyReadonlyArray2<'py, f64>),
    Point([f64; 3]),
}

/// Reads the spheres of a file. `unknown_atoms` is the radius of atoms of unknown elements.
#[pyfunction(name = "read_spheres")]
#[pyo3(signature = (path, origin, radius, unknown_atoms, all_models, ignore_extra))]
pub(crate) fn read_spheres<'py>(
    py: Python<'py>,
    path: PathBuf,
    origin: FileOrigin<'py>,
    radius: Option<f64>,
    unknown_atoms: Option<f64>,
    all_models: bool,
    ignore_extra: bool,
) -> PyResult<FileSpheres<'py>> {
    let options = ReadOptions::default()
        .sphere_radius(radius)
        .unknown_atoms(unknown_atoms.map_or(UnknownAtoms::Skip, UnknownAtoms::Radius))
        .models(if all_models { Models::All } else { Models::First })
        .extra(if ignore_extra { ExtraColumns::Ignore } else { ExtraColumns::Refuse });
    let (point, starts) = match origin {
        FileOrigin::Starts(starts) => (None, positions(&starts)?),
        FileOrigin::Point(point) => (Some(DVec3::from(point)), Vec::new()),
    };
    let (origin, table) = run_detached(py, || {
        let origin = match point {
            Some(point) => point,
            None => origin_of_spheres(&path, OriginFinder::new(&starts), &options)?,
        };
        Ok((origin, read_spheres_with(&path, origin, &options)?))
    })?;
    let (records, optional) = (&table.records, table.optional);
    let shapes = optional.stretches().then(|| {
        let ellipsoids = records.iter().enumerate().filter_map(|(i, ball)| optional.ellipsoid(i, ball));
        let one = |Ellipsoid { radii, rotation: q, .. }: Ellipsoid| [radii.x, radii.y, radii.z, q.w, q.x, q.y, q.z];
        PyArray1::from_vec(py, ellipsoids.flat_map(one).collect())
    });
    Ok((
        origin.into(),
        PyArray1::from_slice(py, bytemuck::cast_slice(records)),
        shapes,
        optional.masks.map(|masks| PyArray1::from_vec(py, masks)),
        optional.velocities.map(|list| PyArray1::from_slice(py, bytemuck::cast_slice(&list))),
        optional.transmittances.map(|list| PyArray1::from_vec(py, list)),
        rounding_tuple(&table.rounding),
        warnings_of(&table.left_out),
    ))
}

/// Describes atoms that are left out. Alternate locations are left out of most files, and are not named.
fn warnings_of(left_out: &LeftOut) -> Vec<String> {
    let mut lines = Vec::new();
    if left_out.unknown_atoms > 0 {
        let (count, first) = (left_out.unknown_atoms, &left_out.first_unknown);
        lines.push(format!(
            "left out {count} atoms of unknown element, such as {first}; unknown_atoms=RADIUS gives them a radius"
        ));
    }
    if left_out.models > 0 {
        lines.push(format!("left out {} models after the first; models='all' reads them", left_out.models));
    }
    lines
}
