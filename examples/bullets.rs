//! A bullet in a room of six balls: prints its position and speed after a thousand ricochets. Then a bullet that glances off a moving ball.
//!
//! `cargo run --release -p umbracast --example bullets`

use umbracast::glam::DVec3;
use umbracast::{Bullet, Device, DeviceOptions, MovingSphere, Precision, Query, SceneOptions, Sphere};

fn main() -> umbracast::Result<()> {
    // Six balls of radius 20 around the origin, with their surfaces at distance 1 from it. They leave no gap.
    let walls: Vec<Sphere> = [[21.0, 0.0, 0.0], [0.0, 21.0, 0.0], [0.0, 0.0, 21.0]]
        .into_iter()
        .flat_map(|[x, y, z]| [Sphere::new([x, y, z], 20.0), Sphere::new([-x, -y, -z], 20.0)])
        .collect();
    let device = Device::open(&DeviceOptions::default())?;
    let room = device.scene(&walls, &SceneOptions::default())?;

    let bullet = Bullet::new([0.0, 0.1, 0.2], [1.0, 0.4, -0.3], 3.0);
    let flights = room.bullets(&[bullet], 1000, &Query::at(Precision::Exact))?;
    println!("{}: {} ricochets", device.name(), flights.iter().flatten().filter(|leg| leg.is_hit()).count());
    for leg in flights.iter().flatten().take(3) {
        println!(
            "frame {:.3}: ball {} at {:.3}, {:.1} degrees to its surface",
            leg.frames,
            leg.id,
            leg.point,
            leg.grazing_rad.to_degrees()
        );
    }
    if let Some(last) = flights.records.last() {
        println!("frame {:.3}: at {:.3}, speed {:.6}", last.frames, last.point, last.velocity.length());
    }

    // A single ball needs no scene, and may move. This one approaches, so the bullet is faster after the hit.
    let coming = MovingSphere { center: DVec3::new(10.0, 0.0, 0.0), radius: 2.0, velocity: DVec3::new(-1.0, 0.0, 0.0) };
    if let Some(hit) = coming.ricochet(DVec3::ZERO, DVec3::new(3.0, 0.0, 0.0)) {
        println!("frame {}: met at {}, and thrown back at {}", hit.time, hit.point, hit.velocity);
    }
    Ok(())
}
