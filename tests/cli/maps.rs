//! `umbracast map`, run as users run it.

use crate::support::folder::Folder;

/// The numbers of a 2-D array of f4.
fn array(folder: &Folder, name: &str) -> (Vec<u64>, Vec<f32>) {
    let bytes = std::fs::read(folder.path(name)).unwrap();
    let file = npyz::NpyFile::new(&bytes[..]).unwrap();
    (file.shape().to_vec(), file.into_vec().unwrap())
}

#[test]
fn a_map_has_a_picture_an_array_and_lines() {
    let folder = Folder::new();
    let done = folder.run_ok(
        "map 2026-08-12 --size 240x120 -o m.png --npy m.npy --geojson m.geojson --json --radii nasa --delta-t 69.1",
    );
    let json: serde_json::Value = serde_json::from_str(&done.output).unwrap();
    assert_eq!((&json["eclipse"]["kind"], &json["eclipse"]["conventions"]["radii"]), (&"total".into(), &"nasa".into()));
    assert_eq!((&json["eclipse"]["conventions"]["delta_t_s"], &json["width"]), (&69.1.into(), &240.into()));
    assert_eq!(json["largest_obscuration"], 1.0);
    let (shape, values) = array(&folder, "m.npy");
    assert_eq!(shape, [120, 240]);
    let at = |longitude: f64, latitude: f64| {
        values[((90.0 - latitude) / 1.5) as usize * 240 + ((longitude + 180.0) / 1.5) as usize]
    };
    // Iceland, Madrid, New York, Cairo after sunset, Sydney.
    assert!(at(-22.0, 64.5) > 0.99 && at(-3.7, 40.4) > 0.98);
    assert!((0.02..0.2).contains(&at(-74.0, 40.7)), "{}", at(-74.0, 40.7));
    assert_eq!((at(31.2, 30.0), at(151.2, -33.9)), (0.0, 0.0));
    let lines: serde_json::Value = serde_json::from_str(&folder.text("m.geojson")).unwrap();
    let names: Vec<&str> =
        lines["features"].as_array().unwrap().iter().map(|f| f["properties"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["centre line", "northern limit", "southern limit", "greatest eclipse"]);
    assert_eq!(lines["properties"]["ellipsoid"], "WGS 84, height 0");
    let place = &lines["features"][3]["geometry"]["coordinates"];
    assert!((place[0].as_f64().unwrap() + 25.2).abs() < 0.2 && (place[1].as_f64().unwrap() - 65.2).abs() < 0.2);
    let center = &lines["features"][0];
    assert_eq!(
        center["properties"]["times"].as_array().unwrap().len(),
        center["properties"]["widths_km"].as_array().unwrap().len()
    );
    let parts = center["geometry"]["coordinates"].as_array().unwrap();
    let flat: Vec<&serde_json::Value> = match center["geometry"]["type"].as_str() {
        Some("MultiLineString") => parts.iter().flat_map(|part| part.as_array().unwrap()).collect(),
        _ => parts.iter().collect(),
    };
    assert!(flat.len() > 100 && flat.iter().all(|point| point[0].as_f64().unwrap().abs() <= 180.0));
    // The picture has the map in a frame, and more than a few colours.
    let picture = image::open(folder.path("m.png")).unwrap().to_rgb8();
    assert!(picture.width() > 240 && picture.height() > 120);
    let colors: std::collections::HashSet<[u8; 3]> = picture.pixels().map(|pixel| pixel.0).collect();
    assert!(colors.len() > 500, "{}", colors.len());
}

#[test]
fn an_instant_and_a_region_of_a_map() {
    let folder = Folder::new();
    let files = "-o m.png --npy m.npy --size 80x60 --region=-120,10,-80,40 -q";
    folder.run_ok(&format!("map 2024-04-08 --at 18:17:20 {files}"));
    let (shape, values) = array(&folder, "m.npy");
    assert_eq!(shape, [60, 80]);
    // The umbra is at 25.1° N 104.2° W and covers no second place.
    let dark: Vec<usize> = (0..values.len()).filter(|&i| values[i] == 1.0).collect();
    assert!(!dark.is_empty() && dark.len() < 20, "{dark:?}");
    for &i in &dark {
        let (longitude, latitude) = (-120.0 + 0.5 * (i % 80) as f64, 40.0 - 0.5 * (i / 80) as f64);
        assert!((longitude + 104.2).abs() < 2.0 && (latitude - 25.1).abs() < 2.0, "{longitude} {latitude}");
    }
    folder.run_ok(&format!("map 2024-04-08T18:17:20 {}", files.replace("m.npy", "same.npy")));
    assert_eq!(array(&folder, "same.npy"), (shape, values));
}

#[test]
fn without_o_the_picture_is_named_after_the_day() {
    let folder = Folder::new();
    let done = folder.run_ok("map 2030-06-01 --size 60x30");
    assert!(done.errors.contains("Annular solar eclipse of 2030-06-01"), "{}", done.errors);
    assert!(folder.path("output/map-2030-06-01.png").exists());
}

#[test]
fn wrong_arguments_are_refused() {
    let folder = Folder::new();
    for (arguments, words) in [
        (
            "map 2026-08-13 -o m.png",
            "there is no solar eclipse on 2026-08-13; the next one is the annular solar eclipse of 2027-02-06",
        ),
        (
            "map 2026-08-28 -o m.png",
            "there is no solar eclipse on 2026-08-28; the next one is the annular solar eclipse of 2027-02-06",
        ),
        ("map 1850-01-01 -o m.png", "1900 to 2050"),
        ("map tomorrow -o m.png", "tomorrow"),
        ("map 2026-02-30 -o m.png", "2026-02-30"),
        ("map 2026-08-12 -o m.jpg", "m.jpg: cannot write a picture in this format: supported is .png"),
        ("map 2026-08-12 -o m.png --npy m.csv", "m.csv: cannot write an array in this format: supported is .npy"),
        (
            "map 2026-08-12 -o m.png --geojson m.kml",
            "m.kml: cannot write GeoJSON in this format: supported is .geojson and .json",
        ),
        ("map 2026-08-12 -o m.png --npy a.npy --geojson none/a.json", "there is no folder none"),
        ("map 2026-08-12 -o m.png --size 0x10", "--size is 0x10"),
        ("map 2026-08-12 -o m.png --size 10", "WIDTHxHEIGHT"),
        ("map 2026-08-12 -o m.png --region 10,20,30", "four numbers"),
        ("map 2026-08-12 -o m.png --region 10,20,5,30", "--region: west is 10 and east is 5"),
        ("map 2026-08-12 -o m.png --graticule 0", "0.1 to 90"),
        ("map 2026-08-12 -o m.png --at 25:00", "25:00"),
        ("map 2026-08-12 -o m.png --at 2026-08-13T12:00", "hours from the greatest eclipse"),
        ("map 2026-08-12T17:00 -o m.png --at 17:30", "DATE is an instant already"),
        ("map 2026-08-12 -o m.png --delta-t much", "number of seconds"),
        ("map 2026-08-12 -o m.png --radii big", "iau"),
    ] {
        let done = folder.run(arguments);
        assert!(done.code == 2 || done.code == 5, "{arguments}: {} {}", done.code, done.errors);
        assert!(done.errors.contains(words), "{arguments}: {}", done.errors);
        assert!(folder.contents().is_empty(), "{arguments}: {:?}", folder.contents().keys());
    }
}
