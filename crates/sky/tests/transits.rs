//! Transits of Mercury and Venus against Skyfield: `tests/data/sky/transits.csv`.

use umbracast_sky::{LocalView, Place, Radii, SkyBody, Time, Transit, TransitContacts};

use super::{instant, number, rows, sky};

fn transit(date: &str) -> Transit {
    let sky = sky(69.2, Radii::IAU);
    sky.transit_on(sky.parse_time(date).unwrap().0).unwrap().unwrap_or_else(|| panic!("{date}"))
}

fn event(of: &TransitContacts, name: &str) -> Option<LocalView> {
    match name {
        "c1" => of.c1,
        "c2" => of.c2,
        "greatest" => Some(of.greatest),
        "c3" => of.c3,
        "c4" => of.c4,
        other => panic!("{other}"),
    }
}

#[test]
fn transits_agree() {
    let columns = "date,planet,lat,lon,event,jd_tt,separation_arcsec,position_angle_deg,sun_altitude_deg";
    let list = rows("sky/transits.csv", columns);
    let (mut seconds, mut horizons) = (0.0_f64, 0);
    for [date, planet, latitude, longitude, name, jd, separation, angle, altitude] in &list {
        let transit = transit(date);
        assert_eq!(transit.planet, SkyBody::from_name(planet).unwrap());
        let case = format!("{date} {latitude} {longitude} {name}");
        let place = (!latitude.is_empty()).then(|| Place::new(number(latitude), number(longitude), 0.0).unwrap());
        let local = place.map(|place| transit.circumstances(&place));
        let contacts = local.map_or(transit.contacts, |local| local.contacts);
        let view = match (name.as_str(), local) {
            ("sunrise", Some(local)) => local.sunrise,
            ("sunset", Some(local)) => local.sunset,
            _ => event(&contacts, name),
        };
        let view = view.unwrap_or_else(|| panic!("{case} is missing"));
        let late = view.time.seconds_since(Time::from_tt_julian_date(number(jd)));
        seconds = seconds.max(late.abs());
        assert!(late.abs() < 2.0, "{case}: {late} s");
        let turned = (view.position_angle - number(angle) + 180.0).rem_euclid(360.0) - 180.0;
        assert!(turned.abs() < 0.02, "{case}: {} instead of {angle}", view.position_angle);
        if name == "greatest" {
            assert!((contacts.separation_arcsec - number(separation)).abs() < 0.02, "{case}: {contacts:?}");
        }
        if local.is_some() {
            assert!((view.sun_altitude - number(altitude)).abs() < 0.01, "{case}: {}", view.sun_altitude);
        }
        horizons += usize::from(name.starts_with("sun"));
    }
    println!("{} events, largest difference {seconds:.2} s", list.len());
    assert!(list.len() > 250 && horizons > 10, "{} {horizons}", list.len());
    // What Skyfield does not find is not found: contacts of grazing transits, sunrise and sunset.
    for row in list.iter().filter(|row| row[4] == "greatest") {
        let listed = |name: &str| list.iter().any(|other| other[..4] == row[..4] && other[4] == name);
        let transit = transit(&row[0]);
        let place = (!row[2].is_empty()).then(|| Place::new(number(&row[2]), number(&row[3]), 0.0).unwrap());
        let local = place.map(|place| transit.circumstances(&place));
        let contacts = local.map_or(transit.contacts, |local| local.contacts);
        for name in ["c1", "c2", "c3", "c4"] {
            assert_eq!(event(&contacts, name).is_some(), listed(name), "{row:?} {name}");
        }
        if let Some(local) = local.filter(|local| local.contacts.c1.is_some()) {
            assert_eq!(
                (local.sunrise.is_some(), local.sunset.is_some()),
                (listed("sunrise"), listed("sunset")),
                "{row:?}"
            );
        }
    }
}

/// The list of Meeus (Transits, 1989), with the transit of 1937 that only a part of the Earth saw. No day has an eclipse, too.
#[test]
fn all_transits_are_found() {
    let sky = sky(69.2, Radii::IAU);
    let found = sky.transits(instant("1900-01-01"), instant("2050-12-31")).unwrap();
    let days: Vec<String> =
        found.iter().map(|one| one.record().greatest.time.to_string().chars().take(10).collect()).collect();
    let expected = "1907-11-14 1914-11-07 1924-05-08 1927-11-10 1937-05-11 1940-11-11 1953-11-14 1957-05-06 \
        1960-11-07 1970-05-09 1973-11-10 1986-11-13 1993-11-06 1999-11-15 2003-05-07 2004-06-08 \
        2006-11-08 2012-06-06 2016-05-09 2019-11-11 2032-11-13 2039-11-07 2049-05-07";
    assert_eq!(days.join(" "), expected);
    for (one, day) in found.iter().zip(expected.split(' ')) {
        assert_eq!(one.planet == SkyBody::Venus, ["2004-06-08", "2012-06-06"].contains(&day));
        let (first, last) = one.span();
        for time in [first, one.contacts.greatest.time, last] {
            assert!(sky.eclipse_on(time).unwrap().is_none(), "{day}");
            let late =
                sky.transit_on(time).unwrap().unwrap().contacts.greatest.time.seconds_since(one.contacts.greatest.time);
            assert!(late.abs() < 1e-3, "{day}: {late}");
        }
    }
    assert!(sky.transit_on(instant("2012-06-07")).unwrap().is_none());
    for day in ["1900-01-01", "2050-12-31"] {
        assert!(sky.transit_on(instant(day)).unwrap().is_none(), "{day}");
    }
}

/// The transit of 2016-05-09 as in the Observer's Handbook of 2016 (Espenak), in UT1 as seen from the centre of the Earth, in whole seconds.
#[test]
fn contacts_are_those_of_a_catalogue() {
    let sky = umbracast_sky::Sky::new(umbracast_sky::SkyOptions { radii: Radii::NASA, ..Default::default() });
    let of = sky.transit_on(instant("2016-05-09")).unwrap().unwrap().contacts;
    let clocks =
        [("c1", "11:12:19"), ("c2", "11:15:31"), ("greatest", "14:57:26"), ("c3", "18:39:14"), ("c4", "18:42:26")];
    for ((name, clock), angle) in clocks.into_iter().zip([83.2, 83.5, 153.8, 224.1, 224.4]) {
        let view = event(&of, name).unwrap();
        let late = super::seconds_after(clock, view.time);
        assert!(late.abs() < 2.0, "{name}: {late} s");
        assert!((view.position_angle - angle).abs() < 0.06, "{name}: {}", view.position_angle);
    }
}
