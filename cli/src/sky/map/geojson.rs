//! GeoJSON (RFC 7946) of an eclipse: the centre line, the limits of the path and the greatest eclipse.

use serde_json::{Value, json};
use umbracast::sky::{CentralLine, DeltaT, Place, SolarEclipse, Time};

use super::draw::unwrapped;

/// The features of an eclipse. `properties` are those of the collection: conventions and date.
pub(super) fn features(
    eclipse: &SolarEclipse,
    path: &CentralLine,
    limits: &[Vec<Vec<(Time, Place)>>; 2],
    delta_t: DeltaT,
    properties: &Value,
) -> Value {
    let points = &path.points;
    let time = |time: Time| time.text(1, delta_t).to_string();
    let line = |name: &str, all: &[Vec<(Time, Place)>], with_data: bool| {
        let places =
            |line: &Vec<(Time, Place)>| unwrapped(line.iter().map(|(_, at)| Some([at.longitude, at.latitude])));
        let lines: Vec<Vec<[f64; 2]>> = all.iter().flat_map(places).flat_map(cut).collect();
        let times: Vec<String> = all.iter().flatten().map(|point| time(point.0)).collect();
        let mut own = json!({ "name": name, "times": times });
        if with_data {
            own["kinds"] = json!(points.iter().map(|point| point.kind.name()).collect::<Vec<_>>());
            own["durations_s"] = json!(points.iter().map(|point| point.duration_s).collect::<Vec<_>>());
            own["widths_km"] = json!(points.iter().map(|point| point.width_km).collect::<Vec<_>>());
            own["sun_altitudes_deg"] = json!(points.iter().map(|point| point.sun_altitude).collect::<Vec<_>>());
        }
        let geometry = match &lines[..] {
            [one] => json!({ "type": "LineString", "coordinates": rounded(one) }),
            many => json!({
                "type": "MultiLineString",
                "coordinates": many.iter().map(|one| rounded(one)).collect::<Vec<_>>(),
            }),
        };
        (!lines.is_empty()).then(|| json!({ "type": "Feature", "properties": own, "geometry": geometry }))
    };
    let greatest = &eclipse.greatest;
    let place = rounded(&[[greatest.place.longitude, greatest.place.latitude]]);
    let point = json!({
        "type": "Feature",
        "properties": {
            "name": "greatest eclipse",
            "time": greatest.time.text(1, delta_t).to_string(),
            "magnitude": greatest.view.magnitude,
            "obscuration": greatest.view.obscuration,
            "gamma": greatest.gamma,
            "duration_s": greatest.central_duration_s,
        },
        "geometry": { "type": "Point", "coordinates": place[0] },
    });
    let lines = [
        line("centre line", &[points.iter().map(|point| (point.time, point.center)).collect()], true),
        line("northern limit", &limits[0], false),
        line("southern limit", &limits[1], false),
    ];
    let features: Vec<Value> = lines.into_iter().flatten().chain([point]).collect();
    json!({ "type": "FeatureCollection", "properties": properties, "features": features })
}

/// Coordinates with five decimals, about a metre.
fn rounded(line: &[[f64; 2]]) -> Vec<[f64; 2]> {
    line.iter().map(|point| point.map(|x| (x * 1e5).round() / 1e5)).collect()
}

/// A line with longitudes beyond ±180°, cut at the antimeridian as RFC 7946 asks for.
fn cut(line: Vec<[f64; 2]>) -> Vec<Vec<[f64; 2]>> {
    let turn = |x: f64| ((x + 180.0) / 360.0).floor();
    let mut out: Vec<Vec<[f64; 2]>> = vec![Vec::new()];
    let mut before: Option<[f64; 2]> = None;
    for point in line {
        if let Some(from) = before {
            let (a, b) = (turn(from[0]), turn(point[0]));
            if a != b {
                // The crossing, on both sides of the antimeridian.
                let edge = a.max(b) * 360.0 - 180.0;
                let part = (edge - from[0]) / (point[0] - from[0]);
                let latitude = from[1] + part * (point[1] - from[1]);
                let last = out.len() - 1;
                out[last].push([edge - 360.0 * a, latitude]);
                out.push(vec![[edge - 360.0 * b, latitude]]);
            }
        }
        let last = out.len() - 1;
        out[last].push([point[0] - 360.0 * turn(point[0]), point[1]]);
        before = Some(point);
    }
    out.retain(|line| line.len() > 1);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_at_the_antimeridian() {
        let line = vec![[170.0, 0.0], [178.0, 8.0], [182.0, 10.0], [190.0, 12.0]];
        let parts = cut(line);
        assert_eq!(
            parts,
            [vec![[170.0, 0.0], [178.0, 8.0], [180.0, 9.0]], vec![[-180.0, 9.0], [-178.0, 10.0], [-170.0, 12.0]]]
        );
        let back = cut(vec![[-170.0, 0.0], [-178.0, 8.0], [-182.0, 10.0]]);
        assert_eq!(back, [vec![[-170.0, 0.0], [-178.0, 8.0], [-180.0, 9.0]], vec![[180.0, 9.0], [178.0, 10.0]]]);
        assert_eq!(cut(vec![[0.0, 1.0], [1.0, 2.0]]), [vec![[0.0, 1.0], [1.0, 2.0]]]);
    }
}
