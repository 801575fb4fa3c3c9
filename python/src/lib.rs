//! The extension module of the Python package: it borrows arrays and runs queries. The public classes and functions, with their docstrings,
//! are in `umbracast/*.py`.

mod device;
mod exceptions;
mod gil;
mod hit_lists;
mod input;
mod pictures;
mod policies;
mod queries;
mod raygen;
mod scene;
mod sky;
mod spheres;

/// Private to the package; its names may change.
#[pyo3::pymodule]
mod _umbracast {
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::limit_memory()
    }

    #[pymodule_export]
    use super::device::{Device, devices};
    #[pymodule_export]
    use super::hit_lists::{attributes, bullets, lists};
    #[pymodule_export]
    use super::input::{choose_origin, round_records};
    #[pymodule_export]
    use super::pictures::{render, shadow};
    #[pymodule_export]
    use super::queries::{cast, contains};
    #[pymodule_export]
    use super::raygen::{camera_rays, lidar_rays, point_rays};
    #[pymodule_export]
    use super::scene::Scene;
    #[pymodule_export]
    use super::sky::Sky;
}

/// Obeys the environment variable `UMBRACAST_MEMORY`, which replaces what the system reports as available memory.
fn limit_memory() -> pyo3::PyResult<()> {
    let Some(value) = std::env::var_os("UMBRACAST_MEMORY").filter(|value| !value.is_empty()) else { return Ok(()) };
    let bytes = value.to_str().and_then(|text| text.parse().ok()).ok_or_else(|| {
        let shown = value.to_string_lossy();
        pyo3::exceptions::PyValueError::new_err(format!("UMBRACAST_MEMORY is '{shown}': expected a number of bytes"))
    })?;
    umbracast::memory::set_limit(bytes);
    Ok(())
}
