//! Maps of obscuration, compared with another program and with local circumstances.

use umbracast_sky::{DeltaT, Eclipse, MapGrid, Place, Sky, SkyOptions, SolarEclipse, Time};

fn eclipse(date: &str, delta_t: DeltaT) -> (Sky, SolarEclipse) {
    let sky = Sky::new(SkyOptions { delta_t, ..SkyOptions::default() });
    let (day, _) = sky.parse_time(date).unwrap();
    let Some(Eclipse::Solar(eclipse)) = sky.eclipse_on(day).unwrap() else { panic!("{date}: no solar eclipse") };
    (sky, *eclipse)
}

#[test]
fn a_map_of_an_instant_agrees_with_the_reference_grid() {
    let columns = "utc,delta_t_s,lat,lon,sun_alt_deg,obscuration";
    let rows = super::rows::<6>("sky/obscuration.csv", columns);
    let mut instants: Vec<(&str, &str)> = rows.iter().map(|row| (row[0].as_str(), row[1].as_str())).collect();
    instants.dedup();
    assert!(instants.len() >= 2, "{instants:?}");
    for (instant, seconds) in instants {
        let (sky, eclipse) = eclipse(&instant[..10], DeltaT::Seconds(seconds.parse().unwrap()));
        let at = sky.parse_time(instant).unwrap().0;
        // Centres of the cells are at multiples of 4 degrees.
        let grid = MapGrid::new([-182.0, -90.0, 178.0, 90.0], [90, 45]).unwrap();
        let values = eclipse.obscuration_map(&grid, Some(at)).unwrap();
        let (mut worst, mut count) = (0.0_f64, 0);
        for row in rows.iter().filter(|row| row[0] == instant) {
            let [latitude, longitude, altitude, expected] = std::array::from_fn(|i| super::number(&row[2 + i]));
            if altitude <= 0.05 {
                continue;
            }
            let [x, y] = grid.cell(longitude, latitude);
            if (y - 0.5).fract().abs() > 1e-6 || (x - 0.5).fract().abs() > 1e-6 {
                continue;
            }
            let found = f64::from(values[y as usize * 90 + (x.rem_euclid(90.0)) as usize]);
            worst = worst.max((found - expected).abs());
            count += 1;
        }
        println!("{instant}: {count} points, largest difference {worst:e}");
        assert!(count > 100 && worst < 0.002, "{instant}: {count} points, {worst}");
    }
}

#[test]
fn nothing_is_seen_of_an_eclipse_at_night() {
    let (sky, eclipse) = eclipse("2026-08-12", DeltaT::Table);
    let at = sky.parse_time("2026-08-12T18:20").unwrap().0;
    let grid = MapGrid::new(MapGrid::EARTH, [90, 45]).unwrap();
    let values = eclipse.obscuration_map(&grid, Some(at)).unwrap();
    let mut hidden = 0;
    for (i, value) in values.iter().enumerate() {
        let [longitude, latitude] = grid.degrees((i % 90) as f64 + 0.5, (i / 90) as f64 + 0.5);
        let (covered, height) = eclipse.obscuration(&Place::new(latitude, longitude, 0.0).unwrap(), at);
        let expected = if height >= 0.0 { covered } else { 0.0 };
        assert!((f64::from(*value) - expected).abs() < 1e-7, "{longitude} {latitude}: {value} {expected}");
        hidden += usize::from(height < 0.0 && covered > 0.0);
    }
    assert!(hidden > 20, "{hidden}");
}

#[test]
fn the_largest_obscuration_agrees_with_local_circumstances() {
    let grid = MapGrid::new(MapGrid::EARTH, [72, 36]).unwrap();
    // Degrees per pixel from the north pole, or from the south pole if they are negative. Near the equinoxes, the declination decides when the Sun
    // is above the horizon of a pole.
    for (date, polar) in [
        ("2026-08-12", None),
        ("2023-10-14", None),
        ("2025-03-29", None),
        ("2026-08-12", Some(1.0)),
        ("2015-03-20", Some(0.05)),
        ("2033-09-23", Some(-0.05)),
        ("2025-09-21", Some(-0.05)),
        ("2007-03-19", Some(0.2)),
    ] {
        let place = |x: f64, y: f64| match polar {
            None => grid.degrees(x, y),
            Some(degrees) => {
                let away = degrees * (x - 36.0).hypot(y - 36.0);
                [(y - 36.0).atan2(x - 36.0).to_degrees(), 90.0_f64.copysign(degrees) - away]
            }
        };
        let (_, eclipse) = eclipse(date, DeltaT::Table);
        let values = match polar {
            Some(_) => eclipse.obscuration_picture([72, 72], None, place).unwrap(),
            None => eclipse.obscuration_map(&grid, None).unwrap(),
        };
        assert_eq!(values.len(), if polar.is_some() { 72 * 72 } else { 72 * 36 });
        let (mut worst, mut at_horizon, mut dark, mut covered) = (0.0_f64, 0, 0, 0);
        for (i, value) in values.iter().enumerate() {
            let (x, y) = ((i % 72) as f64 + 0.5, (i / 72) as f64 + 0.5);
            let [longitude, latitude] = place(x, y);
            let local = eclipse.circumstances(&Place::new(latitude, longitude, 0.0).unwrap());
            let expected = local.visible.map_or(0.0, |view| view.obscuration);
            at_horizon += usize::from(expected > 0.0 && local.maximum.sun_altitude < 0.0);
            dark += usize::from(local.maximum.obscuration > 0.0 && expected == 0.0);
            covered += usize::from(expected > 0.0);
            let apart = (f64::from(*value) - expected).abs();
            assert!(apart < 5e-4, "{date} {latitude} {longitude}: {value} {expected}");
            worst = worst.max(apart);
        }
        println!("{date}: largest difference {worst:e}; {covered} covered, {at_horizon} at sunrise or sunset");
        assert!(covered > 100 && at_horizon > 3 && dark > 3, "{date}: {covered} {at_horizon} {dark}");
    }
}

#[test]
fn invalid_grids_and_instants_are_errors() {
    for (region, size, words) in [
        ([10.0, 0.0, 10.0, 5.0], [4, 4], "west is 10 and east is 10"),
        ([-200.0, 0.0, 200.0, 5.0], [4, 4], "at most 360 apart"),
        ([0.0, 10.0, 20.0, 5.0], [4, 4], "south is 10 and north is 5"),
        ([0.0, -91.0, 20.0, 5.0], [4, 4], "south is -91"),
        ([0.0, f64::NAN, 20.0, 5.0], [4, 4], "south is NaN"),
        (MapGrid::EARTH, [0, 4], "size is 0x4"),
        (MapGrid::EARTH, [16_384, 16_384], "at most 67108864 points"),
    ] {
        let error = MapGrid::new(region, size).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let (sky, eclipse) = eclipse("2024-04-08", DeltaT::Table);
    let grid = MapGrid::new(MapGrid::EARTH, [4, 2]).unwrap();
    let error = eclipse.obscuration_picture([0, 4], None, |x, y| [x, y]).unwrap_err().to_string();
    assert!(error.contains("size is 0x4"), "{error}");
    let late = sky.parse_time("2024-04-08T23:00").unwrap().0;
    assert!(eclipse.obscuration_map(&grid, Some(late)).unwrap_err().to_string().contains("4.7 hours"));
    let never = Time::from_tt_seconds(f64::NAN);
    assert!(eclipse.obscuration_map(&grid, Some(never)).unwrap_err().to_string().contains("NaN hours"));
}
