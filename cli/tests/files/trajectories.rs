//! `umbracast sunlight`: trajectories in every format, events, and files that are refused.

use std::io::Write;
use std::process::Stdio;

use umbracast_testing::folder::{Done, Folder, npy, npz_array, program};
use umbracast_testing::spk::{Segment, file};

/// Seconds from 1970-01-01 to 2026-03-21.
const START: f64 = 1_774_051_200.0;
/// Period of the orbit in seconds.
const PERIOD: f64 = 5_400.0;

/// State `i` of a circular orbit of 6,900 km, with a minute between states: position and velocity.
fn state(i: usize) -> [f64; 6] {
    let rate = std::f64::consts::TAU / PERIOD;
    let (sine, cosine) = (rate * 60.0 * i as f64).sin_cos();
    let (r, speed) = (6_900.0, 6_900.0 * rate);
    [r * cosine, r * sine * 0.8, r * sine * 0.6, -speed * sine, speed * cosine * 0.8, speed * cosine * 0.6]
}

/// The instant of state `i`, 2026-03-21 from midnight.
fn clock(i: usize) -> String {
    format!("{:02}:{:02}", i / 60, i % 60)
}

fn row(numbers: &[f64]) -> String {
    numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(",")
}

/// Two objects, the second one half an orbit later, in turns.
fn table(count: usize) -> String {
    let mut text = String::from("object,time,x [km],y,z,vx,vy,vz\n");
    for i in 0..count {
        for (object, lead) in [("one", 0), ("two, the other", 45)] {
            text += &format!("\"{object}\",2026-03-21T{}:00Z,{}\n", clock(i), row(&state(i + lead)));
        }
    }
    text
}

fn message(count: usize, frame: &str, scale: &str, day: &str) -> String {
    let mut text = format!(
        "CCSDS_OEM_VERS = 2.0\nCOMMENT An orbit that was made for this test\nCREATION_DATE = 2026-03-01T00:00:00\n\
         ORIGINATOR = NOBODY\n\nMETA_START\nOBJECT_NAME = TEST SATELLITE\nOBJECT_ID = 2026-001A\nCENTER_NAME = EARTH\n\
         REF_FRAME = {frame}\nTIME_SYSTEM = {scale}\nSTART_TIME = {day}T00:00:00\nSTOP_TIME = {day}T03:00:00\n\
         INTERPOLATION = HERMITE\nINTERPOLATION_DEGREE = 7\nMETA_STOP\n\n"
    );
    for i in 0..count {
        let numbers = state(i).map(|number| format!("{number:.9}")).join("  ");
        text += &format!("{day}T{}:00.000  {numbers}\r\n", clock(i));
    }
    text + "COVARIANCE_START\nEPOCH = 2026-03-21T00:00:00\n1.0\n0.1 1.0\nCOVARIANCE_STOP\n"
}

/// The same states as [`message`], as XML.
fn xml(count: usize, frame: &str, scale: &str) -> String {
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <oem xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" id=\"CCSDS_OEM_VERS\" version=\"2.0\">\n\
         <header><COMMENT>Made for this test</COMMENT><CREATION_DATE>2026-03-01T00:00:00</CREATION_DATE>\
         <ORIGINATOR>NOBODY</ORIGINATOR></header>\n<body>\n<segment>\n<metadata>\n<OBJECT_NAME>TEST &amp; SATELLITE</OBJECT_NAME>\n\
         <OBJECT_ID>2026-001A</OBJECT_ID>\n<CENTER_NAME>EARTH</CENTER_NAME>\n<REF_FRAME>{frame}</REF_FRAME>\n\
         <TIME_SYSTEM>{scale}</TIME_SYSTEM>\n<START_TIME>2026-03-21T00:00:00</START_TIME>\n\
         <STOP_TIME>2026-03-21T03:00:00</STOP_TIME>\n</metadata>\n<data>\n<COMMENT>States</COMMENT>\n"
    );
    for i in 0..count {
        text += &format!("<stateVector>\n<EPOCH>2026-03-21T{}:00.000</EPOCH>\n", clock(i));
        let names = ["X", "Y", "Z", "X_DOT", "Y_DOT", "Z_DOT"];
        for (at, (name, number)) in names.into_iter().zip(state(i)).enumerate() {
            // Units may be left out.
            let units = if i % 2 == 0 { "" } else { [" units=\"km\"", " units=\"km/s\""][at / 3] };
            text += &format!("<{name}{units}> {number:.9} </{name}>\n");
        }
        text += "</stateVector>\n";
    }
    text + "<covarianceMatrix><EPOCH>2026-03-21T00:00:00</EPOCH><CX_X units=\"km**2\">1</CX_X></covarianceMatrix>\n\
            </data>\n</segment>\n</body>\n</oem>\n"
}

/// The columns of a CSV.
fn columns(text: &str, names: &[&str]) -> Vec<Vec<String>> {
    let mut lines = text.lines().map(|line| {
        // The only comma in a cell.
        line.replace("\"two, the other\"", "two").split(',').map(String::from).collect::<Vec<_>>()
    });
    let header = lines.next().unwrap();
    let at: Vec<usize> = names.iter().map(|name| header.iter().position(|own| own == name).unwrap()).collect();
    lines.map(|cells| at.iter().map(|i| cells[*i].clone()).collect()).collect()
}

#[test]
fn every_format_gives_the_same_light() {
    let folder = Folder::new();
    let numbers: Vec<u8> = (0..180)
        .flat_map(|i| std::iter::once(START + 60.0 * i as f64).chain(state(i)))
        .flat_map(f64::to_le_bytes)
        .collect();
    let short: Vec<u8> = (0..180)
        .flat_map(|i| std::iter::once(START + 60.0 * i as f64).chain(state(i).into_iter().take(3)))
        .flat_map(f64::to_le_bytes)
        .collect();
    folder
        .write("t.csv", table(180))
        .write("t.npy", npy("'<f8'", false, "(180, 7)", &numbers))
        .write("short.npy", npy("'<f8'", false, "(180, 4)", &short))
        .write("t.oem", message(180, "GCRF", "UTC", "2026-03-21"))
        .write("day.oem", message(180, "EME2000", "UTC", "2026-080"))
        .write("t.xml", xml(180, "GCRF", "UTC"))
        // Several messages in one file, and a prefix of the namespace.
        .write(
            "ndm.oem",
            xml(180, "EME2000", "UTC")
                .replacen("<oem", "<n:ndm xmlns:n=\"urn:ccsds:schema:ndmxml\"><COMMENT>one</COMMENT><oem", 1)
                .replace("</oem>", "</oem></n:ndm>"),
        );
    let done = folder.run_ok("sunlight t.csv --frame gcrs -o light.csv --events events.csv --json");
    assert!(done.output.contains("\"objects\":2,\"states\":360,"), "{}", done.output);
    let light = folder.text("light.csv");
    assert_eq!(light.lines().next(), Some("object,time,trajectory,unix_s,fraction,kind"));
    assert_eq!(light.lines().nth(2), Some("\"two, the other\",2026-03-21T00:00:00Z,1,1774051200.0,0.0,umbra"));
    let rows = columns(&light, &["object", "fraction", "kind"]);
    assert_eq!(rows.len(), 360);
    let one: Vec<&[String]> = rows.iter().filter(|row| row[0] == "one").map(|row| &row[1..]).collect();
    assert!(one.iter().any(|row| row[1] == "umbra") && one.iter().any(|row| row[1] == "lit"));

    let events = folder.text("events.csv");
    assert_eq!(
        events.lines().next(),
        Some("object,begins,ends,trajectory,begins_unix_s,ends_unix_s,body,kind,duration_s,begins_earlier,ends_later"),
        "{events}"
    );
    let names = ["object", "begins", "ends", "body", "kind", "duration_s", "begins_earlier", "ends_later"];
    let found = columns(&events, &names);
    let first: Vec<_> = found.iter().filter(|row| row[0] == "one").collect();
    let kinds: Vec<&str> = first.iter().map(|row| &*row[4]).collect();
    assert_eq!(kinds, ["penumbra", "umbra", "penumbra", "penumbra", "umbra", "penumbra"]);
    assert!(first.iter().all(|row| row[3] == "earth" && row[6] == "False" || row[6] == "false"), "{first:?}");
    // Each interval begins where the one before it ends, and states within it have its kind.
    assert_eq!(first[0][2], first[1][1]);
    let minute = |text: &str| {
        60.0 * text[11..13].parse::<f64>().unwrap()
            + text[14..16].parse::<f64>().unwrap()
            + text[17..26].parse::<f64>().unwrap() / 60.0
    };
    let (begins, ends) = (minute(&first[1][1]), minute(&first[1][2]));
    assert!((60.0 * (ends - begins) - first[1][5].parse::<f64>().unwrap()).abs() < 1e-4, "{first:?}");
    for (i, row) in one.iter().enumerate().take(90) {
        assert_eq!(row[1] == "umbra", (i as f64) > begins && (i as f64) < ends, "{i} {row:?}");
    }
    // The second object begins in the umbra.
    let second: Vec<_> = found.iter().filter(|row| row[0] == "two").collect();
    assert!(second[0][4] == "umbra" && second[0][6].eq_ignore_ascii_case("true"), "{second:?}");

    for (input, frame) in [
        ("t.npy", "--frame icrf"),
        ("short.npy", "--frame gcrs"),
        ("t.oem", ""),
        ("day.oem", "--frame gcrs"),
        ("t.xml", "--frame gcrs"),
        ("ndm.oem", ""),
    ] {
        folder.run_ok(&format!("sunlight {input} {frame} -o again.csv --events again_events.csv -q"));
        let again = columns(&folder.text("again.csv"), &["fraction", "kind"]);
        assert_eq!(again.len(), 180, "{input}");
        // A table may not have days of the year.
        assert!(!folder.text("again.csv").contains("2026-080"), "{input}");
        for (again, one) in again.iter().zip(&one) {
            let apart = again[0].parse::<f64>().unwrap() - one[0].parse::<f64>().unwrap();
            assert!(apart.abs() < 1e-7 && again[1] == one[1], "{input}: {again:?} {one:?}");
        }
        let times = columns(&folder.text("again_events.csv"), &["begins", "ends"]);
        for (again, one) in times.iter().zip(&first) {
            assert!((minute(&again[0]) - minute(&one[1])).abs() < 1e-6, "{input}: {again:?} {one:?}");
        }
    }
    // `--format` is for the light alone.
    folder.run_ok("sunlight t.csv --frame gcrs -o light --format npy --events again_events.csv -q");
    assert_eq!(folder.text("again_events.csv"), folder.text("events.csv"));
    folder.run_ok("sunlight t.csv --frame gcrs -o light.npz --events events.npz");
    assert_eq!(npz_array::<u32>(&folder.path("light.npz"), "trajectory")[..4], [0, 1, 0, 1]);
    assert_eq!(npz_array::<f64>(&folder.path("light.npz"), "unix_s")[2], START + 60.0);
    assert_eq!(npz_array::<u8>(&folder.path("events.npz"), "body").len(), found.len());
}

/// The examples of CCSDS 502.0-B. Those of a spacecraft about Mars are refused for that reason; the one about the Earth is read from a file
/// that also has other messages.
#[test]
fn examples_of_the_standard_are_read_or_refused_for_their_centre() {
    let folder = Folder::new();
    let data = umbracast_testing::root().join("crates/files/src/read/oem");
    let run = |name: &str, more: &str| folder.run(&format!("sunlight {} -o out.csv {more}", data.join(name).display()));
    for (name, line) in [("segments.oem", 12), ("accelerations.oem", 11), ("accelerations.xml", 18)] {
        let done = run(name, "");
        let words =
            format!("{name}: line {line}: CENTER_NAME is 'MARS BARYCENTER': expected EARTH: only Earth and Moon");
        assert!(done.code == 2 && done.errors.contains(&words), "{}", done.errors);
    }
    let done = run("messages.xml", "--events events.csv --json");
    let counts = ["\"objects\":1,\"states\":5,", "\"lit\":5,"];
    assert!(
        done.code == 0 && counts.iter().all(|count| done.output.contains(count)),
        "{} {}",
        done.output,
        done.errors
    );
    let rows = columns(&folder.text("out.csv"), &["object", "time", "unix_s"]);
    assert_eq!(rows[0], ["SELENE", "2007-09-14T10:43:00.000000", "1189766580.0"]);
    let only = std::fs::read_to_string(data.join("messages.xml"))
        .unwrap()
        .replace("<oem ", "<opm ")
        .replace("</oem>", "</opm>");
    let done = folder.write("opm.xml", only).run("sunlight opm.xml -o out.csv");
    assert!(done.code == 2 && done.errors.contains("opm.xml: line 3: <ndm> has no <oem>"), "{}", done.errors);
}

/// TEME of an epoch is read as that of date within a week of the epoch, and refused beyond. Other axes have no epoch.
#[test]
fn an_epoch_of_teme_must_be_near_the_states() {
    let folder = Folder::new();
    let fractions = |name: &str| {
        folder.run_ok(&format!("sunlight {name} -o out.csv -q"));
        columns(&folder.text("out.csv"), &["unix_s", "fraction"])
    };
    for frame in ["TEME", "EME2000", "ITRF"] {
        let files = [("t.oem", message(100, frame, "UTC", "2026-03-21")), ("t.xml", xml(100, frame, "UTC"))];
        for (name, plain) in files {
            folder.write(name, &plain);
            let expected = fractions(name);
            let with = |epoch: &str| match name {
                "t.oem" => plain.replacen("TIME_SYSTEM", &format!("REF_FRAME_EPOCH = {epoch}\nTIME_SYSTEM"), 1),
                _ => plain.replacen("<TIME_S", &format!("<REF_FRAME_EPOCH>{epoch}</REF_FRAME_EPOCH>\n<TIME_S"), 1),
            };
            for epoch in ["2026-03-21T00:00:00", "2026-080T00:00:00Z", "2026-03-14T01:40:00", "2026-03-28T00:00:00"] {
                folder.write(name, with(epoch));
                assert_eq!(fractions(name), expected, "{frame} {name} {epoch}");
            }
            for (epoch, line, words) in [
                ("2000-01-01T12:00:00", ["19", "18"], "the time is more than 7 days from REF_FRAME_EPOCH"),
                (
                    "2026-03-14T00:30:00",
                    ["50", "297"],
                    "convert the states to GCRF, or to TEME of date without the key",
                ),
                ("soon", ["11", "11"], "REF_FRAME_EPOCH is 'soon': expected YYYY-MM-DDThh:mm:ss"),
            ] {
                folder.write(name, with(epoch));
                if frame == "TEME" {
                    let done = folder.refused(&format!("sunlight {name} -o out.csv"), words);
                    let place = format!("{name}: line {}: ", line[usize::from(name == "t.xml")]);
                    assert!(done.errors.contains(&place), "{place} {}", done.errors);
                } else {
                    assert_eq!(fractions(name), expected, "{frame} {name} {epoch}");
                }
            }
        }
    }
}

#[test]
fn states_may_have_exponents_of_fortran() {
    let folder = Folder::new();
    let read = |name: &str, text: &str| {
        folder.write(name, text).run_ok(&format!("sunlight {name} -o out.csv -q"));
        folder.text("out.csv")
    };
    for (name, plain) in [("t.oem", message(3, "GCRF", "UTC", "2026-03-21")), ("t.xml", xml(3, "GCRF", "UTC"))] {
        for number in ["6.9D+03", "69*^2"] {
            let other = plain.replacen("6900.000000000", number, 1);
            assert_ne!(plain, other);
            assert_eq!(read(name, &plain), read(name, &other), "{name} {number}");
        }
    }
    let text = message(3, "GCRF", "UTC", "2026-03-21").replace("6900.000000000", "1D999");
    folder.write("t.oem", text).refused("sunlight t.oem -o out.csv", "line 18: X is '1D999': expected a number");
}

/// States outside the useable span of a segment serve the interpolation only, and events are cut off at its ends.
#[test]
fn a_useable_span_limits_rows_and_events() {
    let folder = Folder::new();
    let of = |text: &str, start: &str, stop: &str| {
        let ends = format!("USEABLE_START_TIME = {start}\nUSEABLE_STOP_TIME = {stop}\nINTERPOLATION = HERMITE");
        text.replace("INTERPOLATION = HERMITE", &ends)
    };
    let text = message(100, "GCRF", "TAI", "2026-03-21");
    folder.write("whole.oem", &text).run_ok("sunlight whole.oem -o whole.csv --events whole_events.csv -q");
    let whole = columns(&folder.text("whole_events.csv"), &["begins", "ends", "kind", "begins_earlier", "ends_later"]);
    let umbra = whole.iter().position(|row| row[2] == "umbra").unwrap();
    let minute = |text: &str| 60 * text[11..13].parse::<usize>().unwrap() + text[14..16].parse::<usize>().unwrap();
    // From before the penumbra to the middle of the umbra, which TAI reads 37 s later.
    let (first, last) = (minute(&whole[umbra - 1][0]) - 2, (minute(&whole[umbra][0]) + minute(&whole[umbra][1])) / 2);
    let [start, stop] = [first, last].map(|i| format!("2026-03-21T{}:00.000", clock(i)));
    folder.write("part.oem", of(&text, &start, &stop));
    let done = folder.run_ok("sunlight part.oem -o part.csv --events part_events.csv");
    let left = 100 - (last - first + 1);
    let words = format!("note: part.oem: {left} states outside USEABLE_START_TIME to USEABLE_STOP_TIME");
    assert!(done.errors.contains(&words), "{words}: {}", done.errors);
    let names = ["time", "object", "unix_s", "fraction", "kind"];
    let [all, rows] = ["whole.csv", "part.csv"].map(|name| columns(&folder.text(name), &names));
    assert_eq!(rows, all[first..=last]);
    // Times are in UTC.
    assert!(rows[0][0].ends_with(":23.000000Z"), "{rows:?}");
    let span = format!("from {}Z to {}Z", &rows[0][0][..19], &rows[last - first][0][..19]);
    assert!(done.errors.contains(&span), "{span}: {}", done.errors);
    let found = columns(&folder.text("part_events.csv"), &["begins", "ends", "kind", "begins_earlier", "ends_later"]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[0], whole[umbra - 1]);
    assert_eq!(found[1][..1], whole[umbra][..1]);
    let stop = format!("2026-03-21T{}:23.000000Z", clock(last - 1));
    let flags = found[1][3..].join(" ").to_lowercase();
    assert!(found[1][1] == stop && flags == "false true", "{found:?} {stop}");
    for (start, stop, words) in [
        ("2026-03-21T00:05:00", "2026-03-21T00:04:00", "USEABLE_START_TIME is after USEABLE_STOP_TIME"),
        ("2026-03-22T00:05:00", "2026-03-22T00:14:00", "no state is between USEABLE_START_TIME and USEABLE_STOP_TIME"),
        ("soon", "2026-03-22T00:14:00", "line 14: USEABLE_START_TIME is 'soon': expected YYYY"),
    ] {
        let done = folder.write("bad.oem", of(&text, start, stop)).run("sunlight bad.oem -o out.csv");
        assert!(done.code == 2 && done.errors.contains(words), "{words}: {}", done.errors);
    }
}

/// Names of columns may be in any case and have their unit. The summary has the span of the times, so that a wrong epoch is seen.
#[test]
fn columns_have_names_in_any_case_and_units() {
    let folder = Folder::new();
    let rows = |time: &dyn Fn(usize) -> String| {
        (0..20).map(|i| format!("a,{},{}\n", time(i), row(&state(i)[..3]))).collect::<String>()
    };
    let clock = |i: usize| format!("2026-03-21T{}:00Z", clock(i));
    folder.write("t.csv", format!("object,time,x,y,z\n{}", rows(&clock)));
    let done = folder.run_ok("sunlight t.csv --frame gcrs -o expected.csv");
    assert!(done.errors.contains(" 20 states from 2026-03-21T00:00:00Z to 2026-03-21T00:19:00Z: "), "{}", done.errors);
    for header in ["OBJECT,TIME,X,Y,Z", "Object,Time [UTC],X [km],Y (km),Z/km", "object,time (utc),x_km,y_km,z_km"] {
        folder.write("t.csv", format!("{header}\n{}", rows(&clock)));
        folder.run_ok("sunlight t.csv --frame gcrs -o out.csv -q");
        assert_eq!(folder.text("out.csv"), folder.text("expected.csv"), "{header}");
    }
    let seconds = |start: f64| rows(&|i: usize| (start + 60.0 * i as f64).to_string());
    folder.write("t.csv", format!("Object,Unix_s [s],X,Y,Z\n{}", seconds(START)));
    let done = folder.run_ok("sunlight t.csv --frame gcrs -o out.csv --json");
    assert_eq!(columns(&folder.text("out.csv"), &["fraction"]), columns(&folder.text("expected.csv"), &["fraction"]));
    let words = "\"first_time\":\"2026-03-21T00:00:00Z\",\"last_time\":\"2026-03-21T00:19:00Z\"";
    assert!(done.output.contains(words), "{}", done.output);
    // As astropy writes a column with notes, and the scale of the times.
    let ecsv = |scale: &str, unit: &str| {
        let rows = (0..20).map(|i| format!("{} {}\n", &clock(i)[..19], row(&state(i)[..3]).replace(',', " ")));
        format!(
            "# %ECSV 1.0\n# ---\n# datatype:\n# - {{name: time, datatype: string}}\n# - name: x\n#   unit: {unit}\n#   datatype: float64\n\
             #   meta: !!omap\n#   - {{src: me}}\n# - {{name: 'y', unit: km, datatype: float64}}\n# - {{name: z, unit: '', datatype: float64}}\n\
             # meta: !!omap\n# - __serialized_columns__:\n#     time:\n#       __class__: astropy.time.core.Time\n#       format: isot\n\
             #       scale: {scale}\n#       value: !astropy.table.SerializedColumn {{name: time}}\n#     x:\n\
             #       unit: !astropy.units.Unit {{unit: {unit}}}\n# schema: astropy-2.0\ntime x y z\n{}",
            rows.collect::<String>()
        )
    };
    folder.write("t.csv", ecsv("utc", "km"));
    folder.run_ok("sunlight t.csv --frame gcrs -o out.csv -q");
    assert_eq!(columns(&folder.text("out.csv"), &["fraction"]), columns(&folder.text("expected.csv"), &["fraction"]));
    for (scale, unit, words) in [
        ("tai", "km", "column 'time [tai]' has the unit 'tai', expected utc: convert the times"),
        ("utc", "m", "column 'x [m]' has the unit 'm', expected km: convert the numbers"),
    ] {
        folder.write("t.csv", ecsv(scale, unit)).refused("sunlight t.csv --frame gcrs -o out.csv", words);
        folder.refused("system 2026-03-21 --bodies sun,jupiter,io --vectors io@jupiter=t.csv -o s.toml", words);
    }
    // Seconds from the first state.
    folder.write("t.csv", format!("object,unix_s,x,y,z\n{}", seconds(0.0)));
    let done = folder.run_ok("sunlight t.csv --frame gcrs -o out.csv -q");
    let words = "warning: t.csv: the states are from 1970-01-01T00:00:00 UT1 to 1970-01-01T00:19:00 UT1: are their times seconds since 1970-01-01?";
    assert!(done.errors.contains(words), "{}", done.errors);
}

/// The time scales of a message differ by the seconds that they should.
#[test]
fn time_scales_shift_the_events() {
    let folder = Folder::new();
    let mut begins = Vec::new();
    for scale in ["UTC", "TAI", "TT", "TDB", "GPS"] {
        let found = [message(100, "ICRF", scale, "2026-03-21"), xml(100, "ICRF", scale)].map(|text| {
            folder.write("t.oem", text);
            folder.run_ok("sunlight t.oem -o light.csv --events events.npz -q");
            // Times are in UTC, as `unix_s` of the same row.
            let light = columns(&folder.text("light.csv"), &["time", "unix_s"]);
            let day: f64 = light[1][1].parse::<f64>().unwrap() - START;
            let second: f64 = light[1][0][17..].trim_end_matches('Z').parse().unwrap();
            assert!((day.rem_euclid(60.0) - second).abs() < 1e-5, "{scale}: {:?}", light[1]);
            npz_array::<f64>(&folder.path("events.npz"), "begins_unix_s")[0]
        });
        assert!((found[0] - found[1]).abs() < 1e-6, "{scale}: {found:?}");
        begins.push(found[0]);
    }
    for (found, behind) in begins.iter().zip([0.0, 37.0, 69.184, 69.184, 18.0]) {
        // The Sun moves a little in the meantime, and TDB differs from TT by up to 2 ms.
        assert!((begins[0] - found - behind).abs() < 0.02, "{begins:?}");
    }
}

#[test]
fn files_that_are_no_trajectory_are_refused() {
    let folder = Folder::new();
    let head = "time,x,y,z\n";
    let good = "2026-03-21T00:00:00Z,7000,0,0\n";
    let tables = [
        (
            format!("{head}{good}{good}"),
            "line 3: time is 0 s after the state before it: the states of an object must be in order",
        ),
        (format!("{head}2026-03-21,7000,0,0\n"), "line 2: time is '2026-03-21': expected an instant"),
        (format!("{head}yesterday,7000,0,0\n"), "line 2: time: 'yesterday' is not a date"),
        (format!("{head}{good}2026-03-21T00:01:00Z,7000,x,0\n"), "line 3: y is 'x': expected a number"),
        (
            format!("{head}2026-03-21T00:00:00Z,7,0,0\n"),
            "line 2: position is 7 km from the centre: it is inside the Earth",
        ),
        (format!("{head}2026-03-21T00:00:00Z,nan,0,0\n"), "line 2: x is NaN"),
        ("x,y,z\n7000,0,0\n".into(), "there is no column `time` (instants in UTC) or `unix_s`"),
        ("time,unix_s,x,y,z\n2026-03-21T00:00:00Z,1,7000,0,0\n".into(), "both time and unix_s are given"),
        ("time,x,y,z,vx\n2026-03-21T00:00:00Z,7000,0,0,1\n".into(), "a velocity needs three columns: vx,vy,vz"),
        (
            "Time,x,y,z,time [UTC]\n2026-03-21T00:00:00Z,7000,0,0,2026-03-21T00:00:00Z\n".into(),
            "columns 'Time' and 'time [UTC]' have the same meaning: keep one of them",
        ),
        (
            "time [TAI],x,y,z\n2026-03-21T00:00:00,7000,0,0\n".into(),
            "column 'time [TAI]' has the unit 'TAI', expected utc: convert the times",
        ),
        ("unix_s [h],x,y,z\n1,7000,0,0\n".into(), "column 'unix_s [h]' has the unit 'h', expected s"),
        ("2026-03-21T00:00:00Z,7000,0,0\n".into(), "is the first row not a header?"),
        // Julian dates as seconds.
        (
            "unix_s,x,y,z\n2461117.5,7000,0,0\n2461117.501,7000,500,0\n".into(),
            "line 3: position is 500.0 km from the state before it, 1.000e-3 s earlier: it is faster than 1000 km/s",
        ),
        (
            "time,x,y,z\n2026-03-18T00:00:00Z,363150.2,-99686.7,-39998.8\n".into(),
            "km from the centre of the Moon: inside it",
        ),
        ("time,x,y,z,mass\n2026-03-21T00:00:00Z,7000,0,0,1\n".into(), "unknown column 'mass'"),
        ("time,x [m],y,z\n2026-03-21T00:00:00Z,7000,0,0\n".into(), "has the unit 'm', expected km"),
        ("unix_s,x,y,z\n1e300,7000,0,0\n".into(), "line 2: unix_s is '1"),
        (
            "unix_s,x,y,z\n-1e10,7000,0,0\n".into(),
            "line 2: time: 1653-02-10T06:13:20 UT1 is outside the years 1900 to 2050",
        ),
        (format!("{head}2060-03-21T00:00:00Z,7000,0,0\n"), "line 2: time: 2060-03-21T00:00:00Z is outside the years"),
        (head.into(), "the file contains no states"),
    ];
    for (text, words) in tables {
        folder.write("t.csv", text.clone());
        folder.refused("sunlight t.csv --frame gcrs -o out.csv", words);
    }
    folder.write("t.csv", format!("{head}{good}")).write("t.txt", format!("{head}{good}"));
    for (command, words) in [
        ("sunlight t.txt -o out.csv", "cannot read states from '.txt': supported are"),
        ("sunlight t.csv -o out.csv", "give the frame, gcrs, itrf or teme"),
        ("sunlight t.csv --frame tod -o out.csv", "the frame is 'tod': expected gcrs"),
        ("sunlight t.csv --frame gcrs -o out.csv --events out.csv", "-o and --events would both write this file"),
        ("sunlight t.csv --frame gcrs -o out.csv --events t.csv", "t.csv"),
        ("sunlight t.csv --frame gcrs -o out.npz --keep", "kept columns are text: the results must be .csv"),
        ("sunlight t.csv --frame gcrs -o - --format npy --keep", "kept columns are text: the results must be .csv"),
        ("sunlight t.csv --frame gcrs -o out.csv --events -", "events cannot go to standard output"),
    ] {
        folder.refused(command, words);
    }
    folder.run_ok("sunlight t.csv --frame gcrs -o out.csv -q");
    // A body of an SPK file: 7000 km from the Earth, from 1000 s before J2000 to 1000 s after it.
    let still = vec![vec![7000.0], vec![0.0], vec![0.0]];
    let (target, center, kind) = (-82, 399, 2);
    let body = Segment { target, center, kind, first: -1000.0, interval_s: 2000.0, intervals: vec![still] };
    folder.write("k.bsp", file(std::slice::from_ref(&body), true));
    folder.write("two.bsp", file(&[body.clone(), Segment { target: -83, ..body }], true));
    for (arguments, words) in [
        ("two.bsp", "two.bsp: the SPK file has the bodies [-83, -82]: choose one as the target"),
        ("t.csv --target 301", "t.csv: --target and --step are for an SPK file, .bsp"),
        ("k.bsp --target 301", "k.bsp: the SPK file has no body 301: it has [-82]"),
        ("k.bsp --frame itrf", "k.bsp: the axes of an SPK file are gcrs: leave out --frame"),
        ("k.bsp --target -82 --step 0", "expected 0.001 to 86400 seconds"),
        ("t.csv --frame gcrs --step 5", "t.csv: --target and --step are for an SPK file, .bsp"),
    ] {
        folder.refused(&format!("sunlight {arguments} -o out.csv"), words);
    }
    // The only body needs no target.
    folder.run_ok("sunlight k.bsp --step 600 -o out.csv -q");
    let table = folder.text("out.csv");
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(rows.len(), 1 + 5, "{table}");
    // J2000 is 11:58:55.816 in UTC. The step to the last state is shorter.
    assert!(rows[1].starts_with("2000-01-01T11:42:15.816") && rows[1].contains(",-82,"), "{table}");
    assert!(rows[4].starts_with("2000-01-01T12:12:15.816") && rows[5].starts_with("2000-01-01T12:15:35.816"));

    let text = message(3, "GCRF", "UTC", "2026-03-21");
    let hostile = [
        (
            text.replace("CCSDS_OEM_VERS = 2.0", "CCSDS_OPM_VERS = 2.0"),
            "line 1: 'CCSDS_OPM_VERS = 2.0': expected CCSDS_OEM_VERS",
        ),
        (text.replace("= 2.0", "= 9"), "line 1: CCSDS_OEM_VERS is '9'"),
        (text.replace("\r\n", "\n").replace('\n', "\r"), r"line 1: expected lines that end with \n or \r\n, found \r"),
        (String::new(), "the file contains no states"),
        (text.replace("GCRF", "TOD"), "line 10: REF_FRAME: the frame is 'TOD'"),
        (text.replace("= EARTH", "= MARS"), "line 9: CENTER_NAME is 'MARS': expected EARTH"),
        (text.replace("= UTC", "= SCLK"), "line 11: TIME_SYSTEM is 'SCLK'"),
        (text.replace("CENTER_NAME = EARTH\n", ""), "line 15: CENTER_NAME is missing in the metadata"),
        (text.replace("OBJECT_NAME = TEST SATELLITE\n", ""), "OBJECT_NAME is missing"),
        (text.replace("TIME_SYSTEM = UTC\n", ""), "TIME_SYSTEM is missing"),
        (text.replace("META_STOP\n", ""), "expected KEYWORD = VALUE or META_STOP"),
        (text.split("META_STOP").next().unwrap().into(), "the file ends before META_STOP"),
        (text.replace("COVARIANCE_STOP\n", ""), "the file ends before COVARIANCE_STOP"),
        (
            text.replace("T00:01:00.000  ", "T00:01:00.000  1 2 3 4 "),
            "line 19: the state has more than a time and 9 numbers",
        ),
        (text.replace("T00:01:00.000", "T00:61:00.000"), "line 19: the time: "),
        (
            text.replace("2026-03-21T00:01", "2026-366T00:01"),
            "line 19: the time is '2026-366T00:01:00.000': the year has no such day",
        ),
        (
            text.replace("2026-03-21T00:01", "2026-399T00:01"),
            "line 19: the time is '2026-399T00:01:00.000': expected YYYY",
        ),
        (text.replace("2026-03-21T00:01:00.000", "now"), "line 19: the time is 'now': expected YYYY"),
        (text.replace("2026-03-21T00:01", "2026-03-21T00:00"), "line 19: time is 0 s after the state before it"),
        (format!("{text}\nMETA_START\n"), "the file ends before META_STOP"),
    ];
    for (text, words) in hostile {
        folder.write("t.oem", text);
        folder.refused("sunlight t.oem -o out.csv", words);
    }
    let done = {
        folder.write("t.oem", message(3, "ITRF", "UTC", "2026-03-21"));
        folder.run("sunlight t.oem --frame gcrs -o out.csv")
    };
    assert!(done.errors.contains("REF_FRAME is 'ITRF', which is not the given frame"), "{}", done.errors);
}

#[test]
fn wrong_xml_is_refused_with_line_element_and_value() {
    let folder = Folder::new();
    let good = xml(3, "GCRF", "UTC");
    let swap = |old: &str, new: &str| {
        assert!(good.contains(old), "{old}");
        good.replacen(old, new, 1)
    };
    let bomb = "<!DOCTYPE oem [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]>\n<oem";
    for (text, words) in [
        (
            "<?xml version=\"1.0\"?>\n".into(),
            "line 1: the XML is damaged, or the file is incomplete: the document does not have a root node",
        ),
        (good.split("<data>").next().unwrap().into(), "the XML is damaged, or the file is incomplete"),
        (swap("</oem>", "</omm>"), "the XML is damaged, or the file is incomplete: expected 'oem' tag, not 'omm'"),
        (swap("<oem", bomb), "line 2: a document type, <!DOCTYPE …>, is not read: remove it"),
        (swap("TEST &amp;", "TEST &bomb;"), "unknown entity reference 'bomb'"),
        ("<opm/>".into(), "line 1: the root is <opm>: expected <oem>, or <ndm> with <oem> in it"),
        ("<ndm>\n<opm/></ndm>".into(), "line 1: <ndm> has no <oem>, whose states are read"),
        ("<ndm>\n<omn/></ndm>".into(), "line 2: <omn> is in <ndm>: expected <oem>, <opm>"),
        (swap("version=\"2.0\"", "version=\"7\""), "line 2: CCSDS_OEM_VERS is '7': expected 1.0, 2.0 or 3.0"),
        (swap(" version=\"2.0\"", ""), "line 2: CCSDS_OEM_VERS is ''"),
        (swap(">EARTH<", ">MARS<"), "line 9: CENTER_NAME is 'MARS': expected EARTH"),
        (swap(">GCRF<", ">TOD<"), "line 10: REF_FRAME: the frame is 'TOD'"),
        (swap(">UTC<", ">SCLK<"), "line 11: TIME_SYSTEM is 'SCLK'"),
        (swap("<CENTER_NAME>EARTH</CENTER_NAME>\n", ""), "line 5: CENTER_NAME is missing in the metadata"),
        (swap("<OBJECT_NAME>TEST &amp; SATELLITE</OBJECT_NAME>\n", ""), "line 5: OBJECT_NAME is missing"),
        (
            swap("<metadata>", "<data><metadata>").replacen("</metadata>", "</metadata></data>", 1),
            "CENTER_NAME is missing",
        ),
        (
            swap("<stateVector>", "<state><stateVector>").replacen("</stateVector>", "</stateVector></state>", 1),
            "line 17: <state> is in <data>: expected <stateVector>, <covarianceMatrix>",
        ),
        (swap("<EPOCH>2026-03-21T00:00:00.000</EPOCH>\n", ""), "line 17: EPOCH is missing in the <stateVector>"),
        (swap("<EPOCH>2026-03-21T00:01:00.000", "<EPOCH>now"), "line 26: the time is 'now': expected YYYY"),
        (swap("<Y> ", "<W> ").replacen("</Y>", "</W>", 1), "line 20: <W> is in <stateVector>: expected <EPOCH>, <X>"),
        (swap("<Z_DOT> ", "<Y_DOT> ").replacen("</Z_DOT>", "</Y_DOT>", 1), "line 24: Y_DOT is given twice"),
        (swap("<X units=\"km\">", "<X units=\"m\">"), "line 28: X has the units 'm': expected km"),
        (swap("<Y_DOT units=\"km/s\">", "<Y_DOT units=\"km\">"), "line 32: Y_DOT has the units 'km': expected km/s"),
        (swap("<X> ", "<X> far "), "line 19: X is 'far 6900.000000000': expected a number"),
        (swap("<X> ", "<X> <b/>"), "line 19: <b> is in <X>: expected no elements"),
        (swap("<X> 6900.000000000", "<X> nan"), "line 19: X is 'nan': expected a number"),
        (swap("<X> 6900.000000000", "<X> 69"), "line 17: position is 69 km from the centre: it is inside the Earth"),
        (swap("2026-03-21T00:02", "2026-03-21T00:01"), "line 35: time is 0 s after the state before it"),
    ] {
        for name in ["t.oem", "t.xml"] {
            folder.write(name, &text);
            let done = folder.refused(&format!("sunlight {name} -o out.csv"), words);
            assert!(done.errors.contains(name), "{}", done.errors);
        }
    }
    // A comment does not cut a number off, and nothing is too deep.
    folder.write("t.xml", swap("<X> 6900.0", "<X> 6<!-- no -->900.0")).run_ok("sunlight t.xml -o comment.csv -q");
    folder.write("t.xml", &good).run_ok("sunlight t.xml -o out.csv -q");
    assert_eq!(folder.text("comment.csv"), folder.text("out.csv"));
    assert!(folder.text("out.csv").contains("TEST & SATELLITE"), "{}", folder.text("out.csv"));
    let depth = 1_000_000;
    folder.write("deep.xml", format!("<oem version=\"2.0\">{}{}</oem>", "<a>".repeat(depth), "</a>".repeat(depth)));
    folder.refused("sunlight deep.xml -o out.csv", "<a> is in <oem>: expected <header>, <body>");
}

/// Times in f4 are refused, and standard input is recognised.
#[test]
fn times_need_f8_and_pipes_are_recognised() {
    let folder = Folder::new();
    let numbers: Vec<f64> = (0..20).flat_map(|i| std::iter::once(START + 60.0 * i as f64).chain(state(i))).collect();
    let narrow: Vec<u8> = numbers.iter().flat_map(|number| (*number as f32).to_le_bytes()).collect();
    let wide: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let fields =
        "[('unix_s', '<f4'), ('x', '<f4'), ('y', '<f4'), ('z', '<f4'), ('vx', '<f4'), ('vy', '<f4'), ('vz', '<f4')]";
    folder
        .write("f4.npy", npy("'<f4'", false, "(20, 7)", &narrow))
        .write("i8.npy", npy("'<i8'", false, "(20, 7)", &wide))
        .write("fields.npy", npy(fields, false, "(20,)", &narrow))
        .write("t.f32", &narrow)
        .write("t.states", &narrow)
        .write("t.txt", "")
        .write("t.ply", "");
    for (file, words) in [
        ("f4.npy", "expected f8, since f4 rounds unix_s to 128 s; make the array with astype('float64')"),
        ("i8.npy", "expected f8; convert the array with array.astype('float64')"),
        ("fields.npy", "field 'unix_s' is f4: expected f8"),
        ("t.f32", "raw f32 cannot be read as states, since it rounds unix_s to 128 s"),
        ("t.states", "raw f32 cannot be read as states"),
        ("t.txt", "supported are .npy, .npz, .csv, .parquet, .bsp, .oem and .xml"),
        ("t.ply", "cannot read states from '.ply'"),
    ] {
        folder.refused(&format!("sunlight {file} --frame gcrs -o out.csv"), words);
    }
    let piped = |bytes: Vec<u8>, more: &str| {
        let mut command = program();
        command.args("sunlight - --frame gcrs -o out.csv".split(' ')).args(more.split_whitespace());
        command.env("UMBRACAST_DEVICE", "cpu").current_dir(folder.root());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that refuses its arguments may close the pipe first.
        let _ = child.stdin.take().unwrap().write_all(&bytes);
        Done::of(child)
    };
    let done = piped(npy("'<f8'", false, "(20, 7)", &wide), "");
    assert_eq!(done.code, 0, "{}", done.errors);
    let done = piped(table(20).into_bytes(), "");
    assert_eq!(done.code, 0, "{}", done.errors);
    let done = piped(narrow, "--input-format f32");
    assert!(done.code == 2 && done.errors.contains("raw f32 cannot be read as states"), "{}", done.errors);
    // A message has the answers of its file.
    let text = message(3, "GCRF", "UTC", "2026-03-21");
    folder.write("t.oem", &text).run_ok("sunlight t.oem -o file.csv -q");
    let done = piped(text.clone().into_bytes(), "");
    assert_eq!(done.code, 0, "{}", done.errors);
    assert_eq!(folder.text("out.csv"), folder.text("file.csv"));
    let done = piped(format!("\u{feff}{}", xml(3, "GCRF", "UTC")).into_bytes(), "");
    assert_eq!(done.code, 0, "{}", done.errors);
    folder.write("t.xml", xml(3, "GCRF", "UTC")).run_ok("sunlight t.xml -o file.csv -q");
    assert_eq!(folder.text("out.csv"), folder.text("file.csv"));
    let done = piped(text.into_bytes(), "--input-format csv");
    assert_eq!(done.code, 2, "{}", done.errors);
    for (bytes, words) in [
        (&b"PAR1\x15\x04"[..], "Parquet cannot be read from a pipe"),
        (b"PK\x03\x04", ".npz cannot be read"),
        (b"ply\n", "cannot read states from '.ply'"),
    ] {
        let done = piped(bytes.to_vec(), "");
        assert!(done.code == 2 && done.errors.contains(words), "{}", done.errors);
    }
    // Offsets are taken off.
    let zoned = "time,x,y,z\n2026-03-21 01:00:00.50+01:00,7000,0,0\n2026-03-20T19:31-05:00,0,7000,0\n2026-03-21T00:32,0,0,7000\n";
    folder.write("t.csv", zoned).run_ok("sunlight t.csv --frame gcrs -o out.csv -q");
    let text = folder.text("out.csv");
    let times: Vec<_> = text.lines().skip(1).map(|line| line.split(',').next().unwrap_or_default()).collect();
    assert_eq!(times, ["2026-03-21T00:00:00.50Z", "2026-03-21T00:31:00Z", "2026-03-21T00:32"]);
    #[cfg(feature = "parquet")]
    {
        let short = umbracast_testing::root().join("tests/data/cases/f4_states.parquet");
        folder.write("f4.parquet", std::fs::read(short).unwrap());
        folder.refused("sunlight f4.parquet --frame gcrs -o out.csv", "column 'unix_s' is FLOAT: expected DOUBLE");
    }
}

/// Objects of two states are joined by a line whose error is unknown, even if others have an estimate.
#[test]
fn two_states_are_a_warning() {
    let folder = Folder::new();
    let rows = |object: &str, count: usize| {
        let row = |i: usize| format!("{object},{},{}\n", START + 60.0 * i as f64, row(&state(i)[..3]));
        (0..count).map(row).collect::<String>()
    };
    let (many, two, one) = (rows("many", 20), rows("two", 2), rows("one", 1));
    folder.write("t.csv", format!("object,unix_s,x,y,z\n{many}{two}{one}"));
    let done = folder.run_ok("sunlight t.csv --frame gcrs -o out.csv --json");
    assert!(done.errors.contains("warning: t.csv: 1 object has only two states"), "{}", done.errors);
    assert!(done.output.contains("\"interpolation_error_km\":null"), "{}", done.output);
    assert!(done.output.contains("\"moon_antumbra_s\":0.0"), "{}", done.output);
    folder.write("t.csv", format!("object,unix_s,x,y,z\n{many}{one}"));
    let done = folder.run_ok("sunlight t.csv --frame gcrs -o out.csv -q");
    assert!(!done.errors.contains("warning"), "{}", done.errors);
}

/// States that are too far apart for the interpolation are said, even with --quiet.
#[test]
fn coarse_states_are_a_warning() {
    let folder = Folder::new();
    let rows = (0..20).map(|i| format!("{},{}\n", START + 2_400.0 * f64::from(i), row(&state(40 * i as usize)[..3])));
    folder.write("t.csv", format!("unix_s,x,y,z\n{}", rows.collect::<String>()));
    let done = folder.run_ok("sunlight t.csv --frame gcrs -o - -q");
    let words = "its states are too far apart, or its velocities do not belong to its positions";
    assert!(
        done.errors.contains("warning: t.csv: the path from 2026-03-2") && done.errors.contains(words),
        "{}",
        done.errors
    );
    assert!(done.output.starts_with("trajectory,unix_s,fraction,kind\n"), "{}", done.output);
}
