//! GeoJSON (RFC 7946) of an eclipse: the centre line, the limits of the path, their points, and the greatest eclipse.

use geojson::{Feature, FeatureCollection, Geometry};
use serde_json::{Value, json};
use umbracast_sky::{CentralLine, Conventions, Place, SolarEclipse, Time};

/// Longitude and latitude in degrees at an instant.
pub(super) type Point = ([f64; 2], Time);

/// The centre line or a limit of the path of a solar eclipse, in parts that do not cross the antimeridian. Empty if it is not on the Earth.
#[derive(Clone, Debug)]
pub struct PathLine {
    pub(super) name: &'static str,
    pub(super) parts: Vec<Vec<Point>>,
}

/// The centre line and the limits of a solar eclipse, as [`path_geojson`] and [`Kml`](crate::Kml) write them.
pub fn path_lines(path: &CentralLine, limits: &[Vec<Vec<(Time, Place)>>; 2]) -> [PathLine; 3] {
    let center = [path.points.iter().map(|point| (point.time, point.center)).collect()];
    let line = |name: &'static str, parts: &[Vec<(Time, Place)>]| PathLine {
        name,
        parts: parts.iter().flat_map(|part| cut(points_of(part))).collect(),
    };
    [line("centre line", &center), line("northern limit", &limits[0]), line("southern limit", &limits[1])]
}

/// GeoJSON (RFC 7946) of a solar eclipse: a feature per line, the greatest eclipse with its record and the conventions, and one point per
/// instant. `instant` is the text of an instant that belongs to the map, if there is one.
pub fn path_geojson(
    eclipse: &SolarEclipse,
    path: &CentralLine,
    limits: &[Vec<Vec<(Time, Place)>>; 2],
    lines: &[PathLine; 3],
    instant: Option<&str>,
    conventions: &Conventions,
) -> String {
    let clock = |time: Time| eclipse.moment(time).to_string();
    let line = |PathLine { name, parts }: &PathLine| {
        let times: Vec<Vec<_>> = parts.iter().map(|line| line.iter().map(|point| clock(point.1)).collect()).collect();
        let mut coordinates = parts.iter().map(|line| line.iter().map(|point| rounded(point.0)));
        let (geometry, times) = match &times[..] {
            [] => return None,
            [times] => (Geometry::new_line_string(coordinates.next().into_iter().flatten()), json!(times)),
            _ => (Geometry::new_multi_line_string(coordinates), json!(times)),
        };
        Some(feature(geometry, json!({ "name": name, "times": times })))
    };
    let point = |place: &Place, properties: Value| {
        feature(Geometry::new_point(rounded([place.longitude, place.latitude])), properties)
    };
    let named = |name: &str, record: Value, more: Value| {
        let mut properties = json!({ "name": name });
        for (key, value) in [&record, &more].into_iter().filter_map(Value::as_object).flatten() {
            properties[key] = value.clone();
        }
        properties
    };
    let about = json!({
        "instant": instant,
        "conventions": conventions,
        "ellipsoid": "WGS 84, height 0",
        "refraction": false,
    });
    let mut features: Vec<Feature> = lines.iter().filter_map(line).collect();
    features.push(point(&eclipse.greatest.place, named("greatest eclipse", json!(eclipse.record()), about)));
    features.extend(
        path.points
            .iter()
            .map(|one| point(&one.center, named(lines[0].name, json!(eclipse.path_point_record(one)), Value::Null))),
    );
    for (line, parts) in lines[1..].iter().zip(limits) {
        let points = parts.iter().flatten();
        features.extend(points.map(|(time, place)| point(place, json!({ "name": line.name, "time": clock(*time) }))));
    }
    FeatureCollection::new(features).to_string()
}

/// A feature whose `properties` are an object.
fn feature(geometry: Geometry, properties: Value) -> Feature {
    Feature { properties: properties.as_object().cloned(), ..Feature::from(geometry) }
}

/// The points of a line, with longitudes beyond ±180° after the antimeridian.
fn points_of(line: &[(Time, Place)]) -> Vec<Point> {
    let mut before = None;
    let point = |(time, place): &(Time, Place)| {
        let turns = before.map_or(0.0, |before: f64| ((before - place.longitude) / 360.0).round());
        let longitude = place.longitude + 360.0 * turns;
        before = Some(longitude);
        ([longitude, place.latitude], *time)
    };
    line.iter().map(point).collect()
}

/// Coordinates with five decimals, about a metre.
pub(super) fn rounded(point: [f64; 2]) -> [f64; 2] {
    point.map(|x| (x * 1e5).round() / 1e5)
}

/// A line with longitudes beyond ±180°, cut at the antimeridian as RFC 7946, section 3.1.9, asks for. Both ends of a cut have the instant of
/// the crossing.
fn cut(line: Vec<Point>) -> Vec<Vec<Point>> {
    let turn = |x: f64| ((x + 180.0) / 360.0).floor();
    let mut out: Vec<Vec<Point>> = vec![Vec::new()];
    let mut before: Option<Point> = None;
    for (point, time) in line {
        if let Some((from, begin)) = before {
            let (a, b) = (turn(from[0]), turn(point[0]));
            if a != b {
                let edge = a.max(b) * 360.0 - 180.0;
                let part = (edge - from[0]) / (point[0] - from[0]);
                let latitude = from[1] + part * (point[1] - from[1]);
                let crossing = begin.plus(part * time.seconds_since(begin));
                let last = out.len() - 1;
                out[last].push(([edge - 360.0 * a, latitude], crossing));
                out.push(vec![([edge - 360.0 * b, latitude], crossing)]);
            }
        }
        let last = out.len() - 1;
        out[last].push(([point[0] - 360.0 * turn(point[0]), point[1]], time));
        before = Some((point, time));
    }
    out.retain(|line| line.len() > 1);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_at_the_antimeridian() {
        let timed = |line: &[[f64; 3]]| -> Vec<Point> {
            line.iter().map(|&[x, y, seconds]| ([x, y], Time::from_tt_seconds(seconds))).collect()
        };
        let parts = cut(timed(&[[170.0, 0.0, 0.0], [178.0, 8.0, 10.0], [182.0, 10.0, 30.0], [190.0, 12.0, 40.0]]));
        let expected = [
            timed(&[[170.0, 0.0, 0.0], [178.0, 8.0, 10.0], [180.0, 9.0, 20.0]]),
            timed(&[[-180.0, 9.0, 20.0], [-178.0, 10.0, 30.0], [-170.0, 12.0, 40.0]]),
        ];
        assert_eq!(parts, expected);
        let back = cut(timed(&[[-170.0, 0.0, 0.0], [-178.0, 8.0, 1.0], [-182.0, 10.0, 2.0]]));
        let expected = [
            timed(&[[-170.0, 0.0, 0.0], [-178.0, 8.0, 1.0], [-180.0, 9.0, 1.5]]),
            timed(&[[180.0, 9.0, 1.5], [178.0, 10.0, 2.0]]),
        ];
        assert_eq!(back, expected);
        let whole = timed(&[[0.0, 1.0, 0.0], [1.0, 2.0, 1.0]]);
        assert_eq!(cut(whole.clone()), [whole]);
    }
}
