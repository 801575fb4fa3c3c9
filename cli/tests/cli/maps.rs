//! `umbracast map`, run as users run it.

use umbracast_testing::folder::{Folder, npy_array};

/// The numbers of a 2-D array of f4.
fn array(folder: &Folder, name: &str) -> (Vec<u64>, Vec<f32>) {
    npy_array(std::fs::File::open(folder.path(name)).unwrap())
}

#[test]
fn a_map_has_a_picture_an_array_and_lines() {
    let folder = Folder::new();
    let done = folder.run_ok(
        "map 2026-08-12 --size 240x120 -o m.png --npy m.npy --geojson m.geojson --json --radii nasa --delta-t 69.1",
    );
    let json: serde_json::Value = serde_json::from_str(&done.output).unwrap();
    assert_eq!((&json["eclipse"]["kind"], &json["conventions"]["radii"]), (&"total".into(), &"nasa".into()));
    assert_eq!((&json["conventions"]["delta_t_s"], &json["width"]), (&69.1.into(), &240.into()));
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
    let features = lines["features"].as_array().unwrap();
    let names: Vec<&str> = features[..4].iter().map(|f| f["properties"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["centre line", "northern limit", "southern limit", "greatest eclipse"]);
    let about = &features[3]["properties"];
    assert_eq!((&about["ellipsoid"], &about["conventions"]["radii"]), (&"WGS 84, height 0".into(), &"nasa".into()));
    let place = &features[3]["geometry"]["coordinates"];
    assert!((place[0].as_f64().unwrap() + 25.2).abs() < 0.2 && (place[1].as_f64().unwrap() - 65.2).abs() < 0.2);
    // The picture has the map in a frame, and more than a few colours.
    let picture = image::open(folder.path("m.png")).unwrap().to_rgb8();
    assert!(picture.width() > 240 && picture.height() > 120);
    let colors: std::collections::HashSet<[u8; 3]> = picture.pixels().map(|pixel| pixel.0).collect();
    assert!(colors.len() > 500, "{}", colors.len());
}

/// Every coordinate of a line has an instant, at which the axis of the shadow is there, also where a line is cut at 180°.
#[test]
fn kml_has_the_lines_of_geojson() {
    let folder = Folder::new();
    // The first path crosses the antimeridian, and the last eclipse is partial: it has no path.
    for (date, parts, name, mark) in [
        ("2009-07-22", 6, "Total", "01:00 UTC"),
        ("2024-04-08", 3, "Total", "17:00 UTC"),
        ("1970-03-07", 3, "Total", "17:00 UT1"),
        ("2025-03-29", 0, "Partial", ""),
    ] {
        folder.run_ok(&format!(
            "map {date} --size 400x200 -o m.png --geojson g.geojson --kml g.kml --radii nasa --sun-radius 959.95 -q"
        ));
        let kml = folder.text("g.kml");
        let collection: serde_json::Value = serde_json::from_str(&folder.text("g.geojson")).unwrap();
        let mut expected = String::new();
        for feature in collection["features"].as_array().unwrap() {
            let coordinates = &feature["geometry"]["coordinates"];
            let lines = match feature["geometry"]["type"].as_str().unwrap() {
                "LineString" => vec![coordinates],
                "MultiLineString" => coordinates.as_array().unwrap().iter().collect(),
                _ => vec![],
            };
            for line in lines {
                let points = line.as_array().unwrap().iter().map(|point| format!("{},{}\n", point[0], point[1]));
                expected += &format!("<coordinates>\n{}</coordinates></LineString>\n", points.collect::<String>());
            }
        }
        let found: String = kml
            .split("<LineString><tessellate>1</tessellate>")
            .skip(1)
            .map(|part| &part[..part.find("</LineString>\n").unwrap() + 14])
            .collect();
        // JSON has 5.0 where KML has 5.
        assert_eq!(
            found.replace(".0,", ",").replace(".0\n", "\n"),
            expected.replace(".0,", ",").replace(".0\n", "\n"),
            "{date}"
        );
        assert_eq!(kml.matches("<LineString>").count(), parts, "{date}");
        assert!(kml.contains(&format!("<Document>\n<name>{name} solar eclipse of {date}</name>\n")), "{kml}");
        // A partial eclipse has no line, no style and no mark.
        let lines = if parts == 0 { 0 } else { 3 };
        for tag in ["<Style ", "<styleUrl>", "<MultiGeometry>"] {
            assert_eq!(kml.matches(tag).count(), lines, "{date} {tag}");
        }
        assert_eq!(kml.matches("<Point>").count() > 1, parts > 0, "{date}");
        assert!(parts == 0 || kml.contains(&format!("<name>{mark}</name><Point>")), "{kml}");
        assert!(kml.contains("<name>greatest eclipse</name>") && kml.contains("Sun 959.950\", k 0.2725080"), "{kml}");
        // Every element is closed.
        let mut open = Vec::new();
        for tag in kml.split('<').skip(1).map(|part| part.split('>').next().unwrap()) {
            let name = tag.split(' ').next().unwrap();
            match name.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop(), Some(name), "{date}"),
                None if !name.starts_with('?') => open.push(name),
                None => {}
            }
        }
        assert!(open.is_empty(), "{open:?}");
        assert!(kml.contains("<Point><coordinates>"));
    }
}

#[test]
fn coordinates_and_instants_of_geojson_agree() {
    let folder = Folder::new();
    let sky = umbracast_sky::Sky::new(umbracast_sky::SkyOptions::default());
    // Paths that cross 180° once, one that does not, and one near the south pole.
    for (date, is_cut) in
        [("2013-05-10", true), ("2031-11-14", true), ("2026-08-12", false), ("2021-12-04", false), ("2016-03-09", true)]
    {
        folder.run_ok(&format!("map {date} --size 40x20 -o m.png --geojson g.geojson -q"));
        // RFC 7946, section 7.1: a collection has no properties.
        let collection: serde_json::Value = serde_json::from_str(&folder.text("g.geojson")).unwrap();
        let mut keys: Vec<&String> = collection.as_object().unwrap().keys().collect();
        keys.sort();
        assert_eq!(keys, ["features", "type"], "{date}");
        let (day, _) = sky.parse_time(date).unwrap();
        let Some(umbracast_sky::Eclipse::Solar(eclipse)) = sky.eclipse_on(day).unwrap() else { panic!("{date}") };
        let list = |value: &serde_json::Value| value.as_array().unwrap().clone();
        let (mut lines, mut points) = (Vec::new(), Vec::new());
        for feature in list(&collection["features"]) {
            let [own, geometry] = ["properties", "geometry"].map(|key| feature[key].clone());
            assert_eq!((&feature["type"], own.is_object()), (&"Feature".into(), true));
            let name = own["name"].as_str().unwrap().to_string();
            let coordinates = geometry["coordinates"].clone();
            let parts = match geometry["type"].as_str().unwrap() {
                "Point" => {
                    points.push((name, own, coordinates));
                    continue;
                }
                "LineString" => vec![list(&coordinates)],
                _ => list(&coordinates).iter().map(list).collect(),
            };
            for part in &parts {
                let longitudes: Vec<f64> = part.iter().map(|point| point[0].as_f64().unwrap()).collect();
                assert!(longitudes.iter().all(|x| x.abs() <= 180.0), "{date}");
                assert!(longitudes.windows(2).all(|pair| (pair[0] - pair[1]).abs() < 180.0), "{date} {name}");
            }
            let cuts =
                parts.windows(2).filter(|pair| pair[0].last().unwrap()[0].as_f64().unwrap().abs() == 180.0).count();
            lines.push((name, list(&own["times"]), parts.concat(), cuts));
        }
        assert_eq!(lines.iter().any(|line| line.0 == "centre line" && line.3 == 1), is_cut, "{date}");
        for (name, times, coordinates, cuts) in &lines {
            assert_eq!(times.len(), coordinates.len(), "{date} {name}");
            let own: Vec<_> = points.iter().filter(|point| point.0 == *name).collect();
            assert_eq!(own.len(), times.len() - 2 * cuts, "{date} {name}");
            assert!(own.iter().all(|point| times.contains(&point.1["time"])), "{date} {name}");
            let axis = times.iter().zip(coordinates).filter(|_| name == "centre line");
            // The ends of the line are rounded to times at which the axis misses the Earth.
            for (time, place) in axis.skip(1).take(times.len() - 2) {
                let (time, _) = sky.parse_time(time.as_str().unwrap()).unwrap();
                let [longitude, latitude] = [0, 1].map(|at| place[at].as_f64().unwrap());
                let place = umbracast_sky::Place { latitude, longitude, height_m: 0.0 };
                let apart = eclipse.axis_place(time).unwrap().chord_km(&place);
                // Near the ends, the axis moves 20 km in the 0.05 s to which times are rounded.
                assert!(apart < 25.0, "{date}: {apart} km at {latitude} {longitude}");
            }
        }
        let total = points
            .iter()
            .filter(|point| point.1["kind"] == "total" && point.1["central_duration_s"].is_number())
            .count();
        assert_eq!(total > 300, date != "2013-05-10" && date != "2021-12-04", "{date}: {total}");
    }
}

#[test]
fn an_instant_and_a_region_of_a_map() {
    let folder = Folder::new();
    let files = "-o m.png --npy m.npy --size 80x60 --region=-120,10,-80,40 -q";
    folder.run_ok(&format!("map 2024-04-08 --time 18:17:20 {files}"));
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
    assert_eq!(array(&folder, "same.npy"), (shape.clone(), values.clone()));
    // The clock of Mexico: an offset of a time alone, and of an instant.
    for at in ["--time 12:17:20-06:00", "--time 2024-04-08T12:17:20-0600"] {
        folder.run_ok(&format!("map 2024-04-08 {at} {files}"));
        assert_eq!(array(&folder, "m.npy"), (shape.clone(), values.clone()), "{at}");
    }
}

#[test]
fn without_o_the_picture_is_named_after_the_day() {
    let folder = Folder::new();
    let done = folder.run_ok("map 2030-06-01 --size 60x30");
    assert!(done.errors.contains("Annular solar eclipse of 2030-06-01"), "{}", done.errors);
    assert_eq!(folder.contents().keys().collect::<Vec<_>>(), ["map-2030-06-01.png"]);
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
        ("map 2026-08-12 -o m.png --kml m.json", "m.json: cannot write KML in this format: supported is .kml"),
        ("map 2026-08-12 -o m.png --size 0x10", "--size is 0x10"),
        ("map 2026-08-12 -o m.png --size 10", "WIDTHxHEIGHT"),
        ("map 2026-08-12 -o m.png --region 10,20,30", "four numbers"),
        ("map 2026-08-12 -o m.png --region 10,20,5,30", "--region: west is 10 and east is 5"),
        ("map 2026-08-12 -o m.png --graticule 0", "0.1 to 90"),
        ("map 2026-08-12 -o m.png --time 25:00", "25:00"),
        ("map 2026-08-12 -o m.png --time 2026-08-13T12:00", "hours from the greatest eclipse"),
        ("map 2026-08-12T17:00 -o m.png --time 17:30", "DATE is an instant already"),
        ("map 2026-08-12 -o m.png --delta-t much", "number of seconds"),
        ("map 2026-08-12 -o m.png --radii big", "iau"),
    ] {
        let done = folder.run(arguments);
        let is_empty_day = words.starts_with("there is no solar eclipse");
        let codes: &[i32] = if is_empty_day { &[1] } else { &[2, 5] };
        assert!(codes.contains(&done.code), "{arguments}: {} {}", done.code, done.errors);
        assert!(done.errors.contains(words), "{arguments}: {}", done.errors);
        assert!(folder.contents().is_empty(), "{arguments}: {:?}", folder.contents().keys());
    }
}
