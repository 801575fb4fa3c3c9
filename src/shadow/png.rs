//! Pictures and their arrays as files, whole or not at all.

use std::io::Write;
use std::path::Path;

use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};
use npyz::WriterBuilder;

use super::picture::Picture;
use crate::error::{Error, Result};
use crate::files::write_whole;

/// Channels of so many bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bits {
    /// What screens show.
    #[default]
    Eight,
    /// For what comes after.
    Sixteen,
}

impl Picture {
    /// Writes a PNG, in sRGB.
    ///
    /// # Errors
    /// [`Error::Io`] when writing fails, after which `path` is as it was.
    pub fn write_png(&self, path: &Path, bits: Bits) -> Result<()> {
        write_whole(path, |out| {
            let encoder = PngEncoder::new_with_quality(out, CompressionType::Default, FilterType::Adaptive);
            let [width, height] = self.size;
            match bits {
                Bits::Eight => encoder.write_image(&self.srgb8(), width, height, ExtendedColorType::Rgb8),
                Bits::Sixteen => {
                    let words = self.srgb16();
                    encoder.write_image(bytemuck::cast_slice(&words), width, height, ExtendedColorType::Rgb16)
                }
            }
            .map_err(std::io::Error::other)
        })
    }

    /// Writes `t` as a NumPy array of shape (height, width).
    ///
    /// # Errors
    /// As [`Picture::write_png`].
    pub fn write_t(&self, path: &Path) -> Result<()> {
        self.write_array(path, &self.t)
    }

    /// Writes the ids likewise.
    ///
    /// # Errors
    /// As [`Picture::write_png`].
    pub fn write_id(&self, path: &Path) -> Result<()> {
        self.write_array(path, &self.id)
    }

    /// Writes the visible fractions likewise.
    ///
    /// # Errors
    /// As [`Picture::write_png`].
    pub fn write_fraction(&self, path: &Path) -> Result<()> {
        self.write_array(path, &self.fraction)
    }

    fn write_array<T>(&self, path: &Path, values: &[T]) -> Result<()>
    where
        T: npyz::AutoSerialize + Copy,
    {
        if !path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy")) {
            let message = "an array of a picture is written as .npy".into();
            return Err(Error::BadFile { path: path.to_path_buf(), message });
        }
        let shape = [u64::from(self.size[1]), u64::from(self.size[0])];
        write_whole(path, |out| {
            let options = npyz::WriteOptions::new().default_dtype().shape(&shape);
            let mut writer = options.writer(&mut *out).begin_nd()?;
            writer.extend(values.iter().copied())?;
            writer.finish()?;
            out.flush()
        })
    }
}
