//! `umbracast shadow` with invalid files and options: what the error message must contain.

use super::observers::{FILES, OBSERVERS, SYSTEM, folder};
use umbracast_testing::folder::{Done, f32_bytes, npy};

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
            &["o.txt", "observers", ".npy, .npz, .csv"],
        ),
        (
            "unknown output",
            None,
            "shadow o.csv s.toml -o out.xyz",
            2,
            &["out.xyz", "'.xyz'", ".npz, .csv, .parquet, .npy and .f32"],
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
