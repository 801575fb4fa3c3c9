//! What `umbracast bench` compares with, the programs that one would write first, and hooks that it and the tests need: no
//! part of the interface.

use std::sync::Arc;

use rayon::prelude::*;

use super::device::Device;
use super::scene::Scene;
use crate::batch::input::Rays;
use crate::bvh::qbvh4::tree::Lbvh;
use crate::bvh::scene_frame::Frame;
use crate::cpu::accel::SWEEP_ONLY;
use crate::error::Result;
use crate::gpu::engine::GpuEngine;
use crate::gpu::scene::TREE_FROM_CHOSEN;
use crate::math::simd::level::{CHOSEN, Level};
use crate::query::policy::Query;
use crate::query::results::Hits;
use crate::records::{Hit, Ray, Sphere};
use crate::runtime::cancel::Watch;
use crate::runtime::cpu_pool;

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
    made_of(device, rays.into())
}

fn made_of(device: &Device, rays: Rays<'_>) -> Result<Option<(Vec<Ray>, u64)>> {
    let Some(gpu) = device.gpu() else { return Ok(None) };
    pollster::block_on(crate::gpu::cast::raygen::made(gpu, rays.source)).map(Some)
}

/// Builds the tree that shaders walk, on the CPU. Returns its number of nodes.
///
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn lbvh(spheres: &[Sphere]) -> Result<usize> {
    Ok(Lbvh::new(spheres, &Frame::of(spheres), &Watch::new())?.nodes.len())
}

/// Two ways to read what a GPU wrote.
pub struct Readback {
    gpu: Arc<GpuEngine>,
    inner: crate::gpu::context::readback::Readback,
}

impl Readback {
    /// Of so many bytes, a multiple of 4; `None` on the CPU engine.
    ///
    /// # Errors
    /// What a device can suffer.
    pub fn new(device: &Device, bytes: u64) -> Result<Option<Self>> {
        let Some(gpu) = device.gpu() else { return Ok(None) };
        let inner = pollster::block_on(crate::gpu::context::readback::Readback::new(gpu, bytes))?;
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

/// Threads that the CPU engine works with.
pub fn threads() -> usize {
    cpu_pool::count()
}

/// The CPU engine's instruction sets that this processor has, the quickest first.
pub fn levels() -> Vec<&'static str> {
    Level::all().into_iter().map(Level::word).collect()
}

/// A choice for the scenes that this thread creates. It ends when this is dropped. Answers do not depend on it.
#[must_use = "the choice ends when this is dropped"]
pub struct Choice {
    level: Option<Level>,
    sweep_only: bool,
    tree_from: usize,
}

impl Choice {
    fn current() -> Self {
        Self { level: CHOSEN.get(), sweep_only: SWEEP_ONLY.get(), tree_from: TREE_FROM_CHOSEN.get() }
    }
}

impl Drop for Choice {
    fn drop(&mut self) {
        CHOSEN.set(self.level);
        SWEEP_ONLY.set(self.sweep_only);
        TREE_FROM_CHOSEN.set(self.tree_from);
    }
}

/// Uses one of the instruction sets of [`levels`].
pub fn use_level(word: &str) -> Choice {
    let before = Choice::current();
    CHOSEN.set(Level::all().into_iter().find(|level| word == level.word()));
    before
}

/// Gives scenes a tree, or none: then every ray is tested against every sphere.
pub fn use_tree(yes: bool) -> Choice {
    let before = Choice::current();
    SWEEP_ONLY.set(!yes);
    TREE_FROM_CHOSEN.set(if yes { 0 } else { usize::MAX });
    before
}

/// Gives scenes on a GPU a tree from this number of spheres on; 0 means from the measured number on.
pub fn tree_from(spheres: usize) -> Choice {
    let before = Choice::current();
    TREE_FROM_CHOSEN.set(spheres);
    before
}

/// The closest sphere of each ray, as a good programmer would write it without a thought of SIMD: the solve of Ray Tracing
/// Gems, chapter 7, in f32, leaving early on a miss, on every core. Returns how many rays hit. Rays begin at or after 0.
pub fn scalar_closest(spheres: &[Sphere], rays: &[Ray], hits: &mut [Hit]) -> u64 {
    let one = |(ray, hit): (&Ray, &mut Hit)| {
        *hit = scalar_hit(spheres, ray);
        u64::from(hit.is_hit())
    };
    cpu_pool::ready();
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
