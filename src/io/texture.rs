//! Reader of textures: PNG and JPEG files.

use std::io::{BufReader, Seek, SeekFrom};
use std::path::Path;

use image::{ColorType, ImageDecoder, ImageFormat, ImageReader};

use super::errors::bad_file;
use crate::error::Result;
use crate::runtime::memory::check_memory;
use crate::shadow::surface::texture::{MAX_TEXTURE_SIDE, Texture};

/// First bytes of a PNG.
const PNG: [u8; 8] = [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a];
/// First bytes of a JPEG.
const JPEG: [u8; 3] = [0xff, 0xd8, 0xff];

/// Reads a texture from a PNG or a JPEG. Transparency is ignored. `place` is the key that names the file, for errors.
pub(super) fn read_texture(path: &Path, place: &str) -> Result<Texture> {
    let bad = |message: String| bad_file(path, format!("{place}: {message}"));
    let unread = |e: std::io::Error| bad(format!("cannot read the file: {e}"));
    let mut file = std::fs::File::open(path).map_err(unread)?;
    if !file.metadata().map_err(unread)?.is_file() {
        return Err(bad("it is not a regular file".into()));
    }
    let mut first = [0; 8];
    let read = std::io::Read::read(&mut file, &mut first).map_err(unread)?;
    let format = match &first[..read] {
        start if start == PNG => ImageFormat::Png,
        start if start.starts_with(&JPEG) => ImageFormat::Jpeg,
        _ => return Err(bad("the file is neither a PNG nor a JPEG: expected one of these formats".into())),
    };
    file.seek(SeekFrom::Start(0)).map_err(unread)?;
    let mut reader = ImageReader::with_format(BufReader::new(file), format);
    // The memory is checked below.
    reader.no_limits();
    let decoder = reader.into_decoder().map_err(|e| bad(e.to_string()))?;
    let (width, height) = decoder.dimensions();
    if width > MAX_TEXTURE_SIDE || height > MAX_TEXTURE_SIDE {
        let most = format!("at most {MAX_TEXTURE_SIDE} per side are allowed");
        return Err(bad(format!("the texture has {width}x{height} pixels: {most}")));
    }
    let pixels = u64::from(width) * u64::from(height);
    check_memory("a texture", pixels * (u64::from(decoder.color_type().bytes_per_pixel()) + 3))?;
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
