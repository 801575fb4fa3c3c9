//! The class `Device`, which scenes share, and the list of devices.

use std::mem::ManuallyDrop;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use umbracast::{DeviceOptions, Limits};

use crate::exceptions::exception;
use crate::gil::{is_forked, run_detached};
use crate::policies::precision;

/// An opened device.
#[pyclass(frozen, module = "umbracast._umbracast")]
pub(crate) struct Device(ManuallyDrop<umbracast::Device>);

impl Device {
    pub(crate) fn inner(&self) -> &umbracast::Device {
        &self.0
    }
}

impl Drop for Device {
    /// In a forked process nothing is released, because the drop would wait for threads that the fork lacks.
    fn drop(&mut self) {
        if !is_forked() {
            // SAFETY: the value is dropped only here, once, and is not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.0) }
        }
    }
}

#[pymethods]
impl Device {
    /// Opens the device that `choice` names, for a precision and within limits.
    #[new]
    #[pyo3(signature = (choice, precision_word, memory, patience_s))]
    fn new(
        py: Python<'_>,
        choice: Option<String>,
        precision_word: &str,
        memory: Option<u64>,
        patience_s: Option<f64>,
    ) -> PyResult<Self> {
        umbracast::memory::set_limit_from_env().map_err(|error| exception(py, error))?;
        let mut limits = Limits::default();
        if let Some(bytes) = memory {
            limits.memory = bytes;
        }
        if let Some(seconds) = patience_s {
            let patience = Duration::try_from_secs_f64(seconds)
                .map_err(|error| PyValueError::new_err(format!("patience_s is {seconds}: {error}")))?;
            limits.patience = Some(patience);
        }
        let mut options = DeviceOptions::from_env().precision(precision(precision_word)?).limits(limits);
        if let Some(choice) = choice {
            options.choice = choice;
        }
        run_detached(py, || Ok(umbracast::Device::open(&options)?)).map(|device| Self(ManuallyDrop::new(device)))
    }

    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    #[getter]
    fn kind(&self) -> &str {
        self.0.kind()
    }

    #[getter]
    fn is_cpu(&self) -> bool {
        self.0.is_cpu()
    }

    /// Estimates the bytes that a scene and a query use in addition to the caller's arrays.
    fn estimate_bytes(&self, spheres: u64, rays: u64) -> u64 {
        self.0.estimate_bytes(spheres, rays)
    }
}

/// Lists the devices, each as keyword arguments of `umbracast.DeviceInfo`.
#[pyfunction]
pub(crate) fn devices(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let list = run_detached(py, || Ok(umbracast::Device::list()))?;
    let one = |info: umbracast::DeviceInfo| {
        let about = PyDict::new(py);
        about.set_item("index", info.index)?;
        about.set_item("name", info.name)?;
        about.set_item("kind", info.kind)?;
        about.set_item("backend", info.backend)?;
        about.set_item("driver", info.driver)?;
        about.set_item("largest_binding", info.largest_binding)?;
        about.set_item("failure", info.failure.map(|error| error.to_string()))?;
        let precisions: Vec<&str> = info.precisions.iter().map(|precision| precision.word()).collect();
        about.set_item("precisions", pyo3::types::PyTuple::new(py, precisions)?)?;
        Ok(about)
    };
    list.into_iter().map(one).collect()
}
