//! Reading and writing files, in every format.

mod endless;
mod formats;
mod kept;
mod lines;
mod moving_files;
#[cfg(feature = "parquet")]
mod parquet;
mod ply;
mod sources;
mod streams;
mod structured;
