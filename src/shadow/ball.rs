//! Spheres in f64 and shadow results: the types that all shadow code shares.

use glam::DVec3;

/// A sphere in f64, for pictures and shadows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// The centre.
    pub center: DVec3,
    /// The radius; not negative.
    pub radius: f64,
}

impl Ball {
    /// A sphere with this centre and radius.
    pub fn new(center: impl Into<DVec3>, radius: f64) -> Self {
        Self { center: center.into(), radius }
    }
}

/// Kind of coverage of a light's disc. Files and shaders use the same numbers.
///
/// A fraction of 0 is [`Total`](Self::Total). Otherwise the edges of the discs decide, not the fraction: an occluder may cover a sliver too
/// thin to change the fraction from 1. Concentric discs are never [`Partial`](Self::Partial).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum ShadowKind {
    /// Not covered: full light.
    #[default]
    None = 0,
    /// Partly covered, including part of its rim: the penumbra.
    Partial = 1,
    /// Partly covered, with the whole rim visible: the antumbra. (Several small spheres in front of a large light have the same effect.)
    Annular = 2,
    /// Completely covered: the umbra.
    Total = 3,
}

impl ShadowKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::None, Self::Partial, Self::Annular, Self::Total];

    /// Its name: `none`, `partial`, `annular` or `total`.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Partial => "partial",
            Self::Annular => "annular",
            Self::Total => "total",
        }
    }
}

/// Shadow at a point: the visible fraction of the light, and the kind of coverage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shadow {
    /// Fraction of the light's disc, by solid angle, that is visible: 0 in the umbra, 1 in full light. (1 − fraction is the obscuration.)
    pub fraction: f64,
    /// Kind of coverage.
    pub kind: ShadowKind,
}

impl Shadow {
    /// Full light.
    pub const LIT: Self = Self { fraction: 1.0, kind: ShadowKind::None };
    /// No light.
    pub const DARK: Self = Self { fraction: 0.0, kind: ShadowKind::Total };
}

/// A shadow, and the visible flux of a light with limb darkening: a row of the output of `umbracast shadow`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ShadowFlux {
    /// Visible fraction and kind of coverage.
    pub shadow: Shadow,
    /// Brightness of the visible part of the disc, relative to that of the whole disc.
    pub flux: f64,
}
