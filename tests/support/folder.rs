//! What tests of files and of the command line share: a folder to work in, and arrays as NumPy writes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The program under test.
pub(crate) fn program() -> Command {
    let mut program = Command::new(assert_cmd::cargo::cargo_bin!("umbracast"));
    // What the machine is set to must not decide what a test finds.
    program
        .env_remove("UMBRACAST_DEVICE")
        .env_remove("NODEVICE_SELECT")
        .env_remove("XDG_RUNTIME_DIR")
        .env("COLUMNS", "200");
    program
}

/// What a run came to.
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) output: String,
    pub(crate) errors: String,
}

impl Done {
    /// What a program comes to that was started.
    pub(crate) fn of(child: Child) -> Self {
        let done = child.wait_with_output().unwrap();
        Self {
            code: done.status.code().unwrap_or(-1),
            output: String::from_utf8(done.stdout).unwrap(),
            errors: String::from_utf8(done.stderr).unwrap(),
        }
    }
}

/// A folder that goes when the test is over.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.path(name), bytes).unwrap();
        self
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Every name in the folder with its bytes; none for folders.
    pub(crate) fn contents(&self) -> BTreeMap<String, Option<Vec<u8>>> {
        let entries = std::fs::read_dir(self.root()).unwrap().map(|entry| entry.unwrap());
        entries.map(|e| (e.file_name().into_string().unwrap(), std::fs::read(e.path()).ok())).collect()
    }

    /// Runs the program here, on the CPU engine unless a device is named.
    pub(crate) fn run(&self, arguments: &str) -> Done {
        Done::of(self.start(arguments))
    }

    /// Starts the program here, on the CPU engine unless a device is named.
    pub(crate) fn start(&self, arguments: &str) -> Child {
        let mut program = program();
        program.args(arguments.split_whitespace()).env("UMBRACAST_DEVICE", "cpu").current_dir(self.root());
        program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs the program. It may take `limit` of CPU time, which is the same on a busy machine, and two minutes of waiting. A program
    /// that takes more is ended, and the test fails.
    #[track_caller]
    pub(crate) fn within(&self, limit: Duration, arguments: &str) -> Done {
        let mut child = self.start(arguments);
        let started = Instant::now();
        while child.try_wait().unwrap().is_none() {
            let (used, waited) = (cpu_time(&child), started.elapsed());
            if used > limit || waited > Duration::from_secs(120) {
                child.kill().unwrap();
                panic!("umbracast {arguments}: not done after {used:?} of CPU time and {waited:?}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Done::of(child)
    }

    /// Makes a pipe with a name.
    pub(crate) fn pipe(&self, name: &str) -> &Self {
        assert!(Command::new("mkfifo").arg(self.path(name)).status().unwrap().success());
        self
    }

    /// Opens a pipe for writing, as soon as the program has opened it for reading.
    #[track_caller]
    pub(crate) fn feed(&self, name: &str) -> std::fs::File {
        let (opened, waiting) = std::sync::mpsc::channel();
        let path = self.path(name);
        std::thread::spawn(move || opened.send(std::fs::OpenOptions::new().write(true).open(path).unwrap()));
        waiting.recv_timeout(std::time::Duration::from_secs(60)).expect("the program does not open the pipe")
    }

    /// Runs the program, which must succeed.
    #[track_caller]
    pub(crate) fn right(&self, arguments: &str) -> Done {
        let done = self.run(arguments);
        assert_eq!(done.code, 0, "umbracast {arguments}\n{}", done.errors);
        done
    }
}

/// What a program has used of the cores so far; 0 where the system has no `/proc`.
fn cpu_time(child: &Child) -> Duration {
    let Ok(text) = std::fs::read_to_string(format!("/proc/{}/stat", child.id())) else { return Duration::ZERO };
    // The name, in brackets, may have blanks. User and system time follow it as fields 12 and 13, in hundredths of a second.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum();
    Duration::from_millis(10 * ticks)
}

/// An array as NumPy writes it: version 1.0, header padded to 64 bytes.
pub(crate) fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let mut header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

/// Little-endian bytes.
pub(crate) fn le4(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// The numbers of a table.
pub(crate) fn f32s(table: &str) -> Vec<f32> {
    table.lines().skip(1).flat_map(|line| line.split(',').map(|cell| cell.parse().unwrap())).collect()
}

/// One array of an archive.
pub(crate) fn numbers<T: npyz::Deserialize>(path: &Path, name: &str) -> Vec<T> {
    let mut archive = zip::ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
    let entry = archive.by_name(&format!("{name}.npy")).unwrap();
    npyz::NpyFile::new(entry).unwrap().into_vec().unwrap()
}
