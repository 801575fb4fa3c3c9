//! The pictures in `output` are what the program draws today: what the README shows is never stale.
//!
//! `UMBRACAST_BLESS=1 cargo test --release --test gallery` replaces them.
#![cfg(feature = "cli")]

mod folder;

use std::path::{Path, PathBuf};
use std::process::Command;

use folder::{Folder, program};
use image::{ImageReader, Rgb, RgbImage};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn open(path: &Path) -> RgbImage {
    ImageReader::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())).decode().unwrap().to_rgb8()
}

/// Compares a picture just made with the one kept: at most one step of 8 bits, but for a pixel in ten thousand, because
/// sines and their kin differ between systems. On failure writes expected, difference and actual side by side.
fn guard(name: &str, made: &Path) {
    let kept = root().join("output").join(name);
    if std::env::var_os("UMBRACAST_BLESS").is_some() {
        std::fs::copy(made, &kept).unwrap();
        return;
    }
    let bytes = std::fs::metadata(&kept).unwrap().len();
    assert!(bytes <= 1_500_000, "{name} takes {bytes} bytes: pictures kept are at most 1.5 MB each");
    let (expected, actual) = (open(&kept), open(made));
    assert_eq!(expected.dimensions(), actual.dimensions(), "{name}");
    let apart = |a: &Rgb<u8>, b: &Rgb<u8>| std::array::from_fn::<u8, 3, _>(|c| a[c].abs_diff(b[c]));
    let pairs = || expected.pixels().zip(actual.pixels());
    let off = pairs().filter(|(a, b)| apart(a, b).iter().any(|d| *d > 1)).count();
    if off as u64 * 10_000 <= u64::from(expected.width() * expected.height()) {
        return;
    }
    let (width, height) = expected.dimensions();
    let mut triptych = RgbImage::new(3 * width, height);
    for (x, y, a) in expected.enumerate_pixels() {
        let b = actual.get_pixel(x, y);
        triptych.put_pixel(x, y, *a);
        triptych.put_pixel(x + width, y, Rgb(apart(a, b).map(|d| d.saturating_mul(32))));
        triptych.put_pixel(x + 2 * width, y, *b);
    }
    let shown = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    triptych.save(&shown).unwrap();
    panic!("{name}: {off} pixels differ; expected, difference and actual are in {}", shown.display());
}

fn render(arguments: &str, name: &str) {
    let folder = Folder::new();
    let done = program()
        .args(arguments.split_whitespace())
        .args(["-o".as_ref(), folder.path(name).as_os_str()])
        .args(["--device", "cpu"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    guard(name, &folder.path(name));
}

#[test]
fn planet() {
    render("render", "planet.png");
}

#[test]
fn eclipse_of_2024() {
    render("render systems/eclipse-2024-04-08.toml", "eclipse-2024-04-08.png");
}

#[test]
fn umbra_of_2024() {
    render("render systems/umbra-2024-04-08.toml", "umbra-2024-04-08.png");
}

#[test]
fn seed_002() {
    let folder = Folder::new();
    // Beside the tests: cargo builds examples with them.
    let example = std::env::current_exe().unwrap().parent().unwrap().join("../examples/seed_002");
    let done = Command::new(&example).arg(folder.path("seed-002.png")).output();
    let done = done.unwrap_or_else(|e| panic!("{}: {e}: build the examples too", example.display()));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    guard("seed-002.png", &folder.path("seed-002.png"));
}
