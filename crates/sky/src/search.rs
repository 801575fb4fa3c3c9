//! The search for eclipses: which new and full moons have one.

use glam::DVec3;

use crate::apparent::apparent;
use crate::bodies::SkyBody;
use crate::eclipse::EclipseBody;
use crate::ephemeris::Ephemeris;
use crate::error::Result;
use crate::saros::{LUNATION, NEW_MOON};
use crate::time::Time;

/// A new or a full moon near a node of the Moon's orbit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate {
    /// The mean new or full moon: within 16 hours of the true one.
    pub(crate) mean: Time,
    /// Solar at new moon, lunar at full moon.
    pub(crate) body: EclipseBody,
}

/// The candidates with a mean instant from `first` to `last`, in order.
pub(crate) fn candidates(first: Time, last: Time) -> Vec<Candidate> {
    let number = |time: Time| (time.tt_julian_date() - NEW_MOON) / LUNATION * 2.0;
    let range = number(first).ceil() as i64..=number(last).floor() as i64;
    let near_node = |half: i64| {
        // The mean argument of latitude at the mean lunation. Beyond 21° from a node there is no eclipse; 25° leaves a margin.
        let latitude = (160.7108 + 390.670_502_84 * 0.5 * half as f64).to_radians();
        latitude.sin().abs() < 0.42
    };
    let candidate = |half: i64| Candidate {
        mean: Time::from_tt_julian_date(NEW_MOON + LUNATION * 0.5 * half as f64),
        body: if half % 2 == 0 { EclipseBody::Solar } else { EclipseBody::Lunar },
    };
    range.filter(|&half| near_node(half)).map(candidate).collect()
}

/// The instant near `time` at which the axis of a shadow is nearest to the centre of the Earth (that of `body`, the Moon or a planet) or of
/// the Moon (lunar eclipses), within a few minutes. It is an estimate if the ephemeris ends before it.
pub(crate) fn closest_approach(
    ephemeris: &Ephemeris,
    body: SkyBody,
    shadow: EclipseBody,
    mut time: Time,
) -> Result<Time> {
    let offset = |time: Time| -> Result<DVec3> {
        let sun = apparent(ephemeris, SkyBody::Sun, time)?;
        let moon = apparent(ephemeris, body, time)?;
        let axis = match shadow {
            EclipseBody::Solar => (moon - sun).normalize(),
            EclipseBody::Lunar => -sun.normalize(),
        };
        Ok(moon - axis * moon.dot(axis))
    };
    const STEP: f64 = 200.0;
    for _ in 0..6 {
        time = ephemeris.nearest(time, STEP);
        let here = offset(time)?;
        let motion = (offset(time.plus(STEP))? - here) / STEP;
        let change = -here.dot(motion) / motion.length_squared();
        time = time.plus(change.clamp(-90_000.0, 90_000.0));
        if change.abs() < 30.0 {
            break;
        }
    }
    Ok(time)
}
