//! Reading and writing files, in every format.

mod atoms;
mod endless;
mod formats;
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
