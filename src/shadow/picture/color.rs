//! Colours: sRGB in the interface, linear light inside.

/// A colour as linear light; 1 is the brightest that a picture can show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Color(pub [f64; 3]);

impl Color {
    /// White.
    pub const WHITE: Self = Self([1.0; 3]);
    /// Black.
    pub const BLACK: Self = Self([0.0; 3]);

    /// The colour of three sRGB channels, 0…255.
    pub fn from_srgb(channels: [f32; 3]) -> Self {
        Self(channels.map(|channel| linear(f64::from(channel) / 255.0)))
    }

    /// The colour of an sRGB text `#rrggbb`; `None` for anything else.
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#')?;
        if digits.len() != 6 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let channel = |i: usize| Some(linear(f64::from(u8::from_str_radix(digits.get(i..i + 2)?, 16).ok()?) / 255.0));
        Some(Self([channel(0)?, channel(2)?, channel(4)?]))
    }
}

/// sRGB to linear light (IEC 61966-2-1).
fn linear(encoded: f64) -> f64 {
    if encoded <= 0.040_45 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) }
}

/// Linear light to sRGB; values above 1 are clipped.
pub(crate) fn encoded(linear: f64) -> f64 {
    let linear = linear.clamp(0.0, 1.0);
    if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
}
