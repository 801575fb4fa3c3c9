//! Packet traversal of coherent rays: 64 neighbouring rays visit nodes together (Wald et al. 2007, Ray tracing deformable
//! scenes using dynamic bounding volume hierarchies).
//!
//! One test for all rays of the packet rejects children of a node. If the rays have one octant, it uses interval arithmetic on their
//! directions and origins; if their segments are short, it uses the AABB of the segments. Each of the other children is tested against
//! vectors of rays when it is visited, with the segments that hits have shortened by then. Where a packet diverges to a few rays, they are
//! traversed in their own order.

use super::packet::{ActiveRays, PACKET_RAYS, Packet, PacketKind};
use super::stream::StreamTraversal;
use crate::bvh::bvh8::node::ChildRef;
use crate::cpu::collector::HitCollector;

/// Maximum number of active rays of a packet that are traversed in their own order.
const FEW_ACTIVE: usize = 6;

impl<V: HitCollector> StreamTraversal<'_, V> {
    /// Traverses the BVH below a node with the `active` rays of a packet.
    pub(crate) fn packet(&mut self, node: usize, kind: PacketKind, packet: (usize, &Packet), active: u64) {
        let (number, columns) = packet;
        let first = number * PACKET_RAYS;
        let count = active.count_ones() as usize;
        if count <= FEW_ACTIVE {
            let mut list = [0; FEW_ACTIVE];
            list.iter_mut().zip(ActiveRays { first: first as u32, mask: active }).for_each(|(to, ray)| *to = ray);
            return self.in_own_order(node, &list[..count]);
        }
        self.visits.nodes += count as u64;
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
                ChildRef::Leaf(leaf) => self.packet_leaf(leaf, ActiveRays { first: first as u32, mask: inside }),
                ChildRef::Nothing => {}
            }
        }
    }
}
