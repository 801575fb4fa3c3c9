//! Moving spheres, ellipsoids, rays with a radius, and segments in files.

use umbracast_testing::Numbers;
use umbracast_testing::folder::{Folder, f32_bytes, npy};

const SPHERES: &str = "x,y,z,r,vx,vy,vz\n5,0,0,1,0,0,0\n0,5,0,1,0,2,0\n";

#[test]
fn segments_end_at_their_second_point() {
    let folder = Folder::new();
    // The case of the original program: a segment that ends before the sphere misses it, unlike a ray.
    folder.write("s.csv", "x,y,z,r\n5,0,0,1\n");
    folder.write("l.csv", "x1,y1,z1,x2,y2,z2\n0,0,0,1,0,0\n0,0,0,8,0,0\n0,3,0,10,3,0\n");
    folder.run_ok("cast s.csv l.csv -o out.csv --segments -q");
    assert_eq!(folder.text("out.csv"), "t,id\n,\n0.5,0\n,\n");
    folder.run_ok("cast s.csv l.csv -o out.csv --segments -q --query occluded");
    assert_eq!(folder.text("out.csv"), "occluded\nfalse\ntrue\nfalse\n");
    folder.run_ok("cast s.csv l.csv -o out.csv --segments -q --query approach");
    assert_eq!(folder.text("out.csv"), "t,clearance,id\n1.0,3.0,0\n0.625,-1.0,0\n0.5,2.0,0\n");
    // An origin is subtracted from both ends.
    folder.run_ok("cast s.csv l.csv -o out.csv --segments -q --origin 100,-7,3");
    assert_eq!(folder.text("out.csv"), "t,id\n,\n0.5,0\n,\n");
    let ends = [0.0, 0.0, 0.0, 8.0, 0.0, 0.0];
    folder.write("l.npy", npy("'<f4'", false, "(1, 6)", &f32_bytes(&ends)));
    folder.write("l.segments", f32_bytes(&ends));
    for file in ["l.npy", "l.segments"] {
        folder.run_ok(&format!("cast s.csv {file} -o out.csv --segments -q"));
        assert_eq!(folder.text("out.csv"), "t,id\n0.5,0\n");
    }
}

#[test]
fn both_motion_modes_from_files() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES);
    folder.write("r.csv", "ox,oy,oz,dx,dy,dz,time,radius\n0,0,0,0,1,0,0,0\n0,0,0,0,1,0,3,0\n0,0,0,0,1,0,3,0.5\n");
    folder.run_ok("cast s.csv r.csv -o out.csv --time-range 0,3 -q");
    assert_eq!(folder.text("out.csv"), "t,id\n4.0,1\n10.0,1\n9.5,1\n");
    folder.write(
        "p.csv",
        "ox,oy,oz,dx,dy,dz,t_min,t_max,radius\n0,0,0,0,3,0,0,10,0\n0,0,0,0,3,0,0,10,0.5\n0,0,0,0,2,0,0,10,0\n",
    );
    folder.run_ok("cast s.csv p.csv -o out.csv --time-range 0,10 --motion with-ray -q");
    assert_eq!(folder.text("out.csv"), "t,id\n4.0,1\n3.5,1\n,\n");
    folder.run_ok("cast s.csv p.csv -o out.csv --time-range 0,10 --motion with-ray -q --query count --device gpu");
    assert_eq!(folder.text("out.csv"), "count\n1\n1\n0\n");
}

/// Returns a generator of rows of random numbers; each number is between −size and size.
fn rows(seed: u64) -> impl FnMut(&[f32]) -> String {
    let mut numbers = Numbers(seed);
    move |sizes| sizes.iter().map(|size| (size * numbers.signed()).to_string()).collect::<Vec<_>>().join(",")
}

/// Thousands of rays, some with a radius, and moving spheres and ellipsoids. `--compare` must find the promised precision on the GPU.
#[test]
fn the_gpu_agrees_with_the_cpu_engine_on_moving_files() {
    let folder = Folder::new();
    let mut row = rows(3);
    let spheres: String = (0..200).map(|_| row(&[9.0; 3]) + ",0.5," + &row(&[3.0; 3]) + "\n").collect();
    // Balls, needles and discs in turn; enough of them for a tree.
    let radii = ["0.5,0.5,0.5", "1.5,0.01,0.01", "0.01,1,0.75"];
    let line = |i: usize| [&row(&[9.0; 3]), radii[i % 3], &row(&[1.0; 4]), &row(&[1.0; 3])].join(",") + "\n";
    let ellipsoids: String = (0..3000).map(line).collect();
    let mut rays =
        |last: &str| -> String { (0..2000).map(|i| format!("{},0,1,{}{last}\n", row(&[9.0; 6]), i % 2)).collect() };
    folder
        .write("s.csv", format!("x,y,z,r,vx,vy,vz\n{spheres}"))
        .write("e.csv", format!("x,y,z,rx,ry,rz,qw,qx,qy,qz,vx,vy,vz\n{ellipsoids}"))
        .write("wide.csv", format!("ox,oy,oz,dx,dy,dz,t_min,t_max,time,radius\n{}", rays(",0.25")))
        .write("thin.csv", format!("ox,oy,oz,dx,dy,dz,t_min,t_max,time\n{}", rays("")));
    for files in ["s.csv wide.csv", "e.csv thin.csv"] {
        let arguments = "--compare --device gpu --precision standard --motion with-ray --query interval";
        let json = folder.json(&format!("cast {files} -o out.npz {arguments} --json"));
        assert_eq!(json["rays"], 2000, "{files}: {json}");
    }
}

#[test]
fn contains_uses_the_sphere_positions_at_a_time() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES);
    folder.write("p.csv", "x,y,z\n0,5,0\n0,8,0\n5,0,0\n").write("t.csv", "x,y,z,time\n0,5,0,0\n0,5,0,2\n0,9,0,2\n");
    for device in ["cpu", "gpu"] {
        let ask = |arguments: &str| {
            folder.run_ok(&format!("contains s.csv {arguments} -o out.csv --compare --device {device}"));
            folder.text("out.csv").lines().skip(1).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(ask("p.csv"), "1,1 0, 1,0");
        assert_eq!(ask("p.csv --time 1"), "0, 1,1 1,0");
        assert_eq!(ask("p.csv --time=-1"), "0, 0, 1,0");
        assert_eq!(ask("p.csv --time 0.5"), "1,1 0, 1,0");
        assert_eq!(ask("t.csv --time-range 0,2"), "1,1 0, 1,1");
    }
}

#[test]
fn attributes_of_hits_on_moving_spheres() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES);
    folder.write("r.csv", "ox,oy,oz,dx,dy,dz,time,radius\n0,0,0,0,1,0,3,0\n0,0,0,0,1,0,3,0.5\n");
    folder.run_ok("cast s.csv r.csv -o out.csv --time-range 0,3 -q --with point,normal,incidence,distance");
    let head = "t,id,px,py,pz,nx,ny,nz,incidence_rad,distance\n";
    let plain = |folder: &Folder| folder.text("out.csv").replace("-0.0", "0.0");
    assert_eq!(
        plain(&folder),
        head.to_owned() + "10.0,1,0.0,10.0,0.0,0.0,-1.0,0.0,0.0,10.0\n9.5,1,0.0,10.0,0.0,0.0,-1.0,0.0,0.0,9.5\n"
    );
    folder.write("p.csv", "ox,oy,oz,dx,dy,dz,t_max\n0,0,0,0,3,0,10\n");
    folder.run_ok("cast s.csv p.csv -o out.csv --time-range 0,10 --motion with-ray -q --with point,distance");
    assert_eq!(plain(&folder), "t,id,px,py,pz,distance\n4.0,1,0.0,12.0,0.0,12.0\n");
}

#[test]
fn ellipsoids_are_read_from_the_table_of_spheres() {
    let folder = Folder::new();
    folder.write("e.csv", "x,y,z,rx,ry,rz,qw,qx,qy,qz\n0,0,0,1,2,3,1,0,0,0\n10,0,0,3,1,1,2,0,0,2\n");
    folder.write("r.csv", "ox,oy,oz,dx,dy,dz\n-10,0,0,1,0,0\n10,10,0,0,-1,0\n0,0,0,0,0,1\n0,5,0,1,0,0\n");
    for device in ["cpu", "gpu"] {
        let cast = |query: &str| {
            folder.run_ok(&format!("cast e.csv r.csv -o out.csv -q --device {device} --query {query}"));
            folder.text("out.csv")
        };
        assert_eq!(cast("closest"), "t,id\n9.0,0\n7.0,1\n0.0,0\n,\n");
        assert_eq!(cast("interval"), "t_enter,t_exit,id\n9.0,11.0,0\n7.0,13.0,1\n-3.0,3.0,0\n,,\n");
        assert_eq!(cast("occluded"), "occluded\ntrue\ntrue\ntrue\nfalse\n");
        assert_eq!(cast("count"), "count\n2\n1\n1\n0\n");
        assert_eq!(cast("all"), "ray,t_enter,t_exit,id\n0,9.0,11.0,0\n0,19.0,21.0,1\n1,7.0,13.0,1\n2,-3.0,3.0,0\n");
        assert_eq!(cast("nearest --k 1"), "ray,t_enter,t_exit,id\n0,9.0,11.0,0\n1,7.0,13.0,1\n2,-3.0,3.0,0\n");
    }
    // An origin is subtracted only from the centres; `auto` finds the middle of the bounding balls.
    folder.run_ok("cast e.csv r.csv -o out.csv -q --origin 100,-7,3");
    assert_eq!(folder.text("out.csv"), "t,id\n9.0,0\n7.0,1\n0.0,0\n,\n");
    let done = folder.run_ok("cast e.csv r.csv -o out.csv --origin auto");
    assert!(done.errors.contains("origin 5,0,0"), "{}", done.errors);
    folder.write("p.csv", "x,y,z\n0,0,2.5\n2.5,0,0\n");
    // The default precision for ellipsoids is `standard`; `exact` is rejected.
    for precision in ["", " --precision standard", " --precision fast"] {
        let done = folder.run_ok(&format!("contains e.csv p.csv -o out.csv --json --compare{precision}"));
        assert_eq!(folder.text("out.csv"), "count,id\n1,0\n0,\n");
        let word = precision.rsplit(' ').next().filter(|word| !word.is_empty()).unwrap_or("standard");
        assert!(done.output.contains(&format!("\"precision\":\"{word}\"")), "{}", done.output);
    }
    let refused = folder.run("contains e.csv p.csv -o out.csv --precision exact");
    assert!(refused.code == 3 && refused.errors.contains("the scene contains ellipsoids"), "{}", refused.errors);
    // Options that are only for spheres.
    folder.write("out.csv", "before").write("wide.csv", "ox,oy,oz,dx,dy,dz,radius\n0,0,0,0,1,0,1.5\n");
    for (arguments, code, words) in [
        ("r.csv --query approach", 2, "approach queries do not support ellipsoids, which this scene contains"),
        (
            "r.csv --precision exact",
            3,
            "cannot guarantee precision 'exact': the scene contains ellipsoids; use fast or standard",
        ),
        ("wide.csv", 2, "rays with a radius do not support ellipsoids, which this scene contains"),
        ("r.csv --with normal", 2, "--with does not support ellipsoids, which e.csv contains (columns rx,ry,rz)"),
    ] {
        let done = folder.run(&format!("cast e.csv -o out.csv {arguments}"));
        assert_eq!((done.code, folder.text("out.csv")), (code, "before".into()), "{arguments}: {}", done.errors);
        assert!(done.errors.contains(words), "{arguments}: expected '{words}' in {}", done.errors);
    }
}

#[test]
fn invalid_times_segments_and_combinations_are_refused() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("still.csv", "x,y,z,r\n5,0,0,1\n").write("out.csv", "before");
    folder
        .write("r.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,0,1,0\n")
        .write("late.csv", "ox,oy,oz,dx,dy,dz,time\n0,0,0,0,1,0,1.5\n");
    folder.write("wide.csv", "ox,oy,oz,dx,dy,dz,radius\n0,0,0,0,1,0,1.5\n");
    let segments = [
        ("same.csv", "1,2,3,1,2,3", "x2 is 1: the end points must differ"),
        ("near.csv", "1,2,3,1.000000001,2,3", "x2 is 1.000000001: the end points must differ after rounding"),
        ("nan.csv", "1,2,3,1,nan,3", "line 2: y2 is nan: an end point must be finite"),
        ("far.csv", "1,2,3e38,1,2,-3e38", "z2 is -3e38: the distance between the end points exceeds the largest f32"),
        ("word.csv", "1,2,3,1,2,end", "line 2: z2 is 'end'"),
    ];
    let before = |folder: &Folder, arguments: &str, words: &[&str]| {
        let done = folder.run(arguments);
        assert_eq!((done.code, folder.text("out.csv")), (2, "before".into()), "{arguments}: {}", done.errors);
        for word in words {
            assert!(done.errors.contains(word), "{arguments}: expected '{word}' in {}", done.errors);
        }
    };
    for (name, row, words) in segments {
        folder.write(name, format!("x1,y1,z1,x2,y2,z2\n{row}\n"));
        before(&folder, &format!("cast still.csv {name} -o out.csv --segments"), &[name, words]);
    }
    for (arguments, words) in [
        (
            "cast s.csv r.csv -o out.csv --motion with-ray",
            &["r.csv: row 1", "t_max is inf", "outside the time range"][..],
        ),
        (
            "cast s.csv late.csv -o out.csv",
            &["late.csv: row 1", "time is 1.5", "outside the time range of the scene, 0 to 1; widen"],
        ),
        ("cast s.csv r.csv -o out.csv --time-range 2,1", &["2 to 1", "the first must not exceed the last"]),
        ("cast s.csv r.csv -o out.csv --time-range 1", &["from,to"]),
        ("cast s.csv r.csv -o out.csv --time-range 0,inf", &["both times must be finite"]),
        ("cast s.csv r.csv -o out.csv --time-range a,b", &["'a'"]),
        ("cast s.csv r.csv -o out.csv --motion fast", &["at-time", "with-ray"]),
        ("cast still.csv r.csv -o out.csv --segments", &["'ox'", "x1,y1,z1,x2,y2,z2"]),
        ("cast still.csv r.csv -o out.csv --segments --toward 0,0,0", &["--segments", "--toward"]),
        ("contains s.csv r.csv -o out.csv", &["column 'ox'"]),
    ] {
        before(&folder, arguments, words);
    }
    folder.write("p.csv", "x,y,z\n5,0,0\n").write("t.csv", "x,y,z,time\n5,0,0,0\n5,0,0,2\n");
    for (arguments, words) in [
        ("s.csv p.csv --time late", &["--time", "'late'"][..]),
        ("s.csv p.csv --time inf", &["time is inf: a time must be finite"]),
        ("s.csv p.csv --time 1e39", &["time is 1e39", "largest f32"]),
        ("s.csv p.csv --time 1,2", &["found 2 numbers"]),
        ("s.csv p.csv --time 1 --time-range 0,1", &["cannot be used with"]),
        ("s.csv p.csv --time-range 2,1", &["2 to 1", "the first must not exceed the last"]),
        ("s.csv t.csv --time 1", &["--time cannot be used, because t.csv has a column time"]),
        ("s.csv t.csv", &["t.csv: row 2 (index 1): time is 2", "outside the time range"]),
        (
            "s.csv t.csv --time-range 0.5,3",
            &["t.csv: row 1 (index 0): time is 0", "outside the time range of the scene, 0.5 to 3; widen"],
        ),
        ("s.csv p.csv --time-range 0.5,3", &["p.csv: row 1 (index 0): time is 0", "outside the time range"]),
        ("still.csv p.csv --time 1", &["--time needs moving spheres", "still.csv has no columns vx"]),
        ("still.csv p.csv --time-range 0,1", &["--time-range needs moving spheres"]),
        ("s.csv p.csv --time 1e38", &["sphere 1: vy is 2", "leaves the range of f32"]),
    ] {
        before(&folder, &format!("contains {arguments} -o out.csv"), words);
    }
    // With `--on-bad skip`, a ray outside the time range is a miss.
    let done = folder.run("cast s.csv late.csv -o out.csv --on-bad skip");
    assert!(done.code == 0 && done.errors.contains("1 bad ray"), "{}", done.errors);
}
