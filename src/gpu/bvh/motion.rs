//! Motion of spheres in a BVH. AABBs contain the whole paths of the spheres; the traversal tests a sphere at its position at the time of
//! the ray (`shaders/traverse/leaf.wgsl`).

use wgpu::Buffer;

use crate::batch::sphere_set::SphereSet;
use crate::bvh::gpu_frame::GpuFrame;
use crate::intersect::motion::half_span;

/// Longest time range for which leaves have velocities. Over a longer one, velocities that a device flushes to zero would matter.
const MAX_HALF_SPAN: f64 = 65_536.0;

/// Largest component of a scaled velocity for which nothing overflows.
const MAX_VELOCITY: f64 = (1_u64 << 40) as f64;

/// Attributes of moving spheres, and the time range of their motion.
#[derive(Clone, Copy)]
pub(crate) struct LeafMotion<'a> {
    pub(crate) attributes: &'a Buffer,
    time_range: [f32; 2],
}

impl<'a> LeafMotion<'a> {
    /// `None` if no sphere moves, or if the spheres are ellipsoids.
    pub(crate) fn of(attributes: &'a Option<Buffer>, set: &SphereSet<'_>) -> Option<Self> {
        let columns = &set.attributes;
        let attributes = attributes.as_ref().filter(|_| columns.velocities.is_some() && columns.maps.is_none())?;
        Some(Self { attributes, time_range: set.time_range })
    }

    /// Parameters of the build: the largest velocity component that leaves contain, negative for none, and half the length of the time
    /// range, rounded up.
    pub(crate) fn scaled_limits(&self, frame: &GpuFrame) -> (f32, f32) {
        let half = half_span(self.time_range);
        let fastest = if 2.0 * half <= MAX_HALF_SPAN { MAX_VELOCITY / f64::from(frame.scale) } else { -1.0 };
        (fastest.min(f32::MAX.into()) as f32, (half as f32).next_up())
    }
}
