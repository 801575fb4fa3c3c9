//! The kernels of conservative culling: lines against blocks of 64 spheres. The bounds are derived in `cull.rs`.

use super::cull::{BLOCK, Block, RayLine};
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{SimdLevel, multiversion};

multiversion! {
    /// Per line a mask of the spheres of a block that it may hit.
    cull_hits, (block: &Block, lines: &[RayLine], masks: &mut [u64])
}
multiversion! {
    /// Mask of the spheres of a block that lie, at least partly, in the line's segment.
    cull_range, (block: &Block, line: &RayLine) -> u64
}
multiversion! {
    /// Per line a mask of the spheres of a block whose surfaces may be within its limit.
    cull_clearance, (block: &Block, lines: &[RayLine], masks: &mut [u64])
}

/// `columns · vector + add`, for the lanes from `i` on.
#[inline(always)]
fn dot<L: Lanes, const N: usize>(columns: [&[f32; BLOCK]; N], vector: [f32; N], add: L, i: usize) -> L {
    let mut sum = add;
    for k in 0..N {
        sum = add.load(&columns[k][i..]).mul_add(add.splat(vector[k]), sum);
    }
    sum
}

#[inline(always)]
fn cull_hits<L: Lanes>(lanes: L, block: &Block, lines: &[RayLine], masks: &mut [u64]) {
    let Block { x, y, z, minus_w, widest, .. } = block;
    for (line, mask) in lines.iter().zip(masks) {
        let s = lanes.splat(line.spread).mul_add(lanes.splat(*widest), lanes.splat(line.floor));
        let (alpha, beta) = (lanes.splat(line.minus_alpha), lanes.splat(line.minus_beta));
        let mut bits = 0;
        for i in (0..BLOCK).step_by(L::COUNT) {
            let across = dot([x, y], line.u, alpha, i);
            let over = dot([x, y, z], line.v, beta, i);
            let square = over.mul_add(over, across.mul_add(across, lanes.load(&minus_w[i..])));
            bits |= square.le_mask(s) << i;
        }
        *mask = bits;
    }
}

#[inline(always)]
fn cull_range<L: Lanes>(lanes: L, block: &Block, line: &RayLine) -> u64 {
    let Block { x, y, z, padded_radius: reach, .. } = block;
    let (near, far) = (lanes.splat(line.near), lanes.splat(line.far));
    let mut bits = 0;
    for i in (0..BLOCK).step_by(L::COUNT) {
        let (along, reach) = (dot([x, y, z], line.d, lanes.splat(0.0), i), lanes.load(&reach[i..]));
        bits |= (along.sub(reach).le_mask(far) & near.le_mask(along.add(reach))) << i;
    }
    bits
}

#[inline(always)]
fn cull_clearance<L: Lanes>(lanes: L, block: &Block, lines: &[RayLine], masks: &mut [u64]) {
    let Block { x, y, z, padded_radius: reach, .. } = block;
    for (line, mask) in lines.iter().zip(masks) {
        let (near, far) = (lanes.splat(line.near), lanes.splat(line.far));
        let (alpha, beta, limit) =
            (lanes.splat(line.minus_alpha), lanes.splat(line.minus_beta), lanes.splat(line.limit));
        let mut bits = 0;
        for i in (0..BLOCK).step_by(L::COUNT) {
            let across = dot([x, y], line.u, alpha, i);
            let over = dot([x, y, z], line.v, beta, i);
            let along = dot([x, y, z], line.d, lanes.splat(0.0), i);
            let outside = near.sub(along).max(along.sub(far)).max(lanes.splat(0.0));
            let square = over.mul_add(over, across.mul_add(across, outside.mul(outside)));
            let reach = lanes.load(&reach[i..]).add(limit).max(lanes.splat(0.0));
            bits |= square.le_mask(reach.mul(reach)) << i;
        }
        *mask = bits;
    }
}
