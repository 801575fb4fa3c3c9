//! SPK files: an excerpt of DE421 as jplephem writes it, and files that this test writes.

use umbracast::glam::DVec3;
use umbracast_sky::{DeltaT, Eclipse, Ephemeris, Sky, SkyBody, SkyOptions, SolarEclipse, Time};

use super::{number, rows, solar};

fn excerpt() -> Vec<u8> {
    std::fs::read(umbracast_testing::root().join("tests/data/sky/de421_2024-04.bsp")).unwrap()
}

/// Positions and velocities of DE421, read by jplephem, to 0.1 m.
#[test]
fn an_excerpt_of_de421_has_its_positions() {
    let ephemeris = Ephemeris::from_bytes(excerpt()).unwrap();
    let list = rows("spk.csv", ["body", "jd_tdb", "x_km", "y_km", "z_km", "vx_km_s", "vy_km_s", "vz_km_s"]);
    assert_eq!(list.len(), 240);
    for [body, jd, numbers @ ..] in list {
        let [x, y, z, vx, vy, vz] = numbers.map(|text| number(&text));
        let seconds = (number(&jd) - 2_451_545.0) * 86_400.0;
        let state = ephemeris.barycentric(SkyBody::from_name(&body).unwrap(), seconds).unwrap();
        assert!(state.position.distance(DVec3::new(x, y, z)) < 1e-4, "{body} {jd}: {state:?}");
        assert!(state.velocity.distance(DVec3::new(vx, vy, vz)) < 1e-9, "{body} {jd}: {state:?}");
    }
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
    assert!(error.starts_with("de421.bsp has no positions of body "), "{error}");
    assert!(error.contains("those of the Julian dates 2460407.5 to 2460410.5"), "{error}");
    // Planets that it does not have, too.
    let error = sky.apparent(SkyBody::Jupiter, own.greatest.time).unwrap_err().to_string();
    assert!(error.contains("no positions of body 5"), "{error}");
}

/// A segment: target, centre, type, first epoch and seconds per interval, and for each interval the coefficients of each component.
struct Segment {
    target: i32,
    center: i32,
    kind: i32,
    first: f64,
    interval_s: f64,
    intervals: Vec<Vec<Vec<f64>>>,
}

/// The bytes of a file with these segments.
fn file(segments: &[Segment], is_little_endian: bool) -> Vec<u8> {
    let number = |x: f64| if is_little_endian { x.to_le_bytes() } else { x.to_be_bytes() };
    let integer = |x: i32| if is_little_endian { x.to_le_bytes() } else { x.to_be_bytes() };
    // The file record, a summary record and its names; the words of the segments follow.
    let mut data: Vec<f64> = Vec::new();
    let mut summaries = Vec::new();
    for one in segments {
        let begin = 3 * 128 + data.len() as i32 + 1;
        let start = data.len();
        for (i, components) in one.intervals.iter().enumerate() {
            data.extend([one.first + one.interval_s * (i as f64 + 0.5), 0.5 * one.interval_s]);
            data.extend(components.concat());
        }
        let (words, count) = ((data.len() - start) / one.intervals.len(), one.intervals.len());
        data.extend([one.first, one.interval_s, words as f64, count as f64]);
        summaries.extend([one.first, one.first + one.interval_s * count as f64].map(number).concat());
        let end = 3 * 128 + data.len() as i32;
        summaries.extend([one.target, one.center, 1, one.kind, begin, end].map(integer).concat());
    }
    let mut bytes = b"DAF/SPK ".to_vec();
    bytes.extend([2, 6].map(integer).concat());
    bytes.resize(76, b' ');
    bytes.extend([2, 2, 3 * 128 + data.len() as i32 + 1].map(integer).concat());
    bytes.extend(if is_little_endian { b"LTL-IEEE" } else { b"BIG-IEEE" });
    bytes.resize(1024, 0);
    bytes.extend([0.0, 0.0, segments.len() as f64].map(number).concat());
    bytes.extend(summaries);
    bytes.resize(3 * 1024, 0);
    bytes.extend(data.into_iter().flat_map(number));
    bytes
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
        (changed(76, &0_i32.to_le_bytes()), "no segment of type 2 or 3"),
        (changed(at, &number(f64::NAN)), "summary record NaN is not in the file"),
        (changed(at + 16, &number(26.0)), "26 summaries: expected 0 to 25"),
        (changed(at + 16, &number(f64::NAN)), "NaN summaries"),
        (changed(at + 24 + 32, &0_i32.to_le_bytes()), "are not in the file"),
        (changed(at + 24 + 36, &i32::MAX.to_le_bytes()), "are not in the file"),
        (changed((end - 1) * 8, &number(1e9)), "do not fill its"),
        (changed((end - 2) * 8, &number(2.5)), "do not fill its"),
        (changed((end - 3) * 8, &number(0.0)), "its epochs are not those of its intervals"),
        (changed((end - 4) * 8, &number(f64::INFINITY)), "its epochs are not those of its intervals"),
        (good[..good.len() - 600].to_vec(), "are not in the file"),
        (good[..1500].to_vec(), "is not in the file"),
    ] {
        let error = Ephemeris::from_bytes(bytes).unwrap_err().to_string();
        assert!(error.starts_with("the SPK file is invalid: ") && error.contains(why), "{why}: {error}");
    }
    // Summaries that name themselves as the next ones are read again only as often as there are records.
    assert!(Ephemeris::from_bytes(changed(at, &number(record as f64))).is_ok());
    // A missing body, an interval of another time, and a number that is not finite.
    let without = file(&[straight(10, 0, [1.0; 3], [0.0; 3]), straight(399, 0, [2.0; 3], [0.0; 3])], true);
    let error = Ephemeris::from_bytes(without).unwrap_err().to_string();
    assert!(error.contains("no positions of the Moon (301)"), "{error}");
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
