//! Reading spheres and rays, writing answers: one file a format, chosen by the extension.
//!
//! | extension | spheres | rays |
//! |---|---|---|
//! | `.npy` (f4 or f8, either byte order) | (N, 4): x y z r | (M, 6): origin, direction · (M, 8): origin, direction, t_min, t_max |
//! | `.csv`, `.parquet` | columns `x,y,z,r`, or `rx,ry,rz` and optional `qw,qx,qy,qz` instead of `r`; optional `mask,vx,vy,vz` | columns `ox,oy,oz,dx,dy,dz`, optional `t_min,t_max,mask,skip_id,time,radius` |
//! | `.f32`, `.spheres`, `.rays` (raw, little-endian) | 4 × f32 | 8 × f32 in the order of [`Ray`](crate::Ray) |
//!
//! A structured `.npy`, of one dimension, has fields with the names of columns, in any order, f4, f8 or whole numbers.
//!
//! Segments are (M, 6), columns `x1,y1,z1,x2,y2,z2` or 6 × f32 (also `.segments`), with what may be beside rays.
//!
//! Points to make rays from, and observers, are (N, 3), columns `x,y,z` or 3 × f32 (also `.points`); poses of a sensor (N, 7), columns
//! `x,y,z,qw,qx,qy,qz` or 7 × f32 (also `.poses`); [bullets](crate::Bullet) (M, 7), columns `x1,y1,z1,x2,y2,z2,speed` or 7 × f32 (also
//! `.bullets`).
//!
//! Numbers become f32 by one rounding; [`Rounding`] says how many changed and by how much. What a file gets wrong is an
//! [`Error::BadFile`] with the row, the field, the value and what was expected. Spheres are read whole, rays in batches, so
//! that files larger than memory work; answers go to `.npz`, `.csv` and `.parquet` as they come, and appear as whole files or
//! not at all. Pipes are read too, but for Parquet, told apart by their names' extensions or else by their first byte.
//! `.parquet` takes a build with the feature `parquet`.
//!
//! A row of text has at most 1 MiB. Devices are not read, and what a system file or a sensor file names must be a regular file.

mod answers;
mod beside;
mod binary;
mod bounded;
mod columns;
mod csv;
#[cfg(all(any(test, fuzzing), feature = "parquet"))]
pub(crate) mod fuzz;
mod input;
mod kinds;
mod lists;
#[cfg(test)]
mod no_parquet_tests;
mod npy;
mod npz;
mod observers;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod poses;
mod raw;
mod rays;
mod room;
mod rounding;
mod rows;
mod sensor;
mod source;
mod structured;
mod text;
pub(crate) mod toml_text;
mod whole;

use std::path::Path;

pub use answers::{AnswerRow, AnswerWriter, Column, Number};
pub use beside::Beside;
pub use lists::ListWriter;
pub use observers::read_observers;
pub use output::{Ready, check_output, check_target, prepare_whole, write_whole};
pub use poses::{PoseTable, read_poses};
pub use rays::{Batched, RayBatch, RayBatches, RayFile};
pub use room::{check_disk, least_output};
pub use rounding::{Moved, Role, Rounding};
pub use rows::Table;
pub use sensor::SensorFile;

use crate::error::{Error, Result};
use crate::memory::{check_memory, grow};
use crate::query::OnBad;
use crate::records::Sphere;
use crate::shown::quoted;
use beside::RADII;
use glam::DVec3;
use input::check_regular;
use kinds::SPHERES;
use rows::Converter;
use source::Source;

/// Reads spheres. `origin` is subtracted from the centres in f64, before they are rounded.
///
/// # Errors
/// [`Error::Io`] when the file cannot be read, [`Error::BadFile`] when it cannot be understood or holds a sphere that
/// cannot be used, [`Error::TooLarge`] and [`Error::OutOfMemory`] when they do not fit into memory.
pub fn read_spheres(path: &Path, origin: DVec3) -> Result<Table<Sphere>> {
    let source = Source::open(path, &SPHERES)?;
    let mut records = Vec::new();
    let mut beside = Beside::of(&SPHERES, source.fields());
    let make_room = |records: &mut Vec<Sphere>, beside: &mut Beside, more: u64| {
        check_memory("spheres", more.saturating_mul(size_of::<Sphere>() as u64 + beside.bytes()))?;
        reserve("spheres", records, more, path)?;
        beside.reserve("columns beside spheres", more, path)
    };
    make_room(&mut records, &mut beside, source.rows().unwrap_or(0))?;
    let mut converter = Converter::new(path, origin, OnBad::Refuse);
    source.read(&mut |row| {
        if records.len() == records.capacity() {
            let half = records.len() as u64 / 2;
            make_room(&mut records, &mut beside, half.max(1 << 16))?;
        }
        let mut sphere: Sphere = converter.convert(row)?;
        beside.push(&SPHERES, &mut converter, row)?;
        if let Some(shape) = beside.shapes.as_ref().and_then(|shapes| shapes.last()) {
            sphere.radius = shape.longest();
        }
        records.push(sphere);
        Ok(())
    })?;
    Ok(Table { records, beside, rounding: converter.rounding })
}

/// Reserves memory for `more` records. The error names the file.
fn reserve<T>(what: &'static str, records: &mut Vec<T>, more: u64, path: &Path) -> Result<()> {
    grow(what, records, more).map_err(|error| match error {
        Error::OutOfMemory { device, .. } => {
            Error::OutOfMemory { device, message: format!("reading {what} from {}", path.display()) }
        }
        other => other,
    })
}

/// The centre of the box around all spheres of a file, in f64: what `--origin auto` subtracts. Zero without spheres.
///
/// # Errors
/// As [`read_spheres`]; spheres that are not finite are left to it to refuse.
pub fn center_of_spheres(path: &Path) -> Result<DVec3> {
    // Asked before opening, which waits for whoever writes into a pipe.
    if std::fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        return Err(bad_file(path, "finding the centre means to read the spheres twice, which a pipe cannot"));
    }
    center_of(Source::open(path, &SPHERES)?, &mut || Ok(()))
}

fn center_of(source: Source, check_row: &mut dyn FnMut() -> Result<()>) -> Result<DVec3> {
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let radii = RADII.map(|name| SPHERES.place(name).unwrap_or(0));
    source.read(&mut |row| {
        check_row()?;
        let [x, y, z, r] = [0, 1, 2, 3].map(|field| row.numbers[field].wide);
        // Of an ellipsoid the longest semi-axis; where there are none, these are 0.
        let r = radii.into_iter().fold(r, |most, field| row.numbers[field].wide.max(most));
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

/// The spheres of a cloud that a system names, at most `most`, and the centre that was subtracted from them. More are refused as soon
/// as the file says how many it has, or as they are counted.
pub(crate) fn read_cloud(path: &Path, most: u64) -> Result<(Table<Sphere>, DVec3)> {
    check_regular(path)?;
    const MOST: u64 = crate::shadow::MAX_BALLS as u64;
    let too_many = |count: &str| bad_file(path, format!("{count} spheres in a system: at most {MOST} are allowed"));
    let source = Source::open(path, &SPHERES)?;
    if let Some(rows) = source.rows().filter(|rows| *rows > most) {
        return Err(too_many(&(MOST - most).saturating_add(rows).to_string()));
    }
    let mut rows = 0;
    let middle = center_of(source, &mut || {
        rows += 1;
        if rows > most { Err(too_many(&format!("more than {MOST}"))) } else { Ok(()) }
    })?;
    Ok((read_spheres(path, middle)?, middle))
}

/// Rows read at once: large enough for the disk, small enough for the cache. Fuzz targets take fewer.
fn rows_at_once() -> usize {
    const CHUNK: usize = 4096;
    #[cfg(all(any(test, fuzzing), feature = "parquet"))]
    return fuzz::chunk(CHUNK);
    #[cfg(not(all(any(test, fuzzing), feature = "parquet")))]
    CHUNK
}

/// The extension in lower case, empty if there is none.
fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// Refuses `.parquet` files in a build without Parquet.
fn check_parquet(path: &Path) -> Result<()> {
    if extension(path) != "parquet" || has_parquet() {
        return Ok(());
    }
    let message = "this umbracast was built without Parquet: `cargo build --release --features parquet` makes one that \
        reads and writes it; .npy and .csv hold the same columns";
    Err(bad_file(path, message))
}

fn has_parquet() -> bool {
    #[cfg(test)]
    if no_parquet_tests::WITHOUT_PARQUET.get() {
        return false;
    }
    cfg!(feature = "parquet")
}

fn spoken(extension: &str) -> String {
    if extension.is_empty() { "a file without an extension".into() } else { format!("'.{}'", quoted(extension)) }
}

fn bad_file(path: &Path, message: impl Into<String>) -> Error {
    Error::BadFile { path: path.to_path_buf(), message: message.into() }
}

fn cannot_read(path: &Path, error: &std::io::Error) -> Error {
    Error::Io { action: "read", path: path.to_path_buf(), message: error.to_string() }
}
