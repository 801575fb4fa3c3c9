//! Spheres in f64, and what an observer sees of a light: the types that all shadow code shares.

use glam::DVec3;

/// A sphere in f64, for pictures and shadows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// The centre.
    pub center: DVec3,
    /// The radius, not negative.
    pub radius: f64,
}

impl Ball {
    /// A ball from its centre and radius.
    pub fn new(center: impl Into<DVec3>, radius: f64) -> Self {
        Self { center: center.into(), radius }
    }
}

/// How a light's disc is covered. The numbers are those of files and of shaders.
///
/// A fraction of 0 is [`Total`](Self::Total). Otherwise the edges of the discs decide, not the fraction: what covers a sliver may be
/// too thin to move the fraction from 1. Discs with the same centre are never [`Partial`](Self::Partial).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum ShadowKind {
    /// Not at all: full light.
    #[default]
    None = 0,
    /// In part, its rim too: the penumbra.
    Partial = 1,
    /// In part, but its whole rim is seen: the antumbra. (Several small balls before a large light do the same.)
    Annular = 2,
    /// Wholly: the umbra.
    Total = 3,
}

impl ShadowKind {
    /// In the order of their numbers.
    pub const ALL: [Self; 4] = [Self::None, Self::Partial, Self::Annular, Self::Total];

    /// What it is called: `none`, `partial`, `annular`, `total`.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Partial => "partial",
            Self::Annular => "annular",
            Self::Total => "total",
        }
    }
}

/// What of the light is left at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shadow {
    /// The part of the light's disc, by solid angle, that is seen: 0 in the umbra, 1 in full light. (1 − fraction is the
    /// obscuration.)
    pub fraction: f64,
    /// How the disc is covered.
    pub kind: ShadowKind,
}

impl Shadow {
    /// Full light.
    pub const LIT: Self = Self { fraction: 1.0, kind: ShadowKind::None };
    /// No light.
    pub const DARK: Self = Self { fraction: 0.0, kind: ShadowKind::Total };
}
