//! Finds the pairs of watch-towers that see each other across a field of boulders: one bit per pair, in one call.
//!
//! `cargo run --release -p umbracast --example line_of_sight`

use umbracast::{Device, DeviceOptions, Query, Ray, SceneOptions, Sphere};

fn main() -> umbracast::Result<()> {
    // Boulders on a plain, in metres: a spiral, each boulder half buried.
    let boulders: Vec<Sphere> = (0..400)
        .map(|i| {
            let (turn, away) = (i as f32 * 2.399_963, 6.0 * (i as f32).sqrt());
            Sphere::new([away * turn.cos(), away * turn.sin(), 0.0], 1.0 + (i % 7) as f32 * 0.4)
        })
        .collect();
    // Twelve towers in a ring, with viewpoints three metres above the plain; `Ray::segment` ends at the other tower.
    let towers: Vec<[f32; 3]> = (0..12)
        .map(|i| {
            let turn = i as f32 * std::f32::consts::TAU / 12.0;
            [100.0 * turn.cos(), 100.0 * turn.sin(), 3.0]
        })
        .collect();
    let rays: Vec<Ray> = towers.iter().flat_map(|a| towers.iter().map(move |b| (a, b))).map(sight).collect();

    let device = Device::open(&DeviceOptions::default())?;
    let scene = device.scene(&boulders, &SceneOptions::default())?;
    let hidden = scene.occluded(&rays, &Query::default())?;

    for row in 0..towers.len() {
        let line: String = (0..towers.len())
            .map(|column| match hidden.get(row * towers.len() + column) {
                _ if row == column => " ·",
                Some(false) => " x",
                _ => "  ",
            })
            .collect();
        println!("tower {row:2} {line}");
    }
    let seen = hidden.iter().filter(|hidden| !hidden).count() - towers.len();
    println!("{} of {} pairs see each other, on {}", seen / 2, towers.len() * (towers.len() - 1) / 2, device.name());
    Ok(())
}

/// The line of sight from one tower to another. For a tower and itself, a ray that points straight up.
fn sight((a, b): (&[f32; 3], &[f32; 3])) -> Ray {
    if a == b { Ray::new(*a, [0.0, 0.0, 1.0]) } else { Ray::segment(*a, *b) }
}
