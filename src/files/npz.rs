//! `.npz`: one array a field, named as in the records; a miss is inf and 4294967295.

use std::io::{BufWriter, Error, Result, Seek, Write};

use super::output::{Answers, bits};
use npyz::{AutoSerialize, WriteOptions, WriterBuilder};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// Writes the arrays, uncompressed (as `numpy.savez` does: floats hardly compress) and without a date, so that the same
/// answers make the same bytes.
pub(super) fn write<W: Write + Seek>(out: W, answers: &Answers<'_>) -> Result<()> {
    let mut npz = ZipWriter::new(out);
    match answers {
        Answers::Closest(hits) => {
            array(&mut npz, "t", hits.len(), hits.iter().map(|h| h.t))?;
            array(&mut npz, "id", hits.len(), hits.iter().map(|h| h.id))?;
        }
        Answers::Occluded { words, len } => array(&mut npz, "occluded", *len, bits(words, *len))?,
        Answers::Interval(found) => {
            array(&mut npz, "t_enter", found.len(), found.iter().map(|i| i.t_enter))?;
            array(&mut npz, "t_exit", found.len(), found.iter().map(|i| i.t_exit))?;
            array(&mut npz, "id", found.len(), found.iter().map(|i| i.id))?;
        }
        Answers::Approach(passes) => {
            array(&mut npz, "t", passes.len(), passes.iter().map(|a| a.t))?;
            array(&mut npz, "clearance", passes.len(), passes.iter().map(|a| a.clearance))?;
            array(&mut npz, "id", passes.len(), passes.iter().map(|a| a.id))?;
        }
    }
    npz.finish().map_err(Error::other)?.flush()
}

fn array<T: AutoSerialize, W: Write + Seek>(
    npz: &mut ZipWriter<W>,
    name: &str,
    len: usize,
    values: impl Iterator<Item = T>,
) -> Result<()> {
    // An entry may exceed 4 GiB from 10⁹ rays on; saying so costs 20 bytes, and only then.
    let large = len as u64 > u64::from(u32::MAX) / 4 - 1024;
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default())
        .large_file(large);
    npz.start_file(format!("{name}.npy"), options).map_err(Error::other)?;
    // Buffered, because numbers come one by one and the archive sums every piece.
    let mut buffered = BufWriter::with_capacity(1 << 16, &mut *npz);
    let mut writer = WriteOptions::new().default_dtype().shape(&[len as u64]).writer(&mut buffered).begin_nd()?;
    writer.extend(values)?;
    writer.finish()?;
    // Dropping it would flush too, but swallow a full disk.
    buffered.flush()
}
