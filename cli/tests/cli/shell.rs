//! What a careless shell types: each error names the fault that is there, and a remedy that works.

use umbracast_testing::folder::Folder;

fn folder() -> Folder {
    let folder = Folder::new();
    folder
        .write("s.csv", "x,y,z,r\n4,0,0,1\n")
        .write("r.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n")
        .write("p.csv", "latitude,longitude\n10,20\n")
        .write(
            "io.csv",
            "time,x,y,z\n2024-04-08T00:00Z,1e6,0,0\n2024-04-08T05:00Z,2e6,0,0\n\
             2024-04-08T07:00Z,2.2e6,0,0\n2024-04-09T00:00Z,3e6,0,0\n",
        );
    std::fs::create_dir(folder.path("there")).unwrap();
    folder
}

/// A ray of many digits, longer than the part of an argument that messages quote.
const LONG_RAY: &str = "511961.5,5412000.499167083,101.8,-0.7787184119224548,0.6273168921470642,0.008445041254162788";

#[test]
fn the_error_of_long_arguments_is_their_own() {
    let folder = folder();
    let one = ["cast", "--sphere", "5,0,0,1", "--ray", LONG_RAY];
    let long = "1".repeat(90);
    let toward = format!("0.{long},0,0");
    let bad = format!("{LONG_RAY}x");
    let with = |more: &[&'static str]| [&one[..], more].concat();
    for (arguments, words) in [
        (with(&["-o", "a.csv"]), vec!["'--sphere <X,Y,Z,R>' cannot be used with", "--output <OUT>"]),
        (with(&["--precision", "sloppy"]), vec!["invalid value 'sloppy' for '--precision <PRECISION>'", "standard"]),
        (with(&["--toward", "0,0,0"]), vec!["cannot be used with", "--toward"]),
        (with(&["--ra", "1"]), vec!["unexpected argument '--ra' found"]),
        (
            vec!["cast", "s.csv", "r.csv", "-o", "a.csv", "--toward", &toward, "--parallel", "1,0,0"],
            vec!["--toward <X,Y,Z[,R]>", "cannot be used with"],
        ),
        (vec!["cast", "--sphere", "5,0,0,1", "--ray", &bad], vec!["dz is '0.008445041254162788x': expected a number"]),
        (vec!["cast", "s.csv", "r.csv", &long, "-o", "a.csv"], vec!["unexpected argument '1111", "…"]),
        (
            vec!["bullets", "--from", "0,0,0", "--to", LONG_RAY, "--speed", "1", "--sphere", "4,0,0,1"],
            vec!["found 6 numbers, expected 3"],
        ),
    ] {
        let done = folder.run_args(&arguments);
        done.says(2, &words);
        assert!(!done.errors.contains(&long), "an argument is not shortened: {}", done.errors);
    }
}

#[test]
fn one_ray_by_hand_takes_an_origin() {
    let folder = folder();
    // Without an origin the answer is 8 mm off: f64 arithmetic gives 8.501795.
    let sphere = "511954.64159268,5412006.00318531,102.11239,0.3735";
    let cast = |more: &[&str]| {
        let done = folder.run_args(&[&["cast", "--sphere", sphere, "--ray", LONG_RAY, "--json"], more].concat());
        assert_eq!(done.code, 0, "{}", done.errors);
        serde_json::from_str::<serde_json::Value>(&done.output).unwrap()
    };
    let exact = first_root(&numbers(sphere), &numbers(LONG_RAY));
    let t = |more: &[&str]| cast(more)["roots"]["t_enter"].as_f64().unwrap();
    assert!((t(&[]) - exact).abs() > 1e-3, "{} {exact}", t(&[]));
    for origin in ["auto", "511954,5412006,102"] {
        assert!((t(&["--origin", origin]) - exact).abs() < 1e-5, "{origin}: {} {exact}", t(&["--origin", origin]));
    }
    // Positions are in the coordinates of the arguments, and the origin is printed.
    let one = cast(&["--origin", "511954,5412006,102"]);
    assert_eq!(one["origin"], serde_json::json!([511954.0, 5412006.0, 102.0]));
    assert!((one["sphere"]["center"][1].as_f64().unwrap() - 5412006.00318531).abs() < 1e-6);
    assert!((one["hit"]["point"][0].as_f64().unwrap() - (511961.5 - 0.7787184119224548 * exact)).abs() < 1e-4);
    let eye = ["cast", "--sphere", "0,0,0,6371000", "--ray", "0,0,6371001.7,0,0,-1", "--origin", "auto"];
    let done = folder.run_args(&eye);
    assert!(
        done.output.contains("\nhit       t 1.7") && done.output.contains("origin 0 0 6371001.7"),
        "{}",
        done.output
    );
    assert!(done.errors.contains("--origin 0,0,6371001.5 was subtracted before rounding"), "{}", done.errors);
}

fn numbers(text: &str) -> Vec<f64> {
    text.split(',').map(|number| number.parse().unwrap()).collect()
}

/// The first root in f64.
fn first_root(sphere: &[f64], ray: &[f64]) -> f64 {
    let e = [0, 1, 2].map(|k| sphere[k] - ray[k]);
    let dot = |a: &[f64], b: &[f64]| (0..3).map(|k| a[k] * b[k]).sum::<f64>();
    let (a, b) = (dot(&ray[3..], &ray[3..]), dot(&e, &ray[3..]));
    let foot = [0, 1, 2].map(|k| e[k] - b / a * ray[3 + k]);
    b / a - ((sphere[3] * sphere[3] - dot(&foot, &foot)) / a).sqrt()
}

#[test]
fn refusals_help() {
    let folder = folder();
    folder.write("linear.toml", "unit = \"m\"\n[light]\ncenter = [9, 0, 0]\nradius = 1\nlimb_darkening = [0.3]\n");
    folder.write(
        "three.toml",
        "unit = \"m\"\n[light]\ncenter = [9, 0, 0]\nradius = 1\nlimb_darkening = [0.3, 0.2, 0.1]\n",
    );
    const ADD: &str = "it is a folder: add the name of a file";
    const DEVICE: &str = "it is a device or a pipe: give the name of a regular file";
    for (command, code, words) in [
        ("--threads abc devices", 2, vec!["invalid value 'abc' for '--threads <N>': expected a whole number\n"]),
        ("devices --threads 1e3", 2, vec!["'1e3'", "expected a whole number"]),
        ("devices --threads -1", 2, vec!["-1 is not in 1..=4096"]),
        ("devices --threads 0", 2, vec!["0 is not in 1..=4096"]),
        ("devices --threads 99999999999999999999", 2, vec!["expected a whole number"]),
        ("cast s.csv r.csv -o a.csv --query nearest --k two", 2, vec!["'two' for '--k <K>': expected a whole number"]),
        (
            "cast s.csv r.csv -o a.csv --sphere-radius wide",
            2,
            vec!["'wide' for '--sphere-radius <R>': expected a number"],
        ),
        ("render --samples -2", 2, vec!["-2 is not in"]),
        ("map 2026-08-12 --geojsn a.geojson", 2, vec!["a similar argument exists: '--geojson'"]),
        ("circumstances 2027-08-02 --timezone Africa/Cairo", 2, vec!["unexpected argument '--timezone' found"]),
        ("cast s.csv r.csv -o there", 5, vec!["cannot write there", ADD]),
        ("cast s.csv r.csv -o there/", 5, vec!["cannot write there/", ADD]),
        ("cast s.csv r.csv -o new.csv/", 5, vec!["cannot write new.csv/", ADD]),
        ("cast s.csv r.csv -o /", 5, vec!["cannot write /", ADD]),
        ("cast s.csv r.csv -o /dev/null", 5, vec!["cannot write /dev/null", DEVICE]),
        ("contains s.csv r.csv -o /dev/full", 5, vec!["cannot write /dev/full", DEVICE]),
        ("map 2026-08-12 -o there", 5, vec!["cannot write there", ADD]),
        ("map 2026-08-12 -o m.png --npy /dev/null", 5, vec!["cannot write /dev/null", DEVICE]),
        ("system 2024-04-08 -o there", 5, vec!["cannot write there", ADD]),
        ("system 2024-04-08 -o a.txt", 2, vec!["a.txt: cannot write a system in this format: supported is .toml"]),
        ("circumstances 2024-04-08 --places -", 5, vec!["cannot read standard input", "must be a file"]),
        ("circumstances 2024-04-08 --place Madrid", 2, vec!["place 'Madrid': expected LAT,LON", "--city takes names"]),
        ("circumstances 2024-04-08 --city dallas -o path.geojson", 2, vec!["umbracast map --geojson"]),
        ("render -", 5, vec!["cannot read standard input", "must be a file"]),
        (
            "system 2024-04-08T06:00:00Z --bodies sun,earth,phobos --vectors phobos@earth=io.csv -o a.toml",
            2,
            vec!["the radius of phobos is not known: give it in km, as --radius phobos=KM"],
        ),
        ("render linear.toml -o a.png", 2, vec!["limb_darkening is [0.3]", "for a linear law are [0.3, 0]"]),
        ("render three.toml -o a.png", 2, vec!["limb_darkening has 3 coefficients: expected two"]),
    ] {
        let done = folder.run(command);
        done.says(code, &words);
        assert!(
            !done.errors.contains("as a value") && !done.errors.contains("digit found"),
            "{command}: {}",
            done.errors
        );
    }
    // The remedies work, and keywords are accepted in any case.
    folder.write("linear.toml", "unit = \"m\"\n[light]\ncenter = [9, 0, 0]\nradius = 1\nlimb_darkening = [0.3, 0]\n[[body]]\ncenter = [0, 0, 0]\nradius = 1\n");
    for command in [
        "render linear.toml -o a.png --size 32x32 -q",
        "eclipse 2027-08-02 --radii NASA",
        "eclipse --list 2024..2025 --only Solar",
        "cast s.csv r.csv -o a.csv -q --query OCCLUDED --inside Exit --precision Exact",
        "system 2024-04-08T06:00:00Z --bodies sun,earth,phobos --vectors phobos@earth=io.csv --radius phobos=11 -o a.toml",
    ] {
        folder.run_ok(command);
    }
    assert_eq!(folder.text("a.csv"), "occluded\ntrue\n");
}

#[test]
fn every_package_has_the_version_and_the_licences() {
    let root = umbracast_testing::root();
    let text = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(text("Cargo.toml").matches(&format!("version = \"{version}\"")).count(), 4);
    assert!(text("CITATION.cff").contains(&format!("\nversion: {version}\n")));
    assert!(text("CHANGELOG.md").contains(&format!("\n## {version}")));
    for folder in ["crates/sky", "crates/files", "cli", "python"] {
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            assert_eq!(text(&format!("{folder}/{licence}")), text(licence), "{folder}");
        }
    }
    // The wheel contains the command line, and so the font.
    assert_eq!(text("python/LICENSE-DejaVu"), text("cli/LICENSE-DejaVu"));
    assert!(text("python/pyproject.toml").contains("\"LICENSE-DejaVu\"]"));
}

#[test]
fn descriptions_say_what_the_readme_says() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let where_it_runs = "on the CPU or on a GPU through";
    assert!(text("README.md").contains(where_it_runs));
    for path in ["Cargo.toml", "cli/Cargo.toml", "python/pyproject.toml", "python/README.md", "src/lib.rs"] {
        assert!(text(path).contains(where_it_runs), "{path}");
    }
    let help = Folder::new().run_ok("--help").output;
    assert!(help.contains(where_it_runs) && help.contains("Tested on Linux and x86-64"), "{help}");
    for path in ["README.md", "CONTRIBUTING.md", "docs/troubleshooting.md", "docs/install.md", "python/README.md"] {
        let text = text(path).to_lowercase();
        for word in ["any gpu", "send us", "bug report", "please report"] {
            assert!(!text.contains(word), "{path}: {word}");
        }
    }
}
