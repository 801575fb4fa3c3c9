//! Rays and results are streamed in batches: batch boundaries do not show in the results, pipes are read like files, and memory stays
//! constant.

#[cfg(unix)]
use std::io::Write;

use umbracast::{Device, DeviceOptions, Hit, Query, Ray, SceneOptions, Sphere};
use umbracast_files::RayBatches;
use umbracast_testing::folder::{Folder, f32_bytes, npy, npy_array, npz_array};
use umbracast_testing::intensity;

const SPHERES: &str = "x,y,z,r\n4,0,0,1\n0,5,0,2\n";
const RAYS: &str = "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n0,0,0,0,1,0\n0,0,0,0,0,1\n";
const ANSWERS: &str = "t,id\n3.0,0\n3.0,1\n,\n";

/// A number of rays that fills more than two batches.
const MANY: usize = 2 * RayBatches::BATCH + 4321;

/// Returns ray `i`: along x, at a height that repeats after 997 (a prime) rays.
fn ray(i: usize) -> Ray {
    Ray::new([0.0, (i % 997) as f32 * 0.01, 0.0], [1.0, 0.0, 0.0])
}

fn raw(rays: impl Iterator<Item = Ray>) -> Vec<u8> {
    rays.flat_map(|r| {
        f32_bytes(&[r.origin.x, r.origin.y, r.origin.z, r.direction.x, r.direction.y, r.direction.z, r.t_min, r.t_max])
    })
    .collect()
}

#[test]
fn batch_boundaries_do_not_change_results() {
    let folder = Folder::new();
    let rays: Vec<Ray> = (0..MANY).map(ray).collect();
    let spheres = [Sphere::new([4.0, 0.0, 0.0], 1.0), Sphere::new([0.0, 5.0, 0.0], 2.0)];
    folder.write("s.csv", SPHERES).write("r.f32", raw(rays.iter().copied()));
    let device = Device::open(&DeviceOptions::new("cpu")).unwrap();
    let scene = device.scene(&spheres, &SceneOptions::default()).unwrap();
    let hits = scene.closest(&rays, &Query::default()).unwrap();
    let done = folder.run_ok("cast s.csv r.f32 -o out.npz --compare --json");
    let (t, id) = (npz_array::<f32>(&folder.path("out.npz"), "t"), npz_array::<u32>(&folder.path("out.npz"), "id"));
    assert!(t.len() == MANY && id.len() == MANY);
    assert!(hits.iter().zip(t.iter().zip(&id)).all(|(hit, (t, id))| *hit == Hit { t: *t, id: *id }));
    let json: serde_json::Value = serde_json::from_str(&done.output).unwrap();
    assert_eq!((&json["rays"], &json["rays_hit"]), (&MANY.into(), &hits.report.rays_hit.into()));
    // Compared with exact arithmetic, only the last digits of t differ.
    assert_eq!(json["compare"]["with"], "an exact test of every sphere");
    assert_eq!(json["compare"]["rays"], MANY);
    for none in ["flags_differ", "ids_differ", "ids_tied", "beyond_bounds"] {
        assert_eq!(json["compare"][none], 0, "{none}");
    }

    let bits = scene.occluded(&rays, &Query::default()).unwrap();
    folder.run_ok("cast s.csv r.f32 -o out.csv --query occluded -q");
    let text = folder.text("out.csv");
    assert!(text.lines().skip(1).eq(bits.iter().map(|bit| if bit { "true" } else { "false" })));
    assert_eq!(text.lines().count(), 1 + MANY);

    let lists = scene.all(&rays, &Query::default()).unwrap();
    folder.run_ok("cast s.csv r.f32 -o all.npz --query all -q");
    let npz = folder.path("all.npz");
    assert!(npz_array::<u64>(&npz, "offsets") == lists.offsets);
    let (enter, exit, id) =
        (npz_array::<f32>(&npz, "t_enter"), npz_array::<f32>(&npz, "t_exit"), npz_array::<u32>(&npz, "id"));
    let met = enter.iter().zip(&exit).zip(&id).map(|((enter, exit), id)| (*enter, *exit, *id));
    assert!(met.eq(lists.records.iter().map(|met| (met.t_enter, met.t_exit, met.id))));
    folder.run_ok("cast s.csv r.f32 -o all.csv --query all -q");
    let text = folder.text("all.csv");
    let lines = lists.iter().enumerate().flat_map(|(ray, list)| {
        list.iter().map(move |met| format!("{ray},{:?},{:?},{}", met.t_enter, met.t_exit, met.id))
    });
    assert!(text.lines().skip(1).eq(lines));
}

#[test]
fn every_batch_has_the_optional_and_the_kept_columns() {
    let folder = Folder::new();
    // Five batches: one more than there are buffers, and a part of the next. Every ray hits sphere 1, because it ignores sphere 0.
    let count = 4 * RayBatches::BATCH + 5;
    let mut rays = String::from("name,ox,oy,oz,dx,dy,dz,skip_id\n");
    (0..count).for_each(|i| rays += &format!("r{i},0,0,0,1,0,0,0\n"));
    folder.write("s.csv", "x,y,z,r\n5,0,0,1\n9,0,0,1\n").write("r.csv", rays);
    let expected = (0..count).map(|i| format!("r{i},8.0,1"));
    folder.run_ok("cast s.csv r.csv --keep -q -o out.csv");
    assert!(folder.text("out.csv").lines().skip(1).eq(expected.clone()));
    if cfg!(feature = "parquet") {
        folder.run_ok("cast s.csv r.csv --keep -q -o out.parquet");
        folder.run_ok("cast s.csv r.csv --keep -q -o again.parquet --compare");
    }
}

#[test]
fn hit_lists_larger_than_memory_are_cast_in_smaller_batches() {
    let folder = Folder::new();
    let ray = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, f32::INFINITY];
    folder.write("s.f32", f32_bytes(&[5.0, 0.0, 0.0, 1.0].repeat(1000))).write("r.f32", f32_bytes(&ray.repeat(2000)));
    let cast = |limit: u64| {
        let mut program = umbracast_testing::folder::program();
        program.args("cast s.f32 r.f32 -o out.npz --query all --device cpu -q".split(' '));
        let done = program.env("UMBRACAST_MEMORY", limit.to_string()).current_dir(folder.root()).output().unwrap();
        (done.status.code(), String::from_utf8(done.stderr).unwrap())
    };
    // Two million records take 24 MB, and the same again while they are put in order.
    assert_eq!(cast(20 << 20), (Some(0), String::new()));
    let offsets = npz_array::<u64>(&folder.path("out.npz"), "offsets");
    assert!(offsets.into_iter().eq((0..=2000).map(|i| 1000 * i)));
    assert!(npz_array::<u32>(&folder.path("out.npz"), "id").into_iter().eq((0..2000).flat_map(|_| 0..1000)));
}

#[test]
fn ray_ids_continue_across_batches() {
    let folder = Folder::new();
    // Pairs: only ray i is tested with sphere i.
    let sphere = |i: usize| [4.0 + (i % 1000) as f32, (i % 997) as f32 * 0.01, 0.0, 1.0];
    let spheres: Vec<f32> = (0..MANY).flat_map(sphere).collect();
    let mut rays: Vec<Ray> = (0..MANY).map(ray).collect();
    folder.write("s.f32", f32_bytes(&spheres)).write("r.f32", raw(rays.iter().copied()));
    folder.run_ok("cast s.f32 r.f32 -o out.npz -q --pairwise");
    let (t, id) = (npz_array::<f32>(&folder.path("out.npz"), "t"), npz_array::<u32>(&folder.path("out.npz"), "id"));
    assert!((0..MANY).all(|i| id[i] == i as u32 && t[i] == 3.0 + (i % 1000) as f32));

    // The number of rays in a text is known only at its end, or when there are too many.
    let table = |count: usize| RAYS.lines().next().unwrap().to_owned() + &"\n0,0,0,1,0,0".repeat(count);
    for count in [MANY - 1, MANY + 1, MANY + RayBatches::BATCH] {
        folder.write("r.csv", table(count));
        let done = folder.run("cast s.f32 r.csv -o no.csv --pairwise");
        assert_eq!(done.code, 2);
        let said = format!("{MANY} spheres and {count} rays: the counts must be equal");
        assert!(done.errors.contains(&said), "{}", done.errors);
    }

    // An invalid ray far from the start.
    let bad = MANY - 7;
    rays[bad].direction = [0.0; 3].into();
    folder.write("r.f32", raw(rays.iter().copied())).write("s.csv", SPHERES);
    folder.refused("cast s.csv r.f32 -o no.csv", &format!("r.f32: row {} (index {bad}): direction", bad + 1));
    assert!(!folder.path("no.csv").exists());
    let done = folder.run_ok("cast s.csv r.f32 -o out.csv --on-bad skip");
    assert!(done.errors.contains(&format!("{MANY} rays")) && done.errors.contains("1 bad rays skipped"));
    let text = folder.text("out.csv");
    assert_eq!(text.lines().nth(1 + bad), Some(","));
}

#[cfg(unix)]
#[test]
fn pipes_are_read_like_files() {
    let array = npy("'<f4'", false, "(3, 6)", &f32_bytes(&umbracast_testing::folder::csv_numbers(RAYS)));
    let six = |r: &[f32]| Ray::new([r[0], r[1], r[2]], [r[3], r[4], r[5]]);
    let records = raw(umbracast_testing::folder::csv_numbers(RAYS).chunks(6).map(six));
    for (name, bytes) in [
        ("r.csv", RAYS.as_bytes().to_vec()),
        ("r.npy", array.clone()),
        ("r.f32", records.clone()),
        // Without an extension, the first byte determines the format.
        ("rays", RAYS.as_bytes().to_vec()),
        ("rays", array.clone()),
    ] {
        let folder = Folder::new();
        folder.write("s.csv", SPHERES).make_pipe(name);
        let program = folder.start(&format!("cast s.csv {name} -o out.csv"));
        folder.open_pipe(name).write_all(&bytes).unwrap();
        let done = umbracast_testing::folder::Done::of(program);
        assert_eq!(done.code, 0, "{name}: {}", done.errors);
        assert_eq!(folder.text("out.csv"), ANSWERS, "{name}");
    }
    let turned = npy("'<f4'", true, "(3, 6)", &f32_bytes(&umbracast_testing::folder::csv_numbers(RAYS)));
    let bad = RAYS.to_owned() + "\n\n0,0,0,0,0,0\n";
    for (name, bytes, words) in [
        ("r.npy", &array[..array.len() - 1], &["3 rows need 72 bytes of data, but the input has 71", "truncated"][..]),
        ("r.npy", &[&array[..], &[0]].concat(), &["trailing bytes"]),
        ("r.npy", &array[..40], &["header", "truncated"]),
        ("r.npy", &turned, &["Fortran order", "cannot be read from a pipe"]),
        ("r.npy", &[], &["empty (0 bytes)"]),
        ("r.f32", &records[..90], &["ends in the middle of row 3 (index 2)"]),
        ("r.csv", bad.as_bytes(), &["r.csv: row 4 (index 3): direction"]),
        ("r.csv", &[], &["empty (0 bytes)"]),
        ("rays", b"0,1\n", &["found only numbers"]),
    ] {
        let folder = Folder::new();
        folder.write("s.csv", SPHERES).make_pipe(name);
        let program = folder.start(&format!("cast s.csv {name} -o out.csv"));
        folder.open_pipe(name).write_all(bytes).unwrap();
        let done = umbracast_testing::folder::Done::of(program);
        done.says(2, words);
        assert!(!folder.path("out.csv").exists());
    }
    // A pipe of spheres can be read once.
    let folder = Folder::new();
    folder.write("r.csv", RAYS).make_pipe("s.csv");
    let program = folder.start("cast s.csv r.csv -o out.csv");
    folder.open_pipe("s.csv").write_all(SPHERES.as_bytes()).unwrap();
    assert_eq!(umbracast_testing::folder::Done::of(program).code, 0);
    assert_eq!(folder.text("out.csv"), ANSWERS);
    // `--origin auto` reads spheres twice: the pipe is rejected before it is opened.
    folder.refused("cast s.csv r.csv -o out.csv --origin auto", "twice, which is not possible with a pipe");
}

#[test]
fn input_that_exceeds_memory_is_refused_with_figures() {
    let folder = Folder::new();
    let limited = |limit: u64, arguments: &str| {
        let mut program = umbracast_testing::folder::program();
        program.args(arguments.split(' ')).env("UMBRACAST_MEMORY", limit.to_string()).current_dir(folder.root());
        let done = program.output().unwrap();
        (done.status.code(), String::from_utf8(done.stderr).unwrap())
    };
    let row = [9.0, 9.0, 9.0, 1.0];
    folder
        .write("s.f32", f32_bytes(&row.repeat(1_000_000)))
        .write("s.csv", "x,y,z,r\n".to_owned() + &"9,9,9,1\n".repeat(1_000_000));
    folder.write("r.csv", RAYS);
    for (spheres, limit, words) in [
        ("s.f32", 12_000_000, "spheres: 16000000 bytes needed, 12000000 allowed on this machine"),
        // The size of a text is known only while it is read.
        ("s.csv", 2_000_000, "spheres: 2"),
        ("s.f32", 20_000_000, "the scene and batches of rays: 8"),
    ] {
        let (code, errors) = limited(limit, &format!("cast {spheres} r.csv -o out.csv --device cpu"));
        assert_eq!(code, Some(4), "{errors}");
        assert!(errors.starts_with(&format!("error: {words}")), "{errors}");
        assert!(errors.contains(&format!("{limit} allowed on this machine")) && !errors.contains("no GPU"), "{errors}");
        assert!(!folder.path("out.csv").exists());
    }
    let (code, errors) = limited(100_000_000, "cast s.f32 r.csv -o out.csv --device cpu");
    assert_eq!(code, Some(0), "{errors}");
}

/// Writes `count` rays without keeping them in memory.
#[cfg(target_os = "linux")]
fn write_rays(folder: &Folder, name: &str, count: usize) {
    let mut out = std::io::BufWriter::new(std::fs::File::create(folder.path(name)).unwrap());
    if name.ends_with(".csv") {
        out.write_all(b"ox,oy,oz,dx,dy,dz\n").unwrap();
    }
    for i in 0..count {
        let ray = ray(i);
        if name.ends_with(".csv") {
            writeln!(out, "0,{},0,1,0,0", ray.origin.y).unwrap();
        } else {
            out.write_all(&raw(std::iter::once(ray))).unwrap();
        }
    }
    out.into_inner().unwrap();
}

/// Returns the peak memory of a run in MB.
#[cfg(target_os = "linux")]
fn peak(folder: &Folder, arguments: &str) -> f64 {
    let mut program = folder.start(arguments);
    let mut peak = 0.0;
    loop {
        // The last value is read a few milliseconds before the end, and counts as the final one.
        let status = std::fs::read_to_string(format!("/proc/{}/status", program.id())).unwrap_or_default();
        if let Some(line) = status.lines().find_map(|line| line.strip_prefix("VmHWM:")) {
            peak = line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() * 1024e-6;
        }
        if let Some(ended) = program.try_wait().unwrap() {
            assert!(ended.success(), "{arguments}: {}", umbracast_testing::folder::Done::of(program).errors);
            return peak;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// With an `UMBRACAST_INTENSITY` of at least 100, also casts a hundred million rays: 3.2 GB.
#[cfg(target_os = "linux")]
#[test]
fn memory_stays_constant_for_any_number_of_rays() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES);
    let mut counts = vec![1_000_000, 10_000_000];
    if intensity() >= 100.0 {
        counts.push(100_000_000);
    }
    let mut peaks = Vec::new();
    for count in counts {
        write_rays(&folder, "r.f32", count);
        let start = std::time::Instant::now();
        let peak = peak(&folder, "cast s.csv r.f32 -o out.npz -q");
        println!("{count} rays, .f32 to .npz: {peak:.0} MB at most, {:.1} s", start.elapsed().as_secs_f64());
        // Arrays of t and id, and small headers.
        let length = std::fs::metadata(folder.path("out.npz")).unwrap().len();
        assert!((8 * count as u64..8 * count as u64 + 1024).contains(&length));
        peaks.push(peak);
    }
    assert!(peaks.iter().all(|peak| (5.0..60.0).contains(peak)), "{peaks:?}");
    assert!(peaks.iter().all(|peak| (peak - peaks[0]).abs() < 20.0), "{peaks:?}");
    write_rays(&folder, "r.csv", 1_000_000);
    for output in ["out.csv", "out.npz"] {
        let peak = peak(&folder, &format!("cast s.csv r.csv -o {output} -q --compare"));
        println!("1000000 rays, .csv to {output}, compared: {peak:.0} MB at most");
        assert!((5.0..60.0).contains(&peak), "{peak}");
    }
}

/// Arrays above 4 GiB. Runs only with an `UMBRACAST_INTENSITY` of at least 100, because it takes 9 GB of disk.
#[test]
fn archives_may_exceed_four_gigabytes() {
    use std::io::{Read, Seek};
    if intensity() < 100.0 {
        return;
    }
    let folder = Folder::new();
    let path = folder.path("out.npz");
    let mut writer = umbracast_files::FileWriter::<[bool]>::create(&path).unwrap();
    let part = vec![true; 1 << 20];
    for _ in 0..4096 {
        writer.write(&part).unwrap();
    }
    writer.write(&[false, true, false]).unwrap();
    writer.finish(&umbracast::CancelToken::new()).unwrap();
    let mut archive = zip::ZipArchive::new(std::fs::File::open(&path).unwrap()).unwrap();
    let entry = archive.by_name("occluded.npy").unwrap();
    let (start, size) = (entry.data_start().unwrap(), entry.size());
    assert_eq!(size, 128 + (1 << 32) + 3);
    assert_eq!(npy_array::<bool>(std::io::Read::take(entry, 128)).0, [(1 << 32) + 3]);
    let mut file = std::fs::File::open(&path).unwrap();
    file.seek(std::io::SeekFrom::Start(start + size - 4)).unwrap();
    let mut last = [9; 4];
    file.read_exact(&mut last).unwrap();
    assert_eq!(last, [1, 0, 1, 0]);
}

#[cfg(unix)]
mod terminal {
    use super::*;
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::io::Read;
    use std::process::Stdio;

    /// Returns the text that a terminal receives while rays arrive for about two seconds.
    fn shown(arguments: &str, rays: usize) -> String {
        let folder = Folder::new();
        folder.write("s.csv", SPHERES).make_pipe("r.npy");
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
        let screen = std::fs::OpenOptions::new().read(true).write(true).open(name).unwrap();
        let size = rustix::termios::Winsize { ws_row: 24, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&terminal, size).unwrap();
        let mut program = {
            // The command is dropped here: it has the terminal open, which can be read to its end only when it is closed.
            let mut command = umbracast_testing::folder::program();
            command.args(arguments.split(' ')).env("TERM", "xterm").current_dir(folder.root());
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(screen).spawn().unwrap()
        };
        let reader = std::thread::spawn(move || {
            // When no process has the terminal open any more, reading ends with an error.
            let (mut text, mut terminal) = (Vec::new(), std::fs::File::from(terminal));
            let _ = terminal.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        let mut pipe = folder.open_pipe("r.npy");
        let data = f32_bytes(&[0., 0., 0., 1., 0., 0.].repeat(rays));
        let bytes = npy("'<f4'", false, &format!("({rays}, 6)"), &data);
        let (first, rest) = bytes.split_at(bytes.len() * 3 / 4);
        pipe.write_all(first).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1700));
        pipe.write_all(rest).unwrap();
        drop(pipe);
        assert!(program.wait().unwrap().success());
        reader.join().unwrap()
    }

    #[test]
    fn long_work_shows_a_progress_bar() {
        // `tests/run.sh` sets this variable, and prints a warning, if the system has no pseudo-terminals.
        if std::env::var_os("UMBRACAST_NO_TERMINAL").is_some() {
            return;
        }
        let rays = RayBatches::BATCH * 4;
        let text = shown("cast s.csv r.npy -o out.csv --device cpu", rays);
        for word in ["casting rays at 2 spheres on cpu: 0.5 of 1.0 million rays, ", " Mrays/s, ", " s left", "█"] {
            assert!(text.contains(word), "'{word}' is not in: {text:?}");
        }
        assert!(text.contains("2 spheres, 1048576 rays, 1048576 hits"), "no summary: {text:?}");
        assert_eq!(shown("cast s.csv r.npy -o out.csv --device cpu --quiet", rays), "");
    }
}
