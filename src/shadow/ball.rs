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
/// A fraction of 0 is [`Umbra`](Self::Umbra). Otherwise the edges of the discs decide, not the fraction: an occluder may cover a sliver too
/// thin to change the fraction from 1. Concentric discs are never [`Penumbra`](Self::Penumbra).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[repr(u8)]
pub enum ShadowKind {
    /// Not covered: full light.
    #[default]
    Lit = 0,
    /// Partly covered, including part of its rim.
    Penumbra = 1,
    /// Partly covered, with the whole rim visible. (Several small spheres in front of a large light have the same effect.)
    Antumbra = 2,
    /// Completely covered.
    Umbra = 3,
}

impl ShadowKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Lit, Self::Penumbra, Self::Antumbra, Self::Umbra];

    /// Its name: `lit`, `penumbra`, `antumbra` or `umbra`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Lit => "lit",
            Self::Penumbra => "penumbra",
            Self::Antumbra => "antumbra",
            Self::Umbra => "umbra",
        }
    }
}

/// Shadow at a point: the visible fraction of the light, and the kind of coverage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Shadow {
    /// Fraction of the light's disc, by solid angle, that is visible: 0 in the umbra, 1 in full light. (1 − fraction is the obscuration.)
    pub fraction: f64,
    /// Kind of coverage.
    pub kind: ShadowKind,
}

impl Shadow {
    /// Full light.
    pub const LIT: Self = Self { fraction: 1.0, kind: ShadowKind::Lit };
    /// No light.
    pub const DARK: Self = Self { fraction: 0.0, kind: ShadowKind::Umbra };
}

/// A shadow, and the visible flux of a light with limb darkening: a row of the output of `umbracast shadow`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ShadowFlux {
    /// Visible fraction and kind of coverage.
    pub shadow: Shadow,
    /// Brightness of the visible part of the disc, relative to that of the whole disc.
    pub flux: f64,
}
