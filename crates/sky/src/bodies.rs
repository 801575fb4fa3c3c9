//! The bodies with known positions, their sizes and their poles.

use glam::{DMat3, DVec3};

use crate::error::quoted;
use crate::error::{Error, Result};
use crate::time::{DAY, Time};

/// The Sun, the Moon or a planet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "their names say it")]
pub enum SkyBody {
    Sun,
    Earth,
    Moon,
    Mercury,
    Venus,
    Mars,
    Jupiter,
    Saturn,
    Uranus,
    Neptune,
}

/// Name, number of NAIF and radii of each body, in the order of the variants.
const BODIES: [(&str, i16, (f64, f64)); 10] = [
    ("Sun", 10, (695_700.0, 695_700.0)),
    ("Earth", 399, (super::places::EQUATOR_KM, super::places::POLE_KM)),
    ("Moon", 301, (1737.4, 1737.4)),
    ("Mercury", 199, (2440.53, 2438.26)),
    ("Venus", 299, (6051.8, 6051.8)),
    ("Mars", 499, (3396.19, 3376.20)),
    ("Jupiter", 5, (71_492.0, 66_854.0)),
    ("Saturn", 6, (60_268.0, 54_364.0)),
    ("Uranus", 7, (25_559.0, 24_973.0)),
    ("Neptune", 8, (24_764.0, 24_341.0)),
];

impl SkyBody {
    /// All bodies.
    pub const ALL: [Self; 10] = [
        Self::Sun,
        Self::Earth,
        Self::Moon,
        Self::Mercury,
        Self::Venus,
        Self::Mars,
        Self::Jupiter,
        Self::Saturn,
        Self::Uranus,
        Self::Neptune,
    ];

    /// The name, with a capital letter.
    pub fn name(self) -> &'static str {
        BODIES[self as usize].0
    }

    /// The body with this name, in small or capital letters.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if there is none.
    pub fn from_name(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|one| one.name().eq_ignore_ascii_case(name.trim()));
        found.ok_or_else(|| {
            let names = Self::ALL.map(|one| one.name().to_lowercase()).join(", ");
            Error::InvalidArgument(format!("there are no positions of '{}': expected one of {names}", quoted(name)))
        })
    }

    /// The number of NAIF, under which the ephemeris has the body.
    pub(crate) fn naif_number(self) -> i16 {
        BODIES[self as usize].1
    }

    /// Equatorial and polar radius in km (IAU Working Group on Cartographic Coordinates 2015; the Earth: WGS 84).
    pub fn radii_km(self) -> (f64, f64) {
        BODIES[self as usize].2
    }

    /// Unit vector of the north pole, in the axes of the ICRF (IAU Working Group on Cartographic Coordinates 2015; main terms only). The
    /// Earth's is that of J2000; [`Sky::earth_fixed`](super::Sky::earth_fixed) has its true pole as z.
    pub fn pole(self, time: Time) -> DVec3 {
        let t = time.centuries();
        let (ascension, declination) = match self {
            Self::Sun => (286.13, 63.87),
            Self::Earth => (0.0, 90.0),
            Self::Moon => {
                let days = time.tt_seconds() / DAY;
                let e1 = (125.045 - 0.052_992_1 * days).to_radians();
                let e2 = (250.089 - 0.105_984_2 * days).to_radians();
                (
                    269.9949 + 0.0031 * t - 3.8787 * e1.sin() - 0.1204 * e2.sin(),
                    66.5392 + 0.0130 * t + 1.5419 * e1.cos() + 0.0239 * e2.cos(),
                )
            }
            Self::Mercury => (281.0103 - 0.0328 * t, 61.4155 - 0.0049 * t),
            Self::Venus => (272.76, 67.16),
            Self::Mars => (317.681_43 - 0.1061 * t, 52.886_50 - 0.0609 * t),
            Self::Jupiter => (268.056_595 - 0.006_499 * t, 64.495_303 + 0.002_413 * t),
            Self::Saturn => (40.589 - 0.036 * t, 83.537 - 0.004 * t),
            Self::Uranus => (257.311, -15.175),
            Self::Neptune => {
                let n = (357.85 + 52.316 * t).to_radians();
                (299.36 + 0.70 * n.sin(), 43.46 - 0.51 * n.cos())
            }
        };
        let (ascension, declination) = (f64::to_radians(ascension), f64::to_radians(declination));
        let across = declination.cos();
        DVec3::new(across * ascension.cos(), across * ascension.sin(), declination.sin())
    }

    /// From the axes that rotate with the body, x through its prime meridian at the equator and z through its pole, to those of the ICRF (IAU Working Group on
    /// Cartographic Coordinates 2009, main terms only; System III for Jupiter). Those of the Earth are better by [`Sky::earth_fixed`](super::Sky::earth_fixed).
    pub(crate) fn icrf_from_fixed(self, time: Time) -> DMat3 {
        let days = time.tdb_seconds() / DAY;
        let meridian = match self {
            Self::Sun => 84.176 + 14.184_4 * days,
            Self::Earth => 190.147 + 360.985_623_5 * days,
            Self::Moon => {
                let e = |start: f64, rate: f64| (start + rate * days).to_radians().sin();
                38.3213 + 13.176_358_15 * days - 1.4e-12 * days * days
                    + 3.5610 * e(125.045, -0.052_992_1)
                    + 0.1208 * e(250.089, -0.105_984_2)
                    - 0.0642 * e(260.008, 13.012_000_9)
                    + 0.0158 * e(176.625, 13.340_715_4)
                    + 0.0252 * e(357.529, 0.985_600_3)
            }
            Self::Mercury => 329.5469 + 6.138_502_5 * days,
            Self::Venus => 160.20 - 1.481_368_8 * days,
            Self::Mars => 176.630 + 350.891_982_26 * days,
            Self::Jupiter => 284.95 + 870.536 * days,
            Self::Saturn => 38.90 + 810.793_902_4 * days,
            Self::Uranus => 203.81 - 501.160_092_8 * days,
            Self::Neptune => {
                253.18 + 536.312_849_2 * days - 0.48 * (357.85 + 52.316 * time.centuries()).to_radians().sin()
            }
        };
        let pole = self.pole(time);
        // The meridian is counted from where the equator of the body rises above that of the ICRF; that of the Earth does so nowhere.
        let node = DVec3::Z.cross(pole).try_normalize().unwrap_or(DVec3::Y);
        let (sine, cosine) = meridian.to_radians().sin_cos();
        let x = node * cosine + pole.cross(node) * sine;
        DMat3::from_cols(x, pole.cross(x), pole)
    }
}
