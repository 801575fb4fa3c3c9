//! The compiled half of the Python package: it borrows arrays and casts. What people call, and what they read, is in `umbracast/*.py`.

mod arrays;
mod device;
mod failure;
mod lists;
mod pictures;
mod policies;
mod scene;
mod spheres;
mod work;

/// Used by the package alone; its names may change.
#[pyo3::pymodule]
mod _umbracast {
    #[pymodule_export]
    use super::arrays::rounded;
    #[pymodule_export]
    use super::device::{Device, devices};
    #[pymodule_export]
    use super::lists::{attributes, bullets, lists};
    #[pymodule_export]
    use super::pictures::{render, shadow};
    #[pymodule_export]
    use super::scene::Scene;
}
