//! Pose tables of sensors: quaternions of a few digits, columns that the program does not know, and the pose of each result.

use umbracast_testing::folder::{Folder, csv_numbers, npz_array};

const SPHERES: &str = "x,y,z,r\n0,5,0,1\n5,0,0,1\n0,-5,0,2\n-5,0,0,2\n";
const HEAD: &str = "elevations_deg = [0]\nazimuths_deg = [0]\n";
const POSES: &str = "time,qw,qx,qy,qz,z,y,x,name\n08:00:00.0,1,0,0,0,0,0,0,\"a, b\"\n08:00:00.1,0,0,0,1,0,0,0,c\n";

fn case(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/../tests/data/cases/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// A quaternion is normalised, with a warning if it is off by more than rounding, and refused if it is no rotation.
#[test]
fn quaternions_of_a_few_digits_are_normalised() {
    let folder = Folder::new();
    folder
        .write("s.csv", case("quat_s.csv"))
        .write("quat3.toml", case("quat3.toml"))
        .write("quat.csv", case("quat.csv"));
    folder.write("quat.toml", format!("{HEAD}poses = \"quat.csv\"\n"));
    let warning = "warning: quat3.toml: quaternions of 1 of 1 poses were normalised: |q| of pose 0 is 0.999849, not 1";
    for (sensor, warning) in [("quat3.toml", warning), ("quat.toml", &warning.replace("quat3", "quat"))] {
        let done = folder.run_ok(&format!("cast s.csv --sensor {sensor} -o - -q"));
        assert_eq!((done.output.as_str(), done.errors.trim()), ("t,id\n4.0,0\n", warning), "{sensor}");
    }
    let rows: [(&str, Option<&str>); 9] = [
        ("0.7071,0,0,0.7071", None),
        ("0.70711,0,0,0.70710", None),
        ("0.71,0,0,0.71", Some("1.004092")),
        ("0.7,0,0,0.7", Some("0.989949")),
        ("0.64,0,0,0.64", Some("0.905097")),
        ("0.63,0,0,0.63", Some("error: w.toml: poses[0]: |q| is 0.89")),
        ("0.78,0,0,0.78", Some("error: w.toml: poses[0]: |q| is 1.10")),
        (
            "0,0,0,0",
            Some("error: w.toml: poses[0]: |q| is 0: a rotation must be a quaternion of length 1 (0.9 to 1.1 "),
        ),
        ("nan,0,0,1", Some("error: w.toml: poses[0]: qw is NaN")),
    ];
    for (quaternion, words) in rows {
        folder.write("w.toml", format!("{HEAD}poses = [[0, 0, 0, {quaternion}]]\n"));
        let done = folder.run("cast s.csv --sensor w.toml -o - -q");
        let is_refused = words.is_some_and(|words| words.starts_with("error"));
        assert_eq!(done.code, if is_refused { 2 } else { 0 }, "{quaternion}: {}", done.errors);
        assert_eq!(done.output, if is_refused { "" } else { "t,id\n4.0,0\n" }, "{quaternion}");
        assert_eq!(done.errors.is_empty(), words.is_none(), "{quaternion}: {}", done.errors);
        assert!(done.errors.contains(words.unwrap_or("")), "{quaternion}: {}", done.errors);
    }
    // What is no rotation can be skipped; the rest is normalised.
    folder.write("w.toml", format!("{HEAD}poses = [[0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0.707, 0, 0, 0.707]]\n"));
    let done = folder.run_ok("cast s.csv --sensor w.toml -o - -q --on-bad skip");
    assert_eq!(done.output, "t,id\n,\n4.0,0\n");
    assert!(done.errors.contains("quaternions of 1 of 2 poses were normalised: |q| of pose 1 is"), "{}", done.errors);
}

#[test]
fn other_columns_of_poses_are_treated_as_those_of_rays() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("p.csv", POSES);
    folder.write("l.toml", "elevations_deg = [0]\nazimuths_deg = [0, 90]\nposes = \"p.csv\"\n");
    let done = folder.run("cast s.csv --sensor l.toml -o out.csv -q");
    assert_eq!(done.code, 2);
    for words in ["p.csv: line 1: unknown column 'time'", "other columns need --ignore-extra or --keep"] {
        assert!(done.errors.contains(words), "{}", done.errors);
    }
    folder.run_ok("cast s.csv --sensor l.toml -o out.csv -q --ignore-extra");
    assert_eq!(folder.text("out.csv"), "t,id\n4.0,1\n4.0,0\n3.0,3\n3.0,2\n");
    folder.run_ok("cast s.csv --sensor l.toml -o out.csv -q --keep --with pose");
    let kept = "time,name,t,id,pose\n08:00:00.0,\"a, b\",4.0,1,0\n08:00:00.0,\"a, b\",4.0,0,0\n\
                08:00:00.1,c,3.0,3,1\n08:00:00.1,c,3.0,2,1\n";
    assert_eq!(folder.text("out.csv"), kept);
    folder.run_ok("cast s.csv --sensor l.toml -o out.csv -q --keep --query occluded");
    assert!(folder.text("out.csv").starts_with("time,name,occluded\n08:00:00.0,\"a, b\",true\n"));
    folder.write("p.spheres", "").write("o.toml", format!("{HEAD}poses = \"p.spheres\"\n"));
    folder.refused(
        "cast s.csv --sensor o.toml -o out.csv",
        "p.spheres: cannot read poses from '.spheres': supported are .npy, .npz, .csv, .parquet, .ply, .f32 and .poses\n",
    );
    for (header, words) in [
        ("x,y,z,qw,qx,qy,qz,mask", "unknown column 'mask'; known columns are x,y,z,qw,qx,qy,qz; other columns need"),
        ("x,y,z,qw,qx,qy,gz,t", "unknown column 'gz' (did you mean 'qz'?)"),
        ("x,y,z,qw,qx,qy,t,t", "unknown column 't'"),
    ] {
        folder.write("p.csv", format!("{header}\n0,0,0,1,0,0,0,0\n"));
        folder.refused("cast s.csv --sensor l.toml -o out.csv", words);
    }
    // More rays than a batch: the cells stay with their poses.
    folder.write("p.csv", POSES).write(
        "l.toml",
        "elevations_deg = [0]\nazimuths_deg = { from = 0, to = 360, count = 200_000 }\nposes = \"p.csv\"\n",
    );
    folder.run_ok("cast s.csv --sensor l.toml -o out.csv -q --keep --with pose");
    let text = folder.text("out.csv");
    let belongs = |(i, line): (usize, &str)| {
        let (kept, pose) = if i < 200_000 { ("08:00:00.0,\"a, b\",", ",0") } else { ("08:00:00.1,c,", ",1") };
        line.starts_with(kept) && line.ends_with(pose)
    };
    // A miss has a pose, but no hit.
    assert!(text.contains(",,,0\n") && text.contains(",,,1\n"));
    assert_eq!(text.lines().skip(1).enumerate().filter(|one| belongs(*one)).count(), 400_000);
}

/// Tables that pandas wrote, from rotations of SciPy rounded to three digits, in the order of ROS, with an index, times and frames.
#[test]
fn poses_of_other_programs_are_read() {
    let folder = Folder::new();
    folder.write("s.csv", case("pandas_poses_seen.csv"));
    let mut files = vec!["pandas_poses.csv", "pandas_poses.npy"];
    if cfg!(feature = "parquet") {
        files.push("pandas_poses.parquet");
    }
    for name in files {
        folder.write(name, case(name)).write("l.toml", format!("{HEAD}poses = \"{name}\"\n"));
        folder.refused("cast s.csv --sensor l.toml -o out.csv -q", "unknown column");
        let done = folder.run_ok("cast s.csv --sensor l.toml -o out.csv -q --ignore-extra --with pose,distance");
        assert!(done.errors.contains("of 5 poses were normalised"), "{name}: {}", done.errors);
        let found = csv_numbers(&folder.text("out.csv"));
        for (i, row) in found.chunks(4).enumerate() {
            assert!((row[0] - 4.75).abs() < 1e-3 && row[1] == i as f32 && row[2] == i as f32, "{name}: {row:?}");
        }
        assert_eq!(found.len(), 20, "{name}");
    }
    folder.write("l.toml", format!("{HEAD}poses = \"pandas_poses.csv\"\n"));
    folder.refused("cast s.csv --sensor l.toml -o out.csv -q --keep", "its column has no name: name the column");
    folder.write("pandas_poses.csv", format!("row{}", String::from_utf8(case("pandas_poses.csv")).unwrap()));
    folder.run_ok("cast s.csv --sensor l.toml -o out.csv -q --keep");
    assert!(folder.text("out.csv").contains("\n2,2026-11-26 08:00:00.200+00:00,102,4.7"), "{}", folder.text("out.csv"));
}

#[test]
fn every_format_of_results_has_the_pose() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES);
    folder.write(
        "l.toml",
        "elevations_deg = [-80, 0]\nazimuths_deg = [0, 90]\nposes = [[0, 0, 0], [0, 0, 0, 0, 0, 0, 1]]\n",
    );
    folder.run_ok("cast s.csv --sensor l.toml -o out.csv -q --with ring,pose,azimuth");
    let expected = "t,id,ring,pose,azimuth_deg\n,,,,\n,,,,\n4.0,1,1,0,0.0\n4.0,0,1,0,90.0\n,,,,\n,,,,\n3.0,3,1,1,0.0\n3.0,2,1,1,90.0\n";
    let text = folder.text("out.csv");
    let hits = |text: &str| text.lines().filter(|line| !line.starts_with(',')).map(String::from).collect::<Vec<_>>();
    assert_eq!(hits(&text), hits(expected));
    folder.run_ok("cast s.csv --sensor l.toml -o out.ply -q --with pose");
    let bytes = folder.bytes("out.ply");
    let end = bytes.windows(11).position(|w| w == b"end_header\n").unwrap() + 11;
    assert!(String::from_utf8_lossy(&bytes[..end]).contains("property int id\nproperty int pose\n"));
    let poses: Vec<u32> =
        bytes[end..].chunks_exact(24).map(|v| u32::from_le_bytes(v[20..].try_into().unwrap())).collect();
    assert_eq!(poses, [0, 0, 1, 1]);
    folder.run_ok("cast s.csv --sensor l.toml -o out.npz -q --with pose");
    assert_eq!(npz_array::<u32>(&folder.path("out.npz"), "pose"), [0, 0, 0, 0, 1, 1, 1, 1]);
    #[cfg(feature = "parquet")]
    {
        folder.run_ok("cast s.csv --sensor l.toml -o out.parquet -q --with ring,pose,azimuth");
        assert_eq!(super::parquet::with::as_csv(folder.bytes("out.parquet")), text);
    }
    folder.write("r.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n");
    for (arguments, words) in [
        ("r.csv -o out.csv --with pose", "--with pose needs --sensor"),
        ("--sensor l.toml -o out.csv --with pose --query count", "--with is only for --query closest"),
        ("--sensor l.toml -o out.csv --with pose,ring,pose", "--with lists pose twice"),
    ] {
        folder.refused(&format!("cast s.csv {arguments}"), words);
    }
}

#[test]
fn moving_spheres_are_seen_at_the_times_of_the_poses() {
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r,vx,vy,vz\n10,0,0,1,2,0,0\n").write("rest.csv", "x,y,z,r\n10,0,0,1\n");
    folder.write("l.toml", "elevations_deg = [0]\nazimuths_deg = [0, 180]\nposes = \"p.csv\"\n");
    folder.write("p.csv", "x,y,z,qw,qx,qy,qz,time\n0,0,0,1,0,0,0,0.5\n0,0,0,1,0,0,0,-1\n");
    let done = folder.run_ok("cast s.csv --sensor l.toml -o - -q --keep --time-range=-1,1 --compare --device gpu");
    assert_eq!((done.output.as_str(), done.errors.as_str()), ("time,t,id\n0.5,10.0,0\n0.5,,\n-1,7.0,0\n-1,,\n", ""));
    let done = folder.run_ok("cast s.csv --sensor l.toml -o - --ignore-extra");
    assert_eq!(done.output, "t,id\n9.0,0\n,\n9.0,0\n,\n");
    assert!(done.errors.starts_with("note: l.toml: all rays are at time 0: "), "{}", done.errors);
    let outside = "l.toml: ray 2: time is -1: outside the time range of the scene, 0 to 1";
    folder.refused("cast s.csv --sensor l.toml -o out.csv --keep --time-range 0,1", outside);
    folder.write("p.csv", "x,y,z,qw,qx,qy,qz,time\n0,0,0,1,0,0,0,0\n0,0,0,1,0,0,0,08:00\n");
    let words = "p.csv: row 2 (index 1): time is '08:00': expected a finite number";
    folder.refused("cast s.csv --sensor l.toml -o out.csv --keep", words);
    // The heading has the freedom of others.
    for heading in ["Time", "TIME", "time [s]", "time/s", "scalar_time"] {
        folder.write("p.csv", format!("x,y,z,qw,qx,qy,qz,{heading}\n0,0,0,1,0,0,0,0.5\n"));
        let done = folder.run_ok("cast s.csv --sensor l.toml -o - --keep -q");
        assert_eq!(done.output, format!("{heading},t,id\n0.5,10.0,0\n0.5,,\n"));
    }
    folder.write("p.csv", "x,y,z,qw,qx,qy,qz,time [ms]\n0,0,0,1,0,0,0,0.5\n");
    folder.refused(
        "cast s.csv --sensor l.toml -o out.csv --keep",
        "p.csv: column 'time [ms]' has the unit 'ms', expected s",
    );
    folder.write("p.csv", "x,y,z,qw,qx,qy,qz,time,Time\n0,0,0,1,0,0,0,0,1\n");
    folder.refused("cast s.csv --sensor l.toml -o out.csv --keep", "columns 'time' and 'Time' have the same meaning");
    folder.write("p.csv", "x,y,z,qw,qx,qy,qz,name\n0,0,0,1,0,0,0,a\n");
    let done = folder.run_ok("cast s.csv --sensor l.toml -o - --keep");
    assert!(
        done.errors.starts_with("note: l.toml: all rays are at time 0: the poses have no column time"),
        "{}",
        done.errors
    );
    folder.write("near.toml", "elevations_deg = [0]\nazimuths_deg = [0]\nrange = [0.5, 50]\n");
    folder.refused(
        "cast s.csv --sensor near.toml -o out.csv --motion with-ray --time-range 0,50",
        "near: block is not supported if spheres move while rays travel: use pass, or rays that begin at t_min 0",
    );
    let done = folder.run_ok("cast s.csv --sensor near.toml -o - --motion with-ray --near pass --time-range 0,50 -q");
    assert_eq!(done.output, "t,id\n,\n");
    folder.write("p.csv", "x,y,z,qw,qx,qy,qz,time\n0,0,0,1,0,0,0,0\n0,0,0,1,0,0,0,08:00\n");
    // Text that is no number is copied where nothing moves.
    let done = folder.run_ok("cast rest.csv --sensor l.toml -o - -q --keep");
    assert_eq!((done.output.lines().nth(3), done.errors.as_str()), (Some("08:00,9.0,0"), ""));
    // The rules are those of rays: numbers of Fortran, doubled columns, rays to skip, and rounding.
    folder.write("p.csv", "x,y,z,qw,qx,qy,qz,time\n0,0,0,1,0,0,0,5D-1\n0,0,0,1,0,0,0,\n0,0,0,1,0,0,0,nan\n");
    let done = folder.run_ok("cast s.csv --sensor l.toml -o - -q --keep --on-bad skip");
    assert_eq!(done.output, "time,t,id\n5D-1,10.0,0\n5D-1,,\n,,\n,,\nnan,,\nnan,,\n");
    folder.refused(
        "cast s.csv --sensor l.toml -o out.csv --keep",
        "row 2 (index 1): time is '': expected a finite number",
    );
    folder.write("p.csv", "x,y,z,qw,qx,qy,qz,time,time\n0,0,0,1,0,0,0,0,1\n");
    folder.refused("cast s.csv --sensor l.toml -o out.csv --keep", "p.csv: column 'time' appears twice");
    folder.write("p.csv", "x,y,z,qw,qx,qy,qz,time\n0,0,0,1,0,0,0,16777217.25\n");
    let done = folder.run_ok("cast s.csv --sensor l.toml -o - -q --keep --time-range 0,2e7");
    assert!(done.errors.contains("rounding to f32 changed values of time by up to 7.5e-1"), "{}", done.errors);
}
