//! Numbers of lunations and of Saros series.
//!
//! A Saros is 223 lunations, and an Inex is 358 lunations. The number of the series stays after a Saros, and is one more after an Inex (van
//! den Bergh, Periodicity and Variation of Solar (and Lunar) Eclipses, 1955). So it grows by 38 per lunation, but for multiples of 223,
//! because 38 · 358 = 61 · 223 + 1. At any time, about 40 series are active, and a new one begins after an Inex: the numbers are around that of a known
//! eclipse, and grow by one per 358 lunations from there.

use crate::eclipse::EclipseBody;
use crate::time::Time;

/// Days per mean lunation, and the first mean new moon of 2000 as a Julian date in TT (Meeus, Astronomical Algorithms, chapter 49).
pub(crate) const LUNATION: f64 = 29.530_588_861;
pub(crate) const NEW_MOON: f64 = 2_451_550.097_66;
/// Lunations per Saros.
const SAROS: i32 = 223;
/// Lunations per Inex.
const INEX: i32 = 358;
/// Change of the number per lunation.
const PER_LUNATION: i32 = 38;

/// The lunation of an eclipse and the number of its Saros series. Lunation 0 began at the new moon of 2000-01-06; a lunar eclipse has the
/// lunation of the new moon before it. An eclipse is within 16 hours of the mean new or full moon.
pub(crate) fn lunation_and_saros(greatest: Time, body: EclipseBody) -> (i32, i32) {
    // The total solar eclipse of 2009-07-22 and the total lunar eclipse of 2018-07-27: lunation and Saros series.
    let (full_moon, known, number) = match body {
        EclipseBody::Solar => (0.0, 118, 136),
        EclipseBody::Lunar => (0.5, 229, 129),
    };
    let lunation = ((greatest.tt_julian_date() - NEW_MOON) / LUNATION - full_moon).round() as i32;
    let lowest = number + (lunation - known) / INEX - SAROS / 2;
    (lunation, lowest + (number + PER_LUNATION * (lunation - known) - lowest).rem_euclid(SAROS))
}
