//! The same families of scenes and kinds of rays as in `tools/peers/make_scene.py`, from another random generator.

use super::{Numbers, Ray, Sphere};

pub const FAMILIES: [&str; 5] = ["uniform", "sparse", "clustered", "molecule", "planet"];
pub const KINDS: [&str; 3] = ["primary", "random", "shadow"];

/// Two normally distributed numbers (Box–Muller).
fn normal(n: &mut Numbers) -> [f32; 2] {
    let (size, angle) = ((-2.0 * n.unit().max(1e-9).ln()).sqrt(), n.unit() * std::f32::consts::TAU);
    [size * angle.cos(), size * angle.sin()]
}

fn direction(n: &mut Numbers) -> [f32; 3] {
    loop {
        let v = n.vector();
        let length = v.iter().map(|x| x * x).sum::<f32>().sqrt();
        if (0.01..1.0).contains(&length) {
            return v.map(|x| x / length);
        }
    }
}

/// `count` spheres of a family. Sphere 0 of "planet" is the planet, the others are its satellites.
pub fn spheres(family: &str, count: usize) -> Vec<Sphere> {
    let n = &mut Numbers(count as u64);
    let spacing = (count as f32).powf(-1.0 / 3.0);
    match family {
        "uniform" => (0..count).map(|_| Sphere::new(n.vector().map(|x| 0.5 + 0.5 * x), 0.5 * spacing)).collect(),
        "sparse" => {
            let radius = (std::f32::consts::PI * count as f32).powf(-0.5);
            (0..count).map(|_| Sphere::new(n.vector().map(|x| 0.5 + 0.5 * x), radius)).collect()
        }
        "clustered" => {
            let clusters: Vec<([f32; 3], f32)> = (0..(count / 4000).max(4))
                .map(|_| (n.vector().map(|x| 0.5 + 0.5 * x), 0.25 * spacing * 16.0 * (0.6 * normal(n)[0]).exp()))
                .collect();
            let one = |i: usize| {
                let (middle, width) = clusters[i * 7919 % clusters.len()];
                let ([a, b], [c, d]) = (normal(n), normal(n));
                let center = [middle[0] + a * width, middle[1] + b * width, middle[2] + c * width];
                Sphere::new(center, 0.12 * spacing * (0.7 * d).exp())
            };
            (0..count).map(one).collect()
        }
        "molecule" => {
            // Spheres on a grid; neighbours touch.
            let side = (count as f32 / 0.7).powf(1.0 / 3.0).ceil() as usize;
            let site = |i: usize| [i % side, i / side % side, i / side / side].map(|x| x as f32);
            let mut sites: Vec<usize> = (0..side * side * side).filter(|_| n.unit() < 0.7).collect();
            sites.truncate(count);
            sites.into_iter().map(|i| Sphere::new(site(i), 0.5)).collect()
        }
        _ => {
            let mut all = vec![Sphere::new([0.0; 3], 6371.0)];
            all.extend((1..count).map(|_| {
                let distance = 7000.0 + 35000.0 * n.unit();
                Sphere::new(direction(n).map(|x| x * distance), 0.01 * 100f32.powf(n.unit()))
            }));
            all
        }
    }
}

/// `count` rays of a kind: "primary" are the pixels of a picture, "random" rays come from a ball around the scene, and "shadow"
/// rays lead from surfaces towards a light.
pub fn rays(kind: &str, spheres: &[Sphere], count: usize) -> Vec<Ray> {
    let n = &mut Numbers(count as u64 + 1);
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for sphere in spheres {
        for k in 0..3 {
            low[k] = low[k].min(sphere.center[k] - sphere.radius);
            high[k] = high[k].max(sphere.center[k] + sphere.radius);
        }
    }
    let middle: [f32; 3] = std::array::from_fn(|k| 0.5 * (low[k] + high[k]));
    let size = (0..3).map(|k| (high[k] - low[k]).powi(2)).sum::<f32>().sqrt() * 0.5;
    let side = (count as f32).sqrt().ceil() as usize;
    let one = |i: usize| match kind {
        "primary" => {
            let (x, y) = ((i % side) as f32 / side as f32 - 0.5, (i / side) as f32 / side as f32 - 0.5);
            let eye = [middle[0] + 2.6 * size, middle[1], middle[2]];
            Ray::new(eye, [-1.0, 0.73 * x, 0.73 * y])
        }
        "random" => {
            let from = direction(n);
            let from: [f32; 3] = std::array::from_fn(|k| middle[k] + size * from[k]);
            let to: [f32; 3] = std::array::from_fn(|k| low[k] + n.unit() * (high[k] - low[k]));
            Ray::new(from, std::array::from_fn(|k| to[k] - from[k]))
        }
        _ => {
            let sphere = spheres[(n.unit() * spheres.len() as f32) as usize % spheres.len()];
            let normal = direction(n);
            let sun = [0.4, 0.3, 0.866];
            let facing = if (0..3).map(|k| normal[k] * sun[k]).sum::<f32>() < 0.0 { -1.0 } else { 1.0 };
            Ray::new(
                std::array::from_fn::<f32, 3, _>(|k| sphere.center[k] + facing * normal[k] * sphere.radius * 1.001),
                sun,
            )
        }
    };
    (0..count).map(one).collect()
}
