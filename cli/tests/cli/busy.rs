//! Commands on a GPU while other threads use the cores: they may be slow, but must not fail.

use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use umbracast_testing::folder::{Done, Folder, program};

/// Keeps two threads busy until it is dropped.
struct Busy(&'static AtomicBool);

impl Busy {
    fn start() -> Self {
        let busy: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(true)));
        for _ in 0..2 {
            std::thread::spawn(|| {
                while busy.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        Self(busy)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Starts a command on the GPU without the shader cache of Mesa, so that it compiles its kernels, as the first run on a machine does.
fn start(folder: &Folder, command: &str) -> Child {
    let mut program = program();
    program.args(command.split_whitespace()).args(["--device", "gpu"]).current_dir(folder.root());
    program.env("MESA_SHADER_CACHE_DISABLE", "true").stdin(Stdio::null());
    program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn nothing_times_out_on_a_busy_machine() {
    let folder = Folder::new();
    folder.write("spheres.csv", "x,y,z,r,vx,vy,vz\n10,0,0,1,0,0,0\n-10,0,0,1,1,0,0\n0,12,0,2,0,-1,0\n");
    folder.write("bullets.csv", "x1,y1,z1,x2,y2,z2,speed,radius\n0,0,0,1,0,0,3,0.5\n0,0,0,0,1,0,2,0.25\n");
    folder.write("rays.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n0,0,0,0,1,0\n0,0,0,0,0,1\n");
    let system = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../systems/planet.toml");
    let busy = Busy::start();
    // All commands run at the same time.
    let commands = [
        "bullets spheres.csv bullets.csv -o legs.csv --frames 100 --compare".to_owned(),
        "cast spheres.csv rays.csv -o hits.csv --precision exact --time-range 0,9".to_owned(),
        format!("render {} -o picture.png --size 64x48", system.display()),
    ];
    let children: Vec<Child> = commands.iter().map(|command| start(&folder, command)).collect();
    let done: Vec<Done> = children.into_iter().map(Done::of).collect();
    drop(busy);
    for (command, done) in commands.iter().zip(done) {
        assert_eq!(done.code, 0, "umbracast {command}: {}", done.errors);
    }
    assert_eq!(folder.text("legs.csv").lines().count(), 3, "{}", folder.text("legs.csv"));
}
