//! Reading spheres and rays, writing answers: one file a format, chosen by the extension.
//!
//! | extension | spheres | rays |
//! |---|---|---|
//! | `.npy` (f4 or f8, either byte order) | (N, 4): x y z r | (M, 6): origin, direction · (M, 8): origin, direction, t_min, t_max |
//! | `.csv`, `.parquet` | columns `x,y,z,r`, or `rx,ry,rz` and optional `qw,qx,qy,qz` instead of `r`; optional `mask,vx,vy,vz` | columns `ox,oy,oz,dx,dy,dz`, optional `t_min,t_max,mask,skip_id,time,radius` |
//! | `.f32`, `.spheres`, `.rays` (raw, little-endian) | 4 × f32 | 8 × f32 in the order of [`Ray`](crate::Ray) |
//!
//! A structured `.npy`, of one dimension, has fields with the names of columns, in any order, f4, f8 or whole numbers.
//!
//! Segments are (M, 6), columns `x1,y1,z1,x2,y2,z2` or 6 × f32 (also `.segments`), with what may be beside rays.
//!
//! Points to make rays from, and observers, are (N, 3), columns `x,y,z` or 3 × f32 (also `.points`); poses of a sensor (N, 7), columns
//! `x,y,z,qw,qx,qy,qz` or 7 × f32 (also `.poses`); [bullets](crate::Bullet) (M, 7), columns `x1,y1,z1,x2,y2,z2,speed` or 7 × f32 (also
//! `.bullets`).
//!
//! Numbers become f32 by one rounding; [`Rounding`] says how many changed and by how much. What a file gets wrong is an
//! [`Error::BadFile`](crate::Error::BadFile) with the row, the field, the value and what was expected. Spheres are read whole, rays
//! in batches, so that files larger than memory work; answers go to `.npz`, `.csv` and `.parquet` as they come, and appear as whole files or
//! not at all. Pipes are read too, but for Parquet, told apart by their names' extensions or else by their first byte.
//! `.parquet` takes a build with the feature `parquet`.
//!
//! A row of text has at most 1 MiB. Devices are not read, and what a system file or a sensor file names must be a regular file.

pub(crate) mod disk_space;
pub(crate) mod errors;
pub(crate) mod format;
#[cfg(all(any(test, fuzzing), feature = "parquet"))]
pub(crate) mod fuzz;
pub(crate) mod image;
pub(crate) mod lidar_toml;
#[cfg(test)]
pub(crate) mod no_parquet_tests;
pub(crate) mod read;
pub(crate) mod schema;
pub(crate) mod system_toml;
pub(crate) mod toml_text;
pub(crate) mod write;

pub use disk_space::{check_disk, least_output};
pub use lidar_toml::SensorFile;
pub use read::observers::read_observers;
pub use read::poses::{PoseTable, read_poses};
pub use read::ray_stream::{Batched, RayBatch, RayBatches, RayFile};
pub use read::spheres::{center_of_spheres, read_spheres};
pub use schema::answer_row::{AnswerRow, Column, Number};
pub use schema::optional::Beside;
pub use schema::rounding::{Moved, Role, Rounding};
pub use schema::table::Table;
pub use write::hit_lists::ListWriter;
pub use write::records::AnswerWriter;
pub use write::target::{Ready, check_output, check_target, prepare_whole, write_whole};
