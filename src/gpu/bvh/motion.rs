//! How spheres move, for a tree: boxes are drawn around their ways, and walks look at them where they are (`shaders/traverse/leaf.wgsl`).

use wgpu::Buffer;

use crate::batch::sphere_set::Given;
use crate::bvh::scene_frame::Frame;
use crate::intersect::motion::half;

/// Over a longer time what a device flushes of velocities would count.
const LONGEST: f64 = 65_536.0;

/// The largest component of a scaled velocity with which nothing overflows.
const FASTEST: f64 = (1_u64 << 40) as f64;

/// What is beside spheres that move, and for how long they do.
#[derive(Clone, Copy)]
pub(crate) struct Ways<'a> {
    pub(crate) beside: &'a Buffer,
    span: [f32; 2],
}

impl<'a> Ways<'a> {
    /// None where spheres rest, or are ellipsoids.
    pub(crate) fn of(beside: &'a Option<Buffer>, given: &Given<'_>) -> Option<Self> {
        let columns = &given.columns;
        let beside = beside.as_ref().filter(|_| columns.velocities.is_some() && columns.maps.is_none())?;
        Some(Self { beside, span: given.span })
    }

    /// The largest component of a velocity that is told of, and half of the time, or a little more.
    pub(crate) fn told(&self, frame: &Frame) -> (f32, f32) {
        let half = half(self.span);
        let fastest = if 2.0 * half <= LONGEST { FASTEST / f64::from(frame.scale) } else { -1.0 };
        (fastest.min(f32::MAX.into()) as f32, (half as f32).next_up())
    }
}
