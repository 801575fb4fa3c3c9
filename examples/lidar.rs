//! A 64-channel LiDAR drives through a wood: `cargo run --release -p umbracast --example lidar` generates and casts 1.3 million rays, and
//! writes the points that it sees to `lidar.csv`, a point cloud for any viewer.
//!
//! The sensor is a grid of poses × elevations × azimuths. The device generates the rays from these tables, so only 20 KB are uploaded
//! instead of 42 MB.

use std::f64::consts::TAU;
use std::io::Write;

use umbracast::glam::{DQuat, DVec3};
use umbracast::raygen::{Lidar, Pose, linspace};
use umbracast::{Device, DeviceOptions, Query, Rays, SceneOptions, Sphere};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // 500 trees, in metres: each is a trunk of six balls and a crown. They stand on a spiral that leaves the road free.
    let wood: Vec<Sphere> = (0..500_u32).flat_map(tree).collect();

    // Twenty revolutions of the sensor, 1.8 m above the road, one per metre, on a slight bend.
    let poses: Vec<Pose> = (0..20)
        .map(|i| {
            let heading = 0.02 * f64::from(i);
            let position = DVec3::new(f64::from(i), 0.5 * heading * f64::from(i), 1.8);
            Pose { position, rotation: DQuat::from_rotation_z(heading) }
        })
        .collect();
    let elevations: Vec<f64> = (0..64).map(|channel| -25.0 + 40.0 * f64::from(channel) / 63.0).collect();
    let azimuths: Vec<f64> = linspace(0.0, 360.0, 1024).collect();
    let sensor = Lidar::new(&poses, &elevations, &azimuths)?.within(0.5, 120.0)?;

    let device = Device::open(&DeviceOptions::default())?;
    let scene = device.scene(&wood, &SceneOptions::default())?;
    let hits = scene.closest(&sensor, &Query::default())?;
    let report = hits.report;
    println!("{} rays, {} returns in {:.3} s on {}", report.rays, report.rays_hit, report.seconds, device.name());

    let mut cloud = std::io::BufWriter::new(std::fs::File::create("lidar.csv")?);
    writeln!(cloud, "x,y,z,range,channel,tree")?;
    let rays = Rays::from(&sensor);
    for (i, hit) in hits.iter().enumerate().filter(|(_, hit)| hit.is_hit()) {
        // The host can compute any ray, here for the points of the hits.
        let Some(ray) = rays.ray(i) else { break };
        let [x, y, z] = ray.point_at(hit.t).to_array();
        writeln!(cloud, "{x:.3},{y:.3},{z:.3},{:.3},{},{}", hit.t, i / azimuths.len() % elevations.len(), hit.id / 7)?;
    }
    cloud.flush()?;
    println!("wrote lidar.csv");
    Ok(())
}

/// A tree: six balls one above the other, and a crown.
fn tree(i: u32) -> impl Iterator<Item = Sphere> {
    let (turn, away) = (f64::from(i) * 0.381_966 * TAU, 4.0 + 3.0 * f64::from(i).sqrt());
    let [x, y] = [10.0 + away * turn.cos(), (away + 2.0) * turn.sin()].map(|length| length as f32);
    let y = if y.abs() < 3.0 { y + 6.0_f32.copysign(y) } else { y };
    let ball = move |k: u8| Sphere::new([x, y, 0.3 + 0.5 * f32::from(k)], if k < 6 { 0.3 } else { 1.6 });
    (0..7).map(ball)
}
