//! Helpers of the tests of files and of the command line: a temporary folder, runs of the program, and arrays in NumPy's format.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bytemuck::CheckedBitPattern;

/// The program under test: Cargo puts it beside the folder of the test programs.
fn program_path() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().with_file_name(format!("umbracast{}", std::env::consts::EXE_SUFFIX))
}

/// The program under test.
pub fn program() -> Command {
    let mut program = Command::new(program_path());
    // The environment of the machine must not change the result of a test.
    program
        .env_remove("UMBRACAST_DEVICE")
        .env_remove("NODEVICE_SELECT")
        .env_remove("XDG_RUNTIME_DIR")
        .env("COLUMNS", "200");
    program
}

/// Exit code and output of a finished run of the program.
pub struct Done {
    pub code: i32,
    pub output: String,
    pub errors: String,
}

impl Done {
    /// Waits for a program that was started. `code` is −1 if a signal ended it.
    pub fn of(child: Child) -> Self {
        let done = child.wait_with_output().unwrap();
        Self {
            code: done.status.code().unwrap_or(-1),
            output: String::from_utf8(done.stdout).unwrap(),
            errors: String::from_utf8(done.stderr).unwrap(),
        }
    }

    /// Asserts the exit code, and that the errors contain these words.
    #[track_caller]
    pub fn says(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{}", self.errors);
        for word in words {
            assert!(self.errors.contains(word), "'{word}' is not in: {}", self.errors);
        }
    }
}

/// A temporary folder, deleted when it is dropped.
pub struct Folder(tempfile::TempDir);

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.path(name), bytes).unwrap();
        self
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Every name in the folder with the bytes of the file; `None` for folders.
    pub fn contents(&self) -> BTreeMap<String, Option<Vec<u8>>> {
        let entries = std::fs::read_dir(self.root()).unwrap().map(|entry| entry.unwrap());
        entries.map(|e| (e.file_name().into_string().unwrap(), std::fs::read(e.path()).ok())).collect()
    }

    /// Runs the program in this folder, on the CPU engine unless the arguments name a device.
    pub fn run(&self, arguments: &str) -> Done {
        Done::of(self.start(arguments))
    }

    /// Starts the program in this folder, on the CPU engine unless the arguments name a device.
    pub fn start(&self, arguments: &str) -> Child {
        self.start_with(arguments.split_whitespace())
    }

    /// Runs the program with arguments that are not split at blanks.
    pub fn run_args(&self, arguments: &[&str]) -> Done {
        Done::of(self.start_with(arguments))
    }

    fn start_with(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Child {
        let mut program = program();
        program.args(arguments).env("UMBRACAST_DEVICE", "cpu").current_dir(self.root());
        program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs the program with a limit on its CPU time, which does not depend on the load of the machine, and a limit of two minutes of
    /// elapsed time. A program that takes longer is killed, and the test fails.
    #[track_caller]
    pub fn run_within(&self, limit: Duration, arguments: &str) -> Done {
        let mut child = self.start(arguments);
        let started = Instant::now();
        while child.try_wait().unwrap().is_none() {
            let (used, waited) = (cpu_time(&child), started.elapsed());
            if used > limit || waited > Duration::from_secs(120) {
                child.kill().unwrap();
                panic!("umbracast {arguments}: still running after {used:?} of CPU time and {waited:?}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Done::of(child)
    }

    /// Creates a named pipe.
    pub fn make_pipe(&self, name: &str) -> &Self {
        assert!(Command::new("mkfifo").arg(self.path(name)).status().unwrap().success());
        self
    }

    /// Opens a named pipe for writing, which waits until the program has opened it for reading, at most a minute.
    #[track_caller]
    pub fn open_pipe(&self, name: &str) -> std::fs::File {
        let (opened, waiting) = std::sync::mpsc::channel();
        let path = self.path(name);
        std::thread::spawn(move || opened.send(std::fs::OpenOptions::new().write(true).open(path).unwrap()));
        waiting
            .recv_timeout(std::time::Duration::from_secs(60))
            .expect("the program did not open the pipe within a minute")
    }

    /// Runs the program and asserts that it succeeds.
    #[track_caller]
    pub fn run_ok(&self, arguments: &str) -> Done {
        let done = self.run(arguments);
        assert_eq!(done.code, 0, "umbracast {arguments}\n{}", done.errors);
        done
    }

    /// Runs the program, asserts that it succeeds, and parses its output.
    #[track_caller]
    pub fn json(&self, arguments: &str) -> serde_json::Value {
        serde_json::from_str(&self.run_ok(arguments).output).unwrap()
    }

    /// Runs the program and asserts that it ends with this exit code and an error that contains these words, and that no file has changed.
    #[track_caller]
    pub fn fails(&self, arguments: &str, code: i32, words: &[&str]) -> Done {
        let (before, done) = (self.contents(), self.run(arguments));
        done.says(code, words);
        assert!(self.contents() == before, "umbracast {arguments}\nfiles have changed: {}", done.errors);
        done
    }

    /// Runs the program and asserts that it refuses its input with an error that contains `words`.
    #[track_caller]
    pub fn refused(&self, arguments: &str, words: &str) -> Done {
        let done = self.run(arguments);
        done.says(2, &[words]);
        done
    }
}

/// Invalid input: a description, the file that contains the error, arguments, exit code, and words that the message must contain.
pub type Wrong = (&'static str, WrongFile, String, i32, Words);

/// Name and bytes of a file.
pub type WrongFile = Option<(&'static str, Vec<u8>)>;

/// Words that a message must contain.
pub type Words = &'static [&'static str];

/// Checks that each input is refused in a new folder with a message that contains its words, prints nothing else, and changes no file.
pub fn refuse_all(folder: impl Fn() -> Folder, cases: impl IntoIterator<Item = Wrong>) {
    for (what, file, arguments, code, words) in cases {
        let folder = folder();
        folder.write("out.csv", "kept");
        if let Some((name, bytes)) = file {
            folder.write(name, bytes);
        }
        let Done { output, errors, .. } = folder.fails(&arguments, code, words);
        let all = format!("{what}: umbracast {arguments}\n{errors}");
        assert!(!errors.contains("panicked") && output.is_empty(), "{all}\n{output}");
        if !arguments.is_empty() {
            let lines = errors.lines().filter(|line| line.starts_with("error: ")).count();
            assert!(errors.starts_with("error: ") && lines == 1, "{all}");
        }
    }
}

/// The CPU time of a process so far; 0 on systems without `/proc`.
fn cpu_time(child: &Child) -> Duration {
    let Ok(text) = std::fs::read_to_string(format!("/proc/{}/stat", child.id())) else { return Duration::ZERO };
    // The name, in parentheses, may contain blanks. User and system time are the fields 12 and 13 after it, in hundredths of a second.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum();
    Duration::from_millis(10 * ticks)
}

/// An array in NumPy's format: version 1.0, header padded to 64 bytes.
pub fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
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

/// The numbers as little-endian bytes.
pub fn f32_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// The numbers of a CSV table, without its header line.
pub fn csv_numbers(table: &str) -> Vec<f32> {
    table.lines().skip(1).flat_map(|line| line.split(',').map(|cell| cell.parse().unwrap())).collect()
}

/// One array of an `.npz` archive.
pub fn npz_array<T: CheckedBitPattern>(path: &Path, name: &str) -> Vec<T> {
    let mut archive = zip::ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
    let entry = archive.by_name(&format!("{name}.npy")).unwrap();
    npy_array(entry).1
}

/// Shape and numbers of an array in NumPy's format, whose header must name the type `T`.
pub fn npy_array<T: CheckedBitPattern>(mut file: impl Read) -> (Vec<u64>, Vec<T>) {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).unwrap();
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let data = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..data]).unwrap();
    let size = size_of::<T>();
    let kind = format!("{}{}{size}", if size == 1 { '|' } else { '<' }, &std::any::type_name::<T>()[..1]);
    let start = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': (");
    let (shape, end) = header.strip_prefix(&start).unwrap().split_once(')').unwrap();
    assert!(end.trim_end_matches(' ').starts_with(", }") && header.ends_with('\n') && data % 64 == 0, "{header}");
    let shape = shape.split(',').map(str::trim).filter(|size| !size.is_empty()).map(|size| size.parse().unwrap());
    (shape.collect(), bytes[data..].chunks(size).map(bytemuck::checked::pod_read_unaligned).collect())
}
