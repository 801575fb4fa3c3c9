//! How much of a lamp do points on a table see past a ball? Compares the middle of the shadow with its closed form.
//!
//! `cargo run --release -p umbracast --example shadow`

use umbracast::shadow::{Ball, Lighting};
use umbracast::{Device, DeviceOptions};

fn main() -> umbracast::Result<()> {
    // A lamp of radius 0.1 m, 2 m above the table; a ball of radius 0.03 m halfway down.
    let (lamp, ball) = (Ball::new([0.0, 0.0, 2.0], 0.1), Ball::new([0.0, 0.0, 1.0], 0.03));
    let lighting = Lighting::new(lamp, [ball])?;
    let points: Vec<_> = (0..=5).map(|i| [0.04 * f64::from(i), 0.0, 0.0].into()).collect();

    let device = Device::open(&DeviceOptions::default())?;
    let shadows = device.shadows(&lighting, &points)?;
    for (point, shadow) in points.iter().zip(&shadows) {
        println!("{:.2} m from the middle: {:.3} of the lamp, {}", point.x, shadow.fraction, shadow.kind.word());
    }

    // In the middle both discs are concentric. A ball of radius r at distance d has the solid angle 2π (1 − √(1 − r²/d²)).
    let share = |one: Ball| 1.0 - (1.0 - (one.radius / one.center.z).powi(2)).sqrt();
    println!("closed form in the middle: {:.3}", 1.0 - share(ball) / share(lamp));
    Ok(())
}
