//! The extension module of the Python package: it borrows arrays and runs queries. The public classes and functions, with their docstrings,
//! are in `umbracast/*.py`.

mod command_line;
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
mod shadow_rows;
mod sky;
mod spheres;
mod sunlight;

/// Private to the package; its names may change.
#[pyo3::pymodule]
mod _umbracast {
    #[pymodule_export]
    use super::command_line::command_line;
    #[pymodule_export]
    use super::device::{Device, devices};
    #[pymodule_export]
    use super::hit_lists::{attributes, bullets, lists};
    #[pymodule_export]
    use super::input::{choose_origin, round_records};
    #[pymodule_export]
    use super::pictures::{System, save_png};
    #[pymodule_export]
    use super::queries::{cast, contains};
    #[pymodule_export]
    use super::raygen::{camera_rays, lidar_rays, point_rays};
    #[pymodule_export]
    use super::scene::{Scene, read_spheres};
    #[pymodule_export]
    use super::shadow_rows::visible_fraction;
    #[pymodule_export]
    use super::sky::Sky;
    #[pymodule_export]
    use super::sunlight::sunlight;
}
