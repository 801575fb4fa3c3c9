//! Real eclipses: time scales, positions of Sun, Earth and Moon from an ephemeris, solar and lunar eclipses, and local circumstances.
//!
//! [`Sky`] joins an [`Ephemeris`] and [`SkyOptions`]. With the feature `sky`, the ephemeris is part of the library ([`Sky::new`]);
//! without it, the caller passes the bytes of the file ([`Ephemeris::from_bytes`]), for example in a browser.
//!
//! Positions are apparent places: light time and aberration are included. Distances are in km, angles in degrees unless a name says
//! otherwise, east longitudes are positive. There is no refraction and no lunar limb profile.

pub(crate) mod almanac;
pub(crate) mod apparent;
pub(crate) mod bodies;
pub(crate) mod calendar;
pub(crate) mod circumstances;
pub(crate) mod cities;
pub(crate) mod constants;
pub(crate) mod delta_t;
pub(crate) mod eclipse;
pub(crate) mod ephemeris;
pub(crate) mod limits;
pub(crate) mod lunar;
pub(crate) mod map;
pub(crate) mod motion;
pub(crate) mod orientation;
pub(crate) mod places;
pub(crate) mod roots;
pub(crate) mod scenes;
pub(crate) mod search;

pub(crate) mod solar;
pub(crate) mod time;
pub(crate) mod vectors;

pub use almanac::{Sky, SkyOptions};
pub use bodies::SkyBody;
pub use circumstances::{Circumstances, LocalKind, LocalMaximum, LocalView};
pub use cities::{CITIES, city};
pub use constants::{AU_KM, LunarRule, Radii};
pub use delta_t::DeltaT;
pub use eclipse::Eclipse;
pub use ephemeris::{Ephemeris, State};
pub use limits::{CentralLine, LinePoint};
pub use lunar::{LunarEclipse, LunarKind};
pub use map::MapGrid;
pub use places::Place;

pub use scenes::View;
pub use solar::{Greatest, SolarEclipse, SolarKind};
pub use time::{Precision as DatePrecision, Time, TimeText};
pub use vectors::{BodyVectors, VectorRow};
