//! Rendering of systems, and the visible fraction of a light.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::try_cast_slice;
use numpy::{PyArray1, PyReadonlyArray2, PyReadwriteArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use umbracast::glam::DVec3;
use umbracast::shadow::{Lighting, Progress, Shadow, System};
use umbracast::{CancelToken, Error};

use crate::device::Device;
use crate::gil::{interruptible, interruptible_with};
use crate::input::chunks;
use crate::queries::output_slice;

/// Path that stands for a system given as text: errors name it, and cloud files are relative to its parent, the current directory.
const TEXT: &str = "system";

type Array<'py, T> = Bound<'py, PyArray1<T>>;

/// Renders a system, given by its path or as TOML text. Returns width and height, colours, t, id, fraction, and why the CPU
/// engine rendered it instead of a GPU, if it did.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "the columns of a picture")]
#[pyo3(signature = (device, path, text, size, samples, progress))]
pub(crate) fn render<'py>(
    py: Python<'py>,
    device: &Device,
    path: Option<PathBuf>,
    text: Option<&str>,
    size: Option<[u32; 2]>,
    samples: Option<u32>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<([u32; 2], Array<'py, u8>, Array<'py, f32>, Array<'py, u32>, Array<'py, f32>, Option<String>)> {
    let device = device.inner();
    // The share of the work that is done, in thousandths; the number of pixels is not known before the system is read.
    let done = Arc::<AtomicU64>::default();
    let (share, is_reported) = (done.clone(), progress.is_some());
    let report: Progress = Arc::new(move |progress| {
        let _ = share.fetch_max((1000.0 * progress.done) as u64, Ordering::Relaxed);
    });
    let done = move |_: &CancelToken| done.load(Ordering::Relaxed);
    let (picture, colours) = interruptible_with(py, (usize::MAX, 1000), progress.as_ref(), done, |token| {
        let device = &device.with_cancel(token);
        let system = match (path, text) {
            (Some(path), _) => System::read(&path)?,
            (None, text) => System::parse(text.unwrap_or_default(), Path::new(TEXT))?,
        };
        let mut options = system.picture().clone();
        options.size = size.unwrap_or(options.size);
        options.samples = samples.unwrap_or(options.samples);
        let picture = device.render(&system.with_picture(options)?, is_reported.then_some(report))?;
        let colours = picture.srgb8();
        Ok((picture, colours))
    })?;
    let [t, fraction] = [picture.t, picture.fraction].map(|list| PyArray1::from_vec(py, list));
    let reason = picture.cpu_fallback.map(|reason| reason.to_string());
    Ok((picture.size, PyArray1::from_vec(py, colours), t, PyArray1::from_vec(py, picture.id), fraction, reason))
}

/// Computes visible fraction, kind of shadow and flux for observers, 3 numbers each. Returns whether the light has limb darkening: if not,
/// `flux` is not written.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "an array for each column of the answer")]
pub(crate) fn shadow(
    py: Python<'_>,
    device: &Device,
    observers: PyReadonlyArray2<'_, f64>,
    path: Option<PathBuf>,
    text: Option<&str>,
    mut fraction: PyReadwriteArray1<'_, f64>,
    mut kind: PyReadwriteArray1<'_, u8>,
    mut flux: PyReadwriteArray1<'_, f64>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<bool> {
    let observers: &[DVec3] =
        try_cast_slice(observers.as_slice()?).map_err(|_| PyValueError::new_err("observers must have 3 columns"))?;
    let (fraction, kind) =
        (output_slice(&mut fraction, "fraction", observers.len())?, output_slice(&mut kind, "kind", observers.len())?);
    let flux = output_slice(&mut flux, "flux", observers.len())?;
    let device = device.inner();
    interruptible(py, observers.len(), progress.as_ref(), |token| {
        let device = &device.with_cancel(token);
        let lighting = match (path, text) {
            (Some(path), _) => Lighting::read(&path)?,
            (None, text) => Lighting::parse(text.unwrap_or_default(), Path::new(TEXT))?,
        };
        let mut shadows = Vec::new();
        for range in chunks(observers.len()) {
            shadows.resize(range.len(), Shadow::default());
            let first = range.start as u64;
            device.shadows_into(&lighting, &observers[range.clone()], &mut shadows).map_err(|error| match error {
                Error::BadRecord { what, index, field, value, why } => {
                    Error::BadRecord { what, index: first + index, field, value, why }
                }
                other => other,
            })?;
            if lighting.limb_darkening().is_some() {
                let own = device.fluxes(&lighting, &observers[range.clone()], &shadows)?;
                flux[range.clone()].copy_from_slice(&own);
            }
            for (i, shadow) in range.zip(&shadows) {
                (fraction[i], kind[i]) = (shadow.fraction, shadow.kind as u8);
            }
        }
        Ok(lighting.limb_darkening().is_some())
    })
}
