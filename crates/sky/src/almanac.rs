//! The front of this folder: an ephemeris with the options for eclipses.

use glam::DVec3;
use rayon::prelude::*;

use crate::apparent::{apparent, apparent_of};
use crate::bodies::SkyBody;
use crate::constants::{LunarRule, Radii};
use crate::delta_t::DeltaT;
use crate::eclipse::{Eclipse, EclipseBody};
use crate::ephemeris::Ephemeris;
use crate::error::{Error, Result};
use crate::lunar::LunarEclipse;
use crate::motion::{HALF_SPAN, Motion};
use crate::orientation::Orientation;
use crate::search::{Candidate, candidates, closest_approach};
use crate::solar::SolarEclipse;
use crate::time::{DAY, Precision, Time};
use crate::transit::{Transit, conjunctions};
use crate::vectors::BodyVectors;

/// Seconds by which the instant at which a search for an eclipse ends may be off: a few minutes.
const APPROACH: f64 = 3600.0;

/// Conventions for eclipses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SkyOptions {
    /// ΔT = TT − UT1.
    pub delta_t: DeltaT,
    /// Radii of Sun and Moon.
    pub radii: Radii,
    /// Enlargement of the Earth's shadow in lunar eclipses.
    pub lunar_rule: LunarRule,
    /// Whether altitudes of Sun and Moon are raised by refraction in the standard atmosphere, 1010 hPa and 10 °C, so that they rise earlier and
    /// set later. Instants of contacts do not depend on it. The altitude of the horizon stays that of a straight line of sight.
    pub refraction: bool,
}

/// Finds eclipses and computes positions, at the instants that its [ephemeris](Ephemeris::span) covers: the built-in one from 1900 to 2050.
///
/// ```
/// # #[cfg(feature = "ephemeris")] {
/// use umbracast_sky::{Eclipse, Place, Sky, SkyOptions};
/// let sky = Sky::new(SkyOptions::default());
/// let (day, _) = sky.parse_time("2024-04-08")?;
/// let Some(Eclipse::Solar(eclipse)) = sky.eclipse_on(day)? else { panic!("there is one") };
/// let dallas = eclipse.circumstances(&Place::new(32.7767, -96.797, 0.0)?);
/// assert_eq!(dallas.kind.name(), "total");
/// assert!((dallas.central_duration_s().unwrap() - 236.1).abs() < 1.0);
/// # }
/// # Ok::<(), umbracast_sky::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sky {
    ephemeris: Ephemeris,
    options: SkyOptions,
}

impl Sky {
    /// With the built-in ephemeris.
    #[cfg(feature = "ephemeris")]
    pub fn new(options: SkyOptions) -> Self {
        Self { ephemeris: Ephemeris::embedded(), options }
    }

    /// With an ephemeris of the caller.
    pub fn with_ephemeris(ephemeris: Ephemeris, options: SkyOptions) -> Self {
        Self { ephemeris, options }
    }

    /// The ephemeris.
    pub fn ephemeris(&self) -> &Ephemeris {
        &self.ephemeris
    }

    /// The conventions.
    pub fn options(&self) -> SkyOptions {
        self.options
    }

    /// Parses a date or an instant: see [`Time::parse`].
    ///
    /// # Errors
    /// As for [`Time::parse`], and [`Error::InvalidArgument`] for an instant that the ephemeris does not cover.
    pub fn parse_time(&self, text: &str) -> Result<(Time, Precision)> {
        let (time, precision) = Time::parse(text, self.options.delta_t)?;
        self.ephemeris.check(time)?;
        // The span ends with the beginning of a day.
        if time >= self.ephemeris.span().1 { Err(self.ephemeris.outside(time)) } else { Ok((time, precision)) }
    }

    /// The apparent position of a body from the centre of the Earth in km, in the axes of the GCRS: light time and aberration are included.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the ephemeris does not cover the instant, or does not have the body.
    pub fn apparent(&self, body: SkyBody, time: Time) -> Result<DVec3> {
        self.ephemeris.check(time)?;
        apparent(&self.ephemeris, body, time)
    }

    /// As [`apparent`](Self::apparent), of a body of an SPK file or of state vectors.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the ephemeris does not cover the instant, or if the file or the vectors do not cover it, less the light time.
    pub fn apparent_of(&self, body: &BodyVectors, time: Time) -> Result<DVec3> {
        self.ephemeris.check(time)?;
        apparent_of(&self.ephemeris, time, |tdb_seconds| body.barycentric(&self.ephemeris, tdb_seconds))
    }

    /// The apparent position of a body from the centre of the Earth in km, in axes that rotate with the Earth: x through 0° N 0° E, z
    /// through the north pole (ITRS without polar motion).
    ///
    /// # Errors
    /// As for [`apparent`](Self::apparent).
    pub fn earth_fixed(&self, body: SkyBody, time: Time) -> Result<DVec3> {
        Ok(self.to_earth_fixed(self.apparent(body, time)?, time))
    }

    /// Turns a vector from the axes of the GCRS to those that rotate with the Earth.
    pub fn to_earth_fixed(&self, gcrs: DVec3, time: Time) -> DVec3 {
        Orientation::at(time, self.options.delta_t.seconds_at(time)).to_earth_fixed(gcrs)
    }

    /// The eclipses whose greatest eclipse is in [`first`, `end`), in order: solar or lunar ones, or both for `None`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the ephemeris does not cover an instant, or if `end` is before `first`.
    pub fn eclipses(&self, first: Time, end: Time, only: Option<EclipseBody>) -> Result<Vec<Eclipse>> {
        self.ephemeris.check(first)?;
        // The end is no part of the span: the message names the year before it.
        self.ephemeris.check(end.plus(-1.0))?;
        if end < first {
            return Err(Error::InvalidArgument("the end of the search is before its beginning".into()));
        }
        let list: Vec<Candidate> = candidates(first.plus(-DAY), end.plus(DAY))
            .into_iter()
            .filter(|one| only.is_none_or(|body| body == one.body))
            .collect();
        let near = [first.plus(-APPROACH), end.plus(APPROACH)];
        let found: Result<Vec<Option<Eclipse>>> =
            list.into_par_iter().with_min_len(4).map(|candidate| self.eclipse(candidate, near)).collect();
        let within = |eclipse: &Eclipse| eclipse.greatest() >= first && eclipse.greatest() < end;
        Ok(found?.into_iter().flatten().filter(within).collect())
    }

    /// The eclipse of a UTC day (UT1 before 1972): one whose greatest eclipse is on this day; otherwise one of which a part is on this day.
    ///
    /// # Errors
    /// As for [`eclipses`](Self::eclipses).
    pub fn eclipse_on(&self, time: Time) -> Result<Option<Eclipse>> {
        self.ephemeris.check(time)?;
        let (first, end) = time.day(self.options.delta_t);
        let mut found = Vec::new();
        for candidate in candidates(first.plus(-2.0 * DAY), end.plus(2.0 * DAY)) {
            found.extend(self.eclipse(candidate, [first.plus(-HALF_SPAN), end.plus(HALF_SPAN)])?);
        }
        let on_day = |eclipse: &Eclipse| eclipse.greatest() >= first && eclipse.greatest() < end;
        let touches = |eclipse: &Eclipse| eclipse.span().0 < end && eclipse.span().1 >= first;
        let at = found.iter().position(on_day).or_else(|| found.iter().position(touches));
        Ok(at.map(|at| found.swap_remove(at)))
    }

    /// The first eclipse after an instant, solar or lunar, or either for `None`. The result is `None` if there is none
    /// until the ephemeris ends.
    ///
    /// # Errors
    /// As for [`eclipses`](Self::eclipses).
    pub fn next_eclipse(&self, after: Time, only: Option<EclipseBody>) -> Result<Option<Eclipse>> {
        self.ephemeris.check(after)?;
        let end = self.ephemeris.span().1;
        for candidate in candidates(after.plus(-DAY), end.plus(DAY))
            .into_iter()
            .filter(|one| only.is_none_or(|body| body == one.body))
        {
            let found = self.eclipse(candidate, [after.plus(-APPROACH), end])?;
            if let Some(eclipse) = found.filter(|one| one.greatest() > after && one.greatest() < end) {
                return Ok(Some(eclipse));
            }
        }
        Ok(None)
    }

    /// The transits of Mercury and Venus whose greatest transit is in [`first`, `end`), in order, with those that only a part of the
    /// Earth sees.
    ///
    /// # Errors
    /// As for [`eclipses`](Self::eclipses), and if the ephemeris has no positions of these planets.
    pub fn transits(&self, first: Time, end: Time) -> Result<Vec<Transit>> {
        self.ephemeris.check(first)?;
        self.ephemeris.check(end.plus(-1.0))?;
        if end < first {
            return Err(Error::InvalidArgument("the end of the search is before its beginning".into()));
        }
        let greatest = |transit: &Transit| transit.contacts.greatest.time;
        let mut found = self.transits_of(SkyBody::Mercury, first, end)?;
        found.extend(self.transits_of(SkyBody::Venus, first, end)?);
        found.retain(|one| greatest(one) >= first && greatest(one) < end);
        found.sort_by(|a, b| greatest(a).seconds_since(greatest(b)).total_cmp(&0.0));
        Ok(found)
    }

    /// The transits of a planet between two instants, and some up to a day before and after.
    fn transits_of(&self, planet: SkyBody, first: Time, end: Time) -> Result<Vec<Transit>> {
        let mut found = Vec::new();
        for middle in conjunctions(&self.ephemeris, planet, first.plus(-DAY), end.plus(DAY))? {
            let motion = self.motion(planet, middle)?;
            found.extend(Transit::from_motion(motion, planet, self.options.radii, self.options.delta_t));
        }
        Ok(found)
    }

    /// The transit of a UTC day (UT1 before 1972): one whose greatest transit is on this day; otherwise one of which a part is on this day.
    /// A planet that the ephemeris lacks has none.
    ///
    /// # Errors
    /// As for [`eclipses`](Self::eclipses).
    pub fn transit_on(&self, time: Time) -> Result<Option<Transit>> {
        self.ephemeris.check(time)?;
        let (first, end) = time.day(self.options.delta_t);
        let mut near = Vec::new();
        let there = self.ephemeris.nearest(time, 0.0);
        for planet in [SkyBody::Mercury, SkyBody::Venus] {
            if self.apparent(planet, there).is_ok() {
                near.extend(self.transits_of(planet, first, end)?);
            }
        }
        let on_day = |of: &&Transit| of.contacts.greatest.time >= first && of.contacts.greatest.time < end;
        let touches = |of: &&Transit| of.span().0 < end && of.span().1 >= first;
        Ok(near.iter().find(on_day).or_else(|| near.iter().find(touches)).cloned())
    }

    /// The motion around the middle of a possible eclipse or transit.
    fn motion(&self, body: SkyBody, middle: Time) -> Result<Motion> {
        Motion::around(&self.ephemeris, body, middle, self.options, apparent).map_err(|error| {
            let middle = middle.text(0, self.options.delta_t);
            Error::InvalidArgument(format!(
                "{error}; a possible eclipse or transit at {middle} needs those of 4 hours before and after"
            ))
        })
    }

    /// The eclipse of a candidate, if its middle is between these instants.
    fn eclipse(&self, candidate: Candidate, [first, end]: [Time; 2]) -> Result<Option<Eclipse>> {
        let SkyOptions { delta_t, radii, lunar_rule, .. } = self.options;
        let middle = closest_approach(&self.ephemeris, SkyBody::Moon, candidate.body, candidate.mean)?;
        if middle < first || middle > end {
            return Ok(None);
        }
        let motion = self.motion(SkyBody::Moon, middle)?;
        Ok(match candidate.body {
            EclipseBody::Solar => {
                SolarEclipse::from_motion(motion, radii, delta_t).map(|one| Eclipse::Solar(Box::new(one)))
            }
            EclipseBody::Lunar => {
                LunarEclipse::from_motion(motion, radii, lunar_rule, delta_t).map(|one| Eclipse::Lunar(Box::new(one)))
            }
        })
    }
}
