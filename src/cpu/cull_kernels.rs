//! The kernels of conservative culling: lines against blocks of 64 spheres. The bounds are derived in `cull.rs`.

use super::cull::{BLOCK, Block, Line};
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{Level, dispatch};

dispatch! {
    /// Per line a mask of the spheres of a block that it may hit.
    may_meet, (block: &Block, lines: &[Line], masks: &mut [u64])
}
dispatch! {
    /// Mask of the spheres of a block that lie, at least partly, in the line's segment.
    on_stretch, (block: &Block, line: &Line) -> u64
}
dispatch! {
    /// Per line a mask of the spheres of a block whose surfaces may be within its limit.
    may_near, (block: &Block, lines: &[Line], masks: &mut [u64])
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
fn may_meet<L: Lanes>(lanes: L, block: &Block, lines: &[Line], masks: &mut [u64]) {
    let Block { x, y, z, minus_w, widest, .. } = block;
    for (line, mask) in lines.iter().zip(masks) {
        let s = lanes.splat(line.spread).mul_add(lanes.splat(*widest), lanes.splat(line.floor));
        let (alpha, beta) = (lanes.splat(line.minus_alpha), lanes.splat(line.minus_beta));
        let mut bits = 0;
        for i in (0..BLOCK).step_by(L::COUNT) {
            let across = dot([x, y], line.u, alpha, i);
            let over = dot([x, y, z], line.v, beta, i);
            let square = over.mul_add(over, across.mul_add(across, lanes.load(&minus_w[i..])));
            bits |= square.at_most(s) << i;
        }
        *mask = bits;
    }
}

#[inline(always)]
fn on_stretch<L: Lanes>(lanes: L, block: &Block, line: &Line) -> u64 {
    let Block { x, y, z, reach, .. } = block;
    let (near, far) = (lanes.splat(line.near), lanes.splat(line.far));
    let mut bits = 0;
    for i in (0..BLOCK).step_by(L::COUNT) {
        let (along, reach) = (dot([x, y, z], line.d, lanes.splat(0.0), i), lanes.load(&reach[i..]));
        bits |= (along.sub(reach).at_most(far) & near.at_most(along.add(reach))) << i;
    }
    bits
}

#[inline(always)]
fn may_near<L: Lanes>(lanes: L, block: &Block, lines: &[Line], masks: &mut [u64]) {
    let Block { x, y, z, reach, .. } = block;
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
            bits |= square.at_most(reach.mul(reach)) << i;
        }
        *mask = bits;
    }
}
