//! Rays that travel while spheres move, at a leaf.
//!
//! Seen from the sphere such a ray is a line, too. With s along the ray, d its direction and ν = velocity / speed of the ray, the
//! sphere's middle is c + ν (s − pivot), where c is where it is when the ray is at `pivot`. From there to the ray at its pivot, P, it is
//! e = c − P, and the ray heads for w = d − ν. The line passes at |e × w| / |w| and is nearest at s = pivot + e·w / w².
//!
//! The pivot is where the ray passes nearest to the middle of the scene, or that end of its stretch which is nearest to there. So
//! whoever is met is met at an s no farther from the pivot than from the middle, and every number here is as small as the scene:
//! |P| ≤ |c| + f + r and |e| ≤ 2 (|c| + f + r) of whoever is met, f being the radius of the ball around the sphere's whole way.
//!
//! Errors, besides those told in `kernels.rs`: P is off by 8 U |P|, the sum e by 4 U (|c| + f) + U |e|. ν is off by 4 U |ν|, w by
//! U |w| more, which turn the line by as much over |w|, with |ν| ≤ 1 + |w|; products and sums of e × w by 4 U |e| |w|. With
//! |w| ≥ ½ that is less than 70 U (|c| + f + r), and `Ways` give 256 U. Along the line it counts up to twice, since |w| ≥ ½, and
//! `Ways` give that, too. A solve starts where the ray does, and there the sphere is |w| times as far away as the ray travels: hence
//! `flag`. Of what goes along with the ray, |w| < ½, nothing is said but that it may be met.

use glam::DVec3;

use super::kernels::{Met, StreamRay, U, Ways};
use crate::bvh::bvh8::node::WIDTH;
use crate::cpu::cull::{Frame, flag_error};
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{Level, dispatch};
use crate::query::policy::Precision;
use crate::records::{Extra, Ray};

/// Squares of |w| between which it is told whether a sphere is met.
const TAME: [f32; 2] = [0.25, 1_048_576.0];

/// Makes a ray ready that has been aimed. `middle` is that of the time for which spheres are known to move.
pub(crate) fn aim(aimed: &mut StreamRay, frame: &Frame, ray: &Ray, extra: &Extra, precision: Precision, middle: f64) {
    let (o, d) = (frame.place(ray.origin.as_dvec3()), ray.direction.as_dvec3());
    let scale = frame.scale();
    let step = d.length() * scale;
    let pace = 1.0 / step;
    let start = o.dot(d) * pace * scale;
    let [from, to] = [ray.t_min, ray.t_max].map(f64::from);
    let launch = f64::from(extra.time) - middle;
    aimed.moment = ((-start * pace).max(from).min(to) + launch) as f32;
    // Where it is then, not where it was to be.
    let pivot = start + (f64::from(aimed.moment) - launch) * step;
    aimed.pivot = pivot as f32;
    let [ux, uy, vx, vy, vz, minus_alpha, minus_beta, _, _, dx, dy, dz] = aimed.line.map(f64::from);
    let place =
        DVec3::new(ux, uy, 0.0) * -minus_alpha + DVec3::new(vx, vy, vz) * -minus_beta + DVec3::new(dx, dy, dz) * pivot;
    aimed.line[..3].copy_from_slice(&place.as_vec3().to_array());
    aimed.pace = pace as f32;
    aimed.flag = (flag_error(precision) * from.abs().max(to.abs()) * step * 1.0001) as f32;
}

dispatch! {
    /// Which spheres of a leaf each ray of a list may meet that travels while they move: so many of `met`.
    meet_passing_leaf, (ways: &Ways, rays: &[StreamRay], fars: &[f32], list: &[u32], met: &mut [Met]) -> usize
}

#[inline(always)]
fn meet_passing_leaf<L: Lanes>(
    lanes: L,
    ways: &Ways,
    rays: &[StreamRay],
    fars: &[f32],
    list: &[u32],
    met: &mut [Met],
) -> usize {
    let lanes = lanes.narrow();
    let one = lanes.splat(1.0);
    let mut count = 0;
    for &number in list {
        let (ray, far) = (&rays[number as usize], lanes.splat(fars[number as usize]));
        let Some(Met { ray: name, maybe, certain, low: lows, high: highs }) = met.get_mut(count) else { break };
        (*name, *maybe, *certain) = (number, 0, 0);
        // Written out: the compiler calls `map` as a function.
        let [px, py, pz, _, _, _, _, spread, _, dx, dy, dz] = ray.line;
        let (px, py, pz) = (lanes.splat(px), lanes.splat(py), lanes.splat(pz));
        let (dx, dy, dz) = (lanes.splat(dx), lanes.splat(dy), lanes.splat(dz));
        let (moment, pivot, minus_pace) = (lanes.splat(ray.moment), lanes.splat(ray.pivot), lanes.splat(-ray.pace));
        let (flag, least_delta) = (lanes.splat(ray.flag), lanes.splat(ray.flag + spread));
        for i in (0..WIDTH).step_by(L::Narrow::COUNT) {
            let (vel_x, vel_y) = (lanes.load(&ways.velocity[0][i..]), lanes.load(&ways.velocity[1][i..]));
            let (vel_z, home) = (lanes.load(&ways.velocity[2][i..]), lanes.load(&ways.center[0][i..]));
            let x = vel_x.mul_add(moment, home.sub(px));
            let y = vel_y.mul_add(moment, lanes.load(&ways.center[1][i..]).sub(py));
            let z = vel_z.mul_add(moment, lanes.load(&ways.center[2][i..]).sub(pz));
            let (reach, inner) = (lanes.load(&ways.reach[i..]), lanes.load(&ways.inner[i..]));
            let wx = vel_x.mul_add(minus_pace, dx);
            let wy = vel_y.mul_add(minus_pace, dy);
            let wz = vel_z.mul_add(minus_pace, dz);
            let w = wz.mul_add(wz, wy.mul_add(wy, wx.mul(wx)));
            let inverse = one.div(w);
            let (first, second, third) = (y.mul_sub(wz, z.mul(wy)), z.mul_sub(wx, x.mul(wz)), x.mul_sub(wy, y.mul(wx)));
            // Everything that is squared is so with w: no root waits for the quotient.
            let square = third.mul_add(third, second.mul_add(second, first.mul(first)));
            let middle = z.mul_add(wz, y.mul_add(wy, x.mul(wx))).mul_add(inverse, pivot);
            // Both were given half of it.
            let slack = reach.sub(inner);
            let delta = w.mul_add(flag, least_delta);
            let room = delta.mul_add(lanes.splat(0.250_001), reach).mul_add(delta, lanes.splat(1e-30));
            let most = reach.mul(reach).mul(lanes.splat(1.0 + 96.0 * U)).add(room).mul(w);
            let least = inner.max(lanes.splat(0.0));
            let chord = least.mul(least).mul(lanes.splat(1.0 - 96.0 * U)).sub(room).mul(w).sub(square);
            let half = most.sub(square).max(lanes.splat(0.0)).sqrt().mul_add(inverse, slack);
            let (low, exit) = (middle.sub(half), middle.add(half));
            let high = middle
                .sub(chord.max(lanes.splat(0.0)).sqrt().mul(inverse))
                .add(slack)
                .add(lanes.splat(2.0 * ray.margin));
            let tame =
                lanes.splat(TAME[0]).at_most(w) & w.at_most(lanes.splat(TAME[1])) & square.at_most(lanes.splat(1e30));
            let mask = square.at_most(most) & low.at_most(far) & lanes.splat(ray.near).at_most(exit) & tame;
            let sure = lanes.splat(f32::MIN_POSITIVE).at_most(chord)
                & lanes.splat(ray.begin).at_most(low)
                & high.at_most(far)
                & high.at_most(lanes.splat(ray.end));
            low.store(&mut lows[i..]);
            high.store(&mut highs[i..]);
            // A place without a sphere has no home.
            let mut wild = !tame & home.at_most(home);
            *maybe |= ((mask | wild) as u32) << i;
            *certain |= ((mask & sure) as u32) << i;
            while wild != 0 {
                lows[i + wild.trailing_zeros() as usize] = f32::NEG_INFINITY;
                wild &= wild - 1;
            }
        }
        count += usize::from(*maybe != 0);
    }
    count
}

#[cfg(test)]
#[path = "moving_leaf_tests.rs"]
mod tests;
