//! Leaf test for spheres that move while the rays travel.
//!
//! In the frame of the sphere such a ray is a line, too. Let s be the position along the ray, d its direction and ν = velocity / speed of
//! the ray. The sphere's centre is c + ν (s − pivot), where c is its position when the ray is at `pivot`. Let P be the ray's point at the
//! pivot and e = c − P. In the sphere's frame the direction of the ray is w = d − ν. The line passes the centre at the distance |e × w| /
//! |w| and is nearest to it at s = pivot + e·w / w².
//!
//! The pivot is the point where the ray is nearest to the middle of the scene, or the end of its segment that is nearest to that point. So
//! every hit is at an s no farther from the pivot than from the middle, and every number here is as small as the scene: for every sphere
//! that is hit, |P| ≤ |c| + f + r and |e| ≤ 2 (|c| + f + r), where f is the radius of the ball around the sphere's whole path.
//!
//! Errors, in addition to those in `leaf.rs`: that of P is 20 U |P|, that of the sum e is 4 U (|c| + f) + U |e|. The error of ν is 4 U
//! |ν|, and w has U |w| more; both turn the line by as much divided by |w|, and |ν| ≤ 1 + |w|. Products and sums of e × w add 4 U |e| |w|.
//! With |w| ≥ ½ the total is less than 85 U (|c| + f + r), and `MovingLeaf8` allow for 256 U. Along the line it counts up to twice, because |w| ≥
//! ½; `MovingLeaf8` allow for that, too. An intersection test starts at the origin of the ray, where the sphere is |w| times as far away as the
//! ray travels: `flag` allows for that. A sphere that moves almost with the ray, |w| < ½, is always a candidate and never a certain hit.

use bytemuck::Zeroable;
use glam::DVec3;

use super::leaf::LeafHits;
use super::ray_setup::{Line, PreparedRay};
use crate::bvh::bvh8::node::WIDTH;
use crate::cpu::frame::{CpuFrame, FLAG_ERROR};
use crate::math::float::U;
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{SimdLevel, multiversion};
use crate::records::{Ray, RayAttributes};
use crate::runtime::prefetch::prefetch;

/// Range of |w|² in which spheres are tested. Outside of it they are candidates.
const SAFE_SPEEDS: [f32; 2] = [0.25, 1_048_576.0];

/// Completes the setup of a prepared ray for this test. `middle` is the middle of the time range in which the motion of the spheres is
/// known.
pub(crate) fn prepare_moving(
    prepared: &mut PreparedRay,
    frame: &CpuFrame,
    ray: &Ray,
    attributes: &RayAttributes,
    middle: f64,
) {
    let (o, d) = (frame.scaled_point(ray.origin.as_dvec3()), ray.direction.as_dvec3());
    let scale = frame.scale;
    let step = d.length() * scale;
    let pace = 1.0 / step;
    let start = o.dot(d) * pace * scale;
    let [from, to] = [ray.t_min, ray.t_max].map(f64::from);
    let launch = f64::from(attributes.time) - middle;
    prepared.time = ((-start * pace).max(from).min(to) + launch) as f32;
    // The position at the rounded `time`, not at the exact one.
    let pivot = start + (f64::from(prepared.time) - launch) * step;
    prepared.pivot = pivot as f32;
    let Line { u: [ux, uy], v, minus_alpha, minus_beta, d, .. } = prepared.line;
    let [u, v, d] = [[ux, uy, 0.0], v, d].map(|vector| DVec3::from_array(vector.map(f64::from)));
    let position = u * -f64::from(minus_alpha) + v * -f64::from(minus_beta) + d * pivot;
    prepared.line.v = position.as_vec3().to_array();
    prepared.pace = pace as f32;
    prepared.flag = (FLAG_ERROR * from.abs().max(to.abs()) * step * 1.0001) as f32;
}

multiversion! {
    /// Tests a list of rays against the spheres of a leaf, which move while the rays travel. Writes one entry of `leaf_hits` per ray that may hit
    /// a sphere, and returns their number.
    cull_passing_leaf, (moving_leaf: &MovingLeaf8, rays: &[PreparedRay], s_far: &[f32], list: &[u32], leaf_hits: &mut [LeafHits]) -> usize
}

#[inline(always)]
pub(super) fn cull_passing_leaf<L: Lanes>(
    lanes: L,
    moving_leaf: &MovingLeaf8,
    rays: &[PreparedRay],
    s_far: &[f32],
    list: &[u32],
    leaf_hits: &mut [LeafHits],
) -> usize {
    let lanes = lanes.narrow();
    let one = lanes.splat(1.0);
    let mut count = 0;
    for &number in list {
        let (ray, far) = (&rays[number as usize], lanes.splat(s_far[number as usize]));
        let Some(LeafHits { ray: name, candidates, certain, low: lows, high: highs }) = leaf_hits.get_mut(count) else {
            break;
        };
        (*name, *candidates, *certain) = (number, 0, 0);
        // Written out, because the compiler calls `map` as a function.
        let Line { v: [px, py, pz], spread, d: [dx, dy, dz], .. } = ray.line;
        let (px, py, pz) = (lanes.splat(px), lanes.splat(py), lanes.splat(pz));
        let (dx, dy, dz) = (lanes.splat(dx), lanes.splat(dy), lanes.splat(dz));
        let (moment, pivot, minus_pace) = (lanes.splat(ray.time), lanes.splat(ray.pivot), lanes.splat(-ray.pace));
        let (flag, least_delta) = (lanes.splat(ray.flag), lanes.splat(ray.flag + spread));
        for i in (0..WIDTH).step_by(L::Narrow::COUNT) {
            let (vel_x, vel_y) = (lanes.load(&moving_leaf.velocity[0][i..]), lanes.load(&moving_leaf.velocity[1][i..]));
            let (vel_z, home) = (lanes.load(&moving_leaf.velocity[2][i..]), lanes.load(&moving_leaf.center[0][i..]));
            let x = vel_x.mul_add(moment, home.sub(px));
            let y = vel_y.mul_add(moment, lanes.load(&moving_leaf.center[1][i..]).sub(py));
            let z = vel_z.mul_add(moment, lanes.load(&moving_leaf.center[2][i..]).sub(pz));
            let (reach, inner) =
                (lanes.load(&moving_leaf.padded_radius[i..]), lanes.load(&moving_leaf.inner_radius[i..]));
            let wx = vel_x.mul_add(minus_pace, dx);
            let wy = vel_y.mul_add(minus_pace, dy);
            let wz = vel_z.mul_add(minus_pace, dz);
            let w = wz.mul_add(wz, wy.mul_add(wy, wx.mul(wx)));
            let inverse = one.div(w);
            let (first, second, third) = (y.mul_sub(wz, z.mul(wy)), z.mul_sub(wx, x.mul(wz)), x.mul_sub(wy, y.mul(wx)));
            // All squares are multiplied by |w|²: no square root waits for the quotient.
            let square = third.mul_add(third, second.mul_add(second, first.mul(first)));
            let middle = z.mul_add(wz, y.mul_add(wy, x.mul(wx))).mul_add(inverse, pivot);
            // Each of the two contains half of it.
            let slack = reach.sub(inner);
            let delta = w.mul_add(flag, least_delta);
            let allowance = delta.mul_add(lanes.splat(0.250_001), reach).mul_add(delta, lanes.splat(1e-30));
            let most = reach.mul(reach).mul(lanes.splat(1.0 + 96.0 * U)).add(allowance).mul(w);
            let least = inner.max(lanes.splat(0.0));
            let chord = least.mul(least).mul(lanes.splat(1.0 - 96.0 * U)).sub(allowance).mul(w).sub(square);
            let half = most.sub(square).max(lanes.splat(0.0)).sqrt().mul_add(inverse, slack);
            let (low, exit) = (middle.sub(half), middle.add(half));
            let high = middle
                .sub(chord.max(lanes.splat(0.0)).sqrt().mul(inverse))
                .add(slack)
                .add(lanes.splat(2.0 * ray.margin));
            let reliable = lanes.splat(SAFE_SPEEDS[0]).le_mask(w)
                & w.le_mask(lanes.splat(SAFE_SPEEDS[1]))
                & square.le_mask(lanes.splat(1e30));
            let mask = square.le_mask(most) & low.le_mask(far) & lanes.splat(ray.near).le_mask(exit) & reliable;
            let certainly = lanes.splat(f32::MIN_POSITIVE).le_mask(chord)
                & lanes.splat(ray.begin).le_mask(low)
                & high.le_mask(far)
                & high.le_mask(lanes.splat(ray.end));
            low.store(&mut lows[i..]);
            high.store(&mut highs[i..]);
            // `home` is NaN in unused lanes.
            let mut unbounded = !reliable & home.le_mask(home);
            *candidates |= ((mask | unbounded) as u32) << i;
            *certain |= ((mask & certainly) as u32) << i;
            while unbounded != 0 {
                lows[i + unbounded.trailing_zeros() as usize] = f32::NEG_INFINITY;
                unbounded &= unbounded - 1;
            }
        }
        count += usize::from(*candidates != 0);
    }
    count
}

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

#[cfg(test)]
#[path = "moving_leaf_tests.rs"]
mod tests;
