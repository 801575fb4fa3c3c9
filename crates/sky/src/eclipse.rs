//! A solar or a lunar eclipse.

use crate::lunar::LunarEclipse;
use crate::saros::lunation_and_saros;
use crate::solar::SolarEclipse;
use crate::time::Time;

/// A solar or a lunar eclipse.
#[derive(Clone, Debug)]
pub enum Eclipse {
    /// A solar eclipse.
    Solar(Box<SolarEclipse>),
    /// A lunar eclipse.
    Lunar(Box<LunarEclipse>),
}

/// Solar or lunar: which eclipses to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EclipseBody {
    /// Eclipses of the Sun.
    Solar,
    /// Eclipses of the Moon.
    Lunar,
}

impl Eclipse {
    /// The instant of the greatest eclipse.
    pub fn greatest(&self) -> Time {
        match self {
            Self::Solar(eclipse) => eclipse.greatest.time,
            Self::Lunar(eclipse) => eclipse.greatest,
        }
    }

    /// `solar` or `lunar`.
    pub fn body(&self) -> &'static str {
        match self {
            Self::Solar(_) => "solar",
            Self::Lunar(_) => "lunar",
        }
    }

    /// The kind: `total`, `partial` and so on.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Solar(eclipse) => eclipse.kind.name(),
            Self::Lunar(eclipse) => eclipse.kind.name(),
        }
    }

    /// Least distance of the shadow's axis from the centre of the Earth (solar) or of the Moon from the axis (lunar), in equatorial radii of
    /// the Earth; positive in the north.
    pub fn gamma(&self) -> f64 {
        match self {
            Self::Solar(eclipse) => eclipse.greatest.gamma,
            Self::Lunar(eclipse) => eclipse.gamma,
        }
    }

    /// Magnitude: of a solar eclipse at the greatest eclipse; of a lunar one the umbral magnitude, or the penumbral one if the Moon misses
    /// the umbra.
    pub fn magnitude(&self) -> f64 {
        match self {
            Self::Solar(eclipse) => eclipse.greatest.view.magnitude,
            Self::Lunar(eclipse) if eclipse.umbral_magnitude > 0.0 => eclipse.umbral_magnitude,
            Self::Lunar(eclipse) => eclipse.penumbral_magnitude,
        }
    }

    /// The number of its lunation, and that of its Saros series as in the canons: solar and lunar eclipses have series of their own. The
    /// lunation that began at the new moon of 2000-01-06 is 0.
    pub fn lunation_and_saros(&self) -> (i32, i32) {
        let body = match self {
            Self::Solar(_) => EclipseBody::Solar,
            Self::Lunar(_) => EclipseBody::Lunar,
        };
        lunation_and_saros(self.greatest(), body)
    }

    /// The first and the last instant of the eclipse.
    pub fn span(&self) -> (Time, Time) {
        match self {
            Self::Solar(eclipse) => (eclipse.begins.0, eclipse.ends.0),
            Self::Lunar(eclipse) => (eclipse.begins, eclipse.ends),
        }
    }
}
