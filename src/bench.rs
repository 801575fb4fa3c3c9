//! What `umbracast bench` compares with: the programs that one would write first. Not a part of the interface.

use std::sync::Arc;

use rayon::prelude::*;

use crate::answer::Hits;
use crate::batch::Rays;
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

/// The closest spheres by a loop over rays, on all cores, and over spheres, which leaves off as soon as it can.
pub fn scalar(spheres: &[Sphere], rays: &[Ray]) -> Vec<Hit> {
    let closest = |ray: &Ray| {
        let a = ray.direction.dot(ray.direction);
        let mut best = Hit::MISS;
        for (id, sphere) in (0..).zip(spheres) {
            let e = sphere.center - ray.origin;
            let k = e.dot(ray.direction) / a;
            let p = e - k * ray.direction;
            let disc = sphere.radius * sphere.radius - p.dot(p);
            if disc < 0.0 {
                continue;
            }
            let h = (disc / a).sqrt();
            let t = (k - h).max(ray.t_min);
            if k + h >= ray.t_min && t <= ray.t_max && t < best.t {
                best = Hit { t, id };
            }
        }
        best
    };
    rays.par_iter().map(closest).collect()
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
