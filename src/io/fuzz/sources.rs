//! Fuzz target for table readers. A table is the same for any number of bytes and rows per read, has as many rows as it claims, and uses
//! little memory.

use std::path::{Path, PathBuf};

use glam::DVec3;

use super::npy::KINDS;
use super::{with_chunk, written};
use crate::bullets::bullet::Bullet;
use crate::error::Result;
use crate::fuzz::bytes::Bytes;
use crate::fuzz::memory;
use crate::fuzz::messages::check_message;
use crate::io::read::observers::read_observers;
use crate::io::read::poses::read_poses;
use crate::io::read::read_options::ReadOptions;
use crate::io::read::spheres::read_spheres;
use crate::io::read::table::OpenTable;
use crate::io::schema::convert::{Converter, Record, Row};
use crate::io::schema::kinds::TableSchema;
use crate::io::schema::optional::OptionalColumns;
use crate::query::policy::OnBad;
use crate::records::Ray;

/// Memory in bytes that any table may use, however short its file: 4096 rows of the widest records, and buffers.
const ALWAYS: u64 = 2 << 20;

/// The numbers of a table as bits of f64 and f32, the number of rows, and the error that ended it early.
type Read = (Vec<(u64, u32)>, u64, Option<String>);

/// `sources`: the first byte selects kind and format; the rest is the file.
pub fn sources(data: &[u8]) {
    let mut bytes = Bytes(data);
    let choice = usize::from(bytes.byte());
    let kind = KINDS[choice % KINDS.len()];
    let extension = ["npy", "csv", "parquet", "f32", kind.plural, "ply", "xyz", "pdb"][choice / KINDS.len() % 8];
    // Unpacked Parquet pages may be larger: the target `parquet` limits them.
    let most = if extension == "parquet" { u64::MAX } else { ALWAYS + 16 * data.len() as u64 };
    check(bytes.0, kind, extension, most);
}

/// Reads a file in several ways, which must agree. `most` is the memory limit in bytes.
pub(crate) fn check(file: &[u8], kind: &'static TableSchema, extension: &str, most: u64) {
    let path = written(&format!("table.{extension}"), file);
    let (whole, held) = memory::peak_of(|| read(&path, kind));
    // The numbers collected here do not count.
    let own = 2 * 16 * whole.0.capacity() as u64;
    assert!(held <= most.saturating_add(own), "{held} bytes for a file of {}", file.len());
    for chunk in [1, 7] {
        let parts = with_chunk(chunk, || read(&path, kind));
        // If several columns are damaged, the error names the one that is read first.
        let both_fail = extension == "parquet" && parts.2.is_some() && whole.2.is_some();
        assert!(parts == whole || both_fail, "{chunk} at a time: {parts:?} instead of {whole:?}");
    }
    records(&path, kind);
    #[cfg(target_os = "linux")]
    if ["npy", "csv", "ply"].contains(&extension) {
        pipe(file, kind, extension, &whole);
    }
}

fn read(path: &Path, kind: &'static TableSchema) -> Read {
    let (mut numbers, mut count) = (Vec::new(), 0_u64);
    let fields = kind.fields.len() + kind.optional.len();
    let mut told = None;
    let mut take = |row: &Row<'_>| {
        count += 1;
        numbers
            .extend(row.numbers[..fields].iter().map(|number| (bits(number.wide), bits(number.narrow.into()) as u32)));
        Ok(())
    };
    let done = OpenTable::open_with(path, kind, &ReadOptions::default()).and_then(|source| {
        told = source.rows();
        source.read(&mut take)
    });
    if let Err(error) = &done {
        check_message(error);
    }
    match told {
        Some(told) if done.is_ok() => assert_eq!(count, told, "rows"),
        Some(told) => assert!(count <= told, "{count} rows of {told}"),
        None => {}
    }
    (numbers, count, done.err().map(|error| error.to_string()))
}

/// Bits of a number, the same for every NaN.
fn bits(number: f64) -> u64 {
    if number.is_nan() { f64::NAN.to_bits() } else { number.to_bits() }
}

/// Converts the table to records, which must all be valid.
fn records(path: &Path, kind: &'static TableSchema) {
    let path = &PathBuf::from(path);
    let done = match kind.plural {
        "spheres" => read_spheres(path, DVec3::ZERO).map(|table| {
            table.records.iter().for_each(|sphere| assert_eq!(sphere.check(), Ok(())));
        }),
        "observers" => read_observers(path).map(drop),
        "poses" => read_poses(path, DVec3::ZERO, OnBad::Refuse).map(drop),
        "rays" => all::<Ray>(path),
        "segments" => all::<[[f32; 3]; 2]>(path),
        "points" => all::<[f32; 3]>(path),
        _ => all::<Bullet>(path),
    };
    if let Err(error) = done {
        check_message(&error);
    }
}

fn all<T: Record>(path: &Path) -> Result<()> {
    // With `OnBad::Skip` every row is kept; only cells that are not numbers are refused.
    let counts = [OnBad::Skip, OnBad::Refuse].map(|on_bad| {
        let source = OpenTable::open_with(path, T::KIND, &ReadOptions::default())?;
        let mut converter = Converter::new(path, DVec3::new(1.0, 0.0, -2.5), on_bad);
        let mut optional = OptionalColumns::of(T::KIND, source.fields());
        let mut count = 0_u64;
        source.read(&mut |row| {
            let record: T = converter.convert(row)?;
            optional.push(T::KIND, &mut converter, row)?;
            if on_bad == OnBad::Refuse {
                assert_eq!(record.check(), Ok(()));
            }
            count += 1;
            Ok(())
        })?;
        Ok(count)
    });
    match counts {
        [skipped, Ok(count)] => {
            assert_eq!(skipped, Ok(count));
            Ok(())
        }
        [_, Err(error)] => Err(error),
    }
}

/// Reads the same file through a pipe, which has no length and no extension that selects the format.
#[cfg(target_os = "linux")]
fn pipe(file: &[u8], kind: &'static TableSchema, extension: &str, whole: &Read) {
    use std::io::Write;
    use std::os::fd::AsRawFd;
    // Every pipe has a buffer of at least 4096 bytes.
    if file.len() > 4096 || (file.first() == Some(&0x93)) != (extension == "npy") {
        return;
    }
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    writer.write_all(file).expect("there is room");
    let path = PathBuf::from(format!("/proc/self/fd/{}", reader.as_raw_fd()));
    drop(writer);
    let found = read(&path, kind);
    match (&whole.2, &found.2) {
        (None, None) => assert_eq!(found, *whole, "through a pipe"),
        (None, Some(why)) => assert!(why.contains("Fortran order"), "through a pipe: {why}"),
        (Some(_), Some(_)) => {}
        (Some(why), None) => panic!("a pipe is taken for which a file is refused: {why}"),
    }
}
