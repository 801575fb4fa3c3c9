//! Positions, time and the rotation of the Earth.

use umbracast::glam::DVec3;
use umbracast_sky::{DeltaT, Ephemeris, Sky, SkyBody, SkyOptions, Time};

use super::{number, rows};

/// TT of an instant in TDB: the difference is its own inverse to a nanosecond.
fn from_tdb(seconds: f64) -> Time {
    let time = Time::from_tt_seconds(seconds);
    Time::from_tt_seconds(seconds - (time.tdb_seconds() - seconds))
}

/// Skyfield's positions at 1,000 random dates.
#[test]
fn positions_agree_with_the_original_ephemeris() {
    let ephemeris = Ephemeris::embedded();
    let columns = "tdb_seconds_j2000,moon_x_km,moon_y_km,moon_z_km,sun_x_km,sun_y_km,sun_z_km";
    let list = rows::<7>("sky/positions.csv", columns);
    assert_eq!(list.len(), 1000);
    let (mut moon_error, mut sun_error) = (0.0_f64, 0.0_f64);
    for row in list {
        let values = row.map(|cell| number(&cell));
        let expected = |i: usize| DVec3::new(values[i], values[i + 1], values[i + 2]);
        let at = |body| ephemeris.geocentric_tdb(body, values[0]).unwrap();
        let moon = at(SkyBody::Moon);
        moon_error = moon_error.max(moon.position.distance(expected(1)));
        sun_error = sun_error.max(at(SkyBody::Sun).position.distance(expected(4)));
        // The velocity, against a difference of positions.
        let later = ephemeris.geocentric_tdb(SkyBody::Moon, values[0] + 10.0).unwrap();
        let mean = (later.position - moon.position) / 10.0;
        assert!((mean - 0.5 * (moon.velocity + later.velocity)).length() < 1e-7, "{}", values[0]);
    }
    assert!(moon_error < 0.000_5, "Moon: {moon_error} km");
    assert!(sun_error < 0.2, "Sun: {sun_error} km");
}

/// Skyfield's rotation of the Earth at 1,000 random dates, with UT1 = TT − 60 s.
#[test]
fn the_earth_has_the_right_orientation() {
    let sky = Sky::new(SkyOptions { delta_t: DeltaT::Seconds(60.0), ..SkyOptions::default() });
    let mut most = 0.0_f64;
    for row in rows("sky/positions.csv", "tdb_seconds_j2000,zenith_x,zenith_y,zenith_z") {
        let [seconds, x, y, z] = row.map(|cell| number(&cell));
        let fixed = sky.to_earth_fixed(DVec3::new(x, y, z), from_tdb(seconds));
        most = most.max(fixed.distance(DVec3::new(1.0, 2.0, 2.0) / 3.0));
    }
    println!("rotation of the Earth: {most:e} rad");
    // 20 cm on the surface of the Earth.
    assert!(most < 3e-8, "{most} rad");
}

/// Apparent places of the systems of this repository, which come from Skyfield.
#[test]
fn apparent_places_agree_with_skyfield() {
    let sky = Sky::new(SkyOptions { delta_t: DeltaT::Seconds(69.200_570_121_11), ..SkyOptions::default() });
    let time = super::instant("2024-04-08T18:17:20Z");
    let moon = DVec3::new(-25_416.495482834707, -355_482.07845826703, 49_445.03724081092);
    let sun = DVec3::new(-10_166_499.187541846, -148_161_748.2976715, 19_793_051.468534708);
    let error = |body, expected: DVec3| sky.earth_fixed(body, time).unwrap().distance(expected);
    assert!(error(SkyBody::Moon, moon) < 0.01, "{}", error(SkyBody::Moon, moon));
    assert!(error(SkyBody::Sun, sun) < 5.0, "{}", error(SkyBody::Sun, sun));
}

/// Bodies and bytes that are refused.
#[test]
fn invalid_ephemerides_and_bodies_are_refused() {
    let bytes = include_bytes!("../src/data/ephemeris.bin");
    let fault = |bytes: &[u8]| Ephemeris::from_bytes(bytes.to_vec()).unwrap_err().to_string();
    assert!(Ephemeris::from_bytes(bytes.to_vec()).is_ok());
    assert!(fault(b"").contains("it does not start with DAF/SPK"));
    assert!(fault(&bytes[..bytes.len() - 9]).contains("ends too early"));
    assert!(fault(&bytes[..60]).contains("ends too early"));
    assert!(fault(b"UMBSKY99____________________________________________").contains("it does not start with DAF/SPK"));
    for at in 0..200 {
        for value in [0, 1, 127, 128, 255] {
            let mut damaged = bytes[..].to_vec();
            damaged[at] = value;
            // Refused, or readable without a panic.
            if let Ok(ephemeris) = Ephemeris::from_bytes(damaged) {
                let _ = SkyBody::ALL.map(|body| ephemeris.geocentric_tdb(body, 1e9));
            }
        }
    }
    let error = SkyBody::from_name("Pluto X").unwrap_err().to_string();
    assert!(error.contains("'Pluto X'") && error.contains("jupiter"), "{error}");
    let late = Ephemeris::embedded().geocentric_tdb(SkyBody::Moon, 2e9).unwrap_err().to_string();
    assert!(late.contains("1900 to 2050"), "{late}");
    let sky = Sky::new(SkyOptions::default());
    for seconds in [f64::NAN, f64::INFINITY, 2e9, -4e9] {
        assert!(sky.apparent(SkyBody::Sun, Time::from_tt_seconds(seconds)).is_err(), "{seconds}");
    }
}
