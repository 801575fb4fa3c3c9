//! Rays from points, sensors and cameras, made by the library's own generators: the same bytes as on the command line.

use bytemuck::try_cast_slice;
use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use umbracast::Rays;
use umbracast::Result;
use umbracast::glam::{DQuat, DVec3};
use umbracast::raygen::{Image, Lidar, Parallel, Pose, Toward};
use umbracast::shadow::{Camera, Lens};

use crate::exceptions::exception;

type Array<'py> = Bound<'py, PyArray1<f32>>;

/// The rays as rows of origin, direction, `t_min` and `t_max`.
fn rows<'py>(py: Python<'py>, rays: Rays<'_>) -> Array<'py> {
    let mut numbers = Vec::with_capacity(8 * rays.len());
    for ray in (0..rays.len()).filter_map(|i| rays.ray(i)) {
        numbers.extend(ray.origin.to_array());
        numbers.extend(ray.direction.to_array());
        numbers.extend([ray.t_min, ray.t_max]);
    }
    PyArray1::from_vec(py, numbers)
}

fn checked<T>(py: Python<'_>, made: Result<T>) -> PyResult<T> {
    made.map_err(|error| exception(py, error))
}

/// One ray per point: towards a target, which may have a radius, or along a direction.
#[pyfunction]
pub(crate) fn point_rays<'py>(
    py: Python<'py>,
    points: PyReadonlyArray2<'_, f32>,
    toward: [f32; 3],
    radius: Option<f32>,
) -> PyResult<Array<'py>> {
    let points: &[[f32; 3]] =
        try_cast_slice(points.as_slice()?).map_err(|_| PyValueError::new_err("points must have 3 columns"))?;
    Ok(match radius {
        Some(radius) => rows(py, (&Toward { points, target: toward, radius }).into()),
        None => rows(py, (&Parallel { points, direction: toward }).into()),
    })
}

/// The rays of a sensor, ordered by pose, elevation and azimuth, and a warning about its poses. A pose is x, y, z and a quaternion w, x,
/// y, z.
#[pyfunction]
pub(crate) fn lidar_rays<'py>(
    py: Python<'py>,
    poses: Vec<[f64; 7]>,
    elevations_deg: Vec<f64>,
    azimuths_deg: Vec<f64>,
    range: [f32; 2],
) -> PyResult<(Array<'py>, Option<String>)> {
    let pose = |[x, y, z, qw, qx, qy, qz]: [f64; 7]| Pose {
        position: DVec3::new(x, y, z),
        rotation: DQuat::from_xyzw(qx, qy, qz, qw),
    };
    let poses: Vec<Pose> = poses.into_iter().map(pose).collect();
    for (index, pose) in (0..).zip(&poses) {
        checked(py, pose.check(index))?;
    }
    let sensor = Lidar::new(&poses, &elevations_deg, &azimuths_deg);
    let sensor = checked(py, sensor.and_then(|sensor| sensor.within(range[0], range[1])))?;
    Ok((rows(py, (&sensor).into()), sensor.warning()))
}

/// The rays of a camera's picture, row by row from the upper left. `lens` is the field of view in degrees, or with `orthographic` the
/// width.
#[pyfunction]
pub(crate) fn camera_rays<'py>(
    py: Python<'py>,
    position: [f64; 3],
    target: [f64; 3],
    up: [f64; 3],
    lens: f64,
    orthographic: bool,
    size: [u32; 2],
) -> PyResult<Array<'py>> {
    let [position, target, up] = [position, target, up].map(DVec3::from);
    let lens =
        if orthographic { Lens::Orthographic { width: lens } } else { Lens::Perspective { field_of_view_deg: lens } };
    let image = checked(py, Image::new(&Camera { position, target, up, lens }, size))?;
    Ok(rows(py, (&image).into()))
}
