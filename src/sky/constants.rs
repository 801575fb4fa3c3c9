//! Constants and conventions that change eclipses by more than the positions do.

use super::places::EQUATOR_KM;
use crate::error::{Error, Result};
use crate::escape::quoted;

/// The astronomical unit in km (IAU 2012).
pub const AU_KM: f64 = 149_597_870.7;

/// The radii of Sun and Moon. They move contacts by some seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Radii {
    /// Sun 695,700 km (IAU 2015), Moon 1,737.4 km (IAU 2015).
    #[default]
    Iau,
    /// Those of NASA's Five Millennium Canon: the Sun 959.63″ at 1 au; the Moon 0.272508 equatorial radii of the Earth for partial phases
    /// and 0.272281 for total and annular ones.
    Nasa,
}

impl Radii {
    /// Both conventions.
    pub const ALL: [Self; 2] = [Self::Iau, Self::Nasa];

    /// `iau` or `nasa`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Iau => "iau",
            Self::Nasa => "nasa",
        }
    }

    /// The convention with this name.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if there is none.
    pub fn from_name(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|one| one.name() == name);
        found.ok_or_else(|| Error::InvalidArgument(format!("radii '{}': expected iau or nasa", quoted(name))))
    }

    /// Radius of the Sun in km.
    pub fn sun_km(self) -> f64 {
        match self {
            Self::Iau => 695_700.0,
            Self::Nasa => AU_KM * (959.63 / 206_264.806_247_096_36_f64).sin(),
        }
    }

    /// Radius of the Moon in km for partial phases: C1, C4, and magnitudes of partial eclipses.
    pub fn moon_partial_km(self) -> f64 {
        match self {
            Self::Iau => 1737.4,
            Self::Nasa => 0.272_508 * EQUATOR_KM,
        }
    }

    /// Radius of the Moon in km for total and annular phases: C2, C3.
    pub fn moon_central_km(self) -> f64 {
        match self {
            Self::Iau => 1737.4,
            Self::Nasa => 0.272_281 * EQUATOR_KM,
        }
    }
}

/// How the shadow of the Earth is enlarged in a lunar eclipse, to allow for the atmosphere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LunarRule {
    /// The Earth's parallax is enlarged by 1 % (Danjon 1951).
    #[default]
    Danjon,
    /// The radii of the shadow, with the Earth's mean radius, are enlarged by 1/50 (Chauvenet 1891).
    Chauvenet,
    /// The Earth is a sphere of 6,371 + 88 km.
    Plus88,
    /// The Earth is a sphere of 6,371 km without an atmosphere.
    None,
    /// The Earth is a sphere of 6,378.137 km without an atmosphere.
    Equator,
}

impl LunarRule {
    /// All rules.
    pub const ALL: [Self; 5] = [Self::Danjon, Self::Chauvenet, Self::Plus88, Self::None, Self::Equator];

    /// `danjon`, `chauvenet`, `plus88`, `none` or `equator`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Danjon => "danjon",
            Self::Chauvenet => "chauvenet",
            Self::Plus88 => "plus88",
            Self::None => "none",
            Self::Equator => "equator",
        }
    }

    /// The rule with this name.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if there is none.
    pub fn from_name(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|one| one.name() == name);
        let expected = "expected danjon, chauvenet, plus88, none or equator";
        found.ok_or_else(|| Error::InvalidArgument(format!("lunar rule '{}': {expected}", quoted(name))))
    }

    /// Angular radii of (umbra, penumbra) at the Moon, in radians, from the distances of Moon and Sun and the Sun's radius in km.
    pub(crate) fn shadow_radii(self, moon_km: f64, sun_km: f64, sun_radius_km: f64) -> (f64, f64) {
        let parallaxes = |radius: f64| ((radius / moon_km).asin(), (radius / sun_km).asin());
        let sun = (sun_radius_km / sun_km).asin();
        let (mut moon, sun_parallax) = parallaxes(match self {
            Self::None => 6371.0,
            Self::Plus88 => 6371.0 + 88.0,
            Self::Danjon | Self::Chauvenet | Self::Equator => EQUATOR_KM,
        });
        let mut factor = 1.0;
        match self {
            Self::Danjon => moon *= 1.01,
            Self::Chauvenet => {
                moon *= 0.998_340;
                factor = 1.02;
            }
            Self::Plus88 | Self::None | Self::Equator => {}
        }
        (factor * (moon + sun_parallax - sun), factor * (moon + sun_parallax + sun))
    }
}
