//! Kernels of the packet traversal. `packets.rs` describes it; `kernels.rs` has the error analysis of the slab test.
//!
//! The interval test needs no error bounds of its own: rounding is monotonic, so a bound that is computed like the position of a ray, from
//! the least or largest operands of all rays, is a bound of the computed position.

use super::packet::{COLUMNS, PACKET_RAYS, Packet, RAY_COLUMNS};
use crate::bvh::bvh8::node::{Bvh8Node, WIDTH};
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{SimdLevel, multiversion};

multiversion! {
    /// Computes the least and largest values of the first columns of a packet, for its first `count` rays. `count` is a multiple of eight.
    bound_packet, (packet: &mut Packet, columns: usize, count: usize)
}

#[inline(always)]
fn bound_packet<L: Lanes>(lanes: L, packet: &mut Packet, columns: usize, count: usize) {
    let lanes = lanes.narrow();
    for k in 0..columns.min(COLUMNS) {
        let column = &packet.columns_mut()[k][..count];
        let (mut low, mut high) = ([f32::INFINITY; WIDTH], [f32::NEG_INFINITY; WIDTH]);
        for i in (0..WIDTH).step_by(<L::Narrow as Lanes>::COUNT) {
            let (mut least, mut largest) = (lanes.load(&low[i..]), lanes.load(&high[i..]));
            for eight in column.chunks(WIDTH) {
                let value = lanes.load(&eight[i..]);
                (least, largest) = (least.min(value), largest.max(value));
            }
            least.store(&mut low[i..]);
            largest.store(&mut high[i..]);
        }
        packet.least[k] = low.into_iter().fold(f32::INFINITY, f32::min);
        packet.largest[k] = high.into_iter().fold(f32::NEG_INFINITY, f32::max);
    }
}

multiversion! {
    /// Mask of the children of a node that rays of a packet may enter.
    packet_children, (node: &Bvh8Node, octant: usize, packet: &Packet) -> u64
}

#[inline(always)]
fn packet_children<L: Lanes>(lanes: L, node: &Bvh8Node, octant: usize, packet: &Packet) -> u64 {
    let lanes = lanes.narrow();
    let mut mask = 0;
    for i in (0..WIDTH).step_by(<L::Narrow as Lanes>::COUNT) {
        let (mut enter, mut leave) = (lanes.splat(packet.least[9]), lanes.splat(packet.largest[10]));
        for k in 0..3 {
            let (least, largest) = (lanes.splat(packet.least[k]), lanes.splat(packet.largest[k]));
            let side = octant >> k & 1;
            let (face, add) = (lanes.load(&node.bounds[side][k][i..]), lanes.splat(packet.least[3 + k]));
            enter = enter.max(face.mul_add(least, add).min(face.mul_add(largest, add)));
            let (face, add) = (lanes.load(&node.bounds[1 ^ side][k][i..]), lanes.splat(packet.largest[6 + k]));
            leave = leave.min(face.mul_add(least, add).max(face.mul_add(largest, add)));
        }
        mask |= enter.le_mask(leave) << i;
    }
    mask
}

multiversion! {
    /// Mask of the children of a node whose AABB overlaps that of all segments of a packet, and their order by the distance from its middle:
    /// three bits each, lowest bits first.
    packet_neighbours, (node: &Bvh8Node, packet: &Packet) -> (u64, u32)
}

#[inline(always)]
fn packet_neighbours<L: Lanes>(lanes: L, node: &Bvh8Node, packet: &Packet) -> (u64, u32) {
    let lanes = lanes.narrow();
    let mut mask = 0;
    let mut squares = [0.0; WIDTH];
    for i in (0..WIDTH).step_by(<L::Narrow as Lanes>::COUNT) {
        let mut square = lanes.splat(0.0);
        let mut overlap = u64::MAX;
        for k in 0..3 {
            let (low, high) = (packet.least[RAY_COLUMNS + k], packet.largest[RAY_COLUMNS + 3 + k]);
            let (from, to) = (lanes.load(&node.bounds[0][k][i..]), lanes.load(&node.bounds[1][k][i..]));
            overlap &= from.le_mask(lanes.splat(high)) & lanes.splat(low).le_mask(to);
            let middle = lanes.splat(0.5 * (low + high));
            let off = from.sub(middle).max(middle.sub(to)).max(lanes.splat(0.0));
            square = off.mul_add(off, square);
        }
        square.store(&mut squares[i..]);
        mask |= (overlap & ((1 << <L::Narrow as Lanes>::COUNT) - 1)) << i;
    }
    // Sorted by insertion: most nodes have one to three such children. A square is not negative, so its bits are in order.
    let mut keys = [0; WIDTH];
    let (mut left, mut count) = (mask, 0);
    while left != 0 {
        let child = left.trailing_zeros() as usize % WIDTH;
        left &= left - 1;
        let key = squares[child].to_bits() & !7 | child as u32;
        let mut i = count;
        while i > 0 && keys[i - 1] > key {
            keys[i] = keys[i - 1];
            i -= 1;
        }
        keys[i] = key;
        count += 1;
    }
    (mask, keys[..count].iter().rev().fold(0, |order, key| order << 3 | key & 7))
}

multiversion! {
    /// Mask of the active rays of a packet that enter a child of a node before `s_far`.
    enter_child, (node: &Bvh8Node, child: usize, octant: usize, packet: &Packet, s_far: &[f32; PACKET_RAYS], active: u64) -> u64
}

#[inline(always)]
fn enter_child<L: Lanes>(
    lanes: L,
    node: &Bvh8Node,
    child: usize,
    octant: usize,
    packet: &Packet,
    s_far: &[f32; PACKET_RAYS],
    active: u64,
) -> u64 {
    enter_faces::<L, false>(lanes, node, child, octant, packet, s_far, active)
}

multiversion! {
    /// Like `enter_child`, for rays of several octants.
    enter_mixed_child, (node: &Bvh8Node, child: usize, packet: &Packet, s_far: &[f32; PACKET_RAYS], active: u64) -> u64
}

#[inline(always)]
fn enter_mixed_child<L: Lanes>(
    lanes: L,
    node: &Bvh8Node,
    child: usize,
    packet: &Packet,
    s_far: &[f32; PACKET_RAYS],
    active: u64,
) -> u64 {
    enter_faces::<L, true>(lanes, node, child, 0, packet, s_far, active)
}

/// The slab test of one child. `octant` selects the faces where all rays enter; rays of a `MIXED` packet enter through the face that comes
/// first along each axis.
#[allow(clippy::needless_range_loop, reason = "a closure with several callers is not inlined")]
#[inline(always)]
fn enter_faces<L: Lanes, const MIXED: bool>(
    lanes: L,
    node: &Bvh8Node,
    child: usize,
    octant: usize,
    packet: &Packet,
    s_far: &[f32; PACKET_RAYS],
    active: u64,
) -> u64 {
    let child = child % WIDTH;
    let mut faces = [[lanes.splat(0.0); 3]; 2];
    for k in 0..3 {
        let side = octant >> k & 1;
        faces[0][k] = lanes.splat(node.bounds[side][k][child]);
        faces[1][k] = lanes.splat(node.bounds[1 ^ side][k][child]);
    }
    let mut mask = 0;
    for i in (0..PACKET_RAYS).step_by(L::COUNT) {
        if active >> i & ((1 << L::COUNT) - 1) == 0 {
            continue;
        }
        let (mut enter, mut leave) = (lanes.load(&packet.near[i..]), lanes.load(&s_far[i..]));
        for k in 0..3 {
            let inverse = lanes.load(&packet.inverse[k][i..]);
            let (first, last) = (lanes.load(&packet.enter[k][i..]), lanes.load(&packet.leave[k][i..]));
            let (first, last) = if MIXED {
                let (a, b) = (faces[0][k].mul(inverse), faces[1][k].mul(inverse));
                (a.min(b).add(first), a.max(b).add(last))
            } else {
                (faces[0][k].mul_add(inverse, first), faces[1][k].mul_add(inverse, last))
            };
            (enter, leave) = (enter.max(first), leave.min(last));
        }
        mask |= enter.le_mask(leave) << i;
    }
    mask & active
}

#[cfg(test)]
#[path = "packet_tests.rs"]
mod tests;
