//! Reading and writing files, in every format.

mod atoms;
mod bad_rows;
mod bullets;
mod encodings;
mod endless;
mod heights;
mod hit_columns;
mod kept;
#[cfg(feature = "parquet")]
mod logical_types;
mod moving_files;
#[cfg(feature = "parquet")]
mod parquet;
mod point_spheres;
mod poses;
mod scenes;
mod sources;
mod streams;
mod structured;
mod trajectories;
mod warnings;
mod wrong_bullets;
