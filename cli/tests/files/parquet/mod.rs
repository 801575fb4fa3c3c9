//! Parquet input and output: the same results as with text, for files of different writers, and helpful messages for invalid files.
//! `crates/files/src/format.rs` tests a build without Parquet.

mod kept;
mod refusals;
mod tables;
pub(super) mod with;
