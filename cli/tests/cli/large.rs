//! Requests that are too large are rejected before the work starts. The message gives required and allowed sizes.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use umbracast_testing::folder::{Done, Folder, f32_bytes, npy, program};

const SYSTEM: &str = "unit = \"km\"\n[light]\ncenter = [0, 0, 1000]\nradius = 10\n\
    [[body]]\nspheres = \"cloud.npy\"\n\
    [camera]\nkind = \"orthographic\"\nposition = [0, -20, 5]\ntarget = [0, 0, 0]\nup = [0, 0, 1]\nwidth = 4\n\
    [picture]\nsize = [32, 24]\nsamples = 1\n";

/// Creates a system of `count` spheres of radius 3 near the origin.
fn crowd(count: usize) -> Folder {
    let folder = Folder::new();
    let place = |i: usize| (i as f32 * 0.618_034).fract() * 2.0 - 1.0;
    let spheres: Vec<f32> = (0..count).flat_map(|i| [place(i), place(7 * i), place(31 * i), 3.0]).collect();
    folder
        .write("cloud.npy", npy("'<f4'", false, &format!("({count}, 4)"), &f32_bytes(&spheres)))
        .write("s.toml", SYSTEM);
    folder
}

fn run(folder: &Folder, memory: &str, arguments: &str) -> Done {
    let mut program = program();
    program.args(arguments.split(' ')).env("UMBRACAST_DEVICE", "cpu").env("UMBRACAST_MEMORY", memory);
    program.stdout(Stdio::piped()).stderr(Stdio::piped()).current_dir(folder.root());
    Done::of(program.spawn().unwrap())
}

/// Two billion pairs of spheres may shade each other. Counting them would take minutes.
#[test]
fn overlapping_spheres_are_rendered_in_seconds() {
    let folder = crowd(65_536);
    let done = folder.run_within(Duration::from_secs(60), "render s.toml -o o.png --device gpu");
    assert_eq!(done.code, 0, "{}", done.errors);
}

#[test]
fn pictures_that_do_not_fit_are_refused_with_figures() {
    let folder = crowd(1);
    let pixels = 16384 * 4096_u64;
    for (more, bytes) in [("", 33), (" --bits 16", 48), (" --compare", 33)] {
        let started = Instant::now();
        let arguments = format!("render s.toml -o o.png --size 16384x4096{more}");
        let done = run(&folder, "100000000", &arguments);
        assert_eq!(done.code, 4, "{}", done.errors);
        let figures = format!("the picture: {} bytes needed, 100000000 allowed on this machine", pixels * bytes);
        assert!(done.errors.contains(&figures), "{figures}: {}", done.errors);
        assert!(started.elapsed() < Duration::from_secs(60) && !folder.path("o.png").exists());
    }
    // A smaller picture fits.
    let done = run(&folder, "40000000", "render s.toml -o o.png --size 1024x1024");
    assert_eq!(done.code, 0, "{}", done.errors);
}

/// An allocation that fails is reported too, even if `UMBRACAST_MEMORY` allows it.
#[test]
#[cfg(target_os = "linux")]
fn pictures_without_enough_memory_end_in_an_error() {
    let folder = crowd(1);
    let shell = "ulimit -v 600000; exec \"$0\" render s.toml -o o.png --size 16384x4096 --device cpu";
    let mut bash = Command::new("bash");
    bash.args(["-c", shell]).arg(program().get_program()).env("UMBRACAST_MEMORY", "1000000000000");
    let child = bash.stdout(Stdio::piped()).stderr(Stdio::piped()).current_dir(folder.root()).spawn().unwrap();
    let done = Done::of(child);
    assert_eq!(done.code, 4, "{}", done.errors);
    assert!(
        done.errors.contains("this machine is out of memory: cannot allocate memory for the picture"),
        "{}",
        done.errors
    );
}

fn sensor(folder: &Folder, rays: [u64; 2]) {
    let [rows, columns] = rays;
    let angles = |name: &str, count: u64| format!("{name} = {{ from = 0, to = 90, count = {count} }}\n");
    let poses = "poses = [[0, 0, 0], [1, 0, 0], [2, 0, 0]]\n";
    folder.write("s.csv", "x,y,z,r\n4,0,0,1\n");
    folder.write("sensor.toml", angles("elevations_deg", rows) + &angles("azimuths_deg", columns) + poses);
}

#[test]
fn the_size_of_large_outputs_is_reported_at_once() {
    let folder = Folder::new();
    sensor(&folder, [1 << 14, 1 << 14]);
    let free = free_bytes(&folder);
    let need = 2 * 3 * 8 * (1_u64 << 28);
    let mut child = folder.start("cast s.csv --sensor sensor.toml -o o.npz");
    let (said, hears) = std::sync::mpsc::channel();
    let errors = child.stderr.take().unwrap();
    std::thread::spawn(move || {
        let mut line = String::new();
        let _ = BufReader::new(errors).read_line(&mut line);
        said.send(line)
    });
    let line = hears.recv_timeout(Duration::from_secs(120)).unwrap_or_default();
    child.kill().unwrap();
    child.wait().unwrap();
    // The margin of 2 GiB is for other programs that write to the disk.
    if free > need + (2 << 30) {
        assert!(line.contains("805306368 rays: the results will take at least 6.4 GB"), "{line}");
    } else if free < need - (2 << 30) {
        assert!(line.contains("12884901888 bytes (twice their size, while the file is completed)"), "{line}");
    }
    assert!(!folder.path("o.npz").exists());
}

/// Returns the free bytes that `df` reports for the folder.
fn free_bytes(folder: &Folder) -> u64 {
    let df = Command::new("df").args(["-Pk", "."]).current_dir(folder.root()).output().unwrap();
    let text = String::from_utf8(df.stdout).unwrap();
    text.lines().last().unwrap().split_whitespace().nth(3).unwrap().parse::<u64>().unwrap() * 1024
}

/// No test machine has a disk of 859 TB.
#[test]
#[cfg(target_os = "linux")]
fn outputs_larger_than_any_disk_are_refused() {
    let folder = Folder::new();
    // 2³⁰ rays per pose are allowed.
    sensor(&folder, [1 << 15, 1 << 15]);
    let poses = "[0, 0, 0], ".repeat(50_000);
    let text = folder.text("sensor.toml").replace("[[0, 0, 0], [1, 0, 0], [2, 0, 0]]", &format!("[{poses}]"));
    folder.write("sensor.toml", text);
    let started = Instant::now();
    let done = run(&folder, "1000000000", "cast s.csv --sensor sensor.toml -o o.npz");
    assert_eq!(done.code, 5, "{}", done.errors);
    let words = ["cannot write o.npz: the results need at least 858993459200000 bytes", "free there"];
    assert!(words.iter().all(|word| done.errors.contains(word)), "{}", done.errors);
    assert!(started.elapsed() < Duration::from_secs(60));
}
