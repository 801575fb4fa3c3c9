//! Hooks for `umbracast bench` and the tests: naive baselines, and choices of instruction set and search method. They are not part of the
//! public interface.

use std::sync::Arc;

use rayon::prelude::*;

use super::device::Device;
use super::scene::Scene;
use crate::batch::input::Rays;
use crate::bvh::qbvh4::tree::QBvh4;
use crate::bvh::scene_frame::SceneFrame;
use crate::cpu::accel::BRUTE_FORCE_ONLY;
pub use crate::cpu::traverse::visits::Visits;
use crate::error::Result;
use crate::gpu::engine::GpuEngine;
use crate::gpu::scene::TREE_FROM_CHOSEN;
use crate::math::simd::level::{CHOSEN, SimdLevel};
use crate::query::policy::Query;
use crate::query::results::Hits;
use crate::records::{Hit, Ray, Sphere};
use crate::runtime::block_on::block_on;
use crate::runtime::cancel::CancelToken;
use crate::runtime::cpu_pool;

/// Finds closest hits by the naive shader: one GPU thread per ray, no culling. `None` on the CPU engine.
///
/// # Errors
/// As [`Scene::closest`].
pub fn naive(scene: &Scene, rays: &[Ray], query: &Query) -> Result<Option<Hits>> {
    block_on(scene.closest_naive(Rays::from(rays), query))
}

/// Generates rays on a GPU and reads them back as it casts them: infinite ends are the largest f32. Also returns the number of bytes
/// uploaded. `None` on the CPU engine.
///
/// # Errors
/// As a query with these rays.
pub fn made<'a>(device: &Device, rays: impl Into<Rays<'a>>) -> Result<Option<(Vec<Ray>, u64)>> {
    made_of(device, rays.into())
}

fn made_of(device: &Device, rays: Rays<'_>) -> Result<Option<(Vec<Ray>, u64)>> {
    let generated = |gpu: &Arc<GpuEngine>| block_on(crate::gpu::cast::raygen::generated_rays(gpu, rays.source));
    device.on_gpu().map(generated).transpose()
}

/// Builds the BVH for GPUs on the CPU. Returns its number of nodes.
///
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn lbvh(spheres: &[Sphere]) -> Result<usize> {
    Ok(QBvh4::new(spheres, &SceneFrame::of(spheres), &CancelToken::new())?.nodes.len())
}

/// Two methods of reading back a GPU buffer.
pub struct Readback {
    gpu: Arc<GpuEngine>,
    inner: crate::gpu::context::readback::Readback,
}

impl Readback {
    /// Creates the buffers, with `bytes` bytes, a multiple of 4. `None` on the CPU engine.
    ///
    /// # Errors
    /// Device errors, as for [`Scene::closest`].
    pub fn new(device: &Device, bytes: u64) -> Result<Option<Self>> {
        let create = |gpu: &Arc<GpuEngine>| {
            let inner = block_on(crate::gpu::context::readback::Readback::new(gpu, bytes))?;
            Ok(Self { gpu: gpu.clone(), inner })
        };
        device.on_gpu().map(create).transpose()
    }

    /// Reads back through a new staging buffer into a new list. Returns the sum of the words.
    ///
    /// # Errors
    /// Device errors, as for [`Scene::closest`].
    pub fn fresh(&self) -> Result<u64> {
        block_on(self.inner.fresh(&self.gpu))
    }

    /// Reads back in place, through the same staging buffer each time. Returns the sum of the words.
    ///
    /// # Errors
    /// Device errors, as for [`Scene::closest`].
    pub fn in_place(&self) -> Result<u64> {
        block_on(self.inner.in_place(&self.gpu))
    }
}

/// Number of threads of the CPU engine.
pub fn threads() -> usize {
    cpu_pool::count()
}

/// Instruction sets of the CPU engine that this processor supports, fastest first.
pub fn levels() -> Vec<&'static str> {
    SimdLevel::all().into_iter().map(SimdLevel::name).collect()
}

/// A choice for the scenes that this thread creates. Dropping it restores the previous choice. Results do not depend on it.
#[must_use = "the choice ends when this is dropped"]
pub struct Choice {
    level: Option<SimdLevel>,
    brute_force_only: bool,
    tree_from: usize,
}

impl Choice {
    fn current() -> Self {
        Self { level: CHOSEN.get(), brute_force_only: BRUTE_FORCE_ONLY.get(), tree_from: TREE_FROM_CHOSEN.get() }
    }
}

impl Drop for Choice {
    fn drop(&mut self) {
        CHOSEN.set(self.level);
        BRUTE_FORCE_ONLY.set(self.brute_force_only);
        TREE_FROM_CHOSEN.set(self.tree_from);
    }
}

/// Selects one of the instruction sets of [`levels`] by name.
///
/// # Panics
/// If the name is not one of [`levels`].
pub fn use_level(name: &str) -> Choice {
    let before = Choice::current();
    let level = SimdLevel::all().into_iter().find(|level| name == level.name());
    assert!(level.is_some(), "'{name}' is not an instruction set of this processor: {:?}", levels());
    CHOSEN.set(level);
    before
}

/// Lets scenes have a BVH (`true`), or none: then every ray is tested against every sphere.
pub fn use_tree(yes: bool) -> Choice {
    let before = Choice::current();
    BRUTE_FORCE_ONLY.set(!yes);
    TREE_FROM_CHOSEN.set(if yes { 0 } else { usize::MAX });
    before
}

/// Sets the minimum number of spheres for which a scene on a GPU has a BVH; 0 restores the default.
pub fn tree_from(spheres: usize) -> Choice {
    let before = Choice::current();
    TREE_FROM_CHOSEN.set(spheres);
    before
}

/// Finds the closest hit of each ray by a plain double loop on all cores, without SIMD: the intersection of Ray Tracing Gems, chapter 7, in
/// f32, with an early exit on a miss. Returns the number of rays that hit. Rays must start at `t >= 0`.
pub fn scalar_closest(spheres: &[Sphere], rays: &[Ray], hits: &mut [Hit]) -> u64 {
    let one = |(ray, hit): (&Ray, &mut Hit)| {
        *hit = scalar_hit(spheres, ray);
        u64::from(hit.is_hit())
    };
    cpu_pool::ensure_pool();
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
        // The sphere is solid: a ray that starts inside hits it at its start.
        let t = enter.max(ray.t_min);
        if exit >= ray.t_min && t < best.t {
            best = Hit { t, id };
        }
    }
    if best.is_hit() { best } else { Hit::MISS }
}
