//! Rays that start near the surface of a large sphere: the warning about rounding, and `--origin auto`.

use std::io::Write;

use umbracast::glam::{DVec3, Vec3};
use umbracast::{NO_SPHERE, Sphere};
use umbracast_files::{Heights, OriginFinder, Rounding};

use umbracast_testing::folder::{Folder, npz_array};

/// A planet below z = 0 whose centre f32 does not have.
const OFF_GRID: &str = "x,y,z,r\n0,0,-6378149.3,6378137\n";
const PLANET: &str = include_str!("../../../tests/data/cases/planet.csv");
const HORIZON: &str = include_str!("../../../tests/data/cases/horizon_eye.csv");
/// Four eyes 1.7 m above the planet, some hundred metres apart, looking down: written by astropy.
const EYES: &str = include_str!("../../../tests/data/cases/eyes_astropy.csv");

/// The advice of the warning about heights.
const AUTO: &str = ": --origin auto keeps more digits";

struct Case {
    name: &'static str,
    spheres: String,
    rays: String,
    options: &'static str,
    /// Correct `t` of each ray with `--origin auto`, and its tolerance.
    expected: Vec<f64>,
    tolerance: f64,
    /// Whether a cast without an origin warns.
    warns: bool,
}

fn cases() -> Vec<Case> {
    let rays = |rows: &str| format!("ox,oy,oz,dx,dy,dz\n{rows}");
    let planet_and = |rows: &str| format!("{PLANET}{rows}");
    let case = |name, spheres: &str, rays: &str, expected: &[f64], tolerance, warns| Case {
        name,
        spheres: spheres.into(),
        rays: rays.into(),
        options: "",
        expected: expected.to_vec(),
        tolerance,
        warns,
    };
    let ellipsoid = "x,y,z,rx,ry,rz\n0,0,0,6378137,6378137,6356752\n";
    // The pole is along x.
    let turned = "x,y,z,rx,ry,rz,qw,qx,qy,qz\n0,0,0,6378137,6378137,6356752,1,0,1,0\n";
    vec![
        case("horizon", PLANET, HORIZON, &[4416.946, 1.7], 2e-3, true),
        case("astropy", PLANET, EYES, &[1.7; 4], 1e-4, true),
        Case {
            options: "--inside exit",
            ..case("inside", PLANET, &rays("0,0,-6370998.3,0,0,-1\n"), &[1.7], 1e-6, true)
        },
        case(
            "shifted planet",
            "x,y,z,r\n1000,2000,0,6371000\n",
            &rays("6372001.7,2000,0,-1,0,0\n"),
            &[1.7],
            1e-6,
            true,
        ),
        case("oblate", ellipsoid, &rays("0,0,6356753.7,0,0,-1\n"), &[1.7], 1e-6, true),
        case("oblate, turned", turned, &rays("6356753.7,0,0,-1,0,0\n"), &[1.7], 1e-6, true),
        case("off the grid", OFF_GRID, &rays("0,0,0,0,0,-1\n"), &[12.3], 1e-6, true),
        // The farthest centre is that of a moon, which f32 does not have either.
        case(
            "two off the grid",
            &format!("{OFF_GRID}0,0,26000000.7,1000\n"),
            &rays("0,0,0,0,0,-1\n"),
            &[12.3],
            1e-6,
            true,
        ),
        // The nearest surface is far away, or nothing is rounded.
        case("satellite", PLANET, &rays("6771000.3,0,0,-1,0,0\n"), &[400_000.3], 0.3, false),
        case("exact", PLANET, &rays("0,0,6371002,0,0,-1\n"), &[2.0], 0.0, false),
        case("decimals", "x,y,z,r\n0.1,0.2,0.3,0.7\n", &rays("-5.3,0.2,0.3,1,0,0\n"), &[4.7], 1e-6, false),
        // A boulder and the Moon next to the planet.
        case(
            "several scales",
            &planet_and("3.2,0,6371000.4,0.5\n384400000,0,0,1737400\n"),
            &rays("0,0,6371001.7,0,0,-1\n0,0,6371000.4,1,0,0\n"),
            &[1.7, 2.7],
            1e-5,
            true,
        ),
        // An eye among satellites.
        case("mixed", PLANET, &rays("0,0,6371001.7,0,0,-1\n7000000.3,0,0,-1,0,0\n"), &[1.7, 629_000.3], 0.3, true),
        // The start is rounded to 0.03 above the sphere, where the centre of the spheres would do.
        case(
            "near, rounded farther",
            "x,y,z,r\n1000000,0,0,1.03125\n1000008,0,0,1.03125\n",
            &rays("1000001.0313,0,0,-1,0,0\n"),
            &[5e-5],
            1e-9,
            true,
        ),
        // The rays are at one of two clusters.
        case(
            "clusters",
            "x,y,z,r\n0,0,0,1\n20000000.25,0,0,1\n",
            &rays("20000003.6,0,0,-1,0,0\n20000000.25,0,4.6,0,0,-1\n"),
            &[2.35, 3.6],
            1e-6,
            true,
        ),
    ]
}

#[test]
fn heights_above_large_spheres_are_warned_of_and_an_automatic_origin_keeps_them() {
    for Case { name, spheres, rays, options, expected, tolerance, warns } in cases() {
        let folder = Folder::new();
        folder.write("s.csv", &spheres).write("r.csv", &rays);
        let said = folder.run_ok(&format!("cast s.csv r.csv -o plain.csv -q {options}")).errors;
        assert_eq!(said.starts_with("warning: rounding to f32 c") && said.contains(AUTO), warns, "{name}: {said}");
        assert!(warns || said.is_empty(), "{name}: {said}");
        folder.run_ok(&format!("cast s.csv r.csv -o out.npz -q {options} --origin auto"));
        let t = npz_array::<f32>(&folder.path("out.npz"), "t");
        assert_eq!(t.len(), expected.len(), "{name}");
        for (t, expected) in t.iter().zip(expected) {
            assert!((f64::from(*t) - expected).abs() <= tolerance, "{name}: {t}, expected {expected}");
        }
    }
}

#[test]
fn the_origin_is_on_the_grid_of_the_farthest_center() {
    let origin = |starts: &[DVec3], spheres: &[(DVec3, f64)]| {
        let mut finder = OriginFinder::new(starts);
        spheres.iter().for_each(|(center, radius)| finder.add(*center, *radius));
        finder.origin().to_array()
    };
    let planet = (DVec3::ZERO, 6_371_000.0);
    let eye = DVec3::new(0.0, 0.0, 6_371_001.7);
    assert_eq!(origin(&[eye], &[planet]), [0.0, 0.0, 6_371_001.5]);
    assert_eq!(origin(&[], &[planet]), [0.0; 3]);
    assert_eq!(origin(&[DVec3::NAN], &[planet]), [0.0; 3]);
    assert_eq!(origin(&[eye], &[]), [0.0; 3]);
    let off_grid = (DVec3::new(0.0, 0.0, -6_378_149.3), 6_378_137.0);
    assert_eq!(origin(&[DVec3::new(0.0, 0.0, 0.1)], &[off_grid]), [0.0, 0.0, 6_378_149.5 - 6_378_149.3]);
    // A moon whose steps are 2 m: only the centre of the planet must stay exact.
    let moon = (DVec3::new(0.0, 0.0, 26_000_000.7), 1000.0);
    assert_eq!(origin(&[DVec3::ZERO], &[off_grid, moon]), [0.0, 0.0, 6_378_150.0 - 6_378_149.3]);
    // The Sun, seen from the planet: f32 steps are 16,384 m.
    assert_eq!(origin(&[eye], &[planet, (DVec3::new(0.0, 0.0, 1.5e11), 7e8)]), [0.0, 0.0, 6_373_376.0]);
    // Where the rays make no difference, the origin is the centre of the spheres.
    let near = [(DVec3::new(4_500_000.0, 0.0, 0.0), 1.0), (DVec3::new(4_500_004.0, 0.0, 0.0), 1.0)];
    assert_eq!(origin(&[DVec3::new(4_500_001.0, 9.0, 0.0)], &near), [4_500_002.0, 0.0, 0.0]);
    // Of an eye and a satellite, the eye decides.
    let [x, y, z] = origin(&[eye, DVec3::new(7e6, 1.0, 2.0)], &[planet]);
    assert!(x == 0.0 && y == 0.0 && z == 6_371_001.5, "{x} {y} {z}");
}

#[test]
fn other_inputs_are_looked_at_too() {
    let folder = Folder::new();
    folder
        .write("s.csv", PLANET)
        .write("p.csv", "x,y,z\n0,0,6371000.1\n")
        .write("off.csv", OFF_GRID)
        .write("both.csv", "x,y,z\n0,0,-12.2\n0,0,-12.4\n")
        .write("eye.csv", "x,y,z\n0,0,6371001.7\n")
        .write("seg.csv", "x1,y1,z1,x2,y2,z2\n0,0,6371001.7,0,0,6370998.3\n")
        .write("b.csv", "x1,y1,z1,x2,y2,z2,speed\n0,0,6371001.7,0,0,0,1\n")
        .write("l.toml", "elevations_deg = [-90]\nazimuths_deg = [0]\nposes = [[0, 0, 6371001.7]]\n");
    // f32 has the point on the surface, and the eye 1.5 m above it.
    for (command, wrong, right) in [
        ("contains s.csv p.csv", "count,id\n1,0\n", "count,id\n0,\n"),
        ("contains off.csv both.csv", "count,id\n0,\n0,\n", "count,id\n0,\n1,0\n"),
        ("cast s.csv --sensor l.toml", "t,id\n1.5,0\n", "t,id\n1.7,0\n"),
        ("cast s.csv eye.csv --parallel 0,0,-2", "t,id\n0.75,0\n", "t,id\n0.85,0\n"),
        ("cast s.csv seg.csv --segments", "t,id\n0.5,0\n", "t,id\n0.5,0\n"),
    ] {
        let said = folder.run_ok(&format!("{command} -o out.csv -q")).errors;
        assert!(said.starts_with("warning: rounding to f32 can move ") && said.contains(AUTO), "{said}");
        let answers = || folder.text("out.csv").lines().map(rounded).collect::<String>();
        assert_eq!(answers(), wrong, "{command}");
        let said = folder.run_ok(&format!("{command} -o out.csv -q --origin auto")).errors;
        assert_eq!((answers().as_str(), said.as_str()), (right, ""), "{command}");
    }
    for (origin, distance, warns) in [("", 1.5, true), ("--origin auto", 1.7, false)] {
        let said = folder.run_ok(&format!("bullets s.csv b.csv -o out.npz -q {origin}")).errors;
        assert_eq!(said.contains("start of a bullet"), warns, "{said}");
        let found = npz_array::<f32>(&folder.path("out.npz"), "distance")[0];
        assert!((f64::from(found) - distance).abs() < 1e-6, "{found}");
    }
}

/// A line with `t` rounded to 6 decimals.
fn rounded(line: &str) -> String {
    match line.split_once(',').map(|(t, id)| (t.parse::<f32>(), id)) {
        Some((Ok(t), id)) if t.fract() != 0.0 => format!("{},{id}\n", (1e6 * t).round() / 1e6),
        _ => format!("{line}\n"),
    }
}

#[test]
#[cfg(unix)]
fn rays_from_a_pipe_get_an_origin_to_copy() {
    use std::process::Stdio;
    let folder = Folder::new();
    folder.write("s.csv", PLANET).write("off.csv", OFF_GRID);
    let cast = |spheres: &str, rays: &str, origin: &str| {
        let mut program = umbracast_testing::folder::program();
        program.args(format!("cast {spheres} - -o out.csv -q {origin}").split_whitespace()).current_dir(folder.root());
        let piped = program.env("UMBRACAST_DEVICE", "cpu").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = piped.unwrap();
        child.stdin.take().unwrap().write_all(rays.as_bytes()).unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap()
    };
    let down = "ox,oy,oz,dx,dy,dz\n0,0,0,0,0,-1\n";
    for (spheres, rays, copied, t) in [
        ("s.csv", HORIZON, "--origin 0,0,6371001.5", "4416.94"),
        ("off.csv", down, "--origin 0,0,0.20000000018626451", "12.3,"),
    ] {
        for origin in ["", "--origin auto"] {
            let said = cast(spheres, rays, origin);
            assert!(said.ends_with(&format!(": {copied} keeps more digits\n")), "{origin}: {said}");
        }
        assert_eq!(cast(spheres, rays, copied), "");
        let found = folder.text("out.csv");
        assert!(found.starts_with(&format!("t,id\n{t}")), "{found}");
    }
}

#[test]
fn advice_about_heights_works() {
    let folder = Folder::new();
    let said = |spheres: &str, rays: &str, columns: &str| {
        folder
            .write("s.csv", format!("x,y,z,r\n{spheres}\n"))
            .write("r.csv", format!("ox,oy,oz,dx,dy,dz{columns}\n{rays}"));
        folder.run_ok("cast s.csv r.csv -o out.csv -q").errors
    };
    let text = said("0,0,0,6371000", "0,0,6371001.7,0,0,-1\n", "");
    assert!(text.ends_with(&format!("{AUTO}\n")), "{text}");
    // Another origin, from which neither the centre nor the start has all digits.
    let text = folder.run_ok("cast s.csv r.csv -o out.csv -q --origin 0,0,1.75").errors;
    assert!(text.ends_with(&format!("{AUTO}\n")), "{text}");
    // `--origin auto` keeps all digits of the planet, but the Sun hides this.
    let sun = "-933384.39,0,291759.7,921350\n4973276470,3825188169,-3602791090,7e8";
    let text = said(sun, "-933384.39,0,1213155.048,0,0,-1\n", "");
    assert!(text.ends_with(&format!("{AUTO}\n")), "{text}");
    let text = folder.run_ok("cast s.csv r.csv -o out.csv -q --origin auto").errors;
    assert!(!text.contains("--origin"), "{text}");
    // Eyes on opposite sides of a planet, a radius that f32 does not have, and a start on the surface of a small sphere.
    let both = "0,0,6371001.7,0,0,-1\n0,0,-6371001.7,0,0,1\n";
    let text = said("0,0,0,6371000", both, "");
    assert!(text.ends_with("too far apart for f32, with any origin\n"), "{text}");
    let text = said("0,0,0,6371000.3", "0,0,6371002,0,0,-1\n", "");
    assert!(text.ends_with(": the radius has more digits than f32 keeps\n"), "{text}");
    let start = "0.577350269,0.577350269,0.577350269,1,1,1";
    let text = said("0,0,0,1", &format!("{start}\n"), "");
    assert!(text.ends_with("; rays that start on a sphere need its id in the column from_id\n"), "{text}");
    assert_eq!(said("0,0,0,1", &format!("{start},0\n"), ",skip_id"), "");
}

#[test]
fn one_start_of_many_may_be_near_a_surface() {
    let spheres = [Sphere::new([0.0; 3], 1.0)];
    let measured = |starts: &[Vec3]| {
        let mut heights = Heights::default();
        heights.add((&spheres).into(), &Rounding::default(), starts.len(), |i| {
            Some((starts[i], [1e-6, 0.0, 0.0], NO_SPHERE))
        });
        heights.coarse().map(|height| height.distance)
    };
    let far = |count| vec![Vec3::splat(9.0); count];
    let with = |count, near: usize| [far(count), vec![Vec3::new(1.0, 1e-6, 0.0); near]].concat();
    assert_eq!(measured(&far(100)), None);
    assert_eq!(measured(&with(100, 1)), None);
    assert!(measured(&with(100, 2)).is_some_and(|distance| distance < 1e-6));
    assert!(measured(&with(9, 1)).is_some());
    assert_eq!(measured(&[]), None);
}
