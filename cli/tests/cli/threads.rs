//! If the system refuses to start threads, the program does all work in one. Work that comes from a thread pool of the caller is done by
//! this pool.
//!
//! The tests make threads fail by requesting a stack larger than the address space: `RUST_MIN_STACK` is the stack size of every thread
//! without an explicit one.

use umbracast::shadow::{Ball, Lighting};
use umbracast::{Hit, Precision, Query, Ray, SceneOptions, Sphere};

use umbracast_testing::child::run_alone;
use umbracast_testing::folder::{Done, Folder, program};
use umbracast_testing::{Numbers, cpu};

const VARIABLE: &str = "RUST_MIN_STACK";
const TOO_MUCH: &str = "1152921504606846976";

/// Returns hits, which are right only if all work was done, and the visible fraction of a light.
fn answers() -> (Vec<Hit>, f64) {
    let n = &mut Numbers(5);
    let spheres: Vec<Sphere> = (0..5_000).map(|_| Sphere::new(n.vector(), 0.01)).collect();
    let rays: Vec<Ray> = (0..5_000).map(|_| Ray::new(n.vector(), n.vector())).collect();
    let device = cpu();
    let scene = device.scene(&spheres, &SceneOptions::default()).unwrap();
    let query = Query::at(Precision::Exact);
    let hits = scene.closest(&rays, &query).unwrap();
    assert_eq!(scene.attributes(&rays, &hits, &query).unwrap().len(), rays.len());
    // The async method returns the same hits.
    assert_eq!(
        pollster::block_on(scene.cast_async(umbracast::queries::Closest, &rays, &query)).unwrap().records,
        hits.records
    );
    let lighting = Lighting::new(Ball::new([0.0, 0.0, 100.0], 1.0), [Ball::new([0.0, 0.0, 50.0], 0.25)]).unwrap();
    let shadows = device.shadows(&lighting, &[[0.0; 3].into(); 10_000]).unwrap();
    (hits.records, shadows[9_999].fraction)
}

const HOST: &str = "UMBRACAST_TEST_HOST_POOL";

/// Number of threads of this process that are not named as those of the host; 0 on a system without `/proc`.
fn other_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|name| !name.starts_with("host")).count()
}

#[test]
fn work_from_the_callers_pool_stays_in_that_pool() {
    if std::env::var_os(HOST).is_none() {
        run_alone(concat!(module_path!(), "::work_from_the_callers_pool_stays_in_that_pool"), HOST, "1");
        return;
    }
    // If the only worker waited for another one, it would wait forever.
    let [in_three, in_one] = [3, 1].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(|_| "host".into()).build().unwrap();
        pool.install(|| {
            // A thread of the host that has only just started may have no name yet.
            let before = other_threads();
            let answers = answers();
            assert!(other_threads() <= before, "the library started workers of its own");
            answers
        })
    });
    assert!(answers() == in_three && in_one == in_three);
}

/// With `LD_DEBUG`, the loader of glibc prints every library that it loads, including those that are unloaded again.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn the_cpu_engine_loads_no_driver() {
    const LOADER: &str = "LD_DEBUG";
    if std::env::var_os(LOADER).is_some() {
        answers();
        return;
    }
    let told = run_alone(concat!(module_path!(), "::the_cpu_engine_loads_no_driver"), LOADER, "files");
    assert!(told.contains("file=libc.so") && !told.contains("file=libvulkan"), "{told}");
}

/// Runs the program so that it cannot start threads.
fn refused(folder: &Folder, arguments: &str) -> Done {
    let mut program = program();
    program.args(arguments.split_whitespace()).current_dir(folder.root()).env("UMBRACAST_DEVICE", "cpu");
    let pipe = std::process::Stdio::piped;
    Done::of(program.env(VARIABLE, TOO_MUCH).stdout(pipe()).stderr(pipe()).spawn().unwrap())
}

#[test]
fn the_program_works_if_no_thread_can_start() {
    let folder = Folder::new();
    folder
        .write("s.csv", "x,y,z,r\n5,0,0,1\n0,6,0,2\n")
        .write("r.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n")
        .write("o.csv", "x,y,z\n0,0,0\n0.75,0,0\n")
        .write("s.toml", "elevations_deg = [0]\nazimuths_deg = { from = 0, to = 360, count = 64 }\n")
        .write(
            "l.toml",
            "unit = \"km\"\n[light]\ncenter = [0, 0, 100]\nradius = 1\n[[body]]\ncenter = [0, 0, 50]\nradius = 0.25\n",
        );
    for arguments in ["cast s.csv --sensor s.toml -o out.csv", "shadow o.csv l.toml -o out.csv"] {
        folder.run_ok(arguments);
        let expected = folder.text("out.csv");
        std::fs::remove_file(folder.path("out.csv")).unwrap();
        let done = refused(&folder, arguments);
        assert_eq!(done.code, 0, "{arguments}: {}", done.errors);
        assert_eq!(folder.text("out.csv"), expected, "{arguments}");
    }
    let done = refused(&folder, "render -o p.png --size 32x18 --samples 1");
    assert_eq!(done.code, 0, "{}", done.errors);
}

/// Rays are read in a thread. If it cannot start, the error must not blame the file.
#[test]
fn a_reader_thread_that_cannot_start_does_not_blame_the_file() {
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r\n5,0,0,1\n").write("r.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n");
    let done = refused(&folder, "cast s.csv r.csv -o out.csv");
    assert_eq!(done.code, 5, "{}", done.errors);
    assert!(done.errors.starts_with("error: cannot start a thread to read r.csv: "), "{}", done.errors);
}
