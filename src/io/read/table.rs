//! A table in any supported format. Opening it reads the header; the rows are read later.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::binary::Layout;
use super::csv::CsvTable;
use super::input::Input;
use super::npy::NpyArray;
#[cfg(feature = "parquet")]
use super::parquet;
use super::structured_npy::Records;
use super::{binary, csv, npy, raw};
use crate::error::Result;
use crate::io::errors::{bad_file, cannot_read};
use crate::io::format::{check_parquet, describe, extension};
use crate::io::schema::convert::Row;
use crate::io::schema::kinds::TableSchema;

/// An open table with a checked header.
#[derive(Debug)]
pub(crate) struct Source {
    kind: &'static TableSchema,
    length: Option<u64>,
    progress: Arc<AtomicU64>,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Binary(Input, Layout),
    Records(Input, Records),
    Text(CsvTable),
    #[cfg(feature = "parquet")]
    Columns(parquet::Columns),
}

impl Source {
    pub(crate) fn open(path: &Path, kind: &'static TableSchema) -> Result<Self> {
        let unsupported = |found: &str| {
            let swapped = match (kind.plural, found) {
                (_, "npz") => "; an archive may contain several arrays: save a single one with numpy.save",
                ("observers", _) => "",
                ("rays", "segments") => "; to cast segments, add --segments",
                ("rays", "points") => "; to cast rays from points, add --toward or --parallel",
                ("segments", "rays") => "; to cast rays, leave out --segments",
                ("bullets", "spheres") => "; the order of the files is SPHERES, then BULLETS",
                (_, "spheres" | "rays") => "; the order of the files is SPHERES, then RAYS or POINTS",
                _ => "",
            };
            let (plural, found) = (kind.plural, describe(found));
            let supported = format!("supported are .npy, .csv, .parquet, .f32 and .{plural}{swapped}");
            bad_file(path, format!("cannot read {plural} from {found}: {supported}"))
        };
        let extension = extension(path);
        let known = ["npy", "csv", "parquet", "f32", "", kind.plural].contains(&extension.as_str());
        if !known {
            return Err(unsupported(&extension));
        }
        check_parquet(path)?;
        let mut input = Input::open(path)?;
        let (length, progress) = (input.length(), input.progress());
        let body = match extension.as_str() {
            "npy" => Self::array(input, kind)?,
            "csv" => Body::Text(csv::open(input, kind)?),
            #[cfg(feature = "parquet")]
            "parquet" => Body::Columns(parquet::open(input, kind)?),
            "" if length.is_some() => return Err(unsupported("")),
            // A pipe often has no extension. The first byte of `.npy` cannot begin a text.
            "" => match input.first().map_err(|e| cannot_read(path, &e))? {
                Some(0x93) => Self::array(input, kind)?,
                _ => Body::Text(csv::open(input, kind)?),
            },
            _ => {
                let layout = raw::layout(&input, kind)?;
                Body::Binary(input, layout)
            }
        };
        Ok(Self { kind, length, progress, body })
    }

    fn array(mut input: Input, kind: &'static TableSchema) -> Result<Body> {
        Ok(match npy::array(&mut input, kind)? {
            NpyArray::Plain(layout) => Body::Binary(input, layout),
            NpyArray::Structured(records) => Body::Records(input, records),
        })
    }

    /// The fields that the columns fill.
    pub(crate) fn fields(&self) -> &[usize] {
        match &self.body {
            Body::Binary(_, layout) => layout.columns,
            Body::Records(_, records) => &records.columns,
            Body::Text(text) => &text.columns,
            #[cfg(feature = "parquet")]
            Body::Columns(columns) => &columns.fields,
        }
    }

    /// Number of rows, if it is known before the end of the input.
    pub(crate) fn rows(&self) -> Option<u64> {
        match &self.body {
            Body::Binary(_, layout) => layout.rows,
            Body::Records(_, records) => Some(records.rows),
            Body::Text(_) => None,
            #[cfg(feature = "parquet")]
            Body::Columns(columns) => Some(columns.rows),
        }
    }

    /// Length in bytes when the file was opened; `None` for a pipe.
    pub(crate) fn length(&self) -> Option<u64> {
        self.length
    }

    /// Bytes read so far, as a counter that another thread can read.
    pub(crate) fn progress(&self) -> Arc<AtomicU64> {
        self.progress.clone()
    }

    /// Passes every row to `sink`.
    pub(crate) fn read(self, sink: &mut dyn FnMut(&Row<'_>) -> Result<()>) -> Result<()> {
        match self.body {
            Body::Binary(input, layout) => binary::read(input, self.kind, &layout, sink),
            Body::Records(input, records) => records.read(input, self.kind, sink),
            Body::Text(text) => csv::read(text, self.kind, sink),
            #[cfg(feature = "parquet")]
            Body::Columns(columns) => columns.read(self.kind, sink),
        }
    }
}
