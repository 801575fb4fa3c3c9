//! `umbracast shadow` with invalid files and options: what the error message must contain.

use super::observers::{FILES, OBSERVERS, SYSTEM, folder};
use umbracast_testing::folder::{Words, Wrong, WrongFile, f32_bytes, npy, refuse_all};

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
    let files: Vec<(&'static str, WrongFile, Words)> = vec![
        ("no light", system("unit = \"km\"\n".into()), &["s.toml", "the table [light] is missing"]),
        ("unknown key", edited("radius = 1\n", "radius = 1\nkind = \"star\"\n"), &["s.toml", "unknown key `kind`"]),
        ("unknown unit", edited("\"km\"", "\"miles\""), &["unit is \"miles\"", "km"]),
        (
            "unknown kind of camera",
            edited(
                "[light]",
                "[camera]\nkind = \"fisheye\"\nposition = [0,0,0]\ntarget = [0,0,1]\nup = [0,1,0]\n[light]",
            ),
            &["s.toml", "fisheye", "perspective"],
        ),
        (
            "body in the light",
            edited("radius = 0.25", "radius = 49.5"),
            &["s.toml", "body[0]", "touches or overlaps the light"],
        ),
        ("negative radius", edited("radius = 1\n", "radius = -1\n"), &["light: radius is -1"]),
        ("body without a size", edited("radius = 0.25", "radius = 0"), &["body[0]", "radius is 0"]),
        (
            "body without height",
            edited("radius = 0.25", "radius = 0.25\npolar_radius = 0"),
            &["s.toml", "body[0] 'body': polar_radius is 0: it must be between 0.01 and 100 times the radius, 0.25"],
        ),
        (
            "body with less than none",
            edited("radius = 0.25", "radius = 0.25\npolar_radius = -0.2"),
            &["s.toml", "body[0] 'body': polar_radius is -0.2"],
        ),
        (
            "body with no number",
            edited("radius = 0.25", "radius = 0.25\npolar_radius = nan"),
            &["s.toml", "body[0] 'body': polar_radius is NaN"],
        ),
        (
            "needle",
            edited("radius = 0.25", "radius = 0.25\npolar_radius = 26"),
            &["s.toml", "body[0] 'body': polar_radius is 26"],
        ),
        (
            "flat body without a pole",
            edited("radius = 0.25", "radius = 0.25\npolar_radius = 0.2\npole = [0, 0, 0]"),
            &["s.toml", "body[0] 'body': pole is [0, 0, 0]"],
        ),
        (
            "pole that is no number",
            edited("radius = 0.25", "radius = 0.25\npolar_radius = 0.2\npole = [0, nan, 1]"),
            &["s.toml", "body[0] 'body': pole is [0, NaN, 1]"],
        ),
        (
            "flat cloud",
            edited("center = [0, 0, 50]\nradius = 0.25", "spheres = \"c.npy\"\npolar_radius = 0.2"),
            &["s.toml", "body[0]: a body with spheres cannot have polar_radius"],
        ),
        (
            "needle in the light",
            edited("radius = 0.25", "radius = 1\npolar_radius = 49.5"),
            &["s.toml", "body[0]", "touches or overlaps the light"],
        ),
        ("huge body", edited("center = [0, 0, 50]", "center = [0, 0, 1e300]"), &["body[0]", "center is [0, 0, 1"]),
        ("not TOML", system("x,y,z\n1,2,3\n".into()), &["s.toml", "line 1"]),
        ("column missing", observers("x,y\n1,2\n"), &["o.csv: line 1: column 'z' is missing", "x,y,z"]),
        ("columns of spheres", observers("x,y,z,r\n1,2,3,4\n"), &["unknown column 'r'", "known columns are x,y,z"]),
        ("no header", observers("1,2,3\n"), &["o.csv: line 1", "name the columns x,y,z"]),
        ("word", observers("x,y,z\n1,2,3\n1,two,3\n"), &["o.csv: line 3: y is 'two'"]),
        ("NaN", observers("x,y,z\n1,2,3\n1,2,NaN\n"), &["o.csv: line 3: z is NaN", "1e150"]),
        ("infinite", observers("x,y,z\n\n-inf,2,3\n"), &["o.csv: line 3: x is -inf", "1e150"]),
        ("empty cell", observers("x,y,z\n1,,3\n"), &["o.csv: line 2: y is empty", "between -1e150 and 1e150"]),
        ("huge", observers("x,y,z\n1e300,2,3\n"), &["o.csv: line 2: x is 1e300", "between -1e150 and 1e150"]),
        ("beyond f64", observers("x,y,z\n1,2,-1e999\n"), &["o.csv: line 2: z is -1e999", "between -1e150 and 1e150"]),
        ("empty file", observers(""), &["o.csv", "empty (0 bytes)", "x,y,z"]),
    ];
    let others: Vec<(&'static str, WrongFile, &'static str, i32, Words)> = vec![
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
            &["o.txt", "observers", ".npy, .npz, .csv, .parquet, .ply, .xyz, .pdb, .f32 and .observers"],
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
    ];
    let files = files.into_iter().map(|(what, file, words)| (what, file, FILES, 2, words));
    let all = files.chain(others);
    all.map(|(what, file, arguments, code, words)| (what, file, arguments.into(), code, words)).collect()
}

#[test]
fn wrong_inputs_are_refused_in_words_that_help() {
    let inputs = wrong_inputs();
    assert!(inputs.len() > 30);
    refuse_all(folder, inputs);
}
