//! Footers and pages of Parquet that lie.

use super::sources::check;
use crate::io::schema::kinds::SPHERES;

/// Bytes to which pages may unpack whatever the file says of itself: one a column, and the numbers of it.
const UNPACKED: u64 = 1 << 30;

/// `parquet`: the input is a .parquet file of spheres.
pub fn parquet(data: &[u8]) {
    check(data, &SPHERES, "parquet", UNPACKED + 16 * data.len() as u64);
}
