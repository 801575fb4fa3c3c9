//! Rays prepared for the tests of AABBs and leaves. `ray_setup.rs` prepares them; `kernels.rs` has the error analysis.

use bytemuck::{Pod, Zeroable};

use crate::cpu::cull::round_up;

/// A ray prepared for the tests of AABBs and leaves. The fields for AABBs fill one cache line.
#[repr(C, align(64))]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct PreparedRay {
    /// 1/d, and the offsets for the planes where the ray enters and leaves.
    pub(crate) inverse: [f32; 3],
    pub(crate) enter: [f32; 3],
    pub(crate) leave: [f32; 3],
    /// Ends of the segment that is searched before any hit: the ray's own, extended to contain t = 0.
    pub(crate) near: f32,
    pub(crate) far: f32,
    /// Error of a root.
    pub(crate) margin: f32,
    /// Positions from `begin` to `end` certainly lie between the ray's own ends.
    pub(crate) begin: f32,
    pub(crate) end: f32,
    /// u, v, −α, −β, `spread`, `floor` and d of a [`RayLine`](crate::cpu::cull::RayLine). If spheres move while the ray travels, the first three
    /// are the ray's point at `pivot`.
    pub(crate) line: [f32; 12],
    /// Upper bound of the length of one unit of `t`.
    pub(crate) step: f32,
    /// Positions up to this one certainly lie before the ray's beginning.
    pub(crate) before: f32,
    /// Time of the ray, at which moving spheres are intersected, relative to the middle of their time range. If they move while the ray
    /// travels, it is the time at which the ray is at `pivot`; the other fields are only for this case, see
    /// [`moving_leaf`](super::moving_leaf).
    pub(crate) time: f32,
    pub(crate) pivot: f32,
    pub(crate) pace: f32,
    pub(crate) flag: f32,
}

/// The octant of a direction, or of its inverse: bit k is set if number k is negative.
#[inline(always)]
pub(crate) fn octant_of(numbers: [f32; 3]) -> usize {
    (0..3).fold(0, |octant, k| octant | usize::from(numbers[k].is_sign_negative()) << k)
}

impl PreparedRay {
    /// Inflates the ray laterally by `lateral` and axially by `along`, in scaled units. The conditions for certain hits become stricter
    /// by the same amounts.
    pub(crate) fn inflate(&mut self, lateral: f32, along: f32) {
        let [lateral, along] = [lateral, along].map(|by| by * 1.000_001);
        if along > 0.0 {
            (self.near, self.far) = ((self.near - along).next_down(), (self.far + along).next_up());
            (self.begin, self.end) = ((self.begin + along).next_up(), (self.end - along).next_down());
            self.margin = (self.margin + along).next_up();
            self.before = (self.before - along).next_down();
        }
        if lateral > 0.0 {
            for k in 0..3 {
                let more = (lateral * self.inverse[k].abs()) * 1.000_001;
                self.enter[k] -= more;
                self.leave[k] += more;
            }
            let [.., spread, floor, _, _, _] = &mut self.line;
            let delta = (floor.sqrt() + lateral) * 1.000_001;
            (*spread, *floor) = ((*spread + 2.0 * lateral) * 1.000_001, delta * delta * 1.000_001);
        }
    }

    /// Upper bound of the position beyond which every hit has a larger `t`, as
    /// [`RayParameter::far`](crate::cpu::cull::RayParameter::far), for a ray that begins at `t_min`. That must not be negative: the position of
    /// a distant beginning would be too inaccurate.
    #[inline(always)]
    pub(crate) fn far_after(&self, t_min: f32, t: f32) -> f32 {
        // `begin` is an upper bound of the position at `t_min`, with twice the error of a root.
        let length = f64::from(t.max(t_min)) - f64::from(t_min);
        round_up(f64::from(self.begin) + length * f64::from(self.step))
    }

    /// Octant of the direction. All rays of an octant enter AABBs through the same faces.
    pub(crate) fn octant(&self) -> usize {
        octant_of(self.inverse)
    }
}
