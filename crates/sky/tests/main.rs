//! Eclipses against independent computations: `tests/data/README.md` says where the numbers come from.

mod angles;
mod elements;
mod horizon;
mod kinds;
mod limits;
mod lunar;
mod lunar_places;
mod map;
mod old;
mod places_on;
mod positions;
mod reference;
mod schema;
mod solar;
mod spk;
mod sunlight;
mod transits;

use umbracast_sky::{DeltaT, Eclipse, Radii, Sky, SkyOptions, SolarEclipse, Time};
use umbracast_testing::rows;

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("'{text}' is not a number"))
}

fn sky(delta_t: f64, radii: Radii) -> Sky {
    Sky::new(SkyOptions { delta_t: DeltaT::Seconds(delta_t), radii, ..SkyOptions::default() })
}

fn instant(text: &str) -> Time {
    Time::parse(text, DeltaT::Table).unwrap().0
}

/// The solar eclipse of a day.
fn solar(sky: &Sky, date: &str) -> SolarEclipse {
    match sky.eclipse_on(instant(date)).unwrap() {
        Some(Eclipse::Solar(eclipse)) => *eclipse,
        other => panic!("{date}: {other:?}"),
    }
}

/// Seconds from a time of day (`18:17:20.2Z`) to an instant; the day is the one that makes it shortest.
fn seconds_after(clock: &str, time: Time) -> f64 {
    let parts: Vec<f64> = clock.trim_end_matches('Z').split(':').map(number).collect();
    let expected = 3600.0 * parts[0] + 60.0 * parts[1] + parts[2];
    let shown = time.clock_text(3, DeltaT::Table).to_string();
    let parts: Vec<f64> = shown.split(':').map(number).collect();
    let found = 3600.0 * parts[0] + 60.0 * parts[1] + parts[2];
    (found - expected + 43_200.0).rem_euclid(86_400.0) - 43_200.0
}
