//! `umbracast shadow`, run as users run it: valid files, invalid ones, and files that must not change.

use crate::support::folder::{Done, Folder, f32_bytes, npy, npz_array};

/// A light, a ball in front of it, one behind it, and one that casts no shadow; no camera.
const SYSTEM: &str = "unit = \"km\"\n[light]\ncenter = [0, 0, 100]\nradius = 1\n\
    [[body]]\ncenter = [0, 0, 50]\nradius = 0.25\n\
    [[body]]\ncenter = [0, 0, 200]\nradius = 50\n\
    [[body]]\ncenter = [0, 0, 20]\nradius = 10\ncasts = false\n";
/// In the antumbra, in the penumbra, outside the shadow, at the centre of the light, inside a ball.
const OBSERVERS: &str = "x,y,z\n0,0,0\n0.75,0,0\n9,0,0\n0,0,100\n0,0.1,50\n";
const FILES: &str = "shadow o.csv s.toml -o out.csv";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("s.toml", SYSTEM).write("o.csv", OBSERVERS);
    folder
}

/// Parses the kinds and the fractions.
fn rows(text: &str) -> (Vec<String>, Vec<f64>) {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("fraction,kind"));
    let cells = lines.map(|line| line.split_once(',').unwrap());
    cells.map(|(fraction, kind)| (kind.to_owned(), fraction.parse::<f64>().unwrap())).unzip()
}

#[test]
fn every_file_format_gives_the_same_fractions() {
    let points: Vec<f64> =
        OBSERVERS.lines().skip(1).flat_map(|line| line.split(',').map(|cell| cell.parse::<f64>().unwrap())).collect();
    let narrow: Vec<f32> = points.iter().map(|x| *x as f32).collect();
    let wide = |from: fn(f64) -> [u8; 8]| points.iter().flat_map(|x| from(*x)).collect::<Vec<u8>>();
    let columns: Vec<u8> =
        (0..3).flat_map(|k| (0..5).flat_map(move |i| [i * 3 + k])).flat_map(|i| points[i].to_le_bytes()).collect();
    let folder = folder();
    folder
        .write("o8.npy", npy("'<f8'", false, "(5, 3)", &wide(f64::to_le_bytes)))
        .write("big.npy", npy("'>f8'", false, "(5, 3)", &wide(f64::to_be_bytes)))
        .write("fortran.npy", npy("'<f8'", true, "(5, 3)", &columns))
        // The only number that f32 rounds is 0.1, which does not change the results.
        .write("o4.npy", npy("'<f4'", false, "(5, 3)", &f32_bytes(&narrow)))
        .write("o.f32", f32_bytes(&narrow));
    folder.run_ok(FILES);
    let (kinds, fractions) = rows(&folder.text("out.csv"));
    assert_eq!(kinds, ["annular", "partial", "none", "none", "total"]);
    assert_eq!(fractions[2..], [1.0, 1.0, 0.0]);
    assert!((fractions[0] - 0.75).abs() < 1e-4 && fractions[1] > 0.75 && fractions[1] < 0.85, "{fractions:?}");
    for observers in ["o8.npy", "big.npy", "fortran.npy", "o4.npy", "o.f32"] {
        folder.run_ok(&format!("shadow {observers} s.toml -o again.csv -q"));
        assert_eq!(folder.text("again.csv"), folder.text("out.csv"), "{observers}");
    }
    folder.run_ok("shadow o.csv s.toml -o out.npz");
    assert_eq!(npz_array::<f64>(&folder.path("out.npz"), "fraction"), fractions);
    assert_eq!(npz_array::<u8>(&folder.path("out.npz"), "kind"), [2, 1, 0, 0, 3]);
}

#[test]
fn a_light_with_limb_darkening_has_a_column_of_fluxes() {
    let folder = folder();
    folder.write("s.toml", SYSTEM.replacen("radius = 1\n", "radius = 1\nlimb_darkening = [0.6, 0.1]\n", 1));
    folder.run_ok(FILES);
    let text = folder.text("out.csv");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0], ["fraction", "flux", "kind"]);
    let numbers = |k: usize| [0, 1].map(|i| rows[k][i].parse::<f64>().unwrap());
    // The occluder covers the bright centre, then the darker edge.
    let ([ring, bright], [part, edge]) = (numbers(1), numbers(2));
    assert!((ring - 0.75).abs() < 1e-4 && bright < 0.72, "{text}");
    assert!(edge > part && edge < 1.0, "{text}");
    assert_eq!([3, 4, 5].map(numbers), [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]);
    folder.run_ok("shadow o.csv s.toml -o out.npz");
    assert_eq!(npz_array::<f64>(&folder.path("out.npz"), "flux")[..2], [bright, edge]);
    // The fractions are those without limb darkening, byte by byte.
    let fractions = npz_array::<f64>(&folder.path("out.npz"), "fraction");
    folder.write("s.toml", SYSTEM);
    folder.run_ok("shadow o.csv s.toml -o out.npz");
    assert_eq!(npz_array::<f64>(&folder.path("out.npz"), "fraction"), fractions);
}

#[test]
fn observers_are_read_in_f64() {
    // On the edge of the umbra, in a system far from the origin: consecutive f32 values are 8 km apart there.
    let folder = Folder::new();
    folder.write(
        "s.toml",
        "unit = \"km\"\n[light]\ncenter = [1e8, 0, 100]\nradius = 1\n[[body]]\ncenter = [1e8, 0, 50]\nradius = 0.5\n",
    );
    folder.write("o.csv", "x,y,z\n100000000.0,0,0\n100000000.01,0,0\n99999999.0,0,0\n");
    folder.run_ok(FILES);
    let (kinds, fractions) = rows(&folder.text("out.csv"));
    assert_eq!(kinds[1..], ["partial", "partial"], "{fractions:?}");
    assert!(fractions[1] > 0.0 && fractions[1] < 0.01 && fractions[2] > 0.5, "{fractions:?}");
}

#[test]
fn no_observers_and_no_occluders() {
    let folder = folder();
    folder.write("none.csv", "x,y,z\n").write("none.npy", npy("'<f8'", false, "(0, 3)", &[]));
    for observers in ["none.csv", "none.npy"] {
        let done = folder.run_ok(&format!("shadow {observers} s.toml -o out.csv"));
        assert_eq!(folder.text("out.csv"), "fraction,kind\n");
        assert!(done.errors.contains("0 observers: 0 none, 0 partial"), "{}", done.errors);
        folder.run_ok(&format!("shadow {observers} s.toml -o out.npz --json --device gpu --compare"));
        assert!(npz_array::<f64>(&folder.path("out.npz"), "fraction").is_empty());
    }
    let light = SYSTEM.lines().take(4).collect::<Vec<_>>().join("\n");
    folder.write("s.toml", light);
    folder.run_ok(FILES);
    assert_eq!(folder.text("out.csv"), format!("fraction,kind\n{}", "1.0,none\n".repeat(5)));
}

#[test]
fn the_summary_reports_the_kinds() {
    let folder = folder();
    let done = folder.run_ok(FILES);
    for words in ["cpu (f64): 2 occluders, 5 observers: 2 none, 1 partial, 1 annular, 1 total; ", "; wrote out.csv"] {
        assert!(done.errors.contains(words), "{}", done.errors);
    }
    assert_eq!(done.output, "");
    assert_eq!(folder.run_ok(&format!("{FILES} -q")).errors, "");
    for device in ["cpu", "gpu"] {
        let done = folder.run_ok(&format!("{FILES} --json --device {device} --compare"));
        let (cpu, warned) = (device == "cpu", done.errors.starts_with("warning: --compare has no effect here"));
        assert_eq!(warned, cpu, "{}", done.errors);
        let json: serde_json::Value = serde_json::from_str(&done.output).unwrap();
        assert_eq!(json["precision"], if cpu { "f64" } else { "f32" });
        let counts = ["none", "partial", "annular", "total"].map(|kind| json[kind].as_u64().unwrap());
        assert_eq!(counts, [2, 1, 1, 1]);
        assert_eq!((json["occluders"].as_u64(), json["observers"].as_u64()), (Some(2), Some(5)));
        if cpu {
            assert!(json["compare"].is_null(), "{json}");
            continue;
        }
        assert!(json["compare"]["fraction"].as_f64().unwrap() < 1e-4 && json["compare"]["kinds"] == 0, "{json}");
    }
}

/// One invalid input: description, file that contains the error, arguments, exit code, and words that the message must contain.
type Wrong = (&'static str, Option<(&'static str, Vec<u8>)>, &'static str, i32, &'static [&'static str]);

fn wrong_inputs() -> Vec<Wrong> {
    let observers = |text: &'static str| Some(("o.csv", text.as_bytes().to_vec()));
    let system = |text: String| Some(("s.toml", text.into_bytes()));
    let array = |bytes: Vec<u8>| Some(("o.npy", bytes));
    let edited = |from: &str, to: &str| {
        assert!(SYSTEM.contains(from));
        system(SYSTEM.replacen(from, to, 1))
    };
    let numpy = "shadow o.npy s.toml -o out.csv";
    let points = [0_u8; 48];
    vec![
        ("no light", system("unit = \"km\"\n".into()), FILES, 2, &["s.toml", "the table [light] is missing"]),
        (
            "unknown key",
            edited("radius = 1\n", "radius = 1\nkind = \"star\"\n"),
            FILES,
            2,
            &["s.toml", "unknown key `kind`"],
        ),
        ("unknown unit", edited("\"km\"", "\"miles\""), FILES, 2, &["unit is \"miles\"", "km"]),
        (
            "unknown kind of camera",
            edited(
                "[light]",
                "[camera]\nkind = \"fisheye\"\nposition = [0,0,0]\ntarget = [0,0,1]\nup = [0,1,0]\n[light]",
            ),
            FILES,
            2,
            &["s.toml", "fisheye", "perspective"],
        ),
        (
            "body in the light",
            edited("radius = 0.25", "radius = 49.5"),
            FILES,
            2,
            &["s.toml", "body[0]", "touches or overlaps the light"],
        ),
        ("negative radius", edited("radius = 1\n", "radius = -1\n"), FILES, 2, &["light: radius is -1"]),
        ("body without a size", edited("radius = 0.25", "radius = 0"), FILES, 2, &["body[0]", "radius is 0"]),
        (
            "body without height",
            edited("radius = 0.25", "radius = 0.25\npolar_radius = 0"),
            FILES,
            2,
            &["s.toml", "body[0] 'body': polar_radius is 0: it must be between 0.01 and 100 times the radius, 0.25"],
        ),
        (
            "body with less than none",
            edited("radius = 0.25", "radius = 0.25\npolar_radius = -0.2"),
            FILES,
            2,
            &["s.toml", "body[0] 'body': polar_radius is -0.2"],
        ),
        (
            "body with no number",
            edited("radius = 0.25", "radius = 0.25\npolar_radius = nan"),
            FILES,
            2,
            &["s.toml", "body[0] 'body': polar_radius is NaN"],
        ),
        (
            "needle",
            edited("radius = 0.25", "radius = 0.25\npolar_radius = 26"),
            FILES,
            2,
            &["s.toml", "body[0] 'body': polar_radius is 26"],
        ),
        (
            "flat body without a pole",
            edited("radius = 0.25", "radius = 0.25\npolar_radius = 0.2\npole = [0, 0, 0]"),
            FILES,
            2,
            &["s.toml", "body[0] 'body': pole is [0, 0, 0]"],
        ),
        (
            "pole that is no number",
            edited("radius = 0.25", "radius = 0.25\npolar_radius = 0.2\npole = [0, nan, 1]"),
            FILES,
            2,
            &["s.toml", "body[0] 'body': pole is [0, NaN, 1]"],
        ),
        (
            "flat cloud",
            edited("center = [0, 0, 50]\nradius = 0.25", "spheres = \"c.npy\"\npolar_radius = 0.2"),
            FILES,
            2,
            &["s.toml", "body[0]: a body with spheres cannot have polar_radius"],
        ),
        (
            "needle in the light",
            edited("radius = 0.25", "radius = 1\npolar_radius = 49.5"),
            FILES,
            2,
            &["s.toml", "body[0]", "touches or overlaps the light"],
        ),
        (
            "huge body",
            edited("center = [0, 0, 50]", "center = [0, 0, 1e300]"),
            FILES,
            2,
            &["body[0]", "center is [0, 0, 1"],
        ),
        ("not TOML", system("x,y,z\n1,2,3\n".into()), FILES, 2, &["s.toml", "line 1"]),
        ("column missing", observers("x,y\n1,2\n"), FILES, 2, &["o.csv: line 1: column 'z' is missing", "x,y,z"]),
        (
            "columns of spheres",
            observers("x,y,z,r\n1,2,3,4\n"),
            FILES,
            2,
            &["unknown column 'r'", "known columns are x,y,z"],
        ),
        ("no header", observers("1,2,3\n"), FILES, 2, &["o.csv: line 1", "name the columns x,y,z"]),
        ("word", observers("x,y,z\n1,2,3\n1,two,3\n"), FILES, 2, &["o.csv: line 3: y is 'two'"]),
        ("NaN", observers("x,y,z\n1,2,3\n1,2,NaN\n"), FILES, 2, &["o.csv: line 3: z is NaN", "1e150"]),
        ("infinite", observers("x,y,z\n\n-inf,2,3\n"), FILES, 2, &["o.csv: line 3: x is -inf", "1e150"]),
        (
            "empty cell",
            observers("x,y,z\n1,,3\n"),
            FILES,
            2,
            &["o.csv: line 2: y is empty", "between -1e150 and 1e150"],
        ),
        ("huge", observers("x,y,z\n1e300,2,3\n"), FILES, 2, &["o.csv: line 2: x is 1e300", "between -1e150 and 1e150"]),
        (
            "beyond f64",
            observers("x,y,z\n1,2,-1e999\n"),
            FILES,
            2,
            &["o.csv: line 2: z is -1e999", "between -1e150 and 1e150"],
        ),
        ("empty file", observers(""), FILES, 2, &["o.csv", "empty (0 bytes)", "x,y,z"]),
        (
            "truncated array",
            array(npy("'<f8'", false, "(3, 3)", &points)),
            numpy,
            2,
            &["o.npy", "needs 72 bytes", "truncated"],
        ),
        (
            "array of spheres",
            array(npy("'<f8'", false, "(1, 4)", &points[..32])),
            numpy,
            2,
            &["shape is (1, 4)", "(N, 3)", "observers"],
        ),
        (
            "flat array",
            array(npy("'<f8'", false, "(3,)", &points[..24])),
            numpy,
            2,
            &["shape is (3,)", "reshape(1, -1)"],
        ),
        ("integers", array(npy("'<i8'", false, "(2, 3)", &points)), numpy, 2, &["expected f4 or f8"]),
        (
            "NaN in an array",
            array(npy("'<f4'", false, "(1, 3)", &f32_bytes(&[0.0, f32::NAN, 0.0]))),
            numpy,
            2,
            &["row 1 (index 0): y is NaN"],
        ),
        ("no such observers", None, "shadow missing.csv s.toml -o out.csv", 5, &["cannot read missing.csv"]),
        ("no such system", None, "shadow o.csv missing.toml -o out.csv", 5, &["cannot read missing.toml"]),
        (
            "the other way round",
            None,
            "shadow s.toml o.csv -o out.csv",
            2,
            &["s.toml", "the order of the files is OBSERVERS, then SYSTEM"],
        ),
        (
            "observers of no known format",
            Some(("o.txt", OBSERVERS.into())),
            "shadow o.txt s.toml -o out.csv",
            2,
            &["o.txt", "observers", ".npy, .csv"],
        ),
        (
            "unknown output",
            None,
            "shadow o.csv s.toml -o out.xyz",
            2,
            &["out.xyz", "'.xyz'", ".npz, .csv and .parquet"],
        ),
        ("no output", None, "shadow o.csv s.toml", 2, &["--output <OUT>"]),
        (
            "output in no folder",
            None,
            "shadow o.csv s.toml -o no/out.csv",
            5,
            &["cannot write no/out.csv", "no folder"],
        ),
        ("output is an input", None, "shadow o.csv s.toml -o o.csv", 2, &["o.csv: is also an input"]),
        ("unknown device", None, "shadow o.csv s.toml -o out.csv --device abacus", 3, &["no device 'abacus'"]),
        ("unknown option", None, "shadow o.csv s.toml -o out.csv --light Sun", 2, &["--light"]),
    ]
}

/// A flattened planet, seen from the plane of its equator, from inside it, and from above its pole.
#[test]
fn oblate_bodies_cast_oblate_shadows() {
    let folder = folder();
    let flat = SYSTEM.replacen("radius = 0.25", "radius = 0.45\npolar_radius = 0.25\npole = [0, -3, 0]", 1);
    folder.write("s.toml", flat).write("o.csv", "x,y,z\n0,0,0\n0,0.2,50\n0,0.4,50\n");
    folder.run_ok(FILES);
    let (kinds, fractions) = rows(&folder.text("out.csv"));
    assert_eq!(kinds, ["annular", "total", "none"]);
    // Its outline is an ellipse that is 0.9 times as wide and half as high as the light.
    assert!((fractions[0] - 0.55).abs() < 2e-4, "{fractions:?}");
    assert_eq!(fractions[1..], [0.0, 1.0]);
    let done = folder.run_ok("shadow o.csv s.toml -o out.npz --device gpu --compare");
    assert!(done.errors.contains("1 none, 0 partial, 1 annular, 1 total"), "{}", done.errors);
}

#[test]
fn wrong_inputs_are_refused_in_words_that_help() {
    let inputs = wrong_inputs();
    assert!(inputs.len() > 30);
    for (what, file, arguments, code, words) in inputs {
        let folder = folder();
        folder.write("out.csv", "as it was\n");
        if let Some((name, bytes)) = file {
            folder.write(name, bytes);
        }
        let before = folder.contents();
        let Done { code: found, output, errors } = folder.run(arguments);
        assert_eq!(found, code, "{what}: {errors}");
        assert_eq!(output, "", "{what}");
        assert_eq!(errors.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{what}: {errors}");
        for word in words {
            assert!(errors.contains(word), "{what}: '{word}' is not in: {errors}");
        }
        assert_eq!(folder.contents(), before, "{what}: files changed");
    }
}

#[test]
#[cfg(unix)]
fn read_only_files_are_kept_and_memory_limits_apply() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    folder.write("out.csv", "as it was\n");
    std::fs::set_permissions(folder.path("out.csv"), std::fs::Permissions::from_mode(0o444)).unwrap();
    let done = folder.run(FILES);
    assert_eq!(done.code, 5, "{}", done.errors);
    assert!(done.errors.contains("cannot write out.csv: it is read-only"), "{}", done.errors);
    assert_eq!(folder.text("out.csv"), "as it was\n");
    // A million observers take 24 MB; 20 MB are allowed.
    folder.write("o.npy", npy("'<f8'", false, "(1000000, 3)", &vec![0; 24_000_000]));
    let mut program = crate::support::folder::program();
    program
        .args(["shadow", "o.npy", "s.toml", "-o", "new.csv"])
        .env("UMBRACAST_MEMORY", "20000000")
        .current_dir(folder.root());
    let done = program.output().unwrap();
    let errors = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(4), "{errors}");
    assert!(errors.contains("observers: 24000000 bytes needed, 20000000 allowed on this machine"), "{errors}");
    assert!(!folder.path("new.csv").exists());
}

#[test]
fn help_has_examples() {
    let done = folder().run_ok("shadow --help");
    for words in ["Examples:", "umbracast shadow observers.csv systems/eclipse-2024-04-08.toml", "antumbra", "1e-9"] {
        assert!(done.output.contains(words), "{words}");
    }
}

/// The shipped eclipse and the shipped observers give the rows that docs/shadows.md shows.
#[test]
fn the_shipped_observers_see_the_eclipse_of_2024() {
    let systems = format!("{}/../systems", env!("CARGO_MANIFEST_DIR"));
    let folder = Folder::new();
    folder.run_ok(&format!("shadow {systems}/samples/observers.csv {systems}/eclipse-2024-04-08.toml -o seen.csv"));
    let (kinds, fractions) = rows(&folder.text("seen.csv"));
    assert_eq!(kinds, ["total", "partial", "none", "total", "none"], "{fractions:?}");
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/shadows.md")).unwrap();
    assert!(
        page.contains(&folder.text("seen.csv")),
        "docs/shadows.md shows other rows than these:\n{}",
        folder.text("seen.csv")
    );
}
