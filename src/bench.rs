//! What the benchmarks compare with, and hooks that they and the tests need: no part of the interface.

use rayon::prelude::*;

use crate::cpu::Level;
use crate::records::{Hit, Ray, Sphere};

/// The CPU engine's instruction sets that this processor has, the quickest first.
pub fn levels() -> Vec<&'static str> {
    Level::all().into_iter().map(Level::word).collect()
}

/// Makes scenes created from now on use one of [`levels`], the quickest with `None`. Answers do not depend on it.
pub fn use_level(word: Option<&str>) {
    Level::choose(Level::all().into_iter().find(|level| word == Some(level.word())));
}

/// The closest sphere of each ray, as a good programmer would write it without a thought of SIMD: the solve of Ray Tracing
/// Gems, chapter 7, in f32, leaving early on a miss, on every core. Returns how many rays hit. Rays begin at or after 0.
pub fn scalar_closest(spheres: &[Sphere], rays: &[Ray], hits: &mut [Hit]) -> u64 {
    let one = |(ray, hit): (&Ray, &mut Hit)| {
        *hit = scalar_hit(spheres, ray);
        u64::from(hit.is_hit())
    };
    rays.par_iter().zip(hits).map(one).sum()
}

fn scalar_hit(spheres: &[Sphere], ray: &Ray) -> Hit {
    let mut best = Hit { t: ray.t_max, ..Hit::MISS };
    let a = ray.direction.length_squared();
    let inverse = 1.0 / a;
    for (id, sphere) in (0..).zip(spheres) {
        let e = sphere.center - ray.origin;
        let r = sphere.radius;
        let b = e.dot(ray.direction);
        let p = e - b * inverse * ray.direction;
        let disc = r * r - p.length_squared();
        if disc < 0.0 {
            continue;
        }
        let w = (a * disc).sqrt();
        let q = if b < 0.0 { b - w } else { b + w };
        let (t0, t1) = ((e.length_squared() - r * r) / q, q * inverse);
        let (enter, exit) = (t0.min(t1), t0.max(t1));
        // The ball is solid: a ray that starts inside meets it at its start.
        let t = enter.max(ray.t_min);
        if exit >= ray.t_min && t < best.t {
            best = Hit { t, id };
        }
    }
    if best.is_hit() { best } else { Hit::MISS }
}
