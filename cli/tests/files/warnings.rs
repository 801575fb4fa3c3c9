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

#[test]
fn coarse_rounding_of_one_ray_or_bullet_causes_a_warning_whose_advice_works() {
    let folder = Folder::new();
    let ball = "--sphere 10000004.3,0,0,1";
    for arguments in [
        format!("bullets --from 10000000,0,0 --to 10000001,0,0 --speed 1 {ball}"),
        format!("bullets --from 10000000,0,0 --to 10000001,0,0 --speed 1 {ball} --json"),
        format!("cast --ray 10000000,0,0,1,0,0 {ball} --json"),
    ] {
        let said = folder.run_ok(&arguments).errors;
        assert!(said.starts_with("warning: rounding to f32 changed positions by up to 3.0e-1"), "{said}");
        assert!(said.contains("--origin auto keeps more digits"), "{said}");
        let done = folder.run_ok(&format!("{arguments} -q --origin auto"));
        assert_eq!(done.errors, "", "{arguments}");
        assert!(done.output.contains("3.3000") && !done.output.contains("3.0,"), "{}", done.output);
        // Positions are those of the arguments.
        assert!(done.output.contains("10000004.3"), "{}", done.output);
    }
    let done =
        folder.run_ok(&format!("bullets --from 10000000,0,0 --to 10000001,0,0 --speed 1 {ball} --origin 10000000,0,0"));
    assert!(done.errors.contains("--origin 10000000,0,0 was subtracted before rounding"), "{}", done.errors);
    let near = "bullets --from 100000000,0,0 --to 100000001,0,0 --speed 1 --sphere 100000009,0,0,1";
    folder.refused(near, "--to is the start point after rounding to f32: the target point must differ from it");
    assert!(folder.run_ok(&format!("{near} --origin auto")).output.contains("a distance of 8,"));
    let equal = "bullets --from 1,2,3 --to 1,2,3 --speed 1 --sphere 9,0,0,1";
    folder.refused(&format!("{equal} --origin 1,2,3"), "after --origin is subtracted, --to is the start point");
}
