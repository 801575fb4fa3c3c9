//! Readers: one file per format, and one per kind of table.

pub(crate) mod binary;
pub(crate) mod bounded_text;
pub(crate) mod csv;
pub(crate) mod input;
pub(crate) mod npy;
pub(crate) mod observers;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
#[cfg(feature = "parquet")]
pub(crate) mod parquet_bytes;
#[cfg(feature = "parquet")]
pub(crate) mod parquet_pages;
pub(crate) mod places;
pub(crate) mod ply;
pub(crate) mod poses;
pub(crate) mod raw;
pub(crate) mod ray_stream;
pub(crate) mod record_layout;
pub(crate) mod spheres;
pub(crate) mod structured_npy;
pub(crate) mod table;
pub(crate) mod table_reader;
