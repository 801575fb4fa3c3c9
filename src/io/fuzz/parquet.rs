//! Fuzz target for Parquet files with invalid footers and page headers.

use super::sources::check;
use crate::io::schema::kinds::SPHERES;

/// Memory in bytes that unpacked pages may always use: one page per column, and its numbers.
const UNPACKED: u64 = 1 << 30;

/// `parquet`: the input is a .parquet file of spheres.
pub fn parquet(data: &[u8]) {
    check(data, &SPHERES, "parquet", UNPACKED + 16 * data.len() as u64);
}
