//! Bytes that scenes and queries take, told before any of them is asked for.

use super::device::Device;
use crate::batch::input::Spheres;
use crate::cpu::{accel, cull};
use crate::error::{Error, Result};
use crate::gpu::scene::GpuScene;
use crate::gpu::sphere_attributes;
use crate::intersect::ellipsoid::Map;
use crate::records::{Interval, Sphere};

/// How much there is of what.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Load {
    pub(crate) spheres: u64,
    pub(crate) rays: u64,
    /// Spheres have masks; they move; they are ellipsoids.
    pub(crate) masked: bool,
    pub(crate) moving: bool,
    pub(crate) mapped: bool,
    /// They travel with their rays.
    pub(crate) pairwise: bool,
}

impl Load {
    /// Of spheres as they are given.
    pub(crate) fn of(given: &Spheres<'_>, rays: u64, pairwise: bool) -> Self {
        let (masked, moving) = (given.masks.is_some(), given.velocities.is_some());
        Self { spheres: given.len() as u64, rays, masked, moving, mapped: given.shapes.is_some(), pairwise }
    }
}

impl Device {
    /// Bytes a scene of `spheres` and a query of `rays` take on the device and on the host, answers included, beyond the
    /// caller's own. What rays bring along is counted on a GPU, 32 bytes a ray in flight; what is beside spheres is not: see
    /// [`estimate_bytes_of`](Self::estimate_bytes_of).
    pub fn estimate_bytes(&self, spheres: u64, rays: u64) -> u64 {
        self.bytes(&Load { spheres, rays, ..Load::default() })
    }

    /// The same with what is beside these spheres.
    ///
    /// A mask takes 4 bytes more on the host, on a GPU as many there, and on the CPU engine 4 for each place in a leaf of its tree, of
    /// which there are up to five for four spheres. A sphere that moves takes 12 more on the host and 16 while the scene is built; on
    /// a GPU 48, and 32 here while they are sent; on the CPU engine 36 a place. An ellipsoid takes 76 more on the host; on a GPU
    /// 108, what moves included, and as many here while they are sent; on the CPU engine 4 a place. In pairwise scenes what is on a GPU
    /// travels with each ray in flight.
    pub fn estimate_bytes_of<'a>(&self, spheres: impl Into<Spheres<'a>>, rays: u64) -> u64 {
        self.bytes(&Load::of(&spheres.into(), rays, false))
    }

    pub(crate) fn bytes(&self, load: &Load) -> u64 {
        let Load { spheres, rays, masked, moving, mapped, pairwise } = *load;
        let each = |counts: bool, bytes: usize| if counts { bytes as u64 } else { 0 };
        // The records and what is beside them, and balls around the ways.
        let host = size_of::<Sphere>() as u64
            + each(masked, size_of::<u32>())
            + each(moving, size_of::<[f32; 3]>() + size_of::<Sphere>())
            + each(mapped, size_of::<Map>());
        // At most so much of an answer.
        let answers = rays.saturating_mul(size_of::<Interval>() as u64);
        let host = spheres.saturating_mul(host).saturating_add(answers);
        match self.gpu() {
            None => {
                let laid = accel::laid_bytes(spheres, masked, moving, mapped);
                host.saturating_add(accel::index_bytes(spheres)).saturating_add(laid)
            }
            Some(gpu) => {
                // The filter's columns, whole blocks of them.
                let host = host.saturating_add(cull::columns_bytes(spheres));
                let resident = if spheres > 0 { GpuScene::bytes(gpu, spheres) } else { 0 };
                let held = sphere_attributes::bytes(moving, mapped);
                // Held spheres are put in order here before they are sent.
                let one = if held > 0 { 2 * held } else { each(masked, size_of::<u32>()) };
                // And lie in the order of the tree once more.
                let one = one + each(moving && !mapped, size_of::<Sphere>());
                let flight =
                    if rays > 0 { GpuScene::bytes_in_flight(spheres, rays, each(pairwise, held as usize)) } else { 0 };
                host.saturating_add(resident).saturating_add(spheres.saturating_mul(one)).saturating_add(flight)
            }
        }
    }

    /// Refuses what exceeds the limit on memory, before anything is allocated.
    pub(crate) fn admit(&self, what: &'static str, load: &Load) -> Result<()> {
        let (asked, allowed) = (self.bytes(load), self.limits.memory);
        if asked > allowed {
            return Err(Error::TooLarge { what, asked, allowed, device: self.name().into() });
        }
        Ok(())
    }
}
