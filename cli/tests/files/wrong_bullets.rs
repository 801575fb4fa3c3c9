//! Invalid input of `umbracast bullets`: each is rejected with a helpful message, and no file changes.

use super::bullets::{BULLETS, SPHERES};
use umbracast_testing::folder::{Folder, f32_bytes, npy};

/// Description of the error, file that contains it, bytes of this file, arguments, exit code, and words that the message must contain.
type Wrong = (&'static str, &'static str, Option<Vec<u8>>, String, i32, &'static [&'static str]);

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
    let cases: Vec<Wrong> = vec![
        (
            "no speed",
            "b.csv",
            table("0,0,0,1,1,1,0"),
            files.into(),
            2,
            &["b.csv: line 3: speed is 0: a speed must be above 0"],
        ),
        ("backwards", "b.csv", table("0,0,0,1,1,1,-3"), files.into(), 2, &["line 3: speed is -3", "above 0"]),
        (
            "vanishing speed",
            "b.csv",
            table("0,0,0,1,1,1,1e-60"),
            files.into(),
            2,
            &["speed is 0 after rounding to f32"],
        ),
        ("NaN speed", "b.csv", table("0,0,0,1,1,1,nan"), files.into(), 2, &["line 3: speed is nan", "finite"]),
        ("infinite speed", "b.csv", table("0,0,0,1,1,1,inf"), files.into(), 2, &["line 3: speed is inf", "finite"]),
        ("no speed said", "b.csv", table("0,0,0,1,1,1,"), files.into(), 2, &["line 3: speed is empty", "finite"]),
        (
            "to itself",
            "b.csv",
            table("1,2,3,1,2,3,1"),
            files.into(),
            2,
            &["line 3: x2,y2,z2 is 1,2,3", "the target point must differ from the start point"],
        ),
        (
            "nearly to itself",
            "b.csv",
            table("1,2,3,1,2,3.00000001,1"),
            files.into(),
            2,
            &["x2,y2,z2 is 1,2,3 after rounding to f32"],
        ),
        (
            "NaN start",
            "b.csv",
            table("0,nan,0,1,1,1,1"),
            files.into(),
            2,
            &["line 3: y1 is nan: a start point must be finite"],
        ),
        (
            "infinite target",
            "b.csv",
            table("0,0,0,1,-inf,1,1"),
            files.into(),
            2,
            &["line 3: y2 is -inf", "a target point must be finite"],
        ),
        (
            "beyond f32",
            "b.csv",
            table("0,0,0,1,1,1e39,1"),
            files.into(),
            2,
            &["line 3: z2 is 1e39", "exceeds the largest f32"],
        ),
        (
            "speed beyond f32",
            "b.csv",
            table("0,0,0,1,1,1,1e39"),
            files.into(),
            2,
            &["line 3: speed is 1e39", "exceeds"],
        ),
        ("word", "b.csv", table("0,0,0,1,1,fast,1"), files.into(), 2, &["line 3: z2 is 'fast'", "expected a number"]),
        ("too few cells", "b.csv", table("0,0,0,1,1,1"), files.into(), 2, &["line 3", "6 cells, expected 7"]),
        (
            "column missing",
            "b.csv",
            Some(b"x1,y1,z1,x2,y2,z2\n0,0,0,1,1,1\n".to_vec()),
            files.into(),
            2,
            &["column 'speed' is missing", "x1,y1,z1,x2,y2,z2,speed"],
        ),
        (
            "unknown column",
            "b.csv",
            Some(b"x1,y1,z1,x2,y2,z2,sped\n".to_vec()),
            files.into(),
            2,
            &["unknown column 'sped'", "did you mean 'speed'"],
        ),
        (
            "swapped",
            "b.csv",
            Some(SPHERES.into()),
            files.into(),
            2,
            &["'x' belongs to spheres", "SPHERES, then BULLETS"],
        ),
        ("empty table", "b.csv", Some(vec![]), files.into(), 2, &["b.csv", "empty (0 bytes)", "x1,y1,z1"]),
        (
            "word, though bad ones are skipped",
            "b.csv",
            table("0,0,0,1,1,x,1"),
            format!("{files} --on-bad skip"),
            2,
            &["z2 is 'x'"],
        ),
        (
            "array of rays",
            "b.npy",
            array("(1, 6)", 6),
            npys.into(),
            2,
            &["shape is (1, 6)", "expected (M, 7)", "for bullets"],
        ),
        (
            "array of spheres",
            "b.npy",
            array("(2, 4)", 8),
            npys.into(),
            2,
            &["shape is (2, 4)", "SPHERES, then BULLETS"],
        ),
        (
            "truncated array",
            "b.npy",
            array("(3, 7)", 14),
            npys.into(),
            2,
            &["needs 84 bytes", "the file has 56", "truncated"],
        ),
        ("array to itself", "b.npy", array("(2, 7)", 14), npys.into(), 2, &["row 1 (index 0): x2,y2,z2 is 1,1,1"]),
        (
            "half a record",
            "b.f32",
            Some(vec![0; 40]),
            "bullets s.csv b.f32 -o out.csv".into(),
            2,
            &["40 bytes", "multiple of 28"],
        ),
        (
            "raw of others",
            "b.rays",
            Some(vec![0; 28]),
            "bullets s.csv b.rays -o out.csv".into(),
            2,
            &["'.rays'", ".f32 and .bullets"],
        ),
        (
            "flat sphere",
            "s.csv",
            Some(b"x,y,z,r\n1,1,1,1\n2,2,2,0\n".to_vec()),
            files.into(),
            2,
            &["s.csv: row 2 (index 1): r is 0", "the radius must be above 0"],
        ),
        (
            "negative sphere",
            "s.csv",
            Some(b"x,y,z,r\n1,1,1,-1\n".to_vec()),
            files.into(),
            2,
            &["line 2: r is -1", "negative"],
        ),
        ("no bounces", "x", None, format!("{files} --bounces 0"), 2, &["0 is not in 1..", "--bounces"]),
        ("fewer than none", "x", None, format!("{files} --bounces -2"), 2, &["-2 is not in 1..", "--bounces"]),
        ("bounces in words", "x", None, format!("{files} --bounces many"), 2, &["'many'", "--bounces"]),
        ("no output", "x", None, "bullets s.csv b.csv".into(), 2, &["--output"]),
        ("no bullets", "x", None, "bullets s.csv -o out.csv".into(), 2, &["<BULLETS>"]),
        ("over the input", "x", None, "bullets s.csv b.csv -o b.csv".into(), 2, &["is also an input"]),
        ("policies", "x", None, format!("{files} --inside exit"), 2, &["--inside"]),
        ("no such file", "x", None, "bullets s.csv gone.csv -o out.csv".into(), 5, &["cannot read gone.csv"]),
        ("no such device", "x", None, format!("{files} --device abacus"), 3, &["no device 'abacus'"]),
        (
            "no terminal",
            "x",
            None,
            "bullets".into(),
            2,
            &["SPHERES, BULLETS and -o OUT", "a terminal for interactive prompts"],
        ),
        ("precision alone", "x", None, "bullets --precision fast".into(), 2, &["SPHERES"]),
        ("skipping alone", "x", None, "bullets --on-bad skip".into(), 2, &["SPHERES"]),
        ("start alone", "x", None, "bullets --from 0,0,0".into(), 2, &["--to", "--speed", "--sphere"]),
        ("speed alone", "x", None, "bullets --speed 3".into(), 2, &["--from"]),
        ("one and files", "x", None, format!("{one} s.csv b.csv -o out.csv"), 2, &["cannot be used with"]),
        ("one and a device", "x", None, format!("{one} --device cpu"), 2, &["cannot be used with", "--device"]),
        ("one and bounces", "x", None, format!("{one} --bounces 2"), 2, &["cannot be used with", "--bounces"]),
        (
            "one standing still",
            "x",
            None,
            one.replace("--speed 3", "--speed 0"),
            2,
            &["speed is 0: a speed must be above 0"],
        ),
        ("radius in words", "b.csv", wide("wide"), files.into(), 2, &["b.csv: line 2: radius is 'wide'", "a number"]),
        ("radius below 0", "b.csv", wide("-0.5"), files.into(), 2, &["line 2: radius is -0.5", "not be negative"]),
        ("NaN radius", "b.csv", wide("nan"), files.into(), 2, &["line 2: radius is nan", "finite"]),
        ("radius beyond f32", "b.csv", wide("1e39"), files.into(), 2, &["line 2: radius is 1e39", "largest f32"]),
        ("no radius said", "b.csv", wide(""), files.into(), 2, &["line 2: radius is empty", "finite"]),
        ("column of rays", "b.csv", other, files.into(), 2, &["b.csv", "column 'time'"]),
        ("no frames", "s.csv", moving("1"), files.into(), 2, &["s.csv move (columns vx,vy,vz)", "with --frames"]),
        (
            "frames at rest",
            "x",
            None,
            format!("{files} --frames 3"),
            2,
            &["--frames needs moving spheres", "s.csv has no columns vx"],
        ),
        (
            "frames of none",
            "s.csv",
            moving("1"),
            format!("{files} --frames 0"),
            2,
            &["--frames", "frames is 0: it must be finite"],
        ),
        (
            "frames backwards",
            "s.csv",
            moving("1"),
            format!("{files} --frames -4"),
            2,
            &["frames is -4: it must be finite and above 0"],
        ),
        (
            "frames for ever",
            "s.csv",
            moving("1"),
            format!("{files} --frames inf"),
            2,
            &["frames is inf: it must be finite"],
        ),
        ("frames in words", "s.csv", moving("1"), format!("{files} --frames few"), 2, &["frames is 'few'"]),
        (
            "NaN velocity",
            "s.csv",
            moving("nan"),
            format!("{files} --frames 3"),
            2,
            &["s.csv: line 2: vx is nan", "finite"],
        ),
        (
            "out of f32",
            "s.csv",
            moving("1e38"),
            format!("{files} --frames 9"),
            2,
            &["sphere 0: vx is", "leaves the range of f32"],
        ),
        ("half a velocity", "s.csv", Some(b"x,y,z,r,vx\n1,1,1,1,1\n".to_vec()), files.into(), 2, &["three columns"]),
        ("one with a radius below 0", "x", None, format!("{one} --radius -1"), 2, &["radius is -1", "not negative"]),
        ("one with a radius in words", "x", None, format!("{one} --radius wide"), 2, &["radius is 'wide'"]),
        (
            "one at a velocity of two",
            "x",
            None,
            format!("{one} --velocity 1,2"),
            2,
            &["2 numbers, expected 3: vx,vy,vz"],
        ),
        ("one at no velocity", "x", None, format!("{one} --velocity 1,2,nan"), 2, &["vz is NaN", "must be finite"]),
        ("one and frames", "x", None, format!("{one} --frames 2"), 2, &["cannot be used with", "--frames"]),
        ("a radius alone", "x", None, format!("{files} --radius 2"), 2, &["--from"]),
        ("a velocity alone", "x", None, format!("{files} --velocity 2,0,0"), 2, &["--from"]),
        ("one backwards", "x", None, one.replace("--speed 3", "--speed -1"), 2, &["speed is -1"]),
        (
            "one to itself",
            "x",
            None,
            one.replace("4,4,4", "0,0,0"),
            2,
            &["--to is 0,0,0", "the target point must differ"],
        ),
        (
            "one from nowhere",
            "x",
            None,
            one.replace("--from 0,", "--from nan,"),
            2,
            &["x is NaN: a start point must be finite"],
        ),
        ("one at a point", "x", None, one.replace("4,4,0,4", "4,4,0,0"), 2, &["r is 0", "the radius must be above 0"]),
        ("one at less", "x", None, one.replace("4,4,0,4", "4,4,0,-4"), 2, &["r is -4", "negative"]),
        ("one of two numbers", "x", None, one.replace("0,0,0", "0,0"), 2, &["2 numbers, expected 3: x,y,z"]),
        ("one beyond f32", "x", None, one.replace("4,4,4", "4,4,1e39"), 2, &["z is 1e39", "exceeds"]),
    ];
    for (what, name, bytes, arguments, code, words) in cases {
        let folder = Folder::new();
        folder.write("s.csv", SPHERES).write("b.csv", BULLETS).write("out.csv", "kept");
        if let Some(bytes) = bytes {
            folder.write(name, bytes);
        }
        let before = folder.contents();
        let done = folder.run(&arguments);
        let all = format!("{what}: umbracast {arguments}\n{}", done.errors);
        assert_eq!(done.code, code, "{all}");
        assert!(words.iter().all(|word| done.errors.contains(word)), "not all of {words:?} are in the message. {all}");
        assert!(done.errors.starts_with("error: ") && done.output.is_empty(), "{all}");
        assert!(folder.contents() == before, "files have changed. {all}");
    }
}
