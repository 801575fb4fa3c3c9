//! Eclipses before 1900 and after 2050, with excerpts of DE440 and DE406, against Skyfield: `tools/make_old_eclipses.py`.

use std::collections::BTreeMap;

use umbracast::glam::DVec3;
use umbracast_sky::{DeltaT, Eclipse, Ephemeris, Place, Sky, SkyBody, SkyOptions, Time};

use super::{number, rows};

fn excerpt(file: &str) -> Ephemeris {
    let path = umbracast_testing::root().join("tests/data/sky").join(file);
    Ephemeris::from_bytes(std::fs::read(path).unwrap()).unwrap().with_name(file)
}

fn sky(date: &str, delta_t: DeltaT) -> Sky {
    let name = if date.starts_with('-') { "de406" } else { "de440" };
    let year = date.rsplitn(3, '-').last().unwrap().replace("-0", "-");
    Sky::with_ephemeris(excerpt(&format!("{name}_{year}.bsp")), SkyOptions { delta_t, ..SkyOptions::default() })
}

/// Positions of DE440 in 1715 and 2186, read by Skyfield from the whole file, to 1 m: the instants are rounded to 40 µs.
#[test]
fn excerpts_of_de440_have_its_positions() {
    let list = rows("sky/de440.csv", "file,body,jd_tdb,x_km,y_km,z_km");
    assert_eq!(list.len(), 320);
    let mut worst = 0.0_f64;
    for [file, body, jd, x, y, z] in list {
        let seconds = (number(&jd) - 2_451_545.0) * 86_400.0;
        let found = excerpt(&file).barycentric(SkyBody::from_name(&body).unwrap(), seconds).unwrap().position;
        let apart = found.distance(DVec3::new(number(&x), number(&y), number(&z)));
        worst = worst.max(apart);
        assert!(apart < 1e-3, "{file} {body} {jd}: {apart} km");
    }
    println!("{:.6} m", 1000.0 * worst);
}

#[test]
fn old_and_future_eclipses_agree() {
    let mut eclipses = BTreeMap::new();
    let (mut times, mut contacts) = (0.0_f64, 0.0_f64);
    let list = rows("sky/old_eclipses.csv", "date,delta_t_s,lat,lon,event,jd_tt,gamma");
    assert_eq!(list.len(), 33);
    for [date, delta_t, lat, lon, event, jd, gamma] in list {
        let case = format!("{date} {lat} {lon} {event}");
        let eclipse = eclipses.entry(date.clone()).or_insert_with(|| {
            let sky = sky(&date, DeltaT::Seconds(number(&delta_t)));
            match sky.eclipse_on(sky.parse_time(&date).unwrap().0).unwrap() {
                Some(Eclipse::Solar(eclipse)) => eclipse,
                other => panic!("{date}: {other:?}"),
            }
        });
        let expected = Time::from_tt_julian_date(number(&jd));
        if event == "greatest" {
            let seconds = eclipse.greatest.time.seconds_since(expected);
            times = times.max(seconds.abs());
            assert!(seconds.abs() < 0.1, "{case}: {seconds} s");
            assert!((eclipse.greatest.gamma.abs() - number(&gamma)).abs() < 1e-5, "{case}: {}", eclipse.greatest.gamma);
            continue;
        }
        let seen = eclipse.circumstances(&Place::new(number(&lat), number(&lon), 0.0).unwrap());
        let found = match &*event {
            "c1" => seen.c1,
            "c2" => seen.c2,
            "c3" => seen.c3,
            _ => seen.c4,
        };
        let seconds = found.unwrap_or_else(|| panic!("{case}")).time.seconds_since(expected);
        contacts = contacts.max(seconds.abs());
        assert!(seconds.abs() < 0.3, "{case}: {seconds} s");
    }
    println!("greatest {times:.3} s, contacts {contacts:.3} s");
}

/// Numbers of Saros series by the Five Millennium Canon, and ΔT with its error.
#[test]
fn old_eclipses_have_their_saros_series_and_delta_t() {
    for (date, saros, delta_t, error) in
        [("1715-05-03", 114, 12.1, 4.4), ("2186-07-16", 139, 149.8, 103.2), ("-0584-05-22", 57, 18_213.0, 462.0)]
    {
        let sky = sky(date, DeltaT::Table);
        let Some(Eclipse::Solar(eclipse)) = sky.eclipse_on(sky.parse_time(date).unwrap().0).unwrap() else {
            panic!("{date}")
        };
        let time = eclipse.greatest.time;
        assert_eq!(Eclipse::Solar(eclipse).lunation_and_saros().1, saros, "{date}");
        assert!(time.text(0, DeltaT::Table).to_string().starts_with(date), "{}", time.text(0, DeltaT::Table));
        let found = (DeltaT::Table.seconds_at(time), DeltaT::Table.error_s(time).unwrap());
        assert!((found.0 - delta_t).abs() < 0.02 * delta_t && (found.1 - error).abs() < 1.0, "{date}: {found:?}");
        assert_eq!(DeltaT::Seconds(1.0).error_s(time), None);
        // A day of the same file without an eclipse: the file has none after it.
        let next = sky.next_eclipse(time.plus(3600.0), None).unwrap();
        assert!(next.is_none(), "{date}: {next:?}");
    }
}

/// Days near the ends of a file, and a file without planets.
#[test]
fn each_day_of_a_file_is_searched() {
    const DAYS: [&str; 10] = [
        "1715-04-29",
        "1715-04-30",
        "1715-05-01",
        "1715-05-02",
        "1715-05-03",
        "1715-05-04",
        "1715-05-05",
        "1715-05-06",
        "-0584-05-22",
        "-0584-05-23",
    ];
    for date in DAYS {
        let sky = sky(if date.starts_with('-') { "-0584-05-22" } else { "1715-05-03" }, DeltaT::Table);
        let day = sky.parse_time(date).unwrap().0;
        let found = sky.eclipse_on(day).unwrap();
        assert_eq!(found.is_some(), matches!(date, "1715-05-03" | "-0584-05-22"), "{date}: {found:?}");
        let transit = sky.transit_on(day).unwrap();
        assert!(transit.is_none(), "{date}: {transit:?}");
    }
}

#[test]
fn an_ephemeris_refuses_instants_that_it_does_not_cover() {
    let built_in = Sky::new(SkyOptions::default());
    for date in ["1899-12-31", "2051-01-01", "-0584-05-22", "1715-05-03T12:00Z"] {
        let error = built_in.parse_time(date).unwrap_err().to_string();
        let words =
            "is outside the years 1900 to 2050 of the built-in ephemeris: give another one with the option ephemeris";
        assert!(error.contains(words) && error.starts_with(&date[..10]), "{error}");
    }
    let moons = Sky::with_ephemeris(excerpt("moons.bsp"), SkyOptions::default());
    let error = moons.parse_time("1715-05-03").unwrap_err().to_string();
    assert!(error.ends_with("for which moons.bsp has Sun and Earth, but no Moon, which eclipses need"), "{error}");
    let excerpt = sky("1715-05-03", DeltaT::Table);
    for date in ["1715-05-07T13:00Z", "1715-04-28T11:00Z", "2024-04-08"] {
        let error = excerpt.parse_time(date).unwrap_err().to_string();
        assert!(error.contains("is outside 1715-04-28T23:59:48 UT1 to 1715-05-06T23:59:48 UT1, for which"), "{error}");
        assert!(error.contains("de440_1715.bsp has Sun, Moon and Earth"), "{error}");
    }
    assert!(built_in.parse_time("-2000-01-01").unwrap_err().to_string().contains("the years -1999 to 3000"));
}
