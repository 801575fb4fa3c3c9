//! Letters and the encoding of pictures, for plots and maps.

use std::io::{Error, Result, Write};

use font8x8::UnicodeFonts;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};

/// The letters of a text, of 8 by 8 dots each. A character that the font lacks is a block.
pub(crate) struct Glyphs(Vec<[u8; 8]>);

impl Glyphs {
    pub(crate) fn new(text: &str) -> Self {
        let glyph = |c: char| font8x8::BASIC_FONTS.get(c).or_else(|| font8x8::LATIN_FONTS.get(c)).unwrap_or([0xff; 8]);
        Self(text.chars().map(glyph).collect())
    }

    /// Number of letters.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether a dot is dark: `x` from the left of the text, `y` from the top. Dots outside are not.
    pub(crate) fn is_dark(&self, x: i64, y: i64) -> bool {
        let letter = usize::try_from(x.div_euclid(8)).ok().and_then(|letter| self.0.get(letter));
        let row = letter.and_then(|glyph| glyph.get(usize::try_from(y).ok()?));
        row.is_some_and(|row| row >> x.rem_euclid(8) & 1 == 1)
    }
}

/// Encodes sRGB pixels of 8 bits per channel, rows from the top, as PNG.
pub(crate) fn write_png(out: impl Write, pixels: &[u8], [width, height]: [usize; 2]) -> Result<()> {
    PngEncoder::new_with_quality(out, CompressionType::Default, FilterType::Adaptive)
        .write_image(pixels, width as u32, height as u32, ExtendedColorType::Rgb8)
        .map_err(Error::other)
}
