//! Writes pictures and their arrays to files, atomically.

use std::io::Write;
use std::path::Path;

use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};

use super::schema::answer_row::AnswerRow;
use super::write::npy::{header, push, type_of};
use super::write::target::{PreparedFile, prepare_atomic};
use crate::error::{Error, Result};
use umbracast::memory;
use umbracast::memory::try_reserve;
use umbracast::shadow::Picture;
use umbracast::shadow::System;

/// Bits per colour channel of a PNG.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PngDepth {
    /// 8 bits, for screens.
    #[default]
    Eight,
    /// 16 bits, for further processing.
    Sixteen,
}

/// Output files of a picture.
#[derive(Clone, Copy, Debug)]
pub struct PictureFiles<'a> {
    /// Path of the PNG.
    pub png: &'a Path,
    /// Bits per channel of the PNG.
    pub bits: PngDepth,
    /// Path of the array of `t`, if wanted.
    pub t: Option<&'a Path>,
    /// Path of the array of ids, if wanted.
    pub id: Option<&'a Path>,
    /// Path of the array of visible fractions, if wanted.
    pub fraction: Option<&'a Path>,
    /// Path of the array of visible fluxes, if wanted.
    pub flux: Option<&'a Path>,
    /// Path of the array of normals, if wanted.
    pub normal: Option<&'a Path>,
    /// Path of the array of view distances, if wanted.
    pub view_distance: Option<&'a Path>,
}

/// Writes a PNG in sRGB.
///
/// # Errors
/// [`Error::Io`] if writing fails, [`TooLarge`](umbracast::Error::TooLarge) and [`OutOfMemory`](umbracast::Error::OutOfMemory) if there is
/// not enough memory to encode the picture. A file that exists at `path` then stays unchanged.
pub fn write_png(picture: &Picture, path: &Path, bits: PngDepth) -> Result<()> {
    prepare_png(picture, path, bits)?.persist()
}

/// The bytes of a PNG in sRGB.
///
/// # Errors
/// The errors of [`write_png`].
pub fn encode_png(picture: &Picture, bits: PngDepth) -> Result<Vec<u8>> {
    let channels = (picture.channel_count() * picture.rgb.len()) as u64;
    // Additional memory: the compressed bytes of the encoder and their copy, which both grow by doubling, and for 16 bits a copy of the
    // channels.
    let (own, more) = match bits {
        PngDepth::Eight => (channels, 4 * channels),
        PngDepth::Sixteen => (2 * channels, 10 * channels),
    };
    memory::check("encoding of the picture", own + more)?;
    let (mut bytes, mut words) = (Vec::new(), Vec::new());
    match bits {
        PngDepth::Eight => encode_into(picture, &mut bytes, |x| (x * 255.0).round() as u8)?,
        PngDepth::Sixteen => encode_into(picture, &mut words, |x| (x * 65535.0).round() as u16)?,
    }
    // The encoder itself aborts if an allocation fails, so the same amount is allocated here and freed again.
    try_reserve("encoding of the picture", &mut Vec::<u8>::new(), more)?;
    let ([width, height], opaque) = (picture.size, picture.alpha.is_empty());
    let (bytes, form) = match (bits, opaque) {
        (PngDepth::Eight, true) => (&bytes[..], ExtendedColorType::Rgb8),
        (PngDepth::Eight, false) => (&bytes[..], ExtendedColorType::Rgba8),
        (PngDepth::Sixteen, true) => (bytemuck::cast_slice(&words), ExtendedColorType::Rgb16),
        (PngDepth::Sixteen, false) => (bytemuck::cast_slice(&words), ExtendedColorType::Rgba16),
    };
    let mut encoded = Vec::new();
    PngEncoder::new_with_quality(&mut encoded, CompressionType::Default, FilterType::Adaptive)
        .write_image(bytes, width, height, form)
        .map_err(|error| Error::io("write", "the picture", std::io::Error::other(error)))?;
    Ok(encoded)
}

/// Writes the PNG and the arrays of a picture of `system`. No file appears before all are complete. Arrays have shape (height, width),
/// that of the normals (height, width, 3).
///
/// # Errors
/// The errors of [`write_png`].
pub fn write_picture(picture: &Picture, system: &System, files: &PictureFiles<'_>) -> Result<()> {
    let mut ready = vec![prepare_png(picture, files.png, files.bits)?];
    ready.extend(files.t.map(|path| prepare(path, picture.size, &picture.t)).transpose()?);
    ready.extend(files.id.map(|path| prepare(path, picture.size, &picture.id)).transpose()?);
    ready.extend(files.fraction.map(|path| prepare(path, picture.size, &picture.fraction)).transpose()?);
    if let Some(path) = files.flux {
        ready.push(prepare(path, picture.size, &picture.fluxes(system)?)?);
    }
    if let Some(path) = files.normal {
        ready.push(prepare(path, picture.size, picture.normals(system)?.as_flattened())?);
    }
    if let Some(path) = files.view_distance {
        ready.push(prepare(path, picture.size, &picture.view_distances(system)?)?);
    }
    PreparedFile::persist_all(ready)
}

fn prepare_png(picture: &Picture, path: &Path, bits: PngDepth) -> Result<PreparedFile> {
    // The encoder's error would not say that a pipe was closed.
    let bytes = encode_png(picture, bits)?;
    prepare_atomic(path, |out| out.write_all(&bytes))
}

fn encode_into<T>(picture: &Picture, list: &mut Vec<T>, channel: impl Fn(f64) -> T) -> Result<()> {
    try_reserve("the picture in sRGB", list, (picture.channel_count() * picture.rgb.len()) as u64)?;
    list.extend(picture.channels().map(channel));
    Ok(())
}

/// Writes an array of shape (height, width) to a `.npy`, but does not name the file yet. `size` is width and height.
///
/// # Errors
/// [`Error::BadFile`] if the extension is another one, [`Error::Io`] if writing fails.
pub fn prepare_array(path: &Path, size: [u32; 2], values: &[f32]) -> Result<PreparedFile> {
    prepare(path, size, values)
}

/// Writes the values of pixels, one or three each.
fn prepare<T: AnswerRow>(path: &Path, size: [u32; 2], values: &[T]) -> Result<PreparedFile> {
    if !path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy")) {
        let message = "cannot write an array in this format: supported is .npy".into();
        return Err(Error::BadFile { path: path.to_path_buf(), message });
    }
    let [width, height] = size.map(u64::from);
    let channels = values.len() as u64 / (height * width).max(1);
    let shape =
        if channels == 1 { format!("({height}, {width}, )") } else { format!("({height}, {width}, {channels}, )") };
    let number = T::COLUMNS[0].1;
    prepare_atomic(path, |out| {
        out.write_all(&header(type_of(number(&T::MISS)), &shape))?;
        let mut bytes = Vec::new();
        for values in values.chunks(1 << 16) {
            bytes.clear();
            values.iter().for_each(|value| push(&mut bytes, number(value)));
            out.write_all(&bytes)?;
        }
        out.flush()
    })
}
