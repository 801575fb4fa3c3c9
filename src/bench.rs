//! What `umbracast bench` compares with, the programs that one would write first, and hooks that it and the tests need: no
//! part of the interface.

use std::sync::Arc;

use rayon::prelude::*;

use crate::answer::Hits;
use crate::batch::Rays;
use crate::cpu::Level;
use crate::device::{Device, Engine};
use crate::error::Result;
use crate::gpu::GpuDevice;
use crate::query::Query;
use crate::records::{Hit, Ray, Sphere};
use crate::scene::Scene;

/// The closest spheres by one GPU thread a ray and no filter; `None` on the CPU engine.
///
/// # Errors
/// As [`Scene::closest`].
pub fn naive(scene: &Scene, rays: &[Ray], query: &Query) -> Result<Option<Hits>> {
    pollster::block_on(scene.closest_naive(Rays::from(rays), query))
}

/// The rays that a GPU makes, as it casts them (infinite ends as the largest f32), and the bytes that went up for them; `None` on
/// the CPU engine.
///
/// # Errors
/// As a query with these rays.
pub fn made<'a>(device: &Device, rays: impl Into<Rays<'a>>) -> Result<Option<(Vec<Ray>, u64)>> {
    let Engine::Gpu(gpu) = &device.engine else { return Ok(None) };
    pollster::block_on(crate::gpu::emit::made(gpu, rays.into().source)).map(Some)
}

/// Two ways to read what a GPU wrote.
pub struct Readback {
    gpu: Arc<GpuDevice>,
    inner: crate::gpu::readback::Readback,
}

impl Readback {
    /// Of so many bytes, a multiple of 4; `None` on the CPU engine.
    ///
    /// # Errors
    /// What a device can suffer.
    pub fn new(device: &Device, bytes: u64) -> Result<Option<Self>> {
        let Engine::Gpu(gpu) = &device.engine else { return Ok(None) };
        let inner = pollster::block_on(crate::gpu::readback::Readback::new(gpu, bytes))?;
        Ok(Some(Self { gpu: gpu.clone(), inner }))
    }

    /// Through a fresh buffer, into a fresh list.
    ///
    /// # Errors
    /// What a device can suffer.
    pub fn fresh(&self) -> Result<u64> {
        pollster::block_on(self.inner.fresh(&self.gpu))
    }

    /// Through the same buffer each time, in place.
    ///
    /// # Errors
    /// What a device can suffer.
    pub fn in_place(&self) -> Result<u64> {
        pollster::block_on(self.inner.in_place(&self.gpu))
    }
}

/// The CPU engine's instruction sets that this processor has, the quickest first.
pub fn levels() -> Vec<&'static str> {
    Level::all().into_iter().map(Level::word).collect()
}

/// Makes scenes created from now on use one of [`levels`], the quickest with `None`. Answers do not depend on it.
pub fn use_level(word: Option<&str>) {
    Level::choose(Level::all().into_iter().find(|level| word == Some(level.word())));
}

/// Whether scenes created from now on have a tree, or test every sphere. Answers do not depend on it.
pub fn use_tree(yes: bool) {
    crate::cpu::sweep_only(!yes);
    tree_from(if yes { 0 } else { usize::MAX });
}

/// Lets scenes created from now on on a GPU have a tree from so many spheres on; 0: from as many as measured.
pub fn tree_from(spheres: usize) {
    crate::gpu::spheres::choose_tree_from(spheres);
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
