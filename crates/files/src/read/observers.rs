//! Reader of observers: points in f64, from which a light is seen.

use std::path::Path;

use glam::DVec3;

use super::read_options::ReadOptions;
use super::table::OpenTable;
use crate::error::Result;
use crate::error::bad_file;
use crate::escape::quoted;
use crate::schema::kept::KeptColumns;
use crate::schema::kinds::OBSERVERS;
use umbracast::OnBad;
use umbracast::memory::{try_push, try_reserve};
use umbracast::shadow::check_observer;

/// Reads observers: `.npy` (N, 3), `.csv` with columns `x,y,z`, or raw `.f32`. Numbers keep the precision of the file, up to f64.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) if the file cannot be read, [`Error::BadFile`](crate::Error::BadFile) if it cannot be parsed or contains
/// an invalid observer, [`TooLarge`](umbracast::Error::TooLarge) and [`OutOfMemory`](umbracast::Error::OutOfMemory) if the observers do not
/// fit into memory.
pub fn read_observers(path: &Path) -> Result<Vec<DVec3>> {
    Ok(read_observers_with(path, &ReadOptions::default())?.0)
}

/// Reads observers with other options. Also returns the columns that are kept as text. With [`OnBad::Skip`], invalid observers are
/// [`DVec3::NAN`].
///
/// # Errors
/// The errors of [`read_observers`].
pub fn read_observers_with(path: &Path, options: &ReadOptions) -> Result<(Vec<DVec3>, KeptColumns)> {
    let source = OpenTable::open_with(path, &OBSERVERS, options)?;
    let mut observers = Vec::new();
    let mut kept = KeptColumns::new(source.kept().to_vec());
    try_reserve("observers", &mut observers, source.rows().unwrap_or(0))?;
    let left_out = source.read(&mut |row| {
        let [x, y, z] = std::array::from_fn(|field| row.numbers[field].wide);
        let mut observer = DVec3::new(x, y, z);
        match check_observer(0, observer) {
            Err(_) if options.on_bad == OnBad::Skip => observer = DVec3::NAN,
            checked => checked.map_err(|error| match error {
                umbracast::Error::BadRecord { field, value, why, .. } => {
                    let text = OBSERVERS.fields.iter().position(|f| *f == field).map_or("", |i| row.texts[i]);
                    let value = quoted(if text.is_empty() { &value } else { text });
                    bad_file(path, format!("{}: {field} is {value}: {why}", row.place.describe(path)))
                }
                other => other.into(),
            })?,
        }
        row.kept.iter().for_each(|cell| kept.push(cell));
        Ok(try_push("observers", &mut observers, observer)?)
    })?;
    if left_out.models > 0 {
        let why = format!("it has {} models or frames: observers are read from one", 1 + left_out.models);
        return Err(bad_file(path, why));
    }
    Ok((observers, kept))
}
