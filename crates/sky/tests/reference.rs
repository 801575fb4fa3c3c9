//! The table `reference/circumstances.csv`, which others may use as a test: it is what the library computes.
//!
//! `UMBRACAST_BLESS=1 cargo test --release -p umbracast-sky reference` writes it. `tools/make_eclipse_reference.py --check` compares it with
//! Skyfield.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use umbracast_sky::{CITIES, Place, Sky, SkyOptions};

use super::solar;

/// Twenty eclipses with observed ΔT: total, annular, hybrid and partial ones, with the axis in the north, in the south and off the Earth.
const DATES: &str = "1999-08-11 2001-06-21 2003-05-31 2005-04-08 2006-03-29 2008-08-01 2009-07-22 2010-01-15 2012-05-20 \
    2013-11-03 2015-03-20 2016-03-09 2017-08-21 2019-07-02 2020-06-21 2021-06-10 2023-10-14 2024-04-08 2025-03-29 2026-08-12";
/// Cities of the list; the other places are those of the greatest eclipses.
const CITY_COUNT: usize = 80;

/// Columns of the table: the place, and fields of `CircumstancesRecord`.
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
fn the_reference_table_is_that_of_the_library() {
    let sky = Sky::new(SkyOptions::default());
    let eclipses = DATES.split(' ').map(|date| (date, solar(&sky, date))).collect::<Vec<_>>();
    // The greatest eclipses in whole hundredths of a degree, so that the table has the exact numbers.
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
    let mut kinds = BTreeSet::new();
    for (date, eclipse) in &eclipses {
        for (name, place) in &places {
            let record = json!(eclipse.circumstances_record(None, &eclipse.circumstances(place)));
            let cells: Vec<String> = COLUMNS.split(',').map(|column| cell(&record[column])).collect();
            csv += &format!("{date},{name},{}\n", cells.join(","));
            kinds.insert(cell(&record["kind"]));
        }
    }
    assert_eq!(kinds.len(), 4, "{kinds:?}");
    umbracast_testing::check_kept(&umbracast_testing::root().join("reference/circumstances.csv"), &csv);
}
