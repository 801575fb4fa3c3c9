//! Packet traversal of coherent rays: 64 neighbouring rays visit nodes together (Wald et al. 2007, Ray tracing deformable
//! scenes using dynamic bounding volume hierarchies).
//!
//! One test for all rays rejects children of a node: with intervals of their numbers if they have one octant, with the AABB of their segments
//! if those are short. Each other child is tested against vectors of rays when it is visited, so that segments that have become shorter
//! count. A ray list has the rays that enter a leaf. The few rays that are left when a packet has parted continue one by one.

use bytemuck::{Pod, Zeroable};

use super::ordered::SHORT_LIST;
use super::stream::StreamTraversal;
use crate::bvh::bvh8::node::ChildRef;
use crate::cpu::collector::HitCollector;

/// Rays per packet: one bit each in a word.
pub(crate) const PACKET_RAYS: usize = 64;

/// 64 rays: the first fields of [`PreparedRay`](super::prepared_ray::PreparedRay) as columns, and the bounds of each column.
#[repr(C, align(64))]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct Packet {
    pub(crate) inverse: [[f32; PACKET_RAYS]; 3],
    pub(crate) enter: [[f32; PACKET_RAYS]; 3],
    pub(crate) leave: [[f32; PACKET_RAYS]; 3],
    pub(crate) near: [f32; PACKET_RAYS],
    pub(crate) far: [f32; PACKET_RAYS],
    /// Corners of an AABB around each ray's segment, if the segments are short.
    pub(crate) low: [[f32; PACKET_RAYS]; 3],
    pub(crate) high: [[f32; PACKET_RAYS]; 3],
    /// Least and largest values of the columns above.
    pub(crate) least: [f32; COLUMNS],
    pub(crate) largest: [f32; COLUMNS],
    padding: [f32; 14],
}

/// Number of columns of a packet, without and with the AABBs.
pub(crate) const RAY_COLUMNS: usize = 11;
pub(crate) const COLUMNS: usize = 17;

/// A list of rays. Vectors are written to it and numbers are read at once: across two cache lines that takes several times as long.
#[repr(align(64))]
struct AlignedList([u32; PACKET_RAYS]);

/// How a packet visits the children of a node.
#[derive(Clone, Copy)]
pub(crate) enum PacketKind {
    /// In the order of the octant of all rays.
    Octant(usize),
    /// By the distance from the middle of the short segments, whose directions differ.
    Distance,
}

impl Packet {
    /// The columns, in the order of the fields.
    #[inline(always)]
    pub(crate) fn columns_mut(&mut self) -> &mut [[f32; PACKET_RAYS]; COLUMNS] {
        bytemuck::from_bytes_mut(&mut bytemuck::bytes_of_mut(self)[..4 * PACKET_RAYS * COLUMNS])
    }

    /// How the rays can be traversed as a packet, if they can: in one octant, or (`short`) near each other.
    pub(crate) fn kind(&self, short: bool) -> Option<PacketKind> {
        let octant = |bounds: &[f32; COLUMNS]| (0..3).fold(0, |all, k| all | usize::from(bounds[k] < 0.0) << k);
        let least = octant(&self.least);
        if least == octant(&self.largest) {
            return Some(PacketKind::Octant(least));
        }
        // An unlimited segment has an infinite corner. Positions in the scene lie within ±2 √3.
        let finite = (RAY_COLUMNS..RAY_COLUMNS + 3).all(|k| self.least[k] > -4.0 && self.largest[k + 3] < 4.0);
        (short && finite).then_some(PacketKind::Distance)
    }
}

impl<V: HitCollector> StreamTraversal<'_, V> {
    /// Traverses the BVH below a node with the `active` rays of a packet.
    pub(crate) fn packet(&mut self, node: usize, kind: PacketKind, packet: (usize, &Packet), active: u64) {
        let (number, columns) = packet;
        let first = number * PACKET_RAYS;
        let mut list = AlignedList([0; PACKET_RAYS]);
        if active.count_ones() as usize <= SHORT_LIST {
            let count = self.bvh.level.list_rays(first as u32, active, &mut list.0);
            return list.0[..count].iter().for_each(|&ray| self.ordered(node, ray));
        }
        self.visits.nodes += u64::from(active.count_ones());
        let node = &self.bvh.tree.nodes[node];
        let level = self.bvh.level;
        let (mut entered, mut order) = match kind {
            PacketKind::Octant(octant) => (level.packet_children(node, octant, columns), node.order[octant]),
            PacketKind::Distance => level.packet_neighbours(node, columns),
        };
        self.prefetch_children(node, entered);
        while entered != 0 {
            let place = (order & 7) as usize;
            order >>= 3;
            if entered >> place & 1 == 0 {
                continue;
            }
            entered &= !(1 << place);
            let Some(t_far) = self.t_far[first..].first_chunk() else { return };
            let inside = match kind {
                PacketKind::Octant(octant) => level.enter_child(node, place, octant, columns, t_far, active),
                PacketKind::Distance => level.enter_mixed_child(node, place, columns, t_far, active),
            };
            if inside == 0 {
                continue;
            }
            match node.children[place].kind() {
                ChildRef::Node(child) => self.packet(child, kind, packet, inside),
                ChildRef::Leaf(leaf) => {
                    let count = level.list_rays(first as u32, inside, &mut list.0);
                    self.leaf(leaf, &list.0[..count]);
                }
                ChildRef::Nothing => {}
            }
        }
    }
}
