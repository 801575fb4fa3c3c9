//! Casts that are disturbed by files that change or vanish, by full disks or by signals. A cast that fails reports the cause and leaves
//! the folder as it was.

use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Child;
use std::time::{Duration, Instant};

use umbracast_files::RayBatches;
use umbracast_testing::folder::{Done, Folder, f32_bytes, npy};

const SPHERES: &str = "x,y,z,r\n4,0,0,1\n0,5,0,2\n";
const RAYS: &str = "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n0,0,0,0,1,0\n0,0,0,0,0,1\n";
const RECORD: [f32; 8] = [0., 0., 0., 1., 0., 0., 0., 9.];

/// Runs a cast, and calls `change` after the program has opened the rays and before it reads them: it waits for its spheres, which come
/// through a pipe after `change`.
fn cast_and_change(folder: &Folder, arguments: &str, change: impl FnOnce()) -> Done {
    folder.make_pipe("s.csv");
    let program = folder.start(arguments);
    let mut spheres = folder.open_pipe("s.csv");
    change();
    spheres.write_all(SPHERES.as_bytes()).unwrap();
    drop(spheres);
    std::fs::remove_file(folder.path("s.csv")).unwrap();
    Done::of(program)
}

#[track_caller]
fn refused(done: &Done, code: i32, words: &[&str]) {
    done.says(code, words);
    assert_eq!(done.errors.lines().count(), 1, "{}", done.errors);
    assert_eq!(done.output, "");
}

#[test]
fn files_that_shrink_or_grow_while_read_are_detected() {
    // More than one read takes: a change of data that was already read is not noticed.
    let six = f32_bytes(&[0., 0., 0., 1., 0., 0.].repeat(10_000));
    let files = [
        ("r.f32", f32_bytes(&RECORD.repeat(10_000))),
        ("r.npy", npy("'<f4'", false, "(10000, 6)", &six)),
        ("t.npy", npy("'<f4'", true, "(10000, 6)", &f32_bytes(&[1.0; 60_000]))),
        ("r.csv", (RAYS.to_owned() + &"0,0,0,1,0,0\n".repeat(10_000)).into()),
    ];
    for (name, bytes) in files {
        for output in ["out.npz", "out.csv"] {
            for (how, length) in [("shorter", bytes.len() - 12), ("longer", bytes.len() + 32)] {
                let folder = Folder::new();
                folder.write(name, &bytes).write(output, "kept");
                let done = cast_and_change(&folder, &format!("cast s.csv {name} -o {output}"), || {
                    let mut changed = bytes.clone();
                    // In a text file the added bytes are empty lines.
                    changed.resize(length, b'\n');
                    folder.write(name, changed);
                });
                let words = [&format!("cannot read {name}"), how, &format!("{} bytes when it was opened", bytes.len())];
                refused(&done, 5, &words.map(|w| w as &str));
                assert_eq!(names(&folder), [output, name]);
                assert_eq!(folder.text(output), "kept");
            }
        }
    }
}

#[test]
fn a_table_cut_within_a_row_is_refused() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("r.csv", &RAYS[..RAYS.len() - 4]);
    let before = folder.contents();
    refused(&folder.run("cast s.csv r.csv -o out.csv"), 2, &["r.csv: line 4", "found 5 cells, expected 6"]);
    assert!(folder.contents() == before);
}

#[test]
fn a_file_deleted_while_it_is_read_is_read_to_its_end() {
    for (name, bytes) in [("r.f32", f32_bytes(&RECORD.repeat(3))), ("r.csv", RAYS.into())] {
        let folder = Folder::new();
        folder.write(name, bytes);
        let gone = folder.path(name);
        let done = cast_and_change(&folder, &format!("cast s.csv {name} -o out.csv -q"), || {
            std::fs::remove_file(gone).unwrap()
        });
        assert_eq!((done.code, done.errors.as_str()), (0, ""));
        assert_eq!(folder.text("out.csv").lines().count(), 4);
    }
    // The lines of a deleted file cannot be counted, so the message gives a byte offset.
    let folder = Folder::new();
    folder.write("r.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,0,0,0\n");
    let gone = folder.path("r.csv");
    let done = cast_and_change(&folder, "cast s.csv r.csv -o out.csv", || std::fs::remove_file(gone).unwrap());
    refused(&done, 2, &["r.csv: byte 18: direction"]);
    assert!(folder.contents().is_empty());
}

#[test]
fn a_deleted_output_folder_is_an_error() {
    for output in ["out/out.csv", "out/out.npz"] {
        let folder = Folder::new();
        std::fs::create_dir(folder.path("out")).unwrap();
        folder.write("s.csv", SPHERES).make_pipe("r.csv");
        let program = folder.start(&format!("cast s.csv r.csv -o {output}"));
        let mut rays = folder.open_pipe("r.csv");
        feed_batches(&mut rays, 5).unwrap();
        std::fs::remove_dir_all(folder.path("out")).unwrap();
        drop(rays);
        refused(&Done::of(program), 5, &[&format!("cannot write {output}"), "No such file"]);
        assert_eq!(names(&folder), ["r.csv", "s.csv"]);
    }
}

#[test]
fn a_folder_at_the_output_path_is_not_replaced() {
    for output in ["out.csv", "out.npz"] {
        let folder = Folder::new();
        folder.write("s.csv", SPHERES).make_pipe("r.csv");
        let program = folder.start(&format!("cast s.csv r.csv -o {output}"));
        let mut rays = folder.open_pipe("r.csv");
        feed_batches(&mut rays, 5).unwrap();
        std::fs::create_dir(folder.path(output)).unwrap();
        drop(rays);
        refused(&Done::of(program), 5, &["cannot write", output, "directory"]);
        let names: Vec<_> = std::fs::read_dir(folder.root()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names.len(), 3, "{names:?}");
    }
}

/// Runs a command whose files may have at most `blocks` blocks of 512 bytes. SIGXFSZ is ignored, so writing fails as on a full disk.
fn with_room_for(folder: &Folder, blocks: u32, arguments: &str) -> Done {
    let program = umbracast_testing::folder::program().get_program().to_owned();
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" {arguments} --device cpu");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).arg(program).current_dir(folder.root());
    let done = shell.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    Done::of(done)
}

#[test]
fn a_full_disk_leaves_no_files() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("r.f32", f32_bytes(&RECORD.repeat(10_000)));
    folder.write("out.npz", "kept").write("out.csv", "kept");
    let before = folder.contents();
    for (output, blocks) in [
        // Fails while lines are written, while a column is stored temporarily, and while the archive of two columns is written.
        ("out.csv", 8),
        ("out.npz", 8),
        ("out.npz", 100),
    ] {
        let done = with_room_for(&folder, blocks, &format!("cast s.csv r.f32 -o {output}"));
        refused(&done, 5, &[&format!("cannot write {output}: "), "(os error "]);
        assert!(folder.contents() == before, "files have changed");
    }
    // Enough space for the whole output.
    assert_eq!(with_room_for(&folder, 170, "cast s.csv r.f32 -o out.npz -q").code, 0);
}

#[test]
fn two_files_appear_together_or_not_at_all() {
    let folder = Folder::new();
    let mut text = String::from("object,unix_s,x,y,z\n");
    for (object, step) in (0..100).flat_map(|object| (0..12).map(move |step| (object, step))) {
        let (sin, cos) = (f64::from(step) * 0.535).sin_cos();
        let unix_s = 1_774_051_200 + step * 480;
        text += &format!("o{object},{unix_s},{},{},{}\n", 6878.0 * cos, 4126.8 * sin, 5502.4 * sin);
    }
    folder.write("t.csv", text).write("light.npz", "kept").write("events.csv", "kept");
    let before = folder.contents();
    let arguments = "sunlight t.csv --frame gcrs -o light.npz --events events.csv -q";
    // The light fits, the events do not.
    refused(&with_room_for(&folder, 70, arguments), 5, &["cannot write events.csv: "]);
    assert!(folder.contents() == before, "files have changed");
    assert_eq!(with_room_for(&folder, 170, arguments).code, 0);
    assert!(folder.bytes("light.npz").len() < 35_000 && folder.bytes("events.csv").len() > 36_000);
}

#[test]
fn a_read_only_output_folder_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("r.csv", RAYS);
    std::fs::create_dir(folder.path("shut")).unwrap();
    let allow = |name: &str, mode| {
        std::fs::set_permissions(folder.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    allow(".", 0o755);
    allow("shut", 0o555);
    // Root may write everywhere. If this test runs as root, the program runs as another user, from a copy that this user can access.
    std::fs::copy(umbracast_testing::folder::program().get_program(), folder.path("program")).unwrap();
    let mut program = std::process::Command::new(folder.path("program"));
    program.args("cast s.csv r.csv -o shut/out.csv --device cpu".split(' ')).current_dir(folder.root());
    if std::fs::File::create(folder.path("shut/probe")).is_ok() {
        std::fs::remove_file(folder.path("shut/probe")).unwrap();
        program.uid(65_534).gid(65_534);
    }
    let done = program.output().unwrap();
    let errors = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(5), "{errors}");
    assert!(errors.contains("cannot write shut/out.csv") && errors.contains("denied"), "{errors}");
    assert_eq!(std::fs::read_dir(folder.path("shut")).unwrap().count(), 0);
}

/// Writes `RAYS`, and then `batches` batches of rays as text.
fn feed_batches(pipe: &mut std::fs::File, batches: usize) -> std::io::Result<()> {
    pipe.write_all(RAYS.as_bytes())?;
    let rows = "0,0,0,1,0,0\n".repeat(RayBatches::BATCH);
    (0..batches).try_for_each(|_| pipe.write_all(rows.as_bytes()))
}

/// Starts a cast that has written results and waits for more rays. Returns it with the writing end of its pipe. (It has read more
/// batches than fit between reader and writer, so some are written.)
fn waiting_for_rays(folder: &Folder, output: &str) -> (Child, std::fs::File) {
    folder.write("s.csv", SPHERES).write(output, "kept").make_pipe("r.csv");
    let program = folder.start(&format!("cast s.csv r.csv -o {output}"));
    let mut rays = folder.open_pipe("r.csv");
    feed_batches(&mut rays, 5).unwrap();
    (program, rays)
}

fn signal(program: &Child, name: &str) {
    let done = std::process::Command::new("kill").args([&format!("-{name}"), &program.id().to_string()]).status();
    assert!(done.unwrap().success());
}

fn names(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.root()).unwrap();
    let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_signal_stops_the_cast_and_leaves_no_files() {
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        for output in ["out.csv", "out.npz"] {
            let folder = Folder::new();
            let (program, rays) = waiting_for_rays(&folder, output);
            signal(&program, name);
            let done = Done::of(program);
            refused(&done, code, &["error: stopped (nothing was written)"]);
            assert_eq!(names(&folder), [output, "r.csv", "s.csv"]);
            assert_eq!(folder.text(output), "kept");
            drop(rays);
        }
    }
}

#[test]
fn a_signal_interrupts_a_running_batch() {
    let folder = Folder::new();
    // Every ray hits all spheres, so a batch is much work with any tree. Rays keep coming until the program closes the pipe.
    folder.write("s.f32", f32_bytes(&[9.0, 0.0, 0.0, 1.0].repeat(5_000))).make_pipe("r.csv").write("out.csv", "kept");
    let program = folder.start("cast s.f32 r.csv -o out.csv");
    let mut rays = folder.open_pipe("r.csv");
    feed_batches(&mut rays, 2).unwrap();
    let feeder = std::thread::spawn(move || while rays.write_all(b"0,0,0,1,0,0\n").is_ok() {});
    std::thread::sleep(Duration::from_millis(500));
    let start = Instant::now();
    signal(&program, "INT");
    refused(&Done::of(program), 130, &["stopped (nothing was written)"]);
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    feeder.join().unwrap();
    assert_eq!(names(&folder), ["out.csv", "r.csv", "s.f32"]);
    assert_eq!(folder.text("out.csv"), "kept");
}

#[test]
fn a_killed_cast_leaves_no_output() {
    for output in ["out.csv", "out.npz"] {
        let folder = Folder::new();
        let (mut program, _rays) = waiting_for_rays(&folder, output);
        program.kill().unwrap();
        assert_eq!(program.wait().unwrap().signal(), Some(9));
        let left: Vec<String> = names(&folder).into_iter().filter(|name| !name.ends_with(".tmp")).collect();
        assert_eq!(left, [output, "r.csv", "s.csv"]);
        assert_eq!(folder.text(output), "kept");
        if cfg!(target_os = "linux") {
            assert_eq!(names(&folder).len(), 3, "an incomplete file has no name");
        }
    }
}

#[test]
fn an_ignored_hangup_does_not_stop_the_cast() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).make_pipe("r.csv");
    let program = umbracast_testing::folder::program().get_program().to_owned();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$0\" cast s.csv r.csv -o out.csv --device cpu -q"]).arg(program);
    let program = shell.current_dir(folder.root()).spawn().unwrap();
    let mut rays = folder.open_pipe("r.csv");
    feed_batches(&mut rays, 5).unwrap();
    signal(&program, "HUP");
    drop(rays);
    assert_eq!(Done::of(program).code, 0);
    assert_eq!(folder.text("out.csv").lines().count(), 1 + 3 + 5 * RayBatches::BATCH);
}

#[test]
fn a_closed_standard_output_is_no_error() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("r.csv", RAYS);
    for arguments in [
        "cast --sphere 4,0,0,1 --ray 0,0,0,1,0,0",
        "cast --help",
        "cast s.csv r.csv -o out.csv --device cpu --json",
        "render --size 640x360 -o - -q",
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut program = umbracast_testing::folder::program();
        let done = program.args(arguments.split(' ')).current_dir(folder.root()).stdout(writer).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&done.stderr), "");
        assert_eq!(done.status.code(), Some(0));
    }
    assert_eq!(folder.text("out.csv"), "t,id\n3.0,0\n3.0,1\n,\n");
}
