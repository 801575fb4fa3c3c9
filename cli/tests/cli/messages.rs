//! Messages quote only short excerpts of files and of the environment, and escape control characters.

use std::process::Stdio;

use umbracast_testing::folder::{Done, Folder, program};

const RAYS: &str = "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n";
/// Control sequences that set the title of a terminal and clear its screen.
const CONTROL_SEQUENCES: &str = "\u{1b}]0;pwned\u{7}\u{1b}[2J\u{9b}x";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r\n4,0,0,1\n").write("r.csv", RAYS);
    folder
}

#[track_caller]
fn harmless(done: &Done, words: &[&str]) {
    assert!(!done.errors.contains(|c: char| c.is_control() && c != '\n'), "{:?}", done.errors);
    assert!(done.errors.len() < 1500, "{} bytes", done.errors.len());
    for word in words {
        assert!(done.errors.contains(word), "{word}: {}", done.errors);
    }
}

#[test]
fn long_cells_are_cut() {
    let folder = folder();
    let rows = "1,2,3,4\n".repeat(100_000);
    folder.write("s.csv", format!("x,y,z,r\n1,2,3,\"4\n{rows}"));
    let done = folder.run("cast s.csv r.csv -o o.csv");
    assert_eq!(done.code, 2);
    harmless(&done, &["s.csv: line 2: r is '4\\n1,2,3,4\\n", "…': a quotation mark is not closed"]);
    // The open quotation mark in other cells, and in a row that exceeds the limit of 2²⁰ bytes.
    folder.write("s.csv", format!("x,y,z,r\n1,2,\"3,4\n{rows}"));
    harmless(&folder.run("cast s.csv r.csv -o o.csv"), &["s.csv: line 2: a quotation mark is not closed"]);
    folder.write("s.csv", format!("\"x,y,z,r\n{rows}"));
    harmless(&folder.run("cast s.csv r.csv -o o.csv"), &["s.csv: line 1: a quotation mark is not closed"]);
    folder.write("s.csv", format!("x,y,z,r\n1,2,3,\"4\n{}", rows.repeat(3)));
    harmless(&folder.run("cast s.csv r.csv -o o.csv"), &["s.csv: line 2", "a quotation mark is not closed"]);
    for cell in ["9".repeat(100_000), "x".repeat(100_000)] {
        folder.write("s.csv", format!("x,y,z,r\n1,2,3,{cell}\n"));
        harmless(&folder.run("cast s.csv r.csv -o o.csv"), &["line 2: r is", &cell[..70], "…"]);
        folder.write("p.csv", format!("x,y,z\n1,2,{cell}\n")).write("s.toml", "unit = \"m\"\nlight = 3\n");
        harmless(&folder.run("contains r.csv p.csv -o o.csv"), &[]);
    }
    // Long names of columns, and long lines of TOML.
    folder.write("s.csv", format!("{},y,z,r\n", "x".repeat(100_000)));
    harmless(&folder.run("cast s.csv r.csv -o o.csv"), &["unknown column 'xxxx", "…'; known columns are x,y,z,r"]);
    folder.write("s.toml", format!("unit = \"m\"\n{} = 3\n[light]\n", "k".repeat(1_000_000)));
    harmless(
        &folder.run("render s.toml -o o.png"),
        &["s.toml: line 2, column 1: unknown key `kkkk", "expected one of"],
    );
    folder.write("s.toml", format!("unit = \"m\" {} = 3\n", "k".repeat(1_000_000)));
    harmless(&folder.run("render s.toml -o o.png"), &["s.toml: line 1, column 12"]);
}

#[test]
fn terminal_control_sequences_are_escaped() {
    let folder = folder();
    let shown = "\\u{1b}]0;pwned\\u{7}\\u{1b}[2J\\u{9b}x";
    folder.write("s.csv", format!("x,y,z,r\n1,2,3,{CONTROL_SEQUENCES}\n"));
    harmless(&folder.run("cast s.csv r.csv -o o.csv"), &["line 2: r is '", shown]);
    folder.write("s.csv", format!("x,y,z,{CONTROL_SEQUENCES}\n"));
    harmless(&folder.run("cast s.csv r.csv -o o.csv"), &["unknown column '", shown]);
    for (toml, words) in [
        ("unit = \"\\u001b[31m\"\n[light]\ncenter = [0, 0, 9]\nradius = 1\n", "unit is \"\\u{1b}[31m\""),
        ("unit = \"\u{1b}[31m\"\n", "line 1, column"),
        ("\"\\u001b[31m\" = 3\n", "unknown key `\\u{1b}[31m`"),
        (
            "unit = \"m\"\n[light]\ncenter = [0, 0, 9]\nradius = 1\n[[body]]\nname = \"\\u001b[2J\"\ncolor = \"\\u0007\"\n",
            "body[0] '\\u{1b}[2J': color is \"\\u{7}\"",
        ),
        (
            "unit = \"m\"\n[light]\nname = \"\\u001b[2J\"\ncenter = [0, 0, 9]\nradius = 1\n\
             [[body]]\nname = \"\\u001b[3J\"\ncenter = [0, 0, 9]\nradius = 1\n",
            "body[0] '\\u{1b}[3J': the light '\\u{1b}[2J' is inside this body",
        ),
    ] {
        folder.write("s.toml", toml);
        harmless(&folder.run("shadow r.csv s.toml -o o.csv"), &["s.toml: ", words]);
    }
    folder.write("sensor.toml", "elevations_deg = [0]\nazimuths_deg = [0]\n\"\\u001b[2J\" = 1\n");
    folder.write("s.csv", "x,y,z,r\n4,0,0,1\n");
    harmless(&folder.run("cast s.csv --sensor sensor.toml -o o.csv"), &["unknown key `\\u{1b}[2J`"]);
    // Names of missing, invalid and written files, and invalid values of options.
    let name = format!("{CONTROL_SEQUENCES}.csv");
    harmless(&folder.run_args(&["cast", &name, "r.csv", "-o", "o.csv"]), &["cannot read ", shown]);
    folder.write(&name, "x,y,z,r\n4,0,0,one\n");
    harmless(&folder.run_args(&["cast", &name, "r.csv", "-o", "o.csv"]), &[shown, "line 2: r is 'one'"]);
    folder
        .write("p.csv", "x,y,z\n0,0,0\n")
        .write("right.toml", "unit = \"m\"\n[light]\ncenter = [0, 0, 9]\nradius = 1\n");
    let done = folder.run_args(&["shadow", "p.csv", "right.toml", "-o", &name]);
    assert_eq!(done.code, 0, "{}", done.errors);
    harmless(&done, &["wrote ", shown]);
    let done = folder.run_args(&["cast", "s.csv", "r.csv", "-o", "o.csv", "--query", CONTROL_SEQUENCES]);
    assert_eq!(done.code, 2, "{}", done.errors);
    harmless(&done, &["--query", shown]);
    let apostrophes = "x'".repeat(30_000);
    harmless(&folder.run_args(&["cast", "--sphere", &apostrophes, "--ray", "0,0,0,1,0,0"]), &["--sphere", "x'x'"]);
    let done = folder.run_args(&["shadow", "p.csv", "right.toml", "-o", "x\nerror: y.csv"]);
    assert_eq!((done.code, done.errors.lines().count()), (0, 1), "{}", done.errors);
    harmless(
        &folder.run_args(&["cast", "s.csv", "r.csv", "-o", "o.csv", "--device", CONTROL_SEQUENCES]),
        &["no device '", shown],
    );
    let long = "7".repeat(100_000);
    harmless(&folder.run_args(&["cast", "--sphere", &long, "--ray", "0,0,0,1,0,0"]), &["--sphere"]);
}

#[test]
#[cfg(unix)]
fn invalid_environment_variables_are_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = folder();
    let run = |name: &str, value: &[u8], arguments: &str| {
        let mut program = program();
        program.args(arguments.split(' ')).current_dir(folder.root()).env("UMBRACAST_DEVICE", "cpu");
        program.env(name, OsStr::from_bytes(value)).stdout(Stdio::piped()).stderr(Stdio::piped());
        Done::of(program.spawn().unwrap())
    };
    let cast = "cast s.csv r.csv -o o.csv";
    for value in [&b"-1"[..], b"x", b"1e9", b"12 GB", b"\xff"] {
        let done = run("UMBRACAST_MEMORY", value, cast);
        assert_eq!(done.code, 2, "{}", done.errors);
        harmless(&done, &["UMBRACAST_MEMORY is '", "expected a number of bytes"]);
    }
    let done = run("UMBRACAST_DEVICE", b"gp\xffu", cast);
    assert_eq!(done.code, 3, "{}", done.errors);
    harmless(&done, &["no device 'gp\u{fffd}u'", "UMBRACAST_DEVICE"]);
    assert!(!folder.path("o.csv").exists());
    // A variable that is empty or not needed is no error.
    assert_eq!(run("UMBRACAST_DEVICE", b"gp\xffu", &format!("{cast} --device cpu")).code, 0);
    assert_eq!(run("UMBRACAST_DEVICE", b"", &format!("{cast} --device cpu")).code, 0);
    assert_eq!(run("UMBRACAST_MEMORY", b"", cast).code, 0);
    let done = run("UMBRACAST_DEVICE", b"gp\xff\x1bu", "devices --report");
    assert_eq!(done.code, 0, "{}", done.errors);
    assert!(done.output.contains("UMBRACAST_DEVICE=gp\u{fffd}\\u{1b}u"), "{}", done.output);
}

/// If the output cannot be written, the message names the requested file.
#[test]
#[cfg(target_os = "linux")]
fn messages_name_the_target_not_the_temporary_file() {
    let folder = folder();
    for output in ["/proc/o.csv", "/proc/o.npz"] {
        let done = folder.run(&format!("cast s.csv r.csv -o {output}"));
        assert_eq!(done.code, 5, "{}", done.errors);
        harmless(&done, &[&format!("cannot write {output}: No such file or directory")]);
        assert!(!done.errors.contains(".tmp") && !done.errors.contains("at path"), "{}", done.errors);
    }
}

#[test]
fn a_single_ray_reports_that_t_exceeds_f32() {
    let folder = folder();
    let words = "misses only because t exceeds f32";
    let far = "cast --sphere 1e30,0,0,1e29 --ray 0,0,0,1e-30,0,0";
    harmless(&folder.run_ok(far), &[words]);
    assert!(!folder.run_ok(&format!("{far} -q")).errors.contains(words));
    assert!(folder.run_ok(&format!("{far} --json")).output.contains("\"overflowed\":true"));
    for other in ["0,0,0,-1e-30,0,0", "0,0,0,1,0,0", "0,0,0,1e-30,0,0,0,1e38", "1e30,0,0,1e-30,0,0"] {
        let done = folder.run_ok(&format!("cast --sphere 1e30,0,0,1e29 --ray {other}"));
        assert!(!done.errors.contains(words), "{other}: {}", done.errors);
    }
}
