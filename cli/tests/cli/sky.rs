//! `umbracast eclipse`, `circumstances` and `system`, run as users run them.

use umbracast_testing::folder::{Folder, program};

#[test]
fn a_date_finds_its_eclipse_or_names_the_next_one() {
    let folder = Folder::new();
    let out = |arguments: &str| folder.run_ok(arguments).output;
    let all = |arguments: &str| {
        let done = folder.run_ok(arguments);
        done.output + &done.errors
    };
    let solar = all("eclipse 2024-04-08 --delta-t 69.2 --radii nasa");
    for words in [
        "Total solar eclipse of 2024-04-08\n",
        "2024-04-08T18:17:20.22Z",
        "25.2896 N, 104.1479 W",
        "4 min 28.0 s",
        "JPL DE421",
        "radii nasa (Sun 695989 km, Moon 1737.966 km, central phases 1736.646 km)",
        "delta T 69.20 s (given)",
    ] {
        assert!(solar.contains(words), "'{words}' is not in: {solar}");
    }
    let lunar = all("eclipse 2025-03-14T05:00Z --lunar-rule chauvenet");
    for words in ["Total lunar eclipse of 2025-03-14\n", "total begins", "umbral magnitude", "; lunar rule chauvenet"] {
        assert!(lunar.contains(words), "'{words}' is not in: {lunar}");
    }
    // The lunar eclipse of 2025-09-07 is on that day; the day before has none.
    let none = folder.run("eclipse 2025-09-06");
    assert_eq!(
        (none.code, &*none.output, &*none.errors),
        (1, "", "error: there is no eclipse on 2025-09-06; the next one is the total lunar eclipse of 2025-09-07\n")
    );
    let none = folder.run("eclipse 2050-12-31 --json");
    assert!(
        none.code == 1 && none.errors.contains("none after it until 2051-01-01, where the positions end"),
        "{}",
        none.errors
    );
    let json: serde_json::Value = serde_json::from_str(&out("eclipse 2026-08-12 --json")).unwrap();
    assert_eq!(json["eclipse"]["kind"], "total");
    assert_eq!(json["conventions"]["ephemeris"], "JPL DE421");
    assert!((json["eclipse"]["path_width_km"].as_f64().unwrap() - 294.0).abs() < 8.0, "{json}");
    // Before 1972, times are UT1. Eddington's eclipse.
    let old = folder.run_ok("eclipse 1919-05-29");
    assert!(old.output.contains("1919-05-29T13:08:3") && old.errors.contains("times in UT1"), "{}", old.output);
}

/// NASA counts 228 solar eclipses from 1901 to 2000: 78 partial, 73 annular, 71 total, 6 hybrid (Five Millennium Canon).
#[test]
fn lists_of_eclipses_are_complete() {
    let folder = Folder::new();
    let list = folder.run_ok("eclipse --list 1901..2000 --only solar --radii nasa -o -").output;
    let count = |kind: &str| list.lines().filter(|line| line.contains(&format!(",solar,{kind},"))).count();
    assert_eq!(["partial", "annular", "total", "hybrid"].map(count), [78, 73, 71, 6]);
    assert_eq!(list.lines().count(), 229);
    assert!(list.contains("\n1919-05-29T13:08:3"), "{list}");
    let table = folder.run_ok("eclipse --list 2024");
    assert_eq!(table.output.lines().count(), 5, "{}", table.output);
    assert!(table.errors.contains("delta T as listed"), "{}", table.errors);
    // Of a list, the time scale may differ, and delta T has the larger error.
    for (years, words) in [
        ("1970..1973", r#""time_scale":"UTC (UT1 before 1972)""#),
        ("2020..2050", r#""delta_t_source":"extrapolated""#),
        ("2020..2021", r#""delta_t_source":"table""#),
    ] {
        let json = folder.run_ok(&format!("eclipse --list {years} --json")).output;
        assert!(json.split_once(r#""conventions":"#).unwrap().1.contains(words), "{years}: {words}");
    }
    let json = folder.run_ok("eclipse --list 2024..2025 --only lunar --json").output;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let dates: Vec<_> =
        json["eclipses"].as_array().unwrap().iter().map(|one| &one["greatest"].as_str().unwrap()[..10]).collect();
    assert_eq!(dates, ["2024-03-25", "2024-09-18", "2025-03-14", "2025-09-07"]);
}

/// As the canons print them: the numbers are those of NASA for 2017-08-21, to 2 in the fifth decimal.
#[test]
fn elements_are_printed_as_in_the_canons() {
    let folder = Folder::new();
    let text = folder.run_ok("eclipse 2017-08-21 --elements --radii nasa").output;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "Besselian elements of the total solar eclipse of 2017-08-21");
    assert!(lines[1].starts_with("T0 = 2017-08-21 18:00:00 TT"), "{text}");
    assert_eq!(lines[2].split_whitespace().collect::<Vec<_>>(), ["n", "x", "y", "d", "l1", "l2", "mu"]);
    let numbers = |line: &str| line.split_whitespace().map(|word| word.parse().unwrap()).collect::<Vec<f64>>();
    let expected = [0.0, -0.129_571, 0.485_416, 11.866_959_6, 0.542_093, -0.004_025, 89.245_43];
    assert!(numbers(lines[3]).iter().zip(expected).all(|(a, b)| (a - b).abs() < 2e-5), "{text}");
    assert_eq!([lines[4], lines[5], lines[6]].map(|line| numbers(line).len()), [7, 7, 3], "{text}");
    let list = folder.run_ok("eclipse --list 2017..2019 --elements").output;
    // Two eclipses in 2017 and three in each of the other years.
    assert_eq!(list.matches("Besselian elements of").count(), 8, "{list}");
    for (arguments, words) in [
        ("eclipse 2025-03-14 --elements", "no solar eclipse on 2025-03-14"),
        ("eclipse --list 2024 --only lunar --elements", "--only lunar leaves them out"),
        ("eclipse 2024-04-08 --elements -o e.png", "supported is .csv and .json"),
    ] {
        let done = folder.run(arguments);
        assert!(done.code > 0 && done.errors.contains(words), "{arguments}: {}", done.errors);
    }
}

/// Against Skyfield (`tests/data/sky/transits.csv`): the transit of Venus of 2012, from the centre of the Earth and from Madrid.
#[test]
fn transits_are_listed_and_seen_from_places() {
    let folder = Folder::new();
    let list = folder.run_ok("eclipse --list 2004..2012 --only transits").output;
    let lines: Vec<&str> = list.lines().collect();
    assert_eq!(lines.len(), 4, "{list}");
    assert!(lines[3].starts_with("2012-06-06T01:29:36.7Z  Venus    22:09:48.9-1d  22:27:3"), "{list}");
    let shown = folder.run_ok("eclipse 2012-06-05").output;
    assert!(
        shown.starts_with("Transit of Venus on 2012-06-06\n") && shown.contains("separation             554.3"),
        "{shown}"
    );
    let seen = folder.run_ok("circumstances 2012-06-06 --city Madrid --city Tokyo").output;
    let words: Vec<Vec<&str>> = seen.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(words[0], ["place", "C1", "C2", "greatest", "C3", "C4", "separation", "Sun", "sunrise", "sunset"]);
    // In Madrid, the Sun rises at 04:50 UTC, between the third and the fourth contact.
    assert!(
        words[1][1].starts_with("(22:0") && words[1][4].starts_with("(04:37:") && words[1][5].starts_with("04:5"),
        "{seen}"
    );
    assert!(words[1][8].starts_with("04:") && words[1][9] == "-" && words[2][1].starts_with("22:1"), "{seen}");
    // The first contacts are of the day before.
    assert!(words[1][1].ends_with("-1d)") && words[2][1].ends_with("-1d") && !words[1][5].contains('d'), "{seen}");
    // A picture shows the Sun, and no warning says that there is no eclipse.
    let done = folder.run_ok("eclipse 2012-06-06T01:29:36Z --size 32x18 -o t.png --sidecar t.json");
    assert!(!done.errors.contains("warning"), "{}", done.errors);
    let [target, light] = {
        let sidecar: serde_json::Value = serde_json::from_str(&folder.text("t.json")).unwrap();
        [sidecar["camera"]["target"].clone(), sidecar["light"]["center"].clone()]
    };
    assert!(target.is_array() && target == light, "{target} {light}");
    folder.run_ok("system 2012-06-06 --bodies sun,venus --view to-sun -o t.toml");
    assert!(folder.text("t.toml").contains("2012-06-06T01:29:36"));
    for (arguments, code, words) in [
        ("eclipse --list 1883..1900 --only transits", 2, "1883-01-01T00:00:00 UT1 is outside the years 1900 to 2050"),
        ("eclipse --list 2020..2030 --only transits", 1, "no transit in these years"),
        ("eclipse --list 2012 --only transits --elements", 2, "--only transits leaves them out"),
    ] {
        let done = folder.run(arguments);
        assert!(done.code == code && done.errors.contains(words), "{arguments}: {}", done.errors);
    }
}

/// 2190-11-12 has a lunar eclipse from 00:00 to 01:59 and a transit of Mercury from 14:08 to 19:39.
#[test]
fn an_instant_finds_the_eclipse_or_the_transit_of_a_day_with_both() {
    let folder = Folder::new();
    let excerpt = std::fs::read(umbracast_testing::root().join("tests/data/sky/de440_2190.bsp")).unwrap();
    folder.write("de440.bsp", &excerpt);
    let other = "this day also has a transit of Mercury: an instant finds it, such as 2190-11-12T16:53:44Z";
    for (date, finds_transit, hint) in [
        ("2190-11-12", false, true),
        ("2190-11-12T01:00Z", false, false),
        ("2190-11-12T08:00Z", false, false),
        ("2190-11-12T16:53:44Z", true, false),
    ] {
        let shown = folder.run_ok(&format!("eclipse {date} --ephemeris de440.bsp"));
        let title = if finds_transit { "Transit of Mercury on" } else { "Penumbral lunar eclipse of" };
        assert!(shown.output.starts_with(&format!("{title} 2190-11-12\n")), "{date}: {}", shown.output);
        assert_eq!(shown.errors.contains(other), hint, "{date}: {}", shown.errors);
        assert_eq!(shown.errors.contains("warning: no eclipse"), date.contains("08:00"), "{date}: {}", shown.errors);
        let seen = folder.run_ok(&format!("circumstances {date} --city Quito --ephemeris de440.bsp"));
        assert_eq!(seen.output.contains(" 14:09:13.1 "), finds_transit, "{date}: {}", seen.output);
        assert_eq!(seen.errors.contains(other), hint, "{date}: {}", seen.errors);
    }
    let quiet = folder.run_ok("circumstances 2190-11-12 --city Quito --ephemeris de440.bsp -q");
    assert!(!quiet.errors.contains("transit"), "{}", quiet.errors);
}

/// Offsets and names, with summer time, in tables, CSV and JSON. What differs is the clock, not the instant.
#[test]
fn instants_are_printed_in_a_time_zone() {
    let folder = Folder::new();
    let place = "circumstances 2026-08-12 --place 42.34,-3.70";
    let utc = folder.run_ok(place);
    let madrid = folder.run_ok(&format!("{place} --tz Europe/Madrid"));
    let hour =
        |text: &str| text.lines().nth(1).unwrap().split_whitespace().nth(5).unwrap()[..2].parse::<u32>().unwrap();
    assert_eq!(hour(&madrid.output), hour(&utc.output) + 2, "{}", madrid.output);
    assert!(madrid.errors.contains("times in UTC with the offset of Europe/Madrid;"), "{}", madrid.errors);
    assert_eq!(folder.run_ok(&format!("{place} --tz +02:00")).output, madrid.output);
    let csv = folder.run_ok(&format!("{place} --tz Europe/Madrid -o - -q")).output;
    assert!(csv.contains(",2026-08-12T20:29:") && csv.contains("+02:00,"), "{csv}");
    let json = |more: &str| folder.json(&format!("{place} {more} --json"));
    let (local, plain) = (json("--tz Asia/Kathmandu"), json(""));
    // The day of the place: 18:28 UTC is after midnight in Kathmandu.
    let text = local["places"][0]["c2"].as_str().unwrap();
    assert!(text.starts_with("2026-08-13T00:13:") && text.ends_with("+05:45"), "{text}");
    let table = folder.run_ok(&format!("{place} --tz Asia/Kathmandu")).output;
    assert!(table.contains("  23:18:25.0  00:13:24.9+1d  "), "{table}");
    let [local, plain] = [&local["places"][0]["c2"], &plain["places"][0]["c2"]]
        .map(|text| umbracast_sky::Time::parse(text.as_str().unwrap(), umbracast_sky::DeltaT::Table).unwrap().0);
    assert!(local.seconds_since(plain).abs() < 1e-3);
    // Winter time, and a lunar eclipse and a transit.
    let lunar = folder.run_ok("circumstances 2028-12-31 --city Madrid --tz Europe/Madrid -o -").output;
    assert!(lunar.contains("+01:00") && !lunar.contains("+02:00"), "{lunar}");
    let transit = folder.run_ok("circumstances 2032-11-13 --city Madrid --tz America/New_York").output;
    assert!(transit.contains("  03:54:") && transit.contains("(01:41:"), "{transit}");
    // POSIX counts UTC+2 and GMT-5 from the other side, and an offset of a day is none of an instant.
    for zone in
        ["Madrid", "+26:00", "+24:00", "-25:59", "02:00", "2", "Europe", "UTC+2", "GMT-5", "CET-1CEST", "Etc/Unknown"]
    {
        let done = folder.run(&format!("{place} --tz {zone}"));
        let words =
            format!("'{zone}' is no time zone: expected an offset such as +02:00, or a name such as Europe/Madrid");
        assert!(done.code == 2 && done.errors.contains(&words), "{zone}: {}", done.errors);
    }
}

/// An instant counts as its day, a rule without effect is refused, and swapped coordinates are noticed.
#[test]
fn probable_mistakes_about_places_are_named() {
    let folder = Folder::new();
    let [day, instant] = ["2026-08-12", "2026-08-12T18:00Z"]
        .map(|date| folder.run_ok(&format!("circumstances {date} --place 42.34,-3.70")));
    let words = "the instant counts as its day: these are the contacts of the total solar eclipse of 2026-08-12\n";
    assert!(day.output == instant.output && instant.errors == format!("{words}{}", day.errors), "{}", instant.errors);
    let swapped = folder.run_ok("circumstances 2026-08-12 --place=-3.70,42.34 --place 10,60").errors;
    assert!(swapped.contains("no place sees the eclipse; with latitude and longitude swapped, one would"), "{swapped}");
    for places in ["--place=-3.70,42.34 --city Madrid", "--place=-33.87,151.21", "--place=-30,-60"] {
        let errors = folder.run_ok(&format!("circumstances 2026-08-12 {places}")).errors;
        assert!(!errors.contains("swapped"), "{places}: {errors}");
    }
    for command in ["circumstances 2024-04-08 --city Dallas", "eclipse 2024-04-08", "eclipse 2012-06-06"] {
        folder.refused(
            &format!("{command} --lunar-rule danjon"),
            "--lunar-rule is for lunar eclipses, and changes nothing here: t",
        );
    }
    for only in ["solar", "transits"] {
        folder.refused(
            &format!("eclipse --list 2024 --only {only} --lunar-rule danjon"),
            "changes nothing here: --only leaves them out",
        );
    }
}

/// With refraction, contacts stay where they are, and the Moon sets two minutes later: see the tests of `umbracast-sky`.
#[test]
fn refraction_is_named_and_moves_no_contact() {
    let folder = Folder::new();
    let [plain, raised] =
        ["", " --refraction"].map(|option| folder.run_ok(&format!("circumstances 2022-05-16 --city Nairobi{option}")));
    let words = |text: &str| text.lines().nth(1).unwrap().split_whitespace().map(String::from).collect::<Vec<_>>();
    let (plain_words, raised_words) = (words(&plain.output), words(&raised.output));
    assert_eq!(plain_words[..10], raised_words[..10]);
    assert!(plain_words[10].starts_with("03:24:26.") && raised_words[10].starts_with("03:26:"), "{raised_words:?}");
    assert!(raised.errors.contains("refraction Saemundsson 1986, 1010 hPa, 10 C"), "{}", raised.errors);
    assert!(!plain.errors.contains("refraction"), "{}", plain.errors);
    let json = folder.run_ok("circumstances 2024-04-08 --city Dallas --refraction --json").output;
    assert!(json.contains("\"refraction\":\"Saemundsson 1986, 1010 hPa, 10 C\""), "{json}");
}

#[test]
fn an_ephemeris_is_read_from_a_file() {
    let folder = Folder::new();
    let excerpt = std::fs::read(umbracast_testing::root().join("tests/data/sky/de421_2024-04.bsp")).unwrap();
    folder.write("de421.bsp", &excerpt);
    // The Moon by its number is where the Moon is.
    folder.run_ok("system 2024-04-08 --bodies sun,moon,301 --radius 301=1737.4 --ephemeris de421.bsp --light-time moon -o m.toml -q");
    let text = folder.text("m.toml");
    assert!(text.contains("by the light that reaches Moon and then the Earth"), "{text}");
    folder.refused(
        "system 2024-04-08 --bodies sun,io --ephemeris de421.bsp -o m.toml",
        "de421.bsp has no positions of 'io'",
    );
    folder.write("cut.bsp", &excerpt[..1500]);
    folder.write("text.bsp", "not an ephemeris");
    // It has the planets Mercury and Venus.
    let done = folder.run_ok("eclipse 2024-04-08 --ephemeris de421.bsp -o p.png --size 16x9");
    let note = "the picture is without planets that de421.bsp does not have: Mars, Jupiter, Saturn, Uranus, Neptune";
    assert!(done.errors.contains(note), "{}", done.errors);
    let old = std::fs::read(umbracast_testing::root().join("tests/data/sky/de406_-584.bsp")).unwrap();
    folder.write("de406.bsp", &old);
    let done = folder.run_ok("eclipse 2024-04-08 --ephemeris de421.bsp");
    assert!(
        done.output.contains("2024-04-08T18:17:20.2") && done.errors.contains("ephemeris de421.bsp;"),
        "{}",
        done.errors
    );
    for command in [
        "circumstances 2024-04-08 --city Dallas",
        "map 2024-04-08 --size 40x20 -o m.png",
        "system 2024-04-08 -o s.toml",
    ] {
        folder.run_ok(&format!("{command} --ephemeris de421.bsp -q"));
    }
    for (arguments, code, words) in [
        ("eclipse 2024-04-08 --ephemeris none.bsp", 5, "cannot read none.bsp"),
        ("eclipse 2024-04-08 --ephemeris cut.bsp", 2, "cut.bsp: the SPK file is invalid: "),
        ("eclipse 2024-04-08 --ephemeris text.bsp", 2, "text.bsp: the ephemeris is invalid: "),
        ("eclipse 2024-04-08 --ephemeris .", 2, "must be a file"),
        (
            "eclipse 2024-04-07 --ephemeris de421.bsp",
            1,
            "on 2024-04-07; the next one is the total solar eclipse of 2024-04-08",
        ),
        ("eclipse --ephemeris de406.bsp -- -0584-05-23", 1, "no eclipse on -0584-05-23; there is none after it until"),
        (
            "eclipse 2026-08-12 --ephemeris de421.bsp",
            2,
            "2026-08-12T00:00:00Z is outside 2024-04-06T23:58:51Z to 2024-04-09",
        ),
        ("eclipse 2024-04-08 --ephemeris de421.bsp --view to-jupiter -o j.png", 2, "no positions of body 5"),
    ] {
        let done = folder.run(arguments);
        assert!(done.code == code && done.errors.contains(words), "{arguments}: {} {}", done.code, done.errors);
    }
}

/// 2022-05-16, against Skyfield (`tests/data/sky/lunar_places.csv`): in Nairobi, the Moon sets at 03:24:26 UTC, in the partial phase.
#[test]
fn lunar_circumstances_are_tables_csv_and_json() {
    let folder = Folder::new();
    let arguments = "circumstances 2022-05-16 --city Nairobi --city Houston --place 35.6762,139.6503";
    let done = folder.run_ok(arguments);
    let rows: Vec<Vec<&str>> = done.output.lines().map(|line| line.split_whitespace().collect()).collect();
    let head = ["place", "seen", "P1", "U1", "U2", "greatest", "U3", "U4", "P4", "moonrise", "moonset"];
    assert_eq!(rows[0], head, "{}", done.output);
    // The places of `--place` are first. Below the horizon: in parentheses.
    assert!(done.output.lines().nth(1).unwrap().contains("  none "), "{}", done.output);
    assert_eq!((rows[2][1], rows[3][1]), ("partial", "total"), "{}", done.output);
    assert!(rows[2][3].starts_with("02:2") && rows[2][4].starts_with("(03:"), "{}", done.output);
    assert!(done.errors.contains("lunar rule danjon"), "{}", done.errors);
    let json = folder.json(&format!("{arguments} --json"));
    assert_eq!(json["eclipse"]["body"], "lunar");
    assert_eq!(json["places"][0]["visible_kind"], serde_json::Value::Null);
    assert_eq!(json["places"][1]["visible_kind"], "partial");
    assert!(json["places"][1]["moonset"].as_str().unwrap().starts_with("2022-05-16T03:24:2"), "{json}");
    let other = folder.run_ok("circumstances 2022-05-16 --city Nairobi --lunar-rule plus88 -o - -q").output;
    assert!(other.contains("plus88"), "{other}");
}

#[test]
fn circumstances_are_tables_csv_and_json() {
    let folder = Folder::new();
    folder.write("places.csv", "name,lat,lon,height\nDallas,32.7767,-96.797,\n\"Over, there\",51.5,-0.13,35\n");
    let done = folder.run_ok("circumstances 2024-04-08 --places places.csv --city dallas --delta-t 69.2");
    let rows: Vec<&str> = done.output.lines().collect();
    assert_eq!(rows.len(), 4, "{}", done.output);
    // NASA's radii give 18:40:43 and 18:44:34, those of the IAU two seconds more on either side.
    assert!(rows[1].starts_with("Dallas") && rows[1].contains("18:40:4") && rows[1].contains("total"), "{}", rows[1]);
    // The city of the list and the row of the file.
    assert_eq!(rows[1], rows[2], "{}", done.output);
    // In London, the Sun sets before C1: everything is in parentheses.
    assert!(rows[3].starts_with("Over, there") && rows[3].contains("(partial)  (18:56:"), "{}", rows[3]);
    assert!(done.errors.contains("delta T 69.20 s (given)"), "{}", done.errors);
    let csv = folder.run_ok("circumstances 2024-04-08 --places places.csv -o -").output;
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[1].starts_with("Dallas,32.7767,-96.797,0.0,total,1.05"), "{}", lines[1]);
    assert!(lines[2].starts_with("\"Over, there\",51.5,-0.13,35.0,"), "{}", lines[2]);
    // In Rome the Sun sets before the maximum, in Tunis before the total eclipse: the table has what is seen, and the sunset.
    let table = folder.run_ok("circumstances 2026-08-12 --city Rome --city Tunis --city Delhi").output;
    let words: Vec<Vec<&str>> =
        table.lines().map(|line| line.split("  ").map(str::trim).filter(|word| !word.is_empty()).collect()).collect();
    let head = "place,seen,C1,C2,maximum,C3,C4,magnitude,obscuration,central duration,Sun,sunrise,sunset";
    assert_eq!(words[0].join(","), head, "{table}");
    let csv = folder.run_ok("circumstances 2026-08-12 --city Rome --city Tunis --city Delhi -o -").output;
    let names: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let cell = |row: usize, name: &str| {
        let at = names.iter().position(|own| *own == name).unwrap();
        csv.lines().nth(row).unwrap().split(',').nth(at).unwrap().to_owned()
    };
    for (row, kind) in [(1, "partial"), (2, "total")] {
        let own = &words[row];
        assert_eq!((own[1], own[11]), ("partial", "-"), "{table}");
        // Sunset is the instant of the largest obscuration that is seen.
        let minute = format!("2026-08-12T{}", &own[12][..5]);
        assert!(["visible", "sunset"].iter().all(|name| cell(row, name).starts_with(&minute)), "{table}\n{csv}");
        assert!((own[7].parse::<f64>().unwrap() - cell(row, "visible_magnitude").parse::<f64>().unwrap()).abs() < 1e-4);
        assert!(
            (own[8].parse::<f64>().unwrap() - cell(row, "visible_obscuration").parse::<f64>().unwrap()).abs() < 1e-4
        );
        assert_eq!(
            (&*cell(row, "kind"), &*cell(row, "visible_kind"), &*cell(row, "sunrise")),
            (kind, "partial", ""),
            "{csv}"
        );
    }
    assert!(words[2][9].starts_with("(1 min"), "{table}");
    assert!(words[3][1] == "-" || words[3][1] == "none" || words[3][1].starts_with('('), "{table}");
    let json = folder.run_ok("circumstances 2026-08-12 --place 43.36,-8.41,20 --place -33.9,18.4 --json").output;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["places"][0]["kind"], "total");
    assert_eq!(json["places"][1]["c1"], serde_json::Value::Null);
    assert_eq!(json["conventions"]["radii"], "iau");
}

/// `plane.csv`: at sea level the Sun has set at the maximum; an aeroplane and a satellite see it below the horizontal plane.
#[test]
fn a_height_lowers_the_horizon_in_every_output() {
    let folder = Folder::new();
    folder.write("plane.csv", std::fs::read(umbracast_testing::root().join("tests/data/cases/plane.csv")).unwrap());
    let table = folder.run_ok("circumstances 2026-08-12 --places plane.csv").output;
    let maxima: Vec<bool> = table.lines().skip(1).map(|row| row.contains(" (18:2") || row.contains(" (18:3")).collect();
    assert_eq!(maxima, [false, true, false, false], "{table}");
    let csv = folder.run_ok("circumstances 2026-08-12 --places plane.csv -o -").output;
    let column = |name: &str| {
        let at = csv.lines().next().unwrap().split(',').position(|own| own == name).unwrap();
        let cell = move |row: &str| row.split(',').nth(at).unwrap().parse::<f64>().unwrap();
        csv.lines().skip(1).map(cell).collect::<Vec<_>>()
    };
    let json = folder.run_ok("circumstances 2026-08-12 --places plane.csv --json").output;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    for (i, (visible, horizon)) in
        [(0.9909, -3.361), (0.8973, 0.0), (0.9847, -3.361), (0.8522, -19.771)].iter().enumerate()
    {
        let place = &json["places"][i];
        let from_json = [&place["visible_obscuration"], &place["maximum_horizon_altitude_deg"]];
        let from_csv = [column("visible_obscuration")[i], column("maximum_horizon_altitude_deg")[i]];
        for found in [from_json.map(|value| value.as_f64().unwrap()), from_csv] {
            assert!((found[0] - visible).abs() < 4e-4 && (found[1] - horizon).abs() < 2e-3, "{i}: {found:?}");
        }
    }
    let picture = "--size 48x27 -o some.png";
    let said = folder.run_ok(&format!("eclipse 2026-08-12T18:29:19Z --view 40,8,11000 {picture}")).errors;
    let words = "with the Sun 0.9 degrees below the horizontal: a partial eclipse, 99.1 % of the disc is hidden";
    assert!(said.contains(words), "{said}");
    for (view, words) in [
        ("40,8", "below the horizon of 40.0000, 8.0000 at that instant: its altitude is -0.9 degrees\n"),
        ("38,15,11000", "its altitude is -6.7 degrees, that of the horizon -3.4\n"),
    ] {
        folder.refused(&format!("eclipse 2026-08-12T18:29:19Z --view {view} {picture}"), words);
    }
}

/// A moon of Mars, 6,000 km in front of a place on Mars, as it hides a part of the Sun there, and at no place next to it.
#[test]
fn places_on_mars_see_a_moon_before_the_sun() {
    use umbracast::glam::{DMat3, DVec3};
    use umbracast_sky::{LightTime, Place, Sky, SkyBody, SkyOptions};

    let folder = Folder::new();
    let sky = Sky::new(SkyOptions::default());
    let date = "2026-08-01T00:00:00Z";
    let (time, _) = sky.parse_time(date).unwrap();
    let (bodies, light) = ([SkyBody::Sun, SkyBody::Mars], LightTime::By("mars".into()));
    let on_mars = |place: &Place| sky.place_in_system(SkyBody::Mars, place, time, &bodies, &[], &light).unwrap();
    folder.run_ok(&format!("system {date} --bodies sun,mars --light-time mars -o sun.toml -q"));
    let text = folder.text("sun.toml");
    let center = |name: &str| {
        let numbers = text.split(&format!("name = \"{name}\"\ncenter = [")).nth(1).unwrap().split(']').next().unwrap();
        DVec3::from_slice(&numbers.split(", ").map(|cell| cell.parse().unwrap()).collect::<Vec<f64>>())
    };
    let (sun, mars) = (center("Sun"), center("Mars"));
    // The place with the Sun highest among some.
    let places = (-18..18).map(|i| Place::new(20.0, 10.0 * f64::from(i), 0.0).unwrap());
    let up = |place: &Place| (on_mars(place) - mars).normalize().dot((sun - mars).normalize());
    let place = places.max_by(|a, b| up(a).total_cmp(&up(b))).unwrap();
    let here = on_mars(&place);
    let axes = DMat3::from_cols(DVec3::X, DVec3::Y, DVec3::Z);
    let turned = DMat3::from_cols_array_2d(&[0, 1, 2].map(|i| sky.to_earth_fixed(axes.col(i), time).to_array()));
    let moon = turned.transpose() * (here + (sun - here).normalize() * 6000.0 - mars);
    let row = |time: &str| format!("{time},{},{},{},0,0,0\n", moon.x, moon.y, moon.z);
    folder.write("phobos.csv", format!("time,x,y,z,vx,vy,vz\n{}{}", row("2026-07-31T23:00:00Z"), row(date)));
    let Place { latitude, longitude, .. } = place;
    folder.write(
        "p.csv",
        format!("lat,lon\n{latitude},{longitude}\n{},{longitude}\n{latitude},{}\n", latitude + 1.0, longitude + 179.0),
    );
    let system = "--bodies sun,mars,phobos --vectors phobos@mars=phobos.csv --radius phobos=11 --light-time mars";
    folder.run_ok(&format!("system {date} {system} --places p.csv --places-on mars --observers o.csv -o s.toml -q"));
    folder.run_ok("shadow o.csv s.toml -o seen.csv -q");
    let seen = folder.text("seen.csv");
    let rows: Vec<Vec<&str>> = seen.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let fraction = |i: usize| rows[i][0].parse::<f64>().unwrap();
    // Both discs are small, so the fraction is that of their squares.
    let expected = 1.0 - (11.0 / 6000.0 / (695_700.0 / here.distance(sun))).powi(2);
    assert!((fraction(0) - expected).abs() < 1e-4 && rows[0][1] == "antumbra", "{expected}: {seen}");
    assert!(fraction(1) == 1.0 && rows[1][1] == "lit" && fraction(2) == 0.0, "{seen}");
    folder.refused(
        &format!("system {date} {system} --places p.csv --places-on titan --observers o.csv -o s.toml"),
        "there are no places on 'titan'",
    );
    folder.refused(&format!("system {date} --places-on mars -o s.toml"), "--places");
    // Without Mars, its places would be lit at night.
    folder.refused(
        &format!("system {date} --places p.csv --places-on mars --observers o.csv -o s.toml"),
        "Mars is not among the bodies",
    );
}

/// The Earth hides the Sun from an observer of `shadow` where `circumstances` has it below the horizon.
#[test]
fn the_horizon_is_that_of_shadow() {
    let folder = Folder::new();
    let mut places = vec![];
    for latitude in ["-89.9", "-40", "12", "40", "66", "90"] {
        for longitude in ["-170", "-60", "0", "8", "14", "20", "27", "100"] {
            places.extend(["1", "3000", "11000", "400000", "36000000"].map(|m| format!("{latitude},{longitude},{m}")));
        }
    }
    folder.write("p.csv", format!("lat,lon,height\n{}\n", places.join("\n")));
    folder.run_ok("system 2026-08-12T18:29:00Z --places p.csv --observers o.csv -o s.toml --view above -q");
    folder.run_ok("shadow o.csv s.toml -o seen.csv -q");
    let sky = umbracast_sky::Sky::new(umbracast_sky::SkyOptions::default());
    let (time, _) = sky.parse_time("2026-08-12T18:29:00Z").unwrap();
    let Some(umbracast_sky::Eclipse::Solar(eclipse)) = sky.eclipse_on(time).unwrap() else { panic!() };
    let seen = folder.text("seen.csv");
    let (mut below_plane, mut hidden) = (0, 0);
    for (place, row) in places.iter().zip(seen.lines().skip(1)) {
        let view = eclipse.view(&umbracast_sky::Place::parse(place).unwrap(), time);
        let above = view.sun_altitude - view.horizon_altitude;
        let fraction: f64 = row.split(',').next().unwrap().parse().unwrap();
        let expected = if above > 0.0 { 1.0 - view.obscuration } else { 0.0 };
        assert!(above.abs() < 0.27 || (fraction - expected).abs() < 1e-4, "{place}: {fraction}, {view:?}");
        below_plane += usize::from(above > 0.27 && view.sun_altitude < 0.0);
        hidden += usize::from(above < -0.27);
    }
    assert!(seen.lines().count() == places.len() + 1 && below_plane > 20 && hidden > 20, "{below_plane} {hidden}");
}

/// A system of a date gives the same obscuration by way of `shadow` as `circumstances` computes.
#[test]
fn systems_of_a_date_agree_with_circumstances() {
    let folder = Folder::new();
    let places = "lat,lon\n25.2896,-104.1479\n32.7767,-96.797\n29.7604,-95.3698\n19.4326,-99.1332\n28.6,77.2\n";
    folder.write("places.csv", places);
    folder.run_ok(
        "system 2024-04-08T18:30:00Z --places places.csv --observers o.csv -o s.toml --bodies sun,earth,moon,jupiter",
    );
    folder.run_ok("shadow o.csv s.toml -o seen.csv");
    let (seen, text) = (folder.text("seen.csv"), folder.text("s.toml"));
    assert!(text.contains("name = \"Jupiter\"") && text.contains("Ephemeris: JPL DE421"), "{text}");
    let sky = umbracast_sky::Sky::new(umbracast_sky::SkyOptions::default());
    let (time, _) = sky.parse_time("2024-04-08T18:30:00Z").unwrap();
    let Some(umbracast_sky::Eclipse::Solar(eclipse)) = sky.eclipse_on(time).unwrap() else { panic!() };
    let mut partial = 0;
    for (place, row) in places.lines().zip(seen.lines()).skip(1) {
        let place = umbracast_sky::Place::parse(place).unwrap();
        let view = eclipse.view(&place, time);
        let expected = if view.sun_altitude < 0.0 { 1.0 } else { view.obscuration };
        let fraction: f64 = row.split(',').next().unwrap().parse().unwrap();
        assert!((1.0 - fraction - expected).abs() < 1e-4, "{place:?}: {fraction} and {expected}");
        partial += u32::from(expected > 0.0 && expected < 1.0);
    }
    assert_eq!(partial, 4);
    folder.run_ok("system 2025-03-14 --view moon -o moon.toml -q");
    folder.run_ok("render moon.toml -o moon.png --size 32x18 -q");
}

/// A camera changes no body: the shadow of the Earth is there although the default view stands on the Earth.
#[test]
fn a_camera_keeps_all_bodies() {
    let folder = Folder::new();
    // In the middle of the umbra at 7,000 km, opposite to the Sun of that instant; and towards the Sun.
    folder.write("eyes.csv", "x,y,z\n7000,231,30\n-7000,-231,-30\n");
    for (instant, options) in [
        ("2026-03-20T00:00:00Z", "--bodies sun,earth,moon"),
        ("2026-03-20T00:00:00Z", "--bodies sun,earth"),
        ("2026-03-20T00:00:00Z", "--view 0,180"),
        ("2026-03-20T00:00:00Z", "--view=-20.5,179,-400"),
        ("2026-03-20T00:00:00Z", "--view to-moon"),
        ("2026-03-20T00:00:00Z", "--view above"),
        ("2026-03-19T20:00:00-0400", "--view sun"),
    ] {
        folder.run_ok(&format!("system {instant} {options} -o s.toml -q"));
        assert!(folder.text("s.toml").contains("name = \"Earth\""), "{options}");
        folder.run_ok("shadow eyes.csv s.toml -o seen.csv -q");
        assert_eq!(folder.text("seen.csv"), "fraction,kind\n0.0,umbra\n1.0,lit\n", "{options}");
        folder.run_ok("render s.toml -o s.png --size 48x27 -q");
    }
    // In an eclipse, on the ground: the bodies are those of any other view.
    for view in ["moon", "25.29N,104.15W", "to-sun", "earth"] {
        folder.run_ok(&format!("system 2024-04-08 --view {view} -o s.toml -q"));
        let text = folder.text("s.toml");
        let bodies: Vec<&str> =
            text.lines().filter(|line| line.starts_with("name") || line.starts_with("center")).collect();
        folder.run_ok("system 2024-04-08 -o s.toml -q");
        let expected = folder.text("s.toml");
        assert!(bodies.len() == 6 && bodies.iter().all(|line| expected.contains(line)), "{view}: {bodies:?}");
    }
}

/// Times with offsets and places with letters, in every place where the command line and files have them.
#[test]
fn offsets_and_letters_of_places_are_understood() {
    let folder = Folder::new();
    let out = |arguments: &str| folder.run_ok(arguments).output;
    let expected = out("circumstances 2028-07-22 --place=-33.87,151.21 -o -");
    for place in ["33.87S,151.21E", "33.87°S,151.21°E", "33°52'12\"S,151°12.6'E", "33.87s,151.21"] {
        assert_eq!(out(&format!("circumstances 2028-07-22 --place {place} -o -")), expected, "{place}");
    }
    folder.write("places.csv", "name,lat,lon\n,33.87 S,151.21° E\n");
    assert_eq!(out("circumstances 2028-07-22 --places places.csv -o -"), expected);
    // As the program prints it.
    let printed = out("eclipse 2024-04-08");
    let place = printed.lines().find_map(|line| line.trim().strip_prefix("place")).unwrap().trim().replace(' ', "");
    assert!(out(&format!("circumstances 2024-04-08 --place {place}")).contains("total"), "{place}");
    let picture = |instant: &str, view: &str| {
        folder.run_ok(&format!("eclipse {instant} --view {view} --size 24x18 -o p.png -q"));
        folder.bytes("p.png")
    };
    let expected = picture("2024-04-08T18:30:00Z", "32.7767,-96.797");
    assert_eq!(picture("2024-04-08T13:30:00-05:00", "32.7767N,96.797W"), expected);
    // The eclipse of the day of UTC: 22:30 of the 7th is the 8th.
    assert!(out("eclipse 2024-04-07T22:30:00-05:00").starts_with("Total solar eclipse of 2024-04-08"));
    // Rows as pandas writes them, from a column of times with a zone.
    let csv = |zone: &str, hours: [usize; 4]| {
        let row = |(k, hour): (usize, usize)| {
            format!("2024-04-08 {hour:02}:00:00{zone},{},{},0\n", 421_800 - 1000 * k, 60_000 * k)
        };
        "time,x,y,z\n".to_string() + &hours.into_iter().enumerate().map(row).collect::<String>()
    };
    let system = |text: String| {
        folder.write("io.csv", text);
        out("system 2024-04-08T14:00+00:00 --bodies sun,jupiter,io --vectors io@jupiter=io.csv -o s.toml -q");
        folder.text("s.toml")
    };
    assert_eq!(system(csv("-05:00", [7, 8, 9, 10])), system(csv("Z", [12, 13, 14, 15])));
}

#[test]
fn tables_are_written_to_files() {
    let folder = Folder::new();
    let printed = folder.run_ok("eclipse --list 2024..2026 -o -").output;
    let done = folder.run_ok("eclipse --list 2024..2026 -o list.csv");
    assert_eq!(folder.text("list.csv"), printed);
    assert!(done.output.is_empty() && done.errors.contains("12 rows; times in UTC"), "{}", done.errors);
    assert!(done.errors.ends_with("; wrote list.csv\n"), "{}", done.errors);
    let printed = folder.run_ok("eclipse --list 2024..2026 --only solar --json").output;
    let summary = folder.run_ok("eclipse --list 2024..2026 --only solar -o list.JSON --json").output;
    assert_eq!(folder.text("list.JSON"), printed);
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!((&summary["rows"], &summary["output"]), (&6.into(), &"list.JSON".into()));
    let arguments = "circumstances 2024-04-08 --city Dallas --place 51.5,-0.13";
    let quiet = folder.run_ok(&format!("{arguments} -o seen.csv -q"));
    assert!(quiet.output.is_empty() && quiet.errors.is_empty(), "{}{}", quiet.output, quiet.errors);
    assert_eq!(folder.text("seen.csv"), folder.run_ok(&format!("{arguments} -o -")).output);
    let done = folder.run_ok(&format!("{arguments} -o seen.json"));
    assert_eq!(folder.text("seen.json"), folder.run_ok(&format!("{arguments} --json")).output);
    assert!(done.errors.starts_with("2 rows; 2024-04-08; times in UTC"), "{}", done.errors);
    assert!(folder.text("seen.json").contains("\"lunar_rule\":null"));
    assert_eq!(folder.text("seen.json"), folder.run_ok(&format!("{arguments} -o - --format json")).output);
    // The places of a table are places for another one.
    assert_eq!(folder.run_ok("circumstances 2024-04-08 --places seen.csv -o -").output, folder.text("seen.csv"));
    // One eclipse, and a picture on standard output.
    folder.run_ok("eclipse 2024-04-08 -o one.csv -q");
    assert_eq!(folder.text("one.csv"), folder.run_ok("eclipse 2024-04-08 -o - --format csv").output);
    let raw = |arguments: &str| {
        let done = program().args(arguments.split(' ')).current_dir(folder.root()).output().unwrap();
        assert!(done.status.success(), "{arguments}");
        done.stdout
    };
    for arguments in ["eclipse 2024-04-08 --size 24x18 --format png", "map 2024-04-08 --size 40x20"] {
        folder.run_ok(&format!("{} -o p.png -q", arguments.trim_end_matches(" --format png")));
        assert_eq!(raw(&format!("{arguments} -o -")), folder.bytes("p.png"), "{arguments}");
    }
    folder.run_ok("system 2024-04-08 -o s.toml -q");
    assert_eq!(folder.run_ok("system 2024-04-08 -o -").output, folder.text("s.toml"));
}

#[test]
fn invalid_requests_about_the_sky_are_refused() {
    let folder = Folder::new();
    folder.write("bad.csv", "name,lat,lon\na,10,20\nb,95,20\n").write("word.csv", "lat,lon\n1,east\n");
    folder
        .write("cells.csv", "# two places\n\nname,lat,lon\na,10\n")
        .write("utf16.csv", b"\xff\xfel\0a\0t\0,\0l\0o\0n\0");
    folder.write("like.csv", "lat,lon,hight\n1,2,3\n").write("marks.csv", "lat;lon\n1;2\n");
    folder.write("v.csv", "jd_tdb,x,y,z,vx,vy,vz\n2460409,421800,0,0,0,17,0\n2460409.1,400000,90000,0,-3,16,0\n");
    folder.write("none.csv", "lat,lon\n").write("columns.csv", "x,y\n1,2\n").write("out.toml", "kept");
    let refused = [
        ("eclipse 2024-13-01", "no month 13"),
        ("eclipse 2023-02-29", "has 28 days"),
        ("eclipse yesterday", "expected YYYY-MM-DD"),
        ("eclipse 1899-06-01", "1900 to 2050"),
        ("eclipse 2051-01-01", "1900 to 2050"),
        ("eclipse", "DATE"),
        ("eclipse -0584-05-22", "what begins with '-' goes last, after '--'"),
        ("eclipse --list -600..-580", "in an option, after '=', as in --list=-0600..-0580"),
        ("circumstances --city Rome -- -0584-05-22 --tz UTC", "options go before '--'"),
        ("eclipse 2024-04-08 --radii esa", "possible values: iau, nasa"),
        ("eclipse 2024-04-08 --lunar-rule mean", "possible values: danjon"),
        ("eclipse 2024-04-08 --elements --lunar-rule danjon", "cannot be used with '--lunar-rule"),
        ("eclipse --list 2024 --elements --lunar-rule none", "cannot be used with '--lunar-rule"),
        ("eclipse 2024-04-08 --delta-t often", "expected a number of seconds"),
        ("eclipse 2024-04-08 --delta-t 1e9", "expected -10000 to 100000"),
        ("eclipse --list 2030..2020", "2030 is after 2020"),
        ("eclipse 2024-04-08 --only lunar", "'[DATE]' cannot be used with '--only <ONLY>'"),
        ("eclipse --list 2049..2051", "2051-12-31T23:59:59Z is outside the years 1900 to 2050"),
        ("eclipse --list 1800..2020", "1800-01-01T00:00:00 UT1 is outside the years 1900 to 2050"),
        ("eclipse --list soon", "'soon' is not a year: expected FIRST..LAST"),
        ("eclipse 2024-04-08 --view mars -o p.png", "expected moon, sun, earth, above"),
        (
            "system 2024-04-08 --view to-mars -o out.toml",
            "view 'to-mars': mars is not among the bodies: sun, earth, moon",
        ),
        ("eclipse 2024-04-08T13:17:20-5 -o p.png", "or an offset such as -05:00 instead of Z"),
        ("circumstances 2024-04-08 --place 151.21E,33.87S", "'151.21E' is not a latitude, such as -33.87 or 33.87 S"),
        ("eclipse 2024-04-08 --view 33.87S,-151.21E -o p.png", "'-151.21E' is not a longitude"),
        ("circumstances 2024-04-08 --place 1,2,3km", "'3km' is not a number of metres"),
        ("circumstances 2024-04-08 --place 1,2,400mm", "'400mm' is not a number of metres"),
        ("eclipse 2024-04-08 --view to-ceres -o p.png", "view 'to-ceres': ceres is not among the bodies: sun, earth,"),
        ("eclipse 2024-04-08 --view to-earth -o p.png", "view 'to-earth' is from the centre of the Earth"),
        ("eclipse 2024-04-08 --view 95,0 -o p.png", "expected -90 to 90"),
        ("eclipse 2024-04-08 --view 51.5,-0.1,0,0 -o p.png", "LAT,LON"),
        ("eclipse 2024-04-08T23:00Z --view 51.5,-0.1 -o p.png", "below the horizon"),
        ("eclipse 2024-04-08 -o p.jpg", "supported is .png"),
        ("eclipse 2024-04-08 --size 0x4 -o p.png", "--size is 0x4"),
        ("circumstances 2024-04-08", "--places"),
        ("circumstances 2024-04-08 --place 91,2", "latitude 91"),
        ("circumstances 2024-04-08 --place 1,2,inf", "height inf"),
        ("circumstances 2024-04-08 --place 1", "expected LAT,LON"),
        ("circumstances 2024-04-08 --place north,2", "'north' is not a latitude"),
        ("circumstances 2024-04-08 --city Dalas", "did you mean Dallas"),
        ("circumstances 2024-04-08 --places bad.csv", "bad.csv: line 3: latitude is 95"),
        (
            "circumstances 2024-04-08 --places cells.csv",
            "cells.csv: line 4: found 2 cells, expected 3, as in the header line: name,lat,lon",
        ),
        ("circumstances 2024-04-08 --places utf16.csv", "utf16.csv: line 1: the text is UTF-16"),
        ("circumstances 2024-04-08 --places word.csv", "word.csv: line 2: longitude is 'east'"),
        ("circumstances 2024-04-08 --places none.csv", "contains no places"),
        ("circumstances 2024-04-08 --places like.csv", "like.csv: unknown column 'hight' (did you mean 'height_m'?)"),
        ("circumstances 2024-04-08 --places marks.csv", "line 1: columns are separated by ';': expected commas"),
        ("circumstances 2024-04-08 --places columns.csv", "no column `latitude`: the header is `x,y`"),
        ("system 2024-04-08 --bodies sun,pluto -o out.toml", "no positions of 'pluto'"),
        ("system 2024-04-08 --bodies earth,moon -o out.toml", "do not include the Sun"),
        (
            "system 2024-04-08 --places-on io --places b.csv --observers c.csv -o out.toml",
            "there are no places on 'io'",
        ),
        ("system 2024-04-08 --bodies sun,moon,moon -o out.toml", "Moon is listed twice"),
        ("system 2024-04-08 --radius io=1000 --radius IO@jupiter=2000 -o out.toml", "--radius is given twice for io"),
        (
            "system 2024-04-08 --vectors io@jupiter=a.csv --vectors io=b.csv -o out.toml",
            "--vectors is given twice for io",
        ),
        ("system 2024-04-08 -o out.txt", "out.txt: cannot write a system in this format: supported is .toml"),
        ("system 2024-04-08 --places bad.csv --observers bad.csv -o out.toml", "is also an input"),
        ("map 2024-04-08 --lunar-rule danjon", "unexpected argument '--lunar-rule'"),
        ("system 2024-04-08 --lunar-rule danjon -o out.toml", "unexpected argument '--lunar-rule'"),
        (
            "eclipse --list 2024 -o list.txt",
            "list.txt: cannot write this result in this format: supported is .csv and .json",
        ),
        (
            "eclipse --list 2024 -o list.csv --format csv",
            "--format is for `-o -`: the extension of list.csv selects the format",
        ),
        ("eclipse --list 2024 -o list.csv --sidecar l.json", "--sidecar"),
        ("eclipse --list 2024 -o list.csv --corona off", "--corona"),
        (
            "eclipse 2024-04-08 -o p.csv --view moon",
            "--view, --size, --fov, --caption, --corona, --frames and --sidecar are for a picture, .png",
        ),
        ("eclipse 2024-04-08 -o p.jpg", "supported is .png and .csv and .json"),
        ("eclipse 2024-04-08 -o - --json", "--json and `-o -` would both write to standard output"),
        ("map 2024-04-08 -o - --json", "would both write to standard output"),
        ("map 2024-04-08 -o m.png --npy -", "an array cannot go to standard output, `-`: give the name of a .npy file"),
        ("eclipse 2024-04-08 -o p.png --sidecar -", "a sidecar cannot go to standard output"),
        ("eclipse --list 2024 -o - --format png", "--format png is for the picture of one eclipse"),
        ("eclipse --list 2024 --format csv", "--output"),
        ("eclipse 2024-04-08 --sun-radius 695700", "expected 950 to 970 arcseconds at 1 au"),
        ("eclipse 2024-04-08 --moon-k 1737.4", "expected 0.27 to 0.275 equatorial radii of the Earth"),
        ("eclipse 2024-04-08 --moon-k small", "expected a number"),
        ("eclipse 2024-04-08 --sidecar p.json", "--output"),
        ("eclipse 2024-04-08 -o p.png --sidecar p.txt", "supported is .json"),
        ("circumstances 2024-04-08 --places bad.csv -o bad.csv", "bad.csv: is also an input"),
        ("circumstances 2024-04-08 --place 1,2 -o seen.npz", "supported is .csv and .json"),
        ("circumstances 2024-04-08 --place 1,2 -o seen.csv --csv", "unexpected argument '--csv'"),
        ("system 2024-04-08 --vectors io=v.csv -o out.toml", "vectors of 'io', which is not one of the bodies"),
        ("system 2024-04-08 --bodies sun,io --vectors io -o out.toml", "expected NAME=VALUE"),
        ("system 2024-04-08 --bodies sun,io --vectors io=v.csv -o out.toml", "expected io@CENTER"),
        (
            "system 2024-04-08 --bodies sun,io --vectors io@jupiter=v.csv -o out.toml",
            "v.csv: the vectors of Io are for",
        ),
        (
            "system 2024-04-08 --bodies sun,io --vectors io@jupiter=v.csv --radius io=big -o out.toml",
            "'big': expected a number",
        ),
        (
            "system 2024-04-08 --bodies sun,io --vectors io@jupiter=v.csv --radius moon=3 -o out.toml",
            "there is a radius of 'moon', which is not one of the bodies",
        ),
        ("system 2024-04-08 --bodies sun,io,io --vectors io@jupiter=v.csv -o out.toml", "Io is listed twice"),
        ("system 2024-04-08 --bodies sun,io --vectors io@jupiter=out.toml -o out.toml", "out.toml: is also an input"),
        ("system 2024-04-08 --radius io=3 -o out.toml", "a radius of 'io', which is not one of the bodies"),
        ("system 2024-04-08 --radius moon=3 -o out.toml", "the radius of Moon is known"),
        (
            "system 2024-04-08 --bodies sun,earth,io -o out.toml",
            "sun, earth, moon, mercury, venus, mars, jupiter, saturn, uranus, neptune; others need an SPK file",
        ),
        (
            "system 2024-04-08 --light-time mars -o out.toml",
            "light time 'mars': expected earth, off, or one of the bodies",
        ),
    ];
    let failed = [
        ("eclipse 2024-04-08 -o none/p.png", 5, "there is no folder"),
        ("circumstances 2024-04-08 --places nowhere.csv", 5, "cannot read nowhere.csv"),
        ("eclipse --list 2024 -o none/list.csv", 5, "there is no folder"),
        ("system 2024-04-08 --bodies sun,io --vectors io=none.txt -o out.toml", 5, "cannot read none.txt"),
        ("eclipse 2024-05-08 -o p.png", 1, "there is no eclipse on 2024-05-08; the next one is"),
        ("circumstances 2024-04-09 --place 1,2", 1, "the next one is the partial lunar eclipse of 2024-09-18"),
        ("map 2025-03-14", 1, "of 2025-03-29; that day has a lunar eclipse: see `umbracast eclipse`"),
        ("map 2012-06-06", 1, "of 2012-11-13; that day has a transit of Venus: see `umbracast eclipse`"),
        ("system 2024-04-10 -o out.toml", 1, "2024-04-10T12:00:00Z"),
    ];
    refused.iter().for_each(|(arguments, words)| drop(folder.fails(arguments, 2, &[words])));
    failed.iter().for_each(|(arguments, code, words)| drop(folder.fails(arguments, *code, &[words])));
}
