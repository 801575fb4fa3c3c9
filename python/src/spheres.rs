//! Conversion of arrays of spheres and ellipsoids to the library's types.

use std::sync::Arc;

use bytemuck::try_cast_slice;
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use umbracast::glam::{Quat, Vec3};
use umbracast::{Ellipsoid, Ellipsoids, Sphere, Spheres};
use umbracast::{Error, Result};

use crate::input::{slice, try_with_capacity};

/// Semi-axes and rotation (w, x, y, z) of an ellipsoid.
pub(crate) type Shape = [f32; 7];

/// `umbracast._input.Spheres`: spheres or ellipsoids with their optional columns.
#[derive(FromPyObject)]
pub(crate) struct PySpheres<'py> {
    /// 4 numbers per sphere; or 6 per ellipsoid, centre and semi-axes; or 3, the new centre of an ellipsoid that keeps its shape.
    records: PyReadonlyArray2<'py, f32>,
    rotations: Option<PyReadonlyArray2<'py, f32>>,
    masks: Option<PyReadonlyArray1<'py, u32>>,
    velocities: Option<PyReadonlyArray2<'py, f32>>,
    transmittances: Option<PyReadonlyArray1<'py, f32>>,
}

/// A view of [`PySpheres`] that does not need the GIL.
pub(crate) struct SphereView<'a> {
    records: Records<'a>,
    masks: Option<&'a [u32]>,
    velocities: Option<&'a [Vec3]>,
    transmittances: Option<&'a [f32]>,
}

enum Records<'a> {
    Spheres(&'a [Sphere]),
    Ellipsoids(&'a [[f32; 6]], Option<&'a [[f32; 4]]>),
    Centers(&'a [[f32; 3]]),
}

impl PySpheres<'_> {
    pub(crate) fn view(&self) -> PyResult<SphereView<'_>> {
        let len = self.records.shape()[0];
        let wrong_rows = |name, count: usize| {
            PyValueError::new_err(format!("{name} has {count} rows, but there are {len} ellipsoids"))
        };
        let numbers = self.records.as_slice()?;
        let rotations = match &self.rotations {
            Some(rotations) if rotations.shape() != [len, 4] => {
                return Err(wrong_rows("rotations", rotations.shape()[0]));
            }
            Some(rotations) => Some(bytemuck::cast_slice(rotations.as_slice()?)),
            None => None,
        };
        let records = match self.records.shape()[1] {
            3 => try_cast_slice(numbers).map(Records::Centers),
            6 => try_cast_slice(numbers).map(|records| Records::Ellipsoids(records, rotations)),
            _ => try_cast_slice(numbers).map(Records::Spheres),
        };
        let records = records.map_err(|_| PyValueError::new_err("spheres must have 4 columns, ellipsoids 6"))?;
        let velocities = match &self.velocities {
            Some(velocities) => Some(
                try_cast_slice(velocities.as_slice()?)
                    .map_err(|_| PyValueError::new_err("velocities must have 3 columns"))?,
            ),
            None => None,
        };
        Ok(SphereView {
            records,
            masks: slice(&self.masks, "masks", len)?,
            velocities,
            transmittances: slice(&self.transmittances, "transmittances", len)?,
        })
    }
}

impl SphereView<'_> {
    /// Returns the number of spheres or ellipsoids.
    pub(crate) fn len(&self) -> usize {
        match self.records {
            Records::Spheres(spheres) => spheres.len(),
            Records::Ellipsoids(ellipsoids, _) => ellipsoids.len(),
            Records::Centers(centers) => centers.len(),
        }
    }

    /// Returns the transmittances, or those of the scene to update, `before`, if none are given.
    pub(crate) fn transmittances(&self, before: Option<&Arc<Vec<f32>>>) -> Result<Option<Arc<Vec<f32>>>> {
        let Some(given) = self.transmittances else { return Ok(before.cloned()) };
        let mut own = try_with_capacity(given.len())?;
        own.extend_from_slice(given);
        Ok(Some(Arc::new(own)))
    }

    /// Returns the shapes of ellipsoids, or `None` for spheres. `before` are the shapes of the scene to update.
    pub(crate) fn shapes(&self, before: Option<&Arc<Vec<Shape>>>) -> Result<Option<Arc<Vec<Shape>>>> {
        match (&self.records, before) {
            (Records::Ellipsoids(records, rotations), _) => {
                let mut shapes = try_with_capacity(records.len())?;
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
            (Records::Centers(_), None) => Err(Error::InvalidArgument("spheres must have 4 columns: centre and radius".into())),
            // The library would give them the previous shapes, which a caller who passes spheres does not mean.
            (Records::Spheres(_), Some(_)) => Err(Error::InvalidArgument(
                "this scene contains ellipsoids: pass centres (N, 3), which keep their shapes, or centres and semi_axes (N, 3)"
                    .into(),
            )),
            (Records::Spheres(_), None) => Ok(None),
        }
    }

    /// Calls `take` with the library's type.
    pub(crate) fn with<T>(
        &self,
        shapes: Option<&Arc<Vec<Shape>>>,
        take: impl FnOnce(Spheres<'_>) -> Result<T>,
    ) -> Result<T> {
        let centers: Box<dyn Iterator<Item = [f32; 3]>> = match self.records {
            Records::Spheres(spheres) => return take(self.attributes(Spheres::from(spheres))),
            Records::Ellipsoids(records, _) => Box::new(records.iter().map(|&[x, y, z, ..]| [x, y, z])),
            Records::Centers(centers) => Box::new(centers.iter().copied()),
        };
        let shapes = shapes.map_or(&[][..], |shapes| shapes);
        let one = |(center, &[x, y, z, qw, qx, qy, qz]): ([f32; 3], &Shape)| {
            Ellipsoid::new(center, [x, y, z]).turned(Quat::from_xyzw(qx, qy, qz, qw))
        };
        take(self.attributes(Spheres::from(&Ellipsoids::new(centers.zip(shapes).map(one)))))
    }

    fn attributes<'a>(&'a self, mut spheres: Spheres<'a>) -> Spheres<'a> {
        if let Some(masks) = self.masks {
            spheres = spheres.masks(masks);
        }
        if let Some(velocities) = self.velocities {
            spheres = spheres.velocities(velocities);
        }
        if let Some(transmittances) = self.transmittances {
            spheres = spheres.transmittances(transmittances);
        }
        spheres
    }
}
