//! Generates the 10,000 moonlets of the ring in `systems/ring.toml`: `cargo run --release -p umbracast --example ring_of_moonlets` writes
//! `systems/samples/ring.npy`, the same bytes on every machine.
//!
//! Rejection sampling: a point is drawn uniformly from a square, and kept with a probability equal to the ring's density at its distance
//! from the planet. Then it gets a height and a radius. The arithmetic consists of sums, products and square roots in f64, which every
//! machine rounds alike, and one rounding to f32 at the end. A test runs this program and compares the file.

use std::path::PathBuf;

/// Number of moonlets.
const COUNT: usize = 10_000;
/// The planet's radius, which is the unit of the distances below.
const PLANET_KM: f64 = 60_000.0;
/// Inner radius, outer radius and density of each ring: a thin inner ring, a broad bright one, a gap, and an outer ring with a gap of its
/// own, as for Saturn.
const RINGS: [(f64, f64, f64); 4] = [(1.25, 1.52, 0.25), (1.53, 1.95, 1.0), (2.03, 2.19, 0.65), (2.21, 2.27, 0.65)];

/// Knuth's linear congruential generator. Its upper bits give a number in [0, 1).
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 * 2f64.powi(-53)
    }
}

/// Centre and radius of each moonlet, in km.
fn moonlets() -> Vec<[f32; 4]> {
    let mut random = Random(10_000);
    let mut all = Vec::with_capacity(COUNT);
    while all.len() < COUNT {
        let [x, y, keep] = [(); 3].map(|()| random.unit());
        let (x, y) = (2.3 * (2.0 * x - 1.0), 2.3 * (2.0 * y - 1.0));
        let distance = (x * x + y * y).sqrt();
        let density = RINGS.iter().find(|ring| (ring.0..ring.1).contains(&distance)).map_or(0.0, |ring| ring.2);
        if keep >= density {
            continue;
        }
        // Most are near the ring's plane, and most are small.
        let height = 0.006 * (random.unit() + random.unit() - 1.0);
        let size = random.unit();
        let radius = 0.007 + 0.011 * size * size;
        all.push([x, y, height, radius].map(|length| (length * PLANET_KM) as f32));
    }
    all
}

fn main() -> std::io::Result<()> {
    let path = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("systems/samples/ring.npy"), PathBuf::from);
    let moonlets = moonlets();
    // NumPy's format, version 1.0: a header padded to 128 bytes, then the numbers.
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, 4), }}", moonlets.len());
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(format!("{header:<117}\n").as_bytes());
    bytes.extend(moonlets.iter().flatten().flat_map(|length| length.to_le_bytes()));
    std::fs::write(&path, bytes)?;
    println!("wrote {}", path.display());
    Ok(())
}
