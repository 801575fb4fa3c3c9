//! Scenes, and the questions with one answer a ray.

use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use bytemuck::try_cast_slice;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyReadwriteArray1, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use umbracast::glam::{Quat, Vec3};
use umbracast::{
    Answer, Approach, Ellipsoid, Ellipsoids, Error, Hit, Interval, Query, Rays, Report, Result, SceneOptions, Sphere,
    Spheres, Watch, blocking,
};

use crate::arrays::{Given, Rounding, pieces, room, slice};
use crate::device::Device;
use crate::policies::{Policies, builder};
use crate::work::{brief, is_forked, watched};

/// How it went, for `umbracast.Report`: rays, hits, skipped, beyond, judged, seconds, rounded, largest rounding.
pub(crate) type Told = (u64, u64, u64, u64, u64, f64, u64, f64);

pub(crate) fn told(report: Report, rounding: Rounding) -> Told {
    let Report { rays, hits, skipped, beyond, judged, seconds, .. } = report;
    (rays, hits, skipped, beyond, judged, seconds, rounding.changed, rounding.largest)
}

/// The semi-axes of an ellipsoid and its rotation, w, x, y, z.
type Shape = [f32; 7];

/// A scene, and what it holds if not spheres: the library keeps what follows from shapes, and those are asked back for.
#[derive(Clone)]
struct Held {
    scene: umbracast::Scene,
    shapes: Option<Arc<Vec<Shape>>>,
}

/// Spheres on a device. Queries under way keep those that they began with.
#[pyclass(frozen, module = "umbracast._umbracast")]
pub(crate) struct Scene {
    held: ManuallyDrop<RwLock<Held>>,
    /// Held by whoever makes the next spheres.
    updating: Mutex<()>,
    pairwise: bool,
}

impl Drop for Scene {
    /// As for [`Device`].
    fn drop(&mut self) {
        if !is_forked() {
            // SAFETY: it is dropped once, here, and nothing uses it afterwards.
            unsafe { ManuallyDrop::drop(&mut self.held) }
        }
    }
}

impl Scene {
    /// The scene as it is now; clones share its spheres.
    pub(crate) fn now(&self) -> umbracast::Scene {
        self.held().scene
    }

    fn held(&self) -> Held {
        self.held.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn put(&self, held: Held) {
        *self.held.write().unwrap_or_else(PoisonError::into_inner) = held;
    }

    /// The present scene, once it is known to fit: a piece of the rays would not notice.
    pub(crate) fn for_rays(&self, rays: usize) -> PyResult<umbracast::Scene> {
        let scene = self.now();
        if self.pairwise && rays != scene.len() {
            let spheres = scene.len();
            return Err(PyValueError::new_err(format!(
                "{rays} rays and {spheres} spheres: there must be as many of one as of the other in a pairwise scene"
            )));
        }
        Ok(scene)
    }

    /// One record a ray: `ask` answers a piece, `put` takes its records and where they begin.
    fn each<T: Send>(
        &self,
        py: Python<'_>,
        given: &Given<'_>,
        policies: &Policies,
        progress: Option<&Bound<'_, PyAny>>,
        ask: impl Fn(&umbracast::Scene, Rays<'_>, &Query) -> Result<Answer<T>> + Sync,
        mut put: impl FnMut(usize, &[T]) + Send,
    ) -> PyResult<Told> {
        let query = policies.query()?;
        let batch = given.batch(&query)?;
        let scene = self.for_rays(batch.len)?;
        watched(py, batch.len, progress, |watch| {
            let scene = scene.watched(watch);
            let mut report = Report::default();
            let rounding = batch.each_piece(|rays, range| {
                let answer = ask(&scene, rays, &query)?;
                report = report + answer.report;
                put(range.start, &answer.records);
                Ok(())
            })?;
            Ok(told(report, rounding))
        })
    }
}

/// Where an answer goes: an array as long as there are rays.
pub(crate) fn room_for<'a, T: numpy::Element>(
    out: &'a mut PyReadwriteArray1<'_, T>,
    name: &str,
    rays: usize,
) -> PyResult<&'a mut [T]> {
    let out = out.as_slice_mut()?;
    if out.len() != rays {
        return Err(PyValueError::new_err(format!("{name} has room for {}, and there are {rays}", out.len())));
    }
    Ok(out)
}

/// Spheres or ellipsoids, and their columns.
#[derive(FromPyObject)]
pub(crate) struct GivenSpheres<'py> {
    /// 4 numbers a sphere; 6 an ellipsoid, centre and semi-axes; or 3, the centre of one that keeps its shape.
    records: PyReadonlyArray2<'py, f32>,
    rotations: Option<PyReadonlyArray2<'py, f32>>,
    masks: Option<PyReadonlyArray1<'py, u32>>,
    velocities: Option<PyReadonlyArray2<'py, f32>>,
}

/// The same without the interpreter.
struct Parts<'a> {
    records: Records<'a>,
    masks: Option<&'a [u32]>,
    velocities: Option<&'a [Vec3]>,
}

enum Records<'a> {
    Spheres(&'a [Sphere]),
    Ellipsoids(&'a [[f32; 6]], Option<&'a [[f32; 4]]>),
    Centers(&'a [[f32; 3]]),
}

impl GivenSpheres<'_> {
    fn parts(&self) -> PyResult<Parts<'_>> {
        let len = self.records.shape()[0];
        let few = |name, count: usize| PyValueError::new_err(format!("{count} {name} for {len} spheres"));
        let numbers = self.records.as_slice()?;
        let rotations = match &self.rotations {
            Some(turned) if turned.shape() != [len, 4] => return Err(few("rotations", turned.shape()[0])),
            Some(turned) => Some(bytemuck::cast_slice(turned.as_slice()?)),
            None => None,
        };
        let records = match self.records.shape()[1] {
            3 => try_cast_slice(numbers).map(Records::Centers),
            6 => try_cast_slice(numbers).map(|records| Records::Ellipsoids(records, rotations)),
            _ => try_cast_slice(numbers).map(Records::Spheres),
        };
        let records = records.map_err(|_| PyValueError::new_err("spheres have 4 columns, ellipsoids 6"))?;
        let velocities = match &self.velocities {
            Some(velocities) => Some(
                try_cast_slice(velocities.as_slice()?)
                    .map_err(|_| PyValueError::new_err("velocities have 3 columns"))?,
            ),
            None => None,
        };
        Ok(Parts { records, masks: slice(&self.masks, "masks", len)?, velocities })
    }
}

impl Parts<'_> {
    /// Shapes as they will be, where there are any. `before` are those of the scene that is to be updated.
    fn shapes(&self, before: Option<&Arc<Vec<Shape>>>) -> Result<Option<Arc<Vec<Shape>>>> {
        match (&self.records, before) {
            (Records::Ellipsoids(records, rotations), _) => {
                let mut shapes = room(records.len())?;
                for (i, &[_, _, _, x, y, z]) in records.iter().enumerate() {
                    let [qw, qx, qy, qz] = rotations.map_or([1.0, 0.0, 0.0, 0.0], |all| all[i]);
                    shapes.push([x, y, z, qw, qx, qy, qz]);
                }
                Ok(Some(Arc::new(shapes)))
            }
            (Records::Centers(centers), Some(shapes)) if centers.len() == shapes.len() => Ok(Some(shapes.clone())),
            (Records::Centers(centers), Some(shapes)) => {
                let (left, right) = (centers.len() as u64, shapes.len() as u64);
                Err(Error::LengthsDiffer { left_name: "centres", left, right_name: "ellipsoids in the scene", right })
            }
            (Records::Centers(_), None) => Err(Error::Usage("spheres need a radius each: 4 columns".into())),
            // The library would stretch them as those before were; of a ball, that is not what somebody means.
            (Records::Spheres(_), Some(_)) => Err(Error::Usage(
                "this scene holds ellipsoids: give centres (N, 3), which keep their shapes, or radii (N, 3) beside them"
                    .into(),
            )),
            (Records::Spheres(_), None) => Ok(None),
        }
    }

    /// Hands them on as the library takes them.
    fn with<T>(&self, shapes: Option<&Arc<Vec<Shape>>>, take: impl FnOnce(Spheres<'_>) -> Result<T>) -> Result<T> {
        let centers: Box<dyn Iterator<Item = [f32; 3]>> = match self.records {
            Records::Spheres(spheres) => return take(self.beside(Spheres::from(spheres))),
            Records::Ellipsoids(records, _) => Box::new(records.iter().map(|&[x, y, z, ..]| [x, y, z])),
            Records::Centers(centers) => Box::new(centers.iter().copied()),
        };
        let shapes = shapes.map_or(&[][..], |shapes| shapes);
        let one = |(center, &[x, y, z, qw, qx, qy, qz]): ([f32; 3], &Shape)| {
            Ellipsoid::new(center, [x, y, z]).turned(Quat::from_xyzw(qx, qy, qz, qw))
        };
        take(self.beside(Spheres::from(&Ellipsoids::new(centers.zip(shapes).map(one)))))
    }

    fn beside<'a>(&'a self, mut spheres: Spheres<'a>) -> Spheres<'a> {
        if let Some(masks) = self.masks {
            spheres = spheres.masks(masks);
        }
        if let Some(velocities) = self.velocities {
            spheres = spheres.velocities(velocities);
        }
        spheres
    }
}

#[pymethods]
impl Scene {
    #[new]
    #[pyo3(signature = (device, spheres, builder_word, time_range, pairwise))]
    fn new(
        py: Python<'_>,
        device: &Device,
        spheres: GivenSpheres<'_>,
        builder_word: &str,
        time_range: [f32; 2],
        pairwise: bool,
    ) -> PyResult<Self> {
        let options = SceneOptions::default().built_by(builder(builder_word)?).over(time_range);
        let (device, parts) = (device.inner(), spheres.parts()?);
        let held = brief(py, || {
            let shapes = parts.shapes(None)?;
            let scene = parts.with(shapes.as_ref(), |spheres| match pairwise {
                true => blocking::pairwise_with(device, spheres, &options),
                false => blocking::scene(device, spheres, &options),
            })?;
            Ok(Held { scene, shapes })
        })?;
        Ok(Self { held: ManuallyDrop::new(RwLock::new(held)), updating: Mutex::new(()), pairwise })
    }

    fn __len__(&self) -> usize {
        self.now().len()
    }

    /// The numbers of the spheres, 4 each; their masks; their velocities, 3 numbers each; of ellipsoids, 7 numbers each.
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
        let Held { scene, shapes } = self.held();
        (
            PyArray1::from_slice(py, bytemuck::cast_slice(scene.spheres())),
            scene.masks().map(|masks| PyArray1::from_slice(py, masks)),
            scene.velocities().map(|velocities| PyArray1::from_slice(py, bytemuck::cast_slice(velocities))),
            shapes.map(|shapes| PyArray1::from_slice(py, bytemuck::cast_slice(&shapes))),
        )
    }

    /// Whether these are ellipsoids.
    fn stretched(&self) -> bool {
        self.held().shapes.is_some()
    }

    /// Puts other spheres in the place of these: (quality loss, whether to rebuild).
    fn update(&self, py: Python<'_>, spheres: GivenSpheres<'_>) -> PyResult<(f32, bool)> {
        let parts = spheres.parts()?;
        let update = brief(py, || {
            let _alone = self.updating.lock().unwrap_or_else(PoisonError::into_inner);
            let Held { mut scene, shapes } = self.held();
            let shapes = parts.shapes(shapes.as_ref())?;
            let update = parts.with(shapes.as_ref(), |spheres| blocking::update(&mut scene, spheres))?;
            self.put(Held { scene, shapes });
            Ok(update)
        })?;
        Ok((update.quality_loss, update.rebuild_suggested))
    }

    /// Builds the tree anew.
    fn rebuild(&self, py: Python<'_>) -> PyResult<()> {
        brief(py, || {
            let _alone = self.updating.lock().unwrap_or_else(PoisonError::into_inner);
            let mut held = self.held();
            blocking::rebuild(&mut held.scene)?;
            self.put(held);
            Ok(())
        })
    }

    fn closest(
        &self,
        py: Python<'_>,
        rays: Given<'_>,
        policies: Policies,
        mut t: PyReadwriteArray1<'_, f32>,
        mut id: PyReadwriteArray1<'_, u32>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Told> {
        let query = policies.query()?;
        let batch = rays.batch(&query)?;
        let scene = self.for_rays(batch.len)?;
        let (t, id) = (room_for(&mut t, "t", batch.len)?, room_for(&mut id, "id", batch.len)?);
        watched(py, batch.len, progress.as_ref(), |watch| {
            let scene = scene.watched(watch);
            let mut report = Report::default();
            // The same memory for every piece.
            let mut hits = crate::arrays::room(batch.len.min(crate::arrays::PIECE))?;
            let rounding = batch.each_piece(|rays, range| {
                hits.resize(range.len(), Hit::MISS);
                report = report + blocking::closest_into(&scene, rays, &mut hits, &query)?;
                let places = t[range.clone()].iter_mut().zip(&mut id[range]);
                places.zip(&hits).for_each(|((t, id), hit)| (*t, *id) = (hit.t, hit.id));
                Ok(())
            })?;
            Ok(told(report, rounding))
        })
    }

    #[expect(clippy::too_many_arguments, reason = "an array for each column of the answer")]
    fn interval(
        &self,
        py: Python<'_>,
        rays: Given<'_>,
        policies: Policies,
        mut t_enter: PyReadwriteArray1<'_, f32>,
        mut t_exit: PyReadwriteArray1<'_, f32>,
        mut id: PyReadwriteArray1<'_, u32>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Told> {
        let len = rays.batch(&policies.query()?)?.len;
        let (enter, exit) = (room_for(&mut t_enter, "t_enter", len)?, room_for(&mut t_exit, "t_exit", len)?);
        let id = room_for(&mut id, "id", len)?;
        self.each(
            py,
            &rays,
            &policies,
            progress.as_ref(),
            |s, r, q| blocking::interval(s, r, q),
            |first, records: &[Interval]| {
                for (i, record) in (first..).zip(records) {
                    (enter[i], exit[i], id[i]) = (record.t_enter, record.t_exit, record.id);
                }
            },
        )
    }

    #[expect(clippy::too_many_arguments, reason = "an array for each column of the answer")]
    fn approach(
        &self,
        py: Python<'_>,
        rays: Given<'_>,
        policies: Policies,
        mut t: PyReadwriteArray1<'_, f32>,
        mut clearance: PyReadwriteArray1<'_, f32>,
        mut id: PyReadwriteArray1<'_, u32>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Told> {
        let len = rays.batch(&policies.query()?)?.len;
        let (t, clearance) = (room_for(&mut t, "t", len)?, room_for(&mut clearance, "clearance", len)?);
        let id = room_for(&mut id, "id", len)?;
        self.each(
            py,
            &rays,
            &policies,
            progress.as_ref(),
            |s, r, q| blocking::approach(s, r, q),
            |first, records: &[Approach]| {
                for (i, record) in (first..).zip(records) {
                    (t[i], clearance[i], id[i]) = (record.t, record.clearance, record.id);
                }
            },
        )
    }

    fn count(
        &self,
        py: Python<'_>,
        rays: Given<'_>,
        policies: Policies,
        mut count: PyReadwriteArray1<'_, u32>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Told> {
        let len = rays.batch(&policies.query()?)?.len;
        let count = room_for(&mut count, "out", len)?;
        self.each(
            py,
            &rays,
            &policies,
            progress.as_ref(),
            |s, r, q| blocking::count(s, r, q),
            |first, records: &[u32]| {
                count[first..first + records.len()].copy_from_slice(records);
            },
        )
    }

    fn occluded(
        &self,
        py: Python<'_>,
        rays: Given<'_>,
        policies: Policies,
        mut occluded: PyReadwriteArray1<'_, bool>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Told> {
        let query = policies.query()?;
        let batch = rays.batch(&query)?;
        let scene = self.for_rays(batch.len)?;
        let occluded = room_for(&mut occluded, "out", batch.len)?;
        watched(py, batch.len, progress.as_ref(), |watch| {
            let scene = scene.watched(watch);
            let mut report = Report::default();
            let rounding = batch.each_piece(|rays, range| {
                let bits = blocking::occluded(&scene, rays, &query)?;
                report = report + bits.report;
                for (out, word) in occluded[range].chunks_mut(32).zip(&bits.words) {
                    (0..).zip(out).for_each(|(bit, out)| *out = word >> bit & 1 == 1);
                }
                Ok(())
            })?;
            Ok(told(report, rounding))
        })
    }

    /// For points, 3 numbers each: how many spheres hold them, and the lowest id.
    #[expect(clippy::too_many_arguments, reason = "an array for each column of the question and of the answer")]
    fn contains(
        &self,
        py: Python<'_>,
        points: PyReadonlyArray2<'_, f32>,
        masks: Option<PyReadonlyArray1<'_, u32>>,
        skip_ids: Option<PyReadonlyArray1<'_, u32>>,
        policies: Policies,
        mut count: PyReadwriteArray1<'_, u32>,
        mut id: PyReadwriteArray1<'_, u32>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Told> {
        let query = policies.query()?;
        let points: &[[f32; 3]] =
            try_cast_slice(points.as_slice()?).map_err(|_| PyValueError::new_err("points have 3 columns"))?;
        let scene = self.for_rays(points.len())?;
        let (masks, skip_ids) = (slice(&masks, "masks", points.len())?, slice(&skip_ids, "skip_ids", points.len())?);
        let (count, id) = (room_for(&mut count, "count", points.len())?, room_for(&mut id, "id", points.len())?);
        watched(py, points.len(), progress.as_ref(), |watch: &Watch| {
            let scene = scene.watched(watch);
            let mut report = Report::default();
            for range in pieces(points.len()) {
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
                let found = blocking::contains(&scene, part, &query)?;
                report = report + found.report;
                for (i, record) in range.zip(&found.records) {
                    (count[i], id[i]) = (record.count, record.id);
                }
            }
            Ok(told(report, Rounding::default()))
        })
    }
}
