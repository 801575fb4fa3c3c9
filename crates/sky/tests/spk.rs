//! SPK files: an excerpt of DE421 as jplephem writes it, and files that this test writes.

use umbracast::glam::DVec3;
use umbracast::shadow::{Ball, ShadowRow};
use umbracast_sky::{
    BodyVectors, DeltaT, Eclipse, Ephemeris, Error, Frame, LightTime, Sky, SkyBody, SkyOptions, SolarEclipse, Sunlight,
    Time, Trajectory, TrajectoryState, View,
};
use umbracast_testing::spk::{Segment, file};

use super::{number, rows, solar};

fn excerpt() -> Vec<u8> {
    std::fs::read(umbracast_testing::root().join("tests/data/sky/de421_2024-04.bsp")).unwrap()
}

/// Positions and velocities of DE421, read by jplephem, to 0.1 m.
#[test]
fn an_excerpt_of_de421_has_its_positions() {
    let ephemeris = Ephemeris::from_bytes(excerpt()).unwrap();
    let list = rows::<8>("sky/spk.csv", "body,jd_tdb,x_km,y_km,z_km,vx_km_s,vy_km_s,vz_km_s");
    assert_eq!(list.len(), 240);
    for [body, jd, numbers @ ..] in list {
        let [x, y, z, vx, vy, vz] = numbers.map(|text| number(&text));
        let seconds = (number(&jd) - 2_451_545.0) * 86_400.0;
        let state = ephemeris.barycentric(SkyBody::from_name(&body).unwrap(), seconds).unwrap();
        assert!(state.position.distance(DVec3::new(x, y, z)) < 1e-4, "{body} {jd}: {state:?}");
        assert!(state.velocity.distance(DVec3::new(vx, vy, vz)) < 1e-9, "{body} {jd}: {state:?}");
    }
}

/// The Moon relative to the Earth along a trajectory, from positions of DE421 by jplephem.
#[test]
fn a_trajectory_has_the_positions_of_its_body() {
    let list = rows::<8>("sky/spk.csv", "body,jd_tdb,x_km,y_km,z_km,vx_km_s,vy_km_s,vz_km_s");
    let of = |name: &str| list.iter().filter(|row| row[0] == name).cloned().collect::<Vec<_>>();
    let (moon, earth) = (of("Moon"), of("Earth"));
    let found = Trajectory::from_spk(excerpt(), Some(301), 600.0).unwrap();
    assert_eq!((found.len(), found[0].object(), found[0].states().len()), (1, "301", 433));
    let mut checked = 0;
    for (moon, earth) in moon.iter().zip(&earth) {
        let seconds = (number(&moon[1]) - 2_451_545.0) * 86_400.0;
        let Some(state) = found[0].states().iter().find(|state| (state.time.tdb_seconds() - seconds).abs() < 1e-4)
        else {
            continue;
        };
        let part = |i: usize| number(&moon[i]) - number(&earth[i]);
        assert!(state.position.distance(DVec3::new(part(2), part(3), part(4))) < 1e-3, "{state:?}");
        assert!(state.velocity.unwrap().distance(DVec3::new(part(5), part(6), part(7))) < 1e-8, "{state:?}");
        checked += 1;
    }
    // Made-up segments about the Earth, with a gap; the barycentre of the solar system is not needed.
    let mut later = straight(-82, 399, [7000.0, 1.0, 2.0], [0.5, 0.0, 0.0]);
    (later.first, later.intervals) = (5000.0, vec![vec![vec![8000.0], vec![0.0], vec![9.0]]]);
    let made = file(&[straight(-82, 399, [7000.0, 1.0, 2.0], [0.5, 0.0, 0.0]), later], true);
    let found = Trajectory::from_spk(made.clone(), Some(-82), 300.0).unwrap();
    let times: Vec<Vec<f64>> =
        found.iter().map(|one| one.states().iter().map(|state| state.time.tdb_seconds().round()).collect()).collect();
    let expected = [
        &[-1000.0, -700.0, -400.0, -100.0, 200.0, 500.0, 800.0, 1000.0][..],
        &[5000.0, 5300.0, 5600.0, 5900.0, 6000.0],
    ];
    assert_eq!(times, expected);
    let [first, last] = [found[0].states()[1], found[1].states()[2]];
    assert!(first.position.distance(DVec3::new(6650.0, 1.0, 2.0)) < 1e-9, "{first:?}");
    assert!(
        first.velocity.unwrap().distance(DVec3::new(0.5, 0.0, 0.0)) < 1e-12
            && last.position == DVec3::new(8000.0, 0.0, 9.0)
    );
    for (bytes, target, words) in [
        (made.clone(), -83, "the SPK file has no body -83: it has [-82]"),
        (file(&[straight(-82, 499, [7000.0, 1.0, 2.0], [0.5, 0.0, 0.0])], true), -82, "no positions of body 499"),
        (file(&[straight(-82, 399, [10.0, 1.0, 2.0], [0.5, 0.0, 0.0])], true), -82, "inside the Earth"),
        (b"DAF/CK  ".to_vec(), -82, "does not start with DAF/SPK"),
    ] {
        let error = Trajectory::from_spk(bytes, Some(target), 60.0).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    assert!(matches!(Trajectory::from_spk(made.clone(), Some(-82), 1e-9), Err(Error::Umbracast(_))));
    for step in [0.0, -60.0, 86_401.0, f64::INFINITY, f64::NAN] {
        let error = Trajectory::from_spk(made.clone(), Some(-82), step).unwrap_err().to_string();
        assert!(error.starts_with(&format!("the step is {step} s: it must be")), "{error}");
    }
    // The longest step is a day of TDB.
    for step in [86_400.0, 86_399.999_9] {
        let found = Trajectory::from_spk(excerpt(), Some(301), step).unwrap();
        assert!(found[0].states().len() > 1, "{step}");
    }
    assert!(checked >= 20, "{checked}");
}

/// The eclipse of 2024-04-08 from the excerpt is that of the built-in ephemeris, whose Moon is within 1 m of DE421.
#[test]
fn an_eclipse_from_a_file_is_the_same() {
    let own = solar(&Sky::new(SkyOptions::default()), "2024-04-08");
    let ephemeris = Ephemeris::from_bytes(excerpt()).unwrap().with_name("de421.bsp");
    let sky = Sky::with_ephemeris(ephemeris, SkyOptions::default());
    assert_eq!(sky.ephemeris().name(), "de421.bsp");
    let other = solar(&sky, "2024-04-08");
    assert!(other.greatest.time.seconds_since(own.greatest.time).abs() < 0.01);
    assert!(other.greatest.place.chord_km(&own.greatest.place) < 0.01);
    let elements = |eclipse: &SolarEclipse| eclipse.besselian_elements().x;
    assert!(elements(&own).iter().zip(elements(&other)).all(|(a, b)| (a - b).abs() < 1e-6));
    // Beyond the file.
    let later = Time::parse("2024-09-18", DeltaT::Table).unwrap().0;
    let error = sky.eclipse_on(later).unwrap_err().to_string();
    let words = "is outside 2024-04-06T23:58:51Z to 2024-04-09T23:58:51Z, for which de421.bsp has Sun, Moon and Earth";
    assert!(error.contains(words), "{error}");
    let error = sky.ephemeris().barycentric(SkyBody::Sun, later.tdb_seconds()).unwrap_err().to_string();
    assert!(error.starts_with("de421.bsp has no positions of body "), "{error}");
    assert!(error.contains("those of the Julian dates 2460407.5 to 2460410.5"), "{error}");
    // Planets that it does not have, too.
    let error = sky.apparent(SkyBody::Jupiter, own.greatest.time).unwrap_err().to_string();
    assert!(error.contains("no positions of body 5"), "{error}");
}

/// The excerpt, whose segments end at this instant.
fn cut_at(date: &str) -> Vec<u8> {
    let end = Time::parse(date, DeltaT::Table).unwrap().0.tdb_seconds();
    let mut bytes = excerpt();
    let record = i32::from_le_bytes(bytes[76..80].try_into().unwrap()) as usize - 1;
    let count = f64::from_le_bytes(bytes[1024 * record + 16..1024 * record + 24].try_into().unwrap()) as usize;
    for i in 0..count {
        let at = 1024 * record + 24 + 40 * i + 8;
        bytes[at..at + 8].copy_from_slice(&end.to_le_bytes());
    }
    bytes
}

/// An eclipse in the last days of a file is found, and one in its last hours is an error.
#[test]
fn the_next_eclipse_is_found_up_to_the_end_of_a_file() {
    let day = Time::parse("2024-04-07T12:00Z", DeltaT::Table).unwrap().0;
    let next = |bytes: Vec<u8>| {
        let sky = Sky::with_ephemeris(Ephemeris::from_bytes(bytes).unwrap(), SkyOptions::default());
        sky.next_eclipse(day, None).map(|found| found.map(|one| one.greatest().text(0, DeltaT::Table).to_string()))
    };
    assert_eq!(next(excerpt()).unwrap().as_deref(), Some("2024-04-08T18:17:20Z"));
    assert_eq!(next(cut_at("2024-04-08T23:00Z")).unwrap().as_deref(), Some("2024-04-08T18:17:20Z"));
    let error = next(cut_at("2024-04-08T20:00Z")).unwrap_err().to_string();
    let words = "; a possible eclipse or transit at 2024-04-08T18:17:20Z needs those of 4 hours before and after";
    assert!(error.contains("no positions of body 3") && error.ends_with(words), "{error}");
    assert_eq!(next(cut_at("2024-04-08T18:00Z")).unwrap(), None);
}

/// States of all times of a file, against the built-in ephemeris, whose Sun is within 0.2 km.
#[test]
fn sunlight_needs_no_positions_beyond_the_states() {
    let built_in = Sky::new(SkyOptions::default());
    let ephemeris = Ephemeris::from_bytes(excerpt()).unwrap();
    let (first, last) = ephemeris.span();
    let sky = Sky::with_ephemeris(ephemeris, SkyOptions::default());
    let steps = 200;
    let state = |i: i32| TrajectoryState {
        time: first.plus(last.seconds_since(first) * f64::from(i) / f64::from(steps)),
        position: DVec3::new(7000.0, 0.0, 0.0),
        velocity: None,
    };
    let path = [Trajectory::new("", Frame::Gcrs, (0..=steps).map(state).collect()).unwrap()];
    let [own, other] = [&built_in, &sky].map(|sky| Sunlight::new(sky, &path).unwrap());
    let blank = || ShadowRow::new([0.0; 3], Ball::new([0.0; 3], 1.0), []);
    let (mut a, mut b) = (blank(), blank());
    for i in 0..=steps as usize {
        own.row(0, i, &mut a);
        other.row(0, i, &mut b);
        let apart = [
            a.observer.distance(b.observer),
            a.light.center.distance(b.light.center),
            a.bodies[1].center.distance(b.bodies[1].center),
        ];
        assert!(apart[0] < 0.02 && apart[1] < 20.0 && apart[2] < 0.1, "{i}: {apart:?}");
    }
}

/// A file with other axes says which.
#[test]
fn other_axes_are_named() {
    let mut bytes = file(&[straight(10, 0, [1.0; 3], [0.0; 3])], true);
    bytes[1072..1076].copy_from_slice(&17_i32.to_le_bytes());
    let error = Ephemeris::from_bytes(bytes).unwrap_err().to_string();
    let words = "no segment of type 2, 3, 9 or 13 in the axes 1 (J2000): its segments have type 2 in the axes 17";
    assert!(error.ends_with(words), "{error}");
}

/// A body on a line: position `from` + `speed` t, as a type 2 segment of two intervals.
fn straight(target: i32, center: i32, from: [f64; 3], speed: [f64; 3]) -> Segment {
    let interval = |middle: f64| (0..3).map(|i| vec![from[i] + speed[i] * middle, speed[i] * 500.0]).collect();
    Segment {
        target,
        center,
        kind: 2,
        first: -1000.0,
        interval_s: 1000.0,
        intervals: vec![interval(-500.0), interval(500.0)],
    }
}

/// A file of the moons of another planet has no Moon: systems are made from it, and whatever needs the Moon is an error.
#[test]
fn a_file_without_the_moon_has_its_bodies() {
    let bytes = file(
        &[
            straight(10, 0, [1e8, 0.0, 0.0], [0.0; 3]),
            straight(399, 0, [0.0; 3], [0.0; 3]),
            straight(599, 0, [0.0, 7e8, 0.0], [0.0; 3]),
        ],
        true,
    );
    let sky = Sky::with_ephemeris(Ephemeris::from_bytes(bytes).unwrap(), SkyOptions::default());
    let bodies = [SkyBody::Sun, SkyBody::Jupiter];
    let time = Time::from_tdb_seconds(0.0);
    let view = View::parse("to-jupiter").unwrap();
    let text = sky.system_toml_with(time, &bodies, &[], &LightTime::Off, Some(view), [32, 18]).unwrap();
    assert!(center_of(&text, "Jupiter").length() > 6.9e8, "{text}");
    let error = sky.system_toml_with(time, &bodies, &[], &LightTime::Off, None, [32, 18]).unwrap_err().to_string();
    assert!(error.contains("no positions of body 301") && error.contains("such as to-jupiter"), "{error}");
    let error = sky.apparent(SkyBody::Moon, time).unwrap_err().to_string();
    assert!(error.contains("no positions of body 301"), "{error}");
}

/// Sun, Earth and Moon; the Moon has type 3, with velocities that are those of its positions. Both byte orders.
#[test]
fn segments_of_both_types_and_byte_orders_are_read() {
    // x = 2 T2(s) + T1(s), with s = t / 1000: x = 4 s² − 2 + s, and its velocity is (8 s + 1) / 1000.
    let moon = Segment {
        target: 301,
        center: 3,
        kind: 3,
        first: -1000.0,
        interval_s: 2000.0,
        intervals: vec![vec![
            vec![0.0, 1.0, 2.0],
            vec![7.0, 0.0, 0.0],
            vec![0.0, 0.0, 0.0],
            vec![0.001, 0.008, 0.0],
            vec![0.0, 0.0, 0.0],
            vec![0.0, 0.0, 0.0],
        ]],
    };
    let segments = [
        straight(10, 0, [1.0, 2.0, 3.0], [0.0, 0.0, 0.5]),
        straight(3, 0, [100.0, 0.0, 0.0], [0.25, 0.0, 0.0]),
        straight(399, 3, [0.0, -1.0, 0.0], [0.0; 3]),
        moon,
        // Later segments take precedence; the planet's centre is preferred to the barycentre.
        straight(10, 0, [1.0, 2.0, 4.0], [0.0, 0.0, 0.5]),
        straight(5, 0, [5.0; 3], [0.0; 3]),
        straight(599, 5, [0.5; 3], [0.0; 3]),
        straight(4, 0, [4.0; 3], [0.0; 3]),
    ];
    for is_little_endian in [true, false] {
        let ephemeris = Ephemeris::from_bytes(file(&segments, is_little_endian)).unwrap();
        for t in [-1000.0, -999.5, -1.0, 0.0, 250.0, 1000.0] {
            let at = |body| ephemeris.barycentric(body, t).unwrap();
            assert!(at(SkyBody::Sun).position.distance(DVec3::new(1.0, 2.0, 4.0 + 0.5 * t)) < 1e-9, "{t}");
            assert!(at(SkyBody::Sun).velocity.distance(DVec3::new(0.0, 0.0, 0.5)) < 1e-12, "{t}");
            assert!(at(SkyBody::Earth).position.distance(DVec3::new(100.0 + 0.25 * t, -1.0, 0.0)) < 1e-9, "{t}");
            let s = t / 1000.0;
            let expected = DVec3::new(100.0 + 0.25 * t + 4.0 * s * s - 2.0 + s, 7.0, 0.0);
            assert!(at(SkyBody::Moon).position.distance(expected) < 1e-9, "{t}: {:?}", at(SkyBody::Moon));
            assert!((at(SkyBody::Moon).velocity.x - (0.251 + 0.008 * s)).abs() < 1e-12, "{t}");
            assert_eq!(at(SkyBody::Jupiter).position, DVec3::splat(5.5));
            assert_eq!(at(SkyBody::Mars).position, DVec3::splat(4.0));
        }
        for t in [-1000.1, 1001.0, f64::NAN, f64::INFINITY] {
            assert!(ephemeris.barycentric(SkyBody::Sun, t).is_err(), "{t}");
        }
    }
}

/// Segments of states, of types 9 and 13, are interpolated as SPICE does it.
#[test]
fn segments_of_states_agree_with_spice() {
    let bytes = || std::fs::read(umbracast_testing::root().join("tests/data/sky/states.bsp")).unwrap();
    let list = rows::<8>("sky/states.csv", "body,tdb_s,x_km,y_km,z_km,vx_km_s,vy_km_s,vz_km_s");
    let mut checked = 0;
    for body in [-9, -13, -91, -131] {
        let found = Trajectory::from_spk(bytes(), Some(body), 30.0).unwrap();
        let states = found[0].states();
        let own = list.iter().filter(|row| row[0] == body.to_string()).map(|row| row.clone().map(|text| number(&text)));
        for [_, seconds, x, y, z, vx, vy, vz] in own {
            let near = |one: &&TrajectoryState| (one.time.tdb_seconds() - seconds).abs() < 1e-5;
            let state = states.iter().find(near).unwrap_or_else(|| panic!("{body} {seconds}"));
            assert!(state.position.distance(DVec3::new(x, y, z)) < 2e-8, "{body} {seconds}: {state:?}");
            assert!(state.velocity.unwrap().distance(DVec3::new(vx, vy, vz)) < 1e-7, "{body} {seconds}: {state:?}");
            checked += 1;
        }
    }
    assert_eq!(checked, 4 * 61);
    let error = Trajectory::from_spk(bytes(), None, 60.0).unwrap_err().to_string();
    assert!(error.contains("the SPK file has the bodies [-131, -91, -13, -9]: choose one"), "{error}");
    // The count of states, the states per polynomial, and the order of the epochs of the last segment.
    let good = bytes();
    let end = (0..good.len() / 8).rev().find(|word| good[8 * word..8 * word + 8] == 150_f64.to_le_bytes()).unwrap();
    for (word, value, why) in [
        (end, 151.0, "151 states do not fill its 1053 words"),
        (end, f64::NAN, "NaN states do not fill its"),
        (end - 1, 28.0, "29 states per polynomial: expected 1 to 28"),
        (end - 1, 6.5, "7.5 states per polynomial"),
        (end - 3, 0.0, "the epochs of its states are not in order"),
        (end - 3, f64::NAN, "the epochs of its states are not in order"),
    ] {
        let mut changed = good.clone();
        changed[8 * word..8 * word + 8].copy_from_slice(&value.to_le_bytes());
        let error = Trajectory::from_spk(changed, Some(-9), 60.0).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("body -131"), "{why}: {error}");
    }
}

/// Moons of JPL's jup310 (type 3) and Io in a segment of type 2: what SPICE reads, and the apparent places of Skyfield.
#[test]
fn moons_agree_with_spice_and_skyfield() {
    let bytes = std::fs::read(umbracast_testing::root().join("tests/data/sky/moons.bsp")).unwrap();
    let sky = Sky::with_ephemeris(Ephemeris::from_bytes(bytes).unwrap(), SkyOptions::default());
    let columns = "body,tdb_s,x_km,y_km,z_km,vx_km_s,vy_km_s,vz_km_s,apparent_x_km,apparent_y_km,apparent_z_km";
    let (mut geometric, mut speed, mut apparent) = (0.0_f64, 0.0_f64, 0.0_f64);
    let list = rows("sky/moons.csv", columns);
    assert_eq!(list.len(), 72);
    for row in list {
        let [body, seconds, x, y, z, vx, vy, vz, ax, ay, az] = row.each_ref().map(|text| number(text));
        let time = Time::from_tdb_seconds(seconds);
        let moon = BodyVectors::of_ephemeris(sky.ephemeris(), &row[0], Some(1.0)).unwrap();
        let own = std::slice::from_ref(&moon);
        let text = sky.system_toml_with(time, &[SkyBody::Sun], own, &LightTime::Off, Some(View::To("sun")), [64, 36]);
        // Both are turned in the same way.
        let expected = sky.to_earth_fixed(DVec3::new(x, y, z), time);
        geometric = geometric.max(center_of(&text.unwrap(), &row[0]).distance(expected));
        apparent = apparent.max(sky.apparent_of(&moon, time).unwrap().distance(DVec3::new(ax, ay, az)));
        if body == 599.0 {
            let state = sky.ephemeris().geocentric_tdb(SkyBody::Jupiter, seconds).unwrap();
            speed = speed.max(state.velocity.distance(DVec3::new(vx, vy, vz)));
        }
    }
    println!("{geometric:.1e} km, {speed:.1e} km/s, apparent {apparent:.1e} km");
    assert!(geometric < 1e-3 && speed < 1e-9 && apparent < 1e-2, "{geometric} {speed} {apparent}");
    // By its name, and as the target of a view.
    let io = [BodyVectors::of_ephemeris(sky.ephemeris(), "Io", None).unwrap()];
    let of_number = BodyVectors::of_ephemeris(sky.ephemeris(), "501", None).unwrap();
    assert_eq!(of_number.radius_km(), io[0].radius_km());
    let time = Time::from_tdb_seconds(478_626_400.0);
    let system = |view| {
        let view = Some(View::parse(view).unwrap());
        let bodies = [SkyBody::Sun, SkyBody::Jupiter];
        sky.system_toml_with(time, &bodies, &io, &LightTime::Earth, view, [64, 36])
    };
    let text = system("to-io").unwrap();
    let target = text.lines().find_map(|line| line.strip_prefix("target = ")).unwrap();
    let center = text.split("name = \"Io\"\ncenter = ").nth(1).unwrap();
    assert!(center.starts_with(target), "{text}");
    let error = system("to-europa").unwrap_err().to_string();
    assert!(error.contains("view 'to-europa': europa is not among the bodies"), "{error}");
}

#[test]
fn damaged_files_are_errors() {
    let good = excerpt();
    let changed = |at: usize, new: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + new.len()].copy_from_slice(new);
        bytes
    };
    let number = |x: f64| x.to_le_bytes();
    // The file record names the first summary record, which has the addresses of the first segment.
    let record = i32::from_le_bytes(good[76..80].try_into().unwrap()) as usize;
    let at = (record - 1) * 1024;
    let begin = i32::from_le_bytes(good[at + 24 + 32..at + 24 + 36].try_into().unwrap()) as usize;
    let end = i32::from_le_bytes(good[at + 24 + 36..at + 24 + 40].try_into().unwrap()) as usize;
    assert!(begin < end);
    for (bytes, why) in [
        (b"DAF/SPK ".to_vec(), "does not start with DAF/SPK"),
        (changed(0, b"DAF/CK  "), "does not start with DAF/SPK"),
        (changed(88, b"VAX-GFLT"), "neither LTL-IEEE nor BIG-IEEE"),
        (changed(8, &[3]), "2 numbers and 6 integers"),
        (changed(76, &9_999_i32.to_le_bytes()), "summary record 9999 is not in the file"),
        (changed(76, &(-1_i32).to_le_bytes()), "summary record -1 is not in the file"),
        (changed(76, &0_i32.to_le_bytes()), "no segment of type 2, 3, 9 or 13"),
        (changed(at, &number(f64::NAN)), "summary record NaN is not in the file"),
        (changed(at + 16, &number(26.0)), "26 summaries: expected 0 to 25"),
        (changed(at + 16, &number(f64::NAN)), "NaN summaries"),
        (changed(at + 24 + 32, &0_i32.to_le_bytes()), "are not in the file"),
        (changed(at + 24 + 36, &i32::MAX.to_le_bytes()), "are not in the file"),
        (changed((end - 1) * 8, &number(1e9)), "do not fill its"),
        (changed((end - 2) * 8, &number(2.5)), "do not fill its"),
        (changed((end - 3) * 8, &number(0.0)), "its epochs are not those of its data"),
        (changed((end - 4) * 8, &number(f64::INFINITY)), "its epochs are not those of its data"),
        (good[..good.len() - 600].to_vec(), "are not in the file"),
        (good[..1500].to_vec(), "is not in the file"),
    ] {
        let error = Ephemeris::from_bytes(bytes).unwrap_err().to_string();
        assert!(error.starts_with("the SPK file is invalid: ") && error.contains(why), "{why}: {error}");
    }
    // Summaries that name themselves as the next ones are read again only as often as there are records.
    assert!(Ephemeris::from_bytes(changed(at, &number(record as f64))).is_ok());
    // A missing body, an interval of another time, and a number that is not finite.
    let without = file(&[straight(10, 0, [1.0; 3], [0.0; 3]), straight(301, 0, [2.0; 3], [0.0; 3])], true);
    let error = Ephemeris::from_bytes(without).unwrap_err().to_string();
    assert!(error.contains("no positions of the Earth (399)"), "{error}");
    for bad in [f64::NAN, 0.0, 1e300] {
        let ephemeris = Ephemeris::from_bytes(changed((begin - 1) * 8 + 8, &number(bad))).unwrap();
        let seconds = (2_460_408.0 - 2_451_545.0) * 86_400.0;
        let states = SkyBody::ALL.map(|body| ephemeris.barycentric(body, seconds));
        assert!(bad == 1e300 || states.iter().flatten().count() < 5, "{bad}: {states:?}");
    }
    // A chain of centres that never ends.
    let circle = [
        straight(10, 0, [1.0; 3], [0.0; 3]),
        straight(399, 0, [2.0; 3], [0.0; 3]),
        straight(301, 0, [3.0; 3], [0.0; 3]),
        straight(499, 4, [3.0; 3], [0.0; 3]),
        straight(4, 499, [3.0; 3], [0.0; 3]),
    ];
    let ephemeris = Ephemeris::from_bytes(file(&circle, true)).unwrap();
    assert!(ephemeris.barycentric(SkyBody::Mars, 0.0).unwrap_err().to_string().contains("no positions of body"));
}

/// An eclipse needs its positions only.
#[test]
fn a_list_beyond_the_file_is_an_error() {
    let sky = Sky::with_ephemeris(Ephemeris::from_bytes(excerpt()).unwrap(), SkyOptions::default());
    let year = |year| Time::of_year(year, DeltaT::Table);
    assert!(sky.eclipses(year(2024), year(2025), None).is_err());
    let day = Time::parse("2024-04-08", DeltaT::Table).unwrap().0;
    assert!(matches!(sky.eclipse_on(day).unwrap(), Some(Eclipse::Solar(_))));
}

/// A body with these positions, as a type 2 segment of 5 hours about J2000.
fn fitted(target: i32, center: i32, position: impl Fn(f64) -> DVec3) -> Segment {
    const TERMS: usize = 14;
    let (first, interval_s) = (-9000.0, 3000.0);
    let interval = |index: usize| {
        let middle = first + interval_s * (index as f64 + 0.5);
        let mut sums = vec![vec![0.0; TERMS]; 3];
        for k in 0..TERMS {
            let angle = std::f64::consts::PI * (k as f64 + 0.5) / TERMS as f64;
            let at = position(middle + 0.5 * interval_s * angle.cos());
            for (j, weight) in (0..TERMS).map(|j| (j, if j == 0 { 1.0 } else { 2.0 } / TERMS as f64)) {
                (0..3).for_each(|axis| sums[axis][j] += weight * (j as f64 * angle).cos() * at[axis]);
            }
        }
        sums
    };
    Segment { target, center, kind: 2, first, interval_s, intervals: (0..6).map(interval).collect() }
}

/// The centre of a body in a system file.
fn center_of(text: &str, name: &str) -> DVec3 {
    let table =
        text.split(&format!("name = \"{name}\"\ncenter = [")).nth(1).unwrap_or_else(|| panic!("{name}: {text}"));
    let numbers: Vec<f64> = table.split(']').next().unwrap().split(", ").map(number).collect();
    DVec3::from_slice(&numbers)
}

/// The shadow of a moon is where light that the Sun sends, that passes the moon and that the Earth sees later draws it: rays that
/// `tools/make_light_time.py` follows from the Sun on, with the same motions. Those of the light that arrives at the Earth directly are some
/// km off, and geometric ones by what the moon moves in 46 minutes.
#[test]
fn shadows_of_moons_are_where_light_draws_them() {
    let sun = |t: f64| DVec3::new(0.01, -0.005, 0.002) * t;
    let earth = |t: f64| DVec3::new(-1.1e8, 0.9e8, 0.4e8) + DVec3::new(-18.0, -20.0, -9.0) * t;
    let planet = |t: f64| DVec3::new(7.0e8, 2.5e8, 0.9e8) + DVec3::new(-4.2, 11.5, 5.1) * t;
    let u = DVec3::new(0.942, 0.335, 0.0).normalize();
    let v = DVec3::new(-0.3, 0.85, 0.43);
    let v = (v - u * u.dot(v)).normalize();
    let orbit = |t: f64| {
        let (sine, cosine) = (3.1 + 4.11e-5 * t).sin_cos();
        (u * cosine + v * sine) * 421_800.0
    };
    let segments = [
        fitted(10, 0, sun),
        fitted(399, 0, earth),
        fitted(301, 399, |_| DVec3::new(0.0, 0.0, 384_400.0)),
        fitted(5, 0, planet),
        fitted(599, 5, |_| DVec3::ZERO),
        fitted(501, 599, orbit),
        fitted(-31, 0, planet),
    ];
    let ephemeris = Ephemeris::from_bytes(file(&segments, true)).unwrap().with_name("made.bsp");
    let io = [BodyVectors::of_ephemeris(&ephemeris, "io", None).unwrap()];
    assert_eq!((io[0].name(), io[0].radius_km(), io[0].center()), ("Io", 1821.49, None));
    let sky = Sky::with_ephemeris(ephemeris.clone(), SkyOptions::default());
    let rows = rows::<5>("sky/light_time.csv", "tdb_s,there_tdb_s,x_km,y_km,z_km");
    for row in &rows {
        let [seen, there, place @ ..] = row.clone().map(|text| number(&text));
        let place = DVec3::from_array(place);
        // TT is TDB within 2 ms.
        let mut time = Time::from_tt_seconds(seen);
        time = time.plus(seen - time.tdb_seconds());
        let system = |light_time: &LightTime| {
            let bodies = [SkyBody::Sun, SkyBody::Jupiter];
            sky.system_toml_with(time, &bodies, &io, light_time, None, [64, 36]).unwrap()
        };
        // Where the axis of the shadow meets the sphere, from its centre: its parts along the directions to the Earth and to the Sun, and
        // across both. They do not depend on the axes.
        let parts = |place: DVec3, earth: DVec3, sun: DVec3| {
            let across = earth.cross(sun).normalize();
            DVec3::new(place.dot(earth.normalize()), place.dot(sun.normalize()), place.dot(across))
        };
        let expected = parts(
            place,
            earth(seen) - planet(there),
            sun(there - planet(there).length() / 299_792.458) - planet(there),
        );
        let apart = |light_time: &LightTime| {
            let text = system(light_time);
            let [sun, jupiter, moon] = ["Sun", "Jupiter", "Io"].map(|name| center_of(&text, name));
            let along = (moon - sun).normalize();
            let foot = moon - jupiter - along * (moon - jupiter).dot(along);
            let place = foot - along * (71_492.0_f64.powi(2) - foot.length_squared()).max(0.0).sqrt();
            (parts(place, -jupiter, sun - jupiter) - expected).length()
        };
        let [by_light, direct, off] =
            [LightTime::By("Jupiter".into()), LightTime::Earth, LightTime::Off].map(|one| apart(&one));
        println!("{seen}: {by_light:.4} km, to the Earth {direct:.1} km, geometric {off:.1} km");
        assert!(by_light < 0.005, "{seen}: {by_light} km");
        assert!(direct > 1.0 && off > 1000.0, "{seen}: {direct} {off}");
        // Geometric vectors are those of the file.
        let text = system(&LightTime::Off);
        assert!(text.contains("geometric positions"), "{text}");
        let [sun_at, jupiter, moon] = ["Sun", "Jupiter", "Io"].map(|name| center_of(&text, name));
        assert!(((moon - jupiter).length() - 421_800.0).abs() < 1e-3);
        assert!((jupiter.length() - (planet(seen) - earth(seen)).length()).abs() < 1e-3);
        assert!((moon.distance(sun_at) - (planet(seen) + orbit(seen)).distance(sun(seen))).abs() < 1e-3);
    }
    assert_eq!(rows.len(), 5);
    // Another moon as the receiver, a number as the name, and errors.
    let time = Time::from_tt_seconds(5000.0);
    let craft = [BodyVectors::of_ephemeris(&ephemeris, "-31", Some(1.0)).unwrap()];
    let system = |own: &[BodyVectors], light: &str| {
        sky.system_toml_with(time, &[SkyBody::Sun, SkyBody::Jupiter], own, &LightTime::from_name(light), None, [64, 36])
    };
    assert!(system(&io, "IO").unwrap().contains("by the light that reaches Io and then the Earth"));
    assert_eq!(
        center_of(&system(&craft, "earth").unwrap(), "-31"),
        center_of(&system(&craft, "earth").unwrap(), "Jupiter")
    );
    for light in ["sun", "saturn", "mars"] {
        let error = system(&io, light).unwrap_err().to_string();
        assert!(error.contains(&format!("light time '{light}': expected earth, off, or one of the bodies")), "{error}");
    }
    for (name, radius, why) in [
        ("europa", None, "made.bsp has no positions of 'europa'"),
        ("-32", Some(1.0), "made.bsp has no positions of '-32'"),
        ("-31", None, "give it in km, as --radius -31=KM"),
        ("io", Some(-1.0), "the radius of io is -1"),
    ] {
        let error = BodyVectors::of_ephemeris(&ephemeris, name, radius).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}
