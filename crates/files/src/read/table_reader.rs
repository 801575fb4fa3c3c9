//! Interface between a file format and the tables: how a format is recognised, and how its rows are read.

use std::fmt::Debug;

use super::input::Input;
use super::read_options::ReadOptions;
use crate::error::Result;
use crate::schema::convert::Row;
use crate::schema::kinds::TableSchema;

/// Receives the rows of a table, one after the other. An error ends the read.
pub(crate) type RowSink<'a> = dyn FnMut(&Row<'_>) -> Result<()> + 'a;

/// An open file whose header has been read and checked.
pub(crate) trait TableReader: Debug + Send {
    /// The field of a row that each column fills.
    fn fields(&self) -> &[usize];

    /// Names of the columns that are kept as text. Each row has one cell for each of them.
    fn kept(&self) -> &[String] {
        &[]
    }

    /// Number of rows, if it is known before the end of the input.
    fn rows(&self) -> Option<u64>;

    /// Passes every row to `sink`.
    fn read(self: Box<Self>, schema: &'static TableSchema, sink: &mut RowSink<'_>) -> Result<()>;
}

/// A format in which tables can be read.
#[derive(Debug)]
pub(crate) struct ReadFormat {
    /// Extension of the file name, in lower case.
    pub(crate) extension: &'static str,
    /// First byte by which a pipe without an extension is recognised; `None` if the first byte can be any.
    pub(crate) first_byte: Option<u8>,
    /// Reads the header.
    pub(crate) open: fn(Input, &'static TableSchema, &ReadOptions) -> Result<Box<dyn TableReader>>,
}
