//! Real eclipses: time scales, positions of Sun, Earth and Moon from an ephemeris, solar and lunar eclipses, and local circumstances.
//!
//! [`Sky`] joins an [`Ephemeris`] and [`SkyOptions`]. With the feature `ephemeris`, the ephemeris is part of the library ([`Sky::new`]);
//! without it, the caller passes the bytes of the file ([`Ephemeris::from_bytes`]), for example in a browser.
//!
//! Positions are apparent places: light time and aberration are included. Distances are in km, angles in degrees unless a name says
//! otherwise, east longitudes are positive. There is no lunar limb profile, and no refraction unless
//! [`SkyOptions::refraction`] asks for it.

mod almanac;
mod apparent;
mod bodies;
mod calendar;
mod circumstances;
mod cities;
mod coastlines;
mod constants;
mod delta_t;
mod earth;
mod eclipse;
mod elements;
mod ephemeris;
mod error;
mod land_raster;
mod limits;
mod lunar;
mod map;
mod motion;
mod orientation;
mod places;
mod records;
mod roots;
mod saros;
mod scenes;
mod search;
mod shadow_intervals;
mod solar;
mod spk;
mod sunlight;
mod time;
mod transit;
mod vectors;

pub use almanac::{Sky, SkyOptions};
pub use bodies::SkyBody;
pub use calendar::date_from_days;
pub use circumstances::{Circumstances, LocalKind, LocalMaximum, LocalView};
pub use cities::{CITIES, city};
pub use coastlines::{Coastline, borders, coastlines};
pub use constants::{AU_KM, LunarRule, Radii};
pub use delta_t::DeltaT;
pub use earth::earth_map;
pub use eclipse::{Eclipse, EclipseBody};
pub use elements::BesselianElements;
pub use ephemeris::{Ephemeris, State};
pub use error::{Error, Result};
pub use land_raster::land_and_ice;
pub use limits::{CentralLine, LinePoint};
pub use lunar::{LunarCircumstances, LunarEclipse, LunarKind, MoonView};
pub use map::MapGrid;
pub use places::{Place, parse_degrees};
pub use records::{
    BesselianElementsRecord, Cell, CircumstancesRecord, ContactRecord, Conventions, Field, FieldKind,
    GeocentricContactRecord, LunarCircumstancesRecord, LunarEclipseRecord, PathPointRecord, Record, SolarEclipseRecord,
    TransitCircumstancesRecord, TransitRecord, ViewRecord,
};
pub use scenes::{LightTime, View};
pub use shadow_intervals::{ShadowInterval, shadow_intervals};
pub use solar::{Greatest, SolarEclipse, SolarKind};
pub use sunlight::{Frame, PathCheck, Sunlight, Trajectory, TrajectoryState};
pub use time::{Precision as DatePrecision, Time, TimeText};
pub use transit::{Transit, TransitCircumstances, TransitContacts};
pub use vectors::{BodyVectors, VectorRow, known_radius};
