//! Writers of results: one file per format.

pub(crate) mod atomic_file;
pub(crate) mod create;
pub(crate) mod csv;
pub(crate) mod file_writer;
pub(crate) mod geojson;
pub(crate) mod hit_lists;
pub(crate) mod kml;
pub(crate) mod npy;
pub(crate) mod npz;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
pub(crate) mod ply;
pub(crate) mod target;
