//! Fuzz target for `.npy` headers. An array is accepted only if its shape matches the number of bytes after the header.

use super::written;
use crate::fuzz::memory;
use crate::fuzz::messages::check_message;
use crate::io::read::input::Input;
use crate::io::read::npy::{NpyArray, array};
use crate::io::read::read_options::ReadOptions;
use crate::io::schema::kinds::{BULLETS, OBSERVERS, POINTS, POSES, RAYS, SEGMENTS, SPHERES, TableSchema};

/// Maximum memory in bytes for reading a header.
const MOST: u64 = 1 << 20;

pub(crate) static KINDS: [&TableSchema; 7] = [&SPHERES, &RAYS, &SEGMENTS, &POINTS, &OBSERVERS, &POSES, &BULLETS];

/// `npy`: the input is an `.npy` file that is read as every kind of table.
pub fn npy(data: &[u8]) {
    let path = written("array.npy", data);
    for kind in KINDS {
        let mut input = Input::open(&path).expect("it is there");
        let (found, most) = memory::peak_of(|| array(&mut input, kind, &ReadOptions::default()));
        assert!(most <= MOST, "{most} bytes for a header");
        let (rows, width) = match found {
            Err(error) => {
                check_message(&error);
                continue;
            }
            Ok(NpyArray::Plain(layout)) => {
                let number = if layout.double { 8 } else { 4 };
                (layout.rows.expect("the shape has it"), layout.columns.len() as u64 * number)
            }
            Ok(NpyArray::Structured(records)) => (records.rows, records.width as u64),
        };
        let header = match data {
            [_, _, _, _, _, _, 1, _, a, b, ..] => 10 + usize::from(u16::from_le_bytes([*a, *b])),
            [_, _, _, _, _, _, _, _, a, b, c, d, ..] => 12 + u32::from_le_bytes([*a, *b, *c, *d]) as usize,
            _ => panic!("{} bytes were taken for an array", data.len()),
        };
        // The reader reads at least 12 bytes.
        let header = header.max(12);
        let left = data.len().saturating_sub(header) as u128;
        assert_eq!(u128::from(rows) * u128::from(width), left, "{rows} rows of {width} bytes");
    }
}
