//! Pitfalls that new users ran into without a warning, each as it happened.

use umbracast_testing::Numbers;
use umbracast_testing::folder::{Folder, f32_bytes, npy, npz_array};

fn folder() -> Folder {
    let folder = Folder::new();
    folder
        .write("s.csv", "x,y,z,r\n1000000,0,0,1\n1000010,0,0,1\n")
        .write("r.csv", "ox,oy,oz,dx,dy,dz\n999990,0,0,1,0,0\n");
    folder
}

#[test]
fn hit_points_are_written_in_file_coordinates() {
    let folder = folder();
    let points = |arguments: &str| {
        folder.run_ok(&format!("cast s.csv {arguments} -q --with point -o out.csv"));
        folder.text("out.csv")
    };
    assert_eq!(points("r.csv"), "t,id,px,py,pz\n9.0,0,999999.0,0.0,0.0\n");
    for origin in ["auto", "1000000,0,0", "999990.25,7,-3"] {
        assert_eq!(points(&format!("r.csv --origin {origin}")), "t,id,px,py,pz\n9.0,0,999999.0,0.0,0.0\n", "{origin}");
    }
    folder.write("l.toml", "elevations_deg = [0]\nazimuths_deg = [0, 180]\nposes = [[999990, 0, 0]]\n");
    let expected = "t,id,px,py,pz\n9.0,0,999999.0,0.0,0.0\n,,,,\n";
    assert_eq!(points("--sensor l.toml"), expected);
    assert_eq!(points("--sensor l.toml --origin auto"), expected);
    // Coordinates that f32 cannot represent are written as f64.
    folder
        .write("s.csv", "x,y,z,r\n6000000.3,0,0,0.125\n")
        .write("r.csv", "ox,oy,oz,dx,dy,dz\n6000000.3,-4,0,0,1,0\n1,0,0,-1,0,0\n");
    folder.run_ok("cast s.csv r.csv -q --origin auto --with point,normal -o out.npz");
    let px = npz_array::<f64>(&folder.path("out.npz"), "px");
    assert!((px[0] - 6_000_000.3).abs() < 1e-9 && px[1].is_nan(), "{px:?}");
    assert_eq!(npz_array::<f64>(&folder.path("out.npz"), "py")[0], -0.125);
    assert_eq!(npz_array::<f32>(&folder.path("out.npz"), "ny")[0], -1.0);
}

#[test]
fn bullet_points_are_written_in_file_coordinates() {
    let folder = folder();
    folder.write("b.csv", "x1,y1,z1,x2,y2,z2,speed\n999990,0,0,999991,0,0,1\n999990,9,0,999991,9,0,1\n");
    let expected = "hit,0,9.0,9.0,999999.0,0.0,0.0,";
    for origin in ["", "--origin auto", "--origin 5,6,7"] {
        folder.run_ok(&format!("bullets s.csv b.csv -q {origin} -o out.csv"));
        let text = folder.text("out.csv");
        let mut rows = text.lines().skip(1);
        assert!(rows.next().unwrap().starts_with(expected), "{origin}: {text}");
        assert_eq!(rows.next(), Some("miss,,,,,,,,,,"), "{origin}");
    }
    folder.run_ok("bullets s.csv b.csv -q --origin auto -o out.npz");
    let px = npz_array::<f64>(&folder.path("out.npz"), "px");
    assert!(px[0] == 999_999.0 && px[1].is_nan(), "{px:?}");
}

#[test]
fn arrays_and_options_have_the_same_column_order() {
    // np.c_[o, d, t0, t1]: an array in this order used to miss the sphere without a warning.
    let ray = [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.5, 100.0];
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r\n2,4,6,1\n").write("r.npy", npy("'<f4'", false, "(1, 8)", &f32_bytes(&ray)));
    let done = folder.run_ok("cast s.csv r.npy -o out.csv");
    assert!(done.errors.contains("1 rays, 1 hits"), "{}", done.errors);
    let said = folder.run_ok("cast --sphere 2,4,6,1 --ray 0,0,0,1,2,3,0.5,100").output;
    let t = folder.text("out.csv").lines().nth(1).unwrap().split(',').next().unwrap().to_owned();
    assert!(said.contains(&format!("hit       t {t} ")), "{said} for {t}");
}

#[test]
fn errors_about_rays_name_the_column_order() {
    // Numbers in the order o, t_min, d, t_max. Files have o, d, t_min, t_max. In that order the direction is zero or infinite, or t_min
    // exceeds t_max.
    for (ray, fault) in [
        ([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 100.0], "direction is 0,0,0: a direction must not be zero"),
        ([0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 2.0, 1.0], "t_min is 2 with t_max 1: t_min must not exceed t_max"),
        ([0.0, 0.0, 0.0, f32::NEG_INFINITY, 1.0, 0.0, 0.0, 1.0], "dx is -inf: a direction must be finite"),
    ] {
        let folder = Folder::new();
        folder.write("s.csv", "x,y,z,r\n2,4,6,1\n").write("r.npy", npy("'<f4'", false, "(1, 8)", &f32_bytes(&ray)));
        let done = folder.run("cast s.csv r.npy -o out.csv");
        let said = format!("r.npy: row 1 (index 0): {fault}; the columns are origin, direction, t_min, t_max\n");
        assert!(done.code == 2 && done.errors.ends_with(&said), "{}", done.errors);
    }
    let folder = Folder::new();
    let written = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 100.0];
    folder.write("s.csv", "x,y,z,r\n2,4,6,1\n").write("r.f32", f32_bytes(&written));
    let done = folder.run("cast s.csv r.f32 -o out.csv");
    assert!(done.errors.ends_with("; the columns are origin, direction, t_min, t_max\n"), "{}", done.errors);
    // No hint if the order cannot be the cause: six numbers have only one order, the origin is first in both orders, and columns have
    // names.
    folder
        .write("six.npy", npy("'<f4'", false, "(1, 6)", &f32_bytes(&[0.0; 6])))
        .write("nan.npy", npy("'<f4'", false, "(1, 8)", &f32_bytes(&[f32::NAN; 8])))
        .write("named.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,0,0,0\n");
    for file in ["six.npy", "nan.npy", "named.csv"] {
        let done = folder.run(&format!("cast s.csv {file} -o out.csv"));
        assert!(done.code == 2 && !done.errors.contains("t_min"), "{}", done.errors);
    }
}

#[test]
fn the_cpu_engine_is_not_compared_with_itself() {
    // Rays from far away, where `fast` loses digits: some t are off by one f32 step.
    let folder = Folder::new();
    let mut rays = "ox,oy,oz,dx,dy,dz\n".to_owned();
    let n = &mut Numbers(11);
    for _ in 0..400 {
        let (aim, way) = (n.vector(), n.vector());
        let [x, y, z]: [f32; 3] = std::array::from_fn(|k| aim[k] - 3000.0 * way[k]);
        rays += &format!("{x:?},{y:?},{z:?},{:?},{:?},{:?}\n", way[0], way[1], way[2]);
    }
    folder.write("s.csv", "x,y,z,r\n0,0,0,1\n0,0,50,1\n").write("r.csv", &rays);
    let done = folder.run_ok("cast s.csv r.csv -o out.csv --precision fast --device cpu --compare");
    assert!(done.errors.contains(" results differ from those of brute force in exact arithmetic: "), "{}", done.errors);
    for query in ["closest", "occluded", "count", "all", "approach"] {
        let done = folder.run_ok(&format!("cast s.csv r.csv -o out.npz --query {query} --precision exact --compare"));
        assert!(done.errors.contains("all results equal those of brute force in exact arithmetic"), "{}", done.errors);
    }
    let done = folder.run_ok("cast s.csv r.csv -o out.npz --compare --json");
    assert!(done.output.contains("\"compare\":{\"with\":\"an exact test of every sphere\""), "{}", done.output);
    folder.write("p.csv", "x,y,z\n0,0,0\n");
    let done = folder.run_ok("contains s.csv p.csv -o out.csv --compare");
    assert!(done.errors.contains("0 results differ from those of brute force in exact arithmetic"), "{}", done.errors);
    folder.write("e.csv", "x,y,z,rx,ry,rz\n0,0,0,1,2,3\n");
    let done = folder.run_ok("cast e.csv r.csv -o out.csv --compare");
    assert!(done.errors.contains("all results equal those of brute force"), "{}", done.errors);
}

#[test]
fn pictures_and_shadows_of_the_cpu_engine_have_nothing_to_be_compared_with() {
    const NOTHING: &str =
        "warning: --compare has no effect here: the results come from the CPU engine, which is also the reference";
    let folder = Folder::new();
    folder
        .write("l.toml", "unit = \"km\"\n[light]\ncenter = [0, 0, 100]\nradius = 1\n")
        .write("o.csv", "x,y,z\n0,0,0\n");
    for arguments in ["render -o p.png --size 16x9 --samples 1", "shadow o.csv l.toml -o out.csv"] {
        let done = folder.run_ok(&format!("{arguments} --device cpu --compare"));
        assert!(done.errors.contains(NOTHING) && !done.errors.contains("against"), "{}", done.errors);
        assert!(folder.run_ok(&format!("{arguments} --device cpu --compare -q")).errors.contains(NOTHING));
        let done = folder.run_ok(&format!("{arguments} --device cpu --compare --json"));
        assert!(done.output.contains("\"compare\":null"), "{}", done.output);
        assert!(!folder.run_ok(&format!("{arguments} --device gpu --compare")).errors.contains(NOTHING));
    }
}

#[test]
fn rounding_is_reported_and_origin_is_advised_only_if_it_helps() {
    let folder = Folder::new();
    let run = |spheres: &str, rays: &str, more: &str| {
        folder.write("s.csv", format!("x,y,z,r\n{spheres}\n")).write("r.csv", format!("ox,oy,oz,dx,dy,dz\n{rays}\n"));
        folder.run_ok(&format!("cast s.csv r.csv -o out.csv {more}")).errors
    };
    // Rounding a direction causes no warning.
    let said = run("5,0,0,1", "0,0,0,123456789.1,0,0", "");
    assert!(!said.contains("warning") && !said.contains("--origin"), "{said}");
    assert!(said.contains("1 numbers rounded to f32, by at most 2.9e0 (dx)"), "{said}");
    let said = run("6000000.3,0,0,0.5", "6000000.3,-4,0,0,1,0", "-q");
    assert!(
        said.contains("changed positions by up to 2.0e-1") && said.ends_with(": --origin auto keeps more digits\n"),
        "{said}"
    );
    // An origin at the start of a ray helps even if it is far away, but not for two rays on opposite sides.
    let said = run("0,0,0,0.5", "100000001,0,0,-1,0,0", "-q");
    assert!(
        said.contains("changed positions by up to 1.0e0") && said.ends_with(": --origin auto keeps more digits\n"),
        "{said}"
    );
    let said = run("0,0,0,0.5", "100000001,0,0,-1,0,0\n-100000001,0,0,1,0,0", "-q");
    assert!(said.ends_with(": the coordinates are too far apart for f32, with any origin\n"), "{said}");
    // The advice considers every axis that is too coarse, not only the worst one.
    let far = "6000000.3,100000001,0,0,-1,0\n6000000.3,-100000001,0,0,1,0";
    let said = run("6000000.3,0,0,0.5", far, "-q");
    assert!(
        said.contains("changed positions by up to 1.0e0")
            && said.ends_with(": --origin auto keeps more digits, but only of x\n"),
        "{said}"
    );
    let said = run("6000000.3,0,7000000.3,0.5", far, "-q --origin 1,0,0");
    assert!(said.ends_with(": --origin auto keeps more digits, but only of x and z\n"), "{said}");
    // An origin does not help for a radius either.
    let said = run("0,0,0,100000001\n0,0,0,1", "0,0,0,1,0,0", "-q");
    assert!(said.contains("changed radii by up to 1.0e0") && !said.contains("--origin"), "{said}");
}

#[test]
fn options_without_effect_are_refused() {
    let folder = folder();
    for (arguments, said) in [
        ("--motion at-time", "--motion needs moving spheres, but s.csv has no columns vx,vy,vz"),
        ("--motion with-ray", "--motion needs moving spheres"),
        ("--time-range 0,1", "--time-range needs moving spheres, but s.csv has no columns vx,vy,vz"),
        ("--query approach --inside exit", "--inside applies only to hits: it cannot be used with --query approach"),
        ("--query approach --inside enter", "--inside applies only to hits"),
        ("--query approach --touch miss", "--touch applies only to hits"),
        ("--query approach --touch hit", "--touch applies only to hits"),
        ("--query approach --ends half-open", "--ends applies only to hits"),
        ("--query approach --ends closed", "--ends applies only to hits"),
    ] {
        folder.refused(&format!("cast s.csv r.csv -o out.csv {arguments}"), said);
    }
    folder.write("m.csv", "x,y,z,r,vx,vy,vz\n1000000,0,0,1,0,0,0\n");
    folder.run_ok("cast m.csv r.csv -o out.csv --motion at-time --time-range 0,2");
}

#[test]
fn a_dark_picture_causes_a_warning() {
    let folder = Folder::new();
    let system = |ambient: &str| {
        format!(
            "unit = \"km\"\n[light]\ncenter = [0, 0, 1000]\nradius = 1\n[[body]]\ncenter = [0, 0, 0]\nradius = 10\n\
             [camera]\nkind = \"perspective\"\nposition = [0, 0, -100]\ntarget = [0, 0, 0]\nup = [0, 1, 0]\nfield_of_view_deg = 20\n\
             [picture]\nsize = [32, 18]\n{ambient}\n"
        )
    };
    folder.write("night.toml", system("")).write("lit.toml", system("ambient = 0.2"));
    let said = folder.run_ok("render night.toml -o p.png -q").errors;
    assert!(said.contains("warning: the picture is entirely dark") && said.contains("`ambient`"), "{said}");
    assert_eq!(folder.run_ok("render lit.toml -o p.png -q").errors, "");
}

/// The picture of an orthographic camera began below the ground, and its lower rows showed the background.
#[test]
fn a_picture_that_begins_inside_a_body_causes_a_warning() {
    let folder = Folder::new();
    let said = |back: f64| {
        let [y, z] = [-20.0 - 0.995 * back, 3.0 + 0.0995 * back];
        let text = format!(
            "unit = \"m\"\nground = true\n[light]\ndirection = [1, -2, 3]\n[[body]]\ncenter = [0, 0, 1]\nradius = 1\n[camera]\n\
             position = [0, {y}, {z}]\ntarget = [0, 0, 1]\nup = [0, 0, 1]\nwidth = 16\n[picture]\nsize = [32, 18]\n"
        );
        folder.write("s.toml", text).run_ok("render s.toml -o p.png -q").errors
    };
    let warning = said(0.0);
    assert!(warning.starts_with("warning: the plane of the camera cuts 'ground', and"), "{warning}");
    // The lower edge is 4.5 · 0.995 - 3 below the ground, and rises by 0.0995 per unit of length.
    let back: f64 = warning.trim_end().rsplit(' ').next().unwrap().parse().unwrap();
    assert!((back - 14.85).abs() < 0.1, "{warning}");
    assert_eq!(said(1.001 * back), "");
}

/// A picture of the background alone names what is nearest to the line of sight, also with a background that is not black.
#[test]
fn a_picture_of_nothing_causes_a_warning() {
    let folder = Folder::new();
    for (camera, words) in [
        (
            "kind = \"perspective\"\nfield_of_view_deg = 20\ntarget = [0, 0, -200]",
            "'light' is nearest to it, 135.0 degrees from the line of sight: to show it, set `target` in the table [camera] to \
             [0, -900, 800], or use a larger `field_of_view_deg`\n",
        ),
        (
            "kind = \"perspective\"\nfield_of_view_deg = 20\ntarget = [0, 50, 0]",
            "'Ball' is nearest to it, 20.8 degrees from the line of sight: to show it, set `target` in the table [camera] to [0, 0, 0]",
        ),
        (
            "kind = \"orthographic\"\nwidth = 40\ntarget = [0, 50, 0]",
            "'Ball' is nearest to it, 3.472e1 from the line of sight",
        ),
        (
            "kind = \"perspective\"\nfield_of_view_deg = 20\ntarget = [3, 2, 0]",
            "'Ball' is near the line of sight, but only 3.4e-3 pixels wide: use a smaller `field_of_view_deg`",
        ),
    ] {
        folder.write(
            "s.toml",
            format!(
                "unit = \"km\"\n[light]\ncenter = [0, -900, 800]\nradius = 1\n[[body]]\nname = \"Ball\"\ncenter = [0, 0, 0]\nradius = {}\n\
                 [camera]\n{camera}\nposition = [0, 0, -100]\nup = [0, 1, 0.5]\n\
                 [picture]\nsize = [8, 6]\nsamples = 1\nbackground = \"#4080c0\"\n",
                if camera.contains("[3, 2, 0]") { 0.01 } else { 10.0 }
            ),
        );
        let said = folder.run_ok("render s.toml -o p.png -q").errors;
        assert!(said.starts_with("warning: nothing is in view: ") && said.contains(words), "{camera}: {said}");
    }
    folder.write("s.toml", "unit = \"km\"\n[light]\ndirection = [0, 0, 1]\n[picture]\nsize = [8, 6]\n");
    let said = folder.run_ok("render s.toml -o p.png -q").errors;
    assert!(said.contains("nothing is in view: the system has no visible body"), "{said}");
}
