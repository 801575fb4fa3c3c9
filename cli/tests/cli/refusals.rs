//! Invalid input of `cast` and `contains`: each is rejected with a helpful message, and no file changes.
//! `crates/files/tests/formats.rs` has more faults of files.

use umbracast_testing::folder::{Folder, Words, Wrong, f32_bytes, npy, refuse_all};

const SPHERES: &str = "x,y,z,r\n4,0,0,1\n0,5,0,2\n";
const RAYS: &str = "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n0,0,0,0,1,0\n0,0,0,0,0,1\n";

// `s.csv` and `r.csv` are valid unless the file of a case replaces one of them.
fn wrong(
    what: &'static str,
    file: impl Into<Option<(&'static str, Vec<u8>)>>,
    arguments: &'static str,
    words: Words,
) -> Wrong {
    (what, file.into(), arguments.into(), 2, words)
}

/// The same with another exit code.
fn failing(code: i32, (what, file, arguments, _, words): Wrong) -> Wrong {
    (what, file, arguments, code, words)
}

const FILES: &str = "cast s.csv r.csv -o out.csv";

fn wrong_spheres(what: &'static str, text: &str, words: Words) -> Wrong {
    wrong(what, ("s.csv", text.into()), FILES, words)
}

fn wrong_rays(what: &'static str, text: &str, words: Words) -> Wrong {
    wrong(what, ("r.csv", text.into()), FILES, words)
}

fn wrong_usage(what: &'static str, arguments: &'static str, words: Words) -> Wrong {
    wrong(what, None, arguments, words)
}

fn files() -> Vec<Wrong> {
    let head = "ox,oy,oz,dx,dy,dz,t_min,t_max\n";
    vec![
        wrong_spheres("empty", "", &["s.csv", "empty (0 bytes)", "x,y,z,r"]),
        wrong_spheres("unknown column", "x,y,z,r,mass\n", &["unknown column 'mass'", "did you mean 'mask'"]),
        wrong_spheres("two radii", "x,y,z,r,Radius\n", &["columns 'r' and 'Radius' have the same meaning"]),
        wrong_spheres("half a velocity", "x,y,z,r,vx,vz\n1,2,3,4,5,6\n", &["a velocity needs three columns: vx,vy,vz"]),
        wrong_spheres("no velocity", "x,y,z,r,vx,vy,vz\n1,2,3,4,5,,6\n", &["line 2: vy is empty", "finite"]),
        wrong_spheres("endless velocity", "x,y,z,r,vx,vy,vz\n1,2,3,4,5,6,inf\n", &["line 2: vz is inf", "finite"]),
        wrong_spheres(
            "velocity beyond f32",
            "x,y,z,r,vx,vy,vz\n1,2,3,4,1e39,0,0\n",
            &["line 2: vx is 1e39", "exceeds"],
        ),
        wrong_spheres(
            "far away soon",
            "x,y,z,r,vx,vy,vz\n1,2,3,4,3e38,0,0\n",
            &["vx is", "leaves the range of f32 within the time range"],
        ),
        wrong_spheres("time of a sphere", "x,y,z,r,time\n", &["'time' belongs to rays"]),
        wrong_spheres("word", "x,y,z,r\n1,2,3,4\n1,two,3,4\n", &["s.csv: line 3: y is 'two'", "expected a number"]),
        wrong_spheres("infinite radius", "x,y,z,r\n1,2,3,inf\n", &["line 2: r is inf", "finite"]),
        wrong_rays("infinite direction", "ox,oy,oz,dx,dy,dz\n1,2,3,inf,0,0\n", &["line 2: dx is inf", "finite"]),
        wrong_rays("NaN origin", "ox,oy,oz,dx,dy,dz\n1,nan,3,1,0,0\n", &["line 2: oy is nan", "finite"]),
        wrong_rays("NaN end", &format!("{head}1,2,3,1,0,0,nan,5\n"), &["line 2: t_min is nan"]),
        wrong_rays("starts at +inf", &format!("{head}1,2,3,1,0,0,inf,inf\n"), &["line 2: t_min is inf"]),
        wrong_rays(
            "a segment's column",
            "ox,oy,oz,dx,dy,dz,x1\n",
            &["column 'x1' belongs to segments", "use cast --segments"],
        ),
        wrong_rays(
            "half a mask",
            "ox,oy,oz,dx,dy,dz,mask\n1,2,3,1,0,0,0.5\n",
            &["line 2: mask is 0.5", "whole number"],
        ),
        wrong_rays("no time", "ox,oy,oz,dx,dy,dz,time\n1,2,3,1,0,0,\n", &["line 2: time is empty", "finite"]),
        wrong_rays(
            "negative width",
            "ox,oy,oz,dx,dy,dz,radius\n1,2,3,1,0,0,-2\n",
            &["line 2: radius is -2", "not be negative"],
        ),
        wrong_rays(
            "endless width",
            "ox,oy,oz,dx,dy,dz,radius\n1,2,3,1,0,0,inf\n",
            &["line 2: radius is inf", "finite"],
        ),
        wrong_rays("velocity of a ray", "ox,oy,oz,dx,dy,dz,vx\n", &["'vx' belongs to spheres"]),
        wrong_rays("skip below 0", "ox,oy,oz,dx,dy,dz,skip_id\n1,2,3,1,0,0,-1\n", &["skip_id is -1", "whole number"]),
        wrong(
            "word, though bad rays are skipped",
            ("r.csv", b"ox,oy,oz,dx,dy,dz\n1,2,3,x,0,0\n".to_vec()),
            "cast s.csv r.csv -o out.csv --on-bad skip",
            &["line 2: dx is 'x'", "expected a number"],
        ),
        wrong(
            "word, though bad spheres are skipped",
            ("s.csv", b"x,y,z,r\n1,2,3,big\n".to_vec()),
            "cast s.csv r.csv -o out.csv --on-bad skip",
            &["line 2: r is 'big'", "expected a number"],
        ),
        wrong("empty array", ("s.npy", vec![]), "cast s.npy r.csv -o out.csv", &["s.npy", "empty (0 bytes)"]),
        wrong(
            "zero ray",
            ("r.f32", vec![0; 32]),
            "cast s.csv r.f32 -o out.csv",
            &["r.f32: row 1 (index 0): direction", "not be zero"],
        ),
    ]
}

fn usages() -> Vec<Wrong> {
    vec![
        wrong_usage(
            "k alone",
            "cast s.csv r.csv -o out.csv --k 3",
            &["--k is only for --query nearest", "not for closest"],
        ),
        wrong_usage("k for all", "cast s.csv r.csv -o out.csv --query all --k 3", &["--k is only for", "not for all"]),
        wrong_usage("nearest without k", "cast s.csv r.csv -o out.csv --query nearest", &["--query nearest needs --k"]),
        wrong_usage("k of 0", "cast s.csv r.csv -o out.csv --query nearest --k 0", &["0 is not in 1..", "--k"]),
        wrong_usage("k below 0", "cast s.csv r.csv -o out.csv --query nearest --k -1", &["-1 is not in 1..", "--k"]),
        wrong_usage("huge k", "cast s.csv r.csv -o out.csv --query nearest --k 4294967296", &["4294967296", "--k"]),
        wrong_usage("k of words", "cast s.csv r.csv -o out.csv --query nearest --k two", &["'two'", "--k"]),
        wrong_usage(
            "lists into an array",
            "cast s.csv r.csv -o out.npy --query all",
            &["out.npy", ".npz, .csv and .parquet"],
        ),
        wrong_usage(
            "lists into raw",
            "cast s.csv r.csv -o out.f32 --query nearest --k 2",
            &["out.f32", ".npz, .csv and .parquet"],
        ),
        wrong_usage(
            "lists of pairs that are none",
            "cast s.csv r.csv -o out.csv --query all --pairwise",
            &["2 spheres and 3 rays"],
        ),
        wrong_usage("k for one pair", "cast --sphere 1,0,0,1 --ray 0,0,0,1,0,0 --k 2", &["cannot be used with", "--k"]),
        wrong(
            "bad ray amid lists",
            ("r.csv", b"ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n0,0,0,0,0,0\n".to_vec()),
            "cast s.csv r.csv -o out.csv --query all",
            &["r.csv: line 3", "not be zero"],
        ),
        wrong_usage("nothing", "", &["Usage: umbracast"]),
        wrong_usage("no such subcommand", "throw", &["unrecognized subcommand 'throw'"]),
        wrong_usage("no rays", "cast s.csv -o out.csv", &["RAYS"]),
        wrong_usage("no output", "cast s.csv r.csv", &["--output"]),
        wrong_usage(
            "no such query",
            "cast s.csv r.csv -o out.csv --query farthest",
            &["farthest", "closest", "approach"],
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
        wrong_usage(
            "output of another format",
            "cast s.csv r.csv -o out.xlsx",
            &["'.xlsx'", ".npz, .csv, .parquet, .ply, .npy and .f32"],
        ),
        wrong_usage(
            "output without extension",
            "cast s.csv r.csv -o out",
            &["without an extension", ".npz, .csv, .parquet, .ply, .npy and .f32"],
        ),
        wrong_usage("output is an input", "cast s.csv r.csv -o s.csv", &["s.csv", "is also an input"]),
        wrong_usage("output is an input by another name", "cast s.csv r.csv -o ./r.csv", &["is also an input"]),
        wrong(
            "input of another format",
            ("s.txt", SPHERES.into()),
            "cast s.txt r.csv -o out.csv",
            &["'.txt'", "supported are .npy, .npz, .csv, .parquet, .ply, .xyz, .pdb, .f32 and .spheres"],
        ),
        wrong_usage("fewer spheres than rays", "cast s.csv r.csv -o out.csv --pairwise", &["2 spheres and 3 rays"]),
        failing(
            5,
            wrong(
                "no such folder",
                None,
                "cast s.csv r.csv -o gone/out.csv",
                &["cannot write gone/out.csv", "no folder"],
            ),
        ),
        failing(5, wrong("no such file", None, "cast gone.csv r.csv -o out.csv", &["cannot read gone.csv"])),
        failing(
            5,
            wrong(
                "input is a folder",
                None,
                "cast folder.npy r.csv -o out.csv",
                &["cannot read folder.npy", "a folder"],
            ),
        ),
        failing(
            5,
            wrong(
                "output is a folder",
                None,
                "cast s.csv r.csv -o folder.csv",
                &["cannot write folder.csv", "a folder"],
            ),
        ),
        failing(
            3,
            wrong(
                "no such device",
                None,
                "cast s.csv r.csv -o out.csv --device abacus",
                &["no device 'abacus': ", ": cpu"],
            ),
        ),
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
            "cast s.csv r.csv -o out.csv --query contains",
            &["invalid value 'contains'"],
        ),
    ]
}

fn points() -> Vec<Wrong> {
    let wrong_points =
        |what, text: &str, words| wrong(what, ("p.csv", text.into()), "contains s.csv p.csv -o out.csv", words);
    vec![
        wrong_points("point that is none", "x,y,z\n0,0,0\n0,nan,0\n", &["p.csv: line 3: y is nan", "finite"]),
        wrong_points("rays for points", RAYS, &["p.csv", "'ox'"]),
        wrong_points("spheres for points", SPHERES, &["p.csv", "column 'r'"]),
        wrong(
            "wide points",
            ("p.npy", npy("'<f4'", false, "(2, 4)", &f32_bytes(&[0.0; 8]))),
            "contains s.csv p.npy -o out.csv",
            &["p.npy", "(2, 4)"],
        ),
        failing(5, wrong("no points", None, "contains s.csv gone.csv -o out.csv", &["cannot read gone.csv"])),
        wrong_usage("points without output", "contains s.csv r.csv", &["--output"]),
        wrong_usage("points into their file", "contains s.csv r.csv -o r.csv", &["is also an input"]),
        wrong_usage("policies of points", "contains s.csv r.csv -o out.csv --inside exit", &["--inside"]),
        failing(
            3,
            wrong(
                "no device for points",
                ("p.csv", b"x,y,z\n".to_vec()),
                "contains s.csv p.csv -o out.csv --device abacus",
                &["abacus"],
            ),
        ),
    ]
}

#[test]
fn invalid_inputs_are_refused_and_no_file_changes() {
    let cases: Vec<Wrong> = files().into_iter().chain(usages()).chain(points()).collect();
    assert!(cases.len() >= 80, "{} cases", cases.len());
    let folder = || {
        let folder = Folder::new();
        folder.write("s.csv", SPHERES).write("r.csv", RAYS);
        for inner in ["folder.csv", "folder.npy"] {
            std::fs::create_dir(folder.path(inner)).unwrap();
        }
        folder
    };
    refuse_all(folder, cases);
}
