//! Input arrays: borrowed if they have the layout of the library, else gathered into records and rounded, chunk by chunk.

use std::ops::Range;

use bytemuck::Pod;
use numpy::ndarray::ArrayView1;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use umbracast::glam::{DQuat, DVec3};
use umbracast::{Error, Result};
use umbracast::{OnBad, Query, Ray, Rays, Segments};
use umbracast_files::{OriginFinder, Role, Rounding};

use crate::gil::run_detached;
use crate::policies;

/// Records per chunk. The buffers of one chunk, at most 18 MiB (for segments), are all the memory that a query uses in addition to its
/// result. The command line uses the same chunk size.
pub(crate) const CHUNK: usize = 1 << 18;

/// A column of numbers with any stride.
#[derive(FromPyObject)]
pub(crate) enum Column<'py> {
    F32(PyReadonlyArray1<'py, f32>),
    F64(PyReadonlyArray1<'py, f64>),
}

/// A view of a [`Column`] that does not need the GIL.
#[derive(Clone, Copy)]
enum View<'a> {
    F32(ArrayView1<'a, f32>),
    F64(ArrayView1<'a, f64>),
    /// A missing column: one default value for all records.
    Constant(f32),
}

impl View<'_> {
    fn len(&self) -> Option<usize> {
        match self {
            Self::F32(view) => Some(view.len()),
            Self::F64(view) => Some(view.len()),
            Self::Constant(_) => None,
        }
    }
}

/// The fields of `umbracast._rounding.Rounding`: changed, largest, position, radius, travel, field.
pub(crate) type RoundingTuple = (u64, f64, f64, f64, f64, &'static str);

pub(crate) fn rounding_tuple(rounding: &Rounding) -> RoundingTuple {
    let position = rounding.positions.iter().map(|moved| moved.by).fold(0.0, f64::max);
    let (travel, field) = rounding.travel;
    (rounding.changed, rounding.largest, position, rounding.radius, travel, field)
}

/// A kind of record: its name in errors; its fields in order; the number of leading fields that are positions, from which the origin is
/// subtracted; and the default value of a missing field.
struct RecordKind<const K: usize> {
    name: &'static str,
    fields: [&'static str; K],
    positions: usize,
    default: fn(usize) -> f32,
}

const RAYS: RecordKind<8> = RecordKind {
    name: "ray",
    fields: ["ox", "oy", "oz", "t_min", "dx", "dy", "dz", "t_max"],
    positions: 3,
    default: |field| if field == 7 { f32::INFINITY } else { 0.0 },
};

/// A kind of record whose missing fields are 0.
const fn plain<const K: usize>(name: &'static str, fields: [&'static str; K], positions: usize) -> RecordKind<K> {
    RecordKind { name, fields, positions, default: |_| 0.0 }
}

const SEGMENTS: RecordKind<6> = plain("segment", ["x1", "y1", "z1", "x2", "y2", "z2"], 6);
const SPHERES: RecordKind<4> = plain("sphere", ["x", "y", "z", "r"], 3);
const ELLIPSOIDS: RecordKind<6> = plain("ellipsoid", ["x", "y", "z", "rx", "ry", "rz"], 3);
const ROTATIONS: RecordKind<4> = plain("ellipsoid", ["qw", "qx", "qy", "qz"], 0);
const CENTERS: RecordKind<3> = plain("ellipsoid", ["x", "y", "z"], 3);
const POINTS: RecordKind<3> = plain("point", ["x", "y", "z"], 3);
const VELOCITIES: RecordKind<3> = plain("sphere", ["vx", "vy", "vz"], 0);
const BULLETS: RecordKind<7> = plain("bullet", ["x1", "y1", "z1", "x2", "y2", "z2", "speed"], 6);

/// Columns of one kind of record.
struct Columns<'a, const K: usize> {
    kind: &'static RecordKind<K>,
    views: [View<'a>; K],
    origin: [f64; 3],
    on_bad: OnBad,
}

impl<const K: usize> Columns<'_, K> {
    /// Gathers records `first..first + out.len()`. Subtracts the origin and rounds to f32.
    fn gather(&self, first: usize, out: &mut [[f32; K]], rounding: &mut Rounding) -> Result<()> {
        for (field, view) in self.views.iter().enumerate() {
            let origin = if field < self.kind.positions { self.origin[field % 3] } else { 0.0 };
            let part = numpy::ndarray::s![first..first + out.len()];
            match view {
                View::Constant(value) => out.iter_mut().for_each(|record| record[field] = *value),
                View::F32(view) if origin == 0.0 => {
                    out.iter_mut().zip(view.slice(part)).for_each(|(record, value)| record[field] = *value);
                }
                View::F32(view) => {
                    let wide = view.slice(part);
                    self.round(first, field, origin, wide.iter().map(|value| f64::from(*value)), out, rounding)?;
                }
                View::F64(view) => {
                    let wide = view.slice(part);
                    self.round(first, field, origin, wide.iter().copied(), out, rounding)?;
                }
            }
        }
        Ok(())
    }

    fn round(
        &self,
        first: usize,
        field: usize,
        origin: f64,
        numbers: impl Iterator<Item = f64>,
        out: &mut [[f32; K]],
        rounding: &mut Rounding,
    ) -> Result<()> {
        let name = self.kind.fields[field];
        let role = if field < self.kind.positions { Role::Position(field % 3) } else { Role::of_field(name) };
        for (i, (record, given)) in out.iter_mut().zip(numbers).enumerate() {
            let wide = given - origin;
            let narrow = wide as f32;
            record[field] = narrow;
            if f64::from(narrow) == wide || wide.is_nan() {
                continue;
            }
            if narrow.is_finite() {
                rounding.note(name, role, wide, narrow);
            } else if self.on_bad == OnBad::Skip {
                // An infinity would be a valid t_min or t_max, but silently differ from the given value. NaN is invalid and is skipped.
                record[field] = f32::NAN;
            } else {
                let what = if origin == 0.0 { "it" } else { &format!("the difference from {origin:?}") };
                return Err(Error::BadRecord {
                    what: self.kind.name,
                    index: (first + i) as u64,
                    field: name,
                    value: format!("{given:?}"),
                    why: format!("{what} exceeds the largest f32, 3.4e38").into(),
                });
            }
        }
        Ok(())
    }
}

/// Returns the common length of the columns of a record, and a view per field. Raises `ValueError` for a wrong number or length.
fn views<'a, const K: usize>(
    kind: &RecordKind<K>,
    columns: &'a [Option<Column<'_>>],
) -> PyResult<(usize, [View<'a>; K])> {
    if columns.len() != K {
        return Err(PyValueError::new_err(format!("{} columns given, but a {} has {K}", columns.len(), kind.name)));
    }
    let views: [View<'a>; K] = std::array::from_fn(|field| match &columns[field] {
        Some(Column::F32(array)) => View::F32(array.as_array()),
        Some(Column::F64(array)) => View::F64(array.as_array()),
        None => View::Constant((kind.default)(field)),
    });
    let mut lengths = views.iter().filter_map(View::len);
    let len = lengths.next().unwrap_or(0);
    if lengths.any(|other| other != len) {
        return Err(PyValueError::new_err(format!("the columns of a {} differ in length", kind.name)));
    }
    Ok((len, views))
}

/// The rows of an (N, 3) array.
pub(crate) fn positions(array: &PyReadonlyArray2<'_, f64>) -> PyResult<Vec<DVec3>> {
    if array.shape()[1] != 3 {
        return Err(PyValueError::new_err("positions must have 3 columns"));
    }
    Ok(array.as_array().rows().into_iter().map(|row| DVec3::new(row[0], row[1], row[2])).collect())
}

/// The origin for starts of rays and for spheres, x, y, z and radius in four columns; or for ellipsoids, x, y, z, semi-axes and rotation in ten.
#[pyfunction]
pub(crate) fn choose_origin(
    spheres: Vec<PyReadonlyArray1<'_, f64>>,
    starts: PyReadonlyArray2<'_, f64>,
) -> PyResult<[f64; 3]> {
    let mut finder = OriginFinder::new(&positions(&starts)?);
    let columns: Vec<_> = spheres.iter().map(PyReadonlyArray1::as_array).collect();
    if columns.iter().any(|column| column.len() != columns[0].len()) {
        return Err(PyValueError::new_err("the columns of spheres differ in length"));
    }
    for i in 0..columns.first().map_or(0, ArrayView1::len) {
        match columns.iter().map(|column| column[i]).collect::<Vec<_>>()[..] {
            [x, y, z, r] => finder.add(DVec3::new(x, y, z), r),
            [x, y, z, a, b, c, qw, qx, qy, qz] => {
                finder.add_ellipsoid(DVec3::new(x, y, z), DVec3::new(a, b, c), DQuat::from_xyzw(qx, qy, qz, qw));
            }
            _ => return Err(PyValueError::new_err("spheres have 4 columns, ellipsoids 10")),
        }
    }
    Ok(finder.origin().to_array())
}

/// Gathers columns into new records of the named kind. Returns their numbers, and how rounding changed them. With `on_bad` "skip" a number
/// beyond f32 becomes NaN.
#[pyfunction]
pub(crate) fn round_records<'py>(
    py: Python<'py>,
    kind: &str,
    columns: Vec<Option<Column<'py>>>,
    origin: [f64; 3],
    on_bad: &str,
) -> PyResult<(Bound<'py, PyArray1<f32>>, RoundingTuple)> {
    let on_bad = policies::on_bad(on_bad)?;
    match kind {
        "sphere" => round_columns(py, &SPHERES, &columns, origin, on_bad),
        "ellipsoid" => round_columns(py, &ELLIPSOIDS, &columns, origin, on_bad),
        "rotation" => round_columns(py, &ROTATIONS, &columns, origin, on_bad),
        "center" => round_columns(py, &CENTERS, &columns, origin, on_bad),
        "point" => round_columns(py, &POINTS, &columns, origin, on_bad),
        "velocity" => round_columns(py, &VELOCITIES, &columns, origin, on_bad),
        "bullet" => round_columns(py, &BULLETS, &columns, origin, on_bad),
        _ => Err(PyValueError::new_err(format!("unknown kind of record '{kind}'"))),
    }
}

fn round_columns<'py, const K: usize>(
    py: Python<'py>,
    kind: &'static RecordKind<K>,
    columns: &[Option<Column<'py>>],
    origin: [f64; 3],
    on_bad: OnBad,
) -> PyResult<(Bound<'py, PyArray1<f32>>, RoundingTuple)>
where
    [f32; K]: Pod,
{
    let (len, views) = views(kind, columns)?;
    let columns = Columns { kind, views, origin, on_bad };
    let mut rounding = Rounding::default();
    let mut numbers = try_with_capacity::<f32>(len * K).map_err(|error| crate::exceptions::exception(py, error))?;
    numbers.resize(len * K, 0.0);
    run_detached(py, || Ok(columns.gather(0, bytemuck::cast_slice_mut(&mut numbers), &mut rounding)?))?;
    Ok((PyArray1::from_vec(py, numbers), rounding_tuple(&rounding)))
}

/// Returns an empty list with the given capacity, with an error if the allocation fails.
pub(crate) fn try_with_capacity<T>(count: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(count)
        .map_err(|e| Error::OutOfMemory { device: "this machine".into(), message: e.to_string() })?;
    Ok(list)
}

/// `umbracast._input.Batch`: rays or segments with their optional columns.
#[derive(FromPyObject)]
pub(crate) struct PyRays<'py> {
    /// C-contiguous rays, 8 numbers each: origin, direction, t_min, t_max.
    records: Option<PyReadonlyArray2<'py, f32>>,
    /// Without `records`: 8 columns of rays, or 6 of segments.
    columns: Vec<Option<Column<'py>>>,
    origin: [f64; 3],
    masks: Option<PyReadonlyArray1<'py, u32>>,
    skip_ids: Option<PyReadonlyArray1<'py, u32>>,
    from_ids: Option<PyReadonlyArray1<'py, u32>>,
    times: Option<PyReadonlyArray1<'py, f32>>,
    ray_radius: Option<PyReadonlyArray1<'py, f32>>,
    /// Whether the caller passed an array of eight columns.
    input_order: bool,
}

enum RaySource<'a> {
    /// Rays in the caller's order: origin, direction, t_min, t_max.
    InputOrder(&'a [[f32; 8]]),
    Rays(Columns<'a, 8>),
    Segments(Columns<'a, 6>),
}

/// A view of [`PyRays`] that does not need the GIL.
pub(crate) struct RayBatch<'a> {
    pub(crate) len: usize,
    source: RaySource<'a>,
    masks: Option<&'a [u32]>,
    skip_ids: Option<&'a [u32]>,
    from_ids: Option<&'a [u32]>,
    times: Option<&'a [f32]>,
    ray_radius: Option<&'a [f32]>,
    input_order: bool,
}

impl PyRays<'_> {
    pub(crate) fn batch(&self, query: &Query) -> PyResult<RayBatch<'_>> {
        let (origin, on_bad) = (self.origin, query.on_bad);
        let (len, source) = match &self.records {
            Some(records) => {
                let rays: &[[f32; 8]] = bytemuck::try_cast_slice(records.as_slice()?)
                    .map_err(|_| PyValueError::new_err("rays must have 8 columns"))?;
                (rays.len(), RaySource::InputOrder(rays))
            }
            None if self.columns.len() == SEGMENTS.fields.len() => {
                let (len, views) = views(&SEGMENTS, &self.columns)?;
                (len, RaySource::Segments(Columns { kind: &SEGMENTS, views, origin, on_bad }))
            }
            None => {
                let (len, views) = views(&RAYS, &self.columns)?;
                (len, RaySource::Rays(Columns { kind: &RAYS, views, origin, on_bad }))
            }
        };
        Ok(RayBatch {
            len,
            source,
            masks: slice(&self.masks, "masks", len)?,
            skip_ids: slice(&self.skip_ids, "skip_ids", len)?,
            from_ids: slice(&self.from_ids, "from_ids", len)?,
            times: slice(&self.times, "times", len)?,
            ray_radius: slice(&self.ray_radius, "ray_radius", len)?,
            input_order: self.input_order,
        })
    }
}

/// Borrows a contiguous column with one element per record. Raises `ValueError` if its length is not `len`.
pub(crate) fn slice<'a, T: numpy::Element>(
    column: &'a Option<PyReadonlyArray1<'_, T>>,
    name: &str,
    len: usize,
) -> PyResult<Option<&'a [T]>> {
    let Some(column) = column else { return Ok(None) };
    let slice = column.as_slice()?;
    if slice.len() != len {
        return Err(PyValueError::new_err(format!("{name}: the length is {}, but must be {len}", slice.len())));
    }
    Ok(Some(slice))
}

/// Splits `len` records into ranges of at most [`CHUNK`].
pub(crate) fn chunks(len: usize) -> impl Iterator<Item = Range<usize>> {
    (0..len).step_by(CHUNK).map(move |start| start..len.min(start + CHUNK))
}

impl RayBatch<'_> {
    /// Calls `take` for each chunk of the rays, with its range. Returns the statistics of rounding.
    pub(crate) fn for_each_chunk(
        &self,
        mut take: impl FnMut(Rays<'_>, Range<usize>) -> Result<()>,
    ) -> Result<Rounding> {
        let mut rounding = Rounding::default();
        let mut take = |rays: Rays<'_>, range| take(rays, range).map_err(|error| self.with_column_order(error));
        match &self.source {
            RaySource::InputOrder(records) => {
                let mut rays = try_with_capacity(self.len.min(CHUNK))?;
                for range in chunks(self.len) {
                    rays.clear();
                    rays.extend(records[range.clone()].iter().map(|&[x, y, z, dx, dy, dz, t_min, t_max]| {
                        Ray::new([x, y, z], [dx, dy, dz]).between(t_min, t_max)
                    }));
                    take(self.with_attributes(Rays::from(&rays), &range), range)?;
                }
            }
            RaySource::Rays(columns) => {
                let mut numbers = try_with_capacity(self.len.min(CHUNK))?;
                for range in chunks(self.len) {
                    numbers.resize(range.len(), [0.0; 8]);
                    columns.gather(range.start, &mut numbers, &mut rounding)?;
                    let rays: &[Ray] = bytemuck::cast_slice(&numbers);
                    take(self.with_attributes(Rays::from(rays), &range), range)?;
                }
            }
            RaySource::Segments(columns) => {
                let mut numbers = try_with_capacity(self.len.min(CHUNK))?;
                for range in chunks(self.len) {
                    numbers.resize(range.len(), [0.0; 6]);
                    columns.gather(range.start, &mut numbers, &mut rounding)?;
                    let segments = Segments::new(numbers.iter().map(|&[a, b, c, x, y, z]| [[a, b, c], [x, y, z]]));
                    take(self.with_attributes(Rays::from(&segments), &range), range)?;
                }
            }
        }
        Ok(rounding)
    }

    /// Appends the order of the columns to the error for an invalid ray, since the caller may have used a different order.
    fn with_column_order(&self, error: Error) -> Error {
        match error {
            // The origin is first in every order, so an error about it cannot come from the order.
            Error::BadRecord { what: "ray", index, field, value, why }
                if self.input_order && ["dx", "dy", "dz", "direction", "t_min", "t_max"].contains(&field) =>
            {
                let why = format!("{why}; the columns are origin, direction, t_min, t_max").into();
                Error::BadRecord { what: "ray", index, field, value, why }
            }
            other => other,
        }
    }

    /// Adds the optional columns of a range to its rays.
    fn with_attributes<'a>(&'a self, rays: Rays<'a>, range: &Range<usize>) -> Rays<'a> {
        let mut rays = if range.len() < self.len { rays.numbered_from(range.start as u64) } else { rays };
        if let Some(masks) = self.masks {
            rays = rays.masks(&masks[range.clone()]);
        }
        if let Some(skip_ids) = self.skip_ids {
            rays = rays.skip_ids(&skip_ids[range.clone()]);
        }
        if let Some(from_ids) = self.from_ids {
            rays = rays.from_ids(&from_ids[range.clone()]);
        }
        if let Some(times) = self.times {
            rays = rays.times(&times[range.clone()]);
        }
        if let Some(radii) = self.ray_radius {
            rays = rays.radii(&radii[range.clone()]);
        }
        rays
    }
}
