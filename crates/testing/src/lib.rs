//! Shared helpers of the tests: devices, corpora, seeded random numbers, the number of random cases, and temporary folders.

pub mod child;
pub mod folder;
#[path = "../../../tests/support/hard_scenes.rs"]
pub mod hard_scenes;
pub mod hostile;
#[path = "../../../tests/support/intensity.rs"]
mod intensity;
#[path = "../../../tests/support/numbers.rs"]
mod numbers;
pub mod oracle;
pub mod scenes;
pub mod spk;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};
use umbracast_files::read_system;

pub use intensity::{intensity, scaled};
pub use numbers::Numbers;
use umbracast::glam::Vec3;
use umbracast::shadow::{PictureOptions, System};
use umbracast::wgpu;
use umbracast::{Device, DeviceOptions, Limits, Precision, Ray, Scene, SceneOptions, Sphere, Spheres};

/// All files below a folder with an extension, as paths relative to the folder.
pub fn files_below(root: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|own| own == extension) {
                found.push(path.strip_prefix(root).unwrap().to_path_buf());
            }
        }
    }
    found
}

/// Every adapter as wgpu lists it, for devices of a caller.
///
/// # Panics
/// If there is no adapter.
pub fn adapters() -> Vec<wgpu::Adapter> {
    let mut description = wgpu::InstanceDescriptor::new_without_display_handle();
    description.backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    let found = pollster::block_on(wgpu::Instance::new(description).enumerate_adapters(wgpu::Backends::all()));
    assert!(!found.is_empty(), "no GPU adapter: run tests/run.sh, or apt-get install mesa-vulkan-drivers");
    found
}

/// Every adapter, and the CPU engine last. If the variable [`hostile::SEED`] is set, the adapters have the arithmetic of that seed.
///
/// # Panics
/// If there is no adapter, because tests would not test the GPU.
pub fn devices() -> &'static [Device] {
    static DEVICES: OnceLock<Vec<Device>> = OnceLock::new();
    DEVICES.get_or_init(|| {
        let list = Device::list();
        assert!(list.len() > 1, "no GPU adapter: run tests/run.sh, or apt-get install mesa-vulkan-drivers");
        let mut devices = Vec::new();
        for info in list {
            assert!(info.failure.is_none(), "{}: {:?}", info.name, info.failure);
            // The errors of a hardware adapter would add to those of the seed.
            let device = match hostile::from_environment().filter(|_| info.kind == "software") {
                Some(hostile) => pollster::block_on(Device::open_edited(info.index, hostile.edit())),
                None => Device::open(&DeviceOptions::new(info.index.to_string())),
            };
            let device = device.expect("a listed device must open");
            eprintln!("device {} {} ({})", info.index, device.name(), device.kind());
            devices.push(device);
        }
        devices
    })
}

/// The same devices with limits. Each is opened once per run, because a new device compiles its kernels again.
pub fn limited(limits: Limits) -> &'static [Device] {
    static OPENED: Mutex<Vec<(Limits, &[Device])>> = Mutex::new(Vec::new());
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, devices)) = opened.iter().find(|(known, _)| *known == limits) {
        return devices;
    }
    let open = |index: usize| Device::open(&DeviceOptions::new(index.to_string()).limits(limits)).unwrap();
    let new: &[Device] = (0..devices().len()).map(open).collect::<Vec<_>>().leak();
    opened.push((limits, new));
    new
}

/// Opens the CPU engine.
pub fn cpu() -> Device {
    Device::open(&DeviceOptions::new("cpu")).expect("the CPU engine must open")
}

/// The device that gives the same bytes as another: the CPU engine, but at `fast`, which it computes as `standard`, the device itself.
pub fn reference(device: &Device, precision: Precision) -> Device {
    if precision == Precision::Fast { device.clone() } else { cpu() }
}

/// The precisions at which every program of a device gives the same bytes. Hardware rounds divisions and roots in its own way, and fuses
/// products and sums in one program and not in another: below `exact` its results are only within their bounds.
pub fn byte_precisions(device: &Device) -> &'static [Precision] {
    let rounds_alike = device.kind() == "software" && hostile::from_environment().is_none();
    if device.is_cpu() || rounds_alike { &Precision::ALL } else { &[Precision::Exact] }
}

/// Two scenes of the same spheres: with a tree, however few the spheres, and without.
pub fn with_and_without_tree<'a>(device: &Device, spheres: impl Into<Spheres<'a>>) -> [Scene; 2] {
    both_searches(device, spheres.into(), &SceneOptions::default())
}

/// Two scenes of the same spheres, with a tree and without, built with these options.
pub fn both_searches(device: &Device, spheres: Spheres<'_>, options: &SceneOptions) -> [Scene; 2] {
    [1, usize::MAX].map(|from| device.scene(spheres, &options.tree_from(from)).unwrap())
}

/// One record of `tests/data/rays.bin`; `tests/data/README.md` has the format.
#[derive(Clone, Debug)]
pub struct Row {
    pub ray: Ray,
    pub sphere: Sphere,
    pub t: [f64; 2],
    pub gap: f64,
    pub tca: f64,
    pub dist: f64,
    /// −1: no root, 0: tangent, 1: two roots.
    pub crossing: i8,
    /// Position of the origin: −1 inside, 0 on the surface, 1 outside.
    pub origin_side: i8,
    pub regime: u8,
    /// Whether a root lies in [t_min, t_max]; whether the chord overlaps it; whether the enter root lies in it.
    pub flags: [bool; 3],
}

pub const REGIMES: [&str; 11] =
    ["unit", "far", "planet_geo", "planet_loc", "graze", "unnorm", "scale", "inside", "surface", "lattice", "behind"];

/// The folder of the repository.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Asserts that a file of the repository has this text. With the variable `UMBRACAST_BLESS`, writes it first.
pub fn check_kept(path: &Path, text: &str) {
    if std::env::var_os("UMBRACAST_BLESS").is_some() {
        std::fs::write(path, text).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(kept == text, "{} differs: run this test with UMBRACAST_BLESS=1, and commit it", path.display());
}

/// The rows of a CSV table of `tests/data`: the cells of the columns named, which are separated by commas.
pub fn rows<const N: usize>(file: &str, columns: &str) -> Vec<[String; N]> {
    let text = std::fs::read_to_string(root().join("tests/data").join(file)).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let at = columns
        .split(',')
        .map(|name| head.iter().position(|&own| own == name).unwrap_or_else(|| panic!("{file}: {name}")));
    let at: [usize; N] = at.collect::<Vec<_>>().try_into().unwrap();
    lines.map(|cells| at.map(|i| cells[i].to_owned())).collect()
}

/// Records as bytes.
pub fn bytes<T: bytemuck::NoUninit>(records: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(records).to_vec()
}

/// All of `tests/data/rays.bin`.
pub fn corpus() -> Vec<Row> {
    // Part of the program, because `measure_gpu` runs on machines without this folder.
    let bytes = include_bytes!("../../../tests/data/rays.bin");
    assert_eq!(&bytes[..8], b"RSPHCOR1");
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let (count, size) = (word(12) as usize, word(16) as usize);
    assert_eq!((count, size, bytes.len()), (10_000, 96, 32 + 96 * 10_000));
    (0..count)
        .map(|i| {
            let record = &bytes[32 + i * size..][..size];
            let f = |k: usize| f32::from_le_bytes(record[4 * k..4 * k + 4].try_into().unwrap());
            let g = |k: usize| f64::from_le_bytes(record[48 + 8 * k..56 + 8 * k].try_into().unwrap());
            let flags = record[91];
            Row {
                ray: Ray::new([f(0), f(1), f(2)], [f(3), f(4), f(5)]).between(f(10), f(11)),
                sphere: Sphere::new([f(6), f(7), f(8)], f(9)),
                t: [g(0), g(1)],
                gap: g(2),
                tca: g(3),
                dist: g(4),
                crossing: record[88] as i8 - 1,
                origin_side: record[89] as i8 - 1,
                regime: record[90],
                flags: [flags & 1 != 0, flags & 2 != 0, flags & 4 != 0],
            }
        })
        .collect()
}

/// A random vector of multiples of 1/4 up to 8, which f32 adds and f64 multiplies without rounding.
pub fn quarters(n: &mut Numbers) -> Vec3 {
    Vec3::from(n.vector()).map(|x| (x * 32.0).round() * 0.25)
}

/// A system of the folder systems, with one sample per pixel, at its centre.
pub fn shipped_system(name: &str) -> System {
    let system = read_system(&root().join("systems").join(name)).unwrap();
    let picture = PictureOptions { samples: 1, ..system.picture().clone() };
    system.with_picture(picture).unwrap()
}

/// The number of f32 steps between two numbers.
pub fn steps(a: f32, b: f32) -> u32 {
    let key = |x: f32| {
        let k = x.to_bits() as i32;
        i64::from(if k < 0 { i32::MIN ^ k } else { k })
    };
    (key(a) - key(b)).unsigned_abs().min(u64::from(u32::MAX)) as u32
}

/// Runs a tool that comes with the C compiler, and returns what it prints.
pub fn output(program: &str, arguments: &[&str]) -> String {
    let done = Command::new(program).args(arguments).output();
    let done = done.unwrap_or_else(|e| panic!("{program}: {e}; it comes with the C compiler"));
    assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// Returns the compiler that built a program, from its `.comment` section.
pub fn compiler(program: &str) -> String {
    let section = output("readelf", &["-p", ".comment", program]);
    let line = section.lines().find(|line| line.contains("rustc version")).expect("the compiler's name in .comment");
    line.split_once("rustc version ").unwrap().1.trim().to_owned()
}
