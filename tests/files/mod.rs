//! Reading and writing files, in every format.

mod endless;
mod formats;
mod heights;
mod kept;
mod lines;
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
