//! `umbracast cast`, run as users run it: valid input gives the same results in every format.

use umbracast_testing::folder::{Folder, npy, npz_array};

const SPHERES: &str = "x,y,z,r\n4,0,0,1\n0,5,0,2\n";
const RAYS: &str = "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n0,0,0,0,1,0\n0,0,0,0,0,1\n";

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
        folder.run_ok(&format!("cast s.csv r.csv -o out.csv -q --query {query}"));
        assert_eq!(folder.text("out.csv"), table, "{query}");
        folder.run_ok(&format!("cast s.csv r.csv -o out.npz -q --query {query}"));
        let npz = folder.path("out.npz");
        let mut lines = table.lines();
        for (column, name) in lines.next().unwrap().split(',').enumerate() {
            let cells = lines.clone().map(|line| line.split(',').nth(column).unwrap());
            match name {
                "occluded" => assert_eq!(npz_array::<bool>(&npz, name), cells.map(|c| c == "true").collect::<Vec<_>>()),
                "id" => {
                    assert_eq!(
                        npz_array::<u32>(&npz, name),
                        cells.map(|c| c.parse().unwrap_or(u32::MAX)).collect::<Vec<_>>()
                    );
                }
                _ => {
                    let cells = cells.map(|c| c.parse().unwrap_or(f32::INFINITY));
                    assert_eq!(npz_array::<f32>(&npz, name), cells.collect::<Vec<_>>());
                }
            }
        }
    }
}

#[test]
fn the_policy_options_take_effect() {
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r\n4,0,0,1\n");
    // A ray that starts inside, a tangent ray, and a ray that ends on the surface.
    folder.write("r.csv", "ox,oy,oz,dx,dy,dz,t_min,t_max\n4,0,0,1,0,0,0,inf\n0,1,0,1,0,0,0,inf\n0,0,0,1,0,0,0,3\n");
    for (policies, answers) in [
        ("", ["0.0,0", "4.0,0", "3.0,0"]),
        ("--inside exit", ["1.0,0", "4.0,0", "3.0,0"]),
        ("--inside ignore", [",", "4.0,0", "3.0,0"]),
        ("--touch miss", ["0.0,0", ",", "3.0,0"]),
        ("--ends half-open", ["0.0,0", "4.0,0", ","]),
    ] {
        for precision in ["fast", "standard", "exact"] {
            folder.run_ok(&format!("cast s.csv r.csv -o out.csv -q --precision {precision} {policies}"));
            assert_eq!(folder.text("out.csv"), format!("t,id\n{}\n", answers.join("\n")), "{precision} {policies}");
        }
    }
}

#[test]
fn an_origin_keeps_the_precision_of_large_coordinates() {
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r\n50000000.25,7000000.5,0,0.125\n");
    folder.write("r.csv", "ox,oy,oz,dx,dy,dz\n49999990.25,7000000.5,0,1,0,0\n");
    folder.run_ok("cast s.csv r.csv -o far.csv -q");
    assert_ne!(folder.text("far.csv"), "t,id\n9.875,0\n", "f32 cannot represent this");
    for origin in ["auto", "50000000,7000000,0"] {
        let done = folder.run_ok(&format!("cast s.csv r.csv -o near.csv --origin {origin}"));
        assert_eq!(folder.text("near.csv"), "t,id\n9.875,0\n");
        assert!(done.errors.contains("; origin 50000000"), "{}", done.errors);
        assert!(!done.errors.contains("rounded"), "{}", done.errors);
    }
    folder.run_ok("cast s.csv r.csv -o near.csv -q --origin -1,-2,3.5");
}

#[test]
fn bad_rays_can_be_skipped() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES);
    folder.write("r.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n0,0,0,0,0,0\nnan,0,0,1,0,0\n,0,0,1,0,0\n0,0,0,0,1,0\n");
    let done = folder.run_ok("cast s.csv r.csv -o out.csv --on-bad skip");
    assert!(done.errors.contains("5 rays, 2 hits") && done.errors.contains("3 bad rays skipped"), "{}", done.errors);
    assert_eq!(folder.text("out.csv"), "t,id\n3.0,0\n,\n,\n,\n3.0,1\n");
}

#[test]
fn empty_files_are_valid() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("r.csv", RAYS).write("s0.csv", "x,y,z,r\n").write("r0.f32", "");
    folder.write("s0.npy", npy("'<f8'", false, "(0, 4)", &[]));
    for query in ["closest", "occluded", "interval", "approach"] {
        for spheres in ["s0.csv", "s0.npy"] {
            folder.run_ok(&format!("cast {spheres} r.csv -o out.csv -q --query {query}"));
            let text = folder.text("out.csv");
            let rows: Vec<&str> = text.lines().skip(1).collect();
            assert_eq!(rows.len(), 3);
            assert!(rows.iter().all(|row| *row == "false" || row.chars().all(|c| c == ',')), "{text}");
        }
        folder.run_ok(&format!("cast s.csv r0.f32 -o out.npz -q --query {query} --origin auto --compare"));
        let npz = folder.path("out.npz");
        match query {
            "occluded" => assert!(npz_array::<bool>(&npz, query).is_empty()),
            _ => assert!(npz_array::<u32>(&npz, "id").is_empty()),
        }
        folder.run_ok(&format!("cast s0.npy r0.f32 -o out.npz -q --query {query} --origin auto --pairwise"));
    }
}

#[test]
fn the_summary_reports_the_cast() {
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r\n4,0,0,1.1\n").write("r.csv", RAYS);
    let done = folder.run_ok("cast s.csv r.csv -o out.csv");
    assert_eq!(done.errors.lines().count(), 1, "{}", done.errors);
    for word in ["1 spheres, 3 rays, 1 hits", " ms, ", "Mrays/s", "1 numbers rounded to f32, by at most 2.4e-8"] {
        assert!(done.errors.contains(word), "'{word}' is not in: {}", done.errors);
    }
    assert_eq!(done.output, "");
    let done = folder.run_ok("cast s.csv r.csv -o out.csv --quiet");
    assert_eq!((done.output.as_str(), done.errors.as_str()), ("", ""));
    let done = folder.run_ok("cast s.csv r.csv -o out.csv --json --compare --precision exact");
    assert_eq!(done.errors, "");
    let json: serde_json::Value = serde_json::from_str(&done.output).unwrap();
    for (field, value) in [
        ("query", serde_json::json!("closest")),
        ("precision", serde_json::json!("exact")),
        ("cpu", serde_json::json!(true)),
        ("spheres", serde_json::json!(1)),
        ("rays", serde_json::json!(3)),
        ("rays_hit", serde_json::json!(1)),
        ("skipped", serde_json::json!(0)),
        ("output", serde_json::json!("out.csv")),
    ] {
        assert_eq!(json[field], value, "{field} in {json}");
    }
    assert!(json["seconds"].is_number() && json["device"].is_string(), "{json}");
    assert_eq!(json["rounded"], 1);
    assert_eq!(json["compare"]["not_identical"], 0);
}

#[test]
fn one_sphere_and_one_ray_need_no_files() {
    let folder = Folder::new();
    let done = folder.run_ok("cast --sphere 4,0,0,1 --ray 0,0,0,2,0,0");
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
    let done = folder.run_ok("cast --sphere -4,0,0,1 --ray 0,-2,0,-1,0,0,-inf,inf");
    for line in ["roots     none: the line misses the sphere", "hit       none", "approach  t 4, clearance 1"] {
        assert!(done.output.lines().any(|l| l == line), "'{line}' is not in:\n{}", done.output);
    }
    let json = folder.json("cast --sphere 4,0,0,1 --ray 4,0,0,0,0,3 --inside exit --json");
    assert_eq!(json["inside"], true);
    assert_eq!(json["ray"]["t_max"], "inf");
    assert_eq!(json["hit"]["point"], serde_json::json!([4.0, 0.0, 1.0]));
    assert_eq!(json["hit"]["normal"], serde_json::json!([0.0, 0.0, 1.0]));
    assert_eq!(json["approach"], serde_json::json!({"t": 0.0, "clearance": -1.0}));
    let done = folder.run_ok("cast --sphere 4,0,0,0.1 --ray 0,0,0,1,0,0");
    assert!(done.errors.contains("1 numbers were rounded to f32"), "{}", done.errors);
}

const CHAIN: &str = "x,y,z,r\n4,0,0,1\n0,5,0,2\n8,0,0,1\n4,0,0,2\n6,0,0,0.5\n";

#[test]
fn lists_are_written_in_every_format() {
    let folder = Folder::new();
    folder.write("s.csv", CHAIN).write("r.csv", RAYS);
    folder.run_ok("cast s.csv r.csv -o count.csv -q --query count");
    assert_eq!(folder.text("count.csv"), "count\n4\n1\n0\n");
    folder.run_ok("cast s.csv r.csv -o count.npz -q --query count");
    assert_eq!(npz_array::<u32>(&folder.path("count.npz"), "count"), [4, 1, 0]);
    let table = "ray,t_enter,t_exit,id\n0,2.0,6.0,3\n0,3.0,5.0,0\n0,5.5,6.5,4\n0,7.0,9.0,2\n1,3.0,7.0,1\n";
    let done = folder.run_ok("cast s.csv r.csv -o all.csv --query all");
    assert_eq!(folder.text("all.csv"), table);
    assert!(done.errors.contains("5 spheres, 3 rays, 2 hits, 5 sphere hits in total"), "{}", done.errors);
    folder.run_ok("cast s.csv r.csv -o two.csv -q --query nearest --k 2");
    assert_eq!(folder.text("two.csv"), "ray,t_enter,t_exit,id\n0,2.0,6.0,3\n0,3.0,5.0,0\n1,3.0,7.0,1\n");
    folder.run_ok("cast s.csv r.csv -o all.npz -q --query all");
    let npz = folder.path("all.npz");
    assert_eq!(npz_array::<u64>(&npz, "offsets"), [0, 4, 5, 5]);
    assert_eq!(npz_array::<f32>(&npz, "t_enter"), [2.0, 3.0, 5.5, 7.0, 3.0]);
    assert_eq!(npz_array::<f32>(&npz, "t_exit"), [6.0, 5.0, 6.5, 9.0, 7.0]);
    assert_eq!(npz_array::<u32>(&npz, "id"), [3, 0, 4, 2, 1]);
    let json = folder.run_ok("cast s.csv r.csv -o all.npz --query all --json").output;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["query"], &json["sphere_hits"], &json["rays_hit"]), (&"all".into(), &5.into(), &2.into()));
    // No rays, and then a scene without spheres.
    folder.write("none.csv", "ox,oy,oz,dx,dy,dz\n").write("empty.csv", "x,y,z,r\n");
    folder.run_ok("cast s.csv none.csv -o none.npz -q --query all");
    assert_eq!(npz_array::<u64>(&folder.path("none.npz"), "offsets"), [0]);
    folder.run_ok("cast empty.csv r.csv -o none.npz -q --query all");
    assert_eq!(npz_array::<u64>(&folder.path("none.npz"), "offsets"), [0, 0, 0, 0]);
    assert!(npz_array::<u32>(&folder.path("none.npz"), "id").is_empty());
}

#[test]
fn hit_lists_work_with_every_other_option() {
    let folder = Folder::new();
    folder.write("s.csv", CHAIN).write("r.csv", RAYS).write("five.csv", format!("{RAYS}0,0,0,1,0,0\n0,0,0,1,0,0\n"));
    for query in ["all", "count", "nearest --k 1"] {
        let done = folder.run_ok(&format!("cast s.csv five.csv -o pairs.csv --query {query} --pairwise --compare"));
        assert!(done.errors.contains("5 rays, 4 hits, 4 sphere hits in total"), "{}", done.errors);
        assert!(done.errors.contains("all results equal those of "), "{}", done.errors);
    }
    assert_eq!(folder.text("pairs.csv"), "ray,t_enter,t_exit,id\n0,3.0,5.0,0\n1,3.0,7.0,1\n3,2.0,6.0,3\n4,5.5,6.5,4\n");
    folder.write("bad.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n0,0,0,nan,0,0\n0,0,0,0,1,0\n");
    let done = folder.run_ok("cast s.csv bad.csv -o skip.npz --query all --on-bad skip --origin 1,0,0");
    assert!(done.errors.contains("1 bad rays skipped"), "{}", done.errors);
    assert_eq!(npz_array::<u64>(&folder.path("skip.npz"), "offsets"), [0, 4, 4, 5]);
    folder.write("p.csv", "x,y,z\n0,0,0\n20,0,0\n");
    folder.run_ok("cast s.csv p.csv -o t.csv -q --query all --toward 7.5,0,0");
    assert_eq!(
        folder.text("t.csv").lines().map(|line| line.rsplit(',').next().unwrap()).collect::<Vec<_>>(),
        ["id", "3", "0", "4", "2", "2"]
    );
    folder.run_ok("cast s.csv p.csv -o c.csv -q --query count --parallel 1,0,0");
    assert_eq!(folder.text("c.csv"), "count\n4\n0\n");
}
