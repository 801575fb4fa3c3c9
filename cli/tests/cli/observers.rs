//! `umbracast shadow`, run as users run it: valid files, invalid ones, and files that must not change.

use umbracast_testing::folder::{Folder, npy, npz_array};

/// A light, a ball in front of it, one behind it, and one that casts no shadow; no camera.
pub(super) const SYSTEM: &str = "unit = \"km\"\n[light]\ncenter = [0, 0, 100]\nradius = 1\n\
    [[body]]\ncenter = [0, 0, 50]\nradius = 0.25\n\
    [[body]]\ncenter = [0, 0, 200]\nradius = 50\n\
    [[body]]\ncenter = [0, 0, 20]\nradius = 10\ncasts = false\n";
/// In the antumbra, in the penumbra, outside the shadow, at the centre of the light, inside a ball.
pub(super) const OBSERVERS: &str = "x,y,z\n0,0,0\n0.75,0,0\n9,0,0\n0,0,100\n0,0.1,50\n";
pub(super) const FILES: &str = "shadow o.csv s.toml -o out.csv";

pub(super) fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("s.toml", SYSTEM).write("o.csv", OBSERVERS);
    folder
}

/// Parses the kinds and the fractions.
fn rows(text: &str) -> (Vec<String>, Vec<f64>) {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("fraction,kind"));
    let cells = lines.map(|line| line.split_once(',').unwrap());
    cells.map(|(fraction, kind)| (kind.to_owned(), fraction.parse::<f64>().unwrap())).unzip()
}

#[test]
fn csv_and_npz_have_the_same_fractions() {
    let folder = folder();
    folder.run_ok(FILES);
    let (kinds, fractions) = rows(&folder.text("out.csv"));
    assert_eq!(kinds, ["antumbra", "penumbra", "lit", "lit", "umbra"]);
    assert_eq!(fractions[2..], [1.0, 1.0, 0.0]);
    assert!((fractions[0] - 0.75).abs() < 1e-4 && fractions[1] > 0.75 && fractions[1] < 0.85, "{fractions:?}");
    folder.run_ok("shadow o.csv s.toml -o out.npz");
    assert_eq!(npz_array::<f64>(&folder.path("out.npz"), "fraction"), fractions);
    assert_eq!(npz_array::<u8>(&folder.path("out.npz"), "kind"), [2, 1, 0, 0, 3]);
}

#[test]
fn a_light_with_limb_darkening_has_a_column_of_fluxes() {
    let folder = folder();
    folder.write("s.toml", SYSTEM.replacen("radius = 1\n", "radius = 1\nlimb_darkening = [0.6, 0.1]\n", 1));
    folder.run_ok(FILES);
    let text = folder.text("out.csv");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0], ["fraction", "flux", "kind"]);
    let numbers = |k: usize| [0, 1].map(|i| rows[k][i].parse::<f64>().unwrap());
    // The occluder covers the bright centre, then the darker edge.
    let ([ring, bright], [part, edge]) = (numbers(1), numbers(2));
    assert!((ring - 0.75).abs() < 1e-4 && bright < 0.72, "{text}");
    assert!(edge > part && edge < 1.0, "{text}");
    assert_eq!([3, 4, 5].map(numbers), [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]);
    folder.run_ok("shadow o.csv s.toml -o out.npz");
    assert_eq!(npz_array::<f64>(&folder.path("out.npz"), "flux")[..2], [bright, edge]);
    let compared: serde_json::Value =
        serde_json::from_str(&folder.run_ok("shadow o.csv s.toml -o gpu.npz --device gpu --compare --json").output)
            .unwrap();
    let (flux, found) = (&compared["compare"]["flux"], npz_array::<f64>(&folder.path("gpu.npz"), "flux"));
    assert!(flux.as_f64() == Some((found[0] - bright).abs().max((found[1] - edge).abs())) && flux != 0.0, "{compared}");
    // The fractions are those without limb darkening, byte by byte.
    let fractions = npz_array::<f64>(&folder.path("out.npz"), "fraction");
    folder.write("s.toml", SYSTEM);
    folder.run_ok("shadow o.csv s.toml -o out.npz");
    assert_eq!(npz_array::<f64>(&folder.path("out.npz"), "fraction"), fractions);
}

#[test]
fn observers_are_read_in_f64() {
    // On the edge of the umbra, in a system far from the origin: consecutive f32 values are 8 km apart there.
    let folder = Folder::new();
    folder.write(
        "s.toml",
        "unit = \"km\"\n[light]\ncenter = [1e8, 0, 100]\nradius = 1\n[[body]]\ncenter = [1e8, 0, 50]\nradius = 0.5\n",
    );
    folder.write("o.csv", "x,y,z\n100000000.0,0,0\n100000000.01,0,0\n99999999.0,0,0\n");
    folder.run_ok(FILES);
    let (kinds, fractions) = rows(&folder.text("out.csv"));
    assert_eq!(kinds[1..], ["penumbra", "penumbra"], "{fractions:?}");
    assert!(fractions[1] > 0.0 && fractions[1] < 0.01 && fractions[2] > 0.5, "{fractions:?}");
}

#[test]
fn no_observers_and_no_occluders() {
    let folder = folder();
    folder.write("none.csv", "x,y,z\n").write("none.npy", npy("'<f8'", false, "(0, 3)", &[]));
    for observers in ["none.csv", "none.npy"] {
        let done = folder.run_ok(&format!("shadow {observers} s.toml -o out.csv"));
        assert_eq!(folder.text("out.csv"), "fraction,kind\n");
        assert!(done.errors.contains("0 observers: 0 lit, 0 penumbra"), "{}", done.errors);
        folder.run_ok(&format!("shadow {observers} s.toml -o out.npz --json --device gpu --compare"));
        assert!(npz_array::<f64>(&folder.path("out.npz"), "fraction").is_empty());
    }
    let light = SYSTEM.lines().take(4).collect::<Vec<_>>().join("\n");
    folder.write("s.toml", light);
    folder.run_ok(FILES);
    assert_eq!(folder.text("out.csv"), format!("fraction,kind\n{}", "1.0,lit\n".repeat(5)));
}

#[test]
fn the_summary_reports_the_kinds() {
    let folder = folder();
    let done = folder.run_ok(FILES);
    for words in ["cpu (f64): 2 occluders, 5 observers: 2 lit, 1 penumbra, 1 antumbra, 1 umbra; ", "; wrote out.csv"] {
        assert!(done.errors.contains(words), "{}", done.errors);
    }
    assert_eq!(done.output, "");
    // The last observer is inside a body, which is said even with -q.
    let warning = "warning: o.csv: 1 observer is inside a body, where the whole light is hidden: the first is row 5 (index 4), \
                   0,0.1,50, at a depth of 0.15 below the surface of 'body'\n";
    assert_eq!(folder.run_ok(&format!("{FILES} -q")).errors, warning);
    for device in ["cpu", "gpu"] {
        let done = folder.run_ok(&format!("{FILES} --json --device {device} --compare"));
        let (cpu, warned) = (device == "cpu", done.errors.starts_with("warning: --compare has no effect here"));
        assert_eq!(warned, cpu, "{}", done.errors);
        assert!(done.errors.ends_with(warning), "{}", done.errors);
        let json: serde_json::Value = serde_json::from_str(&done.output).unwrap();
        assert_eq!(json["precision"], if cpu { "f64" } else { "f32" });
        let counts = ["lit", "penumbra", "antumbra", "umbra"].map(|kind| json[kind].as_u64().unwrap());
        assert_eq!((counts, json["inside"].as_u64()), ([2, 1, 1, 1], Some(1)));
        assert_eq!((json["occluders"].as_u64(), json["observers"].as_u64()), (Some(2), Some(5)));
        if cpu {
            assert!(json["compare"].is_null(), "{json}");
            continue;
        }
        assert!(json["compare"]["fraction"].as_f64().unwrap() < 1e-4 && json["compare"]["kinds"] == 0, "{json}");
    }
}

/// A flattened planet, seen from the plane of its equator, from inside it, and from above its pole.
#[test]
fn oblate_bodies_cast_oblate_shadows() {
    let folder = folder();
    let flat =
        SYSTEM.replacen("radius = 0.25", "name = \"Disc\"\nradius = 0.45\npolar_radius = 0.25\npole = [0, -3, 0]", 1);
    folder.write("s.toml", flat).write("o.csv", "x,y,z\n0,0,0\n0,0.2,50\n0,0.4,50\n");
    let said = folder.run_ok(FILES).errors;
    // On the way from the centre to its pole.
    assert!(said.contains("row 2 (index 1), 0,0.2,50, at a depth of 0.05 below the surface of 'Disc'\n"), "{said}");
    let (kinds, fractions) = rows(&folder.text("out.csv"));
    assert_eq!(kinds, ["antumbra", "umbra", "lit"]);
    // Its outline is an ellipse that is 0.9 times as wide and half as high as the light.
    assert!((fractions[0] - 0.55).abs() < 2e-4, "{fractions:?}");
    assert_eq!(fractions[1..], [0.0, 1.0]);
    let done = folder.run_ok("shadow o.csv s.toml -o out.npz --device gpu --compare");
    assert!(done.errors.contains("1 lit, 0 penumbra, 1 antumbra, 1 umbra"), "{}", done.errors);
}

#[test]
#[cfg(unix)]
fn read_only_files_are_kept_and_memory_limits_apply() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    folder.write("out.csv", "as it was\n");
    std::fs::set_permissions(folder.path("out.csv"), std::fs::Permissions::from_mode(0o444)).unwrap();
    let done = folder.run(FILES);
    assert_eq!(done.code, 5, "{}", done.errors);
    assert!(done.errors.contains("cannot write out.csv: it is read-only"), "{}", done.errors);
    assert_eq!(folder.text("out.csv"), "as it was\n");
    // A million observers take 24 MB; 20 MB are allowed.
    folder.write("o.npy", npy("'<f8'", false, "(1000000, 3)", &vec![0; 24_000_000]));
    let mut program = umbracast_testing::folder::program();
    program
        .args(["shadow", "o.npy", "s.toml", "-o", "new.csv"])
        .env("UMBRACAST_MEMORY", "20000000")
        .current_dir(folder.root());
    let done = program.output().unwrap();
    let errors = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(4), "{errors}");
    assert!(errors.contains("observers: 24000000 bytes needed, 20000000 allowed on this machine"), "{errors}");
    assert!(!folder.path("new.csv").exists());
}

/// The shipped eclipse and the shipped observers give the rows that docs/shadows.md shows.
#[test]
fn the_shipped_observers_see_the_eclipse_of_2024() {
    let systems = format!("{}/../systems", env!("CARGO_MANIFEST_DIR"));
    let folder = Folder::new();
    folder.run_ok(&format!("shadow {systems}/samples/observers.csv {systems}/eclipse-2024-04-08.toml -o seen.csv"));
    let (kinds, fractions) = rows(&folder.text("seen.csv"));
    assert_eq!(kinds, ["umbra", "penumbra", "lit", "umbra", "lit"], "{fractions:?}");
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/shadows.md")).unwrap();
    assert!(
        page.contains(&folder.text("seen.csv")),
        "docs/shadows.md shows other rows than these:\n{}",
        folder.text("seen.csv")
    );
}
