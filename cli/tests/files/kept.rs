//! Files that a run must not change: inputs that other inputs name, and, until the whole run has succeeded, the files that it replaces.

use std::process::{Command, Stdio};

use umbracast_testing::folder::{Done, Folder, program};

const SYSTEM: &str = "unit = \"km\"\n[light]\ncenter = [0, 0, 100]\nradius = 1\n\
    [[body]]\nspheres = \"cloud.csv\"\n[[body]]\nspheres = \"sub/../dust.npy\"\ncasts = false\n\
    [camera]\nkind = \"orthographic\"\nposition = [0, -10, 5]\ntarget = [0, 0, 0]\nup = [0, 0, 1]\nwidth = 4\n\
    [picture]\nsize = [64, 48]\nsamples = 1\n";
const CLOUD: &str = "x,y,z,r\n0,0,0,1\n";

fn folder() -> Folder {
    let folder = Folder::new();
    let sphere: Vec<u8> = [3.0_f32, 0.0, 0.0, 0.5].iter().flat_map(|x| x.to_le_bytes()).collect();
    folder
        .write("s.toml", SYSTEM)
        .write("cloud.csv", CLOUD)
        .write("dust.npy", umbracast_testing::folder::npy("'<f4'", false, "(1, 4)", &sphere))
        .write("p.csv", "x,y,z\n0,0,-5\n");
    std::fs::create_dir(folder.path("sub")).unwrap();
    folder
}

#[test]
fn sphere_files_named_by_a_system_are_not_replaced() {
    let folder = folder();
    for (arguments, file) in [
        ("shadow p.csv s.toml -o cloud.csv", "cloud.csv"),
        ("shadow p.csv s.toml -o sub/../cloud.csv", "cloud.csv"),
        ("render s.toml -o o.png --t dust.npy", "dust.npy"),
        ("render s.toml -o o.png --id ./dust.npy", "dust.npy"),
        ("render s.toml -o o.png --fraction dust.npy", "dust.npy"),
    ] {
        let done = folder.fails(arguments, 2, &[file]);
        assert!(done.errors.contains("is also an input"), "{}", done.errors);
    }
    folder.run_ok("shadow p.csv s.toml -o seen.csv");
    folder.run_ok("render s.toml -o o.png --t t.npy");
}

/// Systems whose names are the same up to a dot.
#[test]
fn default_names_do_not_collide() {
    let folder = folder();
    for name in ["foo.a", "foo.b", "foo"] {
        folder.write(&format!("{name}.toml"), SYSTEM);
        let done = folder.run_ok(&format!("render {name}.toml --size 8x8"));
        assert!(done.errors.contains(&format!("{name}.png")), "{}", done.errors);
    }
    let names: Vec<_> = folder.contents().into_keys().filter(|name| name.ends_with(".png")).collect();
    assert_eq!(names, ["foo.a.png", "foo.b.png", "foo.png"]);
}

/// Runs the program with functions of the C library replaced by those of `code`.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn with_calls(folder: &Folder, code: &str, arguments: &str) -> Done {
    folder.write("calls.c", code);
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o", "calls.so", "calls.c"]).current_dir(folder.root());
    assert!(cc.status().unwrap().success(), "a C compiler is needed, as for building");
    let mut program = program();
    program.args(arguments.split(' ')).current_dir(folder.root()).stdout(Stdio::piped()).stderr(Stdio::piped());
    program.env("LD_PRELOAD", folder.path("calls.so")).env("UMBRACAST_DEVICE", "cpu");
    Done::of(program.spawn().unwrap())
}

/// Data is synced to the disk before the file gets its name. A test cannot cut the power, but it can simulate a disk that fails.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn a_failed_sync_leaves_the_old_file() {
    let folder = folder();
    let fails = "#include <errno.h>\nint fdatasync(int file) { (void)file; errno = EIO; return -1; }\n";
    for (arguments, file) in [
        ("shadow p.csv s.toml -o old.csv", "old.csv"),
        ("render s.toml -o old.png --size 8x8", "old.png"),
        ("cast cloud.csv r.csv -o old.npz", "old.npz"),
    ] {
        folder.write(file, "as it was").write("r.csv", "ox,oy,oz,dx,dy,dz\n0,0,9,0,0,-1\n");
        let contents = || {
            let mut contents = folder.contents();
            contents.retain(|name, _| !name.starts_with("calls."));
            contents
        };
        let before = contents();
        let done = with_calls(&folder, fails, arguments);
        assert_eq!(done.code, 5, "{arguments}: {}", done.errors);
        assert!(done.errors.contains(&format!("cannot write {file}: Input/output error")), "{}", done.errors);
        assert_eq!(folder.text(file), "as it was");
        assert_eq!(contents(), before, "{arguments}");
    }
}

/// With several outputs, none is replaced before all are complete. Here, syncing the second one fails.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn all_outputs_are_replaced_or_none() {
    let folder = folder();
    let second_fails = "#include <errno.h>\nint fdatasync(int file) {\n\
        static int calls; (void)file;\nif (++calls < 2) return 0;\nerrno = ENOSPC; return -1; }\n";
    folder.write("r.csv", "ox,oy,oz,dx,dy,dz\n0,0,9,0,0,-1\n");
    for (arguments, files) in [
        ("render s.toml -o a.png --t t.npy --size 8x8", ["a.png", "t.npy"]),
        ("cast cloud.csv r.csv -o answers.csv --plot plot.png", ["answers.csv", "plot.png"]),
    ] {
        for file in files {
            folder.write(file, "as it was");
        }
        let done = with_calls(&folder, second_fails, arguments);
        assert_eq!(done.code, 5, "{arguments}: {}", done.errors);
        assert!(done.errors.contains("No space left on device"), "{}", done.errors);
        for file in files {
            assert_eq!(folder.text(file), "as it was", "{arguments}: {file}");
        }
    }
}

#[test]
#[cfg(unix)]
fn permissions_are_kept_except_setuid_setgid_and_sticky() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let folder = folder();
    for (mode, kept) in [(0o6777, 0o777), (0o4755, 0o755), (0o2640, 0o640), (0o1600, 0o600)] {
        folder.write("old.csv", "as it was");
        // Only root may change the owner of a file.
        let given = Command::new("chown").args(["65534:65534", "old.csv"]).current_dir(folder.root()).output().unwrap();
        let root = given.status.success();
        std::fs::set_permissions(folder.path("old.csv"), std::fs::Permissions::from_mode(mode)).unwrap();
        folder.run_ok("shadow p.csv s.toml -o old.csv");
        let about = std::fs::metadata(folder.path("old.csv")).unwrap();
        assert_eq!(about.mode() & 0o7777, kept, "{mode:o}");
        if root {
            assert_eq!((about.uid(), about.gid()), (65534, 65534), "{mode:o}");
        }
        assert!(folder.text("old.csv").starts_with("fraction"));
        std::fs::remove_file(folder.path("old.csv")).unwrap();
    }
}
