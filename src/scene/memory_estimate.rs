//! Estimates of the memory that a scene and a query take, made before any of it is allocated.

use std::sync::Arc;

use super::device::Device;
use crate::batch::input::Spheres;
use crate::cpu::accel;
use crate::error::Result;
use crate::gpu::engine::GpuEngine;
use crate::gpu::scene::GpuScene;
use crate::gpu::sphere_attributes;
use crate::intersect::ellipsoid::UnitBallMap;
use crate::records::{Interval, Sphere};
use crate::runtime::memory::check_within;

/// Numbers of spheres and rays, and the properties that determine how much memory they take.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Workload {
    pub(crate) spheres: u64,
    pub(crate) rays: u64,
    /// Whether the spheres have masks, move, and are ellipsoids.
    pub(crate) has_masks: bool,
    pub(crate) has_motion: bool,
    pub(crate) has_ellipsoids: bool,
    /// Whether the spheres have transmittances.
    pub(crate) has_depths: bool,
    /// Whether the spheres are uploaded with their rays (pairwise scenes).
    pub(crate) pairwise: bool,
}

impl Workload {
    /// Load of these spheres and of `rays` rays.
    pub(crate) fn of(set: &Spheres<'_>, rays: u64, pairwise: bool) -> Self {
        Self {
            spheres: set.len() as u64,
            rays,
            has_masks: set.masks.is_some(),
            has_motion: set.velocities.is_some(),
            has_ellipsoids: set.shapes.is_some(),
            has_depths: set.transmittances.is_some(),
            pairwise,
        }
    }
}

impl Device {
    /// Estimates the bytes that a scene of `spheres` spheres and a query of `rays` rays take on the device and on the host together, in
    /// addition to the caller's own memory. Results are included with 12 bytes per ray, so hit lists may take more. On a GPU, ray
    /// attributes are included with 32 bytes per ray in flight. Sphere attributes are not included: see
    /// [`estimate_bytes_of`](Self::estimate_bytes_of).
    pub fn estimate_bytes(&self, spheres: u64, rays: u64) -> u64 {
        self.bytes(&Workload { spheres, rays, ..Workload::default() })
    }

    /// Like [`estimate_bytes`](Self::estimate_bytes), including the attributes of these spheres. Bytes per sphere, in addition to those of
    /// `estimate_bytes`; in the last column per leaf slot of the BVH, of which there are up to five for four spheres:
    ///
    /// | column | host | GPU | host, during the upload to a GPU | CPU engine, per leaf slot |
    /// |---|---|---|---|---|
    /// | masks | 4 | 4 | 0 | 4 |
    /// | transmittances | 4 | 8, masks included | 8 | 0 |
    /// | velocities | 12, and 16 while the scene is built | 48, masks included | 32 | 36 |
    /// | ellipsoids | 76 | 108, masks and velocities included | 108 | 4, velocities included |
    ///
    /// The estimate is for a scene that is not pairwise. In a pairwise scene the attributes on a GPU are uploaded with each ray in flight
    /// instead.
    pub fn estimate_bytes_of<'a>(&self, spheres: impl Into<Spheres<'a>>, rays: u64) -> u64 {
        self.bytes(&Workload::of(&spheres.into(), rays, false))
    }

    pub(crate) fn bytes(&self, load: &Workload) -> u64 {
        let Workload { spheres, rays, pairwise, has_depths, .. } = *load;
        let (masked, moving, mapped) = (load.has_masks, load.has_motion, load.has_ellipsoids);
        let each = |counts: bool, bytes: usize| if counts { bytes as u64 } else { 0 };
        // Records, attributes, and balls around the paths of moving spheres.
        let host = size_of::<Sphere>() as u64
            + each(masked, size_of::<u32>())
            + each(has_depths, size_of::<u32>())
            + each(moving, size_of::<[f32; 3]>() + size_of::<Sphere>())
            + each(mapped, size_of::<UnitBallMap>());
        // Upper bound of the result of a ray.
        let answers = rays.saturating_mul(size_of::<Interval>() as u64);
        let host = spheres.saturating_mul(host).saturating_add(answers);
        let on_cpu = || {
            let laid = accel::leaf_attribute_bytes(spheres, masked, moving, mapped);
            host.saturating_add(accel::bvh_bytes(spheres)).saturating_add(laid)
        };
        let on_gpu = |gpu: &Arc<GpuEngine>| {
            let resident = if spheres > 0 { GpuScene::bytes(gpu, spheres) } else { 0 };
            let held = sphere_attributes::attribute_bytes(moving, mapped);
            // Packed attributes exist twice during the upload: on the host and on the device.
            let one = match (held, has_depths) {
                (0, false) => each(masked, size_of::<u32>()),
                // Masks come with depths.
                (_, true) => 2 * (held.max(size_of::<u32>() as u64) + size_of::<u32>() as u64),
                (_, false) => 2 * held,
            };
            // Moving spheres are stored again in leaf order.
            let one = one + each(moving && !mapped, size_of::<Sphere>());
            let flight =
                if rays > 0 { GpuScene::bytes_in_flight(spheres, rays, each(pairwise, held as usize)) } else { 0 };
            host.saturating_add(resident).saturating_add(spheres.saturating_mul(one)).saturating_add(flight)
        };
        self.on_gpu().map_or_else(on_cpu, on_gpu)
    }

    /// Returns an error if a load exceeds the memory limit. Called before anything is allocated.
    pub(crate) fn check_limit(&self, what: &'static str, load: &Workload) -> Result<()> {
        check_within(what, self.bytes(load), self.limits.memory, self.name())
    }
}
