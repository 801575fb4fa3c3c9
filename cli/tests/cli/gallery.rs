//! Compares the pictures in `output`, which docs/gallery.md shows, with what the program renders now.
//!
//! Of the two pictures that take longest, every run renders a third of the width and height; these small pictures are in
//! `tests/data/gallery`. Runs with an intensity above 1 render them in full.
//!
//! `UMBRACAST_BLESS=1 cargo test --release --test integration gallery` replaces the pictures.

use std::path::{Path, PathBuf};

use image::{ImageReader, Rgb, RgbImage};
use umbracast_testing::folder::{Folder, program};
use umbracast_testing::{intensity, root};

fn open(path: &Path) -> RgbImage {
    ImageReader::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())).decode().unwrap().to_rgb8()
}

/// Compares a new picture with the stored one of that name in `output`. Channels may differ by one step of 8 bits; one pixel in ten thousand may differ more,
/// because sines and similar functions differ between systems. On failure, writes expected, difference and actual side by side.
fn guard(name: &str, made: &Path) {
    guard_in("output", name, made);
}

fn guard_in(folder: &str, name: &str, made: &Path) {
    let kept = root().join(folder).join(name);
    if std::env::var_os("UMBRACAST_BLESS").is_some() {
        std::fs::copy(made, &kept).unwrap();
        return;
    }
    let bytes = std::fs::metadata(&kept).unwrap().len();
    assert!(bytes <= 1_500_000, "{name} takes {bytes} bytes: the limit per picture is 1.5 MB");
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

/// Runs the program on the CPU engine with `arguments` and `output`, the option that names the picture.
fn draw(arguments: &str, output: &str, name: &str) {
    draw_in("output", arguments, output, name);
}

fn draw_in(kept: &str, arguments: &str, output: &str, name: &str) {
    let folder = Folder::new();
    let done = program()
        .args(arguments.split_whitespace())
        .args(["--device", "cpu"])
        .args([output.as_ref(), folder.path(name).as_os_str()])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    guard_in(kept, name, &folder.path(name));
}

fn render(arguments: &str, name: &str) {
    draw(arguments, "-o", name);
}

/// Renders a third of the width and height, and the whole picture if the intensity is above 1 or pictures are replaced.
fn render_slow(arguments: &str, name: &str) {
    draw_in("tests/data/gallery", &format!("{arguments} --size 320x180"), "-o", name);
    if intensity() > 1.0 || std::env::var_os("UMBRACAST_BLESS").is_some() {
        render(arguments, name);
    }
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
fn eclipse_of_2026() {
    render("render systems/eclipse-2026-08-12.toml", "eclipse-2026-08-12.png");
}

#[test]
fn map_of_2026() {
    let folder = Folder::new();
    let name = "map-2026-08-12.png";
    folder.run_ok(&format!("map 2026-08-12 --region=-80,20,40,90 --size 1600x933 -q -o {name}"));
    guard(name, &folder.path(name));
}

#[test]
fn umbra_of_2024() {
    render("render systems/umbra-2024-04-08.toml", "umbra-2024-04-08.png");
}

#[test]
fn annular_eclipse_of_2023() {
    render("render systems/annular-2023-10-14.toml", "annular-2023-10-14.png");
}

#[test]
fn ring_of_2023() {
    render("render systems/ring-2023-10-14.toml", "ring-2023-10-14.png");
}

#[test]
fn ganymede() {
    render("render systems/ganymede-2015-03-03.toml", "ganymede-2015-03-03.png");
}

#[test]
fn lunar_eclipse_of_2025() {
    render("render systems/lunar-2025-03-14.toml", "lunar-2025-03-14.png");
}

#[test]
fn occultation() {
    render("render systems/occultation.toml", "occultation.png");
}

#[test]
fn ten_thousand_moonlets() {
    render("render systems/ring.toml", "ring.png");
}

#[test]
fn a_molecule_on_a_floor() {
    render_slow("render systems/molecule.toml", "molecule.png");
}

#[test]
fn foam_on_a_floor() {
    render_slow("render systems/foam.toml", "foam.png");
}

#[test]
fn a_scan_of_a_street() {
    render("render systems/scan.toml", "scan.png");
}

/// Plots a query with the arguments of the documents.
fn plot(arguments: &str, name: &str) {
    let answers = Folder::new();
    draw(&format!("{arguments} -q -o {}", answers.path("answers.npz").display()), "--plot", name);
}

#[test]
fn a_plot_of_a_query() {
    plot("cast systems/samples/balls.csv --sensor systems/samples/fan.toml", "plot.png");
}

#[test]
fn a_plot_of_moving_spheres() {
    let at = "--motion with-ray --time-range 0,5";
    plot(&format!("cast systems/samples/circling.csv systems/samples/shots.csv {at}"), "shots.png");
}

#[test]
fn a_plot_of_all_hits() {
    plot("cast systems/samples/pebbles.csv systems/samples/comb.csv --query all", "chords.png");
}

/// The stored moonlets are bit-identical to those that the example computes.
#[test]
fn the_ring_example_reproduces_the_stored_moonlets() {
    let folder = Folder::new();
    super::examples::said_of("ring_of_moonlets", &[folder.path("ring.npy").to_str().unwrap()]);
    let kept = std::fs::read(root().join("systems/samples/ring.npy")).unwrap();
    assert!(folder.bytes("ring.npy") == kept, "run cargo run --release -p umbracast --example ring_of_moonlets");
}

/// Every picture in `output` is in the gallery and, with four exceptions, belongs to a system; every system is in the index.
#[test]
fn every_picture_has_a_system_and_is_in_the_gallery() {
    let gallery = std::fs::read_to_string(root().join("docs/gallery.md")).unwrap();
    let index = std::fs::read_to_string(root().join("systems/README.md")).unwrap();
    let names = |folder: &str, extension: &str| {
        let entries = std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        let of = |path: PathBuf| {
            path.extension().is_some_and(|e| e == extension).then(|| path.file_stem().map(|s| s.to_owned()))
        };
        let mut names: Vec<String> = entries.filter_map(of).flatten().map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    };
    let mut pictures = names("output", "png");
    for picture in &pictures {
        assert!(gallery.contains(&format!("output/{picture}.png")), "{picture}.png is not in docs/gallery.md");
    }
    let systems = names("systems", "toml");
    for system in &systems {
        assert!(index.contains(&format!("`{system}.toml`")), "{system}.toml is not in systems/README.md");
    }
    // These pictures have no system: three are from queries, and one is a map.
    pictures.retain(|picture| !["plot", "shots", "chords", "map-2026-08-12"].contains(&&**picture));
    assert_eq!(pictures, systems, "a picture without a system, or a system without a picture");
    let bytes: u64 =
        std::fs::read_dir(root().join("output")).unwrap().map(|e| e.unwrap().metadata().unwrap().len()).sum();
    assert!(bytes < 25_000_000, "the pictures take {bytes} bytes together: the limit is 25 MB");
}
