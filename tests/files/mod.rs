//! Reading and writing files, in every format.

mod atoms;
mod bad_rows;
mod encodings;
mod endless;
mod formats;
mod heights;
mod kept;
mod lines;
#[cfg(feature = "parquet")]
mod logical_types;
mod moving_files;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod ply;
mod point_spheres;
mod poses;
mod sources;
mod streams;
mod structured;
mod warnings;
