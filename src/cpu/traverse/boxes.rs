//! Tests of rays against the eight AABBs of a node, and the lists of rays that enter each. `kernels.rs` has the error analysis.

use super::prepared_ray::PreparedRay;
use crate::bvh::bvh8::node::{Bvh8Node, WIDTH};
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{SimdLevel, multiversion};

/// Hits of a list of rays with the AABBs of a node.
#[derive(Default)]
pub(crate) struct ChildHits {
    /// Position where each ray of the list enters each AABB.
    s_enter: Vec<[f32; WIDTH]>,
    /// One word per eight rays of the list: one byte per ray, one bit per AABB.
    masks: Vec<u64>,
    /// Mask of the AABBs that any ray enters.
    pub(crate) any: u64,
}

/// List of rays, padded to a multiple of [`LIST_GROUP`] words.
#[derive(Clone, Copy)]
pub(crate) struct RayList<'a> {
    padded: &'a [u32],
    count: usize,
}

/// Lists are compacted in groups of this size.
pub(crate) const LIST_GROUP: usize = 16;

impl<'a> RayList<'a> {
    /// The first `count` words of a buffer that is long enough for the padding.
    pub(crate) fn new(buffer: &'a [u32], count: usize) -> Self {
        Self { padded: &buffer[..count.next_multiple_of(LIST_GROUP)], count }
    }

    pub(crate) fn rays(self) -> &'a [u32] {
        &self.padded[..self.count]
    }
}

/// Bit `bit` of each byte of a word. The product brings the bits together.
#[inline(always)]
fn bits_of_bytes(word: u64, bit: usize) -> u64 {
    (word >> bit & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

multiversion! {
    /// Compacts a list of rays for a child: writes those that enter child number `child` to `out`, which is as long as the padded list, and
    /// returns their number. With `shortened`, leaves out those whose segment ends before the child by now.
    compact, (entered: &ChildHits, child: usize, list: RayList<'_>, s_far: &[f32], shortened: bool, out: &mut [u32]) -> usize
}

#[inline(always)]
fn compact<L: Lanes>(
    lanes: L,
    entered: &ChildHits,
    child: usize,
    list: RayList<'_>,
    s_far: &[f32],
    shortened: bool,
    out: &mut [u32],
) -> usize {
    let mut count = 0;
    let masks = &entered.masks[..list.count.div_ceil(8)];
    if L::COMPRESSES && !shortened {
        for (masks, group) in masks.chunks(2).zip(list.padded.as_chunks().0) {
            let mask = masks.iter().rev().fold(0, |word, &mask| word << 8 | bits_of_bytes(mask, child)) as u32;
            let Some(to) = out.get_mut(count..).and_then(|out| out.first_chunk_mut()) else { break };
            lanes.compress(group, mask, to);
            count += mask.count_ones() as usize;
        }
        return count;
    }
    let list = list.rays();
    let out = &mut out[..list.len()];
    // One iteration per ray that enters, none for the others, and no branch that depends on a ray.
    for ((masks, list), at) in masks.chunks(8).zip(list.chunks(64)).zip(entered.s_enter.chunks(64)) {
        let at = &at[..list.len()];
        let mut word = masks.iter().rev().fold(0, |word, &mask| word << 8 | bits_of_bytes(mask, child));
        while word != 0 {
            let i = word.trailing_zeros() as usize;
            word &= word - 1;
            let ray = list[i];
            out[count] = ray;
            count += usize::from(at[i][child % WIDTH] <= s_far[ray as usize]);
        }
    }
    count
}

multiversion! {
    /// Tests a list of rays against the AABBs of a node.
    intersect_children, (node: &Bvh8Node, octant: usize, rays: &[PreparedRay], s_far: &[f32], list: &[u32], entered: &mut ChildHits)
}

#[inline(always)]
fn intersect_children<L: Lanes>(
    lanes: L,
    node: &Bvh8Node,
    octant: usize,
    rays: &[PreparedRay],
    s_far: &[f32],
    list: &[u32],
    entered: &mut ChildHits,
) {
    let lanes = lanes.narrow();
    if entered.s_enter.len() < list.len() {
        entered.s_enter.resize(list.len(), [0.0; WIDTH]);
        entered.masks.resize(list.len().div_ceil(8), 0);
    }
    let mut any = 0;
    for ((list, at), masks) in list.chunks(8).zip(entered.s_enter.chunks_mut(8)).zip(&mut entered.masks) {
        let mut eight = 0;
        for (i, (&number, at)) in list.iter().zip(at).enumerate() {
            let (ray, far) = (&rays[number as usize], s_far[number as usize]);
            let mask = enter_boxes(lanes, node, octant, ray, far, at);
            eight |= mask << (8 * i);
            any |= mask;
        }
        *masks = eight;
    }
    entered.any = any;
}

/// The slab test of one ray: writes the positions where it enters the boxes of a node, and returns the mask of those that it enters before
/// `far`. `octant` is that of the ray.
#[inline(always)]
pub(crate) fn enter_boxes<L: Lanes>(
    lanes: L,
    node: &Bvh8Node,
    octant: usize,
    ray: &PreparedRay,
    far: f32,
    at: &mut [f32; WIDTH],
) -> u64 {
    let mut mask = 0;
    for i in (0..WIDTH).step_by(L::COUNT) {
        let (enter, leave) = cross_slabs(lanes, node, octant, ray, far, i);
        enter.store(&mut at[i..]);
        mask |= enter.le_mask(leave) << i;
    }
    mask
}

/// Positions where a ray enters and leaves the boxes of a node from number `i` on. It enters those that it does not leave before.
#[inline(always)]
pub(crate) fn cross_slabs<L: Lanes>(
    lanes: L,
    node: &Bvh8Node,
    octant: usize,
    ray: &PreparedRay,
    far: f32,
    i: usize,
) -> (L, L) {
    let plane = |side: usize, k: usize, add: &[f32; 3]| {
        let face = lanes.load(&node.bounds[side ^ (octant >> k & 1)][k][i..]);
        face.mul_add(lanes.splat(ray.inverse[k]), lanes.splat(add[k]))
    };
    let (enter, leave) = (|k| plane(0, k, &ray.enter), |k| plane(1, k, &ray.leave));
    (
        enter(0).max(enter(1)).max(enter(2).max(lanes.splat(ray.near))),
        leave(0).min(leave(1)).min(leave(2).min(lanes.splat(far))),
    )
}
