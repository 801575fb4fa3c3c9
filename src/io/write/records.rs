//! Writer of records: one row per ray. Each format has one line here.

use std::path::Path;

use super::file_writer::{BatchWriter, FileWriter};
#[cfg(feature = "parquet")]
use super::parquet::Groups;
use super::{csv, npz};
use crate::error::Result;
use crate::io::format::extension;
use crate::io::schema::answer_row::{AnswerRow, Column};

impl<T: AnswerRow> FileWriter<[T]> {
    /// Creates a writer for the format of the extension.
    ///
    /// # Errors
    /// The errors of [`check_output`](crate::io::check_output); [`Error::Io`](crate::Error::Io) if the file cannot be written.
    pub fn create(path: &Path) -> Result<Self> {
        Self::create_with(path, T::COLUMNS.to_vec())
    }

    /// Creates a writer with other columns than the default ones of the result.
    ///
    /// # Errors
    /// The errors of [`create`](Self::create).
    pub fn create_with(path: &Path, columns: Vec<Column<T>>) -> Result<Self> {
        Self::begin(path, |file| {
            let writer: Box<dyn BatchWriter<[T]>> = match &*extension(path) {
                "npz" => Box::new(npz::Spools::new(file.folder(), &columns)?),
                #[cfg(feature = "parquet")]
                "parquet" => Box::new(Groups::new(file.second_handle()?, &columns)?),
                _ => Box::new(csv::Rows::begin(&mut file.out, columns)?),
            };
            Ok(writer)
        })
    }
}
