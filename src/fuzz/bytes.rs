//! Decodes the bytes of a fuzz input into numbers and choices. Reads past the end return 0.

use glam::{DVec3, Vec3};

/// The unread rest of a fuzz input.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

/// Distribution of the numbers of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Small multiples of powers of two, one byte each: equal numbers, tangents and starts on surfaces are frequent.
    Lattice,
    /// Numbers between -16 and 16, two bytes each.
    Tame,
    /// Any finite f32, four bytes each.
    Wild,
}

impl Bytes<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.byte())
    }

    /// A number below `end`, which is at most 256.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }

    pub(crate) fn word(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    /// A number in 0..=1, both ends included.
    pub(crate) fn unit(&mut self) -> f64 {
        f64::from(u16::from_le_bytes(self.array())) / f64::from(u16::MAX)
    }

    /// A number in -1..=1.
    pub(crate) fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    /// A point in the cube from -1 to 1.
    pub(crate) fn point(&mut self) -> DVec3 {
        DVec3::new(self.signed(), self.signed(), self.signed())
    }

    pub(crate) fn style(&mut self) -> Style {
        [Style::Lattice, Style::Tame, Style::Wild][self.below(3)]
    }

    /// A finite number.
    pub(crate) fn number(&mut self, style: Style) -> f32 {
        match style {
            Style::Lattice => {
                let byte = self.byte();
                (f32::from(byte >> 2) - 32.0) * [0.25, 0.5, 1.0, 2.0][usize::from(byte & 3)]
            }
            Style::Tame => f32::from(i16::from_le_bytes(self.array())) / 2048.0,
            Style::Wild => {
                let number = f32::from_bits(self.word());
                if number.is_finite() { number } else { 0.0 }
            }
        }
    }

    pub(crate) fn vector(&mut self, style: Style) -> Vec3 {
        Vec3::new(self.number(style), self.number(style), self.number(style))
    }
}
