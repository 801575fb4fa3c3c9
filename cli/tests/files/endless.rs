//! Endless input, input without line ends, and files that claim to be huge: each is rejected early, with little memory.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use umbracast_testing::folder::{Done, Folder, npy, program};

const SPHERES: &str = "x,y,z,r\n4,0,0,1\n";
const RAYS: &str = "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n";
const SYSTEM: &str = "unit = \"km\"\n[light]\ncenter = [0, 0, 100]\nradius = 1\n";

/// Starts the program with an address space of 4 GiB, so that a failing test does not fill the memory of the machine.
fn limited(folder: &Folder, arguments: &str, stdin: Stdio) -> Child {
    let shell = format!("ulimit -v 4194304; exec \"$0\" {arguments}");
    let mut command = Command::new("bash");
    command.args(["-c", &shell]).arg(program().get_program()).env("UMBRACAST_DEVICE", "cpu");
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).current_dir(folder.root()).spawn().unwrap()
}

/// Runs the program, and writes `start` and then copies of `piece` to its standard input until it stops reading.
fn endless(folder: &Folder, arguments: &str, start: &str, piece: &[u8]) -> Done {
    let mut child = limited(folder, arguments, Stdio::piped());
    let mut pipe = child.stdin.take().unwrap();
    let piece = piece.repeat(1 + (1 << 16) / piece.len());
    let start = start.to_owned();
    let feeder = std::thread::spawn(move || {
        let mut fed = start.len();
        let mut written = pipe.write_all(start.as_bytes());
        // The limit is for a program that never stops reading: the check below then fails.
        while written.is_ok() && fed < 1 << 32 {
            written = pipe.write_all(&piece);
            fed += piece.len();
        }
        fed
    });
    let done = Done::of(child);
    let fed = feeder.join().unwrap();
    assert!(fed < 8 << 20, "{arguments}: read {fed} bytes\n{}", done.errors);
    done
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("r.csv", RAYS).write("ok.toml", SYSTEM).write("o.csv", "as it was");
    folder
}

#[track_caller]
fn refused(folder: &Folder, done: &Done, code: i32, words: &[&str]) {
    done.says(code, words);
    assert!(done.errors.len() < 1000, "{}", done.errors);
    assert_eq!(folder.text("o.csv"), "as it was");
}

#[test]
#[cfg(unix)]
fn rows_without_a_line_end_are_refused() {
    let folder = folder();
    let long = "has more than 1048576 bytes";
    let zeros: &[u8] = &[0];
    for (arguments, start, piece, place, why) in [
        ("cast /dev/stdin r.csv -o o.csv", "", zeros, "row 1", "there are no line ends"),
        ("cast s.csv /dev/stdin -o o.csv", "", zeros, "row 1", "there are no line ends"),
        ("shadow /dev/stdin ok.toml -o o.csv", "", zeros, "row 1", "there are no line ends"),
        ("contains s.csv /dev/stdin -o o.csv", "x,y,z\n1,2,3\n", b"1", "row 2 (index 1)", "there are no line ends"),
        ("cast /dev/stdin r.csv -o o.csv", SPHERES, b"7,", "row 2 (index 1)", "there are no line ends"),
        ("cast /dev/stdin r.csv -o o.csv", SPHERES, b"\n", "row 2 (index 1)", "there are only blank lines"),
        ("cast /dev/stdin r.csv -o o.csv", "x,y,z,r\n\"", b"1,2,3,4\n", "row 1", "a quotation mark is not closed"),
    ] {
        let done = endless(&folder, arguments, start, piece);
        refused(&folder, &done, 2, &["/dev/stdin", place, long, why]);
    }
}

#[test]
fn rows_are_limited_to_one_mebibyte() {
    let folder = folder();
    // Leading zeros do not change a number.
    let row = |bytes: usize| format!("x,y,z,r\n4,0,0,{}1\n4,0,0,1\n", "0".repeat(bytes - "4,0,0,1\n".len()));
    folder.write("s.csv", row(1 << 20));
    folder.run_ok("cast s.csv r.csv -o right.csv");
    for bytes in [(1 << 20) + 1, (1 << 20) + 70_000, 5 << 20] {
        folder.write("s.csv", row(bytes));
        refused(&folder, &folder.run("cast s.csv r.csv -o o.csv"), 2, &["s.csv: line 2", "more than 1048576 bytes"]);
    }
    folder.write("s.csv", "x,".repeat(1 << 20));
    refused(&folder, &folder.run("cast s.csv r.csv -o o.csv"), 2, &["s.csv: line 1", "no line ends"]);
}

#[test]
#[cfg(target_os = "linux")]
fn device_files_are_refused_as_input() {
    let folder = folder();
    std::os::unix::fs::symlink("/dev/zero", folder.path("z.f32")).unwrap();
    folder
        .write("zero.toml", format!("{SYSTEM}[[body]]\nspheres = \"/dev/zero\"\n"))
        .write("sensor.toml", "elevations_deg = [0]\nazimuths_deg = [0]\nposes = \"/dev/zero\"\n");
    for (arguments, words) in [
        ("cast /dev/zero r.csv -o o.csv", "cannot read /dev/zero: it is a device"),
        ("cast s.csv z.f32 --on-bad skip -o o.csv", "cannot read z.f32: it is a device"),
        ("shadow /dev/zero ok.toml -o o.csv", "cannot read /dev/zero: it is a device"),
        ("shadow s.csv zero.toml -o o.csv", "cannot read /dev/zero: it is not a regular file"),
        ("cast s.csv --sensor sensor.toml -o o.csv", "cannot read /dev/zero: it is not a regular file"),
    ] {
        refused(&folder, &Done::of(limited(&folder, arguments, Stdio::null())), 5, &[words]);
    }
}

/// Opening a pipe without a writer would block.
#[test]
#[cfg(unix)]
fn pipes_are_refused_without_opening_them() {
    let folder = folder();
    folder
        .make_pipe("pipe.csv")
        .write("pipe.toml", format!("{SYSTEM}[[body]]\nspheres = \"pipe.csv\"\n"))
        .write("sensor.toml", "elevations_deg = [0]\nazimuths_deg = [0]\nposes = \"pipe.csv\"\n");
    for (arguments, code, words) in [
        ("shadow s.csv pipe.toml -o o.csv", 5, "cannot read pipe.csv: it is not a regular file"),
        ("cast s.csv --sensor sensor.toml -o o.csv", 5, "cannot read pipe.csv: it is not a regular file"),
        ("cast pipe.csv r.csv --origin auto -o o.csv", 2, "reads them twice, which is not possible with a pipe"),
    ] {
        let done = folder.run_within(Duration::from_secs(20), arguments);
        refused(&folder, &done, code, &[words]);
    }
}

/// Writes an array whose rows are a hole in a sparse file, which takes no disk space.
fn sparse(folder: &Folder, name: &str, rows: u64, columns: u64) {
    let header = npy("'<f4'", false, &format!("({rows}, {columns})"), &[]);
    folder.write(name, &header);
    let file = std::fs::OpenOptions::new().write(true).open(folder.path(name)).unwrap();
    file.set_len(header.len() as u64 + 4 * rows * columns).unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn poses_that_do_not_fit_are_refused_with_figures() {
    let folder = folder();
    sparse(&folder, "poses.npy", 1_000_000_000, 7);
    folder.write("sensor.toml", "elevations_deg = [0]\nazimuths_deg = [0]\nposes = \"poses.npy\"\n");
    let arguments = "cast s.csv --sensor sensor.toml --on-bad skip -o o.csv";
    let run = |memory: &str, arguments: &str| {
        let mut program = program();
        program.args(arguments.split(' ')).env("UMBRACAST_MEMORY", memory).current_dir(folder.root());
        Done::of(program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    };
    refused(&folder, &run("1000000000", arguments), 4, &["poses: 56000000000 bytes needed", "1000000000 allowed"]);
    // An allocation that fails is reported too, even if `UMBRACAST_MEMORY` allows it.
    let shell = "export UMBRACAST_MEMORY=100000000000; ulimit -v 4194304; exec \"$0\" ";
    let mut bash = Command::new("bash");
    bash.args(["-c", &format!("{shell}{arguments} --device cpu")]).arg(program().get_program());
    let child = bash.stdout(Stdio::piped()).stderr(Stdio::piped()).current_dir(folder.root()).spawn().unwrap();
    refused(&folder, &Done::of(child), 4, &["this machine is out of memory: cannot allocate memory for poses"]);
    // The number of poses of a text is known only at its end.
    let table = "x,y,z,qw,qx,qy,qz\n".to_owned() + &"0,0,0,1,0,0,0\n".repeat(200_000);
    folder
        .write("poses.csv", table)
        .write("sensor.toml", "elevations_deg = [0]\nazimuths_deg = [0]\nposes = \"poses.csv\"\n");
    refused(&folder, &run("1200000", arguments), 4, &["poses: ", "bytes needed, 1200000 allowed"]);
}

/// The header of an array gives the number of its spheres, so too many are refused before they are read.
#[test]
#[cfg(target_os = "linux")]
fn huge_clouds_are_refused_at_once() {
    let folder = folder();
    folder.write("points.csv", "x,y,z\n0,0,0\n").write("few.csv", "x,y,z,r\n".to_owned() + &"4,0,0,1\n".repeat(10_000));
    sparse(&folder, "huge.npy", 2_000_000_000, 4);
    sparse(&folder, "more.npy", (1 << 26) + 1, 4);
    // The limit is for all clouds together.
    sparse(&folder, "rest.npy", (1 << 26) - 9_999, 4);
    for (clouds, count) in
        [(&["huge.npy"][..], "2000000000"), (&["more.npy"], "67108865"), (&["few.csv", "rest.npy"], "67108865")]
    {
        let bodies: String = clouds.iter().map(|cloud| format!("[[body]]\nspheres = \"{cloud}\"\n")).collect();
        folder.write("s.toml", format!("{SYSTEM}{bodies}"));
        for arguments in ["shadow points.csv s.toml -o o.csv", "render s.toml -o o.png"] {
            let done = folder.run_within(Duration::from_secs(1), arguments);
            let words = [clouds[clouds.len() - 1], count, "spheres in the system", "at most 67108864 are allowed"];
            refused(&folder, &done, 2, &words);
        }
    }
}
