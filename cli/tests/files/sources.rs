//! Rays that the built program generates from points and sensors: the same results as for explicit rays, and helpful messages for
//! invalid input.

use umbracast_testing::folder::{Folder, Words, f32_bytes, npy, refuse_all};

const SPHERES: &str = "x,y,z,r\n4,0,0,1\n0,5,0,2\n";
const POINTS: &str = "x,y,z\n0,0,0\n0,0,1\n4,0,3\n";
const SENSOR: &str = "elevations_deg = [0]\nazimuths_deg = { from = 0, to = 360, count = 4 }\n";

#[test]
fn generated_rays_give_the_results_of_explicit_ones() {
    let folder = Folder::new();
    // The same rays, once generated and once explicit.
    folder
        .write("s.csv", SPHERES)
        .write("p.csv", POINTS)
        .write("toward.csv", "ox,oy,oz,dx,dy,dz,t_max\n0,0,0,10,0,0,1\n0,0,1,10,0,-1,1\n4,0,3,6,0,-3,1\n")
        .write("parallel.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,0.5,1,0\n0,0,1,0.5,1,0\n4,0,3,0.5,1,0\n")
        .write("turn.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n0,0,0,0,1,0\n0,0,0,-1,0,0\n0,0,0,0,-1,0\n")
        .write("turn.toml", SENSOR);
    for (made, written) in [
        ("p.csv --toward 10,0,0", "toward.csv"),
        ("p.csv --parallel 0.5,1,0", "parallel.csv"),
        ("--sensor turn.toml", "turn.csv"),
    ] {
        folder.run_ok(&format!("cast s.csv {made} -o made.csv --compare --device gpu -q"));
        folder.run_ok(&format!("cast s.csv {written} -o written.csv --device gpu -q"));
        assert_eq!(folder.text("made.csv"), folder.text("written.csv"), "{made}");
    }
}

#[test]
fn a_lamp_in_the_scene_does_not_occlude_itself() {
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r\n10,0,0,2\n5,0,0,1\n").write("p.csv", "x,y,z\n0,0,0\n0,9,0\n9,0,0\n");
    folder.run_ok("cast s.csv p.csv -o out.csv -q --query occluded --toward 10,0,0,2");
    assert_eq!(folder.text("out.csv"), "occluded\ntrue\nfalse\ntrue\n", "the last point is in the lamp");
    folder.run_ok("cast s.csv p.csv -o out.csv -q --query occluded --toward 10,0,0");
    assert_eq!(folder.text("out.csv"), "occluded\ntrue\ntrue\ntrue\n", "without a radius it is an ordinary ball");
}

#[test]
fn an_origin_is_subtracted_from_points_targets_and_poses() {
    let folder = Folder::new();
    folder
        .write("s.csv", "x,y,z,r\n4000000.25,0,0,0.125\n")
        .write("p.csv", "x,y,z\n4000000.25,0,1\n4000001.25,0,1\n")
        .write("l.toml", "elevations_deg = [-90]\nazimuths_deg = [0]\nposes = [[4000000.25, 0, 1]]\n")
        .write("poses.csv", "x,y,z,qw,qx,qy,qz\n4000000.25,0,1,1,0,0,0\n")
        .write("t.toml", "elevations_deg = [-90]\nazimuths_deg = [0]\nposes = \"poses.csv\"\n");
    let hit = "t,id\n0.4375,0\n";
    for (arguments, expected) in [
        ("p.csv --toward 4000000.25,0,-1 --origin 4000000,0,0", "t,id\n0.4375,0\n,\n"),
        ("p.csv --toward 4000000.25,0,-1 --origin auto", "t,id\n0.4375,0\n,\n"),
        ("--sensor l.toml --origin 4000000,0,0", "t,id\n0.875,0\n"),
        ("--sensor t.toml --origin auto", "t,id\n0.875,0\n"),
    ] {
        folder.run_ok(&format!("cast s.csv {arguments} -o out.csv -q"));
        assert_eq!(folder.text("out.csv"), expected, "{arguments}");
    }
    // Without an origin, coordinates are rounded, and the summary reports it.
    let done = folder.run_ok("cast s.csv p.csv -o out.csv --toward 4000000.1,0,-1");
    assert!(done.errors.contains("1 numbers rounded to f32, by at most 1.0e-1"), "{}", done.errors);
    assert_ne!(folder.text("out.csv"), hit);
}

#[test]
fn many_points_are_streamed_in_batches() {
    // More than two batches of points; every third point is in shadow.
    let count = 600_000;
    let points: Vec<f32> = (0..count).flat_map(|i| [(i % 3) as f32 * 10.0, 0.0, 0.0]).collect();
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r\n10,0,5,1\n").write("p.points", f32_bytes(&points));
    folder.write(
        "many.toml",
        "elevations_deg = [90, 0]\nazimuths_deg = { from = 0, to = 360, count = 300_000 }\nposes = [[10, 0, 0]]\n",
    );
    for (rays, hits) in [("p.points --parallel 0,0,1", count / 3), ("--sensor many.toml", count / 2)] {
        let json = folder.json(&format!("cast s.csv {rays} -o out.npz --query occluded --json"));
        assert_eq!((&json["rays"], &json["rays_hit"]), (&count.into(), &hits.into()), "{rays}");
    }
}

#[test]
fn bad_points_and_poses_can_be_skipped() {
    let folder = Folder::new();
    folder
        .write("s.csv", SPHERES)
        .write("p.csv", "x,y,z\n0,0,0\nnan,0,0\n10,0,0\n1e39,0,0\n")
        .write("l.toml", format!("{SENSOR}poses = [[0, 0, 0], [0, 0, 0, 2, 0, 0, 0]]\n"));
    let json = folder.json("cast s.csv p.csv -o out.csv --on-bad skip --toward 10,0,0 --json");
    assert_eq!((&json["skipped"], &json["rays_hit"]), (&3.into(), &1.into()));
    assert_eq!(folder.text("out.csv"), "t,id\n0.3,0\n,\n,\n,\n");
    let json = folder.json("cast s.csv --sensor l.toml -o out.csv --on-bad skip --json");
    assert_eq!((&json["rays"], &json["skipped"], &json["rays_hit"]), (&8.into(), &4.into(), &2.into()));
}

#[test]
fn the_shipped_sensor_works() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../systems/samples");
    let folder = Folder::new();
    for name in ["spheres.csv", "lidar.toml"] {
        folder.write(name, std::fs::read(samples.join(name)).unwrap());
    }
    let json = folder.json("cast spheres.csv --sensor lidar.toml -o out.npz --json");
    assert_eq!(json["rays"], 2 * 64 * 1024);
    assert!(json["rays_hit"].as_u64().unwrap() > 1000, "{}", json["rays_hit"]);
    // -30 + 29 · (120 / 29) is more than 90 in f64.
    folder.write("up.toml", "elevations_deg = { from = -30, through = 90, count = 30 }\nazimuths_deg = [0]\n");
    assert_eq!(folder.json("cast spheres.csv --sensor up.toml -o out.npz --json")["rays"], 30);
}

#[test]
fn pairwise_needs_as_many_generated_rays_as_spheres() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("turn.toml", SENSOR);
    folder.refused("cast s.csv --sensor turn.toml -o out.csv --pairwise", "2 spheres and 4 rays");
}

/// Description of the error, name and bytes of a file, arguments after the spheres, and words that the message must contain.
type Wrong = (&'static str, &'static str, Vec<u8>, &'static str, Words);

fn wrong_points() -> Vec<Wrong> {
    const TOWARD: &str = "p.csv -o out.csv --toward 10,0,0";
    let text = |what, text: &str, words: Words| (what, "p.csv", text.as_bytes().to_vec(), TOWARD, words);
    let array = npy("'<f4'", false, "(2, 6)", &f32_bytes(&[0.0; 12]));
    vec![
        text("rays", "ox,oy,oz,dx,dy,dz\n", &["p.csv: line 1", "'ox' belongs to rays", "x,y,z"]),
        text("column missing", "x,y\n1,2\n", &["column 'z' is missing", "points need the columns x,y,z"]),
        text("NaN", "x,y,z\n1,2,3\n\nnan,2,3\n", &["p.csv: line 4: x is nan", "a point must be finite"]),
        text(
            "on the target",
            "x,y,z\n1,2,3\n10,0,0\n",
            &["p.csv: row 2 (index 1): x,y,z is the target: the direction of its ray must not be zero"],
        ),
        (
            "too far from the target",
            "p.csv",
            b"x,y,z\n-3e38,0,0\n".to_vec(),
            "p.csv -o out.csv --toward 3e38,0,0",
            &["p.csv: row 1 (index 0): x is -300000000", "exceeds the largest f32"],
        ),
        (
            "shape of rays",
            "p.npy",
            array,
            "p.npy -o out.csv --toward 10,0,0",
            &["shape is (2, 6)", "(N, 3) with x y z"],
        ),
        (
            "wrong name",
            "p.rays",
            vec![0; 12],
            "p.rays -o out.csv --toward 10,0,0",
            &["cannot read points from '.rays'"],
        ),
        (
            "points without a direction",
            "p.npy",
            npy("'<f4'", false, "(1, 3)", &f32_bytes(&[0.0; 3])),
            "p.npy -o out.csv",
            &["shape is (1, 3)", "--toward or --parallel"],
        ),
    ]
}

fn wrong_arguments() -> Vec<Wrong> {
    let usage = |what, arguments: &'static str, words: Words| (what, "more.csv", b"x,y,z\n".to_vec(), arguments, words);
    vec![
        usage("two numbers", "p.csv -o out.csv --toward 1,2", &["2 numbers, expected 3 or 4", "x,y,z[,r]"]),
        usage("a word", "p.csv -o out.csv --toward 1,up,3", &["y is 'up'", "expected a number"]),
        usage("target at infinity", "p.csv -o out.csv --toward 1,inf,3", &["y is inf", "a target must be finite"]),
        usage("target beyond f32", "p.csv -o out.csv --toward 1,1e39,3", &["y is 1e39", "exceeds the largest f32"]),
        usage("radius below 0", "p.csv -o out.csv --toward 1,2,3,-4", &["r is -4", "must not be negative"]),
        usage("no direction", "p.csv -o out.csv --parallel 0,0,0", &["a direction must not be zero"]),
        usage("direction that vanishes", "p.csv -o out.csv --parallel 0,0,1e-60", &["a direction must not be zero"]),
        usage("NaN direction", "p.csv -o out.csv --parallel 0,nan,1", &["dy is NaN", "must be finite"]),
        usage("four numbers", "p.csv -o out.csv --parallel 1,2,3,4", &["4 numbers, expected 3", "dx,dy,dz"]),
        usage("both", "p.csv -o out.csv --toward 1,2,3 --parallel 1,2,3", &["cannot be used with"]),
        usage("no points", "-o out.csv --toward 1,2,3", &["required", "RAYS"]),
        usage("sensor and rays", "p.csv -o out.csv --sensor l.toml", &["cannot be used with"]),
        usage("sensor and a target", "-o out.csv --sensor l.toml --toward 1,2,3", &["cannot be used with"]),
        usage("sensor without output", "--sensor l.toml", &["required", "--output"]),
        usage("output is an input", "p.csv -o p.csv --toward 1,2,3", &["p.csv"]),
    ]
}

fn wrong_sensors() -> Vec<Wrong> {
    const CAST: &str = "-o out.csv --sensor w.toml";
    let text = |what, text: String, words: Words| (what, "w.toml", text.into_bytes(), CAST, words);
    let with = |what, more: &str, words: Words| text(what, format!("{SENSOR}{more}\n"), words);
    let angles =
        |what, angles: &str, words| text(what, format!("elevations_deg = [0]\nazimuths_deg = {angles}\n"), words);
    let poses = |what, row: &str, words: Words| {
        let table = format!("x,y,z,qw,qx,qy,qz\n0,0,0,1,0,0,0\n{row}\n");
        (what, "poses.csv", table.into_bytes(), "-o out.csv --sensor posed.toml", words)
    };
    vec![
        text("no TOML", "elevations = ".into(), &["w.toml", "line 1"]),
        text("no azimuths", "elevations_deg = [0]\n".into(), &["w.toml", "azimuths_deg"]),
        with("unknown key", "speed = 3", &["unknown key `speed`"]),
        text("no elevations", SENSOR.replace("[0]", "[]"), &["w.toml: sensor: the list of elevations is empty"]),
        text("over the top", SENSOR.replace("[0]", "[0, 91]"), &["elevations_deg[1] is 91", "between -90 and 90"]),
        angles("infinite angle", "[0, inf]", &["azimuths_deg[1] is inf", "finite"]),
        angles("no steps", "{ from = 0, to = 1, count = 0 }", &["azimuths_deg: count is 0", "between 1 and 1048576"]),
        angles("too many steps", "{ from = 0, to = 1, count = 9999999 }", &["count is 9999999"]),
        angles("neither end", "{ from = 0, count = 3 }", &["azimuths_deg", "either 'to'", "'through'"]),
        angles("both ends", "{ from = 0, to = 1, through = 2, count = 3 }", &["either 'to'", "'through'"]),
        angles("one through another", "{ from = 0, through = 2, count = 1 }", &["count is 1", "at least 2"]),
        angles("NaN end", "{ from = 0, to = nan, count = 3 }", &["azimuths_deg: to is NaN", "finite"]),
        angles("a word", "\"round\"", &["azimuths_deg", "expected a list of angles"]),
        with("range turned round", "range = [5, 1]", &["w.toml: sensor: the range is 5 to 1"]),
        with("range beyond f32", "range = [0, 1e39]", &["range: 1e39 exceeds the largest f32", "w.toml"]),
        with("range from behind", "range = [-1, 1]", &["the range is -1 to 1"]),
        with(
            "pose of four numbers",
            "poses = [[0, 0, 0, 1]]",
            &["poses[0]: found 4 numbers", "expected 3 (x, y, z) or 7"],
        ),
        with("NaN pose", "poses = [[0, 0, 0], [0, nan, 0]]", &["poses[1]: y is NaN", "finite"]),
        with("long quaternion", "poses = [[0, 0, 0, 1, 1, 0, 0]]", &["poses[0]: |q| is 1.414", "length 1"]),
        with("pose beyond f32", "poses = [[1e39, 0, 0]]", &["poses[0]: x is 1", "exceeds the largest f32"]),
        poses("zero quaternion", "0,0,0,0,0,0,0", &["poses.csv: line 3: |q| is 0", "length 1"]),
        poses("NaN position", "0,nan,0,1,0,0,0", &["poses.csv: line 3: y is NaN", "finite"]),
        poses("infinite quaternion", "0,0,0,1,inf,0,0", &["poses.csv: line 3: qx is inf", "finite"]),
        poses("too few cells", "0,0,0", &["poses.csv: line 3", "3 cells, expected 7"]),
    ]
}

#[test]
fn invalid_ray_sources_are_refused_and_no_file_changes() {
    let cases: Vec<Wrong> = [wrong_points(), wrong_arguments(), wrong_sensors()].concat();
    let folder = || {
        let folder = Folder::new();
        folder.write("s.csv", SPHERES).write("p.csv", POINTS).write("l.toml", SENSOR);
        folder.write("posed.toml", format!("{SENSOR}poses = \"poses.csv\"\n"));
        folder
    };
    refuse_all(
        folder,
        cases.into_iter().map(|(what, name, bytes, arguments, words)| {
            (what, Some((name, bytes)), format!("cast s.csv {arguments}"), 2, words)
        }),
    );
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("l.toml", format!("{SENSOR}poses = \"none.csv\"\n"));
    let done = folder.run("cast s.csv -o out.csv --sensor l.toml");
    assert_eq!(done.code, 5, "{}", done.errors);
    assert!(done.errors.contains("none.csv"), "{}", done.errors);
}
