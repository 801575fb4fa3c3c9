//! Rays from hit points, and surfaces nearer than the range of a sensor, as on the command line.

#[cfg(unix)]
use std::io::Write;

use umbracast_testing::folder::{Done, Folder};
use umbracast_testing::root;

/// A folder with some files of `tests/data/cases`.
fn cases(names: &[&str]) -> Folder {
    let folder = Folder::new();
    for name in names {
        folder.write(name, std::fs::read(root().join("tests/data/cases").join(name)).unwrap());
    }
    folder
}

/// The number of rows `true` of the result of `occluded`.
fn occluded(folder: &Folder, arguments: &str) -> (usize, String) {
    let done = folder.run_ok(&format!("cast {arguments} -o dark.csv --query occluded"));
    (folder.text("dark.csv").matches("true").count(), done.errors)
}

#[test]
fn hit_points_see_the_sensor_and_are_hidden_from_what_lies_behind_their_ball() {
    let folder = cases(&["one.csv", "grid.toml"]);
    folder.run_ok("cast one.csv --sensor grid.toml -o seen.ply -q");
    let (dark, summary) = occluded(&folder, "one.csv seen.ply --toward 0,0,0");
    assert_eq!(dark, 0);
    assert!(summary.contains("rays start on the spheres of column id"), "{summary}");
    assert_eq!(occluded(&folder, "one.csv seen.ply --toward 20,0,0").0, 403);
    assert_eq!(occluded(&folder, "one.csv seen.ply --parallel=-1,0,0 --from-id id").0, 0);
    assert_eq!(occluded(&folder, "one.csv seen.ply --parallel 1,0,0").0, 403);
    // Without the column the rounded points decide.
    let (dark, summary) = occluded(&folder, "one.csv seen.ply --toward 0,0,0 --from-id none");
    assert!((100..300).contains(&dark), "{dark}");
    assert!(!summary.contains("column"), "{summary}");
}

#[test]
fn a_column_id_is_used_only_if_every_point_lies_on_its_sphere() {
    let folder = cases(&["one.csv"]);
    let points = "x,y,z,id\n4,0,0,0\n3,0,0,0\n";
    folder.write("points.csv", points);
    let (dark, summary) = occluded(&folder, "one.csv points.csv --toward 0,0,0");
    assert_eq!(dark, 1, "the first point touches its ball");
    assert!(summary.contains("column id is not used: the point in row 2 (index 1)"), "{summary}");
    let refused = folder.run("cast one.csv points.csv -o x.csv --query occluded --toward 0,0,0 --from-id id");
    assert_eq!(refused.code, 2);
    for part in ["points.csv: row 2 (index 1)", ": id is 0", "does not lie on the surface"] {
        assert!(refused.errors.contains(part), "{part}: {}", refused.errors);
    }
    // Points that are skipped are on no sphere.
    folder.write("skip.csv", "x,y,z,id\n,,,\n4,0,0,0\n,,,\nNaN,0,0,0\n4.0050125,0.1,0,0\n");
    let (dark, summary) = occluded(&folder, "one.csv skip.csv --toward 0,9,0 --on-bad skip");
    assert!(dark == 0 && summary.contains("rays start on the spheres of column id"), "{dark} {summary}");
    folder.write("skip.csv", "x,y,z,id\n,,,\n4,0,0,0\n,,,\n3,0,0,0\n");
    let (_, summary) = occluded(&folder, "one.csv skip.csv --toward 0,9,0 --on-bad skip");
    assert!(summary.contains("column id is not used: the point in row 4 (index 3)"), "{summary}");
    // The column of another name, one that does not exist, and points of a pipe.
    folder.write("own.csv", "x,y,z,sphere\n4,0,0,0\n0,0,0,\n");
    assert_eq!(occluded(&folder, "one.csv own.csv --toward -9,0,0 --from-id sphere").0, 0);
    let refused = folder.run("cast one.csv own.csv -o x.csv --toward 0,0,0 --from-id nothing --ignore-extra");
    assert!(refused.errors.contains("there is no column 'nothing'"), "{}", refused.errors);
    let refused = folder.run("cast one.csv own.csv -o x.csv --from-id sphere");
    assert!(refused.errors.contains("--toward and --parallel"), "{}", refused.errors);
    let json = folder.run_ok("cast one.csv own.csv -o x.csv --toward -9,0,0 --from-id sphere --json");
    assert!(
        json.output.contains("\"from_id\":\"sphere\"") && json.output.contains("\"off_surface\":0"),
        "{}",
        json.output
    );
}

/// `id` is also a name for things that are no spheres: they are no error, and `--keep` copies them.
#[test]
fn ids_of_other_things_are_not_used() {
    let folder = cases(&["one.csv"]);
    let ply = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nproperty int id\nend_header\n";
    folder.write("minus.ply", format!("{ply}4 0 0 -1\n"));
    for (ids, why) in [
        ("-1", "line 2: id is -1"),
        ("8000000000", "line 2: id is 8000000000"),
        ("3.5", "line 2: id is 3.5"),
        ("P1", "line 2: id is 'P1': expected a number"),
        ("77", "the point in row 1 (index 0) does not lie on the sphere that it names"),
    ] {
        folder.write("points.csv", format!("id,x,y,z\n{ids},4,0,0\n"));
        let (dark, summary) = occluded(&folder, "one.csv points.csv --toward 0,0,0");
        assert_eq!(dark, 1, "the closed ball is touched: {ids}");
        assert!(summary.contains("column id is not used: ") && summary.contains(why), "{ids}: {summary}");
        let (_, summary) = occluded(&folder, "one.csv points.csv --toward 0,0,0 --from-id none");
        assert!(!summary.contains("column"), "{summary}");
        for from in ["", " --from-id none"] {
            let kept = format!("cast one.csv points.csv -o - --query occluded --toward 0,0,0 --keep -q{from}");
            assert_eq!(folder.run_ok(&kept).output, format!("id,occluded\n{ids},true\n"));
        }
    }
    let (_, summary) = occluded(&folder, "one.csv minus.ply --toward 0,0,0");
    assert!(summary.contains("column id is not used: minus.ply: ") && summary.contains("id is -1"), "{summary}");
    folder.refused("cast one.csv points.csv -o out.csv --toward 0,0,0 --keep --from-id none", "rename the kept column");
    // Beside another column, it has no meaning.
    for (from, option) in [("from_id", ""), ("From_ID", " --from-id FROM_ID"), ("Sphere Id", " --from-id sphere_id")] {
        folder.write("both.csv", format!("id,x,y,z,{from}\nP1,4,0,0,0\n"));
        assert_eq!(occluded(&folder, &format!("one.csv both.csv --toward 0,0,0{option}")).0, 0, "{from}");
    }
}

#[test]
fn rays_and_bullets_have_a_column_of_the_spheres_on_which_they_start() {
    let folder = cases(&["contact_s.csv", "contact_r.csv"]);
    folder.run_ok("cast contact_s.csv contact_r.csv -o out.csv -q");
    assert_eq!(folder.text("out.csv"), "t,id\n0.0,0\n0.0,0\n0.0,0\n0.0,0\n", "closed balls are hit at their surface");
    let rays: String = folder.text("contact_r.csv").lines().skip(1).map(|line| format!("{line},0\n")).collect();
    folder.write("from.csv", format!("ox,oy,oz,dx,dy,dz,from_id\n{rays}"));
    folder.run_ok("cast contact_s.csv from.csv -o out.csv -q");
    // Only the third ray goes inwards.
    assert_eq!(folder.text("out.csv"), "t,id\n,\n,\n0.0,0\n,\n");
    folder.run_ok("cast contact_s.csv from.csv -o out.csv -q --inside exit");
    assert_eq!(folder.text("out.csv"), "t,id\n,\n,\n2.0,0\n,\n");

    // Hit points, fired back to the sensor.
    let folder = cases(&["one.csv", "grid.toml"]);
    folder.run_ok("cast one.csv --sensor grid.toml -o seen.csv -q --with point");
    let points: Vec<String> =
        folder.text("seen.csv").lines().skip(1).filter(|line| *line != ",,,,").map(str::to_owned).collect();
    assert_eq!(points.len(), 403);
    let row = |line: &String, end: &str| {
        let [_, id, x, y, z] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        format!("{x},{y},{z},{end},1,{id}\n")
    };
    for (end, status) in [("0,0,0", "miss"), ("20,0,0", "started_inside")] {
        let bullets: String = points.iter().map(|line| row(line, end)).collect();
        folder.write("bullets.csv", format!("x1,y1,z1,x2,y2,z2,speed,from_id\n{bullets}"));
        folder.run_ok("bullets one.csv bullets.csv -o legs.csv -q");
        assert_eq!(folder.text("legs.csv").matches(&format!("{status},")).count(), 403, "{end}");
    }
    folder.write("bad.csv", "x1,y1,z1,x2,y2,z2,speed,from_id\n0,0,0,1,0,0,1,0\n");
    let refused = folder.run("bullets one.csv bad.csv -o x.csv");
    assert!(refused.errors.contains("bad.csv: row 1 (index 0): from_id is 0"), "{}", refused.errors);
}

#[test]
fn a_surface_nearer_than_the_range_of_a_sensor_blocks_the_beam() {
    let folder = cases(&["minrange_s.csv", "minrange.toml"]);
    for (options, row) in [
        ("", ","),
        ("--near block", ","),
        ("--near pass", "9.0,1"),
        ("--query interval", ",,"),
        ("--query interval --near pass", "9.0,11.0,1"),
    ] {
        folder.run_ok(&format!("cast minrange_s.csv --sensor minrange.toml -o out.csv -q {options}"));
        assert_eq!(folder.text("out.csv").lines().nth(1), Some(row), "{options}");
    }
    for (options, rows) in [("all", 1), ("nearest --k 1", 1), ("all --near pass", 2)] {
        folder.run_ok(&format!("cast minrange_s.csv --sensor minrange.toml -o out.csv -q --query {options}"));
        assert_eq!(folder.text("out.csv").lines().count(), rows, "{options}");
    }
    // Other queries cannot obey the policy: they refuse it, and ignore the default of sensors.
    folder.run_ok("cast minrange_s.csv --sensor minrange.toml -o out.csv -q --query count");
    assert_eq!(folder.text("out.csv"), "count\n1\n");
    let refused = folder.run("cast minrange_s.csv --sensor minrange.toml -o x.csv --query count --near block");
    assert!(refused.errors.contains("--near block is for --query closest"), "{}", refused.errors);
    // A ray of a file passes by default: its post ends before the range, and a ball around the start of the range is hit there.
    folder.write("rays.csv", "ox,oy,oz,dx,dy,dz,t_min\n0,0,0,1,0,0,0.5\n0,0,0,1,0,0,9.5\n0,0,0,-1,0,0,0.5\n");
    folder.run_ok("cast minrange_s.csv rays.csv -o out.csv -q");
    assert_eq!(folder.text("out.csv"), "t,id\n9.0,1\n9.5,1\n,\n");
    folder.run_ok("cast minrange_s.csv rays.csv -o out.csv -q --near block");
    assert_eq!(folder.text("out.csv"), "t,id\n,\n,\n,\n");
    // One ray and one sphere alike.
    for (near, hit) in [("pass", "hit       t 4.5 at"), ("block", "hit       none")] {
        let said = folder.run_ok(&format!("cast --sphere 5,0,0,1 --ray 0,0,0,1,0,0,4.5,inf --near {near}")).output;
        assert!(said.contains(hit), "{said}");
    }
}

/// Its place has a copy of another sphere, on whose surface the rays would seem to start.
#[test]
fn no_ray_or_bullet_starts_on_a_sphere_that_is_left_out() {
    let folder = Folder::new();
    let why = "from_id is 0: no ray starts on this sphere: it was left out";
    folder.write("r.csv", "ox,oy,oz,dx,dy,dz,from_id\n4,0,0,-1,0,0,\n4,0,0,-1,0,0,0\n");
    folder.write("b.csv", "x1,y1,z1,x2,y2,z2,speed,from_id\n4,0,0,5,0,0,1,\n4,0,0,5,0,0,1,0\n");
    folder.write("p.csv", "x,y,z,id\n4,0,0,0\n");
    for (spheres, ball) in [
        ("x,y,z,r\nnan,0,0,1\n5,0,0,1\n", 1),
        ("x,y,z,r\nnan,0,0,1\n,,,\n5,0,0,1\n", 2),
        ("x,y,z,r,vx,vy,vz\nnan,0,0,1,9,0,0\n5,0,0,1,0,0,0\n", 1),
    ] {
        folder.write("s.csv", spheres);
        let done = folder.run_ok("cast s.csv r.csv -o - --on-bad skip");
        assert_eq!(done.output, format!("t,id\n0.0,{ball}\n,\n"), "{spheres}");
        assert!(done.errors.contains("1 bad rays skipped"), "{}", done.errors);
    }
    folder.write("s.csv", "x,y,z,r\nnan,0,0,1\n5,0,0,1\n");
    let done = folder.run_ok("bullets s.csv b.csv -o - --on-bad skip");
    assert!(done.output.contains("\nhit,1,0.0,") && done.output.contains("\nmiss,,"), "{}", done.output);
    assert!(done.errors.contains("1 bad bullets skipped"), "{}", done.errors);
    let (_, summary) = occluded(&folder, "s.csv p.csv --parallel 1,0,0 --on-bad skip");
    assert!(summary.contains("column id is not used"), "{summary}");
    // An atom that is left out.
    folder.write(
        "a.pdb",
        "HETATM    1  MW  SOL A   1       5.000   0.000   0.000  1.00  0.00           M\n\
         HETATM    2  O   HOH A   2       5.000   0.000   0.000  1.00  0.00           O\n",
    );
    folder.write("r.csv", "ox,oy,oz,dx,dy,dz,from_id\n3.48,0,0,-1,0,0,0\n");
    folder.refused("cast a.pdb r.csv -o out.csv", why);
    // Of two equal spheres, each counts as the other.
    folder.write("s.csv", "x,y,z,r,mask\n5,0,0,1,1\n5,0,0,1,1\n");
    folder.write("r.csv", "ox,oy,oz,dx,dy,dz,from_id\n4,0,0,-1,0,0,0\n");
    assert_eq!(folder.run_ok("cast s.csv r.csv -o - -q").output, "t,id\n,\n");
}

/// A pipe cannot be read twice, so that its column `id` is never used without `--from-id`.
#[test]
#[cfg(unix)]
fn a_column_id_of_a_pipe_is_kept_and_not_read() {
    let folder = cases(&["one.csv"]);
    for ids in ["7", "site-1", "-1"] {
        let cast = |more: &str| {
            folder.make_pipe("p.csv");
            let child = folder.start(&format!("cast one.csv p.csv -o - --parallel 1,0,0 --query count {more}"));
            folder.open_pipe("p.csv").write_all(format!("x,y,z,id,tag\n4,0,0,{ids},p\n").as_bytes()).unwrap();
            let done = Done::of(child);
            std::fs::remove_file(folder.path("p.csv")).unwrap();
            assert_eq!(done.code, 0, "{}", done.errors);
            done
        };
        let done = cast("--keep");
        assert_eq!(done.output, format!("id,tag,count\n{ids},p,1\n"));
        assert!(done.errors.contains("column id is not used: the points come from a pipe"), "{}", done.errors);
        assert_eq!(cast("--ignore-extra").output, "count\n1\n");
    }
}

/// The coordinates of messages would be relative to the origin, and not those of the file.
#[test]
fn messages_about_bad_rows_have_no_shifted_coordinates() {
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r\n10000005.25,0,0,1\n");
    folder.write("r.csv", "ox,oy,oz,dx,dy,dz,from_id\n10000000,0,0,1,0,0,0\n");
    folder.write("p.csv", "x,y,z,sphere\n10000000,0,0,0\n");
    folder.write("b.csv", "x1,y1,z1,x2,y2,z2,speed\n10000000,0,0,10000000,0,0,1\n");
    for (arguments, why) in [
        ("cast s.csv r.csv", "from_id is 0: the start does not lie on the surface of this sphere"),
        ("cast s.csv p.csv --parallel 1,0,0 --from-id Sphere", "Sphere is 0: the start does not lie"),
        ("cast s.csv p.csv --toward 10000000,0,0 --ignore-extra", "x,y,z is the target: the direction"),
        ("bullets s.csv b.csv", "x2,y2,z2 is the start point: the target point must differ from it"),
    ] {
        let done = folder.refused(&format!("{arguments} -o out.csv --origin 10000000,0,0"), why);
        assert!(!done.errors.contains("0,0,0"), "{}", done.errors);
    }
}

#[test]
fn starts_of_bullets_far_from_their_surface_are_reported() {
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r\n0,0,0,1\n");
    folder.write("b.csv", "x1,y1,z1,x2,y2,z2,speed,from_id\n1.0005,0,0,0,0,0,1,0\n1,0,0,2,0,0,1,0\n");
    let errors = folder.run_ok("bullets s.csv b.csv -o out.csv -q").errors;
    assert!(errors.starts_with("warning: 1 bullets start farther from the surface of their sphere"), "{errors}");
    assert!(folder.run_ok("bullets --help").output.contains("optional radius, from_id"));
}
