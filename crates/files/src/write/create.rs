//! Creates the writer of a format, for records and for hit lists. Each format has one line per function.

use std::io::{Error as IoError, ErrorKind};
use std::path::Path;

use super::file_writer::{BatchWriter, FileWriter};
#[cfg(feature = "parquet")]
use super::parquet::{Groups, ListGroups};
use super::{csv, hit_lists, npy, npz, ply};
use crate::error::{Error, Result};
use crate::format::{OutputKind, StreamFormat, output_extensions, output_format};
use crate::schema::answer_row::{AnswerRow, Column};
use umbracast::HitLists;

impl<T: AnswerRow> FileWriter<[T]> {
    /// Creates a writer for the format of the extension.
    ///
    /// # Errors
    /// The errors of [`check_output`](crate::check_output); [`Error::Io`](crate::Error::Io) if the file cannot be written.
    pub fn create(path: &Path) -> Result<Self> {
        Self::create_with(path, T::COLUMNS.to_vec())
    }

    /// Creates a writer with other columns than the default ones of the result.
    ///
    /// # Errors
    /// The errors of [`create`](Self::create).
    pub fn create_with(path: &Path, columns: Vec<Column<T>>) -> Result<Self> {
        Self::create_kept(path, columns, &[], None)
    }

    /// Creates a writer that also writes columns of text, whose names are `kept`, for [`write_kept`](Self::write_kept). The extension
    /// selects the format. Files without one, and standard output, the path `-`, have the given `format`; standard output is else text. `.ply` has one point per result that is not
    /// a miss, and needs columns `x`, `y` and `z`.
    ///
    /// # Errors
    /// The errors of [`create`](Self::create), and [`Error::BadFile`](crate::Error::BadFile) for kept columns in a format without text.
    pub fn create_kept(
        path: &Path,
        columns: Vec<Column<T>>,
        kept: &[String],
        format: Option<StreamFormat>,
    ) -> Result<Self> {
        if !kept.is_empty() && output_format(path, format).is_some_and(|format| !format.has_text) {
            let supported = output_extensions(|format| format.has_text, "or");
            return Err(Error::bad_output(path, format!("kept columns are text: the results must be {supported}")));
        }
        if let Some(column) = columns.iter().find(|column| kept.iter().any(|name| name == column.0)) {
            return Err(Error::bad_output(
                path,
                format!("the results have a column '{}': rename the kept column", column.0),
            ));
        }
        // Many readers of Parquet refuse two columns of one name.
        if let Some((_, name)) = kept.iter().enumerate().find(|(i, name)| kept[..*i].contains(name)) {
            return Err(Error::bad_output(
                path,
                format!("two kept columns have the name '{name}': rename one of them"),
            ));
        }
        let has_points = ["x", "y", "z"].iter().all(|axis| columns.iter().any(|column| column.0 == *axis));
        Self::begin(path, format, has_points, |kind, file| {
            let writer: Box<dyn BatchWriter<[T]>> = match kind {
                OutputKind::Csv => Box::new(csv::Rows::begin(&mut file.out, columns, kept)?),
                OutputKind::Npz => Box::new(npz::Spools::new(&file.folder(), &columns)?),
                #[cfg(feature = "parquet")]
                OutputKind::Parquet => Box::new(Groups::new(file.second_handle()?, columns, kept)?),
                #[cfg(not(feature = "parquet"))]
                OutputKind::Parquet => return Err(unsupported()),
                OutputKind::Ply => Box::new(ply::Vertices::begin(&mut file.out, columns)?),
                OutputKind::Npy => Box::new(npy::StructuredArray::new(&file.folder(), columns)?),
                OutputKind::Raw => Box::new(npy::RawRecords::new(columns)),
            };
            Ok(writer)
        })
    }
}

impl FileWriter<HitLists> {
    /// Creates a writer for the format of the extension. Standard output, the path `-`, is text.
    ///
    /// # Errors
    /// The errors of [`check_output`](crate::check_output); [`Error::Io`](crate::Error::Io) if the file cannot be written.
    pub fn create(path: &Path) -> Result<Self> {
        Self::begin(path, None, false, |kind, file| {
            let writer: Box<dyn BatchWriter<HitLists>> = match kind {
                OutputKind::Csv => Box::new(csv::ListRows::begin(&mut file.out)?),
                OutputKind::Npz => Box::new(hit_lists::ListArrays::new(&file.folder())?),
                #[cfg(feature = "parquet")]
                OutputKind::Parquet => Box::new(ListGroups::new(file.second_handle()?)?),
                _ => return Err(unsupported()),
            };
            Ok(writer)
        })
    }
}

/// The error for a format without a writer, which [`check_output`](crate::check_output) refuses earlier.
fn unsupported() -> IoError {
    IoError::new(ErrorKind::Unsupported, "this format is not supported for these results")
}
