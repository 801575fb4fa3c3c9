//! Leaves of moving spheres.

use bytemuck::Zeroable;

use crate::bvh::bvh8::node::WIDTH;
use crate::runtime::prefetch::prefetch;

/// Eight moving spheres in SoA layout, in scaled units: centres in the middle of the time range in which the motion is known, velocities,
/// radii with an allowance for errors, and radii of balls that the spheres certainly contain.
#[repr(C, align(64))]
#[derive(Clone, Copy, Zeroable)]
pub(crate) struct MovingLeaf8 {
    pub(crate) center: [[f32; WIDTH]; 3],
    pub(crate) velocity: [[f32; WIDTH]; 3],
    pub(crate) padded_radius: [f32; WIDTH],
    pub(crate) inner_radius: [f32; WIDTH],
}

impl MovingLeaf8 {
    /// Corners of an AABB that contains the spheres at all times within `half` of the middle.
    pub(crate) fn corners(&self, half: f64) -> [[f32; 3]; 2] {
        let [mut low, mut high] = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
        for k in (0..WIDTH).filter(|&k| !self.center[0][k].is_nan()) {
            for (axis, (low, high)) in low.iter_mut().zip(&mut high).enumerate() {
                let (center, velocity) = (f64::from(self.center[axis][k]), f64::from(self.velocity[axis][k]));
                let reach = f64::from(self.padded_radius[k]) + velocity.abs() * half * (1.0 + 1e-6);
                *low = low.min(((center - reach) as f32).next_down());
                *high = high.max(((center + reach) as f32).next_up());
            }
        }
        [low, high]
    }

    /// Prefetches the four cache lines.
    pub(crate) fn prefetch(&self) {
        [&self.center[0], &self.center[2], &self.velocity[1], &self.padded_radius].into_iter().for_each(prefetch);
    }
}
