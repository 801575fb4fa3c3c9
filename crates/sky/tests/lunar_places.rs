//! Lunar eclipses at places against Skyfield: `tests/data/sky/lunar_places.csv`.

use umbracast_sky::{DeltaT, Eclipse, LunarEclipse, LunarKind, Place, Radii, Sky, SkyOptions, Time};

use super::{instant, number, rows, sky};

fn lunar(date: &str) -> LunarEclipse {
    match sky(69.2, Radii::IAU).eclipse_on(instant(date)).unwrap() {
        Some(Eclipse::Lunar(eclipse)) => *eclipse,
        other => panic!("{date}: {other:?}"),
    }
}

#[test]
fn lunar_circumstances_agree() {
    let columns = "date,lat,lon,event,jd_tt,moon_altitude_deg,moon_azimuth_deg";
    let list = rows("sky/lunar_places.csv", columns);
    let (mut seconds, mut degrees) = (0.0_f64, 0.0_f64);
    let mut horizons = 0;
    for [date, latitude, longitude, event, jd, altitude, azimuth] in &list {
        let eclipse = lunar(date);
        let place = Place::new(number(latitude), number(longitude), 0.0).unwrap();
        let of = eclipse.circumstances(&place);
        let view = match &**event {
            "begins" => Some(of.begins),
            "partial_begins" => of.partial_begins,
            "total_begins" => of.total_begins,
            "greatest" => Some(of.greatest),
            "total_ends" => of.total_ends,
            "partial_ends" => of.partial_ends,
            "ends" => Some(of.ends),
            "moonrise" => of.moonrise,
            "moonset" => of.moonset,
            other => panic!("{other}"),
        };
        let case = format!("{date} {latitude} {longitude} {event}");
        let view = view.unwrap_or_else(|| panic!("{case} is missing"));
        let late = view.time.seconds_since(Time::from_tt_julian_date(number(jd)));
        seconds = seconds.max(late.abs());
        assert!(late.abs() < 2.0, "{case}: {late} s");
        // In two seconds, the Moon moves by half a minute of arc.
        let turned = (view.moon_azimuth - number(azimuth) + 180.0).rem_euclid(360.0) - 180.0;
        let apart =
            (view.moon_altitude - number(altitude)).abs().max(turned.abs() * number(altitude).to_radians().cos());
        degrees = degrees.max(apart);
        assert!(apart < 0.009, "{case}: {view:?} instead of {altitude}, {azimuth}");
        horizons += usize::from(event.starts_with("moon"));
    }
    println!("{} events, largest differences {seconds:.2} s, {degrees:.4} degrees", list.len());
    assert!(list.len() > 350 && horizons > 10, "{horizons} moonrises and moonsets");
    // A place that is not in the list sees no moonrise and no moonset.
    for date in ["2022-05-16", "2023-10-28", "2024-03-25", "2025-03-14", "2025-09-07", "2028-12-31"] {
        for place in list.iter().filter(|row| row[0] == date && row[3] == "greatest") {
            let of = lunar(date).circumstances(&Place::new(number(&place[1]), number(&place[2]), 0.0).unwrap());
            for (name, found) in [("moonrise", of.moonrise), ("moonset", of.moonset)] {
                let expected = list.iter().any(|row| row[..3] == place[..3] && row[3] == name);
                assert_eq!(found.is_some(), expected, "{date} {} {} {name}", place[1], place[2]);
            }
        }
    }
}

/// The deepest phase of which a part has the Moon up, from the ground and from above.
#[test]
fn the_visible_phase_is_the_deepest_with_the_moon_up() {
    let kind = |date: &str, latitude, longitude, height_m| {
        lunar(date).circumstances(&Place::new(latitude, longitude, height_m).unwrap()).visible_kind
    };
    assert_eq!(kind("2022-05-16", 29.76, -95.37, 0.0), Some(LunarKind::Total));
    assert_eq!(kind("2022-05-16", 35.68, 139.65, 0.0), None);
    assert_eq!(kind("2024-03-25", 29.76, -95.37, 0.0), Some(LunarKind::Penumbral));
    // From Nairobi, the Moon sets in the partial phase.
    let place = Place::new(-1.2921, 36.8219, 0.0).unwrap();
    let seen = lunar("2022-05-16").circumstances(&place);
    let moonset = seen.moonset.unwrap().time;
    assert!(moonset > seen.partial_begins.unwrap().time && moonset < seen.total_begins.unwrap().time);
    assert_eq!(seen.visible_kind, Some(LunarKind::Partial));
    // From 400 km above, the horizon is 20 degrees lower: the Moon is still up when it is total.
    assert_eq!(kind("2022-05-16", -1.2921, 36.8219, 400_000.0), Some(LunarKind::Total));
    // In the far north, the Moon rises and sets within one phase.
    let eclipse = lunar("2022-05-16");
    let mut within = 0;
    for i in 0..2000 {
        let place = Place::new(60.0 + f64::from(i % 50) * 0.25, f64::from(i / 50) * 9.0, 0.0).unwrap();
        let seen = eclipse.circumstances(&place);
        let is_down = !seen.begins.is_moon_up() && !seen.ends.is_moon_up();
        if is_down && seen.moonrise.zip(seen.moonset).is_some_and(|(rise, set)| rise.time < set.time) {
            assert!(seen.visible_kind.is_some(), "{place:?}");
            within += 1;
        }
    }
    assert!(within > 3, "{within} places");
}

/// With refraction, contacts stay, and the Moon sets later: when its true altitude is that at which the formula of Bennett lifts it to the
/// horizon.
#[test]
fn refraction_moves_moonset_and_no_contact() {
    let plain = lunar("2022-05-16");
    let options = SkyOptions { refraction: true, delta_t: DeltaT::Seconds(69.2), ..SkyOptions::default() };
    let Some(Eclipse::Lunar(other)) = Sky::new(options).eclipse_on(instant("2022-05-16")).unwrap() else { panic!() };
    let place = Place::new(-1.2921, 36.8219, 0.0).unwrap();
    let (before, after) = (plain.circumstances(&place), other.circumstances(&place));
    assert_eq!(before.partial_begins.unwrap().time, after.partial_begins.unwrap().time);
    let [early, late] = [before, after].map(|one| one.moonset.unwrap().time);
    let seconds = late.seconds_since(early);
    assert!((130.0..160.0).contains(&seconds), "{seconds}");
    // Bennett: 34.5' at an apparent altitude of 0.
    let altitude = plain.view(&place, late).moon_altitude;
    assert!((altitude + 34.5 / 60.0).abs() < 0.15 / 60.0, "{altitude}");
    assert!(other.view(&place, late).moon_altitude.abs() < 1e-3);
    let high = [before, after].map(|one| one.begins.moon_altitude);
    assert!(high[1] > high[0] && high[1] - high[0] < 0.1, "{high:?}");
}
