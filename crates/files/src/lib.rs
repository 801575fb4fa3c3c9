//! Readers of spheres and rays, writers of results: one file per format. The extension selects the format.
//!
//! | extension | spheres | rays |
//! |---|---|---|
//! | `.npy` (f4 or f8, either byte order) | (N, 4): x y z r | (M, 6): origin, direction · (M, 8): origin, direction, t_min, t_max |
//! | `.csv`, `.parquet` | columns `x,y,z,r` | columns `ox,oy,oz,dx,dy,dz` |
//! | `.f32`, `.spheres`, `.rays` (raw, little-endian) | 4 × f32 | 8 × f32: origin, direction, t_min, t_max |
//!
//! Optional columns of spheres are `mask,vx,vy,vz,transmittance`. For ellipsoids, `rx,ry,rz` and optional `qw,qx,qy,qz` replace `r`.
//! Optional columns of rays are `t_min,t_max,mask,skip_id,time,radius`.
//!
//! Names of columns may be in any order and any case, and have a unit, such as `X [m]`; `radius` is another name for `r`. Text is UTF-8, or
//! else Windows-1252, with or without a byte order mark.
//!
//! The rows of a `.ply`, text or binary, are its vertices. Properties that are no columns, such as normals and lists, and other elements,
//! such as faces, are ignored; system files also use `red,green,blue` or `element`.
//!
//! A `.xyz` or `.pdb` has atoms: spheres with their van der Waals radii. System files also take the colours of the elements. Alternate
//! locations, unknown atoms and further models are left out and counted ([`LeftOut`]). The record of an atom that is left out keeps its
//! place, with mask 0, so that ids are rows of the file.
//!
//! The path `-` is standard input or standard output. It is text with named columns, or what [`ReadOptions`] and [`StreamFormat`] say.
//!
//! A structured `.npy` is one-dimensional. Its fields have the names of the columns, in any order, and are f4, f8 or integers.
//!
//! Segments are (M, 6), columns `x1,y1,z1,x2,y2,z2` or 6 × f32 (also `.segments`), with the optional columns of rays except `t_min,t_max`.
//!
//! Points from which rays are generated, and observers, are (N, 3), columns `x,y,z` or 3 × f32 (also `.points`). Poses of a sensor are (N,
//! 7), columns `x,y,z,qw,qx,qy,qz` or 7 × f32 (also `.poses`). [Bullets](umbracast::Bullet) are (M, 7), columns `x1,y1,z1,x2,y2,z2,speed`
//! or 7 × f32 (also `.bullets`). [Trajectories](read_trajectories) are (M, 4) or (M, 7) in f64, or an `.oem`.
//!
//! Numbers are rounded to f32 once; [`Rounding`] reports how many changed and by how much. An error in a file is an
//! [`Error::BadFile`] with the row, the field, the value and the expected content. Spheres are read as a whole. Rays
//! are read in batches, so that files can be larger than memory. Results are streamed to `.npz`, `.csv`, `.parquet` and, if they are
//! points, `.ply`; the files appear atomically. Pipes can be read too, except Parquet; the extension of their name selects the format, or
//! else their first byte. `.parquet` needs a build with the feature `parquet`.
//!
//! A row of text has at most 1 MiB. Devices are refused. A file that a system file or a sensor file names must be a regular file.

mod disk_space;
mod error;
pub mod escape;
mod format;
mod image;
mod lidar_toml;
mod read;
mod schema;
mod system_tables;
mod system_toml;
mod texture;
mod toml_text;
mod write;

pub use disk_space::{check_disk, least_output};
pub use error::{Error, IoCause, Result};
pub use format::{STANDARD_STREAM, StreamFormat, is_pipe, is_points_output, is_standard_stream};
pub use image::{PictureFiles, PngDepth, encode_png, prepare_array, write_picture, write_png};
pub use lidar_toml::{LidarFile, LidarInput};
pub use read::observers::{read_observers, read_observers_with};
pub use read::places::read_places;
pub use read::poses::{PoseTable, read_poses};
pub use read::ray_stream::{Batched, FromColumn, RayBatch, RayBatches, RayFile, read_rays_in_memory};
pub use read::read_options::{ExtraColumns, Models, ReadOptions, UnknownAtoms};
pub use read::spheres::{
    center_of_spheres, origin_of_spheres, read_spheres, read_spheres_in_memory, read_spheres_with,
};
pub use read::trajectories::{TrajectoryFile, read_spk_trajectories, read_trajectories};
pub use read::vectors::{VectorSource, read_bodies, read_ephemeris, read_vectors};
pub use schema::answer_row::{AnswerRow, Column, Number};
pub use schema::heights::{Height, Heights, OriginFinder};
pub use schema::kept::KeptColumns;
pub use schema::left_out::LeftOut;
pub use schema::optional::OptionalColumns;
pub use schema::rounding::{Moved, Role, Rounding};
pub use schema::table::Table;
pub use system_toml::{
    PLANET, SystemFiles, parse_lighting, parse_system, read_lighting_with_files, read_system, read_system_text,
    read_system_with_files,
};
pub use write::file_writer::FileWriter;
pub use write::geojson::{PathLine, path_geojson, path_lines};
pub use write::kml::Kml;
pub use write::target::{PreparedFile, check_output, check_points_output, check_target, prepare_atomic, write_atomic};
