//! The class `System`, its pictures, and the visible fraction of its light.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use umbracast_files::{PngDepth, encode_png, parse_lighting, parse_system, read_system_text, write_png};

use bytemuck::try_cast_slice;
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadwriteArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use umbracast::CancelToken;
use umbracast::Error;
use umbracast::glam::DVec3;
use umbracast::shadow::{InsideBody, Interiors, Lens, Lighting, Picture, PictureOptions, Progress, Shadow};

use crate::device::Device;
use crate::exceptions::{exception, usage};
use crate::gil::{interruptible, interruptible_with, run_detached};
use crate::input::chunks;
use crate::queries::output_slice;

type Array<'py, T> = Bound<'py, PyArray1<T>>;
/// Observers inside a body: how many; the index of the first, its body and its depth.
type Inside = (u64, usize, String, f64);

/// A system of a light and bodies.
#[pyclass(frozen, module = "umbracast._umbracast")]
pub(crate) struct System {
    text: String,
    /// The file, or `system`: errors name it, and the files that it names are relative to its folder.
    path: PathBuf,
    /// The system; `None` if it has no pictures, such as with a camera inside a body.
    drawn: Option<umbracast::shadow::System>,
    lighting: Lighting,
}

#[pymethods]
impl System {
    /// Parses a text, or a file if there is none.
    #[new]
    fn new(py: Python<'_>, text: Option<String>, path: PathBuf) -> PyResult<Self> {
        run_detached(py, || {
            let text = text.map_or_else(|| read_system_text(&path), Ok)?;
            match parse_system(&text, &path) {
                Ok(system) => Ok(Self { text, path, lighting: (&system).into(), drawn: Some(system) }),
                // Observers need no camera. An error that concerns the bodies comes again.
                Err(_) => {
                    let lighting = parse_lighting(&text, &path)?;
                    Ok(Self { text, path, lighting, drawn: None })
                }
            }
        })
    }

    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    #[getter]
    fn path(&self) -> &Path {
        &self.path
    }

    /// The contents of the file.
    fn contents<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let table: toml::Table =
            toml::from_str(&self.text).map_err(|error| PyValueError::new_err(error.to_string()))?;
        dictionary(py, &table)
    }

    /// Position, target, up, and the field of view in degrees or the width of the camera of a picture, by default of the system's size.
    #[expect(clippy::type_complexity, reason = "the columns of a camera")]
    fn camera(
        &self,
        py: Python<'_>,
        size: Option<[u32; 2]>,
    ) -> PyResult<([f64; 3], [f64; 3], [f64; 3], Option<f64>, Option<f64>)> {
        let system = self.drawn(py)?;
        let sized = sized(system, size.unwrap_or(system.picture().size)).map_err(|error| exception(py, error))?;
        let camera = sized.camera();
        let (angle, width) = match camera.lens {
            Lens::Perspective { field_of_view_deg } => (Some(field_of_view_deg), None),
            Lens::Orthographic { width } => (None, Some(width)),
        };
        Ok((camera.position.into(), camera.target.into(), camera.up.into(), angle, width))
    }

    /// Renders the system. Returns width and height, linear colours, opacity, sRGB, t, id, fraction, and why the CPU engine rendered it
    /// instead of a GPU, if it did.
    #[expect(clippy::type_complexity, reason = "the columns of a picture")]
    #[pyo3(signature = (device, size, samples, progress))]
    fn render<'py>(
        &self,
        py: Python<'py>,
        device: &Device,
        size: Option<[u32; 2]>,
        samples: Option<u32>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(
        [u32; 2],
        Array<'py, f32>,
        Array<'py, f32>,
        Array<'py, u8>,
        Array<'py, f32>,
        Array<'py, u32>,
        Array<'py, f32>,
        Option<String>,
    )> {
        let (device, system) = (device.inner(), self.drawn(py)?);
        // The share of the work that is done, in thousandths.
        let done = Arc::<AtomicU64>::default();
        let (share, is_reported) = (done.clone(), progress.is_some());
        let report: Progress = Arc::new(move |progress| {
            let _ = share.fetch_max((1000.0 * progress.done) as u64, Ordering::Relaxed);
        });
        let done = move |_: &CancelToken| done.load(Ordering::Relaxed);
        let (picture, colours) = interruptible_with(py, (usize::MAX, 1000), progress.as_ref(), done, |token| {
            let device = &device.with_cancel(token);
            let mut options = system.picture().clone();
            options.size = size.unwrap_or(options.size);
            options.samples = samples.unwrap_or(options.samples);
            let picture = device.render(&system.clone().with_picture(options)?, is_reported.then_some(report))?;
            let colours = picture.srgb8();
            Ok((picture, colours))
        })?;
        let reason = picture.cpu_fallback.map(|reason| reason.to_string());
        let [alpha, t, fraction] =
            [picture.alpha, picture.t, picture.fraction].map(|list| PyArray1::from_vec(py, list));
        Ok((
            picture.size,
            PyArray1::from_vec(py, picture.rgb.into_flattened()),
            alpha,
            PyArray1::from_vec(py, colours),
            t,
            PyArray1::from_vec(py, picture.id),
            fraction,
            reason,
        ))
    }

    /// One more channel of a picture of this system: `flux`, `normal` (3 numbers a pixel) or `view_distance`.
    fn channel<'py>(&self, py: Python<'py>, picture: PyPicture<'_>, name: &str) -> PyResult<Array<'py, f32>> {
        let (system, picture) = (self.drawn(py)?, picture.picture(py)?);
        let values = run_detached(py, || {
            let system = sized(system, picture.size)?;
            Ok(match name {
                "flux" => picture.fluxes(&system)?,
                "normal" => picture.normals(&system)?.into_flattened(),
                _ => picture.view_distances(&system)?,
            })
        })?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// Computes visible fraction, kind of shadow and flux for observers, 3 numbers each. Returns whether the light has limb darkening: if
    /// not, `flux` is not written.
    #[expect(clippy::too_many_arguments, reason = "an array for each column of the answer")]
    fn shadow(
        &self,
        py: Python<'_>,
        device: &Device,
        observers: PyReadonlyArray2<'_, f64>,
        mut fraction: PyReadwriteArray1<'_, f64>,
        mut kind: PyReadwriteArray1<'_, u8>,
        mut flux: PyReadwriteArray1<'_, f64>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(bool, Option<Inside>)> {
        let observers: &[DVec3] = try_cast_slice(observers.as_slice()?)
            .map_err(|_| PyValueError::new_err("observers must have 3 columns"))?;
        let (fraction, kind) = (
            output_slice(&mut fraction, "fraction", observers.len())?,
            output_slice(&mut kind, "kind", observers.len())?,
        );
        let flux = output_slice(&mut flux, "flux", observers.len())?;
        let (device, lighting) = (device.inner(), &self.lighting);
        interruptible(py, observers.len(), progress.as_ref(), |token| {
            let device = &device.with_cancel(token);
            let interiors = Interiors::new(lighting)?;
            let (mut shadows, mut inside, mut deep) = (Vec::new(), 0, None);
            for range in chunks(observers.len()) {
                shadows.resize(range.len(), Shadow::default());
                let first = range.start as u64;
                device.shadows_into(lighting, &observers[range.clone()], &mut shadows).map_err(
                    |error| match error {
                        Error::BadRecord { what, index, field, value, why } => {
                            Error::BadRecord { what, index: first + index, field, value, why }
                        }
                        other => other,
                    },
                )?;
                if lighting.limb_darkening().is_some() {
                    let own = device.fluxes(lighting, &observers[range.clone()], &shadows)?;
                    flux[range.clone()].copy_from_slice(&own);
                }
                let (count, at) = interiors.count(&observers[range.clone()], &shadows)?;
                inside += count;
                deep = deep.or(at.map(|at| range.start + at));
                for (i, shadow) in range.zip(&shadows) {
                    (fraction[i], kind[i]) = (shadow.fraction, shadow.kind as u8);
                }
            }
            let around = deep.and_then(|at| Some((at, interiors.around(observers[at])?)));
            let inside = around.map(|(at, InsideBody { body, depth })| (inside, at, body, depth));
            Ok((lighting.limb_darkening().is_some(), inside))
        })
    }
}

impl System {
    /// The system. Without pictures, raises the error of its camera, picture or textures.
    fn drawn(&self, py: Python<'_>) -> PyResult<&umbracast::shadow::System> {
        match &self.drawn {
            Some(system) => Ok(system),
            None => Err(parse_system(&self.text, &self.path).map_or_else(
                |error| exception(py, error),
                // A file that was missing has appeared.
                |_| exception(py, usage("the system was read without pictures: read it again")),
            )),
        }
    }
}

/// The system with pictures of another size.
fn sized(system: &umbracast::shadow::System, size: [u32; 2]) -> umbracast::Result<umbracast::shadow::System> {
    system.clone().with_picture(PictureOptions { size, ..system.picture().clone() })
}

/// The arrays of `umbracast.Picture` from which others are computed.
#[derive(FromPyObject)]
pub(crate) struct PyPicture<'py>(
    [u32; 2],
    PyReadonlyArray1<'py, f32>,
    PyReadonlyArray1<'py, f32>,
    PyReadonlyArray1<'py, f32>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, f32>,
);

impl PyPicture<'_> {
    fn picture(self, py: Python<'_>) -> PyResult<Picture> {
        let Self(size, rgb, alpha, t, id, fraction) = self;
        let rgb = rgb.as_slice()?.as_chunks().0.to_vec();
        let (alpha, t) = (alpha.to_vec()?, t.to_vec()?);
        Picture::from_arrays(size, rgb, alpha, t, id.to_vec()?, fraction.to_vec()?)
            .map_err(|error| exception(py, error))
    }
}

/// Writes a PNG with 8 or 16 bits per channel to a file, or returns its bytes.
#[pyfunction]
#[pyo3(signature = (picture, deep, path))]
pub(crate) fn save_png<'py>(
    py: Python<'py>,
    picture: PyPicture<'_>,
    deep: bool,
    path: Option<PathBuf>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (picture, bits) = (picture.picture(py)?, if deep { PngDepth::Sixteen } else { PngDepth::Eight });
    let bytes = run_detached(py, || match path {
        Some(path) => Ok(write_png(&picture, &path, bits).map(|()| Vec::new())?),
        None => Ok(encode_png(&picture, bits)?),
    })?;
    Ok(PyBytes::new(py, &bytes))
}

fn dictionary<'py>(py: Python<'py>, table: &toml::Table) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    for (key, value) in table {
        found.set_item(key, python_value(py, value)?)?;
    }
    Ok(found)
}

fn python_value<'py>(py: Python<'py>, value: &toml::Value) -> PyResult<Bound<'py, PyAny>> {
    use toml::Value;
    Ok(match value {
        Value::Boolean(value) => pyo3::types::PyBool::new(py, *value).to_owned().into_any(),
        Value::Integer(value) => value.into_pyobject(py)?.into_any(),
        Value::Float(value) => value.into_pyobject(py)?.into_any(),
        Value::String(value) => value.into_pyobject(py)?.into_any(),
        // System files have no dates.
        Value::Datetime(value) => value.to_string().into_pyobject(py)?.into_any(),
        Value::Array(list) => {
            let list = list.iter().map(|value| python_value(py, value)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, list)?.into_any()
        }
        Value::Table(table) => dictionary(py, table)?.into_any(),
    })
}
