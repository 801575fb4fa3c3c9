//! The tables of `reference/circumstances.csv` and `.json`, which others may use as tests: they are what the library computes.
//!
//! `UMBRACAST_BLESS=1 cargo test --release -p umbracast-sky reference` writes them. `tools/make_eclipse_reference.py --check` compares them
//! with Skyfield.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use umbracast_sky::{CITIES, Place, Sky, SkyOptions};

use super::solar;

/// Twenty eclipses with observed ΔT: total, annular, hybrid and partial ones, with the axis in the north, in the south and off the Earth.
const DATES: &str = "1999-08-11 2001-06-21 2003-05-31 2005-04-08 2006-03-29 2008-08-01 2009-07-22 2010-01-15 2012-05-20 \
    2013-11-03 2015-03-20 2016-03-09 2017-08-21 2019-07-02 2020-06-21 2021-06-10 2023-10-14 2024-04-08 2025-03-29 2026-08-12";
/// Cities of the list; the other places are those of the greatest eclipses.
const CITY_COUNT: usize = 80;

/// Columns of the tables: the place, and fields of `CircumstancesRecord`.
const COLUMNS: &str = "latitude_deg,longitude_deg,height_m,kind,c1,c2,maximum,c3,c4,magnitude,obscuration,\
    central_duration_s,maximum_sun_altitude_deg,maximum_sun_azimuth_deg,c1_position_angle_deg,c1_zenith_angle_deg,\
    c4_position_angle_deg,c4_zenith_angle_deg,delta_t_s";

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[test]
fn reference_tables_are_those_of_the_library() {
    let sky = Sky::new(SkyOptions::default());
    let eclipses = DATES.split(' ').map(|date| (date, solar(&sky, date))).collect::<Vec<_>>();
    // The greatest eclipses in whole hundredths of a degree, so that both tables have the exact numbers.
    let rounded = |degrees: f64| (100.0 * degrees).round() / 100.0;
    let mut places: Vec<(String, Place)> = CITIES[..CITY_COUNT]
        .iter()
        .map(|&(name, latitude, longitude)| (name.to_string(), Place::new(latitude, longitude, 0.0).unwrap()))
        .collect();
    for (date, eclipse) in &eclipses {
        let place = eclipse.greatest.place;
        places.push((
            format!("greatest {date}"),
            Place::new(rounded(place.latitude), rounded(place.longitude), 0.0).unwrap(),
        ));
    }
    let mut csv = format!("date,place,{COLUMNS}\n");
    let mut rows = Vec::new();
    let mut kinds = BTreeSet::new();
    for (date, eclipse) in &eclipses {
        for (name, place) in &places {
            let record = json!(eclipse.circumstances_record(None, &eclipse.circumstances(place)));
            let values: Vec<Value> = COLUMNS.split(',').map(|column| record[column].clone()).collect();
            csv += &format!("{date},{name},{}\n", values.iter().map(cell).collect::<Vec<_>>().join(","));
            kinds.insert(cell(&record["kind"]));
            rows.push([vec![json!(date), json!(name)], values].concat());
        }
    }
    assert_eq!(kinds.len(), 4, "{kinds:?}");
    let radii = sky.options().radii;
    let about: Map<String, Value> = json!({
        "about": "Local circumstances of solar eclipses; README.md has the meaning and the error of each column.",
        "licence": "CC0 1.0",
        "ephemeris": sky.ephemeris().name(),
        "sun_radius_km": radii.sun_km,
        "moon_radius_km": radii.moon_partial_km,
        "time_scale": "UTC",
    })
    .as_object()
    .unwrap()
    .clone();
    let mut text = String::from("{\n");
    for (key, value) in &about {
        text += &format!("\"{key}\": {value},\n");
    }
    let columns: Vec<&str> = ["date", "place"].into_iter().chain(COLUMNS.split(',')).collect();
    text += &format!("\"columns\": {},\n\"rows\": [\n", json!(columns));
    text += &rows.iter().map(|row| json!(row).to_string()).collect::<Vec<_>>().join(",\n");
    text += "\n]\n}\n";
    serde_json::from_str::<Value>(&text).unwrap();
    let folder = umbracast_testing::root().join("reference");
    for (name, text) in [("circumstances.csv", csv), ("circumstances.json", text)] {
        umbracast_testing::check_kept(&folder.join(name), &text);
    }
}
