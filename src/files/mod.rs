//! Reading spheres and rays, writing answers: one file a format, chosen by the extension.
//!
//! | extension | spheres | rays |
//! |---|---|---|
//! | `.npy` (f4 or f8, either byte order) | (N, 4): x y z r | (M, 6): origin, direction · (M, 8): origin, t_min, direction, t_max |
//! | `.csv` | columns `x,y,z,r` | columns `ox,oy,oz,dx,dy,dz`, optional `t_min,t_max` |
//! | `.f32`, `.spheres`, `.rays` (raw, little-endian) | 4 × f32 | 8 × f32 in the order of [`Ray`] |
//!
//! Numbers become f32 by one rounding; [`Rounding`] says how many changed and by how much. What a file gets wrong is an
//! [`Error::BadFile`] with the row, the field, the value and what was expected. Answers go to `.npz` and `.csv`, as whole
//! files or not at all.

mod binary;
mod csv;
mod npy;
mod npz;
mod output;
mod raw;
mod rows;

use std::path::Path;

pub use output::{Answers, check_output, check_target, write_answers, write_whole};
pub use rows::{Rounding, Table};

use crate::error::{Error, Result};
use crate::query::OnBad;
use crate::records::{Ray, Sphere};
use glam::DVec3;
use rows::{Collector, Kind, RAYS, Row, SPHERES};

/// Reads spheres. `origin` is subtracted from the centres in f64, before they are rounded.
///
/// # Errors
/// [`Error::Io`] when the file cannot be read, [`Error::BadFile`] when it cannot be understood or holds a sphere that
/// cannot be used, [`Error::OutOfMemory`].
pub fn read_spheres(path: &Path, origin: DVec3) -> Result<Table<Sphere>> {
    let mut collector = Collector::new(path, origin, OnBad::Refuse);
    read_rows(path, &SPHERES, &mut |row| collector.push(row))?;
    Ok(collector.finish())
}

/// Reads rays. `origin` is subtracted from their origins in f64, before they are rounded.
///
/// With [`OnBad::Skip`] a ray that cannot be used is kept, with a NaN where a value is missing or exceeds f32, so that
/// the query finds it bad, lets it miss and counts it. Text that is no number is refused all the same.
///
/// # Errors
/// As [`read_spheres`].
pub fn read_rays(path: &Path, origin: DVec3, on_bad: OnBad) -> Result<Table<Ray>> {
    let mut collector = Collector::new(path, origin, on_bad);
    read_rows(path, &RAYS, &mut |row| collector.push(row))?;
    Ok(collector.finish())
}

/// The centre of the box around all spheres of a file, in f64: what `--origin auto` subtracts. Zero without spheres.
///
/// # Errors
/// As [`read_spheres`]; spheres that are not finite are left to it to refuse.
pub fn center_of_spheres(path: &Path) -> Result<DVec3> {
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    read_rows(path, &SPHERES, &mut |row| {
        let [x, y, z, r] = [0, 1, 2, 3].map(|field| row.numbers[field].wide);
        let center = DVec3::new(x, y, z);
        if center.is_finite() && r.is_finite() {
            low = low.min(center - r);
            high = high.max(center + r);
        }
        Ok(())
    })?;
    // Halved before they are added: the sum of two large corners could overflow.
    let center = 0.5 * low + 0.5 * high;
    Ok(if center.is_finite() { center } else { DVec3::ZERO })
}

/// Hands every row of a file to `sink`, whatever the format.
fn read_rows(path: &Path, kind: &'static Kind, sink: &mut dyn FnMut(&Row<'_>) -> Result<()>) -> Result<()> {
    match extension(path).as_str() {
        "npy" => npy::read(path, kind, sink),
        "csv" => csv::read(path, kind, sink),
        "f32" => raw::read(path, kind, sink),
        own if own == kind.plural => raw::read(path, kind, sink),
        other => {
            let swapped = if other == "spheres" || other == "rays" { "; the order is SPHERES, then RAYS" } else { "" };
            Err(bad_file(
                path,
                format!(
                    "cannot read {} from {}: supported are .npy, .csv, .f32 and .{}{swapped}",
                    kind.plural,
                    spoken(other),
                    kind.plural
                ),
            ))
        }
    }
}

/// The extension in lower case, empty if there is none.
fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

fn spoken(extension: &str) -> String {
    if extension.is_empty() { "a file without an extension".into() } else { format!("'.{extension}'") }
}

fn bad_file(path: &Path, message: impl Into<String>) -> Error {
    Error::BadFile { path: path.to_path_buf(), message: message.into() }
}

fn cannot_read(path: &Path, error: &std::io::Error) -> Error {
    Error::Io { action: "read", path: path.to_path_buf(), message: error.to_string() }
}

/// Opens a file and says how long it is; what is no regular file (a folder, a pipe) is refused, since sizes are checked
/// before anything is allocated.
fn open(path: &Path) -> Result<(std::fs::File, u64)> {
    // Asked before opening: opening a pipe would wait for its writer.
    let about = std::fs::metadata(path).map_err(|e| cannot_read(path, &e))?;
    if !about.is_file() {
        let what = if about.is_dir() { "a folder" } else { "not a regular file" };
        return Err(Error::Io { action: "read", path: path.to_path_buf(), message: format!("it is {what}") });
    }
    Ok((std::fs::File::open(path).map_err(|e| cannot_read(path, &e))?, about.len()))
}
