//! The horizon of places with a height, against positions of Skyfield (DE421) and lines of sight of pymap3d (WGS 84).

use umbracast_sky::{Place, Sky, SkyOptions};

use super::solar;

/// Date, latitude, longitude, height in m; at maximum: altitude of the Sun and of the horizon in degrees, obscuration; visible obscuration.
const SEEN: [(&str, [f64; 3], [f64; 4]); 17] = [
    ("2026-08-12", [40.0, 8.0, 11_000.0], [-0.921, -3.361, 0.9909, 0.9909]),
    // Sunset before the maximum, at sea level and below it.
    ("2026-08-12", [40.0, 8.0, 0.0], [-0.912, 0.0, 0.9940, 0.8973]),
    ("2026-08-12", [40.0, 8.0, -400.0], [-0.909, 0.0, 0.9941, 0.8973]),
    ("2026-08-12", [40.0, 10.0, 11_000.0], [-2.200, -3.361, 0.9847, 0.9847]),
    ("2026-08-12", [40.0, 9.5, 400_000.0], [-2.254, -19.771, 0.8522, 0.8522]),
    // Sunset before the maximum from a height, too.
    ("2026-08-12", [38.0, 15.0, 11_000.0], [-6.608, -3.362, 0.9982, 0.5681]),
    ("2026-08-12", [39.0, 12.0, 3000.0], [-4.081, -1.756, 0.9944, 0.6978]),
    ("2026-08-12", [30.0, 30.0, 400_000.0], [-21.540, -19.783, 1.0, 0.7506]),
    ("2026-08-12", [90.0, 0.0, 400_000.0], [14.808, -19.752, 0.9396, 0.9396]),
    // Sunrise after the maximum.
    ("2021-06-10", [46.5, -91.0, 0.0], [-3.513, 0.0, 0.8787, 0.4072]),
    ("2021-06-10", [46.5, -91.0, 2500.0], [-3.516, -1.604, 0.8787, 0.6335]),
    ("2021-06-10", [42.0, -95.0, 12_000.0], [-8.900, -3.512, 0.8577, 0.1824]),
    ("2021-06-10", [42.0, -95.0, 0.0], [-8.891, 0.0, 0.8547, 0.0]),
    ("2026-02-17", [-90.0, 0.0, 2835.0], [11.888, -1.705, 0.7493, 0.7493]),
    ("2027-08-02", [31.5, 35.5, -430.0], [75.699, 0.0, 0.8089, 0.8089]),
    ("2024-04-08", [51.5, -0.13, 35.0], [-9.708, -0.190, 0.7672, 0.0]),
    ("2023-10-14", [0.0, 10.0, 100_000.0], [-35.009, -10.081, 0.7890, 0.0]),
];

#[test]
fn a_height_lowers_the_horizon() {
    let sky = Sky::new(SkyOptions::default());
    for (date, [latitude, longitude, height_m], [altitude, horizon, covered, visible]) in SEEN {
        let found = solar(&sky, date).circumstances(&Place::new(latitude, longitude, height_m).unwrap());
        let case = format!("{date} {latitude} {longitude} {height_m}: {found:?}");
        assert!((found.maximum.sun_altitude - altitude).abs() < 0.01, "{case}");
        assert!((found.maximum.horizon_altitude - horizon).abs() < 0.002, "{case}");
        assert!((found.maximum.obscuration - covered).abs() < 2e-4, "{case}");
        assert!((found.visible.map_or(0.0, |view| view.obscuration) - visible).abs() < 4e-4, "{case}");
        assert_eq!(found.maximum.is_sun_up(), altitude > horizon, "{case}");
    }
}
