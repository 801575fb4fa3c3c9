//! `umbracast bullets`: all file formats, flights with several legs, and a single bullet from options or from prompts on a terminal.

use umbracast_testing::folder::{Folder, npy, npz_array};

pub(crate) const SPHERES: &str = "x,y,z,r\n4,4,0,4\n0,0,50,2\n";
/// The default bullet of the prompts, one that starts inside a sphere, one straight up, and one that misses.
pub(crate) const BULLETS: &str =
    "x1,y1,z1,x2,y2,z2,speed\n0,0,0,4,4,4,3\n4,4,0,1,1,1,2\n0,0,9,0,0,10,0.5\n5,5,9,5,5,90,1\n";
const HITS: &str = "status,id,distance,frames,px,py,pz,grazing_rad,vx,vy,vz\n\
    hit,0,2.309401,0.76980036,1.3333334,1.3333334,1.3333334,0.6154797,-0.57735026,-0.57735026,2.8867514\n\
    started_inside,0,,,,,,,,,\n\
    hit,1,39.0,78.0,0.0,0.0,48.0,1.5707964,0.0,0.0,-0.5\n\
    miss,,,,,,,,,,\n";
const ROOM: &str = "x,y,z,r\n21,0,0,20\n-21,0,0,20\n0,21,0,20\n0,-21,0,20\n0,0,21,20\n0,0,-21,20\n";

#[test]
fn csv_and_npz_have_the_same_flights() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("b.csv", BULLETS);
    folder.run_ok("bullets s.csv b.csv -o out.npz -q");
    let path = folder.path("out.npz");
    assert_eq!(npz_array::<u8>(&path, "status"), [0, 2, 0, 1]);
    assert_eq!(npz_array::<u32>(&path, "id"), [0, 0, 1, u32::MAX]);
    assert_eq!(npz_array::<f32>(&path, "frames"), [0.769_800_36, f32::INFINITY, 78.0, f32::INFINITY]);
    assert_eq!(
        npz_array::<f32>(&path, "vz").iter().map(|x| x.is_nan()).collect::<Vec<_>>(),
        [false, true, false, true]
    );
    assert_eq!(npz_array::<f32>(&path, "pz")[2], 48.0);
    for device in ["cpu", "gpu"] {
        let done = folder.run_ok(&format!("bullets s.csv b.csv -o out.csv --device {device} --compare"));
        assert_eq!(folder.text("out.csv"), HITS, "{device}");
        assert_eq!(done.errors.lines().count(), 1);
        let said = "2 spheres, 4 bullets: 2 hit, 1 missed, 1 started inside; 2 ricochets, ";
        assert!(done.errors.contains(said) && done.errors.contains("; 0 flights differ"), "{}", done.errors);
    }
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_files_give_the_same_flights() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("b.csv", BULLETS);
    folder.run_ok("bullets s.csv b.csv -o out.parquet -q --bounces 2");
    folder.run_ok("bullets s.csv b.csv -o out.csv -q --bounces 2");
    // The words of CSV have no quotation marks.
    let text = super::parquet::with::as_csv(folder.bytes("out.parquet")).replace('"', "");
    assert_eq!(text, folder.text("out.csv"));
}

#[test]
fn flights_are_written_with_one_row_per_leg() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("b.csv", BULLETS);
    folder.run_ok("bullets s.csv b.csv -o out.csv -q --bounces 1");
    let plain = HITS.lines().skip(1).enumerate().map(|(i, line)| format!("{i},0,{line}\n"));
    assert_eq!(folder.text("out.csv").split_once('\n').unwrap().1, plain.collect::<String>());
    folder.run_ok("bullets s.csv b.csv -o out.csv -q --bounces 5");
    let lines: Vec<String> = folder.text("out.csv").lines().map(|line| line.chars().take(6).collect()).collect();
    assert_eq!(lines, ["bullet", "0,0,hi", "0,1,mi", "1,0,st", "2,0,hi", "2,1,mi", "3,0,mi"]);

    // Two bullets fly back and forth between two opposite walls each. The walls are 2 apart: the first hit is at distance 1, and every
    // further hit 2 later.
    folder.write("room.csv", ROOM).write("one.csv", "x1,y1,z1,x2,y2,z2,speed\n0,0,0,1,0,0,4\n0,0.25,0,0,1,0,1\n");
    for device in ["cpu", "gpu"] {
        folder.run_ok(&format!("bullets room.csv one.csv -o out.npz -q --bounces 300 --compare --device {device}"));
        let path = folder.path("out.npz");
        let bullet: Vec<u64> = (0..600).map(|row| row / 300).collect();
        assert_eq!(npz_array::<u64>(&path, "bullet"), bullet);
        assert_eq!(npz_array::<u32>(&path, "bounce"), (0..300).chain(0..300).collect::<Vec<u32>>());
        assert_eq!(npz_array::<u8>(&path, "status"), [0; 600]);
        assert_eq!(npz_array::<u32>(&path, "id")[..300], [0, 1].repeat(150));
        assert_eq!(npz_array::<u32>(&path, "id")[300..], [2, 3].repeat(150));
        let distances: Vec<f32> = (0..300).map(|i| 1.0 + 2.0 * i as f32).collect();
        assert_eq!(npz_array::<f32>(&path, "distance")[..300], distances);
        assert_eq!(npz_array::<f32>(&path, "frames")[..300], distances.iter().map(|d| d / 4.0).collect::<Vec<_>>());
        assert_eq!(npz_array::<f32>(&path, "vx")[..300], [-4.0, 4.0].repeat(150));
    }
}

#[test]
fn more_bullets_than_one_call_takes() {
    // A call takes 1,048 bullets: with up to 1,000 legs per bullet, it returns at most 2²⁰ legs.
    let folder = Folder::new();
    let bullet = |i: usize| format!("0,0,{},{},1,0.5,1\n", 0.0001 * i as f32, i % 7);
    let table: String = (0..3000).map(bullet).collect();
    folder.write("s.csv", ROOM).write("b.csv", format!("x1,y1,z1,x2,y2,z2,speed\n{table}"));
    folder.run_ok("bullets s.csv b.csv -o out.npz -q --bounces 1000");
    let path = folder.path("out.npz");
    assert_eq!(npz_array::<u64>(&path, "bullet"), (0..3_000_000).map(|row| row / 1000).collect::<Vec<u64>>());
    assert!(npz_array::<u8>(&path, "status").iter().all(|status| *status == 0));
    assert!(npz_array::<f32>(&path, "pz").iter().all(|z| z.abs() < 1.1));
}

#[test]
fn empty_files_are_valid() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("s0.csv", "x,y,z,r\n").write("b0.csv", "x1,y1,z1,x2,y2,z2,speed\n");
    folder.write("b0.f32", "").write("b.csv", BULLETS).write("b0.npy", npy("'<f8'", false, "(0, 7)", &[]));
    for none in ["b0.csv", "b0.f32", "b0.npy"] {
        folder.run_ok(&format!("bullets s.csv {none} -o out.csv --compare --bounces 4"));
        assert_eq!(folder.text("out.csv").lines().count(), 1, "{none}");
        folder.run_ok(&format!("bullets s.csv {none} -o out.npz --origin auto"));
        assert!(npz_array::<f32>(&folder.path("out.npz"), "distance").is_empty());
    }
    folder.run_ok("bullets s0.csv b.csv -o out.csv -q");
    assert_eq!(folder.text("out.csv").lines().filter(|line| *line == "miss,,,,,,,,,,").count(), 4);
}

#[test]
fn bad_bullets_can_be_skipped_and_origins_subtracted() {
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r\n5000000.5,4,0,1\n");
    folder.write(
        "b.csv",
        "x1,y1,z1,x2,y2,z2,speed\n5000000.5,0,0,5000000.5,1,0,1\n1,1,1,1,1,1,1\n0,0,0,0,0,1,0\n,0,0,0,0,1,1\n1e39,0,0,1,1,1,1\n",
    );
    let done = folder.run_ok("bullets s.csv b.csv -o out.csv --on-bad skip --origin 5000000,0,0");
    assert!(done.errors.contains("4 bad bullets skipped"), "{}", done.errors);
    assert!(!done.errors.contains("5 missed"), "{}", done.errors);
    let rows = folder.text("out.csv");
    assert!(rows.lines().nth(1).unwrap().starts_with("hit,0,3.0,3.0,5000000.5,3.0,0.0,"), "{rows}");
    assert_eq!(rows.lines().filter(|line| *line == "miss,,,,,,,,,,").count(), 4, "{rows}");
    let json = folder.json("bullets s.csv b.csv -o out.csv --on-bad skip --json --compare --bounces 2");
    for (field, value) in [
        ("bullets", 5),
        ("spheres", 1),
        ("bullets_hit", 1),
        ("missed", 4),
        ("started_inside", 0),
        ("ricochets", 1),
        ("skipped", 4),
        ("differ", 0),
    ] {
        assert_eq!(json[field], value, "{field} in {json}");
    }
    assert_eq!((&json["precision"], &json["cpu"]), (&"exact".into(), &true.into()));
}

#[test]
fn one_bullet_needs_no_files() {
    let folder = Folder::new();
    let done = folder.run_ok("bullets --from 0,0,0 --to 4,4,4 --speed 3 --sphere 4,4,0,4");
    for line in [
        "bullet    from 0 0 0 towards 4 4 4, speed 3",
        "sphere    center 4 4 0, radius 4",
        "hit       after a distance of 2.309401, 0.76980036 frames, at 1.3333334 1.3333334 1.3333334",
        "ricochet  35.2644° to the tangent plane (0.6154797 rad), velocity -0.57735026 -0.57735026 2.8867514",
    ] {
        assert!(done.output.lines().any(|l| l == line), "'{line}' is not in:\n{}", done.output);
    }
    let one = |arguments: &str| folder.run_ok(&format!("bullets {arguments}")).output;
    let inside = one("--from 4,4,1 --to 4,4,4 --speed 3 --sphere 4,4,0,4");
    assert!(inside.ends_with("hit       none: the bullet starts inside the sphere\n"), "{inside}");
    let past = one("--from -9,4,0 --to -10,4,4 --speed 3 --sphere 4,4,0,4");
    assert!(past.ends_with("hit       none: the bullet passes the sphere, or flies away from it\n"), "{past}");
    let json: serde_json::Value =
        serde_json::from_str(&one("--from 0,0,0.1 --to 0,0,-4 --speed 3 --sphere 0,0,-6,4 --json")).unwrap();
    assert_eq!((&json["status"], &json["rounded"]), (&"hit".into(), &1.into()));
    assert_eq!(json["velocity"], serde_json::json!([0.0, 0.0, 3.0]));
    let json: serde_json::Value =
        serde_json::from_str(&one("--from 0,0,0 --to 0,0,4 --speed 3 --sphere 0,0,-6,4 --json")).unwrap();
    assert_eq!((&json["status"], &json["frames"]), (&"miss".into(), &serde_json::Value::Null));
}

#[test]
fn files_may_have_sphere_velocities_and_bullet_radii() {
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r,vx,vy,vz\n10,0,0,1,-1,0,0\n-20,0,0,1,0,0,0\n");
    folder.write("b.csv", "x1,y1,z1,x2,y2,z2,speed,radius\n0,0,0,1,0,0,2,0\n0,0,0,1,0,0,2,1.5\n9,0,0,1,0,0,2,0.5\n");
    for device in ["cpu", "gpu"] {
        let done = folder.run_ok(&format!("bullets s.csv b.csv -o out.csv --frames 100 --compare --device {device}"));
        let head = "status,id,distance,frames,px,py,pz,grazing_rad,vx,vy,vz\n";
        let rows = "hit,0,6.0,3.0,6.0,0.0,0.0,1.5707964,-4.0,0.0,0.0\nhit,0,5.0,2.5,5.0,0.0,0.0,1.5707964,-4.0,0.0,0.0\n\
                    started_inside,0,,,,,,,,,\n";
        assert_eq!(folder.text("out.csv").replace("-0.0", "0.0"), head.to_owned() + rows);
        assert!(done.errors.contains("; 0 flights differ"), "{}", done.errors);
        // The second leg ends at the sphere at rest, the third at the moving sphere again.
        folder
            .run_ok(&format!("bullets s.csv b.csv -o out.npz -q --frames 100 --bounces 3 --compare --device {device}"));
        let path = folder.path("out.npz");
        assert_eq!(npz_array::<u64>(&path, "bullet"), [0, 0, 0, 1, 1, 1, 2]);
        assert_eq!(npz_array::<u32>(&path, "id"), [0, 1, 0, 0, 1, 0, 0]);
        assert_eq!(npz_array::<f32>(&path, "frames")[..2], [3.0, 3.0 + 25.0 / 4.0]);
        // The third hit is head-on: the bullet at speed 4, the sphere at speed 1.
        assert_eq!(npz_array::<f32>(&path, "vx")[..3], [-4.0, 4.0, -6.0]);
    }
    folder.run_ok("bullets s.csv b.csv -o out.csv -q --frames 2.75");
    let statuses: Vec<String> = folder.text("out.csv").lines().skip(1).map(|line| line[..4].into()).collect();
    assert_eq!(statuses, ["miss", "hit,", "star"]);
    folder.write("still.csv", "x,y,z,r\n10,0,0,1\n");
    folder.run_ok("bullets still.csv b.csv -o out.csv -q");
    assert!(folder.text("out.csv").lines().nth(2).unwrap().starts_with("hit,0,7.5,3.75,7.5,0.0,0.0,"));
    // With 2²⁰ legs per bullet, each call takes one bullet.
    folder.run_ok("bullets still.csv b.csv -o out.csv -q --bounces 1048576");
    assert!(folder.text("out.csv").contains("1,0,hit,0,7.5,3.75,7.5,0.0,0.0,"), "{}", folder.text("out.csv"));
    let one = |arguments: &str| folder.run_ok(&format!("bullets --from 0,0,0 --to 1,0,0 --speed 2 {arguments}")).output;
    let told = one("--radius 1.5 --sphere 10,0,0,1 --velocity=-1,0,0");
    for line in [
        "bullet    from 0 0 0 towards 1 0 0, speed 2, radius 1.5",
        "sphere    center 10 0 0, radius 1, velocity -1 0 0",
        "hit       after a distance of 5, 2.5 frames, at 5 0 0",
        "ricochet  90.0000° to the tangent plane (1.5707964 rad), velocity -4 0 0",
    ] {
        assert!(told.lines().any(|l| l == line), "'{line}' is not in:\n{told}");
    }
    assert!(
        one("--radius 1.5 --sphere 10,0,0,1").contains("hit       after a distance of 7.5, 3.75 frames, at 7.5 0 0")
    );
    for inside in ["--radius 9.5 --sphere 10,0,0,1", "--radius 9.5 --sphere 10,0,0,1 --velocity 1,0,0"] {
        assert!(one(inside).contains("the bullet starts inside the sphere"), "{inside}");
    }
    assert!(one("--sphere 10,0,0,1 --velocity 2,0,0").contains("the bullet passes the sphere, or flies away from it"));
    for tangent in ["", "--velocity 0,0,0"] {
        let told =
            folder.run_ok(&format!("bullets --from 0,0,0 --to 3,4,0 --speed 1 --sphere 2,11,0,5 {tangent}")).output;
        assert!(told.contains("hit       after a distance of 10, 10 frames"), "{told}");
    }
}

#[cfg(unix)]
mod terminal {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::io::Write;
    use std::process::Stdio;

    /// Without arguments, `umbracast bullets` prompts on a terminal, as the original bullet program does.
    #[test]
    fn without_arguments_it_prompts_on_a_terminal() {
        // `tests/run.sh` sets this variable, and prints a warning, if the system has no pseudo-terminals.
        if std::env::var_os("UMBRACAST_NO_TERMINAL").is_some() {
            return;
        }
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
        let screen = std::fs::OpenOptions::new().read(true).write(true).open(name).unwrap();
        let mut terminal = std::fs::File::from(terminal);
        terminal
            .write_all(
                b"\n\n0\n3\n\n\n\n\ny\n0 0 0\n0,0,1\n1\n\n0 0 9\n4\n\ny\n0 0 0\n0,0,1\n1\n.5\n0 0 9\n4\n0 0 -.5\nn\n",
            )
            .unwrap();
        let mut program = umbracast_testing::folder::program();
        program.arg("bullets").stdin(screen).stdout(Stdio::piped()).stderr(Stdio::piped());
        let done = program.spawn().unwrap().wait_with_output().unwrap();
        let (told, said) = (String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap());
        assert!(done.status.success(), "{said}");
        for words in [
            "start point x,y,z [0,0,0]: ",
            "speed, per frame [3]: ",
            "speed is 0: a speed must be above 0",
            "radius, 0 for a point [0]: ",
            "velocity vx,vy,vz, per frame [0,0,0]: ",
            "y or n [n]: ",
        ] {
            assert!(said.contains(words), "'{words}' is not in: {said}");
        }
        assert!(told.contains("ricochet  35.2644° to the tangent plane (0.6154797 rad)"), "{told}");
        assert!(told.contains("hit       after a distance of 5, 5 frames, at 0 0 5\n"), "{told}");
        assert!(told.contains("hit       after a distance of 3, 3 frames, at 0 0 3\n"), "{told}");
    }
}
