//! Readers: one file per format, and one per kind of table.

pub(crate) mod atoms;
pub(crate) mod binary;
pub(crate) mod bounded_text;
pub(crate) mod csv;
pub(crate) mod csv_records;
pub(crate) mod elements;
pub(crate) mod encoding;
pub(crate) mod input;
pub(crate) mod npy;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod npz;
pub(crate) mod observers;
mod oem;
mod oem_xml;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
#[cfg(feature = "parquet")]
mod parquet_pages;
pub(crate) mod pdb;
pub(crate) mod pdb_names;
pub(crate) mod places;
pub(crate) mod ply;
pub(crate) mod poses;
pub(crate) mod ray_stream;
pub(crate) mod read_options;
pub(crate) mod record_layout;
pub(crate) mod small_csv;
pub(crate) mod spheres;
pub(crate) mod structured_npy;
pub(crate) mod table;
pub(crate) mod trajectories;
pub(crate) mod vectors;
pub(crate) mod xyz;
