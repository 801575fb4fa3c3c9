//! The built program, run as its users run it: wrong inputs are refused in words that help and change nothing; right ones
//! give the same answers in every format.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "a test that cannot write its files may panic")]

mod folder;

use std::path::Path;

use folder::{Folder, f32s, le4, npy, numbers};

const SPHERES: &str = "x,y,z,r\n4,0,0,1\n0,5,0,2\n";
const RAYS: &str = "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n0,0,0,0,1,0\n0,0,0,0,0,1\n";

/// One wrong input: what is wrong, the file it is in, the arguments, the exit code, and the words that must appear.
/// `s.csv` and `r.csv` are right unless the file says otherwise, and `out.csv` is there already.
type Wrong = (&'static str, Option<(&'static str, Vec<u8>)>, &'static str, i32, &'static [&'static str]);

fn wrong(
    what: &'static str,
    file: impl Into<Option<(&'static str, Vec<u8>)>>,
    arguments: &'static str,
    code: i32,
    words: &'static [&'static str],
) -> Wrong {
    (what, file.into(), arguments, code, words)
}

const FILES: &str = "cast s.csv r.csv -o out.csv";

fn wrong_spheres(what: &'static str, text: &str, words: &'static [&'static str]) -> Wrong {
    wrong(what, ("s.csv", text.into()), FILES, 2, words)
}

fn wrong_rays(what: &'static str, text: &str, words: &'static [&'static str]) -> Wrong {
    wrong(what, ("r.csv", text.into()), FILES, 2, words)
}

fn wrong_array(what: &'static str, bytes: Vec<u8>, words: &'static [&'static str]) -> Wrong {
    wrong(what, ("s.npy", bytes), "cast s.npy r.csv -o out.csv", 2, words)
}

fn wrong_usage(what: &'static str, arguments: &'static str, words: &'static [&'static str]) -> Wrong {
    wrong(what, None, arguments, 2, words)
}

fn tables() -> Vec<Wrong> {
    let head = "ox,oy,oz,dx,dy,dz,t_min,t_max\n";
    vec![
        wrong_spheres("empty", "", &["s.csv", "empty (0 bytes)", "x,y,z,r"]),
        wrong_spheres("no header", "1,2,3,4\n", &["s.csv: line 1", "numbers where the names"]),
        wrong_spheres("semicolons", "x;y;z;r\n1;2;3;4\n", &["separated by ';'", "expected commas"]),
        wrong_spheres("unknown column", "x,y,z,radius\n", &["unknown column 'radius'", "did you mean 'r'"]),
        wrong_spheres("column missing", "x,y,z\n1,2,3\n", &["column 'r' is missing", "x,y,z,r"]),
        wrong_spheres("column twice", "x,y,z,r,z\n", &["'z' is there twice"]),
        wrong_spheres("column of a later release", "x,y,z,r,vx\n", &["'vx' is not supported yet"]),
        wrong_spheres("columns of rays", RAYS, &["'ox' is one of rays", "SPHERES, then RAYS"]),
        wrong_spheres("word", "x,y,z,r\n1,2,3,4\n1,two,3,4\n", &["s.csv: line 3: y is 'two'", "expected a number"]),
        wrong_spheres("too few cells", "x,y,z,r\n1,2,3\n", &["line 2", "3 cells: expected 4"]),
        wrong_spheres("too many cells", "x,y,z,r\n1,2,3,4,5\n", &["line 2", "5 cells: expected 4"]),
        wrong_spheres("empty cell", "x,y,z,r\n1,2,,4\n", &["line 2: z is empty", "finite"]),
        wrong_spheres("NaN", "x,y,z,r\nNaN,2,3,4\n", &["line 2: x is NaN", "finite"]),
        wrong_spheres("infinite centre", "x,y,z,r\n1,2,-inf,4\n", &["line 2: z is -inf", "finite"]),
        wrong_spheres("infinite radius", "x,y,z,r\n1,2,3,inf\n", &["line 2: r is inf", "finite"]),
        wrong_spheres("negative radius", "x,y,z,r\n\n1,2,3,-4\n", &["line 3: r is -4", "not be negative"]),
        wrong_spheres("beyond f32", "x,y,z,r\n1e39,2,3,4\n", &["line 2: x is 1e39", "exceeds the largest f32"]),
        wrong_spheres("beyond f64", "x,y,z,r\n1e999,2,3,4\n", &["line 2: x is 1e999", "exceeds the largest f32"]),
        wrong("not UTF-8", ("s.csv", b"x,y,z,r\n1,2,3,\xff\n".to_vec()), FILES, 2, &["line 2", "UTF-8"]),
        wrong_rays("zero direction", "ox,oy,oz,dx,dy,dz\n1,2,3,0,0,0\n", &["r.csv: line 2: direction", "not be zero"]),
        wrong_rays("vanishing direction", "ox,oy,oz,dx,dy,dz\n1,2,3,0,1e-60,0\n", &["once rounded to f32"]),
        wrong_rays("infinite direction", "ox,oy,oz,dx,dy,dz\n1,2,3,inf,0,0\n", &["line 2: dx is inf", "finite"]),
        wrong_rays("NaN origin", "ox,oy,oz,dx,dy,dz\n1,nan,3,1,0,0\n", &["line 2: oy is nan", "finite"]),
        wrong_rays("NaN end", &format!("{head}1,2,3,1,0,0,nan,5\n"), &["line 2: t_min is nan"]),
        wrong_rays("ends crossed", &format!("{head}1,2,3,1,0,0,6,5\n"), &["t_min is 6 with t_max 5", "not exceed"]),
        wrong_rays("starts at +inf", &format!("{head}1,2,3,1,0,0,inf,inf\n"), &["line 2: t_min is inf"]),
        wrong_rays("end beyond f32", &format!("{head}1,2,3,1,0,0,0,1e39\n"), &["t_max is 1e39", "exceeds"]),
        wrong_rays("guess", "ox,oy,oz,dx,dy,dz,tmax\n", &["unknown column 'tmax'", "did you mean 't_max'"]),
        wrong_rays("later column", "ox,oy,oz,dx,dy,dz,skip_id\n", &["'skip_id' is not supported yet"]),
        wrong(
            "word, though bad rays are skipped",
            ("r.csv", b"ox,oy,oz,dx,dy,dz\n1,2,3,x,0,0\n".to_vec()),
            "cast s.csv r.csv -o out.csv --on-bad skip",
            2,
            &["line 2: dx is 'x'", "expected a number"],
        ),
        wrong(
            "bad sphere, though bad rays are skipped",
            ("s.csv", b"x,y,z,r\n1,2,3,-4\n".to_vec()),
            "cast s.csv r.csv -o out.csv --on-bad skip",
            2,
            &["line 2: r is -4"],
        ),
    ]
}

fn arrays() -> Vec<Wrong> {
    let data = le4(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    let array = |descr: &str, shape: &str| npy(descr, false, shape, &data);
    let nan = le4(&[1.0, 2.0, 3.0, 4.0, 5.0, f32::NAN, 7.0, 8.0]);
    vec![
        wrong_array("empty", vec![], &["s.npy", "empty (0 bytes)"]),
        wrong_array("text", SPHERES.into(), &["s.npy", "does not begin with"]),
        wrong_array("archive", b"PK\x03\x04 and more of it".to_vec(), &[".npz archive"]),
        wrong_array("header truncated", array("'<f4'", "(2, 4)")[..30].to_vec(), &["header", "truncated"]),
        wrong_array("truncated", array("'<f4'", "(3, 4)"), &["needs 48 bytes", "32 are there", "truncated"]),
        wrong_array("trailing bytes", array("'<f4'", "(1, 4)"), &["needs 16 bytes", "trailing bytes"]),
        wrong_array("integers", array("'<i4'", "(2, 4)"), &["dtype is '<i4'", "expected f4 or f8"]),
        wrong_array("objects", array("'|O'", "(2, 4)"), &["dtype is '|O'", "expected f4 or f8"]),
        wrong_array("flat", array("'<f4'", "(8,)"), &["shape is (8,)", "expected (N, 4)"]),
        wrong_array("rays", array("'<f4'", "(1, 8)"), &["shape is (1, 8)", "SPHERES, then RAYS"]),
        wrong_array("absurd shape", array("'<f4'", "(123456789012345, 4)"), &["1975308624197520 bytes", "truncated"]),
        wrong_array("more absurd shape", array("'<f4'", "(1234567890123456789, 4)"), &["shape is too large"]),
        wrong_array("nested header", array("'<f4'", &"(".repeat(40)), &["nests too deeply"]),
        wrong_array("NaN", npy("'<f4'", false, "(2, 4)", &nan), &["s.npy: row 2 (index 1): y is NaN", "finite"]),
        wrong(
            "spheres as rays",
            ("r.npy", array("'<f4'", "(2, 4)")),
            "cast s.csv r.npy -o out.csv",
            2,
            &["r.npy", "(M, 6)", "(M, 8)", "SPHERES, then RAYS"],
        ),
        wrong(
            "half a record",
            ("s.f32", vec![0; 24]),
            "cast s.f32 r.csv -o out.csv",
            2,
            &["s.f32", "24 bytes", "multiple of 16"],
        ),
        wrong(
            "half a ray",
            ("r.rays", vec![0; 80]),
            "cast s.csv r.rays -o out.csv",
            2,
            &["80 bytes", "multiple of 32"],
        ),
        wrong(
            "zero ray",
            ("r.f32", vec![0; 32]),
            "cast s.csv r.f32 -o out.csv",
            2,
            &["r.f32: row 1 (index 0): direction", "not be zero"],
        ),
        wrong(
            "rays as spheres",
            ("s.rays", vec![0; 32]),
            "cast s.rays r.csv -o out.csv",
            2,
            &["'.rays'", "supported are .npy, .csv, .f32 and .spheres"],
        ),
    ]
}

fn usages() -> Vec<Wrong> {
    vec![
        wrong_usage("nothing", "", &["Usage: umbracast"]),
        wrong_usage("no such subcommand", "throw", &["unrecognized subcommand 'throw'"]),
        wrong_usage("no rays", "cast s.csv -o out.csv", &["RAYS"]),
        wrong_usage("no output", "cast s.csv r.csv", &["--output"]),
        wrong_usage(
            "no such query",
            "cast s.csv r.csv -o out.csv --query nearest",
            &["nearest", "closest", "approach"],
        ),
        wrong_usage("no such precision", "cast s.csv r.csv -o out.csv --precision exactly", &["standard", "exact"]),
        wrong_usage("no such policy", "cast s.csv r.csv -o out.csv --inside leave", &["enter", "exit", "ignore"]),
        wrong_usage("no such option", "cast s.csv r.csv -o out.csv --inisde exit", &["--inisde", "--inside"]),
        wrong_usage(
            "origin of two numbers",
            "cast s.csv r.csv -o out.csv --origin 1,2",
            &["2 numbers", "x,y,z or auto"],
        ),
        wrong_usage("origin of words", "cast s.csv r.csv -o out.csv --origin centre", &["'centre'", "x,y,z or auto"]),
        wrong_usage("infinite origin", "cast s.csv r.csv -o out.csv --origin 1,2,inf", &["'inf'", "finite"]),
        wrong_usage("output of another format", "cast s.csv r.csv -o out.xlsx", &["'.xlsx'", ".npz and .csv"]),
        wrong_usage("output without extension", "cast s.csv r.csv -o out", &["without an extension", ".npz and .csv"]),
        wrong_usage("output is an input", "cast s.csv r.csv -o s.csv", &["s.csv", "is an input too"]),
        wrong_usage("output is an input by another name", "cast s.csv r.csv -o ./r.csv", &["is an input too"]),
        wrong(
            "input of another format",
            ("s.txt", SPHERES.into()),
            "cast s.txt r.csv -o out.csv",
            2,
            &["'.txt'", "supported are .npy, .csv, .f32 and .spheres"],
        ),
        wrong_usage("fewer spheres than rays", "cast s.csv r.csv -o out.csv --pairwise", &["2 spheres and 3 rays"]),
        wrong(
            "no such folder",
            None,
            "cast s.csv r.csv -o gone/out.csv",
            5,
            &["cannot write gone/out.csv", "no folder"],
        ),
        wrong("no such file", None, "cast gone.csv r.csv -o out.csv", 5, &["cannot read gone.csv"]),
        wrong(
            "input is a folder",
            None,
            "cast folder.npy r.csv -o out.csv",
            5,
            &["cannot read folder.npy", "a folder"],
        ),
        wrong(
            "output is a folder",
            None,
            "cast s.csv r.csv -o folder.csv",
            5,
            &["cannot write folder.csv", "a folder"],
        ),
        wrong("no such device", None, "cast s.csv r.csv -o out.csv --device abacus", 3, &["no device 'abacus'"]),
        wrong_usage("sphere without ray", "cast --sphere 4,0,0,1", &["--ray"]),
        wrong_usage("ray without sphere", "cast --ray 0,0,0,1,0,0", &["--sphere"]),
        wrong_usage("sphere of three numbers", "cast --sphere 4,0,0 --ray 0,0,0,1,0,0", &["3 numbers", "x,y,z,r"]),
        wrong_usage("ray of seven numbers", "cast --sphere 4,0,0,1 --ray 0,0,0,1,0,0,1", &["7 numbers", "6 or 8"]),
        wrong_usage("sphere of words", "cast --sphere 4,0,zero,1 --ray 0,0,0,1,0,0", &["z is 'zero'", "a number"]),
        wrong_usage("sphere turned inside out", "cast --sphere 4,0,0,-1 --ray 0,0,0,1,0,0", &["r is -1", "negative"]),
        wrong_usage("ray to nowhere", "cast --sphere 4,0,0,1 --ray 0,0,0,0,0,0", &["direction", "not be zero"]),
        wrong_usage("ray beyond f32", "cast --sphere 4,0,0,1 --ray 0,0,0,0,1e39,0", &["dy is 1e39", "exceeds"]),
        wrong_usage("ray that ends before it starts", "cast --sphere 4,0,0,1 --ray 0,0,0,0,1,0,3,2", &["t_min is 3"]),
        wrong_usage(
            "one of each, and files",
            "cast s.csv r.csv --sphere 4,0,0,1 --ray 0,0,0,1,0,0",
            &["cannot be used"],
        ),
        wrong_usage("one of each, and a device", "cast --sphere 4,0,0,1 --ray 0,0,0,1,0,0 --device cpu", &["--device"]),
        wrong_usage(
            "query of a later release",
            "cast s.csv r.csv -o out.csv --query count",
            &["invalid value 'count'"],
        ),
    ]
}

#[test]
fn wrong_inputs_are_refused_and_change_nothing() {
    let cases: Vec<Wrong> = tables().into_iter().chain(arrays()).chain(usages()).collect();
    assert!(cases.len() >= 80, "{} cases", cases.len());
    for (what, file, arguments, code, words) in cases {
        let folder = Folder::new();
        folder.write("s.csv", SPHERES).write("r.csv", RAYS).write("out.csv", "kept");
        for inner in ["folder.csv", "folder.npy"] {
            std::fs::create_dir(folder.path(inner)).unwrap();
        }
        if let Some((name, bytes)) = file {
            folder.write(name, bytes);
        }
        let before = folder.contents();
        let done = folder.run(arguments);
        let all = format!("{what}: umbracast {arguments}\n{}", done.errors);
        assert_eq!(done.code, code, "{all}");
        for word in words {
            assert!(done.errors.contains(word), "'{word}' is not in what it says. {all}");
        }
        assert!(!done.errors.contains("panicked"), "{all}");
        if !arguments.is_empty() {
            assert!(done.errors.starts_with("error: "), "{all}");
        }
        assert_eq!(done.output, "", "{all}");
        assert!(folder.contents() == before, "files have changed. {all}");
    }
}

#[test]
fn every_format_gives_the_same_answers() {
    let (spheres, rays) = (f32s(SPHERES), f32s(RAYS));
    let wide = |values: &[f32]| values.iter().flat_map(|v| f64::from(*v).to_be_bytes()).collect::<Vec<u8>>();
    let records: Vec<f32> =
        rays.chunks(6).flat_map(|r| [r[0], r[1], r[2], 0.0, r[3], r[4], r[5], f32::INFINITY]).collect();
    let folder = Folder::new();
    folder
        .write("s.csv", SPHERES)
        .write("s4.npy", npy("'<f4'", false, "(2, 4)", &le4(&spheres)))
        .write("s8.npy", npy("'>f8'", false, "(2, 4)", &wide(&spheres)))
        .write("s.f32", le4(&spheres))
        .write("s.spheres", le4(&spheres))
        .write("r.csv", RAYS)
        .write("r4.npy", npy("'<f4'", false, "(3, 6)", &le4(&rays)))
        .write("r8.npy", npy("'>f8'", false, "(3, 6)", &wide(&rays)))
        .write("r48.npy", npy("'<f4'", false, "(3, 8)", &le4(&records)))
        .write("r.f32", le4(&records))
        .write("r.rays", le4(&records));
    for spheres in ["s.csv", "s4.npy", "s8.npy", "s.f32", "s.spheres"] {
        for rays in ["r.csv", "r4.npy", "r8.npy", "r48.npy", "r.f32", "r.rays"] {
            folder.right(&format!("cast {spheres} {rays} -o out.npz --quiet"));
            folder.right(&format!("cast {spheres} {rays} -o out.csv --quiet"));
            assert_eq!(folder.text("out.csv"), "t,id\n3.0,0\n3.0,1\n,\n", "{spheres} {rays}");
            assert_eq!(numbers::<f32>(&folder.path("out.npz"), "t"), [3.0, 3.0, f32::INFINITY]);
            assert_eq!(numbers::<u32>(&folder.path("out.npz"), "id"), [0, 1, u32::MAX]);
        }
    }
}

#[test]
fn every_query_writes_its_arrays() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("r.csv", RAYS);
    for (query, table) in [
        ("closest", "t,id\n3.0,0\n3.0,1\n,\n"),
        ("occluded", "occluded\ntrue\ntrue\nfalse\n"),
        ("interval", "t_enter,t_exit,id\n3.0,5.0,0\n3.0,7.0,1\n,,\n"),
        ("approach", "t,clearance,id\n4.0,-1.0,0\n5.0,-2.0,1\n0.0,3.0,0\n"),
    ] {
        folder.right(&format!("cast s.csv r.csv -o out.csv -q --query {query}"));
        assert_eq!(folder.text("out.csv"), table, "{query}");
        folder.right(&format!("cast s.csv r.csv -o out.npz -q --query {query}"));
        let npz = folder.path("out.npz");
        let mut lines = table.lines();
        for (column, name) in lines.next().unwrap().split(',').enumerate() {
            let cells = lines.clone().map(|line| line.split(',').nth(column).unwrap());
            match name {
                "occluded" => assert_eq!(numbers::<bool>(&npz, name), cells.map(|c| c == "true").collect::<Vec<_>>()),
                "id" => {
                    assert_eq!(
                        numbers::<u32>(&npz, name),
                        cells.map(|c| c.parse().unwrap_or(u32::MAX)).collect::<Vec<_>>()
                    );
                }
                _ => {
                    let cells = cells.map(|c| c.parse().unwrap_or(f32::INFINITY));
                    assert_eq!(numbers::<f32>(&npz, name), cells.collect::<Vec<_>>());
                }
            }
        }
    }
}

#[test]
fn the_policies_arrive() {
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r\n4,0,0,1\n");
    // From inside; tangent; ending on the surface.
    folder.write("r.csv", "ox,oy,oz,dx,dy,dz,t_min,t_max\n4,0,0,1,0,0,0,inf\n0,1,0,1,0,0,0,inf\n0,0,0,1,0,0,0,3\n");
    for (policies, answers) in [
        ("", ["0.0,0", "4.0,0", "3.0,0"]),
        ("--inside exit", ["1.0,0", "4.0,0", "3.0,0"]),
        ("--inside ignore", [",", "4.0,0", "3.0,0"]),
        ("--touch miss", ["0.0,0", ",", "3.0,0"]),
        ("--ends half-open", ["0.0,0", "4.0,0", ","]),
    ] {
        for precision in ["fast", "standard", "exact"] {
            folder.right(&format!("cast s.csv r.csv -o out.csv -q --precision {precision} {policies}"));
            assert_eq!(folder.text("out.csv"), format!("t,id\n{}\n", answers.join("\n")), "{precision} {policies}");
        }
    }
}

#[test]
fn pairs_meet_only_each_other() {
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r\n4,0,0,1\n4,0,0,1\n0,0,9,3\n").write("r.csv", RAYS);
    folder.right("cast s.csv r.csv -o out.csv --pairwise -q");
    assert_eq!(folder.text("out.csv"), "t,id\n3.0,0\n,\n6.0,2\n");
}

#[test]
fn an_origin_saves_coordinates_of_millions() {
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r\n50000000.25,7000000.5,0,0.125\n");
    folder.write("r.csv", "ox,oy,oz,dx,dy,dz\n49999990.25,7000000.5,0,1,0,0\n");
    folder.right("cast s.csv r.csv -o far.csv -q");
    assert_ne!(folder.text("far.csv"), "t,id\n9.875,0\n", "f32 cannot know this");
    for origin in ["auto", "50000000,7000000,0"] {
        let done = folder.right(&format!("cast s.csv r.csv -o near.csv --origin {origin}"));
        assert_eq!(folder.text("near.csv"), "t,id\n9.875,0\n");
        assert!(done.errors.contains("; origin 50000000"), "{}", done.errors);
        assert!(!done.errors.contains("rounded"), "{}", done.errors);
    }
    folder.right("cast s.csv r.csv -o near.csv -q --origin -1,-2,3.5");
}

#[test]
fn bad_rays_can_be_skipped() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES);
    folder.write("r.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n0,0,0,0,0,0\nnan,0,0,1,0,0\n,0,0,1,0,0\n0,0,0,0,1,0\n");
    let done = folder.right("cast s.csv r.csv -o out.csv --on-bad skip");
    assert!(done.errors.contains("5 rays, 2 hits") && done.errors.contains("3 bad rays skipped"), "{}", done.errors);
    assert_eq!(folder.text("out.csv"), "t,id\n3.0,0\n,\n,\n,\n3.0,1\n");
}

#[test]
fn nothing_is_a_valid_input() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("r.csv", RAYS).write("s0.csv", "x,y,z,r\n").write("r0.f32", "");
    folder.write("s0.npy", npy("'<f8'", false, "(0, 4)", &[]));
    for query in ["closest", "occluded", "interval", "approach"] {
        for spheres in ["s0.csv", "s0.npy"] {
            folder.right(&format!("cast {spheres} r.csv -o out.csv -q --query {query}"));
            let text = folder.text("out.csv");
            let rows: Vec<&str> = text.lines().skip(1).collect();
            assert_eq!(rows.len(), 3);
            assert!(rows.iter().all(|row| *row == "false" || row.chars().all(|c| c == ',')), "{text}");
        }
        folder.right(&format!("cast s.csv r0.f32 -o out.npz -q --query {query} --origin auto --compare"));
        let name = if query == "occluded" { "occluded" } else { "id" };
        let mut archive = zip::ZipArchive::new(std::fs::File::open(folder.path("out.npz")).unwrap()).unwrap();
        let entry = archive.by_name(&format!("{name}.npy")).unwrap();
        assert_eq!(npyz::NpyFile::new(entry).unwrap().shape(), [0]);
        folder.right(&format!("cast s0.npy r0.f32 -o out.npz -q --query {query} --origin auto --pairwise"));
    }
}

#[test]
fn the_summary_says_what_was_done() {
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r\n4,0,0,1.1\n").write("r.csv", RAYS);
    let done = folder.right("cast s.csv r.csv -o out.csv");
    assert_eq!(done.errors.lines().count(), 1, "{}", done.errors);
    for word in ["1 spheres, 3 rays, 1 hits", " ms, ", "Mrays/s", "1 numbers rounded to f32, by at most 2.4e-8"] {
        assert!(done.errors.contains(word), "'{word}' is not in: {}", done.errors);
    }
    assert_eq!(done.output, "");
    let done = folder.right("cast s.csv r.csv -o out.csv --quiet");
    assert_eq!((done.output.as_str(), done.errors.as_str()), ("", ""));
    let done = folder.right("cast s.csv r.csv -o out.csv --json --compare --precision exact");
    assert_eq!(done.errors, "");
    let json: serde_json::Value = serde_json::from_str(&done.output).unwrap();
    for (field, value) in [
        ("query", serde_json::json!("closest")),
        ("precision", serde_json::json!("exact")),
        ("cpu", serde_json::json!(true)),
        ("spheres", serde_json::json!(1)),
        ("rays", serde_json::json!(3)),
        ("hits", serde_json::json!(1)),
        ("skipped", serde_json::json!(0)),
        ("output", serde_json::json!("out.csv")),
    ] {
        assert_eq!(json[field], value, "{field} in {json}");
    }
    assert!(json["seconds"].is_number() && json["device"].is_string(), "{json}");
    assert_eq!(json["rounded"]["numbers"], 1);
    assert_eq!(json["compare"]["not_identical"], 0);
}

#[test]
fn one_sphere_and_one_ray_need_no_files() {
    let folder = Folder::new();
    let done = folder.right("cast --sphere 4,0,0,1 --ray 0,0,0,2,0,0");
    for line in [
        "sphere    center 4 0 0, radius 1",
        "ray       origin 0 0 0, direction 2 0 0, t from 0 to inf",
        "roots     t_enter 1.5, t_exit 2.5",
        "start     not inside",
        "hit       t 1.5 at 3 0 0, normal -1 0 0",
        "approach  t 2, clearance -1",
    ] {
        assert!(done.output.lines().any(|l| l == line), "'{line}' is not in:\n{}", done.output);
    }
    let done = folder.right("cast --sphere -4,0,0,1 --ray 0,-2,0,-1,0,0,-inf,inf");
    for line in ["roots     none: the line passes by", "hit       none", "approach  t 4, clearance 1"] {
        assert!(done.output.lines().any(|l| l == line), "'{line}' is not in:\n{}", done.output);
    }
    let done = folder.right("cast --sphere 4,0,0,1 --ray 4,0,0,0,0,3 --inside exit --json");
    let json: serde_json::Value = serde_json::from_str(&done.output).unwrap();
    assert_eq!(json["inside"], true);
    assert_eq!(json["ray"]["t_max"], "inf");
    assert_eq!(json["hit"]["point"], serde_json::json!([4.0, 0.0, 1.0]));
    assert_eq!(json["hit"]["normal"], serde_json::json!([0.0, 0.0, 1.0]));
    assert_eq!(json["approach"], serde_json::json!({"t": 0.0, "clearance": -1.0}));
    let done = folder.right("cast --sphere 4,0,0,0.1 --ray 0,0,0,1,0,0");
    assert!(done.errors.contains("1 numbers were rounded to f32"), "{}", done.errors);
}

#[test]
fn the_shipped_samples_run() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("systems/samples");
    let folder = Folder::new();
    for name in ["spheres.csv", "rays.csv"] {
        folder.write(name, std::fs::read(samples.join(name)).unwrap());
    }
    for precision in ["standard", "exact"] {
        folder.right(&format!("cast spheres.csv rays.csv -o hits.csv -q --precision {precision}"));
        let expected = "t,id\n2.0,0\n1.0,0\n3.0,0\n,\n0.0,0\n,\n3.0,0\n3.0,0\n7.5,3\n,\n-32.0,5\n0.25,7\n";
        assert_eq!(folder.text("hits.csv"), expected);
    }
}

#[test]
fn help_explains_with_examples() {
    let folder = Folder::new();
    let done = folder.right("cast --help");
    for word in ["Examples:", "--origin auto", "Exit codes", "half-open", ".npz", "UMBRACAST_DEVICE"] {
        assert!(done.output.contains(word), "'{word}' is not in the help");
    }
    assert!(folder.right("--help").output.contains("cast"));
    assert!(folder.right("--version").output.starts_with("umbracast "));
}

#[test]
fn a_reader_that_has_gone_away_is_no_error() {
    for arguments in [&["cast", "--sphere", "4,0,0,1", "--ray", "0,0,0,1,0,0"][..], &["cast", "--help"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let done = folder::program().args(arguments).stdout(writer).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&done.stderr), "");
        assert_eq!(done.status.code(), Some(0));
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_nothing_behind() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("r.f32", le4(&[0., 0., 0., 0., 1., 0., 0., 9.].repeat(10_000)));
    folder.write("out.npz", "kept");
    let before = folder.contents();
    // No file may exceed a few KiB, and the signal that says so is ignored: writing fails as on a full disk.
    let program = folder::program().get_program().to_owned();
    let done = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" cast s.csv r.f32 -o out.npz --device cpu"])
        .arg(program)
        .current_dir(folder.root())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(5), "{errors}");
    assert!(errors.contains("cannot write out.npz"), "{errors}");
    assert!(folder.contents() == before, "files have changed");
}
