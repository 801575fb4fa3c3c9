//! Invalid input of `umbracast bullets`: each is rejected with a helpful message, and no file changes.

use super::bullets::{BULLETS, SPHERES};
use umbracast_testing::folder::{Folder, Words, Wrong, f32_bytes, npy, refuse_all};

#[test]
fn invalid_input_is_refused_and_no_file_changes() {
    let head = "x1,y1,z1,x2,y2,z2,speed\n";
    let good = "0,0,0,1,1,1,1\n";
    let table = |row: &str| Some(format!("{head}{good}{row}\n").into_bytes());
    let array = |shape: &str, count: usize| Some(npy("'<f4'", false, shape, &f32_bytes(&vec![1.0; count])));
    let wide = |radius: &str| Some(format!("x1,y1,z1,x2,y2,z2,speed,radius\n0,0,0,1,1,1,1,{radius}\n").into_bytes());
    let other = Some(b"x1,y1,z1,x2,y2,z2,speed,time\n0,0,0,1,1,1,1,1\n".to_vec());
    let moving = |vx: &str| Some(format!("x,y,z,r,vx,vy,vz\n5,5,5,1,{vx},0,0\n").into_bytes());
    let files = "bullets s.csv b.csv -o out.csv";
    let npys = "bullets s.csv b.npy -o out.csv";
    let one = "bullets --from 0,0,0 --to 4,4,4 --speed 3 --sphere 4,4,0,4";
    let file = |name, bytes: Option<Vec<u8>>| bytes.map(|bytes| (name, bytes));
    let bullets: Vec<(&'static str, Option<Vec<u8>>, Words)> = vec![
        ("no speed", table("0,0,0,1,1,1,0"), &["b.csv: line 3: speed is 0: a speed must be above 0"]),
        ("backwards", table("0,0,0,1,1,1,-3"), &["line 3: speed is -3", "above 0"]),
        ("vanishing speed", table("0,0,0,1,1,1,1e-60"), &["speed is 0 after rounding to f32"]),
        (
            "to itself",
            table("1,2,3,1,2,3,1"),
            &["line 3: x2,y2,z2 is the start point: the target point must differ from it"],
        ),
        ("nearly to itself", table("1,2,3,1,2,3.00000001,1"), &["x2,y2,z2 is the start point after rounding to f32"]),
        ("NaN start", table("0,nan,0,1,1,1,1"), &["line 3: y1 is nan: a start point must be finite"]),
        (
            "column missing",
            Some(b"x1,y1,z1,x2,y2,z2\n0,0,0,1,1,1\n".to_vec()),
            &["column 'speed' is missing", "x1,y1,z1,x2,y2,z2,speed"],
        ),
        (
            "unknown column",
            Some(b"x1,y1,z1,x2,y2,z2,sped\n".to_vec()),
            &["unknown column 'sped'", "did you mean 'speed'"],
        ),
        ("swapped", Some(SPHERES.into()), &["'x' belongs to spheres", "SPHERES, then BULLETS"]),
        ("radius in words", wide("wide"), &["b.csv: line 2: radius is 'wide'", "a number"]),
        ("radius below 0", wide("-0.5"), &["line 2: radius is -0.5", "not be negative"]),
        ("column of rays", other, &["b.csv", "column 'time'"]),
    ];
    let usages: Vec<(&'static str, String, Words)> = vec![
        ("no bounces", format!("{files} --bounces 0"), &["0 is not in 1..", "--bounces"]),
        ("fewer than none", format!("{files} --bounces -2"), &["-2 is not in 1..", "--bounces"]),
        ("bounces in words", format!("{files} --bounces many"), &["'many'", "--bounces"]),
        ("no output", "bullets s.csv b.csv".into(), &["--output"]),
        ("no bullets", "bullets s.csv -o out.csv".into(), &["<BULLETS>"]),
        ("over the input", "bullets s.csv b.csv -o b.csv".into(), &["is also an input"]),
        ("policies", format!("{files} --inside exit"), &["--inside"]),
        ("no terminal", "bullets".into(), &["SPHERES, BULLETS and -o OUT", "a terminal for interactive prompts"]),
        ("precision alone", "bullets --precision fast".into(), &["SPHERES"]),
        ("skipping alone", "bullets --on-bad skip".into(), &["SPHERES"]),
        ("start alone", "bullets --from 0,0,0".into(), &["--to", "--speed", "--sphere"]),
        ("speed alone", "bullets --speed 3".into(), &["--from"]),
        ("one and files", format!("{one} s.csv b.csv -o out.csv"), &["cannot be used with"]),
        ("one and a device", format!("{one} --device cpu"), &["cannot be used with", "--device"]),
        ("one and bounces", format!("{one} --bounces 2"), &["cannot be used with", "--bounces"]),
        ("one standing still", one.replace("--speed 3", "--speed 0"), &["speed is 0: a speed must be above 0"]),
        (
            "frames at rest",
            format!("{files} --frames 3"),
            &["--frames needs moving spheres", "s.csv has no columns vx"],
        ),
        ("one with a radius below 0", format!("{one} --radius -1"), &["radius is -1", "not negative"]),
        ("one with a radius in words", format!("{one} --radius wide"), &["radius is 'wide'"]),
        ("one at a velocity of two", format!("{one} --velocity 1,2"), &["2 numbers, expected 3: vx,vy,vz"]),
        ("one at no velocity", format!("{one} --velocity 1,2,nan"), &["vz is NaN", "must be finite"]),
        ("one and frames", format!("{one} --frames 2"), &["cannot be used with", "--frames"]),
        ("a radius alone", format!("{files} --radius 2"), &["--from"]),
        ("a velocity alone", format!("{files} --velocity 2,0,0"), &["--from"]),
        ("one backwards", one.replace("--speed 3", "--speed -1"), &["speed is -1"]),
        ("one to itself", one.replace("4,4,4", "0,0,0"), &["--to is the start point", "the target point must differ"]),
        ("one from nowhere", one.replace("--from 0,", "--from nan,"), &["x is NaN: a start point must be finite"]),
        ("one at a point", one.replace("4,4,0,4", "4,4,0,0"), &["r is 0", "the radius must be above 0"]),
        ("one at less", one.replace("4,4,0,4", "4,4,0,-4"), &["r is -4", "negative"]),
        ("one of two numbers", one.replace("0,0,0", "0,0"), &["2 numbers, expected 3: x,y,z"]),
        ("one beyond f32", one.replace("4,4,4", "4,4,1e39"), &["z is 1e39", "exceeds"]),
    ];
    let others: Vec<Wrong> = vec![
        (
            "word, though bad ones are skipped",
            file("b.csv", table("0,0,0,1,1,x,1")),
            format!("{files} --on-bad skip"),
            2,
            &["z2 is 'x'"],
        ),
        (
            "array of rays",
            file("b.npy", array("(1, 6)", 6)),
            npys.into(),
            2,
            &["shape is (1, 6)", "expected (M, 7)", "for bullets"],
        ),
        (
            "array of spheres",
            file("b.npy", array("(2, 4)", 8)),
            npys.into(),
            2,
            &["shape is (2, 4)", "SPHERES, then BULLETS"],
        ),
        (
            "array to itself",
            file("b.npy", array("(2, 7)", 14)),
            npys.into(),
            2,
            &["row 1 (index 0): x2,y2,z2 is the start point"],
        ),
        (
            "raw of others",
            file("b.rays", Some(vec![0; 28])),
            "bullets s.csv b.rays -o out.csv".into(),
            2,
            &["'.rays'", ".f32 and .bullets"],
        ),
        (
            "flat sphere",
            file("s.csv", Some(b"x,y,z,r\n1,1,1,1\n2,2,2,0\n".to_vec())),
            files.into(),
            2,
            &["s.csv: row 2 (index 1): r is 0", "the radius must be above 0"],
        ),
        ("no frames", file("s.csv", moving("1")), files.into(), 2, &["s.csv move (columns vx,vy,vz)", "with --frames"]),
        (
            "frames of none",
            file("s.csv", moving("1")),
            format!("{files} --frames 0"),
            2,
            &["--frames", "frames is 0: it must be finite"],
        ),
        (
            "frames backwards",
            file("s.csv", moving("1")),
            format!("{files} --frames -4"),
            2,
            &["frames is -4: it must be finite and above 0"],
        ),
        (
            "frames for ever",
            file("s.csv", moving("1")),
            format!("{files} --frames inf"),
            2,
            &["frames is inf: it must be finite"],
        ),
        ("frames in words", file("s.csv", moving("1")), format!("{files} --frames few"), 2, &["frames is 'few'"]),
        (
            "NaN velocity",
            file("s.csv", moving("nan")),
            format!("{files} --frames 3"),
            2,
            &["s.csv: line 2: vx is nan", "finite"],
        ),
        (
            "out of f32",
            file("s.csv", moving("1e38")),
            format!("{files} --frames 9"),
            2,
            &["sphere 0: vx is", "leaves the range of f32"],
        ),
    ];
    let folder = || {
        let folder = Folder::new();
        folder.write("s.csv", SPHERES).write("b.csv", BULLETS);
        folder
    };
    let bullets = bullets.into_iter().map(|(what, bytes, words)| (what, file("b.csv", bytes), files.into(), 2, words));
    let usages = usages.into_iter().map(|(what, arguments, words)| (what, None, arguments, 2, words));
    refuse_all(folder, bullets.chain(usages).chain(others));
}
