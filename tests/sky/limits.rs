//! The limits of the path: where an eclipse stops being total or annular.

use umbracast::sky::{LocalKind, Place, Radii, SolarEclipse, Time};

use super::{sky, solar};

/// Places 200 m to either side of a limit, at right angles to it.
fn beside(line: &[(Time, Place)], at: usize) -> [Place; 2] {
    let place = line[at].1.earth_fixed_km();
    let along = line[at + 1].1.earth_fixed_km() - line[at - 1].1.earth_fixed_km();
    let across = 0.2 * place.cross(along).normalize();
    [place + across, place - across].map(|p| Place { height_m: 0.0, ..Place::from_earth_fixed_km(p) })
}

fn eclipse(date: &str) -> SolarEclipse {
    solar(&sky(69.0, Radii::Nasa), date)
}

#[test]
fn limits_separate_central_from_partial_eclipses_and_reach_the_horizon() {
    // The last is annular although the axis of the shadow misses the Earth.
    for (date, lines) in [
        ("2024-04-08", [1, 1]),
        ("2003-11-23", [1, 1]),
        ("2015-03-20", [1, 1]),
        ("2033-03-30", [1, 1]),
        ("2023-04-20", [1, 1]),
        ("2026-02-17", [1, 1]),
        ("2014-04-29", [1, 0]),
    ] {
        let eclipse = eclipse(date);
        let limits = eclipse.limits(30.0);
        assert_eq!(limits.each_ref().map(Vec::len), lines, "{date}");
        for line in limits.iter().flatten() {
            // A limb of the Sun touches the horizon there.
            for (time, place) in [line[0], line[line.len() - 1]] {
                let altitude = eclipse.view(&place, time).sun_altitude;
                assert!(altitude.abs() < 0.6, "{date}: a limit ends at {place:?} with the Sun at {altitude}");
            }
            for at in (1..line.len() - 1).step_by(line.len() / 8 + 1) {
                let central = beside(line, at).map(|place| {
                    let found = eclipse.circumstances(&place);
                    matches!(found.kind, LocalKind::Total | LocalKind::Annular)
                });
                assert!(central[0] != central[1], "{date}: {:?} {central:?}", line[at]);
            }
        }
        if let Some((first, last)) = eclipse.axis {
            let ends = |line: &Vec<(Time, Place)>| (line[0].0, line[line.len() - 1].0);
            let spans: Vec<_> = limits.iter().flatten().map(ends).collect();
            assert!(spans.iter().any(|span| span.0 < first) && spans.iter().any(|span| span.1 > last), "{date}");
        }
    }
    assert!(eclipse("2025-03-29").limits(30.0).iter().all(Vec::is_empty));
}

/// While the axis meets the Earth, the limits are those of the centre line.
#[test]
fn limits_agree_with_the_centre_line() {
    let eclipse = eclipse("2024-04-08");
    let limits = eclipse.limits(60.0);
    let mut compared = 0;
    for point in &eclipse.central_line(60.0).points {
        for (own, line) in [point.north, point.south].into_iter().zip(&limits) {
            let same = line[0].iter().find(|(time, _)| time.seconds_since(point.time).abs() < 1e-6);
            if let (Some(own), Some((_, place))) = (own, same) {
                assert!(own.chord_km(place) < 0.01, "{own:?} {place:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 300, "{compared}");
}
