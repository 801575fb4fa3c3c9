//! Writer of records: one row per ray. Each format has one line here.

use std::path::Path;

use super::file_writer::{BatchWriter, FileWriter};
#[cfg(feature = "parquet")]
use super::parquet::Groups;
use super::{csv, npy, npz, ply};
use crate::error::Result;
use crate::io::errors::bad_file;
use crate::io::format::{StreamFormat, extension, is_standard_stream};
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
        Self::create_kept(path, columns, &[], StreamFormat::Csv)
    }

    /// Creates a writer that also writes columns of text, whose names are `kept`, for [`write_kept`](Self::write_kept). Standard output,
    /// the path `-`, has the format `stream`; other paths have the format of their extension. `.ply` has one point per result that is not
    /// a miss, and needs columns `x`, `y` and `z`.
    ///
    /// # Errors
    /// The errors of [`create`](Self::create), and [`Error::BadFile`](crate::Error::BadFile) for kept columns in a format without text.
    pub fn create_kept(path: &Path, columns: Vec<Column<T>>, kept: &[String], stream: StreamFormat) -> Result<Self> {
        let format = if is_standard_stream(path) { stream.extension().into() } else { extension(path) };
        if !kept.is_empty() && !["csv", "parquet"].contains(&&*format) {
            return Err(bad_file(path, "kept columns are text: the results must be .csv or .parquet"));
        }
        if let Some(column) = columns.iter().find(|column| kept.iter().any(|name| name == column.0)) {
            return Err(bad_file(path, format!("the results have a column '{}': rename the kept column", column.0)));
        }
        if format == "ply" && !["x", "y", "z"].iter().all(|axis| columns.iter().any(|column| column.0 == *axis)) {
            return Err(bad_file(path, "a .ply file needs points: the columns x, y and z"));
        }
        Self::begin(path, |file| {
            let writer: Box<dyn BatchWriter<[T]>> = match &*format {
                "npy" => Box::new(npy::StructuredArray::new(&file.folder(), columns)?),
                "f32" => Box::new(npy::RawRecords::new(columns)),
                "ply" => Box::new(ply::Vertices::begin(&mut file.out, columns)?),
                "npz" => Box::new(npz::Spools::new(&file.folder(), &columns)?),
                #[cfg(feature = "parquet")]
                "parquet" => Box::new(Groups::new(file.second_handle()?, &columns, kept)?),
                _ => Box::new(csv::Rows::begin(&mut file.out, columns, kept)?),
            };
            Ok(writer)
        })
    }
}
