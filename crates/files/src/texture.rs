//! Reader of textures: PNG and JPEG files.

use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::ops::RangeInclusive;
use std::path::Path;

use image::{ColorType, ImageDecoder, ImageFormat, ImageReader};

use crate::error::Result;
use crate::error::{bad_file, cannot_read};
use umbracast::memory;
use umbracast::shadow::Texture;

/// First bytes of a PNG.
const PNG: [u8; 8] = [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a];
/// First bytes of a JPEG.
const JPEG: [u8; 3] = [0xff, 0xd8, 0xff];

/// Reads a texture from a PNG or a JPEG. Transparency is ignored. `place` is the key that names the file, for errors.
pub(super) fn read_texture(path: &Path, place: &str) -> Result<Texture> {
    let bad = |message: String| bad_file(path, format!("{place}: {message}"));
    let unread = |e: std::io::Error| cannot_read(path, std::io::Error::new(e.kind(), format!("{place}: {e}")));
    let mut file = std::fs::File::open(path).map_err(unread)?;
    if !file.metadata().map_err(unread)?.is_file() {
        return Err(bad("it is not a regular file".into()));
    }
    let mut first = [0; 8];
    let read = file.read(&mut first).map_err(unread)?;
    let format = match &first[..read] {
        start if start == PNG => ImageFormat::Png,
        start if start.starts_with(&JPEG) => ImageFormat::Jpeg,
        _ => return Err(bad("the file is neither a PNG nor a JPEG: expected one of these formats".into())),
    };
    file.seek(SeekFrom::Start(0)).map_err(unread)?;
    let mut file = BufReader::new(file);
    // The decoder fills the missing part of a picture with grey.
    if format == ImageFormat::Jpeg && !is_complete_jpeg(&mut file).map_err(unread)? {
        return Err(bad("the JPEG is truncated: it ends before the marker of its end".into()));
    }
    file.seek(SeekFrom::Start(0)).map_err(unread)?;
    let mut reader = ImageReader::with_format(file, format);
    // The memory is checked below.
    reader.no_limits();
    let decoder = reader.into_decoder().map_err(|e| bad(e.to_string()))?;
    let (width, height) = decoder.dimensions();
    if width > Texture::MAX_SIDE || height > Texture::MAX_SIDE {
        let most = format!("at most {} per side are allowed", Texture::MAX_SIDE);
        return Err(bad(format!("the texture has {width}x{height} pixels: {most}")));
    }
    let pixels = u64::from(width) * u64::from(height);
    memory::check("a texture", pixels * (u64::from(decoder.color_type().bytes_per_pixel()) + 3))?;
    let color = decoder.color_type();
    let mut bytes = vec![0; decoder.total_bytes() as usize];
    decoder.read_image(&mut bytes).map_err(|e| bad(e.to_string()))?;
    // 16-bit channels are in the byte order of the machine.
    let high = |pair: &[u8]| (u16::from_ne_bytes([pair[0], pair[1]]) >> 8) as u8;
    let colors: Vec<[u8; 3]> = match color {
        ColorType::L8 => bytes.iter().map(|&x| [x; 3]).collect(),
        ColorType::La8 => bytes.chunks_exact(2).map(|p| [p[0]; 3]).collect(),
        ColorType::Rgb8 => bytes.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect(),
        ColorType::Rgba8 => bytes.chunks_exact(4).map(|p| [p[0], p[1], p[2]]).collect(),
        ColorType::L16 => bytes.chunks_exact(2).map(|p| [high(p); 3]).collect(),
        ColorType::La16 => bytes.chunks_exact(4).map(|p| [high(p); 3]).collect(),
        ColorType::Rgb16 => bytes.chunks_exact(6).map(|p| [high(p), high(&p[2..]), high(&p[4..])]).collect(),
        ColorType::Rgba16 => bytes.chunks_exact(8).map(|p| [high(p), high(&p[2..]), high(&p[4..])]).collect(),
        other => return Err(bad(format!("pixels of type {other:?} are not supported"))),
    };
    Texture::new([width, height], colors).map_err(|e| bad(e.to_string()))
}

/// Whether a JPEG has the marker of its end. Its segments are skipped by their lengths, because a preview in one of them has that marker, too.
fn is_complete_jpeg(file: &mut impl BufRead) -> std::io::Result<bool> {
    match find_end(file) {
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => Ok(false),
        other => other.map(|()| true),
    }
}

/// Reads a JPEG up to the marker of its end.
fn find_end(file: &mut impl BufRead) -> std::io::Result<()> {
    /// Markers without a length: fill bytes, restarts, and the beginning.
    const SHORT: [RangeInclusive<u8>; 2] = [0x00..=0x01, 0xd0..=0xd8];
    let mut skipped = Vec::new();
    loop {
        // In the data of the picture, 0xff is followed by 0.
        skipped.clear();
        file.read_until(0xff, &mut skipped)?;
        let mut marker = [0xff];
        while marker == [0xff] {
            file.read_exact(&mut marker)?;
        }
        match marker[0] {
            0xd9 => return Ok(()),
            short if SHORT.iter().any(|range| range.contains(&short)) => {}
            _ => {
                let mut length = [0; 2];
                file.read_exact(&mut length)?;
                let length = u64::from(u16::from_be_bytes(length)).saturating_sub(2);
                std::io::copy(&mut file.by_ref().take(length), &mut std::io::sink())?;
            }
        }
    }
}
