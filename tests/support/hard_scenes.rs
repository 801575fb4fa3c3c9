//! Scenes that are hard for a BVH, and rays through them. The library's unit tests use this file too.

#![allow(unreachable_pub, missing_docs, reason = "the crate of the tests exports it")]

use super::{Numbers, Ray, Sphere};

/// The name of a scene, the generator of its spheres, and the distance that rays come from.
pub type Scene = (&'static str, fn(usize, &mut Numbers) -> Sphere, f32);

pub const SCENES: [Scene; 12] = [
    ("mixed", |_, n| Sphere::new(n.vector(), 0.2 * n.unit() * n.unit()), 2.0),
    ("cloud", |_, n| Sphere::new(n.vector(), 0.03), 2.0),
    ("one centre", |_, n| Sphere::new([1.0, 2.0, 3.0], n.unit()), 3.0),
    ("shells", |i, _| Sphere::new([0.0; 3], (i + 1) as f32), 9000.0),
    ("identical", |_, _| Sphere::new([0.5, 0.25, -3.0], 0.5), 4.0),
    ("ten orders", |_, n| Sphere::new(n.vector(), 10f32.powf(-10.0 * n.unit())), 2.0),
    ("one around all", |i, n| Sphere::new(n.vector(), if i == 77 { 10.0 } else { 0.02 }), 2.0),
    ("line", |i, _| Sphere::new([i as f32, 0.0, 0.0], 0.4), 3000.0),
    ("map", |_, n| Sphere::new(n.vector().map(|x| 1e7 + 100.0 * x), 1.0), 2e7),
    ("points", |_, n| Sphere::new(n.vector().map(|x| (8.0 * x).floor()), 0.0), 20.0),
    ("far ones", |i, n| Sphere::new(n.vector().map(|x| if i % 50 == 3 { 1e30 * x } else { x }), 0.05), 2.0),
    // A device that flushes subnormals takes a third of these coordinates for 0.
    ("subnormal", |_, n| Sphere::new(n.vector().map(|x| 3e-38 * x), 1e-39), 1e-37),
];

pub fn spheres(scene: &Scene, count: usize) -> Vec<Sphere> {
    let n = &mut Numbers(count as u64);
    (0..count).map(|i| scene.1(i, n)).collect()
}

/// Rays towards spheres, past them, along the axes, and from inside.
pub fn rays(spheres: &[Sphere], far: f32, count: usize) -> Vec<Ray> {
    let n = &mut Numbers(99);
    let ray = |i: usize| {
        let target = spheres[i * 7919 % spheres.len()];
        let from = match i % 5 {
            0 => target.center.to_array(),
            _ => n.vector().map(|x| far * x),
        };
        let aside = n.vector().map(|x| 1.2 * x * target.radius);
        let to: [f32; 3] = std::array::from_fn(|k| target.center[k] + aside[k] - from[k]);
        let axis = [[1.0, 0.0, 0.0], [0.0, -2.0, 0.0], [0.0, 0.0, 1.0]][i % 3];
        let ray = Ray::new(from, if i % 4 == 1 || to == [0.0; 3] { axis } else { to });
        match i % 7 {
            0 => ray.line(),
            1 => ray.between(0.0, 1.0),
            2 => ray.between(-1.0, 0.5),
            _ => ray,
        }
    };
    let mut rays: Vec<Ray> = (0..count).map(ray).collect();
    // Rays with random origins among the spheres and random ends.
    let n = &mut Numbers(7);
    rays.extend((0..count * 6).map(|i| {
        let ray = Ray::new(n.vector(), n.vector());
        if i % 2 == 0 { ray.between(0.0, n.unit()) } else { ray.between(n.unit() - 0.5, 1.0 + n.unit()) }
    }));
    // Rays that begin or end far from all spheres.
    let n = &mut Numbers(8);
    for (t_min, t_max) in [(1e16, 1e17), (1e17, f32::INFINITY), (1e18, f32::MAX), (1e25, 1e30), (-f32::INFINITY, -1e20)]
    {
        rays.extend((0..3).map(|_| Ray::new(n.vector(), n.vector()).between(t_min, t_max)));
    }
    rays
}
