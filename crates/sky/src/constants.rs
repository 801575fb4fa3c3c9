//! Constants and conventions that change eclipses by more than the positions do.

use crate::error::quoted;
use crate::error::{Error, Result};
use crate::places::EQUATOR_KM;

/// The astronomical unit in km (IAU 2012).
pub const AU_KM: f64 = 149_597_870.7;

/// Arcseconds per radian.
pub(crate) const ARCSECONDS: f64 = 206_264.806_247_096_36;

/// The radii of Sun and Moon. They move contacts by some seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Radii {
    /// Radius of the Sun in km.
    pub sun_km: f64,
    /// Radius of the Moon in km for partial phases: C1, C4, and magnitudes of partial eclipses.
    pub moon_partial_km: f64,
    /// Radius of the Moon in km for total and annular phases: C2, C3.
    pub moon_central_km: f64,
}

impl Default for Radii {
    fn default() -> Self {
        Self::IAU
    }
}

impl Radii {
    /// Sun 695,700 km (IAU 2015), Moon 1,737.4 km (IAU 2015).
    pub const IAU: Self = Self { sun_km: 695_700.0, moon_partial_km: 1737.4, moon_central_km: 1737.4 };
    /// Those of NASA's Five Millennium Canon: the Sun 959.63″ at 1 au; the Moon 0.272488 equatorial radii of the Earth for partial phases
    /// and 0.272281 for total and annular ones.
    pub const NASA: Self = Self {
        sun_km: 695_989.245_014_612,
        moon_partial_km: 0.272_488 * EQUATOR_KM,
        moon_central_km: 0.272_281 * EQUATOR_KM,
    };

    /// `iau`, `nasa`, or the values: `Sun 959.95", k 0.272281`.
    pub fn name(self) -> String {
        if self == Self::IAU {
            return "iau".into();
        }
        if self == Self::NASA {
            return "nasa".into();
        }
        let sun = (self.sun_km / AU_KM).asin() * ARCSECONDS;
        let [partial, central] = [self.moon_partial_km, self.moon_central_km].map(|km| km / EQUATOR_KM);
        let central = if partial == central { String::new() } else { format!(" and {central:.7}") };
        format!("Sun {sun:.3}\", k {partial:.7}{central}")
    }

    /// The radii with this name: `iau` or `nasa`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if there are none.
    pub fn from_name(name: &str) -> Result<Self> {
        match name {
            "iau" => Ok(Self::IAU),
            "nasa" => Ok(Self::NASA),
            _ => Err(Error::InvalidArgument(format!("radii '{}': expected iau or nasa", quoted(name)))),
        }
    }

    /// The same with another radius of the Sun, in arcseconds at 1 au, such as 959.95.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if it is not in 950 to 970.
    pub fn with_sun_radius(self, arcseconds: f64) -> Result<Self> {
        if !(950.0..=970.0).contains(&arcseconds) {
            let message = format!("the radius of the Sun is {arcseconds}: expected 950 to 970 arcseconds at 1 au");
            return Err(Error::InvalidArgument(message));
        }
        Ok(Self { sun_km: AU_KM * (arcseconds / ARCSECONDS).sin(), ..self })
    }

    /// The same with another radius of the Moon for all phases, in equatorial radii of the Earth (k), such as 0.2722810.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if it is not in 0.27 to 0.275.
    pub fn with_moon_k(self, k: f64) -> Result<Self> {
        if !(0.27..=0.275).contains(&k) {
            let message =
                format!("the radius of the Moon is {k}: expected 0.27 to 0.275 equatorial radii of the Earth");
            return Err(Error::InvalidArgument(message));
        }
        let km = k * EQUATOR_KM;
        Ok(Self { moon_partial_km: km, moon_central_km: km, ..self })
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
