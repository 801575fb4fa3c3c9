//! Warnings of a cast: coarse rounding.

use umbracast_testing::folder::{Folder, program};

#[test]
fn coarse_rounding_causes_a_warning() {
    let folder = Folder::new();
    folder.write("far.csv", "x,y,z,r\n6000000.3,0,0,0.5\n");
    folder.write("rays.csv", "ox,oy,oz,dx,dy,dz\n6000000.1,-4,0,0,1,0\n");
    let run = |origin: &[&str]| {
        let arguments = ["cast", "far.csv", "rays.csv", "-o", "out.csv", "-q"];
        let done = program().args(arguments).args(origin).current_dir(folder.root()).output().unwrap();
        assert!(done.status.success());
        String::from_utf8(done.stderr).unwrap()
    };
    let said = run(&[]);
    assert!(said.starts_with("warning: rounding to f32 changed positions by up to 2.0e-1"), "{said}");
    assert!(said.contains("smallest radius is 5.0e-1: --origin auto keeps more digits"), "{said}");
    assert_eq!(run(&["--origin", "auto"]), "");
    assert!(run(&["--origin", "1,0,0"]).ends_with("--origin auto keeps more digits\n"));
}

#[test]
fn a_time_that_is_rounded_causes_a_warning() {
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r,vx,vy,vz\n-1700000000,0,0,5,1,0,0\n").write("p.csv", "x,y,z\n40,0,0\n");
    let said = folder.run_ok("contains s.csv p.csv -o out.csv -q --time 1700000040").errors;
    assert!(said.starts_with("warning: rounding to f32 changed values of --time by up to 4.0e1"), "{said}");
}
