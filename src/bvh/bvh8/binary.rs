//! A node of the binary BVH, with the costs by which it is collapsed into wide nodes.
//!
//! The costs are those of Ylitie et al. 2017, Efficient incoherent ray traversal on GPUs through compressed wide BVHs: the least total
//! surface area of wide nodes, by dynamic programming from the leaves up. The leaves are given, so only nodes cost anything.

use glam::Vec3A;

use super::node::{Bounds, WIDTH};

/// A node of the binary BVH. There are many, so they are small.
pub(super) struct BinaryNode {
    corners: [[f32; 3]; 2],
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    /// `count` items from `first`, at most [`WIDTH`].
    Leaf {
        first: u32,
        count: u32,
    },
    Inner(Box<Inner>),
}

pub(super) struct Inner {
    halves: [BinaryNode; 2],
    costs: Costs,
}

/// Element `i`: the least area of all wide nodes if at most `i + 1` slots of a wide node refer to a subtree.
type Costs = [f32; WIDTH - 1];

impl BinaryNode {
    fn new(bounds: Bounds, kind: Kind) -> Self {
        Self { corners: [bounds.low.to_array(), bounds.high.to_array()], kind }
    }

    pub(super) fn leaf(bounds: Bounds, first: usize, count: usize) -> Self {
        Self::new(bounds, Kind::Leaf { first: first as u32, count: count as u32 })
    }

    pub(super) fn join(halves: [Self; 2]) -> Self {
        let bounds = halves[0].bounds().join(halves[1].bounds());
        let half_costs = [halves[0].costs(), halves[1].costs()];
        let as_node = bounds.area() + divide(&half_costs, WIDTH).0;
        let mut costs = [as_node; WIDTH - 1];
        for slots in 2..WIDTH {
            costs[slots - 1] = as_node.min(divide(&half_costs, slots).0);
        }
        Self::new(bounds, Kind::Inner(Box::new(Inner { halves, costs })))
    }

    pub(super) fn bounds(&self) -> Bounds {
        let [low, high] = self.corners.map(Vec3A::from_array);
        Bounds { low, high }
    }

    /// The costs of [`Inner`]. Leaves cost nothing.
    fn costs(&self) -> Costs {
        match &self.kind {
            Kind::Leaf { .. } => [0.0; WIDTH - 1],
            Kind::Inner(inner) => inner.costs,
        }
    }

    /// Appends the roots of the subtrees that fill at most `slots` slots of a wide node. For all [`WIDTH`] slots these are the children of
    /// the wide node that this node becomes: they always cost less than the node itself. A leaf is its only root.
    pub(super) fn fill_slots<'a>(&'a self, slots: usize, roots: &mut Vec<&'a Self>) {
        if let (Kind::Inner(inner), 2..) = (&self.kind, slots) {
            let Inner { halves, costs } = &**inner;
            let (cost, left) = divide(&[halves[0].costs(), halves[1].costs()], slots);
            // If areas are 0, a node with many children is better.
            if cost <= costs[0] {
                halves[0].fill_slots(left, roots);
                halves[1].fill_slots(slots - left, roots);
                return;
            }
        }
        roots.push(self);
    }
}

/// The best division of slots among two halves with these costs: the cost, and the slots of the first half.
#[inline]
fn divide(costs: &[Costs; 2], slots: usize) -> (f32, usize) {
    let mut best = (f32::INFINITY, 1);
    for left in 1..slots {
        let cost = costs[0][left - 1] + costs[1][slots - left - 1];
        if cost < best.0 {
            best = (cost, left);
        }
    }
    best
}
