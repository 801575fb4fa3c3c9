//! `umbracast map`, run as users run it.

use std::iter;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use umbracast_testing::folder::{Folder, npy_array};

use super::svg;

/// The numbers of a 2-D array of f4.
fn array(folder: &Folder, name: &str) -> (Vec<u64>, Vec<f32>) {
    npy_array(std::fs::File::open(folder.path(name)).unwrap())
}

#[test]
fn a_map_has_a_picture_an_array_and_lines() {
    let folder = Folder::new();
    let json = folder.json(
        "map 2026-08-12 --size 240x120 -o m.png --npy m.npy --geojson m.geojson --json --radii nasa --delta-t 69.1",
    );
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
            let times = &feature["properties"]["times"];
            let lines = match feature["geometry"]["type"].as_str().unwrap() {
                "LineString" => vec![(coordinates, times)],
                "MultiLineString" => iter::zip(coordinates.as_array().unwrap(), times.as_array().unwrap()).collect(),
                _ => vec![],
            };
            for (line, times) in lines {
                assert_eq!(times.as_array().unwrap().len(), line.as_array().unwrap().len(), "{date}");
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
        assert!(kml.contains("<name>greatest eclipse</name>") && kml.contains("Sun 959.950\", k 0.2724880"), "{kml}");
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
                "LineString" => vec![(list(&coordinates), list(&own["times"]))],
                _ => iter::zip(&list(&coordinates), &list(&own["times"])).map(|(a, b)| (list(a), list(b))).collect(),
            };
            let (parts, times): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
            for part in &parts {
                let longitudes: Vec<f64> = part.iter().map(|point| point[0].as_f64().unwrap()).collect();
                assert!(longitudes.iter().all(|x| x.abs() <= 180.0), "{date}");
                assert!(longitudes.windows(2).all(|pair| (pair[0] - pair[1]).abs() < 180.0), "{date} {name}");
            }
            let cuts =
                parts.windows(2).filter(|pair| pair[0].last().unwrap()[0].as_f64().unwrap().abs() == 180.0).count();
            lines.push((name, times.concat(), parts.concat(), cuts));
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
        ("map 2026-08-12 -o m.jpg", "m.jpg: cannot write a picture in this format: supported is .png and .svg"),
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

/// The map's own frame in the picture: left, upper, right and lower edge.
fn frame(elements: &[svg::Element]) -> [f64; 4] {
    svg::of(elements, "frame")[0].bounds()
}

#[test]
fn nothing_leaves_a_map_and_no_labels_overlap() {
    let folder = Folder::new();
    for (arguments, classes) in [
        // A world map, small ones, a polar one, one over the date line, a hybrid eclipse, a close-up, a globe, an instant.
        ("2026-08-12 --cities", &["mark", "city", "isoline", "begins-at-horizon", "partial-limit"][..]),
        ("2026-08-12 --region=-30,30,35,70 --cities", &["city"]),
        ("2026-08-12 --size 300x150", &["mark", "legend"]),
        ("2027-08-02 --size 200x200 --cities", &["title", "legend"]),
        ("2021-12-04 --isolines obscuration,magnitude,time", &["magnitude", "time", "scale", "northern-limit"]),
        ("2013-05-10 --region 130,-40,-120,20", &["centre-line", "scale", "maximum-at-horizon"]),
        ("2023-04-20 --region 90,-45,180,20 --cities --borders", &["centre-line", "border", "city"]),
        ("2027-08-02 --region 24,18,42,30 --cities", &["northern-limit", "isoline", "scale", "city"]),
        ("2024-04-08 --projection orthographic --isolines time", &["time", "mark"]),
        ("2024-04-08 --region -110,15,-60,50 --projection stereographic --size 700x500", &["mark", "graticule"]),
        ("2024-04-08T18:17 --region=-120,10,-80,40 --size 500x400", &["isoline"]),
        ("2025-03-29 --size 500x300", &["isoline", "partial-limit"]),
        // A total eclipse without a centre line.
        ("2043-04-09 --region 120,50,-150,80 --size 500x300", &["legend"]),
        // A grid as fine as the picture would have too many points.
        ("2021-12-04 --size 12000x60", &["legend"]),
        ("2021-12-04 --size 1x1", &["legend"]),
    ] {
        folder.run_ok(&format!("map {arguments} -o m.svg -q"));
        let elements = svg::check(&folder, "m.svg");
        for class in classes {
            assert!(!svg::of(&elements, class).is_empty(), "{arguments}: {class}");
        }
        let [left, top, right, bottom] = frame(&elements);
        let texts: Vec<_> = elements.iter().filter(|one| one.name == "text").collect();
        // A parallel of a map of the whole Earth has a label on either side.
        if arguments.starts_with("2026-08-12 --cities") {
            assert_eq!(texts.iter().filter(|text| text.text == "30°N").count(), 2);
        }
        for dot in svg::of(&elements, "city").into_iter().filter(|one| one.name == "circle") {
            let [a, b, c, d] = dot.bounds();
            for text in &texts {
                let [e, f, g, h] = text.bounds();
                assert!(a >= g || e >= c || b >= h || f >= d, "{arguments}: a city's dot covers '{}'", text.text);
            }
        }
        for text in texts.iter().filter(|text| text.text.starts_with("limits of")) {
            assert!(text.text == "limits of totality" || !arguments.starts_with("2043"), "{arguments}: {}", text.text);
        }
        // On a globe, labels keep clear of the limb.
        if arguments.contains("orthographic") {
            let labels = svg::of(&elements, "graticule").into_iter().filter(|one| one.name == "text");
            let ([x, y], radius) = ([0.5 * (left + right), 0.5 * (top + bottom)], 0.5 * (right - left));
            let mut names = Vec::new();
            for label in labels {
                let [a, b, c, d] = label.bounds();
                let farthest = [(a, b), (a, d), (c, b), (c, d)].map(|(u, v)| (u - x).hypot(v - y));
                assert!(
                    farthest.iter().all(|off| *off < radius - 1.0),
                    "{arguments}: '{}' touches the limb",
                    label.text
                );
                names.push(label.text.as_str());
            }
            assert!(names.contains(&"90°W") && names.contains(&"30°N"), "{names:?}");
        }
        for class in ["coast", "centre-line", "northern-limit", "obscuration", "time", "mark", "city", "isoline"] {
            for element in svg::of(&elements, class) {
                let [a, b, c, d] = element.bounds();
                let is_inside = a >= left - 0.1 && b >= top - 0.1 && c <= right + 0.1 && d <= bottom + 0.1;
                assert!(is_inside, "{arguments}: {class} leaves the map");
            }
        }
    }
}

/// Limits, centre line and isolines, compared with local circumstances a pixel away from them.
#[test]
fn lines_of_a_map_pass_the_right_places() {
    let folder = Folder::new();
    let sky = umbracast_sky::Sky::new(umbracast_sky::SkyOptions::default());
    // The place at a position between 0 and 1 of the map's width and height. The polar map has latitude -40 at the middle of its sides.
    let flat = |[west, south, east, north]: [f64; 4]| {
        move |x: f64, y: f64| [north - (north - south) * y, west + (east - west) * x]
    };
    let polar = |x: f64, y: f64| {
        let edge = 2.0 * 25_f64.to_radians().tan();
        let (x, y) = ((2.0 * x - 1.0) * edge, (1.0 - 2.0 * y) * edge);
        [2.0 * (x.hypot(y) / 2.0).atan().to_degrees() - 90.0, x.atan2(y).to_degrees()]
    };
    type Inverse = Box<dyn Fn(f64, f64) -> [f64; 2]>;
    let cases: [(&str, &str, Inverse); 4] = [
        ("2027-08-02", "--region 24,18,42,30 --size 900x600", Box::new(flat([24.0, 18.0, 42.0, 30.0]))),
        ("2013-05-10", "--region 150,-20,-150,10 --size 1200x600", Box::new(flat([150.0, -20.0, 210.0, 10.0]))),
        ("2026-08-12", "--size 1600x800", Box::new(flat([-180.0, -90.0, 180.0, 90.0]))),
        ("2021-12-04", "--size 1000x1000", Box::new(polar)),
    ];
    for (date, arguments, inverse) in cases {
        folder.run_ok(&format!("map {date} {arguments} --isolines obscuration,magnitude,time -o m.svg -q"));
        let (_, elements) = svg::read(&folder, "m.svg");
        let [left, top, right, bottom] = frame(&elements);
        let Some(umbracast_sky::Eclipse::Solar(eclipse)) = sky.eclipse_on(sky.parse_time(date).unwrap().0).unwrap()
        else {
            panic!("{date}")
        };
        let at = |x: f64, y: f64| {
            let [latitude, longitude] = inverse((x - left) / (right - left), (y - top) / (bottom - top));
            eclipse.circumstances(&umbracast_sky::Place { latitude, longitude, height_m: 0.0 })
        };
        let is_central = |x: f64, y: f64| at(x, y).c2.is_some();
        for class in ["northern-limit", "southern-limit", "centre-line"] {
            let lines: Vec<_> = svg::of(&elements, class).iter().flat_map(|path| path.lines()).collect();
            assert!(!lines.is_empty(), "{date} {class}");
            let mut checked = 0;
            for pair in lines.iter().flat_map(|line| line.windows(2)) {
                let ([x, y], [u, v]) = (pair[0], pair[1]);
                let length = (u - x).hypot(v - y);
                // Short pieces have no direction: positions have two decimals.
                if length < 0.5 {
                    continue;
                }
                let (x, y, aside) = (0.5 * (x + u), 0.5 * (y + v), [(y - v) / length, (u - x) / length]);
                let sides = [1.0, -1.0].map(|side| is_central(x + side * aside[0], y + side * aside[1]));
                let expected = if class == "centre-line" { [true; 2] } else { [sides[0], !sides[0]] };
                assert_eq!(sides, expected, "{date} {class} at {x} {y}");
                checked += 1;
            }
            assert!(checked > 20, "{date} {class}: {checked}");
        }
        // The largest eclipse while the Sun is up. Its value on an isoline is a multiple of 0.05 or of a minute.
        use umbracast_sky::{DeltaT, LocalKind, LocalView};
        type Value = fn(&LocalView) -> f64;
        let of_view: [(&str, Value, f64); 3] = [
            ("obscuration", |view| view.obscuration, 0.05),
            ("magnitude", |view| view.magnitude, 0.05),
            ("time", |view| view.time.clock(DeltaT::Table).1, 60.0),
        ];
        for (class, value, unit) in of_view {
            let mut levels = std::collections::BTreeSet::new();
            for [x, y] in svg::of(&elements, class).iter().flat_map(|path| path.lines().concat()) {
                let local = at(x, y);
                // Where the maximum moves from day to sunrise or sunset, isolines have a bend, which is a cell of their grid wide.
                let is_bend = local.maximum.sun_altitude.abs() < 2.0;
                if let Some(view) = local.visible.filter(|view| view.kind == LocalKind::Partial && !is_bend) {
                    // The nearest level is closer than the change of the value over a pixel.
                    let here = value(&view);
                    let near = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)];
                    let near = near.map(|(dx, dy)| at(x + dx, y + dy).visible.map_or(0.0, |view| value(&view)));
                    let change = near.iter().map(|other| (other - here).abs()).fold(0.02 * unit, f64::max);
                    let level = (here / unit).round();
                    assert!((here - unit * level).abs() <= change, "{date} {class}: {here} at {x} {y}");
                    levels.insert(level as i32);
                }
            }
            let most = if class == "time" { 60 } else { 10 };
            assert!((3..=most).contains(&levels.len()), "{date} {class}: {levels:?}");
        }
    }
}

/// Those of the United States follow the parallel 49° N and the meridian 141° W, in every projection and over the date line.
#[test]
fn borders_pass_the_right_places() {
    let folder = Folder::new();
    folder.run_ok("map 2024-04-08 --size 400x200 -o m.svg -q");
    assert!(svg::of(&svg::read(&folder, "m.svg").1, "border").is_empty());
    // The greatest eclipse, in the middle of the globe.
    let (greatest, middle) = ((25.2896_f64.to_radians().sin_cos()), -104.1479_f64);
    let globe = |[latitude, longitude]: [f64; 2]| {
        let ((s, c), (t, d)) = (latitude.to_radians().sin_cos(), (longitude - middle).to_radians().sin_cos());
        let [x, y] = [c * t, s * greatest.1 - c * greatest.0 * d];
        [0.5 + 0.5 * x, 0.5 - 0.5 * y]
    };
    // The map about the pole has latitude 40 at the middle of its sides.
    let polar = |[latitude, longitude]: [f64; 2]| {
        let ((sin, cos), polar) = (longitude.to_radians().sin_cos(), (45.0 - 0.5 * latitude).to_radians().tan());
        let radius = 0.5 * polar / 25_f64.to_radians().tan();
        [0.5 + radius * sin, 0.5 + radius * cos]
    };
    let flat = |[latitude, longitude]: [f64; 2]| [(longitude + 260.0) / 200.0, (75.0 - latitude) / 55.0];
    type Position<'a> = &'a dyn Fn([f64; 2]) -> [f64; 2];
    let cases: [(&str, Position<'_>); 3] = [
        ("--region 100,20,-60,75 --size 1000x275", &flat),
        ("--projection orthographic --size 800x800", &globe),
        ("--projection stereographic --size 800x800", &polar),
    ];
    for (arguments, position) in cases {
        folder.run_ok(&format!("map 2024-04-08 {arguments} --borders -o m.svg -q"));
        let elements = svg::check(&folder, "m.svg");
        let [left, top, right, bottom] = frame(&elements);
        let borders = svg::of(&elements, "border");
        assert_eq!(borders.len(), 1, "{arguments}");
        assert!(borders[0].attributes.contains_key("stroke-dasharray"), "{arguments}");
        let lines = borders[0].lines();
        let [a, b, c, d] = borders[0].bounds();
        assert!(a >= left - 0.1 && b >= top - 0.1 && c <= right + 0.1 && d <= bottom + 0.1, "{arguments}");
        let expected = (-122..=-96).map(|degrees| [49.0, f64::from(degrees)]);
        for place in expected.chain((61..=69).map(|degrees| [f64::from(degrees), -141.0])) {
            let [x, y] = position(place);
            let at = [left + x * (right - left), top + y * (bottom - top)];
            let off = lines.iter().flat_map(|line| line.windows(2)).map(|pair| distance(at, pair[0], pair[1]));
            let off = off.fold(f64::INFINITY, f64::min);
            assert!(off < 1.0, "{arguments}: no border within {off} pixels of {place:?}");
        }
        assert!(elements.iter().any(|one| one.text == "border"), "{arguments}: no entry of the legend");
    }
}

/// The distance of a point from a segment.
fn distance(at: [f64; 2], from: [f64; 2], to: [f64; 2]) -> f64 {
    let [x, y, u, v] = [at[0] - from[0], at[1] - from[1], to[0] - from[0], to[1] - from[1]];
    let part = ((x * u + y * v) / (u * u + v * v).max(1e-12)).clamp(0.0, 1.0);
    (x - part * u).hypot(y - part * v)
}

/// Both renderers have the display list: the PNG has the colours of dots, stars and land where the SVG has them.
#[test]
fn png_and_svg_of_a_map_agree() {
    let folder = Folder::new();
    for file in ["m.png", "m.svg"] {
        folder.run_ok(&format!("map 2024-04-08 --size 800x400 -o {file} -q"));
    }
    let picture = image::open(folder.path("m.png")).unwrap().to_rgb8();
    let (size, elements) = svg::read(&folder, "m.svg");
    assert_eq!(size, [picture.width(), picture.height()].map(f64::from));
    let marks = svg::of(&elements, "mark");
    let dots: Vec<[f64; 2]> = marks.iter().filter(|mark| mark.name == "circle").map(|mark| mark.center()).collect();
    assert!(dots.len() > 2, "{dots:?}");
    for [x, y] in dots {
        assert_eq!(picture.get_pixel(x as u32, y as u32).0, [255; 3], "{x} {y}");
    }
    let [left, top, right, bottom] = svg::of(&elements, "greatest-eclipse")[0].bounds();
    assert_eq!(picture.get_pixel((0.5 * (left + right)) as u32, (0.5 * (top + bottom)) as u32).0, [0xff, 0xd2, 0x3f]);
    // The image within the SVG is that of the PNG wherever no line covers it.
    let ground = svg::of(&elements, "ground")[0];
    let data = ground.attributes["href"].strip_prefix("data:image/png;base64,").unwrap();
    let inner = image::load_from_memory(&STANDARD.decode(data).unwrap()).unwrap().to_rgb8();
    let [x, y, ..] = ground.bounds().map(|edge| edge as u32);
    let same = inner.enumerate_pixels().filter(|(u, v, pixel)| picture.get_pixel(x + u, y + v) == *pixel).count();
    assert!(same > 220_000, "{same} of {}", inner.width() * inner.height());
}
