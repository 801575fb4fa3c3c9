//! The limits of the path: where an eclipse stops being total or annular.

use umbracast::glam::DVec3;
use umbracast_sky::{LocalKind, Place, Radii, SolarEclipse, Time};

use super::{sky, solar};

/// Places 200 m to either side of a limit, at right angles to it.
fn beside(line: &[(Time, Place)], at: usize) -> [Place; 2] {
    let place = line[at].1.earth_fixed_km();
    let along = line[at + 1].1.earth_fixed_km() - line[at - 1].1.earth_fixed_km();
    let across = 0.2 * place.cross(along).normalize();
    [place + across, place - across].map(|p| Place { height_m: 0.0, ..Place::from_earth_fixed_km(p) })
}

/// The distance from a point to the nearest crossing of a line with the plane through it whose normal is `along`.
fn nearest_crossing(line: &[(Time, Place)], center: DVec3, along: DVec3) -> f64 {
    let height = |place: &Place| (place.earth_fixed_km() - center).dot(along);
    let crossing = |pair: &[(Time, Place)]| {
        let (a, b) = (height(&pair[0].1), height(&pair[1].1));
        let at = pair[0].1.earth_fixed_km().lerp(pair[1].1.earth_fixed_km(), a / (a - b));
        ((a < 0.0) != (b < 0.0)).then(|| at.distance(center))
    };
    line.windows(2).filter_map(crossing).fold(f64::INFINITY, f64::min)
}

fn eclipse(date: &str) -> SolarEclipse {
    solar(&sky(69.0, Radii::NASA), date)
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
        // The width is the distance between the limits, along a line across the path; 781 km in NASA's table of 2033, which neglects the
        // curvature of the ground.
        let point = eclipse.line_point(eclipse.greatest.time);
        if let Some((point, width)) = point.as_ref().and_then(|point| Some((point, point.width_km?))) {
            let center = point.center.earth_fixed_km();
            let [before, after] = [-1.0, 1.0].map(|s| eclipse.axis_place(point.time.plus(s)).unwrap().earth_fixed_km());
            let along = (after - before).normalize();
            let across: f64 = limits.iter().map(|line| nearest_crossing(&line[0], center, along)).sum();
            assert!((across / width - 1.0).abs() < 4e-3, "{date}: {width} km, and {across} km between the limits");
            assert!(date != "2033-03-30" || (width - 815.6).abs() < 1.0, "{width}");
        }
        if let Some((first, last)) = eclipse.axis_begins.zip(eclipse.axis_ends) {
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

/// As docs/maps.md says of the lines in GeoJSON and KML, whose points are 15 s apart.
#[test]
fn straight_lines_between_points_are_near_the_path() {
    for date in ["2026-08-12", "2021-12-04", "2021-06-10", "2024-04-08"] {
        let eclipse = eclipse(date);
        let lines = |step: f64| {
            let centers = eclipse.central_line(step).points.iter().map(|point| (point.time, point.center)).collect();
            let [north, south] = eclipse.limits(step);
            [vec![centers], north, south].concat()
        };
        let mut checked = 0;
        for (coarse, fine) in lines(15.0).iter().zip(&lines(1.0)) {
            for (i, pair) in coarse.windows(2).enumerate() {
                let plane = pair[0].1.earth_fixed_km().cross(pair[1].1.earth_fixed_km()).normalize();
                let limit = if i < 2 || i + 4 > coarse.len() { 6.0 } else { 1.5 };
                for (_, place) in fine.iter().filter(|(time, _)| *time > pair[0].0 && *time < pair[1].0) {
                    let off = place.earth_fixed_km().dot(plane).abs();
                    assert!(off < limit, "{date}: {place:?} is {off} km from the line {i} of {}", coarse.len());
                    checked += 1;
                }
            }
        }
        assert!(checked > 9000, "{date}: {checked}");
    }
}
