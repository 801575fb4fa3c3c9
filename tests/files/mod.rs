//! Reading and writing files, in every format.

mod formats;
mod moving_files;
#[cfg(feature = "parquet")]
mod parquet;
mod sources;
mod streams;
mod structured;
