//! Bodies with state vectors of the user: interpolation, positions in system files, and files that are refused.

use umbracast::glam::DVec3;
use umbracast_files::read_vectors;
use umbracast_sky::{BodyVectors, DeltaT, LightTime, Sky, SkyBody, SkyOptions, VectorRow};

use umbracast_testing::folder::Folder;

/// J2000 of the first row: the Julian date 2,460,409.0 (TDB), 2024-04-08 12:00.
const FIRST: f64 = 2_460_409.0;

/// Io on a made-up orbit: a circle of 421,800 km in a plane inclined to all axes, 1.769 days a turn.
fn orbit(tdb_seconds: f64) -> (DVec3, DVec3) {
    let rate = std::f64::consts::TAU / (1.769 * 86_400.0);
    let (x, y) = (DVec3::new(2.0, -1.0, 0.5).normalize(), DVec3::new(1.0, 3.0, 2.0).normalize());
    let (sine, cosine) = (rate * tdb_seconds).sin_cos();
    (421_800.0 * (x * cosine + y * sine), 421_800.0 * rate * (y * cosine - x * sine))
}

fn seconds(row: usize, step: f64) -> f64 {
    (FIRST - 2_451_545.0) * 86_400.0 + step * row as f64
}

fn rows(count: usize, step: f64, has_velocities: bool) -> Vec<VectorRow> {
    let row = |at: usize| {
        let tdb_seconds = seconds(at, step);
        let (position, velocity) = orbit(tdb_seconds);
        VectorRow { tdb_seconds, position, velocity: has_velocities.then_some(velocity) }
    };
    (0..count).map(row).collect()
}

#[test]
fn interpolation_errors_are_as_stated() {
    for (step, has_velocities, most) in
        [(3600.0, true, 0.6), (600.0, true, 5e-4), (3600.0, false, 20.0), (600.0, false, 0.02)]
    {
        let io = BodyVectors::new("io", SkyBody::Jupiter, None, "a test", rows(30, step, has_velocities)).unwrap();
        assert_eq!((io.name(), io.radius_km(), io.center()), ("Io", 1821.49, Some(SkyBody::Jupiter)));
        let (first, last) = io.span().unwrap();
        let mut worst = 0.0_f64;
        for k in 0..=1000 {
            let at = first + (last - first) * f64::from(k) / 1000.0;
            worst = worst.max((io.position(at).unwrap() - orbit(at).0).length());
        }
        let stated = io.error_km().unwrap();
        println!("{step} s, velocities {has_velocities}: error {worst} km, stated {stated} km");
        assert!(worst < most && worst > 0.01 * most, "{step} {has_velocities}: {worst}");
        // Without velocities, the first and the last interval have rows on one side only.
        let ends = if has_velocities { 1.2 } else { 3.0 };
        assert!(worst < ends * stated && stated < 1.5 * worst, "{step} {has_velocities}: {worst} {stated}");
        assert!(io.position(first - 1.0).is_none() && io.position(last + 1.0).is_none());
        assert!((io.position(last).unwrap() - orbit(last).0).length() < 1e-6);
    }
}

/// The same rows in every format give the same positions.
#[test]
fn all_formats_are_read() {
    let folder = Folder::new();
    let expected = rows(30, 3600.0, true);
    let date = |row: &VectorRow| 2_451_545.0 + row.tdb_seconds / 86_400.0;
    let csv = |head: &str, row: &dyn Fn(&VectorRow) -> String| {
        format!("# made up\n{head}\n{}", expected.iter().map(row).collect::<String>())
    };
    let numbers = |v: DVec3| format!("{:.9},{:.9},{:.9}", v.x, v.y, v.z);
    let of = |row: &VectorRow| (numbers(row.position), numbers(row.velocity.unwrap()));
    folder.write(
        "julian.csv",
        csv("jd_tdb,x,y,z,vx,vy,vz", &|row| format!("{:.9},{},{}\n", date(row), of(row).0, of(row).1)),
    );
    folder.write(
        "plain.csv",
        csv("z,y,x,JDTDB", &|row| {
            let [x, y, z] = row.position.to_array();
            format!("{z:.9},{y:.9},{x:.9},{:.9}\n", date(row))
        }),
    );
    // UTC is 69.184 s behind TT, and TDB within 2 ms of it.
    folder.write(
        "utc.csv",
        csv("time,x,y,z,vx,vy,vz", &|row| {
            let hour = 11 + (row.tdb_seconds - seconds(0, 0.0)) as usize / 3600;
            let clock = format!("2024-04-{:02}T{:02}:58:50.816Z", 8 + hour / 24, hour % 24);
            format!("{clock},{},{}\n", of(row).0, of(row).1)
        }),
    );
    let header = |frame: &str| {
        format!(
            "Target body name: Io (501)            {{source: made up}}\nCenter body name: Jupiter (599)       {{source: made up}}\n\
             Output units    : KM-S\nOutput type     : GEOMETRIC cartesian states\nReference frame : {frame}\n"
        )
    };
    let ecliptic = |v: DVec3| {
        let (sine, cosine) = (84_381.448_f64 / 3600.0).to_radians().sin_cos();
        DVec3::new(v.x, cosine * v.y + sine * v.z, cosine * v.z - sine * v.y)
    };
    let text = |v: DVec3, names: [&str; 3]| {
        let [x, y, z] = v.to_array();
        format!(" {}={x:.15E} {}={y:.15E} {} ={z:.15E}\n", names[0], names[1], names[2])
    };
    let table = |turn: &dyn Fn(DVec3) -> DVec3| {
        let row = |row: &VectorRow| {
            format!("{:.9} = A.D. 2024-Apr-08 12:00:00.0000 TDB \n", date(row))
                + &text(turn(row.position), ["X ", "Y ", "Z"])
                + &text(turn(row.velocity.unwrap()), ["VX", "VY", "VZ"])
                + " LT= 1.4E+00 RG= 4.2E+05 RR= 1.0E-03\n"
        };
        expected.iter().map(row).collect::<String>()
    };
    folder.write("icrf.txt", format!("{}$$SOE\n{}$$EOE\n", header("ICRF"), table(&|v| v)));
    folder.write("ecliptic.txt", format!("{}$$SOE\n{}$$EOE\n", header("Ecliptic of J2000.0"), table(&ecliptic)));
    let commas = |row: &VectorRow| {
        format!("{:.9}, A.D. 2024-Apr-08 12:00:00.0000, {}, {}, 1.4,\n", date(row), of(row).0, of(row).1)
    };
    let body: String = expected.iter().map(commas).collect();
    let names = "JDTDB, Calendar Date (TDB), X, Y, Z, VX, VY, VZ, LT,";
    folder.write("commas.txt", format!("{}{names}\n***\n$$SOE\n{body}$$EOE\n", header("ICRF")));
    for (spec, file, most) in [
        ("io@jupiter", "julian.csv", 0.01),
        ("io@jupiter", "plain.csv", 20.0),
        ("Io@Jupiter", "utc.csv", 0.05),
        ("io", "icrf.txt", 0.01),
        ("io", "ecliptic.txt", 0.01),
        ("io@jupiter", "commas.txt", 0.01),
    ] {
        let io = read_vectors(spec, &folder.path(file), None, DeltaT::Table).unwrap();
        assert_eq!((io.name(), io.center()), ("Io", Some(SkyBody::Jupiter)), "{file}");
        let known = BodyVectors::new("io", SkyBody::Jupiter, None, "", expected.clone()).unwrap();
        for k in 1..100 {
            let at = seconds(0, 0.0) + 1050.0 * f64::from(k);
            let apart = (io.position(at).unwrap() - known.position(at).unwrap()).length();
            assert!(apart < most, "{file}: {apart} km");
        }
    }
}

/// Two pages that Horizons wrote: a spacecraft as text in km and days, and an asteroid as CSV in au and days, both in axes of the ecliptic.
/// TESS is near the Earth, so its heliocentric position must be that of the Earth.
#[test]
fn pages_that_horizons_wrote_are_read() {
    let folder = Folder::new();
    let page =
        |name: &str| std::fs::read_to_string(umbracast_testing::root().join("tests/data/cases").join(name)).unwrap();
    let read = |name: &str, text: &str| {
        folder.write("page.txt", text);
        read_vectors(name, &folder.path("page.txt"), Some(400.0), DeltaT::Table).unwrap()
    };
    let (sky, tess) = (Sky::new(SkyOptions::default()), page("horizons_2019.txt"));
    let labels = ["X =", "Y =", "Z =", "VX=", "VY=", "VZ=", "LT=", "RG=", "RR="];
    let old = "ICRF/J2000.0\nCoordinate systm: Ecliptic and Mean Equinox of Reference Epoch";
    for (name, text) in [
        ("as it is", tess.clone()),
        ("labels=NO", labels.iter().fold(tess.clone(), |text, label| text.replace(label, ""))),
        ("the frame as in pages since 2021", tess.replace(old, "Ecliptic of J2000.0")),
        ("the time scale as in pages before 2015", tess.replace("JDTDB", "JDCT").replace("TDB [", "(CT) [")),
        ("lines of DOS", tess.replace('\n', "\r\n")),
    ] {
        let body = read("tess", &text);
        let (first, last) = body.span().unwrap();
        assert_eq!(body.center(), Some(SkyBody::Sun), "{name}");
        for at in [first, 0.5 * (first + last), last] {
            let position = |body| sky.ephemeris().barycentric(body, at).unwrap().position;
            let apart = (position(SkyBody::Sun) + body.position(at).unwrap() - position(SkyBody::Earth)).length();
            // The orbit reaches from 108,000 to 376,000 km.
            assert!((100_000.0..400_000.0).contains(&apart), "{name}: {apart} km from the Earth");
        }
    }
    let ceres = page("horizons_2022.txt");
    let body = read("ceres", &ceres);
    let (first, last) = body.span().unwrap();
    // The range RG of the first row.
    let au = body.position(first).unwrap().length() / umbracast_sky::AU_KM;
    assert!((au - 2.603_704_250_997_457).abs() < 1e-12, "{au}");
    // Velocities in other units would move the middle, whose row is known.
    let ends: Vec<&str> = ceres.lines().filter(|line| !line.starts_with("2459750.5")).collect();
    let middle = 0.5 * (first + last);
    let apart = read("ceres", &ends.join("\n")).position(middle).unwrap() - body.position(middle).unwrap();
    assert!(apart.length() < 1000.0, "{apart}");
}

/// Positions of the Moon that astropy computed and pandas wrote, with times in the clock of Chicago, are those of DE421.
#[test]
fn positions_of_astropy_agree_with_the_ephemeris() {
    let path = umbracast_testing::root().join("tests/data/cases/moon_pandas.csv");
    let body = read_vectors("luna@earth", &path, Some(1737.4), DeltaT::Table).unwrap();
    let sky = Sky::new(SkyOptions::default());
    let (noon, _) = sky.parse_time("2024-04-08T12:00:00Z").unwrap();
    assert!((body.span().unwrap().0 - noon.tdb_seconds()).abs() < 1e-3);
    for hour in 0..10 {
        let at = noon.tdb_seconds() + 3600.0 * f64::from(hour);
        let [moon, earth] =
            [SkyBody::Moon, SkyBody::Earth].map(|body| sky.ephemeris().barycentric(body, at).unwrap().position);
        let apart = body.position(at).unwrap().distance(moon - earth);
        assert!(apart < 20.0, "{hour}: {apart} km");
    }
}

/// Io's apparent place is that of Jupiter plus the vector at the time when the light left Io.
#[test]
fn positions_in_system_files_include_light_time() {
    let io = BodyVectors::new("io", SkyBody::Jupiter, None, "a test", rows(60, 600.0, true)).unwrap();
    let sky = Sky::new(SkyOptions::default());
    let (time, _) = sky.parse_time("2024-04-08T18:00:00Z").unwrap();
    let text = sky
        .system_toml_with(
            time,
            &[SkyBody::Sun, SkyBody::Jupiter],
            std::slice::from_ref(&io),
            &LightTime::Earth,
            None,
            [64, 36],
        )
        .unwrap();
    assert!(text.contains("# Vectors relative to Jupiter: a test. Error of the interpolation: about"), "{text}");
    let table = text.split("name = \"Io\"\ncenter = [").nth(1).unwrap();
    let numbers: Vec<f64> = table.split(']').next().unwrap().split(", ").map(|n| n.parse().unwrap()).collect();
    let jupiter = sky.earth_fixed(SkyBody::Jupiter, time).unwrap();
    let found = DVec3::from_slice(&numbers) - jupiter;
    let then = time.tdb_seconds() - jupiter.length() / 299_792.458;
    let expected = sky.to_earth_fixed(io.position(then).unwrap(), time);
    // Light from Io and from Jupiter leaves up to 1.4 s apart; Jupiter moves 13 km/s, and Io 17 km/s.
    println!("{} km apart", (found - expected).length());
    assert!((found - expected).length() < 60.0, "{found} {expected}");
    let late = sky.parse_time("2024-04-09T18:00:00Z").unwrap().0;
    let error =
        sky.system_toml_with(late, &[SkyBody::Sun], &[io], &LightTime::Earth, None, [64, 36]).unwrap_err().to_string();
    assert!(
        error.contains("a test: the vectors of Io are for the Julian dates 2460409.00000 to 2460409.40972"),
        "{error}"
    );
}

#[test]
fn wrong_vectors_are_refused() {
    let folder = Folder::new();
    let good =
        "time,x,y,z,vx,vy,vz\n2024-04-08T12:00:00Z,421800,0,0,0,17,0\n2024-04-08T13:00:00Z,400000,90000,0,-3,16,0\n";
    let horizons = "Center body name: Jupiter (599)\nOutput units    : KM-S\nReference frame : ICRF\n$$SOE\n\
                    2460409.0 = A.D. 2024-Apr-08 12:00:00.0000 TDB\n X = 421800 Y = 0 Z = 0\n VX= 0 VY= 17 VZ= 0\n\
                    2460409.1 = A.D. 2024-Apr-08 14:24:00.0000 TDB\n X = 400000 Y = 90000 Z = 0\n VX= 0 VY= 17 VZ= 0\n$$EOE\n";
    let swap = |text: &str, old: &str, new: &str| {
        assert!(text.contains(old), "{old}");
        text.replacen(old, new, 1)
    };
    let io = "io@jupiter";
    for (body, text, words) in [
        ("io", good.to_string(), "does not name the centre of the vectors: expected io@CENTER"),
        ("io@pluto", good.to_string(), "no positions of 'pluto'"),
        ("moon@earth", good.to_string(), "the positions of moon are known"),
        ("i\"o@jupiter", good.to_string(), "is not a name: expected letters"),
        ("amalthea@jupiter", good.to_string(), "the radius of amalthea is not known"),
        (io, swap(good, "time,x", "when,x"), "no column `time` or `jd_tdb`: the header is `when,x,y"),
        (io, swap(good, ",z,", ",height,"), "no column `z`: the header is"),
        (io, swap(good, ",vz", ",v"), "no column `vz`"),
        (io, swap(good, "400000", "far"), "line 3: x is 'far': expected a number"),
        (io, swap(good, "400000", "nan"), "line 3: x is NaN: expected a number of magnitude below 1e12"),
        (io, swap(good, "T13:", "T11:"), "line 3: time is"),
        (io, swap(good, "2024-04-08T13:00:00Z", "2024-04-08"), "line 3: time is '2024-04-08': expected an instant"),
        (io, swap(good, "2024-04-08T13:00:00Z", "noon"), "line 3: time: 'noon' is not a date"),
        // Astronomical units, by mistake.
        (io, swap(good, "421800,0,0", "0.0028,0,0"), "line 2: x is 0.0028: 0.0028 km from the centre of Jupiter"),
        // Metres, by mistake.
        (
            io,
            swap(good, "421800,0,0", "421800000,0,0"),
            "line 2: x is 421800000: 421800000 km is no distance of a moon",
        ),
        (io, good.replace(',', "\t"), "line 1: columns are separated by '\\t': expected commas"),
        (io, good.lines().take(2).map(|line| format!("{line}\n")).collect(), "io has 1 rows: at least 2"),
        (io, good.replace(",vx,vy,vz", ",a,b,c"), "io has 2 rows: at least 4 are needed without velocities"),
        (io, String::new(), "there is no column `time` or `jd_tdb`"),
        (
            io,
            good.replace("0,17,0", "0,17"),
            "line 2: found 6 cells, expected 7, as in the header line: time,x,y,z,vx,vy,vz",
        ),
        // Blank lines and comments count.
        (
            io,
            swap(good, "2024-04-08T13", "\n# noon\r\n\n2024-04-08T13").replace("16,0", "16"),
            "line 6: found 6 cells, expected 7",
        ),
        (
            io,
            swap(good, "2024-04-08T13", "# noon\n2024-04-08T13").replace("16", "-"),
            "line 4: vy is '-': expected a number",
        ),
        ("io@saturn", horizons.to_string(), "the centre of the vectors is Jupiter, not Saturn"),
        (
            "io",
            swap(horizons, "Jupiter (599)", "Solar System Barycenter (0)"),
            "line 1: the centre is 'Solar System Barycenter (0)', which is no body: in Horizons, choose the Coordinate Center of a body",
        ),
        (
            "io",
            swap(horizons, "Jupiter (599)", "Jupiter Barycenter (5)    {source: jup365}"),
            "the centre is 'Jupiter Barycenter (5)', which is not the centre of Jupiter: in Horizons, choose the Coordinate Center \
             Jupiter (body center)",
        ),
        (
            "io",
            swap(horizons, "Jupiter (599)", "Titan (606)"),
            "line 1: center body: there are no positions of 'Titan'",
        ),
        (
            "pluto",
            format!("Target body name: Pluto Barycenter (9)\n{horizons}"),
            "line 1: the target is 'Pluto Barycenter (9)', a barycentre: in Horizons, choose the body itself",
        ),
        (
            "io",
            format!("Target body name: Hyperion (607)\n{horizons}"),
            "line 1: the target is 'Hyperion (607)', not io",
        ),
        (
            "io",
            format!("Center-site name: Pan-STARRS 1, Haleakala\n{horizons}"),
            "line 1: the positions are relative to 'Pan-STARRS 1, Haleakala', a place on the body",
        ),
        ("io", format!("JDUT\n{horizons}"), "line 1: the times are in UT: expected TDB"),
        (
            "io",
            format!("Coordinate systm: Body Mean Equator and Node of Date\n{horizons}"),
            "the reference frame is 'Body Mean Equator and Node of Date'",
        ),
        (
            "io",
            format!("Output type : GEOMETRIC osculating elements\n{horizons}"),
            "the output type is 'GEOMETRIC osculating elements': expected GEOMETRIC cartesian states",
        ),
        ("io", horizons.replace('\n', "\\n"), "save the page of Horizons as text (of its API: format=text, not json)"),
        ("io", swap(horizons, "KM-S", "MI-H"), "line 2: the units are 'MI-H': expected KM-S, KM-D or AU-D"),
        ("io", swap(horizons, "Output units    : KM-S\n", ""), "no line `Output units : KM-S`"),
        ("io", swap(horizons, "Reference frame : ICRF\n", ""), "no line `Reference frame : ICRF`"),
        ("io", swap(horizons, ": ICRF", ": FK4/B1950.0"), "line 3: the reference frame is 'FK4/B1950.0'"),
        ("io", swap(horizons, "$$SOE", "Output type : LT+S states\n$$SOE"), "line 4: the output type is 'LT+S states'"),
        ("io", swap(horizons, "$$EOE\n", ""), "does not end with $$EOE"),
        ("io", swap(horizons, "0000 TDB", "0000 UT"), "expected a time in TDB"),
        ("io", swap(horizons, " Z = 0\n", "\n"), "line 5: the row has no Z"),
        ("io", swap(horizons, "Y = 90000", "Y = n.a."), "line 9: Y is 'n.a.': expected a number"),
        ("io", swap(horizons, "2460409.1", "2460409.0"), "line 8: time is"),
        (
            "io",
            swap(horizons, " VX= 0 VY= 17 VZ= 0\n$$EOE", "$$EOE"),
            "line 8: vx is 0: expected velocities in all rows",
        ),
    ] {
        folder.write("io.txt", &text);
        let error = read_vectors(body, &folder.path("io.txt"), None, DeltaT::Table).unwrap_err().to_string();
        assert!(error.contains(words), "{body}: '{words}' is not in: {error}\n{text}");
        // Names of bodies are no matter of the file.
        assert!(error.contains("io.txt") || body == "io@pluto", "{error}");
    }
    let file = folder.path("io.txt");
    folder.write("io.txt", horizons);
    for radius in [0.0, -1.0, f64::NAN, 1e10] {
        let error = read_vectors("io", &file, Some(radius), DeltaT::Table).unwrap_err().to_string();
        assert!(error.contains("the radius of io is"), "{error}");
    }
    assert_eq!(read_vectors("amalthea", &file, Some(83.5), DeltaT::Table).unwrap().radius_km(), 83.5);
    let missing = read_vectors("io", &folder.path("none.txt"), None, DeltaT::Table).unwrap_err().to_string();
    assert!(missing.contains("cannot read") && missing.contains("none.txt"), "{missing}");
}
