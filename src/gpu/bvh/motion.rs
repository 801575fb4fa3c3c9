//! Motion of spheres in a BVH. AABBs contain the whole paths of the spheres; the traversal tests a sphere at its position at the time of
//! the ray (`shaders/traverse/leaf.wgsl`).

use wgpu::Buffer;

use crate::batch::sphere_set::Given;
use crate::bvh::scene_frame::Frame;
use crate::intersect::motion::half;

/// Longest time range for which leaves have velocities. Over a longer one, velocities that a device flushes to zero would matter.
const LONGEST: f64 = 65_536.0;

/// Largest component of a scaled velocity for which nothing overflows.
const FASTEST: f64 = (1_u64 << 40) as f64;

/// Attributes of moving spheres, and the time range of their motion.
#[derive(Clone, Copy)]
pub(crate) struct Ways<'a> {
    pub(crate) beside: &'a Buffer,
    span: [f32; 2],
}

impl<'a> Ways<'a> {
    /// `None` if no sphere moves, or if the spheres are ellipsoids.
    pub(crate) fn of(beside: &'a Option<Buffer>, given: &Given<'_>) -> Option<Self> {
        let columns = &given.columns;
        let beside = beside.as_ref().filter(|_| columns.velocities.is_some() && columns.maps.is_none())?;
        Some(Self { beside, span: given.span })
    }

    /// Parameters of the build: the largest velocity component that leaves contain, negative for none, and half the length of the time
    /// range, rounded up.
    pub(crate) fn told(&self, frame: &Frame) -> (f32, f32) {
        let half = half(self.span);
        let fastest = if 2.0 * half <= LONGEST { FASTEST / f64::from(frame.scale) } else { -1.0 };
        (fastest.min(f32::MAX.into()) as f32, (half as f32).next_up())
    }
}
