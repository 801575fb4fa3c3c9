//! Packet traversal of coherent rays: 64 neighbouring rays visit nodes together (Wald et al. 2007, Ray tracing deformable
//! scenes using dynamic bounding volume hierarchies).
//!
//! One test for all rays of the packet rejects children of a node. If the rays have one octant, it uses interval arithmetic on their
//! directions and origins; if their segments are short, it uses the AABB of the segments. Each of the other children is tested against
//! vectors of rays when it is visited, with the segments that hits have shortened by then. The rays that enter a leaf form a ray list. Where
//! a packet diverges to a few rays, they are traversed one by one.

use super::packet::{PACKET_RAYS, Packet, PacketKind};
use super::stream::StreamTraversal;
use crate::bvh::bvh8::node::ChildRef;
use crate::cpu::collector::HitCollector;

/// Maximum number of active rays of a packet that are traversed one by one.
const FEW_ACTIVE: u32 = 6;

/// A list of rays. It is written as vectors and read as integers right after. If a vector crossed two cache lines, the reads would take
/// several times as long.
#[repr(align(64))]
struct AlignedList([u32; PACKET_RAYS]);

impl<V: HitCollector> StreamTraversal<'_, V> {
    /// Traverses the BVH below a node with the `active` rays of a packet.
    pub(crate) fn packet(&mut self, node: usize, kind: PacketKind, packet: (usize, &Packet), active: u64) {
        let (number, columns) = packet;
        let first = number * PACKET_RAYS;
        let mut list = AlignedList([0; PACKET_RAYS]);
        if active.count_ones() <= FEW_ACTIVE {
            let count = self.bvh.level.list_rays(first as u32, active, &mut list.0);
            return self.ordered(node, &list.0[..count]);
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
                ChildRef::Leaf(leaf) => {
                    let count = level.list_rays(first as u32, inside, &mut list.0);
                    self.leaf(leaf, &list.0[..count]);
                }
                ChildRef::Nothing => {}
            }
        }
    }
}
