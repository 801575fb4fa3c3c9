//! A beam of light among mirror balls that swing: each ray starts where the one before it hit, so they are cast one by one.
//!
//! `cargo run --release -p umbracast --example game_loop`

use umbracast::{Device, DeviceOptions, NO_SPHERE, Query, Ray, Rays, SceneOptions, Sphere};

fn main() -> umbracast::Result<()> {
    let device = Device::open(&DeviceOptions::new("cpu"))?;
    let mut scene = device.scene(&balls(0), &SceneOptions::default())?;
    let query = Query::default();
    for frame in 0..4 {
        scene.update(&balls(frame))?; // refits the tree
        let (mut ray, mut from, mut bounces) = (Ray::new([0.0; 3], [1.0, 0.3, 0.1]), NO_SPHERE, 0);
        // `from_ids` names the ball on which the ray starts, so that rounding cannot make the ray hit it again.
        while let Some(hit) = scene.hit(Rays::from(&ray).from_ids(&[from]), &query)? {
            let normal = hit.normal(&ray, &scene.spheres()[hit.id as usize]);
            let mirrored = ray.direction - 2.0 * ray.direction.dot(normal) * normal;
            (ray, from, bounces) = (Ray::new(ray.point_at(hit.t), mirrored), hit.id, bounces + 1);
        }
        println!("frame {frame}: {bounces} bounces, out at {:.2}", ray.origin);
    }
    Ok(())
}

/// A thousand balls in a cube, each of which swings up and down.
fn balls(frame: usize) -> Vec<Sphere> {
    let ball = |i: usize| {
        let [x, y, z] = [i % 10, i / 10 % 10, i / 100].map(|k| k as f32 - 4.5);
        let swing = 0.2 * (0.3 * frame as f32 + i as f32).sin();
        Sphere::new([x, y, z + swing], 0.3)
    };
    (0..1000).map(ball).collect()
}
