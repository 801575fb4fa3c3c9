//! Packet traversal of coherent rays: 64 neighbouring rays visit nodes together (Wald et al. 2007, Ray tracing deformable
//! scenes using dynamic bounding volume hierarchies).
//!
//! One test for all rays of the packet rejects children of a node. If the rays have one octant, it uses interval arithmetic on their
//! directions and origins; if their segments are short, it uses the AABB of the segments. Each of the other children is tested against
//! vectors of rays when it is visited, with the segments that hits have shortened by then. Where a packet diverges to a few rays, they are
//! traversed in their own order.
//!
//! `leaf.rs` has the error analysis of the slab test. The interval test needs no error bounds of its own: rounding is monotonic, so a bound that is computed like the position of a ray, from
//! the least or largest operands of all rays, is a bound of the computed position.

use super::ray_setup::{LANES, NUMBERS, octant_of, place_of};
use super::stream::StreamTraversal;
use crate::bvh::bvh8::node::{Bvh8Node, ChildRef, WIDTH};
use crate::cpu::collector::HitCollector;
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{SimdLevel, multiversion};

/// Maximum number of active rays of a packet that are traversed in their own order, and tested one after the other against a leaf.
const FEW_ACTIVE: usize = 6;

impl<V: HitCollector> StreamTraversal<'_, V> {
    /// Traverses the BVH below a node with the `active` rays of a packet.
    pub(crate) fn packet(&mut self, node: usize, kind: PacketKind, packet: (usize, &Packet), active: u64) {
        let (number, columns) = packet;
        let first = number * PACKET_RAYS;
        let count = active.count_ones() as usize;
        if count <= FEW_ACTIVE {
            self.complete(number, active);
            let mut list = [0; FEW_ACTIVE];
            list.iter_mut().zip(ActiveRays { first: first as u32, mask: active }).for_each(|(to, ray)| *to = ray);
            return self.in_own_order(node, &list[..count]);
        }
        let node = &self.bvh.tree.nodes[node];
        let level = self.bvh.level;
        let (mut entered, mut order) = match kind {
            PacketKind::Octant(octant) => (level.packet_children(node, octant, columns), node.order[octant]),
            PacketKind::Distance => level.packet_neighbours(node, columns),
        };
        self.prefetch_children(node, entered);
        while entered != 0 {
            let child = (order & 7) as usize;
            order >>= 3;
            if entered >> child & 1 == 0 {
                continue;
            }
            entered &= !(1 << child);
            let Some(s_far) = self.s_far[first..].first_chunk() else { return };
            let inside = match kind {
                PacketKind::Octant(octant) => level.enter_child(node, child, octant, columns, s_far, active),
                PacketKind::Distance => level.enter_mixed_child(node, child, columns, s_far, active),
            };
            if inside == 0 {
                continue;
            }
            match node.children[child].kind() {
                ChildRef::Node(child) => self.packet(child, kind, packet, inside),
                ChildRef::Leaf(leaf) => self.packet_leaf(leaf, packet, inside),
                ChildRef::Nothing => {}
            }
        }
    }
}

/// Rays per packet: one bit each in a word.
pub(crate) const PACKET_RAYS: usize = 64;

/// 64 prepared rays, and the bounds of the columns that the tests of AABBs read.
#[repr(align(64))]
#[derive(Clone, Copy)]
pub(crate) struct Packet {
    /// The numbers of [`PreparedRay`](super::ray_setup::PreparedRay) in the order of its fields. After them, if the segments are short, the low
    /// and high corners of an AABB around each.
    pub(super) columns: [[f32; PACKET_RAYS]; COLUMNS],
    /// Least and largest values of the columns.
    least: [f32; COLUMNS],
    largest: [f32; COLUMNS],
}

pub(super) const GROUPS: usize = PACKET_RAYS / LANES;

/// Columns of a packet: for AABBs the inverse direction, the offsets where rays enter and leave, and the ends of their segments; for leaves
/// the rest of the ray; and the corners.
const ENTER: usize = place_of!(enter);
const LEAVE: usize = place_of!(leave);
const NEAR: usize = place_of!(near);
pub(crate) const FAR: usize = place_of!(far);
pub(crate) const BEGIN: usize = place_of!(begin);
const LOW: usize = NUMBERS;
const HIGH: usize = LOW + 3;
const COLUMNS: usize = HIGH + 3;

/// Whether the active rays of a packet are few, or fewer than half of those in the groups of eight that have any.
pub(super) fn is_sparse(active: u64) -> bool {
    let lowest = 0x7f7f_7f7f_7f7f_7f7f;
    let groups = (((active & lowest) + lowest) | active) & !lowest;
    let count = active.count_ones();
    count <= FEW_ACTIVE as u32 || count < 4 * groups.count_ones()
}

/// The numbers of the active rays of a packet, the first of which has number `first`.
#[derive(Clone, Copy)]
pub(crate) struct ActiveRays {
    pub(crate) first: u32,
    /// One bit per ray.
    pub(crate) mask: u64,
}

impl Iterator for ActiveRays {
    type Item = u32;

    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        let next = (self.mask != 0).then(|| self.first + self.mask.trailing_zeros());
        self.mask &= self.mask.wrapping_sub(1);
        next
    }
}

/// How a packet visits the children of a node.
#[derive(Clone, Copy)]
pub(crate) enum PacketKind {
    /// In the order of the octant of all rays.
    Octant(usize),
    /// By the distance from the middle of the short segments, whose directions differ.
    Distance,
}

impl Packet {
    pub(crate) const EMPTY: Self =
        Self { columns: [[0.0; PACKET_RAYS]; COLUMNS], least: [0.0; COLUMNS], largest: [0.0; COLUMNS] };

    #[inline(always)]
    pub(crate) fn column(&self, number: usize) -> &[f32; PACKET_RAYS] {
        &self.columns[number]
    }

    /// How the rays can be traversed as a packet, if they can: in one octant, or (`short`) near each other.
    pub(crate) fn kind(&self, short: bool) -> Option<PacketKind> {
        if self.largest[FAR] == f32::INFINITY {
            // One ray starts so far away that it may hit everything.
            return None;
        }
        let octant = |[x, y, z, ..]: [f32; COLUMNS]| octant_of([x, y, z]);
        let least = octant(self.least);
        if least == octant(self.largest) {
            return Some(PacketKind::Octant(least));
        }
        // An unlimited segment has a distant corner. Positions in the scene lie within ±2 √3.
        let finite = (0..3).all(|k| self.least[LOW + k] > -4.0 && self.largest[HIGH + k] < 4.0);
        (short && finite).then_some(PacketKind::Distance)
    }
}

multiversion! {
    /// Computes the least and largest values of the columns of a packet that the tests of AABBs read, for its first `count` rays. `count` is a
    /// multiple of eight.
    bound_packet, (packet: &mut Packet, short: bool, count: usize)
}

#[inline(always)]
fn bound_packet<L: Lanes>(lanes: L, packet: &mut Packet, short: bool, count: usize) {
    let lanes = lanes.narrow();
    for columns in [0..FAR + 1, if short { LOW..COLUMNS } else { 0..0 }] {
        for k in columns {
            let (mut least, mut largest) = (lanes.splat(f32::INFINITY), lanes.splat(f32::NEG_INFINITY));
            for group in packet.columns[k][..count.min(PACKET_RAYS)].chunks_exact(<L::Narrow as Lanes>::COUNT) {
                let value = lanes.load(group);
                (least, largest) = (least.min(value), largest.max(value));
            }
            // The largest number is the least of the negated ones.
            (packet.least[k], packet.largest[k]) = (least.least(), -lanes.splat(0.0).sub(largest).least());
        }
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
        let (mut enter, mut leave) = (lanes.splat(packet.least[NEAR]), lanes.splat(packet.largest[FAR]));
        for k in 0..3 {
            let (least, largest) = (lanes.splat(packet.least[k]), lanes.splat(packet.largest[k]));
            let side = octant >> k & 1;
            let (face, add) = (lanes.load(&node.bounds[side][k][i..]), lanes.splat(packet.least[ENTER + k]));
            enter = enter.max(face.mul_add(least, add).min(face.mul_add(largest, add)));
            let (face, add) = (lanes.load(&node.bounds[1 ^ side][k][i..]), lanes.splat(packet.largest[LEAVE + k]));
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
            let (low, high) = (packet.least[LOW + k], packet.largest[HIGH + k]);
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
    enter_child, (
        node: &Bvh8Node, child: usize, octant: usize, packet: &Packet, s_far: &[f32; PACKET_RAYS], active: u64
    ) -> u64, |lanes| {
        enter_faces::<_, false>(lanes, node, child, octant, packet, s_far, active)
    }
}

multiversion! {
    /// Like `enter_child`, for rays of several octants.
    enter_mixed_child, (
        node: &Bvh8Node, child: usize, packet: &Packet, s_far: &[f32; PACKET_RAYS], active: u64
    ) -> u64, |lanes| {
        enter_faces::<_, true>(lanes, node, child, 0, packet, s_far, active)
    }
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
        let (mut enter, mut leave) = (lanes.load(&packet.column(NEAR)[i..]), lanes.load(&s_far[i..]));
        for k in 0..3 {
            let inverse = lanes.load(&packet.column(k)[i..]);
            let first = lanes.load(&packet.column(ENTER + k)[i..]);
            let last = lanes.load(&packet.column(LEAVE + k)[i..]);
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
