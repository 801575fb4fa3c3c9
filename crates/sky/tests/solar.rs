//! Solar eclipses against Skyfield with the same radii and ΔT, and the table of a century.

use umbracast_sky::{LocalKind, LocalView, Place, Radii, Sky, SolarKind};

use super::{instant, number, rows, seconds_after, sky, solar};

/// The radii of the reference, whose k of partial phases is not the canon's.
fn radii(engine: &str) -> Radii {
    match engine {
        "skyfield-de421/nasa" => Radii { moon_partial_km: 0.272_508 * 6378.137, ..Radii::NASA },
        _ => Radii::IAU,
    }
}

fn place(latitude: &str, longitude: &str) -> Place {
    Place::new(number(latitude), number(longitude), 0.0).unwrap()
}

/// Sky with the ΔT of an eclipse and an engine.
fn sky_of(date: &str, engine: &str) -> Sky {
    let list = rows::<3>("sky/greatest.csv", "date,engine,delta_t_s");
    let row = list.into_iter().find(|row| row[0] == date && row[1] == engine).unwrap();
    sky(number(&row[2]), radii(engine))
}

#[test]
fn greatest_eclipses_agree() {
    let columns = "date,engine,utc_greatest,gamma,lat,lon,kind_there,magnitude,obscuration,central_duration_s,sun_alt";
    for [date, engine, utc, gamma, lat, lon, kind, magnitude, obscuration, duration, altitude] in
        rows("sky/greatest.csv", columns)
    {
        let eclipse = solar(&sky_of(&date, &engine), &date);
        let greatest = eclipse.greatest;
        let seconds = greatest.time.seconds_since(instant(&utc));
        assert!(seconds.abs() < 0.15, "{date} {engine}: {seconds} s");
        let apart = greatest.place.chord_km(&place(&lat, &lon));
        assert!(apart < 0.2, "{date} {engine}: {apart} km");
        assert!((greatest.gamma - number(&gamma)).abs() < 1e-5, "{date} {engine}: gamma {}", greatest.gamma);
        assert_eq!(&greatest.view.kind.name()[..1].to_uppercase(), &kind, "{date} {engine}");
        let hybrid = date == "2005-04-08" && eclipse.kind == SolarKind::Hybrid;
        assert!(hybrid || eclipse.kind.name() == greatest.view.kind.name(), "{date}: {:?}", eclipse.kind);
        let error = (greatest.view.magnitude - number(&magnitude)).abs();
        assert!(error < 5e-5, "{date} {engine}: magnitude {}", greatest.view.magnitude);
        let error = (greatest.view.obscuration - number(&obscuration)).abs();
        assert!(error < 1e-4, "{date} {engine}: obscuration {}", greatest.view.obscuration);
        assert!(
            (greatest.view.sun_altitude - number(&altitude)).abs() < 0.06,
            "{date}: {}",
            greatest.view.sun_altitude
        );
        match greatest.central_duration_s {
            Some(found) => assert!((found - number(&duration)).abs() < 0.2, "{date} {engine}: {found} s"),
            None => assert_eq!(duration, "", "{date} {engine}"),
        }
    }
}

#[test]
fn local_circumstances_agree() {
    let columns = "date,city,lat,lon,engine,kind,c1,c2,max,c3,c4,magnitude,obscuration,sun_alt_at_max";
    let mut eclipses = std::collections::BTreeMap::new();
    let (mut contacts, mut maxima, mut amounts) = (0.0_f64, 0.0_f64, 0.0_f64);
    let list = rows("sky/cities.csv", columns);
    assert_eq!(list.len(), 216);
    for [date, city, lat, lon, engine, kind, c1, c2, max, c3, c4, magnitude, obscuration, altitude] in list {
        let eclipse =
            eclipses.entry((date.clone(), engine.clone())).or_insert_with(|| solar(&sky_of(&date, &engine), &date));
        let found = eclipse.circumstances(&place(&lat, &lon));
        let case = format!("{date} {city} {engine}");
        if kind.is_empty() || kind == "-" {
            assert_eq!(found.kind, LocalKind::None, "{case}");
            continue;
        }
        assert_eq!(&found.kind.name()[..1].to_uppercase(), &kind, "{case}");
        for (name, expected, view) in
            [("C1", c1, found.c1), ("C2", c2, found.c2), ("C3", c3, found.c3), ("C4", c4, found.c4)]
        {
            match view {
                Some(view) => {
                    let seconds = seconds_after(&expected, view.time);
                    contacts = contacts.max(seconds.abs());
                    assert!(seconds.abs() < 0.6, "{case} {name}: {seconds} s");
                }
                None => assert_eq!(expected, "", "{case} {name}"),
            }
        }
        let seconds = seconds_after(&max, found.maximum.time);
        maxima = maxima.max(seconds.abs());
        assert!(seconds.abs() < 0.3, "{case} maximum: {seconds} s");
        let error = (found.maximum.obscuration - number(&obscuration)).abs();
        amounts = amounts.max(error);
        assert!(error < 1e-4, "{case}: obscuration {} instead of {obscuration}", found.maximum.obscuration);
        let error = (found.maximum.magnitude - number(&magnitude)).abs();
        assert!(error < 1e-4, "{case}: magnitude {} instead of {magnitude}", found.maximum.magnitude);
        assert!(
            (found.maximum.sun_altitude - number(&altitude)).abs() < 0.02,
            "{case}: {}",
            found.maximum.sun_altitude
        );
    }
    println!("contacts {contacts:.3} s, maxima {maxima:.3} s, obscuration {amounts:.6}");
}

#[test]
fn the_axis_follows_the_centre_line() {
    let columns = "date,utc,lat_de421,lon_de421,sun_alt,mag_iau,duration_iau_s";
    let mut eclipses = std::collections::BTreeMap::new();
    let mut most = 0.0_f64;
    let list = rows("sky/centerline.csv", columns);
    assert!(list.len() > 290);
    for [date, utc, lat, lon, altitude, magnitude, duration] in list {
        let eclipse =
            eclipses.entry(date.clone()).or_insert_with(|| solar(&sky_of(&date, "skyfield-de421/iau"), &date));
        let time = instant(&format!("{date}T{utc}"));
        // After midnight, or before, the date is that of the greatest eclipse.
        let near = |days: f64| (time.plus(86_400.0 * days).seconds_since(eclipse.greatest.time)).abs();
        let days = [-1.0, 0.0, 1.0].into_iter().min_by(|a, b| near(*a).total_cmp(&near(*b))).unwrap();
        let found = eclipse.line_point(time.plus(86_400.0 * days)).unwrap_or_else(|| panic!("{date} {utc}: no axis"));
        let apart = found.center.chord_km(&place(&lat, &lon));
        most = most.max(apart);
        // Near the ends, where the Sun is low, the axis runs along the ground.
        assert!(apart < 0.3, "{date} {utc}: {apart} km, altitude {altitude}");
        assert!((found.magnitude - number(&magnitude)).abs() < 3e-5, "{date} {utc}: {}", found.magnitude);
        if !duration.is_empty() {
            let seconds = found.duration_s.unwrap();
            assert!((seconds - number(&duration)).abs() < 0.3, "{date} {utc}: {seconds} s instead of {duration}");
        }
    }
    println!("centre line {most:.3} km");
}

#[test]
fn obscurations_of_a_grid_agree() {
    let columns = "utc,delta_t_s,lat,lon,sun_alt_deg,magnitude,obscuration";
    let mut eclipses = std::collections::BTreeMap::new();
    let list = rows("sky/obscuration.csv", columns);
    assert!(list.len() > 1600);
    for [utc, delta_t, lat, lon, altitude, magnitude, obscuration] in list {
        let eclipse =
            eclipses.entry(utc.clone()).or_insert_with(|| solar(&sky(number(&delta_t), Radii::IAU), &utc[..10]));
        let view: LocalView = eclipse.view(&place(&lat, &lon), instant(&utc));
        let error = (view.obscuration - number(&obscuration)).abs();
        assert!(error < 2e-5, "{utc} {lat} {lon}: {}", view.obscuration);
        assert!((view.magnitude - number(&magnitude)).abs() < 2e-5, "{utc} {lat} {lon}: {}", view.magnitude);
        assert!((view.sun_altitude - number(&altitude)).abs() < 0.005, "{utc} {lat} {lon}: {}", view.sun_altitude);
    }
}

/// On a limit, the eclipse is total for an instant; a kilometre inside it lasts, and a kilometre outside it is partial.
#[test]
fn limits_bound_the_path() {
    let mut count = 0;
    for (date, radii) in [("2024-04-08", Radii::IAU), ("2023-10-14", Radii::NASA), ("2026-08-12", Radii::IAU)] {
        let eclipse = solar(&sky(69.2, radii), date);
        let kind = eclipse.greatest.view.kind;
        let line = eclipse.central_line(900.0);
        assert!(line.points.len() > 6, "{date}");
        assert!(line.points.windows(2).all(|pair| pair[0].time < pair[1].time), "{date}");
        for point in &line.points {
            let center = point.center.earth_fixed_km();
            assert_eq!(point.kind, kind, "{date}");
            for (limit, north) in [(point.north, true), (point.south, false)] {
                let Some(limit) = limit else { continue };
                let at = limit.earth_fixed_km();
                let outward = (at - center).normalize();
                let moved = |km: f64| {
                    let place = Place::from_earth_fixed_km(at + outward * km);
                    eclipse.circumstances(&Place { height_m: 0.0, ..place })
                };
                let seen = eclipse.circumstances(&limit);
                assert!(seen.central_duration_s().unwrap_or(0.0) < 12.0, "{date}: {seen:?}");
                // At the ends, where the Sun is low, a kilometre outward is mostly along the path.
                if point.sun_altitude > 5.0 {
                    assert_eq!(moved(-1.0).kind, kind, "{date} {limit:?}");
                    assert_eq!(moved(1.0).kind, LocalKind::Partial, "{date} {limit:?}");
                    assert!(!north || limit.latitude > point.center.latitude || date == "2026-08-12", "{date}");
                    count += 1;
                }
            }
        }
    }
    assert!(count > 40, "{count} points of limits");
}

/// The fast maximum is that of the circumstances, and it is the maximum.
#[test]
fn the_fast_maximum_is_the_maximum() {
    let eclipse = solar(&sky(69.2, Radii::IAU), "2026-08-12");
    let mut seen = 0;
    for i in 0..400 {
        let place = Place::new(f64::from(i % 20) * 8.5 - 80.0, f64::from(i / 20) * 17.0 - 170.0, 0.0).unwrap();
        let (fast, full) = (eclipse.local_maximum(&place), eclipse.circumstances(&place));
        assert!((fast.obscuration - full.maximum.obscuration).abs() < 1e-9, "{place:?}");
        let (Some(first), Some(last)) = (full.c1, full.c4) else {
            assert_eq!(full.kind, LocalKind::None, "{place:?}");
            continue;
        };
        let span = last.time.seconds_since(first.time);
        for k in 0..=40 {
            let (other, _) = eclipse.obscuration(&place, first.time.plus(span * f64::from(k) / 40.0));
            assert!(other <= fast.obscuration + 1e-6, "{place:?}: {other} and {}", fast.obscuration);
        }
        // What is visible is at most the maximum, and the Sun is above the horizon.
        if let Some(visible) = full.visible {
            assert!(
                visible.sun_altitude >= 0.0 && visible.obscuration <= full.maximum.obscuration + 1e-12,
                "{place:?}"
            );
            seen += u32::from(full.maximum.sun_altitude < 0.0);
        }
    }
    assert!(seen > 3, "{seen} places see the eclipse at sunrise or sunset only");
}

/// An annular eclipse whose axis misses the Earth.
#[test]
fn an_eclipse_without_a_centre_line_has_a_kind() {
    let eclipse = solar(&sky(67.4, Radii::NASA), "2014-04-29");
    assert_eq!((eclipse.kind, eclipse.axis_begins), (SolarKind::Annular, None));
    assert!((eclipse.greatest.gamma + 1.0).abs() < 0.001, "{}", eclipse.greatest.gamma);
    assert!(eclipse.central_line(60.0).points.is_empty());
    assert!(eclipse.greatest.view.sun_altitude.abs() < 0.1);
}
