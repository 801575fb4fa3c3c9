//! Parquet in and out: the same answers as from text, whatever wrote the file; what is wrong with one refused in words that help.
//! What a build without Parquet says is tested in `src/io/no_parquet_tests.rs`.

mod tables;
mod with;
