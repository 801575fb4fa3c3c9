//! The built-in scenes and rays, of the same kinds as in `tools/peers/make_scene.py`. The numbers, and therefore the hits, are the same on
//! every machine: the arithmetic consists of sums, products, quotients and square roots, and of cube roots whose last bit is lost in f32.

use umbracast::glam::DVec3;
use umbracast::{Ray, Sphere};

use super::numbers::Numbers;

/// A scene and its batches of rays.
pub(super) struct Input {
    pub(super) name: String,
    pub(super) spheres: Vec<Sphere>,
    /// Batches with their names.
    pub(super) batches: Vec<(String, Vec<Ray>)>,
}

/// Three scenes with `spheres` spheres (at least 1), each with three batches of about `rays` rays.
pub(super) fn all(spheres: u32, rays: u32) -> Vec<Input> {
    let scenes = [("uniform", uniform(spheres)), ("clustered", clustered(spheres)), ("planet", planet(spheres))];
    let input = |(name, spheres): (&str, Vec<Sphere>)| {
        let (primary, random, shadow) = (primary(&spheres, rays), random(&spheres, rays), shadow(&spheres, rays));
        let batches = [("primary", primary), ("random", random), ("shadow", shadow)];
        let batches = batches.map(|(kind, rays)| (format!("{name}-{kind}"), rays)).into();
        Input { name: name.into(), spheres, batches }
    };
    scenes.map(input).into()
}

/// Equal spheres, uniform in a unit cube, with about half its volume.
pub(super) fn uniform(count: u32) -> Vec<Sphere> {
    let mut numbers = Numbers(1);
    let radius = (0.5 / f64::from(count).cbrt()) as f32;
    (0..count).map(|_| Sphere::new(numbers.point(), radius)).collect()
}

/// Clusters of various widths, with a few large spheres and many small ones.
fn clustered(count: u32) -> Vec<Sphere> {
    let mut numbers = Numbers(2);
    let swarms: Vec<_> = (0..count.div_ceil(400).max(4)).map(|_| (numbers.place(), numbers.unit())).collect();
    let typical = 0.3 / (swarms.len() as f64).cbrt();
    let radius = 0.1 / f64::from(count).cbrt();
    let mut sphere = || {
        let (center, width) = swarms[numbers.below(swarms.len())];
        // The sum of three uniform numbers is close enough to a normal distribution.
        let offset = numbers.place() + numbers.place() + numbers.place() - 1.5;
        let share = f64::from(numbers.unit());
        let center = center + typical * (0.3 + f64::from(width)) * offset;
        Sphere::new(center.as_vec3(), (radius * (0.3 + 3.0 * fourth(share))) as f32)
    };
    (0..count).map(|_| sphere()).collect()
}

/// The Earth and satellites with radii up to about 1 km. The unit is the kilometre.
fn planet(count: u32) -> Vec<Sphere> {
    let mut numbers = Numbers(3);
    let mut satellite = || {
        let place = numbers.direction() * (7000.0 + 35_000.0 * f64::from(numbers.unit()));
        Sphere::new(place.as_vec3(), (0.01 + fourth(f64::from(numbers.unit()))) as f32)
    };
    let satellites = (1..count).map(|_| satellite());
    std::iter::once(Sphere::new([0.0; 3], 6371.0)).chain(satellites).collect()
}

/// Bounds of all spheres.
fn bounds(spheres: &[Sphere]) -> (DVec3, DVec3) {
    let corners = spheres.iter().map(|sphere| (sphere.center.as_dvec3(), f64::from(sphere.radius)));
    corners.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), (center, radius)| {
        (low.min(center - radius), high.max(center + radius))
    })
}

/// Rays of a camera that sees all spheres, row by row. Their number is a square.
fn primary(spheres: &[Sphere], count: u32) -> Vec<Ray> {
    let (low, high) = bounds(spheres);
    let (center, radius) = (0.5 * (low + high), 0.5 * (high - low).length());
    let forward = -DVec3::new(1.0, 0.7, 0.5).normalize();
    let right = forward.cross(DVec3::Z).normalize();
    let up = right.cross(forward);
    // Sine and tangent of half the field of view of 40 degrees.
    let (sine, tangent) = (0.342_020_143_325_668_7, 0.363_970_234_266_202_4);
    let eye = center - forward * (0.9 * radius / sine);
    let side = count.isqrt().max(1);
    let ray = |index: u32| {
        let on_screen = |pixel: u32| (2.0 * (f64::from(pixel) + 0.5) / f64::from(side) - 1.0) * tangent;
        toward(eye, forward + on_screen(index % side) * right - on_screen(index / side) * up)
    };
    (0..side * side).map(ray).collect()
}

/// Rays from random points on a sphere around the bounds to random points in the bounds.
pub(super) fn random(spheres: &[Sphere], count: u32) -> Vec<Ray> {
    let mut numbers = Numbers(4);
    let (low, high) = bounds(spheres);
    let (center, radius) = (0.5 * (low + high), 0.5 * (high - low).length());
    let mut ray = || {
        let origin = center + radius * numbers.direction();
        toward(origin, low + numbers.place() * (high - low) - origin)
    };
    (0..count).map(|_| ray()).collect()
}

/// Shadow rays from surfaces towards one sun. Half of the spheres are selected uniformly, half by their area.
fn shadow(spheres: &[Sphere], count: u32) -> Vec<Ray> {
    let mut numbers = Numbers(5);
    let sun = DVec3::new(0.4, 0.3, 0.866).normalize();
    let mut area = 0.0;
    let mut sum = |sphere: &Sphere| {
        let radius = f64::from(sphere.radius);
        area += radius * radius;
        area
    };
    let areas: Vec<f64> = spheres.iter().map(&mut sum).collect();
    let mut ray = || {
        let by_size = area * f64::from(numbers.unit());
        let by_size = areas.partition_point(|sum| *sum < by_size).min(spheres.len() - 1);
        let by_number = numbers.below(spheres.len());
        let sphere = spheres[if numbers.unit() < 0.5 { by_size } else { by_number }];
        let normal = numbers.direction();
        let lit = if normal.dot(sun) < 0.0 { normal - 2.0 * normal.dot(sun) * sun } else { normal };
        toward(sphere.center.as_dvec3() + 1.001 * f64::from(sphere.radius) * lit, sun)
    };
    (0..count).map(|_| ray()).collect()
}

fn toward(origin: DVec3, direction: DVec3) -> Ray {
    Ray::new(origin.as_vec3(), direction.normalize().as_vec3())
}

/// The fourth power, which makes most random numbers small. (The rounding of `powi` is unspecified.)
fn fourth(x: f64) -> f64 {
    x * x * (x * x)
}
